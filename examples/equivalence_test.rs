//! An integration test that asserts equality with central differential privacy: own rows, an own graph, an own algorithm and the bound of what it
//! releases.
//!
//! A crate of its own runs it: `cargo test --manifest-path tests/downstream/Cargo.toml`, over 100 seeds with `-- --ignored`.
//! `cargo run --release --features testing --example equivalence_test` prints what is checked.

use std::ops::Range;
use std::sync::Arc;

use undertone::prelude::*;
use undertone::testing::{self, Defect};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

#[test]
fn our_network_is_as_private_as_a_curator() -> Result<()> {
    let rows = our_rows()?;
    let promise = Promise::new(1.0, 1e-5, Adjacency::User)?;
    let simulation = Simulation::new(Dataset::Samples { rows, radius: 1.0 }, OURS, promise)
        .bound::<OneRowPerPerson>()
        .graph(Graph::from_edges(6, &OUR_EDGES)?)
        .build()?;
    let table = verify(&simulation, VerifyOptions::default(), &mut Silent)?;
    assert!(table.passed(), "{table}");
    Ok(())
}

#[test]
fn it_would_notice() -> Result<()> {
    for fault in FAULTS {
        let table = verified(fault, 0)?;
        assert!(!table.passed(), "{fault:?} was not noticed\n{table}");
    }
    Ok(())
}

#[test]
#[ignore = "a hundred seeds"]
fn no_verdict_hangs_on_the_seed() -> Result<()> {
    let mut passed = 0;
    let mut noticed = [0; FAULTS.len()];
    for seed in 0..100 {
        passed += u32::from(verified(Fault::None, seed)?.passed());
        for (count, fault) in noticed.iter_mut().zip(FAULTS) {
            *count += u32::from(!verified(fault, seed)?.passed());
        }
    }
    println!("of 100 seeds: {passed} pass; noticed are {FAULTS:?} in {noticed:?}");
    assert!(passed >= 99 && noticed.iter().all(|count| *count >= 99));
    Ok(())
}

const ITEMS: usize = 8;

const OUR_EDGES: [(u32, u32); 8] = [
    (0, 1),
    (0, 3),
    (1, 2),
    (1, 4),
    (2, 3),
    (2, 5),
    (3, 4),
    (4, 5),
];

/// Eighteen rows of length at most 1.
fn our_rows() -> Result<SparseRows> {
    let mut rows = SparseRows::new(ITEMS);
    for i in 0..18_u32 {
        rows.push_row([(i % 5, 0.7 * f64::from(i).cos()), (5 + i % 3, 0.6)])?;
    }
    Ok(rows)
}

const COUNT: Quantity = Quantity::Own("the number of rows");

/// A person more or less is one row more or less: the count moves by 1. That is the whole proof.
struct OneRowPerPerson;

impl Rule for OneRowPerPerson {
    const ADJACENCY: Adjacency = Adjacency::User;
    const QUANTITY: Quantity = COUNT;

    fn statistic(_: &Public) -> Statistic {
        Statistic::None
    }

    fn bound(_: &Public, _: f64) -> f64 {
        1.0
    }
}

/// The bound of somebody who got it wrong.
struct HalfARowPerPerson;

impl Rule for HalfARowPerPerson {
    const ADJACENCY: Adjacency = Adjacency::User;
    const QUANTITY: Quantity = COUNT;

    fn statistic(_: &Public) -> Statistic {
        Statistic::None
    }

    fn bound(_: &Public, _: f64) -> f64 {
        0.5
    }
}

/// Two iterations of the power method that also release how many rows there are.
#[derive(Debug)]
struct CountingPower {
    items: usize,
    iterations: u32,
}

const OURS: CountingPower = CountingPower {
    items: ITEMS,
    iterations: 2,
};

impl Algorithm for CountingPower {
    fn program(&self) -> Program {
        let products = ReleaseSpec::products(self.iterations, self.items, 1);
        let with_count = products
            .into_iter()
            .map(|product| product.and(COUNT, (1, 1), 0.05));
        Program::of("counting-power", self.items, 1, with_count.collect())
    }

    fn add_contribution(
        &self,
        _: ReleaseId,
        rows: &SparseRows,
        prepared: &[f64],
        range: Range<usize>,
        out: &mut [f64],
    ) {
        let products = range.start..range.end.min(self.items);
        if !products.is_empty() {
            let out = &mut out[..products.len()];
            rows.add_back_projection(prepared, 1, products, out);
        }
        if range.end > self.items {
            out[self.items - range.start] += rows.len() as f64;
        }
    }

    fn advance(
        &self,
        state: &PublicState,
        sum: &Arc<Block>,
        sigmas: &[f64],
    ) -> std::result::Result<PublicState, NotFullRank> {
        let mut next = state.followed_by(sum, sigmas);
        let product = Block::from_values(self.items, 1, sum.values()[..self.items].to_vec());
        next.query = Arc::new(orthonormalise(&product)?);
        Ok(next)
    }

    fn estimate(&self, state: &PublicState) -> Arc<Block> {
        Arc::clone(&state.query)
    }
}

/// What is broken.
#[derive(Clone, Copy, Debug)]
enum Fault {
    None,
    WrongBound,
    Noise(Defect),
}

const FAULTS: [Fault; 3] = [
    Fault::WrongBound,
    Fault::Noise(Defect::HalveOwnNoise),
    Fault::Noise(Defect::ForgetPartner),
];

/// The table of a session with this fault.
fn verified(fault: Fault, seed: u64) -> Result<Verification> {
    let simulation = match fault {
        Fault::WrongBound => simulation_with::<HalfARowPerPerson>(seed)?,
        Fault::None | Fault::Noise(_) => simulation_with::<OneRowPerPerson>(seed)?,
    };
    let options = VerifyOptions::default();
    Ok(match fault {
        Fault::Noise(defect) => testing::verify(&simulation, defect, options)?,
        Fault::None | Fault::WrongBound => verify(&simulation, options, &mut Silent)?,
    })
}

fn simulation_with<R: Rule>(seed: u64) -> Result<Simulation> {
    let rows = our_rows()?;
    let promise = Promise::new(1.0, 1e-5, Adjacency::User)?;
    let simulation = Simulation::new(Dataset::Samples { rows, radius: 1.0 }, OURS, promise)
        .bound::<R>()
        .graph(Graph::from_edges(6, &OUR_EDGES)?)
        .seed(seed)
        .build()?;
    Ok(simulation)
}

fn main() -> Result<()> {
    for fault in [Fault::None].into_iter().chain(FAULTS) {
        println!("{fault:?}: {}", verified(fault, 0)?);
    }
    Ok(())
}
