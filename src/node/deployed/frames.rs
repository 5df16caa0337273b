//! Control frames: what is said, what has been heard, and their bytes. A frame is its length (4 bytes) and its content.

use std::collections::{HashSet, VecDeque};
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use futures::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::watch;

use super::error::{HostError, Misbehaviour};
use crate::session::PublicId;

/// Bytes of the longest control frame.
pub const MAX_CONTROL_LEN: usize = 64 * 1024;

/// Control frames that one member may send in a session.
pub const MAX_CONTROL_FRAMES: usize = 4096;

/// Bytes of all control frames that a host keeps to send them again.
const MAX_KEPT_BYTES: usize = 64 * 1024 * 1024;

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
}

#[derive(Debug)]
struct Entry {
    /// Whom it is for; everybody if nobody is named.
    to: Option<PublicId>,
    bytes: Arc<[u8]>,
}

impl Log {
    pub(super) fn new() -> Self {
        Self {
            entries: Mutex::default(),
            length: watch::Sender::new(0),
        }
    }

    /// Adds a frame for one member, or for all.
    ///
    /// # Errors
    /// [`HostError::ControlTooLong`] and [`HostError::ControlTooMany`].
    pub(super) fn say(&self, to: Option<PublicId>, bytes: Arc<[u8]>) -> Result<(), HostError> {
        let found = bytes.len();
        if found > MAX_CONTROL_LEN {
            let limit = MAX_CONTROL_LEN;
            return Err(HostError::ControlTooLong { found, limit });
        }
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = entries.bytes + found;
        if entries.list.len() >= MAX_CONTROL_FRAMES || kept > MAX_KEPT_BYTES {
            let limit = MAX_CONTROL_FRAMES;
            return Err(HostError::ControlTooMany { limit });
        }
        entries.bytes = kept;
        // An empty frame is a sign of life and says nothing.
        if found > 0 {
            entries.list.push(Entry { to, bytes });
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
        entries.list.push(Entry { to: None, bytes });
        self.length.send_replace(entries.list.len());
    }

    /// The first frame for this member from this place on, and the place after it; the end if there is none.
    pub(super) fn next(&self, member: &PublicId, from: usize) -> (usize, Option<Arc<[u8]>>) {
        let entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let rest = entries.list.iter().enumerate().skip(from);
        let mut wanted = rest.filter(|(_, entry)| entry.to.is_none_or(|to| to == *member));
        match wanted.next() {
            Some((at, entry)) => (at + 1, Some(Arc::clone(&entry.bytes))),
            None => (entries.list.len(), None),
        }
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
    /// Notes a frame: whether it is new.
    ///
    /// # Errors
    /// [`Misbehaviour::ControlTooMany`].
    pub(super) fn is_new(&mut self, bytes: &[u8]) -> Result<bool, Misbehaviour> {
        let digest = *blake3::hash(bytes).as_bytes();
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

/// Writes one frame of at most [`MAX_CONTROL_LEN`] bytes.
pub(super) async fn write(stream: &mut (impl AsyncWrite + Unpin), bytes: &[u8]) -> io::Result<()> {
    let mut framed = Vec::with_capacity(4 + bytes.len());
    framed.extend_from_slice(&(bytes.len() as u32).to_le_bytes());
    framed.extend_from_slice(bytes);
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
        let said = [(None, 1), (Some(id(1)), 2), (Some(id(2)), 3), (None, 4)];
        for (to, content) in said {
            log.say(to, Arc::from([content])).expect("short");
        }
        let heard = |member: PublicId| {
            let (mut at, mut all) = (0, Vec::new());
            while let (next, Some(bytes)) = log.next(&member, at) {
                all.push(bytes[0]);
                at = next;
            }
            all
        };
        assert_eq!(heard(id(1)), [1, 2, 4]);
        assert_eq!(heard(id(2)), [1, 3, 4]);
        assert_eq!(log.next(&id(1), 0).0, 1);
        assert_eq!(log.next(&id(3), 1).0, 4);
    }

    #[test]
    fn frames_that_are_too_long_or_too_many_are_not_said() {
        let log = Log::new();
        let long: Arc<[u8]> = vec![0; MAX_CONTROL_LEN + 1].into();
        let refused = log.say(None, long);
        assert!(matches!(refused, Err(HostError::ControlTooLong { .. })));
        for number in 0..MAX_CONTROL_FRAMES {
            let bytes = number.to_le_bytes().to_vec();
            log.say(None, bytes.into()).expect("within the limit");
        }
        let refused = log.say(None, Arc::from([1]));
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
        for number in 0..MAX_CONTROL_FRAMES {
            assert_eq!(heard.is_new(&number.to_le_bytes()), Ok(true));
            assert_eq!(heard.is_new(&number.to_le_bytes()), Ok(false));
        }
        let limit = MAX_CONTROL_FRAMES;
        let refused = Err(Misbehaviour::ControlTooMany { limit });
        assert_eq!(heard.is_new(b"one more"), refused);
    }
}
