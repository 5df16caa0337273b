//! Standard normals in place: number k of a chunk is made of word k of its stream.
//!
//! # What is drawn
//! A chunk has 512 numbers in eight groups of 64. Word k of the chunk's stream is the first candidate of number k, by the ziggurat method as in
//! [`StandardNormal`](super::StandardNormal). Where that is rejected, which happens in one of 100 cases, the method goes on with words of the number's group: word n of
//! group g is word n mod 8 of block 64 + 8·⌊n/8⌋ + g, behind the words of all candidates. Rejected numbers of a group take words in
//! ascending order. So all first candidates are computed side by side, without a branch, and a group needs nothing of another.
//!
//! # Law
//! Numbers are independent and standard normal if words are independent and uniform. Every word enters at most one number: candidates have their
//! own, and a group's further words are handed out one after the other. The words of one number are a sequence of independent uniform words,
//! of which how many are used depends on those before alone: what `StandardNormal` is fed with as well.

use std::convert::Infallible;
use std::sync::OnceLock;

use pulp::Arch;
use rand::rand_core::TryRng;
use rand::rand_core::utils::fill_bytes_via_next_word;

use super::blocks::{Block, Blocks, wipe};
use super::normal::{Ziggurat, ziggurat};

/// Coordinates per noise stream. Coordinate `i` of a release's noise is the `i % CHUNK`-th normal of
/// chunk `i / CHUNK`, so a tile of coordinates can be produced without drawing the ones before it.
pub const CHUNK: usize = 512;

/// Numbers of a chunk that are drawn together: few enough to stay in registers and the nearest cache.
pub const GROUP: usize = 64;

/// Words of a block.
const WORDS: usize = 8;

/// Blocks that hold the candidates of a chunk.
const CANDIDATES: usize = CHUNK / WORDS;

/// Groups of a chunk.
const GROUPS: usize = CHUNK / GROUP;

/// The best instruction set of this processor.
fn best() -> Arch {
    static FOUND: OnceLock<Arch> = OnceLock::new();
    *FOUND.get_or_init(Arch::new)
}

/// All instruction sets of this processor that there are kernels for.
#[cfg(test)]
pub(super) fn architectures() -> Vec<Arch> {
    let mut all = vec![Arch::Scalar];
    #[cfg(target_arch = "x86_64")]
    {
        all.extend(pulp::x86::V3::try_new().map(Arch::V3));
        all.extend(pulp::x86::V4::try_new().map(Arch::V4));
    }
    all
}

/// Writes the first standard normals of a chunk to `out`.
///
/// # Panics
/// If `out` is longer than [`CHUNK`].
pub(super) fn fill(stream: Blocks<'_>, out: &mut [f64]) {
    fill_by(best(), stream, out);
}

fn fill_by(arch: Arch, stream: Blocks<'_>, out: &mut [f64]) {
    assert!(out.len() <= CHUNK, "at most one chunk");
    let candidates = out.len().div_ceil(WORDS);
    let groups = out.len().div_ceil(GROUP);
    let blocks = candidates + groups;
    let mut counters = [0; CANDIDATES + GROUPS];
    for (place, counter) in counters[..blocks].iter_mut().enumerate() {
        let behind = if place < candidates {
            0
        } else {
            CANDIDATES - candidates
        };
        *counter = (place + behind) as u32;
    }
    let mut words = [[0; WORDS]; CANDIDATES + GROUPS];
    let words = &mut words[..blocks];
    stream.fill(arch, &counters[..blocks], words);
    let (first, further) = words.split_at(candidates);
    let first = first.as_flattened();
    let ziggurat = ziggurat();
    let mut rejected = [0; GROUPS];
    arch.dispatch(Candidates {
        ziggurat,
        words: first,
        out,
        rejected: &mut rejected,
    });
    for (g, (&rejected, out)) in rejected.iter().zip(out.chunks_mut(GROUP)).enumerate() {
        if rejected == 0 {
            continue;
        }
        let mut more = FurtherWords {
            stream,
            arch,
            group: g as u32,
            block: further[g],
            used: 0,
        };
        let mut rejected: u64 = rejected;
        while rejected != 0 {
            let k = rejected.trailing_zeros() as usize;
            out[k] = ziggurat.settled(first[GROUP * g + k], &mut more);
            rejected &= rejected - 1;
        }
        wipe(std::slice::from_mut(&mut more.block));
    }
    wipe(words);
}

/// First candidates from their words, and which of them are rejected: a bit for each number of a group.
struct Candidates<'a> {
    ziggurat: &'a Ziggurat,
    words: &'a [u64],
    out: &'a mut [f64],
    rejected: &'a mut [u64; GROUPS],
}

impl pulp::NullaryFnOnce for Candidates<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let groups = self.words.chunks(GROUP).zip(self.out.chunks_mut(GROUP));
        for ((words, out), rejected) in groups.zip(self.rejected) {
            let mut accepted = [true; GROUP];
            match (
                <&[u64; GROUP]>::try_from(words),
                <&mut [f64; GROUP]>::try_from(&mut *out),
            ) {
                // Numbers that are known to be 64 are computed side by side.
                (Ok(words), Ok(out)) => {
                    for k in 0..GROUP {
                        (out[k], accepted[k]) = self.ziggurat.candidate(words[k]);
                    }
                }
                _ => {
                    for (k, (out, &word)) in out.iter_mut().zip(words).enumerate() {
                        (*out, accepted[k]) = self.ziggurat.candidate(word);
                    }
                }
            }
            for (k, accepted) in accepted.into_iter().enumerate() {
                *rejected |= u64::from(!accepted) << k;
            }
        }
    }
}

/// The words of a group behind those of candidates, as a generator.
struct FurtherWords<'a> {
    stream: Blocks<'a>,
    arch: Arch,
    group: u32,
    /// The block that the next word is of, or is the first of the block after.
    block: Block,
    /// Words that were used.
    used: u32,
}

impl TryRng for FurtherWords<'_> {
    type Error = Infallible;

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        let (round, place) = (self.used / WORDS as u32, self.used as usize % WORDS);
        if round > 0 && place == 0 {
            let counter = CANDIDATES as u32 + GROUPS as u32 * round + self.group;
            let block = std::slice::from_mut(&mut self.block);
            self.stream.fill(self.arch, &[counter], block);
        }
        self.used += 1;
        Ok(self.block[place])
    }

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        self.try_next_u64().map(|word| word as u32)
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        fill_bytes_via_next_word(bytes, || self.try_next_u64())
    }
}

#[cfg(test)]
mod tests;
