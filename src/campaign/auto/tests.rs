//! A pilot, a choice and a run on the embedded ratings: one promise for both, kept, stated and recomputed.

use std::path::{Path, PathBuf};

use super::*;
use crate::algorithm::TAIL_WEIGHT;
use crate::config::read_config;
use crate::plan::BudgetShare;
use crate::privacy::{Epsilon, accountant};
use crate::run::receipt::ReceiptError;
use crate::vocabulary::ReleaseId;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests")
}

/// 16 peers on a 4-regular graph, 30 items, a tree.
fn config(set: &[&str]) -> Config {
    let small = [
        "peers.count=16",
        "topology.degree=4",
        "data.items=30",
        "averaging={scheme=\"tree\"}",
        "algorithm={kind=\"auto\",rank=2}",
        "pilot.share=0.05",
        "seed=11",
    ];
    let set: Vec<String> = small.iter().chain(set).map(ToString::to_string).collect();
    read_config(&folder().join("power.toml"), &set).expect("valid keys")
}

fn open(set: &[&str]) -> Auto {
    Auto::new(config(set), &folder()).unwrap_or_else(|error| panic!("{error}"))
}

/// One guess: what is chosen is not what is tested.
fn chosen(set: &[&str]) -> Chosen {
    let guesses = [Guess::new(1.5, 1.0, 1.5)];
    let chosen = open(set).choose(&guesses, &|_, _| ());
    chosen.unwrap_or_else(|error| panic!("{error}"))
}

fn failures(receipt: &Receipt) -> Vec<String> {
    let findings = receipt.check().expect("can be checked");
    let failed = findings.into_iter().filter(|finding| !finding.agrees);
    failed.map(|finding| finding.what).collect()
}

/// The exact μ² of a session about the worst-placed honest peer.
fn spent(experiment: &Experiment, coalition: &[u32]) -> f64 {
    let noise = experiment.noise();
    let factors = accountant::exact_variance_factors(
        experiment.noise_topology().graph(),
        noise.sigma_own().powi(2),
        noise.sigma_pairwise().powi(2),
        coalition,
    );
    let factors = factors.expect("valid");
    let worst = factors.into_iter().flatten().fold(0.0, f64::max);
    experiment.even_iterations() * worst
}

/// By brute force: the exact losses of both sessions about the worst peer add up to the μ² of the plan, against an observer and against every
/// single peer.
#[test]
fn both_sessions_together_spend_what_one_would() {
    let chosen = chosen(&[]);
    let pilot = &chosen.pilot.as_ref().expect("a pilot").experiment;
    let run = &chosen.experiment;
    let alone = run.part().expect("a part").get() + pilot.part().expect("a part").get();
    assert!((alone - 1.0).abs() < 1e-15);
    let all: f64 = run.calibrated().mu_total().powi(2);
    let exact = |coalition: &[u32]| spent(pilot, coalition) + spent(run, coalition);
    // An observer learns no more than from a curator, and no less than the extra noise of pairwise terms hides.
    assert!(exact(&[]) <= all * (1.0 + 1e-9) && exact(&[]) >= 0.9 * all);
    let promised = run.noise().views().iter().find(|view| view.colluders == 1);
    let promised = promised.expect("the view asked for").mu.powi(2);
    let worst = (0..16).map(|peer| exact(&[peer])).fold(0.0, f64::max);
    assert!(
        worst <= promised * (1.0 + 1e-9) && worst >= 0.9 * promised,
        "{worst} of {promised}"
    );
    // The pilot has its share of that, to rounding.
    assert!((spent(pilot, &[3]) / exact(&[3]) / 0.05 - 1.0).abs() < 1e-6);
}

#[test]
fn one_receipt_lists_both_and_finds_what_was_changed() {
    let chosen = chosen(&[]);
    let report = chosen.run(&mut Silent).expect("runs");
    let honest = report.receipt;
    assert_eq!(failures(&honest), Vec::<String>::new());
    assert_eq!(report.summary.pilot, honest.pilot);
    let text = serde_json::to_string(&honest).expect("writable");
    let read: Receipt = serde_json::from_str(&text).expect("readable");
    assert_eq!(failures(&read), Vec::<String>::new());
    let factor = 0.95_f64.sqrt().recip();
    assert!((honest.releases[0].noise_factor - factor).abs() < 1e-12);
    let pilot = honest.pilot.as_ref().expect("listed");
    let counts = &chosen.pilot.as_ref().expect("a pilot").counts;
    assert_eq!(pilot.counts, counts.counts());
    assert_eq!(
        (&pilot.shares[..], pilot.shares.len()),
        (counts.shares(), 30)
    );
    let found = |change: &dyn Fn(&mut Receipt)| {
        let mut receipt = honest.clone();
        change(&mut receipt);
        failures(&receipt)
    };
    let of_pilot = |change: fn(&mut PilotReceipt)| {
        found(&|receipt| change(receipt.pilot.as_mut().expect("listed")))
    };
    // What finds a basis is no pilot, and spends no part of a budget.
    let mut other = honest.clone();
    other.pilot.as_mut().expect("listed").program["rank"] = 1.into();
    assert!(matches!(other.check(), Err(ReceiptError::Plan(_))));
    for (failed, what) in [
        (found(&|r| r.pilot = None), "a pilot is listed"),
        (found(&|r| r.choice = None), "what was chosen"),
        (
            found(&|r| r.assumptions.retain(|one| !one.contains("degrees"))),
            "assumptions[2]",
        ),
        (
            found(&|r| r.promise.part = BudgetShare::of_pilot(0.9)),
            "releases[0].noise_factor",
        ),
        (
            found(&|r| r.promise.part = BudgetShare::of_pilot(0.9)),
            "are the whole budget",
        ),
        (found(&|r| r.promise.part = None), "a pilot is listed"),
        (
            of_pilot(|p| p.guarantee["noise"]["sigma_own"] = 0.1.into()),
            "pilot.guarantee.noise.sigma_own",
        ),
        (
            of_pilot(|p| p.guarantee["noise"]["sigma_sum"] = 0.1.into()),
            "pilot.guarantee.noise.sigma_sum",
        ),
        (
            of_pilot(|p| p.releases[0].noise_factor = 1.0),
            "pilot.releases[0].noise_factor",
        ),
        (
            of_pilot(|p| p.releases[0].sensitivity = 0.5),
            "pilot.releases[0].sensitivity",
        ),
        (
            of_pilot(|p| p.guarantee["noise"]["views"][1]["mu"] = 0.1.into()),
            "pilot.guarantee.noise.views[1].mu",
        ),
        (
            of_pilot(|p| p.part = BudgetShare::of_pilot(0.06).expect("a part")),
            "are the whole budget",
        ),
        (of_pilot(|p| p.counts.truncate(3)), "pilot.counts"),
        (of_pilot(|p| p.shares.truncate(3)), "pilot.shares"),
        (of_pilot(|p| p.shares[2] = f64::NAN), "pilot.shares"),
        // Both are planned for four times the budget that is stated.
        (
            found(&|r| {
                r.promise.epsilon = Epsilon::new(r.promise.epsilon.get() / 2.0).expect("above 0")
            }),
            "guarantee.calibrated.z",
        ),
    ] {
        assert!(
            failed.iter().any(|one| one.contains(what)),
            "{what}: {failed:?}"
        );
    }
    // Parts that leave nothing to one of the two: nobody could have made that.
    for part in ["1.0", "0.0", "-0.5", "1e300", "\"NaN\""] {
        let stated = format!("\"part\":{}", honest.promise.part.expect("a part").get());
        let broken = text.replace(&stated, &format!("\"part\":{part}"));
        assert_ne!(broken, text);
        assert!(serde_json::from_str::<Receipt>(&broken).is_err(), "{part}");
    }
}

/// Without a pilot the choice is made by public numbers, and the run is the one that a file with that algorithm makes: equal bits.
#[test]
fn a_share_of_nothing_is_no_pilot() {
    let chosen = chosen(&["pilot.share=0"]);
    assert!(chosen.pilot.is_none() && chosen.experiment.part().is_none());
    let report = chosen.run(&mut Silent).expect("runs");
    assert_eq!(failures(&report.receipt), Vec::<String>::new());
    assert!(report.receipt.choice.is_some() && report.receipt.pilot.is_none());
    let mut named = chosen.experiment.config().clone();
    named.pilot = None;
    let named = Experiment::resolve(named, &folder()).expect("valid");
    let plain = run(&named, &mut Silent).expect("runs");
    assert_eq!(plain.outcome.basis(), report.outcome.basis());
}

#[test]
fn equal_seeds_choose_equally_on_every_engine_and_others_count_otherwise() {
    let of = |set: &[&str]| {
        let chosen = chosen(set);
        let counts = chosen.pilot.expect("a pilot").counts;
        (counts, chosen.advice.recommended)
    };
    let lockstep = of(&[]);
    assert_eq!(lockstep, of(&["engine.kind=event"]));
    assert_ne!(lockstep.0, of(&["seed=12"]).0);
}

/// Σ(released − true)²/σ² over 30 shares and 12 seeds is chi-squared with 360 degrees of freedom: outside 360 ± 150 with probability below
/// 1e-6. The seeds are fixed.
#[test]
fn shares_are_the_true_ones_under_noise_of_the_stated_size() {
    let data = open(&[]).ground().interactions().clone();
    let mut truth = vec![0.0; data.items()];
    for user in 0..data.users() {
        let row = data.row(user);
        row.iter()
            .for_each(|&item| truth[item as usize] += (row.len() as f64).sqrt().recip());
    }
    let mut squares = 0.0;
    for seed in 0..12 {
        let pilot = open(&[&format!("seed={seed}"), "pilot.share=0.2"]);
        let experiment = pilot.pilot().expect("a pilot");
        let counts = piloted(experiment).expect("runs").counts;
        let planned = experiment.noise().sigma_sum() / (0.2 * (1.0 - TAIL_WEIGHT)).sqrt();
        assert!((counts.sigma_of_shares() / planned - 1.0).abs() < 1e-12);
        let pairs = counts.shares().iter().zip(&truth);
        squares += pairs.map(|(a, b)| ((a - b) / planned).powi(2)).sum::<f64>();
    }
    assert!((squares - 360.0).abs() < 150.0, "{squares}");
}

/// Σ(released − true)²/σ² over 16 counts and 12 seeds is chi-squared with 192 degrees of freedom: outside 192 ± 110 with probability below
/// 1e-6. The seeds are fixed.
#[test]
fn counts_are_the_true_ones_under_noise_of_the_stated_size() {
    let truth = open(&["noise.scheme=none"]);
    let truth = piloted(truth.pilot().expect("a pilot"))
        .expect("runs")
        .counts;
    assert_eq!(truth.sigma(), 0.0);
    let data = open(&[]).ground().interactions().clone();
    let expected = TAIL_DEGREES.map(|least| {
        let users = 0..data.users();
        users
            .filter(|&u| data.row(u).len() >= least as usize)
            .count() as f64
    });
    // Blocks of one release are brought to one scale before they are summed.
    for (found, expected) in truth.counts().iter().zip(expected) {
        assert!((found - expected).abs() < 1e-9, "{found} {expected}");
    }
    assert!(expected[4] > 100.0, "the data has users to count");
    let mut squares = 0.0;
    for seed in 0..12 {
        let pilot = open(&[&format!("seed={seed}"), "pilot.share=0.2"]);
        let experiment = pilot.pilot().expect("a pilot");
        let counts = piloted(experiment).expect("runs").counts;
        let planned = experiment.noise().sigma_sum() / (0.2 * TAIL_WEIGHT).sqrt();
        assert!((counts.sigma() / planned - 1.0).abs() < 1e-12);
        let pairs = counts.counts().iter().zip(truth.counts());
        squares += pairs.map(|(a, b)| ((a - b) / planned).powi(2)).sum::<f64>();
    }
    assert!((squares - 192.0).abs() < 110.0, "{squares}");
}

#[test]
fn bytes_are_counted_of_pilot_and_run_together() {
    let open_ended = chosen(&[]);
    let sent = open_ended.pilot.as_ref().expect("a pilot").bytes_max_peer();
    let most = open_ended.advice.recommended.bytes_max_peer + sent;
    let limited = |bytes: u64| {
        let guesses = [Guess::new(1.5, 1.0, 1.5)];
        open(&[&format!("pilot.bytes={bytes}")]).choose(&guesses, &|_, _| ())
    };
    let same = limited(most).expect("fits");
    assert_eq!(same.advice.bytes, Some(most - sent));
    let cheaper = limited(most - 1);
    assert!(
        cheaper.is_err()
            || cheaper.is_ok_and(|other| { other.advice.recommended.bytes_max_peer + sent < most })
    );
    let refused = limited(sent).expect_err("nothing is left");
    assert!(matches!(refused, AutoError::Advise(_)), "{refused}");
}

#[test]
fn the_pilot_s_streams_are_not_the_run_s() {
    let chosen = chosen(&[]);
    let pilot = &chosen.pilot.as_ref().expect("a pilot").experiment;
    // The same session under the two seeds: what a label keeps apart whatever plans say.
    let session = pilot.session(&pilot.root_seed());
    let unlabelled = pilot.session(&chosen.experiment.root_seed());
    for peer in (0..16).map(crate::vocabulary::PeerIndex) {
        let first = |session: &crate::engine::Session| {
            let mut value = [0.0];
            let own = session.planned_noise().own(peer);
            own.add_to(ReleaseId(1), 1.0, &mut value);
            value[0]
        };
        assert_ne!(first(&session), first(&unlabelled));
    }
}

#[test]
fn what_cannot_be_composed_or_chosen_is_refused_and_says_what_to_change() {
    for (set, words) in [
        (&["pilot.share=1"][..], "below 1"),
        (&["pilot.share=-0.1"], "at least 0"),
        (&["pilot.share=nan"], "at least 0"),
        (&["privacy.budget=[1.0,2.0]"], "privacy.budget"),
        (&["noise.scheme=ring"], "noise.scheme"),
        (&["privacy.adjacency=matrix"], "interaction + exact"),
        (&["privacy.sensitivity=row-norm"], "user + exact"),
    ] {
        let refused = Auto::new(config(set), &folder()).expect_err("refused");
        let text = refused.to_string();
        assert!(text.contains(words), "{set:?}: {text}");
    }
    // A choice is no experiment, and a pilot goes before a choice.
    let text = |config| match Experiment::resolve(config, &folder()) {
        Ok(_) => panic!("refused"),
        Err(error) => error.to_string(),
    };
    let unchosen = config(&[]);
    assert!(text(unchosen).contains("undertone advise"));
    let named = config(&["algorithm={kind=\"power\",rank=2,iterations=2}"]);
    assert!(text(named).contains("algorithm.kind = \"auto\""));
    let nothing = config(&[
        "algorithm={kind=\"pilot\",rank=1,iterations=1}",
        "pilot.share=0",
    ]);
    assert!(text(nothing).contains("raise the share"));
}
