//! What a private mean spends, and that nothing else is spent.

use undertone::algorithm::mean_share;
use undertone::config::MeanShare;
use undertone::privacy::{Budget, Calibration, calibrate};
use undertone::scenario::Experiment;
use undertone::vocabulary::Seed;

use super::{PRIVATE_MEAN, experiment, run, sims};

/// The least f at which the spike is no larger than the noise, from its definition by bisection.
fn by_bisection(columns: f64, slots: f64, raw_clip: f64, radius: f64, mu: f64) -> f64 {
    let (mut low, mut high) = (0.0_f64, 1.0_f64);
    for _ in 0..200 {
        let f = f64::midpoint(low, high);
        let spike = raw_clip * raw_clip * columns / (f * mu * mu * slots);
        let noise = 2.0_f64.sqrt() * radius * radius * columns.sqrt() / (mu * (1.0 - f).sqrt());
        if spike > noise { low = f } else { high = f }
    }
    high
}

/// Golden shares: breast cancer at ε = 0.5 and 1, digits at 0.2 and 1 (δ = 1e-5).
#[test]
fn the_automatic_share_is_the_least_one_without_a_spike() {
    let mu = |epsilon| {
        let budget = Budget::new(epsilon, 1e-5).expect("valid");
        calibrate(Calibration::Analytic, budget, 1)
            .expect("valid")
            .z()
            .recip()
    };
    for (columns, slots, raw_clip, radius, epsilon, golden) in [
        (30, 569, 2.8, 0.8, 0.5, 0.4391),
        (30, 569, 2.8, 0.8, 1.0, 0.2664),
        (64, 1797, 4.5, 3.0, 0.2, 0.1090),
        (64, 1797, 4.5, 3.0, 1.0, 0.0261),
    ] {
        let share = mean_share(
            (columns, slots),
            (raw_clip, radius),
            (1.0, 1.0),
            mu(epsilon),
        );
        assert!((share - golden).abs() < 5e-5, "{share} {golden}");
        let exact = by_bisection(columns as f64, slots as f64, raw_clip, radius, mu(epsilon));
        assert!((share / exact - 1.0).abs() < 1e-9, "{share} {exact}");
    }
    let auto = experiment(
        "pca-digits.toml",
        &["data.centre=private", "data.raw_clip=4.5"],
    );
    let share = auto.centring().expect("private").share;
    assert!((share - 0.0261).abs() < 5e-5, "{share}");
    // What is written to be run again has the number, and runs to the same bits.
    let written = auto.portable_config();
    let number = MeanShare::Share(share);
    assert_eq!(written.data.mean_share(), Some(number));
    let text = undertone::config::resolved(&written);
    let read = undertone::config::Config::read(&text).expect("what was written reads back");
    let again = Experiment::resolve(read, &sims()).expect("valid");
    assert_eq!(again.centring(), auto.centring());
    assert_eq!(run(&again).basis(), run(&auto).basis());
}

/// Σ Δ_l²/σ_l² over all releases, with the curator's standard deviations, is 1/z² per iteration asked for: the mean spends the
/// share it is given, and all together as much as the run without a mean.
#[test]
fn the_mean_and_the_rest_spend_exactly_the_budget() {
    for (share, more) in [
        (0.1, &[][..]),
        (0.44, &["algorithm.kind=power", "algorithm.iterations=3"]),
        (
            0.2,
            &[
                "algorithm.kind=krylov",
                "algorithm.iterations=2",
                "privacy.budget=[3, 1]",
            ],
        ),
        (0.1, &["privacy.adjacency=replace-user"]),
    ] {
        let of_share = format!("data.mean_share={share}");
        let set = [&PRIVATE_MEAN[..2], &[of_share.as_str()], more].concat();
        let experiment = experiment("pca-digits.toml", &set);
        let session = experiment.session(&Seed::from_u64(1));
        let iterations = f64::from(experiment.config().algorithm.table().iterations());
        let mu = iterations.sqrt() / experiment.calibrated().z();
        let parts: Vec<f64> = session
            .plan()
            .releases()
            .iter()
            .map(|release| {
                let delta = release.bounds()[0].bound(0.5);
                let sigma = experiment.sigma_central() * release.terms(0.5).scale;
                (delta / sigma).powi(2)
            })
            .collect();
        assert_eq!(parts.len(), iterations as usize + 1);
        let all: f64 = parts.iter().sum();
        assert!((all / (mu * mu) - 1.0).abs() < 1e-12, "{all} {}", mu * mu);
        assert!((parts[0] / all - share).abs() < 1e-12, "{parts:?}");
        // What accounts and receipts add up is the same.
        assert!((experiment.even_iterations() / iterations - 1.0).abs() < 1e-12);
        let of_sum = session.plan().releases()[0].bounds()[0].bound(0.5);
        let replaced = more.contains(&"privacy.adjacency=replace-user");
        let expected = if replaced { 2.0_f64.sqrt() } else { 1.0 };
        assert!((of_sum - expected).abs() < 1e-15, "{of_sum}");
        let epsilon = experiment.noise().epsilon().expect("protected");
        assert!(epsilon <= 1.0 + 1e-9, "{epsilon}");
    }
}
