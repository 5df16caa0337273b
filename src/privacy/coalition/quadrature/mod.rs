//! Variance factors of large pieces: Gauss and Gauss–Radau quadrature from a few Lanczos steps per peer.
//!
//! Each peer costs k sparse products and ends in an interval ([`radau`]) that needs a lower bound a on
//! A = I + 𝓛 off its null vector. a = 1 always holds; a certified λ₂ gives more where there is one.
//!
//! # A floor from everybody together
//! Statement: let U_u be certified upper ends of [A⁺]_uu, the deflated diagonal, for *all* n peers of the piece. Then
//! λ_2(A) ≥ 1/(ΣU_u − (n − 2)²/(tr 𝓛 + n − 1)).
//! Proof: ΣU_u ≥ tr A⁺ = 1/λ_2(A) + Σ_{k≥3} 1/λ_k(A), and by convexity the last sum is at least
//! (n − 2)²/Σ_{k≥3}λ_k(A) ≥ (n − 2)²/(tr 𝓛 + n − 1). ∎
//! Better ends give a better floor and the other way round, so this is repeated; it costs no further pass over
//! the graph. It works once the k-hop balls outgrow the piece (ΣU_u ≲ 1 with a = 1, since an eigenvalue near 0
//! would have to show up somewhere), and certifies at any size that nothing lies between 0 and a.

mod lanczos;
mod operator;
mod orthogonality;
mod radau;

use rayon::prelude::*;

use self::lanczos::{Coefficients, Workspace};
use self::operator::{Operator, Scalar};
use super::bracket::Bracket;
use super::piece::Piece;

/// Vectors per block in double and in single precision: one cache line per peer.
const DOUBLE: usize = 8;
const SINGLE: usize = 16;

/// From this relative gap on single precision is tried first.
const SINGLE_FROM: f64 = 1e-3;

/// Blocks that decide on the number of steps for all.
const PILOTS: usize = 4;

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
    if target.gap >= SINGLE_FROM {
        let single = with_precision::<f32, SINGLE>(piece, target);
        if single.0.iter().all(|bracket| bracket.gap() <= target.gap) {
            return single;
        }
    }
    with_precision::<f64, DOUBLE>(piece, target)
}

fn with_precision<S: Scalar, const W: usize>(
    piece: &Piece,
    target: Target,
) -> (Vec<Bracket>, usize) {
    let operator = Operator::<S>::new(piece);
    let view = View::new(piece, &operator, target.connectivity);
    let n = piece.len();
    let everybody: Vec<u32> = (0..n as u32).collect();
    let blocks = n.div_ceil(W);
    let pilots: Vec<u32> = (0..PILOTS.min(blocks))
        .flat_map(|pilot| {
            let block = pilot * blocks / PILOTS.min(blocks);
            block * W..((block + 1) * W).min(n)
        })
        .map(|u| u as u32)
        .collect();
    let limit = target.steps.clamp(1, n);
    let sample = krylov::<S, W>(&operator, &pilots, limit);
    let mut steps = view.steps(&pilots, &sample, limit, target.gap);
    let mut spaces = krylov::<S, W>(&operator, &everybody, steps);
    let mut floor = view.floor(&spaces);
    let mut brackets: Vec<Bracket> = everybody
        .par_iter()
        .zip(&spaces)
        .map(|(&u, space)| view.bracket(u as usize, space, space.steps(), floor))
        .collect();
    let mut most = steps;
    for _ in 0..ROUNDS {
        let missed: Vec<u32> = everybody
            .iter()
            .copied()
            .filter(|&u| !(brackets[u as usize].gap() <= target.gap))
            .collect();
        if missed.is_empty() || steps >= limit {
            break;
        }
        steps = (steps + (steps / 4).max(2)).min(limit);
        let again = krylov::<S, W>(&operator, &missed, steps);
        let mut better = false;
        for (&u, space) in missed.iter().zip(again) {
            let bracket = view.bracket(u as usize, &space, space.steps(), floor);
            let old = &mut brackets[u as usize];
            better |= bracket.gap() < 0.5 * old.gap();
            // Both are proved.
            *old = Bracket::new(
                old.low.max(bracket.low),
                bracket.estimate,
                old.high.min(bracket.high),
            );
            spaces[u as usize] = space;
        }
        most = steps;
        if !better {
            break;
        }
        floor = floor.max(view.floor(&spaces));
    }
    (brackets, most)
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

fn krylov<S: Scalar, const W: usize>(
    operator: &Operator<'_, S>,
    peers: &[u32],
    steps: usize,
) -> Vec<Space> {
    let nested: Vec<Vec<Space>> = peers
        .par_chunks(W)
        .map_init(
            || Workspace::<S, W>::new(operator.len()),
            |workspace, sources| {
                lanczos::run(operator, sources, steps, workspace)
                    .into_iter()
                    .map(|coefficients| Space {
                        defects: orthogonality::defects(&coefficients),
                        coefficients,
                    })
                    .collect()
            },
        )
        .collect();
    nested.into_iter().flatten().collect()
}

/// What turns quadrature in units of B into variance factors.
struct View<'a> {
    piece: &'a Piece,
    total: f64,
    /// s: A = s(1/s + B).
    scale: f64,
    /// 1/s.
    epsilon: f64,
    /// The floor known in advance, in units of s.
    floor: f64,
    /// Σ_{k≥3} λ_k(A)/s, at most.
    bulk: f64,
}

impl<'a> View<'a> {
    fn new<S: Scalar>(piece: &'a Piece, operator: &Operator<'_, S>, connectivity: f64) -> Self {
        let n = piece.len() as f64;
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
            total: piece.total_own(),
            scale,
            epsilon,
            floor: epsilon * (1.0 - 1e-15) + known,
            bulk: (operator.trace + (n - 1.0) * epsilon) * (1.0 + 1e-9),
        }
    }

    /// The ends for peer u from the first k steps, in units of 1/s. Both the longest space and the longest that is
    /// surely orthogonal are proofs; the better end of each counts.
    fn ends(&self, space: &Space, k: usize, floor: f64) -> radau::Ends {
        let k = k.min(space.steps());
        let at = |k: usize| {
            radau::ends(
                &space.coefficients,
                k,
                space.defects[k],
                self.epsilon,
                floor,
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
    fn bracket(&self, u: usize, space: &Space, k: usize, floor: f64) -> Bracket {
        let ends = self.ends(space, k, floor);
        // The lower end converges faster.
        Bracket::new(ends.low, ends.low, ends.high)
            .times(1.0 / (self.scale * self.piece.own[u]))
            .plus(Bracket::rounded(1.0 / self.total))
            .times(1.0 / self.piece.unit)
    }

    /// The floor that the ends of all peers prove, in units of s, at least the one known in advance.
    fn floor(&self, spaces: &[Space]) -> f64 {
        self.floor_from(spaces, 1.0, |space| space.steps())
    }

    /// The floor if `spaces` stand for `each` peers apiece, after as many steps as `steps` says; a proof only if
    /// they are all peers.
    fn floor_from(
        &self,
        spaces: &[Space],
        each: f64,
        steps: impl Fn(&Space) -> usize + Sync,
    ) -> f64 {
        let n = self.piece.len() as f64;
        let rest = (n - 2.0).powi(2) / self.bulk * (1.0 - 1e-9);
        let mut floor = self.floor;
        for _ in 0..30 {
            let sum: f64 = spaces
                .par_iter()
                .map(|space| self.ends(space, steps(space), floor).high)
                .collect::<Vec<f64>>()
                .iter()
                .sum();
            let left = sum * each * (1.0 + (n + 8.0) * f64::EPSILON) - rest;
            let next = (1.0 - 1e-9) / left;
            if !(left > 0.0 && next > 1.05 * floor) {
                break;
            }
            floor = next;
        }
        floor
    }

    /// The number of steps after which every pilot reaches half of the gap, or the one that serves them best.
    fn steps(&self, pilots: &[u32], spaces: &[Space], limit: usize, gap: f64) -> usize {
        let each = self.piece.len() as f64 / pilots.len() as f64;
        let mut best = (f64::INFINITY, 1);
        for k in 1..=limit {
            if spaces.iter().all(|space| space.steps() < k) {
                break;
            }
            let floor = self.floor_from(spaces, each, |space| k.min(space.steps()));
            let worst = pilots
                .iter()
                .zip(spaces)
                .map(|(&u, space)| self.bracket(u as usize, space, k, floor).gap())
                .fold(0.0, f64::max);
            if worst <= 0.5 * gap {
                return k;
            }
            if worst < 0.9 * best.0 {
                best = (worst, k);
            }
        }
        best.1
    }
}
