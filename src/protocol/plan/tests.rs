//! The hash of a plan tells every algorithm from every other, whichever of its numbers they differ in.

use std::collections::BTreeMap;

use super::super::values::Values;
use super::SessionParameters;
use crate::algorithm::{
    AlgorithmSpec, Clip, ClipRule, Completion, CompletionMode, Descent, FrankWolfeParameters,
    Global, Local, OjaStep, RatedRows, StepRule,
};
use crate::privacy::{Adjacency, SensitivityRule, SensitivitySpec};

const ITEMS: usize = 12;

fn digest(algorithm: &AlgorithmSpec) -> [u8; 32] {
    let built = algorithm.build(ITEMS).expect("valid numbers");
    let parameters = SessionParameters {
        peers: 3,
        dimension: ITEMS,
        algorithm: algorithm.clone(),
        sensitivity: SensitivitySpec::new(Adjacency::User, SensitivityRule::UnitRow, 1, None),
        sigma_own: 1.0,
        sigma_pairwise: 0.0,
        sigma_coordinate: 0.0,
        ring: None,
        laplace: None,
        noise_factors: Vec::new(),
        scale_rounds: 1,
        averaging_rounds: 3,
        values: Values::F64,
        schedule: [1; 32],
        topology: [2; 32],
        start: [3; 32],
    };
    parameters.digest(built.as_ref(), &built.releases(), &[])
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
fn small() -> Vec<AlgorithmSpec> {
    use AlgorithmSpec::{
        Covariance, Deflation, IsometricCovariance, Krylov, Momentum, Pilot, Power, Ppi,
        RakedCovariance, Streaming,
    };
    let mut all = vec![Pilot];
    for (rank, iterations) in [(2, 3), (3, 3), (2, 4)] {
        all.push(Power { rank, iterations });
        all.push(Streaming { rank, iterations });
        all.extend([0.1, 0.2].map(|momentum| Momentum {
            rank,
            iterations,
            momentum,
        }));
        all.extend([3, 4].map(|block| Krylov {
            rank,
            block,
            iterations,
        }));
        let steps = iterations;
        all.extend([0.05, 0.06].map(|eigenvalue_share| Deflation {
            rank,
            steps,
            eigenvalue_share,
        }));
    }
    for iterations in [3, 4] {
        all.extend([None, Some(2.0), Some(3.0)].map(|coherence| Ppi {
            iterations,
            coherence,
        }));
    }
    for rank in [2, 3] {
        all.extend([Covariance { rank }, IsometricCovariance { rank }]);
        all.extend([1, 2].map(|floor| RakedCovariance { rank, floor }));
    }
    all
}

fn clipped() -> Vec<AlgorithmSpec> {
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
    let of = |rank, iterations, clip| AlgorithmSpec::ClippedPower {
        rank,
        iterations,
        clip,
    };
    let mut all: Vec<_> = clips.iter().map(|clip| of(2, 3, *clip)).collect();
    all.extend([of(3, 3, clips[0]), of(2, 4, clips[0])]);
    all
}

fn completing() -> Vec<AlgorithmSpec> {
    let mut all = Vec::new();
    for (index, rows) in rows().into_iter().enumerate() {
        let spread = |rank, item_means, shares| AlgorithmSpec::SpectralRidge {
            rank,
            completion: Completion {
                rows,
                item_means,
                shares,
            },
        };
        let shares = [0.10, 0.05, 0.85];
        all.push(spread(2, true, shares));
        let svd = |rank, mode| AlgorithmSpec::Descent(Descent::Svd { rank, rows, mode });
        all.push(svd(2, CompletionMode::Tight));
        let gradient = |rank, iterations, nuclear, step_size| {
            AlgorithmSpec::Descent(Descent::Gradient {
                rank,
                iterations,
                rows,
                nuclear,
                step_size,
            })
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
        let of = |parameters| AlgorithmSpec::Descent(Descent::FrankWolfe(parameters));
        all.extend(directions.into_iter().map(of));
    }
    all
}

#[test]
fn algorithms_that_differ_in_one_number_have_names_of_their_own() {
    let all = [small(), clipped(), completing()].concat();
    let mut found = BTreeMap::new();
    for algorithm in &all {
        let other = found.insert(digest(algorithm), algorithm);
        assert!(other.is_none(), "{algorithm:?} and {other:?}");
    }
    assert!(all.len() > 80, "{}", all.len());
}
