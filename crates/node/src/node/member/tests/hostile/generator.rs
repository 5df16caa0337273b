//! Hostile members at random: a few deviations at random moments, all from one seed.

use std::fmt::Write as _;

use rand::RngExt;

use super::actor::{Actor, Hands, Item};
use super::case::LEAST_SEALED;
use super::losses::{Unheld, record, restated};
use super::world::{MILLI, SECOND};
use super::*;
use crate::protocol::regroup::{LinkIndex, Record};
use crate::protocol::tolerant::Frame;
use crate::session::{Kind as Said, Signed};
use crate::vocabulary::{Label, PeerIndex, Seed, Span};

type Random = chacha20::ChaCha20Rng;

/// Which items a deviation is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum About {
    Statement(Said),
    /// Anything that a peer sends.
    Protocol,
    /// Records of the agreement on losses, contributions, steps, in this order.
    Records,
    Contributions,
    Any,
}

/// What becomes of an item.
#[derive(Clone, Copy, Debug)]
enum What {
    Drop,
    Delay(Span),
    Repeat(Span),
    /// Another content, the same for all who are sent it.
    Alter,
    /// Another content for each who is sent it.
    Equivocate,
}

/// What is done of its own accord.
#[derive(Clone, Copy, Debug)]
enum Act {
    /// Everything that was heard in earlier attempts and in this one, by whomever.
    Replay,
    /// A statement that nobody has a reason for.
    Inject(usize),
    /// A record that nobody has a reason for.
    Record(u8),
    /// A frame in place of the protocol's.
    Noise,
}

#[derive(Clone, Debug)]
enum Deviation {
    /// The items of this sort from one on, and so many, for those in the mask.
    Items {
        about: About,
        first: u32,
        count: u32,
        to: u32,
        what: What,
    },
    /// What is held is not said, and a link is cut instead, so often.
    Unheld(Unheld),
    /// So many retries are stated.
    Retries(u32),
    /// Two things are stated.
    Doubles,
    Acts {
        at: Span,
        to: u32,
        act: Act,
    },
    /// Its process is killed, and starts again, with the files that it had at the beginning or not.
    Restart {
        at: Span,
        again: Span,
        is_older: bool,
    },
}

/// A generated hostile member.
pub(super) struct Generated {
    deviations: Vec<Deviation>,
    /// Items that each deviation has met.
    met: Vec<BTreeMap<[u8; 32], u32>>,
    altered: BTreeMap<(usize, [u8; 32]), Item>,
    random: Random,
    heard: Vec<Arc<[u8]>>,
    /// An honest member that is lost, and whether it comes back.
    lost: Option<(usize, Span, Option<Span>)>,
    tries: u32,
}

/// What a seed stands for.
pub(super) struct Scene {
    pub(super) case: Case,
    pub(super) hostile: usize,
    pub(super) actor: Generated,
    /// What the rows of the hostile member are multiplied by.
    pub(super) factor: f64,
    /// From what its Join is changed, with the process that says it.
    pub(super) join: Option<u64>,
    pub(super) told: String,
}

fn mask(random: &mut Random) -> u32 {
    match random.random_range(0..3) {
        0 => u32::MAX,
        1 => 1 << random.random_range(0..8),
        _ => random.random_range(1..256),
    }
}

fn moment(is_early: bool, random: &mut Random) -> Span {
    // Members start within half a second and plan for a tenth; a release takes a tenth or so.
    let millis = match random.random_range(if is_early { 0 } else { 2 }..4) {
        0 => random.random_range(0..700),
        1 => random.random_range(500..1_000),
        2 => random.random_range(650..1_100),
        _ => random.random_range(0..12_000),
    };
    Span(millis * MILLI)
}

fn deviation(case: Case, is_early: bool, random: &mut Random) -> Deviation {
    let kinds = [
        Said::Join,
        Said::Roster,
        Said::Reveal,
        Said::Ready,
        Said::Finished,
        Said::Gone,
    ];
    match random.random_range(0..16) {
        0..=9 => {
            let about = match random.random_range(if is_early { 0 } else { 5 }..10) {
                0..=4 => About::Statement(kinds[random.random_range(0..kinds.len())]),
                5 => About::Protocol,
                6 | 7 => About::Contributions,
                8 if case.kind.tolerates() => About::Records,
                _ if is_early => About::Any,
                _ => About::Protocol,
            };
            let what = match random.random_range(0..10) {
                0 | 1 => What::Drop,
                2 => What::Delay(Span(random.random_range(0..9_000) * MILLI)),
                3 => What::Repeat(Span(random.random_range(0..300) * MILLI)),
                4..=6 => What::Alter,
                _ => What::Equivocate,
            };
            // Contributions are in few places of a session.
            let most = [1, 4, 12, 40][random.random_range(0..4)];
            Deviation::Items {
                about,
                first: random.random_range(0..most),
                count: [1, 1, 3, u32::MAX][random.random_range(0..4)],
                to: mask(random),
                what,
            }
        }
        10..=13 => {
            let act = match random.random_range(0..8) {
                0 | 1 => Act::Replay,
                2..=4 => Act::Inject(random.random_range(0..6)),
                5 | 6 if case.kind.tolerates() => Act::Record(random.random_range(0..4)),
                _ => Act::Noise,
            };
            Deviation::Acts {
                at: moment(is_early, random),
                to: mask(random),
                act,
            }
        }
        _ => Deviation::Restart {
            at: moment(is_early, random),
            again: Span(random.random_range(1..8_000) * MILLI),
            is_older: random.random_bool(0.5),
        },
    }
}

impl Scene {
    pub(super) fn of(seed: u64) -> Self {
        let mut random = Seed::from_u64(seed ^ 0x5eed).generator(Label::Scenario);
        let kind = KINDS[(seed % 4) as usize];
        let least = if kind == Kind::Sealed {
            LEAST_SEALED
        } else {
            4
        };
        let case = Case {
            members: random.random_range(least..=8),
            kind,
            retries: if kind.tolerates() {
                random.random_range(0..2)
            } else {
                0
            },
        };
        let hostile = random.random_range(0..case.members);
        // What goes wrong while members agree keeps the rest from happening.
        let is_early = random.random_bool(0.5);
        let count = random.random_range(1..=4);
        let deviations: Vec<_> = (0..count)
            .map(|_| deviation(case, is_early, &mut random))
            .collect();
        let mut deviations = deviations;
        if case.kind.tolerates() && !is_early {
            let retries = [1, 2, 7, u32::MAX - 1, u32::MAX, u32::MAX][random.random_range(0..6)];
            match random.random_range(0..6) {
                0 | 1 => {
                    deviations = vec![
                        Deviation::Unheld(Unheld::new(random.random_range(1..5))),
                        Deviation::Retries(retries),
                    ];
                }
                2 => deviations.push(Deviation::Unheld(Unheld::new(1))),
                3 => {
                    deviations = vec![Deviation::Unheld(Unheld::new(1)), Deviation::Doubles];
                }
                _ => {}
            }
        }
        let lost = (case.kind.tolerates() && random.random_bool(0.4)).then(|| {
            let member = (hostile + random.random_range(1..case.members)) % case.members;
            let again = random.random_bool(0.5);
            let again = again.then(|| Span(random.random_range(1..3_000) * MILLI));
            (member, moment(is_early, &mut random), again)
        });
        let factor = match random.random_range(0..12) {
            0 => 1e100,
            1 => 1e60,
            _ => 1.0,
        };
        let join = random.random_bool(0.1).then(|| random.random());
        let mut told = format!(
            "{case:?}, h{hostile} is hostile, rows times {factor:e}, Join {join:?}, lost {lost:?}"
        );
        for deviation in &deviations {
            let _ = write!(told, "\n  {deviation:?}");
        }
        Self {
            case,
            hostile,
            factor,
            join,
            told,
            actor: Generated {
                met: vec![BTreeMap::new(); deviations.len()],
                deviations,
                altered: BTreeMap::new(),
                random,
                heard: Vec::new(),
                lost,
                tries: 0,
            },
        }
    }
}

/// What an item is told apart by, whoever is sent it.
fn key(item: &Item) -> [u8; 32] {
    match item {
        Item::Statement(bytes) | Item::Bytes(bytes) => *blake3::hash(bytes).as_bytes(),
        Item::Record(bytes) => *blake3::hash(bytes).as_bytes(),
        Item::Message(message) => *blake3::hash(format!("{message:?}").as_bytes()).as_bytes(),
        Item::Frame(frame) => *blake3::hash(format!("{frame:?}").as_bytes()).as_bytes(),
    }
}

fn is_about(about: About, hands: &Hands<'_>, item: &Item) -> bool {
    use crate::protocol::Body;
    match (about, item) {
        (About::Any, _) => true,
        (About::Statement(kind), Item::Statement(bytes)) => {
            let read = Signed::read(bytes, hands.session, |_| true);
            read.is_ok_and(|signed| signed.statement.kind() == kind)
        }
        (About::Protocol, item) => !matches!(item, Item::Statement(_)),
        (About::Records, Item::Frame(Frame::Record(_))) => true,
        (About::Contributions, Item::Message(message)) => {
            matches!(message.body, Body::Average(_))
        }
        (About::Contributions, Item::Frame(frame)) => {
            matches!(
                frame,
                Frame::Published { .. } | Frame::Sealed { .. } | Frame::Step { .. }
            )
        }
        _ => false,
    }
}

impl Actor for Generated {
    fn begins(&mut self, hands: &mut Hands<'_>) {
        self.tries += 1;
        for (number, deviation) in self.deviations.iter().enumerate() {
            match deviation {
                Deviation::Acts { at, .. } => hands.times.push((number as u64, *at)),
                Deviation::Restart {
                    at,
                    again,
                    is_older,
                } => hands.crashes.push((hands.me, *at, Some(*again), *is_older)),
                _ => {}
            }
        }
        if let Some((member, at, again)) = self.lost.filter(|_| self.tries == 1) {
            hands.crashes.push((member, at, again, false));
        }
        if self.tries > 1 {
            // Whatever was heard before is as well signed now.
            let at = moment(true, &mut self.random);
            hands.times.push((u64::MAX, at));
        }
        self.met.iter_mut().for_each(BTreeMap::clear);
    }

    fn hears(&mut self, bytes: &Arc<[u8]>) {
        if !self.heard.contains(bytes) && self.heard.len() < 200 {
            self.heard.push(Arc::clone(bytes));
        }
    }

    fn sends(&mut self, hands: &mut Hands<'_>, to: usize, item: Item) {
        if let Item::Statement(bytes) = &item {
            self.hears(&Arc::clone(bytes));
        }
        let (mut item, mut after) = (item, Span(0));
        let original = key(&item);
        for place in 0..self.deviations.len() {
            match &mut self.deviations[place] {
                Deviation::Unheld(unheld) => {
                    let is_kept_back = unheld.keeps_back(hands, &item);
                    if is_kept_back {
                        return;
                    }
                }
                Deviation::Retries(retries) => {
                    let retries = *retries;
                    item = restated(hands, item, |statement| statement.retries = retries);
                }
                Deviation::Doubles if record(hands, &item).is_some() => {
                    let other = restated(hands, item.clone(), |statement| statement.retries ^= 1);
                    // In a moment: whoever has heard the one hears the other.
                    hands.sent.push((to, Span(after.0 + MILLI), other));
                }
                _ => {}
            }
            let Deviation::Items {
                about,
                first,
                count,
                to: mask,
                what,
            } = self.deviations[place].clone()
            else {
                continue;
            };
            if !is_about(about, hands, &item) {
                continue;
            }
            let met = &mut self.met[place];
            let next = met.len() as u32;
            let number = *met.entry(original).or_insert(next);
            let is_meant = number >= first && number - first < count && mask >> to & 1 == 1;
            if !is_meant {
                continue;
            }
            match what {
                What::Drop => return,
                What::Delay(by) => after = Span(after.0 + by.0),
                What::Repeat(by) => hands.sent.push((to, Span(after.0 + by.0), item.clone())),
                What::Alter => {
                    let known = self.altered.get(&(place, original)).cloned();
                    item = known.unwrap_or_else(|| {
                        let altered = altering::item(hands, &item, &mut self.random);
                        self.altered.insert((place, original), altered.clone());
                        altered
                    });
                }
                What::Equivocate => item = altering::item(hands, &item, &mut self.random),
            }
        }
        hands.sent.push((to, after, item));
    }

    fn acts(&mut self, hands: &mut Hands<'_>, number: u64) {
        let (mask, act) = match self.deviations.get(number as usize) {
            Some(Deviation::Acts { to, act, .. }) => (*to, *act),
            _ => (u32::MAX, Act::Replay),
        };
        let to: Vec<usize> = hands.others().filter(|to| mask >> to & 1 == 1).collect();
        match act {
            Act::Replay => {
                for bytes in self.heard.clone() {
                    if self.random.random_bool(0.7) {
                        for &to in &to {
                            hands.send(to, Item::Statement(Arc::clone(&bytes)));
                        }
                    }
                }
            }
            Act::Inject(kind) => {
                let bytes = hands.sign(altering::statement(kind, hands.ids, &mut self.random));
                for &to in &to {
                    hands.send(to, Item::Statement(Arc::clone(&bytes)));
                }
            }
            Act::Record(kind) => {
                let Some(lossy) = hands.lossy() else { return };
                let origin = lossy.setup.me;
                let links = lossy.setup.links.neighbours(origin).to_vec();
                let record = match kind {
                    0 => Record::Finished { origin },
                    1 => Record::Restart {
                        origin,
                        count: self.random.random_range(0..4),
                    },
                    2 => Record::Cut {
                        origin,
                        link: links[self.random.random_range(0..links.len())].1,
                    },
                    _ => Record::Cut {
                        origin: PeerIndex(self.random.random_range(0..4)),
                        link: LinkIndex(self.random.random_range(0..6)),
                    },
                };
                if let Some(frame) = altering::signed(hands, record) {
                    for &to in &to {
                        hands.send(to, Item::Frame(frame.clone()));
                    }
                }
            }
            Act::Noise => {
                let bytes: Vec<u8> = (0..self.random.random_range(0..200))
                    .map(|_| self.random.random_range(0..=255_u32) as u8)
                    .collect();
                for &to in &to {
                    let item = match self.random.random_range(0..3) {
                        0 => Item::Statement(bytes.clone().into()),
                        1 => Item::Record(bytes.clone()),
                        _ => Item::Bytes(bytes.clone().into()),
                    };
                    hands.send(to, item);
                }
            }
        }
    }
}

/// Runs the sessions of this seed: what was broken, and what the hostile member did.
pub(super) fn play(seed: u64) -> (Vec<String>, String) {
    let Scene {
        case,
        hostile,
        actor,
        factor,
        join,
        told,
    } = Scene::of(seed);
    let played = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let mut world = World::new(case, seed, Some(hostile), Some(Box::new(actor)));
        world.factor = factor;
        if let Some(number) = join {
            world.join = Some(Box::new(move |join| {
                let mut random = Seed::from_u64(number).generator(Label::Scenario);
                *join = altering::joined(join, &mut random);
            }));
        }
        world.run();
        let is_honest = |member| member != hostile;
        let mut ends = world.ends.iter().filter(|end| is_honest(end.member));
        let has_begun = world.notes.published.iter().any(|one| !one.is_empty());
        if ends.any(|end| end.error.is_some()) && (!has_begun || seed.is_multiple_of(3)) {
            // The same file again, as an operator would, with the hostile member's files of before or not.
            if (seed / 4).is_multiple_of(2) {
                world.restore(hostile);
            }
            world.now = world.now + Span(SECOND);
            world.run();
        }
        let ends = world.ends.iter();
        let ends = ends.map(|end| match &end.error {
            Some(error) => format!(
                "\n  {} h{}: {} {error}",
                end.at.0 / MILLI,
                end.member,
                end.code()
            ),
            None => format!("\n  {} h{}: 0", end.at.0 / MILLI, end.member),
        });
        (referee::judge(&world), ends.collect::<String>())
    }));
    match played {
        Ok((found, ends)) => (found, told + &ends),
        Err(why) => {
            let text = why.downcast_ref::<String>().cloned();
            let text = text.or_else(|| why.downcast_ref::<&str>().map(|text| (*text).to_owned()));
            (vec![format!("a panic: {}", text.unwrap_or_default())], told)
        }
    }
}
