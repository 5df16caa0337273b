//! Proof that a member deviated: two things that it signed and that nobody honest signs both.

use super::record::{Record, Statement};
use super::signed::{Signed, Verifier};
use crate::protocol::SessionId;
use crate::vocabulary::PeerIndex;

/// Two statements of one member that contradict each other, as it signed them. Whoever knows its public key can check them, and needs to believe nobody.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence {
    first: Signed,
    second: Signed,
}

impl Evidence {
    /// These two, if no member that follows the protocol says both.
    ///
    /// An honest member makes a statement whenever more has gone wrong than it stated before, counts them, and has each on its disk before it
    /// leaves. So of two different statements the later one has the larger number and strictly more that has gone wrong.
    #[must_use]
    pub fn of(first: &Signed, second: &Signed) -> Option<Self> {
        let ((from, one), (by, other)) = (stated(first)?, stated(second)?);
        let is_contradiction =
            from == by && one != other && !is_later(one, other) && !is_later(other, one);
        is_contradiction.then(|| Self {
            first: first.clone(),
            second: second.clone(),
        })
    }

    /// Who deviated.
    #[must_use]
    pub fn culprit(&self) -> PeerIndex {
        self.first.record.origin()
    }

    /// Whether it is proof: a contradiction, both sides of it signed by the culprit in this session.
    #[must_use]
    pub fn is_proof(&self, session: SessionId, keys: &dyn Verifier) -> bool {
        let is_signed = |one: &Signed| {
            let bytes = one.record.signed_bytes(session, |_| None);
            bytes.is_some_and(|bytes| keys.verify(one.record.origin(), &bytes, &one.signature))
        };
        Self::of(&self.first, &self.second).is_some()
            && is_signed(&self.first)
            && is_signed(&self.second)
    }
}

fn stated(signed: &Signed) -> Option<(PeerIndex, (u64, &Statement))> {
    match &signed.record {
        Record::Statement {
            origin,
            serial,
            statement,
        } => Some((*origin, (*serial, statement))),
        _ => None,
    }
}

/// Whether an honest member may have said `after` when it had said `before`.
fn is_later(before: (u64, &Statement), after: (u64, &Statement)) -> bool {
    let (known, more) = (&before.1.disruptions, &after.1.disruptions);
    before.0 < after.0 && known.is_within(more) && known != more
}
