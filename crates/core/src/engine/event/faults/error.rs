//! What no schedule may hold.

/// The most entries of each list of a schedule.
pub const MOST_LISTED: usize = 10_000;

/// The longest time of a schedule: eleven days.
pub const MOST_MICROS: u64 = 1_000_000_000_000;

/// The largest part of the frames that links may lose; each is sent until it arrives.
pub const MOST_LOSS: f64 = 0.9;

/// Why a schedule cannot be run.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ScheduleError {
    /// A list that is too long.
    #[error("{key} has {found} entries; give at most {MOST_LISTED}")]
    TooMany {
        /// Which list.
        key: &'static str,
        /// Its entries.
        found: usize,
    },
    /// A time that is too long, or no time at all.
    #[error("{key} = {found}; give microseconds from {least} to {MOST_MICROS}")]
    Micros {
        /// Which.
        key: &'static str,
        /// What was given.
        found: u64,
        /// The least.
        least: u64,
    },
    /// A probability that is none, or so large that nothing arrives.
    #[error("{key} = {found}; give a probability from 0 to {most}")]
    Probability {
        /// Which.
        key: &'static str,
        /// What was given.
        found: f64,
        /// The largest.
        most: f64,
    },
    /// Something ends before it begins.
    #[error("{key}: until_micros = {until} is not after from_micros = {from}")]
    Interval {
        /// Which list.
        key: &'static str,
        /// Its beginning.
        from: u64,
        /// Its end.
        until: u64,
    },
    /// A deviant at no release, or with an error that is no number.
    #[error(
        "deviant: release = {release}, error = {error}; releases count from 1, and an error is a number"
    )]
    Deviant {
        /// At which release.
        release: u32,
        /// With which error.
        error: f64,
    },
    /// Two peers that are not linked.
    #[error("{key}: peers {u} and {v} have no link in the communication graph")]
    NoLink {
        /// Which list.
        key: &'static str,
        /// One.
        u: u32,
        /// The other.
        v: u32,
    },
    /// A peer that does not exist.
    #[error("{key}: there is no peer {peer} among {peers}")]
    NoPeer {
        /// Which list.
        key: &'static str,
        /// Who.
        peer: u32,
        /// How many there are.
        peers: usize,
    },
    /// A seed that files cannot hold.
    #[error("seed = {found}; give at most {}", i64::MAX)]
    Seed {
        /// What was given.
        found: u64,
    },
    /// More random faults than there is room for.
    #[error("random.{key} = {found}; give at most {most}")]
    TooManyRandom {
        /// Which.
        key: &'static str,
        /// What was given.
        found: u32,
        /// The most.
        most: usize,
    },
}
