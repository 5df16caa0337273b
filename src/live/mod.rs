//! A run as it happens, in a browser on the same machine: the graph, the peers and how far they are, convergence, bytes, faults.
//!
//! ```text
//! engine ── Observer ──▶ Watching ── writes ──▶ Shared ◀── looks, at most 20 times a second ── one task per browser ──▶ server-sent events
//! ```
//!
//! *A slow browser never slows a run.* The run writes what is true now into one place and waits for nobody; every browser is sent the present picture whenever it
//! has taken the one before. There is no queue that could grow: what a browser misses is overwritten.
//!
//! *Who may look.* The server listens on the loopback interface alone, answers only requests that name it as their host, and only below a path of 128
//! random bits that is printed where the run was started: other users of the machine and pages of other sites do not know it.
//!
//! The page needs no network and no build step; it is part of the program.

mod picture;
mod scene;
mod serving;
mod watching;

#[cfg(test)]
mod tests;

pub use serving::{Live, LiveError};
pub use watching::Watching;
