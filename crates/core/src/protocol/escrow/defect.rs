//! A defect of a holder that tests build, to see that somebody notices.
//!
//! Without the feature `testing` a [`Defect`] has no values, and an `Option` of one takes no room.

#[cfg(any(test, feature = "testing"))]
mod switched_on {
    use crate::protocol::escrow::Rule;

    /// A rule that is not kept, to show that it is needed.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub(in crate::protocol) struct Defect(pub(in crate::protocol) Rule);

    impl Defect {
        pub(in crate::protocol::escrow) fn breaks(self, rule: Rule) -> bool {
            self.0 == rule
        }
    }
}

#[cfg(not(any(test, feature = "testing")))]
mod switched_off {
    use crate::protocol::escrow::Rule;

    /// Nothing: this build has no defects.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub(in crate::protocol) enum Defect {}

    impl Defect {
        pub(in crate::protocol::escrow) fn breaks(self, _: Rule) -> bool {
            match self {}
        }
    }

    const _: () = assert!(size_of::<Option<Defect>>() == 0);
}

#[cfg(not(any(test, feature = "testing")))]
pub(in crate::protocol) use switched_off::Defect;
#[cfg(any(test, feature = "testing"))]
pub(in crate::protocol) use switched_on::Defect;
