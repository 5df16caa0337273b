//! More colluders learn more, so only coalitions of exactly t peers matter.
//!
//! # Statement
//! If S ⊆ S′ and u ∉ S′ then v_u under S is at most v_u under S′. More generally v_u does not grow when an honest peer
//! or an edge between honest peers is added.
//!
//! # Proof
//! By the principle in the proof of `star_bound`, σ_η²v_u is the least cost of a flow from u on the honest
//! graph. A flow on G − S′ is a flow on G − S with nothing on the peers and edges that S′ ∖ S would have taken, at the
//! same cost: the minimum over the larger set is no larger. ∎
//!
//! So a bound for all coalitions of t holds for all of at most t, and a bound on any subgraph of the honest graph is
//! a bound on v_u. S ↦ v_u is neither submodular nor supermodular: greedy search is a lower bound on the worst
//! coalition and no more (`worst_coalition`).

#[cfg(test)]
mod tests {
    use rand::RngExt;

    use crate::privacy::accountant::exact_variance_factors;
    use crate::topology::Graph;
    use crate::vocabulary::{Label, Seed};

    #[test]
    fn one_more_colluder_never_protects_anybody() {
        let mut rng = Seed::from_u64(51).generator(Label::Scenario);
        let mut strict = 0;
        for _ in 0..40 {
            let edges: Vec<(u32, u32)> = (0..9)
                .flat_map(|u| (u + 1..9).map(move |v| (u, v)))
                .filter(|_| rng.random::<f64>() < 0.4)
                .collect();
            let graph = Graph::from_edges(9, &edges).expect("a simple graph");
            let few = [0, 1];
            let many = [0, 1, 2];
            let before = exact_variance_factors(&graph, 1.0, 30.0, &few).expect("valid");
            let after = exact_variance_factors(&graph, 1.0, 30.0, &many).expect("valid");
            for (a, b) in before.iter().zip(&after) {
                let (Some(a), Some(b)) = (a, b) else { continue };
                assert!(*a <= b * (1.0 + 1e-12), "{a} {b}");
                strict += u32::from(*a < 0.99 * b);
            }
        }
        assert!(strict > 50, "{strict}");
    }
}
