//! Many schedules in which much goes wrong at once: everything that must hold does in each, and every case occurs.

use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use super::{KINDS, Scene, check, scene, tolerance};
use crate::engine::event::faults::{Cases, FaultSchedule, Fired, run, shrink};
use crate::protocol::regroup::{Tamper, Tolerance};

/// A session of 5 to 24 peers, and what goes wrong in it.
struct Case {
    scene: Scene,
    tolerance: std::sync::Arc<Tolerance>,
    schedule: FaultSchedule,
}

fn case(seed: u64) -> Case {
    let peers = 5 + (seed % 20) as u32;
    let kind = KINDS[(seed % 3) as usize];
    let scene = scene(peers, kind, seed);
    let most = (peers - 1) / 2;
    let retries = [8, 1, 0][(seed / 20 % 3) as usize];
    Case {
        schedule: FaultSchedule::drawn(seed, peers, &scene.links, most),
        tolerance: tolerance(peers, most, retries),
        scene,
    }
}

impl Case {
    /// What fired, and how many peers have all sums.
    fn outcome(&self, schedule: &FaultSchedule) -> Result<(Fired, u64), String> {
        let run = || {
            let outcome = run(&self.scene.views, &self.tolerance, schedule);
            let outcome = outcome.map_err(|error| error.to_string())?;
            let finished = check(&self.scene, &outcome, &self.tolerance)?;
            Ok((outcome.fired, finished))
        };
        catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|_| Err("PANIC".to_owned()))
    }
}

/// Runs these schedules on both cores, and panics with the smallest schedule that is red if one is.
fn all(seeds: Range<u64>) -> (Fired, u64) {
    let threads = 2;
    let begun = Instant::now();
    let parts: Vec<(Fired, u64)> = std::thread::scope(|scope| {
        let part = |thread: u64| {
            let seeds = seeds.clone();
            scope.spawn(move || {
                let (mut fired, mut finished) = (Fired::default(), 0);
                for seed in seeds.filter(|seed| seed % threads == thread) {
                    let case = case(seed);
                    match case.outcome(&case.schedule) {
                        Ok((one, more)) => {
                            fired.add(&one);
                            finished += more;
                        }
                        Err(broken) => panic!("{}", told(seed, &case, &broken)),
                    }
                }
                (fired, finished)
            })
        };
        let running: Vec<_> = (0..threads).map(part).collect();
        let joined = running.into_iter().map(|one| one.join());
        joined
            .map(|one| one.expect("all schedules are green"))
            .collect()
    });
    let (mut fired, mut finished) = (Fired::default(), 0);
    for (one, more) in parts {
        fired.add(&one);
        finished += more;
    }
    let seconds = begun.elapsed().as_secs_f64();
    println!("{seeds:?} in {seconds:.1} s: {finished} peers finished, {fired:#?}");
    (fired, finished)
}

/// A schedule that is red, as small as it gets, as a file of faults.
fn told(seed: u64, case: &Case, broken: &str) -> String {
    let (least, runs) = shrink(&case.schedule, |tried| case.outcome(tried).is_err());
    let text = toml::to_string(&least).expect("TOML");
    format!("seed {seed}: {broken}; after {runs} runs this is left:\n{text}")
}

/// Whatever the cases are called that occurred fewer times than this.
fn rare(cases: &Cases, least: u64) -> Vec<(&'static str, u64)> {
    let all = cases.all().into_iter();
    all.filter(|(_, count)| *count < least).collect()
}

#[test]
fn hundreds_of_schedules_are_green_and_every_case_occurs() {
    let (fired, finished) = all(0..300);
    assert!(finished > 1_000, "{finished}");
    // The rarest of them are seen in the longer run.
    let rare = rare(&fired.cases, 1);
    let rare: Vec<&str> = rare.into_iter().map(|(name, _)| name).collect();
    let may_be = ["certified by the lost alone", "nobody holds it"];
    assert!(rare.iter().all(|name| may_be.contains(name)), "{rare:?}");
    assert!(fired.frames_lost > 1_000 && fired.frames_held_up > 100 && fired.torn_records > 10);
}

/// `cargo test --lib soak::ten_thousand -- --ignored --nocapture`
#[test]
#[ignore = "minutes: the command stands above"]
fn ten_thousand_schedules_are_green_and_every_case_occurs_fifty_times() {
    let (fired, _) = all(0..10_000);
    assert_eq!(rare(&fired.cases, 50), []);
}

/// `cargo test --lib soak::a_million -- --ignored --nocapture`
#[test]
#[ignore = "hours: the command stands above"]
fn a_million_schedules_are_green() {
    all(10_000..1_010_000);
}

/// `SEED=8550 cargo test --lib soak::one_again -- --ignored --nocapture`
#[test]
#[ignore = "one schedule again, by its number: the command stands above"]
fn one_again() {
    let seed = std::env::var("SEED").ok();
    let seed: u64 = seed.and_then(|seed| seed.parse().ok()).expect("SEED");
    let case = case(seed);
    let peers = case.scene.session.peers();
    println!("{peers} peers, {:?}\n{:#?}", case.tolerance, case.schedule);
    match case.outcome(&case.schedule) {
        Ok(outcome) => println!("green: {outcome:#?}"),
        Err(broken) => panic!("{}", told(seed, &case, &broken)),
    }
}

/// Where nothing goes wrong nothing is counted.
#[test]
fn nothing_fires_in_the_control() {
    for seed in 0..40 {
        let case = case(seed);
        let quiet = FaultSchedule::none(seed);
        let (fired, finished) = case.outcome(&quiet).expect("green");
        assert_eq!(fired, Fired::default());
        assert_eq!(finished, case.scene.session.peers() as u64);
    }
}

/// The first schedule that is red with this defect, of so many.
fn red(seeds: Range<u64>, defect: impl Fn(bool)) -> Option<(u64, String)> {
    let found = seeds.into_iter().find_map(|seed| {
        let case = case(seed);
        defect(true);
        let outcome = case.outcome(&case.schedule);
        defect(false);
        outcome.err().map(|broken| (seed, broken))
    });
    println!("{found:?}");
    found
}

/// Defects of the agreement, and for each of them the first schedule that shows it.
const DEFECTS: [(Tamper, u64); 4] = [
    (Tamper::NoBarrier, 6),
    (Tamper::OneShort, 374),
    (Tamper::ForgetCertificates, 1),
    (Tamper::Majority, 4),
];

/// Gives every peer this defect, or takes it away.
fn switch(defect: Tamper, on: bool) {
    match on {
        true => defect.everybody(),
        false => Tamper::None.everybody(),
    }
}

#[test]
fn defects_are_seen() {
    for (defect, seed) in DEFECTS {
        let found = red(seed..seed + 1, |on| switch(defect, on));
        assert!(found.is_some(), "{defect:?} is not seen with seed {seed}");
        let case = case(seed);
        assert!(
            case.outcome(&case.schedule).is_ok(),
            "{defect:?}, without it"
        );
    }
}

/// `cargo test --lib soak::the_first -- --ignored --nocapture`
#[test]
#[ignore = "a minute: looks for the first of five hundred schedules that shows each defect"]
fn the_first_schedules_that_show_defects() {
    for (defect, _) in DEFECTS {
        let found = red(0..500, |on| switch(defect, on));
        assert!(found.is_some(), "{defect:?} is not seen");
    }
}

/// With a defect planted, what is left of a schedule that is red is red, and nothing of it can be taken away.
#[test]
fn a_red_schedule_is_shrunk_to_what_matters() {
    let defect = Tamper::ForgetCertificates;
    let (seed, _) = red(0..500, |on| switch(defect, on)).expect("the defect is seen");
    let case = case(seed);
    switch(defect, true);
    let (least, runs) = shrink(&case.schedule, |tried| case.outcome(tried).is_err());
    let is_red = |tried: &FaultSchedule| case.outcome(tried).is_err();
    assert!(is_red(&least));
    for place in 0..least.listed() {
        assert!(
            !is_red(&least.without(place..place + 1)),
            "{place} of {least:?}"
        );
    }
    Tamper::None.everybody();
    println!(
        "{} of {} entries after {runs} runs: {least:?}",
        least.listed(),
        case.schedule.listed()
    );
    assert!((1..=3).contains(&least.listed()), "{least:?}");
    assert!(
        case.outcome(&least).is_ok(),
        "the schedule is green without the defect"
    );
}
