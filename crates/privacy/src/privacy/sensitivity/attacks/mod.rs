//! Attacks on every registered bound: a search for adjacent data, and a block X if a product is released, on which
//! A·X or the triangle of A moves further than the bound says.
//!
//! Data: structured worst cases and random neighbours of random data, every pair checked by the adjacency itself
//! and put through the normalisation that runs use. Blocks: structured ones and random ones, each improved by
//! coordinate ascent. No pair may beat the bound; where the bound is tight, one must reach 99.9 % of it and
//! beat it when it is scaled down by 1 %.

use nalgebra::DMatrix;
use rand::distr::Distribution;
use rand::{Rng, RngExt};
use rand_distr::StandardNormal;

use super::registry::PROVED;
use super::*;
use crate::linalg::{Block, PackedTriangle};
use crate::privacy::Adjacency;
use crate::privacy::adjacency::{
    Edge, Entry, EntryBipartite, Interaction, MatrixChange, Rating, ReplaceUser, Swap,
    UnitSpectral, User,
};
use crate::vocabulary::{Label, Quantity, Seed};

mod blocks;
mod cases;
mod clipped;
mod margins;
mod pairs;
mod tails;

pub(in crate::privacy::sensitivity) use self::blocks::{signed, structured};
use self::pairs::Attacked;
pub(in crate::privacy::sensitivity) use self::pairs::unit_ratings;

/// One bound under attack.
#[derive(Clone, Copy, Debug)]
pub(in crate::privacy) struct Case {
    pub(in crate::privacy) quantity: Quantity,
    pub(in crate::privacy) adjacency: Adjacency,
    pub(in crate::privacy) rule: SensitivityRule,
    pub(in crate::privacy) floor: u32,
    pub(in crate::privacy) cap: Option<u32>,
}

/// Shapes (n, p) of X.
const SHAPES: [(usize, usize); 9] = [
    (3, 1),
    (3, 2),
    (4, 2),
    (4, 4),
    (5, 2),
    (6, 1),
    (6, 2),
    (7, 2),
    (7, 3),
];

/// Steps of coordinate ascent from each start.
const STEPS: usize = 40;

/// Rounding in ‖CX‖_F and D̂.
pub(in crate::privacy) const ROUNDING: f64 = 1e-10;

/// The largest ‖CX‖_F/(`scale`·Δ), or |xᵀCx|/(`scale`·Δ), found; the search ends as soon as it exceeds 1.
pub(in crate::privacy) fn attack(case: Case, scale: f64) -> f64 {
    match case.adjacency {
        Adjacency::Interaction => search::<Interaction>(case, scale),
        Adjacency::User => search::<User>(case, scale),
        Adjacency::Swap => search::<Swap>(case, scale),
        Adjacency::ReplaceUser => search::<ReplaceUser>(case, scale),
        Adjacency::Matrix => search::<MatrixChange>(case, scale),
        Adjacency::UnitSpectral => search::<UnitSpectral>(case, scale),
        Adjacency::Entry => search::<Entry>(case, scale),
        Adjacency::Edge => search::<Edge>(case, scale),
        Adjacency::Rating => search::<Rating>(case, scale),
        Adjacency::EntryBipartite => search::<EntryBipartite>(case, scale),
    }
}

fn search<A: Attacked>(case: Case, scale: f64) -> f64 {
    let mut rng = Seed::from_u64(20).generator(Label::Scenario);
    let mut best = 0.0_f64;
    for (n, p) in SHAPES {
        // A quotient is one of a single vector.
        let p = if is_quotient(case.quantity) { 1 } else { p };
        let sensitivity = Sensitivity::of_quantity(
            case.quantity,
            case.adjacency,
            case.rule,
            case.floor,
            case.cap,
            p,
        )
        .expect("proved")
        .with_rating(Some(unit_ratings(n)));
        if clipped::is_clipped(case.quantity) {
            let pairs = pairs::<A>(case, n, &mut rng);
            let moved = clipped::most_moved::<A>(case.quantity, &pairs, (n, p), &mut rng);
            best = best.max(moved / sensitivity.bound(f64::NAN) / scale);
            continue;
        }
        if case.quantity == Quantity::TailCounts {
            let pairs = pairs::<A>(case, n, &mut rng);
            let moved = tails::most_moved::<A>(&pairs, case.cap);
            best = best.max(moved / sensitivity.bound(f64::NAN) / scale);
            continue;
        }
        if case.quantity == Quantity::TriangleAndMargins {
            let pairs = pairs::<A>(case, n, &mut rng);
            let moved = margins::most_moved::<A>(&pairs, case);
            best = best.max(moved / sensitivity.bound(f64::NAN) / scale);
            continue;
        }
        for change in changes::<A>(case, n, &mut rng) {
            if is_quotient(case.quantity) {
                let mut starts = signed(n);
                starts.extend(structured(n, 1));
                for x in starts {
                    best = best.max(ascend(&sensitivity, &change, x, &mut rng) / scale);
                }
                if best > 1.0 + ROUNDING {
                    return best;
                }
                continue;
            }
            if !is_product(case.quantity) {
                // Nothing to choose but the data.
                let moved = released(case.quantity, &change).norm() / sensitivity.bound(f64::NAN);
                best = best.max(moved / scale);
                if best > 1.0 + ROUNDING {
                    return best;
                }
                continue;
            }
            let mut starts = structured(n, p);
            starts.extend((0..3).filter_map(|_| orthonormal(&gaussian(&mut rng, n, p))));
            for x in starts {
                best = best.max(ascend(&sensitivity, &change, x, &mut rng) / scale);
                if best > 1.0 + ROUNDING {
                    return best;
                }
            }
        }
    }
    best
}

/// What is released of a change: that of a sum of rows itself, of A its triangle.
pub(in crate::privacy::sensitivity) fn released(
    quantity: Quantity,
    change: &DMatrix<f64>,
) -> Block {
    let n = change.nrows();
    if is_row_sum(quantity) {
        return Block::from_matrix(change);
    }
    let off_diagonal = match quantity {
        Quantity::IsometricTriangle => 2.0_f64.sqrt(),
        _ => 1.0,
    };
    let weight = move |i, j| if i == j { 1.0 } else { off_diagonal };
    let entries = (0..n).flat_map(|i| (i..n).map(move |j| weight(i, j) * change[(i, j)]));
    Block::from_values(PackedTriangle::coordinates(n), 1, entries.collect())
}

fn is_product(quantity: Quantity) -> bool {
    matches!(
        quantity,
        Quantity::Product | Quantity::GraphProduct | Quantity::BipartiteHalf
    )
}

fn is_quotient(quantity: Quantity) -> bool {
    matches!(
        quantity,
        Quantity::RayleighQuotient | Quantity::GraphQuotient
    )
}

fn is_row_sum(quantity: Quantity) -> bool {
    matches!(
        quantity,
        Quantity::RowSum | Quantity::NonnegativeRowSum | Quantity::ItemShares
    )
}

/// Changes of the contribution of adjacent data.
pub(in crate::privacy::sensitivity) fn changes<A: Attacked>(
    case: Case,
    n: usize,
    rng: &mut impl Rng,
) -> Vec<DMatrix<f64>> {
    pairs::<A>(case, n, rng)
        .iter()
        .map(|(a, b)| {
            if is_row_sum(case.quantity) {
                return A::row_sum(b) - A::row_sum(a);
            }
            let of = |data: &A::Data| match case.rule {
                SensitivityRule::RootFloor => A::under_root(data, case.floor),
                _ => A::contribution(data, case.floor, case.cap),
            };
            let mut change = of(b) - of(a);
            // The rows of a bipartite matrix publish, its columns wait.
            if case.quantity == Quantity::BipartiteHalf {
                change.rows_mut(n / 2, n - n / 2).fill(0.0);
            }
            change
        })
        .collect()
}

/// Adjacent data.
fn pairs<A: Attacked>(case: Case, n: usize, rng: &mut impl Rng) -> Vec<(A::Data, A::Data)> {
    let mut pairs = A::structured(n, case.cap);
    for _ in 0..4 {
        let a = A::random(n, rng);
        if let Some(b) = A::random_adjacent(&a, rng) {
            pairs.push((a, b));
        }
    }
    assert!(!pairs.is_empty());
    for (a, b) in &pairs {
        let distance = A::distance(a, b).expect("comparable");
        assert!(
            (distance - 1.0).abs() < 1e-9,
            "{}: {distance}",
            A::ADJACENCY
        );
    }
    pairs
}

/// Moves one entry at a time, restores orthonormality, keeps what gains.
fn ascend(
    sensitivity: &Sensitivity,
    change: &DMatrix<f64>,
    mut x: DMatrix<f64>,
    rng: &mut impl Rng,
) -> f64 {
    let mut found = ratio(sensitivity, change, &x);
    let mut step = 0.5;
    for _ in 0..STEPS {
        let mut next = x.clone();
        let at = (
            rng.random_range(0..x.nrows()),
            rng.random_range(0..x.ncols()),
        );
        let normal: f64 = StandardNormal.sample(rng);
        next[at] += step * normal;
        let Some(next) = orthonormal(&next) else {
            continue;
        };
        let gain = ratio(sensitivity, change, &next);
        if gain > found {
            (x, found) = (next, gain);
        } else {
            step = (step * 0.9).max(1e-3);
        }
    }
    found
}

fn ratio(sensitivity: &Sensitivity, change: &DMatrix<f64>, x: &DMatrix<f64>) -> f64 {
    let block = Block::from_matrix(x);
    let statistic = match sensitivity.statistic() {
        Statistic::None => f64::NAN,
        other => other.of(&block).min(1.0),
    };
    let moved = match is_quotient(sensitivity.quantity()) {
        true => (x.transpose() * change * x).norm(),
        false => (change * x).norm(),
    };
    moved / sensitivity.bound(statistic)
}

pub(in crate::privacy::sensitivity) fn orthonormal(matrix: &DMatrix<f64>) -> Option<DMatrix<f64>> {
    let q = matrix.clone().qr().q();
    let defect = (q.transpose() * &q - DMatrix::identity(q.ncols(), q.ncols())).norm();
    (defect < 1e-12).then_some(q)
}

pub(in crate::privacy::sensitivity) fn gaussian(
    rng: &mut impl Rng,
    rows: usize,
    columns: usize,
) -> DMatrix<f64> {
    DMatrix::from_fn(rows, columns, |_, _| StandardNormal.sample(rng))
}
