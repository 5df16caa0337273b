//! Plans of Laplace noise, their numbers and their proofs.

use super::super::super::{Calibration, calibrate_laplace};
use super::*;

fn graph(nodes: u32, steps: &[u32]) -> Graph {
    let edge = |u: u32, step: u32| {
        let v = (u + step) % nodes;
        (u.min(v), u.max(v))
    };
    let mut edges: Vec<_> = (0..nodes)
        .flat_map(|u| steps.iter().map(move |&step| edge(u, step)))
        .collect();
    edges.sort_unstable();
    edges.dedup();
    Graph::from_edges(nodes as usize, &edges).expect("simple")
}

fn calibrated(epsilon: f64) -> Calibrated {
    let epsilon = Epsilon::new(epsilon).expect("valid");
    calibrate_laplace(Calibration::Analytic, epsilon, 3).expect("in range")
}

fn request<'a>(graph: &'a Graph, calibrated: &'a Calibrated) -> LaplaceRequest<'a> {
    LaplaceRequest {
        graph,
        scheme: Scheme::Pairwise,
        calibrated,
        colluders: 2,
        trusted_sum: true,
        holders: None,
    }
}

fn holders(count: usize) -> Option<HoldersRequest> {
    Some(HoldersRequest {
        count,
        epsilon: Epsilon::new(0.5).expect("valid"),
        delta: Delta::new(1e-6).expect("valid"),
        inverse_squares: 3.0,
    })
}

#[test]
fn shares_of_a_secure_sum_are_those_of_the_honest() {
    let (graph, calibrated) = (graph(12, &[1]), calibrated(0.5));
    for t in [0, 1, 2, 5, 11] {
        let asked = LaplaceRequest {
            colluders: t,
            ..request(&graph, &calibrated)
        };
        let plan = NoisePlan::laplace(&asked).expect("planned");
        let laplace = plan.laplace_noise().expect("Laplace");
        let honest = (12 - t) as f64;
        // Never 1/s where anybody colludes.
        assert!((laplace.shape() * honest - 1.0).abs() < 1e-15);
        assert!((laplace.scale() - 6.0).abs() < 1e-11, "3 releases at 1/2");
        // The variance of the honest part is that of one Laplace number, 2b².
        let variance = honest * plan.sigma_own().powi(2);
        assert!((variance / 72.0 - 1.0).abs() < 1e-11);
        assert!((plan.sigma_sum().powi(2) / (72.0 * 12.0 / honest) - 1.0).abs() < 1e-11);
        // More colluders than planned for are promised nothing.
        let most = plan.views().iter().map(|view| view.colluders).max();
        assert_eq!(most, Some(t));
        assert!(plan.views().iter().all(|view| view.epsilon == 0.5));
        assert_eq!((plan.epsilon(), laplace.delta()), (Some(0.5), 0.0));
    }
}

#[test]
fn local_noise_is_a_laplace_number_for_everybody() {
    let (graph, calibrated) = (graph(12, &[1]), calibrated(0.5));
    let asked = LaplaceRequest {
        scheme: Scheme::Local,
        trusted_sum: false,
        ..request(&graph, &calibrated)
    };
    let plan = NoisePlan::laplace(&asked).expect("planned");
    assert_eq!(plan.sigma_own(), calibrated.z());
    assert_eq!(plan.laplace_noise().map(LaplacePlan::shape), Some(1.0));
    assert!((plan.sigma_sum() - 12.0_f64.sqrt() * calibrated.z()).abs() < 1e-12);
    assert_eq!(plan.views()[0].colluders, 11);
}

#[test]
fn holders_certify_what_shared_noise_costs() {
    let (graph, calibrated) = (graph(12, &[1, 2, 5]), calibrated(0.5));
    let asked = LaplaceRequest {
        trusted_sum: false,
        holders: holders(3),
        ..request(&graph, &calibrated)
    };
    let plan = NoisePlan::laplace(&asked).expect("planned");
    let held = *plan
        .laplace_noise()
        .and_then(LaplacePlan::holders)
        .expect("held");
    // μ_f² = R·Σ 1/f²/σ_Δ², and δ′ is its δ at ε′.
    let mu = (held.resistance * 3.0).sqrt() / plan.sigma_pairwise();
    assert!((mu / held.mu - 1.0).abs() < 1e-12);
    assert!(
        held.delta <= 1e-6 && held.delta > 0.999e-6,
        "{}",
        held.delta
    );
    assert!((gaussian::delta(0.5, mu) / held.delta - 1.0).abs() < 1e-6);
    assert_eq!(plan.epsilon(), Some(1.0));
    assert!((plan.sigma_sum() - 3.0_f64.sqrt() * calibrated.z()).abs() < 1e-12);
    assert!(
        plan.views()
            .iter()
            .all(|view| view.certificate == Certificate::Holder)
    );
    // As many as may collude are too few, as are more than there are.
    for count in [0, 1, 2, 13] {
        let few = LaplaceRequest {
            holders: holders(count),
            ..asked
        };
        let found = NoisePlan::laplace(&few);
        assert!(
            matches!(found, Err(PrivacyError::Holders { needed: 3, .. })),
            "{count}"
        );
    }
    // Everybody holds one: nobody needs another, and no Gaussian noise is shared.
    let all = LaplaceRequest {
        holders: holders(12),
        ..asked
    };
    let plan = NoisePlan::laplace(&all).expect("planned");
    assert_eq!(plan.sigma_pairwise(), 0.0);
    assert_eq!(plan.laplace_noise().map(LaplacePlan::delta), Some(0.0));
}

#[test]
fn what_shared_noise_costs_composes_over_releases() {
    for (releases, expected) in [(1.0_f64, 4.8e-26), (5.0, 1.14e-7), (10.0, 4.31e-5)] {
        let found = gaussian::delta(0.5, 0.05 * releases.sqrt());
        assert!(
            (found / expected - 1.0).abs() < 0.02,
            "{releases}: {found:e}"
        );
    }
}

#[test]
fn what_laplace_noise_does_not_go_with_is_refused() {
    let (ring, calibrated) = (graph(12, &[1]), calibrated(0.5));
    let open = LaplaceRequest {
        trusted_sum: false,
        ..request(&ring, &calibrated)
    };
    let of = |asked: LaplaceRequest<'_>| NoisePlan::laplace(&asked).expect_err("refused");
    assert!(of(open).to_string().contains("noise.holders"));
    let scheme = |scheme| LaplaceRequest { scheme, ..open };
    assert!(of(scheme(Scheme::Ring)).to_string().contains("mod 2^k"));
    assert_eq!(
        of(scheme(Scheme::Independent)),
        PrivacyError::IndependentInTheOpen
    );
    // Two colluders split a ring of peers.
    let cut = LaplaceRequest {
        holders: holders(4),
        ..open
    };
    assert_eq!(of(cut), PrivacyError::HoldersCutOff { colluders: 2 });
    let summed = LaplaceRequest {
        holders: holders(4),
        ..request(&ring, &calibrated)
    };
    assert!(of(summed).to_string().contains("leave it out"));
    let everybody = LaplaceRequest {
        colluders: 12,
        ..request(&ring, &calibrated)
    };
    assert!(matches!(of(everybody), PrivacyError::NobodyHonest { .. }));
}

/// The proof for holders, with numbers: a flow of least energy moves the change from u to w, and all that is published stays.
#[test]
fn a_flow_carries_a_change_to_a_holder_without_a_trace() {
    let graph = graph(9, &[1, 3]);
    let (gone, u, w) = (4_u32, 0_usize, 7_usize);
    let honest: Vec<u32> = (0..9).filter(|&v| v != gone).collect();
    let edges: Vec<(u32, u32)> = graph
        .edge_list()
        .filter(|&(a, b)| a != gone && b != gone)
        .collect();
    // Potentials by relaxation: the honest Laplacian times φ is e_u − e_w.
    let mut potential = [0.0_f64; 9];
    for _ in 0..20_000 {
        for &v in &honest {
            let v = v as usize;
            let around = graph.neighbours(v).iter().filter(|&&x| x != gone);
            let (sum, count) = around.fold((0.0, 0.0), |(sum, count), &x| {
                (sum + potential[x as usize], count + 1.0)
            });
            let source = f64::from(u8::from(v == u)) - f64::from(u8::from(v == w));
            potential[v] = (sum + source) / count;
        }
    }
    let flows: Vec<f64> = edges
        .iter()
        .map(|&(a, b)| potential[a as usize] - potential[b as usize])
        .collect();
    // What u publishes gains C = 1 and loses the flow out of it; w gains the flow and loses C of its own noise.
    let mut published = [0.0_f64; 9];
    published[u] += 1.0;
    published[w] -= 1.0;
    for (&(a, b), flow) in edges.iter().zip(&flows) {
        published[a as usize] -= flow;
        published[b as usize] += flow;
    }
    assert!(published.iter().all(|x| x.abs() < 1e-9), "{published:?}");
    let energy: f64 = flows.iter().map(|flow| flow * flow).sum();
    let resistance = potential[u] - potential[w];
    assert!((energy / resistance - 1.0).abs() < 1e-9);
    // No smaller than the bound that is planned with allows.
    let bound = worst_resistance(&graph, &[w as u32, gone], 1).expect("connected");
    assert!(energy <= bound * (1.0 + 1e-9), "{energy} {bound}");
}
