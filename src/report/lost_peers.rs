//! What a page says of a run whose peers tolerate losses: who was there when, and what it cost.

use super::axis::{Axis, Spacing};
use super::figure::Figure;
use super::number;
use super::series::{Mark, Point, Series};
use super::table::{Cell, PageTable};
use crate::run::faults::{DeviantsSummary, FaultsSummary, Faulty, listed};
use crate::writing::Column;

/// How many peers live, and how many have each sum, over time.
pub(super) fn figure(faulty: &Faulty) -> Option<Figure> {
    let series: Vec<Series> = faulty
        .curves
        .iter()
        .map(|curve| {
            let points = curve.points.iter();
            let points = points.map(|&(milliseconds, count)| Point::new(milliseconds, count));
            Series::new(&curve.name, Mark::Line, points.collect())
        })
        .collect();
    let summary = &faulty.summary;
    let is_drawn = series.iter().any(|series| series.points.len() > 1);
    is_drawn.then(|| Figure {
        id: "lost-peers".into(),
        title: format!(
            "{} of {} peers have the result after {} ms of virtual time",
            summary.finished,
            summary.ends.values().sum::<usize>(),
            number::significant(summary.milliseconds, 3),
        ),
        description:
            "How many peers live, and how many have the sum of each release, over virtual time."
                .to_owned(),
        x: Axis::new("virtual time", "ms", Spacing::Fitting),
        y: Axis::new("peers", "number", Spacing::Whole),
        series,
        guides: Vec::new(),
        half: false,
    })
}

/// What happened, in tables.
pub(super) fn tables(summary: &FaultsSummary) -> Vec<PageTable> {
    let mut tables = vec![releases(summary)];
    if let Some(epsilon) = summary.epsilon {
        let rows = [
            (
                "promised: whoever is lost, and all retries spent",
                epsilon.promised,
            ),
            ("planned for the tries that there were", epsilon.planned),
            (
                match epsilon.is_exact {
                    true => "realised, exactly: a diagnostic, of which nothing is promised",
                    false => "realised, at most: a diagnostic, of which nothing is promised",
                },
                epsilon.realised,
            ),
        ];
        tables.push(PageTable {
            caption: "What was charged".to_owned(),
            columns: vec![Column::new("", ""), Column::new("ε", "nats")],
            rows: rows
                .into_iter()
                .map(|(what, epsilon)| vec![Cell::text(what), Cell::Number(epsilon)])
                .collect(),
        });
    }
    tables.push(counts(summary));
    tables.extend(summary.deviants.as_ref().map(deviants));
    tables
}

fn releases(summary: &FaultsSummary) -> PageTable {
    let names = |names: &[String]| match names.is_empty() {
        true => Cell::Missing,
        false => Cell::Text(listed(names)),
    };
    let rows = summary.releases.iter().map(|release| {
        vec![
            Cell::Count(u64::from(release.release)),
            Cell::Count(release.attempts as u64),
            Cell::Count(release.participants as u64),
            names(&release.inherited),
            names(&release.missing),
            Cell::Number(release.noise),
        ]
    });
    PageTable {
        caption: "Who takes part in each sum".to_owned(),
        columns: vec![
            Column::new("release", ""),
            Column::new("attempts", ""),
            Column::new("peers in the sum", ""),
            Column::new("lost, and in it all the same", ""),
            Column::new("missing", ""),
            Column::new("noise on the sum, over that of everybody's", "ratio"),
        ],
        rows: rows.collect(),
    }
}

/// Who was named for deviating.
fn deviants(told: &DeviantsSummary) -> PageTable {
    let of = |peer: &str| {
        let one = told.deviants.iter().find(|one| one.peer == peer);
        one.map_or("nothing", |one| one.how.name())
    };
    let named = told.named.iter().map(|named| {
        vec![
            Cell::Text(named.peer.clone()),
            Cell::text(of(&named.peer)),
            Cell::Count(u64::from(named.release)),
            Cell::text(named.finding),
        ]
    });
    let overlooked = told.overlooked.iter().map(|peer| {
        let (peer, how) = (Cell::Text(peer.clone()), Cell::text(of(peer)));
        vec![peer, how, Cell::Missing, Cell::text("nobody named it")]
    });
    PageTable {
        caption: "Peers that deviate while they average, in a run of their own".to_owned(),
        columns: vec![
            Column::new("peer", ""),
            Column::new("what it did", ""),
            Column::new("named after release", ""),
            Column::new("for what", ""),
        ],
        rows: named.chain(overlooked).collect(),
    }
}

/// Everything that occurred, and how often.
fn counts(summary: &FaultsSummary) -> PageTable {
    let fired = &summary.fired;
    let ends = summary.ends.iter();
    let ends = ends.map(|(end, count)| (format!("peers that ended: {end}"), *count as u64));
    let faults = [
        ("crashes", fired.crashes),
        ("processes that started again", fired.restarts),
        ("torn records", fired.torn_records),
        ("disks that failed", fired.disk_failures),
        ("links given up", fired.cuts),
        ("frames lost and sent again", fired.frames_lost),
        ("frames held up", fired.frames_held_up),
        ("retries spent", u64::from(summary.retries_spent)),
    ];
    let faults = faults
        .into_iter()
        .map(|(name, count)| (name.to_owned(), count));
    let cases = fired.cases.all().into_iter();
    let cases = cases.map(|(name, count)| (format!("case: {name}"), count));
    let all = ends
        .chain(faults)
        .chain(cases)
        .filter(|(_, count)| *count > 0);
    PageTable {
        caption: "What went wrong, and which cases of the guide's page on lost peers occurred"
            .to_owned(),
        columns: vec![Column::new("", ""), Column::new("how often", "")],
        rows: all
            .map(|(name, count)| vec![Cell::Text(name), Cell::Count(count)])
            .collect(),
    }
}
