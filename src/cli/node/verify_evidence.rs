//! `undertone node verify-evidence`.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use anyhow::{Context, Result};

use super::arguments::EvidenceArguments;
use super::planning;
use crate::cli::Verdict;
use crate::node::evidence::{Proof, examine};
use crate::session::{Invitation, MOST_BYTES, PublicId};

pub(super) fn execute(options: &EvidenceArguments) -> Result<Verdict> {
    let (invitation, _) = planning::read_session(&options.session)?;
    let (first, second) = (read(&options.first)?, read(&options.second)?);
    let members: Vec<PublicId> = invitation.members.iter().map(|one| one.id).collect();
    let proof = examine([&first, &second], invitation.hash(), &members)
        .context("this is no evidence: both files must be as the node wrote them, and the session file the one they come from")?;
    match proof {
        Proof::Frames(culprit) => println!(
            "proved: {} signed two different frames where the protocol has one",
            named(&invitation, &culprit)
        ),
        Proof::Statements(culprit, kind) => println!(
            "proved: {} signed two different statements of the kind {kind}, and a session has one",
            named(&invitation, &culprit)
        ),
        Proof::Losses(culprit) => println!(
            "proved: {} signed two statements on what has gone wrong of which a member makes one",
            named(&invitation, &culprit)
        ),
        Proof::Results([first, second]) => {
            println!(
                "{} and {} hold different results: some member, maybe neither of these, did not average as it should. This convicts nobody",
                named(&invitation, &first),
                named(&invitation, &second)
            );
            return Ok(Verdict::CheckFailed);
        }
    }
    Ok(Verdict::Success)
}

/// What a member is called, and its id: names are what members chose.
fn named(invitation: &Invitation, id: &PublicId) -> String {
    match invitation.member(id) {
        Some(member) => format!("{:?} ({id})", member.name),
        None => id.to_string(),
    }
}

/// A file of evidence; of a longer one no more than shows that it is none.
fn read(path: &Path) -> Result<Vec<u8>> {
    let context = || format!("cannot read {}", path.display());
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(MOST_BYTES as u64 + 1).read_to_end(&mut bytes))
        .with_context(context)?;
    Ok(bytes)
}
