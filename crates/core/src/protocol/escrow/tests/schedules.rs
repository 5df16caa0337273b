//! Thousands of schedules of [`adversary`](super::adversary): no try of an honest peer is read twice. And the same with one rule, one kind of
//! record or one number wrong, which some schedule shows each time.

use rayon::prelude::*;

use super::adversary::{Count, Kind, Mutant, Schedule};
use super::*;
use crate::vocabulary::{Label, Seed};

fn run(number: u64, mutant: Option<Mutant>) -> (usize, Count) {
    let rng = Seed::from_u64(1_820_000_000 + number).generator(Label::Scenario);
    Schedule::new(rng, mutant).run()
}

#[test]
fn no_schedule_reads_two_attempts_of_a_try() {
    let counts: Vec<Count> = (0..10_000_u64)
        .into_par_iter()
        .map(|number| {
            let (worst, count) = run(number, None);
            assert!(
                worst <= 1,
                "schedule {number}: a peer was read {worst} times"
            );
            count
        })
        .collect();
    let sum = |of: fn(&Count) -> u32| counts.iter().map(of).sum::<u32>();
    let fired = [
        sum(|c| c.by_key),
        sum(|c| c.by_shares),
        sum(|c| c.restarts),
        sum(|c| c.failed_writes),
        sum(|c| c.several_sealed),
    ];
    assert!(fired.iter().all(|&count| count > 500), "{fired:?}");
    // Every rule had something to refuse, but for the first, which follows from the others.
    for rule in [
        Rule::Certified,
        Rule::OneKey,
        Rule::LastSealed,
        Rule::LaterSeal,
        Rule::ReleasedBefore,
        Rule::StillThere,
    ] {
        let refused: u32 = counts.iter().map(|c| c.refused[rule as usize]).sum();
        assert!(refused > 100, "{rule:?}: {refused}");
    }
}

#[test]
fn every_rule_every_record_and_every_number_is_needed() {
    let without = [
        Rule::Certified,
        Rule::OneKey,
        Rule::LastSealed,
        Rule::LaterSeal,
        Rule::ReleasedBefore,
    ];
    let lost = [Kind::Sealed, Kind::Held, Kind::Opened, Kind::Released];
    let mutants = [Mutant::ThresholdOfColluders, Mutant::OneSignature]
        .into_iter()
        .chain(without.map(Mutant::Without))
        .chain(lost.map(Mutant::Lost));
    let noticed: Vec<(Mutant, Option<u64>)> = mutants
        .collect::<Vec<_>>()
        .into_par_iter()
        .map(|mutant| {
            (
                mutant,
                (0..500).find(|number| run(*number, Some(mutant)).0 > 1),
            )
        })
        .collect();
    let all = noticed.iter().all(|(_, first)| first.is_some());
    assert!(
        all,
        "the first schedule that shows each, of 500: {noticed:?}"
    );
}
