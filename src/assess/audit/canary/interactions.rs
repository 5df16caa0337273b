//! Users that have interacted with something or not: one item or one user more.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Canary, Read, begun};

use crate::config::Config;
use crate::data::{Interactions, ItemNames};
use crate::engine::PeerRows;
use crate::linalg::{Block, SparseRows};
use crate::privacy::Adjacency;
use crate::scenario::Experiment;
use crate::scenario::divisor::Divisor;
use crate::scenario::filters::{self, Choices};
use crate::vocabulary::{Quantity, Seed, TAIL_DEGREES};

/// The filters of an experiment, with the public list of items held fixed.
#[derive(Debug)]
pub(in crate::assess::audit) struct Filters<'a> {
    pub(super) experiment: &'a Experiment,
    list: ItemNames,
    /// What was read of the listed items: a shorter way to the same rows.
    listed: Interactions,
    seed: Seed,
    choices: Choices,
}

impl<'a> Filters<'a> {
    pub(in crate::assess::audit) fn new(experiment: &'a Experiment, choices: Choices) -> Self {
        let list = ItemNames::of(experiment.interactions());
        Self {
            experiment,
            listed: list.restrict(&experiment.loaded().interactions).0,
            list,
            seed: Seed::from_u64(experiment.config().seed),
            choices,
        }
    }

    /// What the filters of this configuration leave of these interactions.
    fn apply(&self, config: &Config, read: &Interactions) -> Interactions {
        // A test file takes nothing away, so there is none.
        filters::apply(config, &self.list, None, read, &self.seed, self.choices)
            .expect("the fraction was checked when the experiment was resolved")
            .interactions
    }

    /// What they leave of one user's row of listed items.
    fn row(&self, config: &Config, user: usize, row: &[u32]) -> Vec<u32> {
        self.apply(config, &self.alone(user, row)).row(0).to_vec()
    }

    /// The data of one user alone, with this row of listed items.
    pub(super) fn alone(&self, user: usize, row: &[u32]) -> Interactions {
        let alone = self.listed.alone(user, row);
        alone.expect("ascending items of the list")
    }

    /// Whether the data are rows of a matrix, of which nothing is filtered.
    pub(super) fn of_matrix(&self) -> bool {
        !self.experiment.config().data.is_of_ratings()
    }

    /// What the filters leave of these interactions.
    pub(super) fn left(&self, read: &Interactions) -> Interactions {
        self.apply(self.experiment.config(), read)
    }

    /// The interactions of all users, with this row as read in the place of `user`'s.
    fn world(&self, user: usize, row: &[u32]) -> Interactions {
        let read = &self.experiment.loaded().interactions;
        let read = read
            .with_row(user, row)
            .expect("ascending items of the data");
        self.left(&read)
    }

    /// Columns of which there is an item in the data, each with that item.
    pub(super) fn known(&self) -> BTreeMap<u32, u32> {
        let read = &self.experiment.loaded().interactions;
        let all = 0..read.items() as u32;
        let items: BTreeMap<&str, u32> = all
            .map(|item| (read.item_name(item as usize), item))
            .collect();
        let columns = (0_u32..).zip(self.list.as_slice());
        columns
            .filter_map(|(column, name)| items.get(name.as_str()).map(|&item| (column, item)))
            .collect()
    }

    /// The columns among these that a user can have at all: what coins take away of the whole row is gone from
    /// every row, and the coins are public.
    pub(super) fn surviving(&self, user: usize, columns: &[u32]) -> Vec<u32> {
        let mut uncapped = self.experiment.config().clone();
        uncapped.data.remove_degree_cap();
        self.row(&uncapped, user, columns)
    }
}

/// Rows on which one item more moves the others, if the filters look at more than each item alone: one item of each
/// of `length` stretches of the columns, and of one stretch more. Where rows of these lengths lose their items
/// is tried first; items that stay in either world are then chosen along one column of X.
fn by_position(
    filters: &Filters<'_>,
    user: usize,
    columns: &[u32],
    length: usize,
    start: &Block,
) -> Vec<Vec<u32>> {
    let width = columns.len() / (length + 1);
    if width == 0 {
        return Vec::new();
    }
    let stretches: Vec<&[u32]> = columns.chunks(width).take(length + 1).collect();
    let first: Vec<u32> = stretches.iter().map(|stretch| stretch[0]).collect();
    let config = &filters.experiment.config();
    let kept = [&first[..length], &first[..]].map(|row| filters.row(config, user, row));
    let stays = |column: u32| kept.iter().any(|kept| kept.contains(&column));
    let along = |direction: usize, sign: f64| {
        let value = |column: u32| sign * start.row(column as usize)[direction];
        let choose = |stretch: &&[u32]| match stays(stretch[0]) {
            false => stretch[0],
            true => {
                let best = stretch.iter().copied();
                best.max_by(|&a, &b| value(a).total_cmp(&value(b)))
                    .unwrap_or(stretch[0])
            }
        };
        stretches.iter().map(choose).collect()
    };
    (0..start.columns())
        .flat_map(|direction| [along(direction, 1.0), along(direction, -1.0)])
        .collect()
}

/// The canary whose change of the contribution at X⁰ (‖(A′ − A)X⁰‖_F for products) is largest among structured candidates: an item of largest
/// row norm joins (interaction), or a whole row appears (user), with 0 to 2D further items chosen
/// greedily by their alignment with it, all among those that the coins of `user` let through; and, where one item is the
/// record, rows of [`by_position`] that the last of their items joins.
pub(in crate::assess::audit) fn search(
    filters: &Filters<'_>,
    user: usize,
    start: &Block,
) -> Option<Canary> {
    let experiment = filters.experiment;
    let config = experiment.config();
    let adjacency = config.privacy.adjacency;
    let known = filters.known();
    let columns: Vec<u32> = known.keys().copied().collect();
    let mut best: Option<(f64, Canary)> = None;
    let batch = experiment.batch_of_user(user);
    let begun = begun(batch, &Arc::new(start.clone()));
    let mut consider = |with: &[u32], joins: u32| {
        let read = |columns: &[u32]| {
            let mut items: Vec<u32> = columns.iter().map(|column| known[column]).collect();
            items.sort_unstable();
            items
        };
        let mut with = with.to_vec();
        with.sort_unstable();
        let mut without = with.clone();
        match adjacency {
            Adjacency::Interaction => without.retain(|&column| column != joins),
            _ => without.clear(),
        }
        let held = |row: &[u32]| matrix(experiment, &filters.row(config, user, row));
        let candidate = Canary {
            batch,
            held: [held(&without), held(&with)],
            read: [&without, &with].map(|row| Read::Items(read(row))),
        };
        let size = candidate
            .change_of(experiment.algorithm(), experiment.program(), &begun)
            .norm();
        if best.as_ref().is_none_or(|(largest, _)| size > *largest) {
            best = Some((size, candidate));
        }
    };
    let floor = config.data.degree_floor() as usize;
    let cap = config.data.degree_cap();
    let cap = cap.map_or(usize::MAX, |cap| *cap as usize);
    let surviving = filters.surviving(user, &columns);
    let blocks = experiment.releases().iter().flat_map(|one| &one.blocks);
    let mut quantities = blocks.map(|block| block.quantity);
    let longest = match quantities.any(|quantity| quantity == Quantity::TailCounts) {
        // As many as are counted up to.
        true => TAIL_DEGREES.last().map_or(2, |last| *last as usize),
        false => (2 * floor).max(2),
    };
    let most = longest.min(surviving.len()).min(cap);
    let norm = |i: u32| start.row(i as usize).iter().map(|x| x * x).sum::<f64>();
    let items = surviving.iter().copied();
    let top = items.clone().max_by(|&a, &b| norm(a).total_cmp(&norm(b)))?;
    let mut chosen = vec![top];
    let mut sum = start.row(top as usize).to_vec();
    consider(&chosen, top);
    while chosen.len() < most {
        let along = |i: u32| {
            start
                .row(i as usize)
                .iter()
                .zip(&sum)
                .map(|(a, b)| a * b)
                .sum::<f64>()
        };
        let next = items
            .clone()
            .filter(|i| !chosen.contains(i))
            .max_by(|&a, &b| along(a).total_cmp(&along(b)))?;
        for (total, x) in sum.iter_mut().zip(start.row(next as usize)) {
            *total += x;
        }
        chosen.push(next);
        consider(&chosen, top);
    }
    if adjacency == Adjacency::Interaction {
        for length in 1..=(2 * floor).max(2) {
            for with in by_position(filters, user, &columns, length, start) {
                let joins = *with.last()?;
                consider(&with, joins);
            }
        }
    }
    best.map(|(_, canary)| canary)
}

/// What the experiment divides rows by.
fn divisor(config: &Config) -> Divisor {
    let floor = config.data.floor();
    Divisor::new(config, floor)
}

/// The row as a matrix of one row, divided as the experiment divides its rows.
fn matrix(experiment: &Experiment, items: &[u32]) -> SparseRows {
    let row = Interactions::from_rows(experiment.user_rows().dimension(), &[items.to_vec()]);
    divisor(experiment.config()).rows(&row.expect("ascending items of the data"))
}

/// The rows that all peers hold where this user's row as read is this.
pub(super) fn world(filters: &Filters<'_>, user: usize, read: &[u32]) -> (SparseRows, PeerRows) {
    let config = &filters.experiment.config();
    let world = filters.world(user, read);
    let dealt = filters::dealt(
        config,
        &divisor(config).rows(&world),
        &world,
        filters.experiment.placed(),
    );
    let dealt = dealt.expect("the experiment was dealt in the same way");
    (matrix(filters.experiment, world.row(user)), dealt)
}
