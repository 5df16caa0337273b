//! How often right programs fail and wrong ones pass, with as many runs as are needed and no more.
//!
//! 2,000 repetitions of everything:
//!
//! ```sh
//! cargo test --release --lib -p undertone -- transcripts::tests::repeated --ignored --nocapture
//! ```

use super::programs::{Gossip, Wrong, normals, randomised_response, ring_with_chords};
use super::*;

/// A probability of 10⁻³ gives more than 7 of 2,000 with probability 1.1·10⁻³, and more than 2 of 50 with 2·10⁻⁵. Seeds are fixed.
const MOST_OF: [(u64, usize); 2] = [(50, 2), (2000, 7)];

/// Counts what goes wrong: a right program that fails, or a wrong one that passes.
fn count(what: &str, repetitions: u64, is_right: bool, fails: impl Fn(u64) -> bool) {
    let since = std::time::Instant::now();
    let errors = (0..repetitions)
        .filter(|&seed| fails(seed) == is_right)
        .count();
    let kind = if is_right { "false alarms" } else { "misses" };
    let each = since.elapsed().as_secs_f64() / repetitions as f64;
    println!(
        "{what}: {errors} {kind} in {repetitions} repetitions, {:.1} ms each",
        1e3 * each
    );
    let most = MOST_OF.iter().find(|(of, _)| *of == repetitions);
    assert!(
        errors <= most.expect("counted").1,
        "{what}: {errors} {kind}"
    );
}

fn has_failed(result: Result<Vec<Finding>, TranscriptError>) -> bool {
    match result {
        Ok(_) => false,
        Err(TranscriptError::Failed { .. }) => true,
        Err(other) => panic!("{other}"),
    }
}

fn law(repetitions: u64) {
    let edge = |gossip: &Gossip, seed: u64| {
        let edges: Vec<(u32, u32)> = gossip.graph.edge_list().collect();
        let (u, v) = edges[seed as usize / 2 % edges.len()];
        match seed % 2 {
            0 => Wrong::MissingTerm { at: u, of: v },
            _ => Wrong::MissingTerm { at: v, of: u },
        }
    };
    let settings = [(12, 6, (1.0, 2.0)), (9, 1, (3.0, 2.0))];
    for (peers, values, sigmas) in settings {
        let gossip = Gossip::new(ring_with_chords(peers), values, sigmas);
        let runs = runs_for(&gossip);
        println!("{peers} peers, {values} values, sigmas {sigmas:?}: {runs} runs");
        let fails = |seed: u64, wrong: Wrong| {
            let messages = gossip.messages(seed, runs, wrong);
            let (own, pairwise) = (gossip.own, gossip.pairwise);
            has_failed(assert_published_law(
                &messages,
                &gossip.contributions,
                &gossip.graph,
                own,
                pairwise,
            ))
        };
        count("law, right", repetitions, true, |seed| {
            fails(seed, Wrong::Nothing)
        });
        count("law, one term missing", repetitions, false, |seed| {
            fails(seed, edge(&gossip, seed))
        });
        for wrong in [
            Wrong::Reused,
            Wrong::OwnScaled { by: 0.8 },
            Wrong::OwnScaled { by: 1.2 },
            Wrong::PairwiseScaled { by: 0.8 },
            Wrong::PairwiseScaled { by: 1.2 },
        ] {
            count(&format!("law, {wrong:?}"), repetitions, false, |seed| {
                fails(seed, wrong)
            });
        }
    }
}

fn central(repetitions: u64) {
    for values in [1, 5] {
        let runs = runs_for_central_dp(values) as usize;
        println!("sums of {values} values: {runs} runs");
        let expected = vec![2.0; values];
        let fails = |noise: Vec<f64>| {
            let sums: Vec<f64> = noise.iter().map(|x| 2.0 + 0.5 * x).collect();
            has_failed(assert_central_dp(&sums, &expected, 0.5))
        };
        let drawn = |seed| normals(seed, runs * values);
        count("sums, right", repetitions, true, |seed| fails(drawn(seed)));
        for by in OFF {
            let scaled = |seed| drawn(seed).iter().map(|x| by * x).collect();
            count(
                &format!("sums, sigma times {by}"),
                repetitions,
                false,
                |seed| fails(scaled(seed)),
            );
        }
        count("sums, one value off by sigma", repetitions, false, |seed| {
            let mut noise = drawn(seed);
            noise.iter_mut().step_by(values).for_each(|x| *x += 1.0);
            fails(noise)
        });
        count("sums, reused noise", repetitions, false, |seed| {
            fails(normals(seed, values).repeat(runs))
        });
    }
}

fn epsilon(repetitions: u64) {
    for claimed in [0.5, 1.0, 3.0] {
        let epsilon = Epsilon::new(claimed).expect("an epsilon");
        let runs = runs_for_epsilon(epsilon, None).expect("runs") as usize;
        println!("epsilon {claimed}: {runs} runs");
        let spent = |seed: u64, spent: f64| {
            let right = spent.exp() / (1.0 + spent.exp());
            let [with, without] = [true, false]
                .map(|bit| randomised_response(2 * seed + u64::from(bit), runs, right, bit));
            has_failed(assert_epsilon(&with, &without, 1, epsilon, None))
        };
        count("epsilon, right", repetitions, true, |seed| {
            spent(seed, claimed)
        });
        let kept = claimed + claimed.max(1.0);
        count(
            "epsilon, the stated alternative",
            repetitions,
            false,
            |seed| spent(seed, kept),
        );
        // The record among nine values of noise.
        let values = 10;
        let noisy = |seed: u64, record: f64| {
            let mut all = normals(seed, runs * values);
            all.iter_mut()
                .skip(4)
                .step_by(values)
                .for_each(|x| *x += record);
            all
        };
        // Normals this far apart are told apart as well as is stated.
        let right = 1.0 / (1.0 + kept.exp());
        let apart = 2.0 * power::deviate(right);
        count("epsilon, one of ten values", repetitions, false, |seed| {
            let (with, without) = (noisy(2 * seed, apart), noisy(2 * seed + 1, 0.0));
            has_failed(assert_epsilon(&with, &without, values, epsilon, None))
        });
    }
}

#[test]
fn fifty_of_messages() {
    law(50);
}

#[test]
fn fifty_of_sums() {
    central(50);
}

#[test]
fn fifty_of_records() {
    epsilon(50);
}

#[test]
#[ignore = "2,000 repetitions"]
fn two_thousand_of_messages() {
    law(2000);
}

#[test]
#[ignore = "2,000 repetitions"]
fn two_thousand_of_sums() {
    central(2000);
}

#[test]
#[ignore = "2,000 repetitions"]
fn two_thousand_of_records() {
    epsilon(2000);
}
