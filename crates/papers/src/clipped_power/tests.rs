//! What clipped contributions are, how far one row can move them, and what their releases spend.

use nalgebra::DMatrix;
use rand::RngExt;
use rand::distr::Distribution;
use rand_distr::StandardNormal;

use super::*;
use crate::algorithm::{PowerMethod, contribution};
use crate::linalg::start_block;
use crate::vocabulary::{Label, Seed};

const N: usize = 9;

fn clip(rule: ClipRule, lag: bool) -> Clip {
    Clip {
        rule,
        share: 0.1,
        quantile: 0.95,
        lag,
        slots: 40,
        test_epsilon: 0.0,
    }
}

fn algorithm(rule: ClipRule, lag: bool, rank: usize) -> ClippedPower {
    ClippedPower {
        dimension: N,
        rank,
        iterations: 4,
        clip: clip(rule, lag),
    }
}

const RULES: [(ClipRule, bool); 4] = [
    (ClipRule::Histogram, false),
    (ClipRule::Histogram, true),
    (ClipRule::Geometric, false),
    (ClipRule::SparseVector, false),
];

fn one_row(values: &[f64]) -> SparseRows {
    let mut rows = SparseRows::new(values.len());
    rows.push_row((0..).zip(values.iter().copied()))
        .expect("ascending");
    rows
}

/// Rows shorter than 1, of all lengths.
fn rows(count: usize) -> SparseRows {
    let mut generator = Seed::from_u64(4).generator(Label::Scenario);
    let mut all = SparseRows::new(N);
    for i in 0..count {
        let row: Vec<f64> = (0..N)
            .map(|_| StandardNormal.sample(&mut generator))
            .collect();
        let norm = row.iter().map(|x: &f64| x * x).sum::<f64>().sqrt();
        let length = 0.999 * (0.02 + 0.98 * i as f64 / count as f64);
        all.push_row((0..).zip(row.iter().map(|x| x * length / norm)))
            .expect("ascending");
    }
    all
}

fn query(rank: usize, seed: u64) -> Arc<Block> {
    Arc::new(start_block(&Seed::from_u64(seed), N, rank).expect("full rank"))
}

/// The state in which a release of this number finds this threshold.
fn at(query: &Arc<Block>, release: u32, threshold: f64) -> PublicState {
    let mut state = PublicState::new(Arc::clone(query));
    state.released = release - 1;
    state.past.push(Released {
        release: ReleaseId(release - 1),
        query: Arc::clone(query),
        sum: Arc::new(Block::from_values(1, 1, vec![threshold])),
        sigmas: Arc::new([]),
    });
    state
}

/// What these rows contribute to the product of a release at this threshold.
fn product(rule: ClipRule, rows: &SparseRows, query: &Arc<Block>, threshold: f64) -> DMatrix<f64> {
    let algorithm = algorithm(rule, false, query.columns());
    let state = at(query, 2, threshold);
    let shape = (N, query.columns());
    let algorithm: &dyn Algorithm = &algorithm;
    let release = algorithm.program().releases[1].shape();
    let all = contribution(algorithm, rows, state.history(), release);
    Block::from_values(shape.0, shape.1, all.values()[..shape.0 * shape.1].to_vec()).to_matrix()
}

#[test]
fn a_length_is_the_norm_of_what_the_row_contributes() {
    for rank in [1, 3] {
        let (rows, query) = (rows(40), query(rank, 1));
        let projected = rows.project(query.values(), rank);
        for (i, length) in lengths::lengths(&rows, &projected, rank).iter().enumerate() {
            let row = DMatrix::from_row_slice(1, N, rows.row(i).1);
            let exact = (row.transpose() * (&row * query.to_matrix())).norm();
            let found = length.expect("filled");
            assert!((found / exact - 1.0).abs() < 1e-14, "{found} {exact}");
        }
    }
    let mut empty = SparseRows::new(N);
    empty.push_row([]).expect("an empty slot");
    assert_eq!(lengths::lengths(&empty, &[0.0], 1), [None]);
}

/// Random rows, also some of which no file may have, and rows that lie as in the statement of the bound: θ is never exceeded in
/// units of θ, and is reached. With the length of the next threshold in place of θ it would be exceeded by √2.
#[test]
fn no_row_contributes_more_than_the_threshold_and_some_as_much() {
    let mut generator = Seed::from_u64(9).generator(Label::Scenario);
    let mut normal = || -> f64 { StandardNormal.sample(&mut generator) };
    let mut most = 0.0_f64;
    for rank in [1, 2, 4] {
        for seed in 0..6 {
            let query = query(rank, seed);
            for size in [1e-3, 0.1, 0.3, 1.0, 30.0, 1e150, 1e200] {
                let row: Vec<f64> = (0..N).map(|_| size * normal()).collect();
                for j in 0..THRESHOLDS {
                    for rule in [
                        ClipRule::Histogram,
                        ClipRule::Geometric,
                        ClipRule::SparseVector,
                    ] {
                        let moved = product(rule, &one_row(&row), &query, threshold(j)).norm();
                        assert!(moved <= 1.0, "{rule:?}, {size}, {j}: {moved}");
                        most = most.max(moved);
                    }
                }
            }
        }
    }
    assert!(most > 1.0 - 1e-9, "{most}");
    let (row, query) = (one_row(&[0.9; N]), query(1, 0));
    let unclipped = row.gram_product(&query).norm() / threshold(9);
    assert!(unclipped > 1.0, "without clipping it would be {unclipped}");
}

/// One row in place of another, from the example of the bound and its surroundings: 2√(1 − θ²) is reached and 2 never exceeded. The
/// bound of what is not clipped, √2, is exceeded.
#[test]
fn a_row_in_place_of_another_moves_it_by_two_and_no_more() {
    let mut generator = Seed::from_u64(10).generator(Label::Scenario);
    let mut axis = vec![0.0; N];
    axis[1] = 1.0;
    let query = Arc::new(Block::from_values(N, 1, axis));
    let mut most = 0.0_f64;
    for j in 1..THRESHOLDS {
        let threshold = threshold(j);
        let row = |sign: f64| {
            let mut row = [0.0; N];
            (row[0], row[1]) = ((1.0 - threshold * threshold).sqrt(), sign * threshold);
            one_row(&row)
        };
        let of = |rows: &SparseRows| product(ClipRule::Histogram, rows, &query, threshold);
        let moved = (of(&row(1.0)) - of(&row(-1.0))).norm();
        let exact = 2.0 * (1.0 - threshold * threshold).sqrt();
        assert!((moved / exact - 1.0).abs() < 1e-9, "{j}: {moved} {exact}");
        most = most.max(moved);
        for _ in 0..50 {
            let mut random = |sign: f64| {
                let row: Vec<f64> = (0..N)
                    .map(|i| {
                        let base = if i == 1 { sign * threshold } else { 0.3 };
                        base + 0.05 * generator.random_range(-1.0..1.0)
                    })
                    .collect();
                one_row(&row)
            };
            let (a, b) = (random(1.0), random(-1.0));
            assert!((of(&a) - of(&b)).norm() <= 2.0);
        }
    }
    assert!(most > 1.999, "beyond the √2 of what is not clipped: {most}");
}

#[test]
fn one_row_is_in_one_bin_and_an_empty_slot_in_none() {
    let query = query(2, 1);
    let of = |rows: &SparseRows| {
        let projected = rows.project(query.values(), 2);
        lengths::histogram(&lengths::lengths(rows, &projected, 2))
    };
    for size in [1e-9, 1e-3, 0.05, 0.5, 1.0, 7.0] {
        let counts = of(&one_row(&[size / 3.0; N]));
        let length = {
            let row = one_row(&[size / 3.0; N]);
            row.gram_product(&query).norm()
        };
        let ones = counts.iter().filter(|count| **count == 1.0).count();
        assert_eq!(ones, usize::from(length > 1.0 / 256.0), "{size}");
        assert_eq!(counts.iter().sum::<f64>(), ones as f64);
    }
    let mut empty = SparseRows::new(N);
    empty.push_row([]).expect("an empty slot");
    assert!(of(&empty).iter().all(|count| *count == 0.0));
    assert!(product(ClipRule::Geometric, &empty, &query, 0.5).norm() == 0.0);
    let counted = algorithm(ClipRule::Geometric, false, 2);
    let state = at(&query, 2, 0.5);
    let prepared = counted.prepare(&empty, state.history());
    assert_eq!(prepared, [0.0, 0.0, 0.0], "nobody is within the threshold");
    let prepared = counted.prepare(&one_row(&[0.0; N]), state.history());
    assert_eq!(prepared.last(), Some(&1.0), "a row of zeros is somebody");
}

/// θ = 1 shortens no row of norm below 1 and multiplies by 1.
#[test]
fn at_threshold_1_the_bits_are_those_of_power() {
    let (rows, query) = (rows(40), query(3, 5));
    let power = PowerMethod::new(N, 3, 4).expect("valid");
    let plain = PublicState::new(Arc::clone(&query));
    let expected = contribution(&power, &rows, plain.history(), (N, 3));
    for (rule, lag) in RULES {
        let clipped = algorithm(rule, lag, 3);
        let release = if rule == ClipRule::Histogram && !lag {
            2
        } else {
            1
        };
        let state = at(&query, release, 1.0);
        let shape = clipped.releases()[release as usize - 1].shape();
        let found = contribution(&clipped, &rows, state.history(), shape);
        assert_eq!(&found.values()[..N * 3], expected.values(), "{rule:?}");
        let sum = Arc::new(found);
        let next = clipped.advance(&state, &sum, &[]).expect("full rank");
        let plain = power.advance(&plain, &Arc::new(expected.clone()), &[]);
        assert_eq!(next.query, plain.expect("full rank").query);
    }
}

#[test]
fn any_way_of_cutting_a_release_gives_the_same_bits() {
    let (rows, query) = (rows(40), query(2, 3));
    for (rule, lag) in RULES {
        let clipped = algorithm(rule, lag, 2);
        for (release, spec) in (1..).zip(clipped.releases()) {
            let state = at(&query, release, threshold(4));
            let whole = contribution(&clipped, &rows, state.history(), spec.shape());
            let prepared = clipped.prepare(&rows, state.history());
            for width in [1, 2, 5, 17, 34] {
                let mut cut = vec![0.0; spec.values()];
                for (k, out) in cut.chunks_mut(width).enumerate() {
                    let range = k * width..k * width + out.len();
                    clipped.add_contribution(ReleaseId(release), &rows, &prepared, range, out);
                }
                assert_eq!(cut, whole.values(), "{rule:?}, {release}, {width}");
            }
        }
    }
}

/// Without noise: every histogram leads to the least threshold with at most (1 − γ)m rows above, counted anew.
#[test]
fn thresholds_are_those_that_the_lengths_ask_for() {
    let rows = rows(40);
    for lag in [false, true] {
        let clipped = algorithm(ClipRule::Histogram, lag, 2);
        let mut state = PublicState::new(query(2, 8));
        let mut sums = Vec::new();
        let mut expected = Vec::new();
        let mut before = 1.0;
        for (number, spec) in (1..).zip(clipped.releases()) {
            let of_query = {
                let projected = rows.project(state.query.values(), 2);
                let lengths = lengths::lengths(&rows, &projected, 2);
                let above = |j| {
                    lengths
                        .iter()
                        .flatten()
                        .filter(|c| **c > threshold(j))
                        .count()
                };
                // (1 − 0.95)·40 = 2, up to rounding.
                (0..THRESHOLDS)
                    .rev()
                    .find(|&j| above(j) <= 2)
                    .map(threshold)
            };
            if spec.blocks[0].quantity == Quantity::ClippedProduct {
                expected.push(if lag {
                    before
                } else {
                    of_query.expect("θ_0 does")
                });
                before = of_query.expect("θ_0 does");
            }
            let sum = Arc::new(contribution(&clipped, &rows, state.history(), spec.shape()));
            state = clipped.advance(&state, &sum, &[]).expect("full rank");
            state.released = number;
            sums.push((ReleaseId(number), sum));
        }
        let found = clipped.thresholds(sums.iter().map(|(id, sum)| (*id, &**sum)));
        assert_eq!(found, expected, "{lag}");
        assert!(found[1..].iter().all(|t| *t < 1.0), "{found:?}");
    }
}

#[test]
fn the_geometric_rule_falls_by_a_tenth_where_all_rows_are_within() {
    let rule = clip(ClipRule::Geometric, false);
    let tenth = (-0.1_f64).exp();
    assert!((rule.next(1.0, &[40.0]) - tenth).abs() < 1e-12);
    assert!((rule.next(0.5, &[38.0]) - 0.5).abs() < 1e-12);
    assert!((rule.next(0.2, &[20.0]) - 0.2 * 0.9_f64.exp()).abs() < 1e-12);
    assert_eq!(rule.next(0.5, &[20.0]), 1.0, "never above 1");
    // Noise does not make a share of more than all or less than none.
    assert_eq!(rule.next(0.5, &[4000.0]), rule.next(0.5, &[40.0]));
    assert_eq!(rule.next(0.1, &[-90.0]), 0.1 * libm::exp(1.9));
    assert_eq!(rule.next(1.0, &[0.0]), 1.0);
    assert_eq!(rule.next(1.0 / 256.0, &[40.0]), 1.0 / 256.0);
}

/// What blocks spend of the total, by what they release.
fn spent(algorithm: &ClippedPower, counts: bool) -> f64 {
    let releases = algorithm.program().releases;
    let total: f64 = releases.iter().map(|release| release.share).sum();
    let blocks = releases
        .iter()
        .flat_map(|release| release.blocks.iter().map(|block| (release.share, block)));
    let of = blocks.filter(|(_, block)| (block.quantity != Quantity::ClippedProduct) == counts);
    of.map(|(share, block)| share * block.weight).sum::<f64>() / total
}

#[test]
fn counts_spend_their_share_products_as_much_as_each_other_and_nothing_is_declared_twice() {
    for (rule, lag) in RULES {
        let clipped = algorithm(rule, lag, 2);
        let releases = clipped.releases();
        let counts = spent(&clipped, true);
        let expected = if rule == ClipRule::SparseVector {
            0.0
        } else {
            0.1
        };
        assert!((counts - expected).abs() < 1e-12, "{rule:?}: {counts}");
        assert!((counts + spent(&clipped, false) - 1.0).abs() < 1e-12);
        let products: Vec<f64> = releases
            .iter()
            .flat_map(|release| {
                let product = |block: &&BlockSpec| block.quantity == Quantity::ClippedProduct;
                let block = release.blocks.iter().find(product);
                block.map(|block| release.share * block.weight)
            })
            .collect();
        assert_eq!(products.len(), 4, "{rule:?}");
        assert!(
            products
                .iter()
                .all(|share| (share / products[0] - 1.0).abs() < 1e-12)
        );
        for release in &releases {
            let weights: f64 = release.blocks.iter().map(|block| block.weight).sum();
            assert!((weights - 1.0).abs() < 1e-12, "{rule:?}");
        }
        let last = releases.last().expect("some");
        assert_eq!(last.blocks.len(), 1, "{rule:?}: counts that serve nobody");
        assert_eq!(last.iteration, Iteration(4));
    }
}

/// As f → 0 a product costs what one of plain power does.
#[test]
fn without_a_share_for_thresholds_products_spend_what_power_s_do() {
    for (rule, lag) in RULES {
        let mut clipped = algorithm(rule, lag, 2);
        clipped.clip.share = 1e-12;
        let releases = clipped.releases();
        let total: f64 = releases.iter().map(|release| release.share).sum();
        for release in &releases {
            if release.blocks[0].quantity == Quantity::ClippedProduct {
                let spent = release.share * release.blocks[0].weight / total;
                assert!((spent - 0.25).abs() < 1e-9, "{rule:?}: {spent}");
            }
        }
    }
}
