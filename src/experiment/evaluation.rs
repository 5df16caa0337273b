//! `[evaluation]`: what a run is measured against, and the recommendations its basis gives.

use std::borrow::Cow;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::config::Config;
use super::resolve::Experiment;
use super::run::RunError;
use crate::data::{self, DataError, Interactions};
use crate::engine::central::{self, SumNoise};
use crate::engine::{EngineError, Outcome, PeerRows, Session, Silent};
use crate::linalg::{Block, SparseRows, TopEigenvectors, top_eigenvectors};
use crate::recommender::{
    LowPassScorer, Popularity, RankingQuality, RankingTotals, Scorer, SplitCounts, SplitError,
    TestSet, evaluate, hold_out, match_test,
};
use crate::vocabulary::Seed;

/// `[evaluation]`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EvaluationConfig {
    /// The degree floor of the matrix whose exact eigenvectors, and whose non-private run from the same X⁰,
    /// errors are measured against; `data.degree_floor` where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference_floor: Option<u32>,
    /// This fraction of every user's interactions is kept from the peers and recommended against.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holdout: Option<f64>,
    /// Or the held-out interactions are in this file, relative to the experiment file, in the format and
    /// with the threshold of `[data]`; users and items are matched by name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test: Option<PathBuf>,
    /// Length of the recommended lists.
    #[serde(default = "twenty")]
    pub top: usize,
}

fn twenty() -> usize {
    20
}

impl Default for EvaluationConfig {
    fn default() -> Self {
        Self {
            reference_floor: None,
            holdout: None,
            test: None,
            top: twenty(),
        }
    }
}

/// What is wrong with `[evaluation]`.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum EvaluationError {
    /// A floor of 0.
    #[error(
        "reference_floor must be at least 1 (1 divides each row by its own degree), found 0; \
         leave it out to measure against the run's own matrix"
    )]
    ReferenceFloor,
    /// Two sources of held-out interactions.
    #[error("give either holdout or test, not both")]
    HoldoutAndTest,
    /// Lists of no items.
    #[error("top must be at least 1, found 0; 20 is usual")]
    Top,
    /// A fraction out of range.
    #[error("holdout: {0}")]
    Holdout(#[from] SplitError),
    /// A test file that cannot be used.
    #[error("test: {0}")]
    Test(DataError),
    /// Nobody to evaluate.
    #[error("no user has a held-out interaction: {why}")]
    NothingHeldOut {
        /// What to change.
        why: &'static str,
    },
}

impl EvaluationConfig {
    /// Whether everything is at its default, so that the table says nothing.
    #[must_use]
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// Checks what needs no data.
    ///
    /// # Errors
    /// [`EvaluationError`] naming the key.
    pub fn check(&self) -> Result<(), EvaluationError> {
        if self.reference_floor == Some(0) {
            return Err(EvaluationError::ReferenceFloor);
        }
        if self.holdout.is_some() && self.test.is_some() {
            return Err(EvaluationError::HoldoutAndTest);
        }
        if self.top == 0 {
            return Err(EvaluationError::Top);
        }
        Ok(())
    }
}

/// What the peers do not hold.
#[derive(Clone, Debug)]
pub struct HeldOut {
    /// The held-out items of every user.
    pub test: Arc<TestSet>,
    /// How many there are.
    pub counts: SplitCounts,
}

/// The training part of the filtered interactions, and what is held out where the configuration asks for it.
///
/// The item list was chosen before, from all interactions: it is public (`data.items`).
pub(super) fn split(
    config: &Config,
    base: &Path,
    interactions: Interactions,
    seed: &Seed,
) -> Result<(Interactions, Option<HeldOut>), EvaluationError> {
    let evaluation = &config.evaluation;
    let (train, test, counts) = match (evaluation.holdout, &evaluation.test) {
        (Some(fraction), _) => hold_out(&interactions, fraction, seed)?,
        (None, Some(path)) => {
            let data = &config.data;
            let loaded = data::load(&base.join(path), data.format, data.threshold)
                .map_err(EvaluationError::Test)?;
            let (test, counts) = match_test(&interactions, &loaded.interactions);
            (interactions, test, counts)
        }
        (None, None) => return Ok((interactions, None)),
    };
    if counts.test_users == 0 {
        let why = match evaluation.holdout {
            Some(_) => {
                "every user has fewer than 2 interactions; keep more items or lower data.threshold"
            }
            None => {
                "no user of the test file is among the users of data.path; users are matched by name"
            }
        };
        return Err(EvaluationError::NothingHeldOut { why });
    }
    let test = Arc::new(test);
    Ok((train, Some(HeldOut { test, counts })))
}

impl Experiment {
    /// The degree floor of the matrix that errors are measured on.
    #[must_use]
    pub fn reference_floor(&self) -> u32 {
        let data = &self.config.data;
        self.config
            .evaluation
            .reference_floor
            .unwrap_or(data.degree_floor)
    }

    /// The users' rows under that floor.
    #[must_use]
    pub fn reference_rows(&self) -> Cow<'_, SparseRows> {
        match NonZeroU32::new(self.reference_floor()) {
            Some(floor) if floor.get() != self.config.data.degree_floor => {
                Cow::Owned(self.interactions.normalised_rows(floor))
            }
            _ => Cow::Borrowed(&self.user_rows),
        }
    }
}

/// Stored entries times eigenvectors beyond which no exact reference is computed: some hundred passes over that much
/// take longer than the runs they would measure.
const REFERENCE_WORK: usize = 250_000_000;

/// What errors are measured against.
#[derive(Clone, Debug)]
pub struct References {
    /// The basis of the non-private run from the session's X⁰.
    pub non_private: Block,
    /// The exact leading eigenvectors, where they are within reach.
    pub exact: Option<Block>,
    /// Why they are not.
    pub reason: Option<String>,
}

impl References {
    /// The non-private run of this session on the reference matrix.
    ///
    /// # Errors
    /// [`RunError`] if it has no unique basis.
    pub(super) fn non_private(
        experiment: &Experiment,
        session: &Session,
    ) -> Result<Outcome, RunError> {
        let run = |session: &Session| central::run(session, SumNoise::Nothing, &mut Silent);
        Ok(match experiment.reference_rows() {
            Cow::Borrowed(_) => run(session)?,
            Cow::Owned(rows) => {
                let reference = Session::curated(
                    session.plan().parameters().clone(),
                    Arc::new(PeerRows::new(vec![rows])),
                    Arc::clone(session.start()),
                    session.seed(),
                    0.0,
                );
                run(&reference.map_err(EngineError::from)?)?
            }
        })
    }

    /// The exact leading eigenvectors of the reference matrix, or why there are none.
    pub(super) fn exact(experiment: &Experiment) -> Result<TopEigenvectors, String> {
        match Self::out_of_reach(experiment) {
            Some(why) => Err(why),
            None => top_eigenvectors(
                &experiment.reference_rows(),
                experiment.config.algorithm.rank,
            )
            .map_err(|error| error.to_string()),
        }
    }

    /// Why no exact eigenvectors are computed, where they would take longer than the runs they measure.
    pub(super) fn out_of_reach(experiment: &Experiment) -> Option<String> {
        let rank = experiment.config.algorithm.rank;
        let entries = experiment.user_rows.entries();
        (entries.saturating_mul(rank) > REFERENCE_WORK).then(|| {
            format!(
                "exact eigenvectors of {entries} interactions at rank {rank} would take longer than the run; \
                 relative_error_non_private needs none"
            )
        })
    }
}

/// How good the recommendations are that each basis gives; of `summary.json`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RecommendationSummary {
    /// `top`, `users_evaluated`, and `recall` and `ndcg` of this run.
    #[serde(flatten)]
    pub this_run: RankingTotals,
    /// Under a trusted curator.
    pub central: RankingQuality,
    /// Of the non-private run from the same X⁰, on the reference matrix.
    pub non_private: RankingQuality,
    /// Of the exact eigenvectors of the reference matrix; null where out of reach.
    pub exact: Option<RankingQuality>,
    /// Of recommending everybody the most popular unseen items.
    pub popularity: RankingQuality,
    /// What was held out.
    pub held_out: SplitCounts,
}

/// Measures the recommendations of this run, the curator's and the references; `None` where nothing is held
/// out.
///
/// # Panics
/// Never for bases of runs, which are finite and have a row per item.
#[must_use]
pub fn recommendation(
    experiment: &Experiment,
    ours: &Block,
    central: &Block,
    references: &References,
) -> Option<RecommendationSummary> {
    let held_out = experiment.held_out.as_ref()?;
    let train = &experiment.interactions;
    let degrees = train.item_degrees();
    let measured = |scorer: &dyn Scorer| {
        evaluate(
            scorer,
            train,
            &held_out.test,
            experiment.config.evaluation.top,
        )
    };
    let mut known: Vec<(&Block, RankingTotals)> = Vec::new();
    let of = |basis: &Block| {
        let scorer = LowPassScorer::new(basis, &degrees).expect("a run's basis has a row per item");
        measured(&scorer)
    };
    // Without noise the three runs are one: its lists are not ranked three times.
    let all = [
        Some(ours),
        Some(central),
        Some(&references.non_private),
        references.exact.as_ref(),
    ];
    for basis in all.into_iter().flatten() {
        if !known.iter().any(|(other, _)| *other == basis) {
            let totals = of(basis);
            known.push((basis, totals));
        }
    }
    let find = |basis: &Block| {
        let found = known.iter().find(|(other, _)| *other == basis);
        found.expect("measured above").1
    };
    Some(RecommendationSummary {
        this_run: find(ours),
        central: find(central).quality,
        non_private: find(&references.non_private).quality,
        exact: references.exact.as_ref().map(|basis| find(basis).quality),
        popularity: measured(&Popularity::new(&degrees)).quality,
        held_out: held_out.counts,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_contradicts_itself_is_refused_by_key() {
        let check = |change: fn(&mut EvaluationConfig)| {
            let mut config = EvaluationConfig::default();
            change(&mut config);
            config.check().err().map(|error| error.to_string())
        };
        assert_eq!(check(|_| ()), None);
        let refused = |change, word: &str| {
            let message = check(change).expect("refused");
            assert!(message.contains(word), "{message}");
        };
        refused(|c| c.top = 0, "top");
        refused(|c| c.reference_floor = Some(0), "reference_floor");
        refused(
            |c| {
                c.holdout = Some(0.2);
                c.test = Some(PathBuf::from("x"));
            },
            "either holdout or test",
        );
    }
}
