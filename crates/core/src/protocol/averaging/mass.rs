//! What a peer computes while mass is passed: shares out, totals in, and the sum at the end.
//!
//! # Definition
//! A peer holds a mass m: its values, and behind them a weight, 1 at first. What it has given to a neighbour so far is a
//! running total t, and what it has last heard of a neighbour's is h, both 0 at first. Per coordinate, in exactly this order:
//!
//! ```text
//! it gives n receivers the share a:    t' = t + a·m       m ← m − n·(t' − t)       it sends t'
//! it takes the total t_v of v:         m ← m + (t_v − h_v)                         h_v = t_v
//! it ends:                             sum = (s / weight)·value
//! ```
//!
//! # Claim
//! The values and weights of all peers, with what is under way (t − h over all edges), add up to what they were at the start,
//! up to rounding of the size of a mass per step, whatever has been lost.
//!
//! # Proof
//! A peer that gives takes off itself what its totals rise by, and a peer that takes puts on itself what h rises by: every
//! step moves mass between a peer and an edge. A lost message moves nothing, and the next one on its edge carries all of
//! t − h. In floating-point numbers a sender takes off fl(t' − t), the difference of the totals *as sent*, not a·m: where
//! the rounding of a large total makes it rise by less, the sender keeps the rest. So the error is that of the two
//! subtractions and the addition, each of which is exact or of the size of the masses, and does not grow with the totals. ∎
//!
//! Coordinates never meet, so any cutting into tiles gives the same bits: peers use these functions on whole blocks, the lockstep
//! engine on tiles.

use std::sync::Arc;

/// Raises a running total by a share of the mass: `raised` = `total` + `share` · `mass`. A missing total is 0.
///
/// # Panics
/// If slices differ in length.
#[inline]
pub(crate) fn raise(share: f64, mass: &[f64], total: Option<&[f64]>, raised: &mut [f64]) {
    assert_eq!(mass.len(), raised.len(), "one mass");
    match total {
        Some(total) => {
            assert_eq!(mass.len(), total.len(), "one mass");
            for ((out, x), t) in raised.iter_mut().zip(mass).zip(total) {
                *out = t + share * x;
            }
        }
        None => {
            for (out, x) in raised.iter_mut().zip(mass) {
                *out = 0.0 + share * x;
            }
        }
    }
}

/// Takes off the mass what `receivers` were given: `mass` − `receivers` · (`raised` − `total`). A missing total is 0.
///
/// # Panics
/// If slices differ in length.
#[inline]
pub(crate) fn give(receivers: f64, total: Option<&[f64]>, raised: &[f64], mass: &mut [f64]) {
    assert_eq!(mass.len(), raised.len(), "one mass");
    each_rise(total, raised, mass, |mass, rise| mass - receivers * rise);
}

/// Puts on the mass by how much a neighbour's total has risen since it was last heard: `mass` + (`total` − `heard`). A
/// missing `heard` is 0.
///
/// # Panics
/// If slices differ in length.
#[inline]
pub(crate) fn take(heard: Option<&[f64]>, total: &[f64], mass: &mut [f64]) {
    assert_eq!(mass.len(), total.len(), "one mass");
    each_rise(heard, total, mass, |mass, rise| mass + rise);
}

#[inline]
fn each_rise(
    before: Option<&[f64]>,
    after: &[f64],
    mass: &mut [f64],
    then: impl Fn(f64, f64) -> f64,
) {
    match before {
        Some(before) => {
            assert_eq!(mass.len(), before.len(), "one mass");
            for ((mass, after), before) in mass.iter_mut().zip(after).zip(before) {
                *mass = then(*mass, after - before);
            }
        }
        None => {
            for (mass, after) in mass.iter_mut().zip(after) {
                *mass = then(*mass, *after);
            }
        }
    }
}

/// What one peer keeps while mass is passed.
///
/// Totals are shared with the messages that carried them: a peer that tells all neighbours the same adds one block to the network.
#[derive(Clone, Debug)]
pub(crate) struct Holding {
    /// Values, then the weight.
    mass: Vec<f64>,
    /// Per stream of its own what it has given so far.
    given: Vec<Option<Arc<Vec<f64>>>>,
    /// Per neighbour the last total heard.
    heard: Vec<Option<Arc<Vec<f64>>>>,
}

impl Holding {
    /// A peer with these values and the weight 1 that has given and heard nothing.
    #[must_use]
    pub(crate) fn new(values: &[f64], streams: usize, neighbours: usize) -> Self {
        let mut mass = Vec::with_capacity(values.len() + 1);
        mass.extend_from_slice(values);
        mass.push(1.0);
        Self {
            mass,
            given: vec![None; streams],
            heard: vec![None; neighbours],
        }
    }

    /// Values, then the weight.
    #[must_use]
    pub(crate) fn mass(&self) -> &[f64] {
        &self.mass
    }

    /// Gives this share of the mass to each of so many receivers of a stream; returns what is to be sent.
    ///
    /// # Panics
    /// If there is no such stream.
    pub(crate) fn give(&mut self, stream: usize, (receivers, share): (u32, f64)) -> Arc<Vec<f64>> {
        let mut raised = vec![0.0; self.mass.len()];
        let total = self.given[stream].take();
        let total = total.as_deref().map(Vec::as_slice);
        raise(share, &self.mass, total, &mut raised);
        give(f64::from(receivers), total, &raised, &mut self.mass);
        let raised = Arc::new(raised);
        self.given[stream] = Some(Arc::clone(&raised));
        raised
    }

    /// Takes what the neighbour at `position` has sent.
    ///
    /// # Panics
    /// If there is no such neighbour or the total has another length than the mass.
    pub(crate) fn take(&mut self, position: usize, total: &Arc<Vec<f64>>) {
        let heard = self.heard[position].as_deref().map(Vec::as_slice);
        take(heard, total, &mut self.mass);
        self.heard[position] = Some(Arc::clone(total));
    }

    /// The total last heard of the neighbour at `position`; zeros at first. To take it again changes nothing: it stands in for a
    /// message that was lost.
    ///
    /// # Panics
    /// If there is no such neighbour.
    #[must_use]
    pub(crate) fn last_heard(&self, position: usize) -> Arc<Vec<f64>> {
        match &self.heard[position] {
            Some(heard) => Arc::clone(heard),
            None => Arc::new(vec![0.0; self.mass.len()]),
        }
    }

    /// The estimate of the sum of all `peers` peers' values; nothing if the weight is not above 0.
    #[must_use]
    pub(crate) fn estimate(&self, peers: f64) -> Option<Vec<f64>> {
        let (weight, values) = self.mass.split_last()?;
        let factor = factor(peers, *weight)?;
        Some(values.iter().map(|x| factor * x).collect())
    }
}

/// What the values of a mass of this weight are multiplied by; nothing if the weight is not above 0.
#[must_use]
pub(crate) fn factor(peers: f64, weight: f64) -> Option<f64> {
    (weight > 0.0).then(|| peers / weight)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn total(holdings: &[Holding]) -> f64 {
        holdings.iter().map(|one| one.mass()[0]).sum()
    }

    #[test]
    fn what_a_lost_message_carried_comes_with_the_next_one() {
        let mut a = Holding::new(&[8.0], 1, 1);
        let mut b = Holding::new(&[0.0], 1, 1);
        let lost = a.give(0, (1, 0.5));
        assert_eq!(
            (a.mass(), lost.as_slice()),
            (&[4.0, 0.5][..], &[4.0, 0.5][..])
        );
        // Nothing came: the last total heard is taken again.
        b.take(0, &b.last_heard(0));
        assert_eq!(b.mass(), [0.0, 1.0]);
        let next = a.give(0, (1, 0.5));
        assert_eq!(next.as_slice(), [6.0, 0.75]);
        b.take(0, &next);
        assert_eq!((a.mass(), b.mass()), (&[2.0, 0.25][..], &[6.0, 1.75][..]));
        assert_eq!(total(&[a, b]), 8.0);
    }

    #[test]
    fn equal_halves_leave_every_weight_at_one_and_the_estimate_is_s_times_the_value() {
        let mut a = Holding::new(&[1.0, -3.0], 1, 1);
        let mut b = Holding::new(&[2.0, 5.0], 1, 1);
        for _ in 0..1000 {
            let (x, y) = (a.give(0, (1, 0.5)), b.give(0, (1, 0.5)));
            a.take(0, &y);
            b.take(0, &x);
            assert_eq!((a.mass()[2], b.mass()[2]), (1.0, 1.0));
        }
        assert_eq!(a.estimate(2.0).expect("weight 1"), [3.0, 2.0]);
        let empty = Holding {
            mass: vec![1.0, 0.0],
            ..a
        };
        assert_eq!(empty.estimate(2.0), None);
    }

    /// A total of 10⁹ shares rounds every rise to a multiple of 2⁻²³ or so; a sender that took a·m off itself instead would lose about
    /// half of that per message.
    #[test]
    fn large_totals_leak_no_mass() {
        let mut a = Holding::new(&[1.0 / 3.0], 1, 1);
        let mut b = Holding::new(&[1.0 / 7.0], 1, 1);
        a.given[0] = Some(Arc::new(vec![1e9, 0.0]));
        b.heard[0] = a.given[0].clone();
        b.given[0] = Some(Arc::new(vec![-1e9, 0.0]));
        a.heard[0] = b.given[0].clone();
        let before = a.mass()[0] + b.mass()[0];
        for _ in 0..10_000 {
            let (x, y) = (a.give(0, (1, 0.3)), b.give(0, (1, 0.4)));
            a.take(0, &y);
            b.take(0, &x);
        }
        let after = a.mass()[0] + b.mass()[0];
        assert!((after - before).abs() < 1e-12, "{:e}", after - before);
    }
}
