//! Group privacy: bounds the loss if several peers' data change at once.
//!
//! A guarantee is about one record at one peer. A simulation partitions the users of one file among its peers, so that every user is at one. Two
//! cases are left where several peers' data change at once, and this file bounds their cost.
//!
//! - *A change of the matrix A.* A peer publishes its own noisy A_u X, and a change of A can be spread over many peers; it can even leave the sum
//!   as it is, as when peers exchange their rows ([`NoisePlan::groups`]).
//! - *A person in several files.* Participants of a session read files of their own, and one person can be in several of them
//!   (`NoisePlan::persons`, in `privacy/persons.rs`).

use serde::Serialize;

use super::{Adjacency, AdversaryView, Delta, NoisePlan, PrivacyError, gaussian};

/// Group sizes that are stated, besides everybody.
const STATED: [usize; 4] = [2, 3, 5, 10];

/// The loss if the data of so many peers change at once, each by at most one record of its own.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct GroupLoss {
    /// k: the number of honest peers whose data change.
    pub peers: usize,
    /// At most this μ, over all iterations.
    pub mu: f64,
    /// The ε of that μ at the δ of the plan, in nats; infinite, null in JSON, as in [`View`](super::View).
    pub epsilon: f64,
}

impl GroupLoss {
    /// An upper bound on the loss of a group of `peers` peers, from `mu`, that of any one peer over all iterations,
    /// and the noise `sigma_own` that every peer adds by itself per unit sensitivity in iterations worth
    /// `iterations` even ones.
    ///
    /// # Statement
    /// Let the contributions of k honest peers change by D_u with ‖D_u‖_F ≤ Δ_l in every iteration l, whatever was
    /// released before. Then the loss is at most that of μ_k = min(k·μ, √(k·T)/σ_η), T = Σ_l 1/f_l².
    ///
    /// # Proof
    /// In units of Δ_l and with the noise factor f_l = 1, the honest inputs have covariance Σ = σ_η²I + σ_Δ²L on every
    /// coordinate, L the Laplacian of the honest noise graph, once what the coalition knows is subtracted. Coordinates
    /// are independent, so the iteration's loss is Gaussian with μ_l² = tr(DᵀΣ⁻¹D), D the matrix with row D_u for peer u, and
    /// 0 for all others. Σ⁻¹ is positive definite, hence D ↦ μ_l(D) is a norm, and by the triangle inequality
    /// μ_l(D) ≤ Σ_u ‖D_u‖·√[Σ⁻¹]_uu. The loss of one peer is at most √(T·[Σ⁻¹]_uu) ≤ μ; so T iterations cost at most k·μ.
    /// L is positive semidefinite, hence Σ⁻¹ ≼ I/σ_η² and μ_l² ≤ ‖D‖_F²/σ_η² ≤ k/σ_η², which gives the second bound.
    /// Iterations compose to μ² = Σ_l μ_l²/f_l², adaptively, since both bounds hold for every history. ∎
    ///
    /// The first is attained where the changes are alike and the noise cancels in the sum all but perfectly (then
    /// the network is a curator, for whom k records cost k·μ); the second without pairwise noise, or
    /// by all peers together.
    ///
    /// # Errors
    /// [`PrivacyError::Zero`] for no peers, [`PrivacyError::Parameter`] for a μ, σ or number of iterations that is not
    /// finite and above 0.
    pub fn bound(
        peers: usize,
        mu: f64,
        sigma_own: f64,
        iterations: f64,
        delta: Delta,
    ) -> Result<Self, PrivacyError> {
        if peers == 0 {
            return Err(PrivacyError::Zero {
                name: "the number of peers in a group",
            });
        }
        for (name, found) in [
            ("mu of one peer", mu),
            ("the own noise", sigma_own),
            ("the number of iterations", iterations),
        ] {
            if !(found.is_finite() && found > 0.0) {
                return Err(PrivacyError::Parameter {
                    name,
                    found,
                    expected: "a finite number above 0",
                });
            }
        }
        let k = peers as f64;
        let mu = (k * mu).min((k * iterations).sqrt() / sigma_own);
        Ok(Self {
            peers,
            mu,
            epsilon: gaussian::epsilon(mu, delta),
        })
    }
}

impl NoisePlan {
    /// σ_η in units of what one record moves: what is rounded moves by a little more than the sensitivity.
    pub(super) fn own_per_unit(&self) -> f64 {
        let unit = self
            .ring()
            .map_or(1.0, |ring| ring.grid().sensitivity(ring.coordinates()));
        self.sigma_own() / unit
    }

    /// What groups of 2, 3, 5, 10 and all honest peers lose against `colluders`, where one record of this adjacency is a
    /// change at one peer only because of how peers publish: [`Adjacency::is_of_matrix`] and [`AdversaryView::Everything`].
    /// Empty for all other adjacencies, where only sums are seen, and where nothing is protected.
    ///
    /// # Errors
    /// As [`GroupLoss::bound`].
    pub fn groups(
        &self,
        adjacency: Adjacency,
        seen: AdversaryView,
        (peers, colluders): (usize, usize),
        iterations: f64,
        delta: Delta,
    ) -> Result<Vec<GroupLoss>, PrivacyError> {
        let covering = self.views().iter().find(|view| view.colluders >= colluders);
        let (true, AdversaryView::Everything, Some(view)) =
            (adjacency.is_of_matrix(), seen, covering)
        else {
            return Ok(Vec::new());
        };
        let honest = peers.saturating_sub(colluders);
        let mut sizes: Vec<usize> = STATED.into_iter().filter(|k| *k < honest).collect();
        sizes.extend((honest > 1).then_some(honest));
        let own = self.own_per_unit();
        sizes
            .into_iter()
            .map(|k| {
                let mut group = GroupLoss::bound(k, view.mu, own, iterations, delta)?;
                group.epsilon = self.epsilon_of(group.mu, delta);
                Ok(group)
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use nalgebra::DMatrix;

    use super::super::adjacency::{Entry, MatrixChange, Neighbouring, UnitSpectral};
    use super::super::{
        Budget, Calibration, Connectivity, NoiseRequest, OnDisconnect, RingRequest, Scheme,
        Sensitivity, SensitivityRule, noise_multiplier,
    };
    use super::*;
    use crate::linalg::Block;
    use crate::topology::{Graph, Provenance, Topology};

    const ITERATIONS: u32 = 3;

    /// Eight peers on a ring with its long diagonals.
    fn graph() -> Graph {
        let edges: Vec<(u32, u32)> = (0..8)
            .map(|u| (u, (u + 1) % 8))
            .chain((0..4).map(|u| (u, u + 4)))
            .collect();
        Graph::from_edges(8, &edges).expect("simple")
    }

    fn ring(peers: u32) -> Graph {
        let edges: Vec<(u32, u32)> = (0..peers).map(|u| (u, (u + 1) % peers)).collect();
        Graph::from_edges(peers as usize, &edges).expect("simple")
    }

    fn planned(graph: Graph, scheme: Scheme, overhead: f64, budget: Budget) -> NoisePlan {
        let topology = Topology::from_graph(graph, Provenance::edges("test"));
        NoisePlan::new(&NoiseRequest {
            graph: topology.graph(),
            scheme,
            noise_multiplier: noise_multiplier(Calibration::Analytic, budget, ITERATIONS)
                .expect("valid"),
            iterations: ITERATIONS,
            delta: budget.delta,
            colluders: 0,
            overhead,
            trusted_sum: false,
            connectivity: Connectivity::from(topology.spectrum().algebraic_connectivity),
            on_disconnect: OnDisconnect::Refuse,
            ring: None,
        })
        .expect("connected")
    }

    /// Σ⁻¹, dense: an oracle that shares nothing with the accountant.
    fn inverse(graph: &Graph, plan: &NoisePlan) -> DMatrix<f64> {
        let peers = graph.nodes();
        let own = plan.sigma_own().powi(2);
        let mut covariance = DMatrix::from_diagonal_element(peers, peers, own);
        for (u, v) in graph.edge_list() {
            let (u, v, variance) = (u as usize, v as usize, plan.sigma_pairwise().powi(2));
            covariance[(u, u)] += variance;
            covariance[(v, v)] += variance;
            covariance[(u, v)] -= variance;
            covariance[(v, u)] -= variance;
        }
        covariance.try_inverse().expect("positive definite")
    }

    /// The exact μ of all iterations if peer u's matrix changes by `change[u]`, X public.
    fn exact(
        inverse: &DMatrix<f64>,
        change: &[DMatrix<f64>],
        x: &DMatrix<f64>,
        delta_x: f64,
    ) -> f64 {
        let moved: Vec<DMatrix<f64>> = change.iter().map(|c| c * x / delta_x).collect();
        let mut loss = 0.0;
        for (u, a) in moved.iter().enumerate() {
            for (v, b) in moved.iter().enumerate() {
                loss += inverse[(u, v)] * a.dot(b);
            }
        }
        (f64::from(ITERATIONS) * loss).sqrt()
    }

    /// X of 5 items with two orthonormal columns, one change of distance 1 that moves C X by all of Δ, and Δ.
    fn worst_case<A: Neighbouring<Data = DMatrix<f64>>>(
        c: DMatrix<f64>,
    ) -> (DMatrix<f64>, DMatrix<f64>, f64) {
        let x = DMatrix::identity(5, 2);
        let distance = A::distance(&DMatrix::zeros(5, 5), &c).expect("one shape");
        assert!((distance - 1.0).abs() < 1e-12, "one record: {distance}");
        let rule = Sensitivity::new(A::ADJACENCY, SensitivityRule::Exact, 1, None, 2);
        let rule = rule.expect("proved");
        let block = Block::from_values(5, 2, x.transpose().as_slice().to_vec());
        let bound = rule.bound(rule.statistic().of(&block));
        assert!(((&c * &x).norm() - bound).abs() < 1e-12, "attains {bound}");
        (x, c, bound)
    }

    #[test]
    fn peers_that_exchange_their_matrices_lose_more_than_one_record_and_no_more_than_the_group() {
        let budget = Budget::new(2.0, 1e-5).expect("valid");
        let plan = planned(ring(64), Scheme::Pairwise, 0.02, budget);
        let inverse = inverse(&ring(64), &plan);
        let mut corner = DMatrix::zeros(5, 5);
        corner[(0, 0)] = 1.0;
        let cases = [
            (Adjacency::Entry, worst_case::<Entry>(corner.clone())),
            (Adjacency::Matrix, worst_case::<MatrixChange>(corner)),
            (
                Adjacency::UnitSpectral,
                worst_case::<UnitSpectral>(DMatrix::identity(5, 5)),
            ),
        ];
        for (adjacency, (x, c, bound)) in cases {
            // One half of the ring holds C each, the other nothing; in the other world the halves are exchanged.
            let exchanged: Vec<_> = (0..64)
                .map(|u| if u < 32 { -c.clone() } else { c.clone() })
                .collect();
            let sum: DMatrix<f64> = exchanged.iter().sum();
            assert_eq!(sum.amax(), 0.0, "A is as it was");
            let mu = exact(&inverse, &exchanged, &x, bound);
            let claimed = plan.views()[0].mu;
            assert!(mu > 3.0 * claimed, "{adjacency}: {mu} against {claimed}");
            let pair = gaussian::epsilon(mu, budget.delta);
            assert!(
                pair > plan.views()[0].epsilon,
                "{adjacency}: epsilon {pair}"
            );
            let groups = plan
                .groups(
                    adjacency,
                    AdversaryView::Everything,
                    (64, 0),
                    f64::from(ITERATIONS),
                    budget.delta,
                )
                .expect("valid");
            let all = groups.last().expect("stated");
            assert_eq!(all.peers, 64);
            assert!(mu <= all.mu && pair <= all.epsilon, "{adjacency}: {all:?}");
            println!(
                "{adjacency}: one record {claimed:.4}, exchanged {mu:.4}, group {:.4}",
                all.mu
            );
        }
    }

    /// Rounding moves a contribution by more than the sensitivity, so that own noise hides less of a group.
    #[test]
    fn groups_of_a_ring_pay_for_its_grid() {
        let (budget, graph) = (Budget::new(2.0, 1e-5).expect("valid"), graph());
        let plan = NoisePlan::new(&NoiseRequest {
            graph: &graph,
            scheme: Scheme::Ring,
            noise_multiplier: 2.0,
            iterations: ITERATIONS,
            delta: budget.delta,
            colluders: 0,
            overhead: 0.5,
            trusted_sum: false,
            connectivity: Connectivity::UNKNOWN,
            on_disconnect: OnDisconnect::Refuse,
            ring: Some(RingRequest {
                coordinates: 50,
                largest: 1.0,
                largest_factor: 1.0,
                distance: 0.0,
                largest_draw: 18.0,
                supported: (0.5, 1e12),
                modulus: None,
            }),
        })
        .expect("connected");
        let ring = plan.ring().expect("a ring");
        let moved = ring.grid().sensitivity(ring.coordinates());
        assert!(moved > 1.01, "{moved}");
        let iterations = f64::from(ITERATIONS);
        let groups = plan.groups(
            Adjacency::Entry,
            AdversaryView::Everything,
            (8, 0),
            iterations,
            budget.delta,
        );
        let all = *groups.expect("valid").last().expect("stated");
        let expected = (8.0 * iterations).sqrt() * moved / plan.sigma_own();
        assert!((all.mu / expected - 1.0).abs() < 1e-12, "{all:?}");
    }

    /// Every sign pattern on every group, with and without much pairwise noise.
    #[test]
    fn no_group_loses_more_than_stated_and_some_lose_all_but_a_little() {
        let budget = Budget::new(2.0, 1e-5).expect("valid");
        for (scheme, overhead, attained) in [
            (Scheme::Pairwise, 1e-4, 0.99),
            (Scheme::Pairwise, 0.5, 0.8),
            (Scheme::Local, 0.02, 0.999_999),
        ] {
            let plan = planned(graph(), scheme, overhead, budget);
            let inverse = inverse(&graph(), &plan);
            let mut most = [0.0_f64; 9];
            for pattern in 0..3_usize.pow(8) {
                let signs: Vec<f64> = (0..8)
                    .map(|u| (pattern / 3_usize.pow(u) % 3) as f64 - 1.0)
                    .collect();
                let k = signs.iter().filter(|sign| **sign != 0.0).count();
                let mut loss = 0.0;
                for u in 0..8 {
                    for v in 0..8 {
                        loss += inverse[(u, v)] * signs[u] * signs[v];
                    }
                }
                most[k] = most[k].max((f64::from(ITERATIONS) * loss).sqrt());
            }
            for (k, most) in most.iter().enumerate().skip(1) {
                let (mu, own) = (plan.views()[0].mu, plan.sigma_own());
                let bound = GroupLoss::bound(k, mu, own, f64::from(ITERATIONS), budget.delta)
                    .expect("valid")
                    .mu;
                assert!(
                    *most <= bound * (1.0 + 1e-9),
                    "{scheme:?} {k}: {most} {bound}"
                );
                assert!(*most >= attained * bound, "{scheme:?} {k}: {most} {bound}");
            }
        }
    }

    #[test]
    fn what_means_nothing_is_refused() {
        let delta = Delta::new(1e-5).expect("valid");
        assert!(matches!(
            GroupLoss::bound(0, 1.0, 1.0, 1.0, delta),
            Err(PrivacyError::Zero { .. })
        ));
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            for (mu, own, iterations) in [(bad, 1.0, 1.0), (1.0, bad, 1.0), (1.0, 1.0, bad)] {
                assert!(matches!(
                    GroupLoss::bound(2, mu, own, iterations, delta),
                    Err(PrivacyError::Parameter { .. })
                ));
            }
        }
    }

    #[test]
    fn groups_are_stated_where_a_record_is_a_change_of_the_matrix_and_inputs_are_seen() {
        let budget = Budget::new(2.0, 1e-5).expect("valid");
        let plan = planned(graph(), Scheme::Pairwise, 0.02, budget);
        let sizes = |adjacency, seen, players| -> Vec<usize> {
            let groups = plan.groups(adjacency, seen, players, 3.0, budget.delta);
            groups
                .expect("valid")
                .iter()
                .map(|group| group.peers)
                .collect()
        };
        for adjacency in Adjacency::ALL {
            let stated = sizes(adjacency, AdversaryView::Everything, (8, 0));
            let expected: &[usize] = if adjacency.is_of_matrix() {
                &[2, 3, 5, 8]
            } else {
                &[]
            };
            assert_eq!(stated, expected, "{adjacency}");
            for seen in [AdversaryView::CuratorOutput, AdversaryView::SecureSum] {
                assert_eq!(sizes(adjacency, seen, (8, 0)), [0; 0]);
            }
        }
        assert_eq!(
            sizes(Adjacency::Matrix, AdversaryView::Everything, (8, 1)),
            [2, 3, 5, 7]
        );
    }
}
