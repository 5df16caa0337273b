//! Blocks of ChaCha12, any number of them at once.
//!
//! A stream is named by a key of 32 bytes, a release and a chunk. Its block `c` is the ChaCha block (Bernstein 2008) of 12 rounds with the
//! 32-bit counter `c` and the nonce (release, chunk), little-endian: the layout of RFC 8439. So all streams of one key follow from the
//! key as it is, without another derivation. [`generator`] gives the same bytes in order.
//!
//! With AVX-512 sixteen blocks are computed side by side, one per lane. Everywhere else the crate `chacha20` computes them, with what the
//! processor has. Both give the same words; a test compares them.

use chacha20::ChaCha12Rng;
use chacha20::cipher::{KeyIvInit, StreamCipher, StreamCipherSeek};
use pulp::bytemuck::cast_slice_mut;
use rand::SeedableRng;

/// One block of the cipher: 64 bytes, read as little-endian words.
pub(super) type Block = [u64; 8];

/// A stream of blocks.
#[derive(Clone, Copy)]
pub(super) struct Blocks<'a> {
    pub(super) key: &'a [u8; 32],
    pub(super) release: u32,
    pub(super) chunk: u64,
}

impl Blocks<'_> {
    /// The blocks with these counters, one per entry of `out`.
    ///
    /// # Panics
    /// If there are not as many counters as entries.
    pub(super) fn fill(self, arch: pulp::Arch, counters: &[u32], out: &mut [Block]) {
        assert_eq!(counters.len(), out.len(), "a counter for each block");
        match arch {
            #[cfg(target_arch = "x86_64")]
            pulp::Arch::V4(simd) => self.side_by_side(simd, counters, out),
            _ => self.in_order(counters, out),
        }
    }

    /// The blocks by the crate `chacha20`, consecutive counters together.
    fn in_order(self, counters: &[u32], mut out: &mut [Block]) {
        let mut nonce = [0; 12];
        nonce[..4].copy_from_slice(&self.release.to_le_bytes());
        nonce[4..].copy_from_slice(&self.chunk.to_le_bytes());
        let mut cipher = chacha20::ChaCha12::new(self.key.into(), &nonce.into());
        for run in counters.chunk_by(|a, b| a + 1 == *b) {
            let blocks;
            (blocks, out) = out.split_at_mut(run.len());
            blocks.fill([0; 8]);
            cipher.seek(64 * u64::from(run[0]));
            cipher.apply_keystream(cast_slice_mut(blocks));
            for word in blocks.as_flattened_mut() {
                *word = u64::from_le(*word);
            }
        }
    }

    #[cfg(target_arch = "x86_64")]
    fn side_by_side(self, simd: pulp::x86::V4, counters: &[u32], out: &mut [Block]) {
        for (counters, out) in counters.chunks(LANES).zip(out.chunks_mut(LANES)) {
            let mut lanes = [0; LANES];
            lanes[..counters.len()].copy_from_slice(counters);
            let compute = |out| {
                simd.vectorize(SideBySide {
                    simd,
                    stream: self,
                    counters: lanes,
                    out,
                });
            };
            match <&mut [Block; LANES]>::try_from(&mut *out) {
                Ok(out) => compute(out),
                Err(_) => {
                    let mut all = [[0; 8]; LANES];
                    compute(&mut all);
                    out.copy_from_slice(&all[..out.len()]);
                    wipe(&mut all);
                }
            }
        }
    }
}

/// The bytes of a stream in order, from its first block on.
pub(super) fn generator(stream: Blocks<'_>) -> ChaCha12Rng {
    let mut generator = ChaCha12Rng::from_seed(*stream.key);
    generator.set_stream(stream.chunk);
    // Its counter has 64 bits: the upper half is where RFC 8439 has the first word of the nonce.
    generator.set_word_pos(u128::from(stream.release) << 36);
    generator
}

/// Overwrites words that noise was made of.
pub(super) fn wipe(blocks: &mut [Block]) {
    blocks.fill([0; 8]);
    zeroize::optimization_barrier(blocks);
}

/// Blocks that one pass of [`SideBySide`] computes.
#[cfg(target_arch = "x86_64")]
const LANES: usize = 16;

/// Sixteen blocks at once: register i holds word i of all of them.
#[cfg(target_arch = "x86_64")]
struct SideBySide<'a> {
    simd: pulp::x86::V4,
    stream: Blocks<'a>,
    counters: [u32; LANES],
    out: &'a mut [Block; LANES],
}

#[cfg(target_arch = "x86_64")]
impl pulp::NullaryFnOnce for SideBySide<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        use std::arch::x86_64::__m512i;

        let f = self.simd.avx512f;
        let all = |word: u32| f._mm512_set1_epi32(word.cast_signed());
        let [release, low, high] = [
            self.stream.release,
            self.stream.chunk as u32,
            (self.stream.chunk >> 32) as u32,
        ];
        let key = self.stream.key.as_chunks::<4>().0;
        let start: [__m512i; 16] = std::array::from_fn(|i| match i {
            // "expand 32-byte k"
            0 => all(0x6170_7865),
            1 => all(0x3320_646e),
            2 => all(0x7962_2d32),
            3 => all(0x6b20_6574),
            4..12 => all(u32::from_le_bytes(key[i - 4])),
            12 => pulp::cast(self.counters),
            13 => all(release),
            14 => all(low),
            _ => all(high),
        });
        let mut s = start;
        macro_rules! quarter_round {
            ($a:literal, $b:literal, $c:literal, $d:literal) => {
                s[$a] = f._mm512_add_epi32(s[$a], s[$b]);
                s[$d] = f._mm512_rol_epi32::<16>(f._mm512_xor_si512(s[$d], s[$a]));
                s[$c] = f._mm512_add_epi32(s[$c], s[$d]);
                s[$b] = f._mm512_rol_epi32::<12>(f._mm512_xor_si512(s[$b], s[$c]));
                s[$a] = f._mm512_add_epi32(s[$a], s[$b]);
                s[$d] = f._mm512_rol_epi32::<8>(f._mm512_xor_si512(s[$d], s[$a]));
                s[$c] = f._mm512_add_epi32(s[$c], s[$d]);
                s[$b] = f._mm512_rol_epi32::<7>(f._mm512_xor_si512(s[$b], s[$c]));
            };
        }
        for _ in 0..6 {
            quarter_round!(0, 4, 8, 12);
            quarter_round!(1, 5, 9, 13);
            quarter_round!(2, 6, 10, 14);
            quarter_round!(3, 7, 11, 15);
            quarter_round!(0, 5, 10, 15);
            quarter_round!(1, 6, 11, 12);
            quarter_round!(2, 7, 8, 13);
            quarter_round!(3, 4, 9, 14);
        }
        for (word, start) in s.iter_mut().zip(start) {
            *word = f._mm512_add_epi32(*word, start);
        }
        // The 16 × 16 matrix of 32-bit words is transposed: pairs of words, then of pairs, then quarters of registers.
        let mut pairs = s;
        for i in 0..8 {
            pairs[2 * i] = f._mm512_unpacklo_epi32(s[2 * i], s[2 * i + 1]);
            pairs[2 * i + 1] = f._mm512_unpackhi_epi32(s[2 * i], s[2 * i + 1]);
        }
        let mut fours = pairs;
        for i in 0..4 {
            let [a, b, c, d] = [0, 1, 2, 3].map(|j| pairs[4 * i + j]);
            fours[4 * i] = f._mm512_unpacklo_epi64(a, c);
            fours[4 * i + 1] = f._mm512_unpackhi_epi64(a, c);
            fours[4 * i + 2] = f._mm512_unpacklo_epi64(b, d);
            fours[4 * i + 3] = f._mm512_unpackhi_epi64(b, d);
        }
        // Register 4g + r holds in its quarter q words 4g to 4g + 3 of block 4q + r.
        for r in 0..4 {
            let [a, b, c, d] = [0, 4, 8, 12].map(|i| fours[i + r]);
            let even = [
                f._mm512_shuffle_i32x4::<0x88>(a, b),
                f._mm512_shuffle_i32x4::<0x88>(c, d),
            ];
            let odd = [
                f._mm512_shuffle_i32x4::<0xdd>(a, b),
                f._mm512_shuffle_i32x4::<0xdd>(c, d),
            ];
            self.out[r] = pulp::cast(f._mm512_shuffle_i32x4::<0x88>(even[0], even[1]));
            self.out[4 + r] = pulp::cast(f._mm512_shuffle_i32x4::<0x88>(odd[0], odd[1]));
            self.out[8 + r] = pulp::cast(f._mm512_shuffle_i32x4::<0xdd>(even[0], even[1]));
            self.out[12 + r] = pulp::cast(f._mm512_shuffle_i32x4::<0xdd>(odd[0], odd[1]));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::Rng;

    /// RFC 8439 has vectors of 20 rounds. These are of 12, from the generator of `chacha20`, which its own tests compare with vectors of eSTREAM.
    #[test]
    fn blocks_are_those_of_the_generator_whatever_computes_them() {
        let key = std::array::from_fn(|i| 3 * i as u8);
        let mut counters: Vec<u32> = (0..64).chain(64..71).collect();
        counters.extend([200, 90, 91, 5, 1 << 31]);
        for (release, chunk) in [(0, 0), (1, 0), (u32::MAX, 1 << 40), (7, u64::MAX)] {
            let stream = Blocks {
                key: &key,
                release,
                chunk,
            };
            let mut generator = generator(stream);
            let start = generator.get_word_pos();
            let expected: Vec<Block> = counters
                .iter()
                .map(|&counter| {
                    generator.set_word_pos(start + 16 * u128::from(counter));
                    std::array::from_fn(|_| generator.next_u64())
                })
                .collect();
            for arch in super::super::normals::architectures() {
                for count in [1, 3, 15, 16, 17, 40, counters.len()] {
                    let mut found = vec![[1; 8]; count];
                    stream.fill(arch, &counters[..count], &mut found);
                    assert_eq!(found, expected[..count], "{count} blocks");
                }
            }
        }
    }
}
