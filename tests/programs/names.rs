//! The hash of a plan tells every algorithm from every other, whichever of its numbers they differ in.

use std::collections::BTreeMap;
use std::sync::Arc;

use undertone::algorithm::{
    Algorithm, AlgorithmError, Completion, Covariance, IsometricCovariance, Krylov, Momentum,
    Pilot, PowerMethod, RakedCovariance, RatedRows, SpectralRidge, Streaming,
};
use undertone::papers::{
    Clip, ClipRule, ClippedPower, CompletionMode, Deflation, FrankWolfe, FrankWolfeParameters,
    Global, Local, OjaStep, PrivatePowerIteration, ProjectedGradient, StepRule, SvdCompletion,
};
use undertone::privacy::{Adjacency, SensitivityRule, SensitivitySpec};
use undertone::protocol::{SessionParameters, SessionPlan, Values};

const ITEMS: usize = 12;

type Named = (String, Arc<dyn Algorithm>);

fn of(algorithm: Result<impl Algorithm + 'static, AlgorithmError>) -> Named {
    let algorithm = algorithm.expect("valid numbers");
    (format!("{algorithm:?}"), Arc::new(algorithm))
}

/// The hash of a plan that is the same for all but for what the algorithm declares, under the first rule that bounds what it releases.
fn digest(algorithm: &Arc<dyn Algorithm>) -> [u8; 32] {
    let rules = [
        (Adjacency::User, SensitivityRule::UnitRow, 1),
        (Adjacency::User, SensitivityRule::Exact, 1),
        (Adjacency::Interaction, SensitivityRule::Exact, 1),
        (Adjacency::Interaction, SensitivityRule::Exact, 2),
        (Adjacency::Entry, SensitivityRule::Exact, 1),
    ];
    let planned = rules.into_iter().find_map(|(adjacency, rule, floor)| {
        let parameters = SessionParameters {
            peers: 3,
            program: Arc::new(algorithm.program()),
            sensitivity: SensitivitySpec::new(adjacency, rule, floor, None),
            sigma_own: 0.0,
            sigma_pairwise: 0.0,
            sigma_coordinate: 0.0,
            ring: None,
            laplace: None,
            wishart: None,
            noise_factors: Vec::new(),
            scale_rounds: 1,
            averaging_rounds: 3,
            values: Values::F64,
            schedule: [1; 32],
            topology: [2; 32],
            start: [3; 32],
        };
        SessionPlan::new(parameters, Arc::clone(algorithm)).ok()
    });
    *planned
        .unwrap_or_else(|| panic!("no rule bounds {algorithm:?}"))
        .digest()
}

/// Rows, and the same with one number changed.
fn rows() -> [RatedRows; 5] {
    let one = RatedRows {
        slots: 30,
        radius: 2.0,
        most_ratings: 5,
        user_centred: false,
    };
    [
        one,
        RatedRows { slots: 31, ..one },
        RatedRows { radius: 2.5, ..one },
        RatedRows {
            most_ratings: 6,
            ..one
        },
        RatedRows {
            user_centred: true,
            ..one
        },
    ]
}

/// Those whose numbers are rank, iterations and at most one more.
fn small() -> Vec<Named> {
    let n = ITEMS;
    let mut all = vec![of(Pilot::new(n))];
    for (rank, iterations) in [(2, 3), (3, 3), (2, 4)] {
        all.push(of(PowerMethod::new(n, rank, iterations)));
        all.push(of(Streaming::new(n, rank, iterations)));
        all.extend([0.1, 0.2].map(|beta| of(Momentum::new(n, rank, iterations, beta))));
        all.extend([3, 4].map(|block| of(Krylov::new(n, rank, block, iterations))));
        all.extend([0.05, 0.06].map(|share| of(Deflation::new(n, rank, iterations, share))));
    }
    for iterations in [3, 4] {
        let ppi = |coherence| of(PrivatePowerIteration::new(n, iterations, coherence));
        all.extend([None, Some(2.0), Some(3.0)].map(ppi));
    }
    for rank in [2, 3] {
        all.push(of(Covariance::new(n, rank)));
        all.push(of(IsometricCovariance::new(n, rank)));
        all.extend([1, 2].map(|floor| of(RakedCovariance::new(n, rank, floor))));
    }
    all
}

fn clipped() -> Vec<Named> {
    let mut clips = Vec::new();
    for rule in [
        ClipRule::Histogram,
        ClipRule::Geometric,
        ClipRule::SparseVector,
    ] {
        let one = Clip {
            rule,
            share: 0.1,
            quantile: 0.95,
            lag: false,
            slots: 30,
            test_epsilon: match rule {
                ClipRule::SparseVector => 0.2,
                _ => 0.0,
            },
        };
        clips.extend([
            one,
            Clip { share: 0.2, ..one },
            Clip {
                quantile: 0.9,
                ..one
            },
            Clip { slots: 31, ..one },
        ]);
        match rule {
            ClipRule::Histogram => clips.push(Clip { lag: true, ..one }),
            ClipRule::SparseVector => clips.push(Clip {
                test_epsilon: 0.3,
                ..one
            }),
            _ => {}
        }
    }
    let power = |rank, iterations, clip| of(ClippedPower::new(ITEMS, rank, iterations, clip));
    let mut all: Vec<_> = clips.iter().map(|clip| power(2, 3, *clip)).collect();
    all.extend([power(3, 3, clips[0]), power(2, 4, clips[0])]);
    all
}

fn completing() -> Vec<Named> {
    let mut all = Vec::new();
    for (index, rows) in rows().into_iter().enumerate() {
        let spread = |rank, item_means, shares| {
            let completion = Completion {
                rows,
                item_means,
                shares,
            };
            of(SpectralRidge::new(ITEMS, rank, completion))
        };
        let shares = [0.10, 0.05, 0.85];
        all.push(spread(2, true, shares));
        let svd = |rank, mode| of(SvdCompletion::new(ITEMS, rank, rows, mode));
        all.push(svd(2, CompletionMode::Tight));
        let gradient = |rank, iterations, nuclear, step_size| {
            let numbers = (nuclear, step_size);
            of(ProjectedGradient::new(
                ITEMS, rank, iterations, rows, numbers,
            ))
        };
        all.push(gradient(2, 3, 9.0, 0.5));
        let step = StepRule::Constant;
        let published = FrankWolfeParameters {
            rank: 2,
            iterations: 3,
            rows,
            local: Local::FrankWolfe { nuclear: 9.0, step },
            global: Global::Covariance,
            mode: CompletionMode::Tight,
        };
        let ridge = FrankWolfeParameters {
            local: Local::Ridge,
            ..published
        };
        let mut directions = vec![published, ridge];
        if index == 0 {
            all.extend([
                spread(3, true, shares),
                spread(2, false, shares),
                spread(2, true, [0.11, 0.05, 0.84]),
                spread(2, true, [0.10, 0.06, 0.84]),
                svd(3, CompletionMode::Tight),
                svd(2, CompletionMode::Paper),
                gradient(3, 3, 9.0, 0.5),
                gradient(2, 4, 9.0, 0.5),
                gradient(2, 3, 8.0, 0.5),
                gradient(2, 3, 9.0, 0.4),
            ]);
            let with = |local, global| FrankWolfeParameters {
                local,
                global,
                ..published
            };
            let other = StepRule::Standard;
            directions.extend([
                FrankWolfeParameters {
                    rank: 3,
                    ..published
                },
                FrankWolfeParameters {
                    iterations: 4,
                    ..published
                },
                FrankWolfeParameters {
                    iterations: 4,
                    mode: CompletionMode::Paper,
                    ..published
                },
                with(Local::FrankWolfe { nuclear: 8.0, step }, Global::Covariance),
                with(
                    Local::FrankWolfe {
                        nuclear: 9.0,
                        step: other,
                    },
                    Global::Covariance,
                ),
            ]);
            for inner in [2, 3] {
                directions.push(with(published.local, Global::Power { inner }));
                directions.extend(
                    [OjaStep::Theorem, OjaStep::Printed]
                        .map(|step| with(published.local, Global::Oja { inner, step })),
                );
            }
        }
        let frank_wolfe = |parameters| of(FrankWolfe::new(ITEMS, parameters));
        all.extend(directions.into_iter().map(frank_wolfe));
    }
    all
}

#[test]
fn algorithms_that_differ_in_one_number_have_names_of_their_own() {
    let all = [small(), clipped(), completing()].concat();
    let mut found = BTreeMap::new();
    for (name, algorithm) in &all {
        let other = found.insert(digest(algorithm), name);
        assert!(other.is_none(), "{name} and {other:?}");
    }
    assert!(all.len() > 80, "{}", all.len());
}
