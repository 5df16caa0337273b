//! What f32 costs: a bound on how far rounding moves a peer's estimate of a sum.

use crate::protocol::Values;
use crate::protocol::averaging::{AveragingKind, Form};
use crate::scenario::Experiment;

/// ε, the unit roundoff of f32: |rd(x) − x| ≤ ε|x| + τ for every x within its range, τ = 2⁻¹⁵⁰.
const UNIT: f64 = f32::EPSILON as f64 / 2.0;

/// What bounds the rounding of a schedule.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Shape {
    /// Listed steps that add up every input exactly once, see [`Schedule::sums_exactly`](crate::protocol::averaging::Schedule::sums_exactly).
    Exact,
    /// x ← W x, of which one round shrinks the spread by ρ.
    Linear {
        /// ρ.
        factor: f64,
    },
    /// Chebyshev's recurrence, of which one round shrinks the spread by 1/cosh η.
    Chebyshev {
        /// η.
        rate: f64,
    },
}

/// A bound on max_u ‖Ŝ_u − S_u‖_F/‖Ȳ‖_F: how far rounding to f32 moves the estimates of `peers` peers in a schedule of `rounds`
/// rounds, where spread = s‖x⁰ − x̄‖_F/‖Ȳ‖_F and the largest values are within the range of f32. Infinite where nothing can be
/// said. `tiny` = √values/‖Ȳ‖_F.
///
/// # Statement
/// Every value is rounded before its first send and after each of at most K combinations. With n₀ = √s + spread, which is at
/// least s‖x⁰‖_F/‖Ȳ‖_F, γ = (1+ε)^{K+1} − 1, and up to the term t below
/// (norms of what was published, which is rounded already, stand for those before; that changes a bound by a factor 1 + O(ε)):
///
/// - exact: γ (1 + spread/√s);
/// - else ε (1 + κ_K spread + B) + ε Σ_{j<K} (m_{K−j}/√s + g_{K−j})(√s + κ_j spread + B), B = θ n₀/(1−θ), with, where rounds are
///   linear, κ_j = ρ^j, g_n = ρ^n, m_n = 1, θ = ε(K+1), and in Chebyshev's κ_j = 1/cosh(jη), g_n = min(n+1, 2(n+1)e^{−nη}),
///   m_n = min(n+1, 2/(1 − e^{−2η})), θ = ε(K+1)(K+2)/2.
///
/// # Proof
/// Let x be the values in exact arithmetic, x̂ as rounded, e = x̂ − x.
///
/// *Exact.* All weights are at least 0, so by induction |e| ≤ ((1+ε)^k − 1)·P|x⁰| coordinate by coordinate, P the
/// schedule so far and k the roundings: a combination of values within (1+ε)^k is within (1+ε)^k, and its rounding adds
/// one factor. At the end factor·P|x⁰| is Σ_v|x_v|, as every input counts once, and
/// Σ‖x_v‖ ≤ √s‖x⁰ − x̄‖_F + s‖x̄‖ = ‖Ȳ‖(1 + spread/√s).
///
/// *Linear.* e^{k+1} = W e^k + δ_{k+1} with ‖δ_j‖_F ≤ ε‖x̂^j‖_F. W keeps the part of δ_j along the mean, which is the same at all peers
/// and has norm at most ‖δ_j‖_F/√s at each, and shrinks the rest by ρ in every round. The last rounding moves peer u by ε‖x̂_u‖
/// only. Last, s‖x̂^j‖_F/‖Ȳ‖ ≤ √s + κ_j spread + s‖e^j‖_F/‖Ȳ‖, and as no round enlarges an error the largest of the last terms, B*,
/// satisfies B* ≤ θ(n₀ + B*), so that B* ≤ B.
///
/// *Chebyshev.* As before, but the error obeys another recurrence. With τ_k = cosh kη the
/// recurrence is τ_{k+1}e^{k+1} = 2z τ_k e^k − τ_{k−1}e^{k−1}, z the map of W that takes the interval of its eigenvalues but 1 to
/// \[−1, 1\] and 1 to cosh η. So δ_j comes out after n = k − j rounds multiplied by U_n(z)τ_j/τ_k, Chebyshev's second kind (by
/// T_k(z)/τ_k, which is less, for j = 0). On \[−1, 1\] |U_n| ≤ n+1, and τ_j/τ_k ≤ min(1, 2e^{−nη}): that is g_n. At 1,
/// U_n τ_j/τ_k = sinh((n+1)η)cosh(jη)/(sinh η · cosh kη); the numerator is half of sinh((k+1)η) + sinh((n+1−j)η), both at most
/// e^{(k+1)η}/2, and cosh kη ≥ e^{kη}/2, so it is at most e^η/sinh η = 2/(1 − e^{−2η}); and U_n ≤ (n+1)T_n, T_nτ_j ≤ τ_k give n+1.
/// With gains of at most n+1 for every δ_j the sum of all gains is at most (K+1)(K+2)/2.
///
/// *Underflow.* The terms τ pass with the same gains: t = (K+1)(K+2) s^{3/2} 2⁻¹⁵⁰ √values/‖Ȳ‖ covers them. ∎
pub(super) fn bound(shape: Shape, rounds: u32, peers: usize, spread: f64, tiny: f64) -> f64 {
    let (s, k) = (peers as f64, f64::from(rounds));
    let root = s.sqrt();
    let relative = libm::expm1((k + 1.0) * libm::log1p(UNIT));
    let bound = match shape {
        Shape::Exact => relative * (1.0 + spread / root),
        Shape::Linear { factor } => {
            let shrunk = |round| libm::pow(factor, round);
            spectral(rounds, (peers, spread), k + 1.0, shrunk, |n| {
                (1.0, shrunk(n))
            })
        }
        Shape::Chebyshev { rate } => {
            let along_mean = 2.0 / -libm::expm1(-2.0 * rate);
            let shrunk = |round: f64| libm::cosh(round * rate).recip();
            let gains = (k + 1.0) * (k + 2.0) / 2.0;
            spectral(rounds, (peers, spread), gains, shrunk, |n| {
                let gain = (n + 1.0) * (2.0 * libm::exp(-n * rate)).min(1.0);
                (along_mean.min(n + 1.0), gain)
            })
        }
    };
    let underflow = (k + 1.0) * (k + 2.0) * s * root * 2.0_f64.powi(-150) * tiny;
    let bound = bound + underflow;
    if bound.is_nan() { f64::INFINITY } else { bound }
}

/// The second form of the statement: `gains` = θ/ε, `shrunk` gives κ_j, and `passed` m_n and g_n.
fn spectral(
    rounds: u32,
    (peers, spread): (usize, f64),
    gains: f64,
    shrunk: impl Fn(f64) -> f64,
    passed: impl Fn(f64) -> (f64, f64),
) -> f64 {
    let root = (peers as f64).sqrt();
    let theta = UNIT * gains;
    if theta >= 0.5 {
        return f64::INFINITY;
    }
    let second = theta * (root + spread) / (1.0 - theta);
    let apart = |round| spread * shrunk(round) + second;
    let earlier = (0..rounds).map(|j| {
        let (along_mean, gain) = passed(f64::from(rounds - j));
        (along_mean / root + gain) * (root + apart(f64::from(j)))
    });
    UNIT * (1.0 + apart(f64::from(rounds)) + earlier.sum::<f64>())
}

/// The bound for an experiment whose values are f32, for one release; `None` where values are f64.
pub(super) fn of_release(experiment: &Experiment, spread: f64, published: &[f64]) -> Option<f64> {
    let averaging = &experiment.config().averaging;
    if averaging.values != Values::F32 {
        return None;
    }
    let (rounds, peers) = (experiment.rounds(), experiment.topology().graph().nodes());
    let norm = published.iter().map(|x| x * x).sum::<f64>().sqrt();
    let tiny = (published.len() as f64).sqrt() / norm;
    let shape = shape(experiment, averaging.scheme);
    Some(shape.map_or(f64::INFINITY, |shape| {
        bound(shape, rounds, peers, spread, tiny)
    }))
}

fn shape(experiment: &Experiment, scheme: AveragingKind) -> Option<Shape> {
    let schedule = experiment.schedule();
    match schedule.form() {
        Form::Listed(_) => schedule
            .sums_exactly(experiment.topology())
            .then_some(Shape::Exact),
        Form::Recurrence(_) => {
            let factor = scheme.contraction(experiment.mixing_bounds(), 1).ok()?;
            match scheme {
                AveragingKind::Linear => Some(Shape::Linear { factor }),
                AveragingKind::Chebyshev => {
                    let rate = libm::acosh(factor.recip());
                    (rate.is_finite() && rate > 0.0).then_some(Shape::Chebyshev { rate })
                }
                _ => None,
            }
        }
        // Sessions refuse f32 where mass is passed.
        Form::Passing(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A ring with weights 1/3; eigenvalues (1 + 2 cos(2πk/n))/3.
    fn ring(kind: AveragingKind, n: usize, rounds: u32, start: &[f64], values: Values) -> Vec<f64> {
        use crate::protocol::averaging::{MixingBounds, mix};
        let second = (1.0 + 2.0 * (std::f64::consts::TAU / n as f64).cos()) / 3.0;
        let bounds = MixingBounds {
            lowest: -1.0 / 3.0,
            second,
        };
        let mut now = start.to_vec();
        values.round(&mut now);
        let mut before = now.clone();
        for coefficients in kind.schedule(bounds, rounds).expect("contracts") {
            let mut next: Vec<f64> = (0..n)
                .map(|u| {
                    let around = [(u + n - 1) % n, (u + 1) % n];
                    let around = around.map(|v| (1.0 / 3.0, std::slice::from_ref(&now[v])));
                    let (own, old) = (&now[u..=u], &before[u..=u]);
                    let mut out = [0.0];
                    mix(coefficients, 1.0 / 3.0, own, &around, old, &mut out);
                    out[0]
                })
                .collect();
            values.round(&mut next);
            before = std::mem::replace(&mut now, next);
        }
        now
    }

    #[test]
    fn rounding_is_within_the_bound_and_seen_by_it() {
        for n in [6, 24] {
            for (kind, rounds) in [(AveragingKind::Linear, 60), (AveragingKind::Chebyshev, 40)] {
                for scale in [0.0, 1.0, 1e4] {
                    let start: Vec<f64> = (0..n)
                        .map(|u| 1.0 / 3.0 + scale * ((u * u * 7 + 3) as f64).sin())
                        .collect();
                    let total: f64 = start.iter().sum();
                    let mean = total / n as f64;
                    let squares = start.iter().map(|x| (x - mean).powi(2));
                    let spread = n as f64 * squares.sum::<f64>().sqrt() / total.abs();
                    let exact = ring(kind, n, rounds, &start, Values::F64);
                    let rounded = ring(kind, n, rounds, &start, Values::F32);
                    let apart = exact.iter().zip(&rounded).map(|(x, y)| (x - y).abs());
                    let moved = n as f64 * apart.fold(0.0, f64::max) / total.abs();
                    let second = (1.0 + 2.0 * (std::f64::consts::TAU / n as f64).cos()) / 3.0;
                    let (lowest, second) = (-1.0 / 3.0, second);
                    let bounds = crate::protocol::averaging::MixingBounds { lowest, second };
                    let shrinks = |rounds| kind.contraction(bounds, rounds).expect("contracts");
                    let shape = match kind {
                        AveragingKind::Linear => Shape::Linear { factor: shrinks(1) },
                        _ => Shape::Chebyshev {
                            rate: shrinks(1).recip().acosh(),
                        },
                    };
                    let bound = bound(shape, rounds, n, spread, 1.0 / total.abs());
                    assert!(
                        moved <= bound,
                        "{kind:?} {n} {scale}: {moved:e} > {bound:e}"
                    );
                    assert!(moved > 0.0 && bound < 1e4 * moved, "{moved:e} {bound:e}");
                }
            }
        }
    }

    #[test]
    fn nothing_is_promised_where_the_proof_ends() {
        let shape = Shape::Chebyshev { rate: 0.001 };
        assert!(bound(shape, 10_000, 9, 1.0, 1.0).is_infinite());
        assert!(bound(Shape::Exact, 3, 9, f64::NAN, 1.0).is_infinite());
        // Two rounds of an exact sum of equal values: three roundings.
        let expected = (1.0 + UNIT).powi(3) - 1.0;
        let found = bound(Shape::Exact, 2, 4, 0.0, 0.0);
        assert!((found / expected - 1.0).abs() < 1e-6, "{found:e}");
    }
}
