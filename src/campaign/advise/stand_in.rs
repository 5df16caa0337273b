//! A stand-in for private data, from public quantities and stated assumptions.

use std::collections::BTreeMap;

use nalgebra::DMatrix;
use rand::RngExt;
use rand::distr::Distribution;
use rand_distr::StandardNormal;
use serde::Serialize;

use super::ground::Ground;
use super::{AdviseError, PublicQuantities};
use crate::recommender::LowPassFilter;
use crate::scenario::Experiment;
use crate::vocabulary::{Label, Seed};

/// Stand-ins have at most so many items.
pub const MOST_ITEMS: usize = 300;
/// And at most so many users, each of whom then stands for several.
pub const MOST_USERS: usize = 6000;
/// Directions of taste, unless the rank asks for more.
const TASTES: usize = 32;

/// A guess at data that nobody may look at: user u takes item i with probability 1/(1 + e^−x), where
/// x = a_i + σ g_u + τ Σ_k √λ_k t_uk f_ik, all of g, t and f independent standard normal, λ_k ∝ k^(−α) with Σ_k λ_k = 1, and a_i
/// such that the item's expected degree is its public one. (Item response theory calls it a logistic model with several traits.)
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Guess {
    /// τ: standard deviation of x over users and items because of taste.
    pub taste: f64,
    /// α: the variances λ_k of the tastes that users share fall as k^(−α).
    pub decay: f64,
    /// σ: standard deviation of x over users because some are more active.
    pub spread: f64,
}

impl Guess {
    /// What is assumed unless somebody knows better: weak tastes that fall slowly, weak ones that fall fast, strong ones; none
    /// preferred. Fitted to MovieLens and Jester, as [`super`] says.
    pub const DEFAULTS: [Self; 3] = [
        Self::new(1.5, 1.0, 1.5),
        Self::new(1.5, 2.0, 1.5),
        Self::new(3.5, 2.0, 1.25),
    ];

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
        reference_floor: u32,
        floors: &[u32],
        rank: usize,
        seed: &Seed,
    ) -> Ground {
        let all = self.degrees.len();
        let n = all.min(MOST_ITEMS.max(2 * rank));
        let users = self.users.clamp(1, MOST_USERS);
        let rows = self.rows(guess, n, users, TASTES.max(2 * rank).min(n), seed);
        let each = self.users.max(1) as f64 / users as f64;
        let mut floors = floors.to_vec();
        floors.push(reference_floor);
        floors.sort_unstable();
        floors.dedup();
        let share = n as f64 / all as f64;
        let matrices: BTreeMap<u32, DMatrix<f64>> = floors
            .into_iter()
            .map(|floor| {
                let least = f64::from(floor) * share;
                (floor, products(&rows, n, |degree| each / degree.max(least)))
            })
            .collect();
        let counts = products(&rows, n, |_| each);
        // An item nobody took still has a place in the list.
        let degrees: Vec<f64> = counts.diagonal().iter().map(|c| c.max(0.5)).collect();
        let filter = LowPassFilter::of_gram(&counts, &degrees);
        let reference = matrices[&reference_floor].clone();
        Ground::new(matrices, &reference, rank, filter, share.sqrt().recip())
    }

    /// The items of every user.
    fn rows(
        &self,
        guess: Guess,
        n: usize,
        users: usize,
        tastes: usize,
        seed: &Seed,
    ) -> Vec<Vec<usize>> {
        let all = self.degrees.len();
        let mut generator = seed.generator(Label::Scenario);
        let mut normal = || -> f64 { StandardNormal.sample(&mut generator) };
        let law = |k: usize| ((k + 1) as f64).powf(-guess.decay);
        let total: f64 = (0..tastes).map(law).sum();
        let loadings = DMatrix::from_fn(tastes, n, |k, _| {
            normal() * guess.taste * (law(k) / total).sqrt()
        });
        let people = DMatrix::from_fn(users, tastes, |_, _| normal());
        let mut logits = people * loadings;
        for mut row in logits.row_iter_mut() {
            let active = normal() * guess.spread;
            row.add_scalar_mut(active);
        }
        let mut rows = vec![Vec::new(); users];
        for (i, logits) in logits.column_iter().enumerate() {
            let wanted = f64::from(self.degrees[i * all / n]) / self.users.max(1) as f64;
            let own = intercept(logits.as_slice(), wanted);
            for (row, logit) in rows.iter_mut().zip(logits.iter()) {
                if generator.random::<f64>() < logistic(own + logit) {
                    row.push(i);
                }
            }
        }
        rows
    }
}

/// Σ_u w(d_u) r_uᵀr_u.
fn products(rows: &[Vec<usize>], n: usize, weight: impl Fn(f64) -> f64) -> DMatrix<f64> {
    let mut sum = DMatrix::zeros(n, n);
    for row in rows {
        let value = weight(row.len() as f64);
        for &j in row {
            let mut column = sum.column_mut(j);
            for &i in row {
                column[i] += value;
            }
        }
    }
    sum
}

fn logistic(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// a such that the mean over users of [`logistic`] a + logit is as wanted, by Newton's method inside a bracket.
fn intercept(logits: &[f64], wanted: f64) -> f64 {
    let (mut low, mut high) = (-30.0_f64, 30.0_f64);
    let mut own = 0.0;
    for _ in 0..40 {
        let (mut mean, mut slope) = (0.0, 0.0);
        for logit in logits {
            let p = logistic(own + logit);
            mean += p;
            slope += p * (1.0 - p);
        }
        mean /= logits.len() as f64;
        slope /= logits.len() as f64;
        if (mean - wanted).abs() < 1e-4 * wanted {
            break;
        }
        if mean > wanted {
            high = own;
        } else {
            low = own;
        }
        let newton = own + (wanted - mean) / slope.max(1e-12);
        own = if newton > low && newton < high {
            newton
        } else {
            0.5 * (low + high)
        };
    }
    own
}
