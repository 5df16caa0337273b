//! The one loop of a member: statements, links and the peer's events in; what is to be said, written and told out.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::task::{JoinError, JoinHandle};
use tokio::time::{Instant, sleep, sleep_until, timeout_at};

use super::MemberEnd;
use super::defect::Defect;
use super::dispute::keep_evidence;
use super::error::MemberError;
use super::exchange::Exchange;
use super::joining::Joining;
use super::resume::Ready;
use super::setup::{Attempts, MemberResult, MemberSetup, Planned, Progress, Released, Taken};
use super::status::Status;
pub(super) use super::verdict::Stage;
use super::verdict::{Consequence, Situation};
use crate::node::HostError;
use crate::node::deployed::{Host, HostEvent, HostLimits, HostSetup, MemberAddress, Written};
use crate::node::network::span;
#[cfg(unix)]
use crate::node::store::{Asked, ControlServer};
use crate::protocol::regroup::{Heir, View};
use crate::session::{
    Assembly, AssemblySetup, Identity, Input, PublicId, Reason, Relays, SessionHash, Signed,
    Statement, near,
};
use crate::vocabulary::{PeerIndex, ReleaseId, Time};

/// How long members may take for a step of the agreement.
const PATIENCE: Duration = Duration::from_secs(60);
/// After how long without progress an agreement is said again.
const REPEAT: Duration = Duration::from_secs(2);
/// How long the last words of an aborted session may take to leave.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// A plan that is being made.
type Planning = JoinHandle<Result<Planned, String>>;

/// Takes part in a session.
pub(super) async fn conduct(
    joining: Joining,
    progress: &mut (dyn FnMut(Progress) + Send),
) -> Result<MemberEnd, MemberError> {
    let Joining {
        setup,
        identity,
        ready,
        defect,
    } = joining;
    let own = identity.id();
    let members = setup.invitation.members.iter().map(|member| MemberAddress {
        id: member.id,
        addresses: member.addresses.clone(),
        reachable: member.reachable,
    });
    let ids: Vec<_> = setup.invitation.members.iter().map(|m| m.id).collect();
    let near = near(setup.invitation.hash(), &ids, own);
    tracing::debug!("starting the network");
    let host = HostSetup {
        identity: Arc::clone(&identity),
        listen: setup.listen.clone(),
        members: members.collect(),
        near: near.clone(),
        grace: setup.invitation.grace(),
        limits: HostLimits::default(),
    };
    let host = Host::start_with(host, defect.as_ref().map(Defect::host)).await?;
    let status = status(&setup, &own, near.as_ref(), &ready);
    #[cfg(unix)]
    let _answering = answer(&setup, &status);
    let noted = status.clone();
    let mut progress = |told: Progress| {
        noted.note(&told);
        progress(told);
    };
    progress(Progress::Listening {
        addresses: host.addresses().to_vec(),
    });
    let relays = near.map(|_| Relays::among(setup.invitation.members.len()));
    let made = Conductor::new(setup, identity, ready, host, relays, status, &mut progress);
    let conductor = Conductor { defect, ..made? };
    let result = conductor.run().await?;
    Ok(MemberEnd::Done(Box::new(result)))
}

/// What `node status` is told, from now on.
fn status(
    setup: &MemberSetup,
    own: &PublicId,
    near: Option<&BTreeSet<PublicId>>,
    ready: &Ready,
) -> Status {
    let name = setup.invitation.member(own).map(|own| own.name.as_str());
    let is_wanted = |id: &PublicId| near.is_none_or(|near| near.contains(id));
    let ledger = Arc::clone(&ready.ledger);
    Status::new(
        &setup.invitation,
        name.unwrap_or_default(),
        is_wanted,
        ready.reserved,
        ledger,
    )
}

/// Answers at the control socket for as long as this is held. A session does not depend on it.
#[cfg(unix)]
fn answer(setup: &MemberSetup, status: &Status) -> Option<ControlServer> {
    let (path, status) = (setup.state.view().control_socket(), status.clone());
    let server = ControlServer::start(&path, move |asked| match asked {
        Asked::Status {} => status.answer(),
        Asked::Members {} => status.members(),
    });
    let warned = |error: &_| tracing::warn!(%error, "node status cannot ask this process");
    server.inspect_err(warned).ok()
}

pub(super) struct Conductor<'a> {
    pub(super) setup: MemberSetup,
    pub(super) identity: Arc<Identity>,
    pub(super) session: SessionHash,
    pub(super) ready: Ready,
    pub(super) host: Host,
    /// What has been passed on, where not every two members have a connection.
    relays: Option<Relays>,
    pub(super) status: Status,
    pub(super) progress: &'a mut (dyn FnMut(Progress) + Send),
    pub(super) names: BTreeMap<PublicId, String>,
    pub(super) assembly: Assembly,
    pub(super) began: Instant,
    pub(super) wake: Option<Instant>,
    pub(super) planning: Option<Planning>,
    pub(super) planned: Option<Planned>,
    pub(super) stage: Stage,
    /// Everybody who takes part, in the order of peers.
    pub(super) roster: Vec<PublicId>,
    /// Who has said that it is done, or is gone.
    pub(super) finished: BTreeSet<PublicId>,
    /// What members have signed as their results.
    pub(super) results: Vec<Signed>,
    /// Set once a member has another result than this one.
    pub(super) disputed: Option<MemberError>,
    /// The frames that members have received, where results differ, and until when that is waited for.
    pub(super) exchange: Exchange,
    pub(super) settles: Option<Instant>,
    pub(super) charged: mpsc::Receiver<ReleaseId>,
    pub(super) gate: Option<mpsc::Sender<ReleaseId>>,
    pub(super) releases: Vec<Released>,
    pub(super) basis: Option<Arc<crate::linalg::Block>>,
    pub(super) written: Written,
    pub(super) last: Instant,
    pub(super) result: Option<MemberResult>,
    /// The files that the result is kept in.
    pub(super) files: Vec<(String, Vec<u8>)>,
    /// Why the result could not be written, and when it is tried again.
    pub(super) unkept: Option<(String, Instant)>,
    /// Who has been connected since this process began.
    pub(super) seen: BTreeSet<PublicId>,
    /// Until when neighbours of a tolerant peer must have been there, by the clock of this process, and who they are.
    pub(super) expected: Option<(Duration, Vec<PublicId>)>,
    /// The views of a tolerant peer, the present one last, and who brings in what somebody lost has contributed in it.
    pub(super) views: Vec<Arc<View>>,
    pub(super) heirs: Vec<Heir>,
    /// The attempts that it has begun, and those that its sums are of.
    pub(super) attempts: Arc<Mutex<Attempts>>,
    pub(super) taken: BTreeMap<ReleaseId, Taken>,
    pub(super) defect: Option<Defect>,
}

impl<'a> Conductor<'a> {
    fn new(
        setup: MemberSetup,
        identity: Arc<Identity>,
        ready: Ready,
        host: Host,
        relays: Option<Relays>,
        status: Status,
        progress: &'a mut (dyn FnMut(Progress) + Send),
    ) -> Result<Self, MemberError> {
        let (invitation, session) = (&setup.invitation, setup.invitation.hash());
        let book = setup.state.view().address_book()?;
        let remembered = book
            .peers()
            .iter()
            .filter_map(|peer| Some((peer.id, peer.remembered()?)));
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
            tolerates_losses: invitation.tolerates_losses(),
            listed: ready.listed.clone(),
        });
        let names = invitation.members.iter();
        let names = names.map(|member| (member.id, member.name.clone()));
        let (gate, charged) = mpsc::channel(16);
        Ok(Self {
            names: names.collect(),
            session,
            assembly,
            identity,
            ready,
            host,
            relays,
            status,
            progress,
            began: Instant::now(),
            wake: None,
            planning: None,
            planned: None,
            stage: Stage::Assembling,
            roster: Vec::new(),
            finished: BTreeSet::new(),
            results: Vec::new(),
            disputed: None,
            exchange: Exchange::default(),
            settles: None,
            charged,
            gate: Some(gate),
            releases: Vec::new(),
            basis: None,
            written: Written::default(),
            last: Instant::now(),
            result: None,
            files: Vec::new(),
            unkept: None,
            seen: BTreeSet::new(),
            expected: None,
            views: Vec::new(),
            heirs: Vec::new(),
            defect: None,
            attempts: Arc::default(),
            taken: BTreeMap::new(),
            setup,
        })
    }

    /// The loop.
    async fn run(mut self) -> Result<MemberResult, MemberError> {
        let end = self.until_the_end().await;
        let end = match (end, &self.stage) {
            // What others do once the result is here changes nothing about it.
            (_, Stage::Done) => self.unkept().map_or(Ok(()), Err),
            (Ok(()), _) => Ok(()),
            (Err(error), _) => {
                if error.is_late() {
                    // Before it says that it leaves: whoever lingers for it does so until then.
                    tokio::select! {
                        () = self.fetch_result() => {}
                        () = stopped() => {}
                    }
                }
                Err(self.end_with(error).await)
            }
        };
        let Self {
            host,
            result,
            written,
            disputed,
            ..
        } = self;
        host.shutdown(LAST_WORDS).await;
        end?;
        if let Some(disputed) = disputed {
            return Err(disputed);
        }
        let missing = || MemberError::Plan("the session ended without a result".to_owned());
        let result = result.ok_or_else(missing)?;
        Ok(MemberResult { written, ..result })
    }

    pub(super) fn own_index(&self) -> Option<PeerIndex> {
        let own = self.identity.id();
        let place = self.roster.iter().position(|id| *id == own);
        place.map(PeerIndex::from_index)
    }

    pub(super) fn now(&self) -> Time {
        Time(0) + span(self.began.elapsed())
    }

    async fn until_the_end(&mut self) -> Result<(), MemberError> {
        let mut stop = Box::pin(stopped());
        if let Some(charged) = self.ready.late {
            // Whoever still waits for what this member has not sent waits in vain.
            self.say(Statement::Gone {
                reason: Reason::Failed,
                about: None,
                text: "it was interrupted".to_owned(),
                is_final: true,
            });
            return Err(MemberError::Interrupted { charged });
        }
        match &self.ready.resumed {
            Some(resumed) => {
                self.stage = Stage::Resuming;
                let assembled = resumed.assembled.clone();
                self.roster = assembled.roster.iter().map(|seat| seat.id).collect();
                self.plan(assembled);
            }
            None => self.tell(Input::Start)?,
        }
        self.report_step();
        let linger = Duration::from_secs(self.setup.invitation.session.linger_seconds);
        let mut deadline: Option<Instant> = None;
        loop {
            let again = self.unkept.as_ref().map(|(_, again)| *again);
            if again.is_some_and(|again| again <= Instant::now()) {
                self.keep_result()?;
            }
            if matches!(self.stage, Stage::Done) {
                let until = *deadline.get_or_insert_with(|| Instant::now() + linger);
                let all = self.roster.iter().all(|id| self.finished.contains(id));
                if (all && self.is_settled()) || Instant::now() >= until {
                    // What this member said last may still be on its way.
                    self.drain().await;
                    return Ok(());
                }
            }
            let wake = self.wake.unwrap_or_else(|| Instant::now() + REPEAT);
            let expected = self.expected.as_ref().map(|(until, _)| *until);
            let left = expected.map(|until| until.saturating_sub(self.host.awake()));
            let wake = left.map_or(wake, |left| wake.min(Instant::now() + left));
            let again = self.unkept.as_ref().map(|(_, again)| *again);
            let wake = again.map_or(wake, |again| wake.min(again));
            let wake = self.settles.map_or(wake, |settles| wake.min(settles));
            let until = deadline.map_or(wake, |deadline| deadline.min(wake));
            let is_planning = self.planning.is_some();
            tokio::select! {
                event = self.host.next() => {
                    self.event(event)?;
                    while let Some(event) = self.host.try_next() {
                        self.event(event)?;
                    }
                    self.report_step();
                }
                Some(release) = self.charged.recv() => {
                    let of = self.planned.as_ref().map_or(0, |planned| planned.charges.len());
                    (self.progress)(Progress::Charged { release, of });
                }
                planned = planned(&mut self.planning), if is_planning => {
                    self.planning = None;
                    let outcome = planned.map_err(|_| HostError::TaskLost)?;
                    if let Ok(planned) = &outcome {
                        self.status.planned(planned);
                    }
                    if let Some(resumed) = self.ready.resumed.take() {
                        self.take_up(&resumed, outcome)?;
                        continue;
                    }
                    // The list was shortened while this plan was made: another plan is asked for.
                    if !self.assembly.is_planning() {
                        continue;
                    }
                    let outcome = outcome.and_then(|planned| self.consider(planned));
                    self.tell(Input::Planned(outcome.map(Box::new)))?;
                    self.report_step();
                }
                () = sleep_until(until) => {
                    if self.wake.is_some_and(|wake| wake <= Instant::now()) {
                        self.wake = None;
                        self.tell(Input::Tick)?;
                        self.report_step();
                    }
                    if expected.is_some_and(|until| until <= self.host.awake()) {
                        // Those that have come and were not heard of are here.
                        while let Some(event) = self.host.try_next() {
                            self.event(event)?;
                        }
                        self.give_up_the_absent();
                    }
                }
                () = &mut stop => return Err(MemberError::Stopped),
            }
        }
    }

    fn event(&mut self, event: HostEvent) -> Result<(), MemberError> {
        match event {
            HostEvent::Up(id) => self.link(&id, true)?,
            HostEvent::Down(id) => self.link(&id, false)?,
            HostEvent::Lost(id) => self.lost(&id)?,
            HostEvent::Control { from, bytes } => self.control(from, bytes)?,
            HostEvent::Event(event) => self.peer(event)?,
            HostEvent::Tolerant(told) => self.told(told)?,
            HostEvent::Finished(written) => self.written = written,
            HostEvent::Fault {
                culprit,
                what,
                evidence,
            } => {
                let has_evidence = evidence.is_some();
                if let Some(evidence) = evidence {
                    keep_evidence(&self.ready.files, [&evidence.first, &evidence.second])?;
                }
                let situation = self.situation();
                let consequence = situation.fault(&culprit, &what, has_evidence);
                if situation.tolerates() {
                    let member = situation.named(&culprit);
                    tracing::warn!(%member, %what, "a member misbehaves; the link to it is cut");
                }
                self.carry_out(culprit, consequence)?;
            }
            HostEvent::Failed(error) => {
                let goes_on = self.situation().tolerates();
                return Err(MemberError::of_host(error, self.charged(), goes_on));
            }
        }
        Ok(())
    }

    fn link(&mut self, id: &PublicId, up: bool) -> Result<(), MemberError> {
        let member = name(&self.names, id);
        if up {
            self.seen.insert(*id);
            if matches!(self.stage, Stage::Assembling) {
                self.tell(Input::Connected(*id))?;
            }
            if matches!(self.stage, Stage::Resuming | Stage::Running) {
                self.finished.remove(id);
            }
        }
        (self.progress)(Progress::Link { member, up });
        Ok(())
    }

    /// What the consequences of what others do depend on.
    pub(super) fn situation(&self) -> Situation<'_> {
        Situation {
            stage: self.stage,
            tolerates_losses: self.setup.invitation.tolerates_losses(),
            names: &self.names,
        }
    }

    /// A member has not come back within the grace.
    fn lost(&mut self, id: &PublicId) -> Result<(), MemberError> {
        let is_listed = match self.stage {
            Stage::Assembling => self.assembly.lists(id),
            _ => self.roster.contains(id),
        };
        let grace = self.setup.invitation.session.grace_seconds;
        let consequence = self.situation().lost(id, is_listed, grace);
        self.carry_out(*id, consequence)
    }

    /// Does what follows from what this member did.
    fn carry_out(&mut self, id: PublicId, consequence: Consequence) -> Result<(), MemberError> {
        match consequence {
            Consequence::Nothing | Consequence::Result => {}
            Consequence::Absent => return self.tell(Input::Disconnected(id)),
            Consequence::LinkCut { is_over } => {
                self.host.give_up(&id);
                // A connection of before the peer began says nothing to it.
                self.seen.remove(&id);
                if is_over {
                    self.finished.insert(id);
                }
                self.report_waiting();
            }
            Consequence::NotAwaited => {
                self.finished.insert(id);
            }
            Consequence::Ends(error) => return Err(error),
        }
        Ok(())
    }

    /// A statement: of the agreement, or about the session itself.
    fn control(&mut self, from: PublicId, bytes: Vec<u8>) -> Result<(), MemberError> {
        if matches!(self.stage, Stage::Assembling) {
            self.note_result(&bytes);
            if self.is_over() {
                return Err(MemberError::Missed);
            }
            return self.tell(Input::Received { from, bytes });
        }
        let Ok(signed) = self.assembly.read(&bytes) else {
            return Ok(());
        };
        // Late words of the agreement, and of members that were left out, mean nothing any more; others may still need them.
        self.relay(signed.from, Arc::clone(&signed.bytes))?;
        if !self.roster.contains(&signed.from) {
            return Ok(());
        }
        if let Statement::Stamps(shown) = &signed.statement {
            self.take_stamps(signed.from, shown);
            return Ok(());
        }
        let (by, consequence) = (signed.from, self.situation().heard(&signed, &from));
        if matches!(consequence, Consequence::Ends(_)) {
            // As its author signed it, so that nobody hears of an end without its reason.
            self.host.broadcast(Arc::clone(&signed.bytes))?;
        }
        if matches!(consequence, Consequence::Result) {
            self.finished.insert(by);
            if !self.results.contains(&signed) {
                self.results.push(signed);
            }
            self.compare_results();
            self.report_waiting();
        }
        self.carry_out(by, consequence)
    }

    /// Passes on what somebody has said, where not every two members have a connection.
    pub(super) fn relay(&mut self, by: PublicId, bytes: Arc<[u8]>) -> Result<(), MemberError> {
        if self.relays.as_mut().is_some_and(|relays| relays.allow(by)) {
            self.host.relay(bytes)?;
        }
        Ok(())
    }

    /// Lets words that are on their way leave; of what comes in only the count of what was sent matters any more.
    pub(super) async fn drain(&mut self) {
        let until = Instant::now() + LAST_WORDS;
        while let Ok(event) = timeout_at(until, self.host.next()).await {
            if let HostEvent::Finished(written) = event {
                self.written = written;
            }
        }
    }
}

async fn planned(planning: &mut Option<Planning>) -> Result<Result<Planned, String>, JoinError> {
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

pub(super) fn name(names: &BTreeMap<PublicId, String>, id: &PublicId) -> String {
    names.get(id).cloned().unwrap_or_else(|| id.to_string())
}
