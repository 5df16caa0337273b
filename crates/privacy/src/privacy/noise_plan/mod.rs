//! The noise plan: how much noise every peer adds, and what each adversary then learns.

use serde::{Deserialize, Serialize};

pub use laplace::{Holders, HoldersRequest, LaplacePlan, LaplaceRequest};
pub use refusal::refuse_split;
pub use ring::{RingPlan, RingRequest};
pub use split::{BudgetSplit, even_iterations, split_budget};
pub use wishart::{WishartPlan, WishartRequest};

use super::accountant::Connectivity;
use super::rounded_up::rounded_up;
use super::{Calibrated, Certificate, Delta, PrivacyError, gaussian};
use crate::topology::Graph;

mod certified;
mod laplace;
mod pairwise;
mod refusal;
mod ring;
mod split;
mod wishart;

#[cfg(test)]
mod tests;

/// How the sum is protected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scheme {
    /// No noise and no privacy.
    None,
    /// Every peer adds its share of the noise, unmasked; private only if nobody but the sum is seen.
    Independent,
    /// A share of own noise plus noise shared with each noise partner that cancels in the sum (GOPA).
    Pairwise,
    /// Every peer adds all the noise itself: no trust in anybody, √s times the noise.
    Local,
    /// Integers mod 2^k: own noise rounded to integers, and uniform masks shared with each noise partner that cancel in
    /// the sum exactly.
    Ring,
}

/// What to do where the coalition can split the noise graph.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OnDisconnect {
    /// Refuse, and say which peer is the problem.
    #[default]
    Refuse,
    /// Raise everybody's own noise until the smallest honest component is protected (coalitions of at most one,
    /// graphs small enough to enumerate). Where that component is a single peer this costs no less than
    /// [`Scheme::Local`].
    SmallestComponent,
}

/// What one kind of adversary learns about the worst-placed honest peer.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct View {
    /// Who looks: "outside observer", "one curious peer", "coalition of t", "any coalition".
    pub view: String,
    /// Number of colluding peers.
    pub colluders: usize,
    /// μ of all iterations together; of Laplace noise that of the Gaussian mechanism that tells at least as much.
    pub mu: f64,
    /// The ε of that μ at the δ asked for, in nats; of Laplace noise the ε of (ε, 0), or of the δ certified. Infinite, null in JSON, where the sampler's distance
    /// is more than δ at every ε that the noise allows.
    pub epsilon: f64,
    /// μ divided by the μ that a trusted curator adding the same total noise would spend; 1 is central DP.
    pub gap_to_central: f64,
    /// √(s/(s − t)): the part of that gap that any mechanism pays whose colluders know their own noise.
    pub gap_colluders: f64,
    /// The rest of that gap: `gap_to_central` = `gap_colluders` · `gap_finite`. It is what finite pairwise noise, a graph
    /// that falls apart, or a bound that is not tight costs; 1 is nothing.
    pub gap_finite: f64,
    /// How μ is known.
    pub certificate: Certificate,
}

/// Standard deviations of own and pairwise noise, and what each adversary then learns.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NoisePlan {
    /// σ_η: own noise of a peer, per unit sensitivity, coordinate and iteration; of Wishart noise that of one term on a triangle.
    sigma_own: f64,
    /// σ_Δ: noise shared along each edge of the noise graph, likewise.
    sigma_pairwise: f64,
    /// √s·σ_η, √k·σ_η where k peers hold all of it, or √m·σ_η of m terms: noise on the sum, likewise; what a trusted curator would have to add to match it.
    sigma_sum: f64,
    /// ε against the coalition size asked for, in nats; `None` where nothing is protected.
    epsilon: Option<f64>,
    /// What adversaries of growing size learn, beyond the one asked for too.
    views: Vec<View>,
    /// The integers of [`Scheme::Ring`].
    #[serde(skip_serializing_if = "Option::is_none")]
    ring: Option<RingPlan>,
    /// Laplace noise, where own noise is that.
    #[serde(skip_serializing_if = "Option::is_none")]
    laplace: Option<LaplacePlan>,
    /// Wishart noise, where own noise is that.
    #[serde(skip_serializing_if = "Option::is_none")]
    wishart: Option<WishartPlan>,
}

/// The request that a noise plan is computed for.
#[derive(Clone, Copy, Debug)]
pub struct NoiseRequest<'a> {
    /// The noise graph: who shares pairwise noise with whom.
    pub graph: &'a Graph,
    /// How the sum is protected.
    pub scheme: Scheme,
    /// z of [`super::calibrate`]: standard deviation of the noise on the sum per unit sensitivity that a trusted
    /// curator would need.
    pub noise_multiplier: f64,
    /// L.
    pub iterations: u32,
    /// The δ at which views state their ε.
    pub delta: Delta,
    /// t: the coalition size to withstand; 0 is an outside observer.
    pub colluders: usize,
    /// β > 0: extra variance on the sum allowed so that pairwise noise can be finite.
    pub overhead: f64,
    /// Whether an ideal secure aggregation reveals only the sum (engine `federated`): the adversary sees the
    /// sum and its own colluders' noise, nothing else.
    pub trusted_sum: bool,
    /// What is proved of λ₂ of the noise graph, from the topology layer.
    pub connectivity: Connectivity,
    /// What to do where the coalition can split the noise graph.
    pub on_disconnect: OnDisconnect,
    /// What [`Scheme::Ring`] must know of the releases.
    pub ring: Option<RingRequest>,
}

impl NoisePlan {
    /// σ_η: standard deviation of a peer's own noise, per unit sensitivity, coordinate and iteration.
    #[must_use]
    pub fn sigma_own(&self) -> f64 {
        self.sigma_own
    }

    /// σ_Δ: standard deviation of the noise shared along each edge of the noise graph, likewise.
    #[must_use]
    pub fn sigma_pairwise(&self) -> f64 {
        self.sigma_pairwise
    }

    /// √s·σ_η: standard deviation of the noise on the sum, likewise; what a trusted curator would have to add to match it.
    #[must_use]
    pub fn sigma_sum(&self) -> f64 {
        self.sigma_sum
    }

    /// ε against the coalition size asked for, in nats; `None` where nothing is protected.
    #[must_use]
    pub fn epsilon(&self) -> Option<f64> {
        self.epsilon
    }

    /// What adversaries of growing size learn, beyond the one asked for too.
    #[must_use]
    pub fn views(&self) -> &[View] {
        &self.views
    }

    /// The integers of [`Scheme::Ring`]; `None` for schemes of real numbers.
    #[must_use]
    pub fn ring(&self) -> Option<&RingPlan> {
        self.ring.as_ref()
    }

    /// Laplace noise; `None` where own noise is Gaussian.
    #[must_use]
    pub fn laplace_noise(&self) -> Option<&LaplacePlan> {
        self.laplace.as_ref()
    }

    /// Wishart noise; `None` where own noise has another law.
    #[must_use]
    pub fn wishart_noise(&self) -> Option<&WishartPlan> {
        self.wishart.as_ref()
    }

    /// Whether noise is Gaussian, so that losses are curves of μ.
    #[must_use]
    pub fn is_gaussian(&self) -> bool {
        self.laplace.is_none() && self.wishart.is_none()
    }

    /// The ε of this μ at δ under this plan's noise: where its sampler is at a distance from its law, that is paid for too.
    #[must_use]
    pub fn epsilon_of(&self, mu: f64, delta: Delta) -> f64 {
        let distance = self.ring.map_or(0.0, |ring| ring.sampler_distance());
        super::ring::distance::epsilon(mu, delta, distance)
    }

    /// A plan of σ_η and σ_Δ, rounded up to [`rounded_up`], and √s·σ_η, of the rounded.
    fn assembled_of(
        (sigma_own, sigma_pairwise, sigma_sum): (f64, f64, f64),
        epsilon: Option<f64>,
        views: Vec<View>,
        laplace: Option<LaplacePlan>,
    ) -> Self {
        Self {
            sigma_own: rounded_up(sigma_own),
            sigma_pairwise: rounded_up(sigma_pairwise),
            sigma_sum,
            epsilon,
            views,
            ring: None,
            laplace,
            wishart: None,
        }
    }

    /// Forgets the views that do not satisfy `keep`: a plan that promises less than it was asked to.
    #[cfg(any(test, feature = "testing"))]
    pub fn retain_views(&mut self, keep: impl FnMut(&View) -> bool) {
        self.views.retain(keep);
    }

    /// What a trusted curator's noise costs, the yardstick itself: peers add none, whoever sees the output learns exactly
    /// what the calibration spends.
    #[must_use]
    pub fn curator(calibrated: &Calibrated) -> Self {
        let (mu, epsilon) = (calibrated.mu_total(), calibrated.spent());
        Self {
            sigma_own: 0.0,
            sigma_pairwise: 0.0,
            sigma_sum: calibrated.z(),
            epsilon: Some(epsilon),
            views: vec![View {
                view: "whoever sees the curator's output".to_owned(),
                colluders: 0,
                mu,
                epsilon,
                gap_to_central: 1.0,
                gap_colluders: 1.0,
                gap_finite: 1.0,
                certificate: match calibrated.search_epsilon() {
                    Some(_) => Certificate::LossDistribution,
                    None => Certificate::Exact,
                },
            }],
            ring: None,
            laplace: None,
            wishart: None,
        }
    }

    /// The same plan for a program that also releases coordinates of peers' own, with a curator's noise, z per unit sensitivity, on each: what every
    /// view says is raised to what those cost, if it says less.
    ///
    /// # Statement and proof
    /// Let one record be charged for `releases` L of noise factor 1, some of own coordinates and some sums. One of own coordinates costs at most
    /// 1/z² against anybody, as its noise is known to its peer alone. A sum costs at most v, the variance factor of the view, √(L·v) being
    /// the view's μ. So all cost at most Σ_l max(v, 1/z²)/f_l² ≤ L·max(v, 1/z²): μ is at most the larger of √(L·v) and √L/z. ∎
    ///
    /// The second is what was calibrated, so that a view within the budget stays within it.
    #[must_use]
    pub fn with_coordinates(
        mut self,
        calibrated: &Calibrated,
        (releases, colluders): (u32, usize),
        delta: Delta,
    ) -> Self {
        let mu = f64::from(releases).sqrt() / calibrated.z();
        for view in &mut self.views {
            if view.mu < mu {
                let raised = mu / view.mu;
                view.mu = mu;
                view.epsilon = gaussian::epsilon(mu, delta);
                view.gap_to_central *= raised;
                view.gap_finite *= raised;
            }
        }
        if self.epsilon.is_some() {
            let covering = self.views.iter().find(|view| view.colluders >= colluders);
            self.epsilon = covering.or(self.views.last()).map(|view| view.epsilon);
        }
        self
    }

    /// The least noise of the scheme that keeps v_u ≤ 1/z² for every honest peer u and every coalition of
    /// `colluders` peers; with z from [`super::calibrate`] that is the budget.
    ///
    /// - `none`: no noise, no views, ε = `None`.
    /// - `local`: σ_η = z at every peer; v_u = 1/z² whatever the others do.
    /// - `independent`, only with `trusted_sum`: σ_η² = z²/(s − t). Colluders subtract their own noise from the
    ///   sum; what is left has variance (s − t)σ_η² = z². (P1 Theorem 5.2 divides by s: see [`errata`](crate::privacy::errata).)
    /// - `pairwise` with `trusted_sum`: pairwise noise would cancel inside the aggregation and protect
    ///   nothing, so the plan is that of `independent`, with σ_Δ = 0.
    /// - `ring`: see the proof in `ring.rs`; σ_Δ = 0, as masks are uniform and have no standard deviation. With `trusted_sum` the
    ///   honest peers are one piece.
    /// - `pairwise`: see the proofs in `pairwise.rs` and `certified.rs`. The noise on the sum is (1 + β) times the least
    ///   variance against t colluders, and σ_Δ the least that the best certificate allows with it.
    ///
    /// # Errors
    /// [`PrivacyError`], saying which graph or coalition size would do. A plan is never returned without a bound
    /// for `colluders`.
    pub fn new(request: &NoiseRequest<'_>) -> Result<Self, PrivacyError> {
        let &NoiseRequest {
            graph,
            scheme,
            noise_multiplier: z,
            colluders,
            trusted_sum,
            ..
        } = request;
        let peers = graph.nodes();
        if scheme == Scheme::None {
            return Ok(Self {
                sigma_own: 0.0,
                sigma_pairwise: 0.0,
                sigma_sum: 0.0,
                epsilon: None,
                views: Vec::new(),
                ring: None,
                laplace: None,
                wishart: None,
            });
        }
        // z², 1/z² and their multiples must stay representable.
        if !(1e-100..=1e100).contains(&z) {
            return Err(PrivacyError::Parameter {
                name: "the noise multiplier",
                found: z,
                expected: "a number between 1e-100 and 1e100",
            });
        }
        if request.iterations == 0 {
            return Err(PrivacyError::Iterations);
        }
        if colluders >= peers {
            return Err(PrivacyError::NobodyHonest { colluders, peers });
        }
        match scheme {
            Scheme::Local => {
                let view = request.view(
                    "any coalition".to_owned(),
                    peers - 1,
                    1.0 / (z * z),
                    z,
                    Certificate::Local,
                );
                Ok(request.assemble(z, 0.0, vec![view]))
            }
            Scheme::Ring => ring::plan(request),
            Scheme::Independent | Scheme::Pairwise if trusted_sum => Ok(request.secure_sum()),
            Scheme::Independent => Err(PrivacyError::IndependentInTheOpen),
            Scheme::Pairwise | Scheme::None => pairwise::plan(request),
        }
    }
}

impl NoiseRequest<'_> {
    /// Independent shares inside an ideal secure aggregation.
    fn secure_sum(&self) -> NoisePlan {
        let peers = self.graph.nodes();
        let variance = self.noise_multiplier.powi(2) / (peers - self.colluders) as f64;
        let sigma = variance.sqrt();
        let views = self
            .coalition_sizes()
            .into_iter()
            .map(|t| {
                let factor = 1.0 / ((peers - t) as f64 * variance);
                self.view(coalition_name(t), t, factor, sigma, Certificate::SecureSum)
            })
            .collect();
        self.assemble(sigma, 0.0, views)
    }

    /// The coalition sizes worth a view, as far as somebody honest is left.
    fn coalition_sizes(&self) -> Vec<usize> {
        coalition_sizes(self.colluders, self.graph.nodes() - 1)
    }

    /// The view of an adversary for whom the worst variance factor is `factor` per iteration, when every peer
    /// adds own noise `sigma_own`.
    fn view(
        &self,
        view: String,
        colluders: usize,
        factor: f64,
        sigma_own: f64,
        certificate: Certificate,
    ) -> View {
        let mu = (f64::from(self.iterations) * factor).sqrt();
        let peers = self.graph.nodes() as f64;
        // The curator's factor is 1/(s·σ_η²).
        let gap_to_central = (factor * peers).sqrt() * sigma_own;
        let gap_colluders = (peers / (peers - colluders as f64)).sqrt();
        View {
            view,
            colluders,
            mu,
            epsilon: gaussian::epsilon(mu, self.delta),
            gap_to_central,
            gap_colluders,
            gap_finite: gap_to_central / gap_colluders,
            certificate,
        }
    }

    /// A plan of these standard deviations, each rounded up to [`rounded_up`].
    ///
    /// What the views say stays true. Proof: covariances of what a view sees are σ_η²·I + σ_Δ²·L on what is honest, L positive
    /// semidefinite, so that they grow with either and v_u, a diagonal entry of the inverse, falls. ∎
    fn assemble(&self, sigma_own: f64, sigma_pairwise: f64, views: Vec<View>) -> NoisePlan {
        // The first view that covers the coalition asked for.
        let epsilon = views
            .iter()
            .find(|view| view.colluders >= self.colluders)
            .map(|view| view.epsilon);
        let sigma_sum = (self.graph.nodes() as f64).sqrt() * rounded_up(sigma_own);
        NoisePlan::assembled_of((sigma_own, sigma_pairwise, sigma_sum), epsilon, views, None)
    }
}

/// The coalition sizes worth a view: 0, 1, 2, 5 and the one asked for, none above `most`.
fn coalition_sizes(asked: usize, most: usize) -> Vec<usize> {
    let mut sizes = vec![0, 1, 2, 5, asked];
    sizes.sort_unstable();
    sizes.dedup();
    sizes.retain(|&size| size <= most);
    sizes
}

impl View {
    /// The view of an adversary where noise promises (ε, 0): everybody learns what the calibration spends, up to as many colluders as are withstood.
    fn of_pure_noise(
        calibrated: &Calibrated,
        (view, colluders): (String, usize),
        (gap_to_central, gap_colluders): (f64, f64),
    ) -> Self {
        Self {
            view,
            colluders,
            mu: calibrated.mu_total(),
            epsilon: calibrated.spent(),
            gap_to_central,
            gap_colluders,
            gap_finite: gap_to_central / gap_colluders,
            certificate: Certificate::SecureSum,
        }
    }
}

fn coalition_name(colluders: usize) -> String {
    match colluders {
        0 => "outside observer".to_owned(),
        1 => "one curious peer".to_owned(),
        t => format!("coalition of {t}"),
    }
}
