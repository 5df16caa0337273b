//! What the user should know before trusting a result.

use serde::{Serialize, Serializer};

use crate::algorithm::LARGEST_ENTRY;
use crate::privacy::CalibrationWarning;
use crate::protocol::regroup::ThresholdsError;
use crate::topology::{CERTIFIED_UP_TO, SAFETY};

/// Something the user should know before trusting a result. Its text is what summaries and terminals show.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Warning {
    /// No noise is added.
    #[error("noise.scheme = \"none\": this run protects nobody")]
    NoNoise,
    /// The calibration spends more than it was asked to.
    #[error("{0}")]
    Calibration(CalibrationWarning),
    /// A δ that covers giving away a whole user.
    #[error(
        "delta = {delta} allows revealing one of {users} users outright; choose it well below {:.1e}",
        1.0 / *users as f64
    )]
    LargeDelta {
        /// δ of the run.
        delta: f64,
        /// Number of users.
        users: usize,
    },
    /// Contributions that can be read before everybody holds them, for want of neighbours.
    #[error("dropouts.publish = \"open\", so that a release that is tried again is paid for: {0}")]
    OpenContributions(ThresholdsError),
    /// Pairwise noise that saves nothing.
    #[error(
        "every peer adds as much noise as if it trusted nobody, and pairwise noise on top; \
         noise.scheme = \"local\" is cheaper"
    )]
    DearerThanLocal,
    /// A curator is trusted, whatever the noise scheme says.
    #[error(
        "engine \"central\" trusts the curator: noise.scheme and privacy.colluders are ignored"
    )]
    TrustedCurator,
    /// Pairwise noise where a secure sum would cancel it.
    #[error(
        "engine \"federated\" has an ideal secure sum, which pairwise noise would not survive: peers add \
         independent shares only"
    )]
    NoPairwiseNoise,
    /// X⁰ shows item degrees.
    #[error(
        "algorithm.start = \"popularity\" publishes the shape of the item degrees in X0 before any noise: they must be \
         public already, as P1 takes them to be; no epsilon covers them"
    )]
    PopularityStart,
    /// The file of the graph holds more than a graph.
    #[error("{file}: not part of the graph and left out: {what}")]
    GraphLeftOut {
        /// The file's name.
        file: String,
        /// What it holds.
        what: String,
    },
    /// P shows item degrees.
    #[error(
        "algorithm.precondition = \"items\" weighs items by their degrees in the data, so that what is published is a function of them before any noise: \
         they must be public already; no epsilon covers them"
    )]
    PublicDegrees,
    /// Estimates are drawn from their law, which is approximated.
    #[error(
        "engine \"analytic\" draws the estimates of {probes} probe peers from their exact joint law instead of simulating all \
         peers; approximated: from iteration 2 on, everybody contributes at the X of peer {at} (consensus.approximation \
         bounds the effect), and disagreement is among the probes only"
    )]
    Approximated {
        /// Number of probes.
        probes: usize,
        /// The name of the peer at whose X everybody contributes.
        at: String,
    },
    /// Rounding that is not far below the noise.
    #[error(
        "averaging.values = \"f32\": rounding may move a sum by {:.1} % of its noise, as far as its bound tells; \
         averaging.values = \"f64\" rounds nothing to speak of",
        100.0 * part
    )]
    CoarseValues {
        /// The bound on rounding over the noise.
        part: f64,
    },
    /// Entries of a matrix without a public range.
    #[error(
        "data.ranges is absent, so that entries count as at most {LARGEST_ENTRY} and at least -{LARGEST_ENTRY}: without a bound rounding would undo the noise; \
         give the public range of an entry"
    )]
    ClampedEntries,
    /// A released matrix that says nothing beyond popularity.
    #[error(
        "the private part adds nothing: no direction of the Gram matrix of {items} items stands out of the noise, whose edge is {edge:.3}, beyond \
         what their popularity explains, so that everybody is recommended what is popular; raise privacy.epsilon, or have more users"
    )]
    NothingStandsOut {
        /// Items of the matrix.
        items: usize,
        /// The edge of the noise.
        edge: f64,
    },
    /// A histogram of lengths that says little.
    #[error(
        "the noise on the counts that clipping thresholds follow from has a standard deviation of {sigma:.0}, and {most_above:.0} rows may be \
         above a threshold: thresholds are mostly noise and differ from run to run; raise privacy.epsilon or algorithm.clip_share, or lower \
         algorithm.iterations"
    )]
    ClipIsNoise {
        /// Standard deviation of the noise on every count.
        sigma: f64,
        /// (1 − γ)m.
        most_above: f64,
    },
    /// Eigenvalues that are not certified decide the number of rounds.
    #[error(
        "the topology has more than {CERTIFIED_UP_TO} peers, so the number of averaging rounds rests on estimated \
         eigenvalues with a safety factor of {SAFETY}"
    )]
    EstimatedSpectrum,
}

impl Serialize for Warning {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
