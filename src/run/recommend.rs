//! One user's recommendations from a published basis: what the user's own device would compute.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::items::{ItemList, ItemListError};
use super::score_model::{ScoreModel, ScoreModelError};
use crate::config::{ConfigError, read_config};
pub use crate::data::Format;
use crate::data::{self, DataError, Interactions, ItemNames};
use crate::recommender::{LowPassScorer, Scorer, ScoringError, top_items};
use crate::scenario::{AlgorithmTableError, ExperimentError, preconditioning_of, training_data};
use crate::writing::{NpyError, read_basis};

/// Where a user's row, and the items if there is no list of them, come from.
#[derive(Clone, Debug)]
pub enum RowSource {
    /// A rating file and its settings, as in `[data]`.
    Data {
        /// The file.
        path: PathBuf,
        /// Its format.
        format: Format,
        /// An interaction is a rating above this.
        threshold: f64,
        /// Keep the N most rated items; 0 keeps all.
        items: usize,
        /// The user's id.
        user: String,
    },
    /// The data that an experiment's peers hold: without what `[evaluation]` holds out.
    Simulation {
        /// The experiment file.
        path: PathBuf,
        /// `key=value` changes to it.
        set: Vec<String>,
        /// The user's id.
        user: String,
    },
    /// The user's own items in a text file, one id per line, quoted where it holds a comma or starts with `#`, `%` or `//`:
    /// with the item list nothing else is needed.
    Own {
        /// The file.
        path: PathBuf,
    },
}

/// What is asked for.
#[derive(Clone, Debug)]
pub struct Request {
    /// `basis.npy` of a run.
    pub basis: PathBuf,
    /// The item list; `items.csv` beside the basis, if there is one, where absent.
    pub items: Option<PathBuf>,
    /// Or, instead of a basis, the folder into which a run wrote `recommender.toml`.
    pub recommender: Option<PathBuf>,
    /// Whose row.
    pub row: RowSource,
    /// Titles of items.
    pub titles: Option<PathBuf>,
    /// Number of recommendations.
    pub top: usize,
}

/// One recommended item.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Recommendation {
    /// Its place, from 1.
    pub rank: usize,
    /// Its id as found in the data.
    pub item: String,
    /// Its title, where known.
    pub title: Option<String>,
    /// Its score.
    pub score: f64,
}

/// A user's recommendations and what they rest on.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Recommendations {
    /// Best first.
    pub recommendations: Vec<Recommendation>,
    /// The user's interactions with items of the basis.
    pub interactions_used: usize,
    /// The user's other interactions, which say nothing to this basis.
    pub interactions_unknown: usize,
}

/// Recommendations that cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum RecommendError {
    /// The basis cannot be used.
    #[error(transparent)]
    Basis(#[from] NpyError),
    /// The item list cannot be used.
    #[error(transparent)]
    Items(#[from] ItemListError),
    /// The rating file, the titles or the user's own items cannot be used.
    #[error(transparent)]
    Data(#[from] DataError),
    /// The experiment file cannot be used.
    #[error(transparent)]
    Experiment(#[from] ExperimentError),
    /// The experiment file cannot be read.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// Own items without an item list.
    #[error(
        "the rows of {basis} have no names: there is no items.csv beside it; give --items-file, or the data it \
         was computed from",
        basis = basis.display()
    )]
    NoItems {
        /// The basis.
        basis: PathBuf,
    },
    /// A basis of other items.
    #[error(
        "{basis} has {rows} rows, but there are {items} items in {of}: give the settings of the run that wrote the \
         basis (--sim, or --threshold and --items), or its items.csv with --items-file",
        basis = basis.display()
    )]
    ItemCount {
        /// The basis.
        basis: PathBuf,
        /// Its rows.
        rows: usize,
        /// Items there are.
        items: usize,
        /// Where.
        of: String,
    },
    /// A user the data does not know.
    #[error(
        "there is no user {user:?} among {users} users; ids are written as in the data, for example {examples}"
    )]
    UnknownUser {
        /// The id asked for.
        user: String,
        /// Number of users.
        users: usize,
        /// The first few ids.
        examples: String,
    },
    /// A user about whom nothing is known.
    #[error(
        "none of the user's {unknown} interactions is with one of the {items} items of the basis, so there is nothing \
         to recommend from"
    )]
    EmptyRow {
        /// Interactions with other items.
        unknown: usize,
        /// Items of the basis.
        items: usize,
    },
    /// Values that do not fit together.
    #[error(transparent)]
    Scoring(#[from] ScoringError),
    /// The files of a run whose Gram matrix recommends cannot be used.
    #[error(transparent)]
    Model(#[from] ScoreModelError),
}

/// Ranks for one user what the user has not interacted with, from the basis, the public degrees of its items and
/// the user's own row.
///
/// The items of the basis come from the item list; without one they are those of the data after its filters,
/// in the order of the file, which is the order in which a run's basis has them. Their number must be the number
/// of rows.
///
/// # Errors
/// [`RecommendError`] naming the file and what to change.
pub fn recommend(request: &Request) -> Result<Recommendations, RecommendError> {
    let listed = list_of(&request.basis, request.items.as_deref());
    let list = listed.as_deref().map(ItemList::read).transpose()?;
    let (own, from_data) = own_items(&request.row)?;
    if let Some(folder) = &request.recommender {
        let model = ScoreModel::read(folder)?;
        return ranked(request, &own, model.catalogue(), &model.scorer()?);
    }
    let of = listed.map_or_else(
        || "the data after its filters".to_owned(),
        |path| path.display().to_string(),
    );
    let list = list.or(from_data).ok_or_else(|| RecommendError::NoItems {
        basis: request.basis.clone(),
    })?;
    let basis = read_basis(&request.basis)?;
    check_count((&request.basis, basis.rows()), list.names.len(), of)?;
    let scorer = LowPassScorer::weighted(&basis, &list.filter_weights())?;
    ranked(request, &own, &list, &scorer)
}

/// The item list of a basis: the one given, or the `items.csv` beside it if there is one.
pub(super) fn list_of(basis: &Path, given: Option<&Path>) -> Option<PathBuf> {
    let beside = || Some(basis.with_file_name("items.csv")).filter(|path| path.exists());
    given.map(Path::to_owned).or_else(beside)
}

/// Refuses a basis that has not one row for each of the items in `of`.
pub(super) fn check_count(
    (basis, rows): (&Path, usize),
    items: usize,
    of: String,
) -> Result<(), RecommendError> {
    match rows == items {
        true => Ok(()),
        false => Err(RecommendError::ItemCount {
            basis: basis.to_owned(),
            rows,
            items,
            of,
        }),
    }
}

/// The titles in a file; none without one.
pub(super) fn titles_of(path: Option<&Path>) -> Result<BTreeMap<String, String>, DataError> {
    path.map_or_else(|| Ok(BTreeMap::new()), data::load_titles)
}

/// Ranks the items of this list for a user with these own items.
fn ranked(
    request: &Request,
    own: &[String],
    list: &ItemList,
    scorer: &dyn Scorer,
) -> Result<Recommendations, RecommendError> {
    let named = (0_u32..).zip(&list.names);
    let index: BTreeMap<&str, u32> = named.map(|(i, name)| (name.as_str(), i)).collect();
    let mut row: Vec<u32> = own
        .iter()
        .filter_map(|name| index.get(name.as_str()).copied())
        .collect();
    row.sort_unstable();
    row.dedup();
    let unknown = own
        .iter()
        .filter(|name| !index.contains_key(name.as_str()))
        .count();
    // A Gram matrix comes with what is popular for those of whom nothing is known.
    if row.is_empty() && request.recommender.is_none() {
        let items = list.names.len();
        return Err(RecommendError::EmptyRow { unknown, items });
    }
    let titles = titles_of(request.titles.as_deref())?;
    let scores = scorer.scores(&[&row]);
    let ranked = top_items(scores.as_slice(), &row, request.top);
    let recommendations = (1..).zip(ranked).map(|(rank, ranked)| {
        let item = list.names[ranked.item as usize].clone();
        Recommendation {
            rank,
            title: titles.get(&item).cloned(),
            item,
            score: ranked.score,
        }
    });
    Ok(Recommendations {
        recommendations: recommendations.collect(),
        interactions_used: row.len(),
        interactions_unknown: unknown,
    })
}

/// The ids of the items a user interacted with, and the items of the data they come from.
fn own_items(source: &RowSource) -> Result<(Vec<String>, Option<ItemList>), RecommendError> {
    let mut weights = None;
    let (data, user) = match source {
        RowSource::Own { path } => return Ok((data::load_ids(path)?, None)),
        RowSource::Data {
            path,
            format,
            threshold,
            items,
            user,
        } => {
            let loaded = data::load(path, *format, *threshold)?;
            (
                ItemNames::most_rated(&loaded.interactions, *items)
                    .restrict(&loaded.interactions)
                    .0,
                user,
            )
        }
        RowSource::Simulation { path, set, user } => {
            let base = path.parent().unwrap_or(Path::new("."));
            let config = read_config(path, set)?;
            let data = training_data(config.clone(), base)?;
            let stated = preconditioning_of(&config, &data.item_degrees())
                .map_err(|error| ExperimentError::from(AlgorithmTableError::from(error)))?;
            weights = stated.map(|(_, weights)| weights);
            (data, user)
        }
    };
    let row = data.row(user_index(&data, user)?);
    let name = |&item: &u32| data.item_name(item as usize).to_owned();
    let list = ItemList::of(&data).weighted(weights.as_deref());
    Ok((row.iter().map(name).collect(), Some(list)))
}

pub(super) fn user_index(data: &Interactions, user: &str) -> Result<usize, RecommendError> {
    let found = (0..data.users()).find(|&index| data.user_name(index) == user);
    found.ok_or_else(|| {
        let examples = (0..data.users().min(3)).map(|index| format!("{:?}", data.user_name(index)));
        RecommendError::UnknownUser {
            user: user.to_owned(),
            users: data.users(),
            examples: examples.collect::<Vec<_>>().join(", "),
        }
    })
}
