//! The Krylov spaces of many starting vectors, W at a time, in parallel.

use rayon::prelude::*;

use super::lanczos::{self, Coefficients, Mode, Start, Workspace};
use super::operator::Operator;
use super::orthogonality;
use super::scalar::Scalar;

/// The coefficients of one row with the orthogonality its steps are known to have kept.
pub(super) struct Space {
    pub(super) coefficients: Coefficients,
    pub(super) defects: Vec<f64>,
}

impl Space {
    pub(super) fn steps(&self) -> usize {
        self.coefficients.betas.len()
    }
}

/// `each` on the space of every start, in order.
pub(super) fn spaces<S: Scalar, const W: usize, T: Send>(
    operator: &Operator<'_, S>,
    starts: &[Start],
    steps: usize,
    mode: Mode,
    each: impl Fn(usize, Space) -> T + Sync,
) -> Vec<T> {
    let nested: Vec<Vec<T>> = starts
        .par_chunks(W)
        .enumerate()
        .map_init(
            || Workspace::<S, W>::new(operator.len()),
            |workspace, (block, starts)| {
                lanczos::run(operator, starts, steps, mode, workspace)
                    .into_iter()
                    .enumerate()
                    .map(|(l, coefficients)| {
                        let defects = orthogonality::defects(&coefficients);
                        let space = Space {
                            coefficients,
                            defects,
                        };
                        each(block * W + l, space)
                    })
                    .collect()
            },
        )
        .collect();
    nested.into_iter().flatten().collect()
}

pub(super) fn krylov<S: Scalar, const W: usize>(
    operator: &Operator<'_, S>,
    starts: &[Start],
    steps: usize,
    mode: Mode,
) -> Vec<Space> {
    spaces::<S, W, Space>(operator, starts, steps, mode, |_, space| space)
}
