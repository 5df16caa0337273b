//! What plans and sessions are called.
//!
//! bincode is pinned to 2.0.1 and unmaintained; nothing outside this file names it, so replacing it
//! changes this file alone.

use serde::Serialize;

use super::VERSION;
use crate::protocol::message::SessionId;

/// Digest of public parameters: BLAKE3 over their bincode encoding and a constant.
#[must_use]
pub(in crate::protocol) fn digest(parameters: &impl Serialize) -> [u8; 32] {
    let bytes = bincode::serde::encode_to_vec(
        parameters,
        bincode::config::standard().with_fixed_int_encoding(),
    )
    .expect("plans hold numbers, lists and enums only");
    let mut hasher = blake3::Hasher::new_derive_key("undertone 2026-11 session v1");
    // Not the version of the frames: noise is bound to this digest, and frames of a new layout carry the same noise.
    hasher.update(&[1]);
    hasher.update(&bytes);
    *hasher.finalize().as_bytes()
}

/// The name of a session whose plan has this digest. Builds that speak another version of the frames are in another.
#[must_use]
pub(in crate::protocol) fn session_of(digest: &[u8; 32]) -> SessionId {
    let mut hasher = blake3::Hasher::new_derive_key("undertone 2026-11 session name v2");
    hasher.update(&[VERSION]);
    hasher.update(digest);
    let mut name = SessionId([0; 16]);
    name.0.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
    name
}
