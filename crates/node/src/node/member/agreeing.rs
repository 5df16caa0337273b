//! A member until the session begins: statements, the plan, the policy once more, keys.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::conductor::{Conductor, Stage, name};
use super::dispute::keep_evidence;
use super::error::MemberError;
use super::resume::keep_list;
use super::setup::{Planned, Progress};
use crate::node::deployed::PeerRun;
use crate::node::network::span;
use crate::session::{Assembled, AssemblyError, Input, LedgerProof, Output, Sections};

impl Conductor<'_> {
    /// Feeds the agreement and does what it asks for.
    pub(super) fn tell(&mut self, input: Input) -> Result<(), MemberError> {
        let mut out = Vec::new();
        self.assembly.handle(input, self.now(), &mut out);
        for output in out {
            match output {
                Output::Broadcast(bytes) => self.host.broadcast(bytes)?,
                Output::Relay { by, bytes } => self.relay(by, bytes)?,
                Output::Listed(listed) => keep_list(&mut self.ready.journal, &listed)?,
                Output::Widen => self.host.widen(),
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
                        keep_evidence(&self.ready.files, [first, second])?;
                    }
                    return Err(MemberError::Assembly(error));
                }
            }
        }
        Ok(())
    }

    /// What members have to do now and who has not, for `node status`.
    pub(super) fn report_step(&self) {
        if matches!(self.stage, Stage::Assembling) {
            let (step, missing) = self.assembly.awaited();
            self.status.agreeing(step, missing);
        }
    }

    /// Those of this list are no strangers any more.
    fn note_begun(&self, assembled: &Assembled) {
        let members = assembled.roster.iter().map(|seat| seat.id);
        if let Ok(mut book) = self.setup.state.view().address_book()
            && let Err(error) = book.note_begun(members)
        {
            tracing::warn!(%error, "the address book was not written");
        }
    }

    /// Has the plan made on a thread of its own: it takes seconds.
    pub(super) fn plan(&mut self, assembled: Assembled) {
        let planner = Arc::clone(&self.setup.planner);
        self.planning = Some(tokio::task::spawn_blocking(move || {
            planner.plan(&assembled)
        }));
        let own = self.identity.id();
        let proofs = self.assembly.signed_joins().filter_map(LedgerProof::of);
        let proofs = proofs.filter(|proof| proof.about() != own).map(|proof| {
            let name = name(&self.names, &proof.about());
            (name.parse().unwrap_or_default(), proof)
        });
        // A member whose memory of others cannot be written remembers less; its own promise does not depend on it.
        if let Ok(mut book) = self.setup.state.view().address_book()
            && let Err(error) = book.remember(proofs)
        {
            tracing::warn!(%error, "the address book was not written");
        }
    }

    /// Whether this plan is one to be ready for; then what others are told of it.
    pub(super) fn consider(&mut self, planned: Planned) -> Result<Sections, String> {
        let roster = self.assembly.roster_hash();
        let considered = self.ready.consider(&planned, &self.setup.policy, roster);
        let sections = considered.map_err(|error| error.to_string())?;
        self.planned = Some(planned);
        Ok(sections)
    }

    /// All are ready: derives the keys and starts the peer.
    pub(super) fn begin(&mut self, assembled: &Assembled) -> Result<(), MemberError> {
        // A plan that is still being made is for a shorter list than the one that all are ready for.
        self.planning = None;
        self.note_begun(assembled);
        let Some(planned) = &self.planned else {
            return Ok(());
        };
        if let Some(tolerant) = planned.tolerant.clone() {
            return self.begin_tolerant(assembled, &tolerant);
        }
        let session = &planned.session;
        self.roster = assembled.roster.iter().map(|seat| seat.id).collect();
        let Some(index) = self.own_index() else {
            return Err(MemberError::Assembly(Box::new(AssemblyError::Excluded)));
        };
        let noise = self.ready.peer_noise(session, index, assembled)?;
        let noise = match &self.defect {
            None => noise,
            Some(defect) => defect.noise(None, index, noise),
        };
        let limit = self.setup.invitation.session.step_limit_seconds;
        let grace = self.setup.invitation.session.grace_seconds;
        // A connection that may come back is waited for first.
        let patience = span(Duration::from_secs(limit + grace));
        let rows = self.setup.rows.take().map_err(MemberError::Plan)?;
        let peer = session.peer_setup(index, rows, noise, Some(patience));
        let neighbours = peer.neighbours.iter();
        let neighbours = neighbours.map(|&peer| (peer, self.roster[peer.index()]));
        let neighbours = neighbours.collect();
        let plan = session.plan().session().to_string();
        let told = self.gate.take();
        let gate = self.ready.gate(self.session, &planned.charges, told);
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
}
