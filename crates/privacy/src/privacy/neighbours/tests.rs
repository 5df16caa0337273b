//! Every adjacency is symmetric, zero on equal data, and draws real neighbours.

use nalgebra::DMatrix;
use rand::RngExt;

use super::item_sets::{random_set, with_row};
use super::*;
use crate::privacy::adjacency::{Edge, Entry, EntryBipartite, MatrixChange, Rating, UnitSpectral};
use crate::vocabulary::{Label, Seed};

fn rows(items: usize, rows: &[&[u32]]) -> Interactions {
    let rows: Vec<Vec<u32>> = rows.iter().map(|row| row.to_vec()).collect();
    Interactions::from_rows(items, &rows).expect("valid rows")
}

fn random_rows(users: usize, items: usize, rng: &mut impl Rng) -> Interactions {
    let empty = rows(items, &vec![&[][..]; users]);
    (0..users).fold(empty, |data, user| {
        with_row(&data, user, random_set(items, rng))
    })
}

fn random_matrix(n: usize, rng: &mut impl Rng) -> DMatrix<f64> {
    DMatrix::from_fn(n, n, |_, _| rng.random_range(-2.0..2.0))
}

/// The matrix of a random graph.
fn random_graph(n: usize, rng: &mut impl Rng) -> DMatrix<f64> {
    let upper = DMatrix::from_fn(n, n, |s, t| {
        f64::from(u8::from(s < t && rng.random_bool(0.5)))
    });
    &upper + upper.transpose()
}

/// Distances along a random walk of three neighbours: each step is 1, zero on itself, symmetric, triangle.
fn behaves<A: Neighbouring>(start: A::Data, rng: &mut impl Rng) {
    let close = |found: Option<f64>, expected: f64| {
        let found = found.expect("comparable");
        assert!(
            (found - expected).abs() < 1e-9,
            "{}: {found} {expected}",
            A::ADJACENCY
        );
    };
    let mut walk = vec![start];
    for _ in 0..3 {
        let last = walk.last().expect("starts with one");
        let next = A::random_adjacent(last, rng).expect("has neighbours");
        close(A::distance(last, &next), 1.0);
        walk.push(next);
    }
    for a in &walk {
        close(A::distance(a, a), 0.0);
        for b in &walk {
            let distance = A::distance(a, b).expect("reachable");
            close(A::distance(b, a), distance);
            for c in &walk {
                let through = A::distance(a, c).expect("reachable") + A::distance(c, b).expect("");
                assert!(distance <= through + 1e-9, "{}", A::ADJACENCY);
            }
        }
    }
}

#[test]
fn distances_are_metrics_and_random_neighbours_are_one_record_away() {
    let mut rng = Seed::from_u64(31).generator(Label::Scenario);
    for _ in 0..100 {
        let (users, items) = (rng.random_range(1..5), rng.random_range(2..9));
        let data = random_rows(users, items, &mut rng);
        behaves::<Interaction>(data.clone(), &mut rng);
        behaves::<User>(data.clone(), &mut rng);
        behaves::<ReplaceUser>(data.clone(), &mut rng);
        behaves::<Swap>(data, &mut rng);
        let matrix = random_matrix(items, &mut rng);
        behaves::<MatrixChange>(matrix.clone(), &mut rng);
        behaves::<UnitSpectral>(matrix.clone(), &mut rng);
        behaves::<EntryBipartite>(matrix.clone(), &mut rng);
        behaves::<Entry>(matrix, &mut rng);
        behaves::<Edge>(random_graph(items, &mut rng), &mut rng);
        let ratings = DMatrix::from_fn(users, items, |_, _| rng.random_range(0.0..1.0));
        behaves::<Rating>(ratings, &mut rng);
    }
}

#[test]
fn distances_of_known_pairs() {
    let a = rows(5, &[&[0, 1, 2], &[], &[4]]);
    let b = rows(5, &[&[0, 1, 3], &[2], &[]]);
    assert_eq!(Interaction::distance(&a, &b), Some(4.0));
    assert_eq!(User::distance(&a, &b), Some(4.0));
    assert_eq!(ReplaceUser::distance(&a, &b), Some(3.0));
    // One exchange, one gained, one lost.
    assert_eq!(Swap::distance(&a, &b), Some(3.0));
    let c = rows(5, &[&[1, 3, 4], &[], &[0]]);
    assert_eq!(Swap::distance(&a, &c), Some(3.0));
    // One entry of A anywhere is one record; a symmetric pair of ones is √2 of them (`symmetric-pair` in `errata.md`).
    let zero = DMatrix::zeros(2, 2);
    let entry = DMatrix::from_row_slice(2, 2, &[0.0, 1.0, 0.0, 0.0]);
    let pair = DMatrix::from_row_slice(2, 2, &[0.0, 1.0, 1.0, 0.0]);
    assert_eq!(MatrixChange::distance(&zero, &entry), Some(1.0));
    let distance = MatrixChange::distance(&zero, &pair).expect("comparable");
    assert!((distance - 2.0_f64.sqrt()).abs() < 1e-15);
    assert_eq!(Entry::distance(&zero, &pair), Some(2.0));
    assert_eq!(Edge::distance(&zero, &pair), Some(1.0));
    assert_eq!(Edge::distance(&zero, &entry), None, "of no graph");
    assert_eq!(Edge::distance(&zero, &DMatrix::identity(2, 2)), None);
    let spectral = UnitSpectral::distance(&zero, &pair).expect("comparable");
    assert!((spectral - 1.0).abs() < 1e-15);
}

#[test]
fn other_shapes_and_numbers_are_not_comparable() {
    let a = rows(3, &[&[0]]);
    for b in [rows(4, &[&[0]]), rows(3, &[&[0], &[]])] {
        for adjacency in Adjacency::ALL.iter().filter_map(|a| a.rows()) {
            assert_eq!(adjacency.distance(&a, &b), None);
        }
    }
    let matrix = DMatrix::zeros(2, 2);
    for b in [DMatrix::zeros(2, 3), DMatrix::from_element(2, 2, f64::NAN)] {
        assert_eq!(MatrixChange::distance(&matrix, &b), None);
        assert_eq!(UnitSpectral::distance(&matrix, &b), None);
        assert_eq!(Entry::distance(&matrix, &b), None);
        assert_eq!(Edge::distance(&matrix, &b), None);
    }
}

#[test]
fn data_without_neighbours_says_so() {
    let mut rng = Seed::from_u64(32).generator(Label::Scenario);
    for empty in [rows(0, &[&[]]), rows(3, &[])] {
        for adjacency in Adjacency::ALL.iter().filter_map(|a| a.rows()) {
            assert!(adjacency.random_adjacent(&empty, &mut rng).is_none());
        }
    }
    // Numbers so large that a change of norm 1 is rounded away.
    let huge = DMatrix::from_element(2, 2, 1e30);
    assert!(MatrixChange::random_adjacent(&huge, &mut rng).is_none());
    assert!(UnitSpectral::random_adjacent(&huge, &mut rng).is_none());
    assert!(Entry::random_adjacent(&huge, &mut rng).is_none());
    assert!(UnitSpectral::random_adjacent(&DMatrix::zeros(0, 0), &mut rng).is_none());
    assert!(Rating::random_adjacent(&DMatrix::from_element(2, 2, 1.5), &mut rng).is_none());
    assert!(Rating::random_adjacent(&DMatrix::zeros(0, 3), &mut rng).is_none());
    for without in [DMatrix::zeros(1, 1), huge, DMatrix::identity(3, 3)] {
        assert!(Edge::random_adjacent(&without, &mut rng).is_none());
    }
}

#[test]
fn every_neighbour_of_a_small_dataset_is_drawn() {
    // One user, three items: 3 flips, 7 other sets, 2 exchanges and 3 flips, 1 way to vanish. 400 draws miss one of
    // probability at least 1/12 with probability below 13·(11/12)^400 < 1e-13.
    let mut rng = Seed::from_u64(33).generator(Label::Scenario);
    let data = rows(3, &[&[1]]);
    for (adjacency, expected) in [
        (Adjacency::Interaction, 3),
        (Adjacency::ReplaceUser, 7),
        (Adjacency::Swap, 5),
        (Adjacency::User, 1),
    ] {
        let runs = adjacency.rows().expect("on rows");
        let mut seen: Vec<Vec<u32>> = (0..400)
            .map(|_| {
                let b = runs
                    .random_adjacent(&data, &mut rng)
                    .expect("has neighbours");
                b.row(0).to_vec()
            })
            .collect();
        seen.sort();
        seen.dedup();
        assert_eq!(seen.len(), expected, "{adjacency}");
    }
}

#[test]
fn names_in_files_are_the_documented_ones() {
    for adjacency in Adjacency::ALL {
        let text = format!("\"{adjacency}\"");
        assert_eq!(serde_json::to_string(&adjacency).expect("serialises"), text);
        let back: Adjacency = serde_json::from_str(&text).expect("parses");
        assert_eq!(back, adjacency);
    }
}
