//! Whether two signed files prove that a member of a session said two things where it may say one.

use super::deployed::{Evidence, SIGNED_STAMP_LEN};
use crate::protocol::regroup::{EVIDENCE_MARK, Evidence as Losses};
use crate::session::{Kind, MemberKeys, PublicId, SessionHash, Signed, Statement, StatementError};

/// What two files prove.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proof {
    /// One member signed two different frames for one place of the protocol.
    Frames(PublicId),
    /// One member signed two different statements where a session has one.
    Statements(PublicId, Kind),
    /// One member signed two statements on what has gone wrong that contradict each other.
    Losses(PublicId),
    /// Two members hold different results of one session. Some member, maybe neither of these, did not average as it should: both are honest where a third has
    /// sent them different values. This convicts nobody.
    Results([PublicId; 2]),
}

/// Why two files prove nothing.
#[derive(Debug, thiserror::Error)]
pub enum NoProof {
    /// Stamps of frames that no member of the session signed both, or that may both be.
    #[error("no member of this session signed both of these frames, or both may be")]
    Frames,
    /// Statements on what has gone wrong that no member of the session signed both, or that may both be.
    #[error(
        "no member of this session signed both of these statements on what has gone wrong, or a member may sign both, one after the other"
    )]
    Losses,
    /// A file that is no statement of the session.
    #[error("the {which} file is no statement of this session: {source}")]
    Statement {
        /// "first" or "second".
        which: &'static str,
        /// Why.
        source: StatementError,
    },
    /// Statements that may both be.
    #[error("both statements may be: a member says each of them once, or has said the same twice")]
    NoContradiction,
}

/// What two files prove against members of this session. Pure: nothing but their bytes counts, and everybody comes to the same end.
///
/// # Errors
/// [`NoProof`].
pub fn examine(
    [first, second]: [&[u8]; 2],
    session: SessionHash,
    members: &[PublicId],
) -> Result<Proof, NoProof> {
    if first.len() == SIGNED_STAMP_LEN && second.len() == SIGNED_STAMP_LEN {
        let signed_both = |culprit: &&PublicId| {
            let evidence = Evidence {
                culprit: **culprit,
                first: first.to_vec(),
                second: second.to_vec(),
            };
            evidence.verify().is_ok()
        };
        let culprit = members.iter().find(signed_both);
        return culprit.copied().map(Proof::Frames).ok_or(NoProof::Frames);
    }
    if first.starts_with(&EVIDENCE_MARK) || second.starts_with(&EVIDENCE_MARK) {
        let (plan, evidence) = Losses::read([first, second]).ok_or(NoProof::Losses)?;
        let signed_both = |member: &&PublicId| {
            // Whichever number it has in the session: the signature says whose it is.
            let numbers = 0..=evidence.culprit().0;
            let keys = MemberKeys::new(session, numbers.map(|_| **member));
            evidence.is_proof(plan, &keys)
        };
        let culprit = members.iter().find(signed_both);
        return culprit.copied().map(Proof::Losses).ok_or(NoProof::Losses);
    }
    let read = |bytes, which| {
        let signed = Signed::read(bytes, session, |id| members.contains(id));
        signed.map_err(|source| NoProof::Statement { which, source })
    };
    let (first, second) = (read(first, "first")?, read(second, "second")?);
    if first.statement == second.statement {
        return Err(NoProof::NoContradiction);
    }
    match (&first.statement, &second.statement) {
        (Statement::Finished { .. }, Statement::Finished { .. }) if first.from != second.from => {
            Ok(Proof::Results([first.from, second.from]))
        }
        _ if first.from == second.from && is_said_once(&first.statement, &second.statement) => {
            Ok(Proof::Statements(first.from, first.statement.kind()))
        }
        _ => Err(NoProof::NoContradiction),
    }
}

/// Whether a session has one of these two, in all its tries: an honest member signs nothing else in a later one.
fn is_said_once(first: &Statement, second: &Statement) -> bool {
    match (first, second) {
        (Statement::Roster(first), Statement::Roster(second)) => first.attempt == second.attempt,
        // One for every list of members.
        (Statement::Ready(first), Statement::Ready(second)) => first.roster() == second.roster(),
        (Statement::Join(_), Statement::Join(_))
        | (Statement::Reveal(_), Statement::Reveal(_))
        | (Statement::Finished { .. }, Statement::Finished { .. }) => true,
        // Whoever leaves may say so more than once, and may report several ledgers.
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    use crate::protocol::SessionId;
    use crate::protocol::regroup::{self, Disruptions, Signer};
    use crate::session::{Domain, Identity, MemberSigner, Roster};
    use crate::vocabulary::{PeerIndex, ReleaseId};

    const SESSION: SessionHash = SessionHash([9; 32]);

    fn member(number: u8) -> Identity {
        Identity::from_secret([number; 32].into())
    }

    fn all() -> Vec<PublicId> {
        (1..4).map(|number| member(number).id()).collect()
    }

    fn statement(by: u8, statement: Statement) -> Vec<u8> {
        Signed::new(&member(by), SESSION, statement).bytes.to_vec()
    }

    fn frame(by: u8, place: u8, content: u8) -> Vec<u8> {
        let mut stamp = [content; 63];
        stamp[..31].fill(place);
        let signature = member(by).sign(Domain("undertone 2026-11 frame v4"), &stamp);
        [&stamp[..], &signature.to_bytes()].concat()
    }

    fn proved(first: &[u8], second: &[u8]) -> Option<Proof> {
        examine([first, second], SESSION, &all()).ok()
    }

    #[test]
    fn two_frames_of_one_place_name_who_signed_both_whatever_the_others_are_called() {
        let culprit = member(2).id();
        let (one, two) = (frame(2, 1, 1), frame(2, 1, 2));
        assert_eq!(proved(&one, &two), Some(Proof::Frames(culprit)));
        for other in [
            frame(2, 1, 1),
            frame(2, 2, 2),
            frame(3, 1, 2),
            frame(7, 1, 2),
        ] {
            assert_eq!(proved(&one, &other), None);
        }
        let stranger = proved(&frame(7, 1, 1), &frame(7, 1, 2));
        assert_eq!(stranger, None, "who was not invited is nobody here");
    }

    #[test]
    fn two_statements_that_are_said_once_name_who_said_both() {
        let culprit = member(1).id();
        let reveal = |by, byte| statement(by, Statement::Reveal([byte; 32]));
        let said = proved(&reveal(1, 1), &reveal(1, 2));
        assert_eq!(said, Some(Proof::Statements(culprit, Kind::Reveal)));
        assert_eq!(proved(&reveal(1, 1), &reveal(1, 1)), None, "said twice");
        assert_eq!(proved(&reveal(1, 1), &reveal(2, 2)), None, "by two");
        let roster = |attempt, byte| {
            let (members, joins) = (7, [byte; 32]);
            let roster = Roster {
                attempt,
                members,
                joins,
            };
            statement(1, Statement::Roster(roster))
        };
        let kind = Kind::Roster;
        let said = proved(&roster(0, 1), &roster(0, 2));
        assert_eq!(said, Some(Proof::Statements(culprit, kind)));
        assert_eq!(
            proved(&roster(0, 1), &roster(1, 2)),
            None,
            "another attempt"
        );
    }

    /// A statement on losses of member `by`, whatever its number is in a session.
    fn stated(by: u8, session: SessionHash, done: u32) -> regroup::Signed {
        let origin = PeerIndex(1);
        let statement = regroup::Statement {
            disruptions: Disruptions::none(3, 3),
            done: ReleaseId(done),
            certified: Vec::new(),
            sent: None,
            retries: 0,
        };
        let record = regroup::Record::Statement {
            origin,
            serial: 1,
            statement,
        };
        let bytes = record.signed_bytes(PLAN, |_| None).expect("a statement");
        let keys = MemberKeys::new(session, all());
        let signature = MemberSigner::new(Arc::new(member(by)), keys).sign(&bytes);
        regroup::Signed { record, signature }
    }

    const PLAN: SessionId = SessionId([4; 16]);

    #[test]
    fn two_statements_on_losses_name_who_signed_both_in_this_session() {
        let files = |one: &regroup::Signed, other: &regroup::Signed| {
            let evidence = Losses::of(one, other).expect("a contradiction");
            evidence.files(PLAN)
        };
        let elsewhere = SessionHash([8; 32]);
        let [one, two] = files(&stated(2, SESSION, 1), &stated(2, SESSION, 2));
        let culprit = member(2).id();
        assert_eq!(proved(&one, &two), Some(Proof::Losses(culprit)));
        assert_eq!(proved(&one, &one), None, "the same twice");
        // Of a session with another file, or of two sessions, or by two members, or by nobody who is invited.
        for (a, b) in [
            (stated(2, elsewhere, 1), stated(2, elsewhere, 2)),
            (stated(2, SESSION, 1), stated(2, elsewhere, 2)),
            (stated(2, SESSION, 1), stated(3, SESSION, 2)),
            (stated(7, SESSION, 1), stated(7, SESSION, 2)),
        ] {
            let [a, b] = files(&a, &b);
            assert_eq!(proved(&a, &b), None);
        }
        let other = examine([&one, &two], elsewhere, &all());
        assert!(matches!(other, Err(NoProof::Losses)));
        for at in 0..two.len() {
            assert_eq!(proved(&one, &two[..at]), None, "{at} bytes");
        }
        let reveal = statement(2, Statement::Reveal([1; 32]));
        assert_eq!(proved(&one, &reveal), None);
        assert_eq!(proved(&reveal, &one), None);
    }

    #[test]
    fn two_results_of_two_members_are_a_dispute_and_of_one_a_proof() {
        let result = |by, byte| statement(by, Statement::Finished { result: [byte; 32] });
        let both = [member(1).id(), member(3).id()];
        let said = proved(&result(1, 1), &result(3, 2));
        assert_eq!(said, Some(Proof::Results(both)));
        assert_eq!(proved(&result(1, 1), &result(3, 1)), None, "they agree");
        let said = proved(&result(1, 1), &result(1, 2));
        let culprit = member(1).id();
        assert_eq!(said, Some(Proof::Statements(culprit, Kind::Finished)));
    }

    #[test]
    fn what_is_changed_cut_or_of_another_session_proves_nothing() {
        let one = statement(1, Statement::Reveal([1; 32]));
        let two = statement(1, Statement::Reveal([2; 32]));
        for at in 0..two.len() {
            let mut changed = two.clone();
            changed[at] ^= 4;
            assert_eq!(proved(&one, &changed), None, "byte {at}");
            assert_eq!(proved(&one, &two[..at]), None, "{at} bytes");
        }
        let elsewhere = examine([&one, &two], SessionHash([8; 32]), &all());
        assert!(matches!(
            elsewhere,
            Err(NoProof::Statement { which: "first", .. })
        ));
        assert_eq!(proved(&[], &[]), None);
        assert_eq!(proved(&[0; 127], &[1; 127]), None);
    }
}
