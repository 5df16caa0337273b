//! Rows that are left out: a bound that is too small is found, also that of a block of small weight, and honest ones are kept.

use std::ops::Range;
use std::sync::Arc;

use super::super::{VerifyOptions, verify};
use super::experiment;
use crate::algorithm::{Algorithm, Covariance, Program, PublicState, ReleaseSpec};
use crate::data::Dataset;
use crate::engine::{Silent, Simulation};
use crate::linalg::{Block, NotFullRank, SparseRows, orthonormalise};
use crate::plan::{Noise, Promise};
use crate::privacy::{Adjacency, Public, Rule, Statistic};
use crate::protocol::averaging::AveragingKind;
use crate::vocabulary::{Quantity, ReleaseId};

const COUNT: Quantity = Quantity::Own("rows, for a test of records");

const FEW: VerifyOptions = VerifyOptions {
    runs: 4,
    significance: 1e-3,
};

/// One iteration of the power method with the number of rows as a second block.
#[derive(Debug)]
struct Counting {
    weight: f64,
}

impl Algorithm for Counting {
    fn program(&self) -> Program {
        let product = ReleaseSpec::sum(1, Quantity::Product, (4, 1), 1);
        let release = product.and(COUNT, (1, 1), self.weight);
        Program::of("counting", 4, 1, vec![release]).with_setting("weight", self.weight)
    }

    fn add_contribution(
        &self,
        _: ReleaseId,
        rows: &SparseRows,
        prepared: &[f64],
        range: Range<usize>,
        out: &mut [f64],
    ) {
        let products = range.start..range.end.min(4);
        if !products.is_empty() {
            let out = &mut out[..products.len()];
            rows.add_back_projection(prepared, 1, products, out);
        }
        if range.end > 4 {
            out[4 - range.start] += rows.len() as f64;
        }
    }

    fn advance(
        &self,
        state: &PublicState,
        sum: &Arc<Block>,
        sigmas: &[f64],
    ) -> Result<PublicState, NotFullRank> {
        let mut next = state.followed_by(sum, sigmas);
        let product = Block::from_values(4, 1, sum.values()[..4].to_vec());
        next.query = Arc::new(orthonormalise(&product)?);
        Ok(next)
    }

    fn estimate(&self, state: &PublicState) -> Arc<Block> {
        Arc::clone(&state.query)
    }
}

/// A bound on the count of this many thousandths.
struct Thousandths<const N: u32>;

impl<const N: u32> Rule for Thousandths<N> {
    const ADJACENCY: Adjacency = Adjacency::User;
    const QUANTITY: Quantity = COUNT;

    fn statistic(_: &Public) -> Statistic {
        Statistic::None
    }

    fn bound(_: &Public, _: f64) -> f64 {
        f64::from(N) / 1000.0
    }
}

/// Rows of length 1.
fn samples() -> Dataset {
    let mut rows = SparseRows::new(4);
    for i in 0..40_u32 {
        let x = f64::from(i);
        rows.push_row([(0, x.cos()), (1, x.sin())])
            .expect("ascending");
    }
    Dataset::Samples { rows, radius: 1.0 }
}

/// The checks that fail.
fn failures<const N: u32>(weight: f64) -> Vec<String> {
    let promise = Promise::new(1.0, 1e-5, Adjacency::User).expect("valid");
    let simulation = Simulation::new(samples(), Counting { weight }, promise)
        .bound::<Thousandths<N>>()
        .peers(5)
        .build()
        .expect("valid");
    let table = verify(&simulation, FEW, &mut Silent).expect("runs");
    table.failures().map(|check| check.name.clone()).collect()
}

#[test]
fn a_bound_that_is_too_small_is_found_by_its_record_alone() {
    for weight in [0.5, 0.001] {
        assert_eq!(failures::<1000>(weight), [""; 0], "{weight}");
        for failed in [failures::<999>(weight), failures::<500>(weight)] {
            let [only] = failed.as_slice() else {
                panic!("{failed:?}");
            };
            assert!(only.contains("leaving one of 40 rows out"), "{only}");
        }
    }
}

#[test]
fn rows_of_proved_quantities_stay_within_their_bounds() {
    let promise = Promise::new(1.0, 1e-5, Adjacency::User).expect("valid");
    let pure = Promise::pure(1.0, Adjacency::User).expect("valid");
    for promise in [
        promise.clone(),
        promise.with_noise(Noise::ring(0.01)),
        pure.with_noise(Noise::laplace()),
    ] {
        let simulation = Simulation::new(samples(), Covariance::new(4, 1).expect("valid"), promise);
        let simulation = simulation
            .peers(5)
            .averaging(AveragingKind::Tree)
            .build()
            .expect("valid");
        let table = verify(&simulation, FEW, &mut Silent).expect("runs");
        let record = table.checks.iter().find(|check| check.kind == "record");
        let record = record.expect("a check of records");
        // Rows of two numbers come near the bounds of rows of four.
        assert!(
            record.passed && record.statistic > 0.5,
            "{}",
            record.statistic
        );
    }
}

#[test]
fn interactions_are_no_rows() {
    let table = verify(&experiment(&[]), FEW, &mut Silent).expect("runs");
    assert!(table.checks.iter().all(|check| check.kind != "record"));
    let reason = "record: under adjacency interaction a record is no row";
    let told = table.skipped.iter().any(|one| one.starts_with(reason));
    assert!(told, "{:?}", table.skipped);
    let users = experiment(&["privacy.adjacency=user"]);
    let table = verify(&users, FEW, &mut Silent).expect("runs");
    let record = table.checks.iter().find(|check| check.kind == "record");
    assert!(record.expect("a check of records").passed);
}
