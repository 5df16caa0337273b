use rand::Rng;

use super::*;
use crate::vocabulary::{Label, Seed};

const SESSION: Digest = Digest([5; 32]);

fn records() -> Vec<Record> {
    vec![
        Record::Joined {
            file: Digest([1; 32]),
            rows: Digest([2; 32]),
        },
        Record::Agreed {
            plan: Digest([3; 32]),
        },
        Record::Done {
            release: ReleaseId(0),
            digest: Digest([4; 32]),
        },
        Record::Done {
            release: ReleaseId(u32::MAX),
            digest: Digest([0; 32]),
        },
        Record::Listed {
            attempt: 2,
            members: 5 << 100,
            hash: Digest([8; 32]),
            joins: vec![[1; 300].into(), [2; 3].into()],
        },
        Record::Result {
            digest: Digest([7; 32]),
        },
        Record::End {
            outcome: SessionEnd::Excluded,
        },
    ]
}

/// The bytes of a journal, and where each record begins; last its end.
fn journal() -> (Vec<u8>, Vec<usize>) {
    let mut bytes = start(SESSION).to_vec();
    let mut starts = Vec::new();
    for (index, record) in records().iter().enumerate() {
        starts.push(bytes.len());
        bytes.extend(framed(&record.bytes(), index));
    }
    starts.push(bytes.len());
    (bytes, starts)
}

/// How many records are whole in the first `length` bytes.
fn whole(starts: &[usize], length: usize) -> usize {
    starts[1..].iter().filter(|&&end| end <= length).count()
}

#[test]
fn the_checksum_is_that_of_the_standard() {
    // The check value of the catalogue, and RFC 3720, B.4.
    assert_eq!(crc32c(&[b"12345", b"6789"]), 0xe306_9283);
    assert_eq!(crc32c(&[&[0; 32]]), 0x8a91_36aa);
    assert_eq!(crc32c(&[&[0xff; 32]]), 0x62a8_ab43);
}

#[test]
fn what_is_appended_is_there_after_opening_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("journal.bin");
    for (count, record) in records().into_iter().enumerate() {
        let mut journal = Journal::open(&path, SESSION).expect("opened");
        assert_eq!(journal.records(), &records()[..count]);
        assert_eq!(journal.torn(), 0);
        journal.append(record).expect("appended");
        assert_eq!(
            Journal::look(&path, SESSION).expect("readable"),
            records()[..=count]
        );
        // A second one, of this process too, is refused.
        assert!(matches!(
            Journal::open(&path, SESSION),
            Err(StoreError::InUse(_))
        ));
    }
    assert_eq!(std::fs::read(&path).expect("there"), journal().0);
    let other = Journal::open(&path, Digest([6; 32])).expect_err("of another session");
    assert!(matches!(
        other,
        StoreError::Journal(JournalError::Foreign { .. })
    ));
}

#[test]
fn a_journal_torn_at_every_byte_keeps_what_was_whole() {
    let (bytes, starts) = journal();
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("journal.bin");
    for length in 0..bytes.len() {
        // As the file ends there, and as the disk has zeros from there on.
        let mut zeroed = bytes[..length].to_vec();
        zeroed.resize(bytes.len() + 100, 0);
        for torn in [&bytes[..length], &zeroed] {
            let found = read(torn, SESSION)
                .unwrap_or_else(|problem| panic!("{length} of {}: {problem:?}", bytes.len()));
            // Bytes that are zeros anyway are not missed.
            let whole = whole(&starts, length);
            assert!(found.records.len() >= whole, "{length}");
            assert_eq!(found.records, records()[..found.records.len()]);
            assert_eq!(found.length + found.torn, torn.len() as u64);
        }
        drop(std::fs::remove_file(&path));
        drop(disk::create_secret(&path, &bytes[..length]).expect("written"));
        let mut journal = Journal::open(&path, SESSION).expect("opened");
        let kept = journal.records().len();
        assert_eq!(kept, whole(&starts, length));
        journal.append(records()[kept].clone()).expect("appended");
        drop(journal);
        assert_eq!(
            Journal::look(&path, SESSION).expect("readable"),
            records()[..=kept]
        );
    }
}

#[test]
fn a_flipped_bit_is_noticed_or_costs_the_last_record_alone() {
    let (bytes, starts) = journal();
    let last = starts[starts.len() - 2];
    let mut taken_for_torn = 0;
    for at in 0..bytes.len() {
        for bit in 0..8 {
            let mut changed = bytes.clone();
            changed[at] ^= 1 << bit;
            match read(&changed, SESSION) {
                Err(Problem::Foreign) => assert!(at < START),
                Err(Problem::Damaged { at: found }) => {
                    assert!(found <= at as u64 && at >= START);
                }
                Ok(found) => {
                    assert!(at >= last && found.records == records()[..records().len() - 1]);
                    taken_for_torn += 1;
                }
            }
        }
    }
    assert!(taken_for_torn < 8, "{taken_for_torn}");
}

/// Takes the disk away after some calls.
struct Failing {
    after: usize,
    syncs: bool,
}

impl disk::Medium for Failing {
    fn write(&mut self, _: &[u8]) -> std::io::Result<()> {
        self.call(false)
    }

    fn sync(&mut self) -> std::io::Result<()> {
        self.call(true)
    }
}

impl Failing {
    fn call(&mut self, syncs: bool) -> std::io::Result<()> {
        if self.syncs != syncs {
            return Ok(());
        }
        match self.after.checked_sub(1) {
            Some(left) => self.after = left,
            // Once only: afterwards the disk is well again, and is not asked.
            None => {
                self.after = usize::MAX;
                return Err(std::io::ErrorKind::StorageFull.into());
            }
        }
        Ok(())
    }
}

#[test]
fn a_failed_write_is_the_last() {
    for syncs in [false, true] {
        let mut journal = Journal {
            path: "journal.bin".into(),
            session: SESSION,
            file: Growing::new(Box::new(Failing { after: 2, syncs })),
            contents: Contents::default(),
        };
        let [joined, agreed, done, ..] = &records()[..] else {
            unreachable!("five records")
        };
        journal.append(joined.clone()).expect("appended");
        journal.append(agreed.clone()).expect("appended");
        let failed = journal.append(done.clone());
        assert!(matches!(failed, Err(JournalError::Write { .. })));
        for _ in 0..2 {
            let fenced = journal.append(done.clone());
            assert!(matches!(fenced, Err(JournalError::Fenced(_))));
        }
        assert_eq!(journal.records().len(), 2);
    }
}

/// Reads changed journals: no panic, and no record that was not there.
fn fuzz(inputs: u32) -> u32 {
    let (bytes, _) = journal();
    let mut rng = Seed::from_u64(6).key(Label::Identity, 0, 0).stream(0, 0);
    let mut whole = 0;
    for _ in 0..inputs {
        let mut changed = bytes.clone();
        for _ in 0..1 + rng.next_u32() % 3 {
            let at = rng.next_u32() as usize % changed.len();
            match rng.next_u32() % 4 {
                0 => changed[at] ^= 1 << (rng.next_u32() % 8),
                1 => changed.truncate(at.max(1)),
                2 => changed[at] = rng.next_u32() as u8,
                _ => changed.extend_from_within(at..),
            }
        }
        if let Ok(found) = read(&changed, SESSION) {
            assert!(records().starts_with(&found.records));
            whole += 1;
        }
    }
    whole
}

#[test]
fn changed_journals_are_refused_or_cut() {
    let whole = fuzz(100_000);
    assert!((10_000..90_000).contains(&whole), "{whole}");
}

#[test]
#[ignore = "ten million inputs; cargo test --lib -- --ignored store::journal"]
fn ten_million_changed_journals() {
    assert!(fuzz(10_000_000) > 0);
}
