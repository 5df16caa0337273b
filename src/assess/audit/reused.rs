//! What the adversary does if every iteration adds the same pairwise noise.
//!
//! Statement: let R_l be the residuals of L iterations over the honest peers at one coordinate, in each of which the
//! canary moves the victim by k_l, own noise is fresh and pairwise noise is the same every time. With K = Σ k_l the
//! log-likelihood ratio of the two worlds is
//! Σ_l (k_l − K/L)·(R_l)_u/σ_η² − ½ Σ_l (k_l − K/L)²/σ_η² + (K/L)·wᵀΣ_l R_l − ½ K²/L·w_u,
//! where w = (σ_η² I + L σ_Δ² L_G)⁻¹ e_u, L_G is the Laplacian among the honest peers (with the terms shared with
//! colluders known), and coordinates add up.
//!
//! *Proof.* An orthogonal map of the L iterations sends the constant direction to Σ_l R_l/√L and the others to
//! contrasts. Pairwise noise is constant, so it has variance L σ_Δ² L_G in the first and none in the contrasts, which
//! have covariance σ_η² I and are independent of it. The log-likelihood ratio of N(m, C) against N(0, C) is mᵀC⁻¹x − ½mᵀC⁻¹m;
//! the canary's mean is e_u K/√L in the constant direction and e_u (k_l − K/L) in the contrasts. ∎

/// The sums over iterations that this attacker needs.
#[derive(Clone, Debug, Default)]
pub(super) struct Reused {
    iterations: f64,
    /// Σ_l ⟨k_l, (R_l)_u⟩.
    along: f64,
    /// Σ_l ‖k_l‖².
    size: f64,
    /// Σ_l k_l.
    change: Vec<f64>,
    /// Σ_l (R_l)_u.
    victim: Vec<f64>,
    /// Σ_l wᵀR_l.
    combined: Vec<f64>,
}

impl Reused {
    /// Takes in one iteration: the canary's change, the victim's residual and the honest peers' residuals combined with
    /// the weights w, all per unit sensitivity.
    pub(super) fn add(&mut self, change: &[f64], victim: &[f64], combined: &[f64]) {
        self.iterations += 1.0;
        self.along += dot(change, victim);
        self.size += dot(change, change);
        add_to(&mut self.change, change);
        add_to(&mut self.victim, victim);
        add_to(&mut self.combined, combined);
    }

    /// The log-likelihood ratio of all iterations so far. `own` is σ_η² and `weight` is w_u.
    pub(super) fn ratio(&self, own: f64, weight: f64) -> f64 {
        let total = dot(&self.change, &self.change) / self.iterations;
        let contrasts = self.along - dot(&self.change, &self.victim) / self.iterations;
        let constant = dot(&self.change, &self.combined) / self.iterations;
        (contrasts - 0.5 * (self.size - total)) / own + constant - 0.5 * total * weight
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

fn add_to(sum: &mut Vec<f64>, values: &[f64]) {
    sum.resize(values.len(), 0.0);
    for (sum, value) in sum.iter_mut().zip(values) {
        *sum += value;
    }
}
