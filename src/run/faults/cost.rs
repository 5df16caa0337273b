//! What an execution cost the worst-placed peer.

use crate::privacy::accountant::Connectivity;
use crate::privacy::realised::{Counted, Realised, RealisedError};

/// Up to this many peers the exact loss is found against every single curious one.
const EXACT_UP_TO: usize = 64;

/// μ² of the worst-placed peer in an execution, against any coalition.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::run) struct Squares {
    /// As planned for the tries that there were, whoever of those tolerated was lost.
    pub(in crate::run) planned: f64,
    /// Of what happened.
    pub(in crate::run) realised: f64,
    /// Whether the latter is exact; else an upper bound.
    pub(in crate::run) is_exact: bool,
}

/// What an execution cost, with so many colluders promised against and losses tolerated.
pub(in crate::run) fn squares(
    realised: &Realised,
    connectivity: Connectivity,
    (colluders, lost): (usize, usize),
) -> Result<Squares, RealisedError> {
    let largest = |squares: Vec<f64>| squares.into_iter().fold(0.0, f64::max);
    let planned = largest(realised.planned(connectivity, colluders, lost)?);
    let peers = realised.peers();
    let coalitions: Vec<Vec<u32>> = match colluders {
        0 => vec![Vec::new()],
        1 if peers <= EXACT_UP_TO => (0..peers as u32).map(|peer| vec![peer]).collect(),
        _ => Vec::new(),
    };
    let is_exact = !coalitions.is_empty();
    let mut worst = 0.0_f64;
    for coalition in &coalitions {
        let losses = realised.losses(coalition, Counted::Read)?;
        let losses = losses.into_iter().flatten().map(|loss| loss.high);
        worst = losses.fold(worst, f64::max);
    }
    let realised = match is_exact {
        true => worst,
        false => largest(realised.certified(colluders)?),
    };
    Ok(Squares {
        planned,
        realised,
        is_exact,
    })
}
