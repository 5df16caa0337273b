//! Who takes what in a stand-in: a logistic model of users and items, fitted to public degrees and to how active users are.

use nalgebra::DMatrix;
use rand::{Rng, RngExt};

use super::activity::FULL;
use super::slopes::{Measured, variance_of_slopes};

/// The most steps for users and for items in turn; with as many the sums of the sets at hand are within 1e-3 of what is wanted.
const ALTERNATIONS: usize = 10;
/// Steps end where sums were within this of what is wanted, as a share of it or of one, before the last step.
const NEAR: f64 = 3e-3;
/// The most a log-odds moves in a step.
const STEP: f64 = 2.0;
/// The fewest items that a user's probabilities sum to while they are fitted.
const FEW: f64 = 0.02;

/// Log-odds of users and items: a number of each, one of the pair, and a slope of the item times how light the user is.
pub(super) struct Response {
    /// Of pairs: a column per user, a row per item.
    tastes: DMatrix<f64>,
    users: Vec<f64>,
    items: Vec<f64>,
    slopes: Vec<f64>,
    /// Of users, with mean 0 and standard deviation 1; 0 of all where nothing was measured.
    lightness: Vec<f64>,
}

/// What items have of the rows of the users drawn.
pub(super) struct Shares<'a> {
    /// Of every user what an item of theirs has: 1/√d, 0 of those without any.
    pub(super) users: &'a [f64],
    /// Of every item, as measured.
    pub(super) items: &'a [f64],
    /// Standard deviation of the noise on these.
    pub(super) sigma: f64,
    /// The users drawn as a share of all.
    pub(super) drawn: f64,
}

/// The same with lightness in place of 1/√d: that less its mean, over its standard deviation.
struct Contrast<'a> {
    measured: &'a Shares<'a>,
    mean: f64,
    deviation: f64,
}

impl<'a> Contrast<'a> {
    /// None where all users have as many items.
    fn new(measured: &'a Shares<'a>) -> Option<Self> {
        let some = || measured.users.iter().filter(|&&share| share > 0.0);
        let count = some().count() as f64;
        let mean = some().sum::<f64>() / count;
        let squares: f64 = some().map(|share| (share - mean).powi(2)).sum();
        let deviation = (squares / count).sqrt();
        (deviation > 1e-9).then_some(Self {
            measured,
            mean,
            deviation,
        })
    }

    fn lightness(&self) -> Vec<f64> {
        let of = |&share: &f64| match share > 0.0 {
            true => (share - self.mean) / self.deviation,
            false => 0.0,
        };
        self.measured.users.iter().map(of).collect()
    }
}

impl Response {
    /// Users of these log-odds, and items such that each is taken by `wanted` of them on average.
    pub(super) fn with_users(tastes: DMatrix<f64>, users: Vec<f64>, wanted: &[f64]) -> Self {
        let mut response = Self::starting(tastes, users, wanted);
        for _ in 0..2 * ALTERNATIONS {
            if response.fit_items(wanted) < NEAR {
                break;
            }
        }
        response
    }

    /// Users that take so many items on average, items that are taken by `wanted` users, and slopes that make items have the shares that were
    /// measured, as far as noise lets these be known: the most likely ones where slopes are normal beforehand, with a variance that is estimated from
    /// all shares together.
    pub(super) fn with_degrees(
        tastes: DMatrix<f64>,
        degrees: &[f64],
        wanted: &[f64],
        shares: Option<&Shares<'_>>,
    ) -> Self {
        let all = tastes.nrows() as f64;
        let degrees: Vec<f64> = degrees
            .iter()
            .map(|degree| degree.clamp(FEW, FULL * all))
            .collect();
        let odds = |degree: &f64| libm::log(degree / (all - degree));
        let mut response = Self::starting(tastes, degrees.iter().map(odds).collect(), wanted);
        let contrast = shares.and_then(Contrast::new);
        if let Some(contrast) = &contrast {
            response.lightness = contrast.lightness();
        }
        for _ in 0..ALTERNATIONS {
            let of_users = response.fit_users(&degrees);
            let of_items = match &contrast {
                Some(contrast) => response.fit_slopes(wanted, contrast),
                None => response.fit_items(wanted),
            };
            if of_users.max(of_items) < NEAR {
                break;
            }
        }
        response.fit_users(&degrees);
        response
    }

    fn starting(tastes: DMatrix<f64>, users: Vec<f64>, wanted: &[f64]) -> Self {
        let all = users.len() as f64;
        let odds = |wanted: &f64| {
            let share = (wanted / all).clamp(1e-6, 1.0 - 1e-6);
            libm::log(share / (1.0 - share))
        };
        Self {
            tastes,
            slopes: vec![0.0; wanted.len()],
            lightness: vec![0.0; users.len()],
            users,
            items: wanted.iter().map(odds).collect(),
        }
    }

    /// The probabilities of one user's items.
    fn probabilities(&self, user: usize) -> impl Iterator<Item = f64> {
        let (own, n) = (self.users[user], self.items.len());
        let light = self.lightness[user];
        let tastes = &self.tastes.as_slice()[user * n..][..n];
        let pairs = self.items.iter().zip(&self.slopes).zip(tastes);
        pairs.map(move |((item, slope), taste)| logistic(own + item + slope * light + taste))
    }

    /// How many items a user takes on average.
    pub(super) fn expected(&self, user: usize) -> f64 {
        self.probabilities(user).sum()
    }

    /// One step of Newton's method for every user. Returns how far sums were off before it.
    fn fit_users(&mut self, wanted: &[f64]) -> f64 {
        let mut off = 0.0_f64;
        for (user, &wanted) in wanted.iter().enumerate() {
            let (mut sum, mut slope) = (0.0, 0.0);
            for p in self.probabilities(user) {
                sum += p;
                slope += p * (1.0 - p);
            }
            self.users[user] += step(wanted, sum, slope);
            off = off.max(missed(wanted, sum));
        }
        off
    }

    /// One step of Newton's method for every item. Returns how far sums were off before it.
    fn fit_items(&mut self, wanted: &[f64]) -> f64 {
        let n = self.items.len();
        let (mut sums, mut slopes) = (vec![0.0; n], vec![0.0; n]);
        for user in 0..self.users.len() {
            let both = sums.iter_mut().zip(&mut slopes);
            for ((sum, slope), p) in both.zip(self.probabilities(user)) {
                *sum += p;
                *slope += p * (1.0 - p);
            }
        }
        let moved = wanted.iter().zip(sums).zip(slopes);
        let mut off = 0.0_f64;
        for (item, ((wanted, sum), slope)) in self.items.iter_mut().zip(moved) {
            *item += step(*wanted, sum, slope);
            off = off.max(missed(*wanted, sum));
        }
        off
    }

    /// One step of Newton's method for every item and its slope. With p the probabilities of the item, q = p(1 − p) and s lightness, its degree
    /// Σp has the derivatives (Σq, Σqs) and its contrast Σps has (Σqs, Σqs²). The item's number is moved to keep the degree, along which the
    /// contrast has the derivative K = Σqs² − (Σqs)²/Σq in the slope g; at slope 0 it would be y off what was measured, to first order. y has
    /// noise of variance v: that of the release, and the chance in who of all users took the item, which is K where all are drawn. The most likely g
    /// minimises (y − K·g)²/v + g²/τ². Returns how far degrees were off, or slopes moved.
    fn fit_slopes(&mut self, wanted: &[f64], contrast: &Contrast<'_>) -> f64 {
        let n = self.items.len();
        let mut sums = vec![[0.0; 5]; n];
        for user in 0..self.users.len() {
            let light = self.lightness[user];
            for (sums, p) in sums.iter_mut().zip(self.probabilities(user)) {
                let q = p * (1.0 - p);
                let terms = [p, p * light, q, q * light, q * light * light];
                sums.iter_mut()
                    .zip(terms)
                    .for_each(|(sum, term)| *sum += term);
            }
        }
        let measured = contrast.measured;
        let of_release = (measured.sigma / contrast.deviation).powi(2);
        let known: Vec<Measured> = sums
            .iter()
            .enumerate()
            .map(|(item, &[p, along, q, first, second])| {
                let q = q.max(1e-9);
                let target =
                    (measured.items[item] - contrast.mean * wanted[item]) / contrast.deviation;
                let left = target - along - first / q * (wanted[item] - p);
                let derivative = (second - first * first / q).max(1e-9);
                Measured {
                    off: left + derivative * self.slopes[item],
                    derivative,
                    variance: of_release + measured.drawn * derivative,
                }
            })
            .collect();
        let variance = variance_of_slopes(&known);
        let mut off = 0.0_f64;
        for (item, [p, _, q, first, _]) in sums.into_iter().enumerate() {
            let q = q.max(1e-9);
            let missing = wanted[item] - p;
            let moved = known[item].most_likely(variance) - self.slopes[item];
            let moved = moved.clamp(-0.5 * STEP, 0.5 * STEP);
            self.slopes[item] += moved;
            self.items[item] += ((missing - first * moved) / q).clamp(-STEP, STEP);
            off = off.max(missed(wanted[item], p)).max(moved.abs());
        }
        off
    }

    /// The items of every user, each taken or not by itself.
    pub(super) fn independent(&self, generator: &mut impl Rng) -> Vec<Vec<usize>> {
        (0..self.users.len())
            .map(|user| {
                let taken = |(item, p)| (generator.random::<f64>() < p).then_some(item);
                self.probabilities(user)
                    .enumerate()
                    .filter_map(taken)
                    .collect()
            })
            .collect()
    }

    /// So many items of every user: a systematic sample in an order of the user's own, which takes each with its probability, of those
    /// scaled to sum to the number.
    ///
    /// # Source
    /// Madow 1949, systematic sampling with unequal probabilities.
    pub(super) fn of_sizes(&self, sizes: &[usize], generator: &mut impl Rng) -> Vec<Vec<usize>> {
        let n = self.items.len();
        let mut order: Vec<usize> = (0..n).collect();
        let mut rows = Vec::with_capacity(sizes.len());
        for (user, &size) in sizes.iter().enumerate() {
            for last in (1..n).rev() {
                order.swap(last, generator.random_range(0..=last));
            }
            let probabilities: Vec<f64> = self.probabilities(user).collect();
            let scale = size as f64 / probabilities.iter().sum::<f64>().max(f64::MIN_POSITIVE);
            let mut reached: f64 = generator.random();
            let mut row = Vec::with_capacity(size);
            for &item in &order {
                let before = reached.floor();
                reached += (probabilities[item] * scale).min(1.0);
                if reached.floor() > before {
                    row.push(item);
                }
            }
            rows.push(row);
        }
        rows
    }
}

/// Newton's step, cut off.
fn step(wanted: f64, sum: f64, slope: f64) -> f64 {
    ((wanted - sum) / slope.max(1e-9)).clamp(-STEP, STEP)
}

/// How far a sum is from what is wanted, as a share of that or of one.
fn missed(wanted: f64, sum: f64) -> f64 {
    (wanted - sum).abs() / wanted.max(1.0)
}

fn logistic(x: f64) -> f64 {
    1.0 / (1.0 + libm::exp(-x))
}

#[cfg(test)]
mod tests {
    use rand_distr::{Distribution, StandardNormal};

    use super::*;
    use crate::vocabulary::{Label, Seed};

    const USERS: usize = 400;
    const ITEMS: usize = 40;

    /// Tastes of two directions, and degrees of items that sum to `total`.
    fn model(total: f64) -> (DMatrix<f64>, Vec<f64>) {
        let mut generator = Seed::from_u64(3).generator(Label::Scenario);
        let mut normal = |_, _| -> f64 { StandardNormal.sample(&mut generator) };
        let tastes = DMatrix::from_fn(ITEMS, 2, &mut normal) * DMatrix::from_fn(2, USERS, normal);
        let law: Vec<f64> = (0..ITEMS).map(|i| 1.0 / (i as f64 + 20.0)).collect();
        let sum: f64 = law.iter().sum();
        (tastes, law.iter().map(|one| one / sum * total).collect())
    }

    fn sums(response: &Response) -> (Vec<f64>, Vec<f64>) {
        let (mut users, mut items) = (vec![0.0; USERS], vec![0.0; ITEMS]);
        for (user, sum) in users.iter_mut().enumerate() {
            for (item, p) in items.iter_mut().zip(response.probabilities(user)) {
                *sum += p;
                *item += p;
            }
        }
        (users, items)
    }

    fn apart(found: &[f64], wanted: &[f64]) -> f64 {
        let pairs = found.iter().zip(wanted);
        pairs.map(|(a, b)| (a / b - 1.0).abs()).fold(0.0, f64::max)
    }

    #[test]
    fn sums_are_those_that_are_wanted() {
        // From 1 to 20 items, 4,200 in all.
        let degrees: Vec<f64> = (0..USERS).map(|u| (1 + u % 20) as f64).collect();
        let (tastes, wanted) = model(degrees.iter().sum());
        let response = Response::with_degrees(tastes.clone(), &degrees, &wanted, None);
        let (users, items) = sums(&response);
        assert!(apart(&users, &degrees) < 1e-3 && apart(&items, &wanted) < 1e-3);
        let active: Vec<f64> = (0..USERS).map(|u| (u % 7) as f64 / 2.0 - 1.0).collect();
        let (_, items) = sums(&Response::with_users(tastes, active, &wanted));
        assert!(apart(&items, &wanted) < 1e-3, "{items:?}");
    }

    /// Items whose users are lighter than others get their share without noise, and stay as they are where noise hides it.
    #[test]
    fn shares_are_those_that_were_measured_as_far_as_they_are_known() {
        let degrees: Vec<f64> = (0..USERS).map(|u| (1 + u % 20) as f64).collect();
        let light: Vec<f64> = degrees.iter().map(|degree| degree.sqrt().recip()).collect();
        let (tastes, wanted) = model(degrees.iter().sum());
        let shares = |response: &Response| {
            let mut shares = vec![0.0; ITEMS];
            for (user, light) in light.iter().enumerate() {
                for (share, p) in shares.iter_mut().zip(response.probabilities(user)) {
                    *share += light * p;
                }
            }
            shares
        };
        let plain = Response::with_degrees(tastes.clone(), &degrees, &wanted, None);
        let before = shares(&plain);
        // Of all items together shares are what the users' degrees say.
        let factor = |item| if item % 2 == 0 { 1.06 } else { 0.94 };
        let moved: Vec<f64> = (0..ITEMS).map(|item| before[item] * factor(item)).collect();
        let total = before.iter().sum::<f64>() / moved.iter().sum::<f64>();
        let moved: Vec<f64> = moved.into_iter().map(|share| share * total).collect();
        let fitted = |sigma| {
            let (users, items) = (&light[..], &moved[..]);
            let measured = Shares {
                users,
                items,
                sigma,
                // So many users that their chance is none.
                drawn: 0.0,
            };
            Response::with_degrees(tastes.clone(), &degrees, &wanted, Some(&measured))
        };
        let (exact, hidden) = (fitted(0.0), fitted(1e6));
        assert!(apart(&shares(&exact), &moved) < 0.01);
        assert!(apart(&sums(&exact).0, &degrees) < 0.01);
        assert!(apart(&sums(&exact).1, &wanted) < 0.01);
        assert!(apart(&shares(&hidden), &before) < 0.01);
        assert!(apart(&before, &moved) > 0.05);
    }

    /// Sizes are exact, and over 400 draws every user's items are taken as often as their probabilities say: the largest of
    /// 16,000 deviations is beyond 6 standard deviations with probability below 1e-4.
    #[test]
    fn samples_have_their_sizes_and_probabilities() {
        let degrees: Vec<f64> = (0..USERS).map(|u| (1 + u % 20) as f64).collect();
        let (tastes, wanted) = model(degrees.iter().sum());
        let response = Response::with_degrees(tastes, &degrees, &wanted, None);
        let sizes: Vec<usize> = degrees.iter().map(|&degree| degree as usize).collect();
        let mut generator = Seed::from_u64(4).generator(Label::Scenario);
        let draws = 400;
        let mut taken = vec![vec![0.0; ITEMS]; USERS];
        for _ in 0..draws {
            for (user, row) in response.of_sizes(&sizes, &mut generator).iter().enumerate() {
                assert_eq!(row.len(), sizes[user]);
                row.iter().for_each(|&item| taken[user][item] += 1.0);
            }
        }
        for (user, taken) in taken.iter().enumerate() {
            for (p, taken) in response.probabilities(user).zip(taken) {
                let draws = f64::from(draws);
                let deviation = (taken - draws * p).abs();
                let allowed = 6.0 * (draws * p * (1.0 - p)).sqrt() + 2.0;
                assert!(deviation <= allowed, "{user}: {taken} of {draws} at {p}");
            }
        }
    }
}
