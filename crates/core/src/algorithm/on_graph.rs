//! An algorithm on a private graph whose vertices are the peers: every peer publishes a row of A X of its own.

use std::ops::Range;
use std::sync::Arc;

use super::{Algorithm, Completer, Form, History, Next, Program, PublicState, ReleaseSpec, Text};
use crate::linalg::{Block, NotFullRank, SparseRows};
use crate::vocabulary::{Quantity, ReleaseId};

/// Another algorithm on the symmetric adjacency matrix A of a private graph of which peer v is vertex v.
///
/// Where `inner` asks for the sum A X, row v of it is a number per column that vertex v computes alone, from its own edges: (A X)_v is the sum of
/// x_t over its neighbours t. So it is released as **own coordinates** ([`Form::OwnCoordinates`]): vertex v adds the noise a curator would add,
/// and everybody learns all rows. Nothing is averaged, no noise is shared, a decentralised run is the curator's bit for bit, and a coalition
/// learns no more of an edge between two others than an outsider does. A Rayleigh quotient vᵀAv = Σ_s v_s (Av)_s remains a sum of one
/// number per peer: (Av)_s is private, and publishing it again as a row would cost more noise than the sum. What `inner` makes of
/// either is post-processing and stays as it is.
///
/// # What a peer holds
/// Two rows: that of its vertex in A, 1 at every neighbour, and that of its vertex in I, which says which one it is.
///
/// # Negative eigenvalues
/// A is not positive semidefinite: powers find the eigenvectors of largest |λ|, and where λ and −λ are both largest they find the plane
/// of the two.
///
/// # Privacy
/// Bounds and proofs for both quantities, entries and edges, and for records at two peers, stand in `privacy/sensitivity/graph.rs`. **The graph must
/// not be the one that the peers communicate on**: who sends to whom is seen by everybody, and no noise covers it.
#[derive(Clone, Debug)]
pub struct OnGraph {
    inner: Arc<dyn Algorithm>,
    /// Columns of the query.
    columns: usize,
    /// Of every release whether it is a product; the others are quotients.
    products: Vec<bool>,
}

/// Why an algorithm does not run on a private graph.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotOnGraph {
    /// A release that no bound on graphs is proved for.
    #[error(
        "algorithm.kind = \"{algorithm}\" releases {released}, of which nothing is proved on a private graph: set algorithm.kind = \"power\", \
         \"ppi\" or \"deflation\""
    )]
    Released {
        /// The algorithm.
        algorithm: Text,
        /// What it releases.
        released: Quantity,
    },
    /// An algorithm for matrices without negative eigenvalues; that of a graph has some.
    #[error(
        "algorithm.kind = \"{algorithm}\" is for matrices without negative eigenvalues, and that of a private graph has some: set \
         algorithm.kind = \"power\", \"ppi\" or \"deflation\"; an algorithm of your own that finds its eigenvectors says so by \
         Program::proved"
    )]
    Indefinite {
        /// The algorithm.
        algorithm: Text,
    },
}

/// What a quantity of the sum A is on a graph.
fn on_graph(quantity: Quantity) -> Option<Quantity> {
    match quantity {
        Quantity::Product => Some(Quantity::GraphProduct),
        Quantity::RayleighQuotient => Some(Quantity::GraphQuotient),
        _ => None,
    }
}

/// Whether every release is a sum of one block of such a quantity over all rows.
pub(super) fn fits(program: &Program, proved: impl Fn(Quantity) -> bool) -> Result<(), NotOnGraph> {
    for release in &program.releases {
        let plain = release.form == Form::Sum && release.batch.is_none();
        let fits = match release.blocks.as_slice() {
            [only] => plain && proved(only.quantity),
            _ => false,
        };
        if !fits {
            let first = release.blocks.first();
            return Err(NotOnGraph::Released {
                algorithm: program.name.clone(),
                released: first.map_or(Quantity::Product, |block| block.quantity),
            });
        }
    }
    match program.proved.indefinite {
        true => Ok(()),
        false => Err(NotOnGraph::Indefinite {
            algorithm: program.name.clone(),
        }),
    }
}

/// The two rows that the peer of a vertex holds.
pub(super) struct Held {
    /// Which vertex it is.
    pub(super) vertex: usize,
}

impl Held {
    /// `None` for rows that are no vertex's.
    pub(super) fn of(rows: &SparseRows) -> Option<Self> {
        match (rows.len(), rows.row(rows.len().checked_sub(1)?).0) {
            (2, [vertex]) => Some(Self {
                vertex: *vertex as usize,
            }),
            _ => None,
        }
    }
}

impl OnGraph {
    /// `inner` on a graph.
    ///
    /// # Errors
    /// [`NotOnGraph`] if it releases anything but products and Rayleigh quotients, one block at a time and of all rows.
    pub fn new(inner: Arc<dyn Algorithm>) -> Result<Self, NotOnGraph> {
        let program = inner.program();
        Self::check(&program)?;
        let is_product = |one: &ReleaseSpec| one.blocks[0].quantity == Quantity::Product;
        let products = program.releases.iter().map(is_product).collect();
        Ok(Self {
            inner,
            columns: program.query_columns,
            products,
        })
    }

    /// Whether what a program releases is proved on a private graph.
    ///
    /// # Errors
    /// [`NotOnGraph`] if it releases anything but products and Rayleigh quotients, or is for matrices without negative eigenvalues.
    pub fn check(program: &Program) -> Result<(), NotOnGraph> {
        fits(program, |quantity| on_graph(quantity).is_some())
    }

    /// What each peer holds: its row of the matrix whose rows these are, and the row of its vertex in the identity.
    #[must_use]
    pub fn held(rows: &SparseRows) -> Vec<SparseRows> {
        (0..rows.len())
            .map(|v| {
                let (columns, values) = rows.row(v);
                let mut held = SparseRows::new(rows.dimension());
                let edges = columns.iter().copied().zip(values.iter().copied());
                held.push_row(edges).expect("a row of a matrix");
                held.push_row([(v as u32, 1.0)])
                    .expect("as many vertices as columns");
                held
            })
            .collect()
    }

    /// The product's row and the query's row of the vertex that holds these rows; nothing of rows that are no vertex's.
    fn own<'a>(&self, rows: &SparseRows, prepared: &'a [f64]) -> (&'a [f64], &'a [f64]) {
        match Held::of(rows) {
            Some(_) => prepared.split_at(self.columns),
            None => (&[], &[]),
        }
    }
}

impl Algorithm for OnGraph {
    fn program(&self) -> Program {
        let mut program = self.inner.program();
        for release in &mut program.releases {
            for block in &mut release.blocks {
                if let Some(quantity) = on_graph(block.quantity) {
                    block.quantity = quantity;
                }
                if block.quantity == Quantity::GraphProduct {
                    block.shape = (1, block.columns);
                    release.form = Form::OwnCoordinates;
                }
            }
        }
        let state = program.state.with_past();
        program.inside::<&str>("on-graph", []).state(state)
    }

    fn next(&self, state: &PublicState, declared: Option<&ReleaseSpec>) -> Next {
        self.inner.next(state, declared)
    }

    fn statistic(&self, state: &PublicState) -> f64 {
        self.inner.statistic(state)
    }

    /// (A X)_v, then x_v.
    fn prepare(&self, rows: &SparseRows, history: History<'_>) -> Vec<f64> {
        rows.project(history.query, self.columns)
    }

    fn add_contribution(
        &self,
        release: ReleaseId,
        rows: &SparseRows,
        prepared: &[f64],
        range: Range<usize>,
        out: &mut [f64],
    ) {
        let (product, query) = self.own(rows, prepared);
        match self.products.get(release.index()) {
            Some(true) => {
                let own = product.iter().skip(range.start);
                for (out, own) in out.iter_mut().zip(own) {
                    *out += own;
                }
            }
            // One number: v_s (Av)_s.
            Some(false) if range.start == 0 => {
                for (out, (product, query)) in out.iter_mut().zip(product.iter().zip(query)) {
                    *out += product * query;
                }
            }
            Some(false) | None => {}
        }
    }

    fn advance(
        &self,
        state: &PublicState,
        sum: &Arc<Block>,
        sigmas: &[f64],
    ) -> Result<PublicState, NotFullRank> {
        self.inner.advance(state, sum, sigmas)
    }

    fn conclude(
        &self,
        state: &PublicState,
        sum: &Arc<Block>,
        sigmas: &[f64],
    ) -> Result<PublicState, NotFullRank> {
        self.inner.conclude(state, sum, sigmas)
    }

    fn estimate(&self, state: &PublicState) -> Arc<Block> {
        self.inner.estimate(state)
    }

    fn completer(&self, state: &PublicState) -> Option<Box<dyn Completer>> {
        self.inner.completer(state)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::{Covariance, PowerMethod, RetainedState, contribution};
    use crate::linalg::start_block;
    use crate::vocabulary::Seed;

    const VERTICES: usize = 7;

    /// A cycle with a chord; the matrix of it too.
    fn graph() -> (SparseRows, nalgebra::DMatrix<f64>) {
        let mut matrix = nalgebra::DMatrix::zeros(VERTICES, VERTICES);
        for (s, t) in (0..VERTICES)
            .map(|s| (s, (s + 1) % VERTICES))
            .chain([(1, 4)])
        {
            (matrix[(s, t)], matrix[(t, s)]) = (1.0, 1.0);
        }
        let mut rows = SparseRows::new(VERTICES);
        for s in 0..VERTICES {
            let edges = (0..VERTICES as u32).filter(|t| matrix[(s, *t as usize)] > 0.0);
            rows.push_row(edges.map(|t| (t, 1.0))).expect("ascending");
        }
        (rows, matrix)
    }

    #[test]
    fn a_block_is_a_row_of_as_many_numbers_and_other_releases_are_refused() {
        let (rows, matrix) = graph();
        let power = PowerMethod::new(VERTICES, 3, 2).expect("valid");
        let power = OnGraph::new(Arc::new(power)).expect("on graphs");
        assert_ne!(power.program().state, RetainedState::Query);
        let x = start_block(&Seed::from_u64(2), VERTICES, 3).expect("full rank");
        let history = History {
            release: ReleaseId(2),
            query: x.values(),
            past: &[],
            agreed: None,
        };
        let product = Block::from_matrix(&(&matrix * x.to_matrix()));
        for (v, held) in OnGraph::held(&rows).iter().enumerate() {
            let own = contribution(&power, held, history, (1, 3));
            for (a, b) in own.values().iter().zip(product.row(v)) {
                assert!((a - b).abs() < 1e-15);
            }
            // Any cut into ranges gives the same numbers.
            let prepared = power.prepare(held, history);
            let mut last = [0.0];
            power.add_contribution(ReleaseId(2), held, &prepared, 2..3, &mut last);
            assert_eq!(last[0], own.values()[2]);
        }
        let covariance = Covariance::new(VERTICES, 1).expect("valid");
        let refused = OnGraph::new(Arc::new(covariance)).expect_err("a triangle");
        assert!(refused.to_string().contains("deflation"), "{refused}");
    }
}
