//! What tells two builds apart that draw different numbers from one key.

use std::sync::OnceLock;

use rand::rand_core::Rng as _;

use crate::linalg::start_block;
use crate::vocabulary::{Label, Seed};

/// Normals that are drawn.
const DRAWS: usize = 1 << 16;

/// BLAKE3 of 2¹⁶ normals of a public stream, of 64 of its words and of a starting block of 97 × 5.
///
/// Both ends of a pair must draw the same bits, or what they share does not cancel. A build whose sampler, generator or orthonormalisation differs in
/// the last bit has another fingerprint; one with the same can still differ elsewhere, which the hashes of the plan tell.
#[must_use]
pub fn sampler_fingerprint() -> [u8; 32] {
    static FOUND: OnceLock<[u8; 32]> = OnceLock::new();
    *FOUND.get_or_init(drawn)
}

fn drawn() -> [u8; 32] {
    let seed = Seed::from_u64(0x756e_6465_7274_6f6e);
    let mut hasher = blake3::Hasher::new_derive_key("undertone 2026-11 sampler fingerprint v3");
    let key = seed.key(Label::Scenario, 0, 0);
    let mut normals = vec![0.0; DRAWS];
    key.add_all_normals(1, 1.0, &mut normals);
    let mut words = key.words(2, 0);
    let start = start_block(&seed, 97, 5).expect("fewer columns than rows");
    let words = (0..64).map(|_| words.next_u64());
    let values = normals.iter().chain(start.values()).map(|v| v.to_bits());
    // Together: many blocks at once take a tenth of the time.
    let mut bytes = Vec::with_capacity(8 * (64 + DRAWS + start.values().len()));
    for word in words.chain(values) {
        bytes.extend_from_slice(&word.to_le_bytes());
    }
    hasher.update(&bytes);
    *hasher.finalize().as_bytes()
}

/// Version of this build, as Joins state it.
#[must_use]
pub fn build() -> String {
    format!("undertone {}", env!("CARGO_PKG_VERSION"))
}
