//! Pairs of adjacent data that tests attack sensitivity bounds with.

use std::num::NonZeroU32;

use nalgebra::DMatrix;
use rand::{Rng, RngExt};

use super::super::super::adjacency::{
    Edge, Entry, EntryBipartite, Interaction, MatrixChange, Neighbouring, Rating, ReplaceUser,
    Swap, UnitSpectral, User,
};
use super::gaussian;
use crate::interactions::Interactions;
use crate::linalg::{Block, SparseRows};
use crate::privacy::RatingRange;
use crate::vocabulary::Seed;

/// An adjacency with data to attack its bounds with.
pub(in crate::privacy::sensitivity) trait Attacked:
    Neighbouring
{
    /// Adjacent data that a bound may be attained on. X is arbitrary, so which items a single set holds does
    /// not matter, only how many; the items come first so that structured blocks fit.
    fn structured(n: usize, cap: Option<u32>) -> Vec<(Self::Data, Self::Data)>;

    /// Random data with n items.
    fn random<R: Rng>(n: usize, rng: &mut R) -> Self::Data;

    /// The matrix A of this data under a degree floor and a cap.
    fn contribution(data: &Self::Data, floor: u32, cap: Option<u32>) -> DMatrix<f64>;

    /// The matrix A of this data under a root floor; of a matrix, which has no floor, itself.
    fn under_root(data: &Self::Data, _: u32) -> DMatrix<f64> {
        Self::contribution(data, 1, None)
    }

    /// The sum of the rows of this data, one column; of a matrix, which has none, nothing.
    fn row_sum(_: &Self::Data) -> DMatrix<f64> {
        DMatrix::zeros(0, 1)
    }

    /// The rows of this data, of norm 1 or empty; of a matrix none.
    fn rows(_: &Self::Data) -> SparseRows {
        SparseRows::new(0)
    }
}

/// Adjacencies on rows; what differs is the structured pairs.
trait OnRows: Neighbouring<Data = Interactions> {
    /// Pairs of item sets of one user, of at most `limit` items each.
    fn sets(n: u32, limit: u32) -> Vec<(Vec<u32>, Vec<u32>)>;
}

impl OnRows for Interaction {
    fn sets(n: u32, limit: u32) -> Vec<(Vec<u32>, Vec<u32>)> {
        (1..=limit.min(n))
            .map(|d| ((1..d).collect(), (0..d).collect()))
            .collect()
    }
}

impl OnRows for User {
    fn sets(n: u32, limit: u32) -> Vec<(Vec<u32>, Vec<u32>)> {
        (1..=limit.min(n))
            .map(|d| (Vec::new(), (0..d).collect()))
            .collect()
    }
}

impl OnRows for Swap {
    /// Exchanges, and additions: what a filter that keeps one of the two items leaves of an exchange.
    fn sets(n: u32, limit: u32) -> Vec<(Vec<u32>, Vec<u32>)> {
        (1..=limit.min(n - 1))
            .map(|d| {
                let with = |item| [item].into_iter().chain(2..=d).collect();
                (with(0), with(1))
            })
            .chain(Interaction::sets(n, limit))
            .collect()
    }
}

impl OnRows for ReplaceUser {
    fn sets(n: u32, limit: u32) -> Vec<(Vec<u32>, Vec<u32>)> {
        let limit = limit.min(n);
        let disjoint = (1..=limit)
            .filter(|d| 2 * d <= n)
            .map(|d| ((0..d).collect(), (d..2 * d).collect()));
        let overlapping = Swap::sets(n, limit).into_iter().take(3);
        let unequal = (1..=limit)
            .filter(|d| d + 1 < n)
            .map(|d| ((0..d).collect(), (d - 1..limit.min(n)).collect()))
            .filter(|(a, b): &(Vec<u32>, Vec<u32>)| a != b);
        disjoint.chain(overlapping).chain(unequal).collect()
    }
}

fn gram(rows: &SparseRows) -> DMatrix<f64> {
    let n = rows.dimension();
    let identity = Block::from_matrix(&DMatrix::identity(n, n));
    rows.gram_product(&identity).to_matrix()
}

impl<A: OnRows> Attacked for A {
    fn structured(n: usize, cap: Option<u32>) -> Vec<(Interactions, Interactions)> {
        let data = |row: Vec<u32>| Interactions::from_rows(n, &[row]).expect("an ascending row");
        A::sets(n as u32, cap.unwrap_or(n as u32))
            .into_iter()
            .map(|(a, b)| (data(a), data(b)))
            .collect()
    }

    /// Two users: the one that does not change must not matter.
    fn random<R: Rng>(n: usize, rng: &mut R) -> Interactions {
        let mut row = || {
            (0..n as u32)
                .filter(|_| rng.random_bool(0.5))
                .collect::<Vec<u32>>()
        };
        let rows = [row(), row()];
        Interactions::from_rows(n, &rows).expect("ascending rows")
    }

    /// The way runs do it: cap, normalise, multiply.
    fn contribution(data: &Interactions, floor: u32, cap: Option<u32>) -> DMatrix<f64> {
        let capped = cap.map_or_else(
            || data.clone(),
            |cap| data.cap(cap as usize, &Seed::from_u64(7)).0,
        );
        gram(&capped.normalised_rows(NonZeroU32::new(floor).expect("at least 1")))
    }

    fn under_root(data: &Interactions, floor: u32) -> DMatrix<f64> {
        gram(&data.root_floored_rows(NonZeroU32::new(floor).expect("at least 1")))
    }

    fn rows(data: &Interactions) -> SparseRows {
        data.normalised_rows(NonZeroU32::MIN)
    }

    fn row_sum(data: &Interactions) -> DMatrix<f64> {
        let rows = Self::rows(data);
        let mut sum = DMatrix::zeros(data.items(), 1);
        for i in 0..rows.len() {
            let (items, values) = rows.row(i);
            for (&item, value) in items.iter().zip(values) {
                sum[(item as usize, 0)] += value;
            }
        }
        sum
    }
}

impl Attacked for MatrixChange {
    fn structured(n: usize, _: Option<u32>) -> Vec<(DMatrix<f64>, DMatrix<f64>)> {
        let zero = DMatrix::zeros(n, n);
        let mut first = zero.clone();
        first[(0, 0)] = 1.0;
        let mut second = zero.clone();
        second[(0, 1)] = -1.0;
        vec![(zero.clone(), first), (zero, second)]
    }

    fn random<R: Rng>(n: usize, rng: &mut R) -> DMatrix<f64> {
        gaussian(rng, n, n)
    }

    fn contribution(data: &DMatrix<f64>, _: u32, _: Option<u32>) -> DMatrix<f64> {
        data.clone()
    }
}

impl Attacked for UnitSpectral {
    fn structured(n: usize, _: Option<u32>) -> Vec<(DMatrix<f64>, DMatrix<f64>)> {
        vec![(DMatrix::zeros(n, n), DMatrix::identity(n, n))]
    }

    fn random<R: Rng>(n: usize, rng: &mut R) -> DMatrix<f64> {
        gaussian(rng, n, n)
    }

    fn contribution(data: &DMatrix<f64>, _: u32, _: Option<u32>) -> DMatrix<f64> {
        data.clone()
    }
}

/// M is n/2 rows by all others, and enters as [0 M; Mᵀ 0].
impl Attacked for EntryBipartite {
    fn structured(n: usize, _: Option<u32>) -> Vec<(DMatrix<f64>, DMatrix<f64>)> {
        let zero = DMatrix::zeros(n / 2, n - n / 2);
        let mut entry = zero.clone();
        entry[(0, 0)] = 1.0;
        vec![(zero, entry)]
    }

    fn random<R: Rng>(n: usize, rng: &mut R) -> DMatrix<f64> {
        gaussian(rng, n / 2, n - n / 2)
    }

    fn contribution(data: &DMatrix<f64>, _: u32, _: Option<u32>) -> DMatrix<f64> {
        let (m, n) = data.shape();
        let mut all = DMatrix::zeros(m + n, m + n);
        all.view_mut((0, m), (m, n)).copy_from(data);
        all.view_mut((m, 0), (n, m)).copy_from(&data.transpose());
        all
    }
}

/// What is public of ratings between 0 and 1 less 1/2, n of them to a row, in units of the longest row.
pub(in crate::privacy::sensitivity) fn unit_ratings(n: usize) -> RatingRange {
    let unit = (n as f64).sqrt() / 2.0;
    RatingRange {
        moves: 1.0 / unit,
        largest: 0.5 / unit,
    }
}

/// Ratings less 1/2, in units of the longest row that there can be.
impl Attacked for Rating {
    /// The longest rows, of which one rating goes from one end to the other.
    fn structured(n: usize, _: Option<u32>) -> Vec<(DMatrix<f64>, DMatrix<f64>)> {
        let ones = DMatrix::from_element(1, n, 1.0);
        let mut other = ones.clone();
        other[(0, 0)] = 0.0;
        vec![(ones, other)]
    }

    fn random<R: Rng>(n: usize, rng: &mut R) -> DMatrix<f64> {
        DMatrix::from_fn(2, n, |_, _| rng.random_range(0.0..1.0))
    }

    fn contribution(data: &DMatrix<f64>, _: u32, _: Option<u32>) -> DMatrix<f64> {
        let unit = (data.ncols() as f64).sqrt() / 2.0;
        let rows = data.map(|rating| (rating - 0.5) / unit);
        rows.transpose() * &rows
    }
}

impl Attacked for Edge {
    fn structured(n: usize, _: Option<u32>) -> Vec<(DMatrix<f64>, DMatrix<f64>)> {
        let zero = DMatrix::zeros(n, n);
        let mut edge = zero.clone();
        (edge[(0, 1)], edge[(1, 0)]) = (1.0, 1.0);
        vec![(zero, edge)]
    }

    fn random<R: Rng>(n: usize, rng: &mut R) -> DMatrix<f64> {
        let upper = DMatrix::from_fn(n, n, |s, t| {
            f64::from(u8::from(s < t && rng.random_bool(0.5)))
        });
        &upper + upper.transpose()
    }

    fn contribution(data: &DMatrix<f64>, _: u32, _: Option<u32>) -> DMatrix<f64> {
        data.clone()
    }
}

impl Attacked for Entry {
    fn structured(n: usize, _: Option<u32>) -> Vec<(DMatrix<f64>, DMatrix<f64>)> {
        let zero = DMatrix::zeros(n, n);
        let entry = |i, j| {
            let mut change = zero.clone();
            change[(i, j)] = 1.0;
            (zero.clone(), change)
        };
        vec![entry(0, 0), entry(0, 1)]
    }

    fn random<R: Rng>(n: usize, rng: &mut R) -> DMatrix<f64> {
        gaussian(rng, n, n)
    }

    fn contribution(data: &DMatrix<f64>, _: u32, _: Option<u32>) -> DMatrix<f64> {
        data.clone()
    }
}
