//! The promises that honest members are given, and whether a world has kept them.

use super::case::Kind;
use super::world::{Ended, World};
use super::*;
use crate::node::evidence::{Proof, examine};
use crate::node::member::error::MemberError;
use crate::node::store::Digest;
use crate::protocol::regroup::Evidence;
use crate::session::{AssemblyError, Signed, Statement};

/// Every promise that was broken, in words.
pub(super) fn judge(world: &World) -> Vec<String> {
    let mut found = world.notes.broken.clone();
    ends(world, &mut found);
    statements(world, &mut found);
    evidence(world, &mut found);
    ledgers(world, &mut found);
    found
}

fn is_honest(world: &World, id: &PublicId) -> bool {
    let place = world.ids.iter().position(|known| known == id);
    place.is_some_and(|place| Some(place) != world.hostile)
}

/// Whether a name in an error is that of an honest member.
fn names_honest(world: &World, text: &str) -> bool {
    let members = &world.invitation.members;
    let mut honest = members.iter().filter(|member| is_honest(world, &member.id));
    honest.any(|member| text == member.name || text.starts_with(&format!("{} (", member.name)))
}

/// Whether this blames nobody for what it has sent. A member that waits for the hostile one keeps its own neighbours waiting, and the first deadline to pass
/// may be theirs.
fn is_absence(why: &str) -> bool {
    why.contains("has been gone for")
}

/// Whether a member of this name was away: it had ended, or its process was killed.
fn was_away(world: &World, name: &str) -> bool {
    let members = world.invitation.members.iter();
    let named = |known: &str| name == known || name.starts_with(&format!("{known} ("));
    let id = members
        .filter(|member| named(&member.name))
        .map(|one| one.id);
    let place = |id: PublicId| world.ids.iter().position(|known| *known == id);
    let mut places = id.filter_map(place);
    places.all(|place| {
        world.killed.contains(&place) || world.ends.iter().any(|end| end.member == place)
    })
}

/// Whom an error says to deviate.
fn blamed(error: &MemberError) -> Vec<String> {
    let MemberError::Assembly(error) = error else {
        return match error {
            MemberError::Equivocated { member } => vec![member.clone()],
            MemberError::Culprit { member, why, .. } if !is_absence(why) => {
                vec![member.clone()]
            }
            _ => Vec::new(),
        };
    };
    match &**error {
        AssemblyError::Contradiction { member, .. }
        | AssemblyError::OtherFile { member }
        | AssemblyError::OtherMode { member }
        | AssemblyError::OtherBuild { member, .. }
        | AssemblyError::OtherWire { member, .. }
        | AssemblyError::RestoredState { member, .. }
        | AssemblyError::Malformed { member, .. }
        | AssemblyError::Commitment { member }
        | AssemblyError::OtherPlan { member, .. } => vec![member.clone()],
        // Silence and lists that differ are nobody's deviation.
        _ => Vec::new(),
    }
}

fn ends(world: &World, found: &mut Vec<String>) {
    let honest = |end: &&Ended| Some(end.member) != world.hostile;
    for end in world.ends.iter().filter(honest) {
        let code = end.code();
        if matches!(code, 2 | 4) {
            found.push(format!(
                "{} ends with exit code {code}: {end:?}",
                end.member
            ));
        }
        let Some(error) = &end.error else { continue };
        for name in blamed(error) {
            if names_honest(world, &name) {
                found.push(format!("{} names {name}: {error}", end.member));
            }
        }
        if let MemberError::Culprit { member, why, .. } = error
            && is_absence(why)
            && !was_away(world, member)
        {
            found.push(format!("{} says that {member} is away: {why}", end.member));
        }
        let mut ends = world.ends.iter().filter(honest);
        if matches!(error, MemberError::Missed) && !ends.any(|end| end.code() == 0) {
            found.push(format!(
                "{} has missed what nobody has: {error}",
                end.member
            ));
        }
    }
    for (by, id, what) in &world.notes.named {
        if is_honest(world, id) {
            found.push(format!("{by} names {id}: {what}"));
        }
    }
}

fn statements(world: &World, found: &mut Vec<String>) {
    let session = world.invitation.hash();
    for (member, said) in world.notes.statements.iter().enumerate() {
        if Some(member) == world.hostile {
            continue;
        }
        let own = world.ids[member];
        let read = |bytes: &Arc<[u8]>| Signed::read(bytes, session, |_| true).ok();
        let said: Vec<Signed> = said.iter().filter_map(read).collect();
        let said: Vec<&Signed> = said.iter().filter(|signed| signed.from == own).collect();
        for (at, first) in said.iter().enumerate() {
            if let Statement::Gone {
                about: Some(about),
                text,
                ..
            } = &first.statement
                && is_honest(world, about)
                && !is_absence(text)
            {
                found.push(format!("{member} accuses {about}: {text}"));
            }
            for second in &said[at + 1..] {
                let both = [&first.bytes[..], &second.bytes[..]];
                if let Ok(proof) = examine(both, session, &world.ids) {
                    found.push(format!("{member} signed two statements: {proof:?}"));
                }
            }
        }
        let stated = &world.notes.stated[member];
        for (at, first) in stated.iter().enumerate() {
            for second in &stated[at + 1..] {
                if Evidence::of(first, second).is_some() {
                    found.push(format!("{member} stated {first:?} and {second:?}"));
                }
            }
        }
    }
}

/// Whom the evidence that honest members keep convicts, with who keeps it.
fn kept(world: &World) -> Vec<(usize, Vec<PublicId>)> {
    let session = world.invitation.hash();
    let folder = Digest(session.0).to_string();
    let mut all = Vec::new();
    for (member, seat) in world.seats.iter().enumerate() {
        if Some(member) == world.hostile {
            continue;
        }
        let folder = seat.folder.join("sessions").join(&folder);
        let read = |name| fs::read(folder.join(name)).ok();
        let both = (read("evidence-first.bin"), read("evidence-second.bin"));
        let (Some(first), Some(second)) = both else {
            continue;
        };
        match examine([&first, &second], session, &world.ids) {
            Ok(Proof::Frames(id) | Proof::Statements(id, _) | Proof::Losses(id)) => {
                all.push((member, vec![id]))
            }
            // Two results say that somebody deviated, and not that it was one of these two.
            Ok(Proof::Results(_)) | Err(_) => {}
        }
    }
    all
}

/// Everybody who is convicted alone.
pub(super) fn convictions(world: &World) -> BTreeSet<PublicId> {
    let alone = kept(world).into_iter().filter(|(_, ids)| ids.len() == 1);
    alone.flat_map(|(_, ids)| ids).collect()
}

/// What honest members kept convicts the hostile one or nobody.
fn evidence(world: &World, found: &mut Vec<String>) {
    for (member, convicted) in kept(world) {
        if convicted.iter().all(|id| is_honest(world, id)) {
            found.push(format!("{member} keeps evidence against {convicted:?}"));
        }
    }
    for (member, id, _) in &world.notes.proofs {
        let is_kept = kept(world).iter().any(|(by, _)| by == member);
        if Some(*member) != world.hostile && !is_kept {
            found.push(format!(
                "{member} has found two statements of {id} and keeps nothing"
            ));
        }
        if is_honest(world, id) {
            found.push(format!("two statements convict {id}"));
        }
    }
}

/// Every honest ledger has charged what has left.
fn ledgers(world: &World, found: &mut Vec<String>) {
    let price = world.case.price();
    for (member, seat) in world.seats.iter().enumerate() {
        if Some(member) == world.hostile {
            continue;
        }
        let published = &world.notes.published[member];
        let state = StateDir::open(&seat.folder).expect("a peer");
        let ledger = state.ledger().expect("a ledger");
        let account = ledger.view().session(world.invitation.hash().0);
        let charged = account.map_or(0.0, |account| account.charged().get());
        let lost = price * published.len() as f64;
        if charged * (1.0 + 1e-9) < lost {
            found.push(format!(
                "{member} has charged {charged} and lost {lost}: {published:?}"
            ));
        }
        let tries: BTreeSet<_> = published
            .iter()
            .map(|(release, retry, _)| (release, retry))
            .collect();
        if tries.len() < published.len() && world.case.kind != Kind::Gossip {
            found.push(format!("{member} published one try twice: {published:?}"));
        }
        if charged > WHOLE * (1.0 + 1e-9) {
            found.push(format!("{member} has charged {charged} of {WHOLE}"));
        }
    }
}
