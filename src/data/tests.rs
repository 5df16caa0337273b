//! Hostile bytes, round trips, and real files.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::Write as _;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

use flate2::{Compression, write::GzEncoder};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;

use super::formats::SAMPLES;
use super::*;
use crate::vocabulary::Seed;

const TIGHT: Limits = Limits {
    bytes: 2000,
    line_bytes: 120,
    name_bytes: 12,
    users: 6,
    items: 7,
    ratings: 20,
};

pub(super) fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(text).expect("into memory");
    encoder.finish().expect("into memory")
}

/// Reads `bytes` in every format and checks what must hold for any bytes; returns the outcomes.
fn read_everywhere(bytes: &[u8]) -> Vec<Result<Loaded, DataError>> {
    let outcomes: Vec<_> = Format::all()
        .iter()
        .map(|&format| read(bytes, "bytes", format, 0.0, TIGHT))
        .collect();
    for outcome in &outcomes {
        match outcome {
            Ok(loaded) => check_within_limits(loaded),
            Err(error) => {
                let message = error.to_string();
                assert!(message.chars().count() < 400, "{message}");
                assert!(!message.contains(char::is_control), "{message:?}");
                if let DataError::Line { line, .. } = error {
                    assert!((1..=TIGHT.bytes + 1).contains(line));
                }
            }
        }
    }
    outcomes
}

fn check_within_limits(loaded: &Loaded) {
    let (data, counts) = (&loaded.interactions, &loaded.counts);
    assert!(data.users() <= TIGHT.users && data.items() <= TIGHT.items);
    assert!(counts.ratings <= TIGHT.ratings as u64);
    assert_eq!(
        data.len() as u64,
        counts.ratings - counts.at_or_below_threshold
    );
    let names = (0..data.users()).map(|u| data.user_name(u));
    for name in names.chain((0..data.items()).map(|i| data.item_name(i))) {
        assert!((1..=TIGHT.name_bytes).contains(&name.len()));
    }
    for row in data.rows() {
        assert!(row.windows(2).all(|pair| pair[0] < pair[1]));
        assert!(row.iter().all(|&item| (item as usize) < data.items()));
    }
}

/// A good sample with a few bytes replaced, cut out or repeated.
fn damaged_sample() -> impl Strategy<Value = Vec<u8>> {
    let edit = (any::<Index>(), any::<Index>(), 0..4_u8, byte());
    (0..SAMPLES.len(), vec(edit, 0..4)).prop_map(|(sample, edits)| {
        let mut bytes = SAMPLES[sample].1.as_bytes().to_vec();
        for (from, to, kind, byte) in edits {
            if bytes.is_empty() {
                break;
            }
            let (a, b) = (from.index(bytes.len()), to.index(bytes.len()));
            let range = a.min(b)..a.max(b);
            match kind {
                0 => bytes[a] = byte,
                1 => bytes.insert(a, byte),
                2 => drop(bytes.drain(range)),
                _ => {
                    let copy = bytes[range].to_vec();
                    bytes.extend(copy);
                }
            }
        }
        bytes
    })
}

/// Bytes that rating files are made of, and sometimes any byte.
fn byte() -> impl Strategy<Value = u8> {
    prop_oneof![
        8 => prop::sample::select(b"0123456789,:. \n\"-%enaif\r\t".to_vec()),
        1 => any::<u8>(),
    ]
}

/// Distinct (user, item) pairs in any order, at least one.
fn pairs() -> impl Strategy<Value = Vec<(u8, u8)>> {
    prop::collection::btree_set((0..9_u8, 0..12_u8), 1..40)
        .prop_map(|pairs| pairs.into_iter().collect::<Vec<_>>())
        .prop_shuffle()
}

/// What reading `pairs` in this order must give: names by first appearance, rows by definition.
fn expected(pairs: &[(u8, u8)], name: impl Fn(u8) -> String) -> Interactions {
    fn first_seen(ids: impl Iterator<Item = u8>) -> Vec<u8> {
        let mut seen = Vec::new();
        for id in ids {
            if !seen.contains(&id) {
                seen.push(id);
            }
        }
        seen
    }
    let users = first_seen(pairs.iter().map(|pair| pair.0));
    let items = first_seen(pairs.iter().map(|pair| pair.1));
    let rows = users.iter().map(|&user| {
        (0..items.len() as u32)
            .filter(|&item| pairs.contains(&(user, items[item as usize])))
            .collect::<Vec<_>>()
    });
    let named = |ids: &[u8]| ids.iter().map(|&id| name(id)).collect();
    Interactions::from_valid_rows(rows, named(&users), named(&items))
}

fn read_back(text: &str, format: Format) -> Interactions {
    let read = |bytes: &[u8]| {
        read(bytes, "written", format, 0.0, Limits::default())
            .unwrap_or_else(|error| panic!("{error} in {text}"))
    };
    let loaded = read(text.as_bytes());
    assert_eq!(loaded, read(&gzip(text.as_bytes())));
    loaded.interactions
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1024) })]

    #[test]
    fn any_bytes_are_read_or_refused_the_same_plain_and_gzipped(
        bytes in prop_oneof![vec(any::<u8>(), 0..300), vec(byte(), 0..2500)],
    ) {
        // Plain bytes that happen to be gzip or an archive are not what their gzip contains.
        prop_assume!(!bytes.starts_with(b"\x1f\x8b"));
        prop_assert_eq!(read_everywhere(&bytes), read_everywhere(&gzip(&bytes)));
    }

    #[test]
    fn damaged_files_are_read_or_refused_the_same_plain_and_gzipped(bytes in damaged_sample()) {
        prop_assert_eq!(read_everywhere(&bytes), read_everywhere(&gzip(&bytes)));
    }

    #[test]
    fn damaged_gzip_never_panics(
        text in damaged_sample(), at in any::<Index>(), byte in any::<u8>(), cut in any::<Index>(),
    ) {
        let mut packed = gzip(&text);
        let at = at.index(packed.len());
        packed[at] = byte;
        read_everywhere(&packed);
        packed.truncate(cut.index(packed.len()));
        read_everywhere(&packed);
    }

    #[test]
    fn interactions_written_as_csv_triples_read_back_equal(pairs in pairs()) {
        let name = |id| format!("n°\"{id}\", x");
        let mut writer = csv::Writer::from_writer(Vec::new());
        writer.write_record(["user", "item"]).expect("into memory");
        for &(user, item) in &pairs {
            writer.write_record([name(user), name(item)]).expect("into memory");
        }
        let text = String::from_utf8(writer.into_inner().expect("into memory")).expect("UTF-8");
        prop_assert_eq!(read_back(&text, Format::CsvTriples), expected(&pairs, name));
    }

    #[test]
    fn interactions_written_as_lightgcn_read_back_equal(mut pairs in pairs()) {
        pairs.sort_by_key(|pair| (pair.0 * 5) % 9);
        let mut text = String::new();
        for of_user in pairs.chunk_by(|a, b| a.0 == b.0) {
            write!(text, "{}", of_user[0].0).expect("into memory");
            for (_, item) in of_user {
                write!(text, " {item}").expect("into memory");
            }
            text.push('\n');
        }
        let read = read_back(&text, Format::Lightgcn);
        prop_assert_eq!(read, expected(&pairs, |id| id.to_string()));
    }

    #[test]
    fn interactions_written_as_matrix_market_read_back_equal(pairs in pairs()) {
        let mut text = format!(
            "%%MatrixMarket matrix coordinate pattern general\n9 12 {}\n",
            pairs.len()
        );
        for (user, item) in &pairs {
            writeln!(text, "{} {}", user + 1, item + 1).expect("into memory");
        }
        let read = read_back(&text, Format::MatrixMarket);
        prop_assert_eq!(read, expected(&pairs, |id| (id + 1).to_string()));
    }

    #[test]
    fn filters_keep_what_they_say_they_keep(pairs in pairs(), items in 0..14_usize, cap in 0..8_usize) {
        let data = expected(&pairs, |id| id.to_string());
        let (kept, counts) = ItemNames::most_rated(&data, items).restrict(&data);
        prop_assert_eq!(counts.interactions_kept, kept.len());
        prop_assert_eq!(kept.users(), data.users());
        let all = if items == 0 { data.items() } else { items.min(data.items()) };
        prop_assert_eq!(kept.items(), all);
        let names: BTreeSet<&str> = (0..kept.items()).map(|i| kept.item_name(i)).collect();
        let (mut least, mut most) = (u32::MAX, 0);
        for (item, degree) in data.item_degrees().into_iter().enumerate() {
            if names.contains(data.item_name(item)) {
                least = least.min(degree);
            } else {
                most = most.max(degree);
            }
        }
        prop_assert!(most <= least);
        for user in 0..data.users() {
            let before: Vec<&str> = data.row(user).iter().map(|&i| data.item_name(i as usize))
                .filter(|name| names.contains(name)).collect();
            let after: Vec<&str> =
                kept.row(user).iter().map(|&i| kept.item_name(i as usize)).collect();
            prop_assert_eq!(before, after);
        }
        let (capped, counts) = data.cap(cap, &Seed::from_u64(1));
        prop_assert_eq!(counts.interactions_kept, capped.len());
        for (before, after) in data.rows().zip(capped.rows()) {
            prop_assert_eq!(after.len(), before.len().min(cap));
            prop_assert!(after.iter().all(|item| before.binary_search(item).is_ok()));
        }
    }
}

#[test]
fn a_missing_file_and_a_directory_are_errors_that_name_the_path() {
    let missing = load(Path::new("no/such/file.csv"), Format::CsvTriples, 0.0);
    let error = missing.expect_err("missing").to_string();
    assert!(
        error.starts_with("cannot open no/such/file.csv: "),
        "{error}"
    );
    let directory = load(
        Path::new(env!("CARGO_MANIFEST_DIR")),
        Format::CsvTriples,
        0.0,
    );
    assert!(matches!(
        directory,
        Err(DataError::Read { .. } | DataError::Open { .. })
    ));
}

fn repository() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// A file beside the repository, if it is there.
fn shared(name: &str) -> Option<PathBuf> {
    let path = repository().join("../shared/data/ratings").join(name);
    if path.exists() {
        return Some(path);
    }
    crate::vocabulary::testing::skipped(format_args!(
        "{name} is not beside the repository, nothing was checked"
    ));
    None
}

fn shape(data: &Interactions) -> (usize, usize, usize) {
    (data.users(), data.items(), data.len())
}

fn check_movielens(path: &Path) {
    let loaded = load(path, Format::MovielensCsv, 0.0).unwrap_or_else(|error| panic!("{error}"));
    let data = &loaded.interactions;
    assert_eq!(shape(data), (610, 9724, 100_836));
    let counts = loaded.counts;
    assert_eq!((counts.lines, counts.ratings), (100_837, 100_836));
    assert_eq!(counts.at_or_below_threshold, 0);
    assert_eq!((data.user_name(0), data.user_name(609)), ("1", "610"));
    assert_eq!(
        [0, 1, 2, 3].map(|item| data.item_name(item)),
        ["1", "3", "6", "47"]
    );
    let above_three = load(path, Format::MovielensCsv, 3.0).expect("read before");
    assert_eq!(shape(&above_three.interactions), (610, 9724, 61_716));

    let (kept, filtered) = ItemNames::most_rated(data, 200).restrict(data);
    // Counted from the file with a few lines of Python: 9 users rated none of the 200.
    assert_eq!(shape(&kept), (610, 200, 25_764));
    assert_eq!(filtered.users_emptied, 9);
    // Movie 356 has the most ratings in the file, 329.
    let degrees = kept.item_degrees();
    let top = (0..200).max_by_key(|&item| degrees[item]).expect("items");
    assert_eq!((kept.item_name(top), degrees[top]), ("356", 329));
    let rows = kept.normalised_rows(NonZeroU32::new(20).expect("positive"));
    let peers = assign(610, 610, Partition::RoundRobin, &Seed::from_u64(7)).expect("a user each");
    assert_eq!(peer_rows(&rows, &peers).len(), 610);
}

#[test]
fn the_embedded_movielens_file_is_whole_and_has_its_licence_beside_it() {
    let folder = repository().join("sims/data/ml-latest-small");
    check_movielens(&folder.join("ratings.csv.gz"));
    let licence = std::fs::read_to_string(folder.join("README.txt")).expect("the licence");
    assert!(licence.contains("Usage License"));
}

#[test]
fn jester_has_the_published_counts() {
    let Some(path) = shared("jester-1-1.csv.gz") else {
        return;
    };
    let loaded = load(&path, Format::Jester, 0.0).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(shape(&loaded.interactions), (24_983, 100, 1_077_115));
    assert_eq!(loaded.counts.ratings, 1_810_455);
    assert_eq!(loaded.counts.at_or_below_threshold, 1_810_455 - 1_077_115);
    assert_eq!(loaded.counts.items_without_interactions, 0);
}

#[test]
fn gowalla_has_the_published_counts() {
    let Some(path) = shared("gowalla.train.txt.gz") else {
        return;
    };
    let loaded = load(&path, Format::Lightgcn, 0.0).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(shape(&loaded.interactions), (29_858, 40_981, 810_128));
    assert_eq!(loaded.counts.without_value, 810_128);
    let Some(path) = shared("gowalla.test.txt.gz") else {
        return;
    };
    // The test half names fewer items: indices of the two halves differ, names agree.
    let loaded = load(&path, Format::Lightgcn, 0.0).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(shape(&loaded.interactions), (29_858, 38_546, 217_242));
}

/// What the readers made of these files before they refused anything that is ambiguous.
#[test]
fn real_files_are_read_as_they_always_were() {
    let mut wrong = Vec::new();
    for (name, format, digest) in [
        (
            "jester-1-1.csv.gz",
            Format::Jester,
            "8b7be5273a641531dd92a218146cd2b2",
        ),
        (
            "gowalla.train.txt.gz",
            Format::Lightgcn,
            "7b4fbd3bc1afdb51cf09288a4195ebae",
        ),
        (
            "gowalla.test.txt.gz",
            Format::Lightgcn,
            "a996304e3076df3bb670750c6e2d155f",
        ),
        (
            "ml-latest-small.ratings.csv.gz",
            Format::MovielensCsv,
            "ac23a47c46c924578e1aeebf9feb1146",
        ),
    ] {
        let Some(path) = shared(name) else { continue };
        let loaded = load(&path, format, 0.0).unwrap_or_else(|error| panic!("{error}"));
        let mut hasher = blake3::Hasher::new();
        let data = &loaded.interactions;
        let mut add = |text: String| {
            hasher.update(text.as_bytes());
        };
        // Without a list of users nobody is left out or added; digests are older than these counts.
        let counts = format!("{:?}", loaded.counts);
        let added = ", users_unlisted: 0, users_unknown: 0";
        assert!(counts.contains(added), "{counts}");
        add(format!(
            "{} {:?} {:?}",
            counts.replace(added, ""),
            data.user_names(),
            data.item_names()
        ));
        data.rows().for_each(|row| add(format!("{row:?}")));
        if hasher.finalize().to_hex()[..32] != *digest {
            wrong.push(format!("{name}: {}", hasher.finalize().to_hex()));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
