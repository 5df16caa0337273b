//! Variance factors of large pieces: Gauss and Gauss–Radau quadrature from a few Lanczos steps per peer.
//!
//! Each peer costs k sparse products and ends in an interval ([`radau`]) that needs a lower bound a on
//! A = I + 𝓛 off its null vector. a = 1 always holds; a certified λ₂ gives more where there is one.
//!
//! Without one, [`floor`] proves a bound from the Krylov spaces of clusters first, for a fraction of the cost.
//!
//! Where hubs stretch the spectrum, [`equilibrated`] divides their rows by their size first.

mod block;
mod equilibrated;
mod floor;
mod lanczos;
mod operator;
mod orthogonality;
mod radau;

#[cfg(test)]
mod tests;

use rayon::prelude::*;

use self::lanczos::{Coefficients, Mode, Start, Workspace};
use self::operator::{Operator, Scalar};
use super::bracket::Bracket;
use super::piece::Piece;

/// Vectors per block in double and in single precision: one cache line per peer.
const DOUBLE: usize = 8;
const SINGLE: usize = 16;

/// From this relative gap on single precision is tried first.
const SINGLE_FROM: f64 = 1e-3;

/// Peers that decide on the number of steps for all.
const PILOTS: usize = 32;

/// Bytes of vectors a thread may keep to orthogonalise against.
const KEPT: usize = 512 << 20;

/// How often peers that missed the gap are run again with more steps.
const ROUNDS: usize = 4;

/// What is asked of the quadrature.
#[derive(Clone, Copy, Debug)]
pub(super) struct Target {
    /// The relative gap (high − low)/low to reach.
    pub gap: f64,
    /// The most Lanczos steps per peer.
    pub steps: usize,
    /// A certified lower bound on λ₂ of the pairwise part K of every piece, as a variance; 0 if unknown.
    pub connectivity: f64,
}

/// v_u of every peer of a piece of at least two peers with positive own variances, and the most steps taken. Where
/// the gap asked for is out of reach the brackets are wider, not wrong.
pub(super) fn variance_factors(piece: &Piece, target: Target) -> (Vec<Bracket>, usize) {
    let Some((mut brackets, steps)) = equilibrated::variance_factors(piece, target) else {
        return plain(piece, target);
    };
    if brackets.iter().all(|bracket| bracket.gap() <= target.gap) {
        return (brackets, steps);
    }
    let (others, more) = plain(piece, target);
    for (bracket, other) in brackets.iter_mut().zip(others) {
        // Both are proved.
        let tighter = if other.gap() < bracket.gap() {
            other
        } else {
            *bracket
        };
        *bracket = Bracket::new(
            bracket.low.max(other.low),
            tighter.estimate,
            bracket.high.min(other.high),
        );
    }
    (brackets, steps.max(more))
}

/// The same with the covariance as it is.
fn plain(piece: &Piece, target: Target) -> (Vec<Bracket>, usize) {
    let limit = target.steps.clamp(1, piece.len());
    let single = Operator::<f32>::new(piece);
    let mut view = View::new(piece, &single, target.connectivity);
    view.floor = view
        .floor
        .max(floor::certified::<f32, SINGLE>(piece, &single, limit));
    if target.gap >= SINGLE_FROM {
        let found = with_precision::<f32, SINGLE>(&view, &single, target.gap, limit);
        if found.0.iter().all(|bracket| bracket.gap() <= target.gap) {
            return found;
        }
    }
    let double = Operator::<f64>::new(piece);
    with_precision::<f64, DOUBLE>(&view, &double, target.gap, limit)
}

fn with_precision<S: Scalar, const W: usize>(
    view: &View<'_>,
    operator: &Operator<'_, S>,
    gap: f64,
    limit: usize,
) -> (Vec<Bracket>, usize) {
    let n = operator.len();
    let starts =
        |peers: &[u32]| -> Vec<Start> { peers.iter().map(|&u| Start::peer(operator, u)).collect() };
    let everybody: Vec<u32> = (0..n as u32).collect();
    let pilots: Vec<u32> = everybody
        .iter()
        .copied()
        .step_by(n.div_ceil(PILOTS))
        .collect();
    let pilot = |mode: Mode| {
        let sample = krylov::<S, W>(operator, &starts(&pilots), limit, mode);
        view.steps(&pilots, &sample, limit, gap)
    };
    let mut mode = Mode::Recurrence;
    let (worst, mut steps) = pilot(mode);
    let keeps = n * limit * size_of::<[S; W]>() <= KEPT;
    if worst > 0.5 * gap && keeps {
        let (kept, enough) = pilot(Mode::Reorthogonal);
        if kept < 0.5 * worst {
            (mode, steps) = (Mode::Reorthogonal, enough);
        }
    }
    let mut brackets = view.brackets::<S, W>(operator, &everybody, steps, mode);
    for _ in 0..ROUNDS {
        let missed: Vec<u32> = everybody
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
    (brackets, steps)
}

/// The coefficients of one peer with the orthogonality its steps are known to have kept.
struct Space {
    coefficients: Coefficients,
    defects: Vec<f64>,
}

impl Space {
    fn steps(&self) -> usize {
        self.coefficients.betas.len()
    }
}

/// `each` on the space of every start, in order.
fn spaces<S: Scalar, const W: usize, T: Send>(
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

fn krylov<S: Scalar, const W: usize>(
    operator: &Operator<'_, S>,
    starts: &[Start],
    steps: usize,
    mode: Mode,
) -> Vec<Space> {
    spaces::<S, W, Space>(operator, starts, steps, mode, |_, space| space)
}

/// What turns quadrature in units of B into variance factors.
struct View<'a> {
    piece: &'a Piece,
    /// What quadrature leaves out, the same for everybody.
    common: Bracket,
    /// What e_uᵀA⁻¹e_u, in units of 1/s, is divided by: one number per peer.
    divisors: Vec<f64>,
    /// 1/s, A = s(1/s + B); 0 if A = B.
    epsilon: f64,
    /// A certified lower bound on A off its null vector, in units of s.
    floor: f64,
}

impl<'a> View<'a> {
    fn new<S: Scalar>(piece: &'a Piece, operator: &Operator<'_, S>, connectivity: f64) -> Self {
        let scale = operator.scale;
        let epsilon = 1.0 / scale;
        // λ₂(𝓛) ≥ λ₂(K)/max d by the minimax principle; d ≤ max d is what scaling divided by at most.
        let largest = piece.own.iter().copied().fold(0.0, f64::max);
        let known = if connectivity > 0.0 && connectivity.is_finite() {
            connectivity / piece.unit / largest / scale * (1.0 - 1e-12)
        } else {
            0.0
        };
        Self {
            piece,
            common: Bracket::rounded(1.0 / piece.total_own()),
            divisors: piece.own.iter().map(|own| scale * own).collect(),
            epsilon,
            floor: epsilon * (1.0 - 1e-15) + known,
        }
    }

    /// The ends for peer u from the first k steps, in units of 1/s. Both the longest space and the longest that is
    /// surely orthogonal are proofs; the better end of each counts.
    fn ends(&self, space: &Space, k: usize) -> radau::Ends {
        let k = k.min(space.steps());
        let at = |k: usize| {
            radau::ends(
                &space.coefficients,
                k,
                space.defects[k],
                self.epsilon,
                self.floor,
            )
        };
        let mut best = at(k);
        for limit in [1e-2, 1e-6, 1e-9] {
            if space.defects[k] > limit
                && let Some(shorter) = (1..k).rev().find(|&k| space.defects[k] <= limit)
            {
                let other = at(shorter);
                best.low = best.low.max(other.low);
                best.high = best.high.min(other.high);
            }
        }
        best
    }

    /// v_u of peer u.
    fn bracket(&self, u: usize, space: &Space, k: usize) -> Bracket {
        let ends = self.ends(space, k);
        // The lower end converges faster.
        Bracket::new(ends.low, ends.low, ends.high)
            .times(1.0 / self.divisors[u])
            .plus(self.common)
            .times(1.0 / self.piece.unit)
    }

    /// v_u of these peers after so many steps.
    fn brackets<S: Scalar, const W: usize>(
        &self,
        operator: &Operator<'_, S>,
        peers: &[u32],
        steps: usize,
        mode: Mode,
    ) -> Vec<Bracket> {
        let starts: Vec<Start> = peers.iter().map(|&u| Start::peer(operator, u)).collect();
        spaces::<S, W, Bracket>(operator, &starts, steps, mode, |index, space| {
            self.bracket(peers[index] as usize, &space, steps)
        })
    }

    /// The widest gap among the pilots and the number of steps it takes: the least that reaches half of `gap`, or
    /// the one that serves them best.
    fn steps(&self, pilots: &[u32], spaces: &[Space], limit: usize, gap: f64) -> (f64, usize) {
        let mut best = (f64::INFINITY, 1);
        for k in 1..=limit {
            let worst = pilots
                .iter()
                .zip(spaces)
                .map(|(&u, space)| self.bracket(u as usize, space, k).gap())
                .fold(0.0, f64::max);
            if worst <= 0.5 * gap {
                return (worst, k);
            }
            if worst < 0.9 * best.0 {
                best = (worst, k);
            }
        }
        best
    }
}
