use super::*;
use crate::engine::lockstep;
use crate::run::References;
use crate::scenario::testing::sim;

/// Draws and runs that are compared.
const SAMPLE: u32 = 200;

/// A standard normal number exceeds this in absolute value with probability 5e-5.
const BOUND: f64 = 4.06;

/// A network of 24 peers that release the covariance of 30 items.
fn experiment(set: &[&str]) -> Experiment {
    let common = [
        "peers.count=24",
        "topology.degree=6",
        "data.items=30",
        "algorithm.kind=covariance",
        "algorithm.rank=2",
        "algorithm.iterations=1",
        "averaging={scheme=\"tree\"}",
        "privacy.epsilon=6",
    ];
    sim("../tests/power.toml", &[&common, set].concat()).expect("valid")
}

/// Relative errors of draws and of lockstep runs of this experiment, which have nothing in common but X⁰ and the rows; the draws with
/// σ times `factor`.
fn samples(experiment: &Experiment, factor: f64) -> (Vec<f64>, Vec<f64>) {
    let session = experiment.simulation().own_session();
    let exact = References::of(experiment).exact.expect("in reach").vectors;
    let filter = experiment.filter();
    let figure = |outcome: &Outcome| Some(filter.relative_error(outcome.basis(), &exact));
    let mut drawn = MethodSession::of_peers(&session).expect("a curator's σ");
    let sigma = factor * drawn.session.sigma_central();
    if factor != 1.0 {
        drawn.session = drawn.session.with_curator_sigma(sigma).expect("less noise");
    }
    let run = |number: u32| {
        let seed = session.seed().repetition(1000 + number);
        let session = session.clone().with_seed(seed).expect("another seed");
        figure(&lockstep::run(&session, &mut Silent).expect("runs")).expect("a figure")
    };
    let runs = (0..SAMPLE).map(run).collect();
    (drawn.figures(SAMPLE, &figure), runs)
}

/// How many standard errors the means are apart, and the logarithms of the standard deviations.
fn apart((drawn, run): &(Vec<f64>, Vec<f64>)) -> (f64, f64) {
    let figures = |sample: &[f64]| {
        let draws = Draws::of(sample);
        assert_eq!(draws.count, SAMPLE);
        (
            draws.mean.expect("many"),
            draws.standard_deviation.expect("many"),
        )
    };
    let ((a, s), (b, t)) = (figures(drawn), figures(run));
    let n = f64::from(SAMPLE);
    let means = (a - b) / ((s * s + t * t) / n).sqrt();
    // Var ln s is about 1/(2(n - 1)) for normal numbers; kurtosis of up to 6 is allowed for.
    let spreads = (s / t).ln() / (2.0 * 1.25 / (n - 1.0)).sqrt();
    (means, spreads)
}

/// The law of a draw is that of a run: with the right σ both statistics are within their bounds, with a false alarm of probability below 4e-4
/// over all. With σ 15 % too small the means are apart.
#[test]
fn draws_have_the_law_of_lockstep_runs() {
    let local = ["noise.scheme=local", "privacy.epsilon=40"];
    for set in [&[][..], &local] {
        let experiment = experiment(set);
        let (means, spreads) = apart(&samples(&experiment, 1.0));
        assert!(
            means.abs() < BOUND,
            "{set:?}: means {means} standard errors apart"
        );
        assert!(spreads.abs() < BOUND, "{set:?}: spreads {spreads} apart");
        let (means, _) = apart(&samples(&experiment, 0.85));
        assert!(means < -BOUND, "{set:?}: a wrong σ is not seen: {means}");
    }
}

/// With `local` noise each peer adds what a curator would: √s times as much on the sum. Laplace noise is drawn as shares.
#[test]
fn the_noise_is_that_of_the_method() {
    let sigma = |set: &[&str]| {
        let session = experiment(set).simulation().own_session();
        let drawn = MethodSession::of_peers(&session).expect("a curator's σ");
        (
            drawn.session.sigma_central() / session.sigma_central(),
            drawn.noise,
        )
    };
    let (pairwise, noise) = sigma(&[]);
    assert!(pairwise > 1.0 && pairwise < 1.05, "{pairwise}");
    assert_eq!(noise, SumNoise::Curator);
    let (local, _) = sigma(&["noise.scheme=local"]);
    assert!((local - 24.0_f64.sqrt()).abs() < 1e-9, "{local}");
    let (central, _) = sigma(&["engine.kind=central"]);
    assert_eq!(central, 1.0);
}

#[test]
fn mean_and_deviation_of_known_figures() {
    let draws = Draws::of(&[1.0, 2.0, 3.0, 6.0]);
    assert_eq!((draws.count, draws.mean), (4, Some(3.0)));
    assert_eq!(draws.standard_deviation, Some((14.0_f64 / 3.0).sqrt()));
    let none = Draws::of(&[1.0]);
    assert!(none.count == 0 && none.reason.is_some());
}

/// The number of draws is a function of sizes, and large releases have none.
#[test]
fn large_runs_have_fewer_draws_or_none() {
    let experiment = experiment(&[]);
    let report = crate::run::run(&experiment, &mut Silent).expect("runs");
    let draws = report.summary.utility.draws.clone().expect("noise");
    assert_eq!(
        (draws.of, draws.this_run.count),
        (Measure::RelativeError, DRAWS)
    );
    let session = experiment.simulation().own_session();
    let drawn = MethodSession::of_curator(&session);
    let fit = |experiment: &Experiment| count(&drawn, experiment, &report.summary);
    assert_eq!(fit(&experiment), Ok(DRAWS));
    let dear = self::experiment(&["algorithm.rank=30"]);
    let work = |experiment| drawn.work(experiment, &report.summary);
    assert!(work(&dear) > 2 * work(&experiment));
}
