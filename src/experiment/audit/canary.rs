//! The row that an audit adds and removes: a search for the change the sensitivity bound is tight for.

use crate::algorithm::contribution;
use crate::experiment::resolve::Experiment;
use crate::linalg::{Block, SparseRows};
use crate::privacy::Adjacency;

/// One row in two neighbouring worlds.
#[derive(Clone, Debug)]
pub(super) struct Canary {
    /// Items in world 0, ascending.
    pub(super) without: Vec<u32>,
    /// Items in world 1, ascending.
    pub(super) with: Vec<u32>,
}

impl Canary {
    /// The canary whose change of the contribution at X⁰ (‖(A′ − A)X⁰‖_F for products) is largest among structured candidates: an item of largest
    /// row norm joins (interaction), or a whole row appears (user), with 0 to 2D further items chosen
    /// greedily by their alignment with it.
    pub(super) fn search(experiment: &Experiment, start: &Block) -> Option<Self> {
        let adjacency = experiment.config.privacy.adjacency;
        let norm = |i: u32| start.row(i as usize).iter().map(|x| x * x).sum::<f64>();
        let items = 0..start.rows() as u32;
        let top = items.clone().max_by(|&a, &b| norm(a).total_cmp(&norm(b)))?;
        let floor = experiment.config.data.degree_floor as usize;
        let cap = experiment
            .config
            .data
            .degree_cap
            .map_or(usize::MAX, |cap| cap as usize);
        let most = (2 * floor).max(2).min(start.rows()).min(cap);
        let mut chosen = vec![top];
        let mut sum = start.row(top as usize).to_vec();
        let mut best: Option<(f64, Self)> = None;
        loop {
            let candidate = Self::of(adjacency, &chosen, top)?;
            let size = candidate.change(experiment, start).norm();
            if best.as_ref().is_none_or(|(largest, _)| size > *largest) {
                best = Some((size, candidate));
            }
            if chosen.len() >= most {
                return best.map(|(_, canary)| canary);
            }
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
        }
    }

    fn of(adjacency: Adjacency, items: &[u32], top: u32) -> Option<Self> {
        let mut with = items.to_vec();
        with.sort_unstable();
        let without = match adjacency {
            Adjacency::Interaction => with.iter().copied().filter(|&i| i != top).collect(),
            Adjacency::User => Vec::new(),
            _ => return None,
        };
        Some(Self { without, with })
    }

    /// The row as a matrix of one row, normalised with the experiment's degree floor.
    pub(super) fn rows(experiment: &Experiment, items: &[u32]) -> SparseRows {
        let mut rows = SparseRows::new(experiment.user_rows.dimension());
        let floor = experiment.config.data.degree_floor as usize;
        let value = 1.0 / (items.len().max(floor) as f64).sqrt();
        rows.push_row(items.iter().map(|&i| (i, value)))
            .expect("ascending items of the data");
        rows
    }

    /// What the canary changes in its peer's contribution: (A′ − A)X, or the triangle of A′ − A.
    pub(super) fn change(&self, experiment: &Experiment, x: &Block) -> Block {
        let algorithm = experiment.config.algorithm.build(x.rows());
        let of = |items: &[u32]| {
            let rows = Self::rows(experiment, items);
            contribution(algorithm.as_ref(), &rows, x.values())
        };
        let mut change = of(&self.with);
        change.add_scaled(-1.0, &of(&self.without));
        change
    }
}
