//! The peer of a view inside a tolerant one: which of its messages leave, and which wait for a certificate.

use std::sync::Arc;

use super::{DiskRecord, Frame, Output, TolerantError, TolerantPeer};
use crate::protocol::averaging::Part;
use crate::protocol::message::{Body, Message, Summand};
use crate::protocol::outbox::{CollectingOutbox, Event, Targets};
use crate::protocol::peer::{Input, Peer};
use crate::protocol::regroup::{self, Attempt, View};
use crate::vocabulary::{PeerIndex, ReleaseId, Round, Time};

/// A peer of the session of a view.
pub(super) struct Inner {
    pub(super) peer: Peer,
    pub(super) view: Arc<View>,
    members: Arc<[PeerIndex]>,
    pub(super) attempt: Attempt,
    /// The release whose certificate is here.
    open: Option<ReleaseId>,
    /// Messages of an averaging that waits for its certificate.
    waiting: Vec<(Targets, Message)>,
}

impl Inner {
    pub(super) fn new(
        peer: Peer,
        view: Arc<View>,
        members: Arc<[PeerIndex]>,
        (attempt, is_open): (Attempt, bool),
    ) -> Self {
        Self {
            peer,
            view,
            members,
            attempt,
            open: is_open.then_some(attempt.release),
            waiting: Vec::new(),
        }
    }

    /// A member's number in the session of the view.
    pub(super) fn local(&self, member: PeerIndex) -> Option<PeerIndex> {
        let place = self.members.binary_search(&member).ok()?;
        Some(PeerIndex::from_index(place))
    }

    /// Who these neighbours are in the whole session.
    fn targets(&self, targets: &Targets) -> Vec<PeerIndex> {
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
                    view: inner.view.number,
                };
                let agreed = inner.peer.agreement();
                let to = inner.targets(&Targets::All);
                let me = self.setup.me;
                let kept = self.kept.entry(attempt).or_default();
                kept.agreed = agreed;
                kept.inputs.insert(me, input.clone());
                out.push(Output::Event(attempt, event.clone()));
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
        attempt: Attempt,
        now: Time,
        out: &mut Vec<Output>,
    ) -> Result<(), TolerantError> {
        let Some(inner) = &mut self.inner else {
            return Ok(());
        };
        inner.open = Some(attempt.release);
        let waiting = std::mem::take(&mut inner.waiting);
        let is_recurrence = matches!(inner.peer.part_of_program(), Part::Recurrence { .. });
        if !is_recurrence {
            for (targets, message) in waiting {
                self.pass_on(targets, message, out);
            }
            return Ok(());
        }
        // Neighbours would send just what they have published: it is taken from there.
        let session = inner.peer.session();
        let neighbours: Vec<PeerIndex> = inner.peer.neighbours().to_vec();
        for local in neighbours {
            let Some(inner) = &self.inner else {
                return Ok(());
            };
            let from = inner.members[local.index()];
            let kept = self.kept.get(&attempt);
            let Some(input) = kept.and_then(|kept| kept.inputs.get(&from)) else {
                continue;
            };
            let message = Message {
                session,
                release: attempt.release,
                round: Round(0),
                body: Summand::body(input),
            };
            let from = local;
            self.run(Input::Message { from, message }, now, out)?;
        }
        Ok(())
    }
}
