//! A stand-in for private data, from public quantities and stated assumptions.

use std::collections::BTreeMap;

use nalgebra::DMatrix;
use rand::RngExt;
use rand::distr::Distribution;
use rand_distr::Poisson;
use serde::Serialize;

use super::activity;
use super::error::AdviseError;
use super::ground::Ground;
use super::pilot::PilotCounts;
use super::public::PublicQuantities;
use super::response::{Response, Shares};
use crate::linalg::product;
use crate::recommender::LowPassFilter;
use crate::scenario::Experiment;
use crate::vocabulary::{Label, Seed, StandardNormal};

/// Stand-ins have at most so many items.
pub(crate) const MOST_ITEMS: usize = 300;
/// And at most so many users, each of whom then stands for several.
pub(super) const MOST_USERS: usize = 12_000;
/// Directions of taste, unless the rank asks for more.
const TASTES: usize = 32;

/// A guess at data that nobody may look at: user u takes item i with probability 1/(1 + e^−x), where
/// x = a_i + c_u + τ Σ_k √λ_k t_uk f_ik, all t and f independent standard normal, λ_k ∝ k^(−α) with Σ_k λ_k = 1, and a_i
/// such that the item's expected degree is its public one. (Item response theory calls it a logistic model with several traits.)
///
/// c_u says how active a user is: σ times a standard normal number, or, where a pilot counted how many users have how many
/// interactions, such that users have as many as the counts say. Where it measured what items have of their users' rows, x has another term,
/// b_i·s_u: s_u says how few interactions user u has (1/√d_u, less its mean, over its standard deviation), and b_i is such that
/// the item has what was measured, as far as noise lets that be known; beforehand it is normal, with the variance that makes what was measured of all
/// items most likely. Every second stand-in of a guess has no such term.
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
    /// Which item each of them is of.
    order: Vec<usize>,
}

impl Public {
    /// The number of users and the item degrees: nothing else of the data is read.
    pub(super) fn of(experiment: &Experiment) -> Self {
        let of_items = experiment.interactions().item_degrees();
        let mut order: Vec<usize> = (0..of_items.len()).collect();
        order.sort_by_key(|&item| std::cmp::Reverse(of_items[item]));
        Self {
            users: experiment.interactions().users(),
            degrees: order.iter().map(|&item| of_items[item]).collect(),
            order,
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
    /// Above [`MOST_ITEMS`] items every n/n′-th of the list stands for its neighbours. A user's row is then divided by the number of all
    /// of the user's interactions, of which n′/n are seen, and multiplied by √(n/n′), which keeps rows of norm 1 and large eigenvalues
    /// as they are; the noise is multiplied by √(n/n′), since a noise matrix of n rows has norm ∝ √n. (Floors applied to the seen
    /// interactions alone cannot tell 1 from n/n′: on 1,000 items of Gowalla the floor they advise has up to 2.7 times the least error, this one
    /// 1.3 times.) Above [`MOST_USERS`] users each stands for m/m′, which leaves a little more chance in the spectrum than m have.
    pub(super) fn stand_in(
        &self,
        guess: Guess,
        pilot: Option<&PilotCounts>,
        reference_floor: u32,
        (floors, root): (&[u32], bool),
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
        let (counts, under) = products(&rows, n, (each, share), (&floors, root));
        let matrices: BTreeMap<u32, DMatrix<f64>> = floors.into_iter().zip(under).collect();
        // An item nobody took still has a place in the list.
        let degrees: Vec<f64> = counts.diagonal().iter().map(|c| c.max(0.5)).collect();
        let filter = LowPassFilter::of_gram(&counts, &degrees);
        let reference = matrices[&reference_floor].clone();
        let taken = degrees.iter().map(|degree| degree.round() as u32).collect();
        Ground::new(
            matrices,
            (&reference, rank),
            taken,
            filter,
            share.sqrt().recip(),
        )
    }

    /// The items of every user, of n items, users and directions of taste.
    fn rows(
        &self,
        guess: Guess,
        pilot: Option<&PilotCounts>,
        (n, users, tastes): (usize, usize, usize),
        seed: &Seed,
    ) -> Vec<Row> {
        let all = self.degrees.len();
        let share = n as f64 / all as f64;
        let mut generator = seed.generator(Label::Scenario);
        let mut normal = || -> f64 { StandardNormal.sample(&mut generator) };
        let law = |k: usize| libm::pow((k + 1) as f64, -guess.decay);
        let total: f64 = (0..tastes).map(law).sum();
        let loadings = DMatrix::from_fn(n, tastes, |_, k| {
            normal() * guess.taste * (law(k) / total).sqrt()
        });
        let people = DMatrix::from_fn(tastes, users, |_, _| normal());
        let pairs = product(&loadings, &people);
        // How many of the users drawn an item's own degree is.
        let drawn = users as f64 / self.users.max(1) as f64;
        let wanted: Vec<f64> = (0..n)
            .map(|i| f64::from(self.degrees[i * all / n]) * drawn)
            .collect();
        let Some(pilot) = pilot else {
            let active = (0..users).map(|_| normal() * guess.spread).collect();
            let response = Response::with_users(pairs, active, &wanted);
            let rows = response.independent(&mut generator);
            let whole = rows.into_iter().enumerate().map(|(user, items)| {
                let unseen = response.expected(user) * (share.recip() - 1.0);
                let unseen = Poisson::new(unseen).map_or(0.0, |law| law.sample(&mut generator));
                let degree = items.len() as f64 + unseen;
                Row { items, degree }
            });
            return whole.collect();
        };
        let whole = activity::degrees(pilot, self.quantities(), users);
        let sizes: Vec<usize> = whole
            .iter()
            .map(|degree| (degree * share + generator.random::<f64>()).floor() as usize)
            .collect();
        let seen: Vec<f64> = sizes.iter().map(|&size| size as f64).collect();
        let light: Vec<f64> = whole
            .iter()
            .map(|&degree| {
                if degree > 0.0 {
                    degree.sqrt().recip()
                } else {
                    0.0
                }
            })
            .collect();
        let measured = pilot.shares();
        let items: Vec<f64> = match measured.is_empty() {
            true => Vec::new(),
            false => (0..n)
                .map(|i| measured[self.order[i * all / n]] * drawn)
                .collect(),
        };
        let shares = (!items.is_empty()).then_some(Shares {
            users: &light,
            items: &items,
            sigma: pilot.sigma_of_shares() * drawn,
            drawn,
        });
        let response = Response::with_degrees(pairs, &seen, &wanted, shares.as_ref());
        let rows = response.of_sizes(&sizes, &mut generator);
        rows.into_iter()
            .zip(whole)
            .map(|(items, whole)| Row {
                degree: match n < all {
                    true => whole.round().max(items.len() as f64),
                    false => items.len() as f64,
                },
                items,
            })
            .collect()
    }
}

/// A user of a stand-in.
struct Row {
    /// Of the items that are there.
    items: Vec<usize>,
    /// Of all interactions, with items that are left out too.
    degree: f64,
}

/// Σ_u r_uᵀr_u, and Σ_u w(d_u)·r_uᵀr_u for every one of these ascending D, each user as so many, where a share of the items is seen. w(d) is
/// 1/max(d, D), and under root floors 1/√(d·max(d, D)).
///
/// Users with D_k ≤ d_u < D_{k+1} have weight 1/d_u under D_1, …, D_k and 1/D_j or 1/√(d_u·D_j) under later ones: two sums for every k
/// make all.
fn products(
    rows: &[Row],
    n: usize,
    (each, share): (f64, f64),
    (floors, root): (&[u32], bool),
) -> (DMatrix<f64>, Vec<DMatrix<f64>>) {
    let zero = DMatrix::<f64>::zeros(n, n);
    let classes = floors.len() + 1;
    let mut counts = zero.clone();
    let (mut short, mut long) = (vec![zero.clone(); classes], vec![zero.clone(); classes]);
    for Row { items, degree } in rows {
        let class = floors.partition_point(|&floor| f64::from(floor) <= *degree);
        let below = if root { degree.sqrt().recip() } else { 1.0 };
        for &j in items {
            for &i in items {
                counts[(i, j)] += each;
                short[class][(i, j)] += each * below / share;
                long[class][(i, j)] += each / (share * degree);
            }
        }
    }
    let under = floors.iter().enumerate().map(|(k, &floor)| {
        let floor = f64::from(floor);
        let mut matrix = zero.clone();
        short[..=k].iter().for_each(|part| matrix += part);
        matrix /= if root { floor.sqrt() } else { floor };
        long[k + 1..].iter().for_each(|part| matrix += part);
        matrix
    });
    let under = under.collect();
    (counts, under)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against the definition, entry by entry, with every item seen and with a half.
    #[test]
    fn products_are_sums_over_users() {
        let row = |items: &[usize], degree: f64| Row {
            items: items.to_vec(),
            degree,
        };
        let rows = [
            row(&[0], 1.0),
            row(&[0, 2], 2.0),
            row(&[0, 1, 2], 3.0),
            row(&[], 0.0),
            row(&[1, 2], 7.0),
        ];
        let (each, floors) = (2.5, [1_u32, 2, 3, 5]);
        for share in [1.0, 0.5] {
            let of = |root| products(&rows, 3, (each, share), (&floors, root));
            assert_eq!(of(false).0[(0, 2)], 2.0 * each);
            let both = [false, true].into_iter().flat_map(|root| {
                let under = floors.into_iter().zip(of(root).1);
                under.map(move |(floor, matrix)| (root, floor, matrix))
            });
            for (root, floor, matrix) in both {
                for i in 0..3 {
                    for j in 0..3 {
                        let both = rows
                            .iter()
                            .filter(|row| row.items.contains(&i) && row.items.contains(&j));
                        let expected: f64 = both
                            .map(|row| {
                                let divisor = row.degree.max(f64::from(floor));
                                each / share
                                    / match root {
                                        true => (row.degree * divisor).sqrt(),
                                        false => divisor,
                                    }
                            })
                            .sum();
                        assert!((matrix[(i, j)] - expected).abs() < 1e-12, "{floor} {i} {j}");
                    }
                }
            }
        }
    }
}
