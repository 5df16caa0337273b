//! Random bytes from the operating system: all that members draw.

/// Fills all bytes.
pub(super) fn fill(bytes: &mut [u8]) -> Result<(), getrandom::Error> {
    match Seeded::of_thread() {
        None => getrandom::fill(bytes),
        Some(seeded) => {
            seeded.fill(bytes);
            Ok(())
        }
    }
}

/// A thread that draws from a seed, so that a test with many members can be run again.
#[cfg(any(test, feature = "testing"))]
#[cfg_attr(
    not(test),
    allow(dead_code, reason = "threads of unit tests alone draw from a seed")
)]
mod switched_on {
    use std::cell::RefCell;

    use chacha20::ChaCha20Rng;
    use rand::Rng;

    use crate::vocabulary::{Label, Seed};

    thread_local! {
        static GENERATOR: RefCell<Option<ChaCha20Rng>> = const { RefCell::new(None) };
    }

    /// The generator of this thread.
    #[derive(Clone, Copy, Debug)]
    pub(crate) struct Seeded(());

    impl Seeded {
        /// From here on this thread draws from this seed, or again from the operating system.
        pub(crate) fn draw_from(seed: Option<u64>) {
            let generator = seed.map(|seed| Seed::from_u64(seed).generator(Label::Scenario));
            GENERATOR.with(|known| *known.borrow_mut() = generator);
        }

        pub(in crate::session) fn of_thread() -> Option<Self> {
            let is_seeded = GENERATOR.with(|known| known.borrow().is_some());
            is_seeded.then_some(Self(()))
        }

        pub(in crate::session) fn fill(self, bytes: &mut [u8]) {
            GENERATOR.with(|known| {
                let mut known = known.borrow_mut();
                let generator = known.as_mut().expect("this thread has one");
                generator.fill_bytes(bytes);
            });
        }
    }
}

#[cfg(not(any(test, feature = "testing")))]
mod switched_off {
    /// Nothing: in this build every byte is the operating system's.
    #[derive(Clone, Copy, Debug)]
    pub(crate) enum Seeded {}

    impl Seeded {
        pub(in crate::session) fn of_thread() -> Option<Self> {
            None
        }

        pub(in crate::session) fn fill(self, _: &mut [u8]) {
            match self {}
        }
    }

    const _: () = assert!(size_of::<Option<Seeded>>() == 0);
}

#[cfg(not(any(test, feature = "testing")))]
use switched_off::Seeded;
#[cfg(any(test, feature = "testing"))]
pub(crate) use switched_on::Seeded;
