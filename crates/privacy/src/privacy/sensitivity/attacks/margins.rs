//! What adjacent data move a triangle and its margins by, from their definition.

use std::collections::BTreeMap;

use super::pairs::Attacked;
use super::{Case, SensitivityRule};
use crate::vocabulary::margin_weights;

/// The largest change over these pairs.
pub(super) fn most_moved<A: Attacked>(pairs: &[(A::Data, A::Data)], case: Case) -> f64 {
    let moved = |(a, b): &(A::Data, A::Data)| {
        let mut change = released::<A>(b, case);
        for (at, value) in released::<A>(a, case) {
            *change.entry(at).or_default() -= value;
        }
        change
            .values()
            .map(|value| value * value)
            .sum::<f64>()
            .sqrt()
    };
    pairs.iter().map(moved).fold(0.0, f64::max)
}

/// Coordinates by block and items: pairs, diagonal, row sums.
fn released<A: Attacked>(data: &A::Data, case: Case) -> BTreeMap<(u8, u32, u32), f64> {
    let (lambda, kappa) = margin_weights(case.floor);
    let rows = A::rows(data);
    let mut all: BTreeMap<(u8, u32, u32), f64> = BTreeMap::new();
    for u in 0..rows.len() {
        let items = rows.row(u).0;
        let degree = items.len() as f64;
        let longer = degree.max(f64::from(case.floor));
        let weight = match case.rule {
            SensitivityRule::RootFloor => 1.0 / (degree * longer).sqrt(),
            _ => 1.0 / longer,
        };
        for (k, &i) in items.iter().enumerate() {
            *all.entry((1, i, i)).or_default() += lambda / degree;
            *all.entry((2, i, i)).or_default() += kappa * (degree - 1.0) / degree;
            for &j in &items[k + 1..] {
                *all.entry((0, i, j)).or_default() += 2.0_f64.sqrt() * weight;
            }
        }
    }
    all
}
