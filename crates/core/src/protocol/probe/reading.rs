//! The random projection, how all draw it together, and what it reads off a block.

use std::fmt;

use chacha20::ChaCha20Rng;
use rand::{Rng, SeedableRng};

use crate::protocol::message::SessionId;
use crate::vocabulary::{PeerIndex, ReleaseId};

/// 2⁻⁵²: the distance of two neighbouring entries.
const STEP: f64 = f64::EPSILON;

/// A peer's part of the randomness, secret until all sums of the release are out.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Nonce(pub [u8; 32]);

impl fmt::Debug for Nonce {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Nonce(…)")
    }
}

/// What a peer says of its nonce before it averages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NonceCommitment(pub [u8; 32]);

impl Nonce {
    /// The commitment to it: BLAKE3 of whose it is, for which release, and itself.
    #[must_use]
    pub fn commitment(
        &self,
        session: SessionId,
        release: ReleaseId,
        peer: PeerIndex,
    ) -> NonceCommitment {
        let mut hasher = blake3::Hasher::new_derive_key("undertone 2026-11 probe commitment v1");
        hasher.update(&session.0);
        hasher.update(&release.0.to_le_bytes());
        hasher.update(&peer.0.to_le_bytes());
        hasher.update(&self.0);
        NonceCommitment(*hasher.finalize().as_bytes())
    }
}

/// ρ: two vectors of independent entries, uniform among the multiples of 2⁻⁵² in \[−1, 1).
#[derive(Clone, Debug)]
pub struct Probe {
    vectors: [Vec<f64>; 2],
}

impl Probe {
    /// Of the nonces of all who took part, in the order of their numbers, for a release of so many values.
    #[must_use]
    pub fn of(nonces: &[Nonce], session: SessionId, release: ReleaseId, values: usize) -> Self {
        let mut hasher = blake3::Hasher::new_derive_key("undertone 2026-11 probe v1");
        hasher.update(&session.0);
        hasher.update(&release.0.to_le_bytes());
        hasher.update(&(nonces.len() as u64).to_le_bytes());
        for nonce in nonces {
            hasher.update(&nonce.0);
        }
        let mut generator = ChaCha20Rng::from_seed(*hasher.finalize().as_bytes());
        let mut vector = || -> Vec<f64> {
            let entry = |bits: u64| (bits >> 11) as f64 * STEP - 1.0;
            (0..values).map(|_| entry(generator.next_u64())).collect()
        };
        Self {
            vectors: [vector(), vector()],
        }
    }

    /// Values of a block that it reads.
    #[must_use]
    pub fn values(&self) -> usize {
        self.vectors[0].len()
    }

    /// What it reads off a block: sums in the order of the values, so that all read the same bits.
    ///
    /// # Panics
    /// If the block has another number of values; a [`Peer`](crate::protocol::Peer) takes none from its neighbours.
    #[must_use]
    pub fn read(&self, block: &[f64]) -> Reading {
        assert_eq!(block.len(), self.values(), "values of a release");
        let project = |vector: &Vec<f64>| {
            let products = vector.iter().zip(block).map(|(rho, x)| rho * x);
            products.fold(0.0, |sum, product| sum + product)
        };
        let [first, second] = &self.vectors;
        Reading {
            projections: [project(first), project(second)],
            magnitude: block.iter().fold(0.0, |sum, x| sum + x.abs()),
        }
    }
}

/// What a probe reads off a block x.
#[derive(Clone, Copy, Debug)]
pub struct Reading {
    /// ⟨ρ, x⟩ for both vectors.
    pub projections: [f64; 2],
    /// Σ |xᵢ|, which bounds the rounding of everything that is done with the block.
    pub magnitude: f64,
}

impl Reading {
    /// Whether all its numbers are finite and no magnitude is negative, as those of blocks that were averaged.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        let finite = self.projections.iter().all(|p| p.is_finite());
        finite && self.magnitude.is_finite() && self.magnitude >= 0.0
    }
}

/// Bits are compared: two who read one block agree on them.
impl PartialEq for Reading {
    fn eq(&self, other: &Self) -> bool {
        let bits = |one: &Self| {
            let [first, second] = one.projections;
            [first, second, one.magnitude].map(f64::to_bits)
        };
        bits(self) == bits(other)
    }
}

impl Eq for Reading {}
