//! A hostile member that sends numbers which nobody can have computed, or from which nothing can be computed.

use super::*;
use crate::node::tests::beside_one_another;

/// Whoever receives numbers beyond the bound names their sender; nobody else is named by anybody, and all end with 1.
#[test]
fn numbers_beyond_what_members_can_send_name_their_sender() {
    let plays = [("tree", 0), ("tree", 3), ("linear", 2)];
    beside_one_another(plays, |(kind, hostile)| {
        let group = Group::new(5, kind);
        let ends = group.run(|peer| match peer == hostile {
            true => Scene::Huge,
            false => Scene::Seeded,
        });
        let named =
            |end: &String| end.contains(&group.states[hostile]) && end.contains("larger than data");
        let honest = || ends.iter().enumerate().filter(|(peer, _)| *peer != hostile);
        assert!(honest().any(|(_, end)| named(end)), "{kind} {ends:?}");
        for (_, end) in honest() {
            // Whoever has not received any hears it from one that has.
            assert!(end.starts_with("1 ") && named(end), "{kind}: {end}");
        }
    });
}

/// A sum of zeros has no basis: nobody can tell whose fault that is, and it is no fault of usage.
#[test]
fn a_release_that_cannot_be_computed_is_nobodys_fault() {
    let group = Group::new(5, "tree");
    let ends = group.run(|peer| match peer {
        0 => Scene::Zero,
        _ => Scene::Seeded,
    });
    let own = ends.iter().filter(|end| end.contains("Nobody is to blame"));
    assert!(own.count() > 0, "{ends:?}");
    for end in &ends {
        assert!(end.starts_with("1 "), "{end}");
        assert!(end.contains("release could not be computed"), "{end}");
    }
}
