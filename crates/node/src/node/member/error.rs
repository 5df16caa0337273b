//! Why a session ended without a result for this member, and with which exit code.

use std::io;

use crate::node::HostError;
use crate::node::descriptors::TooFewFiles;
use crate::node::store::{
    Account, Digest, JournalError, LedgerError, Refusal, SessionEnd, StoreError,
};
use crate::protocol::PeerError;
use crate::protocol::regroup::End;
use crate::protocol::tolerant::TolerantError;
use crate::session::{AssemblyError, IdentityError, KeyError, PublicId};
use crate::vocabulary::ReleaseId;

/// What a session has charged, which stays charged however it ended.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Charged {
    /// How many releases.
    pub releases: usize,
    /// Their μ².
    pub mu_squared: f64,
}

impl Charged {
    /// What stands in the ledger.
    pub(super) fn of(account: Option<&Account>) -> Self {
        account.map_or_else(Self::default, |account| Self {
            releases: account.charged.len(),
            mu_squared: account.charged().get(),
        })
    }
}

impl std::fmt::Display for Charged {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self {
            releases,
            mu_squared,
        } = self;
        match releases {
            0 => f.write_str("it has charged nothing"),
            _ => write!(
                f,
                "what was charged (mu^2 = {mu_squared:.5} for {releases} releases) stays charged"
            ),
        }
    }
}

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
    /// Fewer open files than a session may take.
    #[error(transparent)]
    Files(#[from] TooFewFiles),
    /// A key or random number that could not be had.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// An id that is none.
    #[error(transparent)]
    Identity(#[from] IdentityError),
    /// A process that was killed after it had begun.
    #[error(
        "this member was interrupted after the session had begun: what has left cannot be taken back and is not said again; {charged}. Unless the \
         others have handed over their result (late-basis.npy), ask the convener for a new session"
    )]
    Interrupted {
        /// By all its attempts.
        charged: Charged,
    },
    /// A disk that has refused a result until nobody lingered any more.
    #[error(
        "the result was here and could not be written down: {why}. The session has cost what it was planned to: {charged}. The result is public \
         among members: make room and start again, which asks those who linger for it, or ask one of them"
    )]
    ResultNotKept {
        /// Why not.
        why: String,
        /// By all its releases.
        charged: Charged,
    },
    /// A session that has ended without a result.
    #[error(
        "this session has ended before: {}; {charged}, and nothing was charged now. Ask the convener for a new session",
        match .end {
            SessionEnd::Excluded => "the others had gone on without this member",
            SessionEnd::Abandoned => "its operator had left it",
            SessionEnd::Lapsed => "it had closed before this member was ready",
            SessionEnd::Aborted | SessionEnd::Done => "it had been aborted",
        }
    )]
    EndedBefore {
        /// How.
        end: SessionEnd,
        /// By then.
        charged: Charged,
    },
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
    /// A member that is gone or misbehaves, as this member has observed at the link to it.
    #[error("{member} {why}; the session has ended, what was charged stays charged")]
    Culprit {
        /// Who.
        id: PublicId,
        /// By name, with the end of its id.
        member: String,
        /// What it did.
        why: String,
    },
    /// A member that sent nothing in time, which may itself have waited for another.
    #[error(
        "{member} {what}. It is connected, and may have waited for another itself: who holds the session up is not known here; what was charged stays \
         charged"
    )]
    Stalled {
        /// By name, with the end of its id.
        member: String,
        /// What is missing.
        what: String,
    },
    /// A member that ended the session, for reasons of its own.
    #[error(
        "{member} {}: {why}; what was charged stays charged",
        match .about {
            Some(about) => format!("ended the session, and gives {about} as the reason, of which nothing was observed here"),
            None => "has left, and the session has ended".to_owned(),
        }
    )]
    EndedBy {
        /// Who ended it, by name, with the end of its id.
        member: String,
        /// Whom it names as the reason, likewise.
        about: Option<String>,
        /// What it says.
        why: String,
    },
    /// Another member that signed another result.
    #[error(
        "{member} has signed another result than this member ({theirs} there, {ours} here), and the averaging of this session gives all members the \
         same bits: some member, maybe neither of these two, did not average as it should. Neither result can be trusted before that is found out. \
         Both signed statements are kept with the session's files as evidence-first.bin and evidence-second.bin; what was charged stays charged"
    )]
    Disputed {
        /// Who.
        member: String,
        /// Digest of its basis.
        theirs: Digest,
        /// Digest of ours.
        ours: Digest,
    },
    /// A member that signed different frames for different members where the protocol has one.
    #[error(
        "{member} signed two different frames for one place of the protocol, as what members have received shows, and results differ: none can be \
         trusted. Both signed stamps are kept with the session's files as evidence-first.bin and evidence-second.bin; what was charged stays charged"
    )]
    Equivocated {
        /// By name.
        member: String,
    },
    /// Values from which nothing follows: too large to compute with, or without enough directions. That is no member's fault as far as anybody can tell.
    #[error(
        "its release could not be computed: {0}. Nobody is to blame for that as far as this member can tell; the session has ended, what was charged stays charged"
    )]
    NotComputed(PeerError),
    /// Nothing of a release has left, since it could not be charged.
    #[error("nothing of {release} has left this member: {why}; {charged}{}", again(*.goes_on))]
    NotCharged {
        /// Which.
        release: ReleaseId,
        /// Why.
        why: String,
        /// By the releases before it.
        charged: Charged,
        /// Whether the session tolerates losses, so that this member may start again.
        goes_on: bool,
    },
    /// What must be on the disk is not, so that nothing that follows from it has left.
    #[error(
        "this member has stopped, and nothing that was not written down has left it: {why}; {charged}{}",
        again(true)
    )]
    NotKept {
        /// Why.
        why: String,
        /// By its releases so far.
        charged: Charged,
    },
    /// Too few are left for this member's policy.
    #[error("nothing of {release} is begun: {why}; what was charged stays charged")]
    NotBegun {
        /// Which.
        release: ReleaseId,
        /// Why.
        why: String,
    },
    /// A build or a machine that says or plans otherwise than the one that joined or began.
    #[error(
        "this member joined the session with another build, or on another kind of machine, which speaks or plans otherwise: start it there again, or \
         leave the session with `undertone node abandon` and ask the convener for a new one"
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
    /// The others try again what this member has published.
    #[error(
        "the others begin a release again that this member has published in the open, and do not count it as a retry: this member publishes nothing twice \
         for one charge. Some member states what is not so; what was charged stays charged. Ask the convener for a new session"
    )]
    Published,
    /// Too many restarts.
    #[error(
        "this member has started again more often than a session allows, and takes part no more; what was charged stays charged"
    )]
    Restarts,
    /// The operator's signal.
    #[error("stopped by its operator; what was charged stays charged")]
    Stopped,
}

/// What a member whose disk is full may do where the others go on.
fn again(goes_on: bool) -> &'static str {
    match goes_on {
        true => {
            ". Make room and start it again: it asks the others for the result while they linger"
        }
        false => "",
    }
}

impl MemberError {
    /// Why a peer that tolerates losses has ended without all sums.
    pub(super) fn of_end(end: End) -> Self {
        match end {
            End::Floor => Self::Floor,
            End::Excluded => Self::LeftOut,
            End::Lost => Self::Contribution,
            End::Published => Self::Published,
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
                AssemblyError::OwnStateRestored { .. } | AssemblyError::SaidElsewhere => 4,
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
            | Self::Published
            | Self::Restarts => 1,
            Self::OtherBuild | Self::NotBegun { .. } => 2,
            Self::Refusal(_)
            | Self::Plan(_)
            | Self::NotInvited { .. }
            | Self::OtherRows
            | Self::JoinedBefore
            | Self::NestedRuntime
            | Self::Runtime(_)
            | Self::Files(_)
            | Self::Host(_)
            | Self::Key(_)
            | Self::Identity(_) => 2,
            Self::NotCharged { .. } | Self::ResultNotKept { .. } => 4,
            Self::Interrupted { .. }
            | Self::EndedBefore { .. }
            | Self::Dearer { .. }
            | Self::Culprit { .. }
            | Self::EndedBy { .. }
            | Self::Stalled { .. }
            | Self::Disputed { .. }
            | Self::Equivocated { .. }
            | Self::NotComputed(_)
            | Self::Stopped => 1,
        }
    }

    /// A failure of the host or of the peer, in a session that has charged this, and that the others go on with or not.
    pub(super) fn of_host(error: HostError, charged: Charged, goes_on: bool) -> Self {
        match error {
            HostError::Charge { release, source } => Self::NotCharged {
                release,
                why: source.to_string(),
                charged,
                goes_on,
            },
            HostError::Begin { release, source } => Self::NotBegun {
                release,
                why: source.to_string(),
            },
            HostError::Keep(source) => Self::NotKept {
                why: source.to_string(),
                charged,
            },
            HostError::Peer(error) | HostError::Tolerant(TolerantError::Peer(error))
                if error.is_of_values() =>
            {
                Self::NotComputed(error)
            }
            error => error.into(),
        }
    }

    /// Whether the others may have a result, which this member asks for before it leaves.
    pub(super) fn is_late(&self) -> bool {
        matches!(
            self,
            Self::LeftOut | Self::Missed | Self::Interrupted { .. }
        )
    }

    /// Whether it was this member's disk, so that the session need not end here where the others go on: nothing has left that is not written down, as if it had been killed.
    pub(super) fn is_disk(&self) -> bool {
        matches!(
            self,
            Self::NotCharged { .. } | Self::NotKept { .. } | Self::Store(_) | Self::Journal(_)
        )
    }

    /// How the ledger and the journal say that it ended.
    pub(super) fn end(&self) -> SessionEnd {
        match self.exit_code() {
            3 => SessionEnd::Excluded,
            _ => SessionEnd::Aborted,
        }
    }
}
