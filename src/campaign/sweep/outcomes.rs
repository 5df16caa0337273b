//! The outcomes of a sweep's cells, by method and grid point.

use super::bands;
use super::curve::Curve;
use super::grid::Sweep;
use super::journal::CellOutcome;
use super::measures::Measures;
use crate::vocabulary::Seed;

/// The outcomes by method, further keys and x.
pub(super) struct Outcomes<'a> {
    sweep: &'a Sweep,
    outcomes: &'a [CellOutcome],
    /// x of every value of the first key, and its place in the list, ascending in x.
    pub(super) xs: Vec<(f64, usize)>,
    /// Combinations of the further keys.
    pub(super) rests: usize,
}

impl<'a> Outcomes<'a> {
    pub(super) fn of(sweep: &'a Sweep, outcomes: &'a [CellOutcome]) -> Self {
        let values = &sweep.table.over.0[0].1;
        let numbers: Option<Vec<f64>> = values.iter().map(number).collect();
        let numbers =
            numbers.unwrap_or_else(|| (0..values.len()).map(|place| place as f64).collect());
        let mut xs: Vec<(f64, usize)> = numbers.into_iter().zip(0..).collect();
        xs.sort_by(|a, b| a.0.total_cmp(&b.0));
        Self {
            sweep,
            outcomes,
            rests: sweep.grid.len() / values.len(),
            xs,
        }
    }

    /// One measure of all runs that have it, in the order of the seeds.
    pub(super) fn values(
        &self,
        (method, place, rest): (usize, usize, usize),
        measure: impl Fn(&Measures) -> Option<f64>,
    ) -> Vec<f64> {
        let seeds = self.sweep.seeds.len();
        let point = place * self.rests + rest;
        let first = (method * self.sweep.grid.len() + point) * seeds;
        self.outcomes[first..first + seeds]
            .iter()
            .filter_map(|outcome| outcome.as_ref().ok().and_then(&measure))
            .filter(|value| value.is_finite())
            .collect()
    }

    /// Every method with every combination of further values.
    pub(super) fn methods(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let methods = 0..self.sweep.methods.len();
        methods.flat_map(|method| (0..self.rests).map(move |rest| (method, rest)))
    }

    /// The algorithm of a method at a grid point.
    pub(super) fn algorithm(&self, method: usize, place: usize, rest: usize) -> &'static str {
        let point = place * self.rests + rest;
        let setting = &self.sweep.settings[method * self.sweep.grid.len() + point];
        setting.config.algorithm.name()
    }

    pub(super) fn curves(&self, measure: impl Fn(&Measures) -> Option<f64>) -> Vec<Curve> {
        let seed = Seed::from_u64(self.sweep.seeds[0]);
        let mut curves = Vec::new();
        for method in 0..self.sweep.methods.len() {
            for rest in 0..self.rests {
                let at = |&(x, place): &(f64, usize)| {
                    let values = self.values((method, place, rest), &measure);
                    bands::point(x, &values, &seed, (place * self.rests + rest) as u32)
                };
                curves.push(Curve {
                    method: self.name(method, rest),
                    points: self.xs.iter().filter_map(at).collect(),
                });
            }
        }
        curves
    }

    /// For every curve the index of the baseline's with the same further values.
    pub(super) fn baselines(&self) -> Vec<Option<usize>> {
        let name = self.sweep.table.baseline.as_ref();
        let mut methods = self.sweep.methods.iter();
        let base = name.and_then(|name| methods.position(|method| method.name == *name));
        (0..self.sweep.methods.len() * self.rests)
            .map(|curve| base.map(|base| base * self.rests + curve % self.rests))
            .collect()
    }

    pub(super) fn name(&self, method: usize, rest: usize) -> String {
        let name = &self.sweep.methods[method].name;
        if self.rests == 1 {
            return name.clone();
        }
        // The first key is the x axis.
        let keys = &self.sweep.table.over.0[1..];
        let values = self.sweep.grid[rest].iter().skip(1);
        let parts = keys.iter().zip(values);
        let parts = parts.map(|((key, _), value)| value_name(keys, key, value));
        std::iter::once(name.clone())
            .chain(parts)
            .collect::<Vec<_>>()
            .join(", ")
    }
}

/// A value of one of several swept keys: text alone where no other key has the same, else after the last part of its key, or after all of the key where
/// another key ends so.
fn value_name(keys: &[(String, Vec<toml::Value>)], key: &str, value: &toml::Value) -> String {
    let last = |key: &str| key.rsplit('.').next().unwrap_or_default().to_owned();
    let mut others = keys.iter().filter(|(other, _)| other != key);
    match value {
        toml::Value::String(text) if others.clone().all(|(_, all)| !all.contains(value)) => {
            text.clone()
        }
        _ if others.any(|(other, _)| last(other) == last(key)) => format!("{key} = {value}"),
        _ => format!("{} = {value}", last(key)),
    }
}

fn number(value: &toml::Value) -> Option<f64> {
    match value {
        toml::Value::Float(number) => number.is_finite().then_some(*number),
        toml::Value::Integer(number) => Some(*number as f64),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_further_keys_are_named_as_briefly_as_they_can_be_told_apart() {
        let text = |names: &[&str]| names.iter().map(|&name| name.into()).collect();
        let keys: Vec<(String, Vec<toml::Value>)> = vec![
            ("topology.generator".to_owned(), text(&["ring", "path"])),
            ("noise_topology.generator".to_owned(), text(&["path"])),
            ("topology.seed".to_owned(), vec![1.into()]),
            ("faults.seed".to_owned(), vec![1.into()]),
            ("algorithm.rank".to_owned(), vec![4.into()]),
        ];
        let named = |place: usize, value: usize| {
            let (key, values) = &keys[place];
            value_name(&keys, key, &values[value])
        };
        assert_eq!(named(0, 0), "ring");
        assert_eq!(named(0, 1), "topology.generator = \"path\"");
        assert_eq!(named(1, 0), "noise_topology.generator = \"path\"");
        assert_eq!(named(2, 0), "topology.seed = 1");
        assert_eq!(named(4, 0), "rank = 4");
    }
}
