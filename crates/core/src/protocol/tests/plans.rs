//! Plans that are refused, and what names a session.

use std::sync::Arc;

use super::{ROUNDS, of, parameters, power};
use crate::algorithm::{
    Algorithm, AlgorithmError, Covariance, Krylov, Momentum, PowerMethod, Program, PublicState,
    RakedCovariance,
};
use crate::linalg::{Block, NotFullRank};
use crate::noise::LaplaceShares;
use crate::privacy::ring::{Grid, Modulus};
use crate::privacy::{Adjacency, SensitivityRule, SensitivitySpec};
use crate::protocol::{RingParameters, SessionParameters, SessionPlan, SessionPlanError, Values};
use crate::vocabulary::ReleaseId;

/// An algorithm of which nothing but the program is asked.
#[derive(Debug)]
struct Declaring(Arc<Program>);

impl Algorithm for Declaring {
    fn program(&self) -> Program {
        (*self.0).clone()
    }

    fn advance(
        &self,
        state: &PublicState,
        _: &Arc<Block>,
        _: &[f64],
    ) -> Result<PublicState, NotFullRank> {
        Ok(state.clone())
    }

    fn estimate(&self, state: &PublicState) -> Arc<Block> {
        Arc::clone(&state.query)
    }
}

fn planned(parameters: SessionParameters) -> Result<SessionPlan, SessionPlanError> {
    let algorithm = Arc::new(Declaring(Arc::clone(&parameters.program)));
    SessionPlan::new(parameters, algorithm)
}

#[test]
fn another_program_than_that_of_the_algorithm_is_refused() {
    let refused = super::planned(SessionParameters {
        program: of(power(2, 3)),
        ..parameters()
    });
    let is_named = matches!(refused, Err(SessionPlanError::OtherProgram { .. }));
    assert!(is_named, "{refused:?}");
}

#[test]
fn noise_factors_and_momentum_are_checked() {
    let refused = |change: fn(&mut SessionParameters)| {
        let mut parameters = parameters();
        change(&mut parameters);
        planned(parameters)
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
        let refused = planned(parameters);
        assert!(
            matches!(refused, Err(SessionPlanError::Overspent { .. })),
            "{factors:?}"
        );
    }
    for momentum in [f64::NAN, -1.0, f64::INFINITY] {
        let refused = Momentum::new(4, 2, 2, momentum);
        let is_named = matches!(refused, Err(AlgorithmError::Momentum { .. }));
        assert!(is_named, "{momentum}");
    }
    let mut uneven = parameters();
    uneven.noise_factors = vec![0.8, 1.6];
    let plan = planned(uneven).expect("more noise than needed");
    // At a largest row norm of 0.5 and floor 1, Δ is 0.5.
    let scale = |plan: &SessionPlan, id| {
        plan.release(ReleaseId(id))
            .expect("planned")
            .terms(0.5)
            .scale
    };
    assert_eq!(scale(&plan, 2), 0.8);
    assert_eq!(plan.releases()[0].factor(), 0.8);
    let even = planned(parameters()).expect("valid");
    assert_eq!(scale(&even, 2), 0.5);
}

#[test]
fn the_session_name_depends_on_every_public_parameter() {
    // Names every field, so that a new one does not compile until it has a change below.
    let SessionParameters {
        peers: _,
        program: _,
        sensitivity: _,
        sigma_own: _,
        sigma_pairwise: _,
        scale_rounds: _,
        averaging_rounds: _,
        values: _,
        schedule: _,
        topology: _,
        start: _,
        noise_factors: _,
        sigma_coordinate: _,
        ring: _,
        laplace: _,
        wishart: _,
    } = parameters();
    let changes: [fn(&mut SessionParameters); 20] = [
        |p| {
            p.sensitivity =
                SensitivitySpec::new(Adjacency::Interaction, SensitivityRule::Exact, 1, None);
            p.laplace = Some(LaplaceShares::of_all(0.5, p.peers));
        },
        |p| p.program = of(PowerMethod::new(5, 2, 2)),
        |p| p.program = of(power(1, 2)),
        |p| p.program = of(Krylov::new(4, 2, 2, 2)),
        |p| p.program = of(Krylov::new(4, 2, 3, 2)),
        |p| p.start[31] ^= 1,
        |p| p.averaging_rounds -= 1,
        |p| {
            p.sensitivity =
                SensitivitySpec::new(Adjacency::Interaction, SensitivityRule::Exact, 2, None);
        },
        |p| p.peers = 4,
        |p| p.program = of(power(2, 3)),
        |p| p.sigma_own = 0.5,
        |p| p.sigma_pairwise = 0.5,
        |p| p.scale_rounds = 2,
        |p| p.topology[5] = 1,
        |p| p.start[5] = 1,
        |p| p.noise_factors = vec![1.0; 2],
        |p| p.program = of(Momentum::new(4, 2, 2, 1.0)),
        |p| p.program = of(Momentum::new(4, 2, 2, 2.0)),
        |p| p.schedule[7] ^= 1,
        |p| p.values = Values::F32,
    ];
    let reference = planned(parameters()).expect("valid").session();
    for change in changes {
        let mut parameters = parameters();
        change(&mut parameters);
        assert_ne!(planned(parameters).expect("valid").session(), reference);
    }
}

/// A plan of sums mod 2^32.
fn in_ring(
    change: fn(&mut SessionParameters, &mut RingParameters),
) -> Result<SessionPlan, SessionPlanError> {
    let mut ring = RingParameters {
        grid: Grid::new(10).expect("a grid"),
        modulus: Modulus::Bits32,
        clamp: 5000,
    };
    let mut parameters = parameters();
    parameters.sigma_own = 0.5;
    change(&mut parameters, &mut ring);
    parameters.ring = Some(ring);
    planned(parameters)
}

#[test]
fn integers_name_another_session_and_bad_ones_are_refused() {
    let plan = in_ring(|_, _| ()).expect("valid");
    assert_eq!(plan.values(), Values::Residues32);
    assert!(plan.ring_laws().is_some());
    let changes: [fn(&mut SessionParameters, &mut RingParameters); 3] = [
        |_, ring| ring.grid = Grid::new(11).expect("a grid"),
        |_, ring| ring.modulus = Modulus::Bits64,
        |_, ring| ring.clamp += 1,
    ];
    for change in changes {
        assert_ne!(in_ring(change).expect("valid").session(), plan.session());
    }
    let real = SessionParameters {
        sigma_own: 0.5,
        ..parameters()
    };
    assert_ne!(planned(real).expect("valid").session(), plan.session());
    let wide = in_ring(changes[1]).expect("valid");
    assert_eq!(wide.values(), Values::Residues64);
    assert_ne!(wide.ring_laws(), plan.ring_laws(), "masks of 64 bits");
    // Sums of reals do not travel as residues.
    for values in [Values::Residues32, Values::Residues64] {
        let real = SessionParameters {
            values,
            ..parameters()
        };
        assert!(matches!(planned(real), Err(SessionPlanError::Ring { .. })));
    }
    let refusals: [fn(&mut SessionParameters, &mut RingParameters); 7] = [
        |p, _| p.values = Values::F32,
        |p, _| p.values = Values::Residues32,
        |p, _| p.sigma_pairwise = 1.0,
        |p, _| p.sigma_own = 0.0,
        |_, ring| ring.clamp = 0,
        |_, ring| ring.clamp = -3,
        |_, ring| ring.clamp = (1 << 31) / 3 + 1,
    ];
    for change in refusals {
        assert!(matches!(
            in_ring(change),
            Err(SessionPlanError::Ring { .. })
        ));
    }
    // As many peers as the modulus has room for, and no fixed number.
    let many = in_ring(|p, ring| {
        p.peers = 1 << 22;
        ring.clamp = 511;
    });
    assert_eq!(many.expect("fits").values(), Values::Residues32);
    // 2^−1 of a sensitivity is 0.5 steps of this grid: less than half a step is not drawn.
    let coarse = in_ring(|p, ring| {
        p.sigma_own = 0.2;
        ring.grid = Grid::new(1).expect("a grid");
    });
    assert!(
        matches!(coarse, Err(SessionPlanError::Sampler(_))),
        "{coarse:?}"
    );
}

/// Margins for a floor of 1 weigh twice what they do for one of 20, and so does what one interaction moves: under the bound of 20 it would be half covered.
#[test]
fn margins_for_another_floor_than_that_of_the_rows_are_refused() {
    let plan = |floor: u32, of_rows: u32| {
        let rule = SensitivityRule::RootFloor;
        planned(SessionParameters {
            program: of(RakedCovariance::new(4, 2, floor)),
            sensitivity: SensitivitySpec::new(Adjacency::Interaction, rule, of_rows, None),
            ..parameters()
        })
    };
    let same = plan(20, 20).expect("valid");
    assert_eq!(same.releases()[0].shape(), (4 * 5 / 2 + 4, 1));
    for (floor, of_rows) in [(1, 20), (20, 1)] {
        let refused = plan(floor, of_rows).expect_err("another floor");
        assert!(refused.to_string().contains("degree floor"), "{refused}");
    }
}

#[test]
fn laplace_noise_has_bounds_of_its_own_and_shares_that_fit() {
    let of = |change: fn(&mut SessionParameters, &mut LaplaceShares)| {
        let mut shares = LaplaceShares::of_all(0.5, 3);
        let mut parameters = SessionParameters {
            sensitivity: SensitivitySpec::new(Adjacency::User, SensitivityRule::Exact, 1, None),
            sigma_own: 0.5,
            scale_rounds: 0,
            ..parameters()
        };
        change(&mut parameters, &mut shares);
        parameters.laplace = Some(shares);
        planned(parameters)
    };
    let plan = of(|_, _| ()).expect("valid");
    let release = &plan.releases()[0];
    assert!(release.bounds().is_empty(), "no bound of length is at hand");
    assert_eq!(release.all_bounds().absolute().len(), 1);
    // √(4·2) for a product of four items and two columns.
    assert!((release.terms(0.0).sensitivity - 8.0_f64.sqrt()).abs() < 1e-15);
    assert!((plan.sigma_of_sum(1.0) - 0.5 * 3.0_f64.sqrt()).abs() < 1e-15);
    let held = of(|_, shares| *shares = LaplaceShares::held(2, 3)).expect("valid");
    assert!((held.sigma_of_sum(1.0) - 0.5 * 2.0_f64.sqrt()).abs() < 1e-15);
    let named: [fn(&mut SessionParameters, &mut LaplaceShares); 3] = [
        |_, shares| shares.shape = 0.25,
        |_, shares| shares.holders = Some(2),
        |p, _| p.noise_factors = vec![2.0, 2.0 / 3.0],
    ];
    for change in named {
        assert_ne!(of(change).expect("valid").session(), plan.session());
    }
    // Releases cost 1/f each, and not 1/f².
    let spent = of(|p, _| p.noise_factors = vec![2.0, 0.6]);
    assert!(
        matches!(spent, Err(SessionPlanError::Overspent { .. })),
        "{spent:?}"
    );
    let refusals: [fn(&mut SessionParameters, &mut LaplaceShares); 4] = [
        |_, shares| shares.peers = 4,
        |_, shares| shares.holders = Some(0),
        |_, shares| shares.holders = Some(4),
        |p, _| p.sigma_pairwise = 1.0,
    ];
    for change in refusals {
        assert!(matches!(of(change), Err(SessionPlanError::Laplace { .. })));
    }
    for shape in [0.0, -1.0, 1.5, f64::NAN] {
        let found = match shape {
            0.0 => of(|_, shares| shares.shape = 0.0),
            -1.0 => of(|_, shares| shares.shape = -1.0),
            1.5 => of(|_, shares| shares.shape = 1.5),
            _ => of(|_, shares| shares.shape = f64::NAN),
        };
        assert!(matches!(found, Err(SessionPlanError::Sigma(_))), "{shape}");
    }
    let unproved = of(|p, _| {
        p.sensitivity = SensitivitySpec::new(Adjacency::Swap, SensitivityRule::Exact, 1, None);
    });
    assert!(matches!(unproved, Err(SessionPlanError::Sensitivity(_))));
}

fn covariance(dimension: usize) -> SessionParameters {
    SessionParameters {
        program: of(Covariance::new(dimension, 2)),
        ..parameters()
    }
}

#[test]
fn a_covariance_plan_has_its_own_shape_and_refuses_what_does_not_fit_it() {
    let plan = planned(covariance(100)).expect("valid");
    let only = &plan.releases()[0];
    assert_eq!((only.shape(), plan.most_values()), ((5050, 1), 5050));
    assert_eq!(
        plan.steps_of_release(ReleaseId(1)),
        ROUNDS,
        "no statistic to agree on"
    );
    let refused = |change: fn(&mut SessionParameters)| {
        let mut parameters = covariance(100);
        change(&mut parameters);
        planned(parameters).expect_err("refused")
    };
    let wide = refused(|p| p.program = of(Covariance::new(20_000, 2)));
    assert!(
        wide.to_string().contains("200010000 numbers at once"),
        "{wide}"
    );
    assert!(matches!(
        refused(|p| p.program = of(Covariance::new(u32::MAX as usize, 2))),
        SessionPlanError::TooWide { .. }
    ));
    // No bound is proved for this rule.
    let rule = SensitivityRule::RowNorm;
    let mut unproved = covariance(100);
    unproved.sensitivity = SensitivitySpec::new(Adjacency::Interaction, rule, 1, None);
    assert!(matches!(
        planned(unproved),
        Err(SessionPlanError::Sensitivity(_))
    ));
}
