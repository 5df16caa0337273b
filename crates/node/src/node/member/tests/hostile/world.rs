//! Members of one session in one process and in virtual time; what one of them sends passes through an actor.

use rand::RngExt;

use super::actor::Actor;
use super::case::{Case, CasePlanner, GRACE, members};
use super::notes::Notes;
use super::process::{Effect, Process, Run, Stage};
use super::tolerant::Lossy;
use super::*;
use crate::node::HostError;
use crate::node::deployed::Life;
use crate::node::member::error::MemberError;
use crate::protocol::Timer;
use crate::session::{Identity, Join, entropy};
use crate::vocabulary::{Label, Seed, Span, Time};

pub(super) const SECOND: u64 = 1_000_000_000;
pub(super) const MILLI: u64 = 1_000_000;
/// Every session ends within this time, by its own limits.
const MOST_TIME: u64 = 400 * SECOND;
/// More events than any session has.
const MOST_EVENTS: u64 = 200_000;

/// What is to happen. Where a member is named, it is in this life of its process, by number.
pub(super) enum Due {
    Start(usize),
    /// A process is killed, and its files become those of the beginning, or not.
    Kill(usize, bool),
    Control(usize, Arc<[u8]>),
    Wake,
    Plan(Box<Assembled>),
    Record(usize, Vec<u8>),
    Timer(Timer),
    /// Bytes over a link between tolerant peers, in this life of the sender.
    Frame(usize, u32, Arc<[u8]>),
    Alarm(u64),
    Gone(usize),
    Look,
    Expected,
    Lost(usize, u32),
    Act(u64),
    Nothing,
}

/// How a process ended.
#[derive(Debug)]
pub(super) struct Ended {
    pub(super) member: usize,
    pub(super) error: Option<MemberError>,
    pub(super) result: Option<[u8; 32]>,
    pub(super) at: Time,
}

impl Ended {
    pub(super) fn code(&self) -> u8 {
        self.error.as_ref().map_or(0, MemberError::exit_code)
    }
}

/// A member, whether its process runs or not.
pub(super) struct Seat {
    pub(super) identity: Arc<Identity>,
    pub(super) folder: PathBuf,
    pub(super) process: Option<Process>,
    /// Processes so far.
    pub(super) life: u32,
    pub(super) wake: Option<Time>,
    /// The list that a plan is being made for: an earlier plan is dropped.
    pub(super) planning: [u8; 32],
    /// What it has said to whom, in this life of its process.
    pub(super) said: Vec<BTreeSet<[u8; 32]>>,
    pub(super) log: Vec<Vec<Arc<[u8]>>>,
    /// Records sent to each.
    pub(super) sent: Vec<u64>,
}

/// A change of a Join.
type OtherJoin = Box<dyn Fn(&mut Join)>;

pub(super) struct World {
    /// Members whose process was ended from outside.
    pub(super) killed: BTreeSet<usize>,
    /// Whether the hostile member overstates how often releases were tried again.
    pub(super) overstates: bool,
    pub(super) case: Case,
    pub(super) invitation: Invitation,
    planner: Arc<CasePlanner>,
    pub(super) seats: Vec<Seat>,
    pub(super) ids: Vec<PublicId>,
    pub(super) hostile: Option<usize>,
    pub(super) actor: Option<Box<dyn Actor>>,
    queue: BTreeMap<(Time, u64), (usize, u32, Due)>,
    made: u64,
    pub(super) now: Time,
    pub(super) random: chacha20::ChaCha20Rng,
    arrivals: BTreeMap<(usize, usize), Time>,
    latencies: Vec<u64>,
    pub(super) notes: Notes,
    pub(super) ends: Vec<Ended>,
    folder: tempfile::TempDir,
    /// What the rows of the hostile member are multiplied by.
    pub(super) factor: f64,
    /// What becomes of the Join that its process says.
    pub(super) join: Option<OtherJoin>,
}

/// What the hostile member's state was at the beginning.
const BEFORE: &str = "before";

/// Copies a folder with everything in it.
fn copy(from: &Path, to: &Path) {
    fs::create_dir(to).expect("a folder");
    let mode = fs::metadata(from).expect("there").permissions();
    fs::set_permissions(to, mode).expect("ours");
    for entry in fs::read_dir(from).expect("a folder") {
        let entry = entry.expect("a file");
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        match from.is_dir() {
            true => copy(&from, &to),
            false => _ = fs::copy(&from, &to).expect("copied"),
        }
    }
}

impl World {
    pub(super) fn new(
        case: Case,
        seed: u64,
        hostile: Option<usize>,
        actor: Option<Box<dyn Actor>>,
    ) -> Self {
        entropy::Seeded::draw_from(Some(seed));
        let folder = folder();
        let all = members(folder.path(), case.members);
        if let Some(hostile) = hostile {
            copy(&all[hostile].1, &folder.path().join(BEFORE));
        }
        let ids: Vec<PublicId> = all.iter().map(|(identity, _)| identity.id()).collect();
        let invitation = case.invitation(&ids);
        let mut random = Seed::from_u64(seed).generator(Label::Scenario);
        let count = case.members;
        let latencies = (0..count * count).map(|_| random.random_range(MILLI..40 * MILLI));
        let seats = all.into_iter().map(|(identity, folder)| Seat {
            identity,
            folder,
            process: None,
            life: 0,
            wake: None,
            planning: [0; 32],
            said: vec![BTreeSet::new(); count],
            log: vec![Vec::new(); count],
            sent: vec![0; count],
        });
        Self {
            killed: BTreeSet::new(),
            overstates: false,
            case,
            planner: CasePlanner::new(case),
            seats: seats.collect(),
            latencies: latencies.collect(),
            notes: Notes::new(count, hostile),
            invitation,
            ids,
            hostile,
            actor,
            queue: BTreeMap::new(),
            made: 0,
            now: Time(0),
            random,
            arrivals: BTreeMap::new(),
            ends: Vec::new(),
            folder,
            factor: 1.0,
            join: None,
        }
    }

    pub(super) fn due(&mut self, at: Time, member: usize, due: Due) {
        self.made += 1;
        let life = self.seats[member].life;
        self.queue.insert((at, self.made), (member, life, due));
    }

    /// Ends a member's process as a power failure would, and starts it again after a while, if it is to be.
    pub(super) fn crash(&mut self, member: usize, at: Span, again: Option<Span>, is_older: bool) {
        self.due(self.now + at, member, Due::Kill(member, is_older));
        if let Some(after) = again {
            self.due(self.now + at + after, member, Due::Start(member));
        }
    }

    /// Starts everybody within a second, and runs until nobody runs any more.
    pub(super) fn run(&mut self) {
        let first = self.now;
        if let Some(mut actor) = self.actor.take() {
            let mut hands = self.hands();
            actor.begins(&mut hands);
            let (times, crashes) = (hands.times, hands.crashes);
            let hostile = self.hostile.expect("it has an actor");
            for (number, at) in times {
                self.due(first + at, hostile, Due::Act(number));
            }
            for (member, at, again, is_older) in crashes {
                self.crash(member, at, again, is_older);
            }
            self.actor = Some(actor);
        }
        for member in 0..self.seats.len() {
            let at = self.now + Span(self.random.random_range(0..SECOND / 2));
            self.due(at, member, Due::Start(member));
        }
        let mut events = 0;
        while let Some(((now, _), (member, life, due))) = self.queue.pop_first() {
            events += 1;
            if events > MOST_EVENTS || now.0 > first.0 + MOST_TIME {
                let hostile = self.hostile;
                let running = self.seats.iter().enumerate();
                let running =
                    running.filter(|(m, seat)| Some(*m) != hostile && seat.process.is_some());
                let running: Vec<usize> = running.map(|(member, _)| member).collect();
                if !running.is_empty() {
                    self.notes.broken(format!(
                        "{running:?} have not ended after {events} events, {now:?}"
                    ));
                }
                break;
            }
            self.now = now;
            let is_here = self.seats[member].life == life;
            match due {
                Due::Start(member) => self.start(member),
                Due::Kill(member, is_older) => {
                    self.kill(member);
                    if is_older {
                        self.restore(member);
                    }
                }
                Due::Act(number) => self.act(number),
                due if is_here => self.happen(member, due),
                _ => {}
            }
            if self.is_over() {
                break;
            }
        }
        self.queue.clear();
        for seat in &mut self.seats {
            seat.process = None;
        }
    }

    /// Whether all honest members have ended, after they had begun.
    fn is_over(&self) -> bool {
        let honest = |m: &usize| Some(*m) != self.hostile;
        let mut all = (0..self.seats.len()).filter(honest);
        let is_to_start = self
            .queue
            .values()
            .any(|(_, _, due)| matches!(due, Due::Start(_)));
        !is_to_start && all.all(|member| self.seats[member].process.is_none())
    }

    fn start(&mut self, member: usize) {
        if self.seats[member].process.is_some() {
            return;
        }
        let count = self.seats.len();
        let seat = &mut self.seats[member];
        seat.life += 1;
        seat.wake = None;
        seat.said = vec![BTreeSet::new(); count];
        seat.log = vec![Vec::new(); count];
        seat.sent = vec![0; count];
        let factor = if Some(member) == self.hostile {
            self.factor
        } else {
            1.0
        };
        let at = (member, &*seat.folder);
        let setup = self.case.setup(at, &self.invitation, &self.planner, factor);
        let is_hostile = Some(member) == self.hostile;
        let change = self.join.as_deref().filter(|_| is_hostile);
        match Process::start(setup, self.now, change) {
            Ok(Some(mut process)) => {
                process.overstates = is_hostile && self.overstates;
                self.seats[member].process = Some(process);
                self.step(member, |process, now, out| process.begin(now, out));
                self.connect(member);
            }
            Ok(None) => {}
            Err(error) => self.ended(member, Some(error), None),
        }
    }

    /// The process of a member is connected with all that run.
    fn connect(&mut self, member: usize) {
        for other in 0..self.seats.len() {
            if other == member || self.seats[other].process.is_none() {
                continue;
            }
            for (from, to) in [(member, other), (other, member)] {
                let id = self.ids[from];
                self.step(to, |process, now, out| process.up(id, now, out));
                if from == other {
                    for bytes in self.seats[from].log[to].clone() {
                        self.deliver(from, to, Due::Control(from, bytes));
                    }
                }
            }
            self.greet(member, other);
        }
    }

    /// Two tolerant peers that are connected learn in which lives they are.
    fn greet(&mut self, one: usize, other: usize) {
        for (from, to) in [(one, other), (other, one)] {
            let Some(life) = self.life(from) else {
                continue;
            };
            if self.life(to).is_none() {
                continue;
            }
            let id = self.ids[from];
            let mut is_open = true;
            self.step(to, |process, now, out| {
                process.lossy(now, out, |lossy, now| {
                    is_open = lossy.back(id, life, now)?;
                    Ok(())
                })
            });
            if !is_open {
                self.deliver(to, from, Due::Gone(to));
            }
        }
    }

    fn life(&self, member: usize) -> Option<Life> {
        match &self.seats[member].process.as_ref()?.run {
            Run::Lossy(lossy) => Some(lossy.life),
            _ => None,
        }
    }

    /// Gives the hostile member, whose process does not run, the files that it had at the beginning.
    pub(super) fn restore(&mut self, member: usize) {
        if Some(member) == self.hostile && self.seats[member].process.is_none() {
            let folder = &self.seats[member].folder;
            fs::remove_dir_all(folder).expect("ours");
            copy(&self.folder.path().join(BEFORE), folder);
        }
    }

    fn kill(&mut self, member: usize) {
        if self.seats[member].process.take().is_some() {
            self.killed.insert(member);
            self.away(member);
        }
    }

    /// The others notice that a process is not there any more.
    fn away(&mut self, member: usize) {
        let life = self.seats[member].life;
        for other in (0..self.seats.len()).filter(|other| *other != member) {
            let at = self.now + Span(GRACE * SECOND + self.random.random_range(0..SECOND / 4));
            self.due(at, other, Due::Lost(member, life));
        }
    }

    fn ended(&mut self, member: usize, error: Option<MemberError>, result: Option<[u8; 32]>) {
        self.ends.push(Ended {
            member,
            error,
            result,
            at: self.now,
        });
    }

    fn latency(&mut self, from: usize, to: usize) -> Span {
        let base = self.latencies[from * self.seats.len() + to];
        Span(base + self.random.random_range(0..5 * MILLI))
    }

    /// Has something happen at another member after a while, in the order in which it was sent.
    pub(super) fn deliver(&mut self, from: usize, to: usize, due: Due) {
        self.deliver_after(from, to, Span(0), due);
    }

    pub(super) fn deliver_after(&mut self, from: usize, to: usize, more: Span, due: Due) {
        let at = self.now + self.latency(from, to);
        let last = self.arrivals.entry((from, to)).or_insert(Time(0));
        let at = at.max(*last);
        *last = at;
        self.due(at + more, to, due);
    }

    /// Has a process do something, and does what follows.
    fn step(
        &mut self,
        member: usize,
        act: impl FnOnce(&mut Process, Time, &mut Vec<Effect>) -> Result<(), MemberError>,
    ) {
        let now = self.now;
        let Some(process) = &mut self.seats[member].process else {
            return;
        };
        let was_running = matches!(process.run, Run::Lossy(_));
        let mut out = Vec::new();
        let acted = act(process, now, &mut out);
        let (mut error, mut is_over) = (None, false);
        match acted {
            Err(found) => {
                error = Some(process.end_with(found, &mut out));
                is_over = true;
            }
            Ok(()) => is_over = is_over || process.is_over(now),
        }
        let (until, is_running) = (process.until, matches!(process.run, Run::Lossy(_)));
        for effect in out {
            self.carry_out(member, effect);
        }
        if is_over {
            self.leave(member, error);
            return;
        }
        if let Some(until) = until {
            self.due(until.max(now), member, Due::Nothing);
        }
        if is_running && !was_running {
            for other in (0..self.seats.len()).filter(|other| *other != member) {
                self.greet(member, other);
            }
        }
    }

    /// A process has ended of itself.
    fn leave(&mut self, member: usize, error: Option<MemberError>) {
        let Some(mut process) = self.seats[member].process.take() else {
            return;
        };
        let is_done = process.stage == Stage::Done;
        let error = match is_done {
            true => process.disputed.take(),
            false => error,
        };
        let result = process.basis.as_ref().filter(|_| is_done);
        let result = result.map(|basis| basis.digest());
        self.notes.left(member, &process);
        self.ended(member, error, result);
        self.away(member);
    }

    fn happen(&mut self, member: usize, due: Due) {
        let ids = self.ids.clone();
        if Some(member) == self.hostile
            && let (Due::Control(_, bytes), Some(actor)) = (&due, &mut self.actor)
        {
            actor.hears(bytes);
        }
        match due {
            Due::Control(from, bytes) => self.step(member, |process, now, out| {
                process.control(ids[from], bytes.to_vec(), now, out)
            }),
            Due::Wake => {
                if self.seats[member].wake == Some(self.now) {
                    self.seats[member].wake = None;
                    self.step(member, |process, now, out| {
                        process.tell(crate::session::Input::Tick, now, out)
                    });
                }
            }
            Due::Plan(assembled) if assembled.hash != self.seats[member].planning => {}
            Due::Plan(assembled) => {
                let planned = self.planner.plan(&assembled);
                self.step(member, |process, now, out| {
                    process.planned(planned, now, out)
                });
            }
            Due::Record(from, bytes) => self.step(member, |process, now, out| {
                // A neighbour that begins earlier waits until this one is there.
                if matches!(process.stage, Stage::Assembling) {
                    process.early.push((ids[from], bytes));
                    return Ok(());
                }
                process.plain(now, out, |plain, now| plain.came(ids[from], bytes, now))
            }),
            Due::Timer(timer) => self.step(member, |process, now, out| {
                process.plain(now, out, |plain, now| plain.timer(timer, now))
            }),
            Due::Frame(from, life, bytes) => {
                if self.seats[from].life != life && self.seats[from].process.is_some() {
                    return;
                }
                let tolerates = self.case.kind.tolerates();
                self.step(member, |process, now, out| {
                    if tolerates && !matches!(process.run, Run::Lossy(_)) {
                        process.early.push((ids[from], bytes.to_vec()));
                        return Ok(());
                    }
                    process.lossy(now, out, |lossy, now| lossy.came(ids[from], &bytes, now))
                });
            }
            Due::Alarm(serial) => self.lossy(member, |lossy, now| lossy.alarm(serial, now)),
            Due::Gone(from) => self.lossy(member, |lossy, now| lossy.gone(ids[from], now)),
            Due::Look => self.lossy(member, |lossy, now| lossy.look(now)),
            Due::Expected => self.step(member, Process::expected),
            Due::Lost(of, life) => {
                let gone = &self.seats[of];
                if gone.process.is_none() || gone.life == life {
                    self.step(member, |process, now, out| process.lost(ids[of], now, out));
                }
            }
            Due::Nothing => self.step(member, |_, _, _| Ok(())),
            Due::Start(_) | Due::Kill(..) | Due::Act(_) => {}
        }
    }

    fn lossy(
        &mut self,
        member: usize,
        act: impl FnOnce(&mut Lossy, Time) -> Result<(), HostError>,
    ) {
        self.step(member, |process, now, out| process.lossy(now, out, act));
    }
}
