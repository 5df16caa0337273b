//! A stand-in for private data, from public quantities and stated assumptions.

use nalgebra::DMatrix;
use rand::distr::Distribution;
use rand_distr::StandardNormal;
use serde::Serialize;

use super::ground::Ground;
use super::{AdviseError, PublicQuantities};
use crate::experiment::resolve::Experiment;
use crate::recommender::LowPassFilter;
use crate::vocabulary::{Label, Seed};

/// Stand-ins have at most so many items.
pub const MOST_ITEMS: usize = 300;

/// What is assumed of data that nobody may look at.
///
/// Calibrated once, on the embedded MovieLens data and on Jester, and fixed since.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Assumptions {
    /// α: what users share in taste gives eigenvalue i ≥ 2 of the matrix without a floor a part ∝ (i−1)^(−α).
    pub decay: f64,
    /// φ: the share of taste in the trace without the leading eigenvalue. The rest is chance and falls linearly, from 8/5 of its
    /// mean to 2/5.
    pub taste: f64,
    /// Standard deviation of the logarithm of a user's degree, which is taken as log-normal with the mean that is public.
    /// Measured: 0.58 and 1.0.
    pub spread: f64,
    /// κ: how much the taste of users with few interactions differs from everybody's, besides chance.
    pub difference: f64,
}

impl Default for Assumptions {
    fn default() -> Self {
        Self {
            decay: 1.1,
            taste: 0.42,
            spread: 0.8,
            difference: 0.025,
        }
    }
}

impl Assumptions {
    pub(super) fn check(&self) -> Result<(), AdviseError> {
        let ranges = [
            ("decay", self.decay, 0.0, 5.0),
            ("taste", self.taste, 0.0, 1.0),
            ("spread", self.spread, 0.0, 5.0),
            ("difference", self.difference, 0.0, 1.0),
        ];
        for (what, found, low, high) in ranges {
            if !(low..=high).contains(&found) {
                return Err(AdviseError::Assumption {
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
        let mut degrees = experiment.interactions.item_degrees();
        degrees.sort_unstable_by(|a, b| b.cmp(a));
        Self {
            users: experiment.interactions.users(),
            degrees,
        }
    }

    pub(super) fn quantities(&self) -> PublicQuantities {
        PublicQuantities {
            users: self.users,
            items: self.degrees.len(),
            interactions: self.sum() as u64,
        }
    }

    /// Interactions.
    fn sum(&self) -> f64 {
        self.degrees.iter().copied().map(f64::from).sum()
    }

    /// One draw of the matrices of all `floors`.
    ///
    /// # The model
    /// With c the item degrees, m users and d̄ = Σc/m:
    /// - without a floor, tr A = m (every user's row has norm 1), λ₁ = Σc²/Σc with eigenvector c/‖c‖ (what users who pick by popularity
    ///   alone would have: Σ_u E r_uᵀE r_u/d_u with E r_u = d_u c/Σc), and the rest of the trace is taste and chance as in [`Assumptions`];
    /// - the other eigenvectors are random, with entries ∝ √c_i before they are made orthonormal, since
    ///   A_ii is nearly proportional to c_i;
    /// - so A = SSᵀ with S = V Λ^{1/2}. A floor D weighs user u by w_u = d_u/max(d_u, D) ≤ 1. With rows R = QSᵀ, Q with orthonormal
    ///   columns of random direction, A_D = S(QᵀWQ)Sᵀ, and QᵀWQ = w̄·1 + sd(w)/√m·G up to O(1/m), G symmetric Gaussian with variance 1
    ///   off the diagonal and 2 on it (each entry is a mean over m users with uncorrelated signs). Real users with few interactions also
    ///   differ systematically, which no number of users averages out: 1/√m + κ takes the place of 1/√m;
    /// - RᵀR, which the error measure weighs by, is d̄·A.
    ///
    /// Above [`MOST_ITEMS`] items every n/n′-th of the list stands for its neighbours, eigenvalues are those of n items, and the
    /// noise is multiplied by √(n/n′): a noise matrix of n rows has norm ∝ √n.
    pub(super) fn stand_in(
        &self,
        assumptions: Assumptions,
        reference_floor: u32,
        floors: &[u32],
        rank: usize,
        seed: &Seed,
    ) -> Ground {
        let all = self.degrees.len();
        let n = all.min(MOST_ITEMS.max(2 * rank));
        // An item nobody chose still has a place in the list.
        let popularity: Vec<f64> = (0..n)
            .map(|i| f64::from(self.degrees[i * all / n]).max(0.5))
            .collect();
        let users = self.users.max(1) as f64;
        let mut generator = seed.generator(Label::Scenario);
        let mut normal = || -> f64 { StandardNormal.sample(&mut generator) };
        let draws = DMatrix::from_fn(n, n, |i, j| {
            let draw = normal();
            match j {
                0 => popularity[i],
                _ => draw * popularity[i].sqrt(),
            }
        });
        let mut root = draws.qr().q();
        for (mut column, value) in root.column_iter_mut().zip(self.spectrum(assumptions)) {
            column *= value.sqrt();
        }
        let gaussian = DMatrix::from_fn(n, n, |_, _| normal());
        let noise = (&gaussian + gaussian.transpose()) * std::f64::consts::FRAC_1_SQRT_2;
        let turn = users.sqrt().recip() + assumptions.difference;
        let mean_degree = (self.sum() / users).max(1.0);
        let matrix = |floor: u32| {
            let (mean, deviation) = weights(mean_degree, assumptions.spread, all, floor);
            let inner = DMatrix::identity(n, n) * mean + &noise * (deviation * turn);
            &root * inner * root.transpose()
        };
        let degrees: Vec<f64> = popularity;
        let filter = LowPassFilter::of_gram(&matrix(1), &degrees);
        let mut floors = floors.to_vec();
        floors.sort_unstable();
        floors.dedup();
        Ground::new(
            floors.into_iter().map(|floor| (floor, matrix(floor))),
            &matrix(reference_floor),
            rank,
            filter,
            (all as f64 / n as f64).sqrt(),
        )
    }

    /// λ₁, λ₂, … of n items.
    fn spectrum(&self, assumptions: Assumptions) -> Vec<f64> {
        let n = self.degrees.len();
        let squares: f64 = self.degrees.iter().map(|&c| f64::from(c).powi(2)).sum();
        let users = self.users.max(1) as f64;
        let first = (squares / self.sum().max(1.0)).min(users);
        let others = (n - 1) as f64;
        let law = |k: usize| (k as f64).powf(-assumptions.decay);
        let total: f64 = (1..n).map(law).sum();
        let rest = (1..n).map(|k| {
            let chance = (1.6 - 1.2 * (k as f64 - 0.5) / others) / others;
            (users - first)
                * (assumptions.taste * law(k) / total + (1.0 - assumptions.taste) * chance)
        });
        std::iter::once(first).chain(rest).collect()
    }
}

/// Mean and standard deviation of w = d/max(d, D) for a log-normal degree d of this mean, cut to 1 … n.
fn weights(mean: f64, spread: f64, items: usize, floor: u32) -> (f64, f64) {
    let location = mean.ln() - 0.5 * spread * spread;
    let (mut total, mut first, mut second) = (0.0, 0.0, 0.0);
    for step in -600..=600 {
        let z = f64::from(step) / 100.0;
        let density = (-0.5 * z * z).exp();
        let degree = (location + spread * z).exp().clamp(1.0, items as f64);
        let weight = degree / degree.max(f64::from(floor));
        total += density;
        first += density * weight;
        second += density * weight * weight;
    }
    let mean = first / total;
    (mean, (second / total - mean * mean).max(0.0).sqrt())
}
