//! The exact loss of persons at several peers, by dense inverses on random graphs, against what is stated.

use nalgebra::{DMatrix, DVector};
use rand::RngExt;

use super::super::{
    Budget, Calibration, Connectivity, NoiseRequest, OnDisconnect, Scheme, noise_multiplier,
};
use super::*;
use crate::topology::{Graph, Provenance, Topology};
use crate::vocabulary::{Label, Seed};

const ITERATIONS: u32 = 3;

/// A ring of so many peers, and every other pair with this probability: one peer less leaves it connected.
fn random_graph(peers: u32, share: f64, rng: &mut impl rand::Rng) -> Graph {
    let mut edges: Vec<(u32, u32)> = (0..peers).map(|u| (u, (u + 1) % peers)).collect();
    for u in 0..peers {
        for v in u + 2..peers {
            if (u, v) != (0, peers - 1) && rng.random::<f64>() < share {
                edges.push((u, v));
            }
        }
    }
    Graph::from_edges(peers as usize, &edges).expect("simple")
}

/// The covariance of what `honest` peers publish, after all that the others know is taken out; of their sum, where that is all that is seen.
fn covariance(graph: &Graph, plan: &NoisePlan, honest: &[usize]) -> DMatrix<f64> {
    let (own, pairwise) = (plan.sigma_own().powi(2), plan.sigma_pairwise().powi(2));
    let place = |peer: u32| honest.iter().position(|one| *one == peer as usize);
    let mut found = DMatrix::from_diagonal_element(honest.len(), honest.len(), own);
    for (u, v) in graph.edge_list() {
        if let (Some(u), Some(v)) = (place(u), place(v)) {
            found[(u, u)] += pairwise;
            found[(v, v)] += pairwise;
            found[(u, v)] -= pairwise;
            found[(v, u)] -= pairwise;
        }
    }
    found
}

/// The largest exact μ of one row that `k` honest peers hold, over all coalitions of `colluders` or fewer (at most 1); and whether no random
/// change of as many rows, alike or not, loses more.
fn worst(
    graph: &Graph,
    plan: &NoisePlan,
    (k, colluders): (usize, usize),
    is_sum: bool,
    rng: &mut impl rand::Rng,
) -> f64 {
    let peers = graph.nodes();
    let mut most = 0.0_f64;
    let coalitions = if colluders == 0 {
        peers..=peers
    } else {
        0..=peers
    };
    for coalition in coalitions {
        let honest: Vec<usize> = (0..peers).filter(|peer| *peer != coalition).collect();
        let inverse = match is_sum {
            true => {
                let variance = honest.len() as f64 * plan.sigma_own().powi(2);
                DMatrix::from_element(honest.len(), honest.len(), variance.recip())
            }
            false => {
                let covariance = covariance(graph, plan, &honest);
                covariance.try_inverse().expect("positive definite")
            }
        };
        for holders in (0_u32..1 << honest.len()).filter(|one| one.count_ones() as usize == k) {
            let at = |peer: usize| f64::from(holders >> peer & 1);
            let of = |x: &DVector<f64>| (&inverse * x).dot(x);
            let alike = of(&DVector::from_fn(honest.len(), |peer, _| at(peer)));
            // Rows of two coordinates, each of length 1 and in its own direction.
            let angles: Vec<f64> = (0..honest.len())
                .map(|_| rng.random_range(0.0..std::f64::consts::TAU))
                .collect();
            let x = DVector::from_fn(honest.len(), |peer, _| at(peer) * angles[peer].cos());
            let y = DVector::from_fn(honest.len(), |peer, _| at(peer) * angles[peer].sin());
            assert!(
                of(&x) + of(&y) <= alike * (1.0 + 1e-9),
                "one row is the worst case"
            );
            most = most.max(alike);
        }
    }
    (f64::from(ITERATIONS) * most).sqrt()
}

/// One of several schemes on a random graph.
#[derive(Debug)]
struct Case {
    graph: Graph,
    scheme: Scheme,
    colluders: usize,
    overhead: f64,
    trusted_sum: bool,
}

fn cases() -> Vec<Case> {
    let mut rng = Seed::from_u64(11).generator(Label::Scenario);
    let case = |number: u32| Case {
        graph: random_graph(4 + number % 4, rng.random_range(0.0..1.0), &mut rng),
        scheme: [
            Scheme::Pairwise,
            Scheme::Pairwise,
            Scheme::Local,
            Scheme::Independent,
        ][(number / 4 % 4) as usize],
        colluders: (number % 3 % 2) as usize,
        overhead: [1e-3, 0.01, 0.2, 2.0][(number / 3 % 4) as usize],
        trusted_sum: number / 4 % 4 == 3,
    };
    (0..96).map(case).collect()
}

/// The request of a case under this multiplier.
fn request(
    case: &Case,
    delta: Delta,
    multiplier: f64,
    connectivity: Connectivity,
) -> NoiseRequest<'_> {
    NoiseRequest {
        graph: &case.graph,
        scheme: case.scheme,
        noise_multiplier: multiplier,
        iterations: ITERATIONS,
        delta,
        colluders: case.colluders,
        overhead: case.overhead,
        trusted_sum: case.trusted_sum,
        connectivity,
        on_disconnect: OnDisconnect::Refuse,
        ring: None,
    }
}

/// The noise of a case under this multiplier.
fn planned(case: &Case, delta: Delta, multiplier: f64) -> Result<NoisePlan, PrivacyError> {
    let topology = Topology::from_graph(case.graph.clone(), Provenance::edges("test"));
    let connectivity = Connectivity::from(topology.spectrum().algebraic_connectivity);
    NoisePlan::new(&request(case, delta, multiplier, connectivity))
}

fn budget() -> (Budget, f64) {
    let budget = Budget::new(2.0, 1e-5).expect("valid");
    let multiplier = noise_multiplier(Calibration::Analytic, budget, ITERATIONS);
    (budget, multiplier.expect("in range"))
}

#[test]
fn no_person_loses_more_than_is_stated_on_random_graphs() {
    let (budget, multiplier) = budget();
    let mut rng = Seed::from_u64(12).generator(Label::Scenario);
    let mut closest = [0.0_f64; 4];
    for case in cases() {
        let plan = planned(&case, budget.delta, multiplier).expect("connected");
        let size = (case.graph.nodes(), case.colluders);
        let stated = plan.persons(1, size, f64::from(ITERATIONS), budget.delta);
        let stated = stated.expect("valid");
        assert_eq!([stated[0].peers, stated[1].peers], [2, 3]);
        let mut one = stated[0];
        one.peers = 1;
        one.mu = plan
            .views()
            .iter()
            .find(|view| view.colluders >= case.colluders)
            .expect("stated")
            .mu;
        for group in [one].iter().chain(&stated) {
            let k = group.peers;
            let exact = worst(
                &case.graph,
                &plan,
                (k, case.colluders),
                case.trusted_sum,
                &mut rng,
            );
            assert!(
                exact <= group.mu * (1.0 + 1e-9),
                "{case:?} {k}: {exact} {group:?}"
            );
            closest[k] = closest[k].max(exact / group.mu);
        }
    }
    // The bounds are attained: nothing smaller would do.
    assert!(
        closest[1..].iter().all(|ratio| *ratio > 0.999),
        "{closest:?}"
    );
}

#[test]
fn noise_for_persons_at_several_peers_keeps_what_was_promised_about_one() {
    let (budget, multiplier) = budget();
    let mut rng = Seed::from_u64(13).generator(Label::Scenario);
    let promised = f64::from(ITERATIONS).sqrt() / multiplier;
    let mut closest = [0.0_f64; 4];
    for case in cases() {
        let topology = Topology::from_graph(case.graph.clone(), Provenance::edges("test"));
        let connectivity = Connectivity::from(topology.spectrum().algebraic_connectivity);
        for (k, closest) in closest.iter_mut().enumerate().skip(1) {
            let request = request(&case, budget.delta, multiplier, connectivity);
            let plan = NoisePlan::for_persons(&request, k).expect("can be planned");
            let exact = worst(
                &case.graph,
                &plan,
                (k, case.colluders),
                case.trusted_sum,
                &mut rng,
            );
            assert!(
                exact <= promised * (1.0 + 1e-9),
                "{case:?} {k}: {exact} of {promised}"
            );
            *closest = closest.max(exact / promised);
            let size = (case.graph.nodes(), case.colluders);
            let stated = plan.persons(k, size, f64::from(ITERATIONS), budget.delta);
            let stated = stated.expect("valid");
            if let Some(group) = stated.iter().find(|group| group.peers == k) {
                assert!(exact <= group.mu * (1.0 + 1e-9));
                assert!(group.mu <= promised * (1.0 + 1e-9), "{case:?} {group:?}");
                assert!(group.epsilon <= 2.0 * (1.0 + 1e-8), "{group:?}");
            }
            let factor = plan.sigma_own()
                / NoisePlan::new(&request)
                    .expect("can be planned")
                    .sigma_own();
            let expected = match case.scheme {
                Scheme::Local => (k as f64).sqrt(),
                _ => factor,
            };
            assert!((factor / expected - 1.0).abs() < 1e-8 && factor <= k as f64 * (1.0 + 1e-9));
        }
    }
    // No factor is larger than it must be.
    assert!(
        closest[1..].iter().all(|ratio| *ratio > 0.999),
        "{closest:?}"
    );
}

#[test]
fn nobody_is_a_person_at_no_participant() {
    let (budget, multiplier) = budget();
    let case = cases().swap_remove(0);
    let request = request(&case, budget.delta, multiplier, Connectivity::UNKNOWN);
    let refused = NoisePlan::for_persons(&request, 0);
    assert!(matches!(refused, Err(PrivacyError::Zero { .. })));
}
