//! Receipts of sums of integers: their grid and bits follow from what they state, or do not hold.

use super::{Receipt, ReceiptError, RingRows};
use crate::engine::central::SumNoise;
use crate::engine::{Silent, central, lockstep};
use crate::privacy::Scheme;
use crate::privacy::ring::{Grid, Modulus};
use crate::scenario::testing::sim;
use crate::vocabulary::Seed;

fn receipt() -> Receipt {
    let set = [
        "peers.count=16",
        "topology.degree=4",
        "data.items=60",
        "algorithm.rank=2",
        "noise.scheme=ring",
        "averaging={scheme=\"tree\"}",
    ];
    let experiment = sim("quickstart.toml", &set).expect("resolves");
    let session = experiment.session(&Seed::from_u64(3));
    let outcome = lockstep::run(&session, &mut Silent).expect("runs");
    Receipt::of(&experiment, &outcome)
}

/// What does not hold.
fn failures(receipt: &Receipt) -> Vec<String> {
    let findings = receipt.check().expect("can be checked");
    let failed = findings.into_iter().filter(|finding| !finding.agrees);
    failed.map(|finding| finding.what).collect()
}

#[test]
fn the_integers_of_a_ring_are_recomputed_and_others_are_found() {
    let honest = receipt();
    assert_eq!(failures(&honest), Vec::<String>::new());
    // As it is read from its file.
    let text = serde_json::to_string(&honest).expect("writable");
    let read: Receipt = serde_json::from_str(&text).expect("readable");
    assert_eq!(failures(&read), Vec::<String>::new());
    let integers = "integers of the sums";
    let found = |change: &dyn Fn(&mut Receipt)| {
        let mut receipt = honest.clone();
        change(&mut receipt);
        failures(&receipt)
    };
    let rows = honest.request.ring.expect("a ring").rows;
    let other = |rows, bits| move |r: &mut Receipt| r.request.ring = Some(RingRows { rows, bits });
    for failed in [
        found(&other(2 * rows, None)),
        found(&other(rows, Some(Modulus::Bits64))),
        found(&|r| r.ring = None),
    ] {
        assert!(failed.iter().any(|what| what == integers), "{failed:?}");
    }
    let mut unsaid = honest.clone();
    unsaid.request.ring = None;
    assert!(matches!(unsaid.check(), Err(ReceiptError::Ring)));
    let mut other = honest.clone();
    other.request.scheme = Scheme::Pairwise;
    assert!(matches!(other.check(), Err(ReceiptError::Ring)));
    // Half the own noise, everywhere it is stated.
    let halved = found(&|r| {
        r.sigma_own /= 2.0;
        r.sigma_sum /= 2.0;
    });
    assert_eq!(halved, ["own noise", "noise in the sum"]);
    // A coarser grid in the file.
    let exponent = honest.ring.expect("a ring").grid().exponent();
    let coarser = text.replace(
        &format!("\"grid_exponent\":{exponent}"),
        &format!("\"grid_exponent\":{}", exponent - 1),
    );
    let coarser: Receipt = serde_json::from_str(&coarser).expect("readable");
    assert_eq!(
        coarser.ring.map(|ring| ring.grid()),
        Grid::new(exponent - 1)
    );
    assert_eq!(failures(&coarser), [integers]);
    // A grid or a modulus that there is none of.
    let wrong = text.replace(
        &format!("\"grid_exponent\":{exponent}"),
        "\"grid_exponent\":99",
    );
    assert!(serde_json::from_str::<Receipt>(&wrong).is_err());
}

#[test]
fn a_curator_adds_no_integers_and_its_receipt_holds() {
    let set = [
        "noise.scheme=ring",
        "engine.kind=central",
        "averaging={scheme=\"tree\"}",
    ];
    let experiment = sim("quickstart.toml", &set).expect("resolves");
    let session = experiment.session(&Seed::from_u64(3));
    let outcome = central::run(&session, SumNoise::Curator, &mut Silent).expect("runs");
    let receipt = Receipt::of(&experiment, &outcome);
    assert!(receipt.request.ring.is_none());
    assert_eq!(failures(&receipt), Vec::<String>::new());
    let mut claimed = receipt;
    claimed.request.ring = Some(RingRows {
        rows: 10,
        bits: None,
    });
    assert!(matches!(claimed.check(), Err(ReceiptError::Ring)));
}
