//! Chooses own and pairwise noise, σ_η and κ = σ_Δ²/σ_η², such that v_u ≤ 1/z² against every coalition of t.
//!
//! In units of σ_η², v_u·σ_η² = 1/|C| + Σ_{k≥2} w_k/(1 + κλ_k), where C is u's component in the honest graph, λ_k
//! the eigenvalues of its Laplacian and w_k = (e_uᵀq_k)². The first term is what a trusted curator of C would
//! spend; the second is the price of finite κ.
//!
//! # By enumeration (t ≤ 1, up to 2,000 peers)
//! Let R_u = Σ_{k≥2} w_k/λ_k = [L_C⁺]_uu and m the size of the smallest component any coalition of t leaves. Choose
//! σ_η² = z²(1 + β)/m and κ = max R_u/((1 + β)/m − 1/|C|), over all coalitions and honest u. Then
//! v_u·σ_η² ≤ 1/|C| + R_u/κ ≤ (1 + β)/m = σ_η²/z². ∎ Since |C| ≥ m and β > 0 the denominator is at least β/m.
//! If nothing is ever split, m = s − t and κ = (s − t)·R/β, R the largest R_u. The first inequality loses
//! w_k/(κλ_k)² only: to second order no smaller κ would do.
//!
//! # Otherwise
//! See [`super::certified`]: by enumeration of larger coalitions on small graphs, or by the best of all certificates.

use super::super::accountant::{LARGEST_RATIO, PublicGraph, enumerate, worst};
use super::super::{Certificate, PrivacyError};
use super::{NoisePlan, NoiseRequest, View, certified, coalition_name, refusal};

/// Covers the rounding of the recipe itself, where it is an equality (complete graphs).
const ROUNDING: f64 = 1.0 + 1e-9;

/// Plans σ_η and σ_Δ and states every view.
pub(super) fn plan(request: &NoiseRequest<'_>) -> Result<NoisePlan, PrivacyError> {
    if !(request.overhead > 0.0 && request.overhead <= 1e6) {
        return Err(PrivacyError::Parameter {
            name: "privacy.overhead",
            found: request.overhead,
            expected: "a number above 0 and at most 1e6 (for example 0.01); finite pairwise noise cannot do without",
        });
    }
    let public = PublicGraph::new(request.graph, request.connectivity);
    let (variance, ratio) = recipe(request, &public)?;
    if ratio.is_nan() || ratio > LARGEST_RATIO {
        return Err(PrivacyError::Parameter {
            name: "the ratio of pairwise to own variance",
            found: ratio,
            expected: "at most 1e100; raise privacy.overhead or use a better connected noise graph",
        });
    }
    let views = views(request, &public, variance, ratio)?;
    Ok(request.assemble(variance.sqrt(), (variance * ratio).sqrt(), views))
}

/// (σ_η², κ).
fn recipe(
    request: &NoiseRequest<'_>,
    public: &PublicGraph<'_>,
) -> Result<(f64, f64), PrivacyError> {
    let &NoiseRequest {
        graph,
        colluders,
        overhead,
        on_disconnect,
        ..
    } = request;
    let budget = request.noise_multiplier.powi(2) * (1.0 + overhead);
    refusal::refuse_split(graph, colluders, on_disconnect)?;
    let mut out_of_reach = false;
    if colluders <= 1 {
        let exposures = enumerate(graph, 0.0, 1.0, colluders == 1)?.and_then(|exposures| {
            if colluders == 1 {
                exposures.single
            } else {
                Some(exposures.alone)
            }
        });
        if let Some(exposures) = exposures {
            let smallest = exposures.iter().map(|e| e.honest).min().unwrap_or(1) as f64;
            let ratio = exposures
                .iter()
                .map(|e| e.excess / ((1.0 + overhead) / smallest - 1.0 / e.honest as f64))
                .fold(0.0, f64::max);
            // Where own noise is what counts, more pairwise noise would not make up for rounding.
            return Ok((budget / smallest * ROUNDING, ratio * ROUNDING));
        }
        out_of_reach = true;
    }
    // With pieces left nobody hides among more than the smallest, which only enumeration pays for.
    refusal::if_disconnected(graph)?;
    let Some(ratio) = certified::least_ratio(request, public) else {
        return Err(refusal::too_many(request, public, out_of_reach));
    };
    let ratio = ratio * ROUNDING;
    // Where β is larger than any use of it, less noise than it allows is enough.
    let honest = (graph.nodes() - colluders) as f64;
    let enough = certified::known(request, public, ratio, colluders).0 * ROUNDING;
    let variance = request.noise_multiplier.powi(2) * enough;
    Ok((variance.min(budget / honest), ratio))
}

/// What adversaries of each size learn: exactly where coalitions can be enumerated, otherwise by the best certificate.
fn views(
    request: &NoiseRequest<'_>,
    public: &PublicGraph<'_>,
    variance: f64,
    ratio: f64,
) -> Result<Vec<View>, PrivacyError> {
    let graph = request.graph;
    // In units of σ_η². What was asked for must be certified; coalitions beyond it merely have no exact view.
    let exact = match (enumerate(graph, 1.0, ratio, true), request.colluders) {
        (Ok(exposures), _) => exposures,
        (Err(error), 1) => return Err(error),
        (Err(_), 0) => enumerate(graph, 1.0, ratio, false)?,
        (Err(_), _) => None,
    };
    let mut views = Vec::new();
    for t in request.coalition_sizes() {
        let enumerated = exact.as_ref().and_then(|exposures| match t {
            0 => worst(&exposures.alone, 1.0).map(|e| (e, Certificate::Exact)),
            1 => {
                worst(exposures.single.as_deref()?, 1.0).map(|e| (e, Certificate::ExactEnumeration))
            }
            _ => None,
        });
        let (factor, certificate) = match enumerated {
            Some((exposure, certificate)) => (exposure.variance_factor(1.0), certificate),
            None => certified::known(request, public, ratio, t),
        };
        views.push(request.view(
            coalition_name(t),
            t,
            factor / variance,
            variance.sqrt(),
            certificate,
        ));
    }
    Ok(views)
}
