//! What a tolerant peer keeps on its disk, as bytes.

use std::sync::Arc;

use zeroize::Zeroizing;

use super::{Format, FormatError, whole};
use crate::algorithm::{PublicState, Released};
use crate::linalg::Block;
use crate::protocol::escrow::{self, Expected, SEAL_HEAD_LEN, Seal, seal_len};
use crate::protocol::regroup::{ADDRESS_LEN, Attempt, Durable, MOST_HOLDERS, Reader};
use crate::protocol::tolerant::DiskRecord;
use crate::vocabulary::{PeerIndex, ReleaseId};

const REGROUP: u8 = 1;
const INPUT: u8 = 2;
const AGREED: u8 = 3;
const ESCROW: u8 = 4;
const SEAL: u8 = 5;
const STATE: u8 = 6;

impl Format {
    /// A record as it lies on the disk. It may hold shares: the file it goes to is nobody else's to read.
    #[must_use]
    pub fn record_bytes(&self, record: &DiskRecord) -> Zeroizing<Vec<u8>> {
        let mut out = Zeroizing::new(Vec::new());
        match record {
            DiskRecord::Regroup(durable) => {
                out.push(REGROUP);
                durable.append_to(&mut out);
            }
            DiskRecord::Input {
                attempt,
                from,
                agreed,
                input,
            } => {
                out.push(INPUT);
                out.extend_from_slice(&attempt.address());
                out.extend_from_slice(&from.0.to_le_bytes());
                append_agreed(*agreed, &mut out);
                self.append_input(*attempt, input, &mut out);
            }
            DiskRecord::Agreed { attempt, agreed } => {
                out.push(AGREED);
                out.extend_from_slice(&attempt.address());
                append_agreed(*agreed, &mut out);
            }
            DiskRecord::Escrow(record) => {
                // Long enough at once: growing would leave copies of shares behind.
                let bytes = record.to_bytes();
                out.reserve_exact(1 + bytes.len());
                out.push(ESCROW);
                out.extend_from_slice(&bytes);
            }
            DiskRecord::Seal(seal) => {
                out.push(SEAL);
                out.extend_from_slice(&(seal.holders().len() as u32).to_le_bytes());
                for holder in seal.holders() {
                    out.extend_from_slice(&holder.0.to_le_bytes());
                }
                seal.hidden().for_each(|share| out.extend_from_slice(share));
                out.extend_from_slice(seal.frame());
            }
            DiskRecord::State(state) => {
                out.push(STATE);
                append_state(state, &mut out);
            }
        }
        out
    }

    /// The record in these bytes, all of them.
    ///
    /// # Errors
    /// [`FormatError`].
    pub fn record(&self, bytes: &[u8]) -> Result<DiskRecord, FormatError> {
        whole(bytes, |from| {
            Some(match from.byte()? {
                REGROUP => DiskRecord::Regroup(Durable::read(from, self.extent)?),
                INPUT => {
                    let attempt = from.attempt()?;
                    DiskRecord::Input {
                        attempt,
                        from: from.peer(self.extent)?,
                        agreed: agreed(from)?,
                        input: self.input(attempt, from)?,
                    }
                }
                AGREED => DiskRecord::Agreed {
                    attempt: from.attempt()?,
                    agreed: agreed(from)?,
                },
                ESCROW => {
                    let own = self.thresholds.as_ref()?.of(self.me)?;
                    let record = escrow::Record::read(from.rest(), self.me, own);
                    DiskRecord::Escrow(record.ok()?)
                }
                SEAL => DiskRecord::Seal(self.seal(from)?),
                STATE => DiskRecord::State(state(from)?),
                _ => return None,
            })
        })
    }

    /// The attempt whose contribution may leave once this record is on the disk, where it is such a record.
    #[must_use]
    pub fn sent(&self, bytes: &[u8]) -> Option<Attempt> {
        // Contributions are long, and need not be read for that.
        let is_short = bytes.len() == 2 + ADDRESS_LEN;
        match is_short.then(|| self.record(bytes)) {
            Some(Ok(DiskRecord::Regroup(Durable::Sent(attempt)))) => Some(attempt),
            _ => None,
        }
    }

    /// A neighbour's seal with this peer's share, which was checked when it came.
    fn seal(&self, from: &mut Reader<'_>) -> Option<Seal> {
        let count = from.count(4).filter(|count| *count <= MOST_HOLDERS)?;
        let holders: Option<Vec<PeerIndex>> = (0..count).map(|_| from.peer(self.extent)).collect();
        let (holders, hidden) = (holders?, (self.me, from.array()?));
        let frame = from.rest();
        let mut head = Reader::new(frame.get(..SEAL_HEAD_LEN)?);
        let attempt = Attempt::of_address(&head.array::<ADDRESS_LEN>()?);
        let dealer = head.peer(self.extent)?;
        let expected = Expected {
            attempt,
            dealer,
            threshold: self.thresholds.as_ref()?.of(dealer)?,
            holders: &holders,
            bytes: frame.len().checked_sub(seal_len(count, 0))?,
        };
        Seal::read(frame.into(), &[hidden], &expected).ok()
    }
}

fn append_agreed(agreed: Option<f64>, out: &mut Vec<u8>) {
    out.push(u8::from(agreed.is_some()));
    out.extend_from_slice(&agreed.unwrap_or(0.0).to_le_bytes());
}

fn agreed(from: &mut Reader<'_>) -> Option<Option<f64>> {
    let (is_there, value) = (from.byte()?, f64::from_le_bytes(from.array()?));
    match is_there {
        0 => Some(None),
        1 => Some(Some(value)),
        _ => None,
    }
}

fn append_block(block: &Block, out: &mut Vec<u8>) {
    out.extend_from_slice(&(block.rows() as u32).to_le_bytes());
    out.extend_from_slice(&(block.columns() as u32).to_le_bytes());
    append_numbers(block.values(), out);
}

fn append_numbers(numbers: &[f64], out: &mut Vec<u8>) {
    out.reserve(8 * numbers.len());
    for number in numbers {
        out.extend_from_slice(&number.to_le_bytes());
    }
}

fn block(from: &mut Reader<'_>) -> Option<Arc<Block>> {
    let (rows, columns) = (from.u32()? as usize, from.u32()? as usize);
    let values = numbers(rows.checked_mul(columns)?, from)?;
    Some(Arc::new(Block::from_values(rows, columns, values)))
}

fn numbers(count: usize, from: &mut Reader<'_>) -> Option<Vec<f64>> {
    let (numbers, _) = from.take(count.checked_mul(8)?)?.as_chunks::<8>();
    Some(numbers.iter().map(|one| f64::from_le_bytes(*one)).collect())
}

fn append_state(state: &PublicState, out: &mut Vec<u8>) {
    out.extend_from_slice(&state.released.to_le_bytes());
    append_agreed(state.agreed, out);
    append_block(&state.query, out);
    out.push(u8::from(state.carried.is_some()));
    if let Some(carried) = &state.carried {
        append_block(carried, out);
    }
    out.extend_from_slice(&(state.past.len() as u32).to_le_bytes());
    for past in &state.past {
        out.extend_from_slice(&past.release.0.to_le_bytes());
        append_block(&past.query, out);
        append_block(&past.sum, out);
        out.extend_from_slice(&(past.sigmas.len() as u32).to_le_bytes());
        append_numbers(&past.sigmas, out);
    }
}

fn state(from: &mut Reader<'_>) -> Option<PublicState> {
    let (released, agreed) = (from.u32()?, agreed(from)?);
    let query = block(from)?;
    let carried = match from.byte()? {
        0 => None,
        1 => Some(block(from)?),
        _ => return None,
    };
    // A release takes its number, two blocks and a count at least.
    let count = from.count(24)?;
    let past: Option<Vec<Released>> = (0..count).map(|_| past(from)).collect();
    Some(PublicState {
        query,
        past: past?,
        carried,
        released,
        agreed,
    })
}

fn past(from: &mut Reader<'_>) -> Option<Released> {
    let release = ReleaseId(from.u32()?);
    let (query, sum) = (block(from)?, block(from)?);
    let count = from.count(8)?;
    Some(Released {
        release,
        query,
        sum,
        sigmas: numbers(count, from)?.into(),
    })
}
