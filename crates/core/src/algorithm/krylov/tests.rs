//! Krylov against the power method and against its own statement.

use std::path::Path;

use super::super::{PowerMethod, contribution};
use super::*;
use crate::linalg::{SparseRows, start_block, subspace_distance, top_eigenvectors};
use crate::vocabulary::testing::skipped;

/// Planted: 6 strong groups of items among 60, and noise.
fn planted() -> SparseRows {
    let mut rows = SparseRows::new(60);
    for u in 0..400_u32 {
        let group = u % 6;
        let entries = (0..60_u32).filter(|c| {
            let odd = (u * 31 + c * 17 + u * c * 7) % 19;
            if c % 6 == group {
                odd < 14 - group
            } else {
                odd < 2
            }
        });
        rows.push_row(entries.map(|c| (c, 0.2))).expect("ascending");
    }
    rows
}

/// One comma-separated line per row, the columns asked for, values above a threshold as numbers.
fn csv(path: &str, skip: usize, keep: fn(f64) -> f64) -> Option<SparseRows> {
    let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join(path);
    let file = std::fs::File::open(path).ok()?;
    let text = std::io::read_to_string(flate2::read::GzDecoder::new(file)).ok()?;
    let mut rows: Option<SparseRows> = None;
    for line in text.lines().take(3000) {
        let values: Option<Vec<f64>> = line.split(',').map(|f| f.trim().parse().ok()).collect();
        let Some(values) = values else { continue };
        let values: Vec<f64> = values[skip..].iter().map(|&v| keep(v)).collect();
        let rows = rows.get_or_insert_with(|| SparseRows::new(values.len()));
        let length = values.iter().map(|v| v * v).sum::<f64>().sqrt().max(1.0);
        let entries = (0_u32..).zip(&values).filter(|(_, v)| **v != 0.0);
        rows.push_row(entries.map(|(c, v)| (c, v / length))).ok()?;
    }
    rows
}

/// The embedded ratings: the first 200 item numbers that have at least 60 ratings, degree floor 20.
fn movielens() -> SparseRows {
    let path = "sims/data/ml-latest-small/ratings.csv.gz";
    let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join(path);
    let file = std::fs::File::open(path).expect("embedded");
    let text = std::io::read_to_string(flate2::read::GzDecoder::new(file)).expect("text");
    let ratings = text.lines().skip(1).map(|line| {
        let mut fields = line.split(',').map(|f| f.parse::<u32>().ok());
        (fields.next().flatten(), fields.next().flatten())
    });
    let ratings: Vec<(u32, u32)> = ratings.filter_map(|(u, i)| u.zip(i)).collect();
    let mut degrees = std::collections::BTreeMap::new();
    for &(_, item) in &ratings {
        *degrees.entry(item).or_insert(0) += 1;
    }
    let popular = degrees.into_iter().filter(|&(_, d)| d >= 60);
    let kept: Vec<u32> = popular.map(|(item, _)| item).take(200).collect();
    let mut users = std::collections::BTreeMap::<u32, Vec<u32>>::new();
    for (user, item) in ratings {
        if let Ok(column) = kept.binary_search(&item) {
            users.entry(user).or_default().push(column as u32);
        }
    }
    let mut rows = SparseRows::new(kept.len());
    for mut row in users.into_values() {
        row.sort_unstable();
        let value = (row.len().max(20) as f64).sqrt().recip();
        rows.push_row(row.into_iter().map(|c| (c, value)))
            .expect("distinct items");
    }
    rows
}

fn run(algorithm: &dyn Algorithm, rows: &SparseRows, iterations: u32) -> Vec<Arc<Block>> {
    let (n, b) = (rows.dimension(), algorithm.program().query_columns);
    let start = start_block(&Seed::from_u64(2), n, b).expect("full rank");
    let mut state = PublicState::new(Arc::new(start));
    (0..iterations)
        .map(|_| {
            let sum = Arc::new(contribution(
                algorithm,
                rows,
                state.history(),
                algorithm.program().releases[0].shape(),
            ));
            state = algorithm.advance(&state, &sum, &[0.0]).expect("full rank");
            algorithm.estimate(&state)
        })
        .collect()
}

/// Share of tr(A) outside the basis that the exact eigenvectors would hold: 0 for them.
fn loss(rows: &SparseRows, basis: &Block, exact: &[f64]) -> f64 {
    let held = basis.transpose_times(&rows.gram_product(basis)).trace();
    let most: f64 = exact.iter().sum();
    1.0 - held / most
}

#[test]
fn without_noise_it_is_never_worse_than_the_power_method_and_gets_better() {
    let mut matrices = vec![("planted", planted()), ("movielens", movielens())];
    for (name, path, skip, keep) in [
        (
            "digits",
            "../shared/data/matrices/digits.csv.gz",
            0,
            (|v| v) as fn(f64) -> f64,
        ),
        (
            "breast-cancer",
            "../shared/data/matrices/breast-cancer.csv.gz",
            0,
            |v| v.max(0.0),
        ),
        (
            "jester",
            "../shared/data/ratings/jester-1-1.csv.gz",
            1,
            |v| f64::from(v != 99.0 && v > 0.0),
        ),
    ] {
        match csv(path, skip, keep) {
            Some(rows) => matrices.push((name, rows)),
            None => skipped(format!("{name}: {path} is absent")),
        }
    }
    for (name, rows) in matrices {
        let n = rows.dimension();
        for (rank, block) in [(2, 2), (4, 4), (4, 8)] {
            let exact = top_eigenvectors(&rows, rank).expect("converges").values;
            let krylov = Krylov {
                iterations: 1,
                dimension: n,
                rank,
                block,
            };
            let power = PowerMethod {
                iterations: 1,
                dimension: n,
                rank: block,
            };
            let ours = run(&krylov, &rows, 4);
            let theirs = run(&power, &rows, 4);
            let mut last = f64::INFINITY;
            for (l, (ours, theirs)) in ours.iter().zip(&theirs).enumerate() {
                // Orthogonal iteration orders its columns: the leading ones are its answer.
                let theirs = theirs.to_matrix().columns(0, rank).into_owned();
                let theirs = Block::from_matrix(&theirs);
                let (mine, other) = (loss(&rows, ours, &exact), loss(&rows, &theirs, &exact));
                let about = format!("{name}, rank {rank}, block {block}, iteration {}", l + 1);
                assert!(mine <= other + 1e-9, "{about}: {mine:e} against {other:e}");
                assert!(mine <= last + 1e-9, "{about}: {mine:e} after {last:e}");
                last = mine;
            }
        }
    }
}

/// Eigenvalue 1 three times, a tail from 0.95 to 0.35: for polynomials q of degree L with q(1) = 1, the best of which is a
/// Chebyshev polynomial on the tail, tan of the angle falls at least like 1/T_L(x), x = 1 + 2·gap/width (Saad 1980).
#[test]
fn a_small_gap_is_crossed_as_the_theory_of_block_krylov_says() {
    let mut rows = SparseRows::new(200);
    let value = |i: u32| match i {
        0..3 => 1.0_f64,
        _ => 0.95 * 0.995_f64.powi(i as i32 - 3),
    };
    for i in 0..200 {
        rows.push_row([(i, value(i).sqrt())]).expect("ascending");
    }
    let exact = Block::from_matrix(&DMatrix::identity(200, 3));
    let krylov = Krylov {
        iterations: 1,
        dimension: 200,
        rank: 3,
        block: 3,
    };
    let power = PowerMethod {
        iterations: 1,
        dimension: 200,
        rank: 3,
    };
    let start = start_block(&Seed::from_u64(2), 200, 3).expect("full rank");
    let sine = subspace_distance(&start, &exact);
    let tangent = sine / (1.0 - sine * sine).sqrt();
    let x = 1.0 + 2.0 * (1.0 - value(3)) / (value(3) - value(199));
    let ours = run(&krylov, &rows, 20);
    let theirs = run(&power, &rows, 20);
    for (l, (ours, theirs)) in (1..).zip(ours.iter().zip(&theirs)) {
        let ours = subspace_distance(ours, &exact);
        let theirs = subspace_distance(theirs, &exact);
        assert!(
            ours <= theirs + 1e-9,
            "iteration {l}: {ours:e} against {theirs:e}"
        );
        let chebyshev = (f64::from(l) * x.acosh()).cosh();
        let bound = tangent / chebyshev;
        assert!(ours <= bound, "iteration {l}: {ours:e} above {bound:e}");
    }
    let (last, plain) = (&ours[19], &theirs[19]);
    assert!(subspace_distance(last, &exact) < 1e-2 * subspace_distance(plain, &exact));
}

#[test]
fn the_completion_is_the_least_positive_semidefinite_matrix_that_agrees() {
    let rows = planted();
    let n = rows.dimension();
    let identity = Block::from_matrix(&DMatrix::identity(n, n));
    let a = rows.gram_product(&identity).to_matrix();
    let z = start_block(&Seed::from_u64(3), n, 9)
        .expect("full rank")
        .to_matrix();
    let w = &a * &z;
    let nystroem = &w * (z.tr_mul(&w)).try_inverse().expect("positive definite") * w.transpose();
    let mut generator = Seed::from_u64(3).generator(Label::Scenario);
    let space = extend_basis(z.clone(), &w, 0.0, &mut generator);
    let outside = space.columns(9, 9).tr_mul(&w);
    let b = z.tr_mul(&w);
    let ours = &space * completed(&((&b + b.transpose()) * 0.5), &outside, 0.0) * space.transpose();
    assert!((&ours - &nystroem).abs().max() < 1e-9 * a.amax());
    assert!(
        (&ours * &z - &w).abs().max() < 1e-9 * a.amax(),
        "agrees with what was seen"
    );
    let below = nalgebra::SymmetricEigen::new(&a - &ours).eigenvalues.min();
    assert!(
        below > -1e-9 * a.amax(),
        "A, which agrees too, lies above: {below:e}"
    );
}

#[test]
fn an_exhausted_space_is_measured_again_and_the_noise_falls() {
    let rows = planted();
    let n = rows.dimension();
    let algorithm = Krylov {
        iterations: 1,
        dimension: n,
        rank: 4,
        block: 24,
    };
    let exact = top_eigenvectors(&rows, 4).expect("converges").vectors;
    let mut errors = Vec::new();
    let start = start_block(&Seed::from_u64(5), n, 24).expect("full rank");
    let mut state = PublicState::new(Arc::new(start));
    let mut generator = Seed::from_u64(6).generator(Label::Scenario);
    for l in 1..=40 {
        let defect = state.query.transpose_times(&state.query) - DMatrix::identity(24, 24);
        assert!(defect.abs().max() < 1e-12, "query {l} is orthonormal");
        let mut sum = contribution(
            &algorithm,
            &rows,
            state.history(),
            algorithm.program().releases[0].shape(),
        );
        for value in sum.values_mut() {
            let normal: f64 =
                rand::distr::Distribution::sample(&rand_distr::StandardNormal, &mut generator);
            *value += 0.05 * normal;
        }
        state = algorithm
            .advance(&state, &Arc::new(sum), &[0.05])
            .expect("always");
        assert_eq!(algorithm.measured(&state).directions.ncols(), n.min(24 * l));
        errors.push(subspace_distance(&algorithm.estimate(&state), &exact));
    }
    // Without noise n columns know everything; 40 iterations measure each direction 16 times.
    assert!(errors[39] < 0.5 * errors[2], "{errors:?}");
    let exact_run = run(&algorithm, &rows, 5);
    assert!(subspace_distance(&exact_run[4], &exact) < 1e-7);
}

#[test]
fn a_matrix_of_low_rank_is_found_and_missing_directions_are_filled() {
    let mut rows = SparseRows::new(20);
    for u in 0..3_u32 {
        rows.push_row((0..20).map(|c| (c, f64::from((u * 7 + c * c + u * c) % 5) - 2.0)))
            .expect("ascending");
    }
    let algorithm = Krylov {
        iterations: 1,
        dimension: 20,
        rank: 3,
        block: 5,
    };
    let exact = top_eigenvectors(&rows, 3).expect("converges").vectors;
    for estimate in run(&algorithm, &rows, 3) {
        assert!(subspace_distance(&estimate, &exact) < 1e-9);
    }
}

#[test]
fn unequal_noise_is_weighed_by_precision() {
    let c = DMatrix::from_row_slice(2, 2, &[1.0, 10.0, 20.0, 2.0]);
    // C_01 has the noise of column 1, which is a third of column 0's in variance.
    let b = weighed(&c, &[3.0, 1.0]);
    assert!((b[(0, 1)] - (0.75 * 10.0 + 0.25 * 20.0)).abs() < 1e-15);
    assert_eq!((b[(0, 1)], b[(0, 0)]), (b[(1, 0)], 1.0));
    assert_eq!(weighed(&c, &[0.0, 0.0])[(0, 1)], 15.0);
}

/// Small eigenvalues of B are noise; inverting them would put noise first.
#[test]
fn the_noise_edge_keeps_noise_out_of_the_inverse() {
    let b = DMatrix::from_diagonal(&nalgebra::DVector::from_vec(vec![10.0, 0.01]));
    let t = DMatrix::from_row_slice(1, 2, &[0.5, 1.0]);
    let free = small_leading_eigenvectors(&completed(&b, &t, 0.0), 1);
    let edged = small_leading_eigenvectors(&completed(&b, &t, 1.0), 1);
    assert!(free[(0, 0)].abs() < 0.2, "100 in the unknown block: {free}");
    assert!(edged[(0, 0)].abs() > 0.99, "{edged}");
}
