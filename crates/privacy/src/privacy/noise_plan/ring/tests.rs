//! Every planned ring against every coalition, by brute force; and broken plans that fail the same check.

use rand::RngExt;

use super::*;
use crate::privacy::noise_plan::Scheme;
use crate::privacy::noise_plan::tests::{Z, graph, request, with_connectivity};
use crate::privacy::{Connectivity, Delta, gaussian, ring::tests::cost};
use crate::vocabulary::{Label, Seed};

fn asked(coordinates: usize) -> RingRequest {
    RingRequest {
        coordinates,
        largest: 12.0,
        largest_factor: 1.0,
        distance: 0.0,
        largest_draw: 18.0,
        supported: (0.5, 1_099_511_627_776.0),
        modulus: None,
    }
}

fn ring_request(graph: &Graph, colluders: usize, coordinates: usize) -> NoiseRequest<'_> {
    NoiseRequest {
        scheme: Scheme::Ring,
        ring: Some(asked(coordinates)),
        ..with_connectivity(graph, colluders)
    }
}

/// A plan of these sums against one colluder.
fn plan_of(graph: &Graph, ring: RingRequest) -> Result<NoisePlan, PrivacyError> {
    NoisePlan::new(&NoiseRequest {
        ring: Some(ring),
        ..ring_request(graph, 1, ring.coordinates)
    })
}

fn cycle(peers: u32) -> Graph {
    let edges: Vec<(u32, u32)> = (0..peers)
        .map(|u| (u.min((u + 1) % peers), u.max((u + 1) % peers)))
        .collect();
    graph(peers as usize, &edges)
}

fn complete(peers: u32) -> Graph {
    let edges: Vec<(u32, u32)> = (0..peers)
        .flat_map(|u| (u + 1..peers).map(move |v| (u, v)))
        .collect();
    graph(peers as usize, &edges)
}

/// The smallest honest piece over every coalition of exactly t, by bit masks and repeated expansion.
fn smallest_by_hand(graph: &Graph, t: usize) -> usize {
    let peers = graph.nodes() as u32;
    let mut found = graph.nodes();
    for coalition in (0_u32..1 << peers).filter(|mask| mask.count_ones() as usize == t) {
        for start in (0..peers).filter(|u| coalition >> u & 1 == 0) {
            let mut reached = 1_u32 << start;
            loop {
                let grown = graph.edge_list().fold(reached, |all, (u, v)| {
                    let (u, v) = (1_u32 << u, 1_u32 << v);
                    let touches = all & (u | v) != 0;
                    if touches {
                        all | ((u | v) & !coalition)
                    } else {
                        all
                    }
                });
                // A colluding end must not carry on.
                let grown = grown & !coalition;
                if grown == reached {
                    break;
                }
                reached = grown;
            }
            found = found.min(reached.count_ones() as usize);
        }
    }
    found
}

/// The largest z²·μ² of one release over random integer moves of what one peer contributes, on the piece given.
fn attacked(plan: &NoisePlan, piece: usize, coordinates: usize, rng: &mut impl rand::Rng) -> f64 {
    let ring = plan.ring().expect("a ring");
    let step = ring.grid().step();
    let mut worst = 0.0_f64;
    for trial in 0..30 {
        // Contributions one unit of sensitivity apart, rounded to the grid: along one coordinate, or anywhere.
        let mut direction: Vec<f64> = (0..coordinates)
            .map(|j| {
                if trial == 0 {
                    f64::from(u8::from(j == 0))
                } else {
                    rng.random_range(-1.0..1.0)
                }
            })
            .collect();
        let norm = direction.iter().map(|x| x * x).sum::<f64>().sqrt();
        direction.iter_mut().for_each(|x| *x /= norm);
        let shift: Vec<i64> = direction
            .iter()
            .map(|x| {
                let base = rng.random_range(-3.0..3.0);
                (((base + x) / step).round() - (base / step).round()) as i64
            })
            .collect();
        let sigma = plan.sigma_own() / step;
        worst = worst.max(cost(&shift, piece) / (sigma * sigma));
    }
    worst * Z * Z
}

#[test]
fn every_planned_ring_keeps_its_promise_against_every_coalition() {
    let mut rng = Seed::from_u64(51).generator(Label::Scenario);
    let (mut planned, mut halved_fails) = (0, 0);
    for _ in 0..200 {
        let peers = rng.random_range(3..=8_u32);
        let dense = rng.random_range(0.2..0.9);
        let mut edges = Vec::new();
        for u in 0..peers {
            for v in u + 1..peers {
                if rng.random::<f64>() < dense {
                    edges.push((u, v));
                }
            }
        }
        let graph = graph(peers as usize, &edges);
        let t = rng.random_range(0..peers as usize - 1);
        let coordinates = rng.random_range(1..=5);
        let request = NoiseRequest {
            on_disconnect: OnDisconnect::SmallestComponent,
            connectivity: Connectivity::UNKNOWN,
            scheme: Scheme::Ring,
            ring: Some(asked(coordinates)),
            ..request(&graph, t)
        };
        let mut plan = NoisePlan::new(&request).expect("every piece can be paid for");
        planned += 1;
        let truth = smallest_by_hand(&graph, t);
        let ring = *plan.ring().expect("a ring");
        assert_eq!(ring.piece(), truth, "{graph:?}, {t} colluders");
        let view = plan
            .views()
            .iter()
            .find(|view| view.colluders == t)
            .expect("asked for");
        let allowed = (3.0_f64).sqrt() / Z;
        assert!(view.mu <= allowed * (1.0 + 1e-12), "{} {allowed}", view.mu);
        // One percent in μ is what the grid may cost over real numbers, which is all that this much noise could do.
        let real = (3.0 / truth as f64).sqrt() / plan.sigma_own();
        assert!(
            view.mu <= real * 1.01 && view.mu >= real,
            "{} {real}",
            view.mu
        );
        let worst = attacked(&plan, truth, coordinates, &mut rng);
        assert!(worst <= 1.0 && worst > 0.9, "{worst}");
        // The same check on a plan of half the noise.
        plan.sigma_own *= 0.5;
        halved_fails += u32::from(attacked(&plan, truth, coordinates, &mut rng) > 1.0);
    }
    assert_eq!((planned, halved_fails), (200, 200));
}

#[test]
fn an_uncuttable_graph_costs_what_a_curator_would() {
    // Thirty peers, each with its ten nearest: the smallest cut has ten. Only certificates look at five colluders.
    let steps: Vec<(u32, u32)> = (0..30_u32)
        .flat_map(|u| (1..=5).map(move |step| (u, (u + step) % 30)))
        .map(|(u, v)| (u.min(v), u.max(v)))
        .collect();
    let complete = complete(40);
    let around = graph(30, &steps);
    for (graph, t) in [
        (&complete, 0),
        (&complete, 1),
        (&complete, 12),
        (&around, 1),
        (&around, 2),
    ] {
        let plan = NoisePlan::new(&ring_request(graph, t, 100)).expect("planned");
        let ring = plan.ring().expect("a ring");
        let honest = graph.nodes() - t;
        assert_eq!(
            ring.piece(),
            honest,
            "{} peers, {t} colluders",
            graph.nodes()
        );
        assert!(ring.grid_overhead() > 0.0 && ring.grid_overhead() <= 0.01);
        let ideal = Z / (honest as f64).sqrt();
        assert!(plan.sigma_own() >= ideal && plan.sigma_own() <= ideal * 1.005);
        assert_eq!(plan.sigma_pairwise(), 0.0);
        let view = plan
            .views()
            .iter()
            .find(|view| view.colluders == t)
            .expect("asked for");
        assert!(
            view.gap_finite >= 1.0 && view.gap_finite <= 1.005,
            "{}",
            view.gap_finite
        );
    }
}

#[test]
fn graphs_that_fall_apart_are_refused_or_paid_for() {
    let path = graph(5, &[(0, 1), (1, 2), (2, 3), (3, 4)]);
    let refused = NoisePlan::new(&ring_request(&path, 1, 3));
    assert!(
        matches!(refused, Err(PrivacyError::CutVertex { .. })),
        "{refused:?}"
    );
    let apart = graph(4, &[(0, 1), (2, 3)]);
    let refused = NoisePlan::new(&NoiseRequest {
        connectivity: Connectivity::UNKNOWN,
        ..ring_request(&apart, 0, 3)
    });
    assert!(
        matches!(refused, Err(PrivacyError::Disconnected { .. })),
        "{refused:?}"
    );
    let paid = NoisePlan::new(&NoiseRequest {
        on_disconnect: OnDisconnect::SmallestComponent,
        ..ring_request(&path, 1, 3)
    });
    assert_eq!(
        paid.expect("own noise alone")
            .ring()
            .expect("a ring")
            .piece(),
        1
    );
    // Two colluders cut a cycle into pieces.
    let refused = NoisePlan::new(&ring_request(&cycle(9), 2, 3));
    assert!(
        matches!(refused, Err(PrivacyError::TooManyColluders { .. })),
        "{refused:?}"
    );
    // Whoever sees only the sum does not care.
    let plan = NoisePlan::new(&NoiseRequest {
        trusted_sum: true,
        ..ring_request(&path, 2, 3)
    });
    assert_eq!(plan.expect("a sum").ring().expect("a ring").piece(), 3);
}

#[test]
fn the_modulus_holds_every_sum_or_the_plan_is_refused() {
    let graph = complete(10);
    let plan = |ring| plan_of(&graph, ring);
    let ring = *plan(asked(50)).expect("planned").ring().expect("a ring");
    assert_eq!(ring.modulus(), Modulus::Bits32);
    // Twelve units of sensitivity, rounded up and one step more.
    assert_eq!(ring.clamp(), (12.0 / ring.grid().step()) as i64 + 1);
    let largest = ring.clamp() as f64
        + 18.0 * plan(asked(50)).expect("planned").sigma_own() / ring.grid().step()
        + 1.0;
    let sum = 10.0 * largest * f64::from(ring.headroom()).exp2();
    assert!(
        sum < 2_147_483_648.0 && 2.0 * sum >= 2_147_483_648.0,
        "{sum}"
    );
    let wide = RingRequest {
        largest: 1e7,
        ..asked(50)
    };
    assert_eq!(
        plan(wide)
            .expect("planned")
            .ring()
            .expect("a ring")
            .modulus(),
        Modulus::Bits64
    );
    let narrow = plan(RingRequest {
        modulus: Some(Modulus::Bits32),
        ..wide
    });
    assert!(
        matches!(narrow, Err(PrivacyError::Wraps { bits: 32, .. })),
        "{narrow:?}"
    );
    let huge = plan(RingRequest {
        largest: 1e30,
        ..wide
    });
    assert!(
        matches!(huge, Err(PrivacyError::Wraps { bits: 64, .. })),
        "{huge:?}"
    );
}

/// Four times the noise takes two bits of the modulus where contributions take next to nothing of it.
#[test]
fn the_noise_of_an_uneven_budget_has_room_in_the_modulus() {
    let graph = complete(10);
    let headroom = |largest_factor: f64| {
        let ring = RingRequest {
            largest: 0.0,
            largest_factor,
            ..asked(50)
        };
        let plan = plan_of(&graph, ring).expect("planned");
        plan.ring().expect("a ring").headroom()
    };
    assert_eq!(headroom(1.0), headroom(4.0) + 2);
}

#[test]
fn what_means_nothing_is_refused() {
    let graph = complete(6);
    let plan = |change: &dyn Fn(&mut NoiseRequest<'_>, &mut RingRequest)| {
        let (mut request, mut ring) = (ring_request(&graph, 1, 5), asked(5));
        change(&mut request, &mut ring);
        request.ring = Some(ring);
        NoisePlan::new(&request)
    };
    assert!(plan(&|_, _| ()).is_ok());
    for bad in [f64::NAN, f64::INFINITY, -1.0] {
        assert!(plan(&|_, ring| ring.largest = bad).is_err(), "{bad}");
        assert!(plan(&|_, ring| ring.largest_factor = bad).is_err(), "{bad}");
        assert!(plan(&|_, ring| ring.largest_draw = bad).is_err(), "{bad}");
        assert!(plan(&|_, ring| ring.distance = bad).is_err(), "{bad}");
        assert!(plan(&|request, _| request.overhead = bad).is_err(), "{bad}");
        assert!(
            plan(&|request, _| request.noise_multiplier = bad).is_err(),
            "{bad}"
        );
    }
    assert!(plan(&|_, ring| ring.coordinates = 0).is_err());
    // More noise than there is a sampler for.
    assert!(plan(&|request, _| request.noise_multiplier = 1e40).is_err());
    let unasked = NoisePlan::new(&NoiseRequest {
        ring: None,
        ..ring_request(&graph, 1, 5)
    });
    assert_eq!(unasked, Err(PrivacyError::RingOfNothing));
}

#[test]
fn the_sampler_is_paid_for_in_epsilon() {
    let graph = complete(6);
    let plan = |distance| {
        let ring = RingRequest {
            distance,
            ..asked(5)
        };
        let plan = plan_of(&graph, ring).expect("planned");
        (plan.epsilon().expect("protected"), plan.views()[0].mu)
    };
    let delta = Delta::new(1e-6).expect("a probability");
    let (ideal, mu) = plan(0.0);
    let (paid, same) = plan(1e-8);
    assert_eq!(mu, same);
    assert!(paid > ideal);
    let one = NoisePlan::new(&ring_request(&graph, 1, 5)).expect("planned");
    assert_eq!(one.epsilon_of(mu, delta), gaussian::epsilon(mu, delta));
    // A sampler that is far off protects nobody.
    assert_eq!(plan(1e-5).0, f64::INFINITY);
}
