//! The engine `swarm`: a real libp2p node per peer, all in one process, driving [`Peer`](crate::protocol::Peer)s.
//!
//! ```text
//! node u                                                        calling thread
//!   swarm task ── Noise + Yamux connection per neighbour
//!   acceptor ──▶ reader per inbound stream ─┐ bounded inbox
//!                                           ▼
//!                                         driver: owns the Peer ──▶ collector ──▶ observer
//!                                           │ queue of 4 per neighbour
//!   writer per outbound stream ◀────────────┘
//! ```
//!
//! Every directed edge is one persistent stream that carries frames of `protocol::wire`
//! one way. A frame's sender is the identity that Noise has authenticated, looked up among the
//! neighbours; lengths are checked against the plan before anything is allocated; whatever is wrong with
//! the bytes becomes a [`Fault`](crate::protocol::Fault) with the neighbour's number and ends the run.
//!
//! An outcome equals that of [`engine::lockstep`](crate::engine::lockstep) and
//! [`engine::event`](crate::engine::event) to the bit, communication included: writers count the frames
//! and prefixes they have written. What libp2p adds (Noise, Yamux, negotiation) and the 19 bytes of hello
//! and ack per stream are not counted.
//!
//! # What is copied, and what is held
//!
//! A block is encoded once per round and shared by the writers of all neighbours; Yamux copies it from there,
//! 16 KiB at a time, as it must before Noise seals it. A reader decodes 16 KiB at a time, while they are in the
//! first cache, straight into the block that the peer keeps, and uses the memory of its last block again. A message of several
//! frames is never encoded as a whole: every writer encodes one frame (1 MiB) after the other from the block that the peer holds.
//!
//! A reader takes a frame only when its peer has reached the frame's exchange. So a node of degree d holds for
//! its neighbours at most d decoded blocks, one per neighbour, and what Yamux has admitted unread; of its own at
//! most three encoded frames and the three blocks of the recurrence. A frame that is early stays where it is
//! shared: with its sender.
//!
//! # Traps of the libraries, and what keeps us out of them
//!
//! | trap | here |
//! | --- | --- |
//! | libp2p-stream drops inbound streams without a word when two arrive at once, after `open_stream` returned `Ok` | a stream counts once the neighbour has acknowledged it; unacknowledged ones are opened again, a bounded number of times. Test: simultaneous opens on a complete graph |
//! | libp2p-stream never answers an opening that is asked for while the connection is being established: it dials, and that the dial was needless is told to nobody | streams are opened after the swarm has said that the connection stands |
//! | writing everything before reading deadlocks Yamux beyond about 80 KiB each way | by construction: frames go one way per stream and each inbound stream has a reader that does nothing else. Test: 320 KiB frames both ways |
//! | negotiating a stream times out after 10 s, which cannot be changed | streams are opened once, at the start, and a timed-out opening is an attempt like any other |
//! | request-response: short default timeouts, no size limit in codecs | not used; lengths are checked before allocation. Test: an announced 4 GiB |
//! | quiet connections are closed | the idle timeout is a day |
//! | any number of strangers may connect | only neighbours are admitted, one connection each (tested); one stream is read per neighbour |
//! | bounded channels that wait for one another in a cycle | drivers never wait for a writer (`try_send`, full is an error) nor for a reader; readers wait for their driver, and drivers for the collector, which waits for nobody |
//! | a neighbour one round ahead | its frame is not read before the peer gets there (tested), which Yamux's window tells the neighbour; messages may also come before `Start` |
//! | a lost stream leaves the round waiting for ever | a stream's early end is an error at once; silence is a fault after the stall timeout (tested) |
//!
//! `simulation` has the same peers in several processes, `deployed` is the network of a peer in a process of its own: real keys, signed frames, connections that break and come back.
//!
//! tokio and libp2p are named in this module and nowhere else.

// For the benchmark of a deployed peer's network.
#[doc(hidden)]
pub mod deployed;
mod descriptors;
mod driver;
mod edge;
mod equivocation;
mod error;
// For the command `undertone node verify-evidence`.
#[doc(hidden)]
pub mod evidence;
mod exchange;
mod identity;
mod listening;
// For the command `undertone node run`.
#[doc(hidden)]
pub mod member;
mod misbehaviour;
mod network;
mod options;
mod plain;
mod runner;
mod runtime;
// For the command `undertone node simulate`.
#[doc(hidden)]
pub mod simulation;
// For the command `undertone node`, for checks of signed files, and for tests of the state on disk.
#[doc(hidden)]
pub mod store;
mod swarm;
#[cfg(test)]
mod tests;

pub use descriptors::TooFewFiles;
pub use error::{GateError, HostError};
pub use options::{SwarmOptions, Transport};
pub use runner::Swarm;

use tokio::runtime::{Builder, Handle};

use crate::engine::{Observer, Outcome, Session};

/// Runs the session's peers as libp2p nodes in this process and waits for the outcome.
///
/// Blocks the calling thread, on which the observer is called, and starts a runtime with one thread per
/// core for the nodes. When it returns, every task has ended and nothing listens any more. Identities
/// derive from the session's seed.
///
/// # Errors
/// [`HostError`]: among others when called from within an asynchronous runtime (use a thread of its
/// own), when the session's averaging is made for lost messages, when the limit on open files is too low for TCP, and when a peer reports a neighbour.
///
/// # Cost
/// Encryption and copies within libp2p bound it: 2.4 to 3.9 CPU seconds per GB of messages, of which the same
/// exchange over bare streams takes 0.78 to 0.94 (`benches/RESULTS.md`). Memory: see the module;
/// about 12 blocks of n·p values per node at degree 6, the collector's three included.
pub fn run(
    session: &Session,
    options: &SwarmOptions,
    observer: &mut dyn Observer,
) -> Result<Outcome, HostError> {
    if Handle::try_current().is_ok() {
        return Err(HostError::NestedRuntime);
    }
    let loss = session.schedule().loss();
    if !loss.is_none() {
        let loss = loss.fraction();
        return Err(HostError::Lossless { loss });
    }
    if options.transport == Transport::Tcp {
        descriptors::check(session.graph())?;
    }
    let runtime = Builder::new_multi_thread()
        .enable_all()
        .thread_name("undertone-swarm")
        .build()
        .map_err(HostError::Runtime)?;
    let setup = |index, patience| session.peer_setup(index, patience);
    // Dropping the runtime afterwards ends whatever task is left and joins its threads.
    runtime.block_on(network::conduct(session, options, observer, setup))
}
