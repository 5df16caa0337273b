//! (ε, 0)-differential privacy of a symmetric matrix: what the difference of two Wishart matrices costs, and how many terms it takes.
//!
//! # Mechanism
//! Released is A + W₁ − W₂, where A = Σ xxᵀ is n × n and W₁, W₂ are independent, each the sum of m terms ggᵀ with g ~ N(0, (b/2)·I_n).
//! m ≥ n + 1 is an integer and b = Δ_*/ε, where Δ_* bounds the nuclear norm of what one record changes A by
//! ([`NuclearSensitivity`](crate::privacy::NuclearSensitivity)).
//!
//! # Statement
//! *The release is (ε, 0)-differentially private.* Releases compose by their sum, Σ Δ_*,l/b_l ≤ ε, adaptively and beside Laplace noise,
//! because the likelihood ratio of all of them is the product of the ratios; k records cost kε.
//!
//! # Proof
//! W has a density g(W) ∝ det(W)^p·e^(−tr W/b) on positive definite matrices, p = (m − n − 1)/2 ≥ 0. Z = W₁ − W₂ has the density
//! f(Z) = ∫ g(W)·g(W − Z) dW, which is even, since W₁ and W₂ are exchangeable. Let P be positive semidefinite and put W = W′ + P. Then
//! det(W′ + P) ≥ det W′ and p ≥ 0, so that g(W′ + P) ≥ e^(−tr P/b)·g(W′), and
//!
//! f(Z + P) = ∫ g(W′ + P)·g(W′ − Z) dW′ ≥ e^(−tr P/b)·f(Z).
//!
//! As f is even, f(Z − P) = f(−Z + P) ≥ e^(−tr P/b)·f(−Z) = e^(−tr P/b)·f(Z), too. A change D = P − N has a positive and a negative part
//! with tr P + tr N = ‖D‖_*. So f(Z + D) ≥ e^(−‖D‖_*/b)·f(Z) ≥ e^(−ε)·f(Z). ∎
//!
//! m = n + 1 suffices, and more terms keep the statement. **m = n does not**: det(W)^(−1/2) is unbounded, and for n = 1 the density has a pole
//! at 0. One Wishart matrix alone does not either, because its support moves. For n = 1 and m = 2 the noise is a Laplace number of scale b.
//! We know of no earlier statement of this form. The mechanism for the density e^(−ε‖Z‖_*) is d'Orsi & Novikov's (2026).
//!
//! # Size
//! E Z = 0, Var Z_ii = m·b² and Var Z_ij = m·b²/2: in isometric coordinates every number has variance m·b². The numbers are uncorrelated
//! and not independent. For large n and m = n + 1 the largest eigenvalue is about 1.665·b·n.
//!
//! # Colluders under a secure sum
//! The m terms of either matrix are dealt evenly to s peers, so that nobody has more than ⌈m/s⌉. t colluders know their own terms and
//! subtract them. Two independent Wishart matrices of at least m − t·⌈m/s⌉ terms are left, for which the statement needs n + 1
//! ([`least_terms`]). Wishart matrices are not infinitely divisible (Gindikin 1975), so shares are whole terms.
//!
//! # What is assumed
//! Real numbers. The numbers that are drawn and summed have 64 bits, and which of them can occur depends on the data: an adversary who looks
//! at last bits has a δ above 0 that no ε here covers (Mironov 2012). What is promised is stated with that assumption.

use super::calibration::Calibrated;
use super::{Calibration, Epsilon, PrivacyError, laplace};

/// Calibrates Wishart noise on n × n matrices for `releases` equal releases to ε: b = `releases`·Δ_*/ε, so that z, the standard deviation per
/// unit of Δ_* in isometric coordinates with the least number of terms, is b·√(n + 1).
///
/// # Errors
/// [`PrivacyError::Iterations`] for 0 releases, [`PrivacyError::Zero`] for 0 columns, [`PrivacyError::Wishart`] for a calibration of other
/// noise, [`PrivacyError::BudgetOutOfRange`] if the multiplier under- or overflows.
pub fn calibrate_wishart(
    calibration: Calibration,
    epsilon: Epsilon,
    releases: u32,
    dimension: usize,
) -> Result<Calibrated, PrivacyError> {
    if releases == 0 {
        return Err(PrivacyError::Iterations);
    }
    if dimension == 0 {
        let name = "the number of items";
        return Err(PrivacyError::Zero { name });
    }
    if calibration != Calibration::Analytic {
        let problem = "privacy.calibration is one of other noise; set it to \"analytic\", the least noise that suffices, or leave it out";
        return Err(PrivacyError::Wishart { problem });
    }
    let releases = f64::from(releases);
    let z = releases / epsilon.get() * root_of_terms(dimension);
    // Squares of standard deviations must stay representable.
    if !(1e-100..=1e100).contains(&z) {
        return Err(PrivacyError::BudgetOutOfRange {
            epsilon: epsilon.get(),
            delta: 0.0,
            multiplier: z,
        });
    }
    let spent = epsilon.get();
    let mu = (laplace::mu(spent), laplace::mu(spent / releases));
    Ok(Calibrated::of_laplace(z, spent, mu))
}

/// √(n + 1): the standard deviation of the noise of a curator over b.
#[must_use]
pub fn root_of_terms(dimension: usize) -> f64 {
    (dimension as f64 + 1.0).sqrt()
}

/// m: the least number of terms of either matrix on n × n matrices that leaves n + 1 to the honest, where it is dealt evenly to s peers of
/// which t collude.
///
/// # Proof
/// It is the least m with m − t·⌈m/s⌉ ≥ n + 1. Let h = ⌈m/s⌉, hence (h − 1)s < m ≤ hs. Such an m exists for a given h if and only if
/// n + 1 + th ≤ hs, that is h ≥ (n + 1)/(s − t), and the least one is then max((h − 1)s + 1, n + 1 + th). It grows with h. ∎
///
/// # Errors
/// [`PrivacyError::NobodyHonest`] for t ≥ s, [`PrivacyError::Wishart`] for more terms than 2³² a peer.
pub fn least_terms(dimension: usize, peers: usize, colluders: usize) -> Result<u64, PrivacyError> {
    if colluders >= peers {
        return Err(PrivacyError::NobodyHonest { colluders, peers });
    }
    let needed = dimension as u128 + 1;
    let (s, t) = (peers as u128, colluders as u128);
    let each = needed.div_ceil(s - t);
    let terms = ((each - 1) * s + 1).max(needed + t * each);
    match (u32::try_from(each), u64::try_from(terms)) {
        (Ok(_), Ok(terms)) => Ok(terms),
        _ => Err(PrivacyError::Wishart {
            problem: "one peer would draw more than 2^32 terms; use more peers or fewer columns",
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_number_of_terms_is_found() {
        for n in [1, 2, 3, 4, 7, 30, 64] {
            for s in 1..=12_usize {
                for t in 0..s {
                    let left = |m: u64| m as i128 - t as i128 * i128::from(m.div_ceil(s as u64));
                    let least = (1..).find(|&m| left(m) > n as i128).expect("there is one");
                    assert_eq!(least_terms(n, s, t), Ok(least), "{n} {s} {t}");
                }
                assert!(least_terms(n, s, s).is_err());
            }
        }
        assert_eq!(least_terms(30, 3, 1), Ok(47));
        assert_eq!(least_terms(64, 100, 1), Ok(66));
        assert_eq!(least_terms(64, 100, 0), Ok(65));
        assert!(least_terms(usize::MAX, 2, 1).is_err());
    }

    #[test]
    fn calibrations_spend_what_they_say() {
        let epsilon = Epsilon::new(0.5).expect("valid");
        let found = calibrate_wishart(Calibration::Analytic, epsilon, 3, 8).expect("in range");
        // b = 6, three releases of 1/6, nine terms.
        assert!((found.z() / 18.0 - 1.0).abs() < 2e-12);
        assert_eq!(found.spent(), 0.5);
        for other in [Calibration::Paper, Calibration::Zcdp, Calibration::Basic] {
            let error = calibrate_wishart(other, epsilon, 3, 8).expect_err("other noise");
            assert!(error.to_string().contains("privacy.calibration"), "{error}");
        }
        assert!(calibrate_wishart(Calibration::Analytic, epsilon, 0, 8).is_err());
        assert!(calibrate_wishart(Calibration::Analytic, epsilon, 1, 0).is_err());
        let tiny = Epsilon::new(1e-320).expect("above 0");
        assert!(calibrate_wishart(Calibration::Analytic, tiny, 1, 8).is_err());
    }
}
