//! Noise is bound to all that a run consists of: two runs of one seed release the same bits, or have independent noise.

use undertone::config::read_config;
use undertone::engine::{Outcome, Silent};
use undertone::run::run;

use crate::support::experiments::resolve;
use crate::support::repository;

mod settings;

/// The noise of every release of a run, each scaled to variance one, and all bits that were released.
struct Drawn {
    name: String,
    noise: Vec<Vec<f64>>,
    bits: Vec<u64>,
}

fn drawn(name: &str, set: &[&str]) -> Result<Drawn, String> {
    let failed = |error: &dyn std::fmt::Display| format!("{name}: {error}");
    let set: Vec<String> = set.iter().map(|text| (*text).to_owned()).collect();
    let config = read_config(&repository("tests/power.toml"), &set);
    let experiment = resolve(config.map_err(|error| failed(&error))?);
    let experiment = experiment.map_err(|error| failed(&error))?;
    let report = run(&experiment, &mut Silent).map_err(|error| failed(&error))?;
    let Outcome { records, .. } = &report.outcome;
    let noise = records.iter().map(|record| {
        let (published, local) = (&record.totals.published, &record.totals.local);
        let pairs = published.values().iter().zip(local.values());
        let noise: Vec<f64> = pairs.map(|(published, local)| published - local).collect();
        let squares: f64 = noise.iter().map(|x| x * x).sum();
        let scale = (squares / noise.len() as f64).sqrt();
        noise.into_iter().map(|x| x / scale).collect()
    });
    let released = records.iter().flat_map(|record| {
        let blocks = [&*record.query, &record.totals.published];
        blocks.map(|block| block.values().to_vec()).concat()
    });
    Ok(Drawn {
        name: name.to_owned(),
        noise: noise.collect(),
        bits: released.map(f64::to_bits).collect(),
    })
}

/// The largest correlation of the noise in equal places of two runs, in standard deviations of that of independent noise: over all releases, and
/// over each alone.
fn correlation(a: &Drawn, b: &Drawn) -> (f64, usize) {
    let (mut sum, mut count, mut worst) = (0.0, 0, 0.0_f64);
    for (a, b) in a.noise.iter().zip(&b.noise) {
        let product: f64 = a.iter().zip(b).map(|(a, b)| a * b).sum();
        let length = a.len().min(b.len());
        worst = worst.max(product.abs() / (length as f64).sqrt());
        sum += product;
        count += length;
    }
    (worst.max(sum.abs() / f64::from(count as u32).sqrt()), count)
}

/// Checks all pairs of these runs, and returns how many were the same to the bit.
fn all_pairs(runs: &[Drawn]) -> usize {
    let mut same = 0;
    for (place, a) in runs.iter().enumerate() {
        for b in &runs[..place] {
            if a.bits == b.bits {
                same += 1;
                continue;
            }
            let (deviations, values) = correlation(a, b);
            assert!(
                values >= 1_000,
                "{} and {}: {values} values",
                a.name,
                b.name
            );
            assert!(
                deviations < 5.0,
                "{} and {} have correlated noise: {deviations:.1} standard deviations over {values} values",
                a.name,
                b.name
            );
        }
    }
    same
}

const COMMON: [&str; 7] = [
    "peers.count=8",
    "topology={generator=\"complete\"}",
    "data.items=200",
    "algorithm.rank=6",
    "averaging={scheme=\"tree\"}",
    "privacy.colluders=1",
    "algorithm.iterations=3",
];

/// Runs `base`, and `base` with each of these changes alone. Settings that depend on each other are one string with `;`.
fn runs(base: &[&str], changes: &[&str]) -> Vec<Drawn> {
    let sets = changes.iter().map(|change| (*change, change.split(';')));
    let results = std::iter::once(("the base", "".split(';')))
        .chain(sets)
        .map(|(name, set)| {
            let set = set.filter(|one| !one.is_empty());
            let all: Vec<&str> = base.iter().copied().chain(set).collect();
            drawn(name, &all)
        });
    let (ran, failed): (Vec<_>, Vec<_>) = results.partition(Result::is_ok);
    let failed: Vec<String> = failed.into_iter().filter_map(Result::err).collect();
    assert!(failed.is_empty(), "cannot be run: {failed:#?}");
    ran.into_iter().flatten().collect()
}

const LOSSY: [&str; 6] = [
    "engine.kind=event",
    "dropouts.tolerate=1",
    "dropouts.retries=2",
    "dropouts.publish=open",
    "faults.seed=3",
    "faults.crash=[{peer=\"3\", after=0}]",
];

fn lossy() -> Vec<&'static str> {
    [&COMMON[..], &LOSSY].concat()
}

/// Peer 3 crashes in every run and the seven others go on, with other releases behind them.
#[test]
fn views_of_the_same_peers_after_different_histories_share_no_noise() {
    let changes = [
        "faults.crash=[{peer=\"3\", at=\"after-certificate\", after=1}]",
        "faults.crash=[{peer=\"3\", at=\"after-certificate\", after=2}]",
        "faults.crash=[{peer=\"3\", at=\"after-sum\", after=0}]",
        "faults.crash=[{peer=\"3\", at=\"after-sum\", after=1}]",
        "faults.crash=[{peer=\"3\", at=\"before-certificate\", after=1}]",
        "faults.crash=[{peer=\"3\", at=\"after-record\", after=2}]",
        "faults.crash=[{peer=\"3\", after=30}]",
        "faults.crash=[{peer=\"3\", after=0, restart_micros=2000}]",
        "faults.crash=[{peer=\"4\", after=0}]",
        "faults.crash=[]",
    ];
    all_pairs(&runs(&lossy(), &changes));
}

/// Settings of faults and of what is tolerated, one at a time.
const FAULTS: [&str; 22] = [
    "faults.seed=4",
    "faults.loss=0.1",
    "faults.resend_micros=5000",
    "faults.notice_micros=11000",
    "faults.grace_micros=50000",
    "faults.patience_micros=900000",
    "faults.latency={exponential={mean_micros=700}}",
    "faults.suspicion=[{micros=900, by=\"0\", of=\"1\"}]",
    "faults.outage=[{link=[\"0\", \"1\"], from_micros=500}]",
    "faults.random={crashes=0, suspicions=1}",
    "faults.random={crashes=0, outages=1}",
    "dropouts.tolerate=2",
    "dropouts.retries=3",
    "dropouts.publish=sealed",
    "engine.latency={exponential={mean_micros=900}}",
    "faults.crash=[{peer=\"4\", after=0}]",
    "faults.deviant=[{peer=\"4\", release=1, how=\"stale\"}]",
    "faults.partition=[{side=[\"0\"], from_micros=500, until_micros=600}]",
    "faults.disk=[{peer=\"4\", after=1000000}]",
    "faults.random={crashes=1, restarts=1.0}",
    "faults.random={crashes=0, disks=1}",
    "faults.random={crashes=0, partitions=0}",
];

#[test]
fn runs_that_differ_in_dropouts_or_faults_share_no_noise() {
    all_pairs(&runs(&lossy(), &FAULTS));
}
