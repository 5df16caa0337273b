//! A hostile member that sends two neighbours different blocks, each rightly signed: it is convicted, or nobody is.

use super::*;
use crate::node::evidence::{Proof, examine};
use crate::node::tests::beside_one_another;

/// How members end where the one with this number equivocates, and whom their evidence convicts.
fn played(members: u16, hostile: usize, scene: Scene) -> (Vec<String>, Vec<Option<Proof>>) {
    let group = Group::new(members, "tree");
    let scenes = |peer| match peer == hostile {
        true => scene,
        false => Scene::Seeded,
    };
    let ends = group.run(scenes);
    let session = fs::read(group.path().join("session.toml")).expect("there");
    let invitation = Invitation::read(&session).expect("a session");
    let ids: Vec<_> = invitation.members.iter().map(|member| member.id).collect();
    let proofs = group.states.iter().map(|state| {
        let view = StateView::open(&group.path().join(state)).expect("a peer");
        let files = view.sessions().expect("listed").remove(0);
        let read = |name| fs::read(files.path().join(name)).ok();
        let (first, second) = (read("evidence-first.bin")?, read("evidence-second.bin")?);
        Some(examine([&first, &second], invitation.hash(), &ids).expect("evidence"))
    });
    let proofs: Vec<_> = proofs.collect();
    for (peer, (end, proof)) in ends.iter().zip(&proofs).enumerate() {
        match proof {
            Some(Proof::Frames(culprit)) => {
                assert_eq!(*culprit, ids[hostile], "{peer}: {end}");
                let named = culprit.beside(&group.states[hostile]);
                let named = format!("{named} signed two");
                assert!(end.contains(&named), "{peer}: {end}");
            }
            Some(Proof::Results(_)) => assert!(end.contains("maybe neither"), "{peer}: {end}"),
            Some(other) => panic!("{peer}: {other:?}"),
            None => assert!(end.starts_with("0 "), "{peer}: {end}"),
        }
    }
    let again = group.run(|_| Scene::Seeded);
    for (before, after) in ends.iter().zip(&again) {
        assert!(after == before || after == "before", "{before}: {after}");
    }
    (ends, proofs)
}

#[test]
fn who_sends_neighbours_different_blocks_is_convicted_by_what_they_received() {
    let convicted = AtomicU32::new(0);
    beside_one_another(0..4, |hostile| {
        let (ends, proofs) = played(8, hostile, Scene::Equivocating);
        let found = |proof: &&Option<Proof>| matches!(proof, Some(Proof::Frames(_)));
        let count = proofs.iter().filter(found).count();
        // Those who have no two children equivocate with nobody.
        assert!(count == 0 || count == 8, "{hostile}: {count} of {ends:?}");
        convicted.fetch_add(u32::from(count > 0), Ordering::Relaxed);
        let is_root = hostile == 0;
        assert!(!is_root || count > 0, "{ends:?}");
    });
    assert!(convicted.into_inner() >= 1);
}

/// The power method forgets what an earlier release was: no result differs, and nobody is asked for anything.
#[test]
fn what_changes_no_result_convicts_nobody() {
    let (ends, proofs) = played(5, 0, Scene::EquivocatingEarly);
    assert!(ends.iter().all(|end| end.starts_with("0 ")), "{ends:?}");
    assert!(proofs.iter().all(Option::is_none));
}
