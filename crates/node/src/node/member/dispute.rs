//! Two results of one session that should have the same bits: what was signed is kept, and says so again whenever it is asked. So are two statements of one
//! member that contradict each other.

use super::error::MemberError;
use crate::node::deployed::Evidence;
use crate::node::evidence::{Proof, examine};
use crate::node::store::{Digest, SessionFiles, StoreError};
use crate::session::{Invitation, PublicId, Signed, Statement};

/// What this member signed as its result, where another member signed another.
const OUR_RESULT: &str = "evidence-first.bin";
/// What the other signed.
const OTHER_RESULT: &str = "evidence-second.bin";

/// Keeps two signed pieces that contradict each other.
pub(super) fn keep_evidence(files: &SessionFiles, both: [&[u8]; 2]) -> Result<(), StoreError> {
    files.write(OUR_RESULT, both[0])?;
    files.write(OTHER_RESULT, both[1])
}

/// Keeps what this member and another signed as their results; nothing comes of two that are alike. A disk that refuses both changes nothing about their being two.
pub(super) fn keep(
    files: &SessionFiles,
    (ours, theirs): (&Signed, &Signed),
    member: &str,
) -> Option<MemberError> {
    let disputed = disputed(ours, theirs, member);
    if disputed.is_some()
        && let Err(error) = keep_evidence(files, [&ours.bytes, &theirs.bytes])
    {
        tracing::error!(%error, "two signed results were not kept");
    }
    disputed
}

/// Keeps two statements of one member that contradict each other, unless two are kept already: the first to be found are enough.
pub(super) fn keep_contradiction(files: &SessionFiles, both: &[Vec<u8>; 2]) {
    if files.path(OTHER_RESULT).exists() {
        return;
    }
    if let Err(error) = keep_evidence(files, [&both[0], &both[1]]) {
        tracing::error!(%error, "two statements that contradict each other were not kept");
    }
}

/// What was kept of a session that ended with two results.
pub(super) fn kept(invitation: &Invitation, files: &SessionFiles) -> Option<MemberError> {
    let read = |name| std::fs::read(files.path(name)).ok();
    let (ours, theirs) = (read(OUR_RESULT)?, read(OTHER_RESULT)?);
    let members: Vec<PublicId> = invitation.members.iter().map(|one| one.id).collect();
    if let Ok(Proof::Frames(culprit)) = examine([&ours, &theirs], invitation.hash(), &members) {
        let member = culprit.beside(&invitation.member(&culprit)?.name);
        return Some(MemberError::Equivocated { member });
    }
    let invited = |id: &PublicId| members.contains(id);
    let signed = |bytes: &[u8]| Signed::read(bytes, invitation.hash(), invited).ok();
    let (ours, theirs) = (signed(&ours)?, signed(&theirs)?);
    let member = invitation.member(&theirs.from)?;
    disputed(&ours, &theirs, &member.id.beside(&member.name))
}

/// That two members signed two results; nothing where these are no such statements.
fn disputed(ours: &Signed, theirs: &Signed, member: &str) -> Option<MemberError> {
    match (&ours.statement, &theirs.statement) {
        (Statement::Finished { result: ours }, Statement::Finished { result: theirs })
            if ours != theirs =>
        {
            Some(MemberError::Disputed {
                member: member.to_owned(),
                theirs: Digest(*theirs),
                ours: Digest(*ours),
            })
        }
        _ => None,
    }
}

/// Keeps the proof that a member has signed two different frames for one place, in place of two results.
pub(super) fn convict(files: &SessionFiles, evidence: &Evidence, member: String) -> MemberError {
    if let Err(error) = keep_evidence(files, [&evidence.first, &evidence.second]) {
        tracing::error!(%error, "two signed stamps were not kept");
    }
    MemberError::Equivocated { member }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::node::store::StateDir;
    use crate::session::MemberName;

    /// The first contradiction stays: a second one, or what comes after a restart, replaces nothing.
    #[test]
    fn two_statements_of_one_member_are_kept_once() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("state");
        let state = StateDir::init(&path, &MemberName::default()).expect("made");
        let files = state.session([3; 32]).expect("made");
        let kept = || [OUR_RESULT, OTHER_RESULT].map(|name| fs::read(files.path(name)).ok());
        assert_eq!(kept(), [None, None]);
        keep_contradiction(&files, &[vec![1], vec![2]]);
        keep_contradiction(&files, &[vec![3], vec![4]]);
        assert_eq!(kept(), [Some(vec![1]), Some(vec![2])]);
    }
}
