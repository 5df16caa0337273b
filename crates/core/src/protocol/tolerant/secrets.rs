//! What a peer needs to seal: a secret of its own, and one with every neighbour.

use std::collections::BTreeMap;
use std::fmt;

use zeroize::Zeroizing;

use crate::protocol::escrow::{EscrowKey, SealRoot};
use crate::vocabulary::PeerIndex;

/// A peer's secrets for sealed contributions, of one session and of nothing else. `Debug` prints who they are shared with.
pub struct SealSecrets {
    pub(super) root: SealRoot,
    keys: BTreeMap<PeerIndex, Directions>,
}

/// The keys of one pair: one for each direction.
struct Directions {
    to: EscrowKey,
    from: EscrowKey,
}

impl SealSecrets {
    /// Those of `me`: `root` is known to nobody else, and each of `pairs` to one neighbour (deployed members derive both for a purpose of their own,
    /// from what they have agreed on).
    #[must_use]
    pub fn new(
        me: PeerIndex,
        root: &Zeroizing<[u8; 32]>,
        pairs: impl IntoIterator<Item = (PeerIndex, Zeroizing<[u8; 32]>)>,
    ) -> Self {
        let directions = |(other, pair): (PeerIndex, Zeroizing<[u8; 32]>)| {
            let keys = Directions {
                to: EscrowKey::new(&pair, me, other),
                from: EscrowKey::new(&pair, other, me),
            };
            (other, keys)
        };
        Self {
            root: SealRoot::from_secret(root),
            keys: pairs.into_iter().map(directions).collect(),
        }
    }

    /// These secrets with one key for both directions.
    #[cfg(any(test, feature = "testing"))]
    pub(in crate::protocol::tolerant) fn with_one_key(mut self, me: PeerIndex) -> Self {
        for (other, keys) in &mut self.keys {
            match me < *other {
                true => keys.from = keys.to.clone(),
                false => keys.to = keys.from.clone(),
            }
        }
        self
    }

    /// The key for shares that go to a neighbour.
    pub(crate) fn sending_to(&self, holder: PeerIndex) -> Option<&EscrowKey> {
        self.keys.get(&holder).map(|keys| &keys.to)
    }

    /// The key for shares that come from a neighbour.
    pub(crate) fn coming_from(&self, dealer: PeerIndex) -> Option<&EscrowKey> {
        self.keys.get(&dealer).map(|keys| &keys.from)
    }
}

impl fmt::Debug for SealSecrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SealSecrets(redacted, with {:?})", self.keys.keys())
    }
}
