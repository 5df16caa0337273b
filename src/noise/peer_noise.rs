//! One peer's noise: its own term, then one term per partner in ascending order.

use crate::vocabulary::{CHUNK, GROUP, Iteration, PeerIndex, StreamKey};

/// Which normals to draw, and in which unit.
#[derive(Clone, Copy, Debug)]
pub struct NoiseChunk {
    /// The iteration they belong to.
    pub iteration: Iteration,
    /// Chunk number of the coordinates (see [`crate::vocabulary::CHUNK`]).
    pub chunk: u64,
    /// This iteration's Δ, the unit of a term's scale.
    pub sensitivity: f64,
}

/// One noise term: a stream and the signed standard deviation per unit sensitivity it is scaled by.
#[derive(Clone, Debug)]
pub struct Term {
    /// Where the normals come from.
    pub(super) key: StreamKey,
    /// What they are multiplied by.
    pub(super) scale: Scale,
    /// Whether every iteration draws the first iteration's stream: a defect that only tests can build.
    #[cfg(test)]
    pub(super) frozen: bool,
    /// Whether every chunk repeats the first chunk's normals: a defect that only tests can build.
    #[cfg(test)]
    pub(super) one_chunk: bool,
}

/// A signed standard deviation per unit sensitivity; negative at the upper end of a pairwise edge.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale {
    /// What plans are compared with.
    pub(super) planned: f64,
    /// What is drawn instead, as a multiple: a defect that only tests can build, after every check has been passed.
    #[cfg(test)]
    pub(super) factor: f64,
}

impl Scale {
    fn new(planned: f64) -> Self {
        Self {
            planned,
            #[cfg(test)]
            factor: 1.0,
        }
    }

    /// What a normal is multiplied by where the sensitivity is this.
    pub(super) fn times(self, sensitivity: f64) -> f64 {
        let scale = sensitivity * self.planned;
        #[cfg(test)]
        let scale = scale * self.factor;
        scale
    }
}

impl Term {
    /// A term that draws fresh normals in every iteration. Whoever uses it checks that its scale is the one planned.
    #[must_use]
    pub fn new(key: StreamKey, scale: f64) -> Self {
        Self {
            key,
            scale: Scale::new(scale),
            #[cfg(test)]
            frozen: false,
            #[cfg(test)]
            one_chunk: false,
        }
    }

    /// Standard deviation per unit sensitivity; negative at the upper end of a pairwise edge.
    #[must_use]
    pub fn scale(&self) -> f64 {
        self.scale.planned
    }

    /// Where the normals come from.
    #[cfg(test)]
    pub(crate) fn key(&self) -> &StreamKey {
        &self.key
    }

    /// The iteration number that addresses the stream.
    fn address(&self, iteration: Iteration) -> u32 {
        let address = iteration.0;
        #[cfg(test)]
        let address = if self.frozen { 1 } else { address };
        address
    }

    /// The chunk number that addresses the stream.
    fn block(&self, chunk: u64) -> u64 {
        let block = chunk;
        #[cfg(test)]
        let block = if self.one_chunk { 0 } else { block };
        block
    }

    /// Adds this term's share of one chunk to `out`.
    ///
    /// # Shapes
    /// `out` is that chunk of the iteration's n·p coordinates.
    pub fn add_chunk(&self, at: NoiseChunk, out: &mut [f64]) {
        let scale = self.scale.times(at.sensitivity);
        if scale != 0.0 {
            self.key
                .add_normals(self.address(at.iteration), self.block(at.chunk), scale, out);
        }
    }

    /// Adds this term's share of a whole iteration to `out`, n·p coordinates.
    pub fn add_to(&self, iteration: Iteration, sensitivity: f64, out: &mut [f64]) {
        for (chunk, out) in (0_u64..).zip(out.chunks_mut(CHUNK)) {
            let at = NoiseChunk {
                iteration,
                chunk,
                sensitivity,
            };
            self.add_chunk(at, out);
        }
    }

    /// The standard normals behind this term's share of one chunk.
    pub(super) fn draw_chunk(&self, at: NoiseChunk, out: &mut [f64]) {
        self.key
            .normals(self.address(at.iteration), self.block(at.chunk))
            .fill(out);
    }

    /// Adds one chunk of this term to `plus` and the very same numbers, scaled by `opposite`, to `minus`:
    /// the two ends of an edge in one draw.
    ///
    /// `self` is the term of the lower end; `opposite` is the scale of the upper end's.
    pub(super) fn add_chunk_to_both(
        &self,
        at: NoiseChunk,
        plus: &mut [f64],
        (minus, opposite): (&mut [f64], Scale),
    ) {
        let scale = self.scale.times(at.sensitivity);
        let opposite = opposite.times(at.sensitivity);
        if scale == 0.0 && opposite == 0.0 {
            return;
        }
        let mut normals = self
            .key
            .normals(self.address(at.iteration), self.block(at.chunk));
        let mut group = [0.0; GROUP];
        for (plus, minus) in plus.chunks_mut(GROUP).zip(minus.chunks_mut(GROUP)) {
            let group = &mut group[..plus.len()];
            normals.fill(group);
            for ((p, m), normal) in plus.iter_mut().zip(minus).zip(group) {
                *p += scale * *normal;
                *m += opposite * *normal;
            }
        }
    }
}

/// Everything one peer adds to its contribution before anybody sees it.
#[derive(Clone, Debug)]
pub struct PeerNoise {
    /// Own term first, then one term per partner in ascending partner order. The order is part of the
    /// contract: it fixes the order of floating-point additions in every engine.
    terms: Vec<Term>,
}

impl PeerNoise {
    /// A peer's own term and its pairwise terms in ascending partner order.
    #[must_use]
    pub fn new(own: Term, pairs: Vec<Term>) -> Self {
        let mut terms = pairs;
        terms.insert(0, own);
        Self { terms }
    }

    /// Whether this is the noise of `peer` under a plan with these standard deviations per unit sensitivity: an own
    /// term of exactly `own` and, unless `pairwise` is 0, exactly one term per partner in ascending order, +`pairwise`
    /// where the partner is above the peer and -`pairwise` where it is below. A peer refuses to run with any other.
    #[must_use]
    pub fn is_planned(
        &self,
        peer: PeerIndex,
        partners: &[PeerIndex],
        (own, pairwise): (f64, f64),
    ) -> bool {
        let partners = if pairwise == 0.0 { &[] } else { partners };
        let Some((first, pairs)) = self.terms.split_first() else {
            return false;
        };
        let signed = |partner| if peer < partner { pairwise } else { -pairwise };
        first.scale() == own
            && pairs.len() == partners.len()
            && pairs
                .iter()
                .zip(partners)
                .all(|(term, &partner)| term.scale() == signed(partner))
    }

    /// Adds all terms of one iteration to `out`, the peer's n·p coordinates.
    pub fn add_to(&self, iteration: Iteration, sensitivity: f64, out: &mut [f64]) {
        for term in &self.terms {
            term.add_to(iteration, sensitivity, out);
        }
    }
}
