//! How good the recommendations are that a run's basis gives.

use serde::Serialize;

use super::outcomes::Outcomes;
use super::score_model::{ScoreModel, model_of};
use crate::engine::Outcome;
use crate::linalg::Block;
use crate::recommender::{
    LowPassScorer, Popularity, RankingQuality, RankingTotals, Scorer, SplitCounts, evaluate,
};
use crate::scenario::{Experiment, HeldOut};

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

/// What the lists of an experiment are compared with.
struct Lists<'a> {
    experiment: &'a Experiment,
    held_out: &'a HeldOut,
}

impl<'a> Lists<'a> {
    /// Those of this experiment; `None` where it holds no interactions out.
    ///
    /// # Errors
    /// A reason, where nobody came to have a held-out interaction.
    fn of(experiment: &'a Experiment) -> Option<Result<Self, &'static str>> {
        if experiment.rating_test().is_some() {
            // Ratings are kept aside to be predicted, and not for rankings.
            return None;
        }
        let held_out = experiment.held_out()?;
        Some(match held_out.counts.test_users {
            0 => Err(NOBODY),
            _ => Ok(Self {
                experiment,
                held_out,
            }),
        })
    }

    fn measured(&self, scorer: &dyn Scorer) -> RankingTotals {
        let top = self.experiment.config().evaluation.top;
        evaluate(
            scorer,
            self.experiment.catalogue(),
            &self.held_out.test,
            top,
        )
    }

    fn by_basis(&self, basis: &Block) -> RankingTotals {
        let weights = self.experiment.filter_weights();
        let scorer = LowPassScorer::weighted(basis, &weights);
        self.measured(&scorer.expect("a run's basis has a row per item"))
    }

    fn by_model(&self, model: &ScoreModel) -> RankingTotals {
        let scorer = model.scorer().expect("a run's numbers fit together");
        self.measured(&scorer.for_many())
    }

    /// By what this outcome recommends with: its Gram matrix, or its basis.
    fn by_outcome(&self, outcome: &Outcome) -> Option<RankingTotals> {
        match model_of(self.experiment, outcome) {
            Some(model) => Some(self.by_model(&ScoreModel::of(self.experiment, &model)?)),
            None => Some(self.by_basis(outcome.basis())),
        }
    }

    fn popularity(&self) -> RankingQuality {
        let degrees = self.experiment.catalogue().item_degrees();
        self.measured(&Popularity::new(&degrees)).quality
    }

    /// The summary of a run whose Gram matrix recommends, over the whole catalogue.
    fn of_models(&self, outcomes: &Outcomes, ours: &ScoreModel) -> RecommendationSummary {
        let quality = |one: &Result<Outcome, _>| Some(self.by_outcome(one.as_ref().ok()?)?.quality);
        let compared = [&outcomes.central, &outcomes.non_private].map(quality);
        self.summary(self.by_model(ours), compared, None)
    }

    /// The summary of a run whose basis recommends.
    fn of_bases(&self, outcomes: &Outcomes, exact: Option<&Block>) -> RecommendationSummary {
        let ours = outcomes.this_run.basis();
        let compared = outcomes.compared_bases();
        let mut known: Vec<(&Block, RankingTotals)> = Vec::new();
        // Without noise the three runs are one: its lists are not ranked three times.
        for basis in [Some(ours), compared[0], compared[1], exact]
            .into_iter()
            .flatten()
        {
            if !known.iter().any(|(other, _)| *other == basis) {
                known.push((basis, self.by_basis(basis)));
            }
        }
        let find = |basis: &Block| {
            let found = known.iter().find(|(other, _)| *other == basis);
            found.expect("measured above").1
        };
        let quality = |basis: Option<&Block>| basis.map(|basis| find(basis).quality);
        self.summary(find(ours), compared.map(quality), quality(exact))
    }

    fn summary(
        &self,
        this_run: RankingTotals,
        [central, non_private]: [Option<RankingQuality>; 2],
        exact: Option<RankingQuality>,
    ) -> RecommendationSummary {
        let popularity = self.popularity();
        RecommendationSummary {
            warning: worse_than_popularity(&this_run, popularity),
            this_run,
            central,
            non_private,
            exact,
            popularity,
            held_out: self.held_out.counts,
        }
    }
}

/// How good the lists are that this outcome gives, by its Gram matrix where that recommends and by its basis elsewhere; `None` where nobody
/// has a held-out interaction.
///
/// # Panics
/// Never for outcomes of this experiment, whose numbers fit together.
#[must_use]
pub fn quality_of(experiment: &Experiment, outcome: &Outcome) -> Option<RankingQuality> {
    let lists = Lists::of(experiment)?.ok()?;
    Some(lists.by_outcome(outcome)?.quality)
}

/// The same of recommending everybody the most popular unseen items.
#[must_use]
pub fn quality_of_popularity(experiment: &Experiment) -> Option<RankingQuality> {
    Some(Lists::of(experiment)?.ok()?.popularity())
}

impl RecommendationSummary {
    /// Measures the recommendations of a run, of its comparisons and of the exact eigenvectors, by `ours` and its like where Gram matrices recommend;
    /// `None` where the experiment holds nothing out.
    ///
    /// # Errors
    /// A reason, where nobody came to have a held-out interaction. That depends on the raw data, so it is no error of the
    /// run.
    ///
    /// # Panics
    /// Never for outcomes of runs, whose numbers fit together.
    pub(super) fn of(
        experiment: &Experiment,
        outcomes: &Outcomes,
        ours: Option<&ScoreModel>,
        exact: Option<&Block>,
    ) -> Option<Result<Self, &'static str>> {
        let lists = Lists::of(experiment)?;
        Some(lists.map(|lists| match ours {
            Some(ours) => lists.of_models(outcomes, ours),
            None => lists.of_bases(outcomes, exact),
        }))
    }
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
}
