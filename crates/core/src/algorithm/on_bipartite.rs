//! An algorithm on a matrix whose rows and columns are the peers: the two sides publish in turns.

use std::ops::Range;
use std::sync::Arc;

use super::on_graph::{Held, NotOnGraph, fits};
use super::{Algorithm, Form, History, Next, Program, PublicState, ReleaseSpec};
use crate::linalg::{Block, NotFullRank, SparseRows};
use crate::vocabulary::{Quantity, ReleaseId};

/// The most that an entry counts as, in absolute value, where no range of entries is public.
pub const LARGEST_ENTRY: f64 = 65_536.0;

/// Another algorithm on an m × n matrix M that need not be symmetric, of which peer i < m holds row i and peer m + j column j.
///
/// M enters as B = [0 M; Mᵀ 0], whose eigenvalues are ±σ: powers of B would find the plane of the two and an iterate that swings. So the
/// sides take turns. In releases 1, 3, … row i publishes (M V)_i, V the last n rows of the query; in releases 2, 4, … column j publishes
/// (Mᵀ U)_j, U the first m rows. Everybody orthonormalises what came, with zeros on the other side, and goes on with that. After an even number of
/// releases V approximates the right singular vectors, and the estimate is [0; V].
///
/// All numbers are own coordinates, as on a graph ([`OnGraph`](super::OnGraph)); the other side, which has nothing to say, adds noise to 0, and that is
/// not looked at.
///
/// # Privacy
/// An entry M_ij is known to two peers, but in one release only one of them publishes: a change by at most 1 moves row i of M V by ‖v_j‖,
/// or row j of Mᵀ U by ‖u_i‖, and Δ is the largest row norm of the query. Both at once would cost √(‖u_i‖² + ‖v_j‖²), and the group
/// privacy that Hardt & Roth (2013) resort to, a factor of 2. A contribution takes zeros for the rows of the query on its own side, so that
/// this holds whatever the query is.
///
/// # Large entries
/// Entries beyond ±b count as ±b, with b = 65,536 or what [`Self::within`] says. That brings no two entries further apart. Without a bound an entry of
/// 10¹⁷ would round its row to multiples of 16, and a change of another entry by 1 could then move what is released by 16, under noise for 1.
#[derive(Clone, Debug)]
pub struct OnBipartite {
    inner: Arc<dyn Algorithm>,
    /// m + n.
    dimension: usize,
    /// Columns of the query.
    columns: usize,
    rows: usize,
    /// b.
    largest: f64,
}

impl OnBipartite {
    /// `inner`, of dimension m + n, on a matrix with m = `rows` rows.
    ///
    /// # Errors
    /// [`NotOnGraph`] if it releases anything but products of all rows.
    pub fn new(inner: Arc<dyn Algorithm>, rows: usize) -> Result<Self, NotOnGraph> {
        let program = inner.program();
        Self::check(&program)?;
        Ok(Self {
            inner,
            dimension: program.items,
            columns: program.query_columns,
            rows,
            largest: LARGEST_ENTRY,
        })
    }

    /// Whether what a program releases is proved of a matrix whose rows and columns are the peers.
    ///
    /// # Errors
    /// [`NotOnGraph`] if it releases anything but products, or is for matrices without negative eigenvalues.
    pub fn check(program: &Program) -> Result<(), NotOnGraph> {
        fits(program, |quantity| quantity == Quantity::Product)
    }

    /// Lets no entry count as more than `largest` in absolute value, a public number. What lies outside 0 to 65,536 changes nothing.
    #[must_use]
    pub fn within(mut self, largest: f64) -> Self {
        if largest > 0.0 && largest < LARGEST_ENTRY {
            self.largest = largest;
        }
        self
    }

    /// The rows with no entry beyond ±b.
    fn clamped(&self, rows: &SparseRows) -> SparseRows {
        let values = (0..rows.len()).flat_map(|i| rows.row(i).1);
        let clamped = values.map(|x| x.clamp(-self.largest, self.largest));
        rows.with_values(&clamped.collect::<Vec<_>>())
    }

    /// The rows of an m × n matrix as the first m rows of B = [0 M; Mᵀ 0]: columns are numbered from m on.
    #[must_use]
    pub fn embedded(matrix: &SparseRows) -> SparseRows {
        let m = matrix.len() as u32;
        let mut out = SparseRows::new(matrix.len() + matrix.dimension());
        for i in 0..matrix.len() {
            let (columns, values) = matrix.row(i);
            let entries = columns.iter().zip(values).filter(|(_, x)| **x != 0.0);
            out.push_row(entries.map(|(&j, &x)| (m + j, x)))
                .expect("a shifted row of a matrix");
        }
        out
    }

    /// All rows of B = [0 M; Mᵀ 0], whose first m rows are given.
    ///
    /// # Panics
    /// If there are other than `rows` rows, or one of them has an entry among its first `rows` columns.
    #[must_use]
    pub fn all_rows(embedded: &SparseRows, rows: usize) -> SparseRows {
        assert_eq!(embedded.len(), rows, "the first rows of B");
        let mut columns = vec![Vec::new(); embedded.dimension() - rows];
        for i in 0..rows {
            let (at, values) = embedded.row(i);
            for (&j, &x) in at.iter().zip(values) {
                columns[j as usize - rows].push((i as u32, x));
            }
        }
        let mut out = embedded.clone();
        for column in columns {
            out.push_row(column).expect("rows in their order");
        }
        out
    }

    /// The peers that publish in a release.
    fn publishing(&self, release: ReleaseId) -> Range<usize> {
        match release.index().is_multiple_of(2) {
            true => 0..self.rows,
            false => self.rows..self.dimension,
        }
    }

    /// A block with zeros for all rows but these.
    fn masked(values: &[f64], columns: usize, kept: &Range<usize>) -> Vec<f64> {
        let mut out = vec![0.0; values.len()];
        let kept = kept.start * columns..kept.end * columns;
        out[kept.clone()].copy_from_slice(&values[kept]);
        out
    }
}

impl Algorithm for OnBipartite {
    fn program(&self) -> Program {
        let mut program = self.inner.program();
        for release in &mut program.releases {
            release.form = Form::OwnCoordinates;
            for block in &mut release.blocks {
                block.quantity = Quantity::BipartiteHalf;
                block.shape = (1, block.columns);
            }
        }
        program.largest_entry = self.largest;
        let largest = ("largest entry", self.largest);
        let own = [
            Some(("rows", self.rows as f64)),
            (self.largest != LARGEST_ENTRY).then_some(largest),
        ];
        let state = program.state.with_past();
        program
            .inside("on-bipartite", own.into_iter().flatten())
            .state(state)
    }

    fn next(&self, state: &PublicState, declared: Option<&ReleaseSpec>) -> Next {
        self.inner.next(state, declared)
    }

    fn statistic(&self, state: &PublicState) -> f64 {
        self.inner.statistic(state)
    }

    /// The row of this peer's vertex in B times the query, of which its own side counts as 0; nothing on the side whose turn it is not.
    fn prepare(&self, rows: &SparseRows, history: History<'_>) -> Vec<f64> {
        let columns = self.columns;
        let publishing = self.publishing(history.release);
        let of_turn = Held::of(rows).is_some_and(|held| publishing.contains(&held.vertex));
        if !of_turn {
            return vec![0.0; columns];
        }
        let asked = match publishing.start {
            0 => self.rows..self.dimension,
            _ => 0..self.rows,
        };
        let query = Self::masked(history.query, columns, &asked);
        let mut projected = self.clamped(rows).project(&query, columns);
        projected.truncate(columns);
        projected
    }

    fn add_contribution(
        &self,
        _: ReleaseId,
        _: &SparseRows,
        prepared: &[f64],
        range: Range<usize>,
        out: &mut [f64],
    ) {
        for (out, own) in out.iter_mut().zip(prepared.iter().skip(range.start)) {
            *out += own;
        }
    }

    fn advance(
        &self,
        state: &PublicState,
        sum: &Arc<Block>,
        sigmas: &[f64],
    ) -> Result<PublicState, NotFullRank> {
        let publishing = self.publishing(ReleaseId(state.released).next());
        let published = Self::masked(sum.values(), sum.columns(), &publishing);
        let published = Block::from_values(sum.rows(), sum.columns(), published);
        self.inner.advance(state, &Arc::new(published), sigmas)
    }

    fn estimate(&self, state: &PublicState) -> Arc<Block> {
        self.inner.estimate(state)
    }
}

#[cfg(test)]
mod tests {
    use nalgebra::DMatrix;

    use super::*;
    use crate::algorithm::{Covariance, OnGraph, PowerMethod, contribution};
    use crate::linalg::start_block;
    use crate::vocabulary::Seed;

    fn matrix() -> (SparseRows, DMatrix<f64>) {
        let (m, n) = (5, 4);
        let dense = DMatrix::from_fn(m, n, |i, j| {
            ((i * n + j) as f64 * 1.7).sin() / (1 + i + j) as f64
        });
        let mut rows = SparseRows::new(n);
        for i in 0..m {
            let row: Vec<f64> = dense.row(i).iter().copied().collect();
            rows.push_row((0..).zip(row)).expect("ascending");
        }
        (rows, dense)
    }

    /// Without noise the sides walk M and Mᵀ in turns, and find the right singular vectors.
    #[test]
    fn sides_take_turns_and_find_the_singular_vectors() {
        let (rows, dense) = matrix();
        let (m, n) = dense.shape();
        let inner = PowerMethod::new(m + n, 2, 80).expect("valid");
        let algorithm = OnBipartite::new(Arc::new(inner), m).expect("products");
        let held = OnGraph::held(&OnBipartite::all_rows(&OnBipartite::embedded(&rows), m));
        assert_eq!(held.len(), m + n);
        let start = start_block(&Seed::from_u64(4), m + n, 2).expect("full rank");
        let mut state = PublicState::new(Arc::new(start));
        for release in 1..=80_u32 {
            let history = state.history();
            let all: Vec<f64> = held
                .iter()
                .flat_map(|held| {
                    contribution(&algorithm, held, history, (1, 2))
                        .values()
                        .to_vec()
                })
                .collect();
            let query = state.query.to_matrix();
            let (u, v) = (query.rows(0, m).into_owned(), query.rows(m, n).into_owned());
            let expected = match release % 2 {
                1 => &dense * v,
                _ => dense.transpose() * u,
            };
            let side = if release % 2 == 1 { 0..m } else { m..m + n };
            for (k, peer) in side.clone().enumerate() {
                for c in 0..2 {
                    assert!((all[2 * peer + c] - expected[(k, c)]).abs() < 1e-14);
                }
            }
            let silent = (0..m + n).filter(|peer| !side.contains(peer));
            assert!(
                silent
                    .flat_map(|peer| &all[2 * peer..2 * peer + 2])
                    .all(|x| *x == 0.0)
            );
            let sum = Arc::new(Block::from_values(m + n, 2, all));
            state = algorithm.advance(&state, &sum, &[0.0]).expect("full rank");
            state.released = release;
            assert!(state.query.orthonormality_defect() < 1e-12);
        }
        let found = state.query.to_matrix();
        assert!(found.rows(0, m).norm() < 1e-14, "on the columns");
        let v = found.rows(m, n).into_owned();
        let svd = dense.clone().svd(false, true);
        let exact = svd.v_t.expect("asked for").rows(0, 2).transpose();
        let apart = &exact - &v * (v.transpose() * &exact);
        assert!(apart.norm() < 1e-6, "{}", apart.norm());
    }

    #[test]
    fn a_matrix_and_its_transpose_stand_off_the_diagonal() {
        let mut matrix = SparseRows::new(3);
        matrix.push_row([(0, 1.0), (2, 2.0)]).expect("valid");
        matrix.push_row([(1, 0.0), (2, 3.0)]).expect("valid");
        let all = OnBipartite::all_rows(&OnBipartite::embedded(&matrix), 2);
        assert_eq!((all.len(), all.dimension()), (5, 5));
        assert_eq!(all.row(0), (&[2, 4][..], &[1.0, 2.0][..]));
        assert_eq!(all.row(2), (&[0][..], &[1.0][..]));
        assert_eq!(all.row(3), (&[][..], &[][..]));
        assert_eq!(all.row(4), (&[0, 1][..], &[2.0, 3.0][..]));
    }

    #[test]
    fn other_releases_are_refused() {
        let covariance = Covariance::new(9, 1).expect("valid");
        assert!(OnBipartite::new(Arc::new(covariance), 5).is_err());
    }
}
