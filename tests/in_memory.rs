//! Rows in memory with what experiment files have: a private mean, losses, and every runner that shows no more than the promise covers.

use undertone::prelude::*;

fn samples() -> Dataset {
    let mut rows = SparseRows::new(4);
    for i in 0..300 {
        let x = f64::from(i);
        let row = [
            2.0 * x.sin(),
            0.5 * (1.7 * x).cos(),
            0.1,
            0.3 * (0.3 * x).sin(),
        ];
        rows.push_row((0..).zip(row)).expect("ascending");
    }
    Dataset::Samples { rows, radius: 2.2 }
}

/// Rows around (3, 3, 3, 3) that vary along the first axis.
fn off_centre() -> Dataset {
    let mut rows = SparseRows::new(4);
    for i in 0..400 {
        let x = f64::from(i);
        let row = [x.sin(), 0.1 * x.cos(), 0.0, 0.0].map(|x| 3.0 + x);
        rows.push_row((0..).zip(row)).expect("ascending");
    }
    Dataset::Samples { rows, radius: 8.0 }
}

#[test]
fn rows_in_memory_less_a_private_mean_keep_the_promise_and_find_what_varies() {
    let promise = Promise::new(6.0, 1e-5, Adjacency::User).expect("valid");
    let algorithm = || IsometricCovariance::new(4, 1).expect("valid");
    let plain = Simulation::new(off_centre(), algorithm(), promise.clone());
    let around = |builder: SimulationBuilder| {
        let simulation = builder.peers(20).seed(4).build().expect("valid");
        let outcome = simulation.run(&mut Silent).expect("runs");
        let found = outcome.basis().values()[0].abs();
        (found, simulation)
    };
    // Without its mean the rows' leading direction is (1, 1, 1, 1)/2.
    assert!((around(plain.clone()).0 - 0.5).abs() < 0.1);
    let (found, simulation) = around(plain.centred(1.2, 0.2));
    assert!(found > 0.9, "{found}");
    assert_eq!(simulation.program().releases.len(), 2);
    let epsilon = simulation.noise().expect("noisy").epsilon();
    assert!((epsilon.expect("protected") - 6.0).abs() < 1e-4);
    let table = verify(&simulation, VerifyOptions::default(), &mut Silent).expect("runs");
    assert!(table.passed(), "{table}");
    let refused = |builder: SimulationBuilder, words: &str| {
        let error = builder.peers(20).build().expect_err("refused").to_string();
        assert!(error.contains(words), "{error}");
    };
    let deflation = Deflation::new(4, 1, 2, 0.05).expect("valid");
    let deflation = Simulation::new(off_centre(), deflation, promise.clone());
    refused(deflation.centred(1.2, 0.2), "nothing is proved");
    for (radius, share) in [(0.0, 0.2), (f64::NAN, 0.2), (1.2, 0.0), (1.2, 1.0)] {
        let builder = Simulation::new(off_centre(), algorithm(), promise.clone());
        refused(builder.centred(radius, share), "between 0 and 1");
    }
}

#[test]
fn rows_in_memory_may_lose_peers_at_the_price_of_every_retry() {
    let promise = Promise::new(1.0, 1e-5, Adjacency::User).expect("valid");
    let losses = LossTolerance {
        tolerate: 2,
        retries: 1,
    };
    let of = |promise: Promise| {
        let algorithm = PowerMethod::new(4, 1, 3).expect("valid");
        let builder = Simulation::new(samples(), algorithm, promise).peers(30);
        builder
            .runner(Event {
                latency: Latency::Constant { micros: 5 },
            })
            .build()
            .expect("valid")
    };
    let (without, with) = (of(promise.clone()), of(promise.tolerating(losses)));
    let sigma = |built: &Simulation| built.noise().expect("noisy").sigma_own();
    assert!(sigma(&with) > 1.1 * sigma(&without));
    assert_eq!(with.plan().promise().withstood(), 3);
    let epsilon = with.noise().expect("noisy").epsilon().expect("protected");
    assert!((epsilon - 1.0).abs() < 1e-5, "{epsilon}");
    let table = verify(&with, VerifyOptions::default(), &mut Silent).expect("runs");
    assert!(table.passed(), "{table}");
}
