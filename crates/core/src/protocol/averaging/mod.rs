//! Averaging as a compiled schedule of exchanges.
//!
//! A scheme compiles the public communication graph to a [`Schedule`]: per step and peer whom to send to, whom to wait
//! for and how to combine, and a last factor that turns a peer's last value into its estimate of the sum. Three forms of schedule
//! exist:
//!
//! - a **recurrence**: in every round all peers exchange with all their neighbours,
//!   x^{k+1} = a_k · W x^k + b_k · x^k + c_k · x^{k−1} over the mixing matrix W, so that a list of (a, b, c) says everything;
//! - a **list** of every peer's steps, each with its own receivers, senders and weights;
//! - **passing**: peers give neighbours shares of a value and a weight, as running totals that survive lost messages.
//!
//! Peers, engines, counts of messages and bytes and the law of the analytic engine are derived from the schedule. A scheme is
//! one file here and one line in `schemes!` below, which gives [`AveragingKind`] its variant.

mod agreement;
mod chebyshev;
mod coefficients;
mod combination;
mod common_end;
mod doubling;
mod fold;
mod growth;
mod linear;
mod loss;
pub(crate) mod mass;
mod mix;
mod neighbourhood;
mod options;
mod pairwise;
mod passing;
mod push_sum;
mod recurrence;
mod rehearsal;
mod schedule;
mod spanning;
mod step;
#[cfg(test)]
mod testing;
mod traffic;
mod tree;
mod window;

use serde::{Deserialize, Serialize};

pub use coefficients::Coefficients;
pub use neighbourhood::Neighbourhood;
pub use options::{AveragingOption, AveragingOptions};
pub use passing::{Contacts, Meeting, Passing};
pub(crate) use passing::{Met, OwnContacts};
pub use recurrence::Recurrence;
pub use schedule::{Form, Schedule};
pub(crate) use schedule::{HeardRounds, Part, PeerSchedule};
pub use step::{Expected, PeerStep, ScheduleError};
pub use traffic::PhaseBytes;
pub(crate) use {common_end::CommonEnd, mix::mix_tile};
// For the other crates of Undertone.
#[doc(hidden)]
pub use {
    chebyshev::Chebyshev, doubling::Doubling, fold::fold, linear::Linear, loss::Loss, mix::Run,
    mix::mix, mix::runs, pairwise::Pairwise, passing::share, push_sum::PushSum, traffic::Load,
    traffic::PeerBytes, traffic::Phase, traffic::Traffic, tree::Tree,
};

/// Bounds on the eigenvalues of the mixing matrix other than 1: `lowest ≤ λ_min(W)`, `second ≥ λ₂(W)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MixingBounds {
    /// At most the smallest eigenvalue.
    pub lowest: f64,
    /// At least the largest eigenvalue but one.
    pub second: f64,
}

/// Errors of compiling a scheme to a schedule.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum AveragingError {
    /// The mixing matrix does not contract, as far as the bounds tell.
    #[error(
        "averaging needs eigenvalue bounds strictly inside (-1, 1), found [{lowest}, {second}]: is the topology connected?"
    )]
    NotContracting {
        /// The lower bound.
        lowest: f64,
        /// The upper bound.
        second: f64,
    },
    /// A tolerance that is not a fraction.
    #[error("averaging.tolerance must lie strictly between 0 and 1, found {tolerance}")]
    Tolerance {
        /// The value given.
        tolerance: f64,
    },
    /// More rounds than anybody wants to run.
    #[error(
        "reaching tolerance {tolerance:e} on this topology takes {needed:.0} rounds, more than {limit}; \
         use a better connected topology, averaging.scheme = \"chebyshev\", a larger tolerance or fewer averaging.rounds"
    )]
    TooManyRounds {
        /// The tolerance asked for.
        tolerance: f64,
        /// Rounds that would be needed.
        needed: f64,
        /// The most this build runs.
        limit: u32,
    },
    /// A tolerance or a number of rounds for a scheme that has neither.
    #[error(
        "averaging.scheme = \"{scheme}\" is exact after as many rounds as the topology needs: remove averaging.tolerance and \
         averaging.rounds, or set the whole table, averaging = {{scheme = \"{scheme}\"}}"
    )]
    FixedLength {
        /// The scheme.
        scheme: &'static str,
    },
    /// A graph that a scheme cannot span.
    #[error(
        "averaging.scheme = \"{scheme}\" reaches {reached} of {peers} peers: use a connected topology, or \
         topology.largest_component = true"
    )]
    Unreachable {
        /// The scheme.
        scheme: &'static str,
        /// Peers it reaches.
        reached: usize,
        /// All peers.
        peers: usize,
    },
    /// A promise that no spectrum tells.
    #[error(
        "what averaging.scheme = \"{scheme}\" promises follows from its schedule on one topology: compile it and ask the schedule"
    )]
    OfProgram {
        /// The scheme.
        scheme: &'static str,
    },
    /// The spread between peers that no longer shrinks.
    #[error(
        "averaging.scheme = \"{scheme}\" stops at {reached:e} after {rounds} rounds and does not reach tolerance {tolerance:e}: \
         use a connected topology, and a tolerance above the rounding of 64-bit numbers"
    )]
    Stalled {
        /// The scheme.
        scheme: &'static str,
        /// The tolerance asked for.
        tolerance: f64,
        /// What it comes to.
        reached: f64,
        /// After so many rounds.
        rounds: u32,
    },
    /// A list of exchanges that is too long to keep.
    #[error(
        "averaging.scheme = \"{scheme}\" would send more than {limit} messages per release, after {rounds} rounds: use a better \
         connected topology, averaging.scheme = \"chebyshev\", a larger tolerance or fewer averaging.rounds"
    )]
    TooManyMessages {
        /// The scheme.
        scheme: &'static str,
        /// Rounds that take as many.
        rounds: u32,
        /// The most this build lists.
        limit: u64,
    },
    /// Lost messages under a scheme that waits for every one.
    #[error(
        "averaging.scheme = \"{scheme}\" waits for every message and has none to lose: remove engine.loss, or set \
         averaging.scheme to \"push-sum\" or \"pairwise\""
    )]
    Lossless {
        /// The scheme.
        scheme: &'static str,
    },
    /// A graph without the edges for groups of peers.
    #[error(
        "averaging.scheme = \"{scheme}\" needs an edge between peers {first} and {second} of {peers}, counted from 0, which the \
         topology does not have: use generator = \"hypercube\", whose peers are a power of 2, or \"complete\", remove \
         averaging.base if it is set, or use averaging.scheme = \"tree\""
    )]
    NoGroups {
        /// The scheme.
        scheme: &'static str,
        /// All peers.
        peers: usize,
        /// One end of a missing edge.
        first: usize,
        /// The other.
        second: usize,
    },
    /// An option that the scheme does not know.
    #[error(
        "averaging.scheme = \"{scheme}\" has no averaging.{}: remove it; {} knows it",
        option.key(),
        option.known_by()
    )]
    UnknownOption {
        /// The scheme.
        scheme: &'static str,
        /// The option.
        option: AveragingOption,
    },
    /// An option outside the numbers it may be.
    #[error("averaging.{} must lie between {least} and {most}, found {found}", option.key())]
    OutOfRange {
        /// The option.
        option: AveragingOption,
        /// The number given.
        found: u32,
        /// The least allowed.
        least: u32,
        /// The most allowed.
        most: u32,
    },
    /// A root that is no peer.
    #[error(
        "averaging.root is peer {root} of {peers}, counted from 0: name a peer of the topology"
    )]
    Root {
        /// The index given.
        root: u32,
        /// All peers.
        peers: usize,
    },
    /// A scheme listed steps that are no schedule: a defect of the scheme.
    #[error("the scheme compiled to no valid schedule: {0}")]
    Schedule(#[from] ScheduleError),
    /// A scheme says of itself what its schedule does not show: a defect of the scheme.
    #[error(
        "averaging.scheme = \"{scheme}\" says {declared} of whether all peers end with the same bits, and its schedule shows the opposite: \
         correct AveragingScheme::is_exact"
    )]
    Undeclared {
        /// The scheme.
        scheme: &'static str,
        /// What it says.
        declared: bool,
    },
}

/// The most rounds one phase may take.
pub const MAX_ROUNDS: u32 = 1_000_000;

/// The tolerance where neither tolerance nor rounds are given.
pub const DEFAULT_TOLERANCE: f64 = 1e-9;

/// How long a schedule is to run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Length {
    /// As long as the scheme takes by itself: recurrences until [`DEFAULT_TOLERANCE`], exact schemes to their end.
    Own,
    /// Until the spread between peers has shrunk by this factor, strictly between 0 and 1.
    Tolerance(f64),
    /// Exactly so many rounds.
    Rounds(u32),
}

/// An averaging scheme: what compiles a graph to a schedule of exchanges.
pub trait AveragingScheme {
    /// What messages call it.
    fn name(&self) -> &'static str {
        "a scheme of your own"
    }

    /// The options it knows: others never reach [`Self::compile`] from a file.
    fn options(&self) -> &'static [AveragingOption] {
        &[]
    }

    /// The schedule on this network, whose mixing matrix has these bounds.
    ///
    /// # Errors
    /// [`AveragingError`] if the scheme has no schedule of this length with these options on this network.
    fn compile(
        &self,
        network: &dyn Neighbourhood,
        bounds: MixingBounds,
        length: Length,
        options: AveragingOptions,
    ) -> Result<Schedule, AveragingError>;

    /// The guaranteed factor by which the spread between peers has shrunk when a schedule of `rounds` rounds ends, for
    /// every start; 0 where all peers end with the same bits.
    ///
    /// # Errors
    /// [`AveragingError::NotContracting`] if the scheme needs bounds inside (−1, 1) and these are not.
    fn contraction(&self, bounds: MixingBounds, rounds: u32) -> Result<f64, AveragingError>;

    /// The fewest rounds, at least 1, that guarantee `tolerance`; a scheme that knows no tolerance keeps the refusal.
    ///
    /// # Errors
    /// [`AveragingError`] as [`AveragingKind::rounds`].
    fn rounds(&self, _bounds: MixingBounds, _tolerance: f64) -> Result<u32, AveragingError> {
        Err(AveragingError::FixedLength {
            scheme: self.name(),
        })
    }

    /// The coefficients of `rounds` rounds of a recurrence; a scheme that is none keeps the refusal.
    ///
    /// # Errors
    /// [`AveragingError`] as [`AveragingKind::schedule`].
    fn schedule(
        &self,
        _bounds: MixingBounds,
        _rounds: u32,
    ) -> Result<Vec<Coefficients>, AveragingError> {
        Err(AveragingError::FixedLength {
            scheme: self.name(),
        })
    }

    /// Whether all peers end with the same bits, after as many rounds as the graph takes. A scheme that files can name says it before
    /// it has a schedule, which then must show it ([`Schedule::ends_equal`]).
    fn is_exact(&self) -> bool {
        false
    }

    /// Whether its schedule passes mass: such a scheme does without lost messages, and its promise follows from the schedule.
    fn passes_mass(&self) -> bool {
        false
    }
}

macro_rules! schemes {
    ($($(#[$doc:meta])* $variant:ident = $name:literal;)*) => {
        /// The schemes an experiment file can name.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
        pub enum AveragingKind {
            $(
                $(#[$doc])*
                #[serde(rename = $name)]
                $variant,
            )*
        }

        impl AveragingKind {
            const ALL: &[Self] = &[$(Self::$variant),*];

            /// The scheme's name in files.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }

            /// The scheme.
            #[must_use]
            pub fn scheme(self) -> &'static dyn AveragingScheme {
                match self {
                    $(Self::$variant => &$variant,)*
                }
            }
        }
    };
}

schemes! {
    /// x ← W x.
    Linear = "linear";
    /// Chebyshev-accelerated: about the square root of the linear scheme's rounds.
    Chebyshev = "chebyshev";
    /// The exact sum up a spanning tree, the total down.
    Tree = "tree";
    /// The exact sum by exchanges in groups of groups.
    Doubling = "doubling";
    /// Shares of value and weight to all neighbours; survives lost messages.
    PushSum = "push-sum";
    /// Random disjoint pairs share equally; survives lost messages.
    Pairwise = "pairwise";
}

impl AveragingKind {
    /// All schemes, for conformance tests and help texts.
    pub fn all() -> impl Iterator<Item = Self> {
        Self::ALL.iter().copied()
    }

    /// The schemes that are recurrences.
    pub fn recurrences() -> impl Iterator<Item = Self> {
        Self::all().filter(|kind| !kind.is_exact() && !kind.passes_mass())
    }

    /// Whether its schedule passes mass: such a scheme does without lost messages, and its promise follows from the schedule.
    #[must_use]
    pub fn passes_mass(self) -> bool {
        self.scheme().passes_mass()
    }

    /// Whether all peers end with the same bits, after as many rounds as the graph takes: such a scheme has neither
    /// tolerance nor a number of rounds to choose. [`Self::compile`] holds it against [`Schedule::ends_equal`], so that the two never
    /// say different things.
    #[must_use]
    pub fn is_exact(self) -> bool {
        self.scheme().is_exact()
    }

    /// The schedule of this scheme.
    ///
    /// # Errors
    /// [`AveragingError`] if the bounds do not contract, the tolerance is no fraction, more than [`MAX_ROUNDS`] would be
    /// needed, a length is given to a scheme that has none to choose, the scheme does not know an option, the network is
    /// not connected, or the schedule is exact and the scheme says it is not, or the other way round.
    pub fn compile(
        self,
        network: &dyn Neighbourhood,
        bounds: MixingBounds,
        length: Length,
        options: AveragingOptions,
    ) -> Result<Schedule, AveragingError> {
        options.check(self)?;
        let schedule = self.scheme().compile(network, bounds, length, options)?;
        self.checked(schedule)
    }

    /// This schedule, if it shows what the scheme says of itself.
    fn checked(self, schedule: Schedule) -> Result<Schedule, AveragingError> {
        let (scheme, declared) = (self.name(), self.is_exact());
        match schedule.ends_equal() == declared {
            true => Ok(schedule),
            false => Err(AveragingError::Undeclared { scheme, declared }),
        }
    }

    /// The number of rounds that guarantees `tolerance`, at least 1.
    ///
    /// # Errors
    /// [`AveragingError`] if the bounds do not contract, the tolerance is no fraction, more than [`MAX_ROUNDS`] would be
    /// needed, or the scheme is exact and knows no tolerance.
    pub fn rounds(self, bounds: MixingBounds, tolerance: f64) -> Result<u32, AveragingError> {
        self.scheme().rounds(bounds, tolerance)
    }

    /// The coefficients of `rounds` rounds.
    ///
    /// # Errors
    /// [`AveragingError::NotContracting`] if the bounds do not lie inside (−1, 1); [`AveragingError::FixedLength`] if the
    /// scheme is no recurrence.
    pub fn schedule(
        self,
        bounds: MixingBounds,
        rounds: u32,
    ) -> Result<Vec<Coefficients>, AveragingError> {
        self.scheme().schedule(bounds, rounds)
    }

    /// The guaranteed contraction of the spread when a schedule of `rounds` rounds ends.
    ///
    /// # Errors
    /// [`AveragingError::NotContracting`] if a recurrence's bounds do not lie inside (−1, 1).
    pub fn contraction(self, bounds: MixingBounds, rounds: u32) -> Result<f64, AveragingError> {
        self.scheme().contraction(bounds, rounds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Metropolis weights of a ring of `n ≥ 4` peers: 1/3 each; eigenvalues (1 + 2cos(2πk/n))/3.
    fn ring_bounds(n: usize) -> MixingBounds {
        let eigenvalue =
            |k: usize| (1.0 + 2.0 * (std::f64::consts::TAU * k as f64 / n as f64).cos()) / 3.0;
        MixingBounds {
            lowest: (0..n).map(eigenvalue).fold(1.0, f64::min),
            second: eigenvalue(1),
        }
    }

    fn run_ring(kind: AveragingKind, n: usize, rounds: u32, start: &[f64]) -> Vec<f64> {
        let schedule = kind
            .schedule(ring_bounds(n), rounds)
            .expect("rings contract");
        let (mut before, mut now) = (start.to_vec(), start.to_vec());
        for coefficients in schedule {
            let next: Vec<f64> = (0..n)
                .map(|u| {
                    let around = [(u + n - 1) % n, (u + 1) % n];
                    let neighbours = around.map(|v| (1.0 / 3.0, std::slice::from_ref(&now[v])));
                    let mut out = [0.0];
                    mix(
                        coefficients,
                        1.0 / 3.0,
                        &now[u..=u],
                        &neighbours,
                        &before[u..=u],
                        &mut out,
                    );
                    out[0]
                })
                .collect();
            before = std::mem::replace(&mut now, next);
        }
        now
    }

    #[test]
    fn every_scheme_keeps_the_mean_and_contracts_as_promised() {
        let n = 24;
        let start: Vec<f64> = (0..n)
            .map(|u| ((u * u * 7 + 3) % 11) as f64 - 5.0)
            .collect();
        let mean = start.iter().sum::<f64>() / n as f64;
        let spread = |x: &[f64]| x.iter().map(|v| (v - mean).powi(2)).sum::<f64>().sqrt();
        for kind in AveragingKind::recurrences() {
            for tolerance in [0.5, 1e-3, 1e-9] {
                let rounds = kind
                    .rounds(ring_bounds(n), tolerance)
                    .expect("rings contract");
                let end = run_ring(kind, n, rounds, &start);
                assert!((end.iter().sum::<f64>() / n as f64 - mean).abs() < 1e-12);
                assert!(
                    spread(&end) <= tolerance * spread(&start) * (1.0 + 1e-6),
                    "{kind:?} {tolerance}"
                );
                let contraction = kind
                    .contraction(ring_bounds(n), rounds)
                    .expect("rings contract");
                let one_less = kind
                    .contraction(ring_bounds(n), rounds - 1)
                    .expect("rings contract");
                assert!(
                    contraction <= tolerance && tolerance < one_less,
                    "the rounds are the fewest that do"
                );
                for coefficients in kind.schedule(ring_bounds(n), rounds).expect("as before") {
                    let sum = coefficients.mixed + coefficients.current + coefficients.previous;
                    assert!(
                        (sum - 1.0).abs() < 1e-12,
                        "{kind:?}: coefficients sum to {sum}"
                    );
                }
            }
        }
    }

    #[test]
    fn a_ring_takes_the_rounds_that_were_measured() {
        // A simulation of the ring of 64 to 1e-9 took 216 Chebyshev rounds and 6,131 linear ones from one random start.
        let bounds = ring_bounds(64);
        let chebyshev = AveragingKind::Chebyshev
            .rounds(bounds, 1e-9)
            .expect("contracts");
        let linear = AveragingKind::Linear
            .rounds(bounds, 1e-9)
            .expect("contracts");
        assert!((210..=225).contains(&chebyshev), "{chebyshev}");
        assert!((6000..=6600).contains(&linear), "{linear}");
    }

    #[test]
    fn bounds_that_do_not_contract_and_bad_tolerances_are_refused() {
        let bad = [(-1.0, 0.5), (0.0, 1.0), (0.5, 0.0), (f64::NAN, 0.5)];
        for (lowest, second) in bad {
            let outcome = AveragingKind::Linear.rounds(MixingBounds { lowest, second }, 0.1);
            assert!(
                matches!(outcome, Err(AveragingError::NotContracting { .. })),
                "{lowest} {second}"
            );
        }
        for tolerance in [0.0, 1.0, -3.0, f64::NAN] {
            let outcome = AveragingKind::Linear.rounds(ring_bounds(8), tolerance);
            assert!(matches!(outcome, Err(AveragingError::Tolerance { .. })));
        }
        let slow = MixingBounds {
            lowest: -0.3,
            second: 1.0 - 1e-12,
        };
        assert!(matches!(
            AveragingKind::Linear.rounds(slow, 1e-9),
            Err(AveragingError::TooManyRounds { .. })
        ));
    }
}
