//! What predicts ratings, in files: `directions.npy`, `eigenvalues.csv` and `completion.json`.
//!
//! All of it is made of released sums and public settings, and may be published. A user's device predicts with it and the own ratings,
//! and sends nothing.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

use super::completion::completer_of;
use crate::algorithm::CompleterParts;
use crate::engine::{Outcome, Session};
use crate::scenario::{Experiment, RatingScale};
use crate::writing::{self, npy};

/// V, n × d.
pub const DIRECTIONS: &str = "directions.npy";

/// The numbers of each direction, one line each.
pub const EIGENVALUES: &str = "eigenvalues.csv";

/// Everything else.
pub const COMPLETION: &str = "completion.json";

/// Version of the layout of [`COMPLETION`].
const SCHEMA: u32 = 1;

/// A method that predicts ratings, with the scale that its predictions are on.
#[derive(Clone, Debug, PartialEq)]
pub struct Predictor {
    /// The public numbers of the method.
    pub parts: CompleterParts,
    /// How ratings become numbers of a row, and predictions ratings.
    pub scale: RatingScale,
}

/// The document [`COMPLETION`].
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    schema: u32,
    method: String,
    items: usize,
    directions: usize,
    ratings: RatingScale,
    constants: BTreeMap<String, f64>,
    item_means: Vec<f64>,
}

impl Predictor {
    /// That of a run; `None` where it predicts no ratings.
    #[must_use]
    pub fn of(experiment: &Experiment, session: &Session, outcome: &Outcome) -> Option<Self> {
        let scale = experiment.rating_test()?.scale().clone();
        let parts = completer_of(session, outcome)?.parts();
        Some(Self { parts, scale })
    }

    /// The three files: name and bytes of each.
    #[must_use]
    pub fn files(&self) -> [(&'static str, Vec<u8>); 3] {
        let parts = &self.parts;
        let document = Document {
            schema: SCHEMA,
            method: parts.method.clone(),
            items: parts.directions.rows(),
            directions: parts.directions.columns(),
            ratings: self.scale.clone(),
            constants: parts.constants.clone(),
            item_means: parts.item_means.clone(),
        };
        let mut json = serde_json::to_vec_pretty(&document).expect("texts and finite numbers");
        json.push(b'\n');
        let names = parts.of_directions.keys().cloned();
        let heading = std::iter::once("direction".to_owned()).chain(names);
        let line = |j: usize| -> Vec<String> {
            let numbers = parts
                .of_directions
                .values()
                .map(|all| format!("{:?}", all[j]));
            std::iter::once(j.to_string()).chain(numbers).collect()
        };
        let lines = (0..parts.directions.columns()).map(line);
        let table = writing::csv(std::iter::once(heading.collect()).chain(lines));
        [
            (DIRECTIONS, npy(&parts.directions)),
            (EIGENVALUES, table),
            (COMPLETION, json),
        ]
    }
}
