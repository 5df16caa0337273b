//! How many rounds a schedule that passes mass takes, found by running it on probe vectors before anybody has data.
//!
//! # What is bounded
//! Without loss a schedule is one linear map: values x become M x and weights 1 become w = M 1, so the means that peers end with are
//! z = diag(w)⁻¹ M x. Let B = diag(w)⁻¹ M − (1/s) 1 1ᵀ. Then B 1 = 0, so
//!
//! ```text
//! ‖z − x̄ 1‖ = ‖B (x − x̄ 1)‖ ≤ ‖B‖ · ‖x − x̄ 1‖          for every x:
//! ```
//!
//! ‖B‖, the largest singular value, is the factor by which the spread has shrunk for certain, as the contraction of a recurrence.
//! With loss the same holds with the M and w of what has been lost: a peer's values and its weight lose the same shares, and what
//! is still under way at the end is missing from both, so that it makes no error of its own.
//!
//! # Claim: no loss
//! Let ω₁ … ω_r be independent standard normal vectors, r = 16, and c = 10·√(2/π)·max_i ‖Bω_i‖. Then ‖B‖ ≤ c but with probability at
//! most 10⁻¹⁶ over the vectors.
//!
//! # Proof
//! Let v be the right singular vector of ‖B‖. Then ‖Bω‖ ≥ ‖B‖·|vᵀω|, and g = vᵀω is standard normal, whose density is at
//! most 1/√(2π): P(|g| < t) ≤ t√(2/π). So 10√(2/π)·‖Bω‖ < ‖B‖ has probability at most 1/10, for all r vectors 10^{−r}. ∎
//! (Halko, Martinsson & Tropp 2011, Lemma 4.1, after Dixon 1983.)
//!
//! The rounds are the fewest for which c is at most the tolerance. The claim is used once per round until then, so all of them
//! hold but with probability 10⁻¹⁶ times the rounds. The vectors are drawn from a fixed public stream that no matching is
//! drawn from.
//!
//! # Claim: loss
//! B is then random. Let E be the mean of ‖B‖_F² over all patterns of loss. By Markov's inequality at most one pattern in 10⁶ has
//! ‖B‖_F > 10³·√E, and ‖B‖ ≤ ‖B‖_F. E‖Bω‖² = ‖B‖_F² for a standard normal ω, so c = 10³·√(mean of ‖Bω‖²) over 8 simulated
//! patterns and 16 vectors each is that bound **as far as the mean of 128 is the mean of all**: planned with a wide margin,
//! not proved. What a run reports as its disagreement is measured.

use chacha20::ChaCha20Rng;
use rand::Rng;
use rand::distr::Distribution;

use super::loss::Loss;
use super::neighbourhood::Neighbourhood;
use super::passing::share;
use super::{AveragingError, Length, MAX_ROUNDS};
use crate::vocabulary::{Label, Seed, StandardNormal};

/// Probe vectors per pattern of loss.
const PROBES: usize = 16;

/// A mass: the weight, then one value per probe.
const WIDTH: usize = 1 + PROBES;
type Mass = [f64; WIDTH];

/// Simulated patterns of loss, where there is any.
const PATTERNS: u32 = 8;

/// 1 over the fraction of patterns that may exceed what is planned for.
const EXCEEDING: f64 = 1e6;

/// The most messages of one run of a schedule: what its list of meetings and its rehearsal are bounded by.
const MAX_MESSAGES: u64 = 1 << 26;

/// Rounds per peer before it is asked whether the spread still shrinks, and at least so many.
const PATIENCE: (u32, u32) = (4, 64);

/// What is exchanged in one round.
pub(super) enum Round {
    /// Everybody meets all neighbours.
    All,
    /// These pairs meet, with their directed edges.
    Pairs(Vec<(u32, u32)>),
}

/// What a rehearsal found.
pub(super) struct Rehearsed {
    pub(super) rounds: Vec<Round>,
    pub(super) contraction: f64,
}

/// Runs rounds as `next` gives them until the length is reached.
///
/// # Errors
/// [`AveragingError`] if the tolerance is no fraction or cannot be reached, or takes too many rounds or messages.
pub(super) fn rehearse(
    network: &dyn Neighbourhood,
    scheme: &'static str,
    (length, loss): (Length, Loss),
    mut next: impl FnMut(u32) -> Round,
) -> Result<Rehearsed, AveragingError> {
    let (tolerance, most) = match length {
        Length::Own => (super::DEFAULT_TOLERANCE, MAX_ROUNDS),
        Length::Tolerance(tolerance) => (tolerance, MAX_ROUNDS),
        Length::Rounds(rounds) => (0.0, rounds),
    };
    let fixed = matches!(length, Length::Rounds(_));
    let fraction = tolerance > 0.0 && tolerance < 1.0;
    if !(fixed || fraction) {
        return Err(AveragingError::Tolerance { tolerance });
    }
    let too_many = |rounds| AveragingError::TooManyMessages {
        scheme,
        rounds,
        limit: MAX_MESSAGES,
    };
    // At least one pair meets in a round where anybody does.
    if fixed && u64::from(most) > MAX_MESSAGES / 2 {
        return Err(too_many(most));
    }
    let edges = Edges::of(network);
    let patterns = if loss.is_none() { 1 } else { PATTERNS };
    let mut runs: Vec<Run> = (0..patterns)
        .map(|pattern| Run::new(&edges, pattern, loss))
        .collect();
    let patience = (PATIENCE.0.saturating_mul(network.peers() as u32)).max(PATIENCE.1);
    let (mut rounds, mut found, mut messages) = (Vec::new(), Vec::new(), 0_u64);
    if length == Length::Rounds(0) {
        let contraction = bound(&runs, loss);
        return Ok(Rehearsed {
            rounds,
            contraction,
        });
    }
    loop {
        let round = rounds.len() as u32;
        let exchange = next(round);
        messages += match &exchange {
            Round::All => edges.receivers.len() as u64,
            Round::Pairs(pairs) => 2 * pairs.len() as u64,
        };
        for run in &mut runs {
            run.pass(&edges, &exchange);
        }
        rounds.push(exchange);
        let done = rounds.len() as u32;
        let contraction = bound(&runs, loss);
        if (fixed && done == most) || (!fixed && contraction <= tolerance) {
            return Ok(Rehearsed {
                rounds,
                contraction,
            });
        }
        if messages > MAX_MESSAGES {
            return Err(too_many(done));
        }
        if fixed {
            continue;
        }
        found.push(contraction);
        let earlier = found[found.len() * 2 / 3];
        if done >= patience && contraction > 0.99 * earlier {
            return Err(AveragingError::Stalled {
                scheme,
                tolerance,
                reached: contraction,
                rounds: done,
            });
        }
        if done == most {
            let needed = f64::from(done) * libm::log(tolerance) / libm::log(contraction.min(1.0));
            return Err(AveragingError::TooManyRounds {
                tolerance,
                needed,
                limit: most,
            });
        }
    }
}

/// c of the claims.
fn bound(runs: &[Run], loss: Loss) -> f64 {
    let squares = runs.iter().flat_map(Run::squares);
    if loss.is_none() {
        10.0 * std::f64::consts::FRAC_2_PI.sqrt() * squares.fold(0.0, f64::max).sqrt()
    } else {
        let mean = squares.sum::<f64>() / (runs.len() * PROBES) as f64;
        (EXCEEDING * mean).sqrt()
    }
}

/// The directed edges of a network, sender after sender.
struct Edges {
    /// Where each sender's edges begin; one more entry than peers.
    first: Vec<usize>,
    receivers: Vec<u32>,
}

impl Edges {
    fn of(network: &dyn Neighbourhood) -> Self {
        let mut edges = Self {
            first: vec![0],
            receivers: Vec::new(),
        };
        for peer in 0..network.peers() {
            edges.receivers.extend_from_slice(network.neighbours(peer));
            edges.first.push(edges.receivers.len());
        }
        edges
    }

    /// The edges that `peer` sends on.
    fn from(&self, peer: usize) -> std::ops::Range<usize> {
        self.first[peer]..self.first[peer + 1]
    }

    fn between(&self, from: u32, to: u32) -> usize {
        let edges = self.from(from as usize);
        let at = self.receivers[edges.clone()].partition_point(|&v| v < to);
        edges.start + at
    }
}

/// The masses of all peers under one pattern of loss.
struct Run {
    now: Vec<Mass>,
    next: Vec<Mass>,
    /// Per directed edge what was given and has not come, where messages are lost.
    under_way: Vec<Mass>,
    /// The mean of each probe.
    means: [f64; PROBES],
    loss: Loss,
    losses: ChaCha20Rng,
}

impl Run {
    fn new(edges: &Edges, pattern: u32, loss: Loss) -> Self {
        let peers = edges.first.len() - 1;
        let key = Seed::from_u64(0).key(Label::Rehearsal, pattern, 0);
        let mut generator = key.stream(0, 0);
        let mut now = vec![[1.0; WIDTH]; peers];
        for mass in &mut now {
            mass[1..].fill_with(|| StandardNormal.sample(&mut generator));
        }
        let mut means = [0.0; PROBES];
        for mass in &now {
            for (mean, x) in means.iter_mut().zip(&mass[1..]) {
                *mean += x / peers as f64;
            }
        }
        let waiting = if loss.is_none() {
            0
        } else {
            edges.receivers.len()
        };
        Self {
            next: now.clone(),
            now,
            under_way: vec![[0.0; WIDTH]; waiting],
            means,
            loss,
            losses: key.stream(1, 0),
        }
    }

    fn pass(&mut self, edges: &Edges, exchange: &Round) {
        match exchange {
            Round::All => {
                for (peer, (next, mass)) in self.next.iter_mut().zip(&self.now).enumerate() {
                    *next = scaled(share(edges.from(peer).len() as u32), mass);
                }
                for peer in 0..self.now.len() {
                    let given = scaled(share(edges.from(peer).len() as u32), &self.now[peer]);
                    for edge in edges.from(peer) {
                        self.send(edge, edges.receivers[edge], &given);
                    }
                }
            }
            Round::Pairs(pairs) => {
                self.next.copy_from_slice(&self.now);
                for &(a, b) in pairs {
                    for peer in [a, b] {
                        let peer = peer as usize;
                        self.next[peer] = scaled(0.5, &self.now[peer]);
                    }
                    for (from, to) in [(a, b), (b, a)] {
                        let given = scaled(0.5, &self.now[from as usize]);
                        self.send(edges.between(from, to), to, &given);
                    }
                }
            }
        }
        std::mem::swap(&mut self.now, &mut self.next);
    }

    fn send(&mut self, edge: usize, to: u32, given: &Mass) {
        let arrives = |mass: &mut Mass, given: &Mass| {
            for (x, given) in mass.iter_mut().zip(given) {
                *x += given;
            }
        };
        let receiver = &mut self.next[to as usize];
        let Some(waiting) = self.under_way.get_mut(edge) else {
            return arrives(receiver, given);
        };
        arrives(waiting, given);
        // 53 bits: a uniform number in [0, 1).
        let uniform = (self.losses.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
        if uniform >= self.loss.fraction() {
            arrives(receiver, waiting);
            *waiting = [0.0; WIDTH];
        }
    }

    /// ‖Bω‖² of every probe.
    fn squares(&self) -> [f64; PROBES] {
        let mut squares = [0.0; PROBES];
        for mass in &self.now {
            let probes = mass[1..].iter().zip(&self.means);
            for (square, (x, mean)) in squares.iter_mut().zip(probes) {
                *square += (x / mass[0] - mean).powi(2);
            }
        }
        squares
    }
}

fn scaled(share: f64, mass: &Mass) -> Mass {
    mass.map(|x| share * x)
}
