//! Control frames: what is said, what has been heard, and their bytes. A frame is its length (4 bytes) and its content.

use std::collections::{HashMap, HashSet, VecDeque};
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use futures::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::watch;

use crate::node::error::HostError;
use crate::node::misbehaviour::Misbehaviour;
use crate::session::PublicId;

/// Bytes of the longest control frame.
pub const MAX_CONTROL_LEN: usize = 64 * 1024;

/// Control frames that one member may send in a session.
pub const MAX_CONTROL_FRAMES: usize = 4096;

/// Bytes of all control frames that a host keeps to send them again.
const MAX_KEPT_BYTES: usize = 64 * 1024 * 1024;

/// Bytes of frames that are written to a stream at a time.
const GATHERED: usize = 16 * 1024;

/// What this host says, in order. It is kept, and said again to whoever comes back.
#[derive(Debug)]
pub(super) struct Log {
    entries: Mutex<Entries>,
    /// How many entries there are.
    length: watch::Sender<usize>,
}

#[derive(Debug, Default)]
struct Entries {
    list: Vec<Entry>,
    bytes: usize,
    /// What has been said to more than one member: whether to all.
    said: HashMap<[u8; 32], bool>,
}

/// Whom a frame is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Audience {
    /// Every member.
    All,
    /// Those that words are passed on to.
    Near,
    /// This one.
    One(PublicId),
}

#[derive(Debug)]
struct Entry {
    to: Audience,
    digest: [u8; 32],
    bytes: Arc<[u8]>,
}

impl Log {
    pub(super) fn new() -> Self {
        Self {
            entries: Mutex::default(),
            length: watch::Sender::new(0),
        }
    }

    /// Adds a frame, unless it is there for the same members: everything is said to each once on every stream.
    ///
    /// # Errors
    /// [`HostError::ControlTooLong`] and [`HostError::ControlTooMany`].
    pub(super) fn say(&self, to: Audience, bytes: Arc<[u8]>) -> Result<(), HostError> {
        let found = bytes.len();
        if found > MAX_CONTROL_LEN {
            let limit = MAX_CONTROL_LEN;
            return Err(HostError::ControlTooLong { found, limit });
        }
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let several = match to {
            Audience::All => Some(true),
            Audience::Near => Some(false),
            Audience::One(_) => None,
        };
        let digest = *blake3::hash(&bytes).as_bytes();
        let said = entries.said.get(&digest);
        if several.is_some_and(|all| said.is_some_and(|to_all| *to_all || !all)) {
            return Ok(());
        }
        let kept = entries.bytes + found;
        if entries.list.len() >= MAX_CONTROL_FRAMES || kept > MAX_KEPT_BYTES {
            let limit = MAX_CONTROL_FRAMES;
            return Err(HostError::ControlTooMany { limit });
        }
        entries.bytes = kept;
        // An empty frame is a sign of life and says nothing.
        if found > 0 {
            entries.list.push(Entry { to, digest, bytes });
            if let Some(all) = several {
                entries.said.insert(digest, all);
            }
        }
        self.length.send_replace(entries.list.len());
        Ok(())
    }

    /// How many frames it has.
    pub(super) fn len(&self) -> usize {
        *self.length.borrow()
    }

    /// Adds a frame for all, beyond any limit.
    #[cfg(test)]
    pub(super) fn say_whatever(&self, bytes: Arc<[u8]>) {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let (to, digest) = (Audience::All, *blake3::hash(&bytes).as_bytes());
        entries.list.push(Entry { to, digest, bytes });
        self.length.send_replace(entries.list.len());
    }

    /// The frames for this member from this place on as they are written, as many as fit into [`GATHERED`] bytes but at least one if there is
    /// one, and the place after them. What the member `has` is not said.
    pub(super) fn gather(
        &self,
        (member, is_near): (&PublicId, bool),
        has: &HashSet<[u8; 32]>,
        from: usize,
        gathered: &mut Vec<u8>,
    ) -> usize {
        gathered.clear();
        let entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        for (at, entry) in entries.list.iter().enumerate().skip(from) {
            let is_wanted = match entry.to {
                Audience::All => true,
                Audience::Near => is_near,
                Audience::One(to) => to == *member,
            };
            if is_wanted && !has.contains(&entry.digest) {
                if !gathered.is_empty() && gathered.len() + 4 + entry.bytes.len() > GATHERED {
                    return at;
                }
                append(&entry.bytes, gathered);
            }
        }
        entries.list.len()
    }

    /// Tells of every change of its length.
    pub(super) fn changes(&self) -> watch::Receiver<usize> {
        self.length.subscribe()
    }
}

/// What one member has said.
#[derive(Debug, Default)]
pub(super) struct Heard {
    digests: HashSet<[u8; 32]>,
}

impl Heard {
    /// Notes the frame with this BLAKE3 hash: whether it is new.
    ///
    /// # Errors
    /// [`Misbehaviour::ControlTooMany`].
    pub(super) fn is_new(&mut self, digest: [u8; 32]) -> Result<bool, Misbehaviour> {
        if self.digests.contains(&digest) {
            return Ok(false);
        }
        if self.digests.len() >= MAX_CONTROL_FRAMES {
            let limit = MAX_CONTROL_FRAMES;
            return Err(Misbehaviour::ControlTooMany { limit });
        }
        self.digests.insert(digest);
        Ok(true)
    }
}

/// Why no frame could be read.
#[derive(Debug)]
pub(super) enum Unreadable {
    /// The stream broke or ended.
    Broken,
    /// The member breaks the rules.
    Misbehaved(Misbehaviour),
}

impl From<io::Error> for Unreadable {
    fn from(_: io::Error) -> Self {
        Self::Broken
    }
}

/// Reads one frame; empty ones are signs of life.
pub(super) async fn read(stream: &mut (impl AsyncRead + Unpin)) -> Result<Vec<u8>, Unreadable> {
    let mut length = [0; 4];
    stream.read_exact(&mut length).await?;
    let found = u32::from_le_bytes(length) as usize;
    if found > MAX_CONTROL_LEN {
        let limit = MAX_CONTROL_LEN;
        return Err(Unreadable::Misbehaved(Misbehaviour::ControlTooLong {
            found,
            limit,
        }));
    }
    let mut bytes = vec![0; found];
    stream.read_exact(&mut bytes).await?;
    Ok(bytes)
}

/// Appends one frame of at most [`MAX_CONTROL_LEN`] bytes.
fn append(bytes: &[u8], framed: &mut Vec<u8>) {
    framed.extend_from_slice(&(bytes.len() as u32).to_le_bytes());
    framed.extend_from_slice(bytes);
}

/// Writes one frame of at most [`MAX_CONTROL_LEN`] bytes.
pub(super) async fn write(stream: &mut (impl AsyncWrite + Unpin), bytes: &[u8]) -> io::Result<()> {
    let mut framed = Vec::with_capacity(4 + bytes.len());
    append(bytes, &mut framed);
    stream.write_all(&framed).await
}

/// Counts frames on one stream, so that nobody sends more than a session's worth of them in a second.
#[derive(Debug, Default)]
pub(super) struct Pace {
    recent: VecDeque<tokio::time::Instant>,
}

impl Pace {
    /// Waits, if more than a quarter of a session's frames have come within a second.
    pub(super) async fn keep(&mut self) {
        let second = std::time::Duration::from_secs(1);
        if self.recent.len() >= MAX_CONTROL_FRAMES / 4
            && let Some(first) = self.recent.pop_front()
        {
            tokio::time::sleep_until(first + second).await;
        }
        self.recent.push_back(tokio::time::Instant::now());
    }
}

#[cfg(test)]
mod tests {
    use futures::executor::block_on;
    use futures::io::Cursor;

    use super::*;
    use crate::session::Identity;

    fn id(number: u8) -> PublicId {
        Identity::from_secret([number; 32].into()).id()
    }

    #[test]
    fn members_hear_what_is_for_them_and_for_all_in_order() {
        let log = Log::new();
        let one = |number| Audience::One(id(number));
        let said = [
            (Audience::All, 1),
            (one(1), 2),
            (one(2), 3),
            (Audience::Near, 4),
            (Audience::All, 5),
            // Said before; to fewer; and to more than before.
            (Audience::All, 1),
            (Audience::Near, 5),
            (Audience::All, 4),
        ];
        for (to, content) in said {
            log.say(to, Arc::from([content])).expect("short");
        }
        assert_eq!(log.len(), 6);
        let heard = |member: PublicId, is_near, has: &[u8]| {
            let mut gathered = Vec::new();
            let has = has
                .iter()
                .map(|content| *blake3::hash(&[*content]).as_bytes());
            let to = (&member, is_near);
            assert_eq!(log.gather(to, &has.collect(), 0, &mut gathered), 6);
            let frames = gathered.chunks(5).map(|frame| frame[4]);
            frames.collect::<Vec<u8>>()
        };
        assert_eq!(heard(id(1), true, &[]), [1, 2, 4, 5, 4]);
        assert_eq!(heard(id(2), false, &[]), [1, 3, 5, 4]);
        assert_eq!(heard(id(1), true, &[5, 4, 3]), [1, 2]);
        let (mut rest, nothing) = (vec![9], HashSet::new());
        let to = (&id(3), false);
        assert_eq!(log.gather(to, &nothing, 5, &mut rest), 6);
        assert_eq!(rest, [1, 0, 0, 0, 4]);
        assert_eq!(log.gather(to, &nothing, 6, &mut rest), 6);
        assert!(rest.is_empty());
    }

    /// Long frames go one by one, short ones together.
    #[test]
    fn frames_are_gathered_up_to_a_limit() {
        let log = Log::new();
        let lengths = [GATHERED, 10_000, 6_000, 1_000, MAX_CONTROL_LEN];
        for (frame, length) in lengths.into_iter().enumerate() {
            let bytes = vec![frame as u8; length];
            log.say(Audience::All, bytes.into())
                .expect("within the limit");
        }
        let (mut at, mut gathered, mut together) = (0, Vec::new(), Vec::new());
        while at < lengths.len() {
            at = log.gather((&id(1), true), &HashSet::new(), at, &mut gathered);
            together.push((at, gathered.len()));
        }
        let expected = [
            (1, GATHERED + 4),
            (3, 16_008),
            (4, 1_004),
            (5, MAX_CONTROL_LEN + 4),
        ];
        assert_eq!(together, expected);
    }

    #[test]
    fn frames_that_are_too_long_or_too_many_are_not_said() {
        let log = Log::new();
        let long: Arc<[u8]> = vec![0; MAX_CONTROL_LEN + 1].into();
        let refused = log.say(Audience::All, long);
        assert!(matches!(refused, Err(HostError::ControlTooLong { .. })));
        for number in 0..MAX_CONTROL_FRAMES {
            let bytes = number.to_le_bytes().to_vec();
            log.say(Audience::All, bytes.into())
                .expect("within the limit");
        }
        let refused = log.say(Audience::All, Arc::from([1]));
        assert!(matches!(refused, Err(HostError::ControlTooMany { .. })));
    }

    #[test]
    fn frames_come_back_as_they_were_and_lengths_beyond_the_limit_are_refused() {
        let mut bytes = Vec::new();
        for frame in [&b"one"[..], b"", &[7; MAX_CONTROL_LEN]] {
            block_on(write(&mut bytes, frame)).expect("memory");
        }
        let mut stream = Cursor::new(&bytes);
        let mut next = || block_on(read(&mut stream)).expect("a frame");
        assert_eq!((next(), next()), (b"one".to_vec(), Vec::new()));
        assert_eq!(next().len(), MAX_CONTROL_LEN);

        let found = MAX_CONTROL_LEN + 1;
        let announced = (found as u32).to_le_bytes();
        let refused = block_on(read(&mut Cursor::new(announced)));
        let limit = MAX_CONTROL_LEN;
        let expected = Misbehaviour::ControlTooLong { found, limit };
        assert!(matches!(refused, Err(Unreadable::Misbehaved(what)) if what == expected));
        for end in 0..7 {
            let cut = block_on(read(&mut Cursor::new(&bytes[..end])));
            assert!(matches!(cut, Err(Unreadable::Broken)));
        }
    }

    #[test]
    fn what_was_heard_is_not_new_and_too_much_is_refused() {
        let mut heard = Heard::default();
        let digest = |number: usize| *blake3::hash(&number.to_le_bytes()).as_bytes();
        for number in 0..MAX_CONTROL_FRAMES {
            assert_eq!(heard.is_new(digest(number)), Ok(true));
            assert_eq!(heard.is_new(digest(number)), Ok(false));
        }
        let limit = MAX_CONTROL_FRAMES;
        let refused = Err(Misbehaviour::ControlTooMany { limit });
        assert_eq!(heard.is_new([9; 32]), refused);
    }
}
