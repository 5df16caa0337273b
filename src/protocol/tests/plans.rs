//! Plans that are refused, and what names a session.

use super::{ROUNDS, parameters};
use crate::algorithm::AlgorithmKind;
use crate::privacy::{Adjacency, Sensitivity, SensitivityRule};
use crate::protocol::{Plan, PlanError, PlanParameters};
use crate::vocabulary::{Iteration, Quantity};

#[test]
fn noise_factors_and_momentum_are_checked() {
    let refused = |change: fn(&mut PlanParameters)| {
        let mut parameters = parameters();
        change(&mut parameters);
        Plan::new(parameters)
            .expect_err("must be refused")
            .to_string()
    };
    assert!(refused(|p| p.noise_factors = vec![1.0]).contains("1 noise factors for 2"));
    for factors in [
        [1.0, 0.99],
        [f64::NAN, 2.0],
        [0.0, 2.0],
        [-2.0, 2.0],
        [f64::INFINITY, 1.0],
    ] {
        let mut parameters = parameters();
        parameters.noise_factors = factors.to_vec();
        let refused = Plan::new(parameters);
        assert!(
            matches!(refused, Err(PlanError::Overspent { .. })),
            "{factors:?}"
        );
    }
    for momentum in [f64::NAN, -1.0, f64::INFINITY] {
        let mut parameters = parameters();
        parameters.momentum = momentum;
        let refused = Plan::new(parameters);
        assert!(
            matches!(refused, Err(PlanError::Momentum { .. })),
            "{momentum}"
        );
    }
    let mut uneven = parameters();
    uneven.noise_factors = vec![0.8, 1.6];
    let plan = Plan::new(uneven).expect("more noise than needed");
    assert_eq!(plan.noise_scale(Iteration(2), 0.5), 0.8);
    assert_eq!(plan.noise_factor(Iteration(1)), 0.8);
    let even = Plan::new(parameters()).expect("valid");
    assert_eq!(even.noise_scale(Iteration(2), 0.5), 0.5);
}

#[test]
fn the_session_name_depends_on_every_public_parameter() {
    // Names every field, so that a new one does not compile until it has a change below.
    let PlanParameters {
        peers: _,
        dimension: _,
        rank: _,
        block: _,
        iterations: _,
        algorithm: _,
        sensitivity: _,
        sigma_own: _,
        sigma_pairwise: _,
        scale_rounds: _,
        averaging_rounds: _,
        program: _,
        topology: _,
        start: _,
        noise_factors: _,
        momentum: _,
    } = parameters();
    let changes: [fn(&mut PlanParameters); 17] = [
        |p| p.dimension = 5,
        |p| {
            p.rank = 1;
            p.sensitivity =
                Sensitivity::new(Adjacency::Interaction, SensitivityRule::Exact, 1, None, 1)
                    .expect("proved");
        },
        |p| p.block = 3,
        |p| p.algorithm = AlgorithmKind::Krylov,
        |p| p.start[31] ^= 1,
        |p| p.averaging_rounds -= 1,
        |p| {
            p.sensitivity =
                Sensitivity::new(Adjacency::Interaction, SensitivityRule::Exact, 2, None, 2)
                    .expect("proved");
        },
        |p| p.peers = 4,
        |p| p.iterations = 3,
        |p| p.sigma_own = 0.5,
        |p| p.sigma_pairwise = 0.5,
        |p| p.scale_rounds = 2,
        |p| p.topology[5] = 1,
        |p| p.start[5] = 1,
        |p| p.noise_factors = vec![1.0; 2],
        |p| p.momentum = 1.0,
        |p| p.program[7] ^= 1,
    ];
    let reference = Plan::new(parameters()).expect("valid").session();
    for change in changes {
        let mut parameters = parameters();
        change(&mut parameters);
        assert_ne!(Plan::new(parameters).expect("valid").session(), reference);
    }
}

fn covariance(dimension: usize) -> PlanParameters {
    PlanParameters {
        dimension,
        algorithm: AlgorithmKind::Covariance,
        iterations: 1,
        sensitivity: Sensitivity::of_release(
            Quantity::PackedTriangle,
            Adjacency::Interaction,
            SensitivityRule::Exact,
            1,
            None,
            2,
        )
        .expect("proved"),
        ..parameters()
    }
}

#[test]
fn a_covariance_plan_has_its_own_shape_and_refuses_what_does_not_fit_it() {
    let plan = Plan::new(covariance(100)).expect("valid");
    assert_eq!((plan.shape(), plan.values()), ((5050, 1), 5050));
    assert_eq!(
        plan.steps_per_iteration(),
        ROUNDS,
        "no statistic to agree on"
    );
    let refused = |change: fn(&mut PlanParameters)| {
        let mut parameters = covariance(100);
        change(&mut parameters);
        Plan::new(parameters).expect_err("refused")
    };
    assert!(matches!(
        refused(|p| p.iterations = 2),
        PlanError::Iterations {
            needed: 1,
            found: 2,
            ..
        }
    ));
    let wide = refused(|p| p.dimension = 20_000);
    assert!(
        wide.to_string().contains("200010000 numbers at once"),
        "{wide}"
    );
    assert!(matches!(
        refused(|p| p.dimension = u32::MAX as usize),
        PlanError::TooWide { .. }
    ));
    // The bound of a product, and that of a product of other columns.
    let of_product = refused(|p| p.sensitivity = parameters().sensitivity);
    assert!(
        matches!(of_product, PlanError::Bound { .. }),
        "{of_product}"
    );
    let mut wider = parameters();
    wider.rank = 3;
    wider.block = 3;
    assert!(matches!(Plan::new(wider), Err(PlanError::Bound { .. })));
    let mut power = parameters();
    power.sensitivity = covariance(100).sensitivity;
    assert!(matches!(Plan::new(power), Err(PlanError::Bound { .. })));
}
