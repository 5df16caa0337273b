//! Programs as receipts state them: JSON of all that a program is, and back.

use std::borrow::Cow;

use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;

use super::{
    AgreedNumber, BlockSpec, Form, Prelude, Program, Proved, ReleaseSpec, RetainedState, Text,
    ThresholdSearch,
};
use crate::vocabulary::{Iteration, Quantity};

/// The most releases that a stated program may have: more are refused before they are made.
const MOST_STATED_RELEASES: usize = 100_000;

/// The most blocks of one stated release.
const MOST_BLOCKS: usize = 16;

/// Why a value states no program.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProgramReadError {
    /// Another layout, or a number of another type.
    #[error("{0}")]
    Layout(String),
    /// More releases or blocks than are read, or none.
    #[error("{what}: {found}; a check takes on 1 to {most}")]
    Count {
        /// What was counted.
        what: &'static str,
        /// How many there are.
        found: u64,
        /// The most that are read.
        most: usize,
    },
    /// Iterations or batches beyond what is counted.
    #[error("releases[{run}]: its iterations or batches go beyond what is counted")]
    Counter {
        /// Place of the run, from 0.
        run: usize,
    },
    /// A number that no program has.
    #[error("{field} must be {expected}")]
    Number {
        /// The field.
        field: String,
        /// What it must be.
        expected: &'static str,
    },
    /// A quantity that nobody has named.
    #[error("{field}: {text} names no quantity that is released")]
    Quantity {
        /// The field.
        field: String,
        /// What it says.
        text: String,
    },
    /// A quantity of an algorithm of one's own, of which nobody here has the bound.
    #[error(
        "{field}: {name:?} is a quantity of an algorithm of one's own, whose bound is code: check the receipt from Rust by \
         `Receipt::check_with`, with the rule that bounds it"
    )]
    Own {
        /// The field.
        field: String,
        /// The name of the quantity.
        name: String,
    },
}

/// A program, with its releases in runs.
#[derive(Serialize)]
struct Written<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    settings: &'a [(Text, f64)],
    items: usize,
    query_columns: usize,
    rank: usize,
    releases: Vec<Run<&'a ReleaseSpec>>,
    proved: Proved,
    #[serde(skip_serializing_if = "Option::is_none")]
    degree_floor: Option<u32>,
    largest_entry: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    prelude: Option<Prelude>,
    #[serde(skip_serializing_if = "Option::is_none")]
    search: Option<&'a ThresholdSearch>,
    state: RetainedState,
}

/// The same, as it is read.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Stated {
    name: String,
    #[serde(default)]
    settings: Vec<(String, f64)>,
    items: usize,
    query_columns: usize,
    rank: usize,
    releases: Vec<Run<StatedRelease>>,
    proved: Proved,
    #[serde(default)]
    degree_floor: Option<u32>,
    largest_entry: f64,
    #[serde(default)]
    prelude: Option<Prelude>,
    #[serde(default)]
    search: Option<ThresholdSearch>,
    state: RetainedState,
}

/// Releases that differ by their iteration, and a stream's by their batch: both grow by one from each to the next.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Run<R> {
    count: u64,
    first: R,
}

/// One release, as it is read.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StatedRelease {
    iteration: u32,
    form: Form,
    blocks: Vec<StatedBlock>,
    #[serde(default)]
    agreement: Option<AgreedNumber>,
    #[serde(default)]
    may_end_before: bool,
    #[serde(default)]
    ceiling: Option<f64>,
    #[serde(default)]
    batch: Option<u32>,
    share: f64,
}

/// One block, as it is read.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StatedBlock {
    quantity: Value,
    shape: (usize, usize),
    columns: usize,
    weight: f64,
}

impl Serialize for Program {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let written = Written {
            name: &self.name,
            settings: &self.settings,
            items: self.items,
            query_columns: self.query_columns,
            rank: self.rank,
            releases: runs(&self.releases),
            proved: self.proved,
            degree_floor: self.degree_floor,
            largest_entry: self.largest_entry,
            prelude: self.prelude,
            search: self.search.as_ref(),
            state: self.state,
        };
        written.serialize(serializer)
    }
}

impl Program {
    /// The program that this JSON states. Of quantities it knows those with a name, and those in `own`.
    ///
    /// What is read has sizes that can be worked with and numbers that are shares, weights and lengths. Whether it is a program that can be run, and under
    /// which promise, is for a plan to say.
    ///
    /// # Errors
    /// [`ProgramReadError`] for a value that states no program.
    pub fn read(value: &Value, own: &[Quantity]) -> Result<Self, ProgramReadError> {
        let layout = |error: serde_json::Error| ProgramReadError::Layout(error.to_string());
        let stated = Stated::deserialize(value).map_err(layout)?;
        let counted = stated.releases.iter().map(|run| run.count);
        let found = counted.fold(0_u64, u64::saturating_add);
        if found == 0 || found > MOST_STATED_RELEASES as u64 {
            return Err(ProgramReadError::Count {
                what: "releases",
                found,
                most: MOST_STATED_RELEASES,
            });
        }
        for (what, found) in [
            ("items", stated.items),
            ("query_columns", stated.query_columns),
        ] {
            let most = if what == "items" {
                u32::MAX as usize
            } else {
                stated.items
            };
            if found == 0 || found > most {
                let found = found as u64;
                return Err(ProgramReadError::Count { what, found, most });
            }
        }
        let mut releases = Vec::with_capacity(found as usize);
        for (number, run) in stated.releases.into_iter().enumerate() {
            let first = run.first.read(number, own)?;
            for step in 0..run.count {
                let later = |first: u32| u32::try_from(u64::from(first) + step).ok();
                let counter = ProgramReadError::Counter { run: number };
                let iteration = later(first.iteration.0).ok_or(counter.clone())?;
                let batch = match first.batch {
                    Some(batch) => Some(later(batch).ok_or(counter)?),
                    None => None,
                };
                releases.push(ReleaseSpec {
                    iteration: Iteration(iteration),
                    batch,
                    ..first.clone()
                });
            }
        }
        if let Some(prelude) = &stated.prelude {
            prelude.check()?;
        }
        if let Some(search) = &stated.search {
            let valid = search.share > 0.0 && search.share < 1.0 && search.epsilon >= 0.0;
            number(valid, "search", "a share between 0 and 1 and an ε")?;
        }
        Ok(Self {
            name: Cow::Owned(stated.name),
            settings: stated
                .settings
                .into_iter()
                .map(|(name, value)| (Cow::Owned(name), value))
                .collect(),
            items: stated.items,
            query_columns: stated.query_columns,
            rank: stated.rank,
            releases,
            proved: stated.proved,
            degree_floor: stated.degree_floor,
            largest_entry: stated.largest_entry,
            prelude: stated.prelude,
            search: stated.search,
            state: stated.state,
        })
    }
}

impl Prelude {
    /// Refuses numbers that make no private mean.
    fn check(&self) -> Result<(), ProgramReadError> {
        let positive = |x: f64| x.is_finite() && x > 0.0;
        let valid = positive(self.raw_clip)
            && positive(self.radius)
            && self.slots > 0
            && self.share > 0.0
            && self.share < 1.0;
        let expected =
            "lengths that are finite and above 0, at least one slot and a share between 0 and 1";
        number(valid, "prelude", expected)
    }
}

impl StatedRelease {
    /// The first release of this run, counted from 0.
    fn read(self, run: usize, own: &[Quantity]) -> Result<ReleaseSpec, ProgramReadError> {
        let (found, most) = (self.blocks.len() as u64, MOST_BLOCKS);
        if found == 0 || self.blocks.len() > most {
            let what = "blocks of a release";
            return Err(ProgramReadError::Count { what, found, most });
        }
        let field = |name: &str| format!("releases[{run}].first.{name}");
        let share = self.share > 0.0 && self.share.is_finite();
        number(share, &field("share"), "finite and above 0")?;
        let blocks = self.blocks.into_iter().enumerate().map(|(place, block)| {
            let field = |name: &str| field(&format!("blocks[{place}].{name}"));
            let weight = block.weight > 0.0 && block.weight <= 1.0;
            number(weight, &field("weight"), "above 0 and at most 1")?;
            Ok(BlockSpec {
                quantity: quantity(&block.quantity, own, field("quantity"))?,
                shape: block.shape,
                columns: block.columns,
                weight: block.weight,
            })
        });
        Ok(ReleaseSpec {
            iteration: Iteration(self.iteration),
            form: self.form,
            blocks: blocks.collect::<Result<_, ProgramReadError>>()?,
            agreement: self.agreement,
            may_end_before: self.may_end_before,
            ceiling: self.ceiling,
            batch: self.batch,
            share: self.share,
        })
    }
}

/// The quantity of this name, or of this name among one's own.
fn quantity(value: &Value, own: &[Quantity], field: String) -> Result<Quantity, ProgramReadError> {
    let name = value.as_object().filter(|table| table.len() == 1);
    if let Some(name) = name.and_then(|table| table.get("own")?.as_str()) {
        let known = |one: &&Quantity| matches!(one, Quantity::Own(known) if *known == name);
        let name = name.to_owned();
        let unknown = || ProgramReadError::Own { field, name };
        return own.iter().find(known).copied().ok_or_else(unknown);
    }
    let is_it = |one: &Quantity| serde_json::to_value(one).is_ok_and(|named| named == *value);
    let unknown = || ProgramReadError::Quantity {
        field,
        text: value.to_string().chars().take(80).collect(),
    };
    Quantity::NAMED.into_iter().find(is_it).ok_or_else(unknown)
}

/// Refuses a field whose number is not what it must be.
fn number(valid: bool, field: &str, expected: &'static str) -> Result<(), ProgramReadError> {
    match valid {
        true => Ok(()),
        false => Err(ProgramReadError::Number {
            field: field.to_owned(),
            expected,
        }),
    }
}

/// Releases in as few runs as there are.
fn runs(releases: &[ReleaseSpec]) -> Vec<Run<&ReleaseSpec>> {
    let mut runs: Vec<Run<&ReleaseSpec>> = Vec::new();
    for release in releases {
        match runs.last_mut() {
            Some(run) if continues(run, release) => run.count += 1,
            _ => runs.push(Run {
                count: 1,
                first: release,
            }),
        }
    }
    runs
}

/// Whether this release is the next one of a run.
fn continues(run: &Run<&ReleaseSpec>, release: &ReleaseSpec) -> bool {
    let later = |first: u32| u64::from(first) + run.count;
    let same_batch = match (run.first.batch, release.batch) {
        (None, None) => true,
        (Some(first), Some(batch)) => u64::from(batch) == later(first),
        _ => false,
    };
    let first = ReleaseSpec {
        iteration: release.iteration,
        batch: release.batch,
        ..run.first.clone()
    };
    same_batch
        && u64::from(release.iteration.0) == later(run.first.iteration.0)
        && first == *release
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::algorithm::{Algorithm, Krylov, PowerMethod};

    fn again(program: &Program, own: &[Quantity]) -> Program {
        let value = serde_json::to_value(program).expect("writable");
        Program::read(&value, own).expect("readable")
    }

    #[test]
    fn releases_are_written_in_runs_and_read_as_they_were() {
        let mut program = Krylov::new(5, 2, 2, 4).expect("valid").program();
        let value = serde_json::to_value(&program).expect("writable");
        assert_eq!(value["releases"].as_array().map(Vec::len), Some(1));
        assert_eq!(value["releases"][0]["count"], 4);
        assert_eq!(again(&program, &[]), program);
        // A stream's batches grow with the iterations; a release that does not go on begins another run.
        for (place, release) in program.releases.iter_mut().enumerate() {
            release.batch = Some([3, 4, 5, 5][place]);
        }
        let value = serde_json::to_value(&program).expect("writable");
        assert_eq!(value["releases"].as_array().map(Vec::len), Some(2));
        assert_eq!(again(&program, &[]), program);
        let program = program.with_setting("steps", 0.1).rank(1);
        let program = program.state(RetainedState::Numbers(7));
        assert_eq!(again(&program, &[]), program);
    }

    #[test]
    fn a_quantity_of_one_s_own_is_read_by_whoever_has_it() {
        const OWN: Quantity = Quantity::Own("counts");
        let release = ReleaseSpec::sum(1, OWN, (3, 1), 1);
        let program = Program::of("mine", 3, 1, vec![release]);
        assert_eq!(again(&program, &[Quantity::Own("other"), OWN]), program);
        let value = serde_json::to_value(&program).expect("writable");
        let refused = Program::read(&value, &[]).expect_err("nobody has it");
        assert!(matches!(refused, ProgramReadError::Own { .. }), "{refused}");
        assert!(refused.to_string().contains("releases[0].first.blocks[0]"));
    }

    #[test]
    fn hostile_programs_are_refused_before_anything_of_their_size_is_made() {
        let honest = serde_json::to_value(PowerMethod::new(5, 2, 3).expect("valid").program());
        let honest = honest.expect("writable");
        for (path, value, words) in [
            ("/releases/0/count", json!(u64::MAX), "a check takes on"),
            ("/releases/0/count", json!(0), "a check takes on"),
            ("/releases/0/count", json!(-3), "invalid value"),
            ("/items", json!(u64::MAX), "a check takes on"),
            ("/items", json!(-1), "invalid value"),
            ("/items", json!("NaN"), "invalid type"),
            ("/query_columns", json!(6), "a check takes on 1 to 5"),
            ("/releases/0/first/iteration", json!(u32::MAX), "counted"),
            ("/releases/0/first/share", json!(-1.0), "finite and above 0"),
            ("/releases/0/first/share", json!("NaN"), "invalid type"),
            (
                "/releases/0/first/blocks/0/weight",
                json!(1e300),
                "above 0 and at most 1",
            ),
            (
                "/releases/0/first/blocks/0/quantity",
                json!("secrets"),
                "names no quantity",
            ),
            ("/releases/0/first/blocks", json!([]), "blocks of a release"),
            ("/releases", json!([]), "a check takes on"),
        ] {
            let mut broken = honest.clone();
            *broken.pointer_mut(path).expect("there") = value;
            let refused = Program::read(&broken, &[]).expect_err(path).to_string();
            assert!(refused.contains(words), "{path}: {refused}");
        }
    }
}
