//! Which random words of a chunk's stream which draw is made of.
//!
//! A value of a [`super::RoundedGaussian`] is made of d draws, each of four 32-bit words: one *main* word, of which the
//! last bit is the sign and the others are the first 31 bits of a uniform number, and three *further* words with the
//! other 95 bits (the last bit of the third is not used). A chunk's stream holds all main words first, then all further
//! words, so that whoever needs no further words draws a quarter of the bytes:
//!
//! | words of the stream | what |
//! | --- | --- |
//! | n, for n < 512·d | main word of draw n |
//! | 512·d + 3n, + 1, + 2 | further words of draw n |
//!
//! Draw n = 64·(d·g + l) + i is the l-th of the i-th value of the chunk's g-th group of 64 values, whatever number of
//! values is asked for.

use chacha20::ChaCha12Rng;
use rand::Rng;

use super::table::Uniform;
use crate::vocabulary::{CHUNK, GROUP, StreamKey};

/// Further words per draw.
const FURTHER: usize = 3;

/// The words of one chunk.
pub(super) struct Words<'a> {
    key: &'a StreamKey,
    release: u32,
    chunk: u64,
    /// Draws per value.
    draws: usize,
}

/// The main words of one draw of each of a group's values.
pub(super) type MainWords = [u32; GROUP];

/// The further words of one draw of each of a group's values.
pub(super) type FurtherWords = [[u32; FURTHER]; GROUP];

impl<'a> Words<'a> {
    pub(super) fn new(key: &'a StreamKey, (release, chunk): (u32, u64), draws: usize) -> Self {
        Self {
            key,
            release,
            chunk,
            draws,
        }
    }

    /// The generator of all main words, in order.
    pub(super) fn main(&self) -> ChaCha12Rng {
        self.key.words(self.release, self.chunk)
    }

    /// The generator of the further words from draw `n` on, in order.
    pub(super) fn further(&self, n: usize) -> ChaCha12Rng {
        let mut generator = self.main();
        let first = generator.get_word_pos();
        generator.set_word_pos(first + (CHUNK * self.draws + FURTHER * n) as u128);
        generator
    }

    /// The further words of one draw alone: draw `l` of value `i` of group `g`.
    pub(super) fn further_of(&self, (g, l, i): (usize, usize, usize)) -> [u32; FURTHER] {
        let mut words = [[0; FURTHER]];
        fill(
            &mut self.further(GROUP * (self.draws * g + l) + i),
            words.as_flattened_mut(),
        );
        words[0]
    }
}

/// The next words of a generator.
#[inline(always)]
pub(super) fn fill(generator: &mut ChaCha12Rng, words: &mut [u32]) {
    for words in words.chunks_mut(GROUP) {
        let mut bytes = [0; 4 * GROUP];
        let bytes = &mut bytes[..4 * words.len()];
        generator.fill_bytes(bytes);
        for (word, bytes) in words.iter_mut().zip(bytes.as_chunks().0) {
            *word = u32::from_le_bytes(*bytes);
        }
    }
}

/// The uniform number of 126 bits that a draw's words are.
#[inline(always)]
pub(super) fn uniform(main: u32, [a, b, c]: [u32; FURTHER]) -> Uniform {
    Uniform {
        high: u64::from(main >> 1) << 32 | u64::from(a),
        low: u64::from(b) << 31 | u64::from(c >> 1),
    }
}
