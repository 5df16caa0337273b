//! A run or a node's session as it happens, in a browser on the same machine: the graph, the peers and how far they are, convergence, bytes, faults.
//!
//! ```text
//! engine ── Observer ──▶ Watching ── writes ──▶ Shared ◀── looks, at most 20 times a second ── one task per browser ──▶ server-sent events
//! node ── answers, twice a second ──▶ `node status --live` ── shows ──▶ MemberPage ◀── looks ── the same
//! ```
//!
//! *A slow browser never slows a run.* The run writes what is true now into one place and waits for nobody; every browser is sent the present picture whenever it
//! has taken the one before. There is no queue that could grow: what a browser misses is overwritten.
//! A node is in a process of its own, and is asked at the same pace whether anybody looks or not.
//!
//! *Who may look.* The server listens on the loopback interface alone, answers only requests that name it as their host, and only below a path of 128
//! random bits that is printed where the run was started: other users of the machine and pages of other sites do not know it.
//!
//! The page needs no network and no build step; it is part of the program.

mod member;
mod member_page;
mod picture;
mod run_page;
mod scene;
mod serving;
mod watching;

#[cfg(test)]
mod member_tests;
#[cfg(test)]
mod tests;

pub use run_page::Live;
pub use serving::LiveError;

// For the command `undertone node status`.
#[doc(hidden)]
pub use member_page::{Asked, MemberPage};
