//! The part of a page that says what a pilot released, what was chosen by it and why, and what it cost.

use super::number;
use super::page::Page;
use super::table::{Cell, PageTable};
use crate::assess::{PartCost, part_costs};
use crate::campaign::advise::{Candidate, PilotCounts};
use crate::campaign::auto::{Chosen, Piloted, RULE};
use crate::writing::{self, Column};

/// Candidates that are shown beside the chosen one; `advice.json` has all.
const SHOWN: usize = 8;

/// Writes the section.
pub(super) fn section(page: &mut Page, chosen: &Chosen) {
    page.section("Pilot and choice");
    match &chosen.pilot {
        Some(pilot) => released(page, chosen, pilot),
        None => page.paragraph(
            "There was no pilot (share = 0): the choice rests on public numbers and on assumptions alone, and costs nothing.",
        ),
    }
    let advice = &chosen.advice;
    page.paragraph(&format!(
        "Chosen by rule {RULE}: {}. Every candidate ran on {} stand-ins for the data, drawn from public numbers{}; on each it has a ratio to the candidate \
         that is best there, and the one chosen has the least √(largest ratio · geometric mean of the ratios). Errors below are predictions, not measured on the data.",
        advice.recommended.name,
        advice.recommended.predicted_by_stand_in.len(),
        match chosen.pilot {
            Some(_) => " and from what the pilot released",
            None => "",
        },
    ));
    page.table(&candidates(chosen));
}

/// What the pilot released, and what it cost.
fn released(page: &mut Page, chosen: &Chosen, pilot: &Piloted) {
    let (counts, users) = (&pilot.counts, pilot.experiment.interactions().users());
    let share = pilot.experiment.part().map_or(0.0, |part| part.get());
    page.paragraph(&format!(
        "Before anything was chosen a pilot spent {} % of μ² on one sum: how many of {} users have at least so many interactions, and of every one of {} \
         items the sum of 1/√d over its users, d being how many interactions the user has. Noise has standard deviation {} on a count and {} on a sum; {} \
         of the sums are above three of theirs. The busiest peer sent {}.",
        number::short(100.0 * share),
        number::grouped(users as u64),
        number::grouped(counts.shares().len() as u64),
        number::significant(counts.sigma(), 3),
        number::significant(counts.sigma_of_shares(), 3),
        number::grouped(known(counts) as u64),
        writing::bytes(pilot.bytes_max_peer()),
    ));
    page.table(&tail(counts, users));
    let costs = part_costs(&pilot.experiment, &chosen.experiment);
    if !costs.is_empty() {
        page.table(&cost(&costs));
    }
}

/// Sums of items that noise does not hide.
fn known(counts: &PilotCounts) -> usize {
    let above = |share: &&f64| **share > 3.0 * counts.sigma_of_shares();
    counts.shares().iter().filter(above).count()
}

fn tail(counts: &PilotCounts, users: usize) -> PageTable {
    let rows = counts.thresholds().iter().zip(counts.counts());
    let rows = rows
        .zip(counts.tail(users))
        .map(|((least, count), possible)| {
            vec![
                Cell::Text(least.to_string()),
                Cell::Number(*count),
                Cell::Number(possible),
            ]
        });
    PageTable {
        caption: "Users by number of interactions, as the pilot released it; noise takes counts below 0 and out of order".to_owned(),
        columns: vec![
            Column::new("interactions at least", "number"),
            Column::new("as released", "users"),
            Column::new("nearest that could be true", "users"),
        ],
        rows: rows.collect(),
    }
}

fn cost(costs: &[PartCost]) -> PageTable {
    let rows = costs.iter().map(|cost| {
        vec![
            Cell::text(&cost.view),
            Cell::Number(cost.pilot.epsilon),
            Cell::Number(cost.rest.epsilon),
            Cell::Number(cost.both.mu),
            Cell::Number(cost.both.epsilon),
        ]
    });
    PageTable {
        caption: "What the pilot and the run cost; ε of both is that of the root of the sum of their squared μ, and less than the sum of the two ε".to_owned(),
        columns: vec![
            Column::new("seen by", ""),
            Column::new("pilot alone", "ε, nats"),
            Column::new("run alone", "ε, nats"),
            Column::new("both", "μ"),
            Column::new("both", "ε, nats"),
        ],
        rows: rows.collect(),
    }
}

fn candidates(chosen: &Chosen) -> PageTable {
    let advice = &chosen.advice;
    let own = |one: &&Candidate| one.name == advice.recommended.name;
    let predicted = |one: &&Candidate| one.predicted_error.is_some();
    let all = || advice.candidates.iter().filter(predicted);
    let mut shown: Vec<&Candidate> = all().take(SHOWN).collect();
    if !shown.iter().any(own) {
        shown.extend(all().find(own));
    }
    let rows = shown.into_iter().map(|one| {
        vec![
            Cell::text(&one.name),
            Cell::optional(one.predicted_error),
            Cell::Text(writing::bytes(one.bytes_max_peer)),
            Cell::text(if own(&one) { "chosen" } else { "" }),
        ]
    });
    PageTable {
        caption: format!(
            "Candidates of least predicted error, of {} that could be run within the bytes allowed; advice.json has all",
            number::grouped(all().count() as u64)
        ),
        columns: vec![
            Column::new("candidate", ""),
            Column::new("predicted error", "ratio"),
            Column::new("busiest peer sends", ""),
            Column::new("", ""),
        ],
        rows: rows.collect(),
    }
}
