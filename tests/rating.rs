//! One rating as the record, of ratings that are kept as numbers.

use undertone::assess::verification::{VerifyOptions, verify};
use undertone::engine::Silent;
use undertone::privacy::{Adjacency, PrivacyError, RatingRange, SensitivityRule, SensitivitySpec};
use undertone::protocol::averaging::AveragingKind;
use undertone::run::run;
use undertone::vocabulary::Quantity;

use crate::support::experiments::{CASES, config, experiment, resolve};

const RATING: [&str; 9] = [
    "data.values=ratings",
    "data.degree_floor=1",
    "data.ranges=[0.5, 5]",
    "data.scale=[-0.5, 0.5]",
    "data.row_clip=4",
    "privacy.sensitivity=unit-row",
    "privacy.adjacency=rating",
    "algorithm.kind=isometric-covariance",
    "algorithm.iterations=1",
];

/// Forty items between −1/2 and 1/2 in units of 4: one rating moves by 1/4 and is at most 1/8. Δ² is the largest change of one entry of the
/// longest row there is, t²(2 − t²/2) at t = 1/4.
#[test]
fn one_rating_costs_less_than_a_user_and_its_receipt_holds() {
    for algorithm in ["isometric-covariance", "power", "covariance"] {
        let kind = format!("algorithm.kind={algorithm}");
        let set = [&RATING[..], &[kind.as_str()]].concat();
        let of = experiment(CASES[3], AveragingKind::Tree, &set);
        let range = RatingRange {
            moves: 0.25,
            largest: 0.125,
        };
        assert_eq!(of.sensitivity().rating(), Some(range));
        let square = match algorithm {
            "covariance" => 0.0625 * (1.0 - 0.0625 / 4.0),
            _ => 0.0625 * (2.0 - 0.0625 / 2.0),
        };
        let bound = of.sensitivity().bound(f64::NAN);
        assert!(
            (bound * bound - square).abs() < 1e-15,
            "{algorithm}: {bound}"
        );
        let report = run(&of, &mut Silent).expect("runs");
        let findings = report.receipt.check().expect("checked");
        let wrong: Vec<_> = findings.iter().filter(|one| !one.agrees).collect();
        assert!(wrong.is_empty(), "{algorithm}: {wrong:?}");
        // A receipt that states a narrower range is found out.
        let mut narrower = report.receipt.clone();
        narrower.promise.bounds = narrower.promise.bounds.with_rating(Some(RatingRange {
            moves: 0.1,
            ..range
        }));
        let findings = narrower.check().expect("checked");
        assert!(findings.iter().any(|one| !one.agrees));
        let text = of.statement().sentence();
        assert!(text.contains("one rating of one user"), "{text}");
    }
}

#[test]
fn one_rating_verifies_on_three_topologies() {
    for case in [CASES[0], CASES[3], CASES[5]] {
        let of = experiment(case, AveragingKind::Tree, &RATING);
        let options = VerifyOptions {
            runs: 10,
            significance: 1e-3,
        };
        let table = verify(&of, options, &mut Silent).expect("runs");
        let failures: Vec<_> = table.failures().collect();
        assert!(table.passed(), "{}: {failures:?}", case.name);
    }
}

/// What one rating moves is squared on the way to a bound, and a bound of 0 would be kept by no noise.
#[test]
fn a_rating_that_is_nothing_beside_the_longest_row_is_refused() {
    for set in [
        ["data.scale=[-1, 1]", "data.row_clip=2e162"],
        ["data.scale=[-1, 1]", "data.row_clip=1e308"],
        ["data.scale=[0, 1e-320]", "data.row_clip=4"],
        ["data.scale=[0, 1e-160]", "data.row_clip=4"],
    ] {
        for kind in ["isometric-covariance", "power", "covariance"] {
            let kind = format!("algorithm.kind={kind}");
            let set = [&RATING[..], &[kind.as_str()], &set].concat();
            let refused = resolve(config(CASES[3], AveragingKind::Tree, &set));
            let text = refused.expect_err("no bound").to_string();
            assert!(text.contains("row_clip is so far"), "{set:?}: {text}");
        }
    }
}

#[test]
fn bounds_that_noise_cannot_be_scaled_by_are_refused() {
    for moves in [5e-324, 1e-310, 1e-163] {
        let range = RatingRange {
            moves,
            largest: moves,
        };
        let spec = SensitivitySpec::new(Adjacency::Rating, SensitivityRule::UnitRow, 1, None);
        let refused = spec
            .with_rating(Some(range))
            .of(Quantity::IsometricTriangle, 1);
        let refused = refused.expect_err("no bound");
        assert!(matches!(refused, PrivacyError::Bound { .. }), "{refused}");
        assert!(refused.to_string().contains("between 1e-150"), "{refused}");
    }
}
