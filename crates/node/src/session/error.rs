//! Why no session came about.

use super::identity::PublicId;
use super::statement::{Kind, StatementError, hex};

/// Why members could not agree on a session. Nothing private had left anybody by then.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum AssemblyError {
    /// Bytes from a connection that are no statement of this session.
    #[error("{member} sent what is no statement of this session: {source}")]
    Malformed {
        /// Whose connection it came over.
        from: PublicId,
        /// The same by name.
        member: String,
        /// What is wrong with it.
        source: StatementError,
    },
    /// A statement that two processes with one key, or one that lies, can have signed.
    #[error(
        "{member} signed two different {kind} statements for this session: two processes run with its key, or it tells members different \
         things. Both statements are kept as evidence"
    )]
    Contradiction {
        /// Whose key.
        member: String,
        /// Which statements.
        kind: Kind,
        /// Both, as signed.
        evidence: Box<(Vec<u8>, Vec<u8>)>,
    },
    /// Members with another session file.
    #[error("{member} has another session file: compare `b3sum` of both, and take the convener's")]
    OtherFile {
        /// Who.
        member: String,
    },
    /// A simulation among deployed peers, or the other way round.
    #[error(
        "{member} runs a simulation, whose noise everybody with the seed knows, and this is a deployment: they never mix"
    )]
    OtherMode {
        /// Who.
        member: String,
    },
    /// Two builds that draw different numbers.
    #[error(
        "{member} runs {theirs}, which draws other numbers than {ours} here: both ends of a pair must draw the same bits. Install one build \
         everywhere"
    )]
    OtherBuild {
        /// Who.
        member: String,
        /// Its version and fingerprint.
        theirs: String,
        /// Ours.
        ours: String,
    },
    /// Versions of frames without one in common.
    #[error(
        "{member} speaks versions {low} to {high} of the frames, and none that this session allows"
    )]
    OtherWire {
        /// Who.
        member: String,
        /// Its lowest.
        low: u8,
        /// Its highest.
        high: u8,
    },
    /// A member whose ledger went back.
    #[error(
        "the ledger of {member} has {found} entries and had {known} {}before: its state directory was restored from a backup, and what it \
         spent since is forgotten there. Its operator must run `undertone node ledger --adopt`",
        other(.known, .found)
    )]
    RestoredState {
        /// Who.
        member: String,
        /// Entries it states.
        found: u64,
        /// Entries it had when it was last seen.
        known: u64,
    },
    /// Our own ledger went back, as somebody else knows.
    #[error(
        "{witness} has seen this ledger with {known} {}entries and it has {found}: this state directory was restored from a backup. List the \
         sessions that are missing in a file, under known = {{ length = {known}, hash = \"{}\" }}, and run `undertone node ledger --adopt FILE`, \
         which charges them (`undertone node ledger --help` shows such a file)",
        other(.known, .found),
        hex(.hash)
    )]
    OwnStateRestored {
        /// Who knows.
        witness: String,
        /// Entries that were seen.
        known: u64,
        /// Hash of the last of them.
        hash: [u8; 32],
        /// Entries there are.
        found: u64,
    },
    /// Fewer members than the session needs.
    #[error("{joined} members joined before the session closed, of at least {needed}: missing {}", .missing.join(", "))]
    TooFew {
        /// How many did.
        joined: usize,
        /// How many must.
        needed: usize,
        /// Who did not.
        missing: Vec<String>,
    },
    /// Members that hold different lists of who joined.
    #[error(
        "members do not agree on who joined, after {attempts} attempts{}{}",
        listing(.members, "signed a list of other Joins"),
        listing(.silent, "signed no list like this member's")
    )]
    Rosters {
        /// How often it was tried.
        attempts: u8,
        /// Whose lists name Joins that nobody else has shown.
        members: Vec<String>,
        /// Who has not answered, or has another list.
        silent: Vec<String>,
    },
    /// A list that lacks members, so that too few are left.
    #[error(
        "{by} signed a list without {}, and with that too few are left: they have not heard each other, or one of them says so only",
        .lacks.join(", ")
    )]
    ShortList {
        /// Whose list.
        by: String,
        /// Whom it lacks.
        lacks: Vec<String>,
    },
    /// This member is not on the others' list.
    #[error(
        "the others went on without this member: they had not received its Join when the session closed"
    )]
    Excluded,
    /// Members that were silent in a step.
    #[error(
        "{} did not {step} within {seconds} s, and may have waited for another: who holds the session up is not known here",
        .members.join(", ")
    )]
    Silent {
        /// Who.
        members: Vec<String>,
        /// What they had to do.
        step: &'static str,
        /// Within what time.
        seconds: u64,
    },
    /// A revealed number that is not the one committed to.
    #[error("{member} revealed another number than it had committed to")]
    Commitment {
        /// Who.
        member: String,
    },
    /// Members that computed something else from the same file.
    #[error(
        "{member} has another {section} ({theirs}) than this member ({ours}), from the same session file. The builds are {build_theirs} there and \
         {build_ours} here: if they differ, install one everywhere; if not, one of the two machines computes wrongly or {member} states what it has not \
         computed, since one build gives the same bits on every machine"
    )]
    OtherPlan {
        /// Who.
        member: String,
        /// The first section that differs.
        section: &'static str,
        /// Its hash there.
        theirs: String,
        /// Its hash here.
        ours: String,
        /// The build there.
        build_theirs: String,
        /// The build here.
        build_ours: String,
    },
    /// Somebody left before the session began.
    #[error("{member} left{}: {why}", reason(.about.as_deref()))]
    Left {
        /// Who.
        member: String,
        /// Whom it names as the reason.
        about: Option<String>,
        /// What it said.
        why: String,
    },
    /// Members of the list that was signed before that do not come again.
    #[error(
        "this session was tried before, with {}, who did not join this time: numbers may have been revealed, and no other list is signed for this \
         session file. Nothing was charged: ask the convener for a new session file",
        .missing.join(", ")
    )]
    OtherMembers {
        /// Who, by name.
        missing: Vec<String>,
    },
    /// A key for this session with which everybody shares the same secret.
    #[error(
        "{member} joined with a key that gives no secret: it is refused, and nothing was charged"
    )]
    WeakKey {
        /// Who.
        member: String,
    },
    /// This member's own key has signed a list that this process knows nothing of.
    #[error(
        "this member's key has signed a later list of this session than its files know: another process runs with this key, or the state directory \
         was copied or brought back from a backup. Stop the other process, or leave the session with `undertone node abandon`"
    )]
    SaidElsewhere,
    /// This member refuses the session.
    #[error("{0}")]
    Refused(String),
}

/// Members of whom something is so, if there are any.
fn listing(members: &[String], what: &str) -> String {
    match members {
        [] => String::new(),
        members => format!("; {} {what}", members.join(", ")),
    }
}

/// That whoever left names somebody, whose part in it is its word alone.
fn reason(about: Option<&str>) -> String {
    let named =
        |about| format!(", and gives {about} as the reason, of which nothing was observed here");
    about.map(named).unwrap_or_default()
}

/// Marks entries of a ledger as long as the one that is here: one of the two was copied, and both went on.
fn other(known: &u64, found: &u64) -> &'static str {
    match known == found {
        true => "other ",
        false => "",
    }
}
