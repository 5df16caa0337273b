//! What an edge costs, by brute force and by an attacker who knows everything else.

use nalgebra::{DMatrix, DVector};
use undertone::engine::{Outcome, Session, Silent, lockstep};
use undertone::linalg::Block;
use undertone::privacy::{AdversaryView, Delta, Epsilon, gaussian};
use undertone::scenario::Experiment;
use undertone::vocabulary::{ReleaseId, Seed};

use super::karate;

fn asked(experiment: &Experiment) -> f64 {
    let privacy = &experiment.config().privacy;
    let epsilon = Epsilon::new(privacy.epsilon).expect("valid");
    gaussian::mu(epsilon, Delta::new(privacy.delta()).expect("valid"))
}

/// μ² of every pair of vertices over a whole run, from the queries as they were and the noise as it is planned: own coordinates of both ends
/// by themselves, quotients by the dense inverse of the honest covariance.
fn spent(
    experiment: &Experiment,
    session: &Session,
    outcome: &Outcome,
    colluder: Option<usize>,
) -> f64 {
    let n = session.peers();
    let honest: Vec<usize> = (0..n).filter(|v| Some(*v) != colluder).collect();
    let (own, pairwise) = (
        experiment.noise().sigma_own().powi(2),
        experiment.noise().sigma_pairwise().powi(2),
    );
    let graph = session.noise_graph();
    let covariance = DMatrix::from_fn(honest.len(), honest.len(), |i, j| {
        let (u, v) = (honest[i] as u32, honest[j] as u32);
        let partners = honest.iter().filter(|w| graph.has_edge(u, **w as u32));
        match () {
            () if u == v => own + pairwise * partners.count() as f64,
            () if graph.has_edge(u, v) => -pairwise,
            () => 0.0,
        }
    });
    let inverse = covariance.try_inverse().expect("own noise everywhere");
    let z = experiment.sigma_central();
    let mut worst = 0.0_f64;
    for i in 0..honest.len() {
        for j in 0..i {
            let mut cost = 0.0;
            for record in &outcome.records {
                let query: &Block = &record.query;
                let (s, t) = (query.row(honest[i]), query.row(honest[j]));
                let scale = record.sensitivity * experiment.noise_factor(record.release);
                if experiment.is_own(record.release) {
                    let squares: f64 = s.iter().chain(t).map(|x| x * x).sum();
                    cost += squares / (scale * z).powi(2);
                } else {
                    let mut change = DVector::zeros(honest.len());
                    (change[i], change[j]) = (s[0] * t[0], s[0] * t[0]);
                    cost += change.dot(&(&inverse * &change)) / (scale * scale);
                }
            }
            worst = worst.max(cost);
        }
    }
    worst
}

/// A block spends all of the budget on the pair of the longest rows of one step, which is another pair in every step; in one step it is spent
/// to the last digit. Deflation spends no more than was asked for, against any one colluder.
#[test]
fn no_edge_costs_more_than_was_asked_for_and_one_costs_it_all() {
    let run = |set: &[&str]| {
        let experiment = karate(set);
        let session = experiment.session(&Seed::from_u64(3));
        let outcome = lockstep::run(&session, &mut Silent).expect("runs");
        (experiment, session, outcome)
    };
    for rank in ["algorithm.rank=1", "algorithm.rank=4"] {
        let edge = "privacy.adjacency=edge";
        let (experiment, session, outcome) = run(&[rank, edge, "algorithm.iterations=1"]);
        let budget = asked(&experiment).powi(2);
        let once = spent(&experiment, &session, &outcome, None);
        assert!((once / budget - 1.0).abs() < 1e-9, "{once} {budget}");
        let (experiment, session, outcome) = run(&[rank, edge, "algorithm.iterations=5"]);
        let five = spent(&experiment, &session, &outcome, None);
        assert!(
            five <= budget * (1.0 + 1e-9) && five > 0.2 * budget,
            "{five}"
        );
        // Entries were charged less: what is enough for them is not for edges.
        let (experiment, session, outcome) = run(&[rank, "algorithm.iterations=1"]);
        let entry = spent(&experiment, &session, &outcome, None);
        assert!(entry > 1.2 * budget, "{entry} {budget}");
    }
    let deflation = [
        "algorithm.kind=deflation",
        "algorithm.rank=2",
        "algorithm.iterations=2",
        "algorithm.eigenvalue_share=0.3",
        "privacy.adjacency=edge",
    ];
    let (experiment, session, outcome) = run(&deflation);
    let budget = asked(&experiment).powi(2);
    for colluder in [None, Some(0), Some(33)] {
        let found = spent(&experiment, &session, &outcome, colluder);
        assert!(
            found <= budget * (1.0 + 1e-9),
            "{colluder:?}: {found} {budget}"
        );
    }
    // All releases together are what was asked for, and no view says that an outsider learns less than own coordinates tell it.
    let z = experiment.sigma_central();
    let releases = outcome.records.iter();
    let planned: f64 = releases
        .map(|one| (experiment.noise_factor(one.release) * z).powi(-2))
        .sum();
    assert!((planned / budget - 1.0).abs() < 1e-9, "{planned} {budget}");
    for view in experiment.noise().views() {
        assert!(view.mu >= budget.sqrt() * (1.0 - 1e-9), "{view:?}");
    }
    assert_eq!(experiment.statement().seen, AdversaryView::Everything);
    assert!(
        experiment
            .statement()
            .sentence()
            .contains("one edge of the graph")
    );
}

/// An attacker who knows all edges but one reads the log-likelihood ratio of the two graphs off the first release. If the noise is what was
/// planned it is N(μ²/2, μ²) where the edge is there: over 600 runs its mean and its variance are looked at, each wrong by chance with
/// probability 1e-5; noise that is a tenth too small moves the variance by five times that.
#[test]
fn an_attacker_s_likelihood_ratio_has_the_law_that_the_promise_allows() {
    let experiment = karate(&["algorithm.iterations=1", "privacy.adjacency=edge"]);
    let mu = asked(&experiment);
    let scale = |session: &Session| {
        let planned = &session.plan().releases()[0];
        let statistic = planned.statistic().of(session.start());
        planned.terms(statistic).scale * experiment.sigma_central()
    };
    let mut ratios = Vec::new();
    for seed in 0..600 {
        let session = experiment.session(&Seed::from_u64(seed));
        let x = session.start();
        let mut order: Vec<usize> = (0..session.peers()).collect();
        order.sort_by(|a, b| x.row(*b)[0].abs().total_cmp(&x.row(*a)[0].abs()));
        let (s, t) = (order[0], order[1]);
        let outcome = lockstep::run(&session, &mut Silent).expect("runs");
        let record = &outcome.records[0];
        assert_eq!(record.release, ReleaseId(1));
        // The world that ran against the one with the edge {s, t} turned over.
        let moved = [x.row(t)[0], x.row(s)[0]];
        let sigma = scale(&session);
        let ratio: f64 = [s, t]
            .into_iter()
            .zip(moved)
            .map(|(v, moved)| {
                let noise = record.sum.values()[v] - record.totals.local.values()[v];
                (moved * moved + 2.0 * moved * noise) / (2.0 * sigma * sigma)
            })
            .sum();
        ratios.push(ratio);
    }
    let accepted = |ratios: &[f64]| {
        let count = ratios.len() as f64;
        let mean = ratios.iter().sum::<f64>() / count;
        let variance = ratios.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (count - 1.0);
        let of_mean = (mean - mu * mu / 2.0) / (mu / count.sqrt());
        // The standard deviation of a sample variance of normals.
        let of_variance = (variance / (mu * mu) - 1.0) / (2.0 / (count - 1.0)).sqrt();
        of_mean.abs() < 4.42 && of_variance.abs() < 4.42
    };
    assert!(accepted(&ratios));
    // What the same attacker would see of noise three quarters as large.
    let quiet: Vec<f64> = ratios
        .iter()
        .map(|x| mu * mu / 2.0 + 0.75 * (x - mu * mu / 2.0))
        .collect();
    assert!(!accepted(&quiet));
}
