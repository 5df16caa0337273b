//! Bounds on what honest peers publish and send: what is beyond them is refused, and its sender named.
//!
//! # Published contributions: statement and proof
//! *No coordinate that an honest peer publishes exceeds B = 2²⁰·(R·s·max(Δ, 1) + 2⁴⁴·f·Δ·(σ_own + n·σ_pair)) in absolute value*, with R = 2⁴⁸ rows (1 where a
//! vertex contributes), s of [`rounding`](super::rounding), the largest Δ that a query can have (1 where blocks are published in units of their own), the release's factor f and n peers; for own
//! coordinates with σ_coordinate in place of σ_own + n·σ_pair.
//!
//! (i) No machine addresses 2⁴⁸ rows, each adds at most s·Δ, and rounding a sum of R terms at most doubles the bound.
//! (ii) A normal number is at most 3.7 + 37/3.7 < 14 standard deviations, as its tail is drawn from uniform numbers of at least 2⁻⁵³. A share of Laplace noise of shape κ ≤ 1 and standard deviation 1 is at
//! most H·e^(−E/κ)/√(2κ), where E ≥ 2⁻⁶⁵, so that the two last factors are at most e^(−1/2)/√(2·2E) < 2³², and H ≤ (5/3)·(1 + 0.41·14)³ < 2¹⁰. Both are below 2⁴⁴. At most 2³² terms of Wishart noise of standard deviation 1 each are products of two
//! normals and below 2³²·14²·√2 < 2⁴⁴ together. A peer has fewer than n partners.
//! (iii) The factor 2²⁰ is for members that tolerate losses: what was published among more peers, under the noise of their plan, is read among fewer. ∎
//!
//! # Messages of a sum: statement and proof
//! *No message of an honest peer exceeds 2³²·B·g, g being its growth* ([`averaging::growth`](crate::protocol::averaging)). A peer averages what it has published and what lost peers
//! had, of which there are fewer than 2³²: at most 2³²·B. The rest is the statement there. ∎ It holds whatever other peers send, so that nobody honest is named.
//!
//! # What follows
//! Let 2³²·B·g·s ≤ 2²⁰⁰, as in every session of fewer than 2²⁰ peers with s·Δ and Δ·σ below 2⁴⁰ that forms exact sums or means. Then released numbers are at most 2²⁰⁰, and squares, their sums over 2²⁷ coordinates
//! (norms, Gram matrices) and products of two such sums are below 2⁸⁶⁰: finite. Where more is allowed, or a sum is deficient, a release may be impossible to compute; that names nobody.

use super::summand::is_of_vertices;
use super::{PlannedRelease, SessionPlan};
use crate::vocabulary::{Quantity, ReleaseId};

/// R: rows of one peer.
const ROWS: f64 = (1_u64 << 48) as f64;
/// Standard deviations of the largest noise that can be drawn.
const LARGEST_DRAW: f64 = (1_u64 << 44) as f64;
/// How much more another view of a session may call for.
const OTHER_VIEWS: f64 = (1_u64 << 20) as f64;
/// Contributions that one peer brings in.
const BROUGHT_IN: f64 = (1_u64 << 32) as f64;

impl SessionPlan {
    /// B: what no coordinate of a contribution that an honest peer publishes exceeds, in absolute value; the largest number where the algorithm declares no bound.
    #[must_use]
    pub fn largest_published(&self, release: ReleaseId) -> f64 {
        let place = (release.0 as usize).checked_sub(1);
        let bound = place.and_then(|place| self.largest.get(place));
        bound.copied().unwrap_or(f64::MAX)
    }

    /// What no coordinate of a message of this growth exceeds that an honest peer sends while the sum of a release is formed.
    #[must_use]
    pub fn largest_sent(&self, release: ReleaseId, growth: f64) -> f64 {
        (self.largest_published(release) * BROUGHT_IN * growth).min(f64::MAX)
    }

    pub(super) fn largest_of(&self, release: &PlannedRelease) -> f64 {
        let (sigmas, peers) = (self.sigmas(), f64::from(self.parameters().peers));
        // What is no statistic counts as the worst.
        let terms = release.terms(f64::NAN);
        let blocks = &release.spec().blocks;
        let summand = |at: usize| match (blocks[at].quantity, blocks.len()) {
            // Bounds on lengths say nothing of quantities that declare none, and vertices publish one block.
            (Quantity::Own(_), _) if release.bounds().is_empty() => None,
            (quantity, 2..) if is_of_vertices(quantity) => None,
            (quantity, _) => {
                let rows = if is_of_vertices(quantity) { 1.0 } else { ROWS };
                Some(rows * self.largest_summand(release, at)?)
            }
        };
        let summands: Option<Vec<f64>> = (0..blocks.len()).map(summand).collect();
        let Some(summands) = summands else {
            return f64::MAX;
        };
        let sum = summands.into_iter().fold(0.0, f64::max) * terms.sensitivity.max(1.0);
        let sigma = match release.is_own() {
            true => sigmas.coordinate,
            false => sigmas.own + peers * sigmas.pairwise,
        };
        let bound = OTHER_VIEWS * (sum + LARGEST_DRAW * terms.scale * sigma);
        // A bound that is no number is none, and weights of mass are at most 1.
        if bound.is_finite() {
            bound.max(1.0)
        } else {
            f64::MAX
        }
    }
}
