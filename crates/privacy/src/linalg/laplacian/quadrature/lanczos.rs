//! Lanczos for many rows of one matrix at once.
//!
//! W starting vectors share every pass over the graph: X is stored row-major, `[row][vector]`, so that one gathered
//! cache line serves all of them. Each has its own coefficients.
//!
//! # The deflated start, sparse
//! The vectors are v_j = Ps_j with P = I − qqᵀ, which commutes with B. Only s_j is stored: s_1 = e_u/β_0,
//! β_0² = 1 − q_u², and s_j lives within j − 1 hops of u, so the first steps touch few rows.
//! ⟨Ps, Pw⟩ = ⟨s, w⟩ − (qᵀs)(qᵀw). Once half of the rows are reached the part along q is subtracted for real,
//! in every step, before its size (it grows like a power) could cost digits. Since P removes it anyway, how
//! accurately it is subtracted does not matter: only ‖s‖/‖Ps‖, which is measured, enters the error.

use super::block::{orthogonalise, overlaps, project, scaled};
use super::operator::Operator;
use super::scalar::Scalar;
use super::sweep::{Rows, sweep};

/// A unit vector to start from.
#[derive(Clone, Debug)]
pub(super) struct Start {
    /// Its entries that are not 0, by position.
    entries: Vec<(u32, f64)>,
    /// (qᵀf)².
    along: f64,
}

impl Start {
    /// The vector with these entries, of unit length, and (qᵀf)² = `along`, both as exact as double precision is.
    pub(super) fn new(entries: Vec<(u32, f64)>, along: f64) -> Self {
        Self { entries, along }
    }

    /// e_u.
    pub(super) fn unit<S: Scalar>(operator: &Operator<'_, S>, u: u32) -> Self {
        let q = operator.exact_null[u as usize];
        Self::new(vec![(u, 1.0)], q * q)
    }
}

/// The tridiagonal coefficients of one starting vector, in units of B.
#[derive(Clone, Debug)]
pub(super) struct Coefficients {
    /// β_0: the length of Pf, for e_u or another start f.
    pub start: f64,
    /// α_1 …
    pub alphas: Vec<f64>,
    /// β_1 …, as many as α; the last is 0 where the Krylov space was exhausted.
    pub betas: Vec<f64>,
    /// φ: an upper bound on the rounding ‖f_j‖ of every step.
    pub local: f64,
    /// An upper bound on what inner products of unit vectors got wrong.
    pub dot: f64,
    /// An upper bound on ‖B‖ and every coefficient.
    pub norm: f64,
    /// With [`Mode::Reorthogonal`], per step an upper bound on Σ_i (v_{j+1}ᵀv_i)² over the vectors before, as
    /// measured.
    pub overlaps: Option<Vec<f64>>,
}

/// How orthogonality is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// By the three-term recurrence alone; the loss is bounded by [`super::orthogonality`].
    Recurrence,
    /// All vectors are kept; each new one is orthogonalised against them and its overlaps are then measured. What
    /// was subtracted counts as rounding. For spectra where Ritz values converge.
    Reorthogonal,
}

/// The vectors of one block; reused from block to block.
pub(super) struct Workspace<S, const W: usize> {
    current: Vec<[S; W]>,
    previous: Vec<[S; W]>,
    /// The only rows that may differ from 0; `None` for all.
    touched: Option<Vec<u32>>,
}

impl<S: Scalar, const W: usize> Workspace<S, W> {
    pub(super) fn new(rows: usize) -> Self {
        Self {
            current: vec![[S::default(); W]; rows],
            previous: vec![[S::default(); W]; rows],
            touched: Some(Vec::new()),
        }
    }

    fn clear(&mut self) {
        let zero = [S::default(); W];
        match self.touched.take() {
            Some(rows) => {
                for i in rows {
                    self.current[i as usize] = zero;
                    self.previous[i as usize] = zero;
                }
            }
            None => {
                self.current.fill(zero);
                self.previous.fill(zero);
            }
        }
    }

    /// β_k·s_{k+1} of the last run.
    #[cfg(test)]
    pub(super) fn last(&self) -> &[[S; W]] {
        &self.current
    }
}

/// Replaces `previous` by w = B·(`here`·`current`) − `back`·`previous` in these rows; returns currentᵀw and qᵀw. With
/// LIFTED the operator has a term ggᵀ, and `lift` is g with gᵀs.
#[inline(always)]
fn multiply<S: Scalar, const W: usize, const LIFTED: bool>(
    operator: &Operator<'_, S>,
    rows: Rows<'_>,
    [here, back]: [[S; W]; 2],
    lift: Option<(&[S], [S; W])>,
    current: &[[S; W]],
    previous: &mut [[S; W]],
) -> [[f64; W]; 2] {
    let (lift, lifted) = lift.unwrap_or((&[], [S::default(); W]));
    sweep(rows, |i, [product, across]: &mut [[S; W]; 2]| {
        let image = operator.row(i, current);
        let null = operator.null[i];
        for l in 0..W {
            let mut w = image[l] * here[l];
            if LIFTED {
                w = w + lift[i] * lifted[l];
            }
            w = w - back[l] * previous[i][l];
            previous[i][l] = w;
            product[l] = product[l] + current[i][l] * w;
            across[l] = across[l] + null * w;
        }
    })
}

/// gᵀs per vector, `scale` times the stored ones being s.
fn along_lift<S: Scalar, const W: usize>(
    lift: &[S],
    current: &[[S; W]],
    scale: [f64; W],
) -> [S; W] {
    let [along] = sweep(Rows::All(lift.len()), |i, [along]: &mut [[S; W]; 1]| {
        for l in 0..W {
            along[l] = along[l] + lift[i] * current[i][l];
        }
    });
    std::array::from_fn(|l| S::of(along[l] * scale[l]))
}

/// At most `steps` steps from each of at most W `starts`. A vector stops early, with
/// fewer coefficients, where its Krylov space is exhausted.
pub(super) fn run<S: Scalar, const W: usize>(
    operator: &Operator<'_, S>,
    starts: &[Start],
    steps: usize,
    mode: Mode,
    workspace: &mut Workspace<S, W>,
) -> Vec<Coefficients> {
    let n = operator.len();
    workspace.clear();
    let Workspace {
        current,
        previous,
        touched,
    } = workspace;
    let supports = starts.iter().flat_map(|start| &start.entries);
    let (ball, ends) = operator.ball(supports.map(|&(i, _)| i), steps);
    let mut found: Vec<Coefficients> = Vec::with_capacity(starts.len());
    // The stored vectors times these are s_j and s_{j−1}.
    let (mut scale, mut scale_before) = ([0.0; W], [0.0; W]);
    // qᵀs_j, β_{j−1}, and the largest ‖s_j‖/‖Ps_j‖ so far.
    let (mut along, mut beta, mut swell) = ([0.0; W], [0.0; W], [1.0_f64; W]);
    let mut running = [false; W];
    for (l, Start { entries, along: q }) in starts.iter().enumerate() {
        let start = (1.0 - q).max(0.0).sqrt();
        for &(i, value) in entries {
            current[i as usize][l] = S::of(value);
        }
        running[l] = start > 0.0;
        scale[l] = if running[l] { 1.0 / start } else { 0.0 };
        along[l] = q.sqrt() * scale[l];
        swell[l] = scale[l].max(1.0);
        found.push(Coefficients {
            start,
            alphas: Vec::with_capacity(steps),
            betas: Vec::with_capacity(steps),
            local: 0.0,
            dot: 2.0 * swell[l] * swell[l] * operator.dot_rounding(),
            norm: operator.norm,
            overlaps: (mode == Mode::Reorthogonal).then(|| Vec::with_capacity(steps)),
        });
    }
    let mut basis: Vec<Vec<[S; W]>> = Vec::new();
    let mut dense = false;
    for step in 1..=steps {
        if !running.contains(&true) {
            break;
        }
        let rows = match ends.get(step) {
            Some(&end) if 2 * end < n && mode == Mode::Recurrence && operator.lift.is_none() => {
                Rows::Listed(&ball[..end])
            }
            _ => Rows::All(n),
        };
        if !dense && matches!(rows, Rows::All(_)) {
            dense = true;
            project(operator, current);
            project(operator, previous);
            along = [0.0; W];
        }
        if mode == Mode::Reorthogonal {
            basis.push(scaled(current, scale));
        }
        let here = scale.map(S::of);
        let back: [S; W] = std::array::from_fn(|l| S::of(beta[l] * scale_before[l]));
        // w = Bs_j − β_{j−1}s_{j−1}, in place of s_{j−1}.
        let [product, across] = match &operator.lift {
            None => multiply::<S, W, false>(operator, rows, [here, back], None, current, previous),
            Some(lift) => {
                let lifted = (lift.as_slice(), along_lift(lift, current, scale));
                multiply::<S, W, true>(
                    operator,
                    rows,
                    [here, back],
                    Some(lifted),
                    current,
                    previous,
                )
            }
        };
        let alpha: [f64; W] = std::array::from_fn(|l| scale[l] * product[l] - along[l] * across[l]);
        let less: [S; W] = std::array::from_fn(|l| S::of(alpha[l] * scale[l]));
        let remove: [S; W] = std::array::from_fn(|l| {
            let q = across[l] - alpha[l] * along[l];
            S::of(if dense { q } else { 0.0 })
        });
        // w − α_js_j.
        let [mut square, mut across] = sweep(rows, |i, [square, across]: &mut [[S; W]; 2]| {
            let null = operator.null[i];
            for l in 0..W {
                let w = previous[i][l] - less[l] * current[i][l] - remove[l] * null;
                previous[i][l] = w;
                square[l] = square[l] + w * w;
                across[l] = across[l] + null * w;
            }
        });
        let mut removed = [0.0; W];
        let mut overlap = [0.0; W];
        if mode == Mode::Reorthogonal {
            removed = orthogonalise(&basis, previous);
            project(operator, previous);
            [square, across] = sweep(rows, |i, [square, across]: &mut [[S; W]; 2]| {
                for l in 0..W {
                    let w = previous[i][l];
                    square[l] = square[l] + w * w;
                    across[l] = across[l] + operator.null[i] * w;
                }
            });
            overlap = overlaps(&basis, previous, square, operator.dot_rounding());
        }
        std::mem::swap(current, previous);
        scale_before = scale;
        for (l, coefficients) in found.iter_mut().enumerate() {
            scale[l] = 0.0;
            if !running[l] {
                continue;
            }
            let left = square[l] - across[l] * across[l];
            let size = operator.norm + alpha[l].abs() + beta[l];
            coefficients.alphas.push(alpha[l] + operator.shift);
            // Hardly more than rounding: the space is exhausted, and what is left counts as rounding.
            let noise = 8.0 * size * swell[l] * operator.rounding();
            if !left.is_finite() || left <= noise * noise {
                running[l] = false;
                coefficients.betas.push(0.0);
                let doubt = 4.0 * operator.dot_rounding() * square[l];
                let rest = noise + (left.max(0.0) + doubt).sqrt();
                // What is not a number leaves no claim at all.
                let rest = if left.is_finite() {
                    rest
                } else {
                    f64::INFINITY
                };
                coefficients.local = coefficients.local.max(rest);
                continue;
            }
            let next = left.sqrt();
            swell[l] = swell[l].max((square[l] / left).sqrt());
            scale[l] = 1.0 / next;
            along[l] = across[l] * scale[l];
            coefficients.betas.push(next);
            // Subtracting up to `step` more vectors rounds as much as that many more neighbours would.
            let more = removed[l] * (1.0 + 4.0 * step as f64 * S::UNIT);
            let local = (size + next) * swell[l] * operator.rounding() + more * 1.001;
            if let Some(overlaps) = &mut coefficients.overlaps {
                overlaps.push(overlap[l]);
            }
            coefficients.local = coefficients.local.max(local);
            coefficients.dot = 2.0 * swell[l] * swell[l] * operator.dot_rounding();
            beta[l] = next;
        }
    }
    // Listed rows never reach beyond the ball.
    *touched = (!dense).then_some(ball);
    found
}
