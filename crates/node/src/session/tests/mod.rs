//! Assemblies that talk over a network of the tests' own, in virtual time.

mod agreement;
mod departures;
mod hostile;
mod keys;
mod refusals;
mod tries;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rand::RngExt;
use rand::rand_core::Rng;

use super::*;
use crate::vocabulary::{Label, Seed, Span, Time};

/// The session that they agree on.
const SESSION: SessionHash = SessionHash([3; 32]);
const SECOND: u64 = 1_000_000_000;

fn identity(number: u8) -> Arc<Identity> {
    Arc::new(Identity::from_secret([number + 1; 32].into()))
}

/// So many invited, in the order of their keys.
fn seats(members: u8) -> Vec<Seat> {
    let mut seats: Vec<Seat> = (0..members)
        .map(|number| Seat {
            id: identity(number).id(),
            name: format!("member {number}"),
        })
        .collect();
    seats.sort_by_key(|seat| seat.id);
    seats
}

/// What the Join of a member says, as a rule.
fn join(number: u8) -> Join {
    Join {
        mode: Mode::Deployed,
        wire: (4, 4),
        build: "undertone test".to_owned(),
        sampler: [9; 32],
        ephemeral: [number + 1; 32],
        commitment: commitment(&[number; 32]),
        ledger: LedgerHead {
            length: 5,
            hash: [number; 32],
        },
    }
}

fn setup(number: u8, members: u8) -> AssemblySetup {
    AssemblySetup {
        identity: identity(number),
        session: SESSION,
        seats: seats(members),
        least: usize::from(members),
        closes: Time(60 * SECOND),
        join: join(number),
        number: [number; 32],
        remembered: BTreeMap::new(),
        patience: Span(20 * SECOND),
        repeat: Span(2 * SECOND),
        tolerates_losses: false,
        listed: None,
    }
}

/// What members compute from the same assembled parts.
fn sections(assembled: &Assembled) -> Sections {
    let mut sections = [assembled.beacon; SECTIONS.len()];
    sections[0] = assembled.hash;
    Sections(sections)
}

/// How an assembly ended.
#[derive(Clone, Debug)]
enum End {
    Agreed(Box<Assembled>),
    Failed(AssemblyError),
}

impl End {
    fn agreed(&self) -> &Assembled {
        match self {
            Self::Agreed(assembled) => assembled,
            Self::Failed(error) => panic!("{error}"),
        }
    }

    fn error(&self) -> String {
        match self {
            Self::Agreed(_) => "agreed".to_owned(),
            Self::Failed(error) => without_ids(&error.to_string()),
        }
    }
}

/// Words without the ids beside names.
fn without_ids(text: &str) -> String {
    let mut parts = text.split(" (12D3KooW..");
    let mut rest = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        rest.push_str(part.split_once(')').map_or(part, |(_, after)| after));
    }
    rest
}

/// Due inputs by time and order of making.
type Queue = BTreeMap<(Time, u64), (usize, Input)>;

/// What a member computes from what was assembled.
type Plans = Box<dyn Fn(usize, &Assembled) -> Result<Sections, String>>;

/// Members, and what is under way between them.
struct Network {
    members: Vec<Assembly>,
    ids: Vec<PublicId>,
    queue: Queue,
    made: u64,
    /// When each member last asked to be woken: an earlier request is void.
    wakes: Vec<Time>,
    ends: Vec<Option<End>>,
    /// Whether what one member says reaches another.
    delivers: Box<dyn FnMut(usize, usize) -> bool>,
    random: chacha20::ChaCha20Rng,
    /// What a member computes instead of what all do.
    plans: Plans,
    messages: u64,
    /// How long messages take, in nanoseconds.
    latency: std::ops::Range<u64>,
    /// Whom each is connected with where that is not everybody, and what it was asked to pass on is passed on to.
    near: Option<Vec<BTreeSet<PublicId>>>,
    /// Who wants to be connected with everybody.
    wide: Vec<bool>,
    /// Who crashes, and when; the others notice a second later or so.
    crash: Option<(usize, Time)>,
    /// What one member says to another instead of this.
    says: Says,
    /// The list that each has written down last, and all that it signed.
    listed: Vec<Option<Listed>>,
    said: Vec<BTreeSet<Vec<u8>>>,
}

/// What reaches another member instead of what was said.
type Says = Box<dyn FnMut(usize, usize, &[u8]) -> Vec<Vec<u8>>>;

impl Network {
    fn new(setups: Vec<AssemblySetup>, seed: u64) -> Self {
        let ids = setups.iter().map(|setup| setup.identity.id()).collect();
        Self {
            says: Box::new(|_, _, bytes| vec![bytes.to_vec()]),
            listed: setups.iter().map(|setup| setup.listed.clone()).collect(),
            said: vec![BTreeSet::new(); setups.len()],
            ends: vec![None; setups.len()],
            wakes: vec![Time(0); setups.len()],
            members: setups.into_iter().map(Assembly::new).collect(),
            ids,
            queue: Queue::new(),
            made: 0,
            delivers: Box::new(|_, _| true),
            random: Seed::from_u64(seed).generator(Label::Scenario),
            plans: Box::new(|_, assembled| Ok(sections(assembled))),
            messages: 0,
            latency: 0..SECOND / 20,
            near: None,
            wide: Vec::new(),
            crash: None,
        }
    }

    /// With those connections only that large sessions begin with.
    fn over_a_ring(mut self) -> Self {
        let seats: Vec<_> = self.members[0]
            .setup
            .seats
            .iter()
            .map(|seat| seat.id)
            .collect();
        let near = self.ids.iter().map(|id| near(SESSION, &seats, *id));
        self.near = Some(near.map(|near| near.expect("a large session")).collect());
        self.wide = vec![false; self.ids.len()];
        self
    }

    /// Has those hear it who are connected with this member, or near it.
    fn say(&mut self, member: usize, now: Time, bytes: &[u8], to_near_only: bool) {
        for to in (0..self.members.len()).filter(|&to| to != member) {
            let is_near = self
                .near
                .as_ref()
                .is_none_or(|near| near[member].contains(&self.ids[to]));
            let is_connected = is_near || (self.wide[member] && self.wide[to]);
            let hears = if to_near_only { is_near } else { is_connected };
            let after = Span(self.random.random_range(self.latency.clone()));
            if hears && (self.delivers)(member, to) {
                self.messages += 1;
                let from = self.ids[member];
                for bytes in (self.says)(member, to, bytes) {
                    self.due(now + after, to, Input::Received { from, bytes });
                }
            }
        }
    }

    fn due(&mut self, at: Time, member: usize, input: Input) {
        self.made += 1;
        self.queue.insert((at, self.made), (member, input));
    }

    /// Starts everybody at random moments of the first second and runs until nothing is due.
    fn run(self) -> Vec<Option<End>> {
        self.run_timed().0
    }

    /// The same with the time between the last start and the last end.
    fn run_timed(mut self) -> (Vec<Option<End>>, Span) {
        let took = self.play();
        (self.ends, took)
    }

    fn play(&mut self) -> Span {
        let (mut started, mut ended) = (Time(0), Time(0));
        for member in 0..self.members.len() {
            let at = Time(self.random.random_range(0..SECOND));
            started = started.max(at);
            self.due(at, member, Input::Start);
        }
        if let Some((crashed, at)) = self.crash {
            let id = self.ids[crashed];
            for member in (0..self.members.len()).filter(|&member| member != crashed) {
                let noticed = at + Span(self.random.random_range(SECOND..SECOND * 3 / 2));
                self.due(noticed, member, Input::Disconnected(id));
            }
        }
        while let Some(((now, _), (member, input))) = self.queue.pop_first() {
            assert!(now < Time(600 * SECOND), "it does not end");
            if self
                .crash
                .is_some_and(|(crashed, at)| crashed == member && at <= now)
            {
                continue;
            }
            if matches!(input, Input::Tick) && self.wakes[member] != now {
                continue;
            }
            let mut out = Vec::new();
            self.members[member].handle(input, now, &mut out);
            for output in out {
                if matches!(output, Output::Agreed(_) | Output::Failed(_)) {
                    ended = ended.max(now);
                }
                self.output(member, now, output);
            }
        }
        assert!(self.messages > 0);
        Span(ended.0.saturating_sub(started.0))
    }

    fn output(&mut self, member: usize, now: Time, output: Output) {
        match output {
            Output::Broadcast(bytes) => {
                if bytes[3..35] == *self.ids[member].bytes() {
                    self.said[member].insert(bytes.to_vec());
                }
                self.say(member, now, &bytes, false);
            }
            Output::Listed(listed) => {
                let before = self.listed[member].take();
                let joins = before.map_or(listed.joins, |before| before.joins);
                let roster = listed.roster;
                self.listed[member] = Some(Listed { roster, joins });
            }
            Output::Relay { bytes, .. } if self.near.is_some() => {
                self.say(member, now, &bytes, true)
            }
            Output::Widen if self.near.is_some() => self.wide[member] = true,
            Output::Wake(at) => {
                let at = at.max(now + Span(1));
                self.wakes[member] = at;
                self.due(at, member, Input::Tick);
            }
            Output::Plan(assembled) => {
                let planned = (self.plans)(member, &assembled).map(Box::new);
                self.due(now + Span(SECOND / 10), member, Input::Planned(planned));
            }
            Output::Agreed(assembled) => self.ends[member] = Some(End::Agreed(assembled)),
            Output::Failed(error) => self.ends[member] = Some(End::Failed(*error)),
            Output::Joined { .. } | Output::Relay { .. } | Output::Widen => {}
        }
    }
}
