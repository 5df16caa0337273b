//! A release of several blocks in one message: a product and the number of rows, each with its own bound and share.

use std::ops::Range;
use std::sync::Arc;

use undertone::algorithm::{Algorithm, BlockSpec, Form, Program, PublicState, ReleaseSpec};
use undertone::engine::{Silent, lockstep};
use undertone::linalg::{Block, NotFullRank, SparseRows, orthonormalise};
use undertone::privacy::{Adjacency, Public, Rule, SensitivityRule, SensitivitySpec, Statistic};
use undertone::protocol::averaging::AveragingKind;
use undertone::vocabulary::{Iteration, Quantity, ReleaseId};

use super::{ITEMS, Setting, conforms, local, users};

const COLUMNS: usize = 2;
const COUNT: Quantity = Quantity::Own("ten times the number of rows that are not empty");

/// Block 0: A X, with this share of the budget; block 1: ten times the number of users with an item.
#[derive(Debug)]
struct Counting {
    share: f64,
}

/// A user there or not changes ten times the count by 10.
#[derive(Debug)]
struct TenPerUser;

impl Rule for TenPerUser {
    const ADJACENCY: Adjacency = Adjacency::User;
    const QUANTITY: Quantity = COUNT;

    fn statistic(_: &Public) -> Statistic {
        Statistic::None
    }

    fn bound(_: &Public, _: f64) -> f64 {
        10.0
    }
}

impl Algorithm for Counting {
    fn program(&self) -> Program {
        let block = |quantity, shape, weight| BlockSpec {
            quantity,
            shape,
            columns: COLUMNS,
            weight,
        };
        let release = |l| ReleaseSpec {
            iteration: Iteration(l),
            form: Form::Sum,
            blocks: vec![
                block(Quantity::Product, (ITEMS, COLUMNS), self.share),
                block(COUNT, (1, 1), 1.0 - self.share),
            ],
            agreement: None,
            may_end_before: false,
            ceiling: None,
            batch: None,
            share: 1.0,
        };
        Program::of("counting", ITEMS, COLUMNS, (1..=3).map(release).collect())
            .with_setting("share", self.share)
    }

    fn add_contribution(
        &self,
        _: ReleaseId,
        rows: &SparseRows,
        prepared: &[f64],
        range: Range<usize>,
        out: &mut [f64],
    ) {
        let products = ITEMS * COLUMNS;
        let inside = range.start..range.end.min(products);
        if !inside.is_empty() {
            let out = &mut out[..inside.len()];
            rows.add_back_projection(prepared, COLUMNS, inside, out);
        }
        if range.end > products {
            let filled = (0..rows.len()).filter(|&i| !rows.row(i).0.is_empty());
            out[products - range.start] += 10.0 * filled.count() as f64;
        }
    }

    fn advance(
        &self,
        state: &PublicState,
        sum: &Arc<Block>,
        sigmas: &[f64],
    ) -> Result<PublicState, NotFullRank> {
        let mut next = state.followed_by(sum, sigmas);
        let product = sum.values()[..ITEMS * COLUMNS].to_vec();
        let product = Block::from_values(ITEMS, COLUMNS, product);
        next.query = Arc::new(orthonormalise(&product)?);
        Ok(next)
    }

    fn estimate(&self, state: &PublicState) -> Arc<Block> {
        Arc::clone(&state.query)
    }
}

fn setting(sigmas: [f64; 3]) -> Setting {
    Setting {
        sensitivity: SensitivitySpec::new(Adjacency::User, SensitivityRule::Exact, 1, None)
            .with_rule::<TenPerUser>(),
        averaging: AveragingKind::Tree,
        sigmas,
    }
}

#[test]
fn all_engines_give_equal_bits() {
    let algorithm: Arc<dyn Algorithm> = Arc::new(Counting { share: 0.75 });
    conforms(&setting([0.4, 3.0, 0.0]), &algorithm, &local(users(true)));
}

#[test]
fn without_noise_every_block_is_what_it_was_before_it_was_divided() {
    let algorithm = Arc::new(Counting { share: 0.75 });
    let session = setting([0.0; 3]).session(algorithm, &local(users(true)), 1);
    let outcome = lockstep::run(&session, &mut Silent).expect("runs");
    let first = outcome.records[0].sum.values();
    let product = session.all_rows().gram_product(session.start());
    for (found, expected) in first.iter().zip(product.values()) {
        assert!((found - expected).abs() < 1e-12, "{found} {expected}");
    }
    let all = users(true);
    let filled = all
        .iter()
        .map(|rows| (0..2).filter(|&i| !rows.row(i).0.is_empty()).count());
    let expected = 10.0 * filled.sum::<usize>() as f64;
    assert!((first[ITEMS * COLUMNS] - expected).abs() < 1e-9);
}

/// One record that moves every block by its whole bound spends Σ_b Δ_b²/σ_b² = 1/σ², whatever the shares; and the standard
/// deviations that the algorithm is told are those that the noise has: over 400 runs the mean square of the noise on each
/// block is σ_b² to 6 standard errors (false alarm below 1e-8).
#[test]
fn shares_of_a_release_spend_one_budget_and_the_noise_is_as_told() {
    let sigma = 0.4;
    for share in [0.2, 0.75] {
        let session = |seed| {
            let algorithm = Arc::new(Counting { share });
            setting([sigma, 3.0, 0.0]).session(algorithm, &local(users(true)), seed)
        };
        let of_sum = session(0).plan().sigma_of_sum(1.0);
        let planned = &session(0).plan().releases()[0].clone();
        let sigmas = planned.terms(0.3).sigmas(of_sum);
        let bounds: Vec<f64> = planned.bounds().iter().map(|b| b.bound(0.3)).collect();
        let spent: f64 = bounds
            .iter()
            .zip(&sigmas)
            .map(|(d, s)| (d / s).powi(2))
            .sum();
        assert!((spent * of_sum * of_sum - 1.0).abs() < 1e-12);
        let (mut squares, mut counts) = ([0.0; 2], [0.0; 2]);
        for seed in 0..400 {
            let session = session(seed);
            let outcome = lockstep::run(&session, &mut Silent).expect("runs");
            let record = &outcome.records[0];
            let terms = session.plan().releases()[0].terms(record.statistic);
            let sigmas = terms.sigmas(of_sum * terms.scale);
            let product = session.all_rows().gram_product(session.start());
            for (found, exact) in record.sum.values().iter().zip(product.values()) {
                squares[0] += ((found - exact) / sigmas[0]).powi(2);
                counts[0] += 1.0;
            }
            let filled = session
                .rows()
                .iter()
                .map(|rows| (0..2).filter(|&i| !rows.row(i).0.is_empty()).count());
            let exact = 10.0 * filled.sum::<usize>() as f64;
            squares[1] += ((record.sum.values()[ITEMS * COLUMNS] - exact) / sigmas[1]).powi(2);
            counts[1] += 1.0;
        }
        for (square, count) in squares.into_iter().zip(counts) {
            let error = (square - count) / (2.0_f64 * count).sqrt();
            assert!(error.abs() < 6.0, "share {share}: {error} standard errors");
        }
    }
}
