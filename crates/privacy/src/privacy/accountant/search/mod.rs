//! Searches for the worst coalition of a size: a lower bound by one named coalition, an upper bound for all.
//!
//! Finding the coalition of t that learns most about anybody is a search over C(s, t) sets of a set function that is
//! neither sub- nor supermodular ([`super::bounds::monotonicity`]). The answer is a bracket: the lower end is what one named coalition
//! learns about one named peer, the upper end a certified bound for all coalitions.

mod exhaustive;
mod given;
mod local;

#[cfg(test)]
mod tests;

use serde::Serialize;

use super::bounds::PublicGraph;
use super::refused::check_variances;
use crate::privacy::{Certificate, PrivacyError};

pub(in crate::privacy) use exhaustive::{AFFORDABLE, every_coalition, smallest_pieces, work};

/// Where the largest v_u over all coalitions of a size and all honest u lies.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CoalitionBracket {
    /// A lower bound on what `attained_by` learns about `victim`: v_u, not rounded up.
    pub at_least: f64,
    /// The coalition, ascending.
    pub attained_by: Vec<u32>,
    /// The peer.
    pub victim: u32,
    /// An upper bound on v_u for every coalition of the size and every honest peer.
    pub at_most: f64,
    /// How the upper bound is known.
    pub by: Certificate,
    /// Whether every coalition was looked at, so that the ends differ by rounding alone.
    pub exhaustive: bool,
}

/// What is allowed for rounding where a lower end is computed iteratively.
const ROUNDING: f64 = 1.0 - 1e-9;

/// Brackets the worst of v_u over all coalitions of `colluders` peers, with σ_η² = `own` and σ_Δ² = `pairwise`.
///
/// - A peer with at most t noise partners can be isolated: both ends are 1/σ_η².
/// - Where inverting the covariance for every coalition takes at most `budget` multiplications, that is done.
/// - Otherwise the lower end comes from structured candidates (the partners of weakly protected peers, small separators
///   around them, hubs), improved by exchanging members while the budget lasts; the upper end is the smallest of the
///   bounds of [`super::Bound::all`]. Both ends are then true, not necessarily close.
///
/// The result is a function of its arguments alone.
///
/// # Errors
/// [`PrivacyError::Parameter`] for variances that are not usable, [`PrivacyError::NobodyHonest`],
/// [`PrivacyError::IllConditioned`] if an inverse fails its own check.
///
/// # Cost
/// About `budget` multiplications, and at least one solve; the disjoint forests of `public` on top.
pub fn worst_coalition(
    public: &PublicGraph<'_>,
    own: f64,
    pairwise: f64,
    colluders: usize,
    budget: f64,
) -> Result<CoalitionBracket, PrivacyError> {
    check_variances(own, pairwise)?;
    let graph = public.graph();
    let peers = graph.nodes();
    if colluders >= peers {
        return Err(PrivacyError::NobodyHonest { colluders, peers });
    }
    let ratio = pairwise / own;
    if let Some((victim, coalition)) = local::isolating(graph, colluders) {
        return Ok(CoalitionBracket {
            at_least: 1.0 / own,
            attained_by: coalition,
            victim,
            at_most: 1.0 / own,
            by: Certificate::OwnNoise,
            exhaustive: false,
        });
    }
    if work(peers, colluders) <= budget {
        let mut worst: Option<exhaustive::Seen> = None;
        let mut at_most = 0.0_f64;
        for seen in every_coalition(graph, 1.0, ratio, colluders)? {
            at_most = at_most.max(seen.at_most());
            if worst
                .as_ref()
                .is_none_or(|w| seen.at_least() > w.at_least())
            {
                worst = Some(seen);
            }
        }
        if let Some(worst) = worst {
            return Ok(CoalitionBracket {
                at_least: worst.at_least() / own,
                attained_by: worst.coalition,
                victim: worst.peer,
                at_most: at_most.min(1.0) / own,
                by: Certificate::ExactEnumeration,
                exhaustive: true,
            });
        }
    }
    let (upper, _) = public.worst(ratio, colluders);
    let found = local::search(public, ratio, colluders, budget);
    Ok(CoalitionBracket {
        at_least: found.factor * ROUNDING / own,
        attained_by: found.coalition,
        victim: found.victim,
        at_most: (upper.factor / own).next_up(),
        by: upper.by.certificate(),
        exhaustive: false,
    })
}

impl CoalitionBracket {
    /// The upper end over the lower one: 1 where the worst coalition is known.
    #[must_use]
    pub fn width(&self) -> f64 {
        self.at_most / self.at_least
    }
}
