//! Turns a budget (ε, δ) into the noise multiplier.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::rounded_up::rounded_up;
use super::{Budget, Delta, Epsilon, PrivacyError, gaussian, zcdp};

/// How the noise multiplier z follows from (ε, δ) and the number of iterations L.
///
/// z is the standard deviation of the noise on the sum divided by the sensitivity; every iteration then costs
/// μ = 1/z and L of them √L/z.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Calibration {
    /// z = √L/μ*(ε, δ) with the exact Gaussian curve (Balle & Wang 2018). The least noise that suffices.
    Analytic,
    /// z = √(L/2ρ*) with the optimal conversion from zCDP (Canonne, Kamath & Steinke 2020).
    Zcdp,
    /// z = √(4L ln(1/δ))/ε, as printed in P1, Theorem 3.2 (and Hardt & Roth, Hardt & Price). It costs
    /// ρ = ε²/(8 ln(1/δ)), which is within ε only up to about 2.34·ln(1/δ), not 4·ln(1/δ) as P1 says
    /// ([`errata`](crate::privacy::errata)); beyond, [`Calibrated::warning`] says what is really spent.
    Paper,
    /// z = 2√(4L ln(1/δ))/ε, as printed in Hardt & Roth 2013, Figure 2. It spends μ = ε/(4√ln(1/δ)), a quarter to a third of ε: the
    /// noise is 2.7 to 3.9 times what is needed. For comparison with their figures.
    HardtRoth,
    /// z = √(4(L + 1) ln(1/δ))/ε, as printed in Jain, Thakkar & Thakurta 2018, Algorithm 1, which makes one release less than it charges:
    /// their σ = L²√(64 T ln(1/δ))/ε is 4L²·z for the T − 1 releases of T steps, 4L² being what they bound one user's change by. It
    /// is within ε up to a little beyond the [`Calibration::Paper`] limit for users that are there or not; for users that are replaced the
    /// bound itself is too small ([`errata`](crate::privacy::errata)).
    JainThakkarThakurta,
    /// z = (L/ε)√(2 ln(1.25 L/δ)): the classical Gaussian mechanism (Dwork & Roth 2014, Theorem A.1) with
    /// (ε/L, δ/L) in every iteration, which basic composition adds up to (ε, δ). A reconstruction of how
    /// FedPower calibrates. The theorem holds for ε/L ≤ 1 only; outside,
    /// [`Calibrated::warning`] is decided by the exact curve, as for every calibration.
    Basic,
}

/// A noise multiplier with the exact ε it spends.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Calibrated {
    /// Noise multiplier: standard deviation of the noise on the sum per unit sensitivity, rounded up to 40 bits.
    z: f64,
    /// μ of all iterations together, √L/z; with searches the μ of a Gaussian mechanism that spends as much at the budget's δ.
    mu_total: f64,
    /// μ of one iteration, 1/z.
    mu_per_iteration: f64,
    /// The exact ε of `mu_total` at the budget's δ, in nats; 0 if δ alone covers it.
    spent: f64,
    /// Set when `spent` exceeds the budget's ε.
    warning: Option<CalibrationWarning>,
    /// ε_s of the search that goes with every release, where one does.
    #[serde(skip_serializing_if = "Option::is_none")]
    search_epsilon: Option<f64>,
}

impl Calibrated {
    /// Laplace noise of standard deviation `z` per unit of Δ₁ that spends (`spent`, 0), with the μ of the Gaussian mechanisms that tell at
    /// least as much as all iterations and as one.
    pub(super) fn of_laplace(z: f64, spent: f64, (mu_total, mu_per_iteration): (f64, f64)) -> Self {
        Self {
            z: rounded_up(z),
            mu_total,
            mu_per_iteration,
            spent,
            warning: None,
            search_epsilon: None,
        }
    }

    /// Releases of this noise multiplier, each with a search that is (ε_s, 0)-private, which spend that much together.
    pub(super) fn with_searches(
        z: f64,
        equivalent_mu: f64,
        spent: f64,
        search_epsilon: f64,
    ) -> Self {
        let z = rounded_up(z);
        Self {
            z,
            mu_total: equivalent_mu,
            mu_per_iteration: 1.0 / z,
            spent,
            warning: None,
            search_epsilon: Some(search_epsilon),
        }
    }

    /// The same releases under noise `factor` times as large, and what they spend at this δ.
    pub(super) fn with_noise_times(&self, factor: f64, delta: Delta) -> Self {
        let mu_total = self.mu_total / factor;
        Self {
            z: self.z * factor,
            mu_total,
            mu_per_iteration: self.mu_per_iteration / factor,
            spent: gaussian::epsilon(mu_total, delta),
            ..self.clone()
        }
    }

    /// ε_s of the search that goes with every release, where one does: see [`sparse_vector`](super::sparse_vector).
    #[must_use]
    pub fn search_epsilon(&self) -> Option<f64> {
        self.search_epsilon
    }

    /// Noise multiplier: standard deviation of the noise on the sum per unit sensitivity.
    #[must_use]
    pub fn z(&self) -> f64 {
        self.z
    }

    /// μ of all iterations together, √L/z; with searches the μ of a Gaussian mechanism that spends as much at the budget's δ.
    #[must_use]
    pub fn mu_total(&self) -> f64 {
        self.mu_total
    }

    /// μ of one iteration, 1/z.
    #[must_use]
    pub fn mu_per_iteration(&self) -> f64 {
        self.mu_per_iteration
    }

    /// The exact ε of [`Self::mu_total`] at the budget's δ, in nats; 0 if δ alone covers it.
    #[must_use]
    pub fn spent(&self) -> f64 {
        self.spent
    }

    /// Set when [`Self::spent`] exceeds the budget's ε.
    #[must_use]
    pub fn warning(&self) -> Option<&CalibrationWarning> {
        self.warning.as_ref()
    }
}

/// A calibration that spends more than it was asked to.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CalibrationWarning {
    /// The calibration that overspends.
    pub calibration: Calibration,
    /// The ε asked for.
    pub target: Epsilon,
    /// The exact ε spent, above the target.
    pub spent: f64,
}

impl fmt::Display for Calibration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Analytic => "analytic",
            Self::Zcdp => "zcdp",
            Self::Paper => "paper",
            Self::HardtRoth => "hardt-roth",
            Self::JainThakkarThakurta => "jain-thakkar-thakurta",
            Self::Basic => "basic",
        })
    }
}

impl fmt::Display for CalibrationWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "calibration = \"{}\" spends epsilon = {:.4} where {} was asked for; use calibration = \"analytic\", \
             or a smaller epsilon",
            self.calibration,
            self.spent,
            self.target.get()
        )
    }
}

/// Calibrates the noise of `iterations` equal Gaussian mechanisms to `budget`.
///
/// # Errors
/// [`PrivacyError::Iterations`] for 0 iterations, [`PrivacyError::BudgetOutOfRange`] if the multiplier
/// underflows or overflows.
///
/// # Source
/// Each variant of [`Calibration`] names its own; the chapter on accounting of the guide compares them.
pub fn calibrate(
    calibration: Calibration,
    budget: Budget,
    iterations: u32,
) -> Result<Calibrated, PrivacyError> {
    if iterations == 0 {
        return Err(PrivacyError::Iterations);
    }
    let Budget { epsilon, delta } = budget;
    let rounds = f64::from(iterations);
    let z = rounded_up(match calibration {
        Calibration::Analytic => rounds.sqrt() / gaussian::mu(epsilon, delta),
        Calibration::Zcdp => (rounds / (2.0 * zcdp::rho(epsilon, delta))).sqrt(),
        Calibration::Paper => (-4.0 * rounds * delta.ln()).sqrt() / epsilon.get(),
        Calibration::HardtRoth => 2.0 * (-4.0 * rounds * delta.ln()).sqrt() / epsilon.get(),
        Calibration::JainThakkarThakurta => {
            (-4.0 * (rounds + 1.0) * delta.ln()).sqrt() / epsilon.get()
        }
        Calibration::Basic => {
            (2.0 * (libm::log(1.25 * rounds) - delta.ln())).sqrt() * rounds / epsilon.get()
        }
    });
    if !z.is_normal() {
        return Err(PrivacyError::BudgetOutOfRange {
            epsilon: epsilon.get(),
            delta: delta.get(),
            multiplier: z,
        });
    }
    let mu_total = rounds.sqrt() / z;
    let spent = gaussian::epsilon(mu_total, delta);
    // √L/(√L/μ) may differ from μ in the last bit; that is not a warning.
    let over = spent > epsilon.get() * (1.0 + 1e-9);
    Ok(Calibrated {
        z,
        mu_total,
        mu_per_iteration: 1.0 / z,
        spent,
        warning: over.then_some(CalibrationWarning {
            calibration,
            target: epsilon,
            spent,
        }),
        search_epsilon: None,
    })
}

/// The noise multiplier of [`calibrate`] alone.
///
/// # Errors
/// Those of [`calibrate`].
pub fn noise_multiplier(
    calibration: Calibration,
    budget: Budget,
    iterations: u32,
) -> Result<f64, PrivacyError> {
    calibrate(calibration, budget, iterations).map(|calibrated| calibrated.z)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::privacy::testing::{bun_steinke_rho, shared_vectors};

    fn close(name: &str, found: f64, expected: f64) {
        let error = (found / expected - 1.0).abs();
        assert!(
            error < 1e-10,
            "{name}: found {found:e}, expected {expected:e}"
        );
    }

    fn z(calibration: Calibration, epsilon: f64, delta: f64, iterations: u32) -> f64 {
        let budget = Budget::new(epsilon, delta).expect("valid");
        noise_multiplier(calibration, budget, iterations).expect("in range")
    }

    #[test]
    fn embedded_reference_values_are_met() {
        // (ε, δ, L, z paper, z CKS, z analytic, exact ε at the paper's z): from 50-digit arithmetic.
        let rows = [
            (
                0.1,
                1e-5,
                1,
                67.861_404_244_151_12,
                33.981_629_359_167_85,
                30.749_566_131_977_45,
                0.041_852_662_677_792_37,
            ),
            (
                1.0,
                1e-6,
                3,
                12.875_796_157_736_08,
                7.847_709_369_558_319,
                7.317_358_481_977_733,
                0.545_048_765_290_474_6,
            ),
            (
                4.0,
                1e-8,
                5,
                4.798_525_912_188_081,
                3.278_464_309_316_948,
                3.120_617_749_447_274,
                2.510_014_686_589_318,
            ),
            (
                50.0,
                1e-6,
                3,
                0.257_515_923_154_721_7,
                0.280_557_684_544_087_7,
                0.271_226_807_621_579_8,
                53.836_283_503_548_18,
            ),
        ];
        for (epsilon, delta, iterations, paper, cks, analytic, spent) in rows {
            close(
                "paper",
                z(Calibration::Paper, epsilon, delta, iterations),
                paper,
            );
            close(
                "zcdp",
                z(Calibration::Zcdp, epsilon, delta, iterations),
                cks,
            );
            close(
                "analytic",
                z(Calibration::Analytic, epsilon, delta, iterations),
                analytic,
            );
            let budget = Budget::new(epsilon, delta).expect("valid");
            let calibrated = calibrate(Calibration::Paper, budget, iterations).expect("in range");
            close("spent", calibrated.spent, spent);
        }
    }

    /// The constants of Hardt & Roth 2013, Figure 2: σ for T = 10 at (1, 1e-6), what it spends, and the noise that would do.
    #[test]
    fn hardt_and_roth_spend_a_quarter_of_what_they_promise() {
        let printed = z(Calibration::HardtRoth, 1.0, 1e-6, 10);
        close("sigma", printed, 47.015_760_009_535_99);
        for (epsilon, exact, over) in [
            (0.5, 0.123_82, 3.6903),
            (1.0, 0.259_75, 3.5192),
            (5.0, 1.461_98, 3.0341),
            (10.0, 3.128_32, 2.7477),
        ] {
            let budget = Budget::new(epsilon, 1e-6).expect("valid");
            for iterations in [1, 10, 21] {
                let found = calibrate(Calibration::HardtRoth, budget, iterations);
                let found = found.expect("in range");
                close(
                    "mu",
                    found.mu_total(),
                    epsilon / (4.0 * 1e6_f64.ln().sqrt()),
                );
                assert!((found.spent() - exact).abs() < 1e-5, "{}", found.spent());
                let needed = z(Calibration::Analytic, epsilon, 1e-6, iterations);
                assert!((found.z() / needed - over).abs() < 1e-4);
                assert!(found.warning().is_none());
            }
        }
    }

    /// σ/L² of their Algorithm 1 for T = 10 steps at (1, 1e-6), which are nine releases, and what it leaves unspent.
    #[test]
    fn jain_thakkar_and_thakurta_charge_one_release_too_many() {
        for (steps, sigma) in [
            (10, 94.031_520_019_071_98),
            (5, 66.490_325_450_764_4),
            (20, 132.980_650_901_528_8),
        ] {
            let printed = z(Calibration::JainThakkarThakurta, 1.0, 1e-6, steps - 1);
            close("sigma", 4.0 * printed, sigma);
            close("paper", printed, z(Calibration::Paper, 1.0, 1e-6, steps));
            let budget = Budget::new(1.0, 1e-6).expect("valid");
            let found = calibrate(Calibration::JainThakkarThakurta, budget, steps - 1);
            let found = found.expect("in range");
            let part = f64::from(steps - 1) / f64::from(steps);
            close("mu", found.mu_total(), (part / (4.0 * 1e6_f64.ln())).sqrt());
            assert!(found.spent() < 0.546 && found.warning().is_none());
        }
    }

    #[test]
    fn every_shared_vector_is_met() {
        let Some(rows) = shared_vectors("test_vectors.json", "every_shared_vector_is_met") else {
            return;
        };
        assert_eq!(rows.len(), 15);
        for row in &rows {
            let number = |key: &str| -> f64 {
                row[key]
                    .as_str()
                    .expect("a string")
                    .parse()
                    .expect("a number")
            };
            let iterations = row["L"].as_u64().expect("an integer") as u32;
            let (e, d) = (number("eps"), number("delta"));
            let budget = Budget::new(e, d).expect("valid");
            close(
                "z_paper",
                z(Calibration::Paper, e, d, iterations),
                number("z_paper"),
            );
            close(
                "z_cks",
                z(Calibration::Zcdp, e, d, iterations),
                number("z_cks"),
            );
            close(
                "z_analytic",
                z(Calibration::Analytic, e, d, iterations),
                number("z_analytic"),
            );
            let rho_bs = bun_steinke_rho(budget.epsilon, budget.delta);
            close("rho_bs", rho_bs, number("rho_bs"));
            close(
                "z_bs",
                (f64::from(iterations) / (2.0 * rho_bs)).sqrt(),
                number("z_bs"),
            );
            close(
                "rho_cks",
                zcdp::rho(budget.epsilon, budget.delta),
                number("rho_cks"),
            );
            close(
                "mu_analytic",
                gaussian::mu(budget.epsilon, budget.delta),
                number("mu_analytic"),
            );
            let paper = calibrate(Calibration::Paper, budget, iterations).expect("in range");
            let rho = 0.5 * paper.mu_total.powi(2);
            close("mu_paper", paper.mu_total, number("mu_paper"));
            close("rho_paper", rho, number("rho_paper"));
            close(
                "eps_bs",
                zcdp::bun_steinke_epsilon(rho, budget.delta),
                number("eps_bs_at_paper"),
            );
            close(
                "eps_cks",
                zcdp::epsilon(rho, budget.delta),
                number("eps_cks_at_paper"),
            );
            close("eps_exact", paper.spent, number("eps_exact_at_paper"));
            close(
                "delta_exact",
                gaussian::delta(e, paper.mu_total),
                number("delta_exact_at_paper"),
            );
            assert_eq!(paper.warning.is_some(), number("eps_exact_at_paper") > e);
            if row["corrected_condition"] == true {
                assert!(paper.warning.is_none());
            }
        }
    }

    #[test]
    fn the_papers_calibration_warns_exactly_beyond_its_validity() {
        // Computed with 50 digits.
        for (delta, limit) in [
            (1e-5, 36.087_336_211_3),
            (1e-6, 41.764_116_287_9),
            (1e-8, 52.994_079_286_5),
            (1e-12, 75.184_876_257_2),
        ] {
            let at = |epsilon: f64| {
                let budget = Budget::new(epsilon, delta).expect("valid");
                calibrate(Calibration::Paper, budget, 3).expect("in range")
            };
            assert!(at(limit * (1.0 - 1e-8)).warning.is_none());
            let warning = at(limit * (1.0 + 1e-7))
                .warning
                .expect("beyond its validity");
            assert!(warning.spent > warning.target.get());
            assert!(warning.to_string().contains("analytic"));
        }
    }

    #[test]
    fn sound_calibrations_never_overspend() {
        for epsilon in [1e-6, 0.01, 1.0, 30.0, 1e3] {
            for delta in [1e-200, 1e-9, 0.2] {
                for calibration in [Calibration::Analytic, Calibration::Zcdp] {
                    let budget = Budget::new(epsilon, delta).expect("valid");
                    let calibrated = calibrate(calibration, budget, 4).expect("in range");
                    assert!(
                        calibrated.warning.is_none(),
                        "{calibration:?} {epsilon} {delta}"
                    );
                }
            }
        }
    }

    #[test]
    fn basic_composition_is_the_classical_mechanism_and_sound_where_its_theorem_holds() {
        // 50-digit arithmetic: sqrt(2 ln(1.25*3/1e-5))*3 and sqrt(2 ln(1.25e6))/0.5.
        close(
            "basic",
            z(Calibration::Basic, 1.0, 1e-5, 3),
            15.199_482_342_801_87,
        );
        close(
            "basic",
            z(Calibration::Basic, 0.5, 1e-6, 1),
            10.597_605_053_700_947,
        );
        let at = |epsilon: f64, delta: f64, iterations: u32| {
            let budget = Budget::new(epsilon, delta).expect("valid");
            calibrate(Calibration::Basic, budget, iterations).expect("in range")
        };
        for iterations in [1, 3, 10] {
            for share in [1e-3, 0.3, 1.0] {
                for delta in [1e-12, 1e-5, 1e-2] {
                    let epsilon = share * f64::from(iterations);
                    let calibrated = at(epsilon, delta, iterations);
                    assert!(
                        calibrated.warning.is_none(),
                        "{epsilon} {delta} {iterations}"
                    );
                    // Basic composition is worse than what the paper's zCDP argument gives.
                    assert!(calibrated.spent < epsilon);
                }
            }
        }
        let warning = at(1000.0, 1e-5, 3).warning.expect("far outside");
        assert!(warning.to_string().contains("\"basic\""), "{warning}");
    }

    #[test]
    fn names_in_files_are_the_documented_ones() {
        for (name, calibration) in [
            ("\"analytic\"", Calibration::Analytic),
            ("\"zcdp\"", Calibration::Zcdp),
            ("\"paper\"", Calibration::Paper),
            ("\"basic\"", Calibration::Basic),
        ] {
            assert_eq!(
                serde_json::to_string(&calibration).expect("serialises"),
                name
            );
            assert_eq!(format!("\"{calibration}\""), name);
        }
        let budget = Budget::new(1.0, 1e-6).expect("valid");
        assert!(matches!(
            calibrate(Calibration::Paper, budget, 0),
            Err(PrivacyError::Iterations)
        ));
    }
}
