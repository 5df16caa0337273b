//! What a sampler that is not quite the law it stands for costs in δ.
//!
//! # Statement
//! Let a mechanism be (ε, δ₀)-private with ideal noise, and let all noise that is drawn be within total-variation distance T of the
//! ideal one. Then it is (ε, δ₀ + (1 + e^ε)·T)-private with the noise that is drawn.
//!
//! # Proof
//! For neighbours with outputs P, Q and ideal ones P*, Q*, and every event A: P(A) ≤ P*(A) + T ≤ e^ε Q*(A) + δ₀ + T ≤
//! e^ε(Q(A) + T) + δ₀ + T. ∎ Independent draws within distance τ each are together within T ≤ number·τ.

use crate::privacy::{Budget, Delta, Epsilon, PrivacyError, gaussian};

/// What is left of δ for the mechanism at this ε, where all draws together are within `distance` of their law; `None` where
/// nothing is.
#[must_use]
pub fn left(epsilon: f64, delta: Delta, distance: f64) -> Option<Delta> {
    if distance == 0.0 {
        return Some(delta);
    }
    let spent = (1.0 + libm::exp(epsilon)) * distance;
    // NaN and infinite distances leave nothing.
    Delta::new((delta.get() - spent).next_down()).ok()
}

/// The budget that calibration may spend.
///
/// Whatever is (ε′, δ)-private is (ε, δ)-private for every ε ≥ ε′. So an ε at which the sampler would cost more than δ/16 is
/// lowered to the ε′ at which it costs that: ε′ = ln(δ/(16T) − 1), about 43 for δ = 10⁻⁶ and 10⁷ draws. Other budgets keep their ε.
/// A share this small also keeps [`epsilon`] well away from where it has no solution.
///
/// # Errors
/// [`PrivacyError::SamplerDistance`] where the sampler spends δ/16 at every ε.
pub fn reduced(budget: Budget, distance: f64) -> Result<Budget, PrivacyError> {
    if distance == 0.0 {
        return Ok(budget);
    }
    let Budget { epsilon, delta } = budget;
    let refused = PrivacyError::SamplerDistance {
        distance,
        delta: delta.get(),
    };
    let most = libm::log(delta.get() / (16.0 * distance) - 1.0);
    // Of NaN the lesser one would be ε.
    let found = if most.is_nan() {
        most
    } else {
        epsilon.get().min(most)
    };
    let epsilon = Epsilon::new(found).map_err(|_| refused.clone())?;
    let delta = left(epsilon.get(), delta, distance).ok_or(refused)?;
    Ok(Budget { epsilon, delta })
}

/// δ at this ε of a Gaussian mechanism of this μ with draws within `distance` of their law, at most: that of the best ε′ ≤ ε among ε
/// itself and `known`, an ε at which δ is known to be `at_known`.
#[must_use]
pub fn delta(mu: f64, epsilon: f64, distance: f64, (known, at_known): (f64, Delta)) -> f64 {
    let ideal = gaussian::delta(epsilon, mu);
    if distance == 0.0 {
        return ideal;
    }
    let here = ideal + (1.0 + libm::exp(epsilon)) * distance;
    if known <= epsilon {
        here.min(at_known.get())
    } else {
        here.min(1.0)
    }
}

/// The least ε, rounded up, at which a Gaussian mechanism of this μ spends at most δ with draws within `distance` of their
/// law; infinite where none does.
#[must_use]
pub fn epsilon(mu: f64, delta: Delta, distance: f64) -> f64 {
    // From below: what is left of δ falls with ε, so that the sequence rises to the least fixed point.
    let mut found = 0.0;
    for _ in 0..100 {
        let Some(rest) = left(found, delta, distance) else {
            return f64::INFINITY;
        };
        let next = gaussian::epsilon(mu, rest);
        if next <= found {
            return found;
        }
        // A little more, so that it ends.
        found = if distance == 0.0 {
            next
        } else {
            next * (1.0 + 1e-12)
        };
    }
    f64::INFINITY
}

#[cfg(test)]
mod tests {
    use super::delta as delta_at;
    use super::*;

    fn delta(value: f64) -> Delta {
        Delta::new(value).expect("a probability")
    }

    #[test]
    fn a_distance_costs_its_share_of_delta() {
        let budget = Budget::new(2.0, 1e-6).expect("valid");
        let rest = reduced(budget, 1e-9).expect("enough");
        let expected = 1e-6 - (1.0 + 2.0_f64.exp()) * 1e-9;
        assert!((rest.delta.get() / expected - 1.0).abs() < 1e-12);
        assert_eq!(reduced(budget, 0.0), Ok(budget));
        // However large ε is, most of δ is left for the mechanism at the ε′ that is spent, and ε′ is no larger than ε.
        for asked in [40.0, 45.0, 50.0, 700.0, 1e6] {
            let budget = Budget::new(asked, 1e-6).expect("valid");
            let rest = reduced(budget, 1e-26).expect("enough");
            let spent = (1.0 + rest.epsilon.get().exp()) * 1e-26;
            assert!(rest.epsilon.get() <= asked && spent <= 1e-6 / 16.0 * (1.0 + 1e-9));
            assert!((rest.delta.get() - (1e-6 - spent)).abs() < 1e-15);
            assert_eq!(
                rest.epsilon.get() == asked,
                asked < 43.2,
                "{asked}: {rest:?}"
            );
            // Calibrated to it, a mechanism spends what it may and is within the budget that was asked for.
            let mu = gaussian::mu(rest.epsilon, rest.delta);
            let found = epsilon(mu, budget.delta, 1e-26);
            assert!(
                found <= rest.epsilon.get() * (1.0 + 1e-9),
                "{asked}: {found}"
            );
            let at = delta_at(mu, asked, 1e-26, (found, budget.delta));
            assert!(at <= 1e-6 * (1.0 + 1e-6), "{asked}: {at}");
        }
        for bad in [3e-7, 1.0, f64::NAN, f64::INFINITY] {
            let refused = reduced(budget, bad);
            assert!(
                matches!(refused, Err(PrivacyError::SamplerDistance { .. })),
                "{bad}"
            );
        }
    }

    #[test]
    fn epsilon_pays_for_the_distance() {
        for mu in [0.05, 0.3, 1.0, 4.0] {
            assert_eq!(
                epsilon(mu, delta(1e-6), 0.0),
                gaussian::epsilon(mu, delta(1e-6))
            );
            // At ε of 27, where μ = 4 is, e^ε times the larger ones is more than δ.
            let distances = if mu < 2.0 {
                [1e-20, 1e-12, 1e-9]
            } else {
                [1e-25, 1e-22, 1e-19]
            };
            for distance in distances {
                let found = epsilon(mu, delta(1e-6), distance);
                let spent = gaussian::delta(found, mu) + (1.0 + found.exp()) * distance;
                assert!(spent <= 1e-6 * (1.0 + 1e-9), "{mu} {distance}: {spent}");
                let less = found * (1.0 - 1e-6);
                let spent = gaussian::delta(less, mu) + (1.0 + less.exp()) * distance;
                assert!(
                    spent > 1e-6 || found == 0.0,
                    "{mu} {distance}: not the least"
                );
            }
        }
        // At this μ no ε is large enough for the mechanism and small enough for the sampler.
        assert_eq!(epsilon(4.0, delta(1e-6), 1e-7), f64::INFINITY);
        assert_eq!(epsilon(1.0, delta(1e-6), f64::NAN), f64::INFINITY);
        assert_eq!(epsilon(f64::NAN, delta(1e-6), 1e-12), f64::INFINITY);
    }
}
