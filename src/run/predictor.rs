//! What predicts ratings, in files: `directions.npy`, `eigenvalues.csv` and `completion.toml`.
//!
//! All of it is made of released sums, public settings and the public list of items, and may be published. A user's device predicts with
//! it and the own ratings, and sends nothing.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::completion::completer_of;
use crate::algorithm::{CompleterParts, PartsError};
use crate::engine::{Outcome, Session};
use crate::linalg::Block;
use crate::scenario::{Experiment, RatingScale};
use crate::writing::{self, NpyError, npy, read_block};

/// V, n × d; not written where no direction is kept.
pub const DIRECTIONS: &str = "directions.npy";

/// The numbers of each direction, one line each.
pub const EIGENVALUES: &str = "eigenvalues.csv";

/// Everything else: method, scale of ratings, constants, items and their means.
pub const COMPLETION: &str = "completion.toml";

/// Version of the layout of [`COMPLETION`].
const SCHEMA: u32 = 1;

/// The longest text that is read.
const MOST_BYTES: u64 = 256 << 20;

/// A method that predicts ratings, with the scale that its predictions are on and the items that it predicts.
#[derive(Clone, Debug, PartialEq)]
pub struct Predictor {
    /// The public numbers of the method.
    pub parts: CompleterParts,
    /// How ratings become numbers of a row, and predictions ratings.
    pub scale: RatingScale,
    /// What the items are called, in the order of the rows of the directions.
    pub items: Vec<String>,
}

/// The document [`COMPLETION`].
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    schema: u32,
    method: String,
    directions: usize,
    items: Vec<String>,
    item_means: Vec<f64>,
    constants: BTreeMap<String, f64>,
    ratings: RatingScale,
}

/// Files that make no predictor.
#[derive(Debug, thiserror::Error)]
pub enum PredictorError {
    /// A file that cannot be read.
    #[error("cannot read {path}: {source}; give the folder that `undertone run` wrote predictions into", path = path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A file that is not what `undertone run` writes.
    #[error("{path}: {problem}; run the experiment again", path = path.display())]
    Broken {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// Directions that cannot be used.
    #[error(transparent)]
    Directions(#[from] NpyError),
    /// Numbers that make no method.
    #[error("{path}: {source}", path = path.display())]
    Parts {
        /// The folder.
        path: PathBuf,
        /// What is wrong.
        source: PartsError,
    },
}

impl Predictor {
    /// That of a run; `None` where it predicts no ratings.
    #[must_use]
    pub fn of(experiment: &Experiment, session: &Session, outcome: &Outcome) -> Option<Self> {
        let scale = experiment.rating_test()?.scale().clone();
        let parts = completer_of(session, outcome)?.parts();
        let items = experiment.interactions();
        let names = (0..items.items()).map(|item| items.item_name(item).to_owned());
        Some(Self {
            parts,
            scale,
            items: names.collect(),
        })
    }

    /// The files: name and bytes of each.
    #[must_use]
    pub fn files(&self) -> [(&'static str, Vec<u8>); 3] {
        let parts = &self.parts;
        let directions = parts.directions.columns();
        let document = Document {
            schema: SCHEMA,
            method: parts.method.clone(),
            directions,
            items: self.items.clone(),
            item_means: parts.item_means.clone(),
            constants: parts.constants.clone(),
            ratings: self.scale.clone(),
        };
        let text = toml::to_string(&document).expect("texts, lists and finite numbers");
        let names = parts.of_directions.keys().cloned();
        let heading = std::iter::once("direction".to_owned()).chain(names);
        let line = |j: usize| -> Vec<String> {
            let numbers = parts.of_directions.values();
            let numbers = numbers.map(|all| format!("{:?}", all[j]));
            std::iter::once(j.to_string()).chain(numbers).collect()
        };
        let lines = (0..directions).map(line);
        let table = writing::csv(std::iter::once(heading.collect()).chain(lines));
        [
            (DIRECTIONS, npy(&parts.directions)),
            (EIGENVALUES, table),
            (COMPLETION, text.into_bytes()),
        ]
    }

    /// Reads what [`Self::files`] wrote into a folder.
    ///
    /// # Errors
    /// [`PredictorError`] for a file that is missing, too long, of another layout, or of other items or directions than the others.
    pub fn read(folder: &Path) -> Result<Self, PredictorError> {
        let path = folder.join(COMPLETION);
        let broken = |path: &Path, problem: &str| PredictorError::Broken {
            path: path.to_path_buf(),
            problem: problem.to_owned(),
        };
        let document: Document =
            toml::from_str(&text(&path)?).map_err(|error| broken(&path, &error.to_string()))?;
        if document.schema != SCHEMA {
            let problem = format!("schema {} is not read, only {SCHEMA}", document.schema);
            return Err(broken(&path, &problem));
        }
        let items = document.items.len();
        let preparation = document.ratings.preparation(items, None);
        preparation.map_err(|error| broken(&path, &error.to_string()))?;
        let directions = match document.directions {
            0 => Block::zeros(items, 0),
            _ => read_block(&folder.join(DIRECTIONS))?,
        };
        let found = (directions.rows(), directions.columns());
        if items == 0 || found != (items, document.directions) {
            let problem = "other items or directions than in directions.npy";
            return Err(broken(&path, problem));
        }
        let path = folder.join(EIGENVALUES);
        let of_directions = columns(&text(&path)?, document.directions);
        let of_directions = of_directions.map_err(|problem| broken(&path, problem))?;
        let parts = CompleterParts {
            method: document.method,
            directions,
            of_directions,
            item_means: document.item_means,
            constants: document.constants,
        };
        parts.check().map_err(|source| PredictorError::Parts {
            path: folder.to_path_buf(),
            source,
        })?;
        Ok(Self {
            parts,
            scale: document.ratings,
            items: document.items,
        })
    }
}

/// A text file, unless it is absurdly long.
fn text(path: &Path) -> Result<String, PredictorError> {
    let unreadable = |source| PredictorError::Unreadable {
        path: path.to_path_buf(),
        source,
    };
    let length = std::fs::metadata(path).map_err(unreadable)?.len();
    if length > MOST_BYTES {
        return Err(PredictorError::Broken {
            path: path.to_path_buf(),
            problem: format!("{length} bytes is more than is read"),
        });
    }
    std::fs::read_to_string(path).map_err(unreadable)
}

/// The numbers of each direction by name.
fn columns(table: &str, directions: usize) -> Result<BTreeMap<String, Vec<f64>>, &'static str> {
    let mut lines = table.lines().map(|line| line.split(','));
    let mut heading = lines.next().ok_or("the first line is missing")?;
    if heading.next() != Some("direction") {
        return Err("the first column is not called direction");
    }
    let names: Vec<&str> = heading.collect();
    let mut found = vec![Vec::new(); names.len()];
    let mut count = 0;
    for mut line in lines {
        let number = line.next().and_then(|number| number.parse().ok());
        if number != Some(count) {
            return Err("directions are not numbered from 0");
        }
        count += 1;
        for column in &mut found {
            let number = line.next().and_then(|number| number.parse::<f64>().ok());
            column.push(number.ok_or("a number is missing")?);
        }
        if line.next().is_some() {
            return Err("a line has more numbers than names");
        }
    }
    if count != directions {
        return Err("there is not one line per direction");
    }
    let named = names.into_iter().map(str::to_owned).zip(found);
    Ok(named.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Centre, NamedCentre};

    fn predictor(directions: usize) -> Predictor {
        let numbers = |from: f64| (0..directions).map(|j| from / (j as f64 + 3.0)).collect();
        let names = |all: [(&str, f64); 2]| all.map(|(name, x)| (name.to_owned(), x)).into();
        Predictor {
            parts: CompleterParts {
                method: "spectral-ridge".to_owned(),
                directions: Block::from_values(
                    4,
                    directions,
                    (0..4 * directions).map(|k| (k as f64).sin()).collect(),
                ),
                of_directions: [
                    ("eigenvalue".to_owned(), numbers(0.1)),
                    ("prior".to_owned(), numbers(1e-300)),
                ]
                .into(),
                item_means: vec![0.1 + 0.2, -1.0 / 3.0, 1e-17, 5e-324],
                constants: names([("residual", 1.0 / 7.0), ("recentred", 1.0)]),
            },
            scale: RatingScale {
                ranges: vec![[-10.0, 10.0]],
                scale: [0.0, 5.0],
                centre: Centre::Named(NamedCentre::User),
            },
            items: ["a", "b, c", "d \"e\"", "ü"].map(str::to_owned).to_vec(),
        }
    }

    fn write(folder: &Path, predictor: &Predictor) {
        for (name, bytes) in predictor.files() {
            std::fs::write(folder.join(name), bytes).expect("writable");
        }
    }

    #[test]
    fn what_is_written_reads_back_to_the_bit() {
        for directions in [0, 1, 3] {
            let folder = tempfile::tempdir().expect("a temporary folder");
            let written = predictor(directions);
            write(folder.path(), &written);
            let read = Predictor::read(folder.path()).expect("whole");
            assert_eq!(read, written);
        }
    }

    #[test]
    fn broken_files_are_refused_and_named() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let whole = |name: &str| std::fs::read_to_string(folder.path().join(name)).expect("there");
        let named = |file: &str, name: &str, from: &str, to: &str| {
            write(folder.path(), &predictor(3));
            let changed = whole(file).replacen(from, to, 1);
            assert_ne!(changed, whole(file), "{from} is there");
            std::fs::write(folder.path().join(file), changed).expect("writable");
            let error = Predictor::read(folder.path()).expect_err(to).to_string();
            assert!(error.contains(name), "{error}");
        };
        let refused = |file: &str, from: &str, to: &str| named(file, file, from, to);
        refused(COMPLETION, "schema = 1", "schema = 2");
        refused(COMPLETION, "directions = 3", "directions = 2");
        named(COMPLETION, EIGENVALUES, "directions = 3", "directions = 0");
        refused(COMPLETION, "\"a\", ", "");
        refused(COMPLETION, "schema", "scheme");
        refused(COMPLETION, "[0.0, 5.0]", "[5.0, 5.0]");
        refused(EIGENVALUES, "direction,", "number,");
        refused(EIGENVALUES, "\n1,", "\n7,");
        refused(EIGENVALUES, "\n2,", "\n2,nothing,");
        write(folder.path(), &predictor(3));
        let means = whole(COMPLETION).replacen("0.30000000000000004", "inf", 1);
        std::fs::write(folder.path().join(COMPLETION), means).expect("writable");
        let error = Predictor::read(folder.path()).expect_err("infinite");
        assert!(matches!(error, PredictorError::Parts { .. }), "{error}");
        std::fs::remove_file(folder.path().join(DIRECTIONS)).expect("there");
        assert!(Predictor::read(folder.path()).is_err());
    }
}
