//! What stands behind a mean, a P, a pilot or on a graph is what was proved to: quantities of releases alone do not say it.

use std::sync::Arc;

use undertone::algorithm::{
    Algorithm, Centred, Covariance, IsometricCovariance, Krylov, Momentum, NotPreconditioned,
    OnGraph, Pilot, PowerMethod, Precondition, Preconditioned, Prelude, Program, Proved,
    PublicState, RakedCovariance, RatedRows, Streaming, contribution,
};
use undertone::data::Dataset;
use undertone::engine::SimulationError;
use undertone::engine::{Session, Silent, Simulation, lockstep};
use undertone::linalg::{Block, ItemWeights, NotFullRank, SparseRows, start_block};
use undertone::papers::{
    CompletionMode, Deflation, FrankWolfe, FrankWolfeParameters, Global, Local,
    PrivatePowerIteration, StepRule,
};
use undertone::plan::{BudgetShare, PlanError, Promise};
use undertone::privacy::{Adjacency, SensitivityRule, SensitivitySpec};
use undertone::protocol::averaging::AveragingKind;
use undertone::vocabulary::Seed;

const COLUMNS: usize = 4;

/// Algorithms, each with whether it may follow a private mean and stand on P A P, and whether it may spend a part of a budget.
fn algorithms() -> Vec<(Arc<dyn Algorithm>, bool, bool)> {
    let ppi = |coherence| PrivatePowerIteration::new(COLUMNS, 2, coherence).expect("valid");
    vec![
        (
            Arc::new(PowerMethod::new(COLUMNS, 2, 2).expect("valid")),
            true,
            true,
        ),
        (
            Arc::new(Momentum::new(COLUMNS, 2, 2, 0.1).expect("valid")),
            true,
            true,
        ),
        (
            Arc::new(Krylov::new(COLUMNS, 1, 2, 2).expect("valid")),
            true,
            true,
        ),
        (
            Arc::new(Covariance::new(COLUMNS, 2).expect("valid")),
            true,
            true,
        ),
        (
            Arc::new(IsometricCovariance::new(COLUMNS, 2).expect("valid")),
            true,
            true,
        ),
        (
            Arc::new(RakedCovariance::new(COLUMNS, 2, 1).expect("valid")),
            false,
            true,
        ),
        (Arc::new(Pilot::new(COLUMNS).expect("valid")), false, true),
        // Of the form of the power method, in all that releases show.
        (Arc::new(ppi(None)), false, false),
        (Arc::new(ppi(Some(2.0))), false, false),
        (
            Arc::new(Deflation::new(COLUMNS, 2, 2, 0.1).expect("valid")),
            false,
            false,
        ),
        (
            Arc::new(Streaming::new(COLUMNS, 2, 2).expect("valid")),
            false,
            false,
        ),
        (Arc::new(in_products()), false, false),
    ]
}

/// Completion whose directions are found by products.
fn in_products() -> FrankWolfe {
    let parameters = FrankWolfeParameters {
        rank: 1,
        iterations: 2,
        rows: RatedRows {
            slots: 12,
            radius: 1.0,
            most_ratings: COLUMNS,
            user_centred: false,
        },
        local: Local::FrankWolfe {
            nuclear: 3.0,
            step: StepRule::Constant,
        },
        global: Global::Power { inner: 2 },
        mode: CompletionMode::Tight,
    };
    FrankWolfe::new(COLUMNS, parameters).expect("valid")
}

fn prelude() -> Prelude {
    Prelude {
        slots: 12,
        raw_clip: 2.0,
        radius: 1.0,
        unit_box: false,
        share: 0.2,
    }
}

fn weights(items: usize) -> Arc<ItemWeights> {
    let degrees: Vec<u32> = (1..=items as u32).collect();
    Arc::new(ItemWeights::of_degrees(&degrees, 0.25, 0.0).expect("in range"))
}

#[test]
fn only_what_is_about_the_matrix_alone_follows_a_private_mean_or_stands_on_weighed_items() {
    for (algorithm, fits, _) in algorithms() {
        let what = format!("{algorithm:?}");
        let centred = Centred::new(Arc::clone(&algorithm), prelude());
        assert_eq!(centred.is_ok(), fits, "{what}");
        if let Err(refused) = centred {
            let kind = algorithm.program().kind();
            assert!(refused.what.contains(kind.as_ref()), "{refused}");
            assert!(refused.to_string().contains("set algorithm.kind"));
        }
        let weighed = Preconditioned::new(Arc::clone(&algorithm), weights(COLUMNS));
        assert_eq!(weighed.is_ok(), fits, "{what}");
        if let Err(refused) = weighed {
            assert!(matches!(refused, NotPreconditioned::Unsupported(_)));
            assert!(refused.to_string().contains(Precondition::None.name()));
        }
    }
    // One inside the other is neither proved.
    let power: Arc<dyn Algorithm> = Arc::new(PowerMethod::new(COLUMNS, 2, 2).expect("valid"));
    let centred = Centred::new(Arc::clone(&power), prelude()).expect("fits");
    assert!(Preconditioned::new(Arc::new(centred), weights(COLUMNS)).is_err());
    let weighed = Preconditioned::new(power, weights(COLUMNS)).expect("fits");
    assert!(Centred::new(Arc::new(weighed), prelude()).is_err());
}

/// An algorithm of one's own whose releases are those of the power method, with whatever it states of itself.
#[derive(Debug)]
struct Stated(PowerMethod, Proved);

impl Algorithm for Stated {
    fn program(&self) -> Program {
        self.0.program().proved(self.1)
    }

    fn advance(
        &self,
        state: &PublicState,
        sum: &Arc<Block>,
        sigmas: &[f64],
    ) -> Result<PublicState, NotFullRank> {
        self.0.advance(state, sum, sigmas)
    }

    fn estimate(&self, state: &PublicState) -> Arc<Block> {
        self.0.estimate(state)
    }
}

#[test]
fn an_algorithm_of_one_s_own_goes_where_it_is_said_to_be_proved() {
    let power = PowerMethod::new(COLUMNS, 2, 2).expect("valid");
    let stated = |proved| -> Arc<dyn Algorithm> { Arc::new(Stated(power, proved)) };
    let silent = Proved::default();
    assert!(Centred::new(stated(silent), prelude()).is_err());
    assert!(Preconditioned::new(stated(silent), weights(COLUMNS)).is_err());
    assert!(OnGraph::new(stated(silent)).is_err());
    let of_the_matrix = Proved {
        matrix_only: true,
        ..silent
    };
    assert!(Centred::new(stated(of_the_matrix), prelude()).is_ok());
    assert!(Preconditioned::new(stated(of_the_matrix), weights(COLUMNS)).is_ok());
    assert!(OnGraph::new(stated(of_the_matrix)).is_err());
    let of_any_sign = Proved {
        indefinite: true,
        ..silent
    };
    assert!(Centred::new(stated(of_any_sign), prelude()).is_err());
    assert!(OnGraph::new(stated(of_any_sign)).is_ok());
}

fn samples(rows: &[[f64; COLUMNS]]) -> Dataset {
    let mut all = SparseRows::new(COLUMNS);
    for row in rows {
        all.push_row((0..).zip(*row)).expect("ascending");
    }
    Dataset::Samples {
        rows: all,
        radius: 1.0,
    }
}

#[test]
fn only_a_pilot_and_what_is_chosen_by_one_spend_a_part_of_a_budget() {
    let rows: Vec<[f64; COLUMNS]> = (0..12)
        .map(|i| [0.1, 0.2, 0.3, 0.05 * f64::from(i)])
        .collect();
    for (algorithm, _, fits) in algorithms() {
        let what = format!("{algorithm:?}");
        let promise = Promise {
            part: BudgetShare::after_pilot(0.1),
            ..Promise::new(1.0, 1e-5, Adjacency::User).expect("valid")
        };
        let built = Simulation::new(samples(&rows), algorithm, promise)
            .seed(1)
            .build();
        let refused = match built {
            Err(SimulationError::Plan(PlanError::Unsupported(why))) => {
                assert!(why.to_string().contains("leave [pilot] out"), "{why}");
                true
            }
            _ => false,
        };
        assert_eq!(refused, !fits, "{what}");
    }
}

#[test]
fn products_of_completion_do_not_run_on_a_private_graph() {
    for algorithm in [
        Arc::new(in_products()) as Arc<dyn Algorithm>,
        Arc::new(Momentum::new(COLUMNS, 1, 2, 0.1).expect("valid")),
        Arc::new(Krylov::new(COLUMNS, 1, 1, 2).expect("valid")),
    ] {
        let what = format!("{algorithm:?}");
        let refused = OnGraph::new(Arc::clone(&algorithm)).expect_err(&what);
        assert!(refused.to_string().contains("private graph"), "{refused}");
        let edges = vec![(0, 1), (1, 2), (2, 3), (0, 3)];
        let dataset = Dataset::Graph { vertices: 4, edges };
        let promise = Promise::new(1.0, 1e-5, Adjacency::Edge).expect("valid");
        let built = Simulation::new(dataset, algorithm, promise).seed(1).build();
        assert!(matches!(built, Err(SimulationError::OnGraph(_))), "{what}");
    }
}

/// What is released is A Q, for the query Q of the public state, and the bound is that of Q: weights are public constants.
#[test]
fn weighed_vertices_of_a_private_graph_cost_what_an_edge_does() {
    const VERTICES: usize = 8;
    let all: Vec<(u32, u32)> = (0..8)
        .flat_map(|u| (u + 1..8).map(move |v| (u, v)))
        .filter(|(u, v)| (3 * u + v) % 5 != 0)
        .collect();
    let power = PowerMethod::new(VERTICES, 1, 3).expect("valid");
    let weighed = Preconditioned::new(Arc::new(power), weights(VERTICES)).expect("fits");
    let of = |edges: &[(u32, u32)], adjacency| {
        let dataset = Dataset::Graph {
            vertices: VERTICES,
            edges: edges.to_vec(),
        };
        let promise = Promise::new(1.0, 1e-5, adjacency).expect("valid");
        let built = Simulation::new(dataset, weighed.clone(), promise);
        let built = built.averaging(AveragingKind::Tree).seed(1).build();
        built.expect("runs").own_session()
    };
    for adjacency in [Adjacency::Edge, Adjacency::EntryBipartite] {
        let session = of(&all, adjacency);
        let outcome = lockstep::run(&session, &mut Silent).expect("runs");
        let algorithm = session.plan().algorithm();
        let mut reached = 0.0_f64;
        for gone in 0..all.len() {
            let mut fewer = all.clone();
            fewer.remove(gone);
            let other = of(&fewer, adjacency);
            for (record, planned) in outcome.records.iter().zip(session.plan().releases()) {
                let state = PublicState::new(Arc::clone(&record.query));
                let change: f64 = (0..VERTICES)
                    .map(|vertex| {
                        let shape = session.plan().program().releases[0].shape();
                        let held = |session: &Session| {
                            contribution(algorithm, &session.rows()[vertex], state.history(), shape)
                        };
                        let mut change = held(&session);
                        change.add_scaled(-1.0, &held(&other));
                        change.norm().powi(2)
                    })
                    .sum();
                let bound = planned.bounds()[0].bound(planned.statistic().of(&record.query));
                assert!(change.sqrt() <= bound * (1.0 + 1e-9), "{adjacency} {gone}");
                reached = reached.max(change.sqrt() / bound);
            }
        }
        assert!(reached > 0.99, "{adjacency}: {reached}");
    }
}

/// Rows that are shortened to norm 1 turn with one number, and without a public range of it the bound must cover that.
#[test]
fn one_number_of_a_row_that_is_shortened_costs_a_whole_row() {
    let held = |first: f64| {
        let rows = samples(&[[first, 1.0, 0.0, 0.0]]).rows();
        rows.expect("finite")
    };
    let (one, other) = (held(1e6), held(0.0));
    let spec = SensitivitySpec::new(Adjacency::Rating, SensitivityRule::UnitRow, 1, None);
    let algorithms: [Arc<dyn Algorithm>; 3] = [
        Arc::new(Covariance::new(COLUMNS, 1).expect("valid")),
        Arc::new(IsometricCovariance::new(COLUMNS, 1).expect("valid")),
        Arc::new(PowerMethod::new(COLUMNS, COLUMNS, 1).expect("valid")),
    ];
    for algorithm in algorithms {
        let program = algorithm.program();
        let start = start_block(&Seed::from_u64(1), COLUMNS, program.query_columns);
        let state = PublicState::new(Arc::new(start.expect("full rank")));
        let shape = program.releases[0].shape();
        let of = |rows| contribution(algorithm.as_ref(), rows, state.history(), shape);
        let mut change = of(&one);
        change.add_scaled(-1.0, &of(&other));
        let block = &program.releases[0].blocks[0];
        let bound = spec.of(block.quantity, block.columns).expect("proved");
        let reached = change.norm() / bound.bound(bound.statistic().of(&state.query));
        assert!(
            (0.999..=1.0 + 1e-9).contains(&reached),
            "{}: {reached}",
            program.name
        );
    }
}

/// A mean before rows in memory is asked like that of a file.
#[test]
fn rows_in_memory_take_a_mean_only_before_what_is_about_the_matrix_alone() {
    let rows: Vec<[f64; COLUMNS]> = (0..12)
        .map(|i| [0.1, 0.2, 0.3, 0.05 * f64::from(i)])
        .collect();
    for (algorithm, fits, _) in algorithms() {
        let what = format!("{algorithm:?}");
        let promise = Promise::new(1.0, 1e-5, Adjacency::User).expect("valid");
        let built = Simulation::new(samples(&rows), algorithm, promise)
            .centred(0.5, 0.2)
            .seed(1)
            .build();
        assert_eq!(built.is_ok(), fits, "{what}: {:?}", built.err());
    }
}
