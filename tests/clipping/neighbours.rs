//! Neighbours as files: what a row that is there or not, or another, changes in every release of a clipped run.

use undertone::algorithm::{PublicState, contribution};
use undertone::assess::audit::{AuditOptions, audit};
use undertone::engine::Silent;
use undertone::linalg::Block;
use undertone::scenario::Experiment;
use undertone::vocabulary::{Quantity, Seed};

use crate::plain_pca::config;

const COLUMNS: u32 = 5;

/// Twelve rows of five numbers; `third` is the line of the third row.
fn file(third: &str) -> String {
    let line = |row: u32| match row {
        2 => third.to_owned(),
        _ => {
            let numbers = (0..COLUMNS).map(|c| ((row * 7 + c * c * 5 + row * c) % 17).to_string());
            numbers.collect::<Vec<_>>().join(",")
        }
    };
    let lines: Vec<String> = (0..12).map(line).collect();
    lines.join("\n") + "\n"
}

fn of_file(text: &str, set: &[&str]) -> Experiment {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join("m.csv"), text).expect("writable");
    let small = [
        "data.path=m.csv",
        "data.drop=[]",
        "data.means=[8, 8, 8, 8, 8]",
        "data.row_clip=1",
        "peers.count=6",
        "topology.degree=3",
        "algorithm.rank=2",
        "algorithm.iterations=3",
    ];
    let config = config("clipping-digits.toml", &[&small, set].concat());
    Experiment::resolve(config, folder.path()).unwrap_or_else(|error| panic!("{error}"))
}

/// One row of numbers there or not, or another, found by the likelihood ratio over all releases of counts and products: what 600 runs prove stays
/// below the certificate, and the attack comes near what these two worlds are apart.
#[test]
fn an_audit_of_rows_of_numbers_stays_below_the_certificate() {
    for set in [
        &["algorithm.kind=clipped-power", "algorithm.clip=histogram"][..],
        &["algorithm.kind=clipped-power", "algorithm.clip=geometric"],
        &[
            "algorithm.kind=clipped-power",
            "algorithm.clip=histogram",
            "algorithm.clip_lag=true",
            "privacy.adjacency=replace-user",
        ],
    ] {
        let options = AuditOptions {
            trials: 600,
            ..AuditOptions::default()
        };
        let set = [set, &["privacy.epsilon=4"]].concat();
        let found = audit(&of_file(&file("0,16,3,16,9"), &set), &options, &mut Silent);
        let found = found.expect("runs");
        assert!(
            found.passed && found.pair_mu <= found.certified_mu,
            "{set:?}: {found:?}"
        );
        assert!(
            found.pair_mu > 0.25 * found.certified_mu,
            "{set:?}: {found:?}"
        );
        assert!(found.canary.tightness <= 1.0 + 1e-9, "{set:?}: {found:?}");
    }
}

/// The public states of a run without noise, one before every release.
fn states(experiment: &Experiment) -> Vec<PublicState> {
    let algorithm = experiment.algorithm();
    let session = experiment.session(&Seed::from_u64(2));
    let mut all = vec![PublicState::new(session.start().clone())];
    for (number, spec) in (1..).zip(algorithm.program().releases) {
        let state = all.last().expect("one");
        let (height, width) = spec.shape();
        let mut sum = Block::zeros(height, width);
        for rows in experiment.peer_rows().iter() {
            sum.add_scaled(
                1.0,
                &contribution(algorithm, rows, state.history(), spec.shape()),
            );
        }
        let mut next = algorithm
            .advance(state, &sum.into(), &[])
            .expect("full rank");
        next.released = number;
        all.push(next);
    }
    all
}

/// The plan of two files that differ in one row is the same; in every public state one peer alone contributes something else to the next
/// release, and no block of it moves further than its bound. Of all these pairs some come near each bound.
#[test]
fn one_row_moves_one_peer_and_no_block_further_than_its_bound() {
    let rules: [&[&str]; 3] = [
        &["algorithm.kind=clipped-power", "algorithm.clip=histogram"],
        &[
            "algorithm.kind=clipped-power",
            "algorithm.clip=histogram",
            "algorithm.clip_lag=true",
        ],
        &["algorithm.kind=clipped-power", "algorithm.clip=geometric"],
    ];
    let mut nearest = std::collections::BTreeMap::new();
    for rule in rules {
        for (adjacency, others) in [
            ("user", &[",,,,"][..]),
            (
                "replace-user",
                &[",,,,", "0,0,0,0,0", "16,0,16,0,16", "1e300,-1e300,0,0,7"],
            ),
        ] {
            let adjacency = format!("privacy.adjacency={adjacency}");
            let set = [rule, &[&adjacency]].concat();
            let filled = of_file(&file("0,16,3,16,9"), &set);
            let states = states(&filled);
            for other in others {
                let changed = of_file(&file(other), &set);
                let plan = |one: &Experiment| *one.session(&Seed::from_u64(1)).plan().digest();
                assert_eq!(plan(&filled), plan(&changed), "{other}");
                let session = filled.session(&Seed::from_u64(1));
                for (state, planned) in states.iter().zip(session.plan().releases()) {
                    let shape = planned.shape();
                    let of = |one: &Experiment, u: usize| {
                        contribution(one.algorithm(), &one.peer_rows()[u], state.history(), shape)
                    };
                    for u in 0..6 {
                        let mut change = of(&filled, u);
                        change.add_scaled(-1.0, &of(&changed, u));
                        // Row 2 of twelve is dealt to peer 2.
                        assert!(u == 2 || change.norm() == 0.0, "{other}, {u}");
                        let mut values = change.values();
                        for (block, bound) in planned.spec().blocks.iter().zip(planned.bounds()) {
                            let (own, rest) = values.split_at(block.values());
                            values = rest;
                            let moved = own.iter().map(|x| x * x).sum::<f64>().sqrt();
                            let ratio = moved / bound.bound(1.0);
                            assert!(ratio <= 1.0 + 1e-12, "{set:?}, {other}: {ratio}");
                            let name = (block.quantity.to_string(), adjacency.clone());
                            let best = nearest.entry(name).or_insert(0.0_f64);
                            *best = best.max(ratio);
                        }
                    }
                }
            }
        }
    }
    assert_eq!(nearest.len(), 6, "{nearest:?}");
    for ((quantity, adjacency), ratio) in &nearest {
        let replaced_product = quantity == &Quantity::ClippedProduct.to_string()
            && adjacency.ends_with("replace-user");
        // Twice as much takes rows that lie like the example beside the bound.
        let least = if replaced_product { 0.5 } else { 0.999 };
        assert!(*ratio >= least, "{quantity}, {adjacency}: {ratio}");
    }
}
