//! The peer of a session that tolerates losses, over frames as bytes, with its ledger and its disk.

use zeroize::Zeroizing;

use super::case::{GRACE, STEP};
use super::process::{Effect, Process};
use super::*;
use crate::node::HostError;
use crate::node::deployed::{Keeper, Life, Stalling, Told, WAITING};
use crate::node::member::error::MemberError;
use crate::node::member::keeping::MemberKeeper;
use crate::node::member::preparation::TolerantStart;
use crate::node::member::setup::Tolerant;
use crate::node::network::span;
use crate::protocol::regroup::{self, End, RegroupSetup, Resume};
use crate::protocol::tolerant::{Defect, Format, Frame, Input, Output, TolerantPeer};
use crate::session::AssemblyError;
use crate::vocabulary::{Span, Time};

/// What is known of a link.
struct Link {
    peer: PeerIndex,
    id: PublicId,
    is_cut: bool,
    /// Restarts of the neighbour that this peer has heard of.
    restarts: u8,
}

pub(super) struct Lossy {
    pub(super) peer: TolerantPeer,
    pub(super) format: Format,
    pub(super) setup: RegroupSetup,
    pub(super) life: Life,
    keeper: MemberKeeper,
    links: Vec<Link>,
    stalling: Stalling,
    began: Time,
    pub(super) effects: Vec<Effect>,
    pub(super) told: Vec<Told>,
}

type Done = Result<(), HostError>;

impl Lossy {
    pub(super) fn new(
        process: &mut Process,
        assembled: &Assembled,
        tolerant: &Tolerant,
        lives: u32,
        now: Time,
    ) -> Result<Self, MemberError> {
        process.roster = assembled.roster.iter().map(|seat| seat.id).collect();
        let own = process.identity.id();
        let place = process.roster.iter().position(|id| *id == own);
        let me = place.map(PeerIndex::from_index);
        let me = me.ok_or_else(|| MemberError::Assembly(Box::new(AssemblyError::Excluded)))?;
        let planned = process.planned.as_ref().expect("it is planned");
        let start = TolerantStart {
            setup: &mut process.setup,
            identity: &process.identity,
            ready: &mut process.ready,
            planned,
            tolerant,
            assembled,
            me,
            lives,
            patience: span(Duration::from_secs(GRACE + STEP)),
            told: None,
            defect: None,
        };
        let parts = start.make()?;
        process.basis = parts.basis;
        let overstates = Defect::Agreement(regroup::Defect::Overstates);
        let defect = process.overstates.then_some(overstates);
        let peer = parts.peer.with_defect(defect);
        let neighbours = parts.setup.links.neighbours(me).iter();
        let links: Vec<Link> = neighbours
            .map(|(peer, _)| Link {
                peer: *peer,
                id: process.roster[peer.index()],
                is_cut: false,
                restarts: 0,
            })
            .collect();
        let limit = Duration::from_secs(STEP);
        Ok(Self {
            peer,
            setup: parts.setup,
            life: parts.life,
            stalling: Stalling::new(limit, links.len(), process.roster.len()),
            format: parts.format,
            keeper: parts.keeper,
            links,
            began: now,
            effects: Vec::new(),
            told: Vec::new(),
        })
    }

    /// How often it looks whom it waits for.
    pub(super) fn pause(&self) -> Span {
        span(self.stalling.pause())
    }

    pub(super) fn start(&mut self, now: Time) -> Done {
        self.handle(Input::Start, now)
    }

    pub(super) fn alarm(&mut self, serial: u64, now: Time) -> Done {
        self.handle(Input::Timer(serial), now)
    }

    fn place(&self, id: PublicId) -> Option<usize> {
        self.links.iter().position(|link| link.id == id)
    }

    /// A neighbour is gone, or its link is cut there.
    pub(super) fn gone(&mut self, id: PublicId, now: Time) -> Done {
        match self.place(id) {
            Some(place) => self.handle(Input::Suspect(self.links[place].peer), now),
            None => Ok(()),
        }
    }

    /// A neighbour is there in this life: whether its link still carries anything.
    pub(super) fn back(&mut self, id: PublicId, life: Life, now: Time) -> Result<bool, HostError> {
        let Some(place) = self.place(id).filter(|place| !self.links[*place].is_cut) else {
            return Ok(false);
        };
        let restarts = (life.number() >> 32) as u8;
        if restarts > self.links[place].restarts {
            self.links[place].restarts = restarts;
            self.handle(Input::Returned(self.links[place].peer), now)?;
        }
        Ok(true)
    }

    /// Bytes have come over the link of this neighbour.
    pub(super) fn came(&mut self, id: PublicId, bytes: &[u8], now: Time) -> Done {
        let Some(place) = self.place(id).filter(|place| !self.links[*place].is_cut) else {
            return Ok(());
        };
        let from = self.links[place].peer;
        if let [WAITING, hops] = bytes {
            self.stalling.waits(place, *hops, self.clock(now));
            return Ok(());
        }
        let Ok(frame) = self.format.frame(bytes) else {
            return self.handle(Input::Suspect(from), now);
        };
        self.stalling.heard(place);
        if let Frame::Record(signed) = &frame
            && let Some((neighbour, restarts)) = self.peer.regroup().news_of_restart(signed)
            && let Some(link) = self.links.iter_mut().find(|link| link.peer == neighbour)
            && restarts > link.restarts
        {
            link.restarts = restarts;
            self.handle(Input::Returned(neighbour), now)?;
        }
        self.handle(Input::Frame { from, frame }, now)
    }

    fn clock(&self, now: Time) -> Duration {
        Duration::from_nanos(now.0 - self.began.0)
    }

    /// Looks whom it waits for.
    pub(super) fn look(&mut self, now: Time) -> Done {
        let waited = self.peer.waits_for();
        let place = |peer: &PeerIndex| self.links.iter().position(|link| link.peer == *peer);
        let waited: Vec<usize> = waited.iter().filter_map(place).collect();
        let still = |_: usize| Duration::ZERO;
        let (late, hops) = self.stalling.look(&waited, self.clock(now), still);
        if let Some(hops) = hops {
            for (place, link) in self.links.iter().enumerate() {
                if !waited.contains(&place) && !link.is_cut {
                    self.effects.push(Effect::Waiting(link.id, [WAITING, hops]));
                }
            }
        }
        for place in late {
            self.handle(Input::Suspect(self.links[place].peer), now)?;
        }
        self.effects.push(Effect::Look(self.pause()));
        Ok(())
    }

    fn handle(&mut self, input: Input, now: Time) -> Done {
        let mut out = Vec::new();
        let ran = Time(now.0 - self.began.0);
        self.peer.handle(input, ran, &mut out)?;
        let (mut unkept, mut suspects) = (Vec::new(), Vec::new());
        for output in out {
            match output {
                Output::Persist(record) => unkept.push(self.format.record_bytes(&record)),
                Output::Charge(attempt) => {
                    self.keep(&mut unkept)?;
                    let charged = self.keeper.charge(attempt);
                    charged.map_err(|source| HostError::Charge {
                        release: attempt.release,
                        source,
                    })?;
                }
                Output::Send { to, frame } => {
                    self.keep(&mut unkept)?;
                    if !matches!(frame, Frame::Record(_)) {
                        self.stalling.advances();
                    }
                    for link in &self.links {
                        if to.contains(&link.peer) && !link.is_cut {
                            self.effects.push(Effect::Frame(link.id, frame.clone()));
                        }
                    }
                }
                Output::Wake(serial, at) => {
                    let at = Time(at.0 + self.began.0);
                    self.effects.push(Effect::Alarm(serial, at));
                }
                Output::Cut(neighbour) => {
                    self.keep(&mut unkept)?;
                    self.cut(|link| link.peer == neighbour);
                }
                Output::Resumed { view, resume } => {
                    if let Resume::Begin { attempt, .. } = &resume {
                        let noted = self.keeper.note(*attempt, &view);
                        let release = attempt.release;
                        noted.map_err(|source| HostError::Begin { release, source })?;
                    }
                }
                Output::Event(attempt, event) => {
                    self.keep(&mut unkept)?;
                    self.told.push(Told::Event(attempt, event));
                }
                Output::Fault(fault) => {
                    let link = self.links.iter().find(|link| link.peer == fault.culprit);
                    let Some(culprit) = link.map(|link| link.id) else {
                        continue;
                    };
                    let what = fault.kind;
                    self.told.push(Told::Fault { culprit, what });
                    suspects.push(fault.culprit);
                }
                Output::Deviates(evidence) => self.told.push(Told::Deviates(evidence)),
                Output::Ended(end) => {
                    self.keep(&mut unkept)?;
                    if end != End::Finished {
                        self.cut(|_| true);
                    }
                    self.told.push(Told::Ended(end));
                }
            }
        }
        self.keep(&mut unkept)?;
        for suspect in suspects {
            self.handle(Input::Suspect(suspect), now)?;
        }
        Ok(())
    }

    fn cut(&mut self, which: impl Fn(&Link) -> bool) {
        for link in self.links.iter_mut().filter(|link| which(link)) {
            if !link.is_cut {
                link.is_cut = true;
                self.effects.push(Effect::Cut(link.id));
            }
        }
    }

    fn keep(&mut self, unkept: &mut Vec<Zeroizing<Vec<u8>>>) -> Done {
        if unkept.is_empty() {
            return Ok(());
        }
        let records = std::mem::take(unkept);
        self.keeper.keep(records).map_err(HostError::Keep)
    }
}
