//! `undertone recommend`: prints one user's recommendations.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::arguments::RecommendArguments;
use super::{Verdict, table};
use crate::config::read_config;
use crate::data::titles_hint;
use crate::run::directions::{DirectionsRequest, directions};
use crate::run::predict::{PredictRequest, RatingSource, predict};
use crate::run::recommend::{Format, Recommendations, Request, RowSource, recommend};

pub(crate) fn execute(arguments: &RecommendArguments) -> Result<Verdict> {
    if let Some(folder) = &arguments.predict {
        return predicted(arguments, folder);
    }
    if arguments.directions {
        return print_directions(arguments);
    }
    let titles = Titles::of(arguments)?;
    let found = recommend(&request(arguments, &titles)?)?;
    let mut out = io::stdout().lock();
    if arguments.json {
        serde_json::to_writer_pretty(&mut out, &found)
            .context("cannot print the recommendations")?;
        writeln!(out)?;
    } else {
        print(&mut out, &found)?;
        titles.print_hint(&mut out)?;
    }
    if found.interactions_unknown > 0 {
        super::warn(&[format!(
            "{} of the user's interactions are with items that the basis does not have",
            found.interactions_unknown
        )]);
    }
    Ok(Verdict::Success)
}

/// Where titles come from.
struct Titles {
    path: Option<PathBuf>,
    /// Format of the rating file, where it is known.
    format: Option<Format>,
}

impl Titles {
    /// `--titles`, or `data.titles` of the experiment.
    fn of(arguments: &RecommendArguments) -> Result<Self> {
        let (mut path, mut format) = (arguments.titles.clone(), arguments.format);
        if let Some(sim) = &arguments.sim {
            let config = read_config(sim, &arguments.set)?;
            let base = sim.parent().unwrap_or(Path::new("."));
            path = path.or(config.data.titles().map(|titles| base.join(titles)));
            format = config.data.format().ratings();
        }
        Ok(Self { path, format })
    }

    /// Says where titles are found, where none are given.
    fn print_hint(&self, out: &mut impl Write) -> io::Result<()> {
        match self.path {
            Some(_) => Ok(()),
            None => writeln!(out, "titles: {}", titles_hint(self.format)),
        }
    }
}

/// Items of a column that are printed.
const OF_COLUMN: usize = 8;
/// Recommendations and predictions that are printed.
const OF_LIST: usize = 20;

/// Prints the heaviest items of each column of the basis.
fn print_directions(arguments: &RecommendArguments) -> Result<Verdict> {
    let titles = Titles::of(arguments)?;
    let found = directions(&DirectionsRequest {
        basis: arguments.basis.clone().unwrap_or_default(),
        items: arguments.items_file.clone(),
        titles: titles.path.clone(),
        top: arguments.top.unwrap_or(OF_COLUMN),
    })?;
    let mut out = io::stdout().lock();
    if arguments.json {
        serde_json::to_writer_pretty(&mut out, &found).context("cannot print the directions")?;
        writeln!(out)?;
        return Ok(Verdict::Success);
    }
    for direction in &found {
        writeln!(out, "direction {}", direction.direction)?;
        let items = (1..).zip(&direction.heaviest);
        let rows = items.map(|(rank, one)| (rank, one.weight, &one.item, one.title.as_ref()));
        print_table(&mut out, "weight", &rows.collect::<Vec<_>>())?;
    }
    titles.print_hint(&mut out)?;
    writeln!(
        out,
        "computed from the released basis and public names, so that ε covers it; report.html says how many directions stand out of the noise"
    )?;
    Ok(Verdict::Success)
}

/// Prints one user's predicted ratings.
fn predicted(arguments: &RecommendArguments, folder: &Path) -> Result<Verdict> {
    let ratings = match (&arguments.row, &arguments.sim, &arguments.data) {
        (Some(path), _, _) => RatingSource::Own { path: path.clone() },
        (None, Some(path), _) => RatingSource::Simulation {
            path: path.clone(),
            set: arguments.set.clone(),
            user: user(arguments)?,
        },
        (None, None, Some(path)) => RatingSource::Data {
            path: path.clone(),
            format: format(arguments)?,
            user: user(arguments)?,
        },
        (None, None, None) => anyhow::bail!(
            "where are the user's ratings? Give --row FILE with item,rating on each line, --data FILE --format F, or --sim SIM.toml"
        ),
    };
    let titles = Titles::of(arguments)?;
    let found = predict(&PredictRequest {
        folder: folder.to_path_buf(),
        ratings,
        titles: titles.path.clone(),
        top: arguments.top.unwrap_or(OF_LIST),
    })?;
    let mut out = io::stdout().lock();
    if arguments.json {
        serde_json::to_writer_pretty(&mut out, &found).context("cannot print the predictions")?;
        writeln!(out)?;
    } else {
        let rows = found.predictions.iter();
        let rows = rows.map(|one| (one.rank, one.rating, &one.item, one.title.as_ref()));
        print_table(&mut out, "rating", &rows.collect::<Vec<_>>())?;
        writeln!(
            out,
            "from {} ratings of the user, about {}; nothing was sent",
            found.ratings_used,
            table::number(found.centre)
        )?;
        titles.print_hint(&mut out)?;
    }
    if found.ratings_unknown > 0 {
        super::warn(&[format!(
            "{} of the user's ratings are of items that the run does not know",
            found.ratings_unknown
        )]);
    }
    Ok(Verdict::Success)
}

fn user(arguments: &RecommendArguments) -> Result<String> {
    let user = arguments.user.clone();
    user.context("whose recommendations? Give --user ID, or the user's own items with --row FILE")
}

fn format(arguments: &RecommendArguments) -> Result<Format> {
    let format = arguments.format;
    format.context("--data needs --format, for example --format movielens-csv")
}

fn request(arguments: &RecommendArguments, titles: &Titles) -> Result<Request> {
    let row = match (&arguments.row, &arguments.sim, &arguments.data) {
        (Some(path), _, _) => RowSource::Own { path: path.clone() },
        (None, Some(path), _) => RowSource::Simulation {
            path: path.clone(),
            set: arguments.set.clone(),
            user: user(arguments)?,
        },
        (None, None, Some(path)) => RowSource::Data {
            path: path.clone(),
            format: format(arguments)?,
            threshold: arguments.threshold,
            items: arguments.items,
            user: user(arguments)?,
        },
        (None, None, None) => anyhow::bail!(
            "where are the user's interactions? Give --data FILE --format F, --sim SIM.toml, or --row FILE"
        ),
    };
    Ok(Request {
        basis: arguments.basis.clone().unwrap_or_default(),
        items: arguments.items_file.clone(),
        recommender: arguments.recommender.clone(),
        row,
        titles: titles.path.clone(),
        top: arguments.top.unwrap_or(OF_LIST),
    })
}

fn print(out: &mut impl Write, found: &Recommendations) -> io::Result<()> {
    let rows = found.recommendations.iter();
    let rows = rows.map(|one| (one.rank, one.score, &one.item, one.title.as_ref()));
    print_table(out, "score", &rows.collect::<Vec<_>>())?;
    writeln!(
        out,
        "from {} interactions of the user",
        found.interactions_used
    )
}

/// Rank, number, item and title of one line.
type Line<'a> = (usize, f64, &'a String, Option<&'a String>);

fn print_table(out: &mut impl Write, number: &str, lines: &[Line<'_>]) -> io::Result<()> {
    let titled = lines.iter().any(|(.., title)| title.is_some());
    let mut heading = vec!["rank".to_owned(), number.to_owned(), "item".to_owned()];
    heading.extend(titled.then(|| "title".to_owned()));
    let mut rows = vec![heading];
    for (rank, number, item, title) in lines {
        let mut row = vec![rank.to_string(), table::number(*number), (*item).clone()];
        row.extend(titled.then(|| title.cloned().unwrap_or_default()));
        rows.push(row);
    }
    table::write(out, &rows)
}
