//! What the peers of an experiment hold, for whoever needs no network: recommendations and predictions at home.

use std::path::Path;

use super::error::{CompletionTableError, DataTableError, ExperimentError};
use super::materials::Materials;
use super::resolve::completed;
use super::{filters, numbers, recommender};
use crate::config::Config;
use crate::data::Interactions;
use crate::linalg::SparseRows;
use crate::vocabulary::Seed;

/// What the users of an experiment have at home: its data after all filters, without what is held out, and with all items that can be
/// recommended.
///
/// # Errors
/// [`ExperimentError`] of the tables `[data]` and `[evaluation]`.
pub(crate) fn training_data(config: Config, base: &Path) -> Result<Interactions, ExperimentError> {
    let mut config = completed(config)?;
    let materials = Materials::new(base);
    let loaded = materials.loaded(&config.data)?;
    if !config.data.is_of_ratings() {
        let why = "is one of matrices, and recommendations are of items in rating files";
        return Err(DataTableError::Key { key: "format", why }.into());
    }
    let list = filters::item_list(&mut config, &materials)?;
    filters::note_users(&mut config, &materials)?;
    let seed = Seed::from_u64(config.seed);
    recommender::complete(&mut config, &loaded.interactions, list.as_deref())?;
    filters::filtered(&config, base, &loaded, list.as_deref(), &seed)
        .map(|held| Interactions::clone(&held.catalogue.unwrap_or(held.interactions)))
}

/// The ratings that the peers of an experiment hold, in the units of the file: its data after all filters, without what is kept
/// aside. Rows are users, columns the items of the first.
///
/// # Errors
/// [`ExperimentError`] of the tables `[data]` and `[completion]`.
pub(crate) fn training_ratings(
    config: Config,
    base: &Path,
) -> Result<(Interactions, SparseRows), ExperimentError> {
    let mut config = completed(config)?;
    if !config.algorithm.table().requirements().completes {
        let algorithm = config.algorithm.name();
        return Err(CompletionTableError::Algorithm { algorithm }.into());
    }
    let materials = Materials::new(base);
    let loaded = materials.loaded(&config.data)?;
    let list = filters::item_list(&mut config, &materials)?;
    filters::note_users(&mut config, &materials)?;
    let seed = Seed::from_u64(config.seed);
    let kept = filters::filtered(&config, base, &loaded, list.as_deref(), &seed)?.interactions;
    let ratings = numbers::of_items(&loaded, &kept, |user| kept.row(user));
    Ok((Interactions::clone(&kept), ratings))
}
