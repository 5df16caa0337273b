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
    pub key: StreamKey,
    /// Standard deviation per unit sensitivity; negative at the upper end of a pairwise edge.
    pub scale: f64,
    /// Whether this term repeats one iteration's stream for ever: a defect that only tests can build.
    #[cfg(test)]
    pub(crate) frozen: bool,
    /// Whether every chunk repeats the first chunk's normals: a defect that only tests can build.
    #[cfg(test)]
    pub(crate) one_chunk: bool,
}

impl Term {
    /// A term that draws fresh normals in every iteration.
    #[must_use]
    pub fn new(key: StreamKey, scale: f64) -> Self {
        Self {
            key,
            scale,
            #[cfg(test)]
            frozen: false,
            #[cfg(test)]
            one_chunk: false,
        }
    }

    /// The iteration number that addresses the stream.
    #[cfg(not(test))]
    fn address(&self, iteration: Iteration) -> u32 {
        iteration.0
    }

    #[cfg(test)]
    fn address(&self, iteration: Iteration) -> u32 {
        if self.frozen { 1 } else { iteration.0 }
    }

    /// The chunk number that addresses the stream.
    #[cfg(not(test))]
    fn block(&self, chunk: u64) -> u64 {
        chunk
    }

    #[cfg(test)]
    fn block(&self, chunk: u64) -> u64 {
        if self.one_chunk { 0 } else { chunk }
    }

    /// Adds this term's share of one chunk to `out`.
    ///
    /// # Shapes
    /// `out` is that chunk of the iteration's n·p coordinates.
    pub fn add_chunk(&self, at: NoiseChunk, out: &mut [f64]) {
        let scale = at.sensitivity * self.scale;
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
    pub fn add_chunk_to_both(
        &self,
        at: NoiseChunk,
        plus: &mut [f64],
        (minus, opposite): (&mut [f64], f64),
    ) {
        let (scale, opposite) = (at.sensitivity * self.scale, at.sensitivity * opposite);
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
    /// Whether the noise was broken on purpose, which only tests can do.
    #[cfg(test)]
    tampered: bool,
}

impl PeerNoise {
    /// A peer's own term and its pairwise terms in ascending partner order.
    #[must_use]
    pub fn new(own: Term, pairs: Vec<Term>) -> Self {
        let mut terms = pairs;
        terms.insert(0, own);
        Self {
            terms,
            #[cfg(test)]
            tampered: false,
        }
    }

    /// Lets tests run peers whose noise is not the plan's.
    #[cfg(test)]
    pub(super) fn broken_on_purpose(mut self, tampered: bool) -> Self {
        self.tampered = tampered;
        self
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
        #[cfg(test)]
        if self.tampered {
            return true;
        }
        let partners = if pairwise == 0.0 { &[] } else { partners };
        let Some((first, pairs)) = self.terms.split_first() else {
            return false;
        };
        let signed = |partner| if peer < partner { pairwise } else { -pairwise };
        first.scale == own
            && pairs.len() == partners.len()
            && pairs
                .iter()
                .zip(partners)
                .all(|(term, &partner)| term.scale == signed(partner))
    }

    /// Adds all terms of one iteration to `out`, the peer's n·p coordinates.
    pub fn add_to(&self, iteration: Iteration, sensitivity: f64, out: &mut [f64]) {
        for term in &self.terms {
            term.add_to(iteration, sensitivity, out);
        }
    }
}
