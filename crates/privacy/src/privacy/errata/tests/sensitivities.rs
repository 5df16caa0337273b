//! Numbers of the errata page about sensitivities.

use std::f64::consts::SQRT_2;

use nalgebra::DMatrix;

use crate::linalg::Block;
use crate::privacy::adjacency::{MatrixChange, Neighbouring};
use crate::privacy::sensitivity::attacks::{Case, attack};
use crate::privacy::{Adjacency, Sensitivity, SensitivityRule};
use crate::vocabulary::Quantity;

/// Items 1 and 2 at ±60° from item 0, held before and after; A changes from items {0, 1} to {0, 2}.
fn swap_example() -> (f64, f64) {
    let sine = 0.75_f64.sqrt();
    let x = DMatrix::from_row_slice(3, 2, &[1.0, 0.0, 0.5, sine, 0.5, -sine]) / 1.5_f64.sqrt();
    assert!((x.transpose() * &x - DMatrix::identity(2, 2)).norm() < 1e-14);
    let projector = |other: usize| {
        DMatrix::from_fn(3, 3, |i, j| {
            let held = |item| item == 0 || item == other;
            if held(i) && held(j) { 0.5 } else { 0.0 }
        })
    };
    let moved = ((projector(2) - projector(1)) * &x).norm();
    (moved, Block::from_matrix(&x).max_row_norm())
}

pub(super) fn numbers() -> Vec<(&'static str, f64)> {
    let reached = |adjacency, rule| {
        let case = Case {
            quantity: Quantity::Product,
            adjacency,
            rule,
            floor: 1,
            cap: None,
        };
        attack(case, 1.0)
    };
    let line = (1..1000)
        .map(f64::from)
        .map(|d| 4.0 * (d - 1.0) / (d * d))
        .fold(0.0, f64::max);
    let (moved, row_norm) = swap_example();
    let exact = Sensitivity::new(Adjacency::Swap, SensitivityRule::Exact, 1, None, 2)
        .expect("proved")
        .bound(row_norm);
    let pair = DMatrix::from_row_slice(2, 2, &[0.0, 1.0, 1.0, 0.0]);
    let distance = MatrixChange::distance(&DMatrix::zeros(2, 2), &pair).expect("comparable");
    let user = Sensitivity::new(Adjacency::User, SensitivityRule::Exact, 1, None, 2)
        .expect("proved")
        .bound(1.0);
    vec![
        (
            "lemma-b1-attack",
            reached(Adjacency::Interaction, SensitivityRule::RowNorm),
        ),
        ("lemma-b1-line", line),
        ("swap-beats", moved / (SQRT_2 * row_norm)),
        ("swap-exact", moved / exact),
        ("symmetric-pair", 1.0 / distance),
        // The bound attacked is 1.
        (
            "user-level",
            user * reached(Adjacency::User, SensitivityRule::Exact),
        ),
        ("user-cheaper", user / SQRT_2),
    ]
}
