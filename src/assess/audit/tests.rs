//! The audit against healthy and broken implementations.
//!
//! A healthy implementation fails with probability at most the stated significance; the seeds are fixed.

mod numbers;
mod ring;
mod rows;

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use rayon::prelude::*;

use super::attackers::AttackerKind;
use super::canary::{self, Filters};
use super::{Audit, AuditError, AuditOptions, audit, audit_filters, audit_sessions};
use crate::algorithm::PublicState;
use crate::engine::noise::Defect;
use crate::engine::{Session, Silent, lockstep};
use crate::privacy::{Adjacency, SensitivityRule, SensitivitySpec};
use crate::protocol::SessionPlan;
use crate::scenario::Experiment;
use crate::scenario::filters::Choices;
use crate::scenario::filters::mutations::old_hold_out;
use crate::scenario::testing::sim;
use crate::vocabulary::Seed;

/// A dozen peers on a random 4-regular graph, one iteration, no floor: the sensitivity bound is tight.
fn experiment(set: &[&str]) -> Experiment {
    let small = [
        "peers.count=12",
        "topology.degree=4",
        "data.items=30",
        "data.degree_floor=1",
        "algorithm.rank=2",
        "algorithm.iterations=1",
        "averaging.rounds=3",
        "privacy.epsilon=4",
        "seed=5",
    ];
    sim("../tests/power.toml", &[&small, set].concat()).expect("resolves")
}

fn options(trials: u32) -> AuditOptions {
    AuditOptions {
        trials,
        ..AuditOptions::default()
    }
}

fn broken(experiment: &Experiment, options: &AuditOptions, defect: Defect) -> Audit {
    let prepare = move |session: Session| session.with_defect(defect);
    audit_sessions(experiment, options, &prepare, &mut Silent).expect("runs")
}

/// Trials share what no seed changes; each is still the experiment under a seed of its own, on the rows of its world.
#[test]
fn every_trial_has_the_bits_of_a_session_of_its_own() {
    for set in [
        &[][..],
        &["noise.scheme=ring", "averaging={scheme=\"tree\"}"],
    ] {
        let experiment = experiment(set);
        let root = Seed::from_u64(experiment.config().seed);
        let start = Arc::clone(experiment.session(&root).start());
        let sums = Mutex::new(BTreeSet::new());
        let prepare = |session: Session| {
            let anew = experiment
                .session(session.seed())
                .with_start(Arc::clone(&start))
                .and_then(|anew| anew.with_rows(Arc::clone(session.rows())))
                .expect("fits");
            let [ours, theirs] = [&session, &anew].map(|session| {
                let outcome = lockstep::run(session, &mut Silent).expect("runs");
                let sum = outcome.records[0].sum.values().iter();
                sum.map(|x| x.to_bits()).collect::<Vec<u64>>()
            });
            assert_eq!(ours, theirs, "{set:?}");
            sums.lock().expect("no panic").insert(ours);
            session
        };
        audit_sessions(&experiment, &options(100), &prepare, &mut Silent).expect("runs");
        let different = sums.into_inner().expect("no panic").len();
        assert_eq!(different, 200, "noise of every trial of both worlds");
    }
}

/// A release of one column: how well the optimal attacker guesses depends on μ and on how many trials there are, and not on how many
/// numbers it sees.
const COLUMN: &str = "algorithm.rank=1";

#[test]
fn an_outside_observers_bound_comes_within_a_fifth_of_the_certificate() {
    let audit = audit(&experiment(&[COLUMN]), &options(12_000), &mut Silent).expect("runs");
    assert!(audit.passed, "{audit:?}");
    assert!(audit.canary.tightness > 0.999, "{audit:?}");
    assert!(audit.empirical_mu >= 0.8 * audit.certified_mu, "{audit:?}");
    assert!(
        (audit.pair_mu / audit.certified_mu - 1.0).abs() < 1e-3,
        "{audit:?}"
    );
}

/// A pilot that spends half the budget: the certificate is √½ of that of a whole one, reached to a fifth, and half its noise is too little.
#[test]
fn a_pilot_is_audited_against_its_part_of_the_budget() {
    let of = |adjacency| {
        experiment(&[
            "algorithm={kind=\"pilot\",rank=1,iterations=1}",
            "pilot.share=0.5",
            "privacy.epsilon=12",
            adjacency,
        ])
    };
    for adjacency in ["privacy.adjacency=interaction", "privacy.adjacency=user"] {
        let pilot = of(adjacency);
        let healthy = audit(&pilot, &options(8_000), &mut Silent).expect("runs");
        assert!(healthy.passed, "{healthy:?}");
        let whole = super::game::variance_factor(pilot.plan(), 0, &[]).expect("valid");
        assert!((healthy.certified_mu.powi(2) / whole - 0.5).abs() < 1e-9);
        // A user of 30 items reaches 9 of 16 thresholds of the counts, which have a fifth of the pilot; of the shares all that one can.
        let reached = match adjacency.ends_with("user") {
            true => f64::sqrt(0.2 * 9.0 / 16.0 + 0.8),
            false => 1.0,
        };
        assert!(
            (healthy.canary.tightness - reached).abs() < 1e-9,
            "{healthy:?}"
        );
        assert!(healthy.empirical_mu >= 0.8 * healthy.pair_mu, "{healthy:?}");
        let caught = broken(&pilot, &options(8_000), Defect::HalveOwnNoise);
        assert!(!caught.passed, "{caught:?}");
    }
}

#[test]
fn so_does_that_of_a_coalition_of_all_but_one_neighbour() {
    let experiment = experiment(&[COLUMN]);
    let neighbours = experiment.topology().graph().neighbours(3).to_vec();
    let options = AuditOptions {
        victim: Some("3".to_owned()),
        coalition: neighbours[1..].iter().map(u32::to_string).collect(),
        ..options(12_000)
    };
    let audit = audit(&experiment, &options, &mut Silent).expect("runs");
    let outside = super::game::variance_factor(experiment.plan(), 3, &[]).expect("valid");
    assert!(
        audit.certified_mu.powi(2) > outside,
        "collusion costs something"
    );
    assert!(
        audit.passed && audit.empirical_mu >= 0.8 * audit.certified_mu,
        "{audit:?}"
    );
}

#[test]
fn several_iterations_and_user_adjacency_stay_below_the_certificate() {
    let sets: [&[&str]; 6] = [
        &["algorithm.iterations=3"],
        &["privacy.adjacency=user", "algorithm.iterations=2"],
        &[
            "algorithm.kind=krylov",
            "algorithm.block=4",
            "algorithm.iterations=2",
        ],
        &[
            "algorithm.kind=krylov",
            "algorithm.iterations=2",
            "algorithm.start=popularity",
            "privacy.budget=[1, 5]",
        ],
        &["algorithm.kind=deflation", "algorithm.eigenvalue_share=0.4"],
        &[
            "algorithm.kind=deflation",
            "privacy.adjacency=user",
            "algorithm.rank=3",
        ],
    ];
    for set in sets {
        let audit = audit(&experiment(set), &options(3000), &mut Silent).expect("runs");
        assert!(
            audit.passed && audit.pair_mu <= audit.certified_mu,
            "{audit:?}"
        );
    }
}

#[test]
fn halved_noise_is_caught() {
    let audit = broken(&experiment(&[]), &options(3000), Defect::HalveOwnNoise);
    assert!(!audit.passed, "{audit:?}");
}

#[test]
fn a_reused_stream_is_caught() {
    let experiment = experiment(&["algorithm.iterations=2", "privacy.epsilon=2"]);
    let healthy = audit(&experiment, &options(3000), &mut Silent).expect("runs");
    assert!(healthy.passed, "{healthy:?}");
    let audit = broken(&experiment, &options(3000), Defect::ReuseStream);
    assert!(!audit.passed, "{audit:?}");
}

#[test]
fn pairwise_noise_of_a_tenth_is_caught_from_its_size() {
    // Certified epsilon 3.80, 5.14 is true. The attackers that know the plan alone stay below the certificate.
    let experiment = experiment(&[]);
    let audit = broken(&experiment, &options(12_000), Defect::ScalePairwise(0.1));
    assert!(audit.empirical_mu > audit.certified_mu, "{audit:?}");
    assert_eq!(audit.attacker, AttackerKind::ScaledPairwise);
}

#[test]
fn pairwise_noise_that_repeats_in_every_iteration_is_caught() {
    let experiment = experiment(&["algorithm.iterations=2"]);
    let audit = broken(&experiment, &options(9000), Defect::ReusePairwise);
    assert!(audit.empirical_mu > audit.certified_mu, "{audit:?}");
    assert_eq!(audit.attacker, AttackerKind::ReusedPairwise);
}

#[test]
fn a_forgotten_partner_is_caught() {
    // On a ring whose one neighbour colludes, the other neighbour's term is all that hides peer 0.
    let experiment = experiment(&["topology.generator=ring", "privacy.epsilon=2"]);
    let options = AuditOptions {
        victim: Some("0".to_owned()),
        coalition: vec!["11".to_owned()],
        ..options(3000)
    };
    let healthy = audit(&experiment, &options, &mut Silent).expect("runs");
    assert!(healthy.passed, "{healthy:?}");
    let audit = broken(&experiment, &options, Defect::ForgetPartner);
    assert!(!audit.passed, "{audit:?}");
}

#[test]
fn noise_scaled_by_a_private_norm_is_caught() {
    let experiment = experiment(&["privacy.adjacency=user"]);
    // What the victim's other users hold: the canary stands in the place of the first.
    let held = experiment.peer_rows()[0].entries() - experiment.interactions().row(0).len();
    let prepare = move |session: Session| {
        // The victim scales its noise by the norm of what it holds beyond the others: 1, or 3 with the canary.
        let factor = if session.rows()[0].entries() > held {
            3.0
        } else {
            1.0
        };
        session.with_defect(Defect::ScaleOwnNoise(factor))
    };
    let audit = audit_sessions(&experiment, &options(3000), &prepare, &mut Silent).expect("runs");
    assert!(!audit.passed, "{audit:?}");
    assert_eq!(audit.attacker, AttackerKind::ResidualSize);
}

#[test]
fn a_sensitivity_for_half_the_change_is_caught() {
    // The wrong factor in the adjacency: all peers agree on a Δ that is less than half of what one interaction
    // can do, as if rows had a degree floor that they do not have.
    let experiment = experiment(&[]);
    let prepare = |session: Session| {
        let mut parameters = session.plan().parameters().clone();
        parameters.sensitivity =
            SensitivitySpec::new(Adjacency::Interaction, SensitivityRule::Exact, 40, None);
        let statistic = session.start().max_row_norm();
        let sensitivity = |plan: &SessionPlan| plan.releases()[0].terms(statistic).sensitivity;
        let plan = session.plan().with(parameters).expect("valid");
        assert!(sensitivity(&plan) < 0.5 * sensitivity(session.plan()));
        session.with_plan(plan).expect("fits")
    };
    let audit = audit_sessions(&experiment, &options(3000), &prepare, &mut Silent).expect("runs");
    assert!(!audit.passed, "{audit:?}");
}

#[test]
fn all_noise_halved_is_caught() {
    let audit = broken(&experiment(&[]), &options(3000), Defect::HalveAllNoise);
    assert!(!audit.passed, "{audit:?}");
}

#[test]
fn a_plan_that_breaks_its_promise_fails_however_well_it_is_carried_out() {
    let mut experiment = experiment(&[]);
    experiment.config_mut().privacy.epsilon *= 0.5;
    let audit = audit(&experiment, &options(200), &mut Silent).expect("runs");
    assert!(
        !audit.passed && audit.empirical_mu <= audit.certified_mu,
        "{audit:?}"
    );
}

#[test]
fn what_cannot_be_audited_is_refused_with_a_reason() {
    let refused = |set: &[&str], options: &AuditOptions| {
        audit(&experiment(set), options, &mut Silent).expect_err("refused")
    };
    assert!(matches!(
        refused(&["noise.scheme=none"], &options(200)),
        AuditError::NoNoise
    ));
    assert!(matches!(
        refused(&["engine.kind=central"], &options(200)),
        AuditError::NoTranscript { .. }
    ));
    assert!(matches!(
        refused(&["privacy.adjacency=matrix"], &options(200)),
        AuditError::NoCanary { .. }
    ));
    assert!(matches!(
        refused(&[], &options(5)),
        AuditError::Trials { trials: 5 }
    ));
    for significance in [0.0, 1e-300, 0.9, f64::NAN] {
        let options = AuditOptions {
            significance,
            ..options(200)
        };
        assert!(matches!(
            refused(&[], &options),
            AuditError::Significance { .. }
        ));
    }
    for (victim, coalition) in [
        ("99", vec![]),
        ("1", vec!["1"]),
        ("0", vec!["3", "3"]),
        ("0", vec!["77"]),
        ("00", vec![]),
    ] {
        let options = AuditOptions {
            victim: Some(victim.to_owned()),
            coalition: coalition.into_iter().map(str::to_owned).collect(),
            ..options(200)
        };
        let error = refused(&[], &options);
        let colludes = victim == "1" && matches!(error, AuditError::VictimColludes { .. });
        assert!(colludes || matches!(error, AuditError::Name(_)), "{error}");
    }
}

#[test]
fn a_released_covariance_is_audited_as_tightly_and_half_its_noise_is_caught() {
    // At D = 4 a row of four items attains the bound.
    let set = [
        "algorithm.kind=covariance",
        "data.degree_floor=4",
        "data.items=16",
    ];
    let of_users = experiment(&[&set[..], &["privacy.adjacency=user"]].concat());
    let audited = audit(&of_users, &options(1500), &mut Silent).expect("runs");
    assert!(
        audited.passed && audited.canary.tightness > 0.999,
        "{audited:?}"
    );
    let experiment = experiment(&set);
    // The bound is found on half of the trials.
    let audited = audit(&experiment, &options(12_000), &mut Silent).expect("runs");
    assert!(
        audited.passed && audited.canary.tightness > 0.999,
        "{audited:?}"
    );
    assert!(
        audited.empirical_mu >= 0.6 * audited.certified_mu,
        "{audited:?}"
    );
    let audited = broken(&experiment, &options(3000), Defect::HalveOwnNoise);
    assert!(!audited.passed, "{audited:?}");
}

/// Blocks wider than the rank and an uneven budget change nothing about what half the noise gives away.
#[test]
fn half_of_krylov_s_noise_is_caught() {
    let set = [
        "algorithm.kind=krylov",
        "algorithm.block=4",
        "algorithm.iterations=2",
        "privacy.budget=[3, 1]",
    ];
    let experiment = experiment(&set);
    let healthy = audit(&experiment, &options(2000), &mut Silent).expect("runs");
    assert!(healthy.passed, "{healthy:?}");
    let audited = broken(&experiment, &options(2000), Defect::HalveOwnNoise);
    assert!(!audited.passed, "{audited:?}");
}

/// A fifth of all interactions is held out by a coin each. The canary is a record of the data as read: what the filters make
/// of one record more is audited with the rest.
#[test]
fn what_the_filters_make_of_one_record_is_audited() {
    let set = [
        "evaluation.holdout=0.2",
        "data.degree_floor=20",
        "data.items=200",
        "algorithm.rank=4",
        "privacy.epsilon=8",
    ];
    let experiment = experiment(&set);
    let healthy = audit(&experiment, &options(6000), &mut Silent).expect("runs");
    eprintln!("{healthy:?}");
    assert!(
        healthy.passed && healthy.pair_mu > 0.5 * healthy.certified_mu,
        "{healthy:?}"
    );
    // The same audit of a hold-out that looks at the length of a row: one rating more moves the others in and out.
    let audited = audit_filters(
        (&experiment).into(),
        &options(6000),
        old_hold_out(),
        &|session| session,
        &mut Silent,
    )
    .expect("runs");
    assert!(!audited.passed, "{audited:?}");
    assert!(audited.pair_mu > 1.2 * audited.certified_mu, "{audited:?}");
    assert!(audited.empirical_mu > audited.certified_mu, "{audited:?}");
}

/// In how many of the first `users` places of this sim the adversary finds data with one rating more that moves what a peer
/// contributes at X⁰ further than Δ, and the furthest, in units of Δ.
fn exceeding(set: &[&str], choices: Choices, users: usize) -> (usize, f64) {
    let experiment = sim("recommender-movielens.toml", set).expect("resolves");
    let session = experiment.session(&Seed::from_u64(experiment.config().seed));
    let start = Arc::clone(session.start());
    let sensitivity = experiment.sensitivity();
    let delta = sensitivity.bound(sensitivity.statistic().of(&start));
    let begun = PublicState::new(Arc::clone(&start));
    let filters = Filters::new(&experiment, choices);
    let ratios: Vec<f64> = (0..users)
        .into_par_iter()
        .map(|user| {
            let canary = canary::search(&filters, user, &start).expect("items are left");
            let simulation = experiment.simulation();
            canary.change(&simulation, &begun).norm() / delta
        })
        .collect();
    let exceed = ratios.iter().filter(|&&ratio| ratio > 1.0 + 1e-9).count();
    (exceed, ratios.iter().copied().fold(0.0, f64::max))
}

#[test]
fn no_neighbour_of_the_recommender_sim_moves_a_peer_further_than_its_sensitivity() {
    let (count, worst) = exceeding(&[], Choices::default(), 90);
    eprintln!("{count} of 90 exceed, at most {worst:.3} times the sensitivity");
    assert_eq!(count, 0, "{worst}");
    assert!(worst > 0.5, "the adversary tries: {worst}");
    let (count, worst) = exceeding(&[], old_hold_out(), 90);
    eprintln!("by length: {count} of 90 exceed, at most {worst:.3} times the sensitivity");
    assert!(count >= 45 && worst > 1.2, "{count} {worst}");
}

#[test]
fn the_canary_passes_the_item_list_and_a_cap() {
    let listed = experiment(&["data.items=8", "evaluation.holdout=0.3"]);
    let capped = experiment(&[
        "privacy.adjacency=user",
        "data.degree_cap=3",
        "data.degree_floor=3",
    ]);
    for experiment in [listed, capped] {
        let audited = audit(&experiment, &options(2000), &mut Silent).expect("runs");
        assert!(audited.passed && audited.canary.with > 0, "{audited:?}");
        assert!(audited.canary.tightness > 0.5, "{audited:?}");
    }
}
