//! Keys that do not go together are refused, each with what to change.

use std::num::NonZeroU32;
use std::sync::Arc;

use undertone::algorithm::{Algorithm, Completion, RatedRows, SHARES, SpectralRidge};
use undertone::data::{Dataset, Interactions};
use undertone::engine::SimulationError;
use undertone::engine::{NewSessionError, Simulation};
use undertone::papers::{
    CompletionMode, FrankWolfe, FrankWolfeParameters, Global, Local, ProjectedGradient, StepRule,
    SvdCompletion,
};
use undertone::plan::{PlanError, Promise};
use undertone::privacy::{Adjacency, SensitivityRule, SensitivitySpec};
use undertone::protocol::{PlannedRelease, SessionPlanError};
use undertone::scenario::Experiment;

use super::sims;
use crate::support::told;

fn refused(set: &[&str]) -> String {
    let set: Vec<String> = set.iter().map(ToString::to_string).collect();
    told(&Experiment::load(&sims().join("completion-small.toml"), &set).expect_err("refused"))
}

#[test]
fn keys_of_completion_that_do_not_fit_are_named() {
    let cases: &[(&[&str], &str)] = &[
        (&["algorithm.iterations=1"], "set algorithm.iterations = 2"),
        (
            &["completion.item_means=false"],
            "set algorithm.iterations = 1",
        ),
        (&["completion.shares=[0.5, 0.5, 0]"], "completion.shares"),
        (&["completion.shares=[0.5, 0.5, 0.5]"], "completion.shares"),
        (&["completion.shares=[nan, 0.5, 0.5]"], "completion.shares"),
        (&["completion.test_share=0"], "test_share must lie strictly"),
        (&["completion.test_share=1"], "test_share must lie strictly"),
        (
            &["completion.test_share=nan"],
            "test_share must lie strictly",
        ),
        (&["evaluation.holdout=0.2"], "leave them out"),
        (&["privacy.adjacency=interaction"], "\"replace-user\""),
        (&["privacy.adjacency=matrix"], "\"replace-user\""),
        (&["privacy.adjacency=entry"], "\"replace-user\""),
        (
            &["privacy.sensitivity=root-floor"],
            "sensitivity = \"unit-row\"",
        ),
        (&["privacy.sensitivity=exact"], "sensitivity = \"unit-row\""),
        (&["algorithm.kind=power"], "predicts none"),
        (&["algorithm.rank=101"], "rank = 101 needs"),
        (&["data.degree_cap=0"], "degree_cap"),
        (&["data.row_clip=1e308"], "a clip between 1e-150"),
        (&["data.row_clip=1e-300"], "a clip between 1e-150"),
        (&["data.ranges=[1e308, 1.7e308]"], "to be squared"),
        (&["data.scale=[0, 1e-320]"], "to be squared"),
        (&["engine.kind=analytic"], "analytic"),
        (&["privacy.budget=[1, 2]"], "weights"),
    ];
    for (set, words) in cases {
        let text = refused(set);
        assert!(text.contains(words), "{set:?}: {text}");
    }
}

/// What would leave nothing to predict, or nothing to clip predictions to.
#[test]
fn ratings_are_asked_for() {
    let without = |key: &str| {
        let text = std::fs::read_to_string(sims().join("completion-small.toml")).expect("there");
        let line = text.lines().find(|line| line.starts_with(key));
        let text = text.replace(line.expect("a line"), "");
        let read = undertone::config::Config::read(&text);
        let resolved = read.map_err(|error| error.to_string()).and_then(|config| {
            Experiment::resolve(config, &sims()).map_err(|error| error.to_string())
        });
        resolved.expect_err("refused")
    };
    for (key, words) in [
        ("values", "set values = \"ratings\""),
        ("ranges", "ranges is missing"),
        ("row_clip", "missing field `row_clip`"),
    ] {
        let text = without(key);
        assert!(text.contains(words), "{key}: {text}");
    }
}

const ITEMS: usize = 5;

const RATED: RatedRows = RatedRows {
    slots: 12,
    radius: 0.05,
    most_ratings: ITEMS,
    user_centred: false,
};

const RULES: [SensitivityRule; 4] = [
    SensitivityRule::UnitRow,
    SensitivityRule::Exact,
    SensitivityRule::RootFloor,
    SensitivityRule::MaxEntry,
];

/// The methods of completion, each with whether its noise covers users who are replaced.
fn completers() -> Vec<(Arc<dyn Algorithm>, bool)> {
    let frank_wolfe = |global, mode| {
        let parameters = FrankWolfeParameters {
            rank: 1,
            iterations: 3,
            rows: RATED,
            local: Local::FrankWolfe {
                nuclear: 3.0,
                step: StepRule::Constant,
            },
            global,
            mode,
        };
        FrankWolfe::new(ITEMS, parameters).expect("valid")
    };
    let svd = |mode| SvdCompletion::new(ITEMS, 1, RATED, mode).expect("valid");
    let ridge = |item_means| {
        let completion = Completion {
            rows: RATED,
            item_means,
            shares: SHARES,
        };
        SpectralRidge::new(ITEMS, 1, completion).expect("valid")
    };
    let gradient = ProjectedGradient::new(ITEMS, 1, 2, RATED, (3.0, 0.5)).expect("valid");
    let (tight, paper) = (CompletionMode::Tight, CompletionMode::Paper);
    let power = Global::Power { inner: 1 };
    vec![
        (Arc::new(frank_wolfe(Global::Covariance, tight)), true),
        (Arc::new(frank_wolfe(power, tight)), true),
        (Arc::new(frank_wolfe(Global::Covariance, paper)), false),
        (Arc::new(gradient), true),
        (Arc::new(svd(tight)), true),
        (Arc::new(svd(paper)), false),
        (Arc::new(ridge(true)), true),
        (Arc::new(ridge(false)), true),
    ]
}

/// A contribution is of rows that the algorithm shortens itself: in a row of 100 interactions under a floor of 100, each 1/100 of a unit, one more
/// may turn all of what is shortened to a small radius.
#[test]
fn rows_that_an_algorithm_makes_are_bounded_by_their_length_alone() {
    let users: Vec<Vec<u32>> = (0..12).map(|u| vec![u % 5]).collect();
    let dataset = || Dataset::Interactions {
        interactions: Interactions::from_rows(ITEMS, &users).expect("items"),
        degree_floor: NonZeroU32::new(100).expect("not 0"),
    };
    let of_interaction = Promise::new(1.0, 1e-5, Adjacency::Interaction).expect("valid");
    for (algorithm, replaced) in completers() {
        let what = format!("{algorithm:?}");
        let refused = Simulation::new(dataset(), Arc::clone(&algorithm), of_interaction.clone());
        match refused.seed(1).build() {
            Err(SimulationError::Session(NewSessionError::Plan(PlanError::Session(
                error @ SessionPlanError::OwnRows { .. },
            )))) => {
                let text = error.to_string();
                assert!(text.contains("set privacy.adjacency = \"user\""), "{text}");
            }
            other => panic!("{what}: {:?}", other.map(drop)),
        }
        let built = Simulation::new(dataset(), algorithm, Promise::none(Adjacency::User))
            .seed(1)
            .build();
        let built = built.expect("a user is bounded");
        let session = built.own_session();
        let plan = session.plan();
        let mut bounds = plan.releases().iter().flat_map(PlannedRelease::bounds);
        assert!(bounds.all(|one| one.bound(1.0) >= 1.0), "{what}");
        for adjacency in Adjacency::ALL {
            for rule in RULES {
                let mut parameters = plan.parameters().clone();
                parameters.sensitivity = SensitivitySpec::new(adjacency, rule, 100, None);
                let unit = rule == SensitivityRule::UnitRow;
                match (adjacency, plan.with(parameters)) {
                    (Adjacency::ReplaceUser, Err(error)) if unit && !replaced => {
                        assert!(
                            matches!(error, SessionPlanError::NotReplaced { .. }),
                            "{what}"
                        );
                        assert!(error.to_string().contains("\"tight\""), "{error}");
                    }
                    (Adjacency::User | Adjacency::ReplaceUser, Ok(_)) => {
                        assert!(unit, "{what}");
                        assert!(replaced || adjacency == Adjacency::User, "{what}");
                    }
                    (_, Err(SessionPlanError::OwnRows { .. })) if !unit => {}
                    (Adjacency::User | Adjacency::ReplaceUser, found) => {
                        panic!("{what} {adjacency} {rule}: {found:?}")
                    }
                    (_, found) => {
                        assert!(
                            matches!(found, Err(SessionPlanError::OwnRows { .. })),
                            "{what} {adjacency} {rule}: {found:?}"
                        );
                    }
                }
            }
        }
    }
}
