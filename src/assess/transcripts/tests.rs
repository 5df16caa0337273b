//! Right programs pass and wrong ones fail, as often as is promised; and what is no transcript is refused.

mod hostile;
mod programs;
mod repeated;

use super::power::{runs_against_reuse, samples_for_variance};
use super::*;
use crate::assess::verification::statistics::chi_squared;
use crate::privacy::Epsilon;
use crate::topology::Graph;
use programs::{Gossip, Wrong, ring_with_chords};
use statrs::distribution::{ChiSquared, ContinuousCDF};

/// The findings of a failure.
fn findings(result: Result<Vec<Finding>, TranscriptError>) -> Vec<Finding> {
    match result {
        Err(TranscriptError::Failed { findings, .. }) => findings,
        other => panic!("{other:?}"),
    }
}

fn runs_for(gossip: &Gossip) -> usize {
    let runs = runs_for_published_law(&gossip.graph, gossip.own, gossip.pairwise, gossip.values);
    usize::try_from(runs.expect("a law")).expect("few")
}

#[test]
fn samples_for_a_variance_give_the_power_that_is_asked_for() {
    for ratio in [0.3, 0.64, 0.85, 0.97, 1.05, 1.44, 3.0] {
        for level in [1e-3 / 7.0, 1e-3 / 17.0 / 100.0, 1e-3 / 17.0 / 5000.0] {
            let samples = samples_for_variance(ratio, level).ceil();
            let law = ChiSquared::new(samples).expect("degrees");
            // What the test accepts is an interval of totals: its ends by bisection.
            let rejected = |total: f64| chi_squared(total, samples).1 < level;
            let (mut inside, mut outside) =
                (samples, if ratio < 1.0 { 0.0 } else { 9.0 * samples });
            for _ in 0..80 {
                let middle = f64::midpoint(inside, outside);
                *(if rejected(middle) {
                    &mut outside
                } else {
                    &mut inside
                }) = middle;
            }
            let end = inside / ratio;
            let miss = if ratio < 1.0 {
                law.sf(end)
            } else {
                law.cdf(end)
            };
            assert!(
                miss <= MISS && miss > MISS / 10.0,
                "{ratio} {level}: {samples} samples miss {miss}"
            );
        }
    }
}

#[test]
fn reused_noise_of_any_size_is_rejected() {
    for entries in [1.0, 2.0, 10.0, 300.0] {
        let (level, runs) = (1e-4, runs_against_reuse(entries, 1e-4) as f64);
        for k in 0..=400 {
            let sum = entries * 10.0_f64.powf(f64::from(k) / 100.0 - 2.0);
            let variance = chi_squared(runs * sum, runs * entries).1;
            let means = chi_squared(runs * sum, entries).1;
            assert!(variance.min(means) < level, "{entries} {runs} {sum}");
        }
    }
}

#[test]
fn no_more_tests_are_made_than_power_is_counted_for() {
    let gossip = Gossip::new(ring_with_chords(8), 3, (1.0, 2.0));
    let runs = runs_for(&gossip);
    let made = assert_published_law(
        &gossip.messages(1, runs, Wrong::Nothing),
        &gossip.contributions,
        &gossip.graph,
        gossip.own,
        gossip.pairwise,
    );
    assert_eq!(made.expect("right").len(), 17);
    let runs = runs_for_central_dp(3) as usize;
    let noise = programs::normals(2, runs * 3);
    assert_eq!(
        assert_central_dp(&noise, &[0.0; 3], 1.0)
            .expect("right")
            .len(),
        7
    );
}

#[test]
fn what_stands_out_is_named() {
    let gossip = Gossip::new(ring_with_chords(10), 4, (1.0, 1.5));
    let runs = 2 * runs_for(&gossip);
    let law = |wrong| {
        let messages = gossip.messages(3, runs, wrong);
        let (own, pairwise) = (gossip.own, gossip.pairwise);
        findings(assert_published_law(
            &messages,
            &gossip.contributions,
            &gossip.graph,
            own,
            pairwise,
        ))
    };
    let missing = law(Wrong::MissingTerm { at: 4, of: 5 });
    let edge = missing
        .iter()
        .find(|finding| finding.what.starts_with("edge 4 - 5: variance"));
    let edge = edge.expect("the edge");
    assert!(
        !edge.passed && edge.peers == [4, 5] && edge.found < 0.8,
        "{edge}"
    );
    let reused = law(Wrong::Reused);
    assert!(
        reused[0].what.contains("correlation of their noise") && reused[0].runs.len() == 2,
        "{}",
        reused[0]
    );
    let quiet = law(Wrong::OwnScaled { by: 0.8 });
    let sum = quiet.iter().find(|finding| {
        finding
            .what
            .starts_with("sum over peers, all values: variance")
    });
    let sum = sum.expect("the sum");
    assert!(!sum.passed && (sum.found - 0.64).abs() < 0.1, "{sum}");
    // One peer alone that has no own noise at all.
    let silent = law(Wrong::SilentPeer { at: 7 });
    let first = &silent[0];
    assert!(
        first.peers == [7] && first.what.contains("own noise"),
        "{first}"
    );
    // A contribution that is another than the one stated.
    let moved = law(Wrong::Moved { at: 2, value: 3 });
    let mut of_peers = moved.iter().filter(|finding| !finding.peers.is_empty());
    let first = of_peers.next().expect("a peer");
    assert!(
        !first.passed && first.peers == [2] && first.values == [3],
        "{first}"
    );
    let same = law(Wrong::SameInAllValues);
    let pair = same.iter().find(|finding| finding.values.len() == 2);
    let pair = pair.expect("two values");
    assert!(!pair.passed && pair.found > 0.999, "{pair}");
    // Pairwise noise that both ends add, so that it does not cancel.
    let added = law(Wrong::Added);
    assert!(
        added
            .iter()
            .any(|f| f.what.starts_with("sum over peers") && f.found > 2.0)
    );
}

#[test]
fn an_error_says_what_was_expected_and_found() {
    let gossip = Gossip::new(ring_with_chords(10), 4, (1.0, 1.5));
    let runs = runs_for(&gossip);
    let messages = gossip.messages(3, runs, Wrong::SilentPeer { at: 7 });
    let error = assert_published_law(&messages, &gossip.contributions, &gossip.graph, 1.0, 1.5);
    let text = error.expect_err("wrong").to_string();
    assert!(
        text.starts_with("not what is claimed: ")
            && text.contains("peer 7: variance of its own noise"),
        "{text}"
    );
    assert!(text.contains("expected 1.0000, found "), "{text}");
}

#[test]
fn own_noise_alone_needs_no_edges() {
    let graph = Graph::from_edges(6, &[]).expect("a graph");
    let gossip = Gossip::new(graph, 5, (2.0, 0.0));
    let runs = runs_for(&gossip);
    let law = |wrong| {
        let messages = gossip.messages(5, runs, wrong);
        assert_published_law(&messages, &gossip.contributions, &gossip.graph, 2.0, 0.0)
    };
    law(Wrong::Nothing).expect("right");
    findings(law(Wrong::OwnScaled { by: 1.2 }));
}

#[test]
fn transcripts_of_many_values_that_share_noise_are_told_apart() {
    // A record moves one value, and noise that hides it there stands in another value too: their difference has none.
    let values = 6;
    let epsilon = Epsilon::new(1.0).expect("an epsilon");
    let runs = runs_for_epsilon(epsilon, None).expect("runs") as usize;
    let world = |seed, record: f64| {
        let mut all = programs::normals(seed, runs * values);
        for run in all.chunks_exact_mut(values) {
            run[3] = record - run[2] + 1e-3 * run[3];
        }
        all
    };
    let refuted = assert_epsilon(&world(1, 1.0), &world(2, 0.0), values, epsilon, None);
    let found = findings(refuted);
    assert!(
        found[0].found > 1.0 && found[0].what.contains("weighted"),
        "{}",
        found[0]
    );
    assert_epsilon(&world(1, 1.0), &world(2, 1.0), values, epsilon, None).expect("equal laws");
}
