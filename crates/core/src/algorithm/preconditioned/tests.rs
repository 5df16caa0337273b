//! P A P through queries of A, against the same algorithms on the rows of P A P themselves.

use super::super::{
    Covariance, IsometricCovariance, Krylov, Momentum, PowerMethod, Streaming, contribution,
};
use super::*;
use crate::linalg::{start_block, subspace_distance, top_eigenvectors};
use crate::vocabulary::{Label, Seed};
use rand::distr::Distribution;
use rand_distr::StandardNormal;

const ITEMS: usize = 30;
const RANK: usize = 3;

/// 300 rows; early items are taken far more often than late ones.
fn rows() -> SparseRows {
    let mut rows = SparseRows::new(ITEMS);
    for u in 0..300_u32 {
        let entries = (0..ITEMS as u32).filter(|c| (u * 7 + c * c * 3 + u * c) % (9 + 2 * c) < 5);
        rows.push_row(entries.map(|c| (c, 0.25)))
            .expect("ascending");
    }
    rows
}

fn degrees(rows: &SparseRows) -> Vec<u32> {
    let mut degrees = vec![0; ITEMS];
    for i in 0..rows.len() {
        rows.row(i).0.iter().for_each(|&c| degrees[c as usize] += 1);
    }
    degrees
}

fn weights(exponent: f64) -> Arc<ItemWeights> {
    let weights = ItemWeights::of_degrees(&degrees(&rows()), exponent, 0.0);
    Arc::new(weights.expect("in range"))
}

fn all() -> [Arc<dyn Algorithm>; 5] {
    let (dimension, rank, iterations) = (ITEMS, RANK, 4);
    [
        Arc::new(PowerMethod {
            dimension,
            rank,
            iterations,
        }),
        Arc::new(Momentum {
            dimension,
            rank,
            iterations,
            momentum: 3.0,
        }),
        Arc::new(Krylov {
            dimension,
            rank,
            block: 5,
            iterations,
        }),
        Arc::new(Covariance { dimension, rank }),
        Arc::new(IsometricCovariance { dimension, rank }),
    ]
}

/// What is added to the sum of a release of this shape.
type Noise<'a> = &'a dyn Fn(u32, (usize, usize), &PublicState) -> Block;

/// Runs an algorithm, adding `noise(release, shape, state)` to every sum and telling it of none, so that no threshold depends on its units; the
/// states after each release.
fn run(
    algorithm: &dyn Algorithm,
    rows: &SparseRows,
    start: Block,
    noise: Noise<'_>,
) -> Vec<PublicState> {
    let releases = algorithm.program().releases;
    let mut state = PublicState::new(Arc::new(start));
    let mut states = Vec::new();
    for (number, release) in (1..).zip(&releases) {
        let mut sum = contribution(algorithm, rows, state.history(), release.shape());
        sum.add_scaled(1.0, &noise(number, release.shape(), &state));
        let sum = Arc::new(sum);
        let next = match number as usize == releases.len() {
            true => algorithm.conclude(&state, &sum, &[0.0]),
            false => algorithm.advance(&state, &sum, &[0.0]),
        };
        state = next.expect("full rank");
        state.released = number;
        states.push(state.clone());
    }
    states
}

fn silent(_: u32, (rows, columns): (usize, usize), _: &PublicState) -> Block {
    Block::zeros(rows, columns)
}

/// The same numbers for the same release.
fn drawn(number: u32, (rows, columns): (usize, usize)) -> Block {
    let mut generator = Seed::from_u64(u64::from(number)).generator(Label::Scenario);
    let values = (0..rows * columns).map(|_| {
        let normal: f64 = StandardNormal.sample(&mut generator);
        0.1 * normal
    });
    Block::from_values(rows, columns, values.collect())
}

fn start(columns: usize) -> Block {
    start_block(&Seed::from_u64(4), ITEMS, columns).expect("full rank")
}

fn wrapped(inner: &Arc<dyn Algorithm>, weights: &Arc<ItemWeights>) -> Preconditioned {
    Preconditioned::new(Arc::clone(inner), Arc::clone(weights)).expect("goes with it")
}

/// What the wrapped algorithm does to noise N is what the algorithm on the rows R P does to P N R, or to P N P: every state is
/// the same to rounding, whatever the noise.
#[test]
fn it_is_the_algorithm_on_the_scaled_rows_with_the_noise_that_is_stated() {
    let rows = rows();
    for exponent in [0.25, 0.5] {
        let weights = weights(exponent);
        let scaled = weights.scale_columns(&rows);
        for inner in all() {
            let outer = wrapped(&inner, &weights);
            let q = start(inner.program().query_columns);
            let of_m = match outer.products {
                true => orthonormalise(&weights.inverse_times(&q)).expect("full rank"),
                false => q.clone(),
            };
            let noise = |number: u32, shape: (usize, usize), state: &PublicState| {
                let drawn = drawn(number, shape);
                match outer.products {
                    // Here the query is X: Q and R are those of P X.
                    true => {
                        let scaled = weights.times(&state.query);
                        let q = orthonormalise(&scaled).expect("full rank");
                        let r = q.transpose_times(&scaled);
                        weights.times(&drawn).times(&r)
                    }
                    false => {
                        let mut drawn = drawn;
                        weights.scale_triangle(drawn.values_mut());
                        drawn
                    }
                }
            };
            let expected = run(inner.as_ref(), &scaled, of_m, &noise);
            let found = run(&outer, &rows, q, &|number, shape, _| drawn(number, shape));
            assert_eq!(expected.len(), found.len());
            for (expected, found) in expected.iter().zip(&found) {
                let (a, b) = (inner.estimate(expected), outer.estimate(found));
                let name = inner.program().name;
                let distance = subspace_distance(&a, &b);
                assert!(distance < 1e-9, "{name} {exponent}: {distance:e}");
                let gram = b.transpose_times(&b) - DMatrix::identity(RANK, RANK);
                assert!(gram.abs().max() < 1e-12, "{name}: an orthonormal estimate");
                assert!(found.query.orthonormality_defect() < 1e-13);
                if outer.products {
                    let own = outer.inner_state(found).expect("full rank").query;
                    let mut difference = Block::clone(&own);
                    difference.add_scaled(-1.0, &expected.query);
                    assert!(difference.norm() < 1e-8, "{name}: the queries are X");
                }
            }
        }
    }
}

#[test]
fn without_noise_one_triangle_gives_the_leading_eigenvectors_of_the_scaled_matrix() {
    let rows = rows();
    let weights = weights(0.5);
    let exact = top_eigenvectors(&weights.scale_columns(&rows), RANK).expect("converges");
    let plain = top_eigenvectors(&rows, RANK).expect("converges");
    assert!(
        subspace_distance(&exact.vectors, &plain.vectors) > 0.3,
        "P turns the space"
    );
    for inner in &all()[3..] {
        let outer = wrapped(inner, &weights);
        let states = run(&outer, &rows, start(inner.program().query_columns), &silent);
        let found = outer.estimate(states.last().expect("releases"));
        let error = subspace_distance(&found, &exact.vectors);
        assert!(error < 1e-7, "{}: {error:e}", inner.program().name);
    }
}

/// With all weights alike it is the algorithm itself, and every cut of a contribution is the algorithm's own.
#[test]
fn equal_weights_change_nothing() {
    let rows = rows();
    let flat = weights(0.0);
    for inner in all() {
        let outer = wrapped(&inner, &flat);
        let q = start(inner.program().query_columns);
        let of = |algorithm: &dyn Algorithm| {
            let states = run(algorithm, &rows, q.clone(), &silent);
            algorithm.estimate(states.last().expect("releases"))
        };
        let distance = subspace_distance(&of(inner.as_ref()), &of(&outer));
        assert!(distance < 1e-10, "{}: {distance:e}", inner.program().name);
        let (inside, around) = (inner.program(), outer.program());
        assert_eq!(inside.releases, around.releases);
        assert_ne!(around.state, RetainedState::Query);
    }
}

/// X flat over a hundred items and P = diag(1, 10⁻³, …): the longest row of X is 0.1, that of Q 0.99995. The query in the state, which the noise
/// is scaled by, is Q.
#[test]
fn the_query_that_bounds_are_evaluated_at_is_q() {
    let n = 100;
    let mut values = vec![1e-3; n];
    values[0] = 1.0;
    let weights = Arc::new(ItemWeights::new(values).expect("in range"));
    let inner: Arc<dyn Algorithm> = Arc::new(PowerMethod {
        dimension: n,
        rank: 1,
        iterations: 2,
    });
    let outer = wrapped(&inner, &weights);
    let x = Block::from_values(n, 1, vec![0.1; n]);
    let q = orthonormalise(&weights.times(&x)).expect("full rank");
    assert!((q.max_row_norm() - 0.99995).abs() < 1e-5);
    assert!((outer.unmapped(&q).expect("full rank").0.max_row_norm() - 0.1).abs() < 1e-9);
    // A sum that makes X flat: P Y is.
    let sum = Arc::new(weights.inverse_times(&x));
    let state = PublicState::new(Arc::new(
        start_block(&Seed::from_u64(1), n, 1).expect("one"),
    ));
    let next = outer.advance(&state, &sum, &[0.0]).expect("full rank");
    assert!((next.query.max_row_norm() - 0.99995).abs() < 1e-5);
    assert!(next.query.orthonormality_defect() < 1e-14);
}

/// Weights as far apart as they may be, and sums as large as they can be, leave queries orthonormal or a typed refusal.
#[test]
fn extreme_weights_and_sums_keep_queries_orthonormal_or_are_refused() {
    let far = (0..ITEMS).map(|i| 2.0_f64.powf(-16.0 * i as f64 / (ITEMS - 1) as f64));
    let far = Arc::new(ItemWeights::new(far.collect()).expect("in range"));
    for inner in all() {
        let outer = wrapped(&inner, &far);
        let states = run(
            &outer,
            &rows(),
            start(inner.program().query_columns),
            &|number, shape, _| drawn(number, shape),
        );
        for state in &states {
            assert!(
                state.query.orthonormality_defect() < 1e-12,
                "{}",
                inner.program().name
            );
            assert!(outer.estimate(state).orthonormality_defect() < 1e-9);
        }
    }
    let [power, ..] = all();
    let outer = wrapped(&power, &far);
    let state = PublicState::new(Arc::new(start(RANK)));
    for value in [f64::NAN, f64::INFINITY, f64::MAX] {
        let sum = Arc::new(Block::from_values(ITEMS, RANK, vec![value; ITEMS * RANK]));
        assert!(outer.advance(&state, &sum, &[0.0]).is_err(), "{value}");
    }
}

/// σ is told in units of the inner algorithm: the quadratic forms zᵀ(P N R)x that it makes of noise have that standard deviation in the
/// root of the mean square. 2,000 draws of 25 correlated entries each: their mean square errs by some 2 %, 15 % are allowed, which is
/// more than seven standard deviations.
#[test]
fn noise_is_told_in_the_units_of_the_inner_algorithm() {
    let weights = weights(0.5);
    let inner: Arc<dyn Algorithm> = Arc::new(Krylov {
        dimension: ITEMS,
        rank: RANK,
        block: 5,
        iterations: 2,
    });
    let outer = wrapped(&inner, &weights);
    let q = start(5);
    let sum = Arc::new(drawn(1, (ITEMS, 5)));
    let after = outer
        .advance(&PublicState::new(Arc::new(q.clone())), &sum, &[2.0])
        .expect("full rank");
    let told = outer.inner_state(&after).expect("full rank").past[0].sigma();
    let (x, r) = outer.unmapped(&q).expect("full rank");
    let mut squares = 0.0;
    for number in 0..2000 {
        // `drawn` has standard deviation 0.1.
        let mut noise = drawn(100 + number, (ITEMS, 5));
        noise.scale(20.0);
        let form = x.transpose_times(&weights.times(&noise).times(&r));
        squares += form.norm_squared() / 25.0;
    }
    let found = (squares / 2000.0).sqrt();
    assert!((told / found - 1.0).abs() < 0.15, "{told} {found}");
}

#[test]
fn what_it_does_not_go_with_is_refused() {
    let (dimension, rank, iterations) = (ITEMS, RANK, 2);
    let others: [Arc<dyn Algorithm>; 2] = [
        Arc::new(Streaming {
            dimension,
            rank,
            iterations,
        }),
        Arc::new(wrapped(&all()[0], &weights(0.5))),
    ];
    for inner in others {
        let name = inner.program().name;
        let refused = Preconditioned::new(inner, weights(0.5)).expect_err("not proved");
        let NotPreconditioned::Unsupported(why) = &refused else {
            panic!("{refused:?}");
        };
        assert_eq!(why.what, format!("algorithm.kind = \"{name}\""));
        assert!(refused.to_string().contains("precondition = \"none\""));
    }
    let [power, ..] = all();
    let few = Arc::new(ItemWeights::new(vec![1.0, 0.5]).expect("positive"));
    let refused = Preconditioned::new(Arc::clone(&power), few);
    assert!(matches!(
        refused,
        Err(NotPreconditioned::Items {
            weights: 2,
            items: ITEMS
        })
    ));
    let zero = Arc::new(ItemWeights::inverse_roots(&[0; ITEMS]));
    assert!(matches!(
        Preconditioned::new(power, zero),
        Err(NotPreconditioned::Singular)
    ));
}

/// Peers with other weights are in other sessions: the settings name all of P.
#[test]
fn settings_name_the_weights() {
    let [power, ..] = all();
    let of = |exponent| wrapped(&power, &weights(exponent)).program().settings;
    let (a, b) = (of(0.25), of(0.5));
    assert_eq!(a, of(0.25));
    assert!(a.iter().zip(&b).filter(|(a, b)| a != b).count() >= 5);
    assert!(a.contains(&("power".into(), 1.0)));
    assert_eq!(wrapped(&power, &weights(0.5)).program().rank, RANK);
}
