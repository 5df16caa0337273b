//! Stamps of frames that members show one another once their results differ.

/// Bytes of a stamp with its signature: header of a frame, digest of its values, signature.
pub const STAMP_BYTES: usize = 127;

/// The most stamps in one statement, so that it stays within [`MOST_BYTES`](super::MOST_BYTES).
pub const MOST_STAMPS: usize = 30;

/// The most statements of stamps that one member makes in a session.
pub const MOST_PARTS: u8 = 16;

/// Signed stamps of frames that a member has received of others. Whoever sent others something else has signed another stamp for one place.
///
/// They reveal nothing that ε does not cover: a stamp is a function of a frame, and every promise holds against whoever sees all frames, which are public by assumption
/// ([`Message`](crate::protocol::Message)). So it does not matter whether somebody finds a frame from its digest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stamps {
    /// Number of this statement among those of its member, from 0.
    pub part: u8,
    /// How many there are: at least 1, at most [`MOST_PARTS`].
    pub parts: u8,
    /// Places of signers among the members of the session, in the order of raw keys, and what they signed.
    pub stamps: Vec<(u8, [u8; STAMP_BYTES])>,
}

impl Stamps {
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&[self.part, self.parts]);
        for (signer, stamp) in self.stamps.iter().take(MOST_STAMPS) {
            out.push(*signer);
            out.extend_from_slice(stamp);
        }
    }

    pub(super) fn read(body: &[u8]) -> Option<Self> {
        let (&[part, parts], rest) = body.split_first_chunk::<2>()?;
        let (entries, left) = rest.as_chunks::<{ 1 + STAMP_BYTES }>();
        let is_valid =
            left.is_empty() && entries.len() <= MOST_STAMPS && part < parts && parts <= MOST_PARTS;
        let stamp = |entry: &[u8; 1 + STAMP_BYTES]| {
            let (signer, stamp) = entry.split_first_chunk::<1>()?;
            Some((signer[0], stamp.try_into().ok()?))
        };
        let stamps: Option<Vec<_>> = entries.iter().map(stamp).collect();
        is_valid.then_some(Self {
            part,
            parts,
            stamps: stamps?,
        })
    }
}
