//! Proof that a member deviated: two things that it signed and that nobody honest signs both.

use super::bytes::{Extent, Reader};
use super::record::{Record, Statement};
use super::signed::{Signed, Verifier};
use crate::protocol::SessionId;
use crate::vocabulary::PeerIndex;

/// First bytes of each of the two files of [`Evidence`].
pub const EVIDENCE_MARK: [u8; 8] = *b"UTAGEV\x00\x01";

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

    /// The two as files for [`Self::read`].
    ///
    /// ```text
    /// mark (8) | session (16) | words of cuts (4) | peers (4) | the statement with its signature
    /// ```
    #[must_use]
    pub fn files(&self, session: SessionId) -> [Vec<u8>; 2] {
        [&self.first, &self.second].map(|signed| {
            let mut bytes = EVIDENCE_MARK.to_vec();
            bytes.extend_from_slice(&session.0);
            let lengths = stated(signed).map(|(_, (_, one))| one.disruptions.lengths());
            for length in lengths.unwrap_or_default() {
                bytes.extend_from_slice(&length.to_le_bytes());
            }
            signed.append_to(&mut bytes);
            bytes
        })
    }

    /// The contradiction in two files, and the session that both name; nothing where these are no such files, or both statements may be. Signatures are not
    /// looked at ([`Self::is_proof`]): they cover the session and both lengths.
    #[must_use]
    pub fn read(files: [&[u8]; 2]) -> Option<(SessionId, Self)> {
        let [(session, first), (other, second)] = [read(files[0])?, read(files[1])?];
        let evidence = Self::of(&first, &second)?;
        (session == other).then_some((session, evidence))
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

fn read(file: &[u8]) -> Option<(SessionId, Signed)> {
    let mut from = Reader::new(file);
    let is_marked = from.array() == Some(EVIDENCE_MARK);
    let session = SessionId(from.array().filter(|_| is_marked)?);
    let (words, peers) = (from.u32()? as usize, from.u32()? as usize);
    // Nothing is taken for lengths that the file cannot have.
    if words > file.len() || peers > file.len() {
        return None;
    }
    let links = words.checked_mul(64)?;
    let signed = Signed::read(&mut from, Extent { peers, links })?;
    from.end()?;
    Some((session, signed))
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
