//! The isometric triangle: Analyze Gauss with entries off the diagonal times √2.

use std::f64::consts::SQRT_2;
use std::ops::Range;
use std::sync::Arc;

use undertone::algorithm::{Algorithm, History, Program, PublicState, ReleaseSpec};
use undertone::engine::{Silent, lockstep};
use undertone::linalg::{Block, NotFullRank, SparseRows, subspace_distance, top_eigenvectors};
use undertone::privacy::{Adjacency, SensitivityRule, SensitivitySpec};
use undertone::protocol::averaging::AveragingKind;
use undertone::vocabulary::{Quantity, ReleaseId};

use super::{ITEMS, Setting, conforms, local, users};

const COLUMNS: usize = 2;

/// Places of the coordinates: (i, j), i ≤ j, row after row.
fn places() -> Vec<(usize, usize)> {
    (0..ITEMS)
        .flat_map(|i| (i..ITEMS).map(move |j| (i, j)))
        .collect()
}

/// One release of the whole matrix, in coordinates in which its norm is ‖A‖_F.
#[derive(Debug)]
struct Isometric;

impl Algorithm for Isometric {
    fn program(&self) -> Program {
        let shape = (places().len(), 1);
        let release = ReleaseSpec::sum(1, Quantity::IsometricTriangle, shape, COLUMNS);
        Program::of("isometric", ITEMS, COLUMNS, vec![release])
    }

    fn prepare(&self, _: &SparseRows, _: History<'_>) -> Vec<f64> {
        Vec::new()
    }

    fn add_contribution(
        &self,
        _: ReleaseId,
        rows: &SparseRows,
        _: &[f64],
        range: Range<usize>,
        out: &mut [f64],
    ) {
        let mut triangle = vec![0.0; out.len()];
        rows.add_gram_triangle(range.clone(), &mut triangle);
        for ((&(i, j), value), out) in places()[range].iter().zip(triangle).zip(out) {
            *out += if i == j { value } else { SQRT_2 * value };
        }
    }

    fn advance(
        &self,
        state: &PublicState,
        sum: &Arc<Block>,
        sigmas: &[f64],
    ) -> Result<PublicState, NotFullRank> {
        let mut next = state.followed_by(sum, sigmas);
        let mut matrix = nalgebra::DMatrix::zeros(ITEMS, ITEMS);
        for (&(i, j), value) in places().iter().zip(sum.values()) {
            matrix[(i, j)] = if i == j { *value } else { value / SQRT_2 };
            matrix[(j, i)] = matrix[(i, j)];
        }
        let eigen = nalgebra::SymmetricEigen::new(matrix);
        let mut order: Vec<usize> = (0..ITEMS).collect();
        order.sort_by(|a, b| eigen.eigenvalues[*b].total_cmp(&eigen.eigenvalues[*a]));
        let top = eigen.eigenvectors.select_columns(&order[..COLUMNS]);
        next.query = Arc::new(Block::from_matrix(&top));
        Ok(next)
    }

    fn estimate(&self, state: &PublicState) -> Arc<Block> {
        Arc::clone(&state.query)
    }
}

fn setting(adjacency: Adjacency, sigmas: [f64; 3]) -> Setting {
    Setting {
        sensitivity: SensitivitySpec::new(adjacency, SensitivityRule::Exact, 1, None),
        averaging: AveragingKind::Tree,
        sigmas,
    }
}

#[test]
fn all_engines_give_equal_bits() {
    let algorithm: Arc<dyn Algorithm> = Arc::new(Isometric);
    let setting = setting(Adjacency::User, [0.3, 2.0, 0.0]);
    conforms(&setting, &algorithm, &local(users(true)));
}

#[test]
fn without_noise_the_eigenvectors_are_exact() {
    let session = setting(Adjacency::User, [0.0; 3]);
    let session = session.session(Arc::new(Isometric), &local(users(true)), 1);
    let outcome = lockstep::run(&session, &mut Silent).expect("runs");
    let exact = top_eigenvectors(&session.all_rows(), COLUMNS).expect("converges");
    assert!(subspace_distance(outcome.basis(), &exact.vectors) < 1e-8);
}

/// A whole user of norm 1 costs 1, another in its place √2: the change of what peer 2 releases is never more.
#[test]
fn the_bound_is_the_frobenius_norm_of_the_change() {
    for (adjacency, bound) in [(Adjacency::User, 1.0), (Adjacency::ReplaceUser, SQRT_2)] {
        let session = setting(adjacency, [0.0; 3]);
        let session = session.session(Arc::new(Isometric), &local(users(true)), 1);
        let terms = session.plan().releases()[0].terms(0.0);
        assert!((terms.sensitivity - bound).abs() < 1e-15, "{adjacency}");
    }
    let of = |with: bool| {
        let mut out = vec![0.0; places().len()];
        let all = 0..out.len();
        Isometric.add_contribution(ReleaseId(1), &users(with)[2], &[], all, &mut out);
        out
    };
    let change: f64 = of(true)
        .iter()
        .zip(of(false))
        .map(|(a, b)| (a - b).powi(2))
        .sum();
    assert!(
        (change.sqrt() - 1.0).abs() < 1e-12,
        "a user of norm 1: {change}"
    );
}
