//! Rows in memory verify under every runner, also under one that shows less than the plan is made for.

use super::super::{Verification, VerifyOptions, verify};
use crate::algorithm::PowerMethod;
use crate::data::Dataset;
use crate::engine::event::Latency;
use crate::engine::{
    Analytic, Central, Event, Federated, Lockstep, Observer, Outcome, Runner, RunnerError, Session,
    Silent, Simulation, lockstep,
};
use crate::linalg::SparseRows;
use crate::plan::{Noise, Promise};
use crate::privacy::{Adjacency, AdversaryView};
use crate::vocabulary::Seed;

fn simulation(promise: Promise, runner: impl Runner + 'static) -> Simulation {
    let mut rows = SparseRows::new(4);
    for i in 0..60_u32 {
        let x = f64::from(i);
        rows.push_row([(0, x.cos()), (1, 0.3 * x.sin()), (3, 0.1)])
            .expect("ascending");
    }
    let dataset = Dataset::Samples { rows, radius: 1.2 };
    let algorithm = PowerMethod::new(4, 1, 2).expect("valid");
    Simulation::new(dataset, algorithm, promise)
        .peers(12)
        .runner(runner)
        .build()
        .expect("valid")
}

fn table(promise: Promise, runner: impl Runner + 'static) -> Verification {
    let simulation = simulation(promise, runner);
    verify(&simulation, VerifyOptions::default(), &mut Silent).expect("runs")
}

fn gaussian() -> Promise {
    let promise = Promise::new(1.0, 1e-5, Adjacency::User).expect("valid");
    promise.against(2)
}

#[test]
fn every_runner_passes() {
    let latency = Latency::Constant { micros: 5 };
    for found in [
        table(gaussian(), Event { latency }),
        table(gaussian(), Federated),
        table(gaussian(), Central),
    ] {
        assert!(found.passed(), "{found}");
    }
    let pure = Promise::pure(1.0, Adjacency::User).expect("valid");
    let pure = pure.with_noise(Noise::laplace());
    for found in [table(pure.clone(), Federated), table(pure, Central)] {
        assert!(found.passed(), "{found}");
    }
}

#[test]
fn a_runner_whose_noise_is_drawn_as_a_whole_passes() {
    let runner = Analytic {
        probes: 4,
        contraction: simulation(gaussian(), Lockstep).plan().contraction(),
    };
    let found = table(gaussian(), runner);
    assert!(found.passed(), "{found}");
}

/// An engine of one's own: lockstep, which may draw the noise of another seed.
#[derive(Debug)]
struct Own {
    draws_other_noise: bool,
}

impl Runner for Own {
    fn name(&self) -> &'static str {
        "own"
    }

    fn seen(&self) -> AdversaryView {
        AdversaryView::Everything
    }

    fn run(&self, session: &Session, observer: &mut dyn Observer) -> Result<Outcome, RunnerError> {
        let session = match self.draws_other_noise {
            true => session
                .clone()
                .with_seed(Seed::from_u64(99))
                .expect("a seed"),
            false => session.clone(),
        };
        lockstep::run(&session, observer).map_err(|error| RunnerError::Other(Box::new(error)))
    }
}

#[test]
fn a_runner_of_one_s_own_passes_and_one_with_other_noise_fails() {
    let honest = table(
        gaussian(),
        Own {
            draws_other_noise: false,
        },
    );
    assert!(honest.passed(), "{honest}");
    let wrong = table(
        gaussian(),
        Own {
            draws_other_noise: true,
        },
    );
    assert!(!wrong.passed(), "{wrong}");
}
