//! The simulation of rows in memory by the keys of an experiment file.

use super::algorithm_keys;
use super::error::ExperimentError;
use crate::algorithm::DataFacts;
use crate::config::AnyAlgorithmTable;
use crate::data::{Dataset, RowBounds};
use crate::engine::{Simulation, SimulationBuilder};
use crate::plan::Promise;
use crate::protocol::SessionPlanError;

/// The algorithm that these keys of the table `[algorithm]` name over these rows, as [`Simulation::new`] has it of an algorithm.
///
/// # Errors
/// [`ExperimentError`] for keys that the kind has not, for keys and kinds about what rows in memory do not have, and for numbers that make
/// no algorithm.
pub fn simulation(
    dataset: Dataset,
    table: &AnyAlgorithmTable,
    promise: Promise,
) -> Result<SimulationBuilder, ExperimentError> {
    algorithm_keys::check_in_memory(table, &dataset)?;
    let items = dataset.items();
    let floor = match dataset.bounds() {
        RowBounds::EqualEntries { degree_floor } => degree_floor,
        RowBounds::UnitNorm | RowBounds::Edges => 1,
    };
    let facts = DataFacts {
        // Public, as the number of rows is.
        slots: dataset.len(),
        ..DataFacts::of_items(items, floor)
    };
    let algorithm = table
        .table()
        .algorithm(&facts)
        .map_err(SessionPlanError::from)?;
    Ok(Simulation::new(dataset, algorithm, promise))
}
