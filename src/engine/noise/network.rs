//! The noise terms of a whole simulated network, each edge's stream drawn once for both of its ends.

use rayon::prelude::*;

use super::Assignment;
use crate::noise::{NoiseChunk, RingLaws, Scale, Sigmas, Term, add_masks};
use crate::topology::Graph;
use crate::vocabulary::PeerIndex;

/// Edges that one thread draws before it adds: 32 KiB of whole chunks. Adding them one after the other lets rows be fetched ahead.
const FEW: usize = 8;

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
    /// Edges whose numbers all threads draw at a time: 2 MiB of whole chunks, which stay in cache until they
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
    /// `own` for every peer of the noise graph and, unless `pairwise` is 0, +`pairwise` at the lower and -`pairwise` at the
    /// upper end of every edge. An engine refuses to run with any others.
    ///
    /// # Cost
    /// O(peers + edges).
    #[must_use]
    pub fn is_planned(&self, noise_graph: &Graph, sigmas: Sigmas) -> bool {
        let (own, pairwise) = (sigmas.own, sigmas.pairwise);
        let ends = self.pairs.iter().map(|pair| (pair.lower, pair.upper));
        let on_every_edge = if pairwise == 0.0 {
            self.pairs.is_empty()
        } else {
            ends.eq(noise_graph.edge_list())
        };
        on_every_edge
            && self.own.len() == noise_graph.nodes()
            && self.own.iter().all(|term| term.scale() == own)
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

    /// Adds each edge's one stream at both of its ends, on one thread or on all: for runs that have less than a chunk per thread
    /// left. Edges ascend, so each peer's terms are added in ascending partner order, as the peer itself adds them after its own.
    ///
    /// # Shapes
    /// `inputs` is peers × `width`, one peer after the other.
    ///
    /// # Panics
    /// If noise is of integers.
    pub fn add_pairs(&self, at: NoiseChunk, width: usize, inputs: &mut [f64], on_all: bool) {
        let draw = |term: &Term, out: &mut [f64]| term.draw_chunk(at, out);
        let add = |scale: Scale, normals: &[f64], out: &mut [f64]| {
            let scale = scale.times(at.unit);
            if scale != 0.0 {
                for (value, normal) in out.iter_mut().zip(normals) {
                    *value += scale * normal;
                }
            }
        };
        self.spread((width, inputs), on_all, draw, add);
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
        let draw = |term: &Term, out: &mut [u64]| term.draw_masks(at, out);
        self.spread((width, inputs), on_all, draw, add_masks);
    }

    /// Draws what a batch of edges share; then adds it at their ends, edge after edge. On several threads each adds whole rows, those
    /// of every so many-th peer: half a row takes as long to come from memory as a whole one.
    fn spread<T: Copy + Default + Send + Sync>(
        &self,
        (width, inputs): (usize, &mut [T]),
        on_all: bool,
        draw: impl Fn(&Term, &mut [T]) + Sync,
        add: impl Fn(Scale, &[T], &mut [T]) + Sync,
    ) {
        let (threads, batch) = match on_all {
            true => (rayon::current_num_threads(), Self::BATCH),
            false => (1, FEW),
        };
        // Per thread the rows of its peers.
        let mut shares: Vec<Vec<&mut [T]>> = Vec::new();
        shares.resize_with(threads, Vec::new);
        for (u, row) in inputs.chunks_exact_mut(width).enumerate() {
            shares[u % threads].push(row);
        }
        let mut drawn = vec![T::default(); width * batch.min(self.pairs.len())];
        for pairs in self.pairs.chunks(batch) {
            let drawn = &mut drawn[..width * pairs.len()];
            if on_all {
                let each = pairs.par_iter().zip(drawn.par_chunks_exact_mut(width));
                each.for_each(|(pair, out)| draw(&pair.term, out));
            } else {
                let each = pairs.iter().zip(drawn.chunks_exact_mut(width));
                each.for_each(|(pair, out)| draw(&pair.term, out));
            }
            let add = |(number, rows): (usize, &mut Vec<&mut [T]>)| {
                for (pair, drawn) in pairs.iter().zip(drawn.chunks_exact(width)) {
                    for (end, scale) in pair.ends() {
                        if end % threads == number {
                            add(scale, drawn, rows[end / threads]);
                        }
                    }
                }
            };
            match shares.as_mut_slice() {
                [all] => add((0, all)),
                shares => shares.par_iter_mut().enumerate().for_each(add),
            }
        }
    }
}

impl Pair {
    /// Both ends, each with its scale.
    fn ends(&self) -> [(usize, Scale); 2] {
        [
            (self.lower as usize, self.term.scale),
            (self.upper as usize, self.opposite),
        ]
    }
}
