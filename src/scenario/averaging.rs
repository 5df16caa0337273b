//! The averaging that an experiment file asks for.

use super::error::AveragingTableError;
use crate::config::AveragingConfig;
use crate::plan::Averaging;
use crate::protocol::averaging::{AveragingOptions, Length, Loss, MAX_ROUNDS};
use crate::topology::Topology;

/// What the table `[averaging]` asks for, over the peers of this topology, where so many messages are lost.
pub(super) fn of(
    config: &AveragingConfig,
    loss: Loss,
    topology: &Topology,
) -> Result<Averaging, AveragingTableError> {
    let length = match (config.tolerance, config.rounds) {
        (Some(_), Some(_)) => return Err(AveragingTableError::ToleranceAndRounds),
        (Some(tolerance), None) => Length::Tolerance(tolerance),
        (None, Some(rounds)) => Length::Rounds(checked_rounds(rounds)?),
        (None, None) => Length::Own,
    };
    let mut options = AveragingOptions::default().with_loss(loss);
    if let Some(name) = &config.root {
        options = options.with_root(topology.find(name)?);
    }
    if let Some(seed) = config.seed {
        options = options.with_seed(seed);
    }
    if let Some(fan_in) = config.fan_in {
        options = options.with_fan_in(fan_in)?;
    }
    if let Some(turns) = config.rotate {
        options = options.with_rotate(turns)?;
    }
    if let Some(base) = config.base {
        options = options.with_base(base)?;
    }
    Ok(Averaging::Named {
        scheme: config.scheme,
        length,
        options,
    })
}

fn checked_rounds(rounds: u32) -> Result<u32, AveragingTableError> {
    if (1..=MAX_ROUNDS).contains(&rounds) {
        Ok(rounds)
    } else {
        Err(AveragingTableError::Rounds {
            found: rounds,
            limit: MAX_ROUNDS,
        })
    }
}
