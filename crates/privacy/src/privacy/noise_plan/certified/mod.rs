//! Chooses σ_Δ by the best certificate, where enumerating all coalitions takes too long.
//!
//! In units of σ_η² the plan must keep max_u v_u·σ_η² ≤ (1 + β)/n_H, n_H = s − t, with σ_η² = z²(1 + β)/n_H: then
//! v_u ≤ 1/z². A trusted curator against t colluders needs β = 0, so β is the extra variance of the sum.
//!
//! # All coalitions, if there are few
//! As for t ≤ 1: κ = max R_u/((1 + β)/n_H − 1/|C|), R_u = [L_C⁺]_uu, over all coalitions of t and the pieces C they leave. If
//! every denominator is positive, v_u·σ_η² ≤ 1/|C| + R_u/κ ≤ (1 + β)/n_H. ∎ A coalition may split the graph, as long as
//! β pays for the smallest piece.
//!
//! # The best certificate
//! Every bound of [`Bound::all`] falls with κ, so the largest over the peers of the smallest over the bounds does, and the
//! least κ that satisfies the inequality is found by bisection; the side on which it holds is taken. Its limit for
//! large κ decides whether β suffices, and what β would.
//!
//! [`Bound::all`]: super::super::accountant::Bound::all

#[cfg(test)]
mod tests;

use super::super::accountant::{
    AFFORDABLE, ENUMERATED_UP_TO, PublicGraph, every_coalition, smallest_pieces, work,
};
use super::NoiseRequest;
use crate::privacy::Certificate;

/// Relative precision to which κ is the least.
const PRECISION: f64 = 1e-9;

/// A largest v_u·σ_η² and how it is known.
pub(super) type Known = (f64, Certificate);

/// κ for coalitions of t ≥ 1 within the overhead asked for; `None` if no κ is known to be enough.
pub(super) fn least_ratio(request: &NoiseRequest<'_>, public: &PublicGraph<'_>) -> Option<f64> {
    let t = request.colluders;
    let allowed = (1.0 + request.overhead) / (request.graph.nodes() - t) as f64;
    if isolates(request, t) && allowed < 1.0 {
        return None;
    }
    if t > 1
        && work(request.graph.nodes(), t) <= AFFORDABLE
        && let Ok(pieces) = every_coalition(request.graph, 0.0, 1.0, t)
    {
        let ratio = pieces.iter().map(|piece| {
            let spare = allowed - 1.0 / piece.honest as f64;
            if spare > 0.0 {
                (piece.excess + piece.error) / spare
            } else {
                f64::INFINITY
            }
        });
        return Some(ratio.fold(0.0, f64::max)).filter(|ratio| ratio.is_finite());
    }
    bisected(public, t, allowed)
}

/// Whether a coalition of t holds all noise partners of some peer, so that v_u·σ_η² = 1 whatever κ is.
fn isolates(request: &NoiseRequest<'_>, t: usize) -> bool {
    t > 0 && request.graph.min_degree() <= t
}

/// The least κ at which the best certificate is at most `allowed`, from above.
fn bisected(public: &PublicGraph<'_>, t: usize, allowed: f64) -> Option<f64> {
    // As no bound grows with κ, what is within the limit at one κ need not be looked at for larger ones; all that are asked
    // about after the first that does not suffice are larger.
    let mut open: Vec<u32> = (0..public.graph().nodes() as u32).collect();
    let mut holds = |ratio: f64| {
        let above = public.above((ratio, t), allowed, &open);
        let none = above.is_empty();
        if !none {
            open = above;
        }
        none
    };
    // Bounds at the limit itself do not depend on κ; equality would need it infinite.
    if public.worst(f64::INFINITY, t).0.factor >= allowed {
        return None;
    }
    let mut high = 1e3;
    while !holds(high) {
        high *= 1e3;
        if high > 1e150 {
            return None;
        }
    }
    let mut low = high / 1e3;
    while holds(low) {
        high = low;
        if high < 1e-30 {
            return Some(high);
        }
        low /= 1e3;
    }
    while high / low > 1.0 + PRECISION {
        let middle = (low * high).sqrt();
        if holds(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
    Some(high)
}

/// The limit of the certified max v_u·σ_η² for large κ, against coalitions of t: what no pairwise noise improves on.
pub(super) fn limit(request: &NoiseRequest<'_>, public: &PublicGraph<'_>, t: usize) -> f64 {
    let graph = request.graph;
    let small = match t {
        _ if isolates(request, t) => Some(1),
        0 => graph.component_sizes_without(&[]).into_iter().min(),
        1 if graph.nodes() <= ENUMERATED_UP_TO => {
            let whole = graph.is_connected().then(|| graph.nodes() - 1);
            let cut = graph.cut_vertices().into_iter();
            cut.filter_map(|c| graph.component_sizes_without(&[c]).into_iter().min())
                .chain(whole)
                .min()
        }
        _ if work(graph.nodes(), t) <= AFFORDABLE => smallest_pieces(graph, t).into_iter().min(),
        _ => None,
    };
    small.map_or_else(
        || public.worst(f64::INFINITY, t).0.factor,
        |size| 1.0 / size as f64,
    )
}

/// The largest v_u·σ_η² over all coalitions of `t`: by enumeration where that is quick, otherwise by the best
/// certificate.
pub(super) fn known(
    request: &NoiseRequest<'_>,
    public: &PublicGraph<'_>,
    ratio: f64,
    t: usize,
) -> Known {
    let graph = request.graph;
    if isolates(request, t) {
        return (1.0, Certificate::OwnNoise);
    }
    if t > 1
        && work(graph.nodes(), t) <= AFFORDABLE
        && let Ok(pieces) = every_coalition(graph, 1.0, ratio, t)
    {
        let worst = pieces.iter().map(|piece| piece.at_most());
        return (worst.fold(0.0, f64::max), Certificate::ExactEnumeration);
    }
    let (found, _) = public.worst(ratio, t);
    (found.factor, found.by.certificate())
}
