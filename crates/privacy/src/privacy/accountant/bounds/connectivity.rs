//! Proved lower bounds on λ₂ of the noise graph, before and after a coalition is removed.

use serde::Serialize;

use crate::topology::{Graph, Interval};

/// What is proved of the algebraic connectivity λ₂(G) of the noise graph; the topology layer computes it.
///
/// There is no room for an estimate: Ritz values lie above λ₂, and whatever a privacy promise rests on must not.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Connectivity {
    /// A proved lower bound on λ₂(G); 0 if nothing is known.
    pub lower_bound: f64,
}

impl From<Interval> for Connectivity {
    /// The lower end of what the topology layer has proved of λ₂(G); nothing where its ends are estimates.
    fn from(lambda2: Interval) -> Self {
        if lambda2.certified {
            Self {
                lower_bound: lambda2.low,
            }
        } else {
            Self::UNKNOWN
        }
    }
}

impl Connectivity {
    /// The bound 0, which always holds.
    pub const UNKNOWN: Self = Self { lower_bound: 0.0 };

    /// A lower bound on λ₂(G − S) for every coalition S of `colluders` peers: λ₂(G) − t, if positive.
    ///
    /// # Proof (Fiedler 1973)
    /// Let H = G − S and x ⟂ 1 a unit vector on H, extended by 0 to G; it is still orthogonal to 1. Then
    /// xᵀL_H x = xᵀL_G x − Σ_{v∈H} |N(v) ∩ S|·x_v² ≥ λ₂(G) − max_{v∈H} |N(v) ∩ S| ≥ λ₂(G) − t. ∎
    /// Over all coalitions the maximum in the middle is t as soon as one peer has t partners, so that nothing
    /// sharper is left to say; for a given coalition there is, see [`Self::after_coalition`].
    #[must_use]
    pub fn after(self, colluders: usize) -> Option<f64> {
        self.less(colluders)
    }

    /// A lower bound on λ₂(G − S) for one coalition S: λ₂(G) − max_{v∉S} |N(v) ∩ S|, if positive; the proof is
    /// that of [`Self::after`]. Members that do not exist are ignored.
    ///
    /// # Cost
    /// The sum of the degrees in S.
    #[must_use]
    pub fn after_coalition(self, graph: &Graph, coalition: &[u32]) -> Option<f64> {
        let mut members: Vec<u32> = coalition.to_vec();
        members.sort_unstable();
        members.dedup();
        members.retain(|&c| (c as usize) < graph.nodes());
        let mut lost: Vec<u32> = members
            .iter()
            .flat_map(|&c| graph.neighbours(c as usize))
            .copied()
            .filter(|v| members.binary_search(v).is_err())
            .collect();
        lost.sort_unstable();
        let most = lost.chunk_by(|a, b| a == b).map(<[u32]>::len).max();
        self.less(most.unwrap_or(0))
    }

    fn less(self, lost: usize) -> Option<f64> {
        let known = usable(self.lower_bound)?;
        if lost == 0 {
            return Some(known);
        }
        // Rounded towards less connectivity.
        usable((known - lost as f64).next_down())
    }
}

/// A bound that is not a number, or infinite, is no bound.
fn usable(bound: f64) -> Option<f64> {
    (bound > 0.0 && bound.is_finite()).then_some(bound)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::privacy::testing::algebraic_connectivity;

    #[test]
    fn a_given_coalition_leaves_more_than_the_worst_of_its_size() {
        // The four-dimensional hypercube: λ₂ = 2, and peers next to each other have no common partner.
        let edges: Vec<(u32, u32)> = (0..16_u32)
            .flat_map(|u| (0..4).map(move |bit| (u, u ^ (1 << bit))))
            .filter(|(u, v)| u < v)
            .collect();
        let graph = Graph::from_edges(16, &edges).expect("a simple graph");
        let whole = Connectivity {
            lower_bound: algebraic_connectivity(&graph),
        };
        let mut sharper = 0;
        for (a, b) in (0..16).flat_map(|a| (a + 1..16).map(move |b| (a, b))) {
            let keep: Vec<u32> = (0..16).filter(|&u| u != a && u != b).collect();
            let place = |u: &u32| keep.binary_search(u).ok().map(|i| i as u32);
            let left: Vec<(u32, u32)> = graph
                .edge_list()
                .filter_map(|(u, v)| Some((place(&u)?, place(&v)?)))
                .collect();
            let left = Graph::from_edges(14, &left).expect("a simple graph");
            let truth = algebraic_connectivity(&left);
            let given = whole.after_coalition(&graph, &[b, a, a, 99]).unwrap_or(0.0);
            let any = whole.after(2).unwrap_or(0.0);
            assert!(
                any <= given && given <= truth + 1e-9,
                "{any} {given} {truth}"
            );
            sharper += u32::from(given > any + 0.5);
        }
        assert!(sharper > 0);
    }

    #[test]
    fn an_estimate_is_nothing_known() {
        let mut interval = Interval {
            low: 3.5,
            estimate: 3.9,
            high: 4.0,
            certified: false,
        };
        assert_eq!(Connectivity::from(interval), Connectivity::UNKNOWN);
        interval.certified = true;
        assert_eq!(Connectivity::from(interval).lower_bound, 3.5);
    }

    #[test]
    fn what_is_no_number_is_no_bound() {
        for lower_bound in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -0.0, 1.0] {
            let known = Connectivity { lower_bound };
            assert_eq!(known.after(1), None);
        }
    }
}
