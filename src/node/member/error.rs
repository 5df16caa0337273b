//! Why a session ended without a result for this member, and with which exit code.

use std::io;

use crate::node::deployed::HostError;
use crate::node::store::{Digest, JournalError, LedgerError, Refusal, SessionEnd, StoreError};
use crate::protocol::regroup::End;
use crate::session::{AssemblyError, IdentityError, KeyError, PublicId};
use crate::vocabulary::ReleaseId;

/// Why there is no result.
#[derive(Debug, thiserror::Error)]
pub enum MemberError {
    /// Called from within an asynchronous runtime.
    #[error("a member cannot run within an asynchronous runtime: use a thread of its own")]
    NestedRuntime,
    /// No runtime.
    #[error("cannot start threads for the network: {0}")]
    Runtime(#[source] io::Error),
    /// This member's files.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// This member's ledger.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// This member's journal.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// This member's policy.
    #[error("this member's policy refuses the session: {0}")]
    Refusal(#[from] Refusal),
    /// A plan that cannot be, or a result that cannot be kept.
    #[error("{0}")]
    Plan(String),
    /// A key that is in no table of the file.
    #[error(
        "{id} is not invited: ask the convener for a session file with this member's ticket (`undertone node id`)"
    )]
    NotInvited {
        /// Ours.
        id: PublicId,
    },
    /// A key or random number that could not be had.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// An id that is none.
    #[error(transparent)]
    Identity(#[from] IdentityError),
    /// A process that was killed after it had begun.
    #[error(
        "this member was interrupted after the session had begun, with {charged} of its releases charged: what has left cannot be taken back and is \
         not said again. Nothing was charged now; ask the convener for a new session"
    )]
    Interrupted {
        /// How many.
        charged: usize,
    },
    /// A session that has ended without a result.
    #[error(
        "this session has ended before: {}. Nothing was charged; ask the convener for a new session",
        match .0 {
            SessionEnd::Excluded => "the others had gone on without this member",
            SessionEnd::Abandoned => "its operator had left it",
            SessionEnd::Aborted | SessionEnd::Done => "it had been aborted",
        }
    )]
    EndedBefore(SessionEnd),
    /// Files of a session that do not fit one another.
    #[error(
        "the ledger has charges of this session and its journal is missing: noise that was drawn is never drawn again. Leave the session with \
         `undertone node abandon`"
    )]
    JournalLost,
    /// Rows that have changed since the Join.
    #[error(
        "the rows are not those that this member joined with: take the same file, or leave the session with `undertone node abandon`"
    )]
    OtherRows,
    /// A ledger that has grown since the Join.
    #[error(
        "this member's ledger has grown since it joined this session, and a second Join is never said: leave the session with `undertone node \
         abandon`, and ask the convener for a new one"
    )]
    JoinedBefore,
    /// A plan that costs more than was set aside.
    #[error(
        "the session as agreed would cost mu^2 = {found}, and {reserved} was set aside for it: too few have joined; ask the convener for another session"
    )]
    Dearer {
        /// As agreed.
        found: f64,
        /// Set aside.
        reserved: f64,
    },
    /// No agreement.
    #[error(transparent)]
    Assembly(Box<AssemblyError>),
    /// The network of this host.
    #[error(transparent)]
    Host(#[from] HostError),
    /// A member that is gone or misbehaves.
    #[error("{member} {why}; the session has ended, what was charged stays charged")]
    Culprit {
        /// By name.
        member: String,
        /// What it did.
        why: String,
    },
    /// Another member that signed another result.
    #[error(
        "{member} has signed another result than this member ({theirs} there, {ours} here), and the averaging of this session gives all members the \
         same bits: one of the two has computed, or says, something else. Neither can be trusted before that is found out. Both signed statements \
         are kept with the session's files as evidence-first.bin and evidence-second.bin; what was charged stays charged"
    )]
    Disputed {
        /// Who.
        member: String,
        /// Digest of its basis.
        theirs: Digest,
        /// Digest of ours.
        ours: Digest,
    },
    /// Nothing of a release has left, since it could not be charged.
    #[error("nothing of {release} has left this member: {why}")]
    NotCharged {
        /// Which.
        release: ReleaseId,
        /// Why.
        why: String,
    },
    /// What must be on the disk is not, so that nothing that follows from it has left.
    #[error("this member has stopped, and nothing that was not written down has left it: {why}")]
    NotKept {
        /// Why.
        why: String,
    },
    /// Too few are left for this member's policy.
    #[error("nothing of {release} is begun: {why}; what was charged stays charged")]
    NotBegun {
        /// Which.
        release: ReleaseId,
        /// Why.
        why: String,
    },
    /// A build or a machine that plans otherwise than the one that began.
    #[error(
        "this build plans the session otherwise than when this member began it: start it with the build that it began with, on the same kind of machine"
    )]
    OtherBuild,
    /// Fewer members are left than the session needs.
    #[error(
        "fewer members are left than the session needs, so nobody goes on; what was charged stays charged. Ask the convener for a new session"
    )]
    Floor,
    /// The others go on without this member.
    #[error(
        "the others have gone on without this member, which was gone for too long or has lost its links; what was charged stays charged. Whoever          finishes has a result that you may ask them for"
    )]
    LeftOut,
    /// The others have finished while this member was away.
    #[error(
        "the others have finished while this member was away; what was charged stays charged. The result is public among members: ask one of them for it"
    )]
    Missed,
    /// A contribution is lost that cannot be tried again.
    #[error(
        "what somebody who is gone has contributed is lost, and no retry is left (dropouts.retries); what was charged stays charged. Ask the convener          for a new session"
    )]
    Contribution,
    /// Too many restarts.
    #[error(
        "this member has started again more often than a session allows, and takes part no more; what was charged stays charged"
    )]
    Restarts,
    /// The operator's signal.
    #[error("stopped by its operator; what was charged stays charged")]
    Stopped,
}

impl MemberError {
    /// Why a peer that tolerates losses has ended without all sums.
    pub(super) fn of_end(end: End) -> Self {
        match end {
            End::Floor => Self::Floor,
            End::Excluded => Self::LeftOut,
            End::Lost => Self::Contribution,
            End::Restarts => Self::Restarts,
            End::Missed | End::Finished => Self::Missed,
        }
    }

    /// What the process ends with: 1 aborted by the protocol, 2 usage, input or own policy, 3 excluded by the others, 4 local state unusable.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Assembly(error) => match **error {
                AssemblyError::Excluded => 3,
                AssemblyError::OwnStateRestored { .. } => 4,
                AssemblyError::Refused(_) => 2,
                _ => 1,
            },
            Self::Ledger(error) => error.exit_code(),
            Self::Store(StoreError::Ledger(error)) => error.exit_code(),
            Self::Store(_) | Self::Journal(_) | Self::JournalLost | Self::NotKept { .. } => 4,
            Self::Host(HostError::OtherLife { .. }) => 4,
            Self::LeftOut | Self::Missed => 3,
            Self::Host(HostError::Tolerant(_))
            | Self::Floor
            | Self::Contribution
            | Self::Restarts => 1,
            Self::OtherBuild | Self::NotBegun { .. } => 2,
            Self::Refusal(_)
            | Self::Plan(_)
            | Self::NotInvited { .. }
            | Self::OtherRows
            | Self::JoinedBefore
            | Self::NestedRuntime
            | Self::Runtime(_)
            | Self::Host(_)
            | Self::Key(_)
            | Self::Identity(_) => 2,
            Self::NotCharged { .. } => 4,
            Self::Interrupted { .. }
            | Self::EndedBefore(_)
            | Self::Dearer { .. }
            | Self::Culprit { .. }
            | Self::Disputed { .. }
            | Self::Stopped => 1,
        }
    }

    /// How the ledger and the journal say that it ended.
    pub(super) fn end(&self) -> SessionEnd {
        match self.exit_code() {
            3 => SessionEnd::Excluded,
            _ => SessionEnd::Aborted,
        }
    }
}
