//! The first component of 1,797 handwritten digits: what clipping is worth, against an independent central implementation.

use undertone::config::Config;
use undertone::engine::central::{self, SumNoise};
use undertone::engine::{Silent, lockstep};
use undertone::run::variance::Variance;
use undertone::scenario::{Experiment, Materials};
use undertone::vocabulary::Seed;

use crate::plain_pca::{config, sims};

fn digits(set: &[&str]) -> Config {
    config("clipping-digits.toml", set)
}

/// Captured variance of these runs, one per seed.
fn captured(materials: &Materials, set: &[&str], seeds: u64) -> Vec<f64> {
    let mut config = digits(set);
    let mut variance: Option<Variance> = None;
    let run = |seed| {
        config.seed = seed;
        let experiment = Experiment::resolve_from(config.clone(), materials);
        let experiment = experiment.unwrap_or_else(|error| panic!("{error}"));
        let variance =
            variance.get_or_insert_with(|| Variance::of(&experiment).expect("within reach"));
        let session = experiment.session(&Seed::from_u64(seed));
        let outcome = match experiment.config().engine.kind.reveals_only_sums() {
            true => central::run(&session, SumNoise::Curator, &mut Silent),
            false => lockstep::run(&session, &mut Silent),
        };
        let parts = variance.parts(outcome.expect("runs").basis());
        parts.last().expect("a component").captured
    };
    (0..seeds).map(run).collect()
}

fn mean_and_deviation(all: &[f64]) -> (f64, f64) {
    let n = all.len() as f64;
    let mean = all.iter().sum::<f64>() / n;
    let squares: f64 = all.iter().map(|x| (x - mean).powi(2)).sum();
    (mean, (squares / (n - 1.0)).sqrt())
}

/// ε = 1, T = 4, δ = 1e-6, the peers' runs over a tree against means of thirty runs of an independent implementation (NumPy, central). Allowed is
/// what two such means differ by with probability below 1e-3 (three and a half standard deviations of both, at least 3 %); the
/// seeds are fixed.
#[test]
fn digits_at_epsilon_1_are_what_an_independent_implementation_finds() {
    let materials = Materials::new(&sims());
    let mut found = Vec::new();
    for (set, expected, deviation) in [
        (&[][..], 0.667, 0.070),
        (
            &["algorithm.kind=clipped-power", "algorithm.clip=histogram"],
            0.888,
            0.046,
        ),
        (
            &["algorithm.kind=clipped-power", "algorithm.clip=geometric"],
            0.749,
            0.067,
        ),
        (
            &[
                "algorithm.kind=clipped-power",
                "algorithm.clip=sparse-vector",
                "engine.kind=central",
            ],
            0.819,
            0.096,
        ),
        (
            &[
                "algorithm.kind=isometric-covariance",
                "algorithm.iterations=1",
            ],
            0.949,
            0.02,
        ),
    ] {
        let all = captured(&materials, set, 20);
        let (mean, over_seeds) = mean_and_deviation(&all);
        eprintln!("digits, {set:?}: {mean:.3} over {over_seeds:.3} ({expected})");
        let allowed = 3.5 * deviation * (1.0_f64 / 20.0 + 1.0 / 30.0).sqrt();
        let allowed = allowed.max(0.03 * expected);
        assert!((mean - expected).abs() < allowed, "{set:?}: {mean}");
        found.push(mean);
    }
    assert!(
        found[1] > found[0] + 0.15,
        "clipping is worth it here: {found:?}"
    );
    assert!(found[4] > found[1], "one covariance is better: {found:?}");
}
