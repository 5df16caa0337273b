//! Messages under way to some neighbours each: the general path of the event engine.

use crate::protocol::{Message, Targets};
use crate::vocabulary::PeerIndex;

/// A message under way, held until it arrives.
#[derive(Clone, Debug)]
pub(super) struct Letter {
    pub(super) from: PeerIndex,
    pub(super) to: Receivers,
    pub(super) message: Message,
    /// Whether all that arrives is the end of the wait for it.
    pub(super) lost: bool,
}

/// Who gets a letter when it arrives.
#[derive(Clone, Debug)]
pub(super) enum Receivers {
    /// All copies arrive together.
    These(Targets),
    /// One copy.
    One(PeerIndex),
}

/// Letters by number; a number is used again once its letter has arrived.
#[derive(Debug, Default)]
pub(super) struct Post {
    letters: Vec<Option<Letter>>,
    free: Vec<u32>,
}

impl Post {
    /// Keeps a letter until it arrives.
    pub(super) fn send(&mut self, letter: Letter) -> u32 {
        if let Some(number) = self.free.pop() {
            self.letters[number as usize] = Some(letter);
            return number;
        }
        self.letters.push(Some(letter));
        (self.letters.len() - 1) as u32
    }

    /// Hands a letter over; nothing if it has arrived before.
    pub(super) fn arrive(&mut self, number: u32) -> Option<Letter> {
        let letter = self.letters.get_mut(number as usize)?.take()?;
        self.free.push(number);
        Some(letter)
    }
}
