//! How much a coalition learns about one honest peer.
//!
//! Every peer publishes its contribution plus own noise N(0, σ_η²) plus, per noise partner, ±N(0, σ_Δ²). A
//! coalition knows its own noise and every pairwise noise with an end in it; what it does not know is one
//! Gaussian on the honest graph H = G − coalition with covariance Σ_H = σ_η²I + σ_Δ²L_H. If only peer u's
//! contribution changes, by at most Δ, the loss of one iteration is exactly Gaussian with
//! **μ_u² = Δ²·v_u, v_u = [Σ_H⁻¹]_uu** (ref B.1). v_u does not decrease when the coalition grows (it is told
//! more), so a coalition of exactly t peers is the worst of those with at most t ([`bounds::monotonicity`]).
//!
//! For one coalition there is [`exact_variance_factors`], for all of a size [`certified_variance_factors`] (upper bounds) and
//! [`worst_coalition`] (a bracket).

mod account;
pub mod bounds;
mod bracket;
mod component;
mod covariance;
mod dense;
mod inverse;
mod piece;
mod quadrature;
mod search;
mod single;

#[cfg(test)]
mod account_tests;
#[cfg(test)]
mod tests;

pub use account::{AccountOptions, Accounted, DENSE_AT_MOST, Engine, account};
pub use bounds::{
    Bound, CertifiedFactor, Connectivity, PublicGraph, certified_variance_factors, lambda2_bound,
    star_bound,
};
pub use bracket::Bracket;
pub use covariance::NoiseCovariance;
pub(super) use search::{AFFORDABLE, every_coalition, smallest_pieces, work};
pub use search::{CoalitionBracket, worst_coalition};
pub use single::{ENUMERATED_UP_TO, Exposure, worst_single};
pub(super) use single::{enumerate, worst};

use self::component::{Component, pieces};
use super::PrivacyError;
use crate::topology::Graph;

/// v_u = [(σ_η²I + σ_Δ²L_H)⁻¹]_uu of every honest peer, `None` for the members of `coalition`; σ_η² = `own`,
/// σ_Δ² = `pairwise`. Dense, per connected component of H.
///
/// # Errors
/// [`PrivacyError::Coalition`] for a peer that does not exist or is named twice, [`PrivacyError::Parameter`]
/// for variances that are not usable, [`PrivacyError::IllConditioned`] if the solve fails its own check.
///
/// # Cost
/// About 2n³ multiplications for a component of n peers, its own check included.
pub fn exact_variance_factors(
    graph: &Graph,
    own: f64,
    pairwise: f64,
    coalition: &[u32],
) -> Result<Vec<Option<f64>>, PrivacyError> {
    check_variances(own, pairwise)?;
    let sorted = check_coalition(graph.nodes(), coalition)?;
    let mut factors = vec![None; graph.nodes()];
    for nodes in pieces(graph, &sorted) {
        // In units of σ_η², so that no square over- or underflows.
        let component = Component::new(graph, nodes, 1.0, pairwise / own)?;
        let common = 1.0 / component.nodes.len() as f64;
        for (&u, excess) in component.nodes.iter().zip(component.excess()) {
            factors[u as usize] = Some((common + excess) / own);
        }
    }
    Ok(factors)
}

/// The coalition in ascending order, if every peer of it exists and is named once.
fn check_coalition(peers: usize, coalition: &[u32]) -> Result<Vec<u32>, PrivacyError> {
    let mut sorted = coalition.to_vec();
    sorted.sort_unstable();
    for (position, &peer) in sorted.iter().enumerate() {
        let problem = if peer as usize >= peers {
            "which does not exist"
        } else if position > 0 && sorted[position - 1] == peer {
            "twice"
        } else {
            continue;
        };
        return Err(PrivacyError::Coalition {
            peer,
            problem,
            peers,
        });
    }
    Ok(sorted)
}

/// σ_Δ²/σ_η² up to which squares of the inverse's entries are representable.
pub(super) const LARGEST_RATIO: f64 = 1e100;

fn check_variances(own: f64, pairwise: f64) -> Result<(), PrivacyError> {
    if !(own.is_normal() && own > 0.0) {
        return Err(PrivacyError::Parameter {
            name: "the variance of the own noise",
            found: own,
            expected: "a finite number above 0",
        });
    }
    // Written so that NaN is refused too.
    if !(pairwise >= 0.0 && pairwise / own <= LARGEST_RATIO) {
        return Err(PrivacyError::Parameter {
            name: "the variance of the pairwise noise",
            found: pairwise,
            expected: "a number of at least 0, at most 1e100 times the variance of the own noise",
        });
    }
    Ok(())
}
