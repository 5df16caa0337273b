//! Reads a ledger from its first line to its last.

use std::io::{self, BufRead, Read as _};

use super::super::digest::Digest;
use super::super::ledger_error::{LedgerError, LineError};
use super::super::terms::Head;
use super::account::{Accounts, Standing};
use super::entry::{self, Entry, LONGEST, LedgerEvent};
use crate::session::PublicId;

/// A ledger that verifies.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Read {
    pub(super) accounts: Accounts,
    pub(super) head: Head,
    /// Bytes of whole lines.
    pub(super) length: u64,
    /// Bytes of a torn line after them.
    pub(super) torn: u64,
}

impl Read {
    /// Takes up a line that follows; `line` is without its end.
    pub(super) fn take_up(&mut self, entry: Entry, line: &[u8]) {
        self.head = Head {
            length: entry.n + 1,
            hash: Digest::of(line),
        };
        self.length += line.len() as u64 + 1;
        self.accounts.apply(entry.event);
    }
}

/// The number of the line that records `event` after a ledger with this head.
pub(super) fn number(event: &LedgerEvent, head: Head) -> u64 {
    match event {
        LedgerEvent::Adopted { known, .. } => known.length.max(head.length),
        _ => head.length,
    }
}

/// Reads a ledger of `owner`.
///
/// A last line without its end is torn, and dropped. It must be what a crash leaves: the beginning of a line, perhaps with zeros where the
/// disk was not written to. A whole line that is followed by anything but its end was changed.
pub(super) fn read(
    mut source: impl BufRead,
    owner: &PublicId,
) -> io::Result<Result<Read, LedgerError>> {
    let mut read = Read {
        accounts: Accounts::default(),
        head: Head {
            length: 0,
            hash: Digest([0; 32]),
        },
        length: 0,
        torn: 0,
    };
    let mut line = Vec::new();
    let mut count = 0;
    loop {
        line.clear();
        count += 1;
        let taken = (&mut source)
            .take(LONGEST as u64)
            .read_until(b'\n', &mut line)?;
        if taken == 0 {
            break;
        }
        let problem = |problem| LedgerError::Line {
            line: count,
            problem,
        };
        if line.last() != Some(&b'\n') {
            if line.len() == LONGEST {
                return Ok(Err(problem(LineError::TooLong)));
            }
            if !is_torn(&line, &read, owner) {
                return Ok(Err(problem(LineError::Form)));
            }
            read.torn = line.len() as u64;
            break;
        }
        line.pop();
        match follow(&read, &line, owner) {
            Ok(entry) => read.take_up(entry, &line),
            Err(wrong) => return Ok(Err(problem(wrong))),
        }
    }
    Ok(match read.head.length {
        0 => Err(LedgerError::Empty),
        _ => Ok(read),
    })
}

/// The entry of a line that may stand after what was read.
fn follow(read: &Read, line: &[u8], owner: &PublicId) -> Result<Entry, LineError> {
    let entry = Entry::read(line, owner)?;
    if entry.prev != read.head.hash || entry.n != number(&entry.event, read.head) {
        return Err(LineError::Chain);
    }
    let allowed = match &entry.event {
        LedgerEvent::Opened { id, .. } => read.head.length == 0 && id == owner,
        LedgerEvent::Adopted { known, .. } if known.length > u64::MAX / 2 => false,
        event => read.head.length > 0 && matches!(read.accounts.check(event), Ok(Standing::New)),
    };
    match allowed {
        true => Ok(entry),
        false => Err(LineError::Impossible),
    }
}

/// Whether a crash can have left this after the last whole line.
fn is_torn(tail: &[u8], read: &Read, owner: &PublicId) -> bool {
    let Some(whole) = entry::whole_line(tail) else {
        return true;
    };
    let rest = &tail[whole.len()..];
    rest.iter().all(|&byte| byte == 0) || follow(read, whole, owner).is_err()
}
