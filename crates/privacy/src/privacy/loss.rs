//! The privacy loss of a peer over all iterations, and its conversions (μ, ρ, Rényi, ε and δ).

use serde::Serialize;

use super::accountant::{Accounted, Bracket};
use super::{Delta, Epsilon, PrivacyError, gaussian, zcdp};

/// A privacy loss that is exactly Gaussian, N(±μ²/2, μ²): everything that can be said follows from μ ≥ 0.
///
/// One iteration with noise Σ_H and a change of at most Δ in peer u's contribution has μ² = Δ²·[Σ_H⁻¹]_uu (ref
/// B.1), and iterations whose noise was fixed in advance relative to the sensitivity compose to the sum of their
/// μ² (Dong, Roth & Su, JRSS-B 2022, Corollary 3.3).
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Serialize)]
pub struct Loss {
    mu: f64,
}

impl Loss {
    /// The loss with this μ.
    ///
    /// # Errors
    /// [`PrivacyError::Parameter`] for a μ that is negative or not a number. +∞ is a loss: no protection.
    pub fn new(mu: f64) -> Result<Self, PrivacyError> {
        // Written so that NaN is refused too.
        if mu >= 0.0 {
            Ok(Self { mu })
        } else {
            Err(PrivacyError::Parameter {
                name: "mu",
                found: mu,
                expected: "a number of at least 0",
            })
        }
    }

    /// The loss with this μ², rounded up.
    ///
    /// # Errors
    /// Those of [`Self::new`].
    pub fn of_square(square: f64) -> Result<Self, PrivacyError> {
        let mu = square.sqrt();
        Self::new(if mu > 0.0 { mu.next_up() } else { mu })
    }

    /// μ.
    #[must_use]
    pub fn mu(self) -> f64 {
        self.mu
    }

    /// The smallest ε at this δ, exactly ([`gaussian::epsilon`]).
    #[must_use]
    pub fn epsilon(self, delta: Delta) -> f64 {
        gaussian::epsilon(self.mu, delta)
    }

    /// The δ at this ε, exactly ([`gaussian::delta`]).
    #[must_use]
    pub fn delta(self, epsilon: Epsilon) -> f64 {
        gaussian::delta(epsilon.get(), self.mu)
    }

    /// ρ = μ²/2 of zero-concentrated differential privacy, exactly (Bun & Steinke 2016, Proposition 1.6).
    #[must_use]
    pub fn rho(self) -> f64 {
        0.5 * self.mu * self.mu
    }

    /// The Rényi divergence of order `order` = α > 1, exactly αμ²/2 (Mironov, CSF 2017, Proposition 7); +∞ for an
    /// order that is not above 1.
    #[must_use]
    pub fn renyi(self, order: f64) -> f64 {
        if self.mu == 0.0 {
            0.0
        } else if order > 1.0 {
            order * self.rho()
        } else {
            f64::INFINITY
        }
    }

    /// The ε that the best conversion from ρ allows; above [`Self::epsilon`] ([`zcdp::epsilon`]).
    #[must_use]
    pub fn zcdp_epsilon(self, delta: Delta) -> f64 {
        zcdp::epsilon(self.rho(), delta)
    }

    /// The ε that the papers state: ρ + 2√(ρ ln(1/δ)), above both others (Bun & Steinke 2016, Proposition 1.3).
    #[must_use]
    pub fn paper_epsilon(self, delta: Delta) -> f64 {
        zcdp::bun_steinke_epsilon(self.rho(), delta)
    }
}

/// μ_u² = Σ_l Δ_l²·v_{u,l} of every peer over several iterations, each given as its sensitivity Δ_l (the L2 norm
/// by which one record may move one contribution) and the variance factors of its own noise; `None` for a peer that
/// colludes in any of them.
///
/// # Errors
/// [`PrivacyError::Iterations`] for none, [`PrivacyError::Parameter`] for a sensitivity that is negative or not
/// finite, [`PrivacyError::PeerCount`] where iterations are over different numbers of peers.
pub fn compose(rounds: &[(f64, &Accounted)]) -> Result<Vec<Option<Bracket>>, PrivacyError> {
    let (_, first) = rounds.first().ok_or(PrivacyError::Iterations)?;
    let peers = first.brackets.len();
    let mut total = vec![Some(Bracket::new(0.0, 0.0, 0.0)); peers];
    for &(sensitivity, round) in rounds {
        if !(sensitivity >= 0.0 && sensitivity.is_finite()) {
            return Err(PrivacyError::Parameter {
                name: "the sensitivity of an iteration",
                found: sensitivity,
                expected: "a finite number of at least 0",
            });
        }
        if round.brackets.len() != peers {
            return Err(PrivacyError::PeerCount {
                peers,
                found: round.brackets.len(),
            });
        }
        for (sum, factor) in total.iter_mut().zip(&round.brackets) {
            *sum = match (*sum, factor) {
                (Some(sum), Some(factor)) => {
                    Some(sum.plus(factor.times(sensitivity).times(sensitivity)))
                }
                _ => None,
            };
        }
    }
    Ok(total)
}

#[cfg(test)]
mod tests {
    use super::super::accountant::{AccountOptions, NoiseCovariance, account};
    use super::*;
    use crate::topology::Graph;

    #[test]
    fn every_statement_follows_from_mu() {
        let delta = Delta::new(1e-6).expect("valid");
        // μ and exact ε of the first shared vector: K5, σ_η² = 1, σ_Δ² = 10, three iterations.
        let loss = Loss::new(0.804_399_666_539_843_7).expect("valid");
        assert!((loss.epsilon(delta) / 3.820_872_318_840_299 - 1.0).abs() < 1e-10);
        let epsilon = Epsilon::new(loss.epsilon(delta)).expect("valid");
        assert!((loss.delta(epsilon) / 1e-6 - 1.0).abs() < 1e-9);
        assert!((loss.renyi(8.0) / (8.0 * loss.rho()) - 1.0).abs() < 1e-15);
        assert!(loss.epsilon(delta) < loss.zcdp_epsilon(delta));
        assert!(loss.zcdp_epsilon(delta) < loss.paper_epsilon(delta));
        let nothing = Loss::new(0.0).expect("valid");
        assert_eq!((nothing.epsilon(delta), nothing.renyi(2.0)), (0.0, 0.0));
        let open = Loss::new(f64::INFINITY).expect("valid");
        assert_eq!(open.epsilon(delta), f64::INFINITY);
        assert_eq!(open.delta(epsilon), 1.0);
        assert_eq!(loss.renyi(1.0), f64::INFINITY);
        assert!(Loss::new(f64::NAN).is_err() && Loss::new(-1.0).is_err());
        assert!(Loss::of_square(f64::NAN).is_err() && Loss::of_square(-1.0).is_err());
    }

    #[test]
    fn iterations_with_their_own_sensitivities_and_noise_add_their_squares() {
        let graph = Graph::from_edges(3, &[(0, 1), (1, 2), (0, 2)]).expect("a triangle");
        let factors = |own: f64, coalition: &[u32]| {
            let covariance = NoiseCovariance::uniform(&graph, own, 4.0 * own).expect("valid");
            account(&covariance, coalition, AccountOptions::default()).expect("valid")
        };
        // Σ = σ²(I + 4L): (1/3)(1 + 2/13)/σ² = 5/13/σ².
        let (a, b) = (factors(1.0, &[]), factors(0.25, &[]));
        let total = compose(&[(0.5, &a), (2.0, &b)]).expect("valid");
        for square in total {
            let square = square.expect("honest");
            assert!(square.contains(5.0 / 13.0 * (0.25 + 16.0)) && square.gap() < 1e-12);
            let loss = Loss::of_square(square.high).expect("valid");
            assert!(loss.mu() * loss.mu() >= square.high);
        }
        let total = compose(&[(1.0, &a), (1.0, &factors(1.0, &[2]))]).expect("valid");
        assert!(total[2].is_none() && total[0].is_some());
        assert!(matches!(compose(&[]), Err(PrivacyError::Iterations)));
        for bad in [f64::NAN, -1.0, f64::INFINITY] {
            assert!(compose(&[(bad, &a)]).is_err());
        }
        let pair = Graph::from_edges(2, &[(0, 1)]).expect("an edge");
        let covariance = NoiseCovariance::uniform(&pair, 1.0, 1.0).expect("valid");
        let other = account(&covariance, &[], AccountOptions::default()).expect("valid");
        assert!(matches!(
            compose(&[(1.0, &a), (1.0, &other)]),
            Err(PrivacyError::PeerCount { .. })
        ));
    }
}
