//! How members of a session go on when some of them are lost: what has gone wrong, who is left, and which sums are final.
//!
//! ```text
//!            Begin (release, view) ── all hold what was published: certificate ──▶ open, average ──▶ next release
//!              ▲                                                                       │
//!              │          something goes wrong: cut a link, or restart                 │
//!              └──────────── all who are left state the same ◀──── freeze ◀────────────┘
//! ```
//!
//! What has gone wrong is a set of cut links and a count of restarts per peer. Both only grow, and members that know different things
//! agree on the union: no leader, no votes, no clocks. A *view* is decided when **all** who would be left have stated the same. An *attempt*
//! is one try at one release under one view, with noise of its own; its *certificate* is everybody's word that it durably holds what its
//! neighbours published. Nothing sealed is opened without one. Accusations cut links, not peers: one liar or one broken cable removes nobody who
//! has other links.
//!
//! # What holds
//! As long as links keep order, a member forwards a record before it acts on it, and what [`Durable`] says is on disk stays there:
//!
//! **(a) Decided views form a chain.** Two decided views have more than half of all peers each (the floor), so a common member, which stated both; what a member
//! states only grows. Members only shrink along it ([`Links::members`]).
//!
//! **(b) Among members of later views, at most one attempt at a release is certified.** *Proof.* Let p certify (l, n₁), and let (l, n₂) be begun, n₁ < n₂, with p in
//! n₂. If p certified before it stated what n₂ was decided on, its certificate was in that statement, and n₂ goes on with (l, n₁): no new attempt. If later, it had
//! been frozen since, and frozen members certify nothing. ∎ A certificate is checked, not believed: a statement counts only once the records that show its
//! certificates are here, so that a member that claims one without having it is not heard, and is cut off in the end.
//!
//! **(c) Members that finish agree on who takes part in every sum.** A certificate needs all members of its view, each in one view at a time; with (b) the attempt
//! at a release is unique among those who stay. So do the bits of its sum: where a certified attempt is averaged again, nobody's sum of it counts that was
//! added up in an earlier view ([`Statement::done`]), and a release follows only once all have done the one before.
//!
//! **(d) Everybody ends**, if messages over links that are not cut arrive: whoever is silent for longer than the patience has its links cut, and what has gone
//! wrong is finite.
//!
//! Privacy depends on none of it: the account holds for whatever was published. Safety needs no bound on delays; timers decide only who is accused.
//! What others state never makes a member publish twice in one try ([`Attempt::may_follow`]), nor begin more than the session pays
//! for. One member that deviates can stop a session, or make it last. Every record is signed by its origin, and two statements that no honest member makes both are
//! [`Evidence`]: everybody gives up its link to who made them.
//!
//! # Sources
//! Views and flush are those of virtual synchrony (Birman and Joseph, 1987); the union of failure sets and the decision by all of them follow
//! early-stopping agreement (Dolev, Reischuk and Strong, 1990). That cuts are of links is ours.

mod attempt;
mod bytes;
mod certificate;
mod defect;
mod ending;
mod evidence;
mod hearing;
mod history;
mod interface;
mod links;
mod machine;
mod paths;
mod possible;
mod record;
mod resume;
mod sets;
mod signed;
#[cfg(test)]
pub(crate) mod tests;
mod threshold;
mod words;

pub(in crate::protocol) use attempt::ADDRESS_LEN;
pub use attempt::{Attempt, ViewNumber};
pub use bytes::Extent;
pub(in crate::protocol) use bytes::Reader;
pub use certificate::{Certificate, CertificateError, HELD_LEN, SIGNATURE_LEN, held_statement};
pub use defect::Defect;
pub use evidence::{EVIDENCE_MARK, Evidence};
pub use history::History;
pub use interface::{End, Input, Output, RegroupSetup};
pub use links::{Links, LinksError};
pub use machine::Regroup;
pub use record::{Disruptions, Durable, MOST_RESTARTS, Onward, Record, Statement};
pub use resume::{Heir, Publication, Resume, Tolerance, View};
pub use sets::{CutLinks, Index, LinkIndex, Members, Set};
pub use signed::{Signed, Signer, Verifier};
pub use threshold::{MOST_HOLDERS, Threshold, ThresholdError, Thresholds, ThresholdsError};
