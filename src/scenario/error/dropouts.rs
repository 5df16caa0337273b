//! What can be wrong with the tables `[dropouts]` and `[faults]`.

use crate::algorithm::Unsupported;
use crate::engine::event::faults::ScheduleError;
use crate::privacy::PrivacyError;
use crate::protocol::regroup::ThresholdsError;
use crate::topology::PeerNameError;

/// Why the tables `[dropouts]` and `[faults]` cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum DropoutsTableError {
    /// An engine without peers that could be lost, or without peers that tolerate it.
    #[error(
        "[dropouts] does not go with engine.kind = \"{kind}\", where no peer outlives another: set engine.kind = \"event\", or \"lockstep\" for the \
         same session where nobody is lost"
    )]
    Engine {
        /// The engine.
        kind: &'static str,
    },
    /// Faults on an engine on which nothing goes wrong.
    #[error(
        "[faults] does not go with engine.kind = \"{kind}\", where nothing goes wrong: set engine.kind = \"event\""
    )]
    FaultsEngine {
        /// The engine.
        kind: &'static str,
    },
    /// Faults of a session that says nothing of what it tolerates.
    #[error(
        "[faults] needs [dropouts]: say how many peers may be lost, and how often a release may be tried again; tolerate = 0 with retries = 0 if none"
    )]
    Alone,
    /// Releases that tolerant peers do not make.
    #[error(transparent)]
    Unsupported(#[from] Unsupported),
    /// What tolerant sessions are not made for.
    #[error("[dropouts] does not go with {key}: {change}")]
    With {
        /// Which key.
        key: &'static str,
        /// What to do.
        change: &'static str,
    },
    /// Sealed publication in a graph whose degrees do not allow it.
    #[error("[dropouts] publish = \"sealed\": {0}")]
    Sealed(#[from] ThresholdsError),
    /// More retries than anybody pays for.
    #[error("[dropouts] retries = {found}; give at most {most}")]
    Retries {
        /// What was given.
        found: u32,
        /// The most.
        most: u32,
    },
    /// So many may be lost that two sides could both go on.
    #[error(
        "[dropouts] tolerate = {found} of {peers} peers: more than half must be left, so that two sides of a broken network cannot both go on; set \
         tolerate to at most {most}"
    )]
    Half {
        /// What was given.
        found: usize,
        /// Number of peers.
        peers: usize,
        /// The most.
        most: usize,
    },
    /// So many may be lost that the rest could fall apart.
    #[error(
        "[dropouts] tolerate = {found}, but the communication graph can fall apart when {connectivity} of its peers are lost: set tolerate to at \
         most {most}, or choose a [topology] in which everybody stays connected without any {found} peers"
    )]
    Connectivity {
        /// What was given.
        found: usize,
        /// κ.
        connectivity: usize,
        /// The most.
        most: usize,
    },
    /// Noise that cannot be had for so many colluding or lost.
    #[error(
        "[dropouts] tolerate = {tolerate} beside privacy.colluders = {colluders}: noise must hide everybody as if {} peers colluded, since \
         whoever is lost hides nobody, and {source}; lower tolerate or colluders, or give the noise graph more edges",
        tolerate + colluders
    )]
    Noise {
        /// f.
        tolerate: usize,
        /// t.
        colluders: usize,
        /// Why.
        source: Box<PrivacyError>,
    },
    /// A peer that nobody is called.
    #[error("[faults] {0}")]
    Name(#[from] PeerNameError),
    /// A schedule that cannot be run.
    #[error("[faults] {0}")]
    Schedule(#[from] ScheduleError),
}
