//! One peer's noise: its own term, then one term per partner in ascending order.

use std::sync::Arc;

use super::Sigmas;
use super::ring::{RingLaws, masks};
use crate::vocabulary::{CHUNK, GROUP, PeerIndex, ReleaseId, StreamKey};

/// Which normals to draw, and in which unit.
#[derive(Clone, Copy, Debug)]
pub struct NoiseChunk {
    /// The release they belong to.
    pub release: ReleaseId,
    /// Chunk number of the coordinates (see [`crate::vocabulary::CHUNK`]).
    pub chunk: u64,
    /// What a term's standard deviation per unit sensitivity is multiplied by: Δ times the release's noise factor.
    pub unit: f64,
}

/// One noise term: a stream and the signed standard deviation per unit sensitivity it is scaled by.
#[derive(Clone, Debug)]
pub struct Term {
    /// Where the normals come from.
    pub(crate) key: StreamKey,
    /// What they are multiplied by.
    pub(crate) scale: Scale,
    /// What is drawn.
    law: Law,
    /// Whether every release draws the first release's stream: a defect that only tests can build.
    #[cfg(test)]
    pub(crate) frozen: bool,
    /// Whether every chunk repeats the first chunk's normals: a defect that only tests can build.
    #[cfg(test)]
    pub(crate) one_chunk: bool,
    /// Whether masks lack their highest bit: a defect that only tests can build.
    #[cfg(test)]
    pub(crate) narrow: bool,
}

/// What a term draws.
#[derive(Clone, Debug)]
enum Law {
    /// Normals, in units of the release.
    Normal,
    /// Rounded Gaussians, in steps of the grid.
    Rounded(Arc<RingLaws>),
    /// Uniform residues, in steps of the grid.
    Mask,
}

/// A signed standard deviation per unit sensitivity; negative at the upper end of a pairwise edge.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scale {
    /// What plans are compared with.
    pub(crate) planned: f64,
    /// What is drawn instead, as a multiple: a defect that only tests can build, after every check has been passed.
    #[cfg(test)]
    pub(crate) factor: f64,
}

impl Scale {
    fn new(planned: f64) -> Self {
        Self {
            planned,
            #[cfg(test)]
            factor: 1.0,
        }
    }

    /// What draws are multiplied by beyond what is planned: 1 but for defects that tests build.
    fn defect(self) -> f64 {
        #[cfg(test)]
        let factor = self.factor;
        #[cfg(not(test))]
        let factor = 1.0;
        factor
    }

    /// What a normal is multiplied by where one unit is this.
    pub(crate) fn times(self, unit: f64) -> f64 {
        let scale = unit * self.planned;
        #[cfg(test)]
        let scale = scale * self.factor;
        scale
    }
}

impl Term {
    /// A term that draws fresh normals in every release. Whoever uses it checks that its scale is the one planned.
    #[must_use]
    pub fn new(key: StreamKey, scale: f64) -> Self {
        Self {
            key,
            scale: Scale::new(scale),
            law: Law::Normal,
            #[cfg(test)]
            frozen: false,
            #[cfg(test)]
            one_chunk: false,
            #[cfg(test)]
            narrow: false,
        }
    }

    /// A term of own noise in a ring: rounded Gaussians whose standard deviation is `scale` per unit sensitivity.
    #[must_use]
    pub fn rounded(key: StreamKey, scale: f64, laws: Arc<RingLaws>) -> Self {
        let law = Law::Rounded(laws);
        Self {
            law,
            ..Self::new(key, scale)
        }
    }

    /// A term of masks: uniform residues, times `sign`.
    #[must_use]
    pub fn mask(key: StreamKey, sign: f64) -> Self {
        Self {
            law: Law::Mask,
            ..Self::new(key, sign)
        }
    }

    /// Takes from masks what a defect takes.
    #[cfg(test)]
    fn narrowed(&self, masks: &mut [f64]) {
        if self.narrow {
            masks
                .iter_mut()
                .for_each(|mask| *mask %= RingLaws::MODULUS / 2.0);
        }
    }

    /// What draws are multiplied by, besides the scale: integers are in steps of the grid already.
    pub(crate) fn unit(&self, at: NoiseChunk) -> f64 {
        match self.law {
            Law::Normal => at.unit,
            Law::Rounded(_) | Law::Mask => 1.0,
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

    /// Whether this is a term of own noise by these laws; without laws, of real numbers.
    pub(crate) fn is_own_in(&self, laws: Option<&RingLaws>) -> bool {
        match (&self.law, laws) {
            (Law::Normal, None) => true,
            (Law::Rounded(mine), Some(laws)) => **mine == *laws,
            _ => false,
        }
    }

    /// Whether this is a term of masks; without laws, of real numbers.
    pub(crate) fn is_shared_in(&self, laws: Option<&RingLaws>) -> bool {
        matches!(
            (&self.law, laws),
            (Law::Normal, None) | (Law::Mask, Some(_))
        )
    }

    /// The release number that addresses the stream.
    fn address(&self, release: ReleaseId) -> u32 {
        let address = release.0;
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
    /// `out` is that chunk of the release's coordinates.
    pub fn add_chunk(&self, at: NoiseChunk, out: &mut [f64]) {
        let place = (self.address(at.release), self.block(at.chunk));
        let scale = self.scale.times(self.unit(at));
        if scale == 0.0 {
            return;
        }
        match &self.law {
            Law::Normal => self.key.add_normals(place.0, place.1, scale, out),
            Law::Rounded(laws) => laws.add_own(&self.key, place, self.scale.defect(), out),
            Law::Mask => {
                let mut drawn = vec![0.0; out.len()];
                self.draw_chunk(at, &mut drawn);
                for (value, mask) in out.iter_mut().zip(drawn) {
                    *value += scale * mask;
                }
            }
        }
    }

    /// Adds this term's share of a whole release to `out`.
    pub fn add_to(&self, release: ReleaseId, unit: f64, out: &mut [f64]) {
        for (chunk, out) in (0_u64..).zip(out.chunks_mut(CHUNK)) {
            let at = NoiseChunk {
                release,
                chunk,
                unit,
            };
            self.add_chunk(at, out);
        }
    }

    /// The standard normals, or the masks, behind this term's share of one chunk; own noise of a ring is never shared.
    pub(crate) fn draw_chunk(&self, at: NoiseChunk, out: &mut [f64]) {
        let place = (self.address(at.release), self.block(at.chunk));
        match self.law {
            Law::Mask => {
                masks(&self.key, place, out);
                #[cfg(test)]
                self.narrowed(out);
            }
            _ => self.key.normals(place.0, place.1).fill(out),
        }
    }

    /// Adds one chunk of this term to `plus` and the very same numbers, scaled by `opposite`, to `minus`:
    /// the two ends of an edge in one draw.
    ///
    /// `self` is the term of the lower end; `opposite` is the scale of the upper end's.
    pub(crate) fn add_chunk_to_both(
        &self,
        at: NoiseChunk,
        plus: &mut [f64],
        (minus, opposite): (&mut [f64], Scale),
    ) {
        let scale = self.scale.times(self.unit(at));
        let opposite = opposite.times(self.unit(at));
        if scale == 0.0 && opposite == 0.0 {
            return;
        }
        if matches!(self.law, Law::Mask) {
            let mut drawn = vec![0.0; plus.len()];
            self.draw_chunk(at, &mut drawn);
            for ((p, m), mask) in plus.iter_mut().zip(minus).zip(drawn) {
                *p += scale * mask;
                *m += opposite * mask;
            }
            return;
        }
        let mut normals = self
            .key
            .normals(self.address(at.release), self.block(at.chunk));
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
    /// The only term on coordinates that this peer alone fills.
    coordinate: Term,
}

impl PeerNoise {
    /// A peer's own term, its pairwise terms in ascending partner order, and its term on coordinates of its own.
    #[must_use]
    pub fn new(own: Term, pairs: Vec<Term>, coordinate: Term) -> Self {
        let mut terms = pairs;
        terms.insert(0, own);
        Self { terms, coordinate }
    }

    /// Whether this is the noise of `peer` under a plan with these standard deviations per unit sensitivity: an own
    /// term of exactly `own` and, unless `pairwise` is 0, exactly one term per partner in ascending order, +`pairwise`
    /// where the partner is above the peer and -`pairwise` where it is below, and a term of exactly `coordinate` on own
    /// coordinates. A peer refuses to run with any other.
    #[must_use]
    pub fn is_planned(&self, peer: PeerIndex, partners: &[PeerIndex], sigmas: Sigmas) -> bool {
        let pairwise = sigmas.pairwise;
        let partners = if pairwise == 0.0 { &[] } else { partners };
        let Some((first, pairs)) = self.terms.split_first() else {
            return false;
        };
        let signed = |partner| if peer < partner { pairwise } else { -pairwise };
        first.scale() == sigmas.own
            && self.coordinate.scale() == sigmas.coordinate
            && pairs.len() == partners.len()
            && pairs
                .iter()
                .zip(partners)
                .all(|(term, &partner)| term.scale() == signed(partner))
    }

    /// Whether own noise is drawn by these laws and all that is shared are masks; without laws, whether everything is real.
    #[must_use]
    pub fn is_in_ring(&self, laws: Option<&RingLaws>) -> bool {
        let Some((own, pairs)) = self.terms.split_first() else {
            return false;
        };
        own.is_own_in(laws)
            && pairs.iter().all(|pair| pair.is_shared_in(laws))
            && matches!(self.coordinate.law, Law::Normal)
    }

    /// Adds all terms of one release to `out`, the peer's share of a sum.
    pub fn add_to(&self, release: ReleaseId, unit: f64, out: &mut [f64]) {
        for term in &self.terms {
            term.add_to(release, unit, out);
        }
    }

    /// Adds to `out`, coordinates that this peer alone fills, all the noise that a curator would add.
    pub fn add_to_own(&self, release: ReleaseId, unit: f64, out: &mut [f64]) {
        self.coordinate.add_to(release, unit, out);
    }
}
