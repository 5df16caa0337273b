//! A member of a session that tolerates losses, while its peer runs: what it begins with, also when it starts again, and what becomes of those who are gone.

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use super::agreed;
use super::conductor::{Conductor, Stage, name};
use super::dispute;
use super::error::MemberError;
use super::preparation::TolerantStart;
use super::resume::Resumed;
use super::setup::{Attempts, Planned, Progress, Released, Taken, Tolerant};
use super::verdict::named;
use crate::node::deployed::{SignedLife, Told, TolerantRun};
use crate::node::network::span;
use crate::protocol::Event;
use crate::protocol::regroup::{Attempt, End, Resume, View, ViewNumber};
use crate::session::{Assembled, AssemblyError, PublicId};
use crate::vocabulary::PeerIndex;

/// How long members that are agreeing on what has gone wrong wait for one another, beyond the time in which a connection may come back.
const PATIENCE: Duration = Duration::from_secs(30);

impl Conductor<'_> {
    /// All are ready: keeps what was agreed on, and begins.
    pub(super) fn begin_tolerant(
        &mut self,
        assembled: &Assembled,
        tolerant: &Tolerant,
    ) -> Result<(), MemberError> {
        let joins: Vec<_> = self.assembly.signed_joins().collect();
        agreed::keep(&self.ready.files, assembled, &joins)?;
        self.run_tolerant(assembled, tolerant, 0)
    }

    /// The plan is here again, of a session that this member had begun before it was interrupted.
    pub(super) fn take_up(
        &mut self,
        resumed: &Resumed,
        planned: Result<Planned, String>,
    ) -> Result<(), MemberError> {
        let planned = planned.map_err(MemberError::Plan)?;
        if *planned.session.plan().digest() != resumed.plan.0 {
            return Err(MemberError::OtherBuild);
        }
        let tolerant = planned.tolerant.clone();
        let tolerant = tolerant.ok_or(MemberError::JournalLost)?;
        self.planned = Some(planned);
        self.run_tolerant(&resumed.assembled, &tolerant, resumed.lives)
    }

    /// Begins life number `lives` of this member's peer.
    fn run_tolerant(
        &mut self,
        assembled: &Assembled,
        tolerant: &Tolerant,
        lives: u32,
    ) -> Result<(), MemberError> {
        let Some(planned) = &self.planned else {
            return Ok(());
        };
        self.roster = assembled.roster.iter().map(|seat| seat.id).collect();
        let Some(me) = self.own_index() else {
            return Err(MemberError::Assembly(Box::new(AssemblyError::Excluded)));
        };
        let session = planned.session.plan().session();
        let table = &self.setup.invitation.session;
        let grace = Duration::from_secs(table.grace_seconds);
        let step_limit = Duration::from_secs(table.step_limit_seconds);
        let start = TolerantStart {
            setup: &mut self.setup,
            identity: &self.identity,
            ready: &mut self.ready,
            planned,
            tolerant,
            assembled,
            me,
            lives,
            patience: span(grace + step_limit.min(PATIENCE)),
            told: self.gate.take(),
            defect: self.defect.clone(),
        };
        let parts = start.make()?;
        let neighbours = parts.setup.links.neighbours(me).iter();
        let neighbours: Vec<(PeerIndex, PublicId)> = neighbours
            .map(|(peer, _)| (*peer, self.roster[peer.index()]))
            .collect();
        (self.releases, self.basis) = (parts.releases, parts.basis);
        self.attempts = Arc::clone(&parts.keeper.attempts);
        (self.progress)(Progress::Agreed {
            members: self.roster.iter().map(|id| name(&self.names, id)).collect(),
            own: me.index(),
            plan: session.to_string(),
        });
        self.stage = Stage::Running;
        self.last = Instant::now();
        // Whoever was never there has no connection that could break.
        self.expected = Some((
            self.host.awake() + grace,
            neighbours.iter().map(|(_, id)| *id).collect(),
        ));
        self.host.begin_tolerant(TolerantRun {
            peer: parts.peer,
            format: parts.format,
            session,
            neighbours,
            me: self.identity.id(),
            life: SignedLife::sign(&self.identity, session, parts.life),
            step_limit,
            keeper: Box::new(parts.keeper),
        })?;
        Ok(())
    }

    /// Neighbours that have not come within the grace are given up.
    pub(super) fn give_up_the_absent(&mut self) {
        let Some((_, neighbours)) = self.expected.take() else {
            return;
        };
        for id in neighbours {
            if !self.seen.contains(&id) {
                self.host.give_up(&id);
            }
        }
    }

    /// What a tolerant peer tells.
    pub(super) fn told(&mut self, told: Told) -> Result<(), MemberError> {
        match told {
            Told::Event(attempt, event) => self.tolerant_event(attempt, event)?,
            Told::WentOn { view, resume } => self.went_on(&view, &resume),
            Told::GaveUp(id) => {
                let member = name(&self.names, &id);
                (self.progress)(Progress::GaveUp { member });
            }
            Told::Fault { culprit, what } => {
                let member = named(&self.names, &culprit);
                match what.names_nobody() {
                    true => tracing::warn!(%member, %what, "the link to a member is cut"),
                    false => {
                        tracing::warn!(%member, %what, "a member deviates; the link to it is cut")
                    }
                }
            }
            Told::Deviates(evidence) => {
                let culprit = self.roster.get(evidence.culprit().index()).copied();
                let member = culprit
                    .map(|id| named(&self.names, &id))
                    .unwrap_or_default();
                tracing::warn!(%member, "a member has signed two statements that contradict each other");
                if let Some(planned) = &self.planned {
                    let session = planned.session.plan().session();
                    dispute::keep_contradiction(&self.ready.files, &evidence.files(session));
                }
            }
            Told::Ended(End::Finished) => self.finish()?,
            Told::Ended(end) => return Err(MemberError::of_end(end)),
        }
        Ok(())
    }

    fn tolerant_event(&mut self, attempt: Attempt, event: Event) -> Result<(), MemberError> {
        match &event {
            // A sum may be formed again, without those who were lost meanwhile to form it.
            Event::Released { release, terms, .. } => {
                self.releases.retain(|known| known.release != *release);
                self.releases.push(Released {
                    release: *release,
                    statistic: terms.statistic,
                    sensitivity: terms.sensitivity,
                });
                Ok(())
            }
            Event::Advanced { release, .. } => {
                if let Some(view) = self.views.last() {
                    let taken = Taken {
                        attempt,
                        view: Arc::clone(view),
                        heirs: self.heirs.clone(),
                    };
                    self.taken.insert(*release, taken);
                }
                self.peer(event)
            }
            Event::Published { .. } | Event::Finished => Ok(()),
        }
    }

    /// The peer goes on, in this view.
    fn went_on(&mut self, view: &Arc<View>, resume: &Resume) {
        let before = self.views.last().map(|before| before.number);
        let is_new = before != Some(view.number);
        self.heirs = match resume {
            Resume::Average { heirs, .. } => heirs.clone(),
            _ => Vec::new(),
        };
        if is_new {
            self.views.push(Arc::clone(view));
        }
        if is_new && view.number != ViewNumber(0) {
            let (release, is_again) = match resume {
                Resume::Average { attempt, .. } => (Some(attempt.release), true),
                Resume::Begin { attempt, .. } => (Some(attempt.release), false),
                Resume::Finished | Resume::Lost { .. } => (None, false),
            };
            let members = self.roster.iter().enumerate();
            let without =
                members.filter(|(u, _)| !view.members.contains(PeerIndex::from_index(*u)));
            (self.progress)(Progress::WentOn {
                members: view.members.len(),
                without: without.map(|(_, id)| name(&self.names, id)).collect(),
                release,
                is_again,
            });
        }
    }

    /// Who took part in which attempts, for the receipt.
    pub(super) fn attempts(&self) -> Attempts {
        let attempts = self.attempts.lock().unwrap_or_else(PoisonError::into_inner);
        attempts.clone()
    }
}
