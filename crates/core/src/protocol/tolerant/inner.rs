//! The peer of a view inside a tolerant one: which of its messages leave, and which wait for a certificate.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::{DiskRecord, Frame, Output, TolerantError, TolerantPeer};
use crate::protocol::message::{Body, Message};
use crate::protocol::outbox::{CollectingOutbox, Event, Targets};
use crate::protocol::peer::{Input, Peer};
use crate::protocol::regroup::{self, Attempt, Certificate, Heir, View};
use crate::vocabulary::{PeerIndex, ReleaseId, Time};

/// A peer of the session of a view.
pub(super) struct Inner {
    pub(super) peer: Peer,
    pub(super) view: Arc<View>,
    pub(super) members: Arc<[PeerIndex]>,
    pub(super) attempt: Attempt,
    /// Whether all members end with the same bits.
    pub(super) ends_equal: bool,
    /// The release whose certificate is here.
    pub(super) open: Option<ReleaseId>,
    /// Whether what was certified before is averaged again.
    pub(super) is_again: bool,
    /// Who brings in the contributions of peers that are lost.
    pub(super) heirs: Vec<Heir>,
    /// Whether its peer has not begun, since something that it brings in is not readable yet.
    pub(super) waits: bool,
    /// Neighbours' messages to a peer that may not average yet.
    pub(super) early: Vec<(PeerIndex, Message)>,
    /// Neighbours whose contributions its peer has got.
    pub(super) fed: BTreeSet<PeerIndex>,
    /// Messages of an averaging that waits for its certificate.
    waiting: Vec<(Targets, Message)>,
}

/// Nobody sends a third message before its first was taken (see [`crate::protocol`], rule 3).
const MOST_EARLY: usize = 2;

impl Inner {
    pub(super) fn new(
        peer: Peer,
        view: Arc<View>,
        members: Arc<[PeerIndex]>,
        attempt: Attempt,
        ends_equal: bool,
    ) -> Self {
        Self {
            peer,
            view,
            members,
            attempt,
            ends_equal,
            open: None,
            is_again: false,
            heirs: Vec::new(),
            waits: false,
            early: Vec::new(),
            fed: BTreeSet::new(),
            waiting: Vec::new(),
        }
    }

    /// What was certified before is averaged, with these heirs.
    pub(super) fn averages_again(&mut self, heirs: Vec<Heir>) {
        self.open = Some(self.attempt.release);
        self.is_again = true;
        self.waits = true;
        self.heirs = heirs;
    }

    /// The next attempt begins, at the release that follows.
    pub(super) fn goes_on(&mut self, attempt: Attempt) {
        self.attempt = attempt;
        self.is_again = false;
        self.heirs.clear();
        self.fed.clear();
    }

    /// Whether a message is of an averaging whose certificate is not here yet. Words come by shortest paths, not all over the link of whoever has all of
    /// them already: its peer must not take a sum that the agreement does not know to be final.
    pub(super) fn is_ahead(&self, message: &Message) -> bool {
        matches!(message.body, Body::Average(_)) && self.open != Some(message.release)
    }

    /// Keeps a message until its peer may take it.
    pub(super) fn keep_early(&mut self, from: PeerIndex, message: Message) {
        let before = self.early.iter().filter(|(one, _)| *one == from).count();
        if before < MOST_EARLY {
            self.early.push((from, message));
        }
    }

    /// A member's number in the session of the view.
    pub(super) fn local(&self, member: PeerIndex) -> Option<PeerIndex> {
        let place = self.members.binary_search(&member).ok()?;
        Some(PeerIndex::from_index(place))
    }

    /// Who these neighbours are in the whole session.
    pub(super) fn targets(&self, targets: &Targets) -> Vec<PeerIndex> {
        let neighbours = self.peer.neighbours();
        let global = |local: PeerIndex| self.members[local.index()];
        match targets {
            Targets::All => neighbours.iter().map(|local| global(*local)).collect(),
            Targets::Positions(positions) => {
                let of = |position: &u32| global(neighbours[*position as usize]);
                positions.iter().map(of).collect()
            }
        }
    }
}

impl TolerantPeer {
    /// Has the peer of the view handle an input, and passes on what it says as far as that may leave.
    pub(super) fn run(
        &mut self,
        input: Input,
        now: Time,
        out: &mut Vec<Output>,
    ) -> Result<(), TolerantError> {
        let mut said = CollectingOutbox::default();
        let Some(inner) = &mut self.inner else {
            return Ok(());
        };
        inner.peer.handle(input, now, &mut said)?;
        for fault in said.faults {
            let inner = self.inner.as_ref();
            let culprit = inner.and_then(|inner| inner.members.get(fault.culprit.index()).copied());
            let Some(culprit) = culprit else { continue };
            let fault = crate::protocol::Fault { culprit, ..fault };
            out.push(Output::Fault(fault));
        }
        for event in said.events {
            self.heard(event, now, out)?;
        }
        for (targets, message) in said.messages {
            self.pass_on(targets, message, out);
        }
        Ok(())
    }

    /// What the peer of the view has done.
    fn heard(
        &mut self,
        event: Event,
        now: Time,
        out: &mut Vec<Output>,
    ) -> Result<(), TolerantError> {
        let Some(inner) = &self.inner else {
            return Ok(());
        };
        let attempt = inner.attempt;
        match &event {
            Event::Published { release, input } => {
                let attempt = Attempt {
                    release: *release,
                    retry: self.regroup.retries(),
                    view: inner.view.number,
                };
                if self.sealer.is_some() {
                    out.push(Output::Event(attempt, event.clone()));
                    return self.seal(attempt, input, now, out);
                }
                let agreed = inner.peer.agreement();
                let to = inner.targets(&Targets::All);
                let me = self.setup.me;
                let kept = self.kept.entry(attempt).or_default();
                kept.agreed = agreed;
                kept.inputs.insert(me, input.clone());
                out.push(Output::Event(attempt, event.clone()));
                out.push(Output::Charge(attempt));
                out.push(Output::Persist(DiskRecord::Input {
                    attempt,
                    from: me,
                    agreed,
                    input: input.clone(),
                }));
                self.tell(regroup::Input::Sending(attempt), now, out)?;
                let frame = Frame::Published {
                    attempt,
                    input: input.clone(),
                };
                out.push(Output::Send { to, frame });
                self.hold(attempt, now, out)
            }
            Event::Advanced { release, state, .. } => {
                let release = *release;
                self.states.insert(release.0, state.clone());
                out.push(Output::Persist(DiskRecord::State(state.clone())));
                out.push(Output::Event(attempt, event));
                let oldest = release.0.saturating_sub(1);
                self.states.retain(|released, _| *released >= oldest);
                self.kept.retain(|attempt, _| attempt.release.0 >= oldest);
                self.tell(regroup::Input::Averaged(release), now, out)
            }
            Event::Released { .. } => {
                out.push(Output::Event(attempt, event));
                Ok(())
            }
            Event::Finished => Ok(()),
        }
    }

    /// Sends a message of the peer of the view, or keeps it until its attempt is certified.
    fn pass_on(&mut self, targets: Targets, message: Message, out: &mut Vec<Output>) {
        let Some(inner) = &mut self.inner else {
            return;
        };
        let waits = matches!(message.body, Body::Average(_)) && inner.open != Some(message.release);
        if waits {
            inner.waiting.push((targets, message));
            return;
        }
        let to = inner.targets(&targets);
        let view = inner.view.number;
        let frame = Frame::Step { view, message };
        out.push(Output::Send { to, frame });
    }

    /// The attempt is certified: what was published may be averaged.
    pub(super) fn open(
        &mut self,
        certificate: &Certificate,
        now: Time,
        out: &mut Vec<Output>,
    ) -> Result<(), TolerantError> {
        self.send_key(certificate, out)?;
        let attempt = certificate.attempt();
        let Some(inner) = &mut self.inner else {
            return Ok(());
        };
        inner.open = Some(attempt.release);
        let waiting = std::mem::take(&mut inner.waiting);
        let early = std::mem::take(&mut inner.early);
        if inner.takes_published() {
            // Neighbours would send just what they have published: it is taken from there.
            let neighbours: Vec<PeerIndex> = inner.peer.neighbours().to_vec();
            for local in neighbours {
                self.feed(attempt, local, now, out)?;
            }
        } else {
            for (targets, message) in waiting {
                self.pass_on(targets, message, out);
            }
        }
        for (from, message) in early {
            self.run(Input::Message { from, message }, now, out)?;
        }
        Ok(())
    }
}
