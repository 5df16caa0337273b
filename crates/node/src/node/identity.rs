//! Network identities of in-process nodes, and whose identity is whose.

use std::collections::BTreeMap;

use libp2p::PeerId;
use libp2p::identity::Keypair;
use rand::Rng;

use crate::vocabulary::{Label, PeerIndex, Seed};

/// The Ed25519 identity of `peer` in a simulation: a function of the run's seed, so that runs repeat.
///
/// Whoever knows the seed knows the key. A deployed node draws its identity from the operating system.
pub(super) fn keypair(seed: &Seed, peer: PeerIndex) -> Keypair {
    let mut secret = [0_u8; 32];
    seed.key(Label::Identity, peer.0, 0)
        .stream(0, 0)
        .fill_bytes(&mut secret);
    // Wipes `secret`.
    Keypair::ed25519_from_bytes(&mut secret).expect("any 32 bytes are an Ed25519 secret key")
}

/// The identities of one node's neighbours. A frame's sender is looked up here by the identity that Noise
/// has authenticated; nothing in the frame itself names a sender.
#[derive(Clone, Debug, Default)]
pub(super) struct Roster {
    by_id: BTreeMap<PeerId, PeerIndex>,
}

impl Roster {
    pub(super) fn new(neighbours: impl IntoIterator<Item = (PeerIndex, PeerId)>) -> Self {
        let by_id = neighbours.into_iter().map(|(index, id)| (id, index));
        Self {
            by_id: by_id.collect(),
        }
    }

    /// The neighbour behind an authenticated identity, or `None` for strangers.
    pub(super) fn index_of(&self, id: &PeerId) -> Option<PeerIndex> {
        self.by_id.get(id).copied()
    }

    pub(super) fn ids(&self) -> impl Iterator<Item = PeerId> + '_ {
        self.by_id.keys().copied()
    }

    pub(super) fn len(&self) -> usize {
        self.by_id.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(seed: u64, peer: u32) -> PeerId {
        keypair(&Seed::from_u64(seed), PeerIndex(peer))
            .public()
            .to_peer_id()
    }

    #[test]
    fn identities_repeat_with_the_seed_and_differ_between_peers_and_seeds() {
        assert_eq!(id(1, 4), id(1, 4));
        assert_ne!(id(1, 4), id(1, 5));
        assert_ne!(id(1, 4), id(2, 4));
    }

    #[test]
    fn strangers_have_no_index() {
        let roster = Roster::new([(PeerIndex(4), id(1, 4)), (PeerIndex(9), id(1, 9))]);
        assert_eq!(roster.index_of(&id(1, 9)), Some(PeerIndex(9)));
        assert_eq!(roster.index_of(&id(1, 5)), None);
        assert_eq!((roster.len(), roster.ids().count()), (2, 2));
    }
}
