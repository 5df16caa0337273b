//! Certified upper bounds on v_u = [Σ_H⁻¹]_uu that hold for every coalition of a given size.

/// What is known of the algebraic connectivity λ₂(G) of the noise graph; the topology layer computes it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Connectivity {
    /// A lower bound on λ₂(G); 0 if nothing is known.
    pub lower_bound: f64,
    /// Whether the bound is proved. An estimate with a safety factor is not: Ritz values lie above λ₂.
    pub certified: bool,
}

impl Connectivity {
    /// A lower bound on λ₂(G − S) for every coalition S of `colluders` peers: λ₂(G) − t, if positive.
    ///
    /// # Proof (Fiedler 1973)
    /// Let H = G − S and x ⟂ 1 a unit vector on H, extended by 0 to G; it is still orthogonal to 1. Then
    /// xᵀL_H x = xᵀL_G x − Σ_{v∈H} |N(v) ∩ S|·x_v² ≥ λ₂(G) − t. ∎
    #[must_use]
    pub fn after(self, colluders: usize) -> Option<f64> {
        let left = self.lower_bound - colluders as f64;
        // A bound that is not a number, or infinite, is no bound.
        (left > 0.0 && left.is_finite()).then_some(left)
    }
}

/// v_u ≤ 1/(n_H σ_η²) + (1 − 1/n_H)/(σ_η² + σ_Δ²·λ₂(H)), for a connected H of `honest` peers with
/// λ₂(H) ≥ `connectivity`. (ref B.4(i); DECOR's bound, Allouah et al. 2024)
///
/// # Proof
/// Σ_H = σ_η²I + σ_Δ²L_H has the eigenvector 1/√n_H with eigenvalue σ_η², on which e_u has weight 1/n_H. The
/// remaining weight 1 − 1/n_H lies on eigenvalues of at least σ_η² + σ_Δ²λ₂(H). ∎ With λ₂(H) ≥ 0 it is true,
/// if useless, for every H.
#[must_use]
pub fn lambda2_bound(honest: usize, connectivity: f64, own: f64, pairwise: f64) -> f64 {
    let n = honest as f64;
    1.0 / (n * own) + (1.0 - 1.0 / n) / (own + pairwise * connectivity.max(0.0))
}

/// v_u ≤ (1 + q)/(σ_η²(h + 1 + q)), q = σ_η²/σ_Δ², for a peer with at least `neighbours` = h honest noise
/// partners, connected or not. Under any coalition of t, h ≥ deg(u) − t. (ref B.4(ii))
///
/// # Proof
/// Σ = σ_η²I + σ_Δ²BBᵀ, B the incidence matrix of H, and v_u is the least ‖t‖²/σ_η² + ‖f‖²/σ_Δ² over t + Bf = e_u
/// (minimise over t and f: the Lagrange conditions give t = σ_η²Σ⁻¹e_u, f = σ_Δ²BᵀΣ⁻¹e_u). Any feasible pair is
/// an upper bound. Take f = x on each of u's h edges: t_u = 1 − hx, t_v = x at its partners. The cost
/// ((1 − hx)² + hx²)/σ_η² + hx²/σ_Δ² is least at x = 1/(h + 1 + q), where it is the bound. ∎
#[must_use]
pub fn star_bound(neighbours: usize, own: f64, pairwise: f64) -> f64 {
    (own + pairwise) / (own * (pairwise * (neighbours as f64 + 1.0) + own))
}
