//! One member of a session on a host of its own: from the session file to the result, or to a clean end for everybody.
//!
//! ```text
//! reserve ─▶ secrets, journal ─▶ Join … Ready ─▶ charge, release, charge, release, … ─▶ result ─▶ linger
//!                 nothing of the rows has left               │
//!                                                            ├─ anybody lost: Gone to all, exit 1, what was charged stays charged
//!                                                            └─ where the session tolerates losses: go on without, or with what is held
//! ```
//!
//! # What a crash costs
//! The ledger is charged and on the disk before the first frame of a release leaves ([`Gate`](super::deployed::Gate)); the journal says `Agreed` before
//! Ready leaves. So a process that died before `Agreed` has published nothing and takes the session up again with the same Join; one that died
//! after it has charged every release that may have left, never draws that session's noise again, and ends the session. A session that
//! ended says its result again and charges nothing.
//!
//! In a session that tolerates losses the journal says `Begun` before the peer begins, and `recovery.bin` has what the peer must not forget before anything
//! leaves that follows from it. A process that died after `Begun` plans again, finds the same plan, and goes on where it was; one that comes
//! back after the others have given it up is told so by whomever it connects with.

mod agreed;
mod agreeing;
mod compacting;
mod comparing;
mod conductor;
mod defect;
mod dispute;
mod error;
mod exchange;
mod joining;
mod keeping;
mod late;
mod own_rows;
mod preparation;
mod resume;
mod running;
mod setup;
mod status;
#[cfg(test)]
mod tests;
mod tolerant;
mod verdict;
mod views;

pub use error::{Charged, MemberError};
pub use joining::{Joining, Outset};
pub use own_rows::MemberRows;
pub use setup::{
    Attempts, Begun, MemberResult, MemberSetup, Planned, Planner, Progress, Released, ResultFiles,
    ResultRule, Taken, Tolerant,
};

use tokio::runtime::{Builder, Handle};

/// How taking part in a session ended.
#[derive(Debug)]
pub enum MemberEnd {
    /// With a result, now.
    Done(Box<MemberResult>),
    /// With a result, before, and nothing was charged now.
    Before,
}

/// Takes part in a session and waits for its end. Blocks the calling thread and starts a runtime of its own.
///
/// # Errors
/// [`MemberError`], which has the exit code and names whoever is to blame.
pub fn take_part(
    setup: MemberSetup,
    progress: &mut (dyn FnMut(Progress) + Send),
) -> Result<MemberEnd, MemberError> {
    match Joining::prepare(setup)? {
        Outset::Ended => Ok(MemberEnd::Before),
        Outset::Joining(joining) => join(*joining, progress),
    }
}

/// Takes part in a session that this member has reserved the costs of, and waits for its end; see [`take_part`].
///
/// # Errors
/// [`MemberError`], which has the exit code and names whoever is to blame.
pub fn join(
    joining: Joining,
    progress: &mut (dyn FnMut(Progress) + Send),
) -> Result<MemberEnd, MemberError> {
    if Handle::try_current().is_ok() {
        return Err(MemberError::NestedRuntime);
    }
    let runtime = Builder::new_multi_thread()
        .enable_all()
        .thread_name("undertone-node")
        .build()
        .map_err(MemberError::Runtime)?;
    runtime.block_on(conductor::conduct(joining, progress))
}
