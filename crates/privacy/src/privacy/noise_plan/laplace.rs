//! Plans Laplace noise: who draws how much of it, and what is certified then.
//!
//! In units of Δ₁ a release of factor 1 has Laplace noise of scale b, so that it spends 1/b, and all releases that one record meets ε.
//!
//! | where | drawn by a peer | noise on the sum |
//! | --- | --- | --- |
//! | a curator | nothing; the curator Lap(b) | 2b² |
//! | an ideal secure sum | a difference of Gamma numbers of shape 1/(s − t) | 2b²·s/(s − t) |
//! | in the open, `local` | Lap(b) | 2b²·s |
//! | in the open, `pairwise` with k holders | k peers Lap(b), and N(0, σ_Δ²) along every edge of the noise graph | 2b²·k |
//!
//! # A secure sum
//! The adversary sees the sum and its own t shares. What is left of the noise is a sum of shapes (s − t)·1/(s − t) = 1: a Laplace
//! number. Fewer colluders leave that and something independent of it, which is post-processing. More leave less than a Laplace number,
//! and nothing is promised then ([`laplace`](mod@crate::privacy::laplace)): no view beyond t is stated.
//!
//! # Holders
//! **Statement.** Let more than t peers hold a Laplace number each, and let the noise graph be connected without any t peers. Against every
//! coalition of t the transcript is (ε + ε′, δ′)-private for ε = Σ 1/(b·f_l) and δ′ the δ of μ_f-GDP at ε′, μ_f² = R·Σ 1/(σ_Δ·f_l)², R the
//! largest over coalitions and honest peers u of the least effective resistance between u and an honest holder in the honest graph.
//!
//! **Proof.** Fix a coalition, a peer u and an honest holder w of least resistance. Let u's contributions change by C_l, ‖C_l‖₁ ≤ Δ₁,l in
//! every release l. Change the secrets of the honest with them: the own noise of w by −C_l, and the noise along edge e by f_e·C_l for a flow
//! f of strength 1 that takes C_l from u to w: it lowers what u publishes by C_l, raises what w publishes by it, and is conserved at every other
//! peer. Then every published number is what it was, whatever was published before. So the two transcripts are one function of secrets of two
//! laws. The Laplace number of w is shifted by C_l, at a likelihood ratio of at most e^(‖C_l‖₁/(b f_l Δ₁,l)) ≤ e^(1/(b f_l)). The Gaussian
//! noise along the edges is shifted by f·C_l of norm √R·‖C_l‖_F ≤ √R·‖C_l‖₁, and has standard deviation σ_Δ f_l Δ₁,l: a Gaussian mechanism of
//! μ_l ≤ √R/(σ_Δ f_l). Both are independent. Shift the Gaussian noise of all releases first: P(S) ≤ e^ε′·P′(S) + δ′, by adaptive composition of
//! Gaussian mechanisms; then the Laplace noise: P′(S) ≤ e^ε·P″(S), by a product of ratios. Together P(S) ≤ e^(ε + ε′)·P″(S) + δ′. ∎
//!
//! With Gaussian noise along edges δ′ = 0 is out of reach: likelihood ratios of Gaussians have no bound.

#[cfg(test)]
mod tests;

use serde::Serialize;

use super::super::accountant::worst_resistance;
use super::super::rounded_up::rounded_up;
use super::super::{Calibrated, Certificate, Delta, Epsilon, PrivacyError, gaussian, laplace};
use super::{NoisePlan, Scheme, View, coalition_name, coalition_sizes};
use crate::topology::Graph;

/// What a plan of Laplace noise is computed for.
#[derive(Clone, Copy, Debug)]
pub struct LaplaceRequest<'a> {
    /// The noise graph: who shares pairwise noise with whom, where holders are asked for.
    pub graph: &'a Graph,
    /// How the sum is protected.
    pub scheme: Scheme,
    /// Of [`laplace::calibrate_laplace`].
    pub calibrated: &'a Calibrated,
    /// t: the coalition size to withstand.
    pub colluders: usize,
    /// Whether an ideal secure aggregation reveals only the sum (engine `federated`).
    pub trusted_sum: bool,
    /// Who holds the noise, with [`Scheme::Pairwise`] in the open.
    pub holders: Option<HoldersRequest>,
}

/// Holders of Laplace noise, and what the noise that is shared beside it may cost.
#[derive(Clone, Copy, Debug)]
pub struct HoldersRequest {
    /// How many peers hold a Laplace number each: more than may collude.
    pub count: usize,
    /// ε′, beside the ε of the Laplace noise.
    pub epsilon: Epsilon,
    /// δ′.
    pub delta: Delta,
    /// Σ 1/f_l² over the releases that one record meets, where Laplace noise is multiplied by f_l; the most of any record.
    pub inverse_squares: f64,
}

/// Laplace noise of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct LaplacePlan {
    /// b: the scale of a Laplace number per unit of Δ₁, in a release of factor 1.
    scale: f64,
    /// The shape of every share; 1 is a Laplace number.
    shape: f64,
    /// ε of the Laplace noise.
    epsilon: f64,
    /// Where few peers hold all of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    holders: Option<Holders>,
}

/// Holders of Laplace noise, and what is certified of the Gaussian noise that hides their peers.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Holders {
    /// How many: holder i of k is peer ⌊i·s/k⌋.
    pub count: u32,
    /// At least the largest resistance between an honest peer and its nearest honest holder.
    pub resistance: f64,
    /// μ_f of the shared noise, all releases together.
    pub mu: f64,
    /// ε′.
    pub epsilon: f64,
    /// The certified δ′ at ε + ε′.
    pub delta: f64,
}

impl LaplacePlan {
    /// b: the scale of a Laplace number per unit of Δ₁, in a release of factor 1.
    #[must_use]
    pub fn scale(&self) -> f64 {
        self.scale
    }

    /// The shape of every share; 1 is a Laplace number.
    #[must_use]
    pub fn shape(&self) -> f64 {
        self.shape
    }

    /// ε of the Laplace noise.
    #[must_use]
    pub fn epsilon(&self) -> f64 {
        self.epsilon
    }

    /// Where few peers hold all of it.
    #[must_use]
    pub fn holders(&self) -> Option<&Holders> {
        self.holders.as_ref()
    }

    /// δ: 0, or what is certified where Gaussian noise is shared.
    #[must_use]
    pub fn delta(&self) -> f64 {
        self.holders.map_or(0.0, |holders| holders.delta)
    }
}

impl NoisePlan {
    /// Laplace noise of a curator.
    #[must_use]
    pub fn laplace_curator(calibrated: &Calibrated) -> Self {
        let mut plan = Self::curator(calibrated);
        plan.laplace = Some(LaplacePlan {
            scale: scale(calibrated),
            shape: 1.0,
            epsilon: calibrated.spent(),
            holders: None,
        });
        plan
    }

    /// The least Laplace noise of the scheme that keeps its promise against every coalition of `colluders` peers; see the table and the
    /// proofs in `laplace.rs`.
    ///
    /// # Errors
    /// [`PrivacyError`], saying what to change: for a scheme that Laplace noise does not go with, for too few holders, and for a noise
    /// graph that a coalition can split.
    pub fn laplace(request: &LaplaceRequest<'_>) -> Result<Self, PrivacyError> {
        let (peers, t) = (request.graph.nodes(), request.colluders);
        let refuse = |problem| Err(PrivacyError::Laplace { problem });
        if request.scheme == Scheme::None {
            return Ok(Self::assembled_of((0.0, 0.0, 0.0), None, Vec::new(), None));
        }
        if t >= peers {
            let colluders = t;
            return Err(PrivacyError::NobodyHonest { colluders, peers });
        }
        if request.holders.is_some() && (request.trusted_sum || request.scheme != Scheme::Pairwise)
        {
            return refuse(
                "noise.holders belongs to noise.scheme = \"pairwise\" on engines that pass messages; leave it out",
            );
        }
        match (request.scheme, request.trusted_sum, request.holders) {
            (Scheme::Ring, ..) => refuse(
                "sums of integers mod 2^k have rounded Gaussian noise: set noise.scheme = \"local\", or \"pairwise\" with noise.holders, or \
                 engine.kind = \"federated\"",
            ),
            (Scheme::Local, ..) => {
                let view = request.view("any coalition".to_owned(), peers - 1, peers, 1.0);
                let view = View {
                    certificate: Certificate::Local,
                    ..view
                };
                Ok(request.assemble(1.0, peers, vec![view]))
            }
            (Scheme::Independent | Scheme::Pairwise, true, _) => {
                let shape = ((peers - t) as f64).recip();
                let views = coalition_sizes(t, t)
                    .into_iter()
                    .map(|size| request.view(coalition_name(size), size, peers, shape));
                Ok(request.assemble(shape, peers, views.collect()))
            }
            (Scheme::Independent, ..) => Err(PrivacyError::IndependentInTheOpen),
            (Scheme::Pairwise, false, Some(holders)) => request.held(holders),
            (Scheme::Pairwise, false, None) => refuse(
                "pairwise noise is Gaussian and hides a peer behind somebody who holds Laplace noise: set noise.holders to one more than \
                 privacy.colluders and privacy.delta above 0, or use noise.scheme = \"local\", or engine.kind = \"federated\"",
            ),
            _ => refuse(
                "this noise.scheme is one of Gaussian noise: set it to \"local\", or to \"pairwise\" with noise.holders",
            ),
        }
    }
}

/// b of a calibration.
fn scale(calibrated: &Calibrated) -> f64 {
    calibrated.z() / std::f64::consts::SQRT_2
}

impl LaplaceRequest<'_> {
    /// The view of an adversary where so many peers draw shares of this shape.
    ///
    /// A curator who adds Laplace noise of the same variance, 2b²·κ·`drawing`, spends 1/√(κ·`drawing`) of ε.
    fn view(&self, view: String, colluders: usize, drawing: usize, shape: f64) -> View {
        let peers = self.graph.nodes() as f64;
        let gap_to_central = (shape * drawing as f64).sqrt();
        let gap_colluders = (peers / (peers - colluders as f64)).sqrt();
        let gaps = (gap_to_central, gap_colluders);
        View::of_pure_noise(self.calibrated, (view, colluders), gaps)
    }

    fn assemble(&self, shape: f64, drawing: usize, views: Vec<View>) -> NoisePlan {
        let own = rounded_up(self.calibrated.z() * shape.sqrt());
        let sum = (drawing as f64).sqrt() * own;
        let laplace = LaplacePlan {
            scale: scale(self.calibrated),
            shape,
            epsilon: self.calibrated.spent(),
            holders: None,
        };
        let epsilon = self.calibrated.spent();
        NoisePlan::assembled_of((own, 0.0, sum), Some(epsilon), views, Some(laplace))
    }

    fn held(&self, asked: HoldersRequest) -> Result<NoisePlan, PrivacyError> {
        let (peers, colluders) = (self.graph.nodes(), self.colluders);
        if asked.count <= colluders || asked.count > peers {
            return Err(PrivacyError::Holders {
                found: asked.count,
                colluders,
                needed: colluders + 1,
                peers,
            });
        }
        // Written so that NaN is refused too.
        if !(1e-100..=1e100).contains(&asked.inverse_squares) {
            return Err(PrivacyError::Parameter {
                name: "the sum of the inverse squares of the noise factors",
                found: asked.inverse_squares,
                expected: "a number between 1e-100 and 1e100",
            });
        }
        let holders: Vec<u32> = (0..asked.count)
            .map(|i| (i * peers / asked.count) as u32)
            .collect();
        let resistance = worst_resistance(self.graph, &holders, colluders)?;
        let mu = gaussian::mu(asked.epsilon, asked.delta);
        // Where everybody holds a Laplace number no peer needs another's, and no flow is shifted.
        let pairwise = (resistance * asked.inverse_squares).sqrt() / mu;
        let used = match pairwise > 0.0 {
            true => gaussian::delta(asked.epsilon.get(), mu).min(asked.delta.get()),
            false => 0.0,
        };
        let (pure, shared) = (self.calibrated.spent(), asked.epsilon.get());
        let views = coalition_sizes(colluders, colluders)
            .into_iter()
            .map(|size| {
                let view = self.view(coalition_name(size), size, asked.count, 1.0);
                let dearer = (pure + shared) / pure;
                View {
                    mu: libm::hypot(laplace::mu(pure), mu),
                    epsilon: pure + shared,
                    gap_to_central: view.gap_to_central * dearer,
                    gap_finite: view.gap_finite * dearer,
                    certificate: Certificate::Holder,
                    ..view
                }
            });
        let mut plan = self.assemble(1.0, asked.count, views.collect());
        plan.sigma_pairwise = rounded_up(pairwise);
        plan.epsilon = Some(pure + shared);
        if let Some(laplace) = &mut plan.laplace {
            laplace.holders = Some(Holders {
                count: asked.count as u32,
                resistance,
                mu: if pairwise > 0.0 { mu } else { 0.0 },
                epsilon: shared,
                delta: used,
            });
        }
        Ok(plan)
    }
}
