//! The parts of a session that begins at a member, whatever carries its bytes: its plan is agreed on, its noise drawn, its peer made, its releases charged.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::mpsc;

use super::compacting::Compacting;
use super::defect::Defect;
use super::error::{Charged, MemberError};
use super::keeping::{self, MemberKeeper, Published};
use super::resume::Ready;
use super::setup::{MemberSetup, Planned, Released, Tolerant};
use super::views::MemberViews;
use crate::algorithm::PublicState;
use crate::engine::PublicSession;
use crate::linalg::Block;
use crate::node::GateError;
use crate::node::deployed::{Gate, Life};
use crate::node::store::{Digest, Policy, Record, SessionEnd, Square};
use crate::noise::PeerNoise;
use crate::plan::graphs_digest;
use crate::protocol::regroup::{Publication, RegroupSetup};
use crate::protocol::tolerant::{Format, TolerantPeer, Views};
use crate::session::{
    Assembled, Ephemeral, Identity, Join, MemberKeys, MemberSigner, OwnNoise, PairEnd, SECTIONS,
    Seat, Sections, SessionHash, drawn,
};
use crate::vocabulary::{PeerIndex, ReleaseId, Span};

impl Ready {
    /// Whether this plan is within the policy and what was set aside; then what others are told of it, with the hash of the list that it is for.
    pub(super) fn consider(
        &mut self,
        planned: &Planned,
        policy: &Policy,
        roster: [u8; 32],
    ) -> Result<Sections, MemberError> {
        policy.check(&planned.offer)?;
        let found: f64 = planned.charges.iter().map(|charge| charge.0.get()).sum();
        let reserved = self.reserved;
        // The charges are parts of one sum: their own may differ in the last bits.
        if found.is_nan() || found > reserved * (1.0 + 1e-9) {
            return Err(MemberError::Dearer { found, reserved });
        }
        self.journal.append(Record::Agreed {
            plan: Digest(*planned.session.plan().digest()),
        })?;
        Ok(sections(&planned.session, roster))
    }

    /// The noise of a peer: its own, and what it shares with others.
    pub(super) fn peer_noise(
        &self,
        session: &PublicSession,
        index: PeerIndex,
        assembled: &Assembled,
    ) -> Result<PeerNoise, MemberError> {
        let ends = pair_ends(assembled);
        let plan = session.plan();
        let partners = session.noise_graph().neighbours(index.index()).iter();
        let partners: Result<Vec<_>, MemberError> = partners
            .map(|&partner| {
                let (mine, other) = (ends[index.index()], ends[partner as usize]);
                let key = self.ephemeral.shared(plan.digest(), mine, other)?;
                Ok((PeerIndex(partner), key))
            })
            .collect();
        Ok(self.noise.peer_noise(plan, index, partners?))
    }

    /// Charges a release before anything of it leaves.
    pub(super) fn gate(
        &self,
        session: SessionHash,
        charges: &[Square],
        told: Option<mpsc::Sender<ReleaseId>>,
    ) -> Gate {
        let (ledger, charges) = (Arc::clone(&self.ledger), charges.to_vec());
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

    /// What this session has charged so far.
    pub(super) fn charged(&self, session: SessionHash) -> Charged {
        let ledger = self.ledger.lock().unwrap_or_else(PoisonError::into_inner);
        Charged::of(ledger.view().session(session.0))
    }

    /// Ledger first, then journal, then the secrets are erased.
    pub(super) fn end(&mut self, session: SessionHash, end: SessionEnd) -> Result<(), MemberError> {
        let mut ledger = self.ledger.lock().unwrap_or_else(PoisonError::into_inner);
        ledger.finish(session.0, end)?;
        drop(ledger);
        let record = Record::End { outcome: end };
        if self.journal.records().last() != Some(&record) {
            self.journal.append(record)?;
        }
        self.files.erase_secrets()?;
        Ok(())
    }
}

/// What all members must agree on, hashed.
fn sections(session: &PublicSession, roster: [u8; 32]) -> Sections {
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
        session.schedule().digest(),
        *noise.finalize().as_bytes(),
        *plan.digest(),
    ];
    Sections(hashes)
}

/// The ends of all pairs, in the order of peers.
fn pair_ends(assembled: &Assembled) -> Vec<PairEnd> {
    let ends = assembled.roster.iter().zip(&assembled.joins);
    let end = |(seat, join): (&Seat, &Join)| PairEnd {
        id: seat.id,
        ephemeral: join.ephemeral,
    };
    ends.map(end).collect()
}

/// What a peer that tolerates losses is made from.
pub(super) struct TolerantStart<'a> {
    pub(super) setup: &'a mut MemberSetup,
    pub(super) identity: &'a Arc<Identity>,
    pub(super) ready: &'a mut Ready,
    pub(super) planned: &'a Planned,
    pub(super) tolerant: &'a Tolerant,
    pub(super) assembled: &'a Assembled,
    pub(super) me: PeerIndex,
    /// Which life of the member it is.
    pub(super) lives: u32,
    /// How long it waits for others to say the same.
    pub(super) patience: Span,
    /// Where an operator is told of charges.
    pub(super) told: Option<mpsc::Sender<ReleaseId>>,
    pub(super) defect: Option<Defect>,
}

/// A peer that tolerates losses, and what goes with it.
pub(super) struct TolerantParts {
    pub(super) peer: TolerantPeer,
    pub(super) setup: RegroupSetup,
    pub(super) format: Format,
    pub(super) life: Life,
    pub(super) keeper: MemberKeeper,
    /// How far the member had come.
    pub(super) releases: Vec<Released>,
    pub(super) basis: Option<Arc<Block>>,
}

impl TolerantStart<'_> {
    /// Makes the peer from the plan and from what is on the disk, and notes that its life has begun.
    pub(super) fn make(self) -> Result<TolerantParts, MemberError> {
        let Self {
            ready,
            planned,
            tolerant,
            me,
            lives,
            ..
        } = self;
        let hash = self.setup.invitation.hash();
        let session = &planned.session;
        let links = tolerant.views.session().links();
        let links = links.map_err(|error| MemberError::Plan(error.to_string()))?;
        let members = self.assembled.roster.iter().map(|seat| seat.id);
        let keys = MemberKeys::new(hash, members);
        let setup = RegroupSetup {
            me,
            session: session.plan().session(),
            signatures: Arc::new(MemberSigner::new(Arc::clone(self.identity), keys)),
            links: Arc::new(links),
            tolerance: Arc::clone(&tolerant.tolerance),
            last: ReleaseId(session.plan().releases().len() as u32),
            patience: self.patience,
        };
        let views = MemberViews {
            public: Arc::clone(&tolerant.views),
            rows: self.setup.rows.take().map_err(MemberError::Plan)?,
            noise: OwnNoise::from_kept(&ready.noise.root()),
            ephemeral: Ephemeral::from_kept(&ready.ephemeral.secret()),
            ends: pair_ends(self.assembled),
            defect: self.defect.clone(),
        };
        let secrets = match tolerant.tolerance.publication {
            Publication::Open => None,
            Publication::Sealed(_) => Some(views.seal_secrets(me)?),
        };
        let format = Format::new(&setup, session.plan());
        tracing::debug!(lives, "reading what the peer kept");
        let (log, kept) = ready.files.recovery()?;
        tracing::debug!(records = kept.len(), "the peer takes up from these");
        let (disk, attempts) = keeping::found(&kept, &format)?;
        let (releases, basis) = keeping::come_so_far(&disk, me, session.plan());
        let start = PublicState::new(Arc::clone(session.start()));
        let views: Arc<dyn Views> = Arc::new(views);
        let peer = match lives {
            0 => TolerantPeer::new(setup.clone(), secrets, views, start),
            _ => TolerantPeer::recovered(setup.clone(), secrets, views, start, &disk),
        };
        let peer = peer.map_err(|error| MemberError::Host(error.into()))?;
        let restarts = peer.regroup().known().restarts()[me.index()];
        let life = Life::new(lives, restarts, drawn()?);
        ready.journal.append(Record::Begun {
            life: life.number(),
        })?;
        let is_open = tolerant.tolerance.is_open();
        let keeper = MemberKeeper {
            ledger: Arc::clone(&ready.ledger),
            session: hash,
            charges: planned.charges.clone(),
            log: Compacting::new(log, format.clone(), me, self.defect),
            told: self.told,
            least: self.setup.policy.min_peers(),
            attempts: Arc::new(Mutex::new(attempts)),
            noted: Vec::new(),
            format: format.clone(),
            published: is_open.then(|| Published::found(&disk)),
        };
        Ok(TolerantParts {
            peer,
            setup,
            format,
            life,
            keeper,
            releases,
            basis,
        })
    }
}
