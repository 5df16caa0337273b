//! The network of a run with faults, and what an omniscient observer notes of it.

mod lives;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use super::carrier::{Carrier, all_outages};
use super::error::ScheduleError;
use super::fired::Watch;
use super::interceptor::Interceptor;
use super::outcome::{FaultyOutcome, MOST_MOMENTS, Moment, PeerEnd, Taken};
use super::random::Extent;
use super::schedule::{Crash, CrashPoint, FaultSchedule};
use super::sizes::size;
use crate::algorithm::PublicState;
use crate::engine::event::queue::Queue;
use crate::engine::{Observer, SessionViews, ViewError};
use crate::linalg::Block;
use crate::protocol::averaging::PeerBytes;
use crate::protocol::regroup::{
    Attempt, Durable, End, Links, LinksError, Publication, RegroupSetup, Resume, Tolerance, View,
    ViewNumber,
};
use crate::protocol::tolerant::{
    DiskRecord, Frame, Input, Output, SealSecrets, TolerantError, TolerantPeer,
};
use crate::protocol::{Event, Terms};
use crate::vocabulary::{PeerIndex, ReleaseId, Span, Time};

/// More events than any run of a small session has.
const LEAST_LIMIT: u64 = 4_000_000;

/// More events than any run of this session has: a run that goes on for longer has no end. In every attempt every peer's word goes over every link.
fn most_events(links: &Links, tries: u64) -> u64 {
    let everywhere = 2 * links.len() as u64 * links.peers() as u64;
    LEAST_LIMIT.saturating_add(everywhere.saturating_mul(20).saturating_mul(tries))
}

/// Why a run under faults came to nothing.
#[derive(Debug, thiserror::Error)]
pub enum FaultyError {
    /// A peer could not go on.
    #[error(transparent)]
    Tolerant(#[from] TolerantError),
    /// The session's graph is none.
    #[error(transparent)]
    Links(#[from] LinksError),
    /// There is no session among the members of a view.
    #[error(transparent)]
    View(#[from] ViewError),
    /// The schedule cannot be run.
    #[error(transparent)]
    Schedule(#[from] ScheduleError),
    /// The run goes on and on.
    #[error(
        "the run has no end after {events} events: this is a mistake of the protocol; please report the schedule"
    )]
    Endless {
        /// How many.
        events: u64,
    },
}

enum Happening {
    Frame {
        from: usize,
        to: usize,
        life: u32,
        frame: Frame,
    },
    /// One gives another up, for good reason or for none.
    Suspicion(usize, usize),
    /// One finds that another's process is gone: dropped, if it has started again since this life of it.
    Gone(usize, usize, u32),
    Timer(usize, u32, u64),
    Restart(usize),
}

struct Process {
    peer: Option<TolerantPeer>,
    disk: Vec<DiskRecord>,
    is_up: bool,
    life: u32,
    crashes: VecDeque<Crash>,
    /// Frames or records of this life, as far as the next crash counts them.
    counted: u32,
    /// Records until the disk fails.
    disk_fails: Option<u32>,
    frames: u32,
    records: u32,
    view: Option<Arc<View>>,
    /// Sums that have come and that nothing has been made of yet.
    sums: BTreeMap<ReleaseId, (Terms, Arc<Block>)>,
    end: PeerEnd,
}

/// Runs the session of these views under this schedule, in which everything is listed ([`FaultSchedule::explicit`]).
///
/// # Errors
/// [`FaultyError`] if a peer cannot go on for another reason than the schedule, the schedule is of another session, or the run has no end.
pub(super) fn run(
    views: &Arc<SessionViews>,
    tolerance: &Arc<Tolerance>,
    schedule: &FaultSchedule,
    observer: &mut dyn Observer,
    interceptor: Option<Interceptor>,
) -> Result<FaultyOutcome, FaultyError> {
    let links = Arc::new(views.session().public().links()?);
    let pairs: Vec<(u32, u32)> = views.session().graph().edge_list().collect();
    schedule.check_for(links.peers(), &pairs)?;
    Network::new(
        views,
        (links, &pairs),
        (tolerance, schedule),
        observer,
        interceptor,
    )
    .run(&pairs)
}

struct Network<'a> {
    views: &'a Arc<SessionViews>,
    links: Arc<Links>,
    tolerance: &'a Arc<Tolerance>,
    schedule: &'a FaultSchedule,
    observer: &'a mut dyn Observer,
    processes: Vec<Process>,
    /// What each peer starts from, and starts again from.
    setups: Vec<RegroupSetup>,
    interceptor: Option<Interceptor>,
    /// Places of what is to happen.
    queue: Queue<usize>,
    happenings: Vec<Option<Happening>>,
    /// Places of what has happened.
    free: Vec<usize>,
    now: u64,
    carrier: Carrier,
    watch: Watch,
    outcome: FaultyOutcome,
}

impl<'a> Network<'a> {
    fn new(
        views: &'a Arc<SessionViews>,
        (links, pairs): (Arc<Links>, &[(u32, u32)]),
        (tolerance, schedule): (&'a Arc<Tolerance>, &'a FaultSchedule),
        observer: &'a mut dyn Observer,
        interceptor: Option<Interceptor>,
    ) -> Self {
        let crashes = |u: usize| {
            let all = schedule.crashes.iter();
            all.filter(|crash| crash.peer as usize == u)
                .copied()
                .collect()
        };
        let disk_fails = |u: usize| {
            let all = schedule.disks.iter();
            all.filter(|disk| disk.peer as usize == u)
                .map(|disk| disk.after)
                .min()
        };
        let processes = (0..links.peers()).map(|u| Process {
            peer: None,
            disk: Vec::new(),
            is_up: true,
            life: 0,
            crashes: crashes(u),
            counted: 0,
            disk_fails: disk_fails(u),
            frames: 0,
            records: 0,
            view: None,
            sums: BTreeMap::new(),
            end: PeerEnd {
                is_up: true,
                ..PeerEnd::default()
            },
        });
        let releases = views.session().plan().releases().len();
        let setup = |u: usize| RegroupSetup {
            me: PeerIndex::from_index(u),
            session: views.session().plan().session(),
            signatures: views.signatures(PeerIndex::from_index(u)),
            links: Arc::clone(&links),
            tolerance: Arc::clone(tolerance),
            last: ReleaseId(releases as u32),
            patience: Span::from_micros(schedule.patience_micros),
        };
        let setups: Vec<RegroupSetup> = (0..links.peers()).map(setup).collect();
        Self {
            processes: processes.collect(),
            setups,
            links,
            views,
            tolerance,
            schedule,
            observer,
            interceptor,
            queue: Queue::default(),
            happenings: Vec::new(),
            free: Vec::new(),
            now: 0,
            carrier: Carrier::new(schedule, pairs),
            watch: Watch::default(),
            outcome: FaultyOutcome {
                sent: vec![PeerBytes::default(); views.session().peers()],
                ..FaultyOutcome::default()
            },
        }
    }

    fn run(mut self, pairs: &[(u32, u32)]) -> Result<FaultyOutcome, FaultyError> {
        for u in 0..self.processes.len() {
            let start = self.start_state();
            let (secrets, views) = (self.secrets(u), self.shared_views());
            let peer = TolerantPeer::new(self.setups[u].clone(), secrets, views, start)?;
            self.processes[u].peer = Some(peer.with_defect(self.views.defect));
        }
        for u in 0..self.processes.len() {
            self.tell(u, Input::Start)?;
        }
        self.suspect(None);
        for ((u, v), from, until) in all_outages(self.schedule, pairs) {
            // Both ends give up a link that is away for too long.
            let grace = self.schedule.grace_micros;
            if until.is_none_or(|until| until - from > grace) {
                let (u, v) = (u as usize, v as usize);
                for (by, of) in [(u, v), (v, u)] {
                    let after = from + grace + self.carrier.delay();
                    self.push(after, Happening::Suspicion(by, of));
                }
            }
        }
        let tries =
            u64::from(self.tolerance.retries) + self.views.session().plan().releases().len() as u64;
        let most = most_events(&self.links, tries);
        let mut events = 0;
        while let Some((at, place)) = self.queue.pop() {
            self.now = at;
            self.observer.step(Time(at * 1_000));
            events += 1;
            if events > most {
                return Err(FaultyError::Endless { events });
            }
            self.free.push(place);
            if let Some(happening) = self.happenings[place].take() {
                self.happen(happening)?;
            }
        }
        self.outcome.micros = self.now;
        self.close();
        let ends = self.processes.into_iter().map(|one| PeerEnd {
            is_up: one.is_up || one.end.end.is_some(),
            ..one.end
        });
        self.outcome.peers = ends.collect();
        Ok(self.outcome)
    }

    fn happen(&mut self, happening: Happening) -> Result<(), FaultyError> {
        match happening {
            Happening::Suspicion(u, v) => self.tell(u, Input::Suspect(PeerIndex::from_index(v))),
            Happening::Gone(u, v, life) => {
                let gone = &self.processes[v];
                let is_back = gone.life > life && gone.is_up && gone.end.end.is_none();
                match is_back {
                    true => Ok(()),
                    false => self.tell(u, Input::Suspect(PeerIndex::from_index(v))),
                }
            }
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
                let from = PeerIndex::from_index(from);
                match self.processes[to].life == life {
                    true => self.tell(to, Input::Frame { from, frame }),
                    false => Ok(()),
                }
            }
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

    fn push(&mut self, after: u64, happening: Happening) {
        let place = self.free.pop().unwrap_or_else(|| {
            self.happenings.push(None);
            self.happenings.len() - 1
        });
        self.happenings[place] = Some(happening);
        let at = self.now.saturating_add(after);
        self.queue.push(at, place);
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

    /// Where the process crashes, if it is at this record, or else this frame.
    fn due(&mut self, u: usize, record: Option<&DiskRecord>) -> Option<CrashPoint> {
        let process = &mut self.processes[u];
        let crash = process.crashes.front()?;
        let is_counted = crash.at.counts(record);
        process.counted += u32::from(is_counted);
        (is_counted && process.counted > crash.after).then_some(crash.at)
    }

    /// Writes a record, unless the process or its disk comes to an end with it.
    fn persist(&mut self, u: usize, record: DiskRecord) {
        let record = match &self.interceptor {
            None => record,
            Some(interceptor) => {
                interceptor.record(&self.setups[u], self.views.session().plan(), record)
            }
        };
        let due = self.due(u, Some(&record));
        let process = &mut self.processes[u];
        if process
            .disk_fails
            .is_some_and(|after| process.records >= after)
        {
            return self.fail_disk(u);
        }
        match due {
            Some(CrashPoint::BeforeRecord | CrashPoint::BeforeCertificate) => return self.crash(u),
            Some(CrashPoint::TornRecord) => {
                // What is found of it at the next start is no whole record, and dropped.
                self.outcome.fired.torn_records += 1;
                return self.crash(u);
            }
            _ => {}
        }
        process.records += 1;
        let me = PeerIndex::from_index(u);
        if let DiskRecord::Regroup(Durable::Certified(certificate)) = &record {
            self.watch.certified(me, certificate.attempt());
        }
        self.outcome.observed.written(me, &record);
        process.disk.push(record);
        if due.is_some() {
            self.crash(u);
        }
    }

    fn carry_out(&mut self, u: usize, output: Output) {
        match output {
            Output::Charge(attempt) => {
                let me = PeerIndex::from_index(u);
                self.outcome.observed.charged(me, attempt);
            }
            Output::Persist(record) => self.persist(u, record),
            Output::Send { to, frame } => {
                for v in to {
                    if self.due(u, None).is_some() {
                        return self.crash(u);
                    }
                    self.send(u, v.index(), frame.clone());
                }
            }
            Output::Cut(v) => {
                self.outcome.fired.cuts += 1;
                self.note(u, Moment::GaveUp(v));
                let after = self.carrier.delay();
                self.push(after, Happening::Suspicion(v.index(), u));
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
                self.push(0, Happening::Suspicion(u, v));
            }
            Output::Deviates(evidence) => {
                let culprit = evidence.culprit();
                self.outcome.proven.insert(culprit, *evidence);
            }
            Output::Ended(end) => {
                self.note(u, Moment::Ended(end));
                self.outcome.ended_micros = self.now;
                self.processes[u].end.end = Some(end);
                if end != End::Finished {
                    self.leave(u, self.schedule.notice_micros);
                }
            }
        }
    }

    fn resumed(&mut self, u: usize, view: Arc<View>, resume: &Resume) {
        let processes = &self.processes;
        let is_up = |peer: PeerIndex| processes[peer.index()].is_up;
        let (parts, fired) = (&self.outcome.parts, &mut self.outcome.fired);
        let known = (parts, (&*self.links, &*self.tolerance.needs));
        self.watch
            .goes_on(&view, resume, is_up, known, &mut fired.cases);
        self.outcome.finals_given_up = self.watch.finals_given_up;
        let is_new = self.processes[u]
            .view
            .as_ref()
            .is_none_or(|old| old.number != view.number);
        fired.views += u64::from(is_new && view.number != ViewNumber(0));
        if let Resume::Begin { attempt, .. } | Resume::Average { attempt, .. } = resume {
            let me = PeerIndex::from_index(u);
            self.outcome.observed.resumed(me, *attempt, &view);
        }
        if is_new {
            self.note(u, Moment::WentOn(view.number));
        }
        let fired = &mut self.outcome.fired;
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
                self.note(u, Moment::Released(*release));
                let process = &mut self.processes[u];
                process.end.basis = Some(Arc::clone(basis));
                process.end.states.insert(release.0, state.clone());
                let sum = process.sums.remove(release);
                if let (Some(view), Some((terms, sum))) = (&process.view, sum) {
                    let taken = Taken {
                        attempt,
                        view: Arc::clone(view),
                        sum,
                        terms,
                        basis: Arc::clone(basis),
                    };
                    process.end.taken.insert(*release, taken);
                }
            }
            Event::Published { input, .. } => {
                let place = (attempt, PeerIndex::from_index(u));
                self.outcome.published.insert(place, input.clone());
            }
            Event::Released {
                release,
                terms,
                sum,
            } => {
                let sum = (terms.clone(), Arc::clone(sum));
                self.processes[u].sums.insert(*release, sum);
            }
            Event::Finished => {}
        }
    }

    fn send(&mut self, u: usize, v: usize, frame: Frame) {
        let frame = match &self.interceptor {
            None => frame,
            Some(interceptor) => {
                let plan = self.views.session().plan();
                interceptor.frame((u, v), &self.setups[u], plan, frame)
            }
        };
        let sizes = (self.links.peers(), self.links.len());
        let (phase, bytes) = size(&frame, self.views.session().plan().values(), sizes);
        let carried = self.carrier.carry(self.now, (u, v));
        let times = 1 + u64::from(carried.lost);
        self.processes[u].frames += 1;
        self.outcome.frames += times;
        self.outcome.sent[u].add(phase, bytes * times);
        self.outcome.fired.frames_lost += u64::from(carried.lost);
        self.outcome.fired.frames_held_up += u64::from(carried.has_waited);
        let (from, parts) = (PeerIndex::from_index(u), &self.outcome.parts);
        self.outcome.observed.sent(from, &frame, parts);
        if let Frame::Published { attempt, input } = &frame {
            let published = &mut self.outcome.published;
            let first = published
                .entry((*attempt, from))
                .or_insert_with(|| input.clone());
            let is_same = match (first.reals(), input.reals()) {
                (Some(first), Some(again)) => Arc::ptr_eq(first, again) || first == again,
                _ => false,
            };
            self.outcome.contradictions += u64::from(!is_same);
        }
        let Some(at) = carried.at else {
            return;
        };
        let life = self.processes[v].life;
        let happening = Happening::Frame {
            from: u,
            to: v,
            life,
            frame,
        };
        self.push(at - self.now, happening);
    }

    fn note(&mut self, u: usize, moment: Moment) {
        self.observer.peer(PeerIndex::from_index(u), moment.into());
        if self.outcome.moments.len() < MOST_MOMENTS {
            let peer = PeerIndex::from_index(u);
            self.outcome.moments.push((self.now, peer, moment));
        }
    }

    /// What can be told of the cases only when all is over.
    fn close(&mut self) {
        let last = ReleaseId(self.views.session().plan().releases().len() as u32);
        let all = || self.processes.iter();
        let ended = |end: End| all().filter(|one| one.end.end == Some(end)).count() as u64;
        let has_all = |one: &&Process| {
            let mut disk = one.disk.iter();
            let is_done = disk.any(|record| {
                matches!(record, DiskRecord::Regroup(Durable::Done(done)) if *done == last)
            });
            one.end.end.is_none() && is_done
        };
        let has_result = ended(End::Finished) > 0;
        let late = all().filter(|one| {
            let end = one.end.end;
            one.life > 0
                && matches!(end, Some(End::Excluded | End::Floor | End::Missed))
                && has_result
        });
        let extent = Extent {
            frames: all().map(|one| one.frames).max().unwrap_or(0),
            records: all().map(|one| one.records).max().unwrap_or(0),
            micros: self.outcome.ended_micros,
        };
        let (late, after) = (late.count() as u64, all().filter(has_all).count() as u64);
        let (lost, floor) = (ended(End::Lost), ended(End::Floor));
        let cases = &mut self.outcome.fired.cases;
        cases.back_too_late += late;
        cases.after_the_last_sum += if has_result { after } else { 0 };
        cases.out_of_retries += u64::from(lost > 0);
        cases.below_the_floor += u64::from(floor > 0 && !has_result);
        self.outcome.extent = extent;
    }

    fn neighbours(&self, u: usize) -> Vec<usize> {
        let list = self.links.neighbours(PeerIndex::from_index(u)).iter();
        list.map(|(v, _)| v.index()).collect()
    }
}
