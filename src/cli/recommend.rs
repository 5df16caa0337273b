//! `undertone recommend`: prints one user's recommendations.

use std::io::{self, Write};

use anyhow::{Context, Result};

use super::arguments::RecommendArguments;
use super::{Verdict, table};
use crate::run::recommend::{Recommendations, Request, RowSource, recommend};

pub(crate) fn execute(arguments: &RecommendArguments) -> Result<Verdict> {
    let found = recommend(&request(arguments)?)?;
    let mut out = io::stdout().lock();
    if arguments.json {
        serde_json::to_writer_pretty(&mut out, &found)
            .context("cannot print the recommendations")?;
        writeln!(out)?;
    } else {
        print(&mut out, &found)?;
    }
    if found.interactions_unknown > 0 {
        super::warn(&[format!(
            "{} of the user's interactions are with items that the basis does not have",
            found.interactions_unknown
        )]);
    }
    Ok(Verdict::Success)
}

fn request(arguments: &RecommendArguments) -> Result<Request> {
    let user = || {
        let user = arguments.user.clone();
        user.context(
            "whose recommendations? Give --user ID, or the user's own items with --row FILE",
        )
    };
    let row = match (&arguments.row, &arguments.sim, &arguments.data) {
        (Some(path), _, _) => RowSource::Own { path: path.clone() },
        (None, Some(path), _) => RowSource::Simulation {
            path: path.clone(),
            set: arguments.set.clone(),
            user: user()?,
        },
        (None, None, Some(path)) => RowSource::Data {
            path: path.clone(),
            format: arguments
                .format
                .context("--data needs --format, for example --format movielens-csv")?,
            threshold: arguments.threshold,
            items: arguments.items,
            user: user()?,
        },
        (None, None, None) => anyhow::bail!(
            "where are the user's interactions? Give --data FILE --format F, --sim SIM.toml, or --row FILE"
        ),
    };
    Ok(Request {
        basis: arguments.basis.clone(),
        items: arguments.items_file.clone(),
        row,
        titles: arguments.titles.clone(),
        top: arguments.top,
    })
}

fn print(out: &mut impl Write, found: &Recommendations) -> io::Result<()> {
    let titled = found.recommendations.iter().any(|one| one.title.is_some());
    let mut heading = vec!["rank".to_owned(), "score".to_owned(), "item".to_owned()];
    heading.extend(titled.then(|| "title".to_owned()));
    let mut rows = vec![heading];
    for one in &found.recommendations {
        let mut row = vec![
            one.rank.to_string(),
            table::number(one.score),
            one.item.clone(),
        ];
        row.extend(titled.then(|| one.title.clone().unwrap_or_default()));
        rows.push(row);
    }
    table::write(out, &rows)?;
    writeln!(
        out,
        "from {} interactions of the user",
        found.interactions_used
    )
}
