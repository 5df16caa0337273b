//! What is wrong with a process that a test starts: variables that the test sets, read once at its beginning.

use std::str::FromStr;

use super::*;
use crate::node::deployed::{self, Claim, Moment};
use crate::node::member::defect::{Defect, NoiseSource};
use crate::node::store::{self, Room};
use crate::protocol::tolerant::Views;

/// Says from how many bytes on the process writes its `recovery.bin` anew; with 0 whenever something is added.
pub(super) const COMPACT: &str = "UNDERTONE_TEST_COMPACT";
/// Says after which frame the process dies: `contribution 8`, or `average 20`.
pub(super) const DIES: &str = "UNDERTONE_TEST_DIES";
/// Says in the same way after which the driver does nothing any more, for ever, in a process that lives.
pub(super) const HANGS: &str = "UNDERTONE_TEST_HANGS";
/// Says which life neighbours are shown: one that is `unsigned`, the claimant's `own`, the `present` one or an `older` one; and which neighbour, if not all.
pub(super) const CLAIMS: &str = "UNDERTONE_TEST_CLAIMS";
/// Names the file of sides ([`deployed::Defect::sides`]).
pub(super) const SIDES: &str = "UNDERTONE_TEST_SIDES";
/// Says that the ledger's clock jumps.
pub(super) const JUMPS: &str = "UNDERTONE_TEST_CLOCK";
/// Says how many writes succeed before the disk is full: `70` for ever, `70+1` for one write, `70!` for a process that is killed there.
pub(super) const ROOM: &str = "UNDERTONE_TEST_ROOM";

/// Gives this process the defect of disk and clock that its variables name, which counts writes in any case.
pub(super) fn begin() {
    let defect = store::Defect {
        room: said(ROOM).map(|text| room(&text)),
        jumps: said(JUMPS).is_some(),
    };
    defect.set();
}

/// The defect of the member that this process runs: noise is that of these sessions, if there are any.
pub(super) fn of_process(scene: Scene, views: SessionViews) -> Defect {
    let is_seeded = !matches!(scene, Scene::Deployed | Scene::Laxer | Scene::Dearer);
    Defect {
        noise: is_seeded.then(|| noise_of(views)),
        miscomputes: scene == Scene::Miscomputing,
        compacts_at: said(COMPACT).map(|text| number(&text)),
        host: host(scene),
    }
}

/// The noise of a simulated session.
fn noise_of(views: SessionViews) -> NoiseSource {
    Arc::new(move |view, index| match view {
        None => views.session().peer_setup(index, None).noise,
        Some(view) => views.setup(view, index).expect("a member").setup.noise,
    })
}

fn host(scene: Scene) -> deployed::Defect {
    deployed::Defect {
        equivocates: match scene {
            Scene::Equivocating => vec![3],
            Scene::EquivocatingEarly => vec![1],
            _ => Vec::new(),
        },
        distorts: match scene {
            Scene::Huge => Some(1.7e308),
            Scene::Zero => Some(0.0),
            _ => None,
        },
        sides: said(SIDES).map(PathBuf::from),
        dies: said(DIES).map(|text| moment(&text)),
        hangs: said(HANGS).map(|text| moment(&text)),
        claims: said(CLAIMS).map(|text| claim(&text)),
        ..deployed::Defect::default()
    }
}

/// What a variable says, if it says anything.
fn said(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|text| !text.is_empty())
}

fn number<N: FromStr<Err: std::fmt::Debug>>(text: &str) -> N {
    text.parse().expect("a number")
}

fn room(text: &str) -> Room {
    let (first, count, is_death) = match (text.split_once('+'), text.strip_suffix('!')) {
        (Some((first, count)), _) => (first, number(count), false),
        (None, Some(first)) => (first, 1, true),
        (None, None) => (text, i64::MAX, false),
    };
    Room {
        first: number(first),
        count,
        is_death,
    }
}

fn moment(text: &str) -> Moment {
    match text.split_once(' ').expect("a kind and a number") {
        ("contribution", at) => Moment::Contribution(number(at)),
        ("average", at) => Moment::Average(number(at)),
        _ => panic!("{text}"),
    }
}

fn claim(text: &str) -> (Claim, Option<usize>) {
    let (shown, to) = match text.split_once(' ') {
        Some((shown, to)) => (shown, Some(number(to))),
        None => (text, None),
    };
    let claim = match shown {
        "unsigned" => Claim::Unsigned,
        "own" => Claim::Own,
        "present" => Claim::Present,
        "older" => Claim::Older,
        _ => panic!("{text}"),
    };
    (claim, to)
}
