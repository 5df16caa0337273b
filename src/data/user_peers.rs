//! The peer of every user, where a column of the data names it.

use super::error::{Problem, excerpt};
use super::names::Names;

/// Mark of a user who is not placed yet.
const NONE: u32 = u32::MAX;

/// The peer of every user of a file, by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserPeers {
    names: Vec<String>,
    lines: Vec<u64>,
    of: Vec<u32>,
}

impl UserPeers {
    /// The peers that the file names, in the order in which it names them first, each with the line on which it does.
    pub fn named(&self) -> impl Iterator<Item = (&str, u64)> {
        let names = self.names.iter().map(String::as_str);
        names.zip(self.lines.iter().copied())
    }

    /// The place of each user's peer in [`Self::named`].
    #[must_use]
    pub fn of_users(&self) -> &[u32] {
        &self.of
    }
}

/// Collects the peers of users.
pub(super) struct UserPeersReader {
    names: Names,
    lines: Vec<u64>,
    of: Vec<u32>,
}

impl UserPeersReader {
    /// A reader that has seen no line, for at most `most` peers with names of at most `longest` bytes.
    pub(super) fn new(most: usize, longest: usize) -> Self {
        Self {
            names: Names::new("peer", most, longest),
            lines: Vec::new(),
            of: Vec::new(),
        }
    }

    /// Places the user of this number, in order of appearance, at the peer called `name`, as `line` says.
    pub(super) fn place(
        &mut self,
        (user, id): (u32, &str),
        name: &str,
        line: u64,
    ) -> Result<(), Problem> {
        let peer = self.names.index(name)?;
        if self.names.len() > self.lines.len() {
            self.lines.push(line);
        }
        let user = user as usize;
        if user >= self.of.len() {
            self.of.resize(user + 1, NONE);
        }
        match self.of[user] {
            NONE => self.of[user] = peer,
            earlier if earlier != peer => {
                return Err(Problem::TwoPeers {
                    user: excerpt(id),
                    found: excerpt(name),
                    earlier: excerpt(self.names.name(earlier)),
                });
            }
            _ => {}
        }
        Ok(())
    }

    /// The peers of all users that were placed.
    pub(super) fn whole(self) -> UserPeers {
        UserPeers {
            names: self.names.into_list(),
            lines: self.lines,
            of: self.of,
        }
    }
}
