//! What a promise takes to be public or given, in words: no ε covers it.

use serde::{Deserialize, Serialize};

use super::experiment::Experiment;
use super::preconditioning::Preconditioning;
use crate::algorithm::{AlgorithmKind, Start};
use crate::data::ItemNames;

/// Where the list of items comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ItemSource {
    /// It was drawn from the data: all its items, or the most rated.
    Data,
    /// It was read from a file of its own.
    File,
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
        let source = match experiment.config.data.items_file {
            Some(_) => ItemSource::File,
            None => ItemSource::Data,
        };
        Self {
            source,
            items: list.len(),
            hash: list.hash(),
        }
    }

    /// What everybody must assume who relies on a run with this list. With files of the peers' own no list of users is needed, but a person's rows
    /// are at no more of them than `participants`.
    pub(crate) fn assumptions(&self, participants: Option<usize>) -> [String; 2] {
        let users = match participants {
            None => "who takes part (the list of users and its order) is assumed public".to_owned(),
            Some(1) => {
                "the rows of one person are assumed to be in the file of one participant".to_owned()
            }
            Some(k) => format!(
                "the rows of one person are assumed to be in the files of no more than {k} participants"
            ),
        };
        let items = match self.source {
            ItemSource::Data => {
                "the item list and its order were drawn from the data and are assumed public"
            }
            ItemSource::File => {
                "the item list and its order were read from a file of their own, which is public; the data had no part in it"
            }
        };
        [users, items.to_owned()]
    }
}

/// What a run whose algorithm was chosen rests on.
pub(crate) const DEGREES_CHOSE: &str =
    "the item degrees, by which the algorithm was chosen, are assumed public";

/// Everything that the promise of an experiment assumes.
pub(crate) fn of(experiment: &Experiment) -> Vec<String> {
    let participants = experiment.participants().filter(|_| experiment.own_files);
    let mut all = StatedItems::of(experiment)
        .assumptions(participants)
        .to_vec();
    if experiment.config.algorithm.start == Start::Popularity {
        all.push("the item degrees, whose shape X0 published, are assumed public".to_owned());
    }
    all.extend(
        experiment
            .preconditioning()
            .map(Preconditioning::assumption),
    );
    let chosen = experiment.config.algorithm.kind != AlgorithmKind::Pilot;
    if experiment.config.pilot.is_some() && chosen {
        all.push(DEGREES_CHOSE.to_owned());
    }
    all
}
