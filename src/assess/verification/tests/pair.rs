//! A pilot and what is chosen by it, verified together: healthy, and with noise that the two share.

use super::super::verify_pair_of_sessions;
use super::{Experiment, Silent, Verification, VerifyOptions, assert_fails, failed};
use crate::engine::Session;
use crate::engine::noise::Defect;
use crate::scenario::testing::part_of;

/// 16 peers: a pilot of a tenth of the budget, and one power step with the rest. Plans of one release each have the same σ's, so that an engine takes
/// the noise of one for that of the other.
fn pair() -> (Experiment, Experiment) {
    let small = [
        "peers.count=16",
        "topology.degree=4",
        "data.items=60",
        "averaging={scheme=\"tree\"}",
        "pilot.share=0.1",
        "seed=11",
    ];
    let of = |algorithm| {
        part_of("../tests/power.toml", &[&small[..], &[algorithm]].concat()).expect("resolves")
    };
    (
        of("algorithm={kind=\"pilot\",rank=1,iterations=1}"),
        of("algorithm={kind=\"power\",rank=4,iterations=1}"),
    )
}

fn verified(prepare: &dyn Fn(&Session, Session) -> Session) -> Verification {
    let (pilot, chosen) = pair();
    let options = VerifyOptions::default();
    verify_pair_of_sessions(&pilot, &chosen, options, prepare, &mut Silent).expect("runs")
}

#[test]
fn a_healthy_pair_passes_and_its_noise_is_held_against_each_other() {
    let table = verified(&|_, session| session);
    assert!(table.passed(), "{:?}", failed(&table));
    let named = |what: &str| {
        let found = table.checks.iter().filter(|one| one.name.contains(what));
        found.count()
    };
    assert!(named("pilot: ") > 8, "every check of the pilot");
    assert_eq!(named("streams of noise that the pilot"), 1);
    assert_eq!(named("correlation of the noise of the pilot"), 1);
    // The pilot is no utility, and says so.
    assert!(
        table
            .skipped
            .iter()
            .any(|one| one.starts_with("pilot: utility"))
    );
}

#[test]
fn noise_that_the_pilot_drew_before_is_found() {
    let table = verified(&|before, session| session.with_noise(before.planned_noise().clone()));
    assert_fails(
        &table,
        &[
            "streams of noise that the pilot",
            "correlation of the noise of the pilot",
        ],
    );
}

#[test]
fn a_defect_of_either_is_found_in_the_table_of_both() {
    let table = verified(&|_, session| session.with_defect(Defect::HalveOwnNoise));
    assert_fails(&table, &["published - local", "mean square"]);
    let pilots = failed(&table)
        .iter()
        .filter(|name| name.starts_with("pilot: "))
        .count();
    assert_eq!(pilots, 0, "the pilot is healthy");
}

/// Half the noise of the pilot alone.
#[test]
fn a_pilot_with_too_little_noise_fails_alone() {
    let (pilot, _) = pair();
    let prepare = |session: Session| session.with_defect(Defect::HalveOwnNoise);
    let table = super::verify_sessions(&pilot, VerifyOptions::default(), &prepare, &mut Silent);
    assert_fails(&table.expect("runs"), &["published - local", "mean square"]);
}
