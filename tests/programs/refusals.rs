//! What no program of releases may do, and two rules for one quantity that must not share noise.

use std::sync::Arc;

use undertone::algorithm::{
    Algorithm, Krylov, LocalData, Momentum, PowerMethod, Program, PublicState, ReleaseSpec,
};
use undertone::data::{Dataset, Partition};
use undertone::engine::Simulation;
use undertone::engine::SimulationError;
use undertone::engine::{PeerRows, SessionError, Silent, lockstep};
use undertone::linalg::{Block, NotFullRank, orthonormalise};
use undertone::plan::Promise;
use undertone::privacy::{Adjacency, Public, Rule, SensitivityRule, SensitivitySpec, Statistic};
use undertone::protocol::averaging::AveragingKind;
use undertone::protocol::{SessionPlan, SessionPlanError};
use undertone::vocabulary::{Quantity, Seed};

use super::{ITEMS, Setting, local, users};

const WHOLE: Quantity = Quantity::Own("a product under a name of its own");

/// The power method, with whatever declarations a test wants.
#[derive(Clone, Debug)]
struct Declaring(Vec<ReleaseSpec>);

impl Algorithm for Declaring {
    fn program(&self) -> Program {
        Program::of("declaring", ITEMS, 2, self.0.clone())
    }

    fn advance(
        &self,
        state: &PublicState,
        sum: &Arc<Block>,
        sigmas: &[f64],
    ) -> Result<PublicState, NotFullRank> {
        let mut next = state.followed_by(sum, sigmas);
        next.query = Arc::new(orthonormalise(sum)?);
        Ok(next)
    }

    fn estimate(&self, state: &PublicState) -> Arc<Block> {
        Arc::clone(&state.query)
    }
}

fn products() -> Vec<ReleaseSpec> {
    ReleaseSpec::products(2, ITEMS, 2)
}

fn setting(adjacency: Adjacency) -> Setting {
    Setting {
        sensitivity: SensitivitySpec::new(adjacency, SensitivityRule::Exact, 1, None),
        averaging: AveragingKind::Tree,
        sigmas: [0.3, 2.0, 0.0],
    }
}

/// What a plan says to these declarations.
fn declared(
    adjacency: Adjacency,
    change: impl FnOnce(&mut Vec<ReleaseSpec>),
) -> Result<(), SessionPlanError> {
    let valid = setting(adjacency).session(Arc::new(Declaring(products())), &local(users(true)), 1);
    let mut releases = products();
    change(&mut releases);
    let mut parameters = valid.plan().parameters().clone();
    let declaring = Declaring(releases);
    parameters.program = Arc::new(declaring.program());
    SessionPlan::new(parameters, Arc::new(declaring)).map(drop)
}

#[test]
fn declarations_that_would_be_charged_too_little_are_refused() {
    let rejects = |adjacency, change: fn(&mut Vec<ReleaseSpec>), what: &str| {
        let refused = declared(adjacency, change).expect_err(what);
        assert!(refused.to_string().contains(what), "{refused}");
    };
    assert!(declared(Adjacency::User, |_| {}).is_ok());
    // A bound for one column under a query of two.
    rejects(
        Adjacency::User,
        |all| all[0].blocks[0].columns = 1,
        "columns",
    );
    rejects(
        Adjacency::User,
        |all| all[0].blocks[0].shape = (ITEMS, 1),
        "one row per item",
    );
    // A change of a matrix may be spread over all batches.
    rejects(
        Adjacency::Matrix,
        |all| all[0].batch = Some(0),
        "spread over all",
    );
    assert!(declared(Adjacency::User, |all| all[0].batch = Some(0)).is_ok());
    rejects(
        Adjacency::User,
        |all| all[0].blocks[0].weight = 0.5,
        "add up to 1",
    );
    rejects(Adjacency::User, |all| all[1].share = f64::NAN, "shares");
    rejects(Adjacency::User, |all| all.clear(), "at least one release");
    rejects(
        Adjacency::User,
        |all| all[0].blocks.clear(),
        "at least one block",
    );
    // Numbers whose bound nobody brought.
    let refused = declared(Adjacency::User, |all| all[0].blocks[0].quantity = WHOLE);
    assert!(
        matches!(refused, Err(SessionPlanError::Sensitivity(_))),
        "{refused:?}"
    );
}

#[test]
fn a_program_of_batches_refuses_rows_without_numbers() {
    let mut releases = products();
    releases[0].batch = Some(0);
    let session = setting(Adjacency::User);
    let numbered: Vec<LocalData> = users(true)
        .into_iter()
        .map(|rows| LocalData::in_batches(rows, &[0, 1]).expect("one per row"))
        .collect();
    let session = session.session(Arc::new(Declaring(releases)), &numbered, 1);
    let mut peers = numbered;
    peers[3] = users(true).swap_remove(3).into();
    let refused = session.with_rows(Arc::new(PeerRows::of_local(&peers)));
    assert!(
        matches!(refused, Err(SessionError::Batches { .. })),
        "{refused:?}"
    );
}

struct One;
struct Half;

macro_rules! bounded {
    ($rule:ident, $bound:literal) => {
        impl Rule for $rule {
            const ADJACENCY: Adjacency = Adjacency::User;
            const QUANTITY: Quantity = WHOLE;

            fn statistic(_: &Public) -> Statistic {
                Statistic::None
            }

            fn bound(_: &Public, _: f64) -> f64 {
                $bound
            }
        }
    };
}

bounded!(One, 1.0);
bounded!(Half, 0.5);

/// One seed, the same rows, one quantity, two bounds: with shared noise twice the second sum less the first would be the exact
/// one. It is off by noise of both.
#[test]
fn two_rules_for_one_quantity_are_two_sessions_with_noise_of_their_own() {
    let mut releases = products();
    for release in &mut releases {
        release.blocks[0].quantity = WHOLE;
    }
    let with = |sensitivity: SensitivitySpec| {
        let setting = Setting {
            sensitivity,
            ..setting(Adjacency::User)
        };
        setting.session(
            Arc::new(Declaring(releases.clone())),
            &local(users(true)),
            9,
        )
    };
    let plain = || SensitivitySpec::new(Adjacency::User, SensitivityRule::Exact, 1, None);
    let (one, half) = (
        with(plain().with_rule::<One>()),
        with(plain().with_rule::<Half>()),
    );
    assert_ne!(one.plan().session(), half.plan().session());
    let sum = |session| {
        let outcome = lockstep::run(session, &mut Silent).expect("runs");
        outcome.records[0].sum.values().to_vec()
    };
    let exact = one.all_rows().gram_product(one.start());
    let pairs = sum(&one).into_iter().zip(sum(&half)).zip(exact.values());
    let solved = pairs
        .map(|((y, z), x)| (2.0 * z - y - x).abs())
        .fold(0.0, f64::max);
    assert!(solved > 0.05, "{solved}");
}

#[test]
fn graphs_are_promised_entries_and_edges_and_nothing_else() {
    // An entry of a bipartite graph's matrix is an edge, and is charged as one.
    let proved = [Adjacency::Entry, Adjacency::Edge, Adjacency::EntryBipartite];
    let dataset = || Dataset::Graph {
        vertices: 6,
        edges: vec![(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (0, 5)],
    };
    let power = PowerMethod::new(6, 1, 2).expect("valid");
    for adjacency in Adjacency::ALL {
        let privacy = Promise::new(1.0, 1e-5, adjacency).expect("valid");
        let built = Simulation::new(dataset(), power, privacy).seed(1).build();
        assert_eq!(built.is_ok(), proved.contains(&adjacency), "{adjacency}");
        if let Err(error) = built {
            let text = error.to_string();
            assert!(text.contains("edge + exact"), "{adjacency}: {text}");
        }
    }
    // Of largest |λ| a power finds the eigenvectors, and a polynomial that grows above 0 does not.
    let grow: [Arc<dyn Algorithm>; 2] = [
        Arc::new(Momentum::new(6, 1, 2, 0.1).expect("valid")),
        Arc::new(Krylov::new(6, 1, 1, 2).expect("valid")),
    ];
    for algorithm in grow {
        let privacy = Promise::new(1.0, 1e-5, Adjacency::Edge).expect("valid");
        let refused = Simulation::new(dataset(), algorithm, privacy)
            .seed(1)
            .build();
        let text = refused.expect_err("negative eigenvalues").to_string();
        assert!(text.contains("negative eigenvalues"), "{text}");
    }
    let plain = Simulation::new(dataset(), power, Promise::none(Adjacency::Edge));
    assert!(plain.clone().seed(1).build().is_ok());
    let refused = plain.peers(3).seed(1).build();
    assert!(matches!(refused, Err(SimulationError::Vertices { .. })));
    let rows = dataset().dealt(6, Partition::RoundRobin, &Seed::from_u64(1));
    assert_eq!(rows.expect("simple")[0].row(0).0, [1, 5]);
}
