use nalgebra::{DMatrix, DVector, SymmetricEigen};
use rand::{Rng, RngExt};

use super::*;
use crate::algorithm::{RatedRows, SHARES, contribution};
use crate::linalg::start_block;
use crate::vocabulary::{Label, Seed};

const ITEMS: usize = 7;

fn algorithm(item_means: bool) -> SpectralRidge {
    SpectralRidge {
        dimension: ITEMS,
        rank: 3,
        completion: Completion {
            rows: RatedRows {
                slots: 50,
                radius: 1e3,
                most_ratings: ITEMS,
                user_centred: true,
            },
            item_means,
            shares: SHARES,
        },
    }
}

/// Rows of a few directions, about their own means; the first rates nothing.
fn ratings() -> SparseRows {
    let mut rows = SparseRows::new(ITEMS);
    rows.push_row([]).expect("an empty row");
    for u in 1..50_u32 {
        let own = f64::from(u);
        let rated = (0..ITEMS as u32).filter(|i| (u * 5 + i * i + u * i) % 4 != 0);
        let row: Vec<(u32, f64)> = rated
            .map(|i| {
                let item = f64::from(i);
                let main = (1.3 * own).sin() * (0.7 * item).cos();
                let other = 0.6 * (2.1 * own).cos() * (1.9 * item).sin();
                (i, main + other + 0.3 * item + 0.1 * (own * item).sin())
            })
            .collect();
        let mean = row.iter().map(|(_, x)| x).sum::<f64>() / row.len() as f64;
        rows.push_row(row.iter().map(|(i, x)| (*i, x - mean)))
            .expect("ascending");
    }
    rows
}

/// The state after all releases of these rows, with noise of these standard deviations per coordinate of each block.
fn run(algorithm: &SpectralRidge, rows: &SparseRows, sigma: f64, seed: u64) -> PublicState {
    let seed = Seed::from_u64(seed);
    let start = start_block(&seed, algorithm.dimension, algorithm.rank).expect("full rank");
    let mut state = PublicState::new(Arc::new(start));
    for (number, release) in (1..).zip(algorithm.program().releases) {
        let mut sum = contribution(algorithm, rows, state.history(), release.shape());
        let mut noise = vec![0.0; release.values()];
        let key = seed.key(Label::Scenario, number, 0);
        key.add_all_normals(1, sigma, &mut noise);
        for (sum, noise) in sum.values_mut().iter_mut().zip(noise) {
            *sum += noise;
        }
        let sigmas = vec![sigma; release.blocks.len()];
        state = algorithm
            .advance(&state, &Arc::new(sum), &sigmas)
            .expect("goes on");
        state.released = number;
    }
    state
}

/// Made again from its parts.
fn made(parts: &CompleterParts) -> Result<Box<dyn Completer>, PartsError> {
    SpectralRidgeTable::completer(parts).map(|found| found.expect("of this method"))
}

fn predictions(completer: &dyn Completer, rows: &SparseRows) -> Vec<Vec<f64>> {
    (0..rows.len())
        .map(|u| {
            let (items, values) = rows.row(u);
            completer.complete(items, values)
        })
        .collect()
}

/// Probabilistic principal components and a ridge regression, made of dense matrices: no code in common but the definition.
fn by_hand(rows: &SparseRows, rank: usize, item_means: bool) -> Vec<Vec<f64>> {
    let (m, n) = (rows.len(), rows.dimension());
    let mut a = DMatrix::from_element(m, n, f64::NAN);
    for u in 0..m {
        let (items, values) = rows.row(u);
        for (&i, x) in items.iter().zip(values) {
            a[(u, i as usize)] = *x;
        }
    }
    let rated: Vec<Vec<usize>> = (0..m)
        .map(|u| (0..n).filter(|&i| !a[(u, i)].is_nan()).collect())
        .collect();
    let count = |i: usize| (0..m).filter(|&u| !a[(u, i)].is_nan()).count() as f64;
    let density = (0..n).map(count).sum::<f64>() / (m * n) as f64;
    let mean_of = |i: usize| {
        let own = (0..m).map(|u| a[(u, i)]).filter(|x| !x.is_nan());
        own.sum::<f64>() / count(i)
    };
    let means: Vec<f64> = (0..n)
        .map(|i| if item_means { mean_of(i) } else { 0.0 })
        .collect();
    let mut offsets = vec![0.0; m];
    for u in 0..m {
        for &i in &rated[u] {
            a[(u, i)] -= means[i];
        }
        if item_means && !rated[u].is_empty() {
            offsets[u] = rated[u].iter().map(|&i| a[(u, i)]).sum::<f64>() / rated[u].len() as f64;
        }
        for &i in &rated[u] {
            a[(u, i)] -= offsets[u];
        }
    }
    let filled = a.map(|x| if x.is_nan() { 0.0 } else { x });
    let w = filled.transpose() * &filled;
    let eigen = SymmetricEigen::new(w.clone());
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&i, &j| eigen.eigenvalues[j].total_cmp(&eigen.eigenvalues[i]));
    let top = &order[..rank];
    let (users, items) = (m as f64, n as f64);
    let explained: f64 = top.iter().map(|&j| eigen.eigenvalues[j]).sum();
    let whole = w.trace() / (users * items * density);
    let residual = (whole - explained / (users * items * density * density)).max(0.1 * whole);
    let v = eigen.eigenvectors.select_columns(top);
    (0..m)
        .map(|u| {
            let own = v.select_rows(&rated[u]);
            let values =
                DVector::from_iterator(rated[u].len(), rated[u].iter().map(|&i| a[(u, i)]));
            let mut gram = own.transpose() * &own;
            for (j, &at) in top.iter().enumerate() {
                let prior = eigen.eigenvalues[at] / (users * density * density);
                gram[(j, j)] += residual / prior;
            }
            let c = gram
                .lu()
                .solve(&(own.transpose() * values))
                .expect("definite");
            let along = &v * c;
            (0..n).map(|i| offsets[u] + means[i] + along[i]).collect()
        })
        .collect()
}

#[test]
fn without_noise_predictions_are_those_of_probabilistic_principal_components() {
    let rows = ratings();
    for item_means in [true, false] {
        let algorithm = algorithm(item_means);
        let state = run(&algorithm, &rows, 0.0, 1);
        let completer = algorithm.completer(&state).expect("all released");
        assert_eq!(completer.parts().directions.columns(), 3);
        let mut parts = completer.parts();
        parts.constants.remove("own check");
        let unchecked = made(&parts).expect("its own parts");
        let found = predictions(unchecked.as_ref(), &rows);
        let expected = by_hand(&rows, 3, item_means);
        for (u, (found, expected)) in found.iter().zip(&expected).enumerate() {
            for (x, y) in found.iter().zip(expected) {
                assert!((x - y).abs() < 1e-9, "user {u}, {item_means}: {x} {y}");
            }
        }
    }
}

#[test]
fn under_noise_that_hides_everything_no_direction_is_kept_and_the_mean_is_predicted() {
    let rows = ratings();
    let algorithm = algorithm(false);
    let state = run(&algorithm, &rows, 1e3, 1);
    let completer = algorithm.completer(&state).expect("all released");
    assert_eq!(completer.parts().directions.columns(), 0);
    for prediction in predictions(completer.as_ref(), &rows) {
        assert_eq!(prediction, [0.0; ITEMS]);
    }
    assert!(
        algorithm
            .completer(&PublicState::new(Arc::clone(&state.query)))
            .is_none()
    );
}

/// With 4,000 users of one direction and noise of a size with its eigenvalue l the released eigenvalue is pushed up by σ²n/(2l), and what
/// is made of it is not: over 40 runs its mean is l to within 3 standard errors (σ/√40 each; a false alarm below 3e-3; the seeds are fixed).
#[test]
fn eigenvalues_are_freed_of_what_noise_adds_to_them() {
    let n = 60;
    let mut rows = SparseRows::new(n);
    for u in 0..4000_u32 {
        let along = f64::from(u % 5) - 2.0;
        rows.push_row((0..n as u32).map(|i| (i, along / (n as f64).sqrt())))
            .expect("ascending");
    }
    let mut algorithm = algorithm(false);
    (algorithm.dimension, algorithm.rank) = (n, 1);
    algorithm.completion.rows.most_ratings = n;
    algorithm.completion.rows.slots = 4000;
    algorithm.completion.rows.radius = 2.0;
    // Σ along² = 8,000, in units of R² = 4.
    let (exact, sigma) = (8000.0, 114.0);
    let runs = 40;
    let (mut freed, mut raw) = (0.0, 0.0);
    for seed in 0..runs {
        let state = run(&algorithm, &rows, sigma, seed);
        let ridge = algorithm.ridge(&state).expect("released");
        let (triangle, _) = algorithm.covariance(&state).expect("released");
        let v = ridge.directions.to_matrix();
        let w = (v.transpose() * PackedTriangle::new(n, &triangle).times(&v)).trace();
        freed += ridge.eigenvalues[0] / runs as f64;
        raw += w / runs as f64;
    }
    let sigma = 4.0 * sigma;
    let pushed = sigma * sigma * n as f64 / (2.0 * exact);
    let error = sigma / (runs as f64).sqrt();
    assert!((freed - exact).abs() < 3.0 * error, "{freed}");
    assert!((raw - exact - pushed).abs() < 3.0 * error, "{raw} {pushed}");
    assert!(pushed > 10.0 * error, "the push is seen");
}

#[test]
fn every_way_of_cutting_gives_the_same_bits() {
    let rows = ratings();
    for item_means in [true, false] {
        let algorithm = algorithm(item_means);
        let state = run(&algorithm, &rows, 0.5, 3);
        for (at, release) in algorithm.program().releases.iter().enumerate() {
            let before = PublicState {
                past: state.past[..at].to_vec(),
                released: at as u32,
                ..state.clone()
            };
            let history = before.history();
            let whole = contribution(&algorithm, &rows, history, release.shape());
            let prepared = algorithm.prepare(&rows, history);
            for width in [1, 3, 5, 11, 40] {
                let mut cut = vec![0.0; release.values()];
                for (k, out) in cut.chunks_mut(width).enumerate() {
                    let range = k * width..k * width + out.len();
                    algorithm.add_contribution(history.release, &rows, &prepared, range, out);
                }
                assert_eq!(cut, whole.values(), "{width}");
            }
        }
    }
}

/// A rating that equals the user's mean is a rating: an entry of 0 is counted, and an item without one is not.
#[test]
fn a_rating_of_the_mean_is_counted() {
    let mut rows = SparseRows::new(ITEMS);
    rows.push_row([(1, 0.0), (4, 0.0)]).expect("ascending");
    rows.push_row([]).expect("empty");
    let mut algorithm = algorithm(false);
    algorithm.completion.rows.most_ratings = 4;
    let state = PublicState::new(Arc::new(
        start_block(&Seed::from_u64(1), ITEMS, 3).expect("full rank"),
    ));
    let shape = algorithm.program().releases[0].shape();
    let sum = contribution(&algorithm, &rows, state.history(), shape);
    assert_eq!(sum.values()[..ITEMS], [0.0, 0.5, 0.0, 0.0, 0.5, 0.0, 0.0]);
    assert_eq!(rows.entries(), 2);
}

/// A row that may be long, full of zeros, far longer than the cap, or empty.
fn any_row(kind: u32, rng: &mut impl Rng) -> Vec<(u32, f64)> {
    let extremes = [0.0, 1.0, -1.0, 1e9, -1e9, 1e-9];
    let rated = (0..ITEMS as u32).filter(|_| kind % 4 != 3 || rng.random_bool(0.3));
    let rated: Vec<u32> = rated.collect();
    rated
        .into_iter()
        .map(|i| match kind % 4 {
            0 => (i, rng.random_range(-3.0..3.0)),
            1 => (i, extremes[rng.random_range(0..extremes.len())]),
            _ => (i, f64::from(u8::from(rng.random_bool(0.3))) * 9.0),
        })
        .collect()
}

/// How far every block of every release moves between these rows, given that these sums were released first.
fn moved(
    algorithm: &SpectralRidge,
    pair: [&[(u32, f64)]; 2],
    sums: &[f64],
) -> Vec<(Quantity, f64)> {
    let start = start_block(&Seed::from_u64(1), ITEMS, 3).expect("full rank");
    let mut state = PublicState::new(Arc::new(start));
    let mut found = Vec::new();
    for (number, release) in (1..).zip(algorithm.program().releases) {
        let [a, b] = pair.map(|row| {
            let mut rows = SparseRows::new(ITEMS);
            rows.push_row(row.iter().copied()).expect("ascending");
            contribution(algorithm, &rows, state.history(), release.shape())
        });
        let change = a.values().iter().zip(b.values()).map(|(x, y)| x - y);
        let change: Vec<f64> = change.collect();
        let mut rest = change.as_slice();
        for block in &release.blocks {
            let (own, others) = rest.split_at(block.values());
            found.push((
                block.quantity,
                own.iter().map(|x| x * x).sum::<f64>().sqrt(),
            ));
            rest = others;
        }
        let sum = Block::from_values(
            release.shape().0,
            1,
            sums.iter()
                .copied()
                .cycle()
                .take(release.values())
                .collect(),
        );
        let sigmas = vec![1.0; release.blocks.len()];
        state = algorithm
            .advance(&state, &Arc::new(sum), &sigmas)
            .expect("goes on");
        state.released = number;
    }
    found
}

/// Whatever the rows, however many ratings a peer holds beyond the cap, whatever was released before: no block moves further than the
/// bound it is charged at, and some rows come close to each. In units of ratings these are R, √ξ and R² for a row that is there
/// or not; 2R, √(2ξ) and √2·R² for one in place of another.
#[test]
fn attacks_come_close_to_every_bound_and_beat_none() {
    let mut rng = Seed::from_u64(8).generator(Label::Scenario);
    let root = 2.0_f64.sqrt();
    for item_means in [true, false] {
        for (replaced, bounds) in [(false, [1.0, 1.0, 1.0]), (true, [2.0, root, root])] {
            let mut algorithm = algorithm(item_means);
            algorithm.completion.rows.radius = 2.0;
            algorithm.completion.rows.most_ratings = 3;
            let mut best = [0.0_f64; 3];
            let place = |quantity| match quantity {
                Quantity::RowSum => 0,
                Quantity::NonnegativeRowSum => 1,
                _ => 2,
            };
            for trial in 0..3000 {
                let mut a = any_row(trial, &mut rng);
                let mut b = match (replaced, trial % 5) {
                    (false, _) => Vec::new(),
                    // The opposite of a row, and one about other items.
                    (true, 0) => a.iter().map(|(i, x)| (*i, -x)).collect(),
                    (true, _) => any_row(trial / 4, &mut rng),
                };
                if trial % 5 == 1 {
                    a.retain(|(i, _)| *i < 3);
                    b.retain(|(i, _)| *i >= 4);
                }
                let sums: Vec<f64> = (0..9).map(|_| rng.random_range(-40.0..40.0)).collect();
                for (quantity, length) in moved(&algorithm, [&a, &b], &sums) {
                    let best = &mut best[place(quantity)];
                    *best = best.max(length);
                }
            }
            for (place, (found, bound)) in best.iter().zip(bounds).enumerate() {
                if place == 0 && !item_means {
                    continue;
                }
                assert!(
                    *found <= bound * (1.0 + 1e-10),
                    "{replaced} {place}: {found}"
                );
                assert!(*found >= 0.97 * bound, "{replaced} {place}: {found}");
            }
        }
    }
}

#[test]
fn parts_make_the_same_predictions_and_broken_ones_none() {
    let rows = ratings();
    let algorithm = algorithm(true);
    let state = run(&algorithm, &rows, 0.0, 1);
    let first = algorithm.completer(&state).expect("all released");
    let parts = first.parts();
    let again = made(&parts).expect("whole");
    assert_eq!(
        predictions(first.as_ref(), &rows),
        predictions(again.as_ref(), &rows)
    );
    let broken = |change: &dyn Fn(&mut CompleterParts)| {
        let mut parts = parts.clone();
        change(&mut parts);
        made(&parts).expect_err("refused")
    };
    let mut other = parts.clone();
    other.method = "kriging".to_owned();
    assert!(matches!(SpectralRidgeTable::completer(&other), Ok(None)));
    for refused in [
        broken(&|parts| {
            parts.constants.remove("residual");
        }),
        broken(&|parts| {
            parts.constants.insert("residual".to_owned(), 0.0);
        }),
        broken(&|parts| {
            parts.constants.insert("recentred".to_owned(), f64::NAN);
        }),
        broken(&|parts| drop(parts.of_directions.remove("prior"))),
        broken(&|parts| parts.of_directions.get_mut("prior").expect("there")[1] = -1.0),
        broken(&|parts| parts.item_means.truncate(3)),
        broken(&|parts| parts.item_means[0] = f64::INFINITY),
        broken(&|parts| parts.directions.values_mut()[4] = f64::NAN),
    ] {
        assert!(matches!(refused, PartsError::Number { .. }), "{refused}");
    }
}

#[test]
fn blocks_spend_their_shares() {
    let with = algorithm(true).releases();
    let spent = |release: &ReleaseSpec| -> Vec<f64> {
        let blocks = release.blocks.iter();
        blocks.map(|block| block.weight * release.share).collect()
    };
    let all: Vec<f64> = with.iter().flat_map(spent).collect();
    for (found, share) in all.iter().zip(SHARES) {
        assert!((found - share).abs() < 1e-15);
    }
    let without = algorithm(false).releases();
    assert_eq!(without.len(), 1);
    let weights: Vec<f64> = without[0].blocks.iter().map(|block| block.weight).collect();
    assert!(
        (weights[0] - 0.05 / 0.9).abs() < 1e-15
            && (weights.iter().sum::<f64>() - 1.0).abs() < 1e-15
    );
}
