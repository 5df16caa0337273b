//! Two results of one session that should have the same bits: what was signed is kept, and says so again whenever it is asked. So are two statements of one
//! member that contradict each other.

use std::time::Duration;

use tokio::time::Instant;

use super::conductor::Conductor;
use super::error::MemberError;
use super::exchange::statements;
use super::verdict::named;
use crate::node::deployed::Evidence;
use crate::node::evidence::{Proof, examine};
use crate::node::store::{Digest, SessionFiles};
use crate::session::{Invitation, PublicId, Signed, Stamps, Statement};

/// What this member signed as its result, where another member signed another.
const OUR_RESULT: &str = "evidence-first.bin";
/// What the other signed.
const OTHER_RESULT: &str = "evidence-second.bin";

/// How long members that are done wait for the stamps of others, once all are done.
const WAITING: Duration = Duration::from_secs(10);

/// Keeps what this member and another signed as their results; nothing comes of two that are alike. A disk that refuses both changes nothing about their being two.
pub(super) fn keep(
    files: &SessionFiles,
    (ours, theirs): (&Signed, &Signed),
    member: &str,
) -> Option<MemberError> {
    let disputed = disputed(ours, theirs, member);
    if disputed.is_some() {
        let kept = files.write(OUR_RESULT, &ours.bytes);
        let kept = kept.and_then(|()| files.write(OTHER_RESULT, &theirs.bytes));
        if let Err(error) = kept {
            tracing::error!(%error, "two signed results were not kept");
        }
    }
    disputed
}

/// Keeps two statements of one member that contradict each other, unless two are kept already: the first to be found are enough.
pub(super) fn keep_contradiction(files: &SessionFiles, both: [Vec<u8>; 2]) {
    if files.path(OTHER_RESULT).exists() {
        return;
    }
    for (name, bytes) in [OUR_RESULT, OTHER_RESULT].into_iter().zip(&both) {
        if let Err(error) = files.write(name, bytes) {
            return tracing::error!(%error, "two statements that contradict each other were not kept");
        }
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

impl Conductor<'_> {
    /// Shows the others which frames this member has received, as their results differ.
    pub(super) fn show_stamps(&mut self) {
        let own = self.identity.id();
        for stamps in statements(&self.host.stamps(), &self.roster) {
            let statement = Statement::Stamps(stamps.clone());
            let signed = Signed::new(&self.identity, self.session, statement);
            if let Err(error) = self.host.broadcast(signed.bytes) {
                tracing::warn!(%error, "stamps of frames were not shown to the others");
            }
            self.take_stamps(own, &stamps);
        }
    }

    /// Compares the frames that a member says it has received with those that others have. Evidence takes the place of two results.
    pub(super) fn take_stamps(&mut self, from: PublicId, shown: &Stamps) {
        let Some(session) = self
            .planned
            .as_ref()
            .map(|one| one.session.plan().session())
        else {
            return;
        };
        let Some(evidence) = self.exchange.take(from, (session, &self.roster), shown) else {
            return;
        };
        if self.has_evidence() {
            return;
        }
        let Evidence {
            culprit,
            first,
            second,
        } = &evidence;
        let files = &self.ready.files;
        let kept = files.write(OUR_RESULT, first);
        let kept = kept.and_then(|()| files.write(OTHER_RESULT, second));
        if let Err(error) = kept {
            tracing::error!(%error, "two signed stamps were not kept");
        }
        let member = named(&self.names, culprit);
        self.disputed = Some(MemberError::Equivocated { member });
    }

    fn has_evidence(&self) -> bool {
        matches!(self.disputed, Some(MemberError::Equivocated { .. }))
    }

    /// Whether nothing more is to be found out about why results differ, now that all are done.
    pub(super) fn is_settled(&mut self) -> bool {
        if self.disputed.is_none() || self.has_evidence() || self.exchange.is_complete(&self.roster)
        {
            return true;
        }
        let until = *self.settles.get_or_insert_with(|| Instant::now() + WAITING);
        until <= Instant::now()
    }
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
        keep_contradiction(&files, [vec![1], vec![2]]);
        keep_contradiction(&files, [vec![3], vec![4]]);
        assert_eq!(kept(), [Some(vec![1]), Some(vec![2])]);
    }
}
