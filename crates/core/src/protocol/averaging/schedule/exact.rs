//! Whether a schedule adds up every input exactly once, so that sums of integers are exact.

use super::super::Neighbourhood;
use super::super::step::PeerStep;
use super::{Form, Part, PeerSchedule, Schedule};

/// The prime 2⁶¹ − 1.
const PRIME: u128 = (1 << 61) - 1;

/// Vectors that are tried.
const TRIED: u8 = 4;

impl Schedule {
    /// Whether every peer ends with the sum of all inputs, each exactly once, by additions alone, and no value on the way is a
    /// sum of more than s inputs, counted as often as they enter.
    ///
    /// # How it is known
    /// All weights and the last factor must be 1 and own values be kept or dropped, so that every value is a combination of the inputs with
    /// whole coefficients of at least 0. Run on ones, a value is the sum of its coefficients: none may exceed s, and all must end at s. Run on
    /// public numbers below p = 2⁶¹ − 1, which are a hash of the schedule, all must end with the sum mod p. A coefficient c of
    /// at most s < p other than 1 differs from 1 mod p, and then a uniform vector passes with probability 1/p: over
    /// 4 vectors, 2⁻²⁴⁴ per peer. Of schedules that take turns, each must pass.
    ///
    /// # Cost
    /// Five walks of the schedule, O(rounds + messages).
    #[must_use]
    pub fn sums_exactly(&self, network: &dyn Neighbourhood) -> bool {
        self.turns().iter().all(|turn| turn.is_exact(network))
    }

    /// The same for one turn.
    fn is_exact(&self, network: &dyn Neighbourhood) -> bool {
        let Form::Listed(steps) = self.form() else {
            return false;
        };
        if self.factor() != 1.0 || !steps.iter().all(|steps| only_add(steps)) {
            return false;
        }
        let peers = network.peers() as u128;
        let ones = self.walked(network, vec![1; network.peers()], u128::MAX, peers);
        ones.is_some_and(|last| last.iter().all(|&value| value == peers))
            && (0..TRIED).all(|number| {
                let inputs = self.public_numbers(number, network.peers());
                let sum = inputs.iter().fold(0, |sum, x| (sum + x) % PRIME);
                let last = self.walked(network, inputs, PRIME, u128::MAX);
                last.is_some_and(|last| last.iter().all(|&value| value == sum))
            })
    }

    /// What every peer ends with from these inputs, mod `modulus`; `None` if a value exceeds `most` on the way.
    fn walked(
        &self,
        network: &dyn Neighbourhood,
        mut now: Vec<u128>,
        modulus: u128,
        most: u128,
    ) -> Option<Vec<u128>> {
        let Form::Listed(steps) = self.form() else {
            return None;
        };
        let mut due = vec![0; steps.len()];
        for round in 0..self.rounds() {
            let mut changed = Vec::new();
            for (peer, steps) in steps.iter().enumerate() {
                let Some(step) = steps.get(due[peer]).filter(|step| step.round == round) else {
                    continue;
                };
                due[peer] += 1;
                let own = if step.own == 0.0 { 0 } else { now[peer] };
                let neighbours = network.neighbours(peer);
                let value = step.expect.iter().try_fold(own, |sum: u128, expected| {
                    let sender = *neighbours.get(expected.position as usize)?;
                    Some(sum.checked_add(*now.get(sender as usize)?)? % modulus)
                })?;
                if value > most {
                    return None;
                }
                changed.push((peer, value));
            }
            for (peer, value) in changed {
                now[peer] = value;
            }
        }
        Some(now)
    }

    /// Public numbers below the prime, one per peer.
    fn public_numbers(&self, number: u8, peers: usize) -> Vec<u128> {
        let mut hasher = blake3::Hasher::new_derive_key("undertone 2026-11 exact sums v1");
        hasher.update(&self.digest());
        hasher.update(&[number]);
        let mut stream = hasher.finalize_xof();
        let mut bytes = [0; 16];
        let numbers = (0..peers).map(|_| {
            stream.fill(&mut bytes);
            u128::from_le_bytes(bytes) % PRIME
        });
        numbers.collect()
    }
}

impl PeerSchedule {
    /// Whether all that this peer does in every turn is to add what it keeps and what comes, so that sums of integers mod 2^k stay such
    /// sums. Whether everybody ends with all inputs once is a question of the whole program, [`Schedule::sums_exactly`].
    #[must_use]
    pub fn only_adds(&self) -> bool {
        self.turns().iter().all(|turn| match turn.part() {
            Part::Listed { steps, .. } => turn.factor() == 1.0 && only_add(steps),
            Part::Recurrence { .. } | Part::Passing(_) => false,
        })
    }
}

/// Whether every weight is 1 and own values are kept or dropped.
fn only_add(steps: &[PeerStep]) -> bool {
    steps.iter().all(|step| {
        (step.own == 0.0 || step.own == 1.0) && step.expect.iter().all(|e| e.weight == 1.0)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::averaging::Expected;

    /// A triangle.
    struct Triangle;

    impl Neighbourhood for Triangle {
        fn peers(&self) -> usize {
            3
        }

        fn neighbours(&self, peer: usize) -> &[u32] {
            [&[1, 2][..], &[0, 2], &[0, 1]][peer]
        }

        fn weights(&self, _: usize) -> &[f64] {
            &[0.25, 0.25]
        }

        fn self_weight(&self, _: usize) -> f64 {
            0.5
        }
    }

    fn step(own: f64, weights: &[f64]) -> PeerStep {
        let expect = (0..)
            .zip(weights)
            .map(|(position, &weight)| Expected { position, weight });
        PeerStep {
            round: 0,
            send_to: [0, 1].into(),
            expect: expect.collect(),
            own,
            own_at: 0,
        }
    }

    fn schedule(factor: f64, steps: [PeerStep; 3]) -> Schedule {
        Schedule::listed(&Triangle, factor, steps.map(|step| vec![step]).to_vec()).expect("matched")
    }

    #[test]
    fn only_a_sum_of_everybody_once_is_exact() {
        let good = || step(1.0, &[1.0, 1.0]);
        let summing = schedule(1.0, [good(), good(), good()]);
        assert!(summing.sums_exactly(&Triangle));
        assert!((0..3).all(|peer| summing.peer(&Triangle, peer).only_adds()));
        let scaled = schedule(1.0, [good(), step(1.0, &[1.0, 2.0]), good()]);
        let only_adds = [0, 1, 2].map(|peer| scaled.peer(&Triangle, peer).only_adds());
        assert_eq!(only_adds, [true, false, true]);
        assert!(!schedule(2.0, [good(), good(), good()]).sums_exactly(&Triangle));
        for bad in [
            step(0.0, &[1.0, 1.0]),
            step(0.5, &[1.0, 1.0]),
            step(1.0, &[1.0, 2.0]),
            step(1.0, &[-1.0, 1.0]),
        ] {
            assert!(!schedule(1.0, [good(), bad, good()]).sums_exactly(&Triangle));
        }
        // Of several that take turns, every one must be.
        let turns = |steps: [PeerStep; 3]| {
            let good = schedule(1.0, [good(), good(), good()]);
            Schedule::taking_turns(vec![good, schedule(1.0, steps)]).expect("of one network")
        };
        assert!(turns([good(), good(), good()]).sums_exactly(&Triangle));
        assert!(!turns([good(), step(0.0, &[1.0, 1.0]), good()]).sums_exactly(&Triangle));
        let recurrence = Schedule::recurrence(&Triangle, Vec::new());
        assert!(!recurrence.sums_exactly(&Triangle));
        assert!(!recurrence.peer(&Triangle, 0).only_adds());
        // Peer 0 takes peer 1's value for its own and peer 2 in twice: three inputs, and not each once.
        let twice = vec![
            vec![
                PeerStep {
                    round: 0,
                    send_to: [].into(),
                    expect: vec![Expected {
                        position: 1,
                        weight: 1.0,
                    }],
                    own: 1.0,
                    own_at: 0,
                },
                PeerStep {
                    round: 1,
                    send_to: [].into(),
                    expect: vec![Expected {
                        position: 1,
                        weight: 1.0,
                    }],
                    own: 1.0,
                    own_at: 0,
                },
            ],
            vec![PeerStep::sending(0, &[])],
            vec![PeerStep::sending(0, &[0]), PeerStep::sending(1, &[0])],
        ];
        if let Ok(schedule) = Schedule::listed(&Triangle, 1.0, twice) {
            assert!(!schedule.sums_exactly(&Triangle));
        }
    }
}
