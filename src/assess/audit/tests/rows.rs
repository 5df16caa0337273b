//! Audits of simulations whose rows are in memory.

use super::super::{AuditError, audit, audit_sessions};
use super::options;
use crate::algorithm::PowerMethod;
use crate::data::Dataset;
use crate::engine::SimulationBuilder;
use crate::engine::noise::Defect;
use crate::engine::{Federated, Session, Silent, Simulation};
use crate::linalg::SparseRows;
use crate::plan::{Noise, Promise};
use crate::privacy::Adjacency;

/// Twelve peers with two rows each.
fn simulation(promise: Promise) -> SimulationBuilder {
    let mut rows = SparseRows::new(3);
    for i in 0..24_u32 {
        let x = f64::from(i);
        rows.push_row([(0, x.cos()), (1, x.sin())])
            .expect("ascending");
    }
    let dataset = Dataset::Samples { rows, radius: 1.0 };
    let algorithm = PowerMethod::new(3, 1, 1).expect("valid");
    Simulation::new(dataset, algorithm, promise).peers(12)
}

fn promise(adjacency: Adjacency) -> Promise {
    Promise::new(4.0, 1e-5, adjacency).expect("valid")
}

#[test]
fn rows_in_memory_stay_below_the_certificate_and_halved_noise_does_not() {
    for adjacency in [Adjacency::User, Adjacency::ReplaceUser] {
        let simulation = simulation(promise(adjacency)).build().expect("valid");
        let honest = audit(&simulation, &options(4_000), &mut Silent).expect("runs");
        assert!(honest.passed, "{honest:?}");
        assert!(honest.pair_mu > 0.2 * honest.certified_mu, "{honest:?}");
        let halved = |session: Session| session.with_defect(Defect::HalveAllNoise);
        let options = options(4_000);
        let broken = audit_sessions(&simulation, &options, &halved, &mut Silent).expect("runs");
        assert!(!broken.passed, "{broken:?}");
    }
}

#[test]
fn what_cannot_be_audited_is_refused() {
    let refused = |builder: SimulationBuilder| {
        let simulation = builder.build().expect("valid");
        audit(&simulation, &options(200), &mut Silent).expect_err("refused")
    };
    let none = refused(simulation(Promise::none(Adjacency::User)));
    assert!(matches!(none, AuditError::NoNoise));
    let sums = refused(simulation(promise(Adjacency::User)).runner(Federated));
    assert!(matches!(
        sums,
        AuditError::NoTranscript {
            engine: "federated"
        }
    ));
    let pure = Promise::pure(4.0, Adjacency::User).expect("valid");
    let laplace = refused(simulation(pure.with_noise(Noise::laplace())));
    assert!(matches!(laplace, AuditError::Laplace));
}
