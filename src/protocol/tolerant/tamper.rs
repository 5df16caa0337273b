//! Defects on purpose: with each of them schedules must turn red.

use crate::vocabulary::PeerIndex;

/// A defect of one peer, or of all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Tamper {
    #[default]
    None,
    /// The ledger has the charge after the contribution has left.
    ChargeLate,
    /// An heir adds twice what it inherits.
    HeirTwice,
}

impl Tamper {
    /// Whose contributions a peer brings in.
    pub(super) fn brought_in(self, mut all: Vec<PeerIndex>) -> Vec<PeerIndex> {
        if self == Self::HeirTwice {
            let inherited = all[1..].to_vec();
            all.extend(inherited);
        }
        all
    }
}
