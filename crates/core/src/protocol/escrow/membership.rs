//! A decided view as one of its members sees it: who takes part, and who holds whose seals.

use crate::protocol::regroup::{Links, View, ViewNumber};
use crate::vocabulary::PeerIndex;

/// A decided view, as one of its members sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Membership {
    number: ViewNumber,
    digest: [u8; 32],
    members: Vec<PeerIndex>,
    neighbours: Vec<PeerIndex>,
}

/// A list of peers that is no view.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MembershipError {
    /// Members or neighbours out of order.
    #[error("members and neighbours of {number} are listed in ascending order, each once")]
    Order {
        /// Of which view.
        number: ViewNumber,
    },
    /// A neighbour that takes no part.
    #[error("{neighbour} is a live neighbour in {number} and no member of it")]
    Stranger {
        /// Of which view.
        number: ViewNumber,
        /// Who.
        neighbour: PeerIndex,
    },
}

impl Membership {
    /// The view with this number: its members, ascending, and of these the live neighbours of the peer at hand, ascending. `digest` is of all that was
    /// decided, members and cut links, so that two who sign for one digest agree on who holds whose seals.
    ///
    /// # Errors
    /// [`MembershipError`].
    pub fn new(
        number: ViewNumber,
        digest: [u8; 32],
        members: Vec<PeerIndex>,
        neighbours: Vec<PeerIndex>,
    ) -> Result<Self, MembershipError> {
        let ascending = |list: &[PeerIndex]| list.windows(2).all(|pair| pair[0] < pair[1]);
        if !ascending(&members) || !ascending(&neighbours) {
            return Err(MembershipError::Order { number });
        }
        let stranger = neighbours
            .iter()
            .find(|n| members.binary_search(n).is_err());
        if let Some(&neighbour) = stranger {
            return Err(MembershipError::Stranger { number, neighbour });
        }
        Ok(Self {
            number,
            digest,
            members,
            neighbours,
        })
    }

    /// This view, as `me` sees it.
    #[must_use]
    pub fn of(view: &View, links: &Links, me: PeerIndex) -> Self {
        let cuts = view.disruptions.cuts();
        Self {
            number: view.number,
            digest: view.digest(),
            members: view.members.iter().collect(),
            neighbours: links.live(me, cuts, &view.members).collect(),
        }
    }

    /// Its number.
    #[must_use]
    pub fn number(&self) -> ViewNumber {
        self.number
    }

    /// The digest of what was decided.
    #[must_use]
    pub fn digest(&self) -> &[u8; 32] {
        &self.digest
    }

    /// Who takes part, ascending.
    #[must_use]
    pub fn members(&self) -> &[PeerIndex] {
        &self.members
    }

    /// Live neighbours of the peer at hand, ascending: the holders of its seals, and whose seals it holds.
    #[must_use]
    pub fn neighbours(&self) -> &[PeerIndex] {
        &self.neighbours
    }

    /// Whether somebody takes part.
    #[must_use]
    pub fn has(&self, peer: PeerIndex) -> bool {
        self.members.binary_search(&peer).is_ok()
    }
}
