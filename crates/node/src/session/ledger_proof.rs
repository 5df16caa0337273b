//! What a member's ledger once was, as the member itself has signed it: whoever says that a ledger went back must show it.

use std::sync::Arc;

use super::identity::PublicId;
use super::statement::{LedgerHead, Signed, Statement, StatementError};

/// A Join of whatever session, verified: its member had this ledger then.
///
/// A ledger only grows. So a member whose ledger is shorter now, or as long with another last entry, works on state that was restored or copied.
/// Anybody can verify that, and nobody but the member could have made the proof.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LedgerProof {
    about: PublicId,
    ledger: LedgerHead,
    bytes: Arc<[u8]>,
}

impl LedgerProof {
    /// Reads and verifies a Join.
    ///
    /// # Errors
    /// [`StatementError`], among others for a statement of another kind.
    pub fn read(bytes: &[u8]) -> Result<Self, StatementError> {
        let signed = Signed::read_any(bytes)?;
        let kind = signed.statement.kind();
        Self::of(&signed).ok_or(StatementError::Body { kind })
    }

    /// What this statement proves; nothing unless it is a Join.
    #[must_use]
    pub fn of(signed: &Signed) -> Option<Self> {
        match &signed.statement {
            Statement::Join(join) => Some(Self {
                about: signed.from,
                ledger: join.ledger,
                bytes: Arc::clone(&signed.bytes),
            }),
            _ => None,
        }
    }

    /// Whose ledger it was.
    #[must_use]
    pub fn about(&self) -> PublicId {
        self.about
    }

    /// What it was.
    #[must_use]
    pub fn ledger(&self) -> LedgerHead {
        self.ledger
    }

    /// The Join as signed.
    #[must_use]
    pub fn bytes(&self) -> &Arc<[u8]> {
        &self.bytes
    }

    /// Whether the ledger that its member has `now` cannot be the one it had then.
    #[must_use]
    pub fn refutes(&self, now: &LedgerHead) -> bool {
        is_behind(now, &self.ledger)
    }
}

/// A ledger as it was last seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Remembered {
    /// With the Join that shows it to everybody.
    Shown(LedgerProof),
    /// As an operator wrote it down: reason enough for this member, and none for others.
    Told(LedgerHead),
}

impl Remembered {
    pub(super) fn ledger(&self) -> LedgerHead {
        match self {
            Self::Shown(proof) => proof.ledger(),
            Self::Told(ledger) => *ledger,
        }
    }

    /// Whether the ledger that its member has `now` cannot be the one that was seen.
    pub(super) fn refutes(&self, now: &LedgerHead) -> bool {
        is_behind(now, &self.ledger())
    }
}

/// Whether a ledger that is `now` so cannot have been `known` before.
fn is_behind(now: &LedgerHead, known: &LedgerHead) -> bool {
    now.length < known.length || (now.length == known.length && now.hash != known.hash)
}
