//! The exact variance factors against one coalition of peers with equal noise.

use super::component::{Component, pieces};
use super::refused::{check_coalition, check_variances};
use crate::privacy::PrivacyError;
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
