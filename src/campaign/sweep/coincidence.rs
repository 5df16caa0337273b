//! Which pairs of methods have errors of the same law, as `sweep.coincide` asks.

use serde::Serialize;

use super::grid::Sweep;
use super::outcomes::Outcomes;
use super::permutation::{SIGNIFICANCE, holm, p_value};
use crate::vocabulary::Seed;

/// One pair of `sweep.coincide`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Coincidence {
    /// The two methods, with the values of further swept keys.
    pub methods: [String; 2],
    /// Per x, ascending: x and the Holm-corrected p-value; `None` where a run of either failed.
    pub points: Vec<(f64, Option<f64>)>,
    /// Whether no p-value is below [`SIGNIFICANCE`] and none is missing.
    pub holds: bool,
}

/// The checks of all pairs.
pub(super) fn all(sweep: &Sweep, view: &Outcomes) -> Vec<Coincidence> {
    let seed = Seed::from_u64(sweep.seeds[0]);
    let index = |name: &String| sweep.methods.iter().position(|m| m.name == *name);
    let mut found = Vec::new();
    let mut stream = 0;
    for [a, b] in &sweep.table.coincide {
        let (Some(a), Some(b)) = (index(a), index(b)) else {
            continue;
        };
        for rest in 0..view.rests {
            let points = view.xs.iter().map(|&(x, place)| {
                let of =
                    |method| view.values((method, place, rest), |m| m.error(sweep.table.error));
                let (one, other) = (of(a), of(b));
                let whole = one.len() == sweep.seeds.len() && other.len() == one.len();
                stream += 1;
                (x, whole.then(|| p_value(&one, &other, &seed, stream)))
            });
            found.push(Coincidence {
                points: points.collect(),
                methods: [view.name(a, rest), view.name(b, rest)],
                holds: false,
            });
        }
    }
    let mut all: Vec<&mut Option<f64>> = found
        .iter_mut()
        .flat_map(|pair| pair.points.iter_mut().map(|(_, p)| p))
        .collect();
    holm(&mut all);
    for pair in &mut found {
        let fine = |p: &Option<f64>| p.is_some_and(|p| p >= SIGNIFICANCE);
        pair.holds = pair.points.iter().all(|(_, p)| fine(p));
    }
    found
}
