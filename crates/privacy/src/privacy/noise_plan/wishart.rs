//! Plans Wishart noise: who draws how many terms of it, and what is certified then.
//!
//! In units of Δ_* a release of factor 1 has noise W₁ − W₂ of scale b, so that it spends 1/b, and all releases that one record meets ε. The proof
//! stands in [`wishart`](mod@crate::privacy::wishart). A term is ggᵀ − hhᵀ for a g of W₁ and an h of W₂.
//!
//! | where | terms of a peer | m, terms of all |
//! | --- | --- | --- |
//! | a curator | none; the curator n + 1 | n + 1 |
//! | an ideal secure sum | ⌊m/s⌋ or ⌈m/s⌉, the first peers more | the least with m − t·⌈m/s⌉ ≥ n + 1 |
//! | in the open, `local` | n + 1 | s·(n + 1) |
//!
//! Under `local` the noise of every peer hides its input from everybody, and what others add is independent of it.
//!
//! A private mean before the triangle has Laplace noise of scale b per unit of Δ₁: a curator's number, shares of shape 1/(s − t), or everybody's own
//! ([`laplace`](mod@crate::privacy::laplace)). It is a release of its own, and costs add up.
//!
//! # Refused
//! Noise that is shared along edges is Gaussian, with which δ = 0 is out of reach: `pairwise` and `ring` go with a secure sum or a curator only
//! where they are ignored, and not at all where messages are visible. No view beyond t is stated: fewer than n + 1 honest terms promise nothing.

use serde::Serialize;

use super::super::rounded_up::rounded_up;
use super::super::wishart::{least_terms, root_of_terms};
use super::super::{Calibrated, Certificate, PrivacyError};
use super::{NoisePlan, Scheme, View, coalition_name, coalition_sizes};

/// The request that a plan of Wishart noise is computed for.
#[derive(Clone, Copy, Debug)]
pub struct WishartRequest<'a> {
    /// n: columns of the matrix.
    pub dimension: usize,
    /// s.
    pub peers: usize,
    /// How the sum is protected.
    pub scheme: Scheme,
    /// Of [`calibrate_wishart`](super::super::wishart::calibrate_wishart).
    pub calibrated: &'a Calibrated,
    /// t: the coalition size to withstand.
    pub colluders: usize,
    /// Whether an ideal secure aggregation reveals only the sum (engine `federated`).
    pub trusted_sum: bool,
    /// Whether a mean is released before the triangle.
    pub mean: bool,
}

/// Wishart noise of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct WishartPlan {
    /// b per unit of Δ_*, in a release of factor 1.
    scale: f64,
    /// n: columns of the matrix.
    dimension: u64,
    /// m: terms of either matrix, all peers together.
    terms: u64,
    /// The most terms of one peer; of a curator all.
    terms_of_one: u64,
    /// ε of all releases together.
    epsilon: f64,
    /// The shape of every share of the Laplace noise on a private mean, which has the same scale; 1 is a Laplace number.
    #[serde(skip_serializing_if = "Option::is_none")]
    mean_shape: Option<f64>,
}

impl WishartPlan {
    /// b per unit of Δ_*, in a release of factor 1.
    #[must_use]
    pub fn scale(&self) -> f64 {
        self.scale
    }

    /// n: columns of the matrix.
    #[must_use]
    pub fn dimension(&self) -> u64 {
        self.dimension
    }

    /// m: terms of either matrix, all peers together.
    #[must_use]
    pub fn terms(&self) -> u64 {
        self.terms
    }

    /// The most terms of one peer; of a curator all.
    #[must_use]
    pub fn terms_of_one(&self) -> u64 {
        self.terms_of_one
    }

    /// ε of all releases together.
    #[must_use]
    pub fn epsilon(&self) -> f64 {
        self.epsilon
    }

    /// The shape of every share of the Laplace noise on a private mean; `None` where no mean is released.
    #[must_use]
    pub fn mean_shape(&self) -> Option<f64> {
        self.mean_shape
    }
}

impl NoisePlan {
    /// Wishart noise of a curator on matrices of so many columns, and the Laplace noise on a mean before it, if there is one.
    #[must_use]
    pub fn wishart_curator(calibrated: &Calibrated, dimension: usize, mean: bool) -> Self {
        let terms = dimension as u64 + 1;
        let mut plan = Self::curator(calibrated);
        plan.wishart = Some(WishartPlan {
            scale: calibrated.z() / root_of_terms(dimension),
            dimension: dimension as u64,
            terms,
            terms_of_one: terms,
            epsilon: calibrated.spent(),
            mean_shape: mean.then_some(1.0),
        });
        plan
    }

    /// The least Wishart noise of the scheme that keeps its promise against every coalition of `colluders` peers; see the table in
    /// `noise_plan/wishart.rs`.
    ///
    /// # Errors
    /// [`PrivacyError`], saying what to change: for a scheme that Wishart noise does not go with, and where nobody is honest.
    pub fn wishart(request: &WishartRequest<'_>) -> Result<Self, PrivacyError> {
        let &WishartRequest {
            dimension,
            peers,
            colluders: t,
            ..
        } = request;
        if request.scheme == Scheme::None {
            return Ok(Self::assembled_of((0.0, 0.0, 0.0), None, Vec::new(), None));
        }
        check_scheme(request.scheme, request.trusted_sum)?;
        if t >= peers {
            let colluders = t;
            return Err(PrivacyError::NobodyHonest { colluders, peers });
        }
        if request.scheme == Scheme::Local {
            // Every peer alone is a plan for one.
            let each = least_terms(dimension, 1, 0)?;
            let view = View {
                certificate: Certificate::Local,
                ..request.view("any coalition".to_owned(), peers - 1, each * peers as u64)
            };
            return Ok(request.assemble(each * peers as u64, 1.0, vec![view]));
        }
        let terms = least_terms(dimension, peers, t)?;
        let views = coalition_sizes(t, t)
            .into_iter()
            .map(|size| request.view(coalition_name(size), size, terms));
        Ok(request.assemble(terms, ((peers - t) as f64).recip(), views.collect()))
    }
}

/// Refuses a scheme that Wishart noise does not go with.
///
/// # Errors
/// [`PrivacyError::Wishart`] and [`PrivacyError::IndependentInTheOpen`].
pub(super) fn check_scheme(scheme: Scheme, trusted_sum: bool) -> Result<(), PrivacyError> {
    match (scheme, trusted_sum) {
        (Scheme::None | Scheme::Local, _) => return Ok(()),
        (Scheme::Independent | Scheme::Pairwise, true) => return Ok(()),
        (Scheme::Independent, false) => return Err(PrivacyError::IndependentInTheOpen),
        _ => {}
    }
    let problem = if scheme == Scheme::Pairwise {
        "noise that peers share along edges is Gaussian, and with it delta = 0 is out of reach where messages are visible: set \
         engine.kind = \"federated\" or \"central\", or noise.scheme = \"local\", or noise.distribution = \"gaussian\" with privacy.delta above 0"
    } else if scheme == Scheme::Ring {
        "sums of integers mod 2^k have rounded Gaussian noise: set engine.kind = \"federated\" or \"central\" with noise.scheme = \
         \"independent\", or noise.scheme = \"local\""
    } else {
        "nothing is proved of it under this scheme: set engine.kind = \"federated\" or \"central\" with noise.scheme = \"independent\", or \
         noise.scheme = \"local\""
    };
    Err(PrivacyError::Wishart { problem })
}

impl WishartRequest<'_> {
    /// The view of an adversary where so many terms are drawn.
    ///
    /// A curator who adds noise of the same variance, m·b², with n + 1 terms spends √((n + 1)/m) of ε.
    fn view(&self, view: String, colluders: usize, terms: u64) -> View {
        let peers = self.peers as f64;
        let gap_to_central = (terms as f64).sqrt() / root_of_terms(self.dimension);
        let gap_colluders = match self.scheme {
            Scheme::Local => gap_to_central,
            _ => (peers / (peers - colluders as f64)).sqrt(),
        };
        let gaps = (gap_to_central, gap_colluders);
        View::of_pure_noise(self.calibrated, (view, colluders), gaps)
    }

    /// A plan of so many terms in all, dealt evenly, with shares of this shape on a mean.
    fn assemble(&self, terms: u64, shape: f64, views: Vec<View>) -> NoisePlan {
        let scale = self.calibrated.z() / root_of_terms(self.dimension);
        let own = rounded_up(scale);
        let sum = own * (terms as f64).sqrt();
        let epsilon = self.calibrated.spent();
        let mut plan = NoisePlan::assembled_of((own, 0.0, sum), Some(epsilon), views, None);
        plan.wishart = Some(WishartPlan {
            scale,
            dimension: self.dimension as u64,
            terms,
            terms_of_one: terms.div_ceil(self.peers as u64),
            epsilon,
            mean_shape: self.mean.then_some(shape),
        });
        plan
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::privacy::wishart::calibrate_wishart;
    use crate::privacy::{Calibration, Epsilon};

    fn calibrated(dimension: usize) -> Calibrated {
        let epsilon = Epsilon::new(0.5).expect("valid");
        calibrate_wishart(Calibration::Analytic, epsilon, 1, dimension).expect("in range")
    }

    fn plan(
        calibrated: &Calibrated,
        (scheme, trusted_sum): (Scheme, bool),
        (peers, colluders): (usize, usize),
    ) -> Result<NoisePlan, PrivacyError> {
        NoisePlan::wishart(&WishartRequest {
            dimension: 30,
            peers,
            scheme,
            calibrated,
            colluders,
            trusted_sum,
            mean: true,
        })
    }

    #[test]
    fn a_secure_sum_leaves_enough_terms_to_the_honest() {
        let calibrated = calibrated(30);
        for (peers, t) in [(3, 0), (3, 1), (3, 2), (40, 1), (1000, 20)] {
            let plan = plan(&calibrated, (Scheme::Independent, true), (peers, t)).expect("valid");
            let found = *plan.wishart_noise().expect("Wishart");
            let left = found.terms() - t as u64 * found.terms_of_one();
            assert!(left > 30, "{peers} {t}: {left}");
            // A colluder whose terms are not counted leaves too few.
            if t > 0 {
                let short = least_terms(30, peers, t - 1).expect("valid");
                let left = short as i64 - t as i64 * short.div_ceil(peers as u64) as i64;
                assert!(left < 31, "{peers} {t}: {left}");
            }
            assert_eq!(found.mean_shape(), Some(1.0 / (peers - t) as f64));
            assert!((plan.sigma_own() / 2.0 - 1.0).abs() < 2e-12);
            let sum = 2.0 * (found.terms() as f64).sqrt();
            assert!((plan.sigma_sum() / sum - 1.0).abs() < 2e-12);
            assert_eq!(plan.epsilon(), Some(0.5));
            assert!(plan.views().iter().all(|view| view.colluders <= t));
            assert!(
                plan.views()
                    .iter()
                    .all(|view| view.gap_finite >= 1.0 - 1e-12)
            );
        }
    }

    #[test]
    fn everybody_or_a_curator_adds_all_of_it() {
        let calibrated = calibrated(30);
        let local = plan(&calibrated, (Scheme::Local, false), (12, 1)).expect("valid");
        let found = local.wishart_noise().expect("Wishart");
        assert_eq!((found.terms(), found.terms_of_one()), (12 * 31, 31));
        assert_eq!(local.views()[0].colluders, 11);
        let curator = NoisePlan::wishart_curator(&calibrated, 30, false);
        let found = curator.wishart_noise().expect("Wishart");
        assert_eq!((found.terms(), found.mean_shape()), (31, None));
        assert_eq!(curator.sigma_sum(), calibrated.z());
    }

    #[test]
    fn what_wishart_noise_does_not_go_with_is_refused_with_what_to_change() {
        let calibrated = calibrated(30);
        for (scheme, trusted, said) in [
            (Scheme::Pairwise, false, "engine.kind = \"federated\""),
            (Scheme::Ring, false, "mod 2^k"),
            (Scheme::Ring, true, "mod 2^k"),
            (Scheme::Independent, false, "independent"),
        ] {
            let error = plan(&calibrated, (scheme, trusted), (12, 1)).expect_err("refused");
            assert!(error.to_string().contains(said), "{error}");
        }
        let error = plan(&calibrated, (Scheme::Independent, true), (3, 3)).expect_err("nobody");
        assert!(matches!(error, PrivacyError::NobodyHonest { .. }));
    }
}
