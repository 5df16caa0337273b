//! Plans the own noise, the grid and the modulus of sums mod 2^k.
//!
//! Under uniform masks an adversary learns the sum of every honest piece and nothing else (see [`ring`](crate::privacy::ring)). Let n be the
//! size of the smallest piece that any coalition of t leaves of the noise graph, D the coordinates of the largest release. The
//! plan takes the coarsest grid whose price P = n·[`Grid::factor`] is at most 1 + β, and σ_η² = z²·P/n: every honest peer's
//! loss in a release is then μ² ≤ factor/σ_η² = 1/z². ∎ No β is spent on masks.
//!
//! # The smallest piece
//! - t = 0: the smallest component. t = 1: it, less one of its own (every connected graph has a vertex whose loss leaves it
//!   connected), or what is left behind a cut vertex.
//! - Few coalitions: all of them.
//! - Otherwise: 1/|piece| is the limit of [H⁻¹-variance factors](crate::privacy::accountant::bounds) for unlimited pairwise noise, so every
//!   certificate for all coalitions of t bounds it: n ≥ 1/bound. If more than t vertices must go before the graph falls apart, as a
//!   certified λ₂ > t proves, that is s − t.
//!
//! Where the plan is to refuse graphs that fall apart, (s − t)/n may be at most 1 + β.

use serde::Serialize;

use super::super::accountant::{AFFORDABLE, PublicGraph, smallest_pieces, work};
use super::super::ring::{Grid, Modulus, distance};
use super::super::rounded_up::rounded_up;
use super::super::{Certificate, PrivacyError};
use super::{NoisePlan, NoiseRequest, OnDisconnect, View, coalition_name, refusal};
use crate::topology::Graph;

#[cfg(test)]
mod tests;

/// What a plan of sums mod 2^k must know of the releases.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RingRequest {
    /// D: coordinates of the largest noisy sum.
    pub coordinates: usize,
    /// At least the largest |coordinate| of one peer's contribution, in units of the sensitivity of its release; public.
    pub largest: f64,
    /// The largest factor by which the noise of a release is multiplied; 1 with an even budget.
    pub largest_factor: f64,
    /// Total-variation distance of all own noise together from rounded Gaussians.
    pub distance: f64,
    /// At least the largest |draw| of own noise over its standard deviation.
    pub largest_draw: f64,
    /// The least and the largest standard deviation, in steps of the grid, that a sampler draws.
    pub supported: (f64, f64),
    /// k, if it is asked for.
    pub modulus: Option<Modulus>,
}

/// The integers of a planned ring.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct RingPlan {
    /// x: contributions are counted in steps of 2^−x of the sensitivity.
    #[serde(rename = "grid_exponent")]
    grid: Grid,
    /// k.
    #[serde(rename = "bits")]
    modulus: Modulus,
    /// Bits that no sum of contributions and noise can reach.
    headroom: u32,
    /// Q: peers clamp every coordinate of their contribution to ±Q steps.
    clamp: i64,
    /// D: coordinates of the largest release.
    coordinates: usize,
    /// Peers of the smallest honest piece against the coalition asked for, at least.
    piece: usize,
    /// What the grid costs: the variance of the own noise over that of real numbers, less 1.
    grid_overhead: f64,
    /// Total-variation distance of all own noise from rounded Gaussians. It costs (1 + e^ε) times as much in δ, ε the view's.
    sampler_distance: f64,
}

impl RingPlan {
    /// The grid.
    #[must_use]
    pub fn grid(&self) -> Grid {
        self.grid
    }

    /// ℤ mod 2^k.
    #[must_use]
    pub fn modulus(&self) -> Modulus {
        self.modulus
    }

    /// Bits that no sum of contributions and noise can reach.
    #[must_use]
    pub fn headroom(&self) -> u32 {
        self.headroom
    }

    /// Q: peers clamp every coordinate of their contribution to ±Q steps. Clamping moves no two contributions apart (it is
    /// 1-Lipschitz on every coordinate), so that the sensitivity stays what it is, whatever a peer holds.
    #[must_use]
    pub fn clamp(&self) -> i64 {
        self.clamp
    }

    /// D: coordinates of the largest release.
    #[must_use]
    pub fn coordinates(&self) -> usize {
        self.coordinates
    }

    /// Peers of the smallest honest piece against the coalition asked for, at least.
    #[must_use]
    pub fn piece(&self) -> usize {
        self.piece
    }

    /// What the grid costs: the variance of the own noise over that of real numbers, less 1.
    #[must_use]
    pub fn grid_overhead(&self) -> f64 {
        self.grid_overhead
    }

    /// Total-variation distance of all own noise from rounded Gaussians.
    #[must_use]
    pub fn sampler_distance(&self) -> f64 {
        self.sampler_distance
    }

    /// At least μ²·σ_η² of one release of noise factor 1, per squared unit of sensitivity, for a peer whose honest piece has
    /// so many peers.
    #[must_use]
    pub fn factor(&self, piece: usize) -> f64 {
        self.grid.factor(self.coordinates, piece)
    }

    /// At most μ²·σ_η² of one release where the sensitivity is attained on one coordinate.
    ///
    /// # Proof
    /// A sum of n rounded normals lies within n/2 of the sum of the normals. So the event that a sum exceeds c tells it from
    /// itself moved by K at least as well as a Gaussian mechanism of shift K − n and variance nσ² is told, for every c. With K = 1/γ
    /// that is μ = (1 − nγ)/(√n σ_η). ∎
    #[must_use]
    pub fn factor_at_least(&self, piece: usize) -> f64 {
        let n = piece as f64;
        (1.0 - n * self.grid.step()).max(0.0).powi(2) / n
    }
}

/// How large the smallest honest piece is, at least, and how that is known.
type Piece = (usize, Certificate);

/// Plans the grid, the modulus and σ_η, and states every view.
pub(super) fn plan(request: &NoiseRequest<'_>) -> Result<NoisePlan, PrivacyError> {
    let Some(asked) = request.ring else {
        return Err(PrivacyError::RingOfNothing);
    };
    for (name, found, low, high) in [
        ("privacy.overhead", request.overhead, 1e-5, 1e6),
        ("the largest noise factor", asked.largest_factor, 1e-9, 1e9),
        (
            "the largest draw of the sampler",
            asked.largest_draw,
            1.0,
            1e9,
        ),
        ("the largest contribution", asked.largest, 0.0, 1e100),
        (
            "the coordinates of a release",
            asked.coordinates as f64,
            1.0,
            1e12,
        ),
        ("the distance of the sampler", asked.distance, 0.0, 1.0),
    ] {
        // Written so that NaN is refused too.
        if !(low..=high).contains(&found) {
            return Err(PrivacyError::Parameter {
                name,
                found,
                expected: "a number in the range in which integers are planned (privacy.overhead: 1e-5 to 1e6, for example 0.01)",
            });
        }
    }
    let public = PublicGraph::new(request.graph, request.connectivity);
    let (piece, _) = withstood(request, &public)?;
    let peers = request.graph.nodes();
    let grid = Grid::coarsest(asked.coordinates, piece, request.overhead);
    let grid = grid.ok_or(PrivacyError::NoGrid {
        coordinates: asked.coordinates,
        peers: piece,
        overhead: request.overhead,
    })?;
    let factor = grid.factor(asked.coordinates, piece);
    let sigma_own =
        rounded_up(request.noise_multiplier * factor.sqrt() * (1.0 + 4.0 * f64::EPSILON));
    let steps = sigma_own / grid.step();
    let (least, most) = asked.supported;
    if !(least..=most).contains(&(steps * asked.largest_factor)) {
        return Err(PrivacyError::Parameter {
            name: "the own noise in steps of the grid",
            found: steps * asked.largest_factor,
            expected: "what the sampler draws, 0.5 to 2^40; choose a budget nearer to 1, or another privacy.overhead",
        });
    }
    let clamp = (asked.largest / grid.step()).ceil() + 1.0;
    let draw = steps * asked.largest_factor * asked.largest_draw + 1.0;
    let modulus = Modulus::holding(peers, clamp + draw, asked.modulus)?;
    let ring = RingPlan {
        grid,
        modulus,
        headroom: modulus.headroom(peers, clamp + draw).unwrap_or(0),
        // A modulus holds it, so that it is far below 2⁶³.
        clamp: clamp as i64,
        coordinates: asked.coordinates,
        piece,
        grid_overhead: factor * piece as f64 - 1.0,
        sampler_distance: asked.distance,
    };
    let views = views(request, &public, &ring, sigma_own)?;
    let mut plan = request.assemble(sigma_own, 0.0, views);
    plan.ring = Some(ring);
    Ok(plan)
}

/// The smallest piece that a coalition of the size asked for leaves, unless the plan is to refuse it.
fn withstood(request: &NoiseRequest<'_>, public: &PublicGraph<'_>) -> Result<Piece, PrivacyError> {
    let &NoiseRequest {
        graph, colluders, ..
    } = request;
    if request.trusted_sum {
        return Ok((graph.nodes() - colluders, Certificate::SecureSum));
    }
    refusal::refuse_split(graph, colluders, request.on_disconnect)?;
    let found = smallest(public, colluders);
    let gap = (graph.nodes() - colluders) as f64 / found.0 as f64;
    if request.on_disconnect == OnDisconnect::Refuse && gap > 1.0 + request.overhead {
        return Err(refusal::too_many(request, public, false));
    }
    Ok(found)
}

/// The size of the smallest piece that any coalition of `colluders` (fewer than the peers) leaves, at least.
fn smallest(public: &PublicGraph<'_>, colluders: usize) -> Piece {
    let graph = public.graph();
    let known = match colluders {
        0 => graph.component_sizes_without(&[]).into_iter().min(),
        1 => Some(smallest_behind_one(graph)),
        t if graph.min_degree() <= t => return (1, Certificate::OwnNoise),
        t if work(graph.nodes(), t) <= AFFORDABLE => smallest_pieces(graph, t).into_iter().min(),
        _ => None,
    };
    if let Some(size) = known {
        let how = if colluders == 0 {
            Certificate::Exact
        } else {
            Certificate::ExactEnumeration
        };
        return (size.max(1), how);
    }
    let (bound, _) = public.worst(f64::INFINITY, colluders);
    // The bound is above 1/size, and sizes are whole numbers.
    let size = (1.0 / bound.factor).ceil() as usize;
    (
        size.clamp(1, graph.nodes() - colluders),
        bound.by.certificate(),
    )
}

/// The size of the smallest piece that the loss of any one peer leaves.
fn smallest_behind_one(graph: &Graph) -> usize {
    let sizes = graph.component_sizes_without(&[]);
    // Of a component of one peer nobody is left to protect if that peer is the coalition; if it is not, it is a piece.
    let whole = sizes.iter().map(|&size| match size {
        1 if sizes.len() == 1 => usize::MAX,
        1 => 1,
        more => more - 1,
    });
    let cut = graph.cut_vertices().into_iter();
    let behind =
        cut.filter_map(|vertex| graph.component_sizes_without(&[vertex]).into_iter().min());
    whole.chain(behind).min().unwrap_or(1)
}

/// What adversaries of each size learn.
fn views(
    request: &NoiseRequest<'_>,
    public: &PublicGraph<'_>,
    ring: &RingPlan,
    sigma_own: f64,
) -> Result<Vec<View>, PrivacyError> {
    let views = request.coalition_sizes().into_iter().map(|t| {
        let (piece, certificate) = if request.trusted_sum {
            (request.graph.nodes() - t, Certificate::SecureSum)
        } else {
            smallest(public, t)
        };
        let factor = ring.factor(piece) / sigma_own.powi(2);
        let mut view = request.view(coalition_name(t), t, factor, sigma_own, certificate);
        view.epsilon = distance::epsilon(view.mu, request.delta, ring.sampler_distance);
        view
    });
    Ok(views.collect())
}
