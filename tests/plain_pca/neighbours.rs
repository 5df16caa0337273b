//! Neighbours as files: what one row more, less or another changes in what is released, and attacks on the bounds.

use std::sync::Arc;

use rand::{Rng, RngExt};

use undertone::algorithm::{
    Algorithm, Centred, IsometricCovariance, PowerMethod, Prelude, PublicState, contribution,
};
use undertone::linalg::{Block, SparseRows, start_block};
use undertone::scenario::Experiment;
use undertone::vocabulary::{Label, Seed};

use super::config;

const COLUMNS: usize = 5;

/// Twelve rows of five numbers; `third` is the line of the third row.
fn file(third: &str) -> String {
    let mut text = String::new();
    for row in 0..12_u32 {
        if row == 2 {
            text.push_str(third);
        } else {
            let numbers =
                (0..COLUMNS as u32).map(|c| ((row * 7 + c * c * 5 + row * c) % 17).to_string());
            text.push_str(&numbers.collect::<Vec<_>>().join(","));
        }
        text.push('\n');
    }
    text
}

fn of_file(text: &str, set: &[&str]) -> Experiment {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join("m.csv"), text).expect("writable");
    let set = [
        &[
            "data.path=m.csv",
            "data.drop=[]",
            "peers.count=6",
            "topology.degree=3",
            "algorithm.rank=2",
        ],
        set,
    ];
    let config = config("pca-digits.toml", &set.concat());
    Experiment::resolve(config, folder.path()).unwrap_or_else(|error| panic!("{error}"))
}

/// Every way in which rows are centred: two files that differ in one row, or in whether its slot is filled, give peers whose rows
/// differ in that place alone, none longer than 1 where the algorithm does not shorten them itself; and the plan, which is
/// public, is the same.
#[test]
fn files_that_differ_in_one_row_become_peers_that_differ_in_one_row() {
    let means = "data.means=[1, 2, 3, 4, 5]";
    let centrings: [&[&str]; 3] = [
        &[],
        &["data.centre=public", means],
        &["data.centre=private", "data.raw_clip=2"],
    ];
    for set in centrings {
        let filled = of_file(&file("16,0,16,0,16"), set);
        for other in [",,,,", "0,0,0,0,0", "1,2,3,4,5", "1e300,-1e300,0,0,7"] {
            let changed = of_file(&file(other), set);
            let (a, b) = (filled.peer_rows(), changed.peer_rows());
            let different: Vec<(usize, usize)> = (0..a.len())
                .flat_map(|u| (0..a[u].len()).map(move |i| (u, i)))
                .filter(|&(u, i)| a[u].row(i) != b[u].row(i))
                .collect();
            // Row 2 of twelve is dealt to peer 2, as its first.
            assert_eq!(different, [(2, 0)], "{other} {set:?}");
            let plan =
                |experiment: &Experiment| *experiment.session(&Seed::from_u64(1)).plan().digest();
            assert_eq!(plan(&filled), plan(&changed), "{other} {set:?}");
            let empty = b[2].row(0).0.is_empty();
            assert_eq!(empty, other == ",,,,", "{other} {set:?}");
            if changed.centring().is_none() {
                let norm = |i| {
                    b[2].row(i)
                        .1
                        .iter()
                        .map(|x: &f64| x * x)
                        .sum::<f64>()
                        .sqrt()
                };
                assert!((0..b[2].len()).all(|i| norm(i) <= 1.0 + 1e-12));
            }
        }
    }
}

fn isometric() -> IsometricCovariance {
    IsometricCovariance::new(COLUMNS, 2).expect("valid")
}

fn centred(inner: impl Algorithm + 'static, unit_box: bool) -> Centred {
    in_units(inner, unit_box, 1.0)
}

/// The same with lengths in another unit.
fn in_units(inner: impl Algorithm + 'static, unit_box: bool, unit: f64) -> Centred {
    let prelude = Prelude {
        slots: 9,
        raw_clip: 1.4 * unit,
        radius: 0.5 * unit,
        unit_box,
        share: 0.2,
    };
    Centred::new(Arc::new(inner), prelude).expect("may follow a mean")
}

fn rows(all: &[Vec<f64>]) -> SparseRows {
    let mut rows = SparseRows::new(COLUMNS);
    for row in all {
        rows.push_row((0..).zip(row.iter().copied()))
            .expect("finite");
    }
    rows
}

/// ‖change‖ of the contribution to a release, after this released sum.
fn moved(algorithm: &Centred, a: &[Vec<f64>], b: &[Vec<f64>], mean: Option<&Block>) -> f64 {
    let program = algorithm.program();
    let start = start_block(&Seed::from_u64(3), COLUMNS, program.query_columns);
    let start = start.expect("full rank");
    let mut state = PublicState::new(start.into());
    let mut release = 0;
    if let Some(mean) = mean {
        state = algorithm
            .advance(&state, &mean.clone().into(), &[1.0])
            .expect("a mean");
        state.released = 1;
        release = 1;
    }
    let shape = program.releases[release].shape();
    let of = |all: &[Vec<f64>]| contribution(algorithm, &rows(all), state.history(), shape);
    let mut change = of(a);
    change.add_scaled(-1.0, &of(b));
    change.norm()
}

/// The largest moves of the mean and of the second release over random and extreme rows and released means.
fn search(algorithm: &Centred, replaced: bool, rng: &mut impl Rng) -> [f64; 2] {
    let mut best = [0.0_f64; 2];
    let extremes = [0.0, 1.0, -1.0, 1e6, -1e6, 0.3];
    for trial in 0..4000 {
        let mut row = || -> Vec<f64> {
            (0..COLUMNS)
                .map(|_| match trial % 3 {
                    0 => rng.random_range(-2.0..2.0),
                    1 => extremes[rng.random_range(0..extremes.len())],
                    _ => f64::from(u8::from(rng.random_bool(0.2))) * 1.9,
                })
                .collect()
        };
        let (other, a, b) = (row(), row(), row());
        let sum: Vec<f64> = (0..COLUMNS).map(|_| rng.random_range(-9.0..9.0)).collect();
        let mean = Block::from_values(COLUMNS, 1, sum);
        let with = [other.clone(), a];
        let without = [other, if replaced { b } else { Vec::new() }];
        for (best, mean) in best.iter_mut().zip([None, Some(&mean)]) {
            *best = best.max(moved(algorithm, &with, &without, mean));
        }
    }
    best
}

/// Whatever the rows, however wild the released mean: no release moves further than its bound, and some rows come close to it.
#[test]
fn attacks_come_close_to_every_bound_and_beat_none() {
    let mut rng = Seed::from_u64(5).generator(Label::Scenario);
    let root = 2.0_f64.sqrt();
    for (unit_box, replaced, bounds) in [
        (false, false, [1.0, 1.0]),
        (false, true, [2.0, root]),
        (true, false, [1.0, 1.0]),
        (true, true, [root, root]),
    ] {
        let algorithm = centred(isometric(), unit_box);
        let found = search(&algorithm, replaced, &mut rng);
        for (found, bound) in found.iter().zip(bounds) {
            assert!(
                *found <= bound * (1.0 + 1e-10),
                "{unit_box} {replaced}: {found} > {bound}"
            );
            assert!(
                *found >= 0.95 * bound,
                "{unit_box} {replaced}: {found} far below {bound}"
            );
        }
        let power = PowerMethod::new(COLUMNS, 2, 2).expect("valid");
        let found = search(&centred(power, unit_box), replaced, &mut rng)[1];
        assert!(found <= bounds[1] * (1.0 + 1e-10), "{found}");
    }
}

/// The trap: a slot whose numbers become zeros is still centred, so that it puts −m̂ where the row was. That is a replacement
/// and beats the bound for a row that is not there.
#[test]
fn a_row_of_zeros_is_not_a_row_that_is_not_there() {
    let algorithm = centred(isometric(), false);
    // m̂ = 1.4/9 · sum = (1, 0, 0, 0, 0).
    let mean = Block::from_values(COLUMNS, 1, vec![9.0 / 1.4, 0.0, 0.0, 0.0, 0.0]);
    let row = vec![1.0, 3.0, 0.0, 0.0, 0.0];
    let zeros = moved(
        &algorithm,
        std::slice::from_ref(&row),
        &[vec![0.0; COLUMNS]],
        Some(&mean),
    );
    let gone = moved(&algorithm, &[row], &[Vec::new()], Some(&mean));
    assert!(zeros > 1.4 && gone <= 1.0 + 1e-10, "{zeros} {gone}");
}

/// Powers of two: rows, lengths and mean scaled together leave every bit of the contributions.
#[test]
fn a_change_of_units_changes_no_bit() {
    let mut rng = Seed::from_u64(6).generator(Label::Scenario);
    let all: Vec<Vec<f64>> = (0..9)
        .map(|_| (0..COLUMNS).map(|_| rng.random_range(-3.0..3.0)).collect())
        .collect();
    let plain = centred(isometric(), false);
    let scaled = in_units(isometric(), false, 8.0);
    let larger: Vec<Vec<f64>> = all
        .iter()
        .map(|row| row.iter().map(|x| 8.0 * x).collect())
        .collect();
    let of = |algorithm: &Centred, all: &[Vec<f64>]| {
        let start = start_block(&Seed::from_u64(3), COLUMNS, 2).expect("full rank");
        let mut state = PublicState::new(start.into());
        let mut found = Vec::new();
        for release in 0..2 {
            let shape = algorithm.program().releases[release].shape();
            let block = contribution(algorithm, &rows(all), state.history(), shape);
            found.push(block.clone());
            state = algorithm
                .advance(&state, &block.into(), &[0.0])
                .expect("goes on");
            state.released += 1;
        }
        found
    };
    assert_eq!(of(&plain, &all), of(&scaled, &larger));
}
