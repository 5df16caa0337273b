//! `address-book.toml`: whom this peer knows, where they listen, and how long their ledgers were when it last heard of them.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::disk;
use super::error::StoreError;
use super::terms::Head;
use crate::session::{Address, MemberName, PublicId};
use crate::writing::replace;

/// Bytes of the longest address book.
const LONGEST: u64 = 1 << 22;

/// What stands at the top of the file.
const HEADING: &str = "\
# Whom this peer knows. Add members by hand, or let sessions add them: the node writes `last_ledger`, and writes this file anew
# when it changes, without comments. A member whose ledger is shorter than `last_ledger` has lost charges and is refused.
";

/// Whom this peer knows. Members are in the order of the file, each once.
#[derive(Debug)]
pub struct AddressBook {
    path: PathBuf,
    peers: Vec<KnownPeer>,
}

/// One member.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KnownPeer {
    /// What it is called.
    #[serde(default)]
    pub name: MemberName,
    /// Who it is.
    pub id: PublicId,
    /// Where it listens.
    #[serde(default)]
    pub addresses: Vec<Address>,
    /// The longest ledger of it that was seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_ledger: Option<Head>,
}

#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    peer: Vec<KnownPeer>,
}

/// A ledger that cannot be the one seen before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LedgerMismatch {
    /// It has become shorter.
    #[error(
        "the ledger of {id} has {} lines, and {} were seen before: its files come from a backup, and charges are missing", found.length, seen.length
    )]
    Behind {
        /// Whose.
        id: PublicId,
        /// What it announces.
        found: Head,
        /// What was seen.
        seen: Head,
    },
    /// Two ledgers of equal length.
    #[error(
        "the ledger of {id} has another line {} than was seen before: two copies of its files are in use", found.length
    )]
    Forked {
        /// Whose.
        id: PublicId,
        /// What it announces.
        found: Head,
        /// What was seen.
        seen: Head,
    },
}

impl AddressBook {
    /// Reads the file; empty if there is none.
    ///
    /// # Errors
    /// [`StoreError::Content`] for what is no address book, or has a member twice.
    pub(super) fn read(path: &Path) -> Result<Self, StoreError> {
        let text = disk::read_text(path, LONGEST)?.unwrap_or_default();
        let peers = parse(&text).map_err(|problem| StoreError::Content {
            path: path.to_path_buf(),
            problem,
        })?;
        Ok(Self {
            path: path.to_path_buf(),
            peers,
        })
    }

    /// Everybody in it.
    #[must_use]
    pub fn peers(&self) -> &[KnownPeer] {
        &self.peers
    }

    /// One member.
    #[must_use]
    pub fn find(&self, id: &PublicId) -> Option<&KnownPeer> {
        self.peers.iter().find(|peer| peer.id == *id)
    }

    /// Whether a member's ledger can follow the one that was seen last.
    ///
    /// # Errors
    /// [`LedgerMismatch`].
    pub fn check(&self, id: PublicId, found: Head) -> Result<(), LedgerMismatch> {
        let Some(seen) = self.find(&id).and_then(|peer| peer.last_ledger) else {
            return Ok(());
        };
        if found.length < seen.length {
            Err(LedgerMismatch::Behind { id, found, seen })
        } else if found.length == seen.length && found.hash != seen.hash {
            Err(LedgerMismatch::Forked { id, found, seen })
        } else {
            Ok(())
        }
    }

    /// Keeps what members announced, where it is longer than what was seen, and writes the file if anything has changed.
    ///
    /// # Errors
    /// [`StoreError::Io`] where the file cannot be written; then it is as it was.
    pub fn remember(
        &mut self,
        heads: impl IntoIterator<Item = (PublicId, MemberName, Head)>,
    ) -> Result<(), StoreError> {
        let mut peers = self.peers.clone();
        for (id, name, head) in heads {
            // Numbers of TOML have a sign. No ledger is that long, and whoever says so harms itself alone.
            if i64::try_from(head.length).is_err() {
                continue;
            }
            let found = peers.iter().position(|peer| peer.id == id);
            let at = found.unwrap_or_else(|| {
                peers.push(KnownPeer {
                    name,
                    id,
                    addresses: Vec::new(),
                    last_ledger: None,
                });
                peers.len() - 1
            });
            let last = &mut peers[at].last_ledger;
            if last.is_none_or(|last| last.length < head.length) {
                *last = Some(head);
            }
        }
        if peers == self.peers {
            return Ok(());
        }
        let file = File { peer: peers };
        let text = toml::to_string(&file).map_err(|error| StoreError::Content {
            path: self.path.clone(),
            problem: error.to_string(),
        })?;
        replace(&self.path, format!("{HEADING}\n{text}").as_bytes())
            .map_err(StoreError::io("write", &self.path))?;
        self.peers = file.peer;
        Ok(())
    }
}

/// An empty address book.
pub(super) fn empty() -> &'static str {
    HEADING
}

fn parse(text: &str) -> Result<Vec<KnownPeer>, String> {
    let file: File = toml::from_str(text).map_err(|error| error.to_string())?;
    let mut ids: Vec<_> = file.peer.iter().map(|peer| peer.id).collect();
    ids.sort();
    match ids.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(format!("peer {} stands twice in it", pair[0])),
        None => Ok(file.peer),
    }
}

#[cfg(test)]
mod tests {
    use super::super::digest::Digest;
    use super::*;
    use crate::session::Identity;

    fn id(number: u8) -> PublicId {
        Identity::from_secret([number; 32].into()).id()
    }

    fn head(length: u64, hash: u8) -> Head {
        Head {
            length,
            hash: Digest([hash; 32]),
        }
    }

    #[test]
    fn ledgers_that_went_back_or_forked_are_noticed_also_after_a_restart() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("address-book.toml");
        let by_hand = format!(
            "[[peer]]\nname = \"Bonn\"\nid = \"{}\"\naddresses = [\"/dns4/bonn/tcp/7655\"]\n",
            id(1)
        );
        std::fs::write(&path, by_hand).expect("written");
        let mut book = AddressBook::read(&path).expect("a book");
        assert!(book.check(id(1), head(1, 1)).is_ok());
        let name = MemberName::default();
        book.remember([
            (id(1), name.clone(), head(5, 5)),
            (id(2), name.clone(), head(3, 3)),
        ])
        .expect("written");
        // What is shorter does not replace what is longer.
        book.remember([(id(1), name, head(4, 4))])
            .expect("nothing to write");
        let book = AddressBook::read(&path).expect("a book");
        assert_eq!(book.peers().len(), 2);
        assert_eq!(book.peers()[0].name.as_str(), "Bonn");
        assert_eq!(book.peers()[0].addresses.len(), 1);
        assert!(book.check(id(1), head(5, 5)).is_ok());
        assert!(book.check(id(1), head(6, 9)).is_ok());
        assert!(book.check(id(3), head(0, 0)).is_ok());
        let behind = book.check(id(1), head(4, 4));
        assert!(matches!(behind, Err(LedgerMismatch::Behind { .. })));
        let forked = book.check(id(2), head(3, 4));
        assert!(matches!(forked, Err(LedgerMismatch::Forked { .. })));
    }

    #[test]
    fn what_is_no_address_book_says_why() {
        let peer = format!("[[peer]]\nid = \"{}\"\n", id(1));
        for (text, word) in [
            ("[[peer]]\nname = \"x\"\n".to_owned(), "id"),
            (format!("{peer}adress = 1\n"), "adress"),
            (format!("{peer}addresses = [\"1.2.3.4\"]\n"), "/ip4/"),
            (format!("{peer}name = \"a\\u200b\"\n"), "U+200B"),
            (format!("{peer}{peer}"), "twice"),
            (
                format!("{peer}last_ledger = {{ length = 3, hash = \"00\" }}\n"),
                "64 hex",
            ),
        ] {
            let problem = parse(&text).expect_err(&text);
            assert!(problem.contains(word), "{word}: {problem}");
        }
        assert_eq!(parse(&peer).expect("a book").len(), 1);
        assert_eq!(parse(empty()).expect("a book").len(), 0);
    }
}
