//! One life of a member: the agreement, then its peer, with the decisions of the conductor, as events of virtual time.

use std::time::Duration;

use super::case::GRACE;
use super::plain::{End, Plain};
use super::tolerant::Lossy;
use super::*;
use crate::node::HostError;
use crate::node::deployed::{Evidence, Misbehaviour, Told};
use crate::node::member::agreed;
use crate::node::member::dispute;
use crate::node::member::error::MemberError;
use crate::node::member::exchange::Exchange;
use crate::node::member::joining::{Joining, Outset};
use crate::node::member::resume::{Ready, keep_list};
pub(super) use crate::node::member::verdict::Stage;
use crate::node::member::verdict::{Consequence, Situation, last_statement};
use crate::node::network::span;
use crate::node::store::{Digest, Record, SessionEnd};
use crate::protocol::Event;
use crate::session::{
    Assembly, AssemblyError, AssemblySetup, Identity, Input, Join, Output, Reason, Signed,
    Statement,
};
use crate::vocabulary::{Span, Time};

/// What a process does to the world.
pub(super) enum Effect {
    /// A statement to all.
    Say(Arc<[u8]>),
    /// The agreement is to be called at this time.
    Wake(Time),
    /// A plan is to be made of this.
    Plan(Box<Assembled>),
    /// A message of the plain peer to a neighbour.
    Message(PublicId, crate::protocol::Message),
    /// The plain peer is to be called.
    Timer(crate::protocol::Timer, Time),
    /// A frame of the tolerant peer to a neighbour.
    Frame(PublicId, crate::protocol::tolerant::Frame),
    /// Bytes between tolerant drivers.
    Waiting(PublicId, [u8; 2]),
    /// The tolerant peer is to be called with this number.
    Alarm(u64, Time),
    /// The tolerant peer gives a link up.
    Cut(PublicId),
    /// The tolerant driver looks whom it waits for, again.
    Look(Span),
    /// A peer has begun: those that do not come within the grace are given up.
    Expect,
}

pub(super) enum Run {
    None,
    Plain(Box<Plain>),
    Lossy(Box<Lossy>),
}

/// A process that runs.
pub(super) struct Process {
    pub(super) setup: MemberSetup,
    names: BTreeMap<PublicId, String>,
    pub(super) identity: Arc<Identity>,
    pub(super) ready: Ready,
    pub(super) assembly: Assembly,
    pub(super) stage: Stage,
    pub(super) planned: Option<Planned>,
    pub(super) roster: Vec<PublicId>,
    pub(super) finished: BTreeSet<PublicId>,
    pub(super) results: Vec<Signed>,
    pub(super) disputed: Option<MemberError>,
    pub(super) exchange: Exchange,
    pub(super) run: Run,
    pub(super) basis: Option<Arc<Block>>,
    pub(super) seen: BTreeSet<PublicId>,
    /// When the process began: its clock's zero.
    pub(super) began: Time,
    /// When it stops waiting for the others.
    pub(super) until: Option<Time>,
    /// Whom its tolerant peer has named, and what it kept as proof.
    pub(super) named: Vec<(PublicId, String)>,
    pub(super) proofs: Vec<(PublicId, crate::protocol::regroup::Evidence)>,
    /// What neighbours sent that began earlier.
    pub(super) early: Vec<(PublicId, Vec<u8>)>,
    /// Whether its tolerant peer overstates how often releases were tried again.
    pub(super) overstates: bool,
}

type Step = Result<(), MemberError>;

impl Process {
    /// Starts a process; nothing of it has left.
    pub(super) fn start(
        setup: MemberSetup,
        now: Time,
        change: Option<&dyn Fn(&mut Join)>,
    ) -> Result<Option<Self>, MemberError> {
        let Outset::Joining(joining) = Joining::prepare(setup)? else {
            return Ok(None);
        };
        let Joining {
            setup,
            identity,
            mut ready,
            ..
        } = *joining;
        if let Some(change) = change {
            change(&mut ready.join);
        }
        let (invitation, session) = (&setup.invitation, setup.invitation.hash());
        let assembly = Assembly::new(AssemblySetup {
            identity: Arc::clone(&identity),
            session,
            seats: invitation.seats(),
            least: invitation.session.min_peers,
            closes: Time(0) + span(setup.closes_in),
            join: ready.join.clone(),
            number: ready.noise.number(&session),
            remembered: BTreeMap::new(),
            patience: span(Duration::from_secs(invitation.session.step_limit_seconds)),
            repeat: span(Duration::from_secs(2)),
            tolerates_losses: invitation.tolerates_losses(),
            listed: ready.listed.clone(),
        });
        let members = invitation.members.iter();
        let names = members.map(|member| (member.id, member.name.clone()));
        Ok(Some(Self {
            names: names.collect(),
            setup,
            identity,
            ready,
            assembly,
            stage: Stage::Assembling,
            planned: None,
            roster: Vec::new(),
            finished: BTreeSet::new(),
            results: Vec::new(),
            disputed: None,
            exchange: Exchange::default(),
            run: Run::None,
            basis: None,
            seen: BTreeSet::new(),
            began: now,
            until: None,
            named: Vec::new(),
            proofs: Vec::new(),
            early: Vec::new(),
            overstates: false,
        }))
    }

    pub(super) fn begin(&mut self, now: Time, out: &mut Vec<Effect>) -> Step {
        if let Some(charged) = self.ready.late {
            let statement = Statement::Gone {
                reason: Reason::Failed,
                about: None,
                text: "it was interrupted".to_owned(),
                is_final: true,
            };
            self.say(statement, out);
            return Err(MemberError::Interrupted { charged });
        }
        match &self.ready.resumed {
            Some(resumed) => {
                self.stage = Stage::Resuming;
                let assembled = resumed.assembled.clone();
                self.roster = assembled.roster.iter().map(|seat| seat.id).collect();
                out.push(Effect::Plan(Box::new(assembled)));
                Ok(())
            }
            None => self.tell(Input::Start, now, out),
        }
    }

    fn clock(&self, now: Time) -> Time {
        Time(now.0 - self.began.0)
    }

    /// Feeds the agreement.
    pub(super) fn tell(&mut self, input: Input, now: Time, out: &mut Vec<Effect>) -> Step {
        let mut said = Vec::new();
        self.assembly.handle(input, self.clock(now), &mut said);
        for output in said {
            match output {
                Output::Broadcast(bytes) => out.push(Effect::Say(bytes)),
                Output::Listed(listed) => keep_list(&mut self.ready.journal, &listed)?,
                Output::Relay { .. } | Output::Widen | Output::Joined { .. } => {}
                Output::Wake(at) => out.push(Effect::Wake(Time(at.0 + self.began.0))),
                Output::Plan(assembled) => out.push(Effect::Plan(assembled)),
                Output::Agreed(assembled) => self.run(&assembled, now, out)?,
                Output::Failed(error) => {
                    if let AssemblyError::Contradiction { evidence, .. } = &*error {
                        let (first, second) = &**evidence;
                        dispute::keep_evidence(&self.ready.files, [first, second])?;
                    }
                    return Err(MemberError::Assembly(error));
                }
            }
        }
        Ok(())
    }

    /// A plan is made.
    pub(super) fn planned(
        &mut self,
        planned: Result<Planned, String>,
        now: Time,
        out: &mut Vec<Effect>,
    ) -> Step {
        if let Some(resumed) = self.ready.resumed.take() {
            let planned = planned.map_err(MemberError::Plan)?;
            if *planned.session.plan().digest() != resumed.plan.0 {
                return Err(MemberError::OtherBuild);
            }
            let tolerant = planned.tolerant.clone().ok_or(MemberError::JournalLost)?;
            self.planned = Some(planned);
            return self.run_lossy(&resumed.assembled, &tolerant, resumed.lives, now, out);
        }
        if !self.assembly.is_planning() {
            return Ok(());
        }
        let considered = planned.and_then(|planned| self.consider(planned));
        self.tell(Input::Planned(considered.map(Box::new)), now, out)
    }

    fn consider(&mut self, planned: Planned) -> Result<crate::session::Sections, String> {
        let roster = self.assembly.roster_hash();
        let considered = self.ready.consider(&planned, &self.setup.policy, roster);
        let sections = considered.map_err(|error| error.to_string())?;
        self.planned = Some(planned);
        Ok(sections)
    }

    /// All are ready.
    fn run(&mut self, assembled: &Assembled, now: Time, out: &mut Vec<Effect>) -> Step {
        let Some(planned) = &self.planned else {
            return Ok(());
        };
        self.roster = assembled.roster.iter().map(|seat| seat.id).collect();
        if let Some(tolerant) = planned.tolerant.clone() {
            let joins: Vec<_> = self.assembly.signed_joins().collect();
            agreed::keep(&self.ready.files, assembled, &joins)?;
            return self.run_lossy(assembled, &tolerant, 0, now, out);
        }
        let plain = Plain::new(self, assembled)?;
        self.stage = Stage::Running;
        self.run = Run::Plain(Box::new(plain));
        let early = std::mem::take(&mut self.early);
        self.plain(now, out, |plain, now| plain.start(now))?;
        for (from, bytes) in early {
            self.plain(now, out, |plain, now| plain.came(from, bytes, now))?;
        }
        Ok(())
    }

    fn run_lossy(
        &mut self,
        assembled: &Assembled,
        tolerant: &crate::node::member::setup::Tolerant,
        lives: u32,
        now: Time,
        out: &mut Vec<Effect>,
    ) -> Step {
        let lossy = Lossy::new(self, assembled, tolerant, lives, now)?;
        self.stage = Stage::Running;
        out.push(Effect::Expect);
        out.push(Effect::Look(lossy.pause()));
        self.run = Run::Lossy(Box::new(lossy));
        let early = std::mem::take(&mut self.early);
        self.lossy(now, out, |lossy, now| lossy.start(now))?;
        for (from, bytes) in early {
            self.lossy(now, out, |lossy, now| lossy.came(from, &bytes, now))?;
        }
        Ok(())
    }

    /// Has the plain peer do something, and does what follows.
    pub(super) fn plain(
        &mut self,
        now: Time,
        out: &mut Vec<Effect>,
        act: impl FnOnce(&mut Plain, Time) -> Result<(), End>,
    ) -> Step {
        let Run::Plain(plain) = &mut self.run else {
            return Ok(());
        };
        let acted = act(plain, now);
        out.append(&mut plain.effects);
        let events = std::mem::take(&mut plain.events);
        for event in events {
            self.event(event, now, out)?;
        }
        match acted {
            Ok(()) => Ok(()),
            Err(End::Failed(error)) => self.failed(error),
            Err(End::Fault(culprit, blame)) => {
                let (what, evidence) = *blame;
                self.fault(culprit, &what, evidence, now, out)
            }
        }
    }

    /// Has the tolerant peer do something, and does what follows.
    pub(super) fn lossy(
        &mut self,
        now: Time,
        out: &mut Vec<Effect>,
        act: impl FnOnce(&mut Lossy, Time) -> Result<(), HostError>,
    ) -> Step {
        let Run::Lossy(lossy) = &mut self.run else {
            return Ok(());
        };
        let acted = act(lossy, now);
        out.append(&mut lossy.effects);
        let told = std::mem::take(&mut lossy.told);
        for told in told {
            self.told(told, now, out)?;
        }
        match acted {
            Ok(()) => Ok(()),
            Err(error) => self.failed(error),
        }
    }

    fn failed(&mut self, error: HostError) -> Step {
        let charged = self.ready.charged(self.setup.invitation.hash());
        let goes_on = self.situation().tolerates();
        Err(MemberError::of_host(error, charged, goes_on))
    }

    fn fault(
        &mut self,
        culprit: PublicId,
        what: &Misbehaviour,
        evidence: Option<Evidence>,
        now: Time,
        out: &mut Vec<Effect>,
    ) -> Step {
        let has_evidence = evidence.is_some();
        if let Some(evidence) = evidence {
            let both = [&evidence.first[..], &evidence.second[..]];
            dispute::keep_evidence(&self.ready.files, both)?;
        }
        let consequence = self.situation().fault(&culprit, what, has_evidence);
        self.follow(culprit, consequence, now, out)
    }

    fn told(&mut self, told: Told, now: Time, out: &mut Vec<Effect>) -> Step {
        match told {
            Told::Event(_, Event::Finished) | Told::WentOn { .. } | Told::GaveUp(_) => Ok(()),
            Told::Event(_, event) => self.event(event, now, out),
            Told::Fault { what, .. } if what.names_nobody() => Ok(()),
            Told::Fault { culprit, what } => {
                self.named.push((culprit, what.to_string()));
                Ok(())
            }
            Told::Deviates(evidence) => {
                let culprit = self.roster.get(evidence.culprit().index()).copied();
                if let Some(culprit) = culprit {
                    self.named.push((culprit, "two statements".to_owned()));
                    if let Some(planned) = &self.planned {
                        let session = planned.session.plan().session();
                        dispute::keep_contradiction(&self.ready.files, &evidence.files(session));
                    }
                    self.proofs.push((culprit, *evidence));
                }
                Ok(())
            }
            Told::Ended(crate::protocol::regroup::End::Finished) => self.finish(now, out),
            Told::Ended(end) => Err(MemberError::of_end(end)),
        }
    }

    fn event(&mut self, event: Event, now: Time, out: &mut Vec<Effect>) -> Step {
        match event {
            Event::Advanced { release, basis, .. } => {
                let digest = Digest(basis.digest());
                self.basis = Some(basis);
                let _ = self.ready.journal.append(Record::Done { release, digest });
                Ok(())
            }
            Event::Finished => self.finish(now, out),
            Event::Released { .. } | Event::Published { .. } => Ok(()),
        }
    }

    fn finish(&mut self, now: Time, out: &mut Vec<Effect>) -> Step {
        let Some(basis) = self.basis.clone() else {
            return Err(MemberError::Plan("the session had no release".to_owned()));
        };
        self.stage = Stage::Done;
        self.until = Some(now + Span(1_000_000_000 * self.setup.invitation.session.linger_seconds));
        let digest = basis.digest();
        let statement = Statement::Finished { result: digest };
        let signed = Signed::new(&self.identity, self.setup.invitation.hash(), statement);
        let bytes = Arc::clone(&signed.bytes);
        self.results.push(signed);
        self.compare_results(out);
        let digest = Digest(digest);
        self.ready.journal.append(Record::Result { digest })?;
        self.ready.files.write("basis.npy", &npy(&basis))?;
        self.end(SessionEnd::Done)?;
        self.finished.insert(self.identity.id());
        out.push(Effect::Say(bytes));
        Ok(())
    }

    fn end(&mut self, end: SessionEnd) -> Step {
        self.ready.end(self.setup.invitation.hash(), end)
    }

    pub(super) fn situation(&self) -> Situation<'_> {
        Situation {
            stage: self.stage,
            tolerates_losses: self.setup.invitation.tolerates_losses(),
            names: &self.names,
        }
    }

    /// A member is connected.
    pub(super) fn up(&mut self, id: PublicId, now: Time, out: &mut Vec<Effect>) -> Step {
        self.seen.insert(id);
        match self.stage {
            Stage::Assembling => self.tell(Input::Connected(id), now, out),
            Stage::Resuming | Stage::Running => {
                self.finished.remove(&id);
                Ok(())
            }
            Stage::Done => Ok(()),
        }
    }

    /// A member has not come back within the grace.
    pub(super) fn lost(&mut self, id: PublicId, now: Time, out: &mut Vec<Effect>) -> Step {
        let is_listed = match self.stage {
            Stage::Assembling => self.assembly.lists(&id),
            _ => self.roster.contains(&id),
        };
        let consequence = self.situation().lost(&id, is_listed, GRACE);
        self.follow(id, consequence, now, out)
    }

    /// Does what follows from what a member did.
    fn follow(
        &mut self,
        id: PublicId,
        consequence: Consequence,
        now: Time,
        out: &mut Vec<Effect>,
    ) -> Step {
        match consequence {
            Consequence::Nothing | Consequence::Result => {}
            Consequence::Absent => return self.tell(Input::Disconnected(id), now, out),
            Consequence::LinkCut { is_over } => {
                self.give_up(id, now, out)?;
                self.seen.remove(&id);
                if is_over {
                    self.finished.insert(id);
                }
            }
            Consequence::NotAwaited => {
                self.finished.insert(id);
            }
            Consequence::Ends(error) => return Err(error),
        }
        Ok(())
    }

    pub(super) fn give_up(&mut self, id: PublicId, now: Time, out: &mut Vec<Effect>) -> Step {
        self.lossy(now, out, |lossy, now| lossy.gone(id, now))
    }

    /// Those that have not come within the grace are given up.
    pub(super) fn expected(&mut self, now: Time, out: &mut Vec<Effect>) -> Step {
        for id in self.roster.clone() {
            if id != self.identity.id() && !self.seen.contains(&id) {
                self.give_up(id, now, out)?;
            }
        }
        Ok(())
    }

    /// A statement.
    pub(super) fn control(
        &mut self,
        from: PublicId,
        bytes: Vec<u8>,
        now: Time,
        out: &mut Vec<Effect>,
    ) -> Step {
        if self.stage == Stage::Assembling {
            return self.tell(Input::Received { from, bytes }, now, out);
        }
        let Ok(signed) = self.assembly.read(&bytes) else {
            return Ok(());
        };
        if !self.roster.contains(&signed.from) {
            return Ok(());
        }
        if let Statement::Stamps(shown) = &signed.statement {
            self.take_stamps(signed.from, shown);
            return Ok(());
        }
        let (by, consequence) = (signed.from, self.situation().heard(&signed, &from));
        if matches!(consequence, Consequence::Ends(_)) {
            out.push(Effect::Say(Arc::clone(&signed.bytes)));
        }
        if matches!(consequence, Consequence::Result) {
            self.finished.insert(by);
            self.results.push(signed);
            self.compare_results(out);
        }
        self.follow(by, consequence, now, out)
    }

    /// Whether it has its result and waits for nobody any more.
    pub(super) fn is_over(&self, now: Time) -> bool {
        let all = || self.is_settled() && self.roster.iter().all(|id| self.finished.contains(id));
        self.stage == Stage::Done && (all() || self.until.is_some_and(|until| until <= now))
    }

    pub(super) fn say(&self, statement: Statement, out: &mut Vec<Effect>) {
        let signed = Signed::new(&self.identity, self.setup.invitation.hash(), statement);
        out.push(Effect::Say(signed.bytes));
    }

    /// Tells the others why there is no result, and ends the session here if it had begun.
    pub(super) fn end_with(&mut self, error: MemberError, out: &mut Vec<Effect>) -> MemberError {
        if self.stage == Stage::Done {
            return error;
        }
        let has_begun = self.planned.is_some() || error.is_late();
        let goes_on = error.is_disk() && self.setup.invitation.tolerates_losses();
        if let Some(statement) = last_statement(&error, has_begun && !goes_on) {
            self.say(statement, out);
        }
        if has_begun
            && !goes_on
            && let Err(worse) = self.end(error.end())
        {
            return worse;
        }
        error
    }
}
