//! Errors between the hosts of a simulation.

use std::io;
use std::time::Duration;

use libp2p::swarm::DialError;

/// What ends a simulation on several hosts, beyond what ends one in one process.
#[derive(Debug, thiserror::Error)]
pub enum HostError {
    /// A host did not come up.
    #[error(
        "host \"{host}\" was not there within {after:?}: start it with the same files and `--host {number}`"
    )]
    Missing {
        /// The host.
        host: String,
        /// Its place in the hosts file.
        number: usize,
        /// How long this one waited.
        after: Duration,
    },
    /// Somebody else answers.
    #[error(
        "who answers at the address of host \"{host}\" is not that host of this simulation: start all with the same seed and hosts file ({source})"
    )]
    Stranger {
        /// The host.
        host: String,
        /// What the network said.
        source: Box<DialError>,
    },
    /// A host runs something else.
    #[error(
        "host \"{host}\" has {what} other than this one's: start all with the same files, changes and build"
    )]
    Other {
        /// The host.
        host: String,
        /// What is different there.
        what: &'static str,
    },
    /// The connection to a host ended without a word.
    #[error("lost host \"{host}\": did it stop?")]
    Lost {
        /// The host.
        host: String,
    },
    /// A host said why it ended.
    #[error("host \"{host}\" has ended: {said}")]
    Ended {
        /// Who says so.
        host: String,
        /// Its words.
        said: String,
    },
    /// A host said what no host of this plan says.
    #[error("host \"{host}\" sent something that is not due: {what}")]
    Malformed {
        /// The host.
        host: String,
        /// What is wrong.
        what: &'static str,
    },
    /// A host that is up takes or says nothing.
    #[error("host \"{host}\" has said nothing for {after:?}: is it stuck?")]
    Silent {
        /// The host.
        host: String,
        /// How long this one waited.
        after: Duration,
    },
    /// A peer of this host has lost one on another.
    #[error("host \"{host}\" may be gone: {source}")]
    Neighbour {
        /// The host of the neighbour.
        host: String,
        /// What the peer reported.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The connection between hosts could not be set up.
    #[error("cannot set up the connection between the hosts: {0}")]
    Setup(#[source] io::Error),
}
