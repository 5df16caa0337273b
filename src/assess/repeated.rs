//! Is what a run wrote what its file gives? The run is made again, and compared byte by byte.
//!
//! A simulation is a function of its file: noise, latencies and everything that goes wrong follow from seeds, and time is virtual. So a result that another run of the
//! file does not give is of another file, of another build or changed, however well it looks; and an account of losses that the run does not
//! give was not its account.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::verification::Check;
use crate::engine::Silent;
use crate::run::output::{OutputError, repeatable};
use crate::run::receipt::{Finding, Receipt, ReceiptError};
use crate::run::{Report, RunError};
use crate::scenario::Experiment;

/// Why a run cannot be compared with another of the same file.
#[derive(Debug, thiserror::Error)]
pub enum RepeatError {
    /// The run failed.
    #[error(transparent)]
    Run(#[from] RunError),
    /// Its results cannot be put into files.
    #[error(transparent)]
    Output(#[from] OutputError),
    /// A file of the results is not there, or cannot be read.
    #[error("cannot read {path}: {source}; write it with `undertone run --out`, and name that folder", path = path.display())]
    Read {
        /// Which.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
}

/// Makes the run of this file once more and holds it against what an earlier run left in a folder; without a folder the run is made twice. Besides, the receipt must follow
/// from itself, and where losses are tolerated, what an execution cost must lie within what was planned for it, and that within the promise.
///
/// # Errors
/// [`RepeatError`].
///
/// # Cost
/// One run, or two.
pub fn repeated(
    experiment: &Experiment,
    written: Option<&Path>,
) -> Result<Vec<Check>, RepeatError> {
    let run = || crate::run::run(experiment, &mut Silent);
    let report = run()?;
    let files = repeatable(&report)?;
    let mut checks = Vec::new();
    let receipt = match written {
        Some(folder) => {
            let mut receipt = None;
            for (name, bytes) in &files {
                let found = read(&folder.join(name), bytes.len())?;
                checks.push(same(name, &found, bytes));
                if *name == RECEIPT {
                    receipt = Some(Receipt::parse(&folder.join(name), &found));
                }
            }
            receipt
        }
        None => {
            let again = repeatable(&run()?)?;
            let pairs = files.iter().zip(&again);
            checks.extend(pairs.map(|((name, one), (_, other))| same(name, other, one)));
            None
        }
    };
    if experiment.is_private() {
        let receipt = receipt.unwrap_or_else(|| Ok(report.receipt.clone()));
        checks.push(follows(receipt.and_then(|receipt| receipt.check())));
    }
    checks.extend(spent(&report));
    checks.extend(deviants(&report));
    Ok(checks)
}

const RECEIPT: &str = "receipt.json";

/// What is in a file, as far as it is no longer than expected, and one byte more.
fn read(path: &Path, expected: usize) -> Result<Vec<u8>, RepeatError> {
    let mut found = Vec::new();
    let most = (expected as u64).saturating_add(1);
    let file = File::open(path).and_then(|file| file.take(most).read_to_end(&mut found));
    match file {
        Ok(_) => Ok(found),
        Err(source) => Err(RepeatError::Read {
            path: path.to_path_buf(),
            source,
        }),
    }
}

fn same(name: &str, found: &[u8], expected: &[u8]) -> Check {
    let pairs = found.iter().zip(expected);
    let unlike = pairs.filter(|(a, b)| a != b).count();
    let unlike = unlike + found.len().abs_diff(expected.len());
    check(
        "again",
        format!("bytes of {name} that another run of the file has otherwise"),
        unlike as f64,
    )
}

/// A check of something that is to occur never.
fn check(kind: &'static str, name: String, count: f64) -> Check {
    Check {
        kind,
        name,
        statistic: count,
        p_value: None,
        threshold: 0.0,
        passed: count == 0.0,
    }
}

/// Whether the numbers of a receipt follow from what it says was asked for and happened.
fn follows(checked: Result<Vec<Finding>, ReceiptError>) -> Check {
    match checked {
        Ok(findings) => {
            let wrong: Vec<&str> = findings
                .iter()
                .filter(|finding| !finding.agrees)
                .map(|finding| finding.what.as_str())
                .collect();
            let what = "numbers of the receipt that do not follow from the rest of it";
            let name = match wrong.first() {
                None => what.to_owned(),
                Some(first) => format!("{what}: {first}"),
            };
            check("receipt", name, wrong.len() as f64)
        }
        Err(error) => check("receipt", format!("the receipt is refused: {error}"), 1.0),
    }
}

/// What the execution cost is within what was planned for its tries, and that within the promise.
fn spent(report: &Report) -> Vec<Check> {
    let faults = report.faults.as_ref();
    let Some(epsilon) = faults.and_then(|faulty| faulty.summary.epsilon) else {
        return Vec::new();
    };
    let within = |name: &str, least: f64, most: f64| Check {
        kind: "spent",
        name: name.to_owned(),
        statistic: least,
        p_value: None,
        threshold: most,
        passed: least <= most * (1.0 + 1e-9),
    };
    vec![
        within(
            "epsilon of the execution, within what was planned for its tries",
            epsilon.realised,
            epsilon.planned,
        ),
        within(
            "epsilon planned for the tries that there were, within the promise",
            epsilon.planned,
            epsilon.promised,
        ),
    ]
}

/// Whoever deviates is named, and nobody else.
fn deviants(report: &Report) -> Vec<Check> {
    let faults = report.faults.as_ref();
    let Some(told) = faults.and_then(|faulty| faulty.summary.deviants.as_ref()) else {
        return Vec::new();
    };
    let count = |what: &str, names: &[String]| check("named", what.to_owned(), names.len() as f64);
    vec![
        count("deviants that nobody named", &told.overlooked),
        count("honest peers that were named", &told.wronged),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::testing::sim;

    /// Ten peers of whom two crash, in a session that tolerates it.
    fn experiment() -> Experiment {
        let set = [
            "peers.count=10",
            "topology.degree=8",
            "data.items=30",
            "algorithm.rank=2",
            "dropouts.tolerate=2",
            "faults.random.crashes=2",
        ];
        sim("crashes.toml", &set).expect("valid")
    }

    #[test]
    fn a_faulty_run_is_the_same_again_and_its_account_holds() {
        let experiment = experiment();
        let checks = repeated(&experiment, None).expect("it has a result");
        println!("{checks:#?}");
        assert!(checks.iter().all(|check| check.passed));
        let kinds: Vec<&str> = checks.iter().map(|check| check.kind).collect();
        for (kind, count) in [("again", 6), ("receipt", 1), ("spent", 2)] {
            let found = kinds.iter().filter(|found| **found == kind).count();
            assert_eq!(found, count, "{kind}");
        }
        let report = crate::run::run(&experiment, &mut Silent).expect("it has a result");
        let faults = report.faults.expect("it tolerates losses").summary;
        assert!(faults.fired.crashes > 0, "something went wrong");
    }

    /// What is not within its bound is red, and so is anybody honest who is named.
    #[test]
    fn an_account_beyond_its_plan_is_red() {
        let mut report = crate::run::run(&experiment(), &mut Silent).expect("it has a result");
        let of = |report: &Report| spent(report).iter().map(|check| check.passed).collect();
        let all: Vec<bool> = of(&report);
        assert_eq!(all, [true, true]);
        let summary = |report: &mut Report, planned: f64, realised: f64| {
            let faults = report.faults.as_mut().expect("it tolerates losses");
            let epsilon = faults.summary.epsilon.as_mut().expect("it is private");
            epsilon.planned *= planned;
            epsilon.realised *= realised;
        };
        summary(&mut report, 1.0, 10.0);
        let all: Vec<bool> = of(&report);
        assert_eq!(all, [false, true]);
        summary(&mut report, 100.0, 1.0);
        let all: Vec<bool> = of(&report);
        assert_eq!(all, [true, false]);
    }
}
