//! A stand-in for private data, from public quantities and stated assumptions.

use std::collections::BTreeMap;

use nalgebra::DMatrix;
use rand::RngExt;
use rand::distr::Distribution;
use rand_distr::StandardNormal;
use serde::Serialize;

use super::activity;
use super::error::AdviseError;
use super::ground::Ground;
use super::pilot::PilotCounts;
use super::response::Response;
use crate::recommender::LowPassFilter;
use crate::scenario::Experiment;
use crate::vocabulary::{Label, Seed};

/// All that is used of the data besides the degree of every item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct PublicQuantities {
    /// Users.
    pub users: usize,
    /// Items n.
    pub items: usize,
    /// Interactions.
    pub interactions: u64,
}

/// Stand-ins have at most so many items.
pub const MOST_ITEMS: usize = 300;
/// And at most so many users, each of whom then stands for several.
pub const MOST_USERS: usize = 12_000;
/// Directions of taste, unless the rank asks for more.
const TASTES: usize = 32;

/// A guess at data that nobody may look at: user u takes item i with probability 1/(1 + e^−x), where
/// x = a_i + c_u + τ Σ_k √λ_k t_uk f_ik, all t and f independent standard normal, λ_k ∝ k^(−α) with Σ_k λ_k = 1, and a_i
/// such that the item's expected degree is its public one. (Item response theory calls it a logistic model with several traits.)
///
/// c_u says how active a user is: σ times a standard normal number, or, where a pilot counted how many users have how many
/// interactions, such that users have as many as the counts say.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Guess {
    /// τ: standard deviation of x over users and items because of taste.
    pub taste: f64,
    /// α: the variances λ_k of the tastes that users share fall as k^(−α).
    pub decay: f64,
    /// σ: standard deviation of x over users because some are more active; of no effect after a pilot.
    pub spread: f64,
}

impl Guess {
    /// What is assumed unless somebody knows better: weak tastes that fall slowly to strong ones that fall fast, each with users
    /// who are nearly or hardly alike in how active they are; none preferred.
    pub const DEFAULTS: [Self; 16] = {
        let tastes = [(1.0, 1.0), (1.75, 1.0), (1.75, 2.0), (3.0, 2.0)];
        let spreads = [0.6, 1.0, 1.5, 2.2];
        let mut all = [Self::new(0.0, 0.0, 0.0); 16];
        let mut k = 0;
        while k < all.len() {
            let (taste, decay) = tastes[k / spreads.len()];
            all[k] = Self::new(taste, decay, spreads[k % spreads.len()]);
            k += 1;
        }
        all
    };

    /// A guess; [`super::advise`] checks it.
    #[must_use]
    pub const fn new(taste: f64, decay: f64, spread: f64) -> Self {
        Self {
            taste,
            decay,
            spread,
        }
    }

    pub(super) fn check(&self) -> Result<(), AdviseError> {
        let (low, high) = (0.0, 5.0);
        let parts = [
            ("taste", self.taste),
            ("decay", self.decay),
            ("spread", self.spread),
        ];
        for (what, found) in parts {
            if !(low..=high).contains(&found) {
                return Err(AdviseError::Guess {
                    what,
                    low,
                    high,
                    found,
                });
            }
        }
        Ok(())
    }
}

/// Everything a stand-in is made of.
#[derive(Clone, Debug)]
pub(super) struct Public {
    users: usize,
    /// Of the n items, descending.
    degrees: Vec<u32>,
}

impl Public {
    /// The number of users and the item degrees: nothing else of the data is read.
    pub(super) fn of(experiment: &Experiment) -> Self {
        let mut degrees = experiment.interactions().item_degrees();
        degrees.sort_unstable_by(|a, b| b.cmp(a));
        Self {
            users: experiment.interactions().users(),
            degrees,
        }
    }

    pub(super) fn quantities(&self) -> PublicQuantities {
        PublicQuantities {
            users: self.users,
            items: self.degrees.len(),
            interactions: self.degrees.iter().copied().map(u64::from).sum(),
        }
    }

    /// One draw: who takes what, and from that the matrices of all `floors`, exactly as from data.
    ///
    /// Above [`MOST_ITEMS`] items every n/n′-th of the list stands for its neighbours. A user then has a share n′/n of the degree, and
    /// floors are multiplied by as much, which keeps rows of norm 1 and large eigenvalues as they are; the noise is multiplied by
    /// √(n/n′), since a noise matrix of n rows has norm ∝ √n. Above [`MOST_USERS`] users each stands for m/m′, which leaves a little more
    /// chance in the spectrum than m have.
    pub(super) fn stand_in(
        &self,
        guess: Guess,
        pilot: Option<&PilotCounts>,
        reference_floor: u32,
        floors: &[u32],
        rank: usize,
        seed: &Seed,
    ) -> Ground {
        let all = self.degrees.len();
        let n = all.min(MOST_ITEMS.max(2 * rank));
        let users = self.users.clamp(1, MOST_USERS);
        let share = n as f64 / all as f64;
        let tastes = TASTES.max(2 * rank).min(n);
        let rows = self.rows(guess, pilot, (n, users, tastes), seed);
        let each = self.users.max(1) as f64 / users as f64;
        let mut floors = floors.to_vec();
        floors.push(reference_floor);
        floors.sort_unstable();
        floors.dedup();
        let least: Vec<f64> = floors
            .iter()
            .map(|&floor| f64::from(floor) * share)
            .collect();
        let (counts, under) = products(&rows, n, each, &least);
        let matrices: BTreeMap<u32, DMatrix<f64>> = floors.into_iter().zip(under).collect();
        // An item nobody took still has a place in the list.
        let degrees: Vec<f64> = counts.diagonal().iter().map(|c| c.max(0.5)).collect();
        let filter = LowPassFilter::of_gram(&counts, &degrees);
        let reference = matrices[&reference_floor].clone();
        Ground::new(matrices, &reference, rank, filter, share.sqrt().recip())
    }

    /// The items of every user, of n items, users and directions of taste.
    fn rows(
        &self,
        guess: Guess,
        pilot: Option<&PilotCounts>,
        (n, users, tastes): (usize, usize, usize),
        seed: &Seed,
    ) -> Vec<Vec<usize>> {
        let all = self.degrees.len();
        let mut generator = seed.generator(Label::Scenario);
        let mut normal = || -> f64 { StandardNormal.sample(&mut generator) };
        let law = |k: usize| ((k + 1) as f64).powf(-guess.decay);
        let total: f64 = (0..tastes).map(law).sum();
        let loadings = DMatrix::from_fn(n, tastes, |_, k| {
            normal() * guess.taste * (law(k) / total).sqrt()
        });
        let people = DMatrix::from_fn(tastes, users, |_, _| normal());
        let pairs = loadings * people;
        // How many of the users drawn an item's own degree is.
        let drawn = users as f64 / self.users.max(1) as f64;
        let wanted: Vec<f64> = (0..n)
            .map(|i| f64::from(self.degrees[i * all / n]) * drawn)
            .collect();
        let Some(pilot) = pilot else {
            let active = (0..users).map(|_| normal() * guess.spread).collect();
            return Response::with_users(pairs, active, &wanted).independent(&mut generator);
        };
        let share = n as f64 / all as f64;
        let sizes: Vec<usize> = activity::degrees(pilot, self.quantities(), users)
            .into_iter()
            .map(|degree| (degree * share + generator.random::<f64>()).floor() as usize)
            .collect();
        let degrees: Vec<f64> = sizes.iter().map(|&size| size as f64).collect();
        Response::with_degrees(pairs, &degrees, &wanted).of_sizes(&sizes, &mut generator)
    }
}

/// Σ_u r_uᵀr_u, and Σ_u r_uᵀr_u/max(d_u, D) for every one of these ascending D, each user as so many.
///
/// Users with D_k ≤ d_u < D_{k+1} have weight 1/d_u under D_1, …, D_k and 1/D_j under later ones: two sums for every k make all.
fn products(
    rows: &[Vec<usize>],
    n: usize,
    each: f64,
    floors: &[f64],
) -> (DMatrix<f64>, Vec<DMatrix<f64>>) {
    let zero = DMatrix::<f64>::zeros(n, n);
    let classes = floors.len() + 1;
    let (mut counts, mut shares) = (vec![zero.clone(); classes], vec![zero.clone(); classes]);
    for row in rows {
        let degree = row.len() as f64;
        let class = floors.partition_point(|&floor| floor <= degree);
        for &j in row {
            for &i in row {
                counts[class][(i, j)] += each;
                shares[class][(i, j)] += each / degree;
            }
        }
    }
    let under = (0..floors.len()).map(|k| {
        let mut matrix = zero.clone();
        counts[..=k].iter().for_each(|part| matrix += part);
        matrix /= floors[k];
        shares[k + 1..].iter().for_each(|part| matrix += part);
        matrix
    });
    let under = under.collect();
    (
        counts.iter().fold(zero.clone(), |sum, part| sum + part),
        under,
    )
}
