//! The lists of items and of users that a run rests on, as its receipt states them.

use serde::{Deserialize, Serialize};

use super::deployment::SessionDraft;
use super::experiment::Experiment;
use super::placement;
use crate::config::Config;
use crate::data::ItemNames;

/// Source of the list of items.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ItemSource {
    /// It was drawn from the data: all its items, or the most rated.
    Data,
    /// It was read from a file of its own.
    File,
    /// It was read from a file of its own, and `[recommender]` kept some of it by degrees that were counted in the data.
    MostRatedOfFile,
}

/// The list of items that a run used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StatedItems {
    /// Where it comes from.
    pub source: ItemSource,
    /// Number of items: n.
    pub items: usize,
    /// BLAKE3 of the names in order, in hexadecimal.
    pub hash: String,
}

impl StatedItems {
    /// The list of an experiment.
    pub(crate) fn of(experiment: &Experiment) -> Self {
        let list = ItemNames::of(&experiment.interactions);
        let config = &experiment.config;
        let source = match (config.data.items_file(), config.recommender) {
            (Some(_), Some(_)) => ItemSource::MostRatedOfFile,
            (Some(_), None) => ItemSource::File,
            (None, _) => ItemSource::Data,
        };
        Self {
            source,
            items: list.len(),
            hash: list.hash(),
        }
    }

    /// The columns of a session, which the session file names.
    pub(crate) fn of_session(session: &SessionDraft) -> Self {
        let list = session.items();
        Self {
            source: ItemSource::File,
            items: list.len(),
            hash: list.hash(),
        }
    }
}

/// Source of the list of users, where users have names: who takes part, and which peer holds whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum UserSource {
    /// The data: users are numbered as the data first name them.
    Data,
    /// `data.users_file`, a public list.
    File,
    /// The data, and a column of them says at which peer every user is.
    Column,
    /// None is needed: a hash of every user's own name decides which peer holds the user.
    Hashed,
}

impl UserSource {
    /// That of a configuration; `None` of matrices and graphs, whose rows are numbered by their places.
    pub(super) fn of(config: &Config) -> Option<Self> {
        let data = &config.data;
        data.is_of_ratings().then(|| match data.users_file() {
            _ if config.hides_users() => Self::Hashed,
            Some(_) => Self::File,
            None if placement::is_meant(data) => Self::Column,
            None => Self::Data,
        })
    }
}
