//! What scores items on a user's device, in files: `recommender.toml`, `catalogue.csv` and `directions.npy`.
//!
//! All of it is a function of a released Gram matrix, item degrees and settings. It may be given away where item degrees are public, as the receipt
//! assumes: `catalogue.csv` holds them. A user's device scores with it and the own row, and sends nothing.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::items::{ItemList, ItemListError};
use super::predictor::DIRECTIONS;
use crate::engine::Outcome;
use crate::linalg::Block;
use crate::recommender::ScoringError;
use crate::recommender::gram::{
    GramModel, GramScorer, ReleasedGram, ScoreParts, popularity_weight,
};
use crate::scenario::{Experiment, Warning};
use crate::vocabulary::Quantity;
use crate::writing::{NpyError, npy, read_block};

/// Everything but the directions and the list of items.
pub const RECOMMENDER: &str = "recommender.toml";

/// The items that can be recommended, with their public degrees.
pub const CATALOGUE: &str = "catalogue.csv";

/// Version of the layout of [`RECOMMENDER`].
const SCHEMA: u32 = 1;

/// The longest text that is read.
const MOST_BYTES: u64 = 256 << 20;

/// What a released Gram matrix came to; of `summary.json`. A function of the release and of public numbers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RecommenderSummary {
    /// The method, as asked for.
    pub method: &'static str,
    /// The power of all weights, where the method has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub power: Option<f64>,
    /// Items of the matrix.
    pub items: usize,
    /// Items that can be recommended; those outside the matrix by popularity.
    pub catalogue: usize,
    /// As far as eigenvalues of the noise alone reach.
    pub noise_edge: f64,
    /// Directions that stand out of the noise beyond what popularity explains; where there is none, all users are recommended what is
    /// popular.
    pub directions_beyond_noise: usize,
    /// Directions with a weight.
    pub directions_kept: usize,
    /// Energy of the directions beyond the noise, in units of the edge squared; null without noise.
    pub signal: Option<f64>,
    /// How much of the average row is added to every user's own; null where there is popularity only.
    pub popularity_weight: Option<f64>,
}

/// The public numbers that items are scored with.
#[derive(Clone, Debug, PartialEq)]
pub struct ScoreModel {
    method: String,
    parts: ScoreParts,
    /// The items of the matrix in the catalogue.
    listed: Vec<u32>,
    catalogue: ItemList,
}

/// The document [`RECOMMENDER`].
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    schema: u32,
    method: String,
    directions: usize,
    popularity: f64,
    of_row: bool,
    padding: f64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    power: Option<f64>,
    listed: Vec<u32>,
    weights: Vec<f64>,
    item_scales: Vec<f64>,
}

/// Files that make no recommender.
#[derive(Debug, thiserror::Error)]
pub enum ScoreModelError {
    /// A file that cannot be read.
    #[error("cannot read {path}: {source}; give the folder that `undertone run` wrote recommender.toml into", path = path.display())]
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
    /// A list of items that cannot be used.
    #[error(transparent)]
    Items(#[from] ItemListError),
    /// Directions that cannot be used.
    #[error(transparent)]
    Directions(#[from] NpyError),
    /// Numbers that do not fit together.
    #[error("{path}: {source}; run the experiment again", path = path.display())]
    Scoring {
        /// The folder.
        path: PathBuf,
        /// What is wrong.
        source: ScoringError,
    },
}

/// What a run's release says, split into popularity and directions; `None` for experiments that recommend by a basis.
#[must_use]
pub fn model_of(experiment: &Experiment, outcome: &Outcome) -> Option<GramModel> {
    let config = experiment.config();
    config.recommender?;
    let record = outcome.records.last()?;
    let items = experiment.interactions();
    let sigma = record.sigmas.first().copied().unwrap_or(0.0);
    let coordinates = record.sum.values();
    let release = experiment.releases().get(record.release.index())?;
    let block = release.blocks.first()?;
    let released = match block.quantity {
        Quantity::IsometricTriangle => ReleasedGram::isometric(items.items(), coordinates, sigma),
        _ => ReleasedGram::packed(items.items(), coordinates, sigma),
    };
    Some(GramModel::new(&released, &items.item_degrees()))
}

impl ScoreModel {
    /// That of a run; `None` for experiments that recommend by a basis.
    #[must_use]
    pub fn of(experiment: &Experiment, model: &GramModel) -> Option<Self> {
        let method = experiment.config().recommender?.method;
        let (rows, catalogue) = (experiment.interactions(), experiment.catalogue());
        let all = ItemList::of(catalogue);
        let names = (0_u32..).zip(&all.names);
        let places: BTreeMap<&str, u32> = names.map(|(at, name)| (name.as_str(), at)).collect();
        let place = |item: usize| places.get(rows.item_name(item)).copied();
        let listed = (0..rows.items()).filter_map(place).collect();
        Some(Self {
            method: method.name().to_owned(),
            parts: method.parts(model, rows.users()),
            listed,
            catalogue: all,
        })
    }

    /// What scores the catalogue.
    ///
    /// # Errors
    /// [`ScoringError`] for numbers that do not fit together, never for a run's own.
    pub fn scorer(&self) -> Result<GramScorer, ScoringError> {
        GramScorer::new(self.parts.clone(), &self.listed, &self.catalogue.degrees)
    }

    /// The items that can be recommended.
    #[must_use]
    pub fn catalogue(&self) -> &ItemList {
        &self.catalogue
    }

    /// What is said of it.
    #[must_use]
    pub fn summary(
        &self,
        experiment: &Experiment,
        model: &GramModel,
    ) -> Option<RecommenderSummary> {
        let method = experiment.config().recommender?.method;
        let speaks = model.beyond() > 0;
        Some(RecommenderSummary {
            method: method.name(),
            power: self.parts.power,
            items: self.listed.len(),
            catalogue: self.catalogue.names.len(),
            noise_edge: model.edge().edge(),
            directions_beyond_noise: model.beyond(),
            directions_kept: model.kept(),
            signal: model.signal().is_finite().then_some(model.signal()),
            popularity_weight: speaks.then(|| popularity_weight(model.signal())),
        })
    }

    /// What there is to warn of: a function of the release.
    #[must_use]
    pub fn warning(&self, model: &GramModel) -> Option<Warning> {
        (model.beyond() == 0).then(|| Warning::NothingStandsOut {
            items: self.listed.len(),
            edge: model.edge().edge(),
        })
    }

    /// The files: name and bytes of each.
    #[must_use]
    pub fn files(&self) -> [(&'static str, Vec<u8>); 3] {
        let parts = &self.parts;
        let directions = parts.directions.columns();
        let document = Document {
            schema: SCHEMA,
            method: self.method.clone(),
            directions,
            popularity: parts.popularity,
            of_row: parts.of_row,
            padding: parts.padding,
            power: parts.power,
            listed: self.listed.clone(),
            weights: parts.weights.clone(),
            item_scales: parts.item_scales.clone(),
        };
        let text = toml::to_string(&document).expect("texts, lists and finite numbers");
        [
            (DIRECTIONS, npy(&parts.directions)),
            (CATALOGUE, self.catalogue.to_csv()),
            (RECOMMENDER, text.into_bytes()),
        ]
    }

    /// Reads what [`Self::files`] wrote into a folder.
    ///
    /// # Errors
    /// [`ScoreModelError`] for a file that is missing, too long, of another layout, or of other items or directions than the others.
    pub fn read(folder: &Path) -> Result<Self, ScoreModelError> {
        let path = folder.join(RECOMMENDER);
        let broken = |problem: String| ScoreModelError::Broken {
            path: path.clone(),
            problem,
        };
        let unreadable = |source| ScoreModelError::Unreadable {
            path: path.clone(),
            source,
        };
        let length = std::fs::metadata(&path).map_err(unreadable)?.len();
        if length > MOST_BYTES {
            return Err(broken(format!("{length} bytes is more than is read")));
        }
        let text = std::fs::read_to_string(&path).map_err(unreadable)?;
        let document: Document =
            toml::from_str(&text).map_err(|error| broken(error.to_string()))?;
        if document.schema != SCHEMA {
            return Err(broken(format!(
                "schema {} is not read, only {SCHEMA}",
                document.schema
            )));
        }
        let items = document.listed.len();
        let directions = match document.directions {
            0 => Block::zeros(items, 0),
            _ => read_block(&folder.join(DIRECTIONS))?,
        };
        if (directions.rows(), directions.columns()) != (items, document.directions) {
            return Err(broken(
                "other items or directions than in directions.npy".to_owned(),
            ));
        }
        let model = Self {
            method: document.method,
            parts: ScoreParts {
                directions,
                weights: document.weights,
                item_scales: document.item_scales,
                popularity: document.popularity,
                of_row: document.of_row,
                padding: document.padding,
                power: document.power,
            },
            listed: document.listed,
            catalogue: ItemList::read(&folder.join(CATALOGUE))?,
        };
        match model.scorer() {
            Ok(_) => Ok(model),
            Err(source) => Err(ScoreModelError::Scoring {
                path: folder.to_path_buf(),
                source,
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model(directions: usize) -> ScoreModel {
        let number = |k: usize| (k as f64 * 1.7).sin();
        ScoreModel {
            method: "auto".to_owned(),
            parts: ScoreParts {
                directions: Block::from_values(
                    3,
                    directions,
                    (0..3 * directions).map(number).collect(),
                ),
                weights: (0..directions).map(number).collect(),
                item_scales: vec![1.0, 1.0 / 3.0, 5e-324],
                popularity: 0.1 + 0.2,
                of_row: true,
                padding: 1e-300,
                power: Some(0.5),
            },
            listed: vec![0, 3, 1],
            catalogue: ItemList {
                names: ["a", "b, c", "d", "ü"].map(str::to_owned).to_vec(),
                degrees: vec![4, 2, 0, 9],
                weights: None,
            },
        }
    }

    fn write(folder: &Path, model: &ScoreModel) {
        for (name, bytes) in model.files() {
            std::fs::write(folder.join(name), bytes).expect("writable");
        }
    }

    #[test]
    fn what_is_written_reads_back_to_the_bit() {
        for directions in [0, 1, 4] {
            let folder = tempfile::tempdir().expect("a temporary folder");
            let written = model(directions);
            write(folder.path(), &written);
            assert_eq!(ScoreModel::read(folder.path()).expect("whole"), written);
        }
    }

    #[test]
    fn broken_files_are_refused() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let refused = |file: &str, from: &str, to: &str| {
            write(folder.path(), &model(2));
            let path = folder.path().join(file);
            let whole = std::fs::read_to_string(&path).expect("there");
            let changed = whole.replacen(from, to, 1);
            assert_ne!(changed, whole, "{from} is there");
            std::fs::write(path, changed).expect("writable");
            assert!(ScoreModel::read(folder.path()).is_err(), "{from} -> {to}");
        };
        refused(RECOMMENDER, "schema = 1", "schema = 2");
        refused(RECOMMENDER, "directions = 2", "directions = 1");
        refused(RECOMMENDER, "directions = 2", "directions = 0");
        refused(RECOMMENDER, "padding", "pudding");
        refused(RECOMMENDER, "0.30000000000000004", "nan");
        refused(RECOMMENDER, "listed = [0, 3, 1]", "listed = [0, 3, 3]");
        refused(RECOMMENDER, "listed = [0, 3, 1]", "listed = [0, 4, 1]");
        refused(RECOMMENDER, "listed = [0, 3, 1]", "listed = [0, 3]");
        refused(RECOMMENDER, "weights = [0.0, ", "weights = [");
        refused(CATALOGUE, "3,ü,9", "");
        write(folder.path(), &model(2));
        std::fs::remove_file(folder.path().join(DIRECTIONS)).expect("there");
        assert!(ScoreModel::read(folder.path()).is_err());
    }
}
