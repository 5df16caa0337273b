//! Terms of Wishart noise: random matrices that single peers draw and that add up to the difference of two Wishart matrices.
//!
//! # Statement
//! Let g_j, h_j be independent N(0, (b/2)·I_n). Then Σ_{j ≤ m} (g_j g_jᵀ − h_j h_jᵀ) is W₁ − W₂ of
//! [`wishart`](mod@crate::privacy::wishart), whoever draws which j: a term is one g and one h.
//!
//! # How it is drawn and summed
//! Term j of a release has the normals of chunks 2jc to 2(j + 1)c − 1 of the peer's stream, where c chunks hold n numbers: g first. Coordinate
//! (i, l) of a peer's noise is ((… + g₀ᵢg₀ₗ) − h₀ᵢh₀ₗ) + g₁ᵢg₁ₗ − …, in this order, then times b/2, and times √2 off the diagonal in isometric
//! coordinates. Products and sums are rounded one by one, without fused operations: a coordinate has the same bits whichever others are
//! computed with it, on every engine and processor.
//!
//! # Cost
//! Of a whole release mn² products and 2mn normals; a part of a release draws all normals again.

use std::f64::consts::SQRT_2;
use std::ops::Range;

use rayon::prelude::*;
use serde::Serialize;

use crate::vocabulary::{CHUNK, PeerIndex, StreamKey};

/// How the terms of Wishart noise are dealt to peers. Public.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct WishartShares {
    /// n: columns of the matrix.
    pub dimension: u32,
    /// m: terms of either matrix, all peers together.
    pub terms: u64,
    /// Number of peers s.
    pub peers: u32,
    /// Whether numbers off the diagonal are released times √2.
    pub isometric: bool,
    /// The shape of every share of Laplace noise of scale b on the mean that is release 1; `None` where none is released.
    pub mean: Option<f64>,
}

/// The Wishart noise of one peer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WishartTerms {
    /// n: columns of the matrix.
    pub dimension: u32,
    /// Terms of this peer.
    pub count: u64,
    /// Whether numbers off the diagonal are released times √2.
    pub isometric: bool,
    /// The shape of the share of Laplace noise on the mean that is release 1.
    pub mean: Option<f64>,
}

impl WishartShares {
    /// All noise that somebody adds alone: n + 1 terms, and a Laplace number on a mean.
    #[must_use]
    pub fn of_curator(&self) -> Self {
        Self {
            terms: u64::from(self.dimension) + 1,
            peers: 1,
            mean: self.mean.map(|_| 1.0),
            ..*self
        }
    }

    /// The terms of one peer: m/s, rounded up for the first peers and down for the others, so that all have m.
    #[must_use]
    pub fn of_peer(&self, peer: PeerIndex) -> WishartTerms {
        let peers = u64::from(self.peers.max(1));
        let more = u64::from(u64::from(peer.0) < self.terms % peers);
        WishartTerms {
            dimension: self.dimension,
            count: self.terms / peers + more,
            isometric: self.isometric,
            mean: self.mean,
        }
    }

    /// The most terms of one peer.
    #[must_use]
    pub fn of_one(&self) -> u64 {
        self.terms.div_ceil(u64::from(self.peers.max(1)))
    }

    /// Standard deviation of the noise on the mean, all shares together, over b.
    #[must_use]
    pub fn sigma_of_mean(&self) -> f64 {
        let shapes = self.mean.map_or(0.0, |shape| shape * f64::from(self.peers));
        (2.0 * shapes).sqrt()
    }

    /// Standard deviation of the noise on a coordinate of the triangle, all terms together, over b; of a packed triangle on its diagonal, and
    /// smaller by √2 off it.
    #[must_use]
    pub fn sigma_of_triangle(&self) -> f64 {
        (self.terms as f64).sqrt()
    }
}

/// What is drawn otherwise than planned, which only tests can build.
#[derive(Clone, Copy, Debug)]
pub(super) struct Drawn {
    /// Terms that are left out.
    pub(super) fewer: u64,
    /// Whether W₂ is left out.
    pub(super) one_sided: bool,
}

/// Rows of normals that are drawn together, half of them g's: few enough to stay in cache for the usual n.
const TERMS: usize = 32;

/// Columns from which on threads share the rows of the triangle.
const SHARED: usize = 256;

/// Coordinates of one row of the triangle: the row, its first column, and their sums.
struct Segment<'a> {
    row: usize,
    first: usize,
    sums: &'a mut [f64],
}

impl WishartTerms {
    /// Adds `scale` times this noise of b = 1 to coordinates that lie at `start` of the triangle.
    pub(super) fn add_triangle(
        &self,
        (key, release): (&StreamKey, u32),
        drawn: Drawn,
        scale: f64,
        (start, out): (usize, &mut [f64]),
    ) {
        let n = self.dimension as usize;
        let count = self.count.saturating_sub(drawn.fewer);
        if count == 0 || out.is_empty() {
            return;
        }
        let mut sums = vec![0.0; out.len()];
        let mut segments = segments(n, start, &mut sums);
        let mut normals = vec![0.0; 2 * TERMS * n];
        let mut first = 0;
        while first < count {
            let some = (count - first).min(TERMS as u64) as usize;
            let normals = &mut normals[..2 * some * n];
            for (j, term) in (first..).zip(normals.chunks_exact_mut(2 * n)) {
                draw((key, release), j, term);
                if drawn.one_sided {
                    term[n..].fill(0.0);
                }
            }
            let normals = &*normals;
            match n < SHARED {
                true => segments.iter_mut().for_each(|one| one.add(n, normals)),
                false => segments.par_iter_mut().for_each(|one| one.add(n, normals)),
            }
            first += some as u64;
        }
        let (on, off) = (0.5 * scale, if self.isometric { SQRT_2 } else { 1.0 });
        let mut out = out.iter_mut();
        for Segment { row, first, sums } in segments {
            for ((column, sum), out) in (first..).zip(sums).zip(out.by_ref()) {
                let noise = on * *sum;
                *out += if column == row { noise } else { off * noise };
            }
        }
    }

    /// Numbers of the triangle of the matrix.
    pub(super) fn coordinates(&self) -> usize {
        row_start(self.dimension as usize, self.dimension as usize)
    }
}

/// The coordinate of the diagonal entry of row i in a packed triangle of n columns; for i = n their number.
fn row_start(n: usize, i: usize) -> usize {
    i * n - i * i.saturating_sub(1) / 2
}

/// The rows of the triangle that these coordinates are in.
fn segments(n: usize, start: usize, sums: &mut [f64]) -> Vec<Segment<'_>> {
    let range: Range<usize> = start..start + sums.len();
    let mut all = Vec::new();
    let mut rest = sums;
    for row in 0..n {
        let (low, high) = (row_start(n, row), row_start(n, row + 1));
        let (from, to) = (low.max(range.start), high.min(range.end));
        if from >= to {
            continue;
        }
        let (sums, later) = rest.split_at_mut(to - from);
        rest = later;
        let first = row + (from - low);
        all.push(Segment { row, first, sums });
    }
    all
}

/// Draws g and h of term j, of mean 0 and variance 1.
fn draw((key, release): (&StreamKey, u32), j: u64, term: &mut [f64]) {
    let n = term.len() / 2;
    let chunks = n.div_ceil(CHUNK) as u64;
    for (side, values) in (0..).zip(term.chunks_exact_mut(n)) {
        for (chunk, values) in (0..).zip(values.chunks_mut(CHUNK)) {
            key.normals(release, (2 * j + side) * chunks + chunk, values);
        }
    }
}

impl Segment<'_> {
    /// Adds ggᵀ − hhᵀ of these terms, one after the other.
    fn add(&mut self, n: usize, normals: &[f64]) {
        pulp::Arch::new().dispatch(AddTerms {
            columns: self.first..self.first + self.sums.len(),
            row: self.row,
            n,
            normals,
            sums: self.sums,
        });
    }
}

struct AddTerms<'a> {
    columns: Range<usize>,
    row: usize,
    n: usize,
    normals: &'a [f64],
    sums: &'a mut [f64],
}

impl pulp::NullaryFnOnce for AddTerms<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Self {
            columns,
            row,
            n,
            normals,
            sums,
        } = self;
        let side = |j: usize| &normals[j * n..(j + 1) * n];
        let sides = normals.len() / n;
        let mut j = 0;
        // Two terms at a time: every sum is loaded and stored half as often, in the same order.
        while j + 4 <= sides {
            let [g, h, k, l] = [side(j), side(j + 1), side(j + 2), side(j + 3)];
            let at = [g[row], h[row], k[row], l[row]];
            let parts = g[columns.clone()]
                .iter()
                .zip(&h[columns.clone()])
                .zip(&k[columns.clone()])
                .zip(&l[columns.clone()]);
            for (sum, (((g, h), k), l)) in sums.iter_mut().zip(parts) {
                *sum = (((*sum + at[0] * g) - at[1] * h) + at[2] * k) - at[3] * l;
            }
            j += 4;
        }
        while j + 2 <= sides {
            let [g, h] = [side(j), side(j + 1)];
            let at = [g[row], h[row]];
            let parts = g[columns.clone()].iter().zip(&h[columns.clone()]);
            for (sum, (g, h)) in sums.iter_mut().zip(parts) {
                *sum = (*sum + at[0] * g) - at[1] * h;
            }
            j += 2;
        }
    }
}

#[cfg(test)]
mod tests;
