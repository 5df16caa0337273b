//! D + K as a scaled Laplacian, in single or double precision.
//!
//! With all of D positive, Σ = D^{1/2}(I + 𝓛)D^{1/2}, 𝓛 = D^{-1/2}KD^{-1/2}, so
//! v_u = [(I + 𝓛)⁻¹]_uu/d_u. 𝓛 ⪰ 0 has the null vector q_i = √(d_i/tr D) (K1 = 0), the only one on a connected
//! graph. So **v_u = 1/tr D + (1/d_u)·Σ_{k≥2} (e_uᵀz_k)²/(1 + λ_k)** over the other eigenpairs of 𝓛: rows with
//! different entries of D deflate as exactly as equal ones do, where 𝓛 is a multiple of K. With s the largest
//! off-diagonal entry, B = 𝓛/s: entries of order 1, and all 1 for equal variances, whatever σ_Δ²/σ_η².

use super::super::matrix::ShiftedLaplacian;
use super::scalar::Scalar;
use super::sweep::CHUNK;

/// B − shift·I in precision `S`.
pub(super) struct Operator<'a, S> {
    sigma: &'a ShiftedLaplacian,
    /// B_ii − shift.
    pub diagonal: Vec<S>,
    /// −B_ij > 0, in the order of [`ShiftedLaplacian::neighbours`].
    links: Vec<S>,
    /// q.
    pub null: Vec<S>,
    /// q in double precision.
    pub exact_null: Vec<f64>,
    /// Near the middle of the spectrum, so that the coefficients of the recurrence cancel nothing.
    pub shift: f64,
    /// s: 𝓛 = s·B.
    pub scale: f64,
    /// An upper bound on ‖ |B| ‖₂ + shift: the largest row sum.
    pub norm: f64,
    /// The largest number of neighbours.
    pub degree: usize,
    /// g, if the operator has a term ggᵀ, of length 1 (see [`super::equilibrated`]).
    pub lift: Option<Vec<S>>,
}

impl<'a, S: Scalar> Operator<'a, S> {
    /// The operator of a matrix of at least two rows with positive diagonal entries of D.
    pub(super) fn new(sigma: &'a ShiftedLaplacian) -> Self {
        let n = sigma.len();
        let total = sigma.total_own();
        let entry = |i: usize, j: usize, weight: f64| weight / (sigma.own[i] * sigma.own[j]).sqrt();
        let entries = |i: usize| sigma.row(i).map(move |(j, weight)| entry(i, j, weight));
        let scale = (0..n).flat_map(entries).fold(f64::MIN_POSITIVE, f64::max);
        let full: Vec<f64> = (0..n)
            .map(|i| sigma.row(i).map(|(_, weight)| weight).sum::<f64>() / sigma.own[i] / scale)
            .collect();
        let trace: f64 = full.iter().sum();
        let shift = trace / n as f64;
        let norm = (0..n)
            .map(|i| full[i] + entries(i).sum::<f64>() / scale)
            .fold(0.0, f64::max);
        let exact_null: Vec<f64> = sigma.own.iter().map(|d| (d / total).sqrt()).collect();
        Self {
            diagonal: full.iter().map(|entry| S::of(entry - shift)).collect(),
            links: (0..n)
                .flat_map(entries)
                .map(|entry| S::of(entry / scale))
                .collect(),
            null: exact_null.iter().map(|&q| S::of(q)).collect(),
            exact_null,
            shift,
            scale,
            norm: (norm + shift) * (1.0 + 1e-6),
            degree: sigma.largest_degree(),
            lift: None,
            sigma,
        }
    }

    /// S + ggᵀ, S the matrix Σ divided by √(n_in_j), n its diagonal `diagonal`, g = `lift` of length 1,
    /// both as exact as double precision is: nothing is deflated.
    ///
    /// ‖|S|‖ ≤ 2, whatever the degrees: off the diagonal |S| maps √n to at most √n (the row of |Σ| off the diagonal sums to at
    /// most n_i), and a matrix with entries of at least 0 that does so to a positive vector has norm at most 1 (Schur's test).
    pub(super) fn equilibrated(
        sigma: &'a ShiftedLaplacian,
        diagonal: &[f64],
        lift: &[f64],
    ) -> Self {
        let n = sigma.len();
        let entries = |i: usize| {
            sigma
                .row(i)
                .map(move |(j, weight)| weight / (diagonal[i] * diagonal[j]).sqrt())
        };
        Self {
            diagonal: vec![S::default(); n],
            links: (0..n).flat_map(entries).map(S::of).collect(),
            null: vec![S::default(); n],
            exact_null: vec![0.0; n],
            shift: 1.0,
            scale: 1.0,
            // S, ggᵀ and the shift.
            norm: 4.0 * (1.0 + 1e-6),
            degree: sigma.largest_degree(),
            lift: Some(lift.iter().map(|&g| S::of(g)).collect()),
            sigma,
        }
    }

    /// Number of rows.
    pub(super) fn len(&self) -> usize {
        self.diagonal.len()
    }

    /// Row i of (B − shift·I)X for a row-major X.
    #[inline(always)]
    pub(super) fn row<const W: usize>(&self, i: usize, x: &[[S; W]]) -> [S; W] {
        let here = &x[i];
        let diagonal = self.diagonal[i];
        let mut sum: [S; W] = std::array::from_fn(|l| diagonal * here[l]);
        let range = self.sigma.offsets()[i]..self.sigma.offsets()[i + 1];
        for (&j, &link) in self.sigma.neighbours()[range.clone()]
            .iter()
            .zip(&self.links[range])
        {
            let there = &x[j as usize];
            for l in 0..W {
                sum[l] = sum[l] - link * there[l];
            }
        }
        sum
    }

    /// What one application and update may get wrong, relative to ‖B‖·‖v‖: every entry of a row is a sum of
    /// `degree` + 2 products of entries that are themselves off by up to `degree` + 8 roundings.
    ///
    /// The term ggᵀ adds an inner product with g and a few roundings, relative to ‖g‖² = 1 ≤ ‖B‖.
    pub(super) fn rounding(&self) -> f64 {
        let lifted = self
            .lift
            .as_ref()
            .map_or(0.0, |_| self.dot_rounding() + 8.0 * S::UNIT);
        (2 * self.degree + 24) as f64 * S::UNIT + lifted
    }

    /// What an inner product over all rows may get wrong, relative to the product of the norms: sums of
    /// [`CHUNK`] in `S`, then compensated ones in double precision, whose error is of second order (Ogita, Rump &
    /// Oishi 2005, Proposition 4.5).
    pub(super) fn dot_rounding(&self) -> f64 {
        let terms = (self.len() / CHUNK + 2) as f64;
        (CHUNK + 8) as f64 * S::UNIT + 4.0 * f64::EPSILON + (terms * f64::EPSILON).powi(2)
    }

    /// The rows within growing distances of `sources`, as a list and the length it has after 0, 1, 2, … hops,
    /// at most `hops`, until it holds half of the matrix.
    pub(super) fn ball(
        &self,
        sources: impl Iterator<Item = u32>,
        hops: usize,
    ) -> (Vec<u32>, Vec<usize>) {
        let mut seen = vec![false; self.len()];
        let mut order = Vec::new();
        for source in sources {
            if !seen[source as usize] {
                seen[source as usize] = true;
                order.push(source);
            }
        }
        let mut ends = vec![order.len()];
        let mut from = 0;
        while from < order.len() && ends.len() <= hops && 2 * order.len() < self.len() {
            let to = order.len();
            for index in from..to {
                for &v in self.sigma.neighbours_of(order[index] as usize) {
                    if !seen[v as usize] {
                        seen[v as usize] = true;
                        order.push(v);
                    }
                }
            }
            from = to;
            ends.push(order.len());
        }
        (order, ends)
    }
}
