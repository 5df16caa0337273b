//! Options of a swarm run: transport and stall timeout.

use std::time::Duration;

use libp2p::Multiaddr;
use serde::{Deserialize, Serialize};

/// Transports between the in-process nodes. Both carry Noise and Yamux.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Transport {
    /// Channels within the process: no sockets, no limit on open files.
    Memory,
    /// TCP over the loopback interface, on free ports of 127.0.0.1 and no other address.
    #[default]
    Tcp,
    /// Channels to peers of this process, TCP to those of others: what `node::simulation` uses, which adds
    /// the addresses.
    #[serde(skip)]
    Hosts,
}

impl Transport {
    /// Where a node listens that no other process has to find: in memory, or at a free port of 127.0.0.1 and no other interface.
    pub(super) fn own_address(self) -> Multiaddr {
        let address = match self {
            Self::Memory | Self::Hosts => "/memory/0",
            Self::Tcp => "/ip4/127.0.0.1/tcp/0",
        };
        address.parse().expect("a well-formed constant")
    }
}

/// Options of a swarm run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SwarmOptions {
    /// What connects the nodes.
    pub transport: Transport,
    /// How long a node waits for a connection, for the acknowledgement of a stream, and in one step for
    /// its neighbours' messages, and for them to take its last frames, before the run ends with an error that names the neighbour. At most a
    /// year; longer values count as a year. An observer that blocks for longer looks like a stall, too:
    /// nodes wait for it.
    pub stall_timeout: Duration,
}

/// Longer stall timeouts count as this, so that no deadline can overflow.
const LONGEST_STALL: Duration = Duration::from_secs(365 * 24 * 60 * 60);

impl SwarmOptions {
    /// The stall timeout as it is applied.
    pub(super) fn patience(&self) -> Duration {
        self.stall_timeout.min(LONGEST_STALL)
    }
}

impl Default for SwarmOptions {
    /// TCP, and two minutes of patience: far more than a step takes when hundreds of nodes share two
    /// cores.
    fn default() -> Self {
        Self {
            transport: Transport::default(),
            stall_timeout: Duration::from_secs(120),
        }
    }
}
