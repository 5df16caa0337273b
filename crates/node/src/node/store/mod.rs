//! What a deployed peer keeps on its disk: its key, its policy, its ledger, and the files of each session.
//!
//! | file | mode | what |
//! | --- | --- | --- |
//! | `peer.key` | 0600 | the Ed25519 secret; made once, never replaced |
//! | `peer.pub` | | public id, raw key, name |
//! | `policy.toml` | | limits that this peer keeps, whatever a session asks for |
//! | `address-book.toml` | | whom it knows, and how long their ledgers were |
//! | `ledger.log` | 0600 | what its people have lost so far: signed, chained, written before anything leaves |
//! | `sessions/ID/` | 0700 | journal, one-time secrets and results of a session |
//! | `lock` | | held by the one process that works here |
//! | `control.sock` | 0600 | where a running node answers |
//!
//! The directory has mode 0700. Links, files of other users and secrets that others could read are refused, not warned about: a key that
//! somebody else has read is no key any more.

mod address_book;
#[cfg(unix)]
mod control;
mod defect;
mod digest;
mod directory;
mod disk;
mod error;
mod journal;
mod key;
mod lapsed;
mod ledger;
mod ledger_error;
mod lock;
mod offer;
mod policy;
mod records;
mod recovery;
mod secrets;
mod session_files;
mod signed_file;
mod terms;
#[cfg(test)]
mod tests;
mod unusable;

pub use address_book::{AddressBook, KnownPeer, SeenLedger};
#[cfg(unix)]
pub use control::{Asked, ControlServer, ask};
#[cfg(test)]
pub(in crate::node) use defect::{Defect, Room};
pub use digest::{Digest, NoDigest};
pub use directory::{StateDir, StateView};
pub use error::{JournalError, StoreError};
pub use journal::{Journal, Record};
pub use ledger::{Account, Ledger, LedgerEvent, LedgerView};
pub use ledger_error::{LedgerError, LineError};
pub use offer::{Offer, Refusal};
pub use policy::{Policy, Publish};
pub use recovery::RecoveryLog;
pub use secrets::OneTimeSecrets;
pub use session_files::{SessionFiles, SessionView};
pub use signed_file::{
    INVITATION, RECEIPT, SignedFileError, sign_file, signature_path, verify_bytes, verify_file,
};
pub use terms::{Head, MOST_ADOPTED, NoScope, Repair, Reservation, ScopeName, SessionEnd, Square};
