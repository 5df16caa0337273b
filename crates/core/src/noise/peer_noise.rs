//! One peer's noise: its own term, then one term per partner in ascending order.

use std::sync::Arc;

use super::Sigmas;
use super::defect::TermDefect;
use super::laplace;
use super::ring::RingLaws;
use super::wishart::{Drawn, WishartTerms};
use crate::vocabulary::{CHUNK, PeerIndex, ReleaseId, StreamKey};

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
    pub(super) law: Law,
}

/// What a term draws.
#[derive(Clone, Debug)]
pub(super) enum Law {
    /// Normals, in units of the release.
    Normal,
    /// Rounded Gaussians, in steps of the grid.
    Rounded(Arc<RingLaws>),
    /// Uniform integers mod 2^k, in steps of the grid.
    Mask(Arc<RingLaws>),
    /// Shares of Laplace noise of this shape, in units of the release.
    Laplace(f64),
    /// Terms of Wishart noise on a triangle, in units of the release, and shares of Laplace noise on a mean before it.
    Wishart(WishartTerms),
}

/// A signed standard deviation per unit sensitivity; negative at the upper end of a pairwise edge.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scale {
    /// What plans are compared with.
    pub(crate) planned: f64,
    /// What is drawn instead, which only tests can build.
    pub(crate) defect: Option<TermDefect>,
}

impl Scale {
    fn new(planned: f64) -> Self {
        Self {
            planned,
            defect: None,
        }
    }

    /// What draws are multiplied by beyond what is planned: 1 but for defects that tests build.
    pub(super) fn factor(self) -> f64 {
        match self.defect {
            None => 1.0,
            Some(defect) => defect.factor(),
        }
    }

    /// What a normal is multiplied by where one unit is this.
    pub(crate) fn times(self, unit: f64) -> f64 {
        unit * self.planned * self.factor()
    }
}

impl Term {
    /// A term that draws fresh normals in every release. Whoever uses it checks that its scale is the one planned.
    #[must_use]
    pub fn new(key: StreamKey, scale: f64) -> Self {
        Self::of_law(key, scale, Law::Normal)
    }

    /// A term that draws fresh shares of Laplace noise in every release, of shape κ in (0, 1]: differences of two Gamma numbers with
    /// standard deviation `scale`. Shares whose shapes add up to 1 add up to Laplace noise.
    #[must_use]
    pub fn laplace(key: StreamKey, scale: f64, shape: f64) -> Self {
        Self::of_law(key, scale, Law::Laplace(shape))
    }

    /// A term that draws fresh Wishart noise in every release that is a triangle: so many terms of standard deviation `scale` each. On a mean that is
    /// release 1 it draws shares of Laplace noise of that scale.
    #[must_use]
    pub fn wishart(key: StreamKey, scale: f64, terms: WishartTerms) -> Self {
        Self::of_law(key, scale, Law::Wishart(terms))
    }

    pub(super) fn of_law(key: StreamKey, scale: f64, law: Law) -> Self {
        Self {
            key,
            scale: Scale::new(scale),
            law,
        }
    }

    /// Standard deviation per unit sensitivity; negative at the upper end of a pairwise edge.
    #[must_use]
    pub fn scale(&self) -> f64 {
        self.scale.planned
    }

    /// Where the normals come from.
    #[cfg(any(test, feature = "testing"))]
    pub fn key(&self) -> &StreamKey {
        &self.key
    }

    /// Whether this is a term of own noise by these laws; without laws, of real numbers.
    pub(crate) fn is_own_in(&self, laws: Option<&RingLaws>) -> bool {
        match (&self.law, laws) {
            (Law::Normal | Law::Laplace(_) | Law::Wishart(_), None) => true,
            (Law::Rounded(mine), Some(laws)) => **mine == *laws,
            _ => false,
        }
    }

    /// Whether this is a term of masks; without laws, of real numbers.
    pub(crate) fn is_shared_in(&self, laws: Option<&RingLaws>) -> bool {
        match (&self.law, laws) {
            (Law::Normal, None) => true,
            (Law::Mask(mine), Some(laws)) => **mine == *laws,
            _ => false,
        }
    }

    /// Whether this has the law of the own noise of `peer` where that adds up to Laplace or Wishart noise; otherwise, whether it has neither law.
    pub(crate) fn is_share_of(&self, sigmas: &Sigmas, peer: PeerIndex) -> bool {
        match (&self.law, sigmas.laplace, sigmas.wishart) {
            (Law::Laplace(mine), Some(shares), None) => *mine == shares.shape,
            (Law::Wishart(mine), None, Some(shares)) => *mine == shares.of_peer(peer),
            (law, None, None) => !matches!(law, Law::Laplace(_) | Law::Wishart(_)),
            _ => false,
        }
    }

    /// The numbers of release and chunk that address the stream.
    pub(super) fn place(&self, at: NoiseChunk) -> (u32, u64) {
        let place = (at.release.0, at.chunk);
        match self.scale.defect {
            None => place,
            Some(defect) => defect.place(place),
        }
    }

    fn check_real(&self) {
        let real = matches!(self.law, Law::Normal | Law::Laplace(_) | Law::Wishart(_));
        assert!(real, "integer noise is not added to real numbers");
    }

    /// Adds this term's share of one chunk to `out`.
    ///
    /// # Shapes
    /// `out` is that chunk of the release's coordinates.
    ///
    /// # Panics
    /// If the term draws integers.
    pub fn add_chunk(&self, at: NoiseChunk, out: &mut [f64]) {
        self.check_real();
        let scale = self.scale.times(at.unit);
        if scale != 0.0 {
            let (release, chunk) = self.place(at);
            match self.law {
                Law::Laplace(shape) => {
                    laplace::add_shares(&mut self.key.words(release, chunk), shape, scale, out);
                }
                Law::Wishart(terms) => {
                    let start = chunk as usize * CHUNK;
                    self.add_wishart(terms, at.release, scale, (start, out));
                }
                _ => self.key.add_normals(release, chunk, scale, out),
            }
        }
    }

    /// Adds Wishart noise to coordinates that lie at `start` of a triangle, or Laplace noise of the same scale to those of a mean.
    fn add_wishart(
        &self,
        terms: WishartTerms,
        at: ReleaseId,
        scale: f64,
        (start, out): (usize, &mut [f64]),
    ) {
        let (release, chunk) = self.place(NoiseChunk {
            release: at,
            chunk: (start / CHUNK) as u64,
            unit: 1.0,
        });
        match terms.mean {
            Some(shape) if at == ReleaseId(1) => {
                let scale = scale * (2.0 * shape).sqrt();
                laplace::add_shares(&mut self.key.words(release, chunk), shape, scale, out);
            }
            _ => {
                let defect = self.scale.defect;
                let drawn = Drawn {
                    fewer: defect.map_or(0, TermDefect::fewer),
                    one_sided: defect.is_some_and(TermDefect::one_sided),
                };
                // What is beyond the triangle has no noise of this law: no plan has such a release.
                assert!(start + out.len() <= terms.coordinates(), "a triangle");
                terms.add_triangle((&self.key, release), drawn, scale, (start, out));
            }
        }
    }

    /// Adds this term's share of a whole release to `out`.
    pub fn add_to(&self, release: ReleaseId, unit: f64, out: &mut [f64]) {
        // Its normals are drawn once for all coordinates.
        if let Law::Wishart(terms) = self.law
            && !(terms.mean.is_some() && release == ReleaseId(1))
        {
            let scale = self.scale.times(unit);
            if scale != 0.0 {
                self.add_wishart(terms, release, scale, (0, out));
            }
            return;
        }
        for (chunk, out) in (0_u64..).zip(out.chunks_mut(CHUNK)) {
            let at = NoiseChunk {
                release,
                chunk,
                unit,
            };
            self.add_chunk(at, out);
        }
    }

    /// The standard normals behind this term's share of one chunk.
    ///
    /// # Panics
    /// If the term draws anything else: integers are added to integers, and shares of Laplace noise are never shared.
    pub(crate) fn draw_chunk(&self, at: NoiseChunk, out: &mut [f64]) {
        self.check_real();
        let normal = matches!(self.law, Law::Normal);
        assert!(
            normal,
            "shares of Laplace noise and matrices are no normals"
        );
        let (release, chunk) = self.place(at);
        self.key.normals(release, chunk, out);
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
        let scale = self.scale.times(at.unit);
        let opposite = opposite.times(at.unit);
        if scale == 0.0 && opposite == 0.0 {
            return;
        }
        let mut normals = [0.0; CHUNK];
        let normals = &mut normals[..plus.len()];
        self.draw_chunk(at, normals);
        add_to_both(normals, (plus, scale), (minus, opposite));
    }
}

/// Adds the same normals at both ends of an edge, to each with its own scale.
pub(crate) fn add_to_both(
    normals: &[f64],
    (plus, scale): (&mut [f64], f64),
    (minus, opposite): (&mut [f64], f64),
) {
    pulp::Arch::new().dispatch(AddToBoth {
        normals,
        plus,
        minus,
        scales: [scale, opposite],
    });
}

struct AddToBoth<'a> {
    normals: &'a [f64],
    plus: &'a mut [f64],
    minus: &'a mut [f64],
    scales: [f64; 2],
}

impl pulp::NullaryFnOnce for AddToBoth<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let [scale, opposite] = self.scales;
        let ends = self.plus.iter_mut().zip(self.minus);
        for ((p, m), normal) in ends.zip(self.normals) {
            *p += scale * normal;
            *m += opposite * normal;
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

    /// The terms on a sum: own term first, then one per partner in ascending partner order.
    pub(super) fn terms(&self) -> &[Term] {
        &self.terms
    }

    /// The term that is shared with the partner at this place, for a peer that takes it back.
    #[cfg(any(test, feature = "testing"))]
    pub(crate) fn shared_term(&self, place: usize) -> &Term {
        &self.terms[1 + place]
    }

    /// Whether this is the noise of `peer` under a plan with these standard deviations per unit sensitivity: an own
    /// term of exactly [`Sigmas::own_of`] this peer and of the plan's law and, unless `pairwise` is 0, exactly one term per partner in ascending order, +`pairwise`
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
        first.scale() == sigmas.own_of(peer)
            && first.is_share_of(&sigmas, peer)
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
