//! Is what a run wrote what its file gives? The run is made again, and compared byte by byte.
//!
//! A simulation is a function of its file: noise, latencies and everything that goes wrong follow from seeds, and time is virtual. So a result that another run of the
//! file does not give is of another file, of another build or changed, however well it looks; and an account of losses that the run does not
//! give was not its account.
//!
//! Seconds and memory differ from run to run. In `summary.json` and `report.html` they stand in one place, where only digits may differ.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read;
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::verification::Check;
use crate::engine::Silent;
use crate::run::output::{self, OutputError, ResultFile, SIMULATION, SUMMARY, TRACE};
use crate::run::receipt::{Finding, Receipt, ReceiptError};
use crate::run::{Report, RunError};
use crate::scenario::Experiment;

/// Why a run cannot be compared with another of the same file.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RepeatError {
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

/// Makes the run of this file twice and compares all files. Besides, the receipt must follow
/// from itself, and where losses are tolerated, what an execution cost must lie within what was planned for it, and that within the promise.
///
/// # Errors
/// [`RepeatError`].
///
/// # Cost
/// Two runs.
pub(crate) fn repeated(experiment: &Experiment) -> Result<Vec<Check>, RepeatError> {
    let run = || crate::run::run(experiment, &mut Silent);
    let (report, again) = (run()?, run()?);
    let files = |report| output::files(experiment.config(), report, true);
    let (one, other) = (files(&report)?, files(&again)?);
    let pairs = one.iter().zip(&other);
    let mut checks: Vec<Check> = pairs
        .map(|(one, other)| same(&one.name, &other.bytes(), &one.bytes()))
        .collect();
    let receipt = experiment.is_private().then(|| report.receipt.check());
    checks.extend(receipt.map(follows));
    checks.extend(spent(&report));
    checks.extend(deviants(&report));
    Ok(checks)
}

/// Holds a folder of results against a run of the same file: all files but those of the trace must be there and equal, the trace if any of it is there, and no
/// other file may be. The receipt must follow from itself as in [`repeated`].
///
/// `expected` is what the run writes, with its trace; of files that are `drawn` after it, only those that are in the folder are compared.
///
/// # Errors
/// [`RepeatError::Read`] for a file that is missing or cannot be read.
pub(crate) fn held_against(
    folder: &Path,
    report: &Report,
    (expected, drawn): (&[ResultFile<'_>], &[ResultFile<'_>]),
) -> Result<Vec<Check>, RepeatError> {
    let mut present = names(folder, "")?;
    if present.remove(TRACE) {
        present.extend(names(&folder.join(TRACE), TRACE)?);
    }
    let in_trace = |name: &str| name.starts_with(TRACE);
    let has_trace = present.iter().any(|name| in_trace(name));
    let required = expected
        .iter()
        .filter(|file| has_trace || !in_trace(&file.name));
    let drawn = drawn.iter().filter(|file| present.contains(&file.name));
    let files: Vec<&ResultFile> = required.chain(drawn).collect();
    let mut checks = Vec::new();
    for file in &files {
        let bytes = file.bytes();
        let path = folder.join(&file.name);
        let found = read(&path, bytes.len())?;
        checks.push(match file.name.as_str() {
            output::CONFIG => same_config(&found, &bytes),
            name => same(name, &found, &bytes),
        });
        if file.name == RECEIPT && report.summary.privacy.epsilon.is_some() {
            let receipt = Receipt::parse(&path, &found);
            checks.push(follows(receipt.and_then(|receipt| receipt.check())));
        }
        present.remove(&file.name);
    }
    if present.remove(SIMULATION) {
        checks.push(names_hosts(&read(&folder.join(SIMULATION), 1 << 20)?));
    }
    checks.push(unknown(&present));
    checks.extend(spent(report));
    checks.extend(deviants(report));
    Ok(checks)
}

const RECEIPT: &str = "receipt.json";

/// The names of everything in a folder, after that of the folder itself.
fn names(folder: &Path, prefix: &str) -> Result<BTreeSet<String>, RepeatError> {
    let failed = |source| RepeatError::Read {
        path: folder.to_path_buf(),
        source,
    };
    let entries = std::fs::read_dir(folder).map_err(failed)?;
    let name = |entry: std::io::Result<std::fs::DirEntry>| {
        let name = entry?.file_name().to_string_lossy().into_owned();
        Ok(match prefix {
            "" => name,
            prefix => format!("{prefix}/{name}"),
        })
    };
    entries.map(name).collect::<Result<_, _>>().map_err(failed)
}

/// Whether there is anything that no run of the file writes.
fn unknown(names: &BTreeSet<String>) -> Check {
    let what = "files that no run of the file writes";
    let name = match names.first() {
        None => what.to_owned(),
        Some(first) => format!("{what}: {first:?}"),
    };
    check("again", name, names.len() as f64)
}

/// Whether a simulation on several hosts names them and says nothing else. Which they were does not follow from the file.
fn names_hosts(found: &[u8]) -> Check {
    let table = std::str::from_utf8(found).map(toml::from_str::<toml::Table>);
    let valid = matches!(table, Ok(Ok(table)) if output::names_hosts(&table));
    let name = format!("{SIMULATION} names hosts and nothing else");
    check("again", name, f64::from(u8::from(!valid)))
}

/// What is in a file, as far as it is no longer than expected, and a little more.
fn read(path: &Path, expected: usize) -> Result<Vec<u8>, RepeatError> {
    let mut found = Vec::new();
    let most = (expected as u64).saturating_add(1024);
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
    let parts = match (timing(name, found), timing(name, expected)) {
        (Some(a), Some(b)) => {
            unlike(&found[..a.start], &expected[..b.start])
                + unlike(&masked(&found[a.clone()]), &masked(&expected[b.clone()]))
                + unlike(&found[a.end..], &expected[b.end..])
        }
        (None, None) => unlike(found, expected),
        _ => found.len().max(expected.len()),
    };
    check(
        "again",
        format!("bytes of {name} that another run of the file has otherwise"),
        parts as f64,
    )
}

/// Like [`same`], but for the folders of absolute paths, which are other ones on another machine.
fn same_config(found: &[u8], expected: &[u8]) -> Check {
    let check = same(output::CONFIG, found, expected);
    let table = |bytes: &[u8]| {
        let text = std::str::from_utf8(bytes).ok()?;
        toml::from_str::<toml::Value>(text).ok()
    };
    match (check.passed, table(found), table(expected)) {
        (false, Some(a), Some(b)) if is_moved(&a, &b) => Check {
            name: format!("{}, but for folders of files", check.name),
            statistic: 0.0,
            passed: true,
            ..check
        },
        _ => check,
    }
}

/// Whether two values are equal but for the folders of absolute paths.
fn is_moved(found: &toml::Value, expected: &toml::Value) -> bool {
    use toml::Value::{Array, String, Table};
    match (found, expected) {
        (Table(a), Table(b)) => {
            let pairs = a.iter().zip(b);
            a.len() == b.len()
                && pairs
                    .into_iter()
                    .all(|(a, b)| a.0 == b.0 && is_moved(a.1, b.1))
        }
        (Array(a), Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_moved(a, b)),
        (String(a), String(b)) => {
            let (a, b) = (Path::new(a), Path::new(b));
            let absolute = a.is_absolute() && b.is_absolute();
            a == b || absolute && a.file_name() == b.file_name()
        }
        (a, b) => a == b,
    }
}

/// Bytes that differ.
fn unlike(found: &[u8], expected: &[u8]) -> usize {
    let pairs = found.iter().zip(expected);
    pairs.filter(|(a, b)| a != b).count() + found.len().abs_diff(expected.len())
}

/// Where a file has seconds and memory; `None` for a file that has none.
fn timing(name: &str, bytes: &[u8]) -> Option<Range<usize>> {
    let (opening, closing) = match name {
        SUMMARY => (&b"\n  \"timing\": {"[..], &b"\n  }"[..]),
        output::PAGE => (&b"<p class=\"timing\">"[..], &b"</p>"[..]),
        _ => return None,
    };
    let find = |from: usize, part: &[u8]| {
        let at = bytes[from..].windows(part.len());
        at.into_iter()
            .position(|here| here == part)
            .map(|at| from + at)
    };
    let start = find(0, opening)? + opening.len();
    Some(start..find(start, closing)?)
}

/// What a power of ten after a number is written with.
const POWER: [&str; 12] = ["·10", "⁻", "⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"];

/// Every number, with its exponent and its unit of bytes, as one mark.
fn masked(text: &[u8]) -> Vec<u8> {
    let mut masked = Vec::new();
    let mut rest = text;
    while let Some((&first, after)) = rest.split_first() {
        rest = after;
        if !first.is_ascii_digit() {
            masked.push(first);
            continue;
        }
        masked.push(b'#');
        let is_number = |byte: &u8| byte.is_ascii_digit() || b".e-+".contains(byte);
        let end = rest.iter().position(|byte| !is_number(byte));
        rest = &rest[end.unwrap_or(rest.len())..];
        while let Some(after) = POWER
            .iter()
            .find_map(|part| rest.strip_prefix(part.as_bytes()))
        {
            rest = after;
        }
        for unit in [" GB", " MB", " kB", " B"] {
            rest = rest.strip_prefix(unit.as_bytes()).unwrap_or(rest);
        }
    }
    masked
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
        let checks = repeated(&experiment).expect("it has a result");
        println!("{checks:#?}");
        assert!(checks.iter().all(|check| check.passed));
        let kinds: Vec<&str> = checks.iter().map(|check| check.kind).collect();
        for (kind, count) in [("again", 15), ("receipt", 1), ("spent", 2)] {
            let found = kinds.iter().filter(|found| **found == kind).count();
            assert_eq!(found, count, "{kind}");
        }
        let report = crate::run::run(&experiment, &mut Silent).expect("it has a result");
        let faults = report.faults.expect("it tolerates losses").summary;
        assert!(faults.fired.crashes > 0, "something went wrong");
    }

    /// Of seconds and memory digits may differ, words may not.
    #[test]
    fn numbers_of_the_timing_may_differ_and_nothing_else() {
        let page = |text: &str| format!("a<p class=\"timing\">{text}</p>b").into_bytes();
        let one = page("0.103 s (data 1.41·10⁻⁶ s); peak memory 48.6 MB.");
        let equal = |text: &str| same(output::PAGE, &page(text), &one).passed;
        assert!(equal("12 s (data 0.00126 s); peak memory 1 GB."));
        assert!(!equal("0.103 s (date 1.41·10⁻⁶ s); peak memory 48.6 MB."));
        assert!(!equal(
            "0.103 s (data 1.41·10⁻⁶ s); peak memory 48.6 MB. More"
        ));
        assert!(!same(output::PAGE, b"a<p>0.103 s</p>b", &one).passed);
        assert!(!same("items.csv", &page("1"), &page("2")).passed);
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
