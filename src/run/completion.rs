//! How well ratings that no peer holds are predicted: a measurement on raw data, which no ε covers.

use std::collections::BTreeMap;
use std::sync::Arc;

use rayon::prelude::*;
use serde::Serialize;

use super::outcomes::Outcomes;
use crate::algorithm::{
    AlgorithmTable, Completer, CompleterParts, PublicState, SpectralRidgeTable, has_signal,
};
use crate::engine::{Outcome, Session};
use crate::linalg::{Block, SparseRows};
use crate::protocol::{ReleaseError, kernel};
use crate::scenario::{Experiment, RatingTest};

/// Root mean squared errors of predictions on the ratings kept aside; of `summary.json`. **Not private.**
///
/// Predictions are clipped to the public range of ratings. A figure is null where no rating came to be kept aside.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CompletionSummary {
    /// Of this run: every user predicts with peer 0's public state and the own ratings.
    pub rmse: Option<f64>,
    /// Under a trusted curator; null where that run came to no end.
    pub rmse_central: Option<f64>,
    /// Of predicting the mean of the user's ratings, which costs nothing.
    pub rmse_user_mean: Option<f64>,
    /// Of predicting the user's mean and the mean of each item about it, without noise.
    pub rmse_item_means: Option<f64>,
    /// Of the same method without noise; null where that run came to no end.
    pub rmse_non_private: Option<f64>,
    /// Ratings kept aside.
    pub test_ratings: usize,
    /// Directions that predictions of this run are made of.
    pub directions_kept: usize,
    /// Whether anything released is above its noise; where not, every prediction is the user's own mean.
    pub signal: bool,
    /// The iteration before which the method stopped; null where it made all.
    pub stopped_at: Option<u32>,
}

/// What predictions that need no run are off by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Baselines {
    /// Predicting the user's mean.
    pub user_mean: Option<f64>,
    /// Predicting that and the item's mean about it, without noise.
    pub item_means: Option<f64>,
}

impl CompletionSummary {
    /// What each predicts with, in words, and what it is off by.
    #[must_use]
    pub fn lines(&self) -> [(&'static str, Option<f64>); 5] {
        [
            ("this run", self.rmse),
            ("central baseline", self.rmse_central),
            ("without privacy", self.rmse_non_private),
            ("user and item means, no noise", self.rmse_item_means),
            ("the user's mean", self.rmse_user_mean),
        ]
    }

    /// That of an experiment that predicts ratings; `None` for others.
    #[must_use]
    pub(super) fn of(experiment: &Experiment, session: &Session, runs: &Outcomes) -> Option<Self> {
        let test = experiment.rating_test()?;
        let error = |outcome: Option<&Outcome>| rmse_of(experiment, session, outcome?);
        let ours = completer_of(session, &runs.this_run);
        let Baselines {
            user_mean,
            item_means,
        } = Baselines::of(experiment)?;
        let releases = experiment.releases();
        let next = releases.get(runs.this_run.records.len());
        Some(Self {
            rmse: error(Some(&runs.this_run)),
            rmse_central: error(runs.central.as_ref().ok()),
            rmse_user_mean: user_mean,
            rmse_item_means: item_means,
            rmse_non_private: error(runs.non_private.as_ref().ok()),
            test_ratings: test.ratings().entries(),
            directions_kept: (ours.as_ref()).map_or(0, |ours| ours.parts().directions.columns()),
            signal: ours.is_some_and(|ours| has_signal(ours.as_ref())),
            stopped_at: next.map(|release| release.iteration.0),
        })
    }
}

/// The public state in which peer 0 ended: that of the starting block, advanced by what was released.
///
/// # Errors
/// [`ReleaseError`] for releases that are not those of this session, never for its own.
fn state(session: &Session, outcome: &Outcome) -> Result<PublicState, ReleaseError> {
    let plan = session.plan();
    let start = PublicState::new(Arc::clone(session.start()));
    outcome.records.iter().try_fold(start, |mut state, record| {
        let agrees = plan.release(record.release).is_some_and(|one| one.agrees());
        state.agreed = agrees.then_some(record.statistic);
        kernel::advance(plan, &state, &record.sum, &record.sigmas)
    })
}

/// What predicts ratings after a run; `None` for an algorithm that predicts none.
#[must_use]
pub fn completer_of(session: &Session, outcome: &Outcome) -> Option<Box<dyn Completer>> {
    let state = state(session, outcome).ok()?;
    session.plan().algorithm().completer(&state)
}

/// What a run's predictions of the ratings kept aside are off by.
#[must_use]
pub fn rmse_of(experiment: &Experiment, session: &Session, outcome: &Outcome) -> Option<f64> {
    let completer = completer_of(session, outcome)?;
    let (test, rows) = (experiment.rating_test()?, experiment.samples()?);
    rmse(test, rows, completer.as_ref())
}

impl Baselines {
    /// Those of an experiment that predicts ratings.
    #[must_use]
    pub fn of(experiment: &Experiment) -> Option<Self> {
        let (test, rows) = (experiment.rating_test()?, experiment.samples()?);
        let user_centred = experiment
            .completion()
            .is_none_or(|told| told.rows.user_centred);
        let of = |item_means: Vec<f64>, recentred: bool| {
            let constants = [
                ("residual", 1.0),
                ("recentred", f64::from(u8::from(recentred))),
            ];
            let parts = CompleterParts {
                method: "spectral-ridge".to_owned(),
                directions: Block::zeros(rows.dimension(), 0),
                of_directions: ["eigenvalue", "prior"]
                    .map(|name| (name.to_owned(), Vec::new()))
                    .into(),
                item_means,
                constants: BTreeMap::from(constants.map(|(name, x)| (name.to_owned(), x))),
            };
            SpectralRidgeTable::completer(&parts).ok()?
        };
        let error = |made: Option<Box<dyn Completer>>| rmse(test, rows, made?.as_ref());
        Some(Self {
            user_mean: error(of(Vec::new(), false)),
            item_means: error(of(item_means(rows), user_centred)),
        })
    }
}

/// The mean of every item over the users that rated it, 0 where nobody did.
fn item_means(rows: &SparseRows) -> Vec<f64> {
    let (mut sums, mut counts) = (vec![0.0; rows.dimension()], vec![0.0_f64; rows.dimension()]);
    for user in 0..rows.len() {
        let (items, values) = rows.row(user);
        for (&item, value) in items.iter().zip(values) {
            sums[item as usize] += value;
            counts[item as usize] += 1.0;
        }
    }
    let pairs = sums.iter().zip(&counts);
    pairs.map(|(sum, count)| sum / count.max(1.0)).collect()
}

/// √(mean of (prediction − rating)²) over the ratings kept aside; `rows` are what the peers hold, not shortened. `None` without a
/// rating, or where a prediction is no number.
///
/// Users are predicted side by side and summed in their order: any number of threads gives the same bits.
#[must_use]
pub fn rmse(test: &RatingTest, rows: &SparseRows, completer: &dyn Completer) -> Option<f64> {
    let ratings = test.ratings();
    let of_user = |user: usize| -> f64 {
        let (asked, truth) = ratings.row(user);
        if asked.is_empty() {
            return 0.0;
        }
        let (items, values) = rows.row(user);
        let all = completer.complete(items, values);
        let squares = asked.iter().zip(truth).map(|(&item, rating)| {
            let prediction = test.scale().clip(test.centre(user) + all[item as usize]);
            (prediction - rating).powi(2)
        });
        squares.sum()
    };
    let squares: Vec<f64> = (0..ratings.len()).into_par_iter().map(of_user).collect();
    let error = (squares.iter().sum::<f64>() / ratings.entries() as f64).sqrt();
    error.is_finite().then_some(error)
}
