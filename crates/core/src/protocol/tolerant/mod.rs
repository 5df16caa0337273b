//! A peer that goes on when others are lost: the agreement of [`regroup`] around the [`Peer`] of a session.
//!
//! ```text
//!              frames                    what has gone wrong
//!  neighbours ───────▶ TolerantPeer ◀──▶ Regroup
//!                        │    ▲
//!       steps of a view  ▼    │ published, averaged
//!                        Peer of the view
//! ```
//!
//! Every view has a session of its own among its members: their graphs, noise under keys of its own, averaging compiled for them. A peer of that session begins
//! after the releases that are done. What it publishes goes to all neighbours first; only when the attempt is certified, that is when
//! everybody holds what its neighbours published, are the contributions combined. So the contribution of a peer that vanishes later is
//! still there, with the neighbour that is its heir, and the sum is the one that all who took part contributed to; nothing is ever subtracted from it.
//!
//! # In the open, and sealed
//! With [`Publication::Open`] whoever has to try a release again has published twice, and pays for it with one of the session's retries. With
//! [`Publication::Sealed`] a try is free as long as nothing of it is certified, since nothing of it can be read:
//!
//! ```text
//!  charge, then seal ──▶ hold all neighbours' seals, and sign so ──▶ everybody's signature: certificate ──▶ open ──▶ average
//!        ▲                            │ something goes wrong              │ something goes wrong
//!        └──── fresh noise, free ─────┘                                   └──▶ holders give up shares of the lost: heirs open, average
//! ```
//!
//! The signed words travel over as many hops as the graph is wide, and that everybody's are here proves that everybody holds what its neighbours sealed:
//! they are the barrier and the certificate in one. A barrier of as many empty rounds would prove the same a second time, and to nobody who was not there.
//!
//! What is sealed is on the disk before it leaves, and after the charge for its try; a peer that comes back reads its contribution out of those bytes, and computes nothing
//! again. What a holder may do is [`escrow`](super::escrow)'s to say, and each of its steps is on the disk before anything that follows from it leaves. Views, disruptions and
//! the graph of links come from [`regroup`]; keys are handed in ([`SealSecrets`]), and erased when it is over.
//!
//! Sessions of real numbers whose sums need all neighbours or a tree; not of own coordinates, integers or mass that is passed on.

mod bytes;
mod defect;
mod frame;
mod inner;
mod sealer;
mod sealing;
mod secrets;

use std::collections::BTreeMap;
use std::error::Error;
use std::sync::Arc;

pub use bytes::{Format, FormatError};
pub use defect::Defect;
pub use frame::{DiskRecord, Frame, SignedShare};
pub use secrets::SealSecrets;

use super::averaging::Part;
use super::escrow::Refused;
use super::fault::{Fault, FaultKind};
use super::message::Summand;
use super::outbox::{Event, Targets};
use super::peer::{Peer, PeerError, PeerSetup};
use super::regroup::{
    self, Attempt, End, Evidence, Publication, Regroup, RegroupSetup, Resume, View,
};
use crate::algorithm::PublicState;
use crate::vocabulary::{PeerIndex, ReleaseId, Time};
use inner::Inner;
use sealer::Sealer;

/// A peer's part in the session of a view.
pub struct ViewSetup {
    /// What the peer of that session starts from: there members are numbered without gaps.
    pub setup: PeerSetup,
    /// Everybody in the view, in that order.
    pub members: Arc<[PeerIndex]>,
    /// Whether all members end with the same bits.
    pub ends_equal: bool,
}

/// Where the sessions of views come from: a pure function of the session and the view.
pub trait Views: Send + Sync {
    /// What this peer starts from in this view.
    ///
    /// # Errors
    /// Why there is no session among its members.
    fn setup(&self, view: &View, me: PeerIndex) -> Result<ViewSetup, Box<dyn Error + Send + Sync>>;
}

/// What the driver feeds a tolerant peer.
#[derive(Clone, Debug)]
pub enum Input {
    /// Begin, or begin again after a restart: before any frame is handed in, and where all begin, before any frame of another is.
    Start,
    /// A frame from a neighbour, as authenticated by the transport.
    Frame {
        /// Whose.
        from: PeerIndex,
        /// What.
        frame: Frame,
    },
    /// A neighbour is not there any more, or deviates.
    Suspect(PeerIndex),
    /// A neighbour is there again, with nothing but its disk.
    Returned(PeerIndex),
    /// The time that was asked for has come.
    Timer(u64),
}

/// What it tells its driver, to be done in this order.
#[derive(Clone, Debug)]
pub enum Output {
    /// The try of this attempt costs its price: the ledger must have it before anything that follows is carried out. A try that is in the ledger is
    /// not charged again.
    Charge(Attempt),
    /// Write this to the disk before anything that follows leaves.
    Persist(DiskRecord),
    /// To these neighbours.
    Send {
        /// Ascending.
        to: Vec<PeerIndex>,
        /// What.
        frame: Frame,
    },
    /// A link of this peer is cut: nothing more goes over it.
    Cut(PeerIndex),
    /// To be called with [`Input::Timer`] and this number at this time.
    Wake(u64, Time),
    /// What its peer of the present view told, with who takes part in the attempt.
    Event(Attempt, Event),
    /// How it goes on after something went wrong, and from the beginning.
    Resumed {
        /// Who takes part.
        view: Arc<View>,
        /// With what.
        resume: Resume,
    },
    /// A neighbour deviates.
    Fault(Fault),
    /// Somebody is proved to deviate.
    Deviates(Box<Evidence>),
    /// It is over.
    Ended(End),
}

/// Why a tolerant peer cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum TolerantError {
    /// Its peer of a view could not.
    #[error(transparent)]
    Peer(#[from] PeerError),
    /// There is no session among the members of a view.
    #[error("the members of view {view} cannot go on: {source}")]
    View {
        /// Its number.
        view: u64,
        /// Why.
        source: Box<dyn Error + Send + Sync>,
    },
    /// What is sealed, held, opened or given up is refused.
    #[error(transparent)]
    Escrow(#[from] Refused),
    /// A peer that is to seal what it contributes, and lacks a secret for it.
    #[error(
        "{peer} is to seal what it contributes, and has agreed on no secret with its neighbour {with}: every pair of neighbours needs one"
    )]
    Secrets {
        /// Who.
        peer: PeerIndex,
        /// With whom.
        with: PeerIndex,
    },
    /// Its disk lacks what it had written.
    #[error("{peer} has lost {what} of {release}: its disk is not the one it had")]
    Disk {
        /// Who.
        peer: PeerIndex,
        /// What.
        what: &'static str,
        /// Of which release.
        release: ReleaseId,
    },
    /// A kind of session that tolerates no loss.
    #[error("a session {what} tolerates no loss of peers: {change}")]
    Unsupported {
        /// Of which kind.
        what: &'static str,
        /// What to do.
        change: &'static str,
    },
}

/// What was published in an attempt, as far as this peer holds it.
#[derive(Clone, Debug, Default)]
struct Kept {
    /// What everybody had agreed on before.
    agreed: Option<f64>,
    inputs: BTreeMap<PeerIndex, Summand>,
    is_told: bool,
}

/// A peer that tolerates the loss of others.
pub struct TolerantPeer {
    regroup: Regroup,
    setup: RegroupSetup,
    views: Arc<dyn Views>,
    inner: Option<Inner>,
    /// Public states by how many releases they have behind them: as many as can be asked for again.
    states: BTreeMap<u32, PublicState>,
    kept: BTreeMap<Attempt, Kept>,
    /// What seals, where contributions are sealed.
    sealer: Option<Sealer>,
    defect: Option<Defect>,
}

impl TolerantPeer {
    /// A peer of a session that begins. `secrets` are needed where contributions are sealed, and used nowhere else.
    ///
    /// # Errors
    /// [`TolerantError::Secrets`].
    pub fn new(
        setup: RegroupSetup,
        secrets: Option<SealSecrets>,
        views: Arc<dyn Views>,
        start: PublicState,
    ) -> Result<Self, TolerantError> {
        Self::made(setup, secrets, views, start)
    }

    /// A peer that starts again with what it had on its disk, in the order in which it was written.
    ///
    /// # Errors
    /// [`TolerantError::Secrets`].
    pub fn recovered(
        setup: RegroupSetup,
        secrets: Option<SealSecrets>,
        views: Arc<dyn Views>,
        start: PublicState,
        disk: &[DiskRecord],
    ) -> Result<Self, TolerantError> {
        let mut peer = Self::made(setup, secrets, views, start)?;
        let (mut durable, mut escrow, mut seals) = (Vec::new(), Vec::new(), Vec::new());
        for record in disk.iter().cloned() {
            match record {
                DiskRecord::Regroup(record) => durable.push(record),
                DiskRecord::Input {
                    attempt,
                    from,
                    agreed,
                    input,
                } => {
                    let kept = peer.kept.entry(attempt).or_default();
                    kept.agreed = agreed;
                    kept.inputs.insert(from, input);
                }
                DiskRecord::Agreed { attempt, agreed } => {
                    peer.kept.entry(attempt).or_default().agreed = agreed;
                }
                DiskRecord::Escrow(record) => escrow.push(record),
                DiskRecord::Seal(seal) => seals.push(seal),
                DiskRecord::State(state) => {
                    peer.states.insert(state.released, state);
                }
            }
        }
        peer.regroup = Regroup::recovered(peer.setup.clone(), durable);
        if let Some(sealer) = &mut peer.sealer {
            sealer.put_back(escrow, seals);
        }
        Ok(peer)
    }

    fn made(
        setup: RegroupSetup,
        secrets: Option<SealSecrets>,
        views: Arc<dyn Views>,
        start: PublicState,
    ) -> Result<Self, TolerantError> {
        check_secrets(&setup, secrets.as_ref())?;
        Ok(Self {
            regroup: Regroup::new(setup.clone()),
            sealer: secrets.and_then(|secrets| Sealer::new(&setup, secrets)),
            setup,
            views,
            inner: None,
            states: BTreeMap::from([(0, start)]),
            kept: BTreeMap::new(),
            defect: None,
        })
    }

    /// This peer with a defect, if there is one and it is this peer's.
    pub fn with_defect(mut self, defect: Option<Defect>) -> Self {
        let own = defect.filter(|defect| defect.is_of(self.setup.me));
        self.defect = own;
        self.regroup.defect = own.and_then(Defect::agreement);
        if let Some(sealer) = &mut self.sealer {
            sealer.set_defect(own);
        }
        self
    }

    /// Whether this peer takes a connection of a neighbour: not over a link that is cut, nor once it has left without having finished.
    #[must_use]
    pub fn takes(&self, neighbour: PeerIndex) -> bool {
        let has_left = self.regroup.end().is_some_and(|end| end != End::Finished);
        !self.regroup.is_cut(neighbour) && !has_left
    }

    /// The neighbours whose next word or message this peer waits for, ascending; nobody while members agree, who have a patience of their own for that.
    #[must_use]
    pub fn waits_for(&self) -> Vec<PeerIndex> {
        let words = self.regroup.waits_for();
        let Some(inner) = self.inner.as_ref().filter(|_| self.is_running()) else {
            return Vec::new();
        };
        if !words.is_empty() {
            return words;
        }
        let attempt = inner.attempt;
        let mut all = inner.targets(&Targets::All);
        // Whoever holds a share of what is lost may be any of them.
        if inner.waits {
            return all;
        }
        let kept = self.kept.get(&attempt);
        let has = |from: &PeerIndex| kept.is_some_and(|kept| kept.inputs.contains_key(from));
        let is_here = |from: &PeerIndex| match &self.sealer {
            Some(sealer) => sealer.holds(attempt, *from),
            None => has(from),
        };
        let is_open = inner.open == Some(attempt.release);
        match has(&self.setup.me) && !is_open {
            true => all.retain(|from| !is_here(from)),
            false => all.retain(|from| {
                let local = inner.local(*from);
                local.is_some_and(|local| inner.peer.waits_for(local))
            }),
        }
        all
    }

    /// The agreement that this peer takes part in.
    #[must_use]
    pub fn regroup(&self) -> &Regroup {
        &self.regroup
    }

    /// The whole interface: one input, all outputs in `out`.
    ///
    /// # Errors
    /// [`TolerantError`]; the peer must then be dropped.
    pub fn handle(
        &mut self,
        input: Input,
        now: Time,
        out: &mut Vec<Output>,
    ) -> Result<(), TolerantError> {
        match input {
            Input::Start => self.tell(regroup::Input::Start, now, out),
            Input::Suspect(neighbour) => self.tell(regroup::Input::Suspect(neighbour), now, out),
            Input::Returned(neighbour) => self.tell(regroup::Input::Returned(neighbour), now, out),
            Input::Timer(serial) => self.tell(regroup::Input::Timer(serial), now, out),
            Input::Frame { from, frame } => match frame {
                Frame::Record(record) => {
                    self.tell(regroup::Input::Heard { from, record }, now, out)
                }
                Frame::Published { attempt, input } => {
                    self.keep(from, attempt, input, out);
                    self.hold(attempt, now, out)
                }
                Frame::Sealed {
                    attempt,
                    frame,
                    share,
                } => {
                    self.take_seal(from, attempt, (frame, share), out)?;
                    self.hold(attempt, now, out)
                }
                Frame::Key { attempt, key } => self.take_key(from, attempt, key, now, out),
                Frame::Share { view, signed } => self.take_share(from, view, signed, now, out),
                Frame::Step { view, message } => {
                    let is_here = view == self.regroup.view().number && self.is_running();
                    let inner = self.inner.as_mut().filter(|_| is_here);
                    let Some((inner, from)) = inner.and_then(|inner| {
                        let from = inner.local(from)?;
                        Some((inner, from))
                    }) else {
                        return Ok(());
                    };
                    if inner.waits || inner.is_ahead(&message) {
                        inner.keep_early(from, message);
                        return Ok(());
                    }
                    let input = super::peer::Input::Message { from, message };
                    self.run(input, now, out)
                }
            },
        }
    }

    fn is_running(&self) -> bool {
        !self.regroup.is_frozen() && !self.is_ended()
    }

    fn is_ended(&self) -> bool {
        self.regroup.end().is_some()
    }

    /// Tells the agreement, and does what it says.
    fn tell(
        &mut self,
        input: regroup::Input,
        now: Time,
        out: &mut Vec<Output>,
    ) -> Result<(), TolerantError> {
        let mut said = Vec::new();
        self.regroup.handle(input, now, &mut said);
        for output in said {
            match output {
                regroup::Output::Persist(record) => {
                    out.push(Output::Persist(DiskRecord::Regroup(record)));
                }
                regroup::Output::Send { to, record } => {
                    let frame = Frame::Record(record);
                    out.push(Output::Send { to, frame });
                }
                regroup::Output::Cut(neighbour) => out.push(Output::Cut(neighbour)),
                regroup::Output::Wake(serial, at) => out.push(Output::Wake(serial, at)),
                regroup::Output::Freeze => self.inner = None,
                regroup::Output::Resume { view, resume } => self.resume(&view, resume, now, out)?,
                regroup::Output::Certified(certificate) => self.open(&certificate, now, out)?,
                regroup::Output::Refused(culprit) => {
                    let kind = FaultKind::Impossible;
                    out.push(Output::Fault(Fault { culprit, kind }));
                }
                regroup::Output::Deviates(evidence) => out.push(Output::Deviates(evidence)),
                regroup::Output::Ended(end) => {
                    self.inner = None;
                    // Nothing is sealed, opened or given up any more: its keys are erased.
                    self.sealer = None;
                    out.push(Output::Ended(end));
                }
            }
        }
        Ok(())
    }

    /// Begins, or goes on with, what the agreement says.
    fn resume(
        &mut self,
        view: &Arc<View>,
        resume: Resume,
        now: Time,
        out: &mut Vec<Output>,
    ) -> Result<(), TolerantError> {
        let (attempt, heirs) = match &resume {
            Resume::Begin { attempt, .. } => (*attempt, None),
            Resume::Average { attempt, heirs, .. } => (*attempt, Some(heirs.clone())),
            Resume::Finished | Resume::Lost { .. } => return Ok(()),
        };
        out.push(Output::Resumed {
            view: Arc::clone(view),
            resume,
        });
        if let Some(inner) = &mut self.inner {
            // Nothing went wrong since: its peer goes on by itself.
            inner.goes_on(attempt);
            return Ok(());
        }
        let me = self.setup.me;
        let before = attempt.release.0.saturating_sub(1);
        let lost = |what| TolerantError::Disk {
            peer: me,
            what,
            release: attempt.release,
        };
        let state = self.states.get(&before).cloned();
        let mut state = state.ok_or(lost("the state at the beginning"))?;
        let number = view.number.0;
        let made = self.views.setup(view, me);
        let ViewSetup {
            setup,
            members,
            ends_equal,
        } = made.map_err(|source| TolerantError::View {
            view: number,
            source,
        })?;
        check_supported(&setup)?;
        if let Some(sealer) = &mut self.sealer {
            sealer.enter(view, out)?;
        }
        state.agreed = match &heirs {
            None => None,
            Some(_) => {
                self.kept
                    .get(&attempt)
                    .ok_or(lost("what was published"))?
                    .agreed
            }
        };
        let peer = Peer::new(setup)?.after(state)?;
        let mut inner = Inner::new(peer, Arc::clone(view), members, attempt, ends_equal);
        let Some(heirs) = heirs else {
            self.inner = Some(inner);
            return self.run(super::peer::Input::Start, now, out);
        };
        inner.averages_again(heirs.clone());
        self.inner = Some(inner);
        self.reopen(attempt, (view.number, &heirs), out)?;
        self.inherit(now, out)
    }

    /// Keeps what a neighbour published, if it is what this peer waits for or may wait for next.
    fn keep(&mut self, from: PeerIndex, attempt: Attempt, input: Summand, out: &mut Vec<Output>) {
        let Some(inner) = self.inner.as_ref().filter(|_| self.is_running()) else {
            return;
        };
        let here = inner.attempt.release;
        let is_near = attempt.release == here || attempt.release == here.next();
        let is_here =
            attempt.view == self.regroup.view().number && attempt.retry == self.regroup.retries();
        if !is_near || !is_here || inner.local(from).is_none() {
            return;
        }
        if let Err(kind) = inner.peer.check_published(attempt.release, &input) {
            let culprit = from;
            return out.push(Output::Fault(Fault { culprit, kind }));
        }
        let kept = self.kept.entry(attempt).or_default();
        kept.inputs.entry(from).or_insert(input);
    }

    /// Says that it holds what all its neighbours published, once it does and has published itself.
    fn hold(
        &mut self,
        attempt: Attempt,
        now: Time,
        out: &mut Vec<Output>,
    ) -> Result<(), TolerantError> {
        let Some(inner) = self.inner.as_ref() else {
            return Ok(());
        };
        let me = self.setup.me;
        let view = Arc::clone(&inner.view);
        let Some(kept) = self.kept.get_mut(&attempt) else {
            return Ok(());
        };
        let cuts = view.disruptions.cuts();
        let live = self.setup.links.live(me, cuts, &view.members);
        let live: Vec<PeerIndex> = live.collect();
        let sealer = self.sealer.as_ref();
        let is_here = |from: &PeerIndex| match sealer {
            Some(sealer) if *from != me => sealer.holds(attempt, *from),
            _ => kept.inputs.contains_key(from),
        };
        if kept.is_told || attempt != inner.attempt || !is_here(&me) || !live.iter().all(is_here) {
            return Ok(());
        }
        kept.is_told = true;
        // What was sealed is on the disk since it came.
        for from in live.into_iter().filter(|_| sealer.is_none()) {
            if let Some(input) = kept.inputs.get(&from) {
                out.push(Output::Persist(DiskRecord::Input {
                    attempt,
                    from,
                    agreed: kept.agreed,
                    input: input.clone(),
                }));
            }
        }
        if !self.attest(attempt, out)? {
            return Ok(());
        }
        self.tell(regroup::Input::Holding(attempt), now, out)
    }
}

/// Σ of these, in order.
fn added(inputs: &[Summand]) -> Option<Vec<f64>> {
    let mut sum: Option<Vec<f64>> = None;
    for input in inputs {
        let values = input.reals()?;
        match &mut sum {
            None => sum = Some(values.to_vec()),
            Some(sum) => sum.iter_mut().zip(values.iter()).for_each(|(a, b)| *a += b),
        }
    }
    sum
}

/// Where contributions are sealed, a peer shares a secret with each of its neighbours.
fn check_secrets(setup: &RegroupSetup, secrets: Option<&SealSecrets>) -> Result<(), TolerantError> {
    if setup.tolerance.publication == Publication::Open {
        return Ok(());
    }
    let neighbours = setup.links.neighbours(setup.me).iter();
    let has = |with| secrets.is_some_and(|secrets| secrets.sending_to(with).is_some());
    match neighbours.map(|(with, _)| *with).find(|with| !has(*with)) {
        Some(with) => Err(TolerantError::Secrets {
            peer: setup.me,
            with,
        }),
        None => Ok(()),
    }
}

fn check_supported(setup: &PeerSetup) -> Result<(), TolerantError> {
    let refused = |what, change| Err(TolerantError::Unsupported { what, change });
    if setup.plan.ring_laws().is_some() {
        return refused("of integers mod 2^k", "use noise.kind = \"pairwise\"");
    }
    if setup.plan.releases().iter().any(|planned| planned.is_own()) {
        return refused(
            "with coordinates that one peer fills",
            "choose an algorithm whose releases are sums",
        );
    }
    match setup.schedule.part() {
        Part::Passing(_) => refused(
            "whose averaging passes mass",
            "use linear, chebyshev or tree",
        ),
        Part::Recurrence { .. } | Part::Listed { .. } => Ok(()),
    }
}
