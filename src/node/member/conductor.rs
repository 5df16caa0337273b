//! The one loop of a member: statements, links and the peer's events in; what is to be said, written and told out.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, sleep_until, timeout_at};

use super::MemberEnd;
use super::error::MemberError;
use super::resume::{self, Ready, Standing};
use super::setup::{MemberResult, MemberSetup, Planned, Planner, Progress, Released};
use crate::engine::{Session, graphs_digest};
use crate::node::deployed::{
    Gate, GateError, Host, HostError, HostEvent, HostLimits, HostSetup, MemberAddress, PeerRun,
    Written,
};
use crate::node::network::span;
use crate::node::store::{Digest, Head, Ledger, RECEIPT, Record, SessionEnd, Square, sign_file};
use crate::protocol::Event;
use crate::protocol::wire::signed::SIGNED_VERSION;
use crate::session::{
    Assembled, Assembly, AssemblyError, AssemblySetup, Identity, Input, LedgerHead, MemberName,
    Output, PairEnd, PublicId, Reason, SECTIONS, Sections, SessionHash, Signed, Statement,
};
use crate::vocabulary::{PeerIndex, ReleaseId, Time};

/// How long members may take for a step of the agreement.
const PATIENCE: Duration = Duration::from_secs(60);
/// After how long without progress an agreement is said again.
const REPEAT: Duration = Duration::from_secs(2);
/// What a member signs of what its planner writes.
const RECEIPT_FILE: &str = "receipt.json";
/// How long the last words of an aborted session may take to leave.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// A plan that is being made, with the planner that makes it.
type Planning = JoinHandle<(Box<dyn Planner>, Result<Planned, String>)>;

/// Takes part in a session.
pub(super) async fn conduct(
    mut setup: MemberSetup,
    progress: &mut (dyn FnMut(Progress) + Send),
) -> Result<MemberEnd, MemberError> {
    let identity = Arc::new(setup.state.identity()?);
    let own = identity.id();
    if setup.invitation.member(&own).is_none() {
        return Err(MemberError::NotInvited { id: own });
    }
    let wire = (SIGNED_VERSION, SIGNED_VERSION);
    let ready = match resume::prepare(&mut setup, &identity, wire)? {
        Standing::Ready(ready) => *ready,
        Standing::Ended(end) => return Ok(MemberEnd::Before(end)),
    };
    let members = setup.invitation.members.iter().map(|member| MemberAddress {
        id: member.id,
        addresses: member.addresses.clone(),
        reachable: member.reachable,
    });
    let host = Host::start(HostSetup {
        identity: Arc::clone(&identity),
        listen: setup.listen.clone(),
        members: members.collect(),
        grace: setup.invitation.grace(),
        limits: HostLimits::default(),
    })
    .await;
    let host = match host {
        Ok(host) => host,
        Err(error) => return Err(error.into()),
    };
    progress(Progress::Listening {
        addresses: host.addresses().to_vec(),
    });
    Conductor::new(setup, identity, ready, host, progress)?
        .run()
        .await
        .map(|result| MemberEnd::Done(Box::new(result)))
}

/// Where a session stands for this member.
enum Stage {
    /// Members are agreeing.
    Assembling,
    /// The peer runs.
    Running,
    /// The result is on the disk.
    Done,
}

struct Conductor<'a> {
    setup: MemberSetup,
    identity: Arc<Identity>,
    session: SessionHash,
    ready: Ready,
    ledger: Arc<Mutex<Ledger>>,
    host: Host,
    progress: &'a mut (dyn FnMut(Progress) + Send),
    names: BTreeMap<PublicId, String>,
    assembly: Assembly,
    began: Instant,
    wake: Option<Instant>,
    planning: Option<Planning>,
    planned: Option<Planned>,
    stage: Stage,
    /// Everybody who takes part, in the order of peers.
    roster: Vec<PublicId>,
    /// Who has said that it is done.
    finished: BTreeSet<PublicId>,
    charged: mpsc::Receiver<ReleaseId>,
    gate: Option<mpsc::Sender<ReleaseId>>,
    releases: Vec<Released>,
    basis: Option<Arc<crate::linalg::Block>>,
    written: Written,
    last: Instant,
    result: Option<MemberResult>,
}

impl<'a> Conductor<'a> {
    fn new(
        setup: MemberSetup,
        identity: Arc<Identity>,
        ready: Ready,
        host: Host,
        progress: &'a mut (dyn FnMut(Progress) + Send),
    ) -> Result<Self, MemberError> {
        let (invitation, session) = (&setup.invitation, setup.invitation.hash());
        let book = setup.state.view().address_book()?;
        let known = |head: Head| LedgerHead {
            length: head.length,
            hash: head.hash.0,
        };
        let remembered = book
            .peers()
            .iter()
            .filter_map(|peer| Some((peer.id, known(peer.last_ledger?))));
        let assembly = Assembly::new(AssemblySetup {
            identity: Arc::clone(&identity),
            session,
            seats: invitation.seats(),
            least: invitation.session.min_peers,
            closes: Time(0) + span(setup.closes_in),
            join: ready.join.clone(),
            number: ready.noise.number(&session),
            remembered: remembered.collect(),
            patience: span(
                PATIENCE.min(Duration::from_secs(invitation.session.step_limit_seconds)),
            ),
            repeat: span(REPEAT),
        });
        let names = invitation.members.iter();
        let names = names.map(|member| (member.id, member.name.clone()));
        let (gate, charged) = mpsc::channel(16);
        let ledger = Arc::clone(&ready.ledger);
        Ok(Self {
            names: names.collect(),
            session,
            assembly,
            identity,
            ready,
            ledger,
            host,
            progress,
            began: Instant::now(),
            wake: None,
            planning: None,
            planned: None,
            stage: Stage::Assembling,
            roster: Vec::new(),
            finished: BTreeSet::new(),
            charged,
            gate: Some(gate),
            releases: Vec::new(),
            basis: None,
            written: Written::default(),
            last: Instant::now(),
            result: None,
            setup,
        })
    }

    /// The loop.
    async fn run(mut self) -> Result<MemberResult, MemberError> {
        let end = self.until_the_end().await;
        let end = match (end, &self.stage) {
            (Ok(()), _) => Ok(()),
            // What others do once the result is here changes nothing about it.
            (Err(_), Stage::Done) => Ok(()),
            (Err(error), _) => Err(self.end_with(error).await),
        };
        let Self {
            host,
            result,
            written,
            ..
        } = self;
        host.shutdown(LAST_WORDS).await;
        end?;
        let missing = || MemberError::Plan("the session ended without a result".to_owned());
        let result = result.ok_or_else(missing)?;
        Ok(MemberResult { written, ..result })
    }

    fn own_index(&self) -> Option<PeerIndex> {
        let own = self.identity.id();
        let place = self.roster.iter().position(|id| *id == own);
        place.map(PeerIndex::from_index)
    }

    fn now(&self) -> Time {
        Time(0) + span(self.began.elapsed())
    }

    async fn until_the_end(&mut self) -> Result<(), MemberError> {
        let mut stop = Box::pin(stopped());
        self.tell(Input::Start)?;
        let linger = Duration::from_secs(self.setup.invitation.session.linger_seconds);
        let mut deadline: Option<Instant> = None;
        loop {
            if matches!(self.stage, Stage::Done) {
                let until = *deadline.get_or_insert_with(|| Instant::now() + linger);
                let all = self.roster.iter().all(|id| self.finished.contains(id));
                if all || Instant::now() >= until {
                    // What this member said last may still be on its way.
                    self.drain().await;
                    return Ok(());
                }
            }
            let wake = self.wake.unwrap_or_else(|| Instant::now() + REPEAT);
            let until = deadline.map_or(wake, |deadline| deadline.min(wake));
            let is_planning = self.planning.is_some();
            tokio::select! {
                event = self.host.next() => self.event(event).await?,
                Some(release) = self.charged.recv() => {
                    let of = self.planned.as_ref().map_or(0, |planned| planned.charges.len());
                    (self.progress)(Progress::Charged { release, of });
                }
                planned = planned(&mut self.planning), if is_planning => {
                    self.planning = None;
                    let (planner, outcome) = planned.map_err(|_| HostError::TaskLost)?;
                    self.setup.planner = planner;
                    let outcome = outcome.and_then(|planned| self.consider(planned));
                    self.tell(Input::Planned(outcome.map(Box::new)))?;
                }
                () = sleep_until(until) => {
                    if self.wake.is_some_and(|wake| wake <= Instant::now()) {
                        self.wake = None;
                        self.tell(Input::Tick)?;
                    }
                }
                () = &mut stop => return Err(MemberError::Stopped),
            }
        }
    }

    /// Feeds the agreement and does what it asks for.
    fn tell(&mut self, input: Input) -> Result<(), MemberError> {
        let mut out = Vec::new();
        self.assembly.handle(input, self.now(), &mut out);
        for output in out {
            match output {
                Output::Broadcast(bytes) => self.host.broadcast(bytes)?,
                Output::Wake(at) => {
                    let at = self.began + Duration::from_nanos(at.0);
                    self.wake = Some(self.wake.map_or(at, |wake| wake.min(at)));
                }
                Output::Joined { missing } => (self.progress)(Progress::Joining { missing }),
                Output::Plan(assembled) => self.plan(*assembled),
                Output::Agreed(assembled) => self.begin(&assembled)?,
                Output::Failed(error) => {
                    if let AssemblyError::Contradiction { evidence, .. } = &*error {
                        let (first, second) = &**evidence;
                        self.ready.files.write("evidence-first.bin", first)?;
                        self.ready.files.write("evidence-second.bin", second)?;
                    }
                    return Err(MemberError::Assembly(error));
                }
            }
        }
        Ok(())
    }

    /// Has the plan made on a thread of its own: it takes seconds.
    fn plan(&mut self, assembled: Assembled) {
        let nobody: Box<dyn Planner> = Box::new(Away);
        let mut planner = std::mem::replace(&mut self.setup.planner, nobody);
        self.planning = Some(tokio::task::spawn_blocking(move || {
            let planned = planner.plan(&assembled);
            (planner, planned)
        }));
        let heads = assembled_heads(&self.names, &self.assembly);
        let own = self.identity.id();
        let heads = heads.into_iter().filter(|(id, ..)| *id != own);
        // A member whose memory of others cannot be written remembers less; its own promise does not depend on it.
        if let Ok(mut book) = self.setup.state.view().address_book()
            && let Err(error) = book.remember(heads)
        {
            tracing::warn!(%error, "the address book was not written");
        }
    }

    /// Whether this plan is within the policy and what was set aside; then what others are told of it.
    fn consider(&mut self, planned: Planned) -> Result<Sections, String> {
        let refused = |error: MemberError| error.to_string();
        let policy = self.setup.policy.check(&planned.offer);
        policy.map_err(|error| refused(error.into()))?;
        let found: f64 = planned.charges.iter().map(|charge| charge.0.get()).sum();
        let reserved = self.ready.reserved;
        // The charges are parts of one sum: their own may differ in the last bits.
        if !(found <= reserved * (1.0 + 1e-9)) {
            return Err(refused(MemberError::Dearer { found, reserved }));
        }
        let sections = sections(&planned.session, self.assembly.roster_hash());
        let record = Record::Agreed {
            plan: Digest(*planned.session.plan().digest()),
        };
        self.ready
            .journal
            .append(record)
            .map_err(|error| refused(error.into()))?;
        self.planned = Some(planned);
        Ok(sections)
    }

    /// All are ready: derives the keys and starts the peer.
    fn begin(&mut self, assembled: &Assembled) -> Result<(), MemberError> {
        let Some(planned) = &self.planned else {
            return Ok(());
        };
        let session = &planned.session;
        self.roster = assembled.roster.iter().map(|seat| seat.id).collect();
        let Some(index) = self.own_index() else {
            return Err(MemberError::Assembly(Box::new(AssemblyError::Excluded)));
        };
        let end = |place: usize| PairEnd {
            id: self.roster[place],
            ephemeral: assembled.joins[place].ephemeral,
        };
        let partners = session.noise_graph().neighbours(index.index()).iter();
        let partners: Result<Vec<_>, _> = partners
            .map(|&partner| {
                let other = end(partner as usize);
                let key = self.ready.ephemeral.shared(
                    session.plan().digest(),
                    end(index.index()),
                    other,
                )?;
                Ok::<_, MemberError>((PeerIndex(partner), key))
            })
            .collect();
        let noise = self
            .ready
            .noise
            .peer_noise(session.plan(), index, partners?);
        let limit = self.setup.invitation.session.step_limit_seconds;
        let grace = self.setup.invitation.session.grace_seconds;
        // A connection that may come back is waited for first.
        let patience = span(Duration::from_secs(limit + grace));
        let rows = self.setup.rows.clone();
        let peer = session.member_setup(index, rows, noise, Some(patience));
        let neighbours = peer.neighbours.iter();
        let neighbours = neighbours.map(|&peer| (peer, self.roster[peer.index()]));
        let neighbours = neighbours.collect();
        let charges = planned.charges.clone();
        let plan = session.plan().session().to_string();
        let gate = self.gate(&charges);
        (self.progress)(Progress::Agreed {
            members: self.roster.iter().map(|id| name(&self.names, id)).collect(),
            own: index.index(),
            plan,
        });
        self.stage = Stage::Running;
        self.last = Instant::now();
        self.host.begin(PeerRun {
            setup: peer,
            neighbours,
            gate,
        })?;
        Ok(())
    }

    /// Charges a release before anything of it leaves.
    fn gate(&mut self, charges: &[Square]) -> Gate {
        let (ledger, session) = (Arc::clone(&self.ledger), self.session);
        let (charges, told) = (charges.to_vec(), self.gate.take());
        Box::new(move |release: ReleaseId| {
            let charge = charges.get(release.index()).copied();
            let charge = charge.ok_or_else(|| GateError::new("it is not in the plan"))?;
            let mut ledger = ledger.lock().unwrap_or_else(PoisonError::into_inner);
            let charged = ledger.charge(session.0, release, charge);
            charged.map_err(GateError::new)?;
            if let Some(told) = &told {
                // Only an operator waits for it.
                let _ = told.try_send(release);
            }
            Ok(())
        })
    }

    async fn event(&mut self, event: HostEvent) -> Result<(), MemberError> {
        match event {
            HostEvent::Up(id) => self.link(&id, true),
            HostEvent::Down(id) => self.link(&id, false),
            HostEvent::Lost(id) => self.lost(&id)?,
            HostEvent::Control { from, bytes } => self.control(from, bytes)?,
            HostEvent::Event(event) => self.peer(event)?,
            HostEvent::Finished(written) => self.written = written,
            HostEvent::Fault {
                culprit,
                what,
                evidence,
            } => {
                if let Some(evidence) = evidence {
                    self.ready
                        .files
                        .write("evidence-first.bin", &evidence.first)?;
                    self.ready
                        .files
                        .write("evidence-second.bin", &evidence.second)?;
                }
                return Err(MemberError::Culprit {
                    member: name(&self.names, &culprit),
                    why: what.to_string(),
                });
            }
            HostEvent::Failed(HostError::Gate { release, source }) => {
                return Err(MemberError::NotCharged {
                    release,
                    why: source.to_string(),
                });
            }
            HostEvent::Failed(error) => return Err(error.into()),
        }
        Ok(())
    }

    fn link(&mut self, id: &PublicId, up: bool) {
        let member = name(&self.names, id);
        (self.progress)(Progress::Link { member, up });
    }

    /// A member has not come back within the grace.
    fn lost(&mut self, id: &PublicId) -> Result<(), MemberError> {
        let is_needed = match self.stage {
            // Until the list is drawn up it may come back.
            Stage::Assembling => self.assembly.lists(id),
            Stage::Running => self.roster.contains(id),
            Stage::Done => {
                // Nobody is there any more to wait for.
                self.finished.insert(*id);
                false
            }
        };
        if is_needed {
            let grace = self.setup.invitation.session.grace_seconds;
            return Err(MemberError::Culprit {
                member: name(&self.names, id),
                why: format!("has been gone for {grace} s"),
            });
        }
        Ok(())
    }

    /// A statement: of the agreement, or about the session itself.
    fn control(&mut self, from: PublicId, bytes: Vec<u8>) -> Result<(), MemberError> {
        if matches!(self.stage, Stage::Assembling) {
            return self.tell(Input::Received { from, bytes });
        }
        let takes_part = |id: &PublicId| self.roster.contains(id);
        // Late words of the agreement, and of members that were left out, mean nothing any more.
        let Ok(signed) = Signed::read(&bytes, self.session, takes_part) else {
            return Ok(());
        };
        match signed.statement {
            Statement::Finished { result } => {
                self.finished.insert(signed.from);
                tracing::debug!(member = %signed.from, result = %Digest(result), "is done");
                self.report_waiting();
            }
            Statement::Gone { about, text, .. } => {
                let culprit = about.unwrap_or(signed.from);
                let why = match about {
                    Some(_) => format!("{text}, says {}", name(&self.names, &signed.from)),
                    None => format!("has left: {text}"),
                };
                let member = name(&self.names, &culprit);
                return Err(MemberError::Culprit { member, why });
            }
            _ => {}
        }
        Ok(())
    }

    /// What the peer tells.
    fn peer(&mut self, event: Event) -> Result<(), MemberError> {
        match event {
            Event::Released { release, terms, .. } => self.releases.push(Released {
                release,
                statistic: terms.statistic,
                sensitivity: terms.sensitivity,
            }),
            Event::Advanced { release, basis, .. } => {
                let digest = Digest(basis.digest());
                self.basis = Some(basis);
                self.ready
                    .journal
                    .append(Record::Done { release, digest })?;
                let of = self
                    .planned
                    .as_ref()
                    .map_or(0, |planned| planned.charges.len());
                let seconds = self.last.elapsed().as_secs_f64();
                self.last = Instant::now();
                (self.progress)(Progress::Released {
                    release,
                    of,
                    seconds,
                });
            }
            Event::Finished => self.finish()?,
            Event::Published { .. } => {}
        }
        Ok(())
    }

    /// The result is here: keeps it, ends the session in the ledger, and tells the others.
    fn finish(&mut self) -> Result<(), MemberError> {
        let (Some(basis), Some(index)) = (self.basis.clone(), self.own_index()) else {
            return Err(MemberError::Plan("the session had no release".to_owned()));
        };
        let result = MemberResult {
            members: self.roster.iter().map(|id| name(&self.names, id)).collect(),
            index,
            basis: Arc::clone(&basis),
            releases: self.releases.clone(),
            written: self.written,
        };
        let files = self
            .setup
            .planner
            .files(&result)
            .map_err(MemberError::Plan)?;
        for (file, bytes) in files {
            self.ready.files.write(&file, &bytes)?;
            if file == RECEIPT_FILE {
                let path = self.ready.files.path(&file);
                sign_file(&path, &self.identity, RECEIPT)
                    .map_err(|error| MemberError::Plan(error.to_string()))?;
            }
        }
        self.end(SessionEnd::Done)?;
        self.result = Some(result);
        self.stage = Stage::Done;
        self.finished.insert(self.identity.id());
        let statement = Statement::Finished {
            result: basis.digest(),
        };
        let signed = Signed::new(&self.identity, self.session, statement);
        self.host.broadcast(signed.bytes)?;
        self.report_waiting();
        Ok(())
    }

    fn report_waiting(&mut self) {
        if matches!(self.stage, Stage::Done) {
            let missing = self.roster.iter().filter(|id| !self.finished.contains(*id));
            let missing = missing.map(|id| name(&self.names, id)).collect();
            (self.progress)(Progress::Waiting { missing });
        }
    }

    /// Ledger first, then journal, then the secrets are erased.
    fn end(&mut self, end: SessionEnd) -> Result<(), MemberError> {
        let mut ledger = self.ledger.lock().unwrap_or_else(PoisonError::into_inner);
        ledger.finish(self.session.0, end)?;
        drop(ledger);
        self.ready.journal.append(Record::End { outcome: end })?;
        self.ready.files.erase_secrets()?;
        Ok(())
    }

    /// Tells the others why there is no result, and ends the session here if it had begun.
    async fn end_with(&mut self, error: MemberError) -> MemberError {
        let said = matches!(error, MemberError::Assembly(_));
        if !said {
            let culprit = match &error {
                MemberError::Culprit { member, .. } => {
                    self.names.iter().find(|(_, name)| *name == member)
                }
                _ => None,
            };
            let (reason, text) = match &error {
                MemberError::Culprit { why, .. } => (Reason::Lost, why.clone()),
                MemberError::Stopped => (Reason::Refused, "stopped by its operator".to_owned()),
                // What is wrong with this member's disk is nobody else's business.
                _ => (Reason::Failed, "it cannot go on".to_owned()),
            };
            let statement = Statement::Gone {
                reason,
                about: culprit.map(|(id, _)| *id),
                text,
            };
            let signed = Signed::new(&self.identity, self.session, statement);
            let _ = self.host.broadcast(signed.bytes);
        }
        // Before anybody could be ready nothing has left: the session may be tried again until it closes.
        if self.planned.is_some()
            && let Err(worse) = self.end(error.end())
        {
            tracing::error!(error = %worse, "the end of the session was not written");
        }
        self.drain().await;
        error
    }

    /// Lets words that are on their way leave; nothing that comes in matters any more.
    async fn drain(&mut self) {
        let until = Instant::now() + LAST_WORDS;
        while timeout_at(until, self.host.next()).await.is_ok() {}
    }
}

/// Stands in for a planner that is at work elsewhere.
struct Away;

impl Planner for Away {
    fn offer(&mut self) -> Result<crate::node::store::Offer, String> {
        Err("a plan is being made".to_owned())
    }

    fn plan(&mut self, _: &Assembled) -> Result<Planned, String> {
        Err("a plan is being made".to_owned())
    }

    fn files(&mut self, _: &MemberResult) -> Result<Vec<(String, Vec<u8>)>, String> {
        Err("a plan is being made".to_owned())
    }
}

async fn planned(
    planning: &mut Option<Planning>,
) -> Result<(Box<dyn Planner>, Result<Planned, String>), tokio::task::JoinError> {
    match planning {
        Some(planning) => planning.await,
        None => std::future::pending().await,
    }
}

/// The operator's interrupt, or a polite end by the system.
async fn stopped() {
    let interrupt = tokio::signal::ctrl_c();
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut terminate) = signal(SignalKind::terminate()) {
            tokio::select! {
                _ = interrupt => return,
                _ = terminate.recv() => return,
            }
        }
    }
    #[cfg(not(unix))]
    let _ = interrupt.await;
    #[cfg(unix)]
    sleep(Duration::MAX).await;
}

fn name(names: &BTreeMap<PublicId, String>, id: &PublicId) -> String {
    names.get(id).cloned().unwrap_or_else(|| id.to_string())
}

/// The ledgers that members announced.
fn assembled_heads(
    names: &BTreeMap<PublicId, String>,
    assembly: &Assembly,
) -> Vec<(PublicId, MemberName, Head)> {
    let heads = assembly.signed_joins().filter_map(|signed| {
        let Statement::Join(join) = &signed.statement else {
            return None;
        };
        let head = Head {
            length: join.ledger.length,
            hash: Digest(join.ledger.hash),
        };
        let name = name(names, &signed.from).parse().unwrap_or_default();
        Some((signed.from, name, head))
    });
    heads.collect()
}

/// What all members must agree on, hashed.
fn sections(session: &Session, roster: [u8; 32]) -> Sections {
    let plan = session.plan();
    let sigmas = plan.sigmas();
    let mut noise = blake3::Hasher::new_derive_key("undertone 2026-11 session noise v1");
    for sigma in [sigmas.own, sigmas.pairwise, sigmas.coordinate] {
        noise.update(&sigma.to_bits().to_le_bytes());
    }
    let graph = |topology| graphs_digest(topology, topology);
    let hashes: [[u8; 32]; SECTIONS.len()] = [
        roster,
        graph(session.topology()),
        graph(session.noise_topology()),
        session.start().digest(),
        session.program().digest(),
        *noise.finalize().as_bytes(),
        *plan.digest(),
    ];
    Sections(hashes)
}
