//! A stream: every row contributes in one iteration only, by the public number of its slot.

use std::sync::Arc;

use undertone::algorithm::{
    Algorithm, LocalData, Program, PublicState, ReleaseSpec, RetainedState,
};
use undertone::engine::{Silent, lockstep};
use undertone::linalg::{Block, NotFullRank, SparseRows, orthonormalise};
use undertone::privacy::{Adjacency, SensitivityRule, SensitivitySpec};
use undertone::protocol::averaging::AveragingKind;

use super::{ITEMS, Setting, conforms, users};

const COLUMNS: usize = 2;

/// The power method on one batch of rows per iteration.
#[derive(Debug)]
struct Streaming {
    iterations: u32,
}

impl Algorithm for Streaming {
    fn program(&self) -> Program {
        let mut releases = ReleaseSpec::products(self.iterations, ITEMS, COLUMNS);
        for (batch, release) in (0..).zip(&mut releases) {
            release.batch = Some(batch);
        }
        Program::of("streaming", ITEMS, COLUMNS, releases).state(RetainedState::Query)
    }

    fn advance(
        &self,
        _: &PublicState,
        sum: &Arc<Block>,
        _: &[f64],
    ) -> Result<PublicState, NotFullRank> {
        orthonormalise(sum).map(|basis| PublicState::new(Arc::new(basis)))
    }

    fn estimate(&self, state: &PublicState) -> Arc<Block> {
        Arc::clone(&state.query)
    }
}

/// Every peer's two rows: one of batch 0 or 1, one of batch 1 or 2.
fn streams(with_last_of_peer_2: bool) -> Vec<LocalData> {
    (0_u32..)
        .zip(users(with_last_of_peer_2))
        .map(|(u, rows)| LocalData::in_batches(rows, &[u % 2, 1 + u % 2]).expect("one per row"))
        .collect()
}

fn setting(sigmas: [f64; 3]) -> Setting {
    Setting {
        sensitivity: SensitivitySpec::new(Adjacency::User, SensitivityRule::Exact, 1, None),
        averaging: AveragingKind::Tree,
        sigmas,
    }
}

#[test]
fn all_engines_give_equal_bits() {
    let algorithm: Arc<dyn Algorithm> = Arc::new(Streaming { iterations: 3 });
    conforms(&setting([0.3, 2.0, 0.0]), &algorithm, &streams(true));
}

#[test]
fn a_record_meets_one_release_and_is_charged_for_one() {
    let session = setting([0.3, 2.0, 0.0]);
    let session = session.session(Arc::new(Streaming { iterations: 3 }), &streams(true), 1);
    assert_eq!(session.plan().charge(), 1.0);
}

/// Without noise, each sum is that of the rows of its batch at its query; a user of batch 1 that is gone leaves its slot empty
/// and moves nobody else's row.
#[test]
fn rows_contribute_in_the_iteration_of_their_slot_and_in_no_other() {
    let run = |with| {
        let session = setting([0.0; 3]);
        let session = session.session(Arc::new(Streaming { iterations: 3 }), &streams(with), 1);
        lockstep::run(&session, &mut Silent).expect("runs")
    };
    let outcome = run(true);
    for (batch, record) in outcome.records.iter().enumerate() {
        let mut rows = SparseRows::new(ITEMS);
        for data in streams(true) {
            if let Some(own) = data.contributing(Some(batch as u32)) {
                rows.append(own);
            }
        }
        let mut gap = rows.gram_product(&record.query);
        gap.add_scaled(-1.0, &record.sum);
        assert!(gap.norm() < 1e-12, "batch {batch}: {}", gap.norm());
    }
    // The second row of peer 2 is of batch 1: the release of batch 0 has the same bits without it, and that of batch 1 has not.
    let without = run(false);
    assert_eq!(outcome.records[0].sum, without.records[0].sum);
    assert_ne!(outcome.records[1].sum, without.records[1].sum);
}

#[test]
fn every_slot_needs_a_number() {
    let rows = users(true).remove(0);
    assert!(LocalData::in_batches(rows.clone(), &[0]).is_err());
    assert!(LocalData::in_batches(rows, &[0, u32::MAX]).is_err());
}
