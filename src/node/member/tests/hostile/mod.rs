//! Sessions with one hostile member, in process: what honest members are promised holds whatever it sends.
//!
//! | part | subject |
//! | --- | --- |
//! | `case` | small sessions and their plans |
//! | `process` | one life of a member: the state machines and decisions that ship, in virtual time |
//! | `plain`, `tolerant` | the peer of a process, over signed bytes |
//! | `world` | members, what is under way between them, and time |
//! | `actor` | what a hostile member does with what its process would send |
//! | `notes`, `referee` | what honest members signed and published, and the promises |

mod actor;
mod case;
mod notes;
mod plain;
mod process;
mod referee;
mod tolerant;
mod world;

use super::*;
use crate::session::PublicId;

use self::case::{Case, Kind};
use self::world::World;

const KINDS: [Kind; 4] = [Kind::Tree, Kind::Gossip, Kind::Open, Kind::Sealed];

/// Without a hostile member everybody ends with a result, and where averaging is exact with the same.
#[test]
fn honest_members_all_end_with_a_result() {
    for kind in KINDS {
        for members in [4, 7] {
            let mut world = World::new(Case::of(members, kind), members as u64, None, None);
            world.run();
            let found = referee::judge(&world);
            assert_eq!(
                found,
                Vec::<String>::new(),
                "{kind:?} {members}: {:?}",
                world.ends
            );
            assert_eq!(world.ends.len(), members, "{kind:?}");
            for end in &world.ends {
                assert_eq!(end.code(), 0, "{kind:?}: {end:?}");
                let is_alike = end.result == world.ends[0].result;
                assert!(is_alike || kind == Kind::Gossip);
            }
            let published: usize = world.notes.published.iter().map(|one| one.len()).sum();
            assert_eq!(published, members * case::RELEASES as usize, "{kind:?}");
        }
    }
}
