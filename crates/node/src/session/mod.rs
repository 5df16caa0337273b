//! Agreement on a session without a server: who takes part, on what, and under which keys.
//!
//! Nothing here knows a socket, a clock or a disk. What is signed is always a domain, a session and a body, so that a signature of one
//! kind is none of another.
//!
//! | step | what a member says | it ends when |
//! | --- | --- | --- |
//! | Join | its key for this session, a commitment, its build, its ledger | all have joined, or the session closes |
//! | Roster | whose Joins it holds | all listed hold the same |
//! | Reveal | the number it committed to | all have |
//! | Ready | hashes of all it computed | all are alike |
//!
//! Where the session tolerates losses, members that leave on the way are taken off the list, and the others go on from the second step.
//! A session that ended before the last step may be tried again; what was signed then holds in every later try.

mod admission;
mod assembly;
mod departures;
pub(crate) mod entropy;
mod error;
mod fingerprint;
mod identity;
mod invitation;
mod keys;
mod ledger_proof;
mod listing;
mod near;
mod signatures;
mod stamps;
mod statement;
mod taking_up;
#[cfg(test)]
mod tests;
mod ticket;

pub use assembly::{Assembled, Assembly, AssemblySetup, Input, Output, Seat, commitment};
pub use error::AssemblyError;
pub use fingerprint::{build, sampler_fingerprint};
pub use identity::{Domain, Identity, IdentityError, PublicId, Signature, Verifier};
pub use invitation::{Invitation, InvitationError, MOST_FILE, Member, SessionTable, Stated};
pub use keys::{Ephemeral, KeyError, OwnNoise, PairEnd, drawn, nonce};
pub use ledger_proof::{LedgerProof, Remembered};
pub use near::{MOST_IN_A_MESH, Relays, near};
pub use signatures::{MemberKeys, MemberSigner};
pub use stamps::{MOST_PARTS, MOST_STAMPS, STAMP_BYTES, Stamps};
pub use statement::{
    Join, Kind, LedgerHead, Listed, MOST_BYTES, MOST_JOIN, MOST_MEMBERS, Mode, Reason, Roster,
    SECTIONS, Sections, SessionHash, Signed, Statement, StatementError,
};
pub use ticket::{Address, MemberName, Ticket, TicketError};
