//! `address-book.toml`: whom this peer knows, where they listen, and how long their ledgers were when it last heard of them.

use std::path::{Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};

use super::digest::Digest;
use super::disk;
use super::error::StoreError;
use crate::session::{Address, LedgerHead, LedgerProof, MemberName, PublicId, Remembered};

/// Bytes of the longest address book: some 20,000 members.
const LONGEST: u64 = 1 << 24;

/// Most strangers that are remembered. Keys cost nothing: those who come to sessions that never begin must not fill the book.
const MOST_STRANGERS: usize = 1024;

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
    pub last_ledger: Option<SeenLedger>,
    /// Whether it joined sessions that did not begin, and no other one: the oldest such members are forgotten when there are many.
    #[serde(default, skip_serializing_if = "is_false")]
    pub stranger: bool,
}

fn is_false(flag: &bool) -> bool {
    !*flag
}

/// A ledger that was seen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SeenLedger {
    /// Lines.
    pub length: u64,
    /// Of the last line.
    pub hash: Digest,
    /// The Join of its member that showed it, in base64: what makes others believe it. Without one, or with one that shows something else, this
    /// peer refuses a shorter ledger all the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub join: Option<String>,
}

#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    peer: Vec<KnownPeer>,
}

impl KnownPeer {
    /// Its ledger as an agreement knows it.
    #[must_use]
    pub fn remembered(&self) -> Option<Remembered> {
        let seen = self.last_ledger.as_ref()?;
        let ledger = LedgerHead {
            length: seen.length,
            hash: seen.hash.0,
        };
        let join = seen
            .join
            .as_ref()
            .and_then(|join| STANDARD.decode(join).ok());
        let proof = join.and_then(|join| LedgerProof::read(&join).ok());
        let shown = proof.filter(|proof| proof.about() == self.id && proof.ledger() == ledger);
        Some(shown.map_or(Remembered::Told(ledger), Remembered::Shown))
    }
}

impl SeenLedger {
    fn by(proof: &LedgerProof) -> Self {
        let LedgerHead { length, hash } = proof.ledger();
        Self {
            length,
            hash: Digest(hash),
            join: Some(STANDARD.encode(proof.bytes())),
        }
    }
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

    /// Keeps what members announced, where it is longer than what was seen, and writes the file if anything has changed. Whoever is new is a stranger
    /// until a session with it begins ([`Self::note_begun`]).
    ///
    /// # Errors
    /// [`StoreError::Io`] where the file cannot be written; then it is as it was.
    pub fn remember(
        &mut self,
        proofs: impl IntoIterator<Item = (MemberName, LedgerProof)>,
    ) -> Result<(), StoreError> {
        let mut peers = self.peers.clone();
        for (name, proof) in proofs {
            let (id, LedgerHead { length, .. }) = (proof.about(), proof.ledger());
            // Numbers of TOML have a sign. No ledger is that long, and whoever says so harms itself alone.
            if i64::try_from(length).is_err() {
                continue;
            }
            let found = peers.iter().position(|peer| peer.id == id);
            let at = found.unwrap_or_else(|| {
                peers.push(KnownPeer {
                    name,
                    id,
                    addresses: Vec::new(),
                    last_ledger: None,
                    stranger: true,
                });
                peers.len() - 1
            });
            let last = &mut peers[at].last_ledger;
            if last.as_ref().is_none_or(|last| last.length < length) {
                *last = Some(SeenLedger::by(&proof));
            }
        }
        let strangers = peers.iter().filter(|peer| peer.stranger).count();
        let mut forgotten = strangers.saturating_sub(MOST_STRANGERS);
        peers.retain(|peer| {
            let is_forgotten = peer.stranger && forgotten > 0;
            forgotten -= usize::from(is_forgotten);
            !is_forgotten
        });
        self.replace(peers)
    }

    /// A session with these members begins, which costs what they lose: they are never forgotten.
    ///
    /// # Errors
    /// As for [`Self::remember`].
    pub fn note_begun(
        &mut self,
        members: impl IntoIterator<Item = PublicId>,
    ) -> Result<(), StoreError> {
        let mut peers = self.peers.clone();
        for id in members {
            if let Some(peer) = peers.iter_mut().find(|peer| peer.id == id) {
                peer.stranger = false;
            }
        }
        self.replace(peers)
    }

    /// Writes the file if these are others than before.
    fn replace(&mut self, peers: Vec<KnownPeer>) -> Result<(), StoreError> {
        if peers == self.peers {
            return Ok(());
        }
        let file = File { peer: peers };
        let text = toml::to_string(&file).map_err(|error| StoreError::Content {
            path: self.path.clone(),
            problem: error.to_string(),
        })?;
        disk::replace(&self.path, format!("{HEADING}\n{text}").as_bytes())?;
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
    use super::*;
    use crate::session::{Identity, Join, Mode, SessionHash, Signed, Statement};

    fn id(number: u8) -> PublicId {
        Identity::from_secret([number; 32].into()).id()
    }

    /// A Join of this member for some session, which says that its ledger has so many lines.
    fn joined(number: u8, length: u64) -> (MemberName, LedgerProof) {
        let join = Join {
            mode: Mode::Deployed,
            wire: (4, 4),
            build: "undertone test".to_owned(),
            sampler: [0; 32],
            ephemeral: [1; 32],
            commitment: [2; 32],
            ledger: LedgerHead {
                length,
                hash: [length as u8; 32],
            },
        };
        let identity = Identity::from_secret([number; 32].into());
        let signed = Signed::new(&identity, SessionHash([9; 32]), Statement::Join(join));
        let proof = LedgerProof::of(&signed).expect("a Join");
        (MemberName::default(), proof)
    }

    #[test]
    fn the_longest_ledger_of_a_member_is_kept_with_the_join_that_shows_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("address-book.toml");
        let by_hand = format!(
            "[[peer]]\nname = \"Bonn\"\nid = \"{}\"\naddresses = [\"/dns4/bonn/tcp/7655\"]\n",
            id(1)
        );
        std::fs::write(&path, by_hand).expect("written");
        let mut book = AddressBook::read(&path).expect("a book");
        assert_eq!(book.peers()[0].remembered(), None);
        book.remember([joined(1, 5), joined(2, 3)])
            .expect("written");
        // What is shorter does not replace what is longer, and nobody's ledger is longer than a number of TOML.
        book.remember([joined(1, 4), joined(2, u64::MAX)])
            .expect("nothing to write");
        let book = AddressBook::read(&path).expect("a book");
        assert_eq!(book.peers().len(), 2);
        assert_eq!(book.peers()[0].name.as_str(), "Bonn");
        assert_eq!(book.peers()[0].addresses.len(), 1);
        for (peer, (number, length)) in book.peers().iter().zip([(1, 5), (2, 3)]) {
            let (_, proof) = joined(number, length);
            assert_eq!(peer.remembered(), Some(Remembered::Shown(proof)));
        }
        // A Join of somebody else, of another length, or none at all shows nothing; the length stays.
        let peer = &book.peers()[0];
        let with = |join: Option<String>| {
            let mut peer = peer.clone();
            peer.last_ledger.as_mut().expect("seen").join = join;
            peer.remembered()
        };
        let told = LedgerHead {
            length: 5,
            hash: [5; 32],
        };
        let wrong = [joined(2, 5), joined(1, 6)].map(|(_, proof)| STANDARD.encode(proof.bytes()));
        for join in [None, Some(String::new()), Some("?".to_owned())]
            .into_iter()
            .chain(wrong.map(Some))
        {
            assert_eq!(with(join), Some(Remembered::Told(told)));
        }
    }

    /// Whoever invites strangers to sessions that never begin pushes out other strangers, and nobody else: the book can always be read.
    #[test]
    fn strangers_do_not_fill_the_book() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("address-book.toml");
        let by_hand = format!("[[peer]]\nid = \"{}\"\n", id(1));
        std::fs::write(&path, by_hand).expect("written");
        let mut book = AddressBook::read(&path).expect("a book");
        book.remember([joined(1, 5), joined(2, 3), joined(3, 3)])
            .expect("written");
        book.note_begun([id(2), id(9)]).expect("written");
        // Names and proofs as long as they come.
        let name: MemberName = "\u{10ffb0}".repeat(64).parse().expect("a name");
        let (_, proof) = joined(3, 3);
        let stranger = |number: u64| {
            let mut secret = [7; 32];
            secret[..8].copy_from_slice(&number.to_le_bytes());
            KnownPeer {
                name: name.clone(),
                id: Identity::from_secret(secret.into()).id(),
                addresses: Vec::new(),
                last_ledger: Some(SeenLedger::by(&proof)),
                stranger: true,
            }
        };
        let strangers = (0..8 * MOST_STRANGERS as u64).map(stranger);
        book.peers.extend(strangers);
        book.remember([joined(4, 1)]).expect("written");
        let mut book = AddressBook::read(&path).expect("it can be read");
        let ids: Vec<_> = book.peers().iter().map(|peer| peer.id).collect();
        assert_eq!(ids.len(), 2 + MOST_STRANGERS);
        assert!(ids.contains(&id(1)) && ids.contains(&id(2)) && ids.contains(&id(4)));
        assert!(!ids.contains(&id(3)), "the oldest stranger");
        let size = std::fs::metadata(&path).expect("there").len();
        assert!(size < LONGEST / 4, "{size}");
        book.note_begun(ids).expect("written");
        assert!(book.peers().iter().all(|peer| !peer.stranger));
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
