//! An algorithm of your own, with a release of your own and its bound: the power method that also releases how many rows
//! there are, in one message, for a twentieth of the budget.
//!
//! `cargo run --release --example own_algorithm`

use std::ops::Range;
use std::sync::Arc;

use undertone::algorithm::{Algorithm, Program, PublicState, ReleaseSpec};
use undertone::data::Dataset;
use undertone::engine::Simulation;
use undertone::engine::event::{self, Latency};
use undertone::engine::{Silent, lockstep};
use undertone::linalg::{Block, NotFullRank, SparseRows, orthonormalise};
use undertone::plan::Promise;
use undertone::privacy::{Adjacency, OwnRules, Public, Rule, Statistic};
use undertone::run::receipt::Receipt;
use undertone::vocabulary::{Quantity, ReleaseId};

pub(crate) const COUNT: Quantity = Quantity::Own("the number of rows that are not empty");

/// A person there or not changes the number of rows by one: that is the whole proof.
pub(crate) struct OnePerPerson;

impl Rule for OnePerPerson {
    const ADJACENCY: Adjacency = Adjacency::User;
    const QUANTITY: Quantity = COUNT;

    fn statistic(_: &Public) -> Statistic {
        Statistic::None
    }

    fn bound(_: &Public, _: f64) -> f64 {
        1.0
    }
}

#[derive(Debug)]
pub(crate) struct CountingPower {
    pub(crate) items: usize,
    pub(crate) iterations: u32,
}

impl Algorithm for CountingPower {
    // Everything that will be released, before anything is: so its noise can be planned and its messages bounded.
    fn program(&self) -> Program {
        let products = ReleaseSpec::products(self.iterations, self.items, 1);
        let with_count = products
            .into_iter()
            .map(|product| product.and(COUNT, (1, 1), 0.05));
        Program::of("counting-power", self.items, 1, with_count.collect())
    }

    // What a peer adds to the sum, of its own rows and public history alone; any range must give the same bits.
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
            let filled = (0..rows.len()).filter(|&i| !rows.row(i).0.is_empty());
            out[self.items - range.start] += filled.count() as f64;
        }
    }

    // What everybody does with the noisy sum: post-processing, free of charge.
    fn advance(
        &self,
        state: &PublicState,
        sum: &Arc<Block>,
        sigmas: &[f64],
    ) -> Result<PublicState, NotFullRank> {
        let mut next = state.followed_by(sum, sigmas);
        let product = Block::from_values(self.items, 1, sum.values()[..self.items].to_vec());
        next.query = Arc::new(orthonormalise(&product)?);
        Ok(next)
    }

    fn estimate(&self, state: &PublicState) -> Arc<Block> {
        Arc::clone(&state.query)
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut rows = SparseRows::new(5);
    for i in 0..600_u32 {
        let x = f64::from(i);
        rows.push_row((0..).zip([x.sin(), x.sin(), 0.3 * x.cos(), 0.1, 0.2]))?;
    }
    let dataset = Dataset::Samples { rows, radius: 1.5 };
    let own = CountingPower {
        items: 5,
        iterations: 2,
    };
    let promise = Promise::new(2.0, 1e-5, Adjacency::User)?;
    let simulation = Simulation::new(dataset, own, promise)
        .bound::<OnePerPerson>()
        .peers(24)
        .seed(3)
        .build()?;
    let outcome = lockstep::run(&simulation.own_session(), &mut Silent)?;
    // Peers that pass real messages get the same bits.
    let latency = Latency::Constant { micros: 100 };
    let event = event::run(&simulation.own_session(), latency, &mut Silent)?;
    assert_eq!(event.basis(), outcome.basis());
    // A receipt says what was promised. Whoever has the bound can plan all of it again.
    let receipt = Receipt::of_simulation(&simulation, &outcome);
    let findings = receipt.check_with(&OwnRules::none().with::<OnePerPerson>())?;
    assert!(findings.iter().all(|finding| finding.agrees));
    println!("direction: {:.3?}", outcome.basis().values());
    for record in &outcome.records {
        let count = record.sum.values().last().copied().unwrap_or_default();
        println!(
            "{}: about {count:.0} rows (there are 600)",
            record.iteration
        );
    }
    Ok(())
}
