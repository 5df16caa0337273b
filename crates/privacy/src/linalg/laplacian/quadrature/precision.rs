//! The diagonal of the inverse in one precision: how many steps, which rows again.

use super::lanczos::{Mode, Start};
use super::operator::Operator;
use super::scalar::Scalar;
use super::spaces::krylov;
use super::view::View;
use crate::linalg::bracket::Bracket;

/// Vectors per block in double and in single precision: one cache line per row.
pub(super) const DOUBLE: usize = 8;
pub(super) const SINGLE: usize = 16;

/// From this relative gap on single precision is tried first.
pub(super) const SINGLE_FROM: f64 = 1e-3;

/// Rows that decide on the number of steps for all.
const PILOTS: usize = 32;

/// Steps that pilots take first.
const FIRST_STEPS: usize = 16;

/// Bytes of vectors a thread may keep to orthogonalise against.
const KEPT: usize = 512 << 20;

/// How often rows that missed the gap are run again with more steps.
const ROUNDS: usize = 4;

/// What is asked of the quadrature.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Target {
    /// The relative gap (high − low)/low to reach.
    pub gap: f64,
    /// The most Lanczos steps per row.
    pub steps: usize,
    /// A certified lower bound on λ₂(K), in the units of the whole matrix; 0 if unknown.
    pub connectivity: f64,
    /// Whether to stop, without an answer, where the pilots miss the gap.
    pub reached_only: bool,
}

/// The steps that pilots take: [`FIRST_STEPS`], doubled up to `limit`.
pub(super) fn pilot_steps(limit: usize) -> impl Iterator<Item = usize> {
    std::iter::successors(Some(limit.min(FIRST_STEPS)), move |&steps| {
        (steps < limit).then(|| limit.min(2 * steps))
    })
}

/// The diagonal of the inverse of what `view` is of, to the relative gap of `target` if at most `limit` steps per row reach
/// it, and the steps taken. `None` only where the target asks for no more.
pub(super) fn with_precision<S: Scalar, const W: usize>(
    view: &View<'_>,
    operator: &Operator<'_, S>,
    target: Target,
    limit: usize,
) -> Option<(Vec<Bracket>, usize)> {
    let gap = target.gap;
    let n = operator.len();
    let starts =
        |rows: &[u32]| -> Vec<Start> { rows.iter().map(|&u| Start::unit(operator, u)).collect() };
    let all: Vec<u32> = (0..n as u32).collect();
    let pilots: Vec<u32> = all.iter().copied().step_by(n.div_ceil(PILOTS)).collect();
    let pilot = |mode: Mode| {
        let mut found = (f64::INFINITY, 1);
        for steps in pilot_steps(limit) {
            let sample = krylov::<S, W>(operator, &starts(&pilots), steps, mode);
            found = view.steps(&pilots, &sample, steps, gap);
            if found.0 <= 0.5 * gap {
                break;
            }
        }
        found
    };
    let mut mode = Mode::Recurrence;
    let (mut worst, mut steps) = pilot(mode);
    let keeps = n * limit * size_of::<[S; W]>() <= KEPT;
    if worst > 0.5 * gap && keeps {
        let (kept, enough) = pilot(Mode::Reorthogonal);
        if kept < 0.5 * worst {
            (mode, worst, steps) = (Mode::Reorthogonal, kept, enough);
        }
    }
    if target.reached_only && worst > gap {
        return None;
    }
    let mut brackets = view.brackets::<S, W>(operator, &all, steps, mode);
    for _ in 0..ROUNDS {
        let missed: Vec<u32> = all
            .iter()
            .copied()
            .filter(|&u| brackets[u as usize].gap() > gap)
            .collect();
        if missed.is_empty() || steps >= limit && mode == Mode::Reorthogonal {
            break;
        }
        if keeps {
            mode = Mode::Reorthogonal;
        }
        steps = (steps + (steps / 4).max(2)).min(limit);
        let again = view.brackets::<S, W>(operator, &missed, steps, mode);
        let mut better = false;
        for (&u, bracket) in missed.iter().zip(again) {
            let old = &mut brackets[u as usize];
            better |= bracket.gap() < 0.9 * old.gap();
            // Both are proved.
            *old = Bracket::new(
                old.low.max(bracket.low),
                bracket.estimate,
                old.high.min(bracket.high),
            );
        }
        if !better {
            break;
        }
    }
    Some((brackets, steps))
}
