//! Pairwise exchanges: in every round random pairs of neighbours share equally.

use rand::Rng;

use super::passing::{Contacts, Passing};
use super::rehearsal::{Round, rehearse};
use super::{
    AveragingError, AveragingOption, AveragingOptions, AveragingScheme, Length, Loss, MixingBounds,
    Neighbourhood, Schedule,
};
use crate::vocabulary::{Label, Seed, StreamKey};

/// Random disjoint pairs of neighbours that give each other half of what they hold.
///
/// The pairs of a round are a matching of the graph: its edges are gone through in a pseudo-random order, and an edge whose ends are
/// both free is taken. Order and pairs follow from the public `averaging.seed` alone, so that every peer knows whom to wait for.
/// Without loss every weight stays 1, to the bit, and a round sets both peers of a pair to the mean of the two: the
/// pairwise gossip of Boyd et al., round by round.
///
/// # The order, frozen
/// In round k edge number e of the ascending list of edges (u, v), u < v, has the priority that is the e-th 64-bit word of the ChaCha20
/// stream `(k, 0)` of the key `Label::Matching` of the seed. Edges are sorted by priority, equal ones by number. No library's shuffle has
/// a part in it.
///
/// # What it is for
/// Few bytes: a peer sends at most one block per round. Where messages are lost, what one carried comes when the same pair meets again,
/// which may be long after: choose [`PushSum`](super::PushSum) there.
///
/// # Source
/// S. Boyd, A. Ghosh, B. Prabhakar & D. Shah, Randomized gossip algorithms, 2006.
#[derive(Clone, Copy, Debug)]
pub struct Pairwise;

impl Pairwise {
    /// The schedule of this seed that does with this loss.
    fn planned(
        self,
        network: &dyn Neighbourhood,
        length: Length,
        (seed, loss): (u64, Loss),
    ) -> Result<Schedule, AveragingError> {
        let mut matchings = Matchings::new(network, seed);
        let next = |round| Round::Pairs(matchings.of(round));
        let found = rehearse(network, self.name(), (length, loss), next)?;
        let rounds = found.rounds.len() as u32;
        let pairs: Vec<Vec<(u32, u32)>> = found
            .rounds
            .into_iter()
            .map(|round| match round {
                Round::Pairs(pairs) => pairs,
                Round::All => Vec::new(),
            })
            .collect();
        let passing = Passing {
            contacts: Contacts::pairs(network, &pairs)?,
            loss,
            contraction: found.contraction,
        };
        Ok(Schedule::passing(network, rounds, passing)?)
    }
}

impl AveragingScheme for Pairwise {
    fn name(&self) -> &'static str {
        "pairwise"
    }

    fn options(&self) -> &'static [AveragingOption] {
        &[AveragingOption::Seed]
    }

    fn compile(
        &self,
        network: &dyn Neighbourhood,
        _bounds: MixingBounds,
        length: Length,
        options: AveragingOptions,
    ) -> Result<Schedule, AveragingError> {
        self.planned(network, length, (options.seed(), options.loss()))
    }

    fn contraction(&self, _bounds: MixingBounds, _rounds: u32) -> Result<f64, AveragingError> {
        Err(AveragingError::OfProgram {
            scheme: self.name(),
        })
    }

    fn rounds(&self, _bounds: MixingBounds, _tolerance: f64) -> Result<u32, AveragingError> {
        Err(AveragingError::OfProgram {
            scheme: self.name(),
        })
    }

    fn schedule(
        &self,
        _bounds: MixingBounds,
        _rounds: u32,
    ) -> Result<Vec<super::Coefficients>, AveragingError> {
        Err(AveragingError::OfProgram {
            scheme: self.name(),
        })
    }

    fn passes_mass(&self) -> bool {
        true
    }
}

/// The matchings of one graph under one seed.
struct Matchings {
    /// All edges (u, v), u < v, ascending.
    edges: Vec<(u32, u32)>,
    key: StreamKey,
    order: Vec<(u64, u32)>,
    /// Whether a peer has met somebody in this round.
    busy: Vec<bool>,
}

impl Matchings {
    fn new(network: &dyn Neighbourhood, seed: u64) -> Self {
        let peers = network.peers();
        let edges = (0..peers as u32).flat_map(|u| {
            let neighbours = network.neighbours(u as usize).iter();
            neighbours.filter(move |v| **v > u).map(move |v| (u, *v))
        });
        Self {
            edges: edges.collect(),
            key: Seed::from_u64(seed).key(Label::Matching, 0, 0),
            order: Vec::new(),
            busy: vec![false; peers],
        }
    }

    fn of(&mut self, round: u32) -> Vec<(u32, u32)> {
        let mut words = self.key.stream(round, 0);
        self.order.clear();
        let edges = 0..self.edges.len() as u32;
        self.order
            .extend(edges.map(|edge| (words.next_u64(), edge)));
        self.order.sort_unstable();
        self.busy.fill(false);
        let mut pairs = Vec::new();
        for &(_, edge) in &self.order {
            let (u, v) = self.edges[edge as usize];
            let (a, b) = (u as usize, v as usize);
            if !self.busy[a] && !self.busy[b] {
                (self.busy[a], self.busy[b]) = (true, true);
                pairs.push((u, v));
            }
        }
        pairs.sort_unstable();
        pairs
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::averaging::testing::Sketch;

    /// Frozen: peers of any version that agree on a seed meet the same neighbours. The literals were computed by a program of its own
    /// (BLAKE3 and ChaCha20 written out) from the description above.
    #[test]
    fn the_matchings_of_a_small_graph_are_these() {
        let ring = (0..6).map(|u| (u, (u + 1) % 6));
        let chorded = Sketch::of(6, ring.chain([(0, 3), (1, 4)]));
        let of = |seed| {
            let mut matchings = Matchings::new(&chorded, seed);
            [0, 1, 2, 3].map(|round| matchings.of(round))
        };
        let found = of(0);
        assert_eq!(found[0], [(0, 5), (1, 2), (3, 4)]);
        assert_eq!(found[1], [(0, 3), (1, 2), (4, 5)]);
        assert_eq!(found[2], [(0, 3), (1, 4)]);
        assert_eq!(found[3], [(0, 1), (3, 4)]);
        let found = of(2026);
        assert_eq!(found[0], [(0, 3), (1, 2), (4, 5)]);
        assert_eq!(found[1], [(0, 3), (1, 4)]);
        assert_eq!(found[2], [(0, 5), (1, 2), (3, 4)]);
        assert_eq!(found[3], [(0, 3), (1, 2), (4, 5)]);
    }
}
