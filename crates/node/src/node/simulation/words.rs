//! What hosts say to host 0 and it to them, in bytes.
//!
//! No length of values is ever announced: how many there are follows from the plan, so nothing that arrives decides
//! how much memory is taken. Integers are little-endian.

use std::ops::Range;
use std::sync::Arc;

use futures::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use crate::node::deployed::Written;
use crate::protocol::averaging::PeerBytes;
use crate::protocol::{SessionPlan, Summand};
use crate::vocabulary::{PeerIndex, ReleaseId};

/// Bytes of values that are read at a time.
const PIECE: usize = 16 * 1024;
/// Bytes of an error's text at most.
const LONGEST_TEXT: usize = 1000;

const REALS: u8 = 1;
const RESIDUES: u8 = 2;
const SUM: u8 = 3;
const WRITTEN: u8 = 4;
/// Host 0: everybody is here, begin.
pub(super) const START: u8 = 5;
/// Host 0: everything has been collected.
pub(super) const DONE: u8 = 6;
/// Either: it is over, for this reason.
const FAILED: u8 = 7;

/// What was said.
#[derive(Debug)]
pub(super) enum Word {
    /// What a peer published.
    Published {
        peer: PeerIndex,
        release: ReleaseId,
        input: Summand,
    },
    /// What a peer holds as the sum of a release, and the number agreed on before.
    Released {
        peer: PeerIndex,
        release: ReleaseId,
        statistic: f64,
        values: Vec<f64>,
    },
    /// A peer is done and has written this.
    Written { peer: PeerIndex, written: Written },
    /// Host 0 says begin.
    Start,
    /// Host 0 has everything.
    Done,
    /// The host gives up.
    Failed(String),
}

/// Why nothing more can be read.
#[derive(Debug)]
pub(super) enum Unread {
    /// The stream has ended or broken.
    Lost,
    /// These are no words of this plan.
    Malformed(&'static str),
}

impl From<std::io::Error> for Unread {
    fn from(_: std::io::Error) -> Self {
        Self::Lost
    }
}

/// The bytes of what a peer published.
pub(super) fn published(peer: PeerIndex, release: ReleaseId, input: &Summand) -> Vec<u8> {
    match input {
        Summand::Reals(values) => {
            let mut bytes = head(REALS, peer, release, values.len());
            values.iter().for_each(|x| bytes.extend(x.to_le_bytes()));
            bytes
        }
        Summand::Residues(values) => {
            let mut bytes = head(RESIDUES, peer, release, values.len());
            values.iter().for_each(|x| bytes.extend(x.to_le_bytes()));
            bytes
        }
    }
}

/// The bytes of a released sum.
pub(super) fn released(
    peer: PeerIndex,
    release: ReleaseId,
    statistic: f64,
    values: &[f64],
) -> Vec<u8> {
    let mut bytes = head(SUM, peer, release, values.len() + 1);
    bytes.extend(statistic.to_le_bytes());
    values.iter().for_each(|x| bytes.extend(x.to_le_bytes()));
    bytes
}

fn head(kind: u8, peer: PeerIndex, release: ReleaseId, values: usize) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(9 + 8 * values);
    bytes.push(kind);
    bytes.extend(peer.0.to_le_bytes());
    bytes.extend(release.0.to_le_bytes());
    bytes
}

/// The bytes of what a peer has written.
pub(super) fn written(peer: PeerIndex, written: &Written) -> Vec<u8> {
    let mut bytes = vec![WRITTEN];
    bytes.extend(peer.0.to_le_bytes());
    let PeerBytes {
        agreement,
        sums,
        coordinates,
    } = written.bytes;
    for count in [written.messages, agreement, sums, coordinates] {
        bytes.extend(count.to_le_bytes());
    }
    bytes
}

/// The bytes of a reason, shortened if need be.
pub(super) fn failed(text: &str) -> Vec<u8> {
    let end = text.len().min(LONGEST_TEXT);
    let text = &text.as_bytes()[..end];
    let mut bytes = vec![FAILED];
    bytes.extend((text.len() as u16).to_le_bytes());
    bytes.extend(text);
    bytes
}

/// Writes one word.
pub(super) async fn say(
    stream: &mut (impl AsyncWrite + Unpin),
    bytes: &[u8],
) -> std::io::Result<()> {
    stream.write_all(bytes).await?;
    stream.flush().await
}

/// The next word of a host that has these peers.
pub(super) async fn hear(
    stream: &mut (impl AsyncRead + Unpin),
    plan: &SessionPlan,
    peers: &Range<u32>,
) -> Result<Word, Unread> {
    let [kind] = exactly(stream).await?;
    match kind {
        START => Ok(Word::Start),
        DONE => Ok(Word::Done),
        FAILED => {
            let length = usize::from(u16::from_le_bytes(exactly(stream).await?));
            if length > LONGEST_TEXT {
                return Err(Unread::Malformed("a reason that is too long"));
            }
            let mut text = vec![0; length];
            stream.read_exact(&mut text).await?;
            let text = String::from_utf8_lossy(&text);
            Ok(Word::Failed(text.replace(char::is_control, " ")))
        }
        WRITTEN => {
            let peer = peer(stream, peers).await?;
            let mut counts = [0; 4];
            for count in &mut counts {
                *count = u64::from_le_bytes(exactly(stream).await?);
            }
            let [messages, agreement, sums, coordinates] = counts;
            let bytes = PeerBytes {
                agreement,
                sums,
                coordinates,
            };
            let written = Written {
                messages,
                bytes,
                ..Written::default()
            };
            Ok(Word::Written { peer, written })
        }
        REALS | RESIDUES | SUM => {
            let peer = peer(stream, peers).await?;
            let release = ReleaseId(u32::from_le_bytes(exactly(stream).await?));
            let planned = plan.release(release);
            let planned = planned.ok_or(Unread::Malformed("a release that is not planned"))?;
            let values = planned.values();
            if kind == SUM {
                let statistic = f64::from_le_bytes(exactly(stream).await?);
                let all = plan.parameters().peers as usize;
                let owners = if planned.is_own() { all } else { 1 };
                return Ok(Word::Released {
                    peer,
                    release,
                    statistic,
                    values: numbers(stream, values * owners, f64::from_le_bytes).await?,
                });
            }
            let residues = plan.values().is_residues() && !planned.is_own();
            if residues != (kind == RESIDUES) {
                return Err(Unread::Malformed("numbers of another kind than the plan's"));
            }
            let input = match residues {
                true => {
                    let values = numbers(stream, values, u64::from_le_bytes).await?;
                    Summand::Residues(Arc::new(values))
                }
                false => {
                    let values = numbers(stream, values, f64::from_le_bytes).await?;
                    Summand::Reals(Arc::new(values))
                }
            };
            Ok(Word::Published {
                peer,
                release,
                input,
            })
        }
        _ => Err(Unread::Malformed("a word that does not exist")),
    }
}

/// A peer of this host.
async fn peer(
    stream: &mut (impl AsyncRead + Unpin),
    peers: &Range<u32>,
) -> Result<PeerIndex, Unread> {
    let peer = u32::from_le_bytes(exactly(stream).await?);
    match peers.contains(&peer) {
        true => Ok(PeerIndex(peer)),
        false => Err(Unread::Malformed("news of a peer that it does not have")),
    }
}

/// So many numbers.
async fn numbers<T>(
    stream: &mut (impl AsyncRead + Unpin),
    count: usize,
    number: impl Fn([u8; 8]) -> T,
) -> Result<Vec<T>, Unread> {
    let mut values = Vec::with_capacity(count);
    let mut piece = vec![0; PIECE.min(8 * count)];
    while values.len() < count {
        let due = piece.len().min(8 * (count - values.len()));
        stream.read_exact(&mut piece[..due]).await?;
        let (chunks, _) = piece[..due].as_chunks::<8>();
        values.extend(chunks.iter().map(|bytes| number(*bytes)));
    }
    Ok(values)
}

/// The next `N` bytes.
pub(super) async fn exactly<const N: usize>(
    stream: &mut (impl AsyncRead + Unpin),
) -> Result<[u8; N], Unread> {
    let mut bytes = [0; N];
    stream.read_exact(&mut bytes).await?;
    Ok(bytes)
}
