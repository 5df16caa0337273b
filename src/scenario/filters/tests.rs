//! Neighbouring files through every combination of steps: the peers' rows are neighbours, or the combination is refused.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use nalgebra::DMatrix;
use rand::{Rng, RngExt};

use super::mutations::{old_cap, old_hold_out};
use super::*;
use crate::algorithm::PublicState;
use crate::algorithm::contribution;
use crate::config::PeerCount;
use crate::data::{Format, Limits};
use crate::privacy::adjacency::{MatrixChange, Neighbouring, UnitSpectral};
use crate::privacy::{Adjacency, PrivacyError};
use crate::scenario::Experiment;
use crate::scenario::error::PrivacyTableError;
use crate::scenario::testing::sim;
use crate::vocabulary::Label;

const USERS: usize = 5;
const ITEMS: u32 = 9;
const PEERS: usize = 3;
/// Pairs per adjacency; each goes through every combination.
const PAIRS: usize = 500;

/// The rating lines of every user: what a file says, apart from the public lists.
type Lines = Vec<BTreeMap<u32, f64>>;

fn random_lines(rng: &mut impl Rng) -> BTreeMap<u32, f64> {
    let density = rng.random_range(0.0..1.0);
    let some = (0..ITEMS)
        .filter(|_| rng.random_bool(density))
        .collect::<Vec<_>>();
    some.into_iter().map(|item| (item, value(rng))).collect()
}

fn value(rng: &mut impl Rng) -> f64 {
    f64::from(rng.random_range(1..=5_u32))
}

/// One record of one user more, less or other, as `privacy::adjacency` says it for files.
fn neighbour(adjacency: Adjacency, lines: &Lines, rng: &mut impl Rng) -> Lines {
    let mut other = lines.clone();
    let row = &mut other[rng.random_range(0..USERS)];
    let item = rng.random_range(0..ITEMS);
    let present: Vec<u32> = row.keys().copied().collect();
    let exchanged = adjacency == Adjacency::Swap && !row.is_empty() && rng.random_bool(0.75);
    match adjacency {
        Adjacency::User if row.is_empty() => *row = random_lines(rng),
        Adjacency::User => row.clear(),
        Adjacency::ReplaceUser => *row = random_lines(rng),
        // One line about another item in the place of one.
        _ if exchanged && !row.contains_key(&item) => {
            row.remove(&present[rng.random_range(0..present.len())]);
            row.insert(item, value(rng));
        }
        _ if row.contains_key(&item) && rng.random_bool(0.5) => drop(row.remove(&item)),
        // A new line, or another value.
        _ => drop(row.insert(item, value(rng))),
    }
    other
}

/// The file. A first user without interactions names all items and every user has a line below every threshold: the
/// lists of users and items are public, and the same in all files.
fn text(lines: &Lines) -> String {
    let mut text = String::from("user,item,rating\n");
    for item in 0..ITEMS {
        let _ = writeln!(text, "public,i{item},-1");
    }
    for user in 0..lines.len() {
        let _ = writeln!(text, "u{user},public,-1");
    }
    for (user, row) in lines.iter().enumerate() {
        for (item, value) in row {
            let _ = writeln!(text, "u{user},i{item},{value}");
        }
    }
    text
}

fn read(lines: &Lines, threshold: f64) -> Interactions {
    let text = text(lines);
    data::read(
        text.as_bytes(),
        "memory",
        Format::CsvTriples,
        threshold,
        Limits::default(),
    )
    .expect("good")
    .interactions
}

/// A folder with files for every combination to be resolved on.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut rng = Seed::from_u64(70).generator(Label::Scenario);
    let lines: Lines = (0..USERS)
        .map(|_| {
            (0..ITEMS)
                .map(|item| (item, 1.0 + f64::from(item % 5)))
                .collect()
        })
        .collect();
    let write = |name: &str, text: &str| {
        std::fs::write(folder.path().join(name), text).expect("writable");
    };
    write("ratings.csv", &text(&lines));
    write(
        "test.csv",
        &text(&vec![
            random_lines(&mut rng),
            (0..ITEMS).map(|i| (i, 5.0)).collect(),
        ]),
    );
    write("items.txt", "i7\ni2\nunheard\ni0\ni3\ni5\ni4\n");
    folder
}

/// Every combination of steps under one adjacency.
fn combinations(adjacency: Adjacency) -> Vec<Config> {
    let mut all = Vec::new();
    for threshold in ["data.threshold=0", "data.threshold=2.5"] {
        for items in ["data.items=0", "data.items=6", "data.items_file=items.txt"] {
            for cap in ["data.degree_floor=1", "data.degree_cap=2"] {
                for held in [
                    "seed=5",
                    "evaluation.holdout=0.3",
                    "evaluation.test=test.csv",
                ] {
                    for partition in ["round-robin", "contiguous", "random"] {
                        let partition = format!("peers.partition={partition}");
                        let mut config = base();
                        for set in [threshold, items, cap, held, &partition] {
                            apply_set(&mut config, set);
                        }
                        config.privacy.adjacency = adjacency;
                        all.push(config);
                    }
                }
            }
        }
    }
    all
}

fn base() -> Config {
    Config::read(&format!(
        r#"
        name = "neighbours"
        seed = 3
        data = {{ path = "ratings.csv", format = "csv-triples" }}
        peers = {{ count = {PEERS} }}
        topology = {{ generator = "complete" }}
        algorithm = {{ kind = "power", rank = 2, iterations = 2 }}
        privacy = {{ epsilon = 2.0, delta = 1e-5, adjacency = "interaction", colluders = 0 }}
        "#
    ))
    .expect("valid")
}

fn apply_set(config: &mut Config, set: &str) {
    let table = toml::Table::try_from(&*config).expect("a table");
    *config = crate::config::apply(table, &[set.to_owned()]).expect("valid");
}

/// Whether a combination is refused, by trying to resolve it.
fn refused(config: &Config, materials: &Materials) -> bool {
    match Experiment::resolve_from(config.clone(), materials) {
        Ok(_) => false,
        Err(
            ExperimentError::Privacy(PrivacyTableError::Privacy(PrivacyError::CapNotProved {
                ..
            }))
            | ExperimentError::Evaluation(EvaluationError::HoldoutOfMatrix { .. }),
        ) => true,
        Err(error) => panic!("{error}"),
    }
}

/// Where the item list of the other world comes from.
#[derive(Clone, Copy, PartialEq)]
enum List {
    /// It is the same list: public.
    Public,
    /// It is drawn again.
    Redrawn,
}

/// What a search found.
#[derive(Debug, Default)]
struct Found {
    refused: usize,
    tried: usize,
    /// Pairs whose peers' rows differ at all.
    moved: usize,
    /// Pairs whose peers' rows are further apart than one record.
    broken: usize,
}

/// Sends every pair through every combination, until more than `enough` pairs are further apart than one record.
fn search(
    adjacency: Adjacency,
    (choices, list): (Choices, List),
    enough: usize,
    folder: &Path,
) -> Found {
    let mut found = Found::default();
    let materials = Materials::new(folder);
    let mut rng = Seed::from_u64(71).generator(Label::Scenario);
    let distance = adjacency.rows().expect("on rows");
    let test = data::load(&folder.join("test.csv"), Format::CsvTriples, 0.0).expect("good");
    let pairs: Vec<[Lines; 2]> = (0..PAIRS)
        .map(|_| {
            let lines: Lines = (0..USERS).map(|_| random_lines(&mut rng)).collect();
            let other = neighbour(adjacency, &lines, &mut rng);
            [lines, other]
        })
        .collect();
    // Of all settings only the threshold changes what is read: each file is read once for each.
    let mut worlds: BTreeMap<u64, Vec<[Interactions; 2]>> = BTreeMap::new();
    for config in combinations(adjacency) {
        if found.broken > enough {
            break;
        }
        if refused(&config, &materials) {
            found.refused += 1;
            continue;
        }
        let seed = Seed::from_u64(config.seed);
        let threshold = config.data.threshold();
        let worlds = worlds.entry(threshold.to_bits()).or_insert_with(|| {
            let both = |pair: &[Lines; 2]| pair.each_ref().map(|lines| read(lines, threshold));
            pairs.iter().map(both).collect()
        });
        let file = config.data.items_file();
        let listed = file.map(|file| ItemNames::load(&folder.join(file)).expect("good"));
        for [a, b] in worlds.iter() {
            let drawn = |data: &Interactions| match &listed {
                Some(list) => list.clone(),
                None => ItemNames::most_rated(data, config.data.items()),
            };
            let public = drawn(a);
            let other = if list == List::Redrawn {
                drawn(b)
            } else {
                public.clone()
            };
            let test = config
                .evaluation
                .test
                .is_some()
                .then_some(&test.interactions);
            let filtered = |data: &Interactions, list: &ItemNames| {
                apply(&config, list, test, data, &seed, choices)
                    .expect("valid")
                    .interactions
            };
            let (a, b) = (filtered(a, &public), filtered(b, &other));
            found.tried += 1;
            found.moved += usize::from(a != b);
            let near = distance.distance(&a, &b).is_some_and(|d| d <= 1.0);
            found.broken += usize::from(!near || !one_peer(&config, &a, &b));
        }
    }
    found
}

/// Whether at most one peer holds other rows in the two worlds, and every peer the rows of its users.
fn one_peer(config: &Config, a: &Interactions, b: &Interactions) -> bool {
    let floor = config.data.floor();
    let users = assignment(config, a, (PEERS, None)).expect("enough users");
    let dealt = |data: &Interactions| {
        let rows = dealt(config, &data.normalised_rows(floor), data, (PEERS, None));
        let rows = rows.expect("enough users");
        for (peer, users) in users.iter().enumerate() {
            for (place, &user) in users.iter().enumerate() {
                assert_eq!(rows[peer].row(place).0, data.row(user as usize));
            }
        }
        rows
    };
    let (a, b) = (dealt(a), dealt(b));
    a.iter().zip(b.iter()).filter(|(a, b)| a != b).count() <= 1
}

const ON_ROWS: [Adjacency; 4] = [
    Adjacency::Interaction,
    Adjacency::User,
    Adjacency::Swap,
    Adjacency::ReplaceUser,
];

#[test]
fn neighbouring_files_leave_peers_with_neighbouring_rows_or_are_refused() {
    let folder = folder();
    for adjacency in ON_ROWS {
        let healthy = (Choices::default(), List::Public);
        let found = search(adjacency, healthy, PAIRS * 108, folder.path());
        eprintln!("{adjacency}: {found:?}");
        assert_eq!(found.broken, 0, "{adjacency}: {found:?}");
        // 108 combinations; the cap is refused where one interaction is the record.
        let refused = if adjacency == Adjacency::Interaction {
            54
        } else {
            0
        };
        assert_eq!(found.refused, refused, "{adjacency}");
        assert_eq!(found.tried, (108 - refused) * PAIRS);
        // Not vacuous: most pairs do differ where the peers are.
        assert!(4 * found.moved > found.tried, "{adjacency}: {found:?}");
    }
}

#[test]
fn a_hold_out_that_looks_at_the_length_of_a_row_is_noticed() {
    let folder = folder();
    for adjacency in [Adjacency::Interaction, Adjacency::Swap] {
        let mutated = (old_hold_out(), List::Public);
        let found = search(adjacency, mutated, 300, folder.path());
        eprintln!("{adjacency}: {found:?}");
        assert!(found.broken > 300, "{adjacency}: {found:?}");
    }
    // Where a whole row is the record it never mattered.
    let mutated = (old_hold_out(), List::Public);
    let found = search(Adjacency::User, mutated, 0, folder.path());
    assert_eq!(found.broken, 0);
}

#[test]
fn a_cap_that_looks_at_positions_in_a_row_is_noticed() {
    let folder = folder();
    let mutated = (old_cap(), List::Public);
    let found = search(Adjacency::Swap, mutated, 150, folder.path());
    eprintln!("{found:?}");
    assert!(found.broken > 150, "{found:?}");
}

/// Why receipts state that a list drawn from the data is assumed public: drawn anew it changes other users' rows.
#[test]
fn a_list_drawn_again_is_no_neighbour_preserving_step() {
    let folder = folder();
    for adjacency in ON_ROWS {
        let redrawn = (Choices::default(), List::Redrawn);
        let found = search(adjacency, redrawn, 100, folder.path());
        eprintln!("{adjacency}: {found:?}");
        assert!(found.broken > 100, "{adjacency}: {found:?}");
    }
}

#[test]
fn under_matrix_adjacencies_choosing_interactions_is_refused_and_a_list_brings_no_change_further() {
    let folder = folder();
    let materials = Materials::new(folder.path());
    for adjacency in [Adjacency::Matrix, Adjacency::UnitSpectral] {
        for config in combinations(adjacency) {
            let chooses = config.evaluation.holdout.is_some() || config.data.degree_cap().is_some();
            assert_eq!(
                refused(&config, &materials),
                chooses,
                "{:?}",
                config.evaluation
            );
        }
    }
    fn kept<A: Neighbouring<Data = DMatrix<f64>>>(rng: &mut impl Rng) {
        for _ in 0..PAIRS {
            let a = DMatrix::from_fn(6, 6, |_, _| rng.random_range(-1.0..1.0));
            let b = A::random_adjacent(&a, rng).expect("has neighbours");
            let list: Vec<usize> = (0..6).filter(|_| rng.random_bool(0.6)).collect();
            let part = |m: &DMatrix<f64>| m.select_rows(&list).select_columns(&list);
            if !list.is_empty() {
                let distance = A::distance(&part(&a), &part(&b)).expect("comparable");
                assert!(distance <= 1.0 + 1e-9, "{}: {distance}", A::ADJACENCY);
            }
        }
    }
    let mut rng = Seed::from_u64(72).generator(Label::Scenario);
    kept::<MatrixChange>(&mut rng);
    kept::<UnitSpectral>(&mut rng);
}

/// Of `tries` files with one rating more or less than the sim's, how many move what a peer contributes at X⁰ further than
/// Δ, and the furthest, in units of Δ.
fn exceeding(set: &[&str], choices: Choices, tries: usize) -> (usize, f64) {
    let experiment = sim("recommender-movielens.toml", set).expect("valid");
    let config = &experiment.config;
    assert_eq!(config.peers.count, PeerCount::Users);
    let seed = Seed::from_u64(config.seed);
    let session = experiment.session(&seed);
    let start = session.start();
    let sensitivity = experiment.sensitivity;
    let delta = sensitivity.bound(sensitivity.statistic().of(start));
    let begun = PublicState::new(Arc::clone(start));
    let floor = config.data.floor();
    let raw = &experiment.loaded.interactions;
    let list = ItemNames::of(&experiment.interactions);
    let kept = |data: &Interactions| {
        apply(config, &list, None, data, &seed, choices)
            .expect("valid")
            .interactions
    };
    let contributed = |data: &Interactions, user: usize| {
        let row = data.alone(user, data.row(user)).expect("a row of the data");
        let shape = experiment.widest_shape();
        let rows = row.normalised_rows(floor);
        contribution(experiment.algorithm(), &rows, begun.history(), shape)
    };
    let before = kept(raw);
    let listed: Vec<u32> = (0..raw.items() as u32)
        .filter(|&item| {
            list.as_slice()
                .iter()
                .any(|name| name == raw.item_name(item as usize))
        })
        .collect();
    let mut rng = Seed::from_u64(73).generator(Label::Scenario);
    let (mut count, mut worst) = (0, 0.0_f64);
    for _ in 0..tries {
        let user = rng.random_range(0..raw.users());
        let item = listed[rng.random_range(0..listed.len())];
        let mut row = raw.row(user).to_vec();
        match row.binary_search(&item) {
            Ok(place) => drop(row.remove(place)),
            Err(place) => row.insert(place, item),
        }
        let after = kept(&raw.with_row(user, &row).expect("valid"));
        let mut change = contributed(&after, user);
        change.add_scaled(-1.0, &contributed(&before, user));
        let ratio = change.norm() / delta;
        count += usize::from(ratio > 1.0 + 1e-9);
        worst = worst.max(ratio);
    }
    (count, worst)
}

/// 100 files with one of the listed films more or less, at random. The audit's tests choose rows against the filters.
#[test]
fn no_rating_of_the_recommender_sim_moves_a_peer_further_than_its_sensitivity() {
    let (count, worst) = exceeding(&[], Choices::default(), 100);
    eprintln!("{count} of 100 exceed, at most {worst:.3} times the sensitivity");
    assert_eq!(count, 0, "{worst}");
    assert!(worst > 0.2, "the neighbours do differ: {worst}");
}
