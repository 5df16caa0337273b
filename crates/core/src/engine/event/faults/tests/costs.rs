//! What tolerance costs where nothing goes wrong: bytes and time against the same session without it.

use super::sealed::circulant;
use super::{Scene, run, tolerance};
use crate::engine::event::faults::{Crash, CrashPoint, FaultSchedule, Moment};
use crate::engine::testing::session_of_length;
use crate::engine::{SessionViews, Silent, event};
use crate::linalg::SparseRows;
use crate::plan::Averaging;
use crate::protocol::averaging::{AveragingKind, AveragingOptions, Length};
use crate::protocol::regroup::{End, Tolerance};
use crate::vocabulary::ReleaseId;
use std::sync::Arc;

const HOP: u64 = 1_000;

/// The word that all is over takes as many hops as the graph is wide, once a session: it is a larger part of a tree's few rounds.
fn releases(kind: AveragingKind) -> u32 {
    if kind == AveragingKind::Tree { 12 } else { 6 }
}

/// 24 peers with 10 links each, and messages of so many numbers.
fn scene(kind: AveragingKind, items: u32, rank: usize) -> Scene {
    scene_of(kind, (items, rank), releases(kind))
}

fn scene_of(kind: AveragingKind, (items, rank): (u32, usize), releases: u32) -> Scene {
    let graph = circulant(24, 5);
    let rows = |peer: u32| {
        let mut rows = SparseRows::new(items as usize);
        let mine: Vec<u32> = (0..items)
            .filter(|item| (peer * 31 + item * 17).is_multiple_of(5))
            .collect();
        let value = 1.0 / (mine.len() as f64).sqrt();
        rows.push_row(mine.into_iter().map(|item| (item, value)))
            .expect("ascending");
        rows
    };
    let length = match kind.is_exact() {
        true => Length::Own,
        false => Length::Rounds(16),
    };
    let options = AveragingOptions::default();
    let rows = (0..24).map(rows).collect();
    let session = session_of_length(&graph, rows, rank, releases, (kind, length, options), 3);
    let views = SessionViews::new(
        session.clone(),
        Averaging::Named {
            scheme: kind,
            length,
            options,
        },
    );
    Scene {
        views: Arc::new(views),
        links: graph.edge_list().collect(),
        session,
    }
}

/// Bytes and time with tolerance over those without, and what is allowed of the time: a barrier as wide as the graph and a step in which keys are sent, and 5 %.
fn measured(scene: &Scene, tolerance: &Arc<Tolerance>) -> (f64, f64, f64) {
    let latency = event::Latency::Constant { micros: HOP };
    let plain = event::run(&scene.session, latency, &mut Silent).expect("runs");
    let plain = plain.communication.bytes_total as f64;
    let mut schedule = FaultSchedule::none(7);
    schedule.latency = Some(latency);
    let outcome = run(&scene.views, tolerance, &schedule).expect("runs");
    let bytes: u64 = outcome.sent.iter().map(|one| one.total()).sum();
    let plan = scene.session.plan().parameters();
    let iterations = scene.session.plan().releases().len() as u32;
    let rounds = f64::from(plan.scale_rounds + plan.averaging_rounds);
    let time = outcome.ended_micros as f64 / (f64::from(iterations) * rounds * HOP as f64);
    let wide = f64::from(scene.session.graph().diameter_bound().expect("connected"));
    (
        bytes as f64 / plain,
        time,
        1.0 + (wide + 1.0) / rounds + 0.05,
    )
}

/// 3 % at most of the bytes where everybody averages with all neighbours, from messages of 240 numbers on, sealed or in the open.
#[test]
fn tolerance_costs_little_where_nothing_goes_wrong() {
    for (kind, items, rank) in [
        (AveragingKind::Chebyshev, 120, 2),
        (AveragingKind::Linear, 120, 2),
        (AveragingKind::Chebyshev, 200, 2),
        (AveragingKind::Chebyshev, 200, 4),
        (AveragingKind::Tree, 120, 2),
        (AveragingKind::Tree, 200, 4),
    ] {
        let scene = scene(kind, items, rank);
        let numbers = items as usize * rank;
        let open = tolerance(24, 2, 1);
        let links = scene.views.session().public().links().expect("a graph");
        let sealed = Arc::new(Tolerance::sealed(&links, (1, 2), 1).expect("degrees allow it"));
        for (name, tolerance) in [("open", open), ("sealed", sealed)] {
            let (bytes, time, allowed) = measured(&scene, &tolerance);
            println!(
                "{kind:?}, {numbers} numbers, {name}: bytes {bytes:.4}, time {time:.3} of {allowed:.3}"
            );
            assert!(
                time <= allowed,
                "{kind:?}, {numbers}, {name}: {time} > {allowed}"
            );
            if kind != AveragingKind::Tree {
                assert!(bytes <= 1.03, "{kind:?}, {numbers}, {name}: {bytes}");
            }
        }
    }
}

/// In a short session as well everybody has the result within what is allowed; until the last one leaves it takes as many hops more as the graph is wide, once, since whoever leaves
/// knows that everybody has it.
#[test]
fn a_short_session_has_its_result_in_time_and_closes_as_fast_as_word_travels() {
    const RELEASES: u32 = 3;
    let scene = scene_of(AveragingKind::Chebyshev, (120, 2), RELEASES);
    let links = scene.views.session().public().links().expect("a graph");
    let sealed = Tolerance::sealed(&links, (1, 2), 1).expect("degrees allow it");
    let mut schedule = FaultSchedule::none(7);
    schedule.latency = Some(event::Latency::Constant { micros: HOP });
    let outcome = run(&scene.views, &Arc::new(sealed), &schedule).expect("runs");
    let last = Moment::Released(ReleaseId(RELEASES));
    let had = outcome
        .moments
        .iter()
        .filter(|(.., moment)| *moment == last);
    let had = had.map(|(micros, ..)| *micros).max().expect("a result");
    let plan = scene.session.plan().parameters();
    let rounds = f64::from(plan.scale_rounds + plan.averaging_rounds);
    let wide = f64::from(scene.session.graph().diameter_bound().expect("connected"));
    let over = |micros: u64| micros as f64 / (f64::from(RELEASES) * rounds * HOP as f64);
    let allowed = 1.0 + (wide + 1.0) / rounds;
    let closing = wide / (f64::from(RELEASES) * rounds);
    println!(
        "result {:.4} of {allowed:.4}, closed {:.4}",
        over(had),
        over(outcome.ended_micros)
    );
    // An arrival is put off by a microsecond for each that was before it on its link.
    assert!(over(had) <= allowed + 0.01, "{}", over(had));
    assert!(over(outcome.ended_micros) <= allowed + closing + 0.01);
}

/// The whole of a session, its closing included, is within what is allowed but for the shortest: the closing takes as many hops as the graph is wide, once, which the 5 % bear from so
/// many releases on.
#[test]
fn a_whole_session_is_in_time_from_a_few_releases_on() {
    for (kind, least) in [(AveragingKind::Chebyshev, 4), (AveragingKind::Tree, 7)] {
        for releases in [least - 1, least, 8, 20] {
            let scene = scene_of(kind, (120, 2), releases);
            let links = scene.views.session().public().links().expect("a graph");
            let sealed = Tolerance::sealed(&links, (1, 2), 1).expect("degrees allow it");
            let (_, time, allowed) = measured(&scene, &Arc::new(sealed));
            println!("{kind:?}, {releases} releases: time {time:.4} of {allowed:.4}");
            assert_eq!(time <= allowed, releases >= least, "{kind:?}, {releases}");
        }
    }
}

/// Two of 24 peers with ten links each crash, one after the other, while the others average: whoever is left states each loss once, however many links are
/// given up over it.
#[test]
fn what_goes_wrong_together_is_stated_together() {
    let scene = scene(AveragingKind::Chebyshev, 120, 2);
    let open = tolerance(24, 2, 1);
    let mut schedule = FaultSchedule::none(7);
    schedule.latency = Some(event::Latency::Constant { micros: HOP });
    let quiet = run(&scene.views, &open, &schedule).expect("runs");
    let crash = |peer, after| Crash {
        peer,
        after,
        at: CrashPoint::AfterCertificate,
        restart_micros: None,
    };
    schedule.crashes = vec![crash(3, 1), crash(15, 3)];
    let outcome = run(&scene.views, &open, &schedule).expect("runs");
    let ended = outcome
        .peers
        .iter()
        .filter(|one| one.end == Some(End::Finished));
    let more = outcome.frames - quiet.frames;
    println!(
        "{} frames where nothing goes wrong, {more} more for two crashes",
        quiet.frames
    );
    assert_eq!((ended.count(), outcome.fired.cuts), (22, 20));
    assert!(more < 60_000, "{more}");
}
