//! How good the users' lists are in a cell, and what they are drawn beside.

use std::convert::Infallible;

use super::grid::{self, Sweep};
use super::measures::ListQuality;
use crate::config::Config;
use crate::engine::central::{self, SumNoise};
use crate::engine::{Outcome, Session, Silent};
use crate::run::recommendation::{quality_of, quality_of_popularity};
use crate::scenario::{Experiment, HeldKey};

impl Sweep {
    /// The lists of this cell, those of popularity alone, and those of the same method without noise.
    pub(super) fn list_quality(
        &self,
        experiment: &Experiment,
        session: &Session,
        outcome: &Outcome,
    ) -> ListQuality {
        let config = experiment.config();
        // Of how many items a matrix is released does not change what is popular.
        let everything = Config {
            recommender: None,
            ..config.clone()
        };
        let key = (HeldKey::of(&everything), config.evaluation.top);
        let popularity = self.popular.get(key, || {
            Ok::<_, Infallible>(quality_of_popularity(experiment))
        });
        let plain = self.plain_lists.get(without_noise(config), || {
            let outcome = central::run(session, SumNoise::Nothing, &mut Silent).ok();
            Ok::<_, Infallible>(outcome.and_then(|outcome| quality_of(experiment, &outcome)))
        });
        let (Ok(popularity), Ok(plain)) = (popularity, plain);
        ListQuality {
            this_run: quality_of(experiment, outcome),
            popularity: *popularity,
            non_private: *plain,
        }
    }
}

/// This configuration with nothing that a run without noise does not depend on. Items and floor of a released matrix, which follow from ε, stay.
fn without_noise(config: &Config) -> Config {
    let floor = config.data.degree_floor();
    let mut plain = grid::neutral(config.clone());
    plain.data.set_degree_floor(floor);
    // Rows are divided by what the rule says.
    plain.privacy.sensitivity = config.privacy.sensitivity;
    plain.privacy.adjacency = config.privacy.adjacency;
    plain
}
