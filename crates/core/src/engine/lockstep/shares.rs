//! The rounds of a schedule that passes mass, over flat arrays.

use crate::engine::losses::Losses;
use crate::protocol::averaging::mass::{factor, give, raise, take};
use crate::protocol::averaging::{Contacts, Passing, share};
use crate::topology::Graph;
use crate::vocabulary::{PeerIndex, ReleaseId, Round};

/// Who meets whom in every round, laid out for flat arrays.
#[derive(Clone, Debug)]
pub struct Shares {
    peers: f64,
    rounds: u32,
    /// Where each peer's directed edges begin; one more entry than peers.
    first: Vec<usize>,
    /// The receiver of each directed edge, sender after sender.
    receivers: Vec<u32>,
    /// The directed edge that leads back.
    back: Vec<u32>,
    /// Per round the pairs that meet, as the directed edge from the lower end; nothing where everybody meets everybody.
    pairs: Option<Vec<Vec<(u32, u32)>>>,
}

/// The averaging messages that are lost in one release: a bit per round and directed edge.
#[derive(Clone, Debug)]
pub struct Lost {
    edges: usize,
    bits: Vec<u64>,
}

impl Lost {
    /// How many messages.
    pub(super) fn count(&self) -> u64 {
        let ones = self.bits.iter().map(|bits| u64::from(bits.count_ones()));
        ones.sum()
    }

    fn has(&self, round: u32, edge: usize) -> bool {
        let at = round as usize * self.edges + edge;
        self.bits[at / 64] >> (at % 64) & 1 == 1
    }
}

impl Shares {
    /// The meetings of this program on `graph`.
    ///
    /// # Cost
    /// O(edges + meetings) memory, once per run.
    #[must_use]
    pub fn new(graph: &Graph, rounds: u32, passing: &Passing) -> Self {
        let peers = graph.nodes();
        let mut first = vec![0];
        let mut receivers = Vec::with_capacity(2 * graph.edges());
        for u in 0..peers {
            receivers.extend_from_slice(graph.neighbours(u));
            first.push(receivers.len());
        }
        let edge = |from: usize, to: usize| {
            let at = graph
                .neighbours(from)
                .partition_point(|v| (*v as usize) < to);
            (first[from] + at) as u32
        };
        let back = (0..peers).flat_map(|u| {
            let neighbours = graph.neighbours(u).iter();
            neighbours.map(move |&v| edge(v as usize, u))
        });
        let back = back.collect();
        let pairs = match &passing.contacts {
            Contacts::All => None,
            Contacts::Pairs(meetings) => {
                let mut pairs = vec![Vec::new(); rounds as usize];
                for (u, own) in meetings.iter().enumerate() {
                    for meeting in own {
                        let Some(with) = meeting.with else { continue };
                        let edge = first[u] + with as usize;
                        if receivers[edge] as usize > u {
                            pairs[meeting.round as usize].push((u as u32, edge as u32));
                        }
                    }
                }
                Some(pairs)
            }
        };
        Self {
            peers: peers as f64,
            rounds,
            first,
            receivers,
            back,
            pairs,
        }
    }

    /// What is lost of a release.
    pub(super) fn lost(&self, losses: &Losses, release: ReleaseId) -> Lost {
        let edges = self.receivers.len();
        let mut bits = vec![0_u64; (self.rounds as usize * edges).div_ceil(64)];
        let mut note = |round: u32, from: usize, edge: usize| {
            let ends = (PeerIndex::from_index(from), PeerIndex(self.receivers[edge]));
            if losses.average((release, Round(round)), ends) {
                let at = round as usize * edges + edge;
                bits[at / 64] |= 1 << (at % 64);
            }
        };
        for round in 0..self.rounds {
            match &self.pairs {
                None => {
                    for from in 0..self.first.len() - 1 {
                        (self.first[from]..self.first[from + 1])
                            .for_each(|edge| note(round, from, edge));
                    }
                }
                Some(pairs) => {
                    for &(u, edge) in &pairs[round as usize] {
                        let edge = edge as usize;
                        note(round, u as usize, edge);
                        let other = self.receivers[edge] as usize;
                        note(round, other, self.back[edge] as usize);
                    }
                }
            }
        }
        Lost { edges, bits }
    }

    /// All rounds of a tile, in place: values to estimates of the sum. `seen` is shown the values after every round with every peer's
    /// weight.
    pub(super) fn run<const T: usize>(
        &self,
        values: &mut [[f64; T]],
        lost: Option<&Lost>,
        mut seen: impl FnMut(&[[f64; T]], &[[f64; 1]]),
    ) {
        let mut weights = vec![[1.0]; values.len()];
        let mut of_values = Totals::<T>::new(self);
        let mut of_weights = Totals::<1>::new(self);
        for round in 0..self.rounds {
            of_values.round(self, round, lost, values);
            of_weights.round(self, round, lost, &mut weights);
            seen(values, &weights);
        }
        for (value, [weight]) in values.iter_mut().zip(&weights) {
            // A peer without weight has no estimate, and says so when it releases it.
            let factor = factor(self.peers, *weight).unwrap_or(f64::NAN);
            for x in value {
                *x *= factor;
            }
        }
    }
}

/// The running totals of one tile.
struct Totals<const T: usize> {
    /// Per stream what has been given: one per peer, or one per directed edge.
    given: Vec<[f64; T]>,
    /// Per directed edge what has been heard.
    heard: Vec<[f64; T]>,
}

impl<const T: usize> Totals<T> {
    fn new(shares: &Shares) -> Self {
        let edges = shares.receivers.len();
        let streams = match shares.pairs {
            None => shares.first.len() - 1,
            Some(_) => edges,
        };
        Self {
            given: vec![[0.0; T]; streams],
            heard: vec![[0.0; T]; edges],
        }
    }

    fn round(&mut self, shares: &Shares, round: u32, lost: Option<&Lost>, mass: &mut [[f64; T]]) {
        let lost = |edge: usize| lost.is_some_and(|lost| lost.has(round, edge));
        match &shares.pairs {
            None => {
                for (peer, mass) in mass.iter_mut().enumerate() {
                    let receivers = (shares.first[peer + 1] - shares.first[peer]) as u32;
                    if receivers > 0 {
                        self.give(peer, receivers, mass);
                    }
                }
                for (peer, mass) in mass.iter_mut().enumerate() {
                    for edge in shares.first[peer]..shares.first[peer + 1] {
                        let (sender, edge) = (shares.receivers[edge], shares.back[edge] as usize);
                        self.take(sender as usize, edge, lost(edge), mass);
                    }
                }
            }
            Some(pairs) => {
                for &(u, there) in &pairs[round as usize] {
                    let (u, there) = (u as usize, there as usize);
                    let (v, back) = (
                        shares.receivers[there] as usize,
                        shares.back[there] as usize,
                    );
                    self.give(there, 1, &mut mass[u]);
                    self.give(back, 1, &mut mass[v]);
                    self.take(back, back, lost(back), &mut mass[u]);
                    self.take(there, there, lost(there), &mut mass[v]);
                }
            }
        }
    }

    fn give(&mut self, stream: usize, receivers: u32, mass: &mut [f64; T]) {
        let total = &mut self.given[stream];
        let mut raised = [0.0; T];
        raise(share(receivers), mass, Some(total), &mut raised);
        give(f64::from(receivers), Some(total), &raised, mass);
        *total = raised;
    }

    fn take(&mut self, stream: usize, edge: usize, lost: bool, mass: &mut [f64; T]) {
        let heard = &mut self.heard[edge];
        let total = if lost { *heard } else { self.given[stream] };
        take(Some(heard), &total, mass);
        *heard = total;
    }
}
