//! Defects of a member's agreement that tests build, to see that somebody notices.
//!
//! Without the feature `testing` a [`Defect`] has no values. Members hold an `Option` of one, which then takes no room, and every line that
//! reads it is compiled in every build: what is tested is what ships.

#[cfg(any(test, feature = "testing"))]
mod switched_on {
    use crate::protocol::regroup::links::Links;
    use crate::protocol::regroup::record::{Disruptions, Statement};

    /// A defect of a member. With each of them schedules must turn red.
    #[cfg_attr(
        not(test),
        allow(dead_code, reason = "unit tests alone build a member with a defect")
    )]
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Defect {
        /// A member that holds what its neighbours published goes on at once.
        NoBarrier,
        /// A certificate may lack one member's word.
        OneShort,
        /// A certificate has one word beside the own.
        OneSignature,
        /// Statements do not say what is certified.
        ForgetCertificates,
        /// More than half of all decide.
        Majority,
        /// A member that had a sum that is averaged again in another view still says so.
        OldSums,
        /// Statements do not say what was sent.
        ForgetsSent,
        /// As `ForgetsSent`, and a member does not refuse to publish a second attempt of one try.
        PublishesAgain,
        /// All that others state is believed.
        BelievesAll,
        /// One member that says that all have finished is believed.
        BelievesTheEnd,
        /// Not a defect but a lie: a member cuts a link when it should say that it holds what was published, twice, and states the largest number of retries.
        Overstates,
    }

    impl Defect {
        /// What a member states in place of this.
        pub(in crate::protocol::regroup) fn statement(self, mut statement: Statement) -> Statement {
            match self {
                Self::ForgetCertificates => statement.certified.clear(),
                Self::ForgetsSent | Self::PublishesAgain => statement.sent = None,
                Self::Overstates => statement.retries = u32::MAX,
                _ => {}
            }
            statement
        }

        /// How many words make a certificate among this many members, where not all of them are needed.
        pub(in crate::protocol::regroup) fn words_needed(self, members: usize) -> Option<usize> {
            let needed = match self {
                Self::NoBarrier => 0,
                Self::OneShort => members - 1,
                Self::OneSignature => 2,
                _ => return None,
            };
            (needed < members).then_some(needed)
        }

        /// Whether so many agreeing members decide, where not all of them do.
        pub(in crate::protocol::regroup) fn decides(self, agreeing: usize, links: &Links) -> bool {
            self == Self::Majority && 2 * agreeing > links.peers()
        }

        /// Whether a member that knows this cuts a link in place of saying that it holds what was published.
        pub(in crate::protocol::regroup) fn cuts_a_link(self, known: &Disruptions) -> bool {
            self == Self::Overstates && known.count() < 2
        }

        /// Whether a member publishes whatever it has published before.
        pub(in crate::protocol::regroup) fn publishes_again(self) -> bool {
            self == Self::PublishesAgain
        }

        /// Whether a sum that is averaged again still counts as done.
        pub(in crate::protocol::regroup) fn keeps_old_sums(self) -> bool {
            self == Self::OldSums
        }

        /// Whether every statement is taken for one that a member can make.
        pub(in crate::protocol::regroup) fn believes_all(self) -> bool {
            self == Self::BelievesAll
        }

        /// How many members may say that all have finished without being believed.
        pub(in crate::protocol::regroup) fn colluders(self, colluders: usize) -> usize {
            match self {
                Self::BelievesTheEnd => 0,
                _ => colluders,
            }
        }
    }
}

#[cfg(not(any(test, feature = "testing")))]
mod switched_off {
    use crate::protocol::regroup::links::Links;
    use crate::protocol::regroup::record::{Disruptions, Statement};

    /// Nothing: this build has no defects.
    #[derive(Clone, Copy, Debug)]
    pub enum Defect {}

    impl Defect {
        pub(in crate::protocol::regroup) fn statement(self, _: Statement) -> Statement {
            match self {}
        }

        pub(in crate::protocol::regroup) fn words_needed(self, _: usize) -> Option<usize> {
            match self {}
        }

        pub(in crate::protocol::regroup) fn decides(self, _: usize, _: &Links) -> bool {
            match self {}
        }

        pub(in crate::protocol::regroup) fn cuts_a_link(self, _: &Disruptions) -> bool {
            match self {}
        }

        pub(in crate::protocol::regroup) fn publishes_again(self) -> bool {
            match self {}
        }

        pub(in crate::protocol::regroup) fn keeps_old_sums(self) -> bool {
            match self {}
        }

        pub(in crate::protocol::regroup) fn believes_all(self) -> bool {
            match self {}
        }

        pub(in crate::protocol::regroup) fn colluders(self, _: usize) -> usize {
            match self {}
        }
    }

    const _: () = assert!(size_of::<Option<Defect>>() == 0);
}

#[cfg(not(any(test, feature = "testing")))]
pub use switched_off::Defect;
#[cfg(any(test, feature = "testing"))]
pub use switched_on::Defect;
