//! What is measured of one cell, and its text form.

use crate::config::SweptError;
use crate::engine::Outcome;
use crate::recommender::RankingQuality;
use crate::run::faults::FaultsSummary;
use crate::run::metrics::Utility;
use crate::scenario::Experiment;

/// The measures of one finished run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Measures {
    /// ‖R̃_p − R_p‖_F / ‖R_p‖_F against the exact eigenvectors of the reference matrix, where within reach.
    pub relative_error: Option<f64>,
    /// The same against the non-private run from the same X⁰.
    pub relative_error_non_private: Option<f64>,
    /// ‖(I − XXᵀ)U‖₂ against the exact eigenvectors.
    pub subspace_error: Option<f64>,
    /// ε asked for; `None` without privacy.
    pub epsilon: Option<f64>,
    /// ε spent against the coalition asked for, by the accountant; `None` without privacy.
    pub epsilon_spent: Option<f64>,
    /// δ of both.
    pub delta: f64,
    /// z; `None` without privacy.
    pub noise_multiplier: Option<f64>,
    /// The largest Δ of any iteration.
    pub sensitivity_max: f64,
    /// The worst relative disagreement between peers; `None` on engines with one copy of the sum.
    pub disagreement_max: Option<f64>,
    /// Exchanges of all iterations.
    pub rounds: u64,
    /// Messages delivered.
    pub messages: u64,
    /// Bytes sent by all peers.
    pub bytes_total: u64,
    /// Bytes sent by the busiest peer.
    pub bytes_max_peer: u64,
    /// Bytes that a peer sends on average.
    pub bytes_mean_peer: f64,
    /// Of numbers: the part of the variance captured by the exact leading eigenvectors that is captured.
    pub captured_variance: Option<f64>,
    /// Of numbers: the part of all variance that is captured.
    pub explained_ratio: Option<f64>,
    /// Of ratings: how well those kept aside are predicted.
    pub rmse: PredictionErrors,
    /// Of sessions that tolerate losses: what they charged and cost.
    pub losses: Losses,
    /// Of recommendations: how good the lists are.
    pub lists: ListQuality,
}

/// What a session that tolerates losses charged, and what its execution cost; nothing for all others.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Losses {
    /// ε planned for the tries that there were, whoever was lost.
    pub epsilon_planned: Option<f64>,
    /// ε of the execution that took place: a diagnostic.
    pub epsilon_realised: Option<f64>,
    /// How many take part in the last sum.
    pub participants: Option<f64>,
    /// How many tries were charged anew.
    pub retries: Option<f64>,
}

impl Losses {
    /// Those of a run.
    pub(super) fn of(summary: &FaultsSummary) -> Self {
        let last = summary.releases.last();
        Self {
            epsilon_planned: summary.epsilon.map(|epsilon| epsilon.planned),
            epsilon_realised: summary.epsilon.map(|epsilon| epsilon.realised),
            participants: last.map(|release| release.participants as f64),
            retries: Some(f64::from(summary.retries_spent)),
        }
    }
}

/// What is measured of a run against the data, beside what it counts itself.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Figures {
    pub(super) utility: Utility,
    pub(super) rmse: PredictionErrors,
    pub(super) lists: ListQuality,
    pub(super) losses: Losses,
}

/// How many held-out interactions the users' lists find again; nothing where runs are not measured by lists.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct ListQuality {
    /// Of this run.
    pub this_run: Option<RankingQuality>,
    /// Of the most popular unseen items for everybody.
    pub popularity: Option<RankingQuality>,
    /// Of the same method without noise.
    pub non_private: Option<RankingQuality>,
}

/// Root mean squared errors on the ratings kept aside, on the range of ratings; nothing for algorithms that predict none.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct PredictionErrors {
    /// Of this run.
    pub this_run: Option<f64>,
    /// Of the mean of the user's ratings.
    pub user_mean: Option<f64>,
    /// Of that and the mean of each item about it, without noise.
    pub item_means: Option<f64>,
    /// Of the same method without noise.
    pub non_private: Option<f64>,
}

/// Columns of `sweep.csv`, in the order of [`Measures::fields`].
pub(super) const COLUMNS: [&str; 30] = [
    "relative_error",
    "relative_error_non_private",
    "subspace_error",
    "epsilon",
    "epsilon_spent",
    "delta",
    "noise_multiplier",
    "sensitivity_max",
    "disagreement_max",
    "rounds",
    "messages",
    "bytes_total",
    "bytes_max_peer",
    "bytes_mean_peer",
    "captured_variance",
    "explained_ratio",
    "rmse",
    "rmse_user_mean",
    "rmse_item_means",
    "rmse_non_private",
    "epsilon_planned",
    "epsilon_realised",
    "participants",
    "retries",
    "recall",
    "ndcg",
    "recall_popularity",
    "ndcg_popularity",
    "recall_non_private",
    "ndcg_non_private",
];

impl Measures {
    /// The error that a sweep is about: less is better.
    pub(super) fn error(&self, asked: SweptError) -> Option<f64> {
        match asked {
            SweptError::NonPrivate => self.relative_error_non_private,
            SweptError::Exact => self.relative_error,
            SweptError::Variance => self.captured_variance.map(|captured| 1.0 - captured),
            SweptError::Rmse => self.rmse.this_run,
            SweptError::Ndcg => self.lists.this_run.map(|found| 1.0 - found.ndcg),
            SweptError::Recall => self.lists.this_run.map(|found| 1.0 - found.recall),
        }
    }

    /// The measures of a run.
    pub(super) fn of(
        experiment: &Experiment,
        outcome: &Outcome,
        Figures {
            utility,
            rmse,
            lists,
            losses,
        }: Figures,
    ) -> Self {
        let private = experiment.is_private();
        let records = &outcome.records;
        let communication = &outcome.communication;
        Self {
            relative_error: utility.relative_error,
            relative_error_non_private: utility.relative_error_non_private,
            subspace_error: utility.subspace_error,
            epsilon: private.then_some(experiment.config().privacy.epsilon),
            epsilon_spent: private.then_some(experiment.noise().epsilon()).flatten(),
            delta: experiment.config().privacy.delta(),
            noise_multiplier: private.then_some(experiment.calibrated().z()),
            sensitivity_max: records.iter().map(|r| r.sensitivity).fold(0.0, f64::max),
            disagreement_max: records
                .iter()
                .filter_map(|r| r.consensus.map(|c| c.disagreement))
                .reduce(f64::max),
            rounds: communication.rounds.iter().copied().map(u64::from).sum(),
            messages: communication.messages,
            bytes_total: communication.bytes_total,
            bytes_max_peer: communication.bytes_max_peer,
            bytes_mean_peer: communication.bytes_mean_peer,
            captured_variance: utility.captured_variance,
            explained_ratio: utility.explained_ratio,
            rmse,
            losses,
            lists,
        }
    }

    /// One field per column. Numbers are the shortest that read back as the same; nothing is an empty field.
    pub(super) fn fields(&self) -> Vec<String> {
        let or_empty = |value: Option<f64>| value.map_or_else(String::new, number);
        let lists = &self.lists;
        let lists = [lists.this_run, lists.popularity, lists.non_private];
        let of_lists = lists.into_iter().flat_map(|found| {
            let (recall, ndcg) = (found.map(|one| one.recall), found.map(|one| one.ndcg));
            [or_empty(recall), or_empty(ndcg)]
        });
        let mut fields = vec![
            or_empty(self.relative_error),
            or_empty(self.relative_error_non_private),
            or_empty(self.subspace_error),
            or_empty(self.epsilon),
            or_empty(self.epsilon_spent),
            number(self.delta),
            or_empty(self.noise_multiplier),
            number(self.sensitivity_max),
            or_empty(self.disagreement_max),
            self.rounds.to_string(),
            self.messages.to_string(),
            self.bytes_total.to_string(),
            self.bytes_max_peer.to_string(),
            number(self.bytes_mean_peer),
            or_empty(self.captured_variance),
            or_empty(self.explained_ratio),
            or_empty(self.rmse.this_run),
            or_empty(self.rmse.user_mean),
            or_empty(self.rmse.item_means),
            or_empty(self.rmse.non_private),
            or_empty(self.losses.epsilon_planned),
            or_empty(self.losses.epsilon_realised),
            or_empty(self.losses.participants),
            or_empty(self.losses.retries),
        ];
        fields.extend(of_lists);
        fields
    }

    /// What [`Self::fields`] wrote; `None` for anything else.
    pub(super) fn parse(fields: &[String]) -> Option<Self> {
        if fields.len() != COLUMNS.len() {
            return None;
        }
        let real = |i: usize| fields[i].parse::<f64>().ok();
        let perhaps = |i: usize| match fields[i].as_str() {
            "" => Some(None),
            text => text.parse::<f64>().ok().map(Some),
        };
        let count = |i: usize| fields[i].parse::<u64>().ok();
        let lists = |i: usize| match (perhaps(i)?, perhaps(i + 1)?) {
            (Some(recall), Some(ndcg)) => Some(Some(RankingQuality { recall, ndcg })),
            (None, None) => Some(None),
            _ => None,
        };
        Some(Self {
            relative_error: perhaps(0)?,
            relative_error_non_private: perhaps(1)?,
            subspace_error: perhaps(2)?,
            epsilon: perhaps(3)?,
            epsilon_spent: perhaps(4)?,
            delta: real(5)?,
            noise_multiplier: perhaps(6)?,
            sensitivity_max: real(7)?,
            disagreement_max: perhaps(8)?,
            rounds: count(9)?,
            messages: count(10)?,
            bytes_total: count(11)?,
            bytes_max_peer: count(12)?,
            bytes_mean_peer: real(13)?,
            captured_variance: perhaps(14)?,
            explained_ratio: perhaps(15)?,
            rmse: PredictionErrors {
                this_run: perhaps(16)?,
                user_mean: perhaps(17)?,
                item_means: perhaps(18)?,
                non_private: perhaps(19)?,
            },
            losses: Losses {
                epsilon_planned: perhaps(20)?,
                epsilon_realised: perhaps(21)?,
                participants: perhaps(22)?,
                retries: perhaps(23)?,
            },
            lists: ListQuality {
                this_run: lists(24)?,
                popularity: lists(26)?,
                non_private: lists(28)?,
            },
        })
    }
}

/// The shortest decimal that reads back as the same number.
pub(super) fn number(value: f64) -> String {
    format!("{value:?}")
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Measures with awkward numbers.
    pub(in crate::campaign::sweep) fn awkward() -> Measures {
        Measures {
            relative_error: Some(0.1 + 0.2),
            relative_error_non_private: None,
            subspace_error: Some(5e-324),
            epsilon: Some(1e300),
            epsilon_spent: Some(f64::MIN_POSITIVE),
            delta: 1e-5,
            noise_multiplier: Some(1.0 / 3.0),
            sensitivity_max: 1.0,
            disagreement_max: None,
            rounds: 0,
            messages: u64::MAX,
            bytes_total: (1 << 53) + 1,
            bytes_max_peer: 7,
            bytes_mean_peer: 2.0 / 3.0,
            captured_variance: Some(0.1),
            explained_ratio: None,
            rmse: PredictionErrors {
                this_run: Some(1.0 + f64::EPSILON),
                user_mean: None,
                item_means: Some(0.7),
                non_private: Some(5e-324),
            },
            losses: Losses {
                epsilon_planned: Some(0.1 + 0.7),
                epsilon_realised: None,
                participants: Some(23.0),
                retries: Some(0.0),
            },
            lists: ListQuality {
                this_run: Some(RankingQuality {
                    recall: 0.1 + 0.7,
                    ndcg: 5e-324,
                }),
                popularity: None,
                non_private: Some(RankingQuality {
                    recall: 1.0 / 3.0,
                    ndcg: 0.0,
                }),
            },
        }
    }

    #[test]
    fn what_is_written_reads_back_bit_for_bit() {
        let fields = awkward().fields();
        assert_eq!(fields.len(), COLUMNS.len());
        assert_eq!(Measures::parse(&fields), Some(awkward()));
        assert_eq!(Measures::parse(&fields[1..]), None);
        let broken = |at: usize, text: &str| {
            let mut fields = fields.clone();
            text.clone_into(&mut fields[at]);
            Measures::parse(&fields)
        };
        assert_eq!(broken(9, "1.5"), None);
        // Recall without NDCG.
        assert_eq!(broken(25, ""), None);
        assert_eq!(broken(26, "0.5"), None);
    }
}
