//! One user's predicted ratings from what a run of completion published: what the user's own device would compute.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::predictor::{Predictor, PredictorError};
use super::recommend::{Format, RecommendError, titles_of};
use crate::algorithm::PartsError;
use crate::config::{AnyAlgorithmTable, Config, read_config};
use crate::data::{self, Interactions};
use crate::linalg::SparseRows;
use crate::recommender::top_items;
use crate::scenario::training_ratings;

/// Where a user's own ratings come from.
#[derive(Clone, Debug)]
pub enum RatingSource {
    /// A rating file.
    Data {
        /// The file.
        path: PathBuf,
        /// Its format.
        format: Format,
        /// The user's id.
        user: String,
    },
    /// The data that an experiment's peers hold: without what `completion.test_share` keeps aside.
    Simulation {
        /// The experiment file.
        path: PathBuf,
        /// `key=value` changes to it.
        set: Vec<String>,
        /// The user's id.
        user: String,
    },
    /// The user's own ratings in a text file, `item,rating` on each line.
    Own {
        /// The file.
        path: PathBuf,
    },
}

/// What is asked for.
#[derive(Clone, Debug)]
pub struct PredictRequest {
    /// The folder with `completion.toml`, `eigenvalues.csv` and `directions.npy` of a run.
    pub folder: PathBuf,
    /// Whose ratings.
    pub ratings: RatingSource,
    /// Titles of items.
    pub titles: Option<PathBuf>,
    /// Number of predictions.
    pub top: usize,
}

/// One predicted rating.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Prediction {
    /// Its place, from 1.
    pub rank: usize,
    /// The item's id as found in the data.
    pub item: String,
    /// Its title, where known.
    pub title: Option<String>,
    /// The rating predicted, within the range of ratings.
    pub rating: f64,
}

/// A user's predictions and what they rest on.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Predictions {
    /// Of items that the user has not rated, the highest first.
    pub predictions: Vec<Prediction>,
    /// The mean of the user's ratings on the range of predictions, or what takes its place.
    pub centre: f64,
    /// The user's ratings of items that the run knows.
    pub ratings_used: usize,
    /// The user's other ratings, which say nothing to it.
    pub ratings_unknown: usize,
}

/// Predictions that cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum PredictError {
    /// The files cannot be used.
    #[error(transparent)]
    Predictor(#[from] PredictorError),
    /// The numbers in them make no method.
    #[error("{folder}: {source}", folder = folder.display())]
    Parts {
        /// The folder.
        folder: PathBuf,
        /// What is wrong.
        source: PartsError,
    },
    /// The user's ratings cannot be used.
    #[error(transparent)]
    Ratings(#[from] RecommendError),
}

/// Predicts for one user what the user has not rated, from the files of a run and the user's own ratings. A user without ratings is
/// predicted the middle of the range, and the items' means about it.
///
/// # Errors
/// [`PredictError`] naming the file and what to change.
pub fn predict(request: &PredictRequest) -> Result<Predictions, PredictError> {
    let predictor = Predictor::read(&request.folder)?;
    let completer = AnyAlgorithmTable::completer(&predictor.parts);
    let completer = completer.map_err(|source| PredictError::Parts {
        folder: request.folder.clone(),
        source,
    })?;
    let own = own_ratings(&request.ratings)?;
    let titles = titles_of(request.titles.as_deref()).map_err(RecommendError::from)?;
    let named = (0_u32..).zip(&predictor.items);
    let index: BTreeMap<&str, u32> = named.map(|(i, name)| (name.as_str(), i)).collect();
    let scale = &predictor.scale;
    let preparation = scale.preparation(predictor.items.len(), None);
    let preparation = preparation.expect("checked where it was read");
    let known = own
        .iter()
        .filter_map(|(name, rating)| Some((*index.get(name.as_str())?, *rating)));
    let mut row: Vec<(u32, f64)> = known
        .map(|(item, rating)| (item, preparation.value(item as usize, rating)))
        .collect();
    row.sort_unstable_by_key(|(item, _)| *item);
    let (items, mut values): (Vec<u32>, Vec<f64>) = row.into_iter().unzip();
    let centre = scale.centre_of(&values);
    values.iter_mut().for_each(|x| *x -= centre);
    let all = completer.complete(&items, &values);
    let ratings: Vec<f64> = all.iter().map(|x| scale.clip(centre + x)).collect();
    let ranked = top_items(&ratings, &items, request.top);
    let predictions = (1..).zip(ranked).map(|(rank, ranked)| {
        let item = predictor.items[ranked.item as usize].clone();
        Prediction {
            rank,
            title: titles.get(&item).cloned(),
            item,
            rating: ranked.score,
        }
    });
    Ok(Predictions {
        predictions: predictions.collect(),
        centre,
        ratings_used: items.len(),
        ratings_unknown: own.len() - items.len(),
    })
}

/// The user's ratings in the units of the file, by the names of items.
fn own_ratings(source: &RatingSource) -> Result<Vec<(String, f64)>, RecommendError> {
    match source {
        RatingSource::Own { path } => Ok(data::load_own_ratings(path)?),
        RatingSource::Data { path, format, user } => {
            let loaded = data::load_values(path, *format)?;
            let values = loaded.values.unwrap_or_else(|| SparseRows::new(0));
            row_of(&loaded.interactions, &values, user)
        }
        RatingSource::Simulation { path, set, user } => {
            let base = path.parent().unwrap_or(Path::new("."));
            let config: Config = read_config(path, set)?;
            let (items, ratings) = training_ratings(config, base)?;
            row_of(&items, &ratings, user)
        }
    }
}

fn row_of(
    data: &Interactions,
    ratings: &SparseRows,
    user: &str,
) -> Result<Vec<(String, f64)>, RecommendError> {
    let (items, values) = ratings.row(super::recommend::user_index(data, user)?);
    let name = |&item: &u32| data.item_name(item as usize).to_owned();
    Ok(items.iter().map(name).zip(values.iter().copied()).collect())
}
