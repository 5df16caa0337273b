//! Experiments whose algorithm is chosen: the pilot, the choice, and what is printed of both.

use std::io::{self, Write};

use anyhow::Result;

use super::arguments::ExperimentArguments;
use super::progress::Progress;
use super::table;
use crate::campaign::advise::Guess;
use crate::campaign::auto::{Auto, Chosen, Piloted, RULE};
use crate::config::Config;

/// Makes the pilot and the choice of this configuration, under the guesses that advice makes of itself.
pub(super) fn choose(
    arguments: &ExperimentArguments,
    config: Config,
    progress: &Progress,
) -> Result<Chosen> {
    choose_under(arguments, config, &Guess::DEFAULTS, progress)
}

/// The same under these guesses.
pub(super) fn choose_under(
    arguments: &ExperimentArguments,
    config: Config,
    guesses: &[Guess],
    progress: &Progress,
) -> Result<Chosen> {
    let open = Auto::new(config, arguments.base()).map_err(|error| arguments.explain(error))?;
    progress.message("choosing");
    let chosen = open.choose(guesses, &|done, total| progress.steps(done, total))?;
    Ok(chosen)
}

/// What the pilot released and what was chosen.
pub(super) fn print(out: &mut impl Write, chosen: &Chosen) -> io::Result<()> {
    match &chosen.pilot {
        Some(pilot) => print_pilot(out, chosen, pilot)?,
        None => writeln!(
            out,
            "no pilot (share = 0): chosen by public numbers and assumptions alone"
        )?,
    }
    let recommended = &chosen.advice.recommended;
    writeln!(
        out,
        "chosen ({RULE}): {}, predicted error {}\n",
        recommended.name,
        table::optional(recommended.predicted_error),
    )
}

/// The counts of a pilot, and how well it knows the shares of items; shares themselves stand in the receipt.
pub(super) fn print_pilot(
    out: &mut impl Write,
    chosen: &Chosen,
    pilot: &Piloted,
) -> io::Result<()> {
    let share = chosen.config.pilot.unwrap_or_default().share;
    let users = pilot.experiment.interactions().users();
    writeln!(
        out,
        "pilot: {} % of mu^2 on how many of {users} users have at least so many interactions, and on what each of {} items has of its users' rows; noise \
         of standard deviations {} and {}",
        table::number(100.0 * share),
        pilot.counts.shares().len(),
        table::number(pilot.counts.sigma()),
        table::number(pilot.counts.sigma_of_shares()),
    )?;
    let heading = ["interactions", "users, as released", "that could be true"];
    let mut rows = vec![heading.map(str::to_owned).to_vec()];
    let counts = pilot.counts.counts().iter();
    let tail = pilot.counts.tail(users);
    for ((threshold, count), possible) in pilot.counts.thresholds().iter().zip(counts).zip(tail) {
        rows.push(vec![
            threshold.to_string(),
            format!("{count:.1}"),
            format!("{possible:.1}"),
        ]);
    }
    table::write(out, &rows)
}
