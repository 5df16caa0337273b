//! Files of records that only grow, and of which a crash may tear the last: how they are laid out, and how they are read.
//!
//! A file begins with eight bytes of format and the 32 bytes of its session, so that a file is none of another session. Then follow records:
//! length and a checksum of it and of the record's number (u32 each, little-endian), the record, a checksum of the record. Checksums
//! are CRC-32C (Castagnoli): they notice a bad disk, not a forger, who could not profit.

use std::ops::Range;

use super::digest::Digest;

/// Bytes of format and session.
pub(super) const START: usize = 40;

/// Where the records of a file stand in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) records: Vec<Range<usize>>,
    /// Bytes that verify.
    pub(super) length: u64,
    /// Bytes of a torn record after them.
    pub(super) torn: u64,
}

/// What is wrong with the bytes of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Problem {
    /// It is of something else.
    Foreign,
    /// It does not verify from here on.
    Damaged { at: u64 },
}

/// What a file of this format and session begins with.
pub(super) fn start(format: [u8; 8], session: Digest) -> [u8; START] {
    let mut bytes = [0; START];
    bytes[..8].copy_from_slice(&format);
    bytes[8..].copy_from_slice(&session.0);
    bytes
}

/// A record as it stands in the file, as the `index`-th.
pub(super) fn framed(record: &[u8], index: usize) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(record.len() + 12);
    append_framed(record, index, &mut bytes);
    bytes
}

/// The same, after other bytes.
pub(super) fn append_framed(record: &[u8], index: usize, bytes: &mut Vec<u8>) {
    let length = (record.len() as u32).to_le_bytes();
    bytes.extend_from_slice(&length);
    bytes.extend_from_slice(&head_sum(length, index).to_le_bytes());
    bytes.extend_from_slice(record);
    bytes.extend_from_slice(&crc32c(&[record]).to_le_bytes());
}

fn head_sum(length: [u8; 4], index: usize) -> u32 {
    crc32c(&[&length, &(index as u64).to_le_bytes()])
}

/// Reads a file that should begin so and whose records have at most `longest` bytes.
///
/// What a crash leaves after the last whole record is its beginning, perhaps with zeros where the disk was not written to. The length has a checksum
/// of its own, so that a damaged length is not taken for a long record that was torn, which would hide everything after it.
pub(super) fn read(bytes: &[u8], start: &[u8; START], longest: usize) -> Result<Found, Problem> {
    let zeros = |rest: &[u8]| rest.iter().all(|&byte| byte == 0);
    let Some(mut rest) = bytes.strip_prefix(start) else {
        // A file that was never finished making holds nothing.
        let common = bytes.iter().zip(start).take_while(|(a, b)| a == b);
        let same = common.count();
        return match zeros(&bytes[same..]) {
            true => Ok(Found {
                torn: bytes.len() as u64,
                ..Found::default()
            }),
            false => Err(Problem::Foreign),
        };
    };
    let mut found = Found {
        length: START as u64,
        ..Found::default()
    };
    while !rest.is_empty() {
        let damaged = Problem::Damaged { at: found.length };
        let torn = |mut found: Found| {
            found.torn = rest.len() as u64;
            Ok(found)
        };
        let Some((head, after)) = rest.split_first_chunk::<8>() else {
            return torn(found);
        };
        let [a, b, c, d, sum @ ..] = *head;
        let wanted = head_sum([a, b, c, d], found.records.len()).to_le_bytes();
        if sum != wanted {
            return match zeros(&rest[8..]) && is_begun(sum, wanted) {
                true => torn(found),
                false => Err(damaged),
            };
        }
        let length = u32::from_le_bytes([a, b, c, d]) as usize;
        if length > longest {
            return Err(damaged);
        }
        let Some((record, after)) = after.split_at_checked(length) else {
            return torn(found);
        };
        let Some((sum, after)) = after.split_first_chunk::<4>() else {
            return torn(found);
        };
        let wanted = crc32c(&[record]).to_le_bytes();
        if *sum != wanted {
            return match zeros(after) && is_begun(*sum, wanted) {
                true => torn(found),
                false => Err(damaged),
            };
        }
        let from = found.length as usize + 8;
        found.records.push(from..from + length);
        found.length += (12 + length) as u64;
        rest = after;
    }
    Ok(found)
}

/// Whether a checksum is one whose end was not written: the bytes wanted, then zeros.
fn is_begun(found: [u8; 4], wanted: [u8; 4]) -> bool {
    (0..4).any(|written| {
        found[..written] == wanted[..written] && found[written..].iter().all(|&byte| byte == 0)
    })
}

/// CRC-32C (Castagnoli; polynomial 0x1EDC6F41, reflected) of the concatenation, as in RFC 3720.
pub(super) fn crc32c(parts: &[&[u8]]) -> u32 {
    const TABLE: [u32; 256] = table();
    let bytes = parts.iter().copied().flatten();
    !bytes.fold(u32::MAX, |sum, &byte| {
        TABLE[usize::from(sum as u8 ^ byte)] ^ (sum >> 8)
    })
}

const fn table() -> [u32; 256] {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut sum = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            sum = (sum >> 1) ^ if sum & 1 == 1 { 0x82f6_3b78 } else { 0 };
            bit += 1;
        }
        table[byte] = sum;
        byte += 1;
    }
    table
}
