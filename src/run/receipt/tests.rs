//! Receipts of sums of integers: their grid and bits follow from what they state, or do not hold.

use super::{Receipt, ReceiptError};
use crate::engine::central::SumNoise;
use crate::engine::{Silent, central, lockstep};
use crate::plan::Noise;
use crate::privacy::OnDisconnect;
use crate::privacy::ring::Modulus;
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
    let found = |change: &dyn Fn(&mut Receipt)| {
        let mut receipt = honest.clone();
        change(&mut receipt);
        failures(&receipt)
    };
    let rows = honest.partners.most_rows.expect("a ring");
    let clamp = "guarantee.noise.ring.clamp";
    for (failed, path) in [
        (found(&|r| r.partners.most_rows = Some(2 * rows)), clamp),
        (
            found(&|r| r.promise.noise = ring(Some(Modulus::Bits64))),
            "guarantee.noise.ring.bits",
        ),
        (
            found(&|r| {
                let noise = r.guarantee["noise"].as_object_mut().expect("a table");
                noise.remove("ring");
            }),
            "guarantee.noise.ring",
        ),
        // A coarser grid.
        (
            found(&|r| r.guarantee["noise"]["ring"]["grid_exponent"] = 3.into()),
            "guarantee.noise.ring.grid_exponent",
        ),
        // A whole number is no other, however large.
        (
            found(&|r| {
                let stated = &mut r.guarantee["noise"]["ring"]["clamp"];
                *stated = (stated.as_i64().expect("whole") + 1).into();
            }),
            clamp,
        ),
    ] {
        assert!(failed.iter().any(|what| what == path), "{path}: {failed:?}");
    }
    let mut unsaid = honest.clone();
    unsaid.partners.most_rows = None;
    // Sized for nobody's rows, it is refused or found.
    assert!(unsaid.check().is_err());
    let mut other = honest.clone();
    other.promise.noise = Noise::pairwise(0.01);
    assert!(matches!(other.check(), Err(ReceiptError::Ring)));
    // Half the own noise, everywhere it is stated.
    let halved = found(&|r| {
        for sigma in ["sigma_own", "sigma_sum"] {
            let stated = &mut r.guarantee["noise"][sigma];
            *stated = (stated.as_f64().expect("a number") / 2.0).into();
        }
    });
    let sigmas = ["guarantee.noise.sigma_own", "guarantee.noise.sigma_sum"];
    assert_eq!(halved, sigmas);
}

/// Sums of integers with this modulus, otherwise as in the quickstart.
fn ring(bits: Option<Modulus>) -> Noise {
    Noise::Ring {
        overhead: 0.01,
        on_disconnect: OnDisconnect::Refuse,
        bits,
    }
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
    assert!(receipt.partners.most_rows.is_none());
    assert_eq!(failures(&receipt), Vec::<String>::new());
    let mut claimed = receipt;
    claimed.partners.most_rows = Some(10);
    assert!(matches!(claimed.check(), Err(ReceiptError::Ring)));
}
