//! A network of members in virtual time: links that keep order, crashes in the middle of a broadcast, restarts, false suspicions. What is
//! averaged is left out; what is sealed, held, opened and finished is kept by an omniscient referee.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};
use std::sync::Arc;

use super::super::attempt::{Attempt, ViewNumber};
use super::super::interface::{End, Input, Output, RegroupSetup};
use super::super::links::Links;
use super::super::machine::Regroup;
use super::super::record::Durable;
use super::super::resume::{Publication, Resume, View};
use super::super::sets::Members;
use super::super::signed::Signed;
use super::Marks;
use super::hostile::Attack;
use super::promises::{Broken, Story};
use super::schedules::{Mutant, Schedule};
use crate::protocol::SessionId;
use crate::vocabulary::{PeerIndex, ReleaseId, Time};

/// A step of the protocol that is modelled: its messages carry nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Step {
    Seal,
    Open,
    Average(u32),
}

#[derive(Clone, Debug)]
enum Frame {
    Record(Signed),
    Step(ViewNumber, Attempt, Step),
}

#[derive(Clone, Debug)]
enum Event {
    Start(usize),
    /// The number of the receiver's life counts: what was under way to a process dies with it.
    Frame {
        from: usize,
        to: usize,
        life: u32,
        frame: Frame,
    },
    Detect(usize, usize),
    Timer(usize, u32, u64),
    Restart(usize),
}

/// One process: its member, its disk, and where it is in the steps.
struct Node {
    member: Regroup,
    disk: Vec<Durable>,
    view: Option<Arc<View>>,
    attempt: Option<Attempt>,
    steps: Vec<Step>,
    inbox: BTreeSet<(ViewNumber, Attempt, Step, usize)>,
    is_up: bool,
    life: u32,
    /// Single sends until it crashes.
    sends_left: Option<u32>,
    restarts_left: u32,
    /// Tries that were paid for.
    retries: u32,
}

pub(super) struct Network {
    schedule: Schedule,
    links: Arc<Links>,
    nodes: Vec<Node>,
    queue: BinaryHeap<Reverse<(u64, u64)>>,
    events: BTreeMap<u64, Event>,
    pushed: u64,
    now: u64,
    /// The last arrival on every link, by direction.
    arrivals: BTreeMap<(usize, usize), u64>,
    generator: chacha20::ChaCha20Rng,
    story: Story,
    sealed: BTreeMap<Attempt, BTreeSet<usize>>,
    held: BTreeMap<Attempt, BTreeSet<usize>>,
    opened: BTreeMap<(usize, ReleaseId), BTreeSet<Attempt>>,
    /// Of which attempt, averaged in which view, everybody's sums are.
    taken: BTreeMap<(usize, ReleaseId), (Attempt, ViewNumber)>,
    /// What those who begin an attempt go on from.
    before: BTreeMap<Attempt, (Attempt, ViewNumber)>,
    parts: BTreeMap<Attempt, Members>,
    /// How many links the hostile member has cut instead of saying that it holds what was published.
    cuts: u32,
}

const STEPS: u32 = 3;

impl Network {
    pub(super) fn run(schedule: Schedule) -> Story {
        let generator = schedule.generator();
        let links = Arc::new(schedule.links());
        let nodes = (0..links.peers())
            .map(|u| Node {
                member: schedule.armed(Regroup::new(setup(&schedule, &links, u))),
                disk: Vec::new(),
                view: None,
                attempt: None,
                steps: Vec::new(),
                inbox: BTreeSet::new(),
                is_up: true,
                life: 0,
                sends_left: schedule.crashes.get(&u).copied(),
                retries: 0,
                restarts_left: u32::from(schedule.restarts.contains_key(&u)) * 2,
            })
            .collect();
        let mut network = Self {
            links,
            nodes,
            queue: BinaryHeap::new(),
            events: BTreeMap::new(),
            pushed: 0,
            now: 0,
            arrivals: BTreeMap::new(),
            generator,
            story: Story::default(),
            sealed: BTreeMap::new(),
            held: BTreeMap::new(),
            opened: BTreeMap::new(),
            taken: BTreeMap::new(),
            before: BTreeMap::new(),
            parts: BTreeMap::new(),
            cuts: 0,
            schedule,
        };
        network.play();
        network.story
    }

    fn play(&mut self) {
        for u in 0..self.nodes.len() {
            let at = self.schedule.delay(&mut self.generator) % 2_000;
            self.push(at, Event::Start(u));
        }
        for (at, u, v) in self.schedule.suspicions.clone() {
            self.push(at, Event::Detect(u, v));
            self.story.suspicions += 1;
        }
        let mut events = 0;
        while let Some(Reverse((at, number))) = self.queue.pop() {
            self.now = at;
            events += 1;
            if events > 400_000 {
                self.story.broken.insert(Broken::Live);
                break;
            }
            let event = self.events.remove(&number);
            match event.expect("pushed with its number") {
                Event::Start(u) => self.tell(u, Input::Start),
                Event::Frame {
                    from,
                    to,
                    life,
                    frame,
                } => self.arrive(from, to, life, frame),
                Event::Detect(u, v) => {
                    // A neighbour that is back within the grace is not given up for having been away.
                    let v_peer = PeerIndex::from_index(v);
                    self.tell(u, Input::Suspect(v_peer));
                }
                Event::Timer(u, life, serial) => {
                    if self.nodes[u].life == life {
                        self.tell(u, Input::Timer(serial));
                    }
                }
                Event::Restart(u) => self.restart(u),
            }
        }
        self.judge();
    }

    fn push(&mut self, after: u64, event: Event) {
        self.pushed += 1;
        self.events.insert(self.pushed, event);
        self.queue.push(Reverse((self.now + after, self.pushed)));
    }

    fn tell(&mut self, u: usize, input: Input) {
        if !self.nodes[u].is_up {
            return;
        }
        let mut out = Vec::new();
        let attack = self.attack_of(u);
        let input = match attack {
            Some(attack) => self.instead(u, attack, input),
            None => input,
        };
        let is_the_end = attack.is_some_and(|attack| attack.says_the_end(&input));
        self.nodes[u].member.handle(input, Time(self.now), &mut out);
        if is_the_end {
            let to = self.neighbours(u).into_iter().map(PeerIndex::from_index);
            let (to, record) = (to.collect(), Attack::the_end(u));
            out.insert(0, Output::Send { to, record });
        }
        for output in out {
            if !self.nodes[u].is_up {
                return;
            }
            self.carry_out(u, output);
        }
    }

    fn attack_of(&self, u: usize) -> Option<Attack> {
        let hostile = self.schedule.hostile.filter(|(hostile, _)| *hostile == u);
        hostile.map(|(_, attack)| attack)
    }

    /// What the hostile member is told instead of this.
    fn instead(&mut self, u: usize, attack: Attack, input: Input) -> Input {
        let member = &self.nodes[u].member;
        let mut open = self.neighbours(u).into_iter().map(PeerIndex::from_index);
        let open = open.rfind(|v| !member.is_cut(*v));
        match (input, open) {
            (Input::Holding(_), Some(neighbour)) if self.cuts < attack.cuts => {
                self.cuts += 1;
                Input::Suspect(neighbour)
            }
            (input, _) => input,
        }
    }

    fn carry_out(&mut self, u: usize, output: Output) {
        match output {
            Output::Persist(record) => {
                if let Durable::Held(attempt) = record {
                    self.held.entry(attempt).or_default().insert(u);
                }
                self.nodes[u].disk.push(record);
            }
            Output::Send { to, record } => {
                let said = match self.attack_of(u) {
                    Some(attack) => attack.said(u, record),
                    None => vec![record],
                };
                for v in to {
                    for record in &said {
                        self.send(u, v.index(), Frame::Record(record.clone()));
                    }
                }
            }
            Output::Cut(v) => {
                // The other end sees the connection close.
                let after = self.schedule.delay(&mut self.generator);
                self.push(after, Event::Detect(v.index(), u));
            }
            Output::Freeze => {
                self.nodes[u].steps.clear();
                self.nodes[u].inbox.clear();
            }
            Output::Resume { view, resume } => self.resume(u, &view, &resume),
            Output::Certified(certificate) => {
                self.certified(u, certificate.attempt());
                match self.schedule.provoked.take_if(|(first, ..)| *first == u) {
                    Some((_, v, w)) => {
                        // Somebody else gives up a link just now, so that all freeze before they certify.
                        self.nodes[u].restarts_left += 1;
                        self.schedule.restarts.entry(u).or_insert(3_000);
                        self.push(0, Event::Detect(v, w));
                        self.crash(u);
                    }
                    None => self.enter(u),
                }
            }
            Output::Refused(from) if self.attack_of(from.index()).is_some() => {
                self.story.refused += 1;
            }
            Output::Deviates(evidence) if self.attack_of(evidence.culprit().index()).is_some() => {
                self.story.proofs += 1;
            }
            Output::Deviates(_) | Output::Refused(_) => {
                if self.attack_of(u).is_none() {
                    self.story.broken.insert(Broken::Blame);
                }
            }
            Output::Wake(serial, at) => {
                let life = self.nodes[u].life;
                self.push(at.0.saturating_sub(self.now), Event::Timer(u, life, serial));
            }
            Output::Ended(end) => {
                let is_early = end == End::Missed;
                if is_early && self.attack_of(u).is_none() {
                    self.story.broken.insert(Broken::Early);
                }
                self.nodes[u].steps.clear();
                if end != End::Finished {
                    self.leave(u);
                }
            }
        }
    }

    /// Its connections close; neighbours notice after a while.
    fn leave(&mut self, u: usize) {
        let neighbours: Vec<usize> = self.neighbours(u);
        for v in neighbours {
            let after = 10_000 + 10 * self.schedule.delay(&mut self.generator);
            self.push(after, Event::Detect(v, u));
        }
    }

    fn neighbours(&self, u: usize) -> Vec<usize> {
        let list = self.links.neighbours(PeerIndex::from_index(u)).iter();
        list.map(|(v, _)| v.index()).collect()
    }

    fn send(&mut self, u: usize, v: usize, frame: Frame) {
        let node = &mut self.nodes[u];
        if !node.is_up {
            return;
        }
        if let Some(left) = &mut node.sends_left {
            if *left == 0 {
                return self.crash(u);
            }
            *left -= 1;
        }
        let delay = self.schedule.delay(&mut self.generator);
        let last = self.arrivals.entry((u, v)).or_default();
        let at = (self.now + delay).max(*last + 1);
        *last = at;
        let life = self.nodes[v].life;
        let event = Event::Frame {
            from: u,
            to: v,
            life,
            frame,
        };
        self.push(at - self.now, event);
    }

    fn crash(&mut self, u: usize) {
        if !self.nodes[u].is_up {
            return;
        }
        self.nodes[u].is_up = false;
        self.story.crashes += 1;
        if self.nodes[u].member.end().is_none()
            && self.nodes[u].restarts_left > 0
            && let Some(&after) = self.schedule.restarts.get(&u)
        {
            self.nodes[u].restarts_left -= 1;
            return self.push(after, Event::Restart(u));
        }
        self.leave(u);
    }

    fn restart(&mut self, u: usize) {
        self.story.restarts += 1;
        let setup = setup(&self.schedule, &self.links, u);
        let node = &mut self.nodes[u];
        node.life += 1;
        node.is_up = true;
        node.steps.clear();
        node.inbox.clear();
        node.sends_left = self.schedule.second.get(&u).copied();
        let durable = node.disk.clone();
        let member = Regroup::recovered(setup, durable);
        node.member = self.schedule.armed(member);
        if self.schedule.mutant == Some(Mutant::SilentRestart) {
            // It goes on as if nothing had been.
            let setup = self::setup(&self.schedule, &self.links, u);
            self.nodes[u].member = Regroup::new(setup);
        }
        // Connections come back before anything else is said over them.
        for v in self.neighbours(u) {
            match self.nodes[v].is_up && !self.nodes[v].member.is_cut(PeerIndex::from_index(u)) {
                true => self.tell(v, Input::Returned(PeerIndex::from_index(u))),
                false => self.push(10_000, Event::Detect(u, v)),
            }
        }
        self.tell(u, Input::Start);
    }

    fn resume(&mut self, u: usize, view: &Arc<View>, resume: &Resume) {
        self.story.views += u64::from(view.number != ViewNumber(0));
        let average = (0..STEPS).map(Step::Average);
        let node = &mut self.nodes[u];
        let (attempt, steps): (_, Vec<Step>) = match resume {
            Resume::Begin { attempt, .. } => (*attempt, vec![Step::Seal]),
            Resume::Average { attempt, .. } => {
                self.story.averagings_again += 1;
                (*attempt, [Step::Open].into_iter().chain(average).collect())
            }
            Resume::Finished | Resume::Lost { .. } => return,
        };
        node.view = Some(Arc::clone(view));
        node.attempt = Some(attempt);
        node.steps = steps;
        if let Resume::Begin { retries, .. } = resume {
            node.retries = *retries;
            if attempt.view != ViewNumber(0) {
                self.story.attempts_again += 1;
            }
            if *retries > self.schedule.retries {
                self.story.broken.insert(Broken::Charged);
            }
            if view.members.len() < self.schedule.floor {
                self.story.broken.insert(Broken::Few);
            }
            self.parts.insert(attempt, view.members.clone());
            if !self.sealed.entry(attempt).or_default().insert(u) {
                self.story.broken.insert(Broken::Fresh);
            }
            self.goes_on_from(u, attempt);
            self.in_the_open(u, attempt, *retries);
            self.tell(u, Input::Sending(attempt));
        } else {
            self.certified(u, attempt);
        }
        self.enter(u);
    }

    /// All who begin an attempt go on from one sum.
    fn goes_on_from(&mut self, u: usize, attempt: Attempt) {
        let last = ReleaseId(attempt.release.0.saturating_sub(1));
        if let Some(&sum) = self.taken.get(&(u, last))
            && *self.before.entry(attempt).or_insert(sum) != sum
        {
            self.story.broken.insert(Broken::Bits);
        }
    }

    /// A contribution that leaves in the open: every try after the first at one release is one that was counted.
    fn in_the_open(&mut self, u: usize, attempt: Attempt, retries: u32) {
        if matches!(self.schedule.publication, Publication::Sealed(_)) {
            return;
        }
        let mut same = self.sealed.range(attempt.same_try());
        if same.any(|(at, by)| *at != attempt && by.contains(&u)) {
            self.story.broken.insert(Broken::Twice);
        }
        let tries = self.sealed.iter();
        let mine = tries.filter(|(at, by)| at.release == attempt.release && by.contains(&u));
        if mine.count() as u32 > retries + 1 {
            self.story.broken.insert(Broken::Charged);
        }
    }

    /// The referee's part: what must hold when somebody opens.
    fn certified(&mut self, u: usize, attempt: Attempt) {
        let all: BTreeSet<usize> = self
            .parts
            .get(&attempt)
            .map(|members| members.iter().map(PeerIndex::index).collect())
            .unwrap_or_default();
        if self.sealed.get(&attempt) != Some(&all) {
            self.story.broken.insert(Broken::All);
        }
        if self.held.get(&attempt) != Some(&all) {
            self.story.broken.insert(Broken::Held);
        }
        let opened = self.opened.entry((u, attempt.release)).or_default();
        opened.insert(attempt);
        let node = &mut self.nodes[u];
        if opened.len() as u32 > 1 + node.retries {
            self.story.broken.insert(Broken::One);
        }
        node.attempt = Some(attempt);
        node.steps = [Step::Open]
            .into_iter()
            .chain((0..STEPS).map(Step::Average))
            .collect();
    }

    /// Says the message of the step that the node is in, and goes on as far as messages allow.
    fn enter(&mut self, u: usize) {
        let node = &self.nodes[u];
        let (Some(step), Some(view), Some(attempt)) =
            (node.steps.first().copied(), node.view.clone(), node.attempt)
        else {
            return;
        };
        let neighbours: Vec<usize> = self
            .links
            .live(
                PeerIndex::from_index(u),
                view.disruptions.cuts(),
                &view.members,
            )
            .map(PeerIndex::index)
            .collect();
        for &v in &neighbours {
            self.send(u, v, Frame::Step(view.number, attempt, step));
        }
        self.advance(u);
    }

    fn advance(&mut self, u: usize) {
        let node = &self.nodes[u];
        let (Some(step), Some(view), Some(attempt)) =
            (node.steps.first().copied(), node.view.clone(), node.attempt)
        else {
            return;
        };
        if !node.is_up || node.member.is_frozen() || node.member.end().is_some() {
            return;
        }
        let me = PeerIndex::from_index(u);
        let is_here = |v: PeerIndex| {
            node.inbox
                .contains(&(view.number, attempt, step, v.index()))
        };
        let cuts = view.disruptions.cuts();
        if !self.links.live(me, cuts, &view.members).all(is_here) {
            return;
        }
        self.nodes[u].steps.remove(0);
        if step == Step::Seal {
            return self.tell(u, Input::Holding(attempt));
        }
        if self.nodes[u].steps.is_empty() {
            let sum = (attempt, view.number);
            if !self.taken.values().any(|taken| *taken == sum)
                && let Some((v, w)) = self.schedule.hasty.pop()
            {
                // Somebody gives up a link as soon as the first has the sum: others have not.
                self.push(0, Event::Detect(v, w));
            }
            self.taken.insert((u, attempt.release), sum);
            return self.tell(u, Input::Averaged(attempt.release));
        }
        self.enter(u);
    }

    fn arrive(&mut self, from: usize, to: usize, life: u32, frame: Frame) {
        let node = &self.nodes[to];
        if !node.is_up || node.life != life {
            return;
        }
        match frame {
            Frame::Record(record) => {
                let from = PeerIndex::from_index(from);
                self.tell(to, Input::Heard { from, record });
            }
            Frame::Step(view, attempt, step) => {
                let cuts = node.member.view().disruptions.cuts();
                let (a, b) = (PeerIndex::from_index(from), PeerIndex::from_index(to));
                let link = self.links.between(a, b);
                let is_cut = link.is_none_or(|link| cuts.contains(link));
                if is_cut || node.member.end().is_some() {
                    return;
                }
                let own = node.member.view().number;
                if node.member.is_frozen() || view != own {
                    if !node.member.is_frozen() && view > own {
                        self.story.broken.insert(Broken::Order);
                    }
                    return;
                }
                self.nodes[to].inbox.insert((view, attempt, step, from));
                self.advance(to);
            }
        }
    }

    fn judge(&mut self) {
        let mut same: BTreeMap<ReleaseId, BTreeSet<(Attempt, ViewNumber)>> = BTreeMap::new();
        for (u, node) in self.nodes.iter().enumerate() {
            if !node.is_up || self.attack_of(u).is_some() {
                continue;
            }
            let name = match node.member.end() {
                None => {
                    self.story.broken.insert(Broken::Live);
                    "none"
                }
                Some(End::Finished) => "finished",
                Some(End::Floor) => "floor",
                Some(End::Excluded) => "excluded",
                Some(End::Lost) => "lost",
                Some(End::Published) => "published",
                Some(End::Restarts) => "restarts",
                Some(End::Missed) => "missed",
            };
            *self.story.ends.entry(name).or_default() += 1;
            if node.member.end() == Some(End::Finished) {
                for release in 1..=self.schedule.releases {
                    let release = ReleaseId(release);
                    match self.taken.get(&(u, release)) {
                        Some(sum) => {
                            same.entry(release).or_default().insert(*sum);
                        }
                        None => {
                            self.story.broken.insert(Broken::Early);
                        }
                    }
                }
            }
        }
        for sums in same.values() {
            let attempts: BTreeSet<Attempt> = sums.iter().map(|(attempt, _)| *attempt).collect();
            if attempts.len() > 1 {
                self.story.broken.insert(Broken::Same);
            }
            if sums.len() > 1 {
                self.story.broken.insert(Broken::Bits);
            }
        }
    }
}

fn setup(schedule: &Schedule, links: &Arc<Links>, u: usize) -> RegroupSetup {
    RegroupSetup {
        me: PeerIndex::from_index(u),
        session: SessionId([1; 16]),
        signatures: Marks::of(PeerIndex::from_index(u)),
        links: Arc::clone(links),
        tolerance: Arc::new(schedule.tolerance()),
        last: ReleaseId(schedule.releases),
        patience: schedule.patience(),
    }
}
