mod by_hand;
mod model;
mod schedules;

use super::links::Links;
use super::record::Statement;

/// A defect on purpose: with each of them schedules must turn red.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Tamper {
    #[default]
    None,
    /// Whoever holds what its neighbours published goes on at once.
    NoBarrier,
    /// A certificate may lack one member's word.
    OneShort,
    /// Statements do not say what is certified.
    ForgetCertificates,
    /// More than half of all decide.
    Majority,
    /// Restarts are not counted: whoever comes back goes on where it was.
    SilentRestart,
    /// One less than the session needs is enough.
    NoFloor,
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
        statement
    }

    /// How many words a certificate may lack.
    pub(super) fn holders_missing(self) -> Option<usize> {
        match self {
            Self::NoBarrier => Some(usize::MAX / 2),
            Self::OneShort => Some(1),
            _ => None,
        }
    }

    pub(super) fn is_enough(self, agreeing: usize, links: &Links) -> bool {
        self == Self::Majority && 2 * agreeing > links.peers()
    }
}
