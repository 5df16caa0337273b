//! Random bytes from the operating system: all that members draw.

/// Fills all bytes.
pub(super) fn fill(bytes: &mut [u8]) -> Result<(), getrandom::Error> {
    #[cfg(test)]
    if seeded::fill(bytes) {
        return Ok(());
    }
    getrandom::fill(bytes)
}

/// A thread that draws from a seed, so that a test with many members can be run again.
#[cfg(test)]
pub(crate) mod seeded {
    use std::cell::RefCell;

    use chacha20::ChaCha20Rng;
    use rand::Rng;

    use crate::vocabulary::{Label, Seed};

    thread_local! {
        static GENERATOR: RefCell<Option<ChaCha20Rng>> = const { RefCell::new(None) };
    }

    /// From here on this thread draws from this seed, or again from the operating system.
    pub(crate) fn draw_from(seed: Option<u64>) {
        let generator = seed.map(|seed| Seed::from_u64(seed).generator(Label::Scenario));
        GENERATOR.with(|known| *known.borrow_mut() = generator);
    }

    pub(super) fn fill(bytes: &mut [u8]) -> bool {
        GENERATOR.with(|known| {
            let mut known = known.borrow_mut();
            let generator = known.as_mut();
            generator
                .map(|generator| generator.fill_bytes(bytes))
                .is_some()
        })
    }
}
