//! The network of a run with faults, and what an omniscient observer notes of it.

use std::collections::BTreeMap;
use std::sync::Arc;

use chacha20::ChaCha20Rng;
use rand::RngExt;

use super::observer::Observed;
use super::schedule::{Crash, CrashPoint, FaultSchedule};
use crate::algorithm::PublicState;
use crate::engine::SessionViews;
use crate::engine::event::queue::Queue;
use crate::linalg::Block;
use crate::protocol::regroup::{
    Attempt, End, Evidence, Links, LinksError, Publication, RegroupSetup, Resume, Tolerance, View,
    ViewNumber,
};
use crate::protocol::tolerant::{
    DiskRecord, Frame, Input, Output, SealSecrets, TolerantError, TolerantPeer,
};
use crate::protocol::{Event, Summand};
use crate::vocabulary::{PeerIndex, ReleaseId, Span, Time};

/// More events than any run of a session of this size has: a run that goes on for longer has no end.
const MOST_EVENTS: u64 = 4_000_000;

/// Why a run under faults came to nothing.
#[derive(Debug, thiserror::Error)]
pub enum FaultyError {
    /// A peer could not go on.
    #[error(transparent)]
    Tolerant(#[from] TolerantError),
    /// The session's graph is none.
    #[error(transparent)]
    Links(#[from] LinksError),
    /// The run goes on and on.
    #[error(
        "the run has no end after {MOST_EVENTS} events: this is a mistake of the protocol; please report the schedule"
    )]
    Endless,
}

/// How one peer ended.
#[derive(Clone, Debug)]
pub struct PeerEnd {
    /// How its session ended; nothing for one that crashed before and did not come back.
    pub end: Option<End>,
    /// Whether it lives, or has crashed only after its end.
    pub is_up: bool,
    /// Its estimate of the leading eigenvectors after its last release, n × p.
    pub basis: Option<Arc<Block>>,
    /// Per release, the attempt whose sum it took, and the view in which that was averaged last.
    pub taken: BTreeMap<ReleaseId, (Attempt, Arc<View>)>,
    /// The noisy sums that it released.
    pub sums: BTreeMap<ReleaseId, Arc<Block>>,
    /// The public states it had, by how many releases they had behind them.
    pub states: BTreeMap<u32, PublicState>,
    /// How often it tried a release again at the price of one more.
    pub retries: u32,
}

/// What went wrong, counted where it happened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fired {
    /// Processes that crashed.
    pub crashes: u64,
    /// Processes that started again.
    pub restarts: u64,
    /// Links that were given up.
    pub cuts: u64,
    /// Views that peers decided after the first.
    pub views: u64,
    /// Attempts that were begun again.
    pub attempts_again: u64,
    /// Averagings that were begun again.
    pub averagings_again: u64,
    /// Contributions of lost peers that an heir brought in.
    pub inherited: u64,
}

/// What came of a run.
#[derive(Clone, Debug)]
pub struct FaultyOutcome {
    /// Every peer's end.
    pub peers: Vec<PeerEnd>,
    /// Every contribution that its peer made, by attempt and peer; sealed ones as they were before.
    pub published: BTreeMap<(Attempt, PeerIndex), Summand>,
    /// Who took part in every attempt, and how many tries had been paid for when it began, itself included.
    pub parts: BTreeMap<Attempt, (Arc<View>, u32)>,
    /// Heirs, by the view that they were heirs in.
    pub heirs: BTreeMap<(ViewNumber, Attempt), Vec<crate::protocol::regroup::Heir>>,
    /// Who was proved to deviate.
    pub proven: BTreeMap<PeerIndex, Evidence>,
    /// What became known, and was charged.
    pub observed: Observed,
    /// What went wrong.
    pub fired: Fired,
    /// Frames that were sent.
    pub frames: u64,
    /// When the last frame arrived, in microseconds.
    pub micros: u64,
}

enum Happening {
    Frame {
        from: usize,
        to: usize,
        life: u32,
        frame: Frame,
    },
    Notice(usize, usize),
    Timer(usize, u32, u64),
    Restart(usize),
}

struct Process {
    peer: Option<TolerantPeer>,
    disk: Vec<DiskRecord>,
    is_up: bool,
    life: u32,
    crash: Option<Crash>,
    counted: u32,
    view: Option<Arc<View>>,
    end: PeerEnd,
}

/// Runs the session of these views under this schedule.
///
/// # Errors
/// [`FaultyError`] if a peer cannot go on for another reason than the schedule, or the run has no end.
pub fn run(
    views: &Arc<SessionViews>,
    tolerance: &Arc<Tolerance>,
    schedule: &FaultSchedule,
) -> Result<FaultyOutcome, FaultyError> {
    let links = Arc::new(views.links()?);
    Network::new(views, links, tolerance, schedule).run()
}

struct Network<'a> {
    views: &'a Arc<SessionViews>,
    links: Arc<Links>,
    tolerance: &'a Arc<Tolerance>,
    schedule: &'a FaultSchedule,
    processes: Vec<Process>,
    /// Numbers of what is to happen.
    queue: Queue<u64>,
    happenings: BTreeMap<u64, Happening>,
    pushed: u64,
    now: u64,
    arrivals: BTreeMap<(usize, usize), u64>,
    generator: ChaCha20Rng,
    outcome: FaultyOutcome,
}

impl<'a> Network<'a> {
    fn new(
        views: &'a Arc<SessionViews>,
        links: Arc<Links>,
        tolerance: &'a Arc<Tolerance>,
        schedule: &'a FaultSchedule,
    ) -> Self {
        let crash = |u: usize| {
            let mut all = schedule.crashes.iter();
            all.find(|crash| crash.peer as usize == u).copied()
        };
        let processes = (0..links.peers()).map(|u| Process {
            peer: None,
            disk: Vec::new(),
            is_up: true,
            life: 0,
            crash: crash(u),
            counted: 0,
            view: None,
            end: PeerEnd {
                end: None,
                is_up: true,
                basis: None,
                taken: BTreeMap::new(),
                sums: BTreeMap::new(),
                states: BTreeMap::new(),
                retries: 0,
            },
        });
        Self {
            processes: processes.collect(),
            links,
            views,
            tolerance,
            schedule,
            queue: Queue::default(),
            happenings: BTreeMap::new(),
            pushed: 0,
            now: 0,
            arrivals: BTreeMap::new(),
            generator: schedule.generator(),
            outcome: FaultyOutcome {
                peers: Vec::new(),
                published: BTreeMap::new(),
                parts: BTreeMap::new(),
                heirs: BTreeMap::new(),
                proven: BTreeMap::new(),
                observed: Observed::default(),
                fired: Fired::default(),
                frames: 0,
                micros: 0,
            },
        }
    }

    fn run(mut self) -> Result<FaultyOutcome, FaultyError> {
        for u in 0..self.processes.len() {
            let start = self.start_state();
            let (secrets, views) = (self.secrets(u), self.shared_views());
            let peer = TolerantPeer::new(self.setup(u), secrets, views, start)?;
            #[cfg(test)]
            let peer = peer.armed(self.views.tamper);
            self.processes[u].peer = Some(peer);
        }
        for u in 0..self.processes.len() {
            self.tell(u, Input::Start)?;
        }
        for suspicion in &self.schedule.suspicions {
            let (by, of) = (suspicion.by as usize, suspicion.of as usize);
            self.push(suspicion.micros, Happening::Notice(by, of));
        }
        let mut events = 0;
        while let Some((at, number)) = self.queue.pop() {
            self.now = at;
            events += 1;
            if events > MOST_EVENTS {
                return Err(FaultyError::Endless);
            }
            match self.happenings.remove(&number) {
                Some(happening) => self.happen(happening)?,
                None => continue,
            }
        }
        self.outcome.micros = self.now;
        let ends = self.processes.into_iter().map(|one| PeerEnd {
            is_up: one.is_up || one.end.end.is_some(),
            ..one.end
        });
        self.outcome.peers = ends.collect();
        Ok(self.outcome)
    }

    fn happen(&mut self, happening: Happening) -> Result<(), FaultyError> {
        match happening {
            Happening::Notice(u, v) => self.tell(u, Input::Suspect(PeerIndex::from_index(v))),
            Happening::Timer(u, life, serial) if self.processes[u].life == life => {
                self.tell(u, Input::Timer(serial))
            }
            Happening::Timer(..) => Ok(()),
            Happening::Restart(u) => self.restart(u),
            Happening::Frame {
                from,
                to,
                life,
                frame,
            } => {
                if !self.processes[to].is_up || self.processes[to].life != life {
                    return Ok(());
                }
                let from = PeerIndex::from_index(from);
                self.tell(to, Input::Frame { from, frame })
            }
        }
    }

    fn setup(&self, u: usize) -> RegroupSetup {
        let releases = self.views.session().plan().releases().len();
        RegroupSetup {
            me: PeerIndex::from_index(u),
            session: self.views.session().plan().session(),
            signatures: self.views.signatures(PeerIndex::from_index(u)),
            links: Arc::clone(&self.links),
            tolerance: Arc::clone(self.tolerance),
            last: ReleaseId(releases as u32),
            patience: Span::from_micros(self.schedule.patience_micros),
        }
    }

    fn secrets(&self, u: usize) -> Option<SealSecrets> {
        let is_open = self.tolerance.publication == Publication::Open;
        (!is_open).then(|| self.views.seal_secrets(PeerIndex::from_index(u)))
    }

    fn start_state(&self) -> PublicState {
        PublicState::new(Arc::clone(self.views.session().start()))
    }

    fn shared_views(&self) -> Arc<dyn crate::protocol::tolerant::Views> {
        let views: Arc<SessionViews> = Arc::clone(self.views);
        views
    }

    fn delay(&mut self) -> u64 {
        let uniform: f64 = self.generator.random_range(1e-9..1.0);
        (-uniform.ln() * self.schedule.latency_micros as f64) as u64 + 1
    }

    fn push(&mut self, after: u64, happening: Happening) {
        self.pushed += 1;
        self.happenings.insert(self.pushed, happening);
        let at = self.now.saturating_add(after);
        self.queue.push(at, self.pushed);
    }

    fn tell(&mut self, u: usize, input: Input) -> Result<(), FaultyError> {
        if !self.processes[u].is_up {
            return Ok(());
        }
        let now = Time(self.now * 1_000);
        let mut out = Vec::new();
        let Some(peer) = &mut self.processes[u].peer else {
            return Ok(());
        };
        peer.handle(input, now, &mut out)?;
        for output in out {
            if !self.processes[u].is_up {
                break;
            }
            self.carry_out(u, output);
        }
        Ok(())
    }

    /// Whether this is the frame or record at which the process crashes.
    fn is_due(&mut self, u: usize, points: &[CrashPoint]) -> bool {
        let process = &mut self.processes[u];
        let Some(crash) = process.crash.filter(|crash| points.contains(&crash.at)) else {
            return false;
        };
        process.counted += 1;
        process.counted > crash.after
    }

    fn carry_out(&mut self, u: usize, output: Output) {
        match output {
            Output::Persist(record) => {
                if self.is_due(u, &[CrashPoint::BeforeRecord]) {
                    return self.crash(u);
                }
                let me = PeerIndex::from_index(u);
                self.outcome.observed.written(me, &record);
                self.processes[u].disk.push(record);
                if self.is_due(u, &[CrashPoint::AfterRecord]) {
                    self.crash(u);
                }
            }
            Output::Charge(attempt) => {
                let me = PeerIndex::from_index(u);
                self.outcome.observed.charged(me, attempt);
            }
            Output::Send { to, frame } => {
                for v in to {
                    if self.is_due(u, &[CrashPoint::Frame]) {
                        return self.crash(u);
                    }
                    self.send(u, v.index(), frame.clone());
                }
            }
            Output::Cut(v) => {
                self.outcome.fired.cuts += 1;
                let after = self.delay();
                self.push(after, Happening::Notice(v.index(), u));
            }
            Output::Wake(serial, at) => {
                let life = self.processes[u].life;
                let after = (at.0 / 1_000).saturating_sub(self.now);
                self.push(after, Happening::Timer(u, life, serial));
            }
            Output::Resumed { view, resume } => self.resumed(u, view, &resume),
            Output::Event(attempt, event) => self.noted(u, attempt, &event),
            Output::Fault(fault) => {
                let v = fault.culprit.index();
                self.outcome.observed.blamed(fault.culprit);
                self.push(0, Happening::Notice(u, v));
            }
            Output::Deviates(evidence) => {
                let culprit = evidence.culprit();
                self.outcome.proven.insert(culprit, *evidence);
            }
            Output::Ended(end) => {
                self.processes[u].end.end = Some(end);
                if end != End::Finished {
                    self.leave(u);
                }
            }
        }
    }

    fn resumed(&mut self, u: usize, view: Arc<View>, resume: &Resume) {
        let fired = &mut self.outcome.fired;
        let is_new = self.processes[u]
            .view
            .as_ref()
            .is_none_or(|old| old.number != view.number);
        fired.views += u64::from(is_new && view.number != ViewNumber(0));
        if let Resume::Begin { attempt, .. } | Resume::Average { attempt, .. } = resume {
            let me = PeerIndex::from_index(u);
            self.outcome.observed.resumed(me, *attempt, &view);
        }
        match resume {
            Resume::Begin { attempt, retries } => {
                fired.attempts_again += u64::from(is_new && view.number != ViewNumber(0));
                self.processes[u].end.retries = *retries;
                self.outcome
                    .parts
                    .insert(*attempt, (Arc::clone(&view), *retries));
            }
            Resume::Average { attempt, heirs, .. } => {
                fired.averagings_again += 1;
                let me = PeerIndex::from_index(u);
                fired.inherited += heirs.iter().filter(|heir| heir.heir == me).count() as u64;
                self.outcome
                    .heirs
                    .insert((view.number, *attempt), heirs.clone());
            }
            Resume::Finished | Resume::Lost { .. } => {}
        }
        self.processes[u].view = Some(view);
    }

    fn noted(&mut self, u: usize, attempt: Attempt, event: &Event) {
        match event {
            Event::Advanced {
                release,
                state,
                basis,
            } => {
                let process = &mut self.processes[u];
                process.end.basis = Some(Arc::clone(basis));
                process.end.states.insert(release.0, state.clone());
                if let Some(view) = &process.view {
                    process
                        .end
                        .taken
                        .insert(*release, (attempt, Arc::clone(view)));
                }
            }
            Event::Published { input, .. } => {
                let place = (attempt, PeerIndex::from_index(u));
                self.outcome.published.insert(place, input.clone());
            }
            Event::Released { release, sum, .. } => {
                let sums = &mut self.processes[u].end.sums;
                sums.insert(*release, Arc::clone(sum));
            }
            Event::Finished => {}
        }
    }

    fn send(&mut self, u: usize, v: usize, frame: Frame) {
        self.outcome.frames += 1;
        let (from, parts) = (PeerIndex::from_index(u), &self.outcome.parts);
        self.outcome.observed.sent(from, &frame, parts);
        let delay = self.delay();
        let last = self.arrivals.entry((u, v)).or_default();
        let at = (self.now + delay).max(*last + 1);
        *last = at;
        let life = self.processes[v].life;
        let happening = Happening::Frame {
            from: u,
            to: v,
            life,
            frame,
        };
        self.push(at - self.now, happening);
    }

    fn crash(&mut self, u: usize) {
        self.outcome.fired.crashes += 1;
        let process = &mut self.processes[u];
        process.is_up = false;
        process.peer = None;
        let crash = process.crash.take();
        let again = crash.and_then(|crash| crash.restart_micros);
        match again.filter(|_| process.end.end.is_none()) {
            Some(after) => self.push(after, Happening::Restart(u)),
            None => self.leave(u),
        }
    }

    /// Its connections break, and neighbours notice.
    fn leave(&mut self, u: usize) {
        let neighbours: Vec<usize> = self.neighbours(u);
        for v in neighbours {
            let after = self.schedule.notice_micros + self.delay();
            self.push(after, Happening::Notice(v, u));
        }
    }

    fn neighbours(&self, u: usize) -> Vec<usize> {
        let list = self.links.neighbours(PeerIndex::from_index(u)).iter();
        list.map(|(v, _)| v.index()).collect()
    }

    fn restart(&mut self, u: usize) -> Result<(), FaultyError> {
        self.outcome.fired.restarts += 1;
        let (setup, start) = (self.setup(u), self.start_state());
        let (secrets, views) = (self.secrets(u), self.shared_views());
        let process = &mut self.processes[u];
        process.life += 1;
        process.is_up = true;
        process.view = None;
        let peer = TolerantPeer::recovered(setup, secrets, views, start, &process.disk)?;
        #[cfg(test)]
        let peer = peer.armed(self.views.tamper);
        process.peer = Some(peer);
        let me = PeerIndex::from_index(u);
        for v in self.neighbours(u) {
            let other = self.processes[v]
                .peer
                .as_ref()
                .filter(|_| self.processes[v].is_up);
            match other.is_some_and(|peer| !peer.regroup().is_cut(me)) {
                true => self.tell(v, Input::Returned(me))?,
                false => self.push(self.schedule.notice_micros, Happening::Notice(u, v)),
            }
        }
        self.tell(u, Input::Start)
    }
}
