use nalgebra::DMatrix;

use super::*;
use crate::algorithm::contribution;
use crate::linalg::{start_block, subspace_distance, top_eigenvectors};
use crate::vocabulary::Seed;

const ITEMS: usize = 30;

/// Users of three groups who take items of their own group, one to twelve of them, those with few from the first items of the group alone; rows under a root floor.
fn rows(floor: u32) -> SparseRows {
    let mut rows = SparseRows::new(ITEMS);
    for u in 0..900_u32 {
        let (group, wanted) = (u % 3, [1, 1, 1, 2, 2, 3, 5, 12][(u as usize / 3) % 8]);
        let reach = if wanted < 4 { 5 } else { 10 };
        let mut items: Vec<u32> = (0..wanted)
            .map(|k| group * 10 + (u / 24 * 7 + k * 3) % reach)
            .collect();
        items.sort_unstable();
        items.dedup();
        let degree = items.len() as u32;
        let weight = (f64::from(degree) * f64::from(degree.max(floor)))
            .sqrt()
            .recip();
        rows.push_row(items.into_iter().map(|item| (item, weight.sqrt())))
            .expect("ascending");
    }
    rows.push_row([]).expect("an empty row");
    rows
}

fn algorithm(floor: u32) -> RakedCovariance {
    RakedCovariance {
        dimension: ITEMS,
        rank: 3,
        floor,
    }
}

fn start() -> PublicState {
    PublicState::new(Arc::new(
        start_block(&Seed::from_u64(1), ITEMS, 3).expect("full rank"),
    ))
}

fn released(floor: u32) -> Block {
    let shape = (RakedCovariance::coordinates(ITEMS), 1);
    contribution(&algorithm(floor), &rows(floor), start().history(), shape)
}

fn dense(rows: &SparseRows) -> DMatrix<f64> {
    let identity = Block::from_matrix(&DMatrix::identity(ITEMS, ITEMS));
    rows.gram_product(&identity).to_matrix()
}

/// The matrix without a floor that is made of a release without noise.
fn estimated(floor: u32) -> DMatrix<f64> {
    let sum = Arc::new(released(floor));
    let state = algorithm(floor)
        .advance(&start(), &sum, &[0.0])
        .expect("always");
    let triangle = algorithm(floor).matrix(&state).expect("released");
    PackedTriangle::new(ITEMS, &triangle).to_block().to_matrix()
}

#[test]
fn a_release_is_the_triangle_under_the_floor_and_margins_without_it() {
    for floor in [1, 2, 7] {
        let sum = released(floor);
        let (under, without) = (dense(&rows(floor)), dense(&rows(1)));
        let (lambda, kappa) = margin_weights(floor);
        let mut expected = Vec::new();
        for i in 0..ITEMS {
            for j in i..ITEMS {
                expected.push(match i == j {
                    true => lambda * without[(i, i)],
                    false => SQRT_2 * under[(i, j)],
                });
            }
        }
        let sums = (0..ITEMS).map(|i| kappa * (without.row(i).sum() - without[(i, i)]));
        expected.extend(sums);
        for (found, expected) in sum.values().iter().zip(&expected) {
            assert!((found - expected).abs() < 1e-9, "{floor}");
        }
    }
}

#[test]
fn any_part_of_a_contribution_can_be_made_alone() {
    let (rows, whole) = (rows(5), released(5));
    let prepared = algorithm(5).prepare(&rows, start().history());
    let all = RakedCovariance::coordinates(ITEMS);
    for width in [1, 7, 29, 30, 31, 464, 466] {
        let mut cut = vec![0.0; all];
        for (k, out) in cut.chunks_mut(width).enumerate() {
            let range = k * width..k * width + out.len();
            algorithm(5).add_contribution(ReleaseId(1), &rows, &prepared, range, out);
        }
        assert_eq!(cut, whole.values(), "{width}");
    }
}

/// Under floors of 1 and 2 there is nothing to make up for but the diagonal.
#[test]
fn without_noise_low_floors_lose_nothing() {
    let exact = dense(&rows(1));
    for floor in [1, 2] {
        let off = (estimated(floor) - &exact).abs().max();
        assert!(off < 1e-9, "{floor}: {off}");
    }
    let top = top_eigenvectors(&rows(1), 3).expect("converges");
    let state = algorithm(2).advance(&start(), &Arc::new(released(2)), &[0.0]);
    let basis = algorithm(2).estimate(&state.expect("always"));
    assert!(subspace_distance(&basis, &top.vectors) < 1e-7);
}

/// Under higher floors the diagonal is exact, rows sum to what they should, and the eigenvectors are nearer than those of the matrix under the floor.
#[test]
fn without_noise_margins_are_those_without_a_floor() {
    let exact = dense(&rows(1));
    let top = top_eigenvectors(&rows(1), 3).expect("converges").vectors;
    for floor in [5, 10, 20] {
        let found = estimated(floor);
        for i in 0..ITEMS {
            assert!((found[(i, i)] - exact[(i, i)]).abs() < 1e-9, "{floor} {i}");
            let (sum, wanted) = (found.row(i).sum(), exact.row(i).sum());
            assert!(
                (sum / wanted - 1.0).abs() < 0.05,
                "{floor} {i}: {sum} {wanted}"
            );
        }
        let distance = |matrix: &DMatrix<f64>| {
            let packed = (0..ITEMS).flat_map(|i| (i..ITEMS).map(move |j| matrix[(i, j)]));
            let packed: Vec<f64> = packed.collect();
            subspace_distance(
                &PackedTriangle::new(ITEMS, &packed).leading_eigenvectors(3),
                &top,
            )
        };
        let (raked, plain) = (distance(&found), distance(&dense(&rows(floor))));
        assert!(raked < 0.5 * plain, "{floor}: {raked} {plain}");
    }
}

/// Where noise decides, all entries have one factor, and the diagonal is a multiple of the degrees; nothing overflows, whatever was released.
#[test]
fn noise_and_numbers_beyond_reason_leave_finite_matrices() {
    let sum = released(7);
    let quiet = raked(ITEMS, sum.values(), 0.0, 7);
    let loud = raked(ITEMS, sum.values(), 1e6, 7);
    let place = |i| PackedTriangle::row_start(ITEMS, i);
    let degree = |i: usize| {
        let (lambda, kappa) = margin_weights(7);
        let sums = &sum.values()[PackedTriangle::coordinates(ITEMS)..];
        (sum.values()[place(i)] / lambda + sums[i] / kappa).max(1.0)
    };
    let shares: Vec<f64> = (0..ITEMS).map(|i| loud[place(i)] / degree(i)).collect();
    assert!(shares.iter().all(|share| (share - shares[0]).abs() < 1e-12));
    assert!((quiet[place(0)] / degree(0) - shares[0]).abs() > 1e-3);
    let ratio = |i: usize| loud[place(i) + 1] / sum.values()[place(i) + 1];
    assert!((ratio(0) - ratio(10)).abs() < 1e-12 && ratio(0).is_finite());
    for scale in [0.0, 1e300, -1e300] {
        let huge: Vec<f64> = sum.values().iter().map(|value| value * scale).collect();
        for sigma in [0.0, 1.0, 1e200] {
            let found = raked(ITEMS, &huge, sigma, 20);
            assert!(
                found.iter().all(|entry| entry.is_finite()),
                "{scale} {sigma}"
            );
        }
    }
}
