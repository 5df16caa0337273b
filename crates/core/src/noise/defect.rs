//! Defects of a noise term that tests build, to see that somebody notices.
//!
//! Without the feature `testing` a [`TermDefect`] has no values. Terms hold an `Option` of one, which then takes no room, and every line that
//! looks at it is compiled in every build: what is tested is what ships.

#[cfg(any(test, feature = "testing"))]
mod switched_on {
    /// What is drawn otherwise than planned, after every check has been passed.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub(crate) struct TermDefect {
        /// What draws are multiplied by.
        pub(crate) factor: f64,
        /// Whether every release draws the first release's stream.
        pub(crate) frozen: bool,
        /// Whether every chunk repeats the first chunk's normals.
        pub(crate) one_chunk: bool,
        /// Whether masks lack their highest bit.
        pub(crate) narrow: bool,
        /// Terms of Wishart noise that are not drawn.
        pub(crate) fewer: u64,
        /// Whether one of the two Wishart matrices is left out.
        pub(crate) one_sided: bool,
    }

    impl TermDefect {
        /// A term that is as planned but for what is said next.
        pub(crate) const PLANNED: Self = Self {
            factor: 1.0,
            frozen: false,
            one_chunk: false,
            narrow: false,
            fewer: 0,
            one_sided: false,
        };

        pub(in crate::noise) fn factor(self) -> f64 {
            self.factor
        }

        pub(in crate::noise) fn place(self, (release, chunk): (u32, u64)) -> (u32, u64) {
            let release = if self.frozen { 1 } else { release };
            let chunk = if self.one_chunk { 0 } else { chunk };
            (release, chunk)
        }

        pub(in crate::noise) fn fewer(self) -> u64 {
            self.fewer
        }

        pub(in crate::noise) fn one_sided(self) -> bool {
            self.one_sided
        }

        pub(in crate::noise) fn narrow(self, bits: u32, masks: &mut [u64]) {
            if self.narrow {
                let highest = 1 << (bits - 1);
                masks.iter_mut().for_each(|mask| *mask &= highest - 1);
            }
        }
    }
}

#[cfg(not(any(test, feature = "testing")))]
mod switched_off {
    /// Nothing: this build has no defects.
    #[derive(Clone, Copy, Debug)]
    pub(crate) enum TermDefect {}

    impl TermDefect {
        pub(in crate::noise) fn factor(self) -> f64 {
            match self {}
        }

        pub(in crate::noise) fn place(self, _: (u32, u64)) -> (u32, u64) {
            match self {}
        }

        pub(in crate::noise) fn fewer(self) -> u64 {
            match self {}
        }

        pub(in crate::noise) fn one_sided(self) -> bool {
            match self {}
        }

        pub(in crate::noise) fn narrow(self, _: u32, _: &mut [u64]) {
            match self {}
        }
    }

    const _: () = assert!(size_of::<Option<TermDefect>>() == 0);
}

#[cfg(not(any(test, feature = "testing")))]
pub(crate) use switched_off::TermDefect;
#[cfg(any(test, feature = "testing"))]
pub(crate) use switched_on::TermDefect;
