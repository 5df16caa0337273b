//! `[evaluation]`: what a run is measured against, and the recommendations its basis gives.

use std::borrow::Cow;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::resolve::Experiment;
use crate::data::DataError;
use crate::engine::central::{self, SumNoise};
use crate::engine::{EngineError, Outcome, PeerRows, Session, Silent};
use crate::linalg::{Block, SparseRows, TopEigenvectors, top_eigenvectors};
use crate::recommender::{
    LowPassScorer, Popularity, RankingQuality, RankingTotals, Scorer, SplitCounts, SplitError,
    TestSet, evaluate,
};

/// `[evaluation]`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EvaluationConfig {
    /// The degree floor of the matrix whose exact eigenvectors, and whose non-private run from the same X⁰,
    /// errors are measured against; `data.degree_floor` where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference_floor: Option<u32>,
    /// Every interaction is kept from the peers, and recommended against, with this probability: one coin per user and
    /// item, by their names.
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
    /// A test file about other people. Decided by the two lists of users, which are public.
    #[error(
        "test: none of its users is among the users of data.path; users are matched by name, give the test file of the same data"
    )]
    OtherUsers,
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

/// What errors are measured against. Whether a reference exists is a property of the raw data (its rank, its gaps, its
/// size), so a missing one is a null with a reason beside the figures it was for, never the end of a run.
#[derive(Clone, Debug)]
pub struct References {
    /// The basis of the non-private run from the session's X⁰, or why it has none.
    pub non_private: Result<Block, String>,
    /// The exact leading eigenvectors, or why they are out of reach.
    pub exact: Result<Block, String>,
}

impl References {
    /// The non-private run of this session on the reference matrix.
    ///
    /// # Errors
    /// [`EngineError`] if it has no unique basis, which tells that the matrix has a rank below p: callers make a null of it.
    pub(super) fn non_private(
        experiment: &Experiment,
        session: &Session,
    ) -> Result<Outcome, EngineError> {
        let run = |session: &Session| central::run(session, SumNoise::Nothing, &mut Silent);
        match experiment.reference_rows() {
            Cow::Borrowed(_) => run(session),
            Cow::Owned(rows) => run(&Session::curated(
                session.plan().parameters().clone(),
                Arc::new(PeerRows::new(vec![rows])),
                Arc::clone(session.start()),
                session.seed(),
                0.0,
            )?),
        }
    }

    /// The exact leading eigenvectors of the reference matrix, or why there are none.
    pub(super) fn exact(experiment: &Experiment) -> Result<TopEigenvectors, String> {
        match Self::out_of_reach(experiment) {
            Some(why) => Err(why),
            None => top_eigenvectors(
                &experiment.reference_rows(),
                experiment.config.algorithm.rank,
            )
            .map_err(|error| error.to_string())
            .and_then(leading),
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

/// The eigenvectors, unless the last of them belong to the eigenvalue 0: any vector that the data never touch is then as
/// good as another, and a distance to it says nothing.
fn leading(top: TopEigenvectors) -> Result<TopEigenvectors, String> {
    // Eigenvalues are known to about 1e-11 of the largest.
    let positive = |value: &&f64| **value > 1e-10 * top.values[0];
    let (rank, found) = (top.values.len(), top.values.iter().filter(positive).count());
    if found == rank {
        return Ok(top);
    }
    Err(format!(
        "the matrix has rank {found}, so that its {rank} leading eigenvectors are not unique"
    ))
}

/// How good the recommendations are that each basis gives; of `summary.json`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RecommendationSummary {
    /// `top`, `users_evaluated`, and `recall` and `ndcg` of this run.
    #[serde(flatten)]
    pub this_run: RankingTotals,
    /// Under a trusted curator; null where the curator's run has no basis.
    pub central: Option<RankingQuality>,
    /// Of the non-private run from the same X⁰, on the reference matrix; null where that has no basis.
    pub non_private: Option<RankingQuality>,
    /// Of the exact eigenvectors of the reference matrix; null where out of reach.
    pub exact: Option<RankingQuality>,
    /// Of recommending everybody the most popular unseen items.
    pub popularity: RankingQuality,
    /// What was held out.
    pub held_out: SplitCounts,
    /// That this run's lists are worse than the same popular items for everybody, where they are. It is measured on the
    /// raw held-out interactions, so it stands beside the figures and is no warning of the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
}

/// What to say of lists that are worse than the same popular items for everybody in either measure.
fn worse_than_popularity(this_run: &RankingTotals, popular: RankingQuality) -> Option<String> {
    let (ours, top) = (this_run.quality, this_run.top);
    let worse = ours.recall < popular.recall || ours.ndcg < popular.ndcg;
    worse.then(|| {
        format!(
            "the recommendations of this run are worse than recommending everybody the most popular unseen items: \
             recall@{top} {:.4} against {:.4}, NDCG@{top} {:.4} against {:.4}; a larger epsilon, fewer items or more \
             users help. This is a diagnosis of the simulation: both are measured on the raw held-out interactions, \
             without noise, and are not released under epsilon",
            ours.recall, popular.recall, ours.ndcg, popular.ndcg,
        )
    })
}

/// Why there are no figures of recommendations where some were asked for.
const NOBODY: &str = "no user has a held-out interaction, so there is nothing to find again; keep more items, lower data.threshold or hold \
                      out more";

/// Measures the recommendations of this run, the curator's and the references; `None` where the experiment holds nothing
/// out.
///
/// # Errors
/// A reason, where nobody came to have a held-out interaction. That depends on the raw data, so it is no error of the
/// run.
///
/// # Panics
/// Never for bases of runs, which are finite and have a row per item.
#[must_use]
pub fn recommendation(
    experiment: &Experiment,
    ours: &Block,
    central: Option<&Block>,
    references: &References,
) -> Option<Result<RecommendationSummary, &'static str>> {
    let held_out = experiment.held_out.as_ref()?;
    if held_out.counts.test_users == 0 {
        return Some(Err(NOBODY));
    }
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
        central,
        references.non_private.as_ref().ok(),
        references.exact.as_ref().ok(),
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
    let quality = |basis: Option<&Block>| basis.map(|basis| find(basis).quality);
    let popularity = measured(&Popularity::new(&degrees)).quality;
    Some(Ok(RecommendationSummary {
        warning: worse_than_popularity(&find(ours), popularity),
        this_run: find(ours),
        central: quality(central),
        non_private: quality(references.non_private.as_ref().ok()),
        exact: quality(references.exact.as_ref().ok()),
        popularity,
        held_out: held_out.counts,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_worse_than_popularity_in_either_measure_is_told_so() {
        let quality = |recall, ndcg| RankingQuality { recall, ndcg };
        let warning = |recall, ndcg| {
            let this_run = RankingTotals {
                top: 20,
                users_evaluated: 3,
                quality: quality(recall, ndcg),
            };
            worse_than_popularity(&this_run, quality(0.2, 0.1))
        };
        assert_eq!(warning(0.2, 0.1), None);
        assert_eq!(warning(0.3, 0.2), None);
        for (recall, ndcg) in [(0.1, 0.3), (0.3, 0.05)] {
            let text = warning(recall, ndcg).expect("worse");
            for word in [
                "popular",
                "0.2000",
                "0.1000",
                "raw held-out",
                "not released",
            ] {
                assert!(text.contains(word), "{text}");
            }
        }
    }

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
