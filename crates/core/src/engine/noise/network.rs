//! The noise terms of a whole simulated network, each edge's stream drawn once for both of its ends.

use rayon::prelude::*;

use super::Assignment;
use crate::noise::{NoiseChunk, RingLaws, Scale, Sigmas, Term, add_to_both};
use crate::topology::Graph;
use crate::vocabulary::PeerIndex;

/// Coordinates that a thread adds at least: two cache lines.
const COLUMNS: usize = 16;

/// All terms of all peers, each edge once.
#[derive(Debug)]
pub struct NetworkNoise {
    own: Vec<Term>,
    /// In ascending order of (lower, upper), so that each peer's terms come in ascending partner order.
    pairs: Vec<Pair>,
}

#[derive(Debug)]
struct Pair {
    lower: u32,
    upper: u32,
    term: Term,
    /// The upper end's scale.
    opposite: Scale,
}

impl NetworkNoise {
    /// Edges whose normals [`Self::add_pairs_in_parallel`] draws at a time: 2 MiB of whole chunks, which stay in cache until they
    /// are added.
    pub const BATCH: usize = 1 << 9;

    /// The terms that `assignment` deals to the peers of `noise_graph`.
    #[must_use]
    pub fn of(assignment: &Assignment, noise_graph: &Graph) -> Self {
        let own = (0..noise_graph.nodes())
            .into_par_iter()
            .map(|u| assignment.own(PeerIndex::from_index(u)))
            .collect();
        let pair = |(lower, upper)| {
            let (term, other) = assignment.pair(PeerIndex(lower), PeerIndex(upper));
            Pair {
                lower,
                upper,
                term,
                opposite: other.scale,
            }
        };
        let pairs = if assignment.has_pairwise() {
            let edges: Vec<_> = noise_graph.edge_list().collect();
            edges.into_par_iter().map(pair).collect()
        } else {
            Vec::new()
        };
        Self { own, pairs }
    }

    /// Whether these are the terms of a plan with these standard deviations per unit sensitivity: an own term of exactly
    /// [`Sigmas::own_of`] and of the plan's law for every peer of the noise graph and, unless `pairwise` is 0, +`pairwise` at the lower and -`pairwise` at the
    /// upper end of every edge. An engine refuses to run with any others.
    ///
    /// # Cost
    /// O(peers + edges).
    #[must_use]
    pub fn is_planned(&self, noise_graph: &Graph, sigmas: Sigmas) -> bool {
        let pairwise = sigmas.pairwise;
        let ends = self.pairs.iter().map(|pair| (pair.lower, pair.upper));
        let on_every_edge = if pairwise == 0.0 {
            self.pairs.is_empty()
        } else {
            ends.eq(noise_graph.edge_list())
        };
        on_every_edge
            && self.own.len() == noise_graph.nodes()
            && self.own.iter().enumerate().all(|(u, term)| {
                let peer = PeerIndex::from_index(u);
                term.scale() == sigmas.own_of(peer) && term.is_share_of(&sigmas, peer)
            })
            && self
                .pairs
                .iter()
                .all(|pair| (pair.term.scale(), pair.opposite.planned) == (pairwise, -pairwise))
    }

    /// Whether own noise is drawn by these laws and all that is shared are masks; without laws, whether everything is real.
    #[must_use]
    pub fn is_in_ring(&self, laws: Option<&RingLaws>) -> bool {
        self.own.iter().all(|term| term.is_own_in(laws))
            && self.pairs.iter().all(|pair| pair.term.is_shared_in(laws))
    }

    /// Adds the own term of peer `u` to its chunk.
    pub fn add_own(&self, at: NoiseChunk, u: usize, out: &mut [f64]) {
        self.own[u].add_chunk(at, out);
    }

    /// Adds each edge's one stream at both of its ends. Edges ascend, so each peer's terms are added in
    /// ascending partner order, as the peer itself adds them after its own.
    ///
    /// # Shapes
    /// `inputs` is peers × `width`, one peer after the other.
    pub fn add_pairs(&self, at: NoiseChunk, width: usize, inputs: &mut [f64]) {
        for pair in &self.pairs {
            let (plus, minus) = pair.ends(width, inputs);
            pair.term
                .add_chunk_to_both(at, plus, (minus, pair.opposite));
        }
    }

    /// The same bits as [`Self::add_pairs`] with all threads at work on this one chunk: for runs that have
    /// less than a chunk per thread left. Normals of a batch of edges are drawn side by side; then every thread adds those of
    /// its own coordinates, edge after edge.
    pub fn add_pairs_in_parallel(&self, at: NoiseChunk, width: usize, inputs: &mut [f64]) {
        let draw = |pair: &Pair, out: &mut [f64]| pair.term.draw_chunk(at, out);
        let add = |pair: &Pair, normals: &[f64], plus: &mut [f64], minus: &mut [f64]| {
            let (scale, opposite) = (pair.term.scale.times(at.unit), pair.opposite.times(at.unit));
            if scale == 0.0 && opposite == 0.0 {
                return;
            }
            add_to_both(normals, (plus, scale), (minus, opposite));
        };
        self.spread(width, inputs, draw, add);
    }

    /// Adds the own term of peer `u` to its chunk of integers, mod 2⁶⁴.
    ///
    /// # Panics
    /// If noise is of real numbers.
    pub fn add_own_integers(&self, at: NoiseChunk, u: usize, out: &mut [u64]) {
        self.own[u].add_integers(at, out);
    }

    /// Adds each edge's masks at both of its ends, mod 2⁶⁴, on one thread or on all.
    ///
    /// # Shapes
    /// `inputs` is peers × `width`, one peer after the other.
    ///
    /// # Panics
    /// If noise is of real numbers.
    pub fn add_masks(&self, at: NoiseChunk, width: usize, inputs: &mut [u64], on_all: bool) {
        if on_all {
            let draw = |pair: &Pair, out: &mut [u64]| pair.term.draw_masks(at, out);
            let add = |pair: &Pair, masks: &[u64], plus: &mut [u64], minus: &mut [u64]| {
                pair.term.add_masks(masks, plus, (minus, pair.opposite));
            };
            return self.spread(width, inputs, draw, add);
        }
        let mut masks = vec![0; width];
        for pair in &self.pairs {
            pair.term.draw_masks(at, &mut masks);
            let (plus, minus) = pair.ends(width, inputs);
            pair.term.add_masks(&masks, plus, (minus, pair.opposite));
        }
    }

    /// Draws what a batch of edges share side by side; then every thread adds that of its own coordinates, edge after edge.
    fn spread<T: Copy + Default + Send + Sync>(
        &self,
        width: usize,
        inputs: &mut [T],
        draw: impl Fn(&Pair, &mut [T]) + Sync,
        add: impl Fn(&Pair, &[T], &mut [T], &mut [T]) + Sync,
    ) {
        let each = width.div_ceil(rayon::current_num_threads()).max(COLUMNS);
        // Per thread its coordinates of every peer.
        let mut shares: Vec<Vec<&mut [T]>> = Vec::new();
        shares.resize_with(width.div_ceil(each), Vec::new);
        for input in inputs.chunks_exact_mut(width) {
            for (share, part) in shares.iter_mut().zip(input.chunks_mut(each)) {
                share.push(part);
            }
        }
        let mut drawn = vec![T::default(); width * Self::BATCH.min(self.pairs.len())];
        for batch in self.pairs.chunks(Self::BATCH) {
            let drawn = &mut drawn[..width * batch.len()];
            batch
                .par_iter()
                .zip(drawn.par_chunks_exact_mut(width))
                .for_each(|(pair, out)| draw(pair, out));
            let add = |(number, share): (usize, &mut Vec<&mut [T]>)| {
                for (pair, drawn) in batch.iter().zip(drawn.chunks_exact(width)) {
                    let [plus, minus] = pair.ends_of(share);
                    add(pair, &drawn[number * each..], plus, minus);
                }
            };
            shares.par_iter_mut().enumerate().for_each(add);
        }
    }
}

impl Pair {
    /// What both ends have published so far.
    fn ends<'a, T>(&self, width: usize, inputs: &'a mut [T]) -> (&'a mut [T], &'a mut [T]) {
        let (head, tail) = inputs.split_at_mut(self.upper as usize * width);
        (
            &mut head[self.lower as usize * width..][..width],
            &mut tail[..width],
        )
    }

    /// Both ends' parts of what is held per peer.
    fn ends_of<'a, T>(&self, peers: &'a mut [&mut [T]]) -> [&'a mut [T]; 2] {
        let (head, tail) = peers.split_at_mut(self.upper as usize);
        [&mut *head[self.lower as usize], &mut *tail[0]]
    }
}
