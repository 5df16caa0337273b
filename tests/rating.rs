//! One rating as the record, of ratings that are kept as numbers.

use undertone::assess::verification::{VerifyOptions, verify};
use undertone::engine::Silent;
use undertone::privacy::RatingRange;
use undertone::protocol::averaging::AveragingKind;
use undertone::run::run;

use crate::support::experiments::{CASES, experiment};

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
        narrower.request.rating = Some(RatingRange {
            moves: 0.1,
            ..range
        });
        let findings = narrower.check().expect("checked");
        assert!(findings.iter().any(|one| !one.agrees));
        let text = of.promise().sentence();
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
