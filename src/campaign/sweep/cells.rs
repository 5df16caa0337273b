//! Reads a `[sweep]` table as methods × grid × seeds, and refuses what would make the cells incomparable.

use super::error::{MOST_CELLS, SweepError};
use crate::config::{MethodConfig, Ordered, Seeds, SweepConfig, SweptError};

/// One run of a sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    /// Index of the method.
    pub method: usize,
    /// Index of the grid point; the last key of `over` moves fastest.
    pub point: usize,
    /// The seed.
    pub seed: u64,
}

/// The seeds of a sweep, each once; `first` is the experiment's own.
pub(super) fn seeds(table: &SweepConfig, first: u64) -> Result<Vec<u64>, SweepError> {
    let seeds: Vec<u64> = match &table.seeds {
        Seeds::Count(count) if *count as usize <= MOST_CELLS => (0..u64::from(*count))
            .map(|i| first.saturating_add(i))
            .collect(),
        Seeds::Count(count) => {
            let cells = u128::from(*count);
            return Err(SweepError::TooManyCells { cells });
        }
        Seeds::List(list) => list.clone(),
    };
    let mut sorted = seeds.clone();
    sorted.sort_unstable();
    if let Some(twice) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(SweepError::DuplicateSeed { seed: twice[0] });
    }
    match sorted.last() {
        None => Err(SweepError::Empty {
            what: "seeds".to_owned(),
        }),
        Some(&seed) if i64::try_from(seed).is_err() => Err(SweepError::SeedTooLarge { seed }),
        Some(_) => Ok(seeds),
    }
}

/// What is compared: one method called `name` that changes nothing, if the table lists none.
pub(super) fn methods(table: &SweepConfig, name: &str) -> Result<Vec<MethodConfig>, SweepError> {
    if let Some(target) = table.target
        && !(target.is_finite() && target > 0.0)
    {
        return Err(SweepError::Target { target });
    }
    let mut methods = table.methods.clone();
    if methods.is_empty() {
        methods.push(MethodConfig {
            name: name.to_owned(),
            set: Ordered::default(),
        });
    }
    for (i, method) in methods.iter().enumerate() {
        let name = &method.name;
        if name.trim().is_empty() {
            let what = "the name of a method".to_owned();
            return Err(SweepError::Empty { what });
        }
        if methods[..i].iter().any(|other| other.name == *name) {
            return Err(SweepError::DuplicateMethod { name: name.clone() });
        }
        for (key, _) in &method.set.0 {
            let whose = format!("method {name:?}");
            // Predictions and lists are measured by themselves: how many directions a method keeps is its own business.
            let of_basis = table.error != SweptError::Rmse && !table.error.is_of_lists();
            if of_basis || key != "algorithm.rank" {
                check_key(&whose, key, true)?;
            }
            check_not_swept(table, &whose, key)?;
        }
    }
    let names: Vec<&str> = methods.iter().map(|m| m.name.as_str()).collect();
    let known = |key, name: &String| match names.contains(&name.as_str()) {
        true => Ok(()),
        false => Err(SweepError::UnknownMethod {
            key,
            name: name.clone(),
            known: format!("{names:?}"),
        }),
    };
    table
        .baseline
        .iter()
        .try_for_each(|name| known("baseline", name))?;
    let mut pairs = table.coincide.iter().flatten();
    pairs.try_for_each(|name| known("coincide", name))?;
    Ok(methods)
}

/// Refuses keys whose change would make cells incomparable or is the sweep's own.
fn check_key(whose: &str, key: &str, method: bool) -> Result<(), SweepError> {
    let first = key.split('.').next().unwrap_or_default();
    let why = match (first, key) {
        ("seed", _) => "is what every method and grid point repeats: use sweep.seeds",
        ("name", _) => "names the output folder, not a run",
        ("sweep", _) => "is the sweep itself",
        ("evaluation", _) if method => {
            "all methods are measured by alike: set it outside the sweep, or under [sweep.over]"
        }
        (_, "completion.test_share") if method => {
            "decides which ratings are predicted, and all methods must predict the same: set it outside the sweep"
        }
        (_, "algorithm.rank") if method => {
            "would compare errors of another number of eigenvectors: set it outside the sweep, or under [sweep.over]"
        }
        (_, "data.degree_floor" | "data.degree_cap") => return Ok(()),
        // How rows of numbers are protected; what they are measured against is the file's own.
        (
            _,
            "data.centre" | "data.means" | "data.raw_clip" | "data.mean_share" | "data.row_clip",
        ) => return Ok(()),
        ("data", _) if method => {
            "would measure this method on other data than the rest: set it outside the sweep, or under [sweep.over]"
        }
        _ => return Ok(()),
    };
    Err(SweepError::Key {
        whose: whose.to_owned(),
        key: key.to_owned(),
        why,
    })
}

/// Refuses a method's key that is swept, or holds or lies in one that is: the swept value would replace it.
fn check_not_swept(table: &SweepConfig, whose: &str, key: &str) -> Result<(), SweepError> {
    let inside = |inner: &str, outer: &str| {
        inner == outer
            || inner
                .strip_prefix(outer)
                .is_some_and(|rest| rest.starts_with('.'))
    };
    let swept = |other: &str| inside(key, other) || inside(other, key);
    if table.over.0.iter().any(|(other, _)| swept(other)) {
        return Err(SweepError::Key {
            whose: whose.to_owned(),
            key: key.to_owned(),
            why: "is swept under [sweep.over], which would replace the method's value: remove one of the two",
        });
    }
    Ok(())
}

/// Whether the first swept key is a number everywhere, so that a curve can cross a target on it.
fn is_an_axis(values: &[toml::Value]) -> bool {
    values
        .iter()
        .all(|value| value.is_integer() || value.is_float())
}

/// Every method at every grid point under every seed.
pub(super) fn cells(
    table: &SweepConfig,
    methods: usize,
    seeds: &[u64],
) -> Result<Vec<Cell>, SweepError> {
    if table.over.0.is_empty() {
        let what = "over".to_owned();
        return Err(SweepError::Empty { what });
    }
    let (x, values) = &table.over.0[0];
    if table.target.is_some() && !is_an_axis(values) {
        return Err(SweepError::NoAxis { key: x.clone() });
    }
    let mut points: u128 = 1;
    for (key, values) in &table.over.0 {
        check_key("over", key, false)?;
        if values.is_empty() {
            let what = format!("over.\"{key}\"");
            return Err(SweepError::Empty { what });
        }
        let mut sorted: Vec<String> = values.iter().map(ToString::to_string).collect();
        sorted.sort_unstable();
        if let Some(twice) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(SweepError::DuplicateValue {
                key: key.clone(),
                value: twice[0].clone(),
            });
        }
        points = points.saturating_mul(values.len() as u128);
    }
    let all = points.saturating_mul((methods * seeds.len()) as u128);
    if all > MOST_CELLS as u128 {
        return Err(SweepError::TooManyCells { cells: all });
    }
    let mut cells = Vec::with_capacity(all as usize);
    for method in 0..methods {
        for point in 0..points as usize {
            cells.extend(seeds.iter().map(|&seed| Cell {
                method,
                point,
                seed,
            }));
        }
    }
    Ok(cells)
}

/// All combinations of values, the last key moving fastest.
pub(super) fn grid(table: &SweepConfig) -> Vec<Vec<toml::Value>> {
    let mut grid = vec![Vec::new()];
    for (_, values) in &table.over.0 {
        grid = grid
            .iter()
            .flat_map(|point: &Vec<toml::Value>| {
                values.iter().map(move |value| {
                    let mut longer = point.clone();
                    longer.push(value.clone());
                    longer
                })
            })
            .collect();
    }
    grid
}
