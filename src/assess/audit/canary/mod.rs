//! The row that an audit adds, removes or replaces: a search for the change the sensitivity bound is tight for.
//!
//! The canary is a row of the data *as read*. Both of its versions pass through every filter that the data of a run
//! passes through, in the place of one of the victim's users, so that what a filter makes of one record more is
//! part of what is audited.

mod interactions;
mod numbers;
mod row;

use std::sync::Arc;

use super::error::AuditError;
use crate::algorithm::{Algorithm, Program, PublicState, ReleaseSpec, contribution};
use crate::engine::{PeerRows, Simulation};
use crate::linalg::{Block, SparseRows};
use crate::privacy::Adjacency;
use crate::scenario::Experiment;
use crate::scenario::filters::Choices;

pub(super) use interactions::{Filters, search};

/// One row in two neighbouring worlds.
#[derive(Clone, Debug)]
pub(super) struct Canary {
    /// The batch that the row is in, in a stream.
    batch: Option<u32>,
    /// The row as read.
    read: [Read; 2],
    /// What the filters leave of it: a matrix of one row.
    held: [SparseRows; 2],
}

/// A row of the data as read.
#[derive(Clone, Debug, PartialEq)]
enum Read {
    /// The items of a user, ascending.
    Items(Vec<u32>),
    /// Numbers by their columns, ascending; none for a slot that nobody fills.
    Numbers(Vec<(u32, f64)>),
}

impl Read {
    fn len(&self) -> usize {
        match self {
            Self::Items(items) => items.len(),
            Self::Numbers(numbers) => numbers.len(),
        }
    }
}

impl Canary {
    /// The canary in the place of this user, and the rows that all peers hold in the two worlds.
    ///
    /// # Errors
    /// [`AuditError::NoCanary`] for an adjacency without one, [`AuditError::NothingSurvives`] where no row of the user would reach a peer.
    pub(super) fn find(
        experiment: &Experiment,
        user: usize,
        start: &Arc<Block>,
        choices: Choices,
    ) -> Result<(Self, [PeerRows; 2]), AuditError> {
        let adjacency = experiment.config().privacy.adjacency;
        let of_numbers = experiment.samples().is_some();
        let known = match adjacency {
            Adjacency::User => true,
            Adjacency::Interaction => !of_numbers,
            Adjacency::ReplaceUser => of_numbers,
            _ => false,
        };
        if !known {
            return Err(AuditError::NoCanary { adjacency });
        }
        let filters = Filters::new(experiment, choices);
        let found = match of_numbers {
            true => numbers::search(&filters, user, start),
            false => search(&filters, user, start),
        };
        let mut canary = found.ok_or(AuditError::NothingSurvives)?;
        // The canary's rows after the filters become those that are in the worlds.
        let [without, with] = [0, 1].map(|world| {
            let (held, rows) = match &canary.read[world] {
                Read::Items(items) => interactions::world(&filters, user, items),
                Read::Numbers(numbers) => numbers::world(&filters, user, numbers),
            };
            canary.held[world] = held;
            rows
        });
        Ok((canary, [without, with]))
    }

    /// Entries of the row in both worlds, as read.
    pub(super) fn entries(&self) -> [usize; 2] {
        [self.read[0].len(), self.read[1].len()]
    }

    /// X⁰ as the query of the first release that the row contributes to.
    pub(super) fn begun(&self, start: &Arc<Block>) -> PublicState {
        begun(self.batch, start)
    }

    /// What the canary changes in its peer's contribution: (A′ − A)X, or the triangle of A′ − A.
    pub(super) fn change(&self, simulation: &Simulation, state: &PublicState) -> Block {
        self.change_of(simulation.algorithm(), simulation.program(), state)
    }

    /// The same of this algorithm and its program.
    fn change_of(
        &self,
        algorithm: &dyn Algorithm,
        program: &Program,
        state: &PublicState,
    ) -> Block {
        let history = state.history();
        let release = program.releases.get(history.release.index());
        let shape = release.map_or((0, 0), ReleaseSpec::shape);
        let batch = release.and_then(|one| one.batch);
        if batch.is_some() && batch != self.batch {
            let (height, width) = shape;
            return Block::zeros(height, width);
        }
        let [without, with] = [0, 1].map(|world| {
            let rows = &self.held[world];
            contribution(algorithm, rows, history, shape)
        });
        let mut change = with;
        change.add_scaled(-1.0, &without);
        change
    }
}

/// X⁰ as the query of the first release that a row of this batch contributes to.
fn begun(batch: Option<u32>, start: &Arc<Block>) -> PublicState {
    PublicState {
        released: batch.unwrap_or(0),
        ..PublicState::new(Arc::clone(start))
    }
}
