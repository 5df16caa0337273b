//! A member until the session begins: statements, the plan, the policy once more, keys.

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use super::conductor::{Conductor, Stage, name};
use super::error::MemberError;
use super::resume::keep_list;
use super::setup::{Planned, Progress};
use crate::engine::{Session, graphs_digest};
use crate::node::deployed::{Gate, GateError, PeerRun};
use crate::node::network::span;
use crate::node::store::{Digest, Record, Square};
use crate::session::{
    Assembled, AssemblyError, Input, LedgerProof, Output, PairEnd, SECTIONS, Sections,
};
use crate::vocabulary::{PeerIndex, ReleaseId};

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
                        self.ready.files.write("evidence-first.bin", first)?;
                        self.ready.files.write("evidence-second.bin", second)?;
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

    /// Whether this plan is within the policy and what was set aside; then what others are told of it.
    pub(super) fn consider(&mut self, planned: Planned) -> Result<Sections, String> {
        let refused = |error: MemberError| error.to_string();
        let policy = self.setup.policy.check(&planned.offer);
        policy.map_err(|error| refused(error.into()))?;
        let found: f64 = planned.charges.iter().map(|charge| charge.0.get()).sum();
        let reserved = self.ready.reserved;
        // The charges are parts of one sum: their own may differ in the last bits.
        if found.is_nan() || found > reserved * (1.0 + 1e-9) {
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
        #[cfg(test)]
        let noise = super::tests::injected(session, index, noise);
        let limit = self.setup.invitation.session.step_limit_seconds;
        let grace = self.setup.invitation.session.grace_seconds;
        // A connection that may come back is waited for first.
        let patience = span(Duration::from_secs(limit + grace));
        let rows = self.setup.rows.take().map_err(MemberError::Plan)?;
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
        let (ledger, session) = (Arc::clone(&self.ready.ledger), self.session);
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
}

/// What all members must agree on, hashed.
pub(super) fn sections(session: &Session, roster: [u8; 32]) -> Sections {
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
