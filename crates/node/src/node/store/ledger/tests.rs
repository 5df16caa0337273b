use std::io::ErrorKind;
use std::sync::{Arc, Mutex};

use rand::Rng;

use super::*;
use crate::node::store::disk::Medium;
use crate::node::store::ledger_error::LineError;
use crate::privacy::LifetimeBudget;
use crate::vocabulary::{Label, Seed};

const FIRST: [u8; 32] = [1; 32];
const SECOND: [u8; 32] = [2; 32];
const THIRD: [u8; 32] = [3; 32];

fn identity() -> Identity {
    Identity::from_secret([7; 32].into())
}

fn square(value: f64) -> Square {
    Square::new(value).expect("a square")
}

fn reservation(session: [u8; 32], value: f64) -> Reservation {
    Reservation {
        session: Digest(session),
        scope: "patients".parse().expect("a scope"),
        adjacency: Adjacency::User,
        mu_squared: square(value),
        plain: true,
    }
}

/// A lifetime of ε = 4 at δ = 1e-6: μ² = 0.57 or so.
fn budget() -> Budget {
    Budget::new(4.0, 1e-6).expect("a budget")
}

fn limit() -> f64 {
    LifetimeBudget::new(budget()).limit()
}

/// A disk in memory, which says in what order it was used and can fail.
#[derive(Clone, Default)]
struct Disk(Arc<Mutex<Inside>>);

#[derive(Default)]
struct Inside {
    bytes: Vec<u8>,
    calls: Vec<&'static str>,
    /// Counts down to the call that fails.
    fails_in: Option<usize>,
}

impl Disk {
    fn call(&self, name: &'static str) -> std::io::Result<std::sync::MutexGuard<'_, Inside>> {
        let mut inside = self.0.lock().expect("one thread");
        inside.calls.push(name);
        match inside.fails_in {
            Some(0) => {
                inside.fails_in = None;
                Err(ErrorKind::StorageFull.into())
            }
            Some(left) => {
                inside.fails_in = Some(left - 1);
                Ok(inside)
            }
            None => Ok(inside),
        }
    }

    fn bytes(&self) -> Vec<u8> {
        self.0.lock().expect("one thread").bytes.clone()
    }

    fn calls(&self) -> Vec<&'static str> {
        std::mem::take(&mut self.0.lock().expect("one thread").calls)
    }

    fn fail_in(&self, calls: usize) {
        self.0.lock().expect("one thread").fails_in = Some(calls);
    }
}

impl Medium for Disk {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        self.call("write")?.bytes.extend(bytes);
        Ok(())
    }

    fn sync(&mut self) -> std::io::Result<()> {
        self.call("sync").map(drop)
    }
}

/// A ledger on a disk in memory that holds `bytes`.
fn opened(bytes: &[u8]) -> Result<(Ledger, Disk), LedgerError> {
    let read = reading::read(bytes, &identity().id()).expect("memory can be read")?;
    let disk = Disk::default();
    disk.0.lock().expect("one thread").bytes = bytes[..read.length as usize].to_vec();
    let ledger = Ledger {
        identity: identity(),
        path: "ledger.log".into(),
        file: Growing::new(Box::new(disk.clone())),
        view: LedgerView { read },
    };
    Ok((ledger, disk))
}

fn new() -> (Ledger, Disk) {
    let first = Ledger::first_line(&identity(), &"Ulm".parse().expect("a name"));
    opened(first.as_bytes()).expect("a ledger")
}

/// A ledger with every kind of line.
fn full() -> Vec<u8> {
    let (mut ledger, disk) = new();
    let charge = |ledger: &mut Ledger, release| {
        ledger
            .charge(FIRST, ReleaseId(release), square(0.1))
            .expect("charged");
    };
    ledger
        .reserve(reservation(FIRST, 0.3), budget())
        .expect("reserved");
    charge(&mut ledger, 0);
    charge(&mut ledger, 1);
    ledger.finish(FIRST, SessionEnd::Done).expect("finished");
    ledger
        .reserve(reservation(SECOND, 0.01), budget())
        .expect("reserved");
    let known = Head {
        length: 9,
        hash: Digest([9; 32]),
    };
    let sessions = vec![reservation(THIRD, 0.25)];
    ledger.adopt(Repair { known, sessions }).expect("adopted");
    disk.bytes()
}

#[test]
fn what_was_charged_and_what_is_reserved_counts_and_the_rest_is_free_again() {
    let (mut ledger, _) = new();
    let scope = "patients".parse().expect("a scope");
    let held = |ledger: &Ledger| ledger.view().held(&scope, Adjacency::User).get();
    ledger
        .reserve(reservation(FIRST, 0.3), budget())
        .expect("reserved");
    assert_eq!(held(&ledger), 0.3);
    ledger
        .charge(FIRST, ReleaseId(0), square(0.125))
        .expect("charged");
    assert_eq!(held(&ledger), 0.3);
    ledger.finish(FIRST, SessionEnd::Aborted).expect("finished");
    assert_eq!(held(&ledger), 0.125);
    // Another unit of protection is charged what the session bounds of it, another scope nothing.
    let of = |adjacency| ledger.view().held(&scope, adjacency).get();
    assert_eq!(of(Adjacency::Interaction), 0.125);
    assert_eq!(of(Adjacency::ReplaceUser), 0.25);
    assert_eq!(of(Adjacency::Edge), 0.0);
    let other = "others".parse().expect("a scope");
    assert_eq!(ledger.view().held(&other, Adjacency::User).get(), 0.0);
    assert_eq!(ledger.view().scopes(), [(scope.clone(), Adjacency::User)]);
}

#[test]
fn two_reservations_cannot_spend_what_one_of_them_could() {
    let (mut ledger, disk) = new();
    let share = 0.6 * limit();
    ledger
        .reserve(reservation(FIRST, share), budget())
        .expect("reserved");
    let before = disk.bytes();
    let refused = ledger.reserve(reservation(SECOND, share), budget());
    let Err(LedgerError::Budget {
        left_squared,
        epsilon,
        ..
    }) = refused
    else {
        panic!("{refused:?}")
    };
    assert_eq!(epsilon, 4.0);
    assert!((left_squared / (0.4 * limit()) - 1.0).abs() < 1e-9);
    let message = refused.expect_err("refused").to_string();
    for part in ["\"patients\"", "user adjacency", "of 4 (delta = 1e-6)"] {
        assert!(message.contains(part), "{message}");
    }
    assert_eq!(disk.bytes(), before, "a refusal is no line");
    // What is said to fit fits, and nothing more.
    let more = left_squared * (1.0 + 1e-9);
    assert!(ledger.reserve(reservation(SECOND, more), budget()).is_err());
    ledger
        .reserve(reservation(SECOND, left_squared), budget())
        .expect("it fits");
    assert!(ledger.reserve(reservation(THIRD, 1e-9), budget()).is_err());
    // Free again is what the first did not charge.
    ledger
        .charge(FIRST, ReleaseId(0), square(share / 2.0))
        .expect("charged");
    ledger.abandon(FIRST).expect("left");
    ledger
        .reserve(reservation(THIRD, 0.49 * share), budget())
        .expect("it fits");
}

#[test]
fn a_session_spends_what_it_reserved_in_any_number_of_equal_parts_and_no_more() {
    for parts in [1_u32, 3, 7, 10, 49, 300] {
        let (mut ledger, _) = new();
        let whole = limit();
        ledger
            .reserve(reservation(FIRST, whole), budget())
            .expect("reserved");
        let part = square(whole / f64::from(parts));
        for release in 0..parts {
            let charged = ledger.charge(FIRST, ReleaseId(release), part);
            charged.unwrap_or_else(|error| panic!("{release} of {parts}: {error}"));
        }
        let more = ledger.charge(FIRST, ReleaseId(parts), square(whole * 1e-9));
        assert!(matches!(more, Err(LedgerError::Overcharged { .. })));
        // An independent sum: in units of the smallest number, which are whole numbers.
        let held = ledger
            .view()
            .held(&"patients".parse().expect("a scope"), Adjacency::User);
        let unit = part.0.get() * f64::from(parts);
        assert!(held.get() >= unit * (1.0 - 1e-15) && held.get() <= unit * (1.0 + 1e-13));
    }
}

#[test]
fn everything_can_be_repeated_and_is_recorded_once() {
    let (mut ledger, disk) = new();
    let twice = |ledger: &mut Ledger, call: &dyn Fn(&mut Ledger) -> Result<(), LedgerError>| {
        call(ledger).expect("recorded");
        let (bytes, head) = (disk.bytes(), ledger.head());
        call(ledger).expect("known");
        assert_eq!((disk.bytes(), ledger.head()), (bytes, head));
    };
    twice(&mut ledger, &|l| {
        l.reserve(reservation(FIRST, limit()), budget())
    });
    twice(&mut ledger, &|l| l.charge(FIRST, ReleaseId(4), square(0.2)));
    let other = ledger.reserve(reservation(FIRST, 0.1), budget());
    assert!(matches!(other, Err(LedgerError::Differs { .. })));
    let other = ledger.charge(FIRST, ReleaseId(4), square(0.1));
    assert!(matches!(other, Err(LedgerError::ChargeDiffers { .. })));
    twice(&mut ledger, &|l| l.finish(FIRST, SessionEnd::Done));
    // A finished session can be asked about its charges, and charges no more.
    twice(&mut ledger, &|l| l.charge(FIRST, ReleaseId(4), square(0.2)));
    let late = ledger.charge(FIRST, ReleaseId(5), square(0.01));
    assert!(matches!(late, Err(LedgerError::Ended { .. })));
    assert!(matches!(
        ledger.abandon(FIRST),
        Err(LedgerError::Ended { .. })
    ));
    let again = ledger.reserve(reservation(FIRST, 0.1), budget());
    assert!(matches!(again, Err(LedgerError::Ended { .. })));
    let unknown = ledger.charge(SECOND, ReleaseId(0), square(0.01));
    assert!(matches!(unknown, Err(LedgerError::NotReserved { .. })));
}

#[test]
fn a_reservation_that_nobody_ended_stays_after_a_restart() {
    let (mut ledger, disk) = new();
    ledger
        .reserve(reservation(FIRST, 0.9 * limit()), budget())
        .expect("reserved");
    ledger
        .charge(FIRST, ReleaseId(0), square(0.01))
        .expect("charged");
    let head = ledger.head();
    let (mut ledger, _) = opened(&disk.bytes()).expect("a ledger");
    assert_eq!(ledger.head(), head);
    assert!(
        ledger
            .reserve(reservation(SECOND, 0.2 * limit()), budget())
            .is_err()
    );
    ledger
        .charge(FIRST, ReleaseId(0), square(0.01))
        .expect("known");
    ledger
        .charge(FIRST, ReleaseId(1), square(0.01))
        .expect("charged");
    assert_eq!(
        ledger.view().session(FIRST).expect("there").charged.len(),
        2
    );
}

#[test]
fn nothing_returns_before_it_is_on_the_disk_and_a_failure_is_the_end() {
    let (mut ledger, disk) = new();
    ledger
        .reserve(reservation(FIRST, 0.3), budget())
        .expect("reserved");
    assert_eq!(disk.calls(), ["write", "sync"]);
    ledger
        .charge(FIRST, ReleaseId(0), square(0.1))
        .expect("charged");
    assert_eq!(disk.calls(), ["write", "sync"]);
    ledger
        .charge(FIRST, ReleaseId(0), square(0.1))
        .expect("known");
    assert_eq!(disk.calls(), [""; 0]);
    // The write fails, or the sync after it.
    for fails_in in [0, 1] {
        let (mut ledger, disk) = opened(&disk.bytes()).expect("a ledger");
        let head = ledger.head();
        disk.fail_in(fails_in);
        let failed = ledger.charge(FIRST, ReleaseId(1), square(0.1));
        assert!(matches!(failed, Err(LedgerError::Write(_))), "{failed:?}");
        assert_eq!(failed.expect_err("failed").exit_code(), 4);
        disk.calls();
        // The disk is well again, and is not asked.
        for _ in 0..2 {
            let fenced = ledger.charge(FIRST, ReleaseId(1), square(0.1));
            assert!(matches!(fenced, Err(LedgerError::Fenced)));
            let fenced = ledger.finish(FIRST, SessionEnd::Done);
            assert!(matches!(fenced, Err(LedgerError::Fenced)));
        }
        assert_eq!(disk.calls(), [""; 0]);
        assert_eq!(ledger.head(), head);
        // Whatever reached the disk, the ledger opens again and the release can be charged, once.
        let (mut ledger, _) = opened(&disk.bytes()).expect("a ledger");
        ledger
            .charge(FIRST, ReleaseId(1), square(0.1))
            .expect("charged");
        let account = ledger.view().session(FIRST).expect("there");
        assert_eq!(account.charged().get(), 0.2);
    }
}

#[test]
fn a_ledger_torn_at_every_byte_keeps_what_was_whole() {
    let bytes = full();
    let ends: Vec<usize> = (0..bytes.len()).filter(|&at| bytes[at] == b'\n').collect();
    assert_eq!(ends.len(), 7);
    for length in 0..bytes.len() {
        let mut zeroed = bytes[..length].to_vec();
        zeroed.resize(length + 300, 0);
        let whole = ends.iter().filter(|&&end| end < length).count();
        for torn in [&bytes[..length], &zeroed] {
            let read = reading::read(torn, &identity().id()).expect("memory can be read");
            if whole == 0 {
                assert!(
                    matches!(read, Err(LedgerError::Empty)),
                    "{length}: {read:?}"
                );
                continue;
            }
            let read = read.unwrap_or_else(|error| panic!("{length}: {error}"));
            assert_eq!(read.length as usize, ends[whole - 1] + 1, "{length}");
            assert_eq!((read.length + read.torn) as usize, torn.len());
        }
    }
    // And the next line follows.
    for length in [ends[1] + 1, ends[1] + 100, ends[2]] {
        let (mut ledger, disk) = opened(&bytes[..length]).expect("a ledger");
        assert_eq!(ledger.view().torn(), (length - ends[1] - 1) as u64);
        ledger
            .charge(FIRST, ReleaseId(0), square(0.1))
            .expect("charged");
        let (ledger, _) = opened(&disk.bytes()).expect("a ledger");
        assert_eq!(ledger.view().torn(), 0);
        assert_eq!(ledger.head().length, 3);
    }
}

#[test]
fn every_flipped_bit_is_noticed() {
    let bytes = full();
    // The first two lines and the last one with its end.
    let ends: Vec<usize> = (0..bytes.len()).filter(|&at| bytes[at] == b'\n').collect();
    let places = (0..=ends[1]).chain(ends[5] + 1..bytes.len());
    for at in places {
        for bit in 0..8 {
            let mut changed = bytes.clone();
            changed[at] ^= 1 << bit;
            let read = reading::read(&changed[..], &identity().id()).expect("memory can be read");
            let Err(LedgerError::Line { line, .. }) = read else {
                panic!("byte {at}, bit {bit}: {read:?}")
            };
            let wanted = 1 + ends.iter().filter(|&&end| end < at).count() as u64;
            // A new end of a line puts the damage in the same place.
            assert_eq!(line, wanted, "byte {at}, bit {bit}");
        }
    }
}

#[test]
fn lines_in_another_order_of_another_key_or_twice_are_refused() {
    let bytes = full();
    let text = String::from_utf8(bytes).expect("text");
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let refused = |lines: &[&str], problem: LineError| {
        let text = lines.concat();
        let read = reading::read(text.as_bytes(), &identity().id()).expect("memory can be read");
        match read {
            Err(LedgerError::Line { problem: found, .. }) => assert_eq!(found, problem),
            other => panic!("{other:?}"),
        }
    };
    refused(&[lines[0], lines[2]], LineError::Chain);
    refused(&[lines[0], lines[1], lines[1]], LineError::Chain);
    refused(&[lines[1]], LineError::Chain);
    refused(&[lines[0], lines[0]], LineError::Chain);
    refused(&[lines[0], "\n"], LineError::Form);
    refused(&[&"x".repeat(1 << 17)], LineError::TooLong);
    let other = Identity::from_secret([8; 32].into());
    let foreign = Ledger::first_line(&other, &MemberName::default());
    refused(&[&foreign], LineError::Signature);
    // Rightly signed, and wrong: what this program would never write.
    let (ledger, _) = opened(lines[..2].concat().as_bytes()).expect("a ledger");
    let next = |event: LedgerEvent| Entry {
        n: 2,
        prev: ledger.head().hash,
        time: now(),
        event,
    };
    let charged = |session: [u8; 32], value: f64| {
        let (release, mu_squared) = (ReleaseId(0), square(value));
        let session = Digest(session);
        next(LedgerEvent::Charged {
            session,
            release,
            retry: 0,
            mu_squared,
        })
    };
    let opened_again = next(LedgerEvent::Opened {
        id: identity().id(),
        name: MemberName::default(),
    });
    for impossible in [charged(FIRST, 0.31), charged(SECOND, 0.01), opened_again] {
        let line = impossible.line(&identity());
        refused(&[lines[0], lines[1], &line], LineError::Impossible);
    }
    let fine = charged(FIRST, 0.3).line(&identity());
    assert!(opened([lines[0], lines[1], &fine].concat().as_bytes()).is_ok());
    let jump = Entry {
        n: 3,
        ..charged(FIRST, 0.1)
    };
    let line = jump.line(&identity());
    refused(&[lines[0], lines[1], &line], LineError::Chain);
}

#[test]
fn a_restored_backup_is_brought_beyond_what_others_have_seen() {
    let (mut lost, disk) = new();
    lost.reserve(reservation(FIRST, 0.2), budget())
        .expect("reserved");
    let backup = disk.bytes();
    lost.charge(FIRST, ReleaseId(0), square(0.1))
        .expect("charged");
    lost.finish(FIRST, SessionEnd::Done).expect("finished");
    lost.reserve(reservation(SECOND, 0.25), budget())
        .expect("reserved");
    let known = lost.head();

    let (mut ledger, disk) = opened(&backup).expect("a ledger");
    let sessions = vec![reservation(SECOND, 0.25)];
    let repair = Repair { known, sessions };
    ledger.adopt(repair.clone()).expect("adopted");
    assert_eq!(ledger.head().length, known.length + 1);
    // Both sessions count in full: nobody knows what the first charged after the backup.
    let scope = "patients".parse().expect("a scope");
    assert_eq!(ledger.view().held(&scope, Adjacency::User).get(), 0.45);
    assert!(matches!(
        ledger.finish(FIRST, SessionEnd::Done),
        Err(LedgerError::Ended { .. })
    ));
    let (mut ledger, _) = opened(&disk.bytes()).expect("a ledger");
    assert_eq!(ledger.view().held(&scope, Adjacency::User).get(), 0.45);
    assert!(matches!(
        ledger.adopt(repair),
        Err(LedgerError::NotBehind { .. })
    ));
    let known = Head {
        length: 100,
        ..known
    };
    // Hardly a line could follow one of that number.
    let endless = Head {
        length: u64::MAX / 2 + 1,
        ..known
    };
    let sessions = Vec::new();
    let refused = ledger.adopt(Repair {
        known: endless,
        sessions,
    });
    assert!(matches!(refused, Err(LedgerError::NotBehind { .. })));
    let twice = vec![reservation(THIRD, 0.1), reservation(THIRD, 0.1)];
    for sessions in [vec![reservation(SECOND, 0.25)], twice] {
        let refused = ledger.adopt(Repair { known, sessions });
        assert!(matches!(refused, Err(LedgerError::NotMissing { .. })));
    }
    let many = vec![reservation(THIRD, 0.1); MOST_ADOPTED + 1];
    let refused = ledger.adopt(Repair {
        known,
        sessions: many,
    });
    assert!(matches!(refused, Err(LedgerError::TooMany)));
    // The most that can be taken up at once is a line that can be read.
    let many = (0..MOST_ADOPTED as u8).map(|number| {
        let mut one = reservation([number; 32], 1.0 / 3.0);
        one.session.0[0] = 0xee;
        one.scope = "ü".repeat(64).parse().expect("a scope");
        one
    });
    let (mut ledger, disk) = opened(&backup).expect("a ledger");
    let sessions = many.collect();
    ledger.adopt(Repair { known, sessions }).expect("adopted");
    assert!(opened(&disk.bytes()).is_ok());
}

/// Reads changed ledgers: no panic, and what is read was written.
fn fuzz(inputs: u32) -> u32 {
    let bytes = full();
    let good = reading::read(&bytes[..], &identity().id())
        .expect("memory can be read")
        .expect("a ledger");
    let mut rng = Seed::from_u64(8).key(Label::Identity, 0, 0).stream(0, 0);
    let mut read = 0;
    for _ in 0..inputs {
        let mut changed = bytes.clone();
        for _ in 0..1 + rng.next_u32() % 3 {
            let at = rng.next_u32() as usize % changed.len();
            match rng.next_u32() % 4 {
                0 => changed[at] ^= 1 << (rng.next_u32() % 8),
                1 => changed.truncate(at.max(1)),
                2 => drop(changed.remove(at)),
                _ => changed.extend_from_within(at..),
            }
        }
        let found = reading::read(&changed[..], &identity().id()).expect("memory can be read");
        if let Ok(found) = found {
            assert!(found.length <= good.length);
            assert_eq!(
                changed[..found.length as usize],
                bytes[..found.length as usize]
            );
            read += 1;
        }
    }
    read
}

#[test]
fn changed_ledgers_are_refused_or_cut() {
    // Fewer than elsewhere: every one costs several signatures. The lines by themselves come next.
    let read = fuzz(2_000);
    assert!((100..1_900).contains(&read), "{read}");
}

/// Reads changed lines, none of which may pass for one; the signature of every `signed`-th is verified, and of all what follows sees the bytes.
fn fuzz_lines(inputs: u32, signed: u32) -> u32 {
    let bytes = full();
    let lines: Vec<&[u8]> = bytes.split(|&byte| byte == b'\n').collect();
    let (ledger, _) = new();
    let owner = identity().id();
    let mut rng = Seed::from_u64(9).key(Label::Identity, 0, 0).stream(0, 0);
    let mut parsed = 0;
    for input in 0..inputs {
        let line = lines[rng.next_u32() as usize % 7];
        let mut changed = line.to_vec();
        for _ in 0..1 + rng.next_u32() % 3 {
            let at = rng.next_u32() as usize % changed.len();
            match rng.next_u32() % 3 {
                0 => changed[at] ^= 1 << (rng.next_u32() % 8),
                1 => changed.insert(at, rng.next_u32() as u8),
                _ => drop(changed.remove(at)),
            }
        }
        if changed == line {
            continue;
        }
        if input % signed == 0 {
            assert!(Entry::read(&changed, &owner).is_err());
        }
        let _ = entry::whole_line(&changed);
        if let Some((content, _)) = entry::split(&changed) {
            let content = [content, b"}"].concat();
            if let Ok(entry) = serde_json::from_slice::<Entry>(&content) {
                // As if it were signed: refused or taken, within what was reserved.
                let _ = ledger.view.read.accounts.check(&entry.event);
                parsed += 1;
            }
        }
    }
    parsed
}

#[test]
fn changed_lines_are_refused() {
    let parsed = fuzz_lines(100_000, 20);
    assert!(parsed > 1_000, "{parsed}");
}

#[test]
#[ignore = "ten million inputs; cargo test --lib -- --ignored store::ledger"]
fn ten_million_changed_lines() {
    assert!(fuzz_lines(10_000_000, 20) > 0);
    assert!(fuzz(100_000) > 0);
}

/// A try that is charged anew is another charge, once; lines of sessions in which nothing goes wrong say nothing of it, and all are read again.
#[test]
fn tries_are_charged_once_each() {
    let (mut ledger, disk) = new();
    let wanted = reservation(FIRST, 0.3);
    ledger.reserve(wanted, budget()).expect("reserved");
    let mut charge = |retry| ledger.charge_try(FIRST, (ReleaseId(4), retry), square(0.1));
    for retry in [0, 1, 1, 0, 2, 2] {
        charge(retry).expect("charged");
    }
    assert!(matches!(charge(3), Err(LedgerError::Overcharged { .. })));
    let account = ledger.view().session(FIRST).expect("there");
    let tries: Vec<u32> = account.charged.keys().map(|(_, retry)| *retry).collect();
    assert_eq!(tries, [0, 1, 2]);
    let text = String::from_utf8(disk.bytes()).expect("text");
    let said = |line: &&str| line.contains("\"retry\"");
    assert_eq!(text.lines().filter(said).count(), 2, "{text}");
    let (again, _) = opened(text.as_bytes()).expect("it is read again");
    assert_eq!(again.view().session(FIRST), ledger.view().session(FIRST));
}
