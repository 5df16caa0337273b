//! Plans with Wishart noise: bounds of their own kind, terms that fit, and what is refused.

use std::sync::Arc;

use super::{of, parameters};
use crate::algorithm::{Algorithm, Covariance, IsometricCovariance, PowerMethod};
use crate::noise::WishartShares;
use crate::privacy::{Adjacency, PrivacyError, SensitivityRule, SensitivitySpec};
use crate::protocol::{SessionParameters, SessionPlan, SessionPlanError};

fn isometric() -> IsometricCovariance {
    IsometricCovariance::new(4, 2).expect("valid")
}

type Change = fn(&mut SessionParameters, &mut WishartShares);

fn plan_of(
    algorithm: impl Algorithm + 'static,
    change: Change,
) -> Result<SessionPlan, SessionPlanError> {
    let mut shares = WishartShares {
        dimension: 4,
        terms: 6,
        peers: 3,
        isometric: true,
        mean: None,
    };
    let mut parameters = SessionParameters {
        program: Arc::new(algorithm.program()),
        sensitivity: SensitivitySpec::new(
            Adjacency::ReplaceUser,
            SensitivityRule::UnitRow,
            1,
            None,
        ),
        sigma_own: 0.5,
        scale_rounds: 0,
        ..parameters()
    };
    change(&mut parameters, &mut shares);
    parameters.wishart = Some(shares);
    SessionPlan::new(parameters, Arc::new(algorithm))
}

#[test]
fn wishart_noise_has_bounds_of_its_own_and_terms_that_fit() {
    let plan = plan_of(isometric(), |_, _| ()).expect("valid");
    let release = &plan.releases()[0];
    assert!(release.bounds().is_empty() && release.all_bounds().absolute().is_empty());
    assert!(release.is_triangle());
    // In length it would be √2.
    assert_eq!(release.terms(0.0).sensitivity, 2.0);
    assert!((plan.sigma_of_sum(1.0) - 0.5 * 6.0_f64.sqrt()).abs() < 1e-15);
    let named: [Change; 4] = [
        |_, shares| shares.terms = 7,
        |p, _| p.sigma_own = 0.25,
        |p, _| p.noise_factors = vec![2.0],
        |p, _| {
            p.sensitivity =
                SensitivitySpec::new(Adjacency::User, SensitivityRule::UnitRow, 1, None);
        },
    ];
    for change in named {
        let other = plan_of(isometric(), change).expect("valid");
        assert_ne!(other.session(), plan.session());
    }
    let packed = Covariance::new(4, 2).expect("valid");
    plan_of(packed, |_, shares| shares.isometric = false).expect("valid");
    let spent = plan_of(isometric(), |p, _| p.noise_factors = vec![0.9]);
    assert!(matches!(spent, Err(SessionPlanError::Overspent { .. })));
}

#[test]
fn too_few_terms_and_terms_of_others_are_refused() {
    let refusals: [Change; 6] = [
        // m = n.
        |_, shares| shares.terms = 4,
        |_, shares| shares.peers = 4,
        |_, shares| shares.dimension = 5,
        |_, shares| shares.isometric = false,
        |_, shares| shares.mean = Some(1.0),
        |p, _| p.sigma_pairwise = 1.0,
    ];
    for change in refusals {
        let found = plan_of(isometric(), change);
        assert!(
            matches!(found, Err(SessionPlanError::Wishart { .. })),
            "{found:?}"
        );
    }
}

#[test]
fn what_is_no_triangle_of_rows_as_they_are_held_is_refused_by_name() {
    let power = plan_of(PowerMethod::new(4, 2, 2).expect("valid"), |_, _| ());
    let text = power.expect_err("products").to_string();
    assert!(text.contains("\"isometric-covariance\""), "{text}");
    let entry = plan_of(isometric(), |p, _| {
        p.sensitivity = SensitivitySpec::new(Adjacency::Entry, SensitivityRule::Exact, 1, None);
    });
    let unproved = matches!(
        entry,
        Err(SessionPlanError::Sensitivity(
            PrivacyError::UnprovedNuclear { .. }
        ))
    );
    assert!(unproved, "{entry:?}");
    // Rows of an algorithm's own, and a quantity beside the triangle.
    let mut program = Arc::unwrap_or_clone(of(IsometricCovariance::new(4, 2)));
    program.proved.as_held = false;
    program.isometric_triangles().expect_err("rows of its own");
    program.proved.as_held = true;
    assert_eq!(program.isometric_triangles(), Ok(true));
    // A sum of rows is a mean at the first place alone.
    let mut twice = program.clone();
    twice.prelude = Some(crate::algorithm::Prelude {
        slots: 9,
        raw_clip: 1.0,
        radius: 1.0,
        unit_box: false,
        share: 0.1,
    });
    let sum = crate::algorithm::ReleaseSpec::sum(1, crate::vocabulary::Quantity::RowSum, (4, 1), 2);
    twice.releases.insert(0, sum.clone());
    assert_eq!(twice.isometric_triangles(), Ok(true));
    twice.releases.push(sum);
    twice.isometric_triangles().expect_err("a second sum");
    let block = program.releases[0].blocks[0].clone();
    program.releases[0].blocks.push(block);
    program.isometric_triangles().expect_err("two blocks");
}
