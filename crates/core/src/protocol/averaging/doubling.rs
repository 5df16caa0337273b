//! The doubling scheme: everybody has the sum after as many exchanges as the number of peers has digits.

use super::{
    AveragingError, AveragingOption, AveragingOptions, AveragingScheme, Expected, Length,
    MixingBounds, Neighbourhood, PeerStep, Schedule,
};

/// Recursive doubling, in any mixed base that the graph has the edges for.
///
/// Let c = k₁·k₂⋯k_d and write every u < c with digits in the bases k₁, …, k_d, the lowest first. In phase i the k_i peers
/// that agree in all digits but the i-th send each other their values, and each adds up all k_i of them in the
/// order of that digit. On a hypercube all bases are 2, which is recursive doubling; on a complete graph with the one base s everybody
/// sends to everybody once. Peers are numbered as the nodes of the graph.
///
/// Peers c, …, s − 1 are *surplus*: peer u first sends its value to partner u mod c, which adds it to its own, and at the end gets
/// the sum from it.
///
/// ```text
/// round 0          a surplus peer sends to its partner              (only if there are any)
/// next d rounds    phase i: k_i − 1 messages out, k_i − 1 in        (peers below c)
/// last round       the partner sends the sum                        (only if there are any)
/// ```
///
/// # Choice of the bases
/// Without `averaging.base` all peers are below c where the graph has the edges for some factors of s, else c is the largest power
/// of 2 up to s; of the two whichever lets the busiest peer send less, and of all factors those for which it sends
/// Σ (k_i − 1) least, with few phases. With `averaging.base = b` all k_i are b and c is the largest power of b up to s.
///
/// # Claim
/// All peers end with the same bits, and these are Σ_u x_u up to rounding.
///
/// # Proof
/// Before phase i the peers that agree in the digits i, …, d hold the same bits, namely the sum over all peers that do, surplus ones of
/// theirs included: for i = 1 each stands for itself. In phase i two peers that agree in the digits above the i-th
/// add up k_i values that are the same for both by that, and in the same order, which depends on the digits of the senders and
/// not on who adds: so they get the same bits. After phase d no digit is left to differ in. A surplus peer takes its partner's
/// bits with weight 1. ∎
///
/// # What it costs
/// The busiest peer sends Σ (k_i − 1) blocks, log₂ s for base 2, where a tree sends a few; but there are d rounds (d + 2 with surplus
/// peers) instead of a tree's 2H, and nobody stands between others and the sum. One peer that fails stops all.
#[derive(Clone, Copy, Debug)]
pub struct Doubling;

impl AveragingScheme for Doubling {
    fn name(&self) -> &'static str {
        "doubling"
    }

    fn options(&self) -> &'static [AveragingOption] {
        &[AveragingOption::Base]
    }

    fn compile(
        &self,
        network: &dyn Neighbourhood,
        _bounds: MixingBounds,
        length: Length,
        options: AveragingOptions,
    ) -> Result<Schedule, AveragingError> {
        let scheme = self.name();
        if length != Length::Own {
            return Err(AveragingError::FixedLength { scheme });
        }
        let peers = u32::try_from(network.peers()).unwrap_or(u32::MAX);
        if let Some(found) = options.base().filter(|base| *base > peers) {
            return Err(AveragingError::OutOfRange {
                option: AveragingOption::Base,
                found,
                least: 2,
                most: peers,
            });
        }
        let digits = Digits::chosen(network, options.base()).map_err(|missing| {
            AveragingError::NoGroups {
                scheme,
                peers: network.peers(),
                first: missing.0,
                second: missing.1,
            }
        })?;
        let steps = (0..network.peers())
            .map(|u| digits.steps(network, u))
            .collect();
        Ok(Schedule::listed(network, 1.0, steps)?)
    }

    fn contraction(&self, _bounds: MixingBounds, _rounds: u32) -> Result<f64, AveragingError> {
        Ok(0.0)
    }

    fn is_exact(&self) -> bool {
        true
    }
}

/// An edge that would be needed and is missing.
type Missing = (usize, usize);

/// How peers are grouped.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Digits {
    /// Peers that are no surplus: the product of the bases.
    core: usize,
    /// k₁, …, k_d.
    bases: Vec<usize>,
}

impl Digits {
    /// The groups that this network has the edges for.
    fn chosen(network: &dyn Neighbourhood, base: Option<u32>) -> Result<Self, Missing> {
        let peers = network.peers();
        let powers = Self::powers(network, base.map_or(2, |base| base as usize));
        if base.is_some() {
            return powers;
        }
        match (Self::factors(network), powers) {
            (Some(all), Ok(powers)) if powers.most_sent(peers) < all.most_sent(peers) => Ok(powers),
            (Some(all), _) => Ok(all),
            (None, powers) => powers,
        }
    }

    /// Equal bases, as many as there are peers for.
    fn powers(network: &dyn Neighbourhood, base: usize) -> Result<Self, Missing> {
        let peers = network.peers();
        let mut digits = Self {
            core: 1,
            bases: Vec::new(),
        };
        while digits.core.saturating_mul(base) <= peers {
            require_groups(network, peers, (digits.core * base, digits.core, base))?;
            digits.core *= base;
            digits.bases.push(base);
        }
        for u in digits.core..peers {
            require(network, digits.partner(u), u)?;
        }
        Ok(digits)
    }

    /// The bases whose product is the number of peers with the least Σ (k − 1), of these the fewest, if there are any.
    ///
    /// From the largest divisor down, the best bases of the strides from each divisor on; whether the graph has the edges of
    /// a base at a stride depends on nothing else.
    fn factors(network: &dyn Neighbourhood) -> Option<Self> {
        let peers = network.peers();
        let divisors: Vec<usize> = (1..=peers).filter(|m| peers.is_multiple_of(*m)).collect();
        // Per divisor: messages and phases from this stride on, and the base that comes first.
        let mut best: Vec<Option<(usize, usize, usize)>> = vec![None; divisors.len()];
        let end = divisors.len().checked_sub(1)?;
        best[end] = Some((0, 0, 1));
        for at in (0..end).rev() {
            let stride = divisors[at];
            let mut ways: Vec<(usize, usize, usize)> = (at + 1..=end)
                .filter_map(|next| {
                    let (sent, phases, _) = best[next]?;
                    let base = divisors[next] / stride;
                    let whole = divisors[next].is_multiple_of(stride);
                    whole.then_some((sent + base - 1, phases + 1, base))
                })
                .collect();
            ways.sort_unstable();
            best[at] = ways.into_iter().find(|&(_, _, base)| {
                require_groups(network, peers, (peers, stride, base)).is_ok()
            });
        }
        let (mut core, mut bases) = (1, Vec::new());
        while core < peers {
            let at = divisors.binary_search(&core).ok()?;
            let (_, _, base) = best[at]?;
            bases.push(base);
            core *= base;
        }
        Some(Self { core, bases })
    }

    /// Messages of the busiest peer.
    fn most_sent(&self, peers: usize) -> usize {
        let surplus = (peers - self.core).div_ceil(self.core);
        self.bases.iter().map(|base| base - 1).sum::<usize>() + surplus
    }

    fn partner(&self, surplus: usize) -> usize {
        surplus % self.core
    }

    fn steps(&self, network: &dyn Neighbourhood, u: usize) -> Vec<PeerStep> {
        let neighbours = network.neighbours(u);
        let position = |v: usize| neighbours.partition_point(|&w| (w as usize) < v) as u32;
        let hear = |round: u32, from: &[u32]| PeerStep {
            expect: from
                .iter()
                .map(|&position| Expected {
                    position,
                    weight: 1.0,
                })
                .collect(),
            ..PeerStep::sending(round, &[])
        };
        let peers = network.peers();
        let begin = u32::from(peers > self.core);
        let end = begin + self.bases.len() as u32;
        if u >= self.core {
            let partner = [position(self.partner(u))];
            let last = PeerStep {
                own: 0.0,
                ..hear(end, &partner)
            };
            return vec![PeerStep::sending(0, &partner), last];
        }
        let surplus: Vec<u32> = (u + self.core..peers)
            .step_by(self.core)
            .map(position)
            .collect();
        let mut steps = Vec::with_capacity(self.bases.len() + 2);
        if !surplus.is_empty() {
            steps.push(hear(0, &surplus));
        }
        let mut stride = 1;
        for (round, &base) in (begin..).zip(&self.bases) {
            let digit = u / stride % base;
            let first = u - digit * stride;
            let others: Vec<u32> = (0..base)
                .filter(|other| *other != digit)
                .map(|other| position(first + other * stride))
                .collect();
            steps.push(PeerStep {
                send_to: others.as_slice().into(),
                own_at: digit as u32,
                ..hear(round, &others)
            });
            stride *= base;
        }
        if !surplus.is_empty() {
            steps.push(PeerStep::sending(end, &surplus));
        }
        steps
    }
}

/// Whether the network joins, among the first `core` peers, all that differ only in the digit of this stride and base.
fn require_groups(
    network: &dyn Neighbourhood,
    peers: usize,
    (core, stride, base): (usize, usize, usize),
) -> Result<(), Missing> {
    for u in 0..core.min(peers) {
        let digit = u / stride % base;
        for other in digit + 1..base {
            require(network, u, u + (other - digit) * stride)?;
        }
    }
    Ok(())
}

fn require(network: &dyn Neighbourhood, u: usize, v: usize) -> Result<(), Missing> {
    let edge = network.neighbours(u).binary_search(&(v as u32));
    edge.map(|_| ()).map_err(|_| (u, v))
}

#[cfg(test)]
mod tests {
    use super::super::AveragingKind;
    use super::super::testing::{Sketch, estimates, sent};
    use super::*;

    const BOUNDS: MixingBounds = MixingBounds {
        lowest: -0.9,
        second: 0.9,
    };

    fn compiled(network: &Sketch, base: Option<u32>) -> Result<Schedule, AveragingError> {
        let options = AveragingOptions::default();
        let options = base.map_or(Ok(options), |base| options.with_base(base))?;
        AveragingKind::Doubling.compile(network, BOUNDS, Length::Own, options)
    }

    /// Values whose sum depends on the order in its last bits.
    fn inputs(peers: usize) -> Vec<f64> {
        (0..peers)
            .map(|u| ((u * u + 1) as f64).sin() * 10_f64.powi(u as i32 % 7))
            .collect()
    }

    #[test]
    fn all_peers_end_with_the_same_bits_of_the_sum_in_every_base() {
        let networks = [
            (Sketch::hamming(&[2, 2, 2, 2]), None, 4, 4),
            (Sketch::hamming(&[3, 3]), None, 4, 2),
            (Sketch::hamming(&[3, 3, 3]), Some(3), 6, 3),
            (Sketch::hamming(&[2, 3, 5]), None, 7, 3),
            (Sketch::hamming(&[5, 3, 2]), None, 7, 3),
            (Sketch::complete(1), None, 0, 1),
            (Sketch::complete(2), None, 1, 1),
            // Factors 2·3 send 1 + 2 in two rounds; a core of 4 and two surplus peers 2 + 1 in four.
            (Sketch::complete(6), None, 3, 2),
            // A prime number of peers: a core of 4 sends 2 + 1, all at once 6.
            (Sketch::complete(7), None, 3, 4),
            (Sketch::complete(7), Some(7), 6, 1),
            // A core of 5 with 13 surplus peers, three of them with some of its peers.
            (Sketch::complete(18), Some(5), 7, 3),
            (Sketch::complete(64), Some(8), 14, 2),
            (Sketch::complete(64), None, 6, 6),
            (Sketch::hamming(&[4, 4]), Some(4), 6, 2),
            (Sketch::complete(36), None, 6, 4),
            (Sketch::complete(31), None, 5, 6),
        ];
        for (network, base, most, rounds) in networks {
            let schedule = compiled(&network, base).expect("the edges are there");
            assert_eq!((schedule.rounds(), schedule.factor()), (rounds, 1.0));
            assert_eq!(sent(&schedule).into_iter().max(), Some(most), "{network:?}");
            let inputs = inputs(network.peers());
            let found = estimates(&schedule, &network, &inputs);
            assert!(
                found.iter().all(|x| x.to_bits() == found[0].to_bits()),
                "{network:?}"
            );
            let (sum, size) = (
                inputs.iter().sum::<f64>(),
                inputs.iter().map(|x| x.abs()).sum::<f64>(),
            );
            assert!((found[0] - sum).abs() <= 1e-14 * size, "{network:?}");
        }
    }

    /// With three values in a group the place of the own one decides the last bits: without it peers differ.
    #[test]
    fn the_own_value_has_its_place_in_the_order() {
        let network = Sketch::complete(3);
        let schedule = compiled(&network, Some(3)).expect("complete");
        let inputs = [1e16, 1.0, -1e16];
        assert_eq!(estimates(&schedule, &network, &inputs), [0.0; 3]);
        let mut steps = super::super::testing::steps(&schedule).to_vec();
        for step in steps.iter_mut().flatten() {
            step.own_at = 0;
        }
        let schedule = Schedule::listed(&network, 1.0, steps).expect("still a schedule");
        let found = estimates(&schedule, &network, &inputs);
        assert!(found.iter().any(|x| *x != found[0]), "{found:?}");
    }

    #[test]
    fn a_hypercube_with_a_few_peers_more_folds_them_in() {
        // Peers 8 and 9 hang on 0 and 1.
        let edges = (0..8_u32).flat_map(|u| [1, 2, 4].map(|bit| (u, u ^ bit)));
        let network = Sketch::of(10, edges.chain([(0, 8), (1, 9)]));
        let schedule = compiled(&network, None).expect("the edges are there");
        assert_eq!(schedule.rounds(), 5);
        assert_eq!(sent(&schedule), [4, 4, 3, 3, 3, 3, 3, 3, 1, 1]);
        assert_eq!(estimates(&schedule, &network, &[1.0; 10]), [10.0; 10]);
    }

    #[test]
    fn a_missing_edge_is_named_with_what_to_do() {
        for network in [
            Sketch::path(4),
            Sketch::star(8),
            Sketch::hamming(&[2, 4, 2]),
        ] {
            let outcome = compiled(&network, Some(2));
            let complete = network.peers() == 16;
            assert_eq!(
                outcome.is_ok(),
                complete,
                "a group of 4 has all edges of 2 by 2"
            );
            if let Err(error) = outcome {
                let text = error.to_string();
                assert!(
                    text.contains("hypercube") && text.contains("\"tree\""),
                    "{text}"
                );
            }
        }
        let error = compiled(&Sketch::path(4), None).expect_err("no edge from 0 to 2");
        assert!(
            matches!(
                error,
                AveragingError::NoGroups {
                    first: 0,
                    second: 2,
                    ..
                }
            ),
            "{error}"
        );
        let error = compiled(&Sketch::complete(4), Some(5)).expect_err("no five peers");
        assert!(
            error.to_string().contains("between 2 and 4, found 5"),
            "{error}"
        );
        let error = compiled(&Sketch::hamming(&[2, 2]), Some(3)).expect_err("three are not joined");
        assert!(matches!(error, AveragingError::NoGroups { .. }), "{error}");
        let long = AveragingKind::Doubling.compile(
            &Sketch::complete(4),
            BOUNDS,
            Length::Rounds(3),
            AveragingOptions::default(),
        );
        assert!(matches!(long, Err(AveragingError::FixedLength { .. })));
    }
}
