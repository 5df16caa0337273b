//! The family on which no private method finds the leading singular value, and matrices whose rows and columns are the peers.

use undertone::assess::verification::{VerifyOptions, verify};
use undertone::engine::central::{self, SumNoise};
use undertone::engine::{Silent, lockstep};
use undertone::run::run;
use undertone::run::variance::Variance;
use undertone::scenario::Experiment;
use undertone::vocabulary::Seed;

use crate::plain_pca::experiment;

fn bipartite(set: &[&str]) -> Experiment {
    experiment("lower-bound.toml", set)
}

/// σ₁ − ‖Mv‖ of these matrices, mean of twelve seeds.
fn loss(coherence: u32, epsilon: f64) -> f64 {
    let coherence = format!("data.generate.coherence={coherence}");
    let epsilon = format!("privacy.epsilon={epsilon}");
    let experiment = bipartite(&[&coherence, &epsilon]);
    let variance = Variance::of(&experiment).expect("rank 1");
    let largest = variance.top().values[0].sqrt();
    let one = |seed| {
        let session = experiment.session(&Seed::from_u64(seed));
        let outcome = lockstep::run(&session, &mut Silent).expect("runs");
        let captured = variance.parts(outcome.basis())[0].captured;
        largest * (1.0 - captured.sqrt())
    };
    (0..12).map(one).sum::<f64>() / 12.0
}

/// At ε = 2 the loss grows like C^1.5 between C = 2 and 16, as σ₁²·(second order in the noise) has it: n‖u‖²_∞z²/σ₁² with σ₁ = n/√(2C). The
/// bound that is proved grows like √C; a prototype in numpy has 0.30, 0.85, 2.36 and 6.17, exponent 1.45. At ε = 0.5 noise wins: beyond C = 4 half of σ₁
/// or more is lost.
#[test]
fn the_loss_grows_with_the_power_three_halves_of_the_coherence() {
    let sizes = [2_u32, 4, 8, 16];
    let losses = sizes.map(|coherence| loss(coherence, 2.0));
    let points: Vec<(f64, f64)> = sizes
        .iter()
        .zip(&losses)
        .map(|(coherence, loss)| (f64::from(*coherence).ln(), loss.ln()))
        .collect();
    let mean = |of: &dyn Fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / 4.0;
    let (x, y) = (mean(&|p| p.0), mean(&|p| p.1));
    let above: f64 = points.iter().map(|p| (p.0 - x) * (p.1 - y)).sum();
    let below: f64 = points.iter().map(|p| (p.0 - x).powi(2)).sum();
    let slope = above / below;
    eprintln!("losses at epsilon = 2: {losses:.3?}, slope {slope:.3}");
    assert!((slope - 1.5).abs() < 0.15, "{slope}");
    let noisy = loss(8, 0.5);
    eprintln!("loss at epsilon = 0.5, C = 8: {noisy:.2} of 100");
    assert!(noisy > 50.0, "{noisy}");
}

const SMALL: [&str; 3] = [
    "data.generate.size=20",
    "algorithm.iterations=4",
    "algorithm.rank=1",
];

#[test]
fn rows_and_columns_are_a_curator_s_bit_for_bit_and_the_same_on_every_engine() {
    for more in [
        &[][..],
        &["algorithm.kind=ppi"],
        &["data.generate.coherence=4"],
    ] {
        let experiment = bipartite(&[&SMALL[..], more].concat());
        assert_eq!(experiment.peer_rows().len(), 40);
        let session = experiment.session(&Seed::from_u64(3));
        let ours = lockstep::run(&session, &mut Silent).expect("runs");
        let shares = central::run(&session, SumNoise::Shares, &mut Silent).expect("runs");
        for (x, y) in ours.records.iter().zip(&shares.records) {
            assert_eq!((&x.sum, &x.basis), (&y.sum, &y.basis));
        }
        let report = run(&experiment, &mut Silent).expect("runs");
        let mut config = experiment.config().clone();
        config.engine = crate::equivalence::event(undertone::engine::event::Latency::Uniform {
            low_micros: 1,
            high_micros: 900,
        });
        let event = Experiment::resolve(config, &crate::plain_pca::sims()).expect("valid");
        let event = run(&event, &mut Silent).expect("runs");
        assert_eq!(event.outcome.basis(), report.outcome.basis());
        let findings = report.receipt.check().expect("checked");
        let wrong: Vec<_> = findings.iter().filter(|one| !one.agrees).collect();
        assert!(wrong.is_empty(), "{wrong:?}");
    }
}

#[test]
fn it_verifies_and_a_second_entry_is_what_both_halves_at_once_would_cost() {
    let experiment = bipartite(&SMALL);
    let options = VerifyOptions {
        runs: 10,
        significance: 1e-3,
    };
    let table = verify(&experiment, options, &mut Silent).expect("runs");
    let failures: Vec<_> = table.failures().collect();
    assert!(table.passed(), "{failures:?}");
    // Every entry M_st, as a change of row s in odd releases and of column t in even ones, over the whole run.
    let session = experiment.session(&Seed::from_u64(6));
    let outcome = lockstep::run(&session, &mut Silent).expect("runs");
    let z = experiment.sigma_central();
    let mut worst = 0.0_f64;
    for s in 0..20 {
        for t in 20..40 {
            let cost = outcome.records.iter().map(|record| {
                let asked = if record.release.0 % 2 == 1 { t } else { s };
                let x = record.query.row(asked)[0];
                (x / (record.sensitivity * z)).powi(2)
            });
            worst = worst.max(cost.sum());
        }
    }
    let budget = 4.0 / (z * z);
    assert!(
        worst <= budget * (1.0 + 1e-9) && worst > 0.3 * budget,
        "{worst} {budget}"
    );
}
