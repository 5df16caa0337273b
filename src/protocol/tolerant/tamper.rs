//! Defects on purpose: with each of them schedules must turn red.

use crate::protocol::regroup::tests::Tamper as Agreement;
use crate::vocabulary::PeerIndex;

/// A defect of all peers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Tamper {
    #[default]
    None,
    /// Whoever holds what its neighbours sealed opens at once.
    NoBarrier,
    /// One word is not waited for.
    OneShort,
    /// One word of somebody else is a certificate.
    OneSignature,
    /// Statements do not say what is certified.
    ForgetCertificates,
    /// More than half of all decide.
    Majority,
    /// Who shared noise with a lost peer takes it back, and the lost peer is left out of the sum.
    RollBack,
    /// That a share was given up is not on the disk.
    UnsavedRelease,
    /// That the own contribution was opened is not on the disk.
    UnsavedOpening,
    /// The ledger has the charge after the contribution has left.
    ChargeLate,
    /// Whoever comes back contributes anew to what is certified, with fresh noise.
    Redraw,
    /// Whoever comes back computes again what it had sealed, and has forgotten what was agreed on.
    Recompute,
    /// An heir adds twice what it inherits.
    HeirTwice,
    /// One key serves both directions of a pair.
    OneKey,
    /// Attempts under different views draw one noise.
    SameStream,
}

impl Tamper {
    /// The defect of the agreement that goes with it.
    pub(super) fn agreement(self) -> Agreement {
        match self {
            Self::NoBarrier => Agreement::NoBarrier,
            Self::OneShort => Agreement::OneShort,
            Self::OneSignature => Agreement::OneSignature,
            Self::ForgetCertificates => Agreement::ForgetCertificates,
            Self::Majority => Agreement::Majority,
            _ => Agreement::None,
        }
    }

    /// Whether signatures are not counted when something is opened.
    pub(super) fn opens_without(self) -> bool {
        matches!(self, Self::NoBarrier | Self::OneShort | Self::OneSignature)
    }

    /// Whose contributions a peer brings in.
    pub(super) fn brought_in(self, mut all: Vec<PeerIndex>) -> Vec<PeerIndex> {
        match self {
            Self::HeirTwice => {
                let inherited = all[1..].to_vec();
                all.extend(inherited);
            }
            Self::RollBack => all.truncate(1),
            _ => {}
        }
        all
    }
}
