//! `agreed.bin`: who takes part, under which keys, and the beacon, so that a member that starts again finds the session that it had begun.
//!
//! ```text
//! format (8) | beacon (32) | number of members (2) | each: length (2), its Join as signed | BLAKE3 of everything before (32)
//! ```

use super::error::MemberError;
use crate::node::store::SessionFiles;
use crate::session::{Assembled, Invitation, MOST_JOIN, MOST_MEMBERS, Seat, Signed, Statement};

const FILE: &str = "agreed.bin";
const FORMAT: [u8; 8] = *b"UTAGRD\x00\x01";

/// Keeps what was agreed on; it is on the disk when this returns.
pub(super) fn keep(
    files: &SessionFiles,
    assembled: &Assembled,
    joins: &[&Signed],
) -> Result<(), MemberError> {
    let mut bytes = FORMAT.to_vec();
    bytes.extend_from_slice(&assembled.beacon);
    bytes.extend_from_slice(&(assembled.roster.len() as u16).to_le_bytes());
    for seat in &assembled.roster {
        let join = joins.iter().find(|join| join.from == seat.id);
        let join = join.ok_or(MemberError::JournalLost)?;
        bytes.extend_from_slice(&(join.bytes.len() as u16).to_le_bytes());
        bytes.extend_from_slice(&join.bytes);
    }
    let digest = blake3::hash(&bytes);
    bytes.extend_from_slice(digest.as_bytes());
    Ok(files.write(FILE, &bytes)?)
}

/// What was agreed on.
///
/// # Errors
/// [`MemberError::JournalLost`] for a file that is missing or damaged: nobody else's word would do.
pub(super) fn kept(
    files: &SessionFiles,
    invitation: &Invitation,
) -> Result<Assembled, MemberError> {
    let bytes = std::fs::read(files.path(FILE)).unwrap_or_default();
    read(&bytes, invitation).ok_or(MemberError::JournalLost)
}

fn read(bytes: &[u8], invitation: &Invitation) -> Option<Assembled> {
    let most = FORMAT.len() + 32 + 2 + MOST_MEMBERS * (2 + MOST_JOIN) + 32;
    let (bytes, digest) = bytes
        .split_last_chunk::<32>()
        .filter(|(bytes, _)| bytes.len() <= most)?;
    if blake3::hash(bytes).as_bytes() != digest {
        return None;
    }
    let rest = bytes.strip_prefix(&FORMAT)?;
    let (beacon, rest) = rest.split_first_chunk::<32>()?;
    let (count, mut rest) = rest.split_first_chunk::<2>()?;
    let (mut roster, mut joins) = (Vec::new(), Vec::new());
    for _ in 0..u16::from_le_bytes(*count) {
        let (length, after) = rest.split_first_chunk::<2>()?;
        let (join, after) = after.split_at_checked(usize::from(u16::from_le_bytes(*length)))?;
        rest = after;
        let invited = |id: &_| invitation.member(id).is_some();
        let signed = Signed::read(join, invitation.hash(), invited).ok()?;
        let member = invitation.member(&signed.from)?;
        let Statement::Join(join) = signed.statement else {
            return None;
        };
        roster.push(Seat {
            id: member.id,
            name: member.name.clone(),
        });
        joins.push(join);
    }
    let is_ascending = roster.is_sorted_by(|a, b| a.id < b.id);
    (rest.is_empty() && is_ascending).then_some(Assembled {
        roster,
        joins,
        // Of what was said then; nothing is said again.
        hash: [0; 32],
        beacon: *beacon,
    })
}
