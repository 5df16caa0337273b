//! Records and what must be on disk, as bytes, for whoever sends and keeps them.

use super::attempt::{ADDRESS_LEN, Attempt, ViewNumber};
use super::certificate::{Certificate, SIGNATURE_LEN};
use super::history::History;
use super::record::{Disruptions, Durable, Onward, Record, Statement};
use super::sets::{CutLinks, LinkIndex};
use super::signed::Signed;
use crate::vocabulary::{PeerIndex, ReleaseId};

/// How many peers and links a session has: the bound on whatever its bytes say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Peers.
    pub peers: usize,
    /// Links.
    pub links: usize,
}

/// Reads from the front, never beyond the end. Whatever gives `None` stands at [`Reader::at`].
#[derive(Debug)]
pub(in crate::protocol) struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    pub(in crate::protocol) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// How much has been read.
    pub(in crate::protocol) fn at(&self) -> usize {
        self.at
    }

    /// So many bytes, which must be there.
    pub(in crate::protocol) fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let taken = self.bytes.get(self.at..)?.get(..length)?;
        self.at += length;
        Some(taken)
    }

    /// All that is left.
    pub(in crate::protocol) fn rest(&mut self) -> &'a [u8] {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        self.at = self.bytes.len();
        rest
    }

    pub(in crate::protocol) fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }

    pub(in crate::protocol) fn byte(&mut self) -> Option<u8> {
        self.array::<1>().map(|[byte]| byte)
    }

    pub(in crate::protocol) fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    pub(in crate::protocol) fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    pub(in crate::protocol) fn attempt(&mut self) -> Option<Attempt> {
        self.array::<ADDRESS_LEN>()
            .map(|address| Attempt::of_address(&address))
    }

    pub(in crate::protocol) fn view(&mut self) -> Option<ViewNumber> {
        self.u64().map(ViewNumber)
    }

    /// The number of one of the session's peers.
    pub(in crate::protocol) fn peer(&mut self, extent: Extent) -> Option<PeerIndex> {
        let peer = PeerIndex(self.u32()?);
        (peer.index() < extent.peers).then_some(peer)
    }

    /// How many items of at least so many bytes follow: never more than there are bytes for.
    pub(in crate::protocol) fn count(&mut self, of_bytes: usize) -> Option<usize> {
        let count = self.u32()? as usize;
        let left = self.bytes.len().saturating_sub(self.at);
        (count <= left / of_bytes.max(1)).then_some(count)
    }

    /// `None` unless everything has been read.
    pub(in crate::protocol) fn end(&self) -> Option<()> {
        (self.at == self.bytes.len()).then_some(())
    }
}

impl Disruptions {
    fn read(from: &mut Reader<'_>, extent: Extent) -> Option<Self> {
        let mut cuts = CutLinks::none(extent.links);
        for word in 0..extent.links.div_ceil(64) {
            let bits = from.u64()?;
            for bit in (0..64).filter(|bit| bits >> bit & 1 == 1) {
                let link = 64 * word + bit;
                if link >= extent.links {
                    return None;
                }
                cuts.insert(LinkIndex(u32::try_from(link).ok()?));
            }
        }
        let restarts = from.take(extent.peers)?.to_vec();
        Some(Self { cuts, restarts })
    }
}

impl Statement {
    fn read(from: &mut Reader<'_>, extent: Extent) -> Option<Self> {
        let disruptions = Disruptions::read(from, extent)?;
        let done = ReleaseId(from.u32()?);
        let count = from.count(ADDRESS_LEN)?;
        let certified: Option<Vec<Attempt>> = (0..count).map(|_| from.attempt()).collect();
        let sent = match from.byte()? {
            0 => None,
            1 => Some(from.attempt()?),
            _ => return None,
        };
        Some(Self {
            disruptions,
            done,
            certified: certified?,
            sent,
            retries: from.u32()?,
        })
    }
}

const CUT: u8 = 1;
const RESTART: u8 = 2;
const STATEMENT: u8 = 3;
const HELD: u8 = 4;
const FINISHED: u8 = 5;

impl Signed {
    /// As bytes, at the end of `out`.
    pub(in crate::protocol) fn append_to(&self, out: &mut Vec<u8>) {
        let origin = self.record.origin();
        let mut begin = |kind: u8| {
            out.push(kind);
            out.extend_from_slice(&origin.0.to_le_bytes());
        };
        match &self.record {
            Record::Cut { link, .. } => {
                begin(CUT);
                out.extend_from_slice(&link.0.to_le_bytes());
            }
            Record::Restart { count, .. } => {
                begin(RESTART);
                out.push(*count);
            }
            Record::Statement {
                serial, statement, ..
            } => {
                begin(STATEMENT);
                out.extend_from_slice(&serial.to_le_bytes());
                statement.append_to(out);
            }
            Record::Held { attempt, .. } => {
                begin(HELD);
                out.extend_from_slice(&attempt.address());
            }
            Record::Finished { .. } => begin(FINISHED),
        }
        out.extend_from_slice(&self.signature);
    }

    /// The record that follows, by whoever says to have signed it: whether that is so is not looked at here.
    pub(in crate::protocol) fn read(from: &mut Reader<'_>, extent: Extent) -> Option<Self> {
        let kind = from.byte()?;
        let origin = from.peer(extent)?;
        let record = match kind {
            CUT => {
                let link = LinkIndex(from.u32()?);
                ((link.0 as usize) < extent.links).then_some(Record::Cut { link, origin })?
            }
            RESTART => Record::Restart {
                origin,
                count: from.byte()?,
            },
            STATEMENT => Record::Statement {
                origin,
                serial: from.u64()?,
                statement: Statement::read(from, extent)?,
            },
            HELD => Record::Held {
                origin,
                attempt: from.attempt()?,
            },
            FINISHED => Record::Finished { origin },
            _ => return None,
        };
        let signature = from.array()?;
        Some(Self { record, signature })
    }
}

impl Durable {
    /// As bytes, at the end of `out`.
    pub(in crate::protocol) fn append_to(&self, out: &mut Vec<u8>) {
        match self {
            Self::Stated { serial, statement } => {
                out.push(1);
                out.extend_from_slice(&serial.to_le_bytes());
                statement.append_to(out);
            }
            Self::Decided {
                disruptions,
                history,
                onward,
                retries,
            } => {
                out.push(2);
                disruptions.append_to(out);
                out.extend_from_slice(&history.0);
                let (kind, release) = match onward {
                    None => (0, ReleaseId(0)),
                    Some(Onward::Anew(release)) => (1, *release),
                    Some(Onward::Again(release)) => (2, *release),
                };
                out.push(kind);
                out.extend_from_slice(&release.0.to_le_bytes());
                out.extend_from_slice(&retries.to_le_bytes());
            }
            Self::Held(attempt) => {
                out.push(3);
                out.extend_from_slice(&attempt.address());
            }
            Self::Sent(attempt) => {
                out.push(4);
                out.extend_from_slice(&attempt.address());
            }
            Self::Certified(certificate) => {
                out.push(5);
                out.extend_from_slice(&certificate.attempt().address());
                let count = certificate.signatures().count() as u32;
                out.extend_from_slice(&count.to_le_bytes());
                for (by, signature) in certificate.signatures() {
                    out.extend_from_slice(&by.0.to_le_bytes());
                    out.extend_from_slice(&signature);
                }
            }
            Self::Done(release) => {
                out.push(6);
                out.extend_from_slice(&release.0.to_le_bytes());
            }
        }
    }

    /// What follows.
    pub(in crate::protocol) fn read(from: &mut Reader<'_>, extent: Extent) -> Option<Self> {
        Some(match from.byte()? {
            1 => Self::Stated {
                serial: from.u64()?,
                statement: Statement::read(from, extent)?,
            },
            2 => {
                let disruptions = Disruptions::read(from, extent)?;
                let history = History(from.array()?);
                let (kind, release) = (from.byte()?, ReleaseId(from.u32()?));
                let onward = match kind {
                    0 => None,
                    1 => Some(Onward::Anew(release)),
                    2 => Some(Onward::Again(release)),
                    _ => return None,
                };
                Self::Decided {
                    disruptions,
                    history,
                    onward,
                    retries: from.u32()?,
                }
            }
            3 => Self::Held(from.attempt()?),
            4 => Self::Sent(from.attempt()?),
            5 => {
                let attempt = from.attempt()?;
                let count = from.count(4 + SIGNATURE_LEN)?;
                let word = |from: &mut Reader<'_>| Some((from.peer(extent)?, from.array()?));
                let signatures: Option<_> = (0..count).map(|_| word(from)).collect();
                Self::Certified(Certificate::new(attempt, signatures?))
            }
            6 => Self::Done(ReleaseId(from.u32()?)),
            _ => return None,
        })
    }
}
