//! State directories on a real disk: modes, links, locks, secrets.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use zeroize::Zeroizing;

use super::*;
use crate::privacy::{Adjacency, Budget};
use crate::session::MemberName;
use crate::vocabulary::ReleaseId;

struct Made {
    folder: tempfile::TempDir,
    state: PathBuf,
}

fn made() -> Made {
    let folder = tempfile::tempdir().expect("a folder");
    let state = folder.path().join("peer");
    let name = "Ulm".parse().expect("a name");
    drop(StateDir::init(&state, &name).expect("made"));
    Made { folder, state }
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).expect("there").mode() & 0o777
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("ours");
}

#[test]
fn a_new_peer_is_there_whole_and_nobody_else_can_read_it() {
    let made = made();
    assert_eq!(mode(&made.state), 0o700);
    for (file, wanted) in [
        ("peer.key", 0o600),
        ("ledger.log", 0o600),
        ("sessions", 0o700),
    ] {
        assert_eq!(mode(&made.state.join(file)), wanted, "{file}");
    }
    let state = StateDir::open(&made.state).expect("opened");
    let id = state.identity().expect("a key").id();
    let (public, name) = state.view().public().expect("public");
    assert_eq!((public, name.as_str()), (id, "Ulm"));
    assert_eq!(state.view().policy().expect("a policy"), Policy::default());
    assert_eq!(
        state.view().address_book().expect("a book").peers().len(),
        0
    );
    assert_eq!(state.view().ledger().expect("a ledger").head().length, 1);
    assert_eq!(state.view().sessions().expect("none").len(), 0);
    // Nothing is left beside it.
    assert_eq!(
        fs::read_dir(made.folder.path()).expect("a folder").count(),
        1
    );
    let secret = state.identity().expect("a key").secret();
    let other = StateDir::init(&made.folder.path().join("other"), &MemberName::default());
    assert_ne!(
        other.expect("made").identity().expect("a key").secret(),
        secret
    );
}

#[test]
fn a_key_is_never_overwritten() {
    let made = made();
    let key = fs::read(made.state.join("peer.key")).expect("a key");
    let name = MemberName::default();
    let again = StateDir::init(&made.state, &name).expect_err("there already");
    assert!(matches!(again, StoreError::AlreadyInitialised(_)));
    assert_eq!(again.exit_code(), 2);
    assert_eq!(fs::read(made.state.join("peer.key")).expect("a key"), key);
    let file = made.folder.path().join("file");
    fs::write(&file, "x").expect("written");
    assert!(StateDir::init(&file, &name).is_err());
    let link = made.folder.path().join("link");
    symlink(made.folder.path().join("nowhere"), &link).expect("a link");
    assert!(matches!(
        StateDir::init(&link, &name),
        Err(StoreError::Link(_))
    ));
    // An empty folder, such as a volume that was made for it, is taken.
    let empty = made.folder.path().join("empty");
    fs::create_dir(&empty).expect("made");
    drop(StateDir::init(&empty, &name).expect("made"));
    assert_eq!(mode(&empty), 0o700);
    let missing = StateView::open(&made.folder.path().join("missing")).expect_err("nothing there");
    assert!(matches!(missing, StoreError::NotInitialised(_)));
    assert!(
        missing.to_string().contains("undertone node init"),
        "{missing}"
    );
}

#[test]
fn every_wrong_mode_of_a_key_is_refused() {
    let made = made();
    let key = made.state.join("peer.key");
    for wrong in 0..0o1000 {
        set_mode(&key, wrong);
        let found = StateView::open(&made.state);
        if wrong & 0o077 != 0 {
            // Without the right to read it, others than root cannot even look.
            let refused = match found {
                Err(StoreError::Exposed { mode, .. }) => mode == wrong,
                Err(StoreError::Io { .. }) => wrong & 0o400 == 0,
                _ => false,
            };
            assert!(refused, "{wrong:o}");
        } else if wrong & 0o600 == 0o600 {
            assert!(found.is_ok(), "{wrong:o}");
        }
    }
    set_mode(&key, 0o644);
    let refused = StateDir::open(&made.state).expect_err("exposed");
    assert!(refused.to_string().contains("`chmod 600`"), "{refused}");
    assert_eq!(refused.exit_code(), 4);
    set_mode(&key, 0o600);
    for file in ["ledger.log", "."] {
        let path = made.state.join(file);
        let before = mode(&path);
        for wrong in [0o604, 0o640, 0o602, 0o610, 0o660, 0o755] {
            set_mode(&path, wrong);
            let found = StateView::open(&made.state).and_then(|view| view.ledger());
            assert!(
                matches!(found, Err(StoreError::Exposed { .. })),
                "{file} {wrong:o}"
            );
        }
        set_mode(&path, before);
    }
    assert!(StateDir::open(&made.state).is_ok());
}

#[test]
fn links_folders_and_pipes_are_no_keys() {
    let made = made();
    let (key, kept) = (made.state.join("peer.key"), made.folder.path().join("kept"));
    fs::rename(&key, &kept).expect("moved");
    symlink(&kept, &key).expect("a link");
    assert!(matches!(
        StateView::open(&made.state),
        Err(StoreError::Link(_))
    ));
    fs::remove_file(&key).expect("removed");
    fs::hard_link(&kept, &key).expect("a second name");
    assert!(matches!(
        StateView::open(&made.state),
        Err(StoreError::Link(_))
    ));
    fs::remove_file(&key).expect("removed");
    fs::create_dir(&key).expect("made");
    assert!(matches!(
        StateView::open(&made.state),
        Err(StoreError::Kind { .. })
    ));
    fs::remove_dir(&key).expect("removed");
    // A pipe that nobody writes to must not be waited for.
    let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
    rustix::fs::mknodat(rustix::fs::CWD, &key, rustix::fs::FileType::Fifo, mode, 0)
        .expect("a pipe");
    assert!(matches!(
        StateView::open(&made.state),
        Err(StoreError::Kind { .. })
    ));
    fs::remove_file(&key).expect("removed");
    fs::rename(&kept, &key).expect("moved");
    let link = made.folder.path().join("link");
    symlink(&made.state, &link).expect("a link");
    assert!(matches!(StateView::open(&link), Err(StoreError::Link(_))));
    assert!(StateDir::open(&made.state).is_ok());
}

/// Whoever can exchange the folder of a session, or the one above it, can take a member back to before what it has said.
#[test]
fn links_and_open_folders_of_sessions_are_refused() {
    let made = made();
    let state = StateDir::open(&made.state).expect("opened");
    let sessions = made.state.join("sessions");
    let folder = state
        .session([7; 32])
        .expect("made")
        .view()
        .path()
        .to_path_buf();
    for path in [&sessions, &folder] {
        let kept = made.folder.path().join("kept");
        fs::rename(path, &kept).expect("moved");
        symlink(&kept, path).expect("a link");
        let refused = state.session([7; 32]).expect_err("a link");
        assert!(matches!(refused, StoreError::Link(_)), "{refused}");
        fs::remove_file(path).expect("removed");
        fs::rename(&kept, path).expect("moved back");
        set_mode(path, 0o770);
        let refused = state.session([7; 32]).expect_err("open to others");
        assert!(matches!(refused, StoreError::Exposed { .. }), "{refused}");
        set_mode(path, 0o700);
        assert!(state.session([7; 32]).is_ok());
    }
    // Secrets and the journal are written through no link, either.
    let files = state.session([7; 32]).expect("opened");
    let journal = files.path("journal.bin");
    assert!(fs::symlink_metadata(&journal).is_err(), "not begun");
    symlink(made.folder.path().join("elsewhere"), &journal).expect("a link");
    assert!(files.journal().is_err());
}

#[test]
fn files_of_somebody_else_are_refused() {
    let made = made();
    let key = made.state.join("peer.key");
    if !rustix::process::geteuid().is_root() {
        eprintln!("SKIPPED: only root can give files away");
        return;
    }
    std::os::unix::fs::chown(&key, Some(12_345), None).expect("given away");
    let refused = StateView::open(&made.state).expect_err("not ours");
    assert!(matches!(refused, StoreError::NotOurs { owner: 12_345, .. }));
}

#[test]
fn two_on_one_directory_are_refused_and_looking_is_not() {
    let made = made();
    let first = StateDir::open(&made.state).expect("opened");
    let second = StateDir::open(&made.state).expect_err("in use");
    assert!(matches!(second, StoreError::InUse(_)));
    assert_eq!(second.exit_code(), 4);
    assert!(
        StateView::open(&made.state)
            .and_then(|view| view.ledger())
            .is_ok()
    );
    let ledger = first.ledger().expect("opened");
    assert!(matches!(first.ledger(), Err(StoreError::InUse(_))));
    drop(ledger);
    assert!(first.ledger().is_ok());
    drop(first);
    assert!(StateDir::open(&made.state).is_ok());
}

#[test]
fn what_is_recorded_is_there_after_opening_again() {
    let made = made();
    let state = StateDir::open(&made.state).expect("opened");
    let budget = Budget::new(4.0, 1e-6).expect("a budget");
    let square = Square::new(0.1).expect("a square");
    let wanted = Reservation {
        session: Digest([1; 32]),
        scope: "patients".parse().expect("a scope"),
        adjacency: Adjacency::User,
        mu_squared: square,
        plain: false,
    };
    let mut ledger = state.ledger().expect("opened");
    ledger.reserve(wanted, budget).expect("reserved");
    ledger
        .charge([1; 32], ReleaseId(0), square)
        .expect("charged");
    let head = ledger.head();
    drop(ledger);
    let path = made.state.join("ledger.log");
    let whole = fs::read(&path).expect("readable");
    // Torn, as a crash leaves it.
    fs::write(&path, &whole[..whole.len() - 10]).expect("written");
    let view = state.view().ledger().expect("a ledger");
    assert!(view.torn() > 100 && view.head().length == 2);
    assert!(fs::read(&path).expect("readable").len() == whole.len() - 10);
    let mut ledger = state.ledger().expect("opened");
    ledger
        .charge([1; 32], ReleaseId(0), square)
        .expect("charged");
    assert_eq!(ledger.head().length, head.length);
    let view = state.view().ledger().expect("a ledger");
    assert_eq!((view.torn(), view.head()), (0, ledger.head()));
    drop(ledger);
    // Changed: unusable, to look at and to work on.
    let mut bytes = fs::read(&path).expect("readable");
    bytes[300] ^= 1;
    fs::write(&path, bytes).expect("written");
    for error in [
        state.view().ledger().map(drop).expect_err("changed"),
        state.ledger().map(drop).expect_err("changed"),
    ] {
        assert!(matches!(
            error,
            StoreError::Ledger(LedgerError::Line { .. })
        ));
        assert_eq!(error.exit_code(), 4);
    }
    fs::remove_file(&path).expect("removed");
    assert_eq!(state.ledger().expect_err("gone").exit_code(), 4);
}

#[test]
fn secrets_of_a_session_are_kept_once_and_erased() {
    let made = made();
    let state = StateDir::open(&made.state).expect("opened");
    let files = state.session([3; 32]).expect("made");
    let secrets = OneTimeSecrets {
        noise: Zeroizing::new([0x5a; 32]),
        exchange: Zeroizing::new([0xa5; 32]),
    };
    files.keep_secrets(&secrets).expect("kept");
    assert_eq!(mode(&files.path("own.key")), 0o600);
    assert_eq!(mode(files.view().path()), 0o700);
    assert!(files.keep_secrets(&secrets).is_err(), "never drawn twice");
    let again = state
        .session([3; 32])
        .expect("there")
        .secrets()
        .expect("kept");
    assert_eq!(
        (&*again.noise, &*again.exchange),
        (&[0x5a; 32], &[0xa5; 32])
    );
    assert!(!format!("{again:?}").contains("90"));
    // Another name shows what becomes of the blocks.
    let kept = made.folder.path().join("kept");
    fs::hard_link(files.path("own.key"), &kept).expect("a second name");
    assert!(matches!(files.erase_secrets(), Err(StoreError::Link(_))));
    fs::remove_file(&kept).expect("removed");
    let open = fs::File::open(files.path("own.key")).expect("opened");
    files.erase_secrets().expect("erased");
    assert_eq!(open.metadata().expect("open").len(), 0);
    assert!(!files.path("own.key").exists());
    files.erase_secrets().expect("nothing to do");
    assert!(files.secrets().is_err());
    // Torn.
    files.keep_secrets(&secrets).expect("kept");
    let bytes = fs::read(files.path("own.key")).expect("readable");
    fs::write(files.path("own.key"), &bytes[..bytes.len() - 1]).expect("written");
    assert!(matches!(files.secrets(), Err(StoreError::Key { .. })));
}

#[test]
fn sessions_are_listed_and_strange_names_are_left_alone() {
    let made = made();
    let state = StateDir::open(&made.state).expect("opened");
    for number in [9, 2] {
        let files = state.session([number; 32]).expect("made");
        let mut journal = files.journal().expect("made");
        let plan = Digest([number; 32]);
        journal.append(Record::Agreed { plan }).expect("appended");
        files.write("receipt.json", b"{}").expect("written");
    }
    fs::create_dir(made.state.join("sessions/lost+found")).expect("made");
    let found = state.view().sessions().expect("listed");
    let ids: Vec<u8> = found.iter().map(|session| session.id().0[0]).collect();
    assert_eq!(ids, [2, 9]);
    let records = found[0].records().expect("readable");
    assert_eq!(
        records,
        [Record::Agreed {
            plan: Digest([2; 32])
        }]
    );
    set_mode(found[0].path(), 0o750);
    assert!(matches!(
        state.session([2; 32]),
        Err(StoreError::Exposed { .. })
    ));
}
