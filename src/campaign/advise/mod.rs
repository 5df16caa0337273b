//! Which algorithm, block, iterations, degree floor and averaging scheme to use for a privacy budget and a budget of bytes for the
//! busiest peer.
//!
//! Without a pilot nothing private is looked at: the advice is a function of the configuration, the graph, the number of users and the item
//! degrees, which P1 treats as public. What it has to guess (how strong tastes are, how active users are) is stated as
//! [`Guess`]es and drawn as stand-ins for the data; every candidate then runs on stand-ins, by the
//! real algorithms under a curator with the noise of the real plan, and its errors predict the real one. The averaging
//! scheme moves neither noise nor error, since the accounting lets everybody see everything: so each algorithm runs once per stand-in,
//! and the schemes differ in bytes alone, counted from their compiled programs.
//!
//! A pilot (`PilotCounts`) replaces what is guessed of how active users are, which is what a degree floor depends on most: users of stand-ins
//! then have as many interactions as it counted. And it says of every item how light its users are, which decides what a floor leaves of those:
//! users with one interaction who share one item are the whole of an eigenvector under floor 1, and nothing under floor 50. How much of that is noise is estimated from all items
//! together; and since a difference that fits all users may not hold for the lightest, every second stand-in has none. The advice is a
//! function of its noisy outputs and of public numbers, so that nothing but the pilot's own release is to be accounted for.
//!
//! Floors are root floors ([`root_floored_rows`](crate::data::Interactions::root_floored_rows)) wherever these have a proof.
//!
//! # How good it is
//! Error of what is advised over that of the best candidate with all of the budget, ε from 0.3 to 10, ranks 4, 8 and 16, three byte limits each (2026-11-23). After a pilot of
//! 5 % what is advised runs with the other 95 %. All runs of candidates have common noise and starts. The sets were held out: parts of Gowalla, Jester, MovieLens, digits, breast cancer,
//! ego-Facebook and Oregon that nobody had looked at, of 30 to 100 items.
//!
//! | cases | pilot | mean | 95th percentile | worst |
//! | --- | --- | --- | --- | --- |
//! | 84 | no | 1.030 | 1.158 | 1.573 |
//! | 84 | yes | 1.037 | 1.141 | 1.596 |
//!
//! Set by set, with three sets that rules were chosen on, and runs before it under other rules, of which one is worse by far: `benches/RESULTS.md`. Without a pilot it is data of tight groups that misleads: the whole of ego-Facebook at
//! ε = 1 had up to 20.9 times the least error before there were margins, after a pilot 1.00. With one, floors can still be too low on data like Jester's (ε = 10: 1.5 times the least error), where light users
//! differ from the others and yet cost little to weigh less. Since margins are released with the matrix where that is best (`raked-covariance`), floors decide less, and a pilot buys less: in these cases no more than it costs. **At rank 4 either can be off**: how fast block Krylov converges there is decided by gaps of the spectrum that nothing public and no count knows
//! (100 items of Gowalla, ε = 1, a set that rules were chosen on: 1.3 times).
//! The tests beside this module measure all of it again; sets that are held out are named there.
//!
//! # What was tried and is not done
//! On seven sets, with tables of every candidate's error under each guess (2026-11-22), under floors that were no root floors and without shares of items:
//!
//! - Guesses with tight groups of users and items, with tastes that change with how active users are, with light users whose tastes are weaker, flatter and stronger
//!   tastes: none of them advises floors of 2 to 5 on Gowalla at rank 4 or 2 on ego-Facebook. After a pilot groups change 13 of 63 cases above 1.10 to 12, tastes that
//!   change with activity add some; without one the latter take 13 to 8 and leave the worst as it is.
//! - The middle of the range of floors that are within 3 to 15 % of the least score instead of the least: as many cases above 1.10.
//! - A start from popularity in every candidate: errors of block Krylov with b = rank fall by up to 30 %, and ratios stay (Gowalla, rank 4, ε = 10: 1.56).
//!
//! On 6 to 14 cells of development sets, under root floors and with shares of items (2026-11-23):
//!
//! - Guesses without a pilot in which light users like other items (log-odds that rise with how light a user is, by 1 or 2 in standard deviation over items): 11 of 18 cases above 1.10 with them and without.
//! - The guesses of no pilot beside those of a pilot: 10 to 13 of 39 cases above 1.10 instead of 7. The next floor up where its score is within 3 to 15 %: 6 to 8.
//! - Shares scaled to the sum that the counts say: the same choices (Jester).
//! - Users who saw more as further stand-ins after a pilot (a NumPy copy, four sets): where the matrix is released, floors on Jester fall further.
//! - Slopes of standard deviation 0.3 beforehand, and slopes that follow popularity (a NumPy copy): better on Jester at ε = 1, up to 1.9 times the least error on MovieLens at ε = 10.
//!
//! In NumPy copies, on 7 to 20 cells of rank 4 after a pilot (2026-11-23):
//!
//! - A fixed variance of slopes, or no slopes: up to 2.2 and 4.0 times the least error; an estimated variance in all stand-ins 1.137 in the mean, in every second one 1.114.
//! - Slopes drawn from what is known of them instead of the most likely ones: as good at most.
//! - Slopes of lightness cut off at 1.5 standard deviations, of log d, of ranks: within the chance of 12 stand-ins.
//! - The strongest taste along the slopes: floors on Jester fall further (1.36 times the least error instead of 1.17).
//! - The mean, the largest, the median, the upper fifth and powers of ratios instead of the score: 1.09 to 1.14 where the score has 1.10.
//!
//! Without a pilot, on the tables of 120 cases (2026-11-23; `benches/RESULTS.md` has them rule by rule):
//!
//! - With the algorithm and block that are advised and the best floor for them: 1.001 in the mean, 1.052 at worst. All that is lost is lost by the floor.
//! - The mean, the largest, the largest difference, the upper fifth, the median of ratios: 1.048 to 1.055 in the mean where the score has 1.053, and 2.400 at worst with each.
//! - The lowest floor within 2 % of the least score: better on one part of Gowalla (1.18 to 1.04) and ego-Facebook (1.13 to 1.12), worse on six sets of ten. Floors bounded by the mean degree: up to 1.15 in the
//!   mean where the bound is low enough to move the worst case.
//! - Two sets that are predicted alike have best floors of 1 and 7; whichever is taken for both, one has 2.0 times the least error. A pilot tells them apart.
//!
//! In NumPy copies, of the raked matrix on fourteen sets (2026-11-24; `benches/RESULTS.md` has the tables):
//!
//! - Stand-ins whose pairs of items are as far from independence as those of the data, which a pilot could measure (on ego-Facebook 7 to 51 times as far as stand-ins): 1.07 to 1.09 in the mean instead of 1.06, by
//!   tastes and by groups alike.
//! - A matrix under three floors with 15 % of μ², and the rest under the floor that their differences advise: with the best floor little is lost, but 5 % each cannot tell which that is (1.20 in the mean). Where two
//!   floors are equally good, the bias of one has as much energy as the noise of the whole budget, and a part of 5 % has twenty times that as noise.
//!
//! In NumPy copies of this module, on MovieLens, Jester and Gowalla (2026-11-22):
//!
//! - A second block of the pilot about the spectrum. With the degrees known, eigenvalues of stand-ins are within a factor of 1.5 of the
//!   truth, and on Jester the taste that has the second eigenvalue right chooses floors worse than weaker ones do: what decides is how far
//!   those who interact little differ from the others.
//! - Users who are active because they saw more items rather than because they like more (a share of items hidden at random, in whole
//!   or by the square root): floors with up to 3.3 times the least error on ten copies of MovieLens and 2.0 on Jester, where the logistic model has
//!   1.3 and 1.2.
//! - One order of items for all users in the systematic sample: neighbours in it then never go together, which makes users with few
//!   interactions look unlike the others and floors too low.
//! - The power method: never better than block Krylov with as many bytes by more than 5 %, in 40 comparisons of the means of 15 to 24 runs. The packed
//!   triangle: where the isometric one has a proof that has at most as much noise off the diagonal; on Jester and
//!   MovieLens its error is 0 to 8 % less, most where floors are low.

mod activity;
mod candidates;
mod choice;
mod error;
mod ground;
mod pilot;
mod public;
mod response;
mod schemes;
mod slopes;
mod stand_in;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;
use serde::Serialize;

use self::candidates::{Proposal, settings};
use self::choice::choose;
use self::ground::{Draw, Ground};
use self::public::PublicQuantities;
use self::schemes::{Scheme, schemes};
use crate::config::{AnyAlgorithmTable, AveragingConfig};
use crate::privacy::SensitivityRule;
use crate::protocol::averaging::Traffic;
use crate::scenario::Experiment;
use crate::vocabulary::{Distribution, Seed};

pub use self::error::AdviseError;
pub use self::stand_in::Guess;

pub(crate) use self::pilot::{PilotCounts, PilotCountsError};
#[cfg(feature = "cli")]
pub(crate) use self::stand_in::MOST_ITEMS;

/// Stand-ins that are drawn at least, as many for every guess.
const STAND_INS: usize = 16;
/// Runs of every candidate on each.
const FEW: usize = 1;
/// Runs of those that after these are so near the best that sends as little.
const RUNS: usize = 3;
/// How near.
const NEAR: f64 = 1.1;

/// What to advise for.
#[derive(Clone, Debug, PartialEq)]
pub struct AdviseOptions {
    /// The most bytes the busiest peer may send; no limit where absent.
    pub bytes: Option<u64>,
    /// What is assumed of the data, none preferred.
    pub guesses: Vec<Guess>,
    /// What a pilot measured.
    pub pilot: Option<PilotCounts>,
}

impl Default for AdviseOptions {
    fn default() -> Self {
        Self {
            bytes: None,
            guesses: Guess::DEFAULTS.to_vec(),
            pilot: None,
        }
    }
}

/// One candidate and what is predicted of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Candidate {
    /// A short name, such as `krylov over tree, L = 3, b = 16, D = 20`.
    pub name: String,
    /// Keys of `[algorithm]`.
    pub algorithm: AnyAlgorithmTable,
    /// Keys of `[averaging]`.
    pub averaging: AveragingConfig,
    /// `data.degree_floor`.
    pub degree_floor: u32,
    /// `privacy.sensitivity`, which says whether it is a root floor.
    pub sensitivity: SensitivityRule,
    /// Predicted relative error of the low-pass filtered ratings against the exact eigenvectors; null where the budget
    /// rules the candidate out.
    pub predicted_error: Option<f64>,
    /// The same under each guess alone, in their order; empty where the budget rules the candidate out.
    pub predicted_by_guess: Vec<f64>,
    /// Predicted error on each stand-in, as many for every guess in their order. Empty where the budget rules the candidate out, and where a first run was
    /// far above the best that sends as little: such a candidate is not chosen.
    pub predicted_by_stand_in: Vec<f64>,
    /// Bytes that the busiest peer sends.
    pub bytes_max_peer: u64,
    /// Bytes that a peer sends on average.
    pub bytes_mean_peer: f64,
    /// Whether no candidate is both better and cheaper.
    pub on_frontier: bool,
}

/// Advice, with everything it rests on.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AlgorithmAdvice {
    /// Within the budget the one that is least above the best on all stand-ins, over the scheme that sends least.
    pub recommended: Candidate,
    /// All of them, least predicted error first, those over budget last.
    pub candidates: Vec<Candidate>,
    /// Candidates that cannot be run on this experiment, and why.
    pub refused: Vec<(String, String)>,
    /// The most bytes that the busiest peer may send.
    pub bytes: Option<u64>,
    /// ε.
    pub epsilon: f64,
    /// Degree floor of the matrix whose eigenvectors are wanted: `evaluation.reference_floor`, or 1.
    pub reference_floor: u32,
    /// What was assumed.
    pub guesses: Vec<Guess>,
    /// What was used of the data: users, items and the sum of item degrees.
    pub public: PublicQuantities,
}

/// Advises for this experiment, its ε, δ, adjacency, sensitivity rule, noise scheme and graph. Its algorithm's rank is
/// kept; its block, iterations and degree floor are not. Its averaging is one of several: beside it stand Chebyshev gossip and every
/// exact scheme that its graph allows.
///
/// Bytes are those of a decentralised engine on the experiment's graph, whatever `engine.kind` is.
///
/// # Errors
/// [`AdviseError`] for guesses out of range, a budget that nothing fits, or nothing that can be run.
pub fn advise(
    experiment: &Experiment,
    options: &AdviseOptions,
    progress: &(dyn Fn(u64, u64) + Sync),
) -> Result<AlgorithmAdvice, AdviseError> {
    if experiment.samples().is_some() {
        return Err(AdviseError::Numbers);
    }
    if experiment.config().noise.distribution != Distribution::Gaussian {
        return Err(AdviseError::Laplace);
    }
    if !experiment.config().algorithm.weights().source.is_none() {
        return Err(AdviseError::Preconditioned);
    }
    if experiment.config().recommender.is_some() {
        return Err(AdviseError::Recommender);
    }
    if experiment.config().hides_users() {
        return Err(AdviseError::HiddenUsers);
    }
    if options.guesses.is_empty() {
        return Err(AdviseError::NoGuess);
    }
    options.guesses.iter().try_for_each(Guess::check)?;
    let items = experiment.user_rows().dimension();
    let shares = options.pilot.iter().map(|pilot| pilot.shares().len());
    if let Some(found) = shares
        .into_iter()
        .find(|&found| found != 0 && found != items)
    {
        return Err(AdviseError::Shares { found, items });
    }
    let reference_floor = reference_floor(experiment);
    let (all, mut refused) = settings(experiment);
    let (schemes, without) = schemes(experiment);
    refused.extend(without);
    let fits = |bytes: u64| options.bytes.is_none_or(|most| bytes <= most);
    let sent: Vec<Vec<Traffic>> = all
        .iter()
        .map(|setting| {
            let over = schemes.iter();
            over.map(|scheme| scheme.traffic(experiment, setting))
                .collect()
        })
        .collect();
    let busiest = |traffic: &Traffic| traffic.bytes.bytes_max_peer;
    let pairs = || {
        let rows = all.iter().zip(&sent);
        rows.flat_map(|(setting, row)| {
            let row = schemes.iter().zip(row);
            row.map(move |(scheme, traffic)| (setting, scheme, traffic))
        })
    };
    let Some((setting, scheme, least)) = pairs().min_by_key(|(.., traffic)| busiest(traffic))
    else {
        let first = refused.into_iter().next();
        return Err(AdviseError::NoCandidate(
            first.map_or_else(String::new, |(_, why)| why),
        ));
    };
    if let Some(budget) = options.bytes.filter(|budget| busiest(least) > *budget) {
        return Err(AdviseError::Budget {
            budget,
            cheapest: setting.name(scheme.averaging.scheme.name()),
            least: busiest(least),
        });
    }
    let public = stand_in::Public::of(experiment);
    let guesses = told_apart(&options.guesses, options.pilot.is_some());
    // An algorithm runs if some scheme can afford it.
    let cheapest: Vec<u64> = sent
        .iter()
        .map(|row| row.iter().map(busiest).min().unwrap_or(u64::MAX))
        .collect();
    let mut within: Vec<usize> = (0..all.len()).filter(|&at| fits(cheapest[at])).collect();
    within.sort_by_key(|&at| cheapest[at]);
    let predicted = predictions(
        experiment,
        &public,
        (&guesses, options.pilot.as_ref()),
        &all,
        (&within, &cheapest),
        progress,
    );
    let mut candidates: Vec<Candidate> = pairs()
        .zip(
            predicted
                .iter()
                .flat_map(|errors| std::iter::repeat_n(errors, schemes.len())),
        )
        .map(|((setting, scheme, traffic), errors)| {
            let errors = errors.as_ref().filter(|_| fits(busiest(traffic)));
            candidate(setting, scheme, traffic, errors, guesses.len())
        })
        .collect();
    let rank = |candidate: &Candidate| candidate.predicted_error.unwrap_or(f64::INFINITY);
    candidates.sort_by(|a, b| {
        rank(a)
            .total_cmp(&rank(b))
            .then(a.bytes_max_peer.cmp(&b.bytes_max_peer))
    });
    let mut least = u64::MAX;
    for candidate in &mut candidates {
        candidate.on_frontier =
            candidate.predicted_error.is_some() && candidate.bytes_max_peer < least;
        if candidate.on_frontier {
            least = candidate.bytes_max_peer;
        }
    }
    // Counts of a pilot that are all noise are those of no rows, of which nothing can be predicted. The budget is spent by then, so that there
    // is a choice whatever was counted: what sends least.
    let cheapest = candidates.first();
    let cheapest = cheapest.filter(|one| options.pilot.is_some() && fits(one.bytes_max_peer));
    let recommended = choose(&candidates, None)
        .or(cheapest)
        .cloned()
        .ok_or_else(|| AdviseError::NoCandidate("every run on the stand-ins failed".to_owned()))?;
    Ok(AlgorithmAdvice {
        recommended,
        candidates,
        refused,
        bytes: options.bytes,
        epsilon: experiment.config().privacy.epsilon,
        reference_floor,
        guesses,
        public: public.quantities(),
    })
}

fn candidate(
    setting: &Proposal,
    scheme: &Scheme,
    traffic: &Traffic,
    predicted: Option<&Predicted>,
    guesses: usize,
) -> Candidate {
    let errors = predicted.map_or(&[][..], |predicted| &predicted.errors);
    let each = errors.len().div_ceil(guesses).max(1);
    let near = predicted.filter(|predicted| predicted.near);
    Candidate {
        name: setting.name(scheme.averaging.scheme.name()),
        algorithm: setting.algorithm,
        averaging: scheme.averaging.clone(),
        degree_floor: setting.floor,
        sensitivity: setting.rule,
        predicted_error: predicted.map(|predicted| geometric_mean(&predicted.errors)),
        predicted_by_guess: errors.chunks(each).map(geometric_mean).collect(),
        predicted_by_stand_in: near.map_or_else(Vec::new, |near| near.errors.clone()),
        bytes_max_peer: traffic.bytes.bytes_max_peer,
        bytes_mean_peer: traffic.bytes.bytes_mean_peer,
        on_frontier: false,
    }
}

fn geometric_mean(errors: &[f64]) -> f64 {
    let sum: f64 = errors.iter().map(|error| libm::log(*error)).sum();
    libm::exp(sum / errors.len() as f64)
}

/// The guesses that differ; after a pilot how active users are is no guess.
fn told_apart(guesses: &[Guess], piloted: bool) -> Vec<Guess> {
    let key = |guess: &Guess| {
        (
            guess.taste,
            guess.decay,
            if piloted { 0.0 } else { guess.spread },
        )
    };
    let mut kept: Vec<Guess> = Vec::new();
    for guess in guesses {
        if kept.iter().all(|other| key(other) != key(guess)) {
            kept.push(*guess);
        }
    }
    kept
}

/// What is predicted of a setting.
#[derive(Debug)]
struct Predicted {
    /// Its mean errors, stand-in by stand-in, guess after guess.
    errors: Vec<f64>,
    /// Whether [`FEW`] runs were [`NEAR`] those of the best that sends as little, so that these are means of [`RUNS`].
    near: bool,
}

/// The settings named `within`, which ascend in the bytes that they send, on stand-ins; `None` for the others and where a run failed.
fn predictions(
    experiment: &Experiment,
    public: &stand_in::Public,
    (guesses, pilot): (&[Guess], Option<&PilotCounts>),
    all: &[Proposal],
    (within, bytes): (&[usize], &[u64]),
    progress: &(dyn Fn(u64, u64) + Sync),
) -> Vec<Option<Predicted>> {
    let root = Seed::from_u64(0);
    let reference_floor = reference_floor(experiment);
    let floors: Vec<u32> = all.iter().map(|setting| setting.floor).collect();
    let rooted = candidates::rule(experiment.config()) == SensitivityRule::RootFloor;
    let each = STAND_INS.div_ceil(guesses.len());
    let drawn: Vec<(Guess, Seed)> = guesses
        .iter()
        .flat_map(|&guess| std::iter::repeat_n(guess, each))
        .zip(0..)
        .map(|(guess, number)| (guess, root.repetition(number)))
        .collect();
    // What a slope that fits all users together says of the lightest ones is uncertain: every second stand-in goes without.
    let counts = pilot.map(PilotCounts::without_shares);
    let pilots = [pilot, counts.as_ref()].into_iter().cycle();
    let total = (drawn.len() * (within.len() + 1)) as u64;
    let done = AtomicU64::new(0);
    let advance = || progress(done.fetch_add(1, Ordering::Relaxed) + 1, total);
    let rank = experiment.config().algorithm.table().rank();
    let with: Vec<_> = drawn.iter().zip(pilots).collect();
    let grounds: Vec<(Ground, Vec<Draw>)> = with
        .par_iter()
        .map(|((guess, seed), pilot)| {
            let floors = (&floors[..], rooted);
            let ground = public.stand_in(*guess, *pilot, reference_floor, floors, rank, seed);
            let draws = (0..RUNS as u32).map(|run| ground.draw(all, &seed.repetition(run)));
            let draws = draws.collect();
            advance();
            (ground, draws)
        })
        .collect();
    // Of every setting the sum of the errors of some runs, stand-in by stand-in.
    let run = |which: &[usize], runs: std::ops::Range<usize>| -> Vec<Option<Vec<f64>>> {
        let of = |&at: &usize| {
            let one = |(ground, draws): &(Ground, Vec<Draw>)| {
                let draws = draws[runs.clone()].iter();
                let errors = draws.map(|draw| ground.error(&all[at], draw));
                let sum: Option<f64> = errors.sum();
                if runs.start == 0 {
                    advance();
                }
                sum
            };
            grounds.iter().map(one).collect()
        };
        which.par_iter().map(of).collect()
    };
    let mut first = run(within, 0..FEW);
    let mean = |sums: &Option<Vec<f64>>| sums.as_deref().map_or(f64::INFINITY, geometric_mean);
    let (mut best, mut near) = (f64::INFINITY, Vec::<usize>::new());
    let places: Vec<usize> = (0..within.len()).collect();
    for equal in places.chunk_by(|a, b| bytes[within[*a]] == bytes[within[*b]]) {
        let means = equal.iter().map(|&place| mean(&first[place]));
        best = means.fold(best, f64::min);
        near.extend(
            equal
                .iter()
                .filter(|&&place| mean(&first[place]) <= NEAR * best),
        );
    }
    let again: Vec<usize> = near.iter().map(|&place| within[place]).collect();
    let mut more: BTreeMap<usize, _> = near.into_iter().zip(run(&again, FEW..RUNS)).collect();
    let mut predicted: Vec<Option<Predicted>> = all.iter().map(|_| None).collect();
    for ((place, &at), sums) in within.iter().enumerate().zip(&mut first) {
        let (sums, more) = (sums.take(), more.remove(&place));
        let near = more.is_some();
        let both = match more {
            Some(more) => sums.zip(more).map(|(sums, more)| {
                let both = sums.iter().zip(more);
                both.map(|(sum, more)| (sum + more) / RUNS as f64).collect()
            }),
            None => sums.map(|sums| sums.iter().map(|sum| sum / FEW as f64).collect()),
        };
        predicted[at] = both.map(|errors| Predicted { errors, near });
    }
    predicted
}

fn reference_floor(experiment: &Experiment) -> u32 {
    experiment.config().evaluation.reference_floor.unwrap_or(1)
}
