//! A defect of a plan that tests build, to see that somebody notices.
//!
//! Without the feature `testing` a [`WrongModulus`] has no values, and what holds an `Option` of one holds nothing.

#[cfg(any(test, feature = "testing"))]
mod switched_on {
    /// Integers are reduced mod 2 to this number, and not to the plan's.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub(crate) struct WrongModulus(pub(crate) u32);

    impl WrongModulus {
        pub(in crate::protocol::plan) fn bits(self) -> u32 {
            self.0
        }
    }
}

#[cfg(not(any(test, feature = "testing")))]
mod switched_off {
    /// Nothing: this build has no defects.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub(crate) enum WrongModulus {}

    impl WrongModulus {
        pub(in crate::protocol::plan) fn bits(self) -> u32 {
            match self {}
        }
    }
}

#[cfg(not(any(test, feature = "testing")))]
pub(crate) use switched_off::WrongModulus;
#[cfg(any(test, feature = "testing"))]
pub(crate) use switched_on::WrongModulus;
