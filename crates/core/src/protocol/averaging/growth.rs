//! Growth of values under a schedule: bounds on what every message holds, in units of the largest input.
//!
//! # Statement
//! Let no input exceed 1 in absolute value, and let every peer refuse messages that exceed their growth g. Then no value of a peer that follows the schedule
//! exceeds its own growth, whatever other peers send. So what such a peer sends is never refused.
//!
//! # Proof
//! By induction over the steps; the inputs have growth 1. A step forms Σ w_i x_i over the own value and messages, whose absolute value is at most
//! Σ |w_i| g_i, the growth after the step; for a recurrence (|a|·‖W‖_∞ + |b|)·g_k + |c|·g_{k−1}. A peer that passes mass m ≤ g has told totals t ≤ T; it tells at most
//! T + g next, the growth of that message, and each of the D neighbours that it meets raises m by at most 2(T + g), lost messages included. What it gives
//! takes nothing from |m| but for rounding, which a third (T + g) covers. Each step rounds
//! d + 4 ≤ 2²⁸ terms by 2⁻⁵³, and its outcome by 2⁻²⁴ where coordinates are f32: together by less than 2⁻²² of the bound, which is multiplied by 1 + 2⁻²². Growth beyond the largest
//! number is that number, and peers that follow the schedule send nothing that is not finite. ∎
//!
//! Sums grow to at most s, means to 1; Chebyshev's bound grows by a constant factor a round, although its values do not.

use std::sync::{Arc, OnceLock};

use super::coefficients::Coefficients;
use super::neighbourhood::Neighbourhood;
use super::passing::Contacts;
use super::step::PeerStep;

/// 1 + 2⁻²²: what one step may grow by in rounding.
const ROUNDED: f64 = 1.0 + 1.0 / (1_u32 << 22) as f64;

/// Bounds on the messages of a whole program.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Growth {
    /// Round by round.
    Rounds(Arc<[f64]>),
    /// Step by step.
    Steps(Sent),
}

/// Per peer and step the growth of the value that it sends there, computed when a peer first asks.
#[derive(Clone, Debug, Default)]
pub(super) struct Sent(Arc<OnceLock<Vec<Vec<f64>>>>);

/// It follows from the steps, which are compared.
impl PartialEq for Sent {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// Bounds on the messages that one peer gets.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum OwnGrowth {
    /// Round by round.
    Rounds(Arc<[f64]>),
    /// Per neighbour, message by message in ascending rounds.
    Heard(Vec<Vec<(u32, f64)>>),
}

fn saturated(growth: f64) -> f64 {
    (growth * ROUNDED).min(f64::MAX)
}

impl Growth {
    /// Of a recurrence with these coefficients.
    pub(super) fn of_recurrence(
        network: &dyn Neighbourhood,
        coefficients: &[Coefficients],
    ) -> Self {
        let norm = |u: usize| {
            let weights = network.weights(u).iter().map(|w| w.abs());
            network.self_weight(u).abs() + weights.sum::<f64>()
        };
        let norm = (0..network.peers()).map(norm).fold(0.0, f64::max);
        let (mut before, mut now) = (1.0, 1.0);
        let rounds = coefficients.iter().map(|c| {
            let sent = now;
            let mixed = c.mixed.abs() * norm + c.current.abs();
            now = saturated(mixed * now + c.previous.abs() * before);
            before = sent;
            sent
        });
        Self::Rounds(rounds.collect())
    }

    /// Of a schedule that passes mass for so many rounds.
    pub(super) fn of_passing(
        network: &dyn Neighbourhood,
        rounds: u32,
        contacts: &Contacts,
    ) -> Self {
        let most = match contacts {
            Contacts::All => (0..network.peers())
                .map(|u| network.neighbours(u).len())
                .max()
                .unwrap_or(0),
            Contacts::Pairs(_) => 1,
        };
        let (mut mass, mut total) = (1.0, 0.0);
        let rounds = (0..rounds).map(|_| {
            total = saturated(total + mass);
            mass = saturated(mass + 3.0 * most as f64 * total);
            total
        });
        Self::Rounds(rounds.collect())
    }

    /// Of what `peer` gets, which has these steps where the schedule is a list of all peers' `steps`.
    pub(super) fn of_peer(
        &self,
        network: &dyn Neighbourhood,
        peer: usize,
        steps: &[Vec<PeerStep>],
    ) -> OwnGrowth {
        let sent = match self {
            Self::Rounds(rounds) => return OwnGrowth::Rounds(Arc::clone(rounds)),
            Self::Steps(sent) => sent.0.get_or_init(|| sent_in(network, steps)),
        };
        let neighbours = network.neighbours(peer);
        let mut heard = vec![Vec::new(); neighbours.len()];
        for step in &steps[peer] {
            for expected in &step.expect {
                let position = expected.position as usize;
                let sender = neighbours[position] as usize;
                let at = steps[sender].partition_point(|one| one.round < step.round);
                let growth = sent[sender].get(at).copied().unwrap_or(f64::MAX);
                heard[position].push((step.round, growth));
            }
        }
        OwnGrowth::Heard(heard)
    }
}

/// Per peer and step, the growth of what it sends in a schedule of these steps, which are in order.
fn sent_in(network: &dyn Neighbourhood, steps: &[Vec<PeerStep>]) -> Vec<Vec<f64>> {
    let last = steps.iter().flatten().map(|step| step.round).max();
    let mut active = vec![Vec::new(); last.map_or(0, |last| last as usize + 1)];
    for (peer, own) in steps.iter().enumerate() {
        own.iter()
            .for_each(|step| active[step.round as usize].push(peer));
    }
    let mut now = vec![1.0; steps.len()];
    let capacities = steps.iter().map(|own| Vec::with_capacity(own.len()));
    let mut sent: Vec<Vec<f64>> = capacities.collect();
    for peers in active {
        let grown = |&peer: &usize| {
            let (step, neighbours) = (&steps[peer][sent[peer].len()], network.neighbours(peer));
            let own = step.own.abs() * now[peer];
            let sum = step.expect.iter().fold(own, |sum, expected| {
                sum + expected.weight.abs() * now[neighbours[expected.position as usize] as usize]
            });
            saturated(sum)
        };
        let after: Vec<f64> = peers.iter().map(grown).collect();
        for (peer, after) in peers.into_iter().zip(after) {
            sent[peer].push(std::mem::replace(&mut now[peer], after));
        }
    }
    sent
}

impl OwnGrowth {
    /// Of what the neighbour at `position` sends in this round; the largest number where it sends nothing.
    pub(super) fn of_message(&self, position: usize, round: u32) -> f64 {
        let in_round = |own: &Vec<(u32, f64)>| {
            let at = own.binary_search_by_key(&round, |(round, _)| *round);
            at.ok().map(|at| own[at].1)
        };
        let message = match self {
            Self::Rounds(rounds) => rounds.get(round as usize).copied(),
            Self::Heard(own) => own.get(position).and_then(in_round),
        };
        message.unwrap_or(f64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::Sketch;
    use super::super::{AveragingKind, AveragingOptions, Length, MixingBounds};
    use super::*;

    fn largest(kind: AveragingKind, network: &dyn Neighbourhood, length: Length) -> f64 {
        let bounds = MixingBounds {
            lowest: -0.5,
            second: 0.5,
        };
        let schedule = kind
            .compile(network, bounds, length, AveragingOptions::default())
            .expect("compiles");
        let own = (0..network.peers()).flat_map(|peer| {
            let own = schedule.peer(network, peer);
            let rounds = schedule.rounds();
            let heard: Vec<f64> = (0..own.degree())
                .flat_map(|at| (0..rounds).map(move |round| (at, round)))
                .filter(|(at, round)| own.heard(*at).index_of(*round).is_some())
                .map(|(at, round)| own.growth(at, round))
                .collect();
            heard
        });
        own.fold(0.0, f64::max)
    }

    /// Sums of s inputs are at most s times the largest, however deep the tree is.
    #[test]
    fn sums_grow_to_the_number_of_peers_and_no_further() {
        let near = |found: f64, expected: f64| (found / expected - 1.0).abs() < 1e-3;
        for network in [Sketch::path(900), Sketch::star(40), Sketch::complete(8)] {
            let found = largest(AveragingKind::Tree, &network, Length::Own);
            assert!(near(found, network.peers() as f64), "{found}");
        }
        let cube = Sketch::hamming(&[2, 2, 2]);
        // What is sent in the last phase is the sum over half of the peers.
        assert!(near(
            largest(AveragingKind::Doubling, &cube, Length::Own),
            4.0
        ));
    }

    #[test]
    fn growth_that_no_number_holds_is_the_largest_number() {
        let coefficients = vec![
            Coefficients {
                mixed: 3.0,
                current: 0.0,
                previous: -2.0,
            };
            2000
        ];
        let Growth::Rounds(found) = Growth::of_recurrence(&Sketch::path(3), &coefficients) else {
            panic!("by rounds");
        };
        assert_eq!(found.last(), Some(&f64::MAX));
        assert!(found.is_sorted() && found.iter().all(|g| g.is_finite()));
    }
}
