//! Checks of sessions with Wishart noise.

use super::{SessionParameters, SessionPlanError};

/// Refuses terms of Wishart noise that are for other peers or another matrix, too few of them, and what Wishart noise does not go with.
pub(super) fn check(parameters: &SessionParameters) -> Result<(), SessionPlanError> {
    let Some(shares) = parameters.wishart else {
        return Ok(());
    };
    let isometric = parameters.program.isometric_triangles()?;
    let problem = if parameters.ring.is_some() {
        "sums of integers have rounded Gaussian noise"
    } else if parameters.laplace.is_some() {
        "noise has one law: leave out the shares of Laplace noise"
    } else if shares.peers != parameters.peers {
        "its terms are dealt to another number of peers"
    } else if shares.dimension as usize != parameters.program.items {
        "its terms are of another number of items"
    } else if shares.terms <= u64::from(shares.dimension) {
        "n items take at least n + 1 terms: fewer have a density without a bound"
    } else if u32::try_from(shares.of_one()).is_err() {
        "one peer draws at most 2^32 terms"
    } else if shares.isometric != isometric {
        "its coordinates are not those of the triangle that is released"
    } else if shares.mean.is_some() != parameters.program.prelude.is_some() {
        "a mean has a share of Laplace noise where one is released, and only there"
    } else if parameters.sigma_pairwise > 0.0 {
        "noise that partners share is Gaussian, with which (epsilon, 0) is out of reach"
    } else {
        return Ok(());
    };
    Err(SessionPlanError::Wishart { problem })
}
