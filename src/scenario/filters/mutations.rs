//! Rules that look at a row's length and at positions in it, as they stood before: what every check here must notice.

use rand::RngExt;

use super::Choices;
use crate::data::{CapCounts, Interactions};
use crate::recommender::{SplitCounts, SplitError, TestSet, hold_out};
use crate::vocabulary::{Label, Seed};

/// The first `count` places of a Fisher–Yates shuffle of a row by a stream of the user's number.
fn shuffled(
    row: &[u32],
    count: usize,
    label: Label,
    user: usize,
    part: u32,
    seed: &Seed,
) -> Vec<u32> {
    let mut row = row.to_vec();
    let mut generator = seed.key(label, user as u32, part).stream(0, 0);
    for place in 0..count {
        let other = generator.random_range(place..row.len());
        row.swap(place, other);
    }
    row.truncate(count);
    row.sort_unstable();
    row
}

/// The number of a user of a file whose users are called 1, 2, 3, … in order: what its stream was keyed by.
fn number(data: &Interactions, user: usize) -> usize {
    data.user_name(user)
        .parse()
        .map_or(user, |name: usize| name.saturating_sub(1))
}

/// Holds out round(fraction · d) of d interactions, at least one and not all.
fn hold_out_by_length(
    data: &Interactions,
    fraction: f64,
    seed: &Seed,
) -> Result<(Interactions, TestSet, SplitCounts), SplitError> {
    let rows: Vec<Vec<u32>> = (0..data.users())
        .map(|user| {
            let mut row = data.row(user).to_vec();
            if row.len() >= 2 {
                let count = (fraction * row.len() as f64).round() as usize;
                let count = count.clamp(1, row.len() - 1);
                let held = shuffled(&row, count, Label::Holdout, number(data, user), 0, seed);
                row.retain(|item| held.binary_search(item).is_err());
            }
            row
        })
        .collect();
    let train = data.with_rows(&rows).expect("parts of valid rows");
    // What is held out is not looked at here: any test set does.
    let (_, test, counts) = hold_out(data, fraction, seed)?;
    Ok((train, test, counts))
}

/// Keeps `cap` interactions of a longer row, by position.
fn cap_by_position(data: &Interactions, cap: usize, seed: &Seed) -> (Interactions, CapCounts) {
    let rows: Vec<Vec<u32>> = (0..data.users())
        .map(|user| match data.row(user) {
            row if row.len() > cap => shuffled(row, cap, Label::Partition, user, 1, seed),
            row => row.to_vec(),
        })
        .collect();
    let capped = data.with_rows(&rows).expect("parts of valid rows");
    let counts = data.cap(cap, seed).1;
    (capped, counts)
}

/// The old hold-out and everything else as it is.
pub(crate) fn old_hold_out() -> Choices {
    Choices {
        hold_out: hold_out_by_length,
        ..Choices::default()
    }
}

/// The old cap and everything else as it is.
pub(crate) fn old_cap() -> Choices {
    Choices {
        cap: cap_by_position,
        ..Choices::default()
    }
}
