//! Scores against their definitions, and against what popularity does where there is only noise.

use nalgebra::DMatrix;

use super::*;
use crate::linalg::Block;
use crate::recommender::{Popularity, Scorer};

/// 300 users in two crowds that prefer different halves of 12 items, by rows of 0 and 1.
fn rows() -> Vec<Vec<u32>> {
    let likes = |u: u32, i: u32| {
        let own = u.is_multiple_of(2) == (i < 6);
        let coin = (u.wrapping_mul(2_654_435_761) ^ i.wrapping_mul(40_503))
            .wrapping_mul(2_246_822_519)
            >> 16;
        (coin % 100) < if own { 70 - 5 * (i % 6) } else { 12 }
    };
    (0..300)
        .map(|u| (0..12).filter(|&i| likes(u, i)).collect())
        .collect()
}

fn degrees() -> Vec<u32> {
    let count = |i: u32| rows().iter().filter(|row| row.contains(&i)).count() as u32;
    (0..12).map(count).collect()
}

/// The packed triangle of the Gram matrix with floor 5, plus a seeded error of this size on every coordinate.
fn triangle(sigma: f64, mut state: u64) -> Vec<f64> {
    let mut gram = DMatrix::<f64>::zeros(12, 12);
    for row in rows() {
        for &i in &row {
            for &j in &row {
                gram[(i as usize, j as usize)] += 1.0 / (row.len().max(5)) as f64;
            }
        }
    }
    let mut normal = || {
        let uniforms = (0..12).map(|_| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1_u64 << 53) as f64
        });
        uniforms.sum::<f64>() - 6.0
    };
    let mut packed = Vec::new();
    for i in 0..12 {
        for j in i..12 {
            packed.push(gram[(i, j)] + sigma * normal());
        }
    }
    packed
}

fn model(sigma: f64) -> GramModel {
    GramModel::new(
        &ReleasedGram::packed(12, &triangle(sigma, 5), sigma),
        &degrees(),
    )
}

fn scores(method: GramMethod, model: &GramModel, row: &[u32]) -> Vec<f64> {
    let listed: Vec<u32> = (0..12).collect();
    let scorer = GramScorer::new(method.parts(model, 300), &listed, &degrees()).expect("fits");
    let alone = scorer.scores(&[row]).as_slice().to_vec();
    let many = scorer.for_many().scores(&[row]).as_slice().to_vec();
    for (a, b) in alone.iter().zip(&many) {
        assert!((a - b).abs() <= 1e-9 * a.abs().max(1.0), "{a} {b}");
    }
    alone
}

/// The denoised matrix of a model, by its definition.
fn denoised(model: &GramModel) -> DMatrix<f64> {
    let d = nalgebra::DVector::from_vec(model.degrees.clone());
    let weights = DMatrix::from_diagonal(&nalgebra::DVector::from_vec(model.weights.clone()));
    &model.directions * weights * model.directions.transpose() + &d * d.transpose() * model.scale
}

#[test]
fn crowds_stand_out_and_are_recommended_to() {
    let model = model(0.2);
    assert!(
        model.beyond() >= 1 && model.signal() > 10.0,
        "{}",
        model.signal()
    );
    for method in [
        GramMethod::Auto,
        GramMethod::Linear,
        GramMethod::ItemRegression,
    ] {
        let of_first = scores(method, &model, &[0, 1]);
        let of_second = scores(method, &model, &[6, 7]);
        for i in 2..6 {
            assert!(
                of_first[i] > of_first[i + 6],
                "{}: {of_first:?}",
                method.name()
            );
            assert!(
                of_second[i] < of_second[i + 6],
                "{}: {of_second:?}",
                method.name()
            );
        }
    }
}

/// Low-pass: as many ones as directions stand out, and popularity as one more; rB and rĜ by matrices, and popularity in what is added.
#[test]
fn linear_scores_and_item_regression_are_what_their_definitions_say() {
    let model = model(0.3);
    let whole = denoised(&model);
    let pad =
        |parts: &ScoreParts, j: usize| parts.popularity * parts.padding * f64::from(degrees()[j]);
    let linear = GramMethod::Linear.parts(&model, 300);
    let found = scores(GramMethod::Linear, &model, &[1, 4]);
    for j in 0..12 {
        let expected = whole[(1, j)] + whole[(4, j)] + pad(&linear, j);
        assert!(
            (found[j] - expected).abs() < 1e-9 * expected.abs().max(1.0),
            "{} {expected}",
            found[j]
        );
    }
    let pass = GramMethod::LowPass.parts(&model, 300);
    let ones = pass.weights.iter().filter(|w| **w == 1.0).count();
    let zeros = pass.weights.iter().filter(|w| **w == 0.0).count();
    assert_eq!(
        (ones, zeros),
        (model.beyond(), model.kept() - model.beyond())
    );
    assert!((pass.popularity * model.squared_degrees() - 1.0).abs() < 1e-12);
    let parts = GramMethod::ItemRegression.parts(&model, 300);
    let largest = model.weights.iter().fold(0.0_f64, |m, x| m.max(*x));
    let ridge = (model.edge().edge() * (1.0 + 1.0 / model.signal())).max(0.01 * largest);
    let inverse = (whole + DMatrix::identity(12, 12) * ridge)
        .try_inverse()
        .expect("positive definite");
    let found = scores(GramMethod::ItemRegression, &model, &[1, 4]);
    for j in (0..12).filter(|j| ![1, 4].contains(j)) {
        let expected = -(inverse[(1, j)] + inverse[(4, j)]) / inverse[(j, j)] + pad(&parts, j);
        assert!(
            (found[j] - expected).abs() < 1e-9,
            "{} {expected}",
            found[j]
        );
    }
}

#[test]
fn where_nothing_stands_out_scores_are_the_degrees_and_users_without_rows_get_what_is_popular() {
    let noise = model(1e4);
    assert_eq!((noise.beyond(), noise.kept(), noise.signal()), (0, 0, 0.0));
    let popular = Popularity::new(&degrees()).scores(&[&[]]);
    for method in [
        GramMethod::Auto,
        GramMethod::Linear,
        GramMethod::LowPass,
        GramMethod::ItemRegression,
    ] {
        assert_eq!(
            scores(method, &noise, &[3, 8]),
            popular.as_slice(),
            "{}",
            method.name()
        );
        let empty = scores(method, &model(0.2), &[]);
        let mut order: Vec<usize> = (0..12).collect();
        order.sort_by(|&a, &b| empty[b].total_cmp(&empty[a]));
        let mut expected: Vec<usize> = (0..12).collect();
        expected.sort_by_key(|&i| std::cmp::Reverse(degrees()[i]));
        assert_eq!(order, expected, "{}", method.name());
    }
}

/// The same matrix, in coordinates in which entries off the diagonal are √2 times as large.
#[test]
fn both_triangles_of_one_matrix_make_the_same_model() {
    let packed = triangle(0.2, 5);
    let mut isometric = packed.clone();
    let diagonal: Vec<usize> = (0..12)
        .map(|i: usize| i * 12 - i * i.saturating_sub(1) / 2)
        .collect();
    for (at, x) in isometric.iter_mut().enumerate() {
        if !diagonal.contains(&at) {
            *x *= std::f64::consts::SQRT_2;
        }
    }
    let of = |gram: &ReleasedGram| GramModel::new(gram, &degrees());
    let one = of(&ReleasedGram::packed(12, &packed, 0.2));
    let other = of(&ReleasedGram::isometric(
        12,
        &isometric,
        0.2 * std::f64::consts::SQRT_2,
    ));
    assert!((one.edge().edge() - other.edge().edge()).abs() < 1e-12);
    assert!((denoised(&one) - denoised(&other)).norm() < 1e-9);
}

#[test]
fn items_outside_the_release_follow_by_popularity() {
    let model = model(0.2);
    // A catalogue in which the release is every other item and the others are ever less popular.
    let listed: Vec<u32> = (0..12).map(|i| 2 * i).collect();
    let all: Vec<u32> = (0..24)
        .map(|i| {
            if i % 2 == 0 {
                degrees()[i / 2]
            } else {
                30 - i as u32
            }
        })
        .collect();
    let scorer = GramScorer::new(GramMethod::Auto.parts(&model, 300), &listed, &all).expect("fits");
    let scores = scorer.scores(&[&[0, 1]]);
    let outside: Vec<f64> = (0..12).map(|i| scores[2 * i + 1]).collect();
    assert!(
        outside.windows(2).all(|pair| pair[0] > pair[1]),
        "{outside:?}"
    );
}

#[test]
fn what_does_not_fit_is_refused() {
    let parts = || GramMethod::Linear.parts(&model(0.2), 300);
    let listed: Vec<u32> = (0..12).collect();
    let refused =
        |parts: ScoreParts, listed: &[u32]| GramScorer::new(parts, listed, &degrees()).is_err();
    assert!(!refused(parts(), &listed));
    assert!(refused(parts(), &listed[1..]));
    assert!(refused(parts(), &[0; 12]));
    let outside: Vec<u32> = (1..13).collect();
    assert!(refused(parts(), &outside));
    let mut broken = parts();
    broken.weights[0] = f64::NAN;
    assert!(refused(broken, &listed));
    let mut broken = parts();
    broken.weights.pop();
    assert!(refused(broken, &listed));
    let mut broken = parts();
    broken.directions = Block::zeros(12, broken.weights.len());
    broken.directions.values_mut()[3] = f64::INFINITY;
    assert!(refused(broken, &listed));
}
