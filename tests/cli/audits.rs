//! `undertone audit`.

use serde_json::Value;

use crate::support::command::undertone;
use crate::support::scratch::Scratch;

#[test]
fn the_audit_of_the_repository_reaches_four_fifths_of_the_certificate() {
    let shown = undertone(&["audit", "sims/audit.toml", "--json"]);
    assert_eq!(shown.code, Some(0), "{}", shown.stderr);
    let audit: Value = serde_json::from_str(&shown.stdout).expect("one document");
    let number = |key: &str| audit[key].as_f64().expect("a number");
    assert!(
        number("empirical_mu") >= 0.8 * number("certified_mu"),
        "{audit}"
    );
    assert!(number("empirical_mu") <= number("certified_mu"), "{audit}");
    assert_eq!(audit["passed"], true);
}

#[test]
fn victim_and_coalition_can_be_chosen() {
    let coalition = [
        "audit",
        "sims/audit.toml",
        "--victim",
        "3",
        "--coalition",
        "5,1",
        "--trials",
        "300",
    ];
    let shown = undertone(&coalition);
    assert_eq!(shown.code, Some(0), "{}", shown.stderr);
    assert!(
        shown
            .stdout
            .contains("peer 3, seen by a coalition of 2 (1, 5)"),
        "{}",
        shown.stdout
    );
}

#[test]
fn what_cannot_be_audited_is_refused_with_a_way_out() {
    let scratch = Scratch::new();
    for (arguments, needle) in [
        ("--set noise.scheme=none", "nothing to audit"),
        ("--engine central", "--engine lockstep"),
        ("--engine analytic", "--engine lockstep"),
        (
            "--set privacy.adjacency=matrix",
            "adjacencies interaction and user",
        ),
        (
            "--victim 99",
            "no peer is named 99; the 8 peers are numbered from 0: 0, 1, 2, 3, ..., 7",
        ),
        (
            "--victim 1 --coalition 1",
            "the victim 1 is in the coalition",
        ),
        ("--trials 5", "100"),
        ("--significance 0", "between 1e-12 and 0.5"),
        ("--significance 1e-300", "between 1e-12 and 0.5"),
    ] {
        let shown = scratch.undertone(&format!("audit sims/sim.toml {arguments}"));
        assert_eq!(shown.code, Some(2), "{arguments}: {}", shown.stdout);
        assert!(
            shown.stderr.contains(needle),
            "{arguments}: {}",
            shown.stderr
        );
    }
}
