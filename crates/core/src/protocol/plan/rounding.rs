//! Rounding of contributions to 64-bit floating-point numbers: how far it may move what is released, and what a plan refuses.
//!
//! u = 2⁻⁵³, n items, p columns of the query, V coordinates. Lengths are in units of Δ: Euclidean, for Laplace noise sums of absolute values, for
//! Wishart noise nuclear norms.
//!
//! # Setting
//! A peer adds up one summand t_r for each of its R rows. It computes t_r from row r and public numbers alone, and adds up in a fixed order. s bounds
//! the length of |t_r|, where every product and sum in t_r is of absolute values:
//!
//! | released | s |
//! | --- | --- |
//! | of rows r with ‖r‖ ≤ 1 | m√p/Δ, with m of [`Rule::largest_per_row`](crate::privacy::Rule::largest_per_row) and the least Δ that a query can have: ‖r‖·‖\|r\|ᵀ\|X\|‖ ≤ √p, and ‖rᵀr‖ ≤ 1 |
//! | the triangle with margins | √2 times that: the squares of the margins' weights add up to less than 1 |
//! | a quantity of your own | m√V/Δ; nothing is checked where no m is declared |
//! | a vertex's row of a graph or matrix, R = 1 | n·b/Δ̂ with Δ̂ = 1, where no entry exceeds b ([`Program::largest_entry`](crate::algorithm::Program::largest_entry)): Σ_t b‖x_t‖ ≤ n·b·max‖x_t‖, and max‖x_t‖ ≤ Δ. For quotients \|v_s v_t\| ≤ Δ. Twice that where a record is at two peers |
//! | any of these under Laplace noise | √V times that |
//! | a triangle under Wishart noise | √(2n)/Δ_*: a nuclear norm is at most √n times a Frobenius norm, which is at most √2 times the length of the packed triangle, 1 |
//!
//! # Contributions: statement and proof
//! *If (R² + n + 16)·s·u ≤ 2⁻⁶, then one record moves the computed contribution by less than (1 + 1/30)·Δ.*
//! Let ĉ be the computed sum and γ_k = ku/(1 − ku) ≤ 1.01ku.
//! (i) ‖ĉ − Σ_r t_r‖ ≤ γ_R·Σ_r‖t_r‖ ≤ γ_R·R·s (Higham, *Accuracy and Stability of Numerical Algorithms*, 2002, section 4.2).
//! (ii) The summand of the row that differs is within γ_{n+16}·s of the real one, being scalar products of at most n terms and at most 16 more operations. All
//! other summands are the same numbers in both data sets and cancel, however they were computed.
//! So ‖ĉ − ĉ′‖ ≤ 1 + 2·1.01·(R² + n + 16)·s·u < 1 + 1/30. ∎
//!
//! # Noise: statement and proof
//! *One term.* fl(ĉ + z) is a function of ĉ + z, which costs nothing more: own coordinates, a curator's noise, and peers without partners.
//!
//! *Own noise o and k partners' terms.* If (k + 1)·u·(R·s + 2¹⁰·f·(σ_own + k·σ_pair)) ≤ 2⁻⁶·f·σ_own, then what is published is within σ/64 of what real arithmetic
//! publishes, σ being the standard deviation of own noise, unless a term exceeds 2¹⁰ of its standard deviations. Each of the k + 1 additions
//! rounds by at most u times a partial sum, which the bracket bounds. ∎
//!
//! Sums mod 2^k add integers, which do not round. That noise is drawn as `f64` is another matter: see the threat model in the guide.

use super::summand::is_of_vertices;
use super::{PlannedRelease, SessionPlan, SessionPlanError};
use crate::vocabulary::Quantity;

/// u: the largest relative error of one operation.
const UNIT: f64 = f64::EPSILON / 2.0;
/// The largest share of the sensitivity, or of own noise, that rounding may have.
const LARGEST_SHARE: f64 = 1.0 / 64.0;
/// Standard deviations that no noise term is assumed to exceed.
const LARGEST_DRAW: f64 = 1024.0;
/// Operations on a row beside its scalar products.
const OPERATIONS: f64 = 16.0;

impl SessionPlan {
    /// Checks that rounding is small beside sensitivity and noise, where sums are over at most `rows` rows and a peer shares noise with at most `partners`
    /// others. Statement and proof stand at the head of `protocol/plan/rounding.rs`.
    ///
    /// # Errors
    /// [`SessionPlanError::Rounding`].
    pub fn check_rounding(&self, rows: usize, partners: usize) -> Result<(), SessionPlanError> {
        for release in self.releases() {
            self.check_release(release, rows as f64, partners as f64)?;
        }
        Ok(())
    }

    fn check_release(
        &self,
        release: &PlannedRelease,
        rows: f64,
        partners: f64,
    ) -> Result<(), SessionPlanError> {
        let (dimension, sigmas) = (self.program().items as f64, self.sigmas());
        let blocks = &release.spec().blocks;
        let summands = (0..blocks.len()).filter_map(|at| {
            let quantity = blocks[at].quantity;
            Some((quantity, self.largest_summand(release, at)?))
        });
        for (quantity, summand) in summands {
            let of_vertices = is_of_vertices(quantity);
            let rows = if of_vertices { 1.0 } else { rows };
            let share = (rows * rows + dimension + OPERATIONS) * summand * UNIT;
            let refused = |found, beside, advice| {
                Err(SessionPlanError::Rounding {
                    release: quantity,
                    found,
                    beside,
                    advice,
                })
            };
            // What is no number is refused too.
            let is_small = |share: f64| (0.0..=LARGEST_SHARE).contains(&share);
            if !is_small(share) {
                let advice = match (quantity, of_vertices) {
                    (Quantity::BipartiteHalf, _) => {
                        "set data.ranges to the public range of an entry, or use fewer rows and columns"
                    }
                    (_, true) => "use fewer vertices",
                    _ => {
                        "let fewer rows meet in one sum, with more peers or with an engine of peers, or raise the sensitivity by a lower \
                         data.degree_floor"
                    }
                };
                return refused(share, "what one record moves it by", advice);
            }
            let shared = partners > 0.0 && self.parameters().ring.is_none() && !release.is_own();
            let factor = release.factor();
            let noise = LARGEST_DRAW * factor * (sigmas.own + partners * sigmas.pairwise);
            let moved = (partners + 1.0) * UNIT * (rows * summand + noise);
            let share = moved / (factor * sigmas.own);
            if shared && sigmas.own > 0.0 && !is_small(share) {
                let advice = "raise privacy.overhead, lower privacy.epsilon, or give peers fewer noise partners";
                return refused(
                    share,
                    "the standard deviation of a peer's own noise",
                    advice,
                );
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::algorithm::{Algorithm, OnBipartite, OnGraph, PowerMethod};
    use crate::privacy::{Adjacency, SensitivityRule, SensitivitySpec};
    use crate::protocol::{SessionParameters, Values};

    /// A plan of the power method over so many items, with noise.
    fn parameters(dimension: usize, adjacency: Adjacency) -> SessionParameters {
        SessionParameters {
            peers: 3,
            program: Arc::new(power(dimension).program()),
            sensitivity: SensitivitySpec::new(adjacency, SensitivityRule::Exact, 1, None),
            sigma_own: 2.0,
            sigma_pairwise: 100.0,
            sigma_coordinate: 0.0,
            ring: None,
            laplace: None,
            wishart: None,
            noise_factors: Vec::new(),
            scale_rounds: 1,
            averaging_rounds: 1,
            values: Values::F64,
            schedule: [0; 32],
            topology: [0; 32],
            start: [0; 32],
        }
    }

    fn power(items: usize) -> Arc<dyn Algorithm> {
        Arc::new(PowerMethod::new(items, 1, 2).expect("valid"))
    }

    /// A plan of an algorithm that adds this much noise to own coordinates.
    fn of_vertices(
        vertices: usize,
        algorithm: Arc<dyn Algorithm>,
        adjacency: Adjacency,
    ) -> Result<SessionPlan, SessionPlanError> {
        let parameters = SessionParameters {
            peers: vertices as u32,
            program: Arc::new(algorithm.program()),
            sigma_coordinate: 2.0,
            ..parameters(vertices, adjacency)
        };
        SessionPlan::new(parameters, algorithm)
    }

    /// A plan of a square matrix with so many vertices in all, whose entries are at most `largest`.
    fn bipartite(vertices: usize, largest: f64) -> Result<SessionPlan, SessionPlanError> {
        let algorithm = OnBipartite::new(power(vertices), vertices / 2).expect("products");
        let algorithm = Arc::new(algorithm.within(largest));
        of_vertices(vertices, algorithm, Adjacency::EntryBipartite)
    }

    #[test]
    fn entries_are_bounded_beside_what_one_record_moves() {
        bipartite(40_000, f64::INFINITY).expect("40,000 · 40,016 · 2¹⁶ · 2⁻⁵³ < 1/64");
        let refused = bipartite(50_000, f64::INFINITY).expect_err("too coarse");
        let text = refused.to_string();
        assert!(text.contains("set data.ranges"), "{text}");
        bipartite(50_000, 1.0).expect("entries of a unit range");
    }

    #[test]
    fn vertices_of_a_graph_may_be_millions() {
        let of = |vertices: usize| {
            let algorithm = OnGraph::new(power(vertices)).expect("products");
            of_vertices(vertices, Arc::new(algorithm), Adjacency::Edge)
        };
        of(8_000_000).expect("2n² · 2⁻⁵³ < 1/64");
        let refused = of(9_000_000).expect_err("too coarse").to_string();
        assert!(refused.contains("fewer vertices"), "{refused}");
    }

    /// R²·s·2⁻⁵³ ≤ 2⁻⁶, where a user moves a product by at most 1 = s.
    #[test]
    fn rows_that_meet_in_one_sum_are_bounded() {
        let plan = SessionPlan::new(parameters(100, Adjacency::User), power(100)).expect("valid");
        plan.check_rounding(11_000_000, 0).expect("2^46.8 < 2^47");
        let refused = plan.check_rounding(12_000_000, 0).expect_err("2^47.03");
        assert!(refused.to_string().contains("more peers"), "{refused}");
    }

    #[test]
    fn shared_noise_does_not_swallow_own_noise() {
        let of = |sigma_pairwise| {
            let parameters = SessionParameters {
                sigma_pairwise,
                ..parameters(100, Adjacency::User)
            };
            let plan = SessionPlan::new(parameters, power(100));
            plan.expect("one row, no partner").check_rounding(10, 8)
        };
        of(1e5).expect("far from the last bits");
        // Every one of nine additions rounds.
        of(3.7e9).expect("9 · 2⁻⁵³ · 2¹⁰ · 8 · 3.7e9 < 2/64");
        of(3.9e9).expect_err("9 · 2⁻⁵³ · 2¹⁰ · 8 · 3.9e9 > 2/64");
        let refused = of(1e12).expect_err("9 · 2⁻⁵³ · 2¹⁰ · 8e12 > 2/64");
        let text = refused.to_string();
        assert!(text.contains("raise privacy.overhead"), "{text}");
    }
}
