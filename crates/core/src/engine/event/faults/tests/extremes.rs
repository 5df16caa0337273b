//! A hostile peer among those that tolerate losses, which sends numbers beyond what honest ones can be: links to it are cut, and to nobody else.

use super::bytes::ThroughBytes;
use super::sealed::{self, circulant};
use super::*;
use crate::engine::event::faults::interceptor::Interception;
use crate::protocol::tolerant::{DiskRecord, Format, Frame};
use crate::protocol::{Body, Message};

/// What a hostile peer replaces by huge numbers.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Lie {
    /// Its contributions, to one half of its neighbours.
    Contribution,
    /// What it sends while sums are formed.
    Step,
}

/// The peer that is hostile, and its lie.
struct Hostile(usize, Lie);

impl Interception for Hostile {
    fn frame(&self, (u, v): (usize, usize), format: &dyn Fn() -> Format, frame: Frame) -> Frame {
        let frame = match self {
            Self(hostile, lie) if *hostile == u => sent(*lie, v, frame),
            _ => frame,
        };
        ThroughBytes.frame((u, v), format, frame)
    }

    fn record(&self, format: &dyn Fn() -> Format, record: DiskRecord) -> DiskRecord {
        ThroughBytes.record(format, record)
    }
}

/// A frame of the hostile peer to `v`, as it leaves.
fn sent(lie: Lie, v: usize, frame: Frame) -> Frame {
    let huge = |values: &Arc<Vec<f64>>| Arc::new(vec![1.7e308; values.len()]);
    match frame {
        Frame::Published {
            attempt,
            input: Summand::Reals(values),
        } if lie == Lie::Contribution && v.is_multiple_of(2) => Frame::Published {
            attempt,
            input: Summand::Reals(huge(&values)),
        },
        Frame::Step {
            view,
            message:
                message @ Message {
                    body: Body::Average(_),
                    ..
                },
        } if lie == Lie::Step => {
            let Body::Average(values) = &message.body else {
                unreachable!("matched above")
            };
            let body = Body::Average(huge(values));
            let message = Message { body, ..message };
            Frame::Step { view, message }
        }
        frame => frame,
    }
}

#[test]
fn who_sends_huge_numbers_is_cut_off_and_nobody_else_is_blamed() {
    let mut blamed = 0;
    let scenes = (0..3).map(|number| {
        let graph = circulant(8, 3);
        let scene = scene_on(&graph, KINDS[number as usize], number);
        (scene, tolerance(8, 1, 2))
    });
    let sealed = (0..3).map(|number| {
        let (scene, lost) = sealed::sealed(number);
        let tolerance = sealed::tolerance(&scene, lost, 2);
        (scene, tolerance)
    });
    for (scene, tolerance) in scenes.chain(sealed) {
        for lie in [Lie::Contribution, Lie::Step] {
            for hostile in [0, 3] {
                let schedule = FaultSchedule::none(7);
                let hostile_peer = Hostile(hostile, lie);
                let outcome = run_with(&scene.views, &tolerance, &schedule, hostile_peer);
                let outcome = outcome.expect("runs");
                for culprit in &outcome.observed.blamed {
                    assert_eq!(culprit.index(), hostile);
                }
                assert!(outcome.proven.is_empty());
                blamed += outcome.observed.blamed.len();
            }
        }
    }
    // In the open both lies are seen by somebody, except by leaves of a tree, which average nothing that others hear.
    assert!(blamed >= 10, "{blamed}");
}
