//! `undertone advise`: prints the recommended algorithm and the table of candidates.

use std::io::{self, Write};

use anyhow::{Context, Result};
use serde::Serialize;

use super::arguments::AdviseArguments;
use super::progress::Progress;
use super::{Verdict, table};
use crate::campaign::advise::{
    AdviseOptions, AlgorithmAdvice, Candidate, Guess, MOST_ITEMS, PilotCounts, advise,
};
use crate::campaign::auto::{Auto, Chosen};
use crate::scenario::Experiment;
use crate::writing;

/// Candidates that are printed; `--json` has all.
const SHOWN: usize = 10;

#[derive(Serialize)]
struct Document<'a> {
    /// What to type.
    command: String,
    /// What the pilot released.
    #[serde(skip_serializing_if = "Option::is_none")]
    pilot: Option<&'a PilotCounts>,
    #[serde(flatten)]
    advice: &'a AlgorithmAdvice,
}

pub(crate) fn execute(arguments: &AdviseArguments) -> Result<Verdict> {
    let report = arguments.report;
    let mut config = arguments.experiment.config()?;
    if let Some(epsilon) = arguments.epsilon {
        config.privacy.epsilon = epsilon;
    }
    let swept = config.sweep.is_some();
    let progress = Progress::new("trying", report.quiet);
    let guesses = match arguments.assume.as_slice() {
        [] => Guess::DEFAULTS.to_vec(),
        given => given.to_vec(),
    };
    let open = arguments.pilot.is_some() || Auto::is_meant(&config);
    let (experiment, advice, chosen) = if open {
        config = Auto::opened(config, arguments.pilot)?;
        let mut table = config.pilot.unwrap_or_default();
        table.bytes = arguments.bytes.or(table.bytes);
        config.pilot = Some(table);
        config.sweep = None;
        let chosen = super::auto::choose_under(&arguments.experiment, config, &guesses, &progress)?;
        let advice = chosen.advice.clone();
        (chosen.experiment.clone(), advice, Some(chosen))
    } else {
        let experiment = Experiment::resolve(config, arguments.experiment.base())
            .map_err(|error| arguments.experiment.explain(error))?;
        let options = AdviseOptions {
            bytes: arguments.bytes,
            guesses,
            pilot: None,
        };
        let advice = advise(&experiment, &options, &|done, total| {
            progress.steps(done, total);
        })?;
        (experiment, advice, None)
    };
    progress.finish();
    let command = match &chosen {
        Some(chosen) => piloted(arguments, chosen)?,
        None => command(arguments, &advice)?,
    };
    let mut out = io::stdout().lock();
    if report.json {
        let document = Document {
            command,
            pilot: chosen
                .as_ref()
                .and_then(|chosen| chosen.pilot.as_ref())
                .map(|pilot| &pilot.counts),
            advice: &advice,
        };
        serde_json::to_writer_pretty(&mut out, &document).context("cannot print the advice")?;
        writeln!(out)?;
    } else if !report.quiet {
        if let Some(chosen) = &chosen
            && let Some(pilot) = &chosen.pilot
        {
            super::auto::print_pilot(&mut out, chosen, pilot)?;
            writeln!(out)?;
        }
        print(&mut out, &experiment, &advice)?;
        writeln!(out, "\n{command}")?;
        if swept {
            writeln!(out, "(without the file's [sweep])")?;
        }
    }
    Ok(Verdict::Success)
}

/// The command line that makes the same pilot and the same choice again, and runs what is chosen: under one seed it is one release, however often
/// it is made.
fn piloted(arguments: &AdviseArguments, chosen: &Chosen) -> Result<String> {
    let algorithm =
        toml::Value::try_from(chosen.config.algorithm).context("cannot write the algorithm")?;
    let pilot = toml::Value::try_from(chosen.config.pilot).context("cannot write the pilot")?;
    let own = [format!("algorithm={algorithm}"), format!("pilot={pilot}")];
    Ok(with(arguments, own.into_iter()))
}

/// The command line that runs what is recommended.
fn command(arguments: &AdviseArguments, advice: &AlgorithmAdvice) -> Result<String> {
    let algorithm = toml::Value::try_from(advice.recommended.algorithm)
        .context("cannot write the algorithm")?;
    let averaging = toml::Value::try_from(&advice.recommended.averaging)
        .context("cannot write the averaging")?;
    let own = [
        format!("algorithm={algorithm}"),
        format!("averaging={averaging}"),
        format!("data.degree_floor={}", advice.recommended.degree_floor),
        format!("privacy.sensitivity={}", advice.recommended.sensitivity),
        format!("evaluation.reference_floor={}", advice.reference_floor),
    ];
    Ok(with(arguments, own.into_iter()))
}

/// `undertone run` with the changes of this command and these.
fn with(arguments: &AdviseArguments, own: impl Iterator<Item = String>) -> String {
    let sim = arguments.experiment.sim.display();
    let mut command = format!("undertone run {sim}");
    let set = arguments.experiment.overrides();
    let epsilon = arguments.epsilon.map(|e| format!("privacy.epsilon={e}"));
    for value in set.into_iter().chain(own).chain(epsilon) {
        let plain = value
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "._-=/".contains(c));
        if plain {
            command.push_str(&format!(" --set {value}"));
        } else {
            command.push_str(&format!(" --set '{}'", value.replace('\'', "'\\''")));
        }
    }
    command
}

fn print(
    out: &mut impl Write,
    experiment: &Experiment,
    advice: &AlgorithmAdvice,
) -> io::Result<()> {
    let public = advice.public;
    writeln!(
        out,
        "from public quantities alone: {} users, {} items and their degrees ({} interactions), the graph and the budget\n\
         assumed, none preferred: log-odds of user and item whose standard deviation is",
        public.users, public.items, public.interactions,
    )?;
    for (taste, decay, spreads) in by_taste(&advice.guesses) {
        writeln!(
            out,
            "  {taste} through taste, the variance of its k-th direction as k^-{decay}, and {spreads} through activity"
        )?;
    }
    writeln!(
        out,
        "errors are geometric means over stand-ins drawn from these"
    )?;
    if public.items > MOST_ITEMS {
        writeln!(
            out,
            "more than {MOST_ITEMS} items: predicted on that many, with the noise scaled; take it as rough"
        )?;
    }
    let budget = match advice.bytes {
        Some(bytes) => format!("at most {} from the busiest peer", writing::bytes(bytes)),
        None => "any number of bytes".to_owned(),
    };
    writeln!(
        out,
        "\nepsilon = {}, {budget}: {}\n",
        table::number(advice.epsilon),
        advice.recommended.name
    )?;
    if experiment.is_private() {
        writeln!(out, "{}\n", experiment.statement().sentence())?;
    }
    let heading = [
        "",
        "predicted error",
        "busiest peer",
        "mean peer",
        "beaten by none",
    ];
    let mut rows = vec![heading.map(str::to_owned).to_vec()];
    let shown = |(place, candidate): &(usize, &Candidate)| {
        *place < SHOWN || candidate.on_frontier || candidate.name == advice.recommended.name
    };
    for (_, candidate) in cheapest(&advice.candidates)
        .into_iter()
        .enumerate()
        .filter(shown)
    {
        rows.push(vec![
            candidate.name.clone(),
            table::optional(candidate.predicted_error),
            writing::bytes(candidate.bytes_max_peer),
            writing::bytes(candidate.bytes_mean_peer.round() as u64),
            if candidate.on_frontier { "yes" } else { "" }.to_owned(),
        ]);
    }
    table::write(out, &rows)?;
    let printed = rows.len() - 1;
    writeln!(
        out,
        "{printed} of {} candidates, each algorithm over the scheme whose busiest peer sends least; the one advised is least above the best on all that is drawn\nerrors are relative, against the exact eigenvectors under degree floor {}",
        advice.candidates.len(),
        advice.reference_floor
    )
}

/// The spreads that go with the same taste and decay, in words.
fn by_taste(guesses: &[Guess]) -> Vec<(f64, f64, String)> {
    let mut lines: Vec<(f64, f64, String)> = Vec::new();
    for guess in guesses {
        let same = |line: &&mut (f64, f64, String)| (line.0, line.1) == (guess.taste, guess.decay);
        match lines.iter_mut().find(same) {
            Some(line) => line.2.push_str(&format!(" or {}", guess.spread)),
            None => lines.push((guess.taste, guess.decay, guess.spread.to_string())),
        }
    }
    lines
}

/// Of every algorithm within the budget the candidate whose scheme has the busiest peer send least, in the order of the list.
fn cheapest(candidates: &[Candidate]) -> Vec<&Candidate> {
    let mut kept: Vec<&Candidate> = Vec::new();
    for candidate in candidates
        .iter()
        .filter(|one| one.predicted_error.is_some())
    {
        let same = |other: &&mut &Candidate| {
            (other.algorithm, other.degree_floor) == (candidate.algorithm, candidate.degree_floor)
        };
        match kept.iter_mut().find(same) {
            Some(other) if other.bytes_max_peer > candidate.bytes_max_peer => *other = candidate,
            Some(_) => {}
            None => kept.push(candidate),
        }
    }
    kept
}
