mod by_hand;
mod evidence;
mod hostile;
mod model;
mod promises;
mod schedules;

use std::sync::Arc;

use super::certificate::SIGNATURE_LEN;
use super::links::Links;
use super::record::Statement;
use super::signed::{Signer, Verifier};
use crate::vocabulary::PeerIndex;

/// A signature that costs little, by keys that nobody in a test looks at.
#[derive(Debug)]
pub(in crate::protocol) struct Marks(pub(in crate::protocol) PeerIndex);

impl Marks {
    pub(in crate::protocol) fn of(me: PeerIndex) -> Arc<dyn Signer> {
        Arc::new(Self(me))
    }
}

impl Signer for Marks {
    fn sign(&self, bytes: &[u8]) -> [u8; SIGNATURE_LEN] {
        let mut signature = [0; SIGNATURE_LEN];
        let mut hasher = blake3::Hasher::new_derive_key("undertone tests: signature");
        hasher.update(&self.0.0.to_le_bytes());
        hasher.update(bytes);
        hasher.finalize_xof().fill(&mut signature);
        signature
    }
}

impl Verifier for Marks {
    fn verify(&self, by: PeerIndex, bytes: &[u8], signature: &[u8; SIGNATURE_LEN]) -> bool {
        Self(by).sign(bytes) == *signature
    }
}

/// A defect on purpose: with each of them schedules must turn red.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Tamper {
    #[default]
    None,
    /// Whoever holds what its neighbours published goes on at once.
    NoBarrier,
    /// A certificate may lack one member's word.
    OneShort,
    /// A certificate has one word beside the own.
    OneSignature,
    /// Statements do not say what is certified.
    ForgetCertificates,
    /// More than half of all decide.
    Majority,
    /// Restarts are not counted: whoever comes back goes on where it was.
    SilentRestart,
    /// One less than the session needs is enough.
    NoFloor,
    /// Whoever had a sum that is averaged again in another view still says so.
    OldSums,
    /// Statements do not say what was sent.
    ForgetsSent,
    /// Nor does a member refuse to publish a second attempt of one try.
    PublishesAgain,
    /// Whatever others state is believed.
    BelievesAll,
    /// One member that says that all have finished is believed.
    BelievesTheEnd,
    /// Not a defect but a lie: a member cuts a link when it should say that it holds what was published, twice, and states the largest number of retries.
    Overstates,
}

thread_local! {
    static EVERYBODY: std::cell::Cell<Tamper> = const { std::cell::Cell::new(Tamper::None) };
}

impl Tamper {
    /// Gives every member that is made in this thread from now on the defect.
    pub(crate) fn everybody(self) {
        EVERYBODY.set(self);
    }

    /// The defect of whoever is made now.
    pub(super) fn now() -> Self {
        EVERYBODY.get()
    }

    pub(super) fn statement(self, mut statement: Statement) -> Statement {
        if self == Self::ForgetCertificates {
            statement.certified.clear();
        }
        if matches!(self, Self::ForgetsSent | Self::PublishesAgain) {
            statement.sent = None;
        }
        if self == Self::Overstates {
            statement.retries = u32::MAX;
        }
        statement
    }

    /// How many words make a certificate among this many members.
    pub(super) fn words_needed(self, members: usize) -> usize {
        match self {
            Self::NoBarrier => 0,
            Self::OneShort => members - 1,
            Self::OneSignature => members.min(2),
            _ => members,
        }
    }

    pub(super) fn is_enough(self, agreeing: usize, links: &Links) -> bool {
        self == Self::Majority && 2 * agreeing > links.peers()
    }
}
