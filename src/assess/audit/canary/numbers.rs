//! Rows of numbers: one row of a matrix, or all ratings of one user, that is there or not, or another.

use std::sync::Arc;

use super::interactions::Filters;
use super::{Canary, Read, begun};
use crate::data::{Interactions, Loaded};
use crate::engine::PeerRows;
use crate::linalg::{Block, SparseRows};
use crate::privacy::Adjacency;
use crate::scenario::{filters, numbers};

/// Numbers by their columns, as read.
type Row = Vec<(u32, f64)>;

/// More rows than this are not tried against each other.
const MOST_PAIRED: usize = 10;

/// The canary whose change of what is first contributed is largest: rows along the columns of X⁰ and against them, in proportion or at the ends of the
/// public ranges, and one at all upper ends; each against a slot that nobody fills, or, where a row is replaced, against each other.
pub(super) fn search(filters: &Filters<'_>, user: usize, start: &Block) -> Option<Canary> {
    let experiment = filters.experiment;
    let batch = experiment.batch_of_user(user);
    let begun = begun(batch, &Arc::new(start.clone()));
    let candidates = candidates(filters, user, start);
    let held: Vec<SparseRows> = candidates
        .iter()
        .map(|row| alone(filters, user, row))
        .collect();
    let nobody = (
        Row::new(),
        SparseRows::new(experiment.user_rows().dimension()),
    );
    let replaced = experiment.config().privacy.adjacency == Adjacency::ReplaceUser;
    let mut best: Option<(f64, Canary)> = None;
    for (with, row) in candidates.iter().enumerate() {
        let others = match replaced {
            true => 0..with.min(MOST_PAIRED),
            false => 0..1,
        };
        for without in others {
            let (other, of_other) = match replaced {
                true => (&candidates[without], &held[without]),
                false => (&nobody.0, &nobody.1),
            };
            let candidate = Canary {
                batch,
                read: [other, row].map(|row| Read::Numbers(row.clone())),
                held: [of_other.clone(), held[with].clone()],
            };
            let size = candidate
                .change_of(experiment.algorithm(), experiment.program(), &begun)
                .norm();
            if best.as_ref().is_none_or(|(largest, _)| size > *largest) {
                best = Some((size, candidate));
            }
        }
    }
    best.map(|(_, canary)| canary)
}

/// Rows as read that may move a sum far.
fn candidates(filters: &Filters<'_>, user: usize, start: &Block) -> Vec<Row> {
    let experiment = filters.experiment;
    let config = experiment.config();
    // The column as read of every column that is kept and that this user can fill.
    let columns: Vec<(usize, u32)> = match filters.of_matrix() {
        true => (0..start.rows()).map(|at| (at, at as u32)).collect(),
        false => {
            let known = filters.known();
            let all: Vec<u32> = known.keys().copied().collect();
            let kept = filters.surviving(user, &all).into_iter();
            kept.map(|column| (column as usize, known[&column]))
                .collect()
        }
    };
    let ends = numbers::ends(config, experiment.base()).unwrap_or_default();
    let clips = [config.data.row_clip(), config.data.raw_clip()];
    let longest = clips.into_iter().flatten().fold(0.0, f64::max);
    let end = |column: usize| match ends.as_slice() {
        [] => [-2.0 * longest, 2.0 * longest],
        [all] => *all,
        each => each[column],
    };
    let row = |part: &dyn Fn(usize) -> f64| {
        let entry = |&(at, column): &(usize, u32)| {
            let [low, high] = end(at);
            (column, low + (high - low) * part(at))
        };
        let mut row: Row = columns.iter().map(entry).collect();
        row.sort_unstable_by_key(|&(column, _)| column);
        let length = row.iter().fold(0.0_f64, |norm, (_, x)| norm.hypot(*x));
        if let Some(limit) = config.data.row_limit().copied()
            && length > limit
        {
            let shorter = (1.0 - 1e-9) * limit / length;
            row.iter_mut().for_each(|(_, x)| *x *= shorter);
        }
        row
    };
    let mut rows = vec![row(&|_| 1.0)];
    // Without ranges the middle of an interval about 0 is 0, with them its lower end is the least there is.
    let middle = if ends.is_empty() { 0.5 } else { 0.0 };
    for direction in 0..start.columns() {
        let value = |at: usize| start.row(at)[direction];
        let most = columns
            .iter()
            .fold(0.0_f64, |most, (at, _)| most.max(value(*at).abs()));
        if most == 0.0 {
            continue;
        }
        for sign in [1.0, -1.0] {
            let along = |at: usize| sign * value(at) / most;
            rows.push(row(&|at| {
                (middle + (1.0 - middle) * along(at)).clamp(0.0, 1.0)
            }));
            rows.push(row(&|at| f64::from(u8::from(along(at) > 0.0))));
        }
    }
    rows
}

/// The data with this row of numbers in the place of `user`'s.
fn with_row(filters: &Filters<'_>, user: usize, row: &[(u32, f64)]) -> Loaded {
    let loaded = filters.experiment.loaded();
    let items: Vec<u32> = row.iter().map(|(column, _)| *column).collect();
    let values = loaded.values.as_ref().map(|values| {
        let mut other = SparseRows::new(values.dimension());
        for i in 0..values.len() {
            let (columns, numbers) = values.row(i);
            let entries: Row = match i == user {
                true => row.to_vec(),
                false => columns
                    .iter()
                    .copied()
                    .zip(numbers.iter().copied())
                    .collect(),
            };
            other
                .push_row(entries)
                .expect("ascending columns and finite numbers");
        }
        other
    });
    let interactions = match filters.of_matrix() {
        // Of which there are names of rows and columns only.
        true => loaded.interactions.clone(),
        false => {
            let other = loaded.interactions.with_row(user, &items);
            other.expect("ascending items of the data")
        }
    };
    Loaded {
        interactions,
        values,
        ..loaded.clone()
    }
}

/// What all public steps between the file and the peers leave of these data.
fn left(filters: &Filters<'_>, loaded: &Loaded, kept: &Interactions) -> SparseRows {
    let (config, base) = (filters.experiment.config(), filters.experiment.base());
    let samples = numbers::prepared(config, base, loaded, kept);
    let rows = samples.and_then(|samples| numbers::rows(config, base, &samples));
    rows.expect(
        "the experiment was prepared in the same way, and the row keeps to the file's promises",
    )
}

/// What they leave of one row: a matrix of one row.
fn alone(filters: &Filters<'_>, user: usize, row: &[(u32, f64)]) -> SparseRows {
    let loaded = filters.experiment.loaded();
    let mut values = SparseRows::new(loaded.interactions.items());
    values
        .push_row(row.iter().copied())
        .expect("ascending columns and finite numbers");
    let items: Vec<u32> = match filters.of_matrix() {
        true => Vec::new(),
        false => row.iter().map(|(column, _)| *column).collect(),
    };
    let one = Loaded {
        interactions: loaded
            .interactions
            .alone(user, &items)
            .expect("ascending items of the data"),
        counts: loaded.counts,
        values: Some(values),
        layout: None,
        peers: None,
    };
    left(filters, &one, &kept(filters, &one.interactions))
}

/// Of a matrix everything, of ratings what the filters leave.
fn kept(filters: &Filters<'_>, read: &Interactions) -> Interactions {
    match filters.of_matrix() {
        true => read.clone(),
        false => filters.left(read),
    }
}

/// The row and the rows that all peers hold where `user`'s row as read is this.
pub(super) fn world(
    filters: &Filters<'_>,
    user: usize,
    row: &[(u32, f64)],
) -> (SparseRows, PeerRows) {
    let experiment = filters.experiment;
    let loaded = with_row(filters, user, row);
    let rows = left(filters, &loaded, &kept(filters, &loaded.interactions));
    let (config, placed) = (experiment.config(), experiment.placed());
    let dealt = filters::dealt(config, &rows, experiment.interactions(), placed);
    let dealt = dealt.expect("the experiment was dealt in the same way");
    (rows.single(user), dealt)
}
