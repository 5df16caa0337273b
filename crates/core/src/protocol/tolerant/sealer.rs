//! The part of a tolerant peer that seals, holds, opens and gives up shares: the rules of [`escrow`], and the seals themselves.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::Arc;

use zeroize::Zeroizing;

use super::secrets::SealSecrets;
use super::{Defect, DiskRecord, Output};
use crate::protocol::Values;
use crate::protocol::escrow::{
    self, Durable, Escrow, Expected, HIDDEN_SHARE_LEN, Membership, Refused, Seal, SealError,
    SealKey, Sealing, Share,
};
use crate::protocol::regroup::{Attempt, Certificate, Publication, RegroupSetup, Thresholds, View};
use crate::vocabulary::{PeerIndex, ReleaseId};

/// What is said of a sealed contribution beside it.
#[derive(Clone, Copy)]
pub(super) struct Terms {
    /// What its noise is scaled with.
    pub(super) scale: f64,
    /// A digest of the query that it answers.
    pub(super) query: [u8; 32],
}

/// A peer's own seals, those of its neighbours, and what it may do with them.
pub(super) struct Sealer {
    setup: RegroupSetup,
    thresholds: Thresholds,
    secrets: SealSecrets,
    escrow: Escrow,
    /// Neighbours' seals.
    seals: BTreeMap<(Attempt, PeerIndex), Seal>,
    /// Keys that their owners sent, not yet tried.
    keys: BTreeMap<(Attempt, PeerIndex), SealKey>,
    /// Shares that holders gave up in the present view, by whose contribution they are in.
    shares: BTreeMap<PeerIndex, BTreeMap<PeerIndex, Share>>,
    defect: Option<Defect>,
}

impl Sealer {
    /// The sealer of a peer, if contributions are sealed.
    pub(super) fn new(setup: &RegroupSetup, secrets: SealSecrets) -> Option<Self> {
        let Publication::Sealed(thresholds) = &setup.tolerance.publication else {
            return None;
        };
        let own = thresholds.of(setup.me)?;
        let (me, session, floor) = (setup.me, setup.session, setup.tolerance.floor);
        Some(Self {
            escrow: Escrow::new(me, session, own, floor),
            setup: setup.clone(),
            thresholds: thresholds.clone(),
            secrets,
            seals: BTreeMap::new(),
            keys: BTreeMap::new(),
            shares: BTreeMap::new(),
            defect: None,
        })
    }

    /// Puts back what was on the disk: what it had done, in order, and its neighbours' seals.
    pub(super) fn put_back(&mut self, records: Vec<escrow::Record>, seals: Vec<Seal>) {
        self.escrow.take_up(records);
        for seal in seals {
            self.seals.insert((seal.attempt(), seal.dealer()), seal);
        }
    }

    /// Has the defect of its peer, if there is one.
    pub(super) fn set_defect(&mut self, defect: Option<Defect>) {
        self.defect = defect;
        self.escrow.defect = defect.and_then(Defect::escrow);
    }

    /// Enters a view that was decided, if it has not yet.
    pub(super) fn enter(&mut self, view: &View, out: &mut Vec<Output>) -> Result<(), Refused> {
        self.shares.clear();
        let present = self.escrow.view().map(Membership::number);
        if present.is_some_and(|present| present >= view.number) {
            return Ok(());
        }
        let seen = Membership::of(view, &self.setup.links, self.setup.me);
        written(self.escrow.enter(seen)?, out);
        Ok(())
    }

    /// Seals the own contribution: what is sent.
    pub(super) fn seal(
        &mut self,
        attempt: Attempt,
        terms: Terms,
        values: &[u8],
        out: &mut Vec<Output>,
    ) -> Result<Seal, Refused> {
        let me = self.setup.me;
        let unlike = Refused::Holders { attempt };
        let threshold = self.thresholds.of(me).ok_or(unlike)?;
        let view = self.escrow.view().ok_or(Refused::NotNow { attempt })?;
        let mut holders = Vec::with_capacity(view.neighbours().len());
        for &holder in view.neighbours() {
            holders.push((holder, self.secrets.sending_to(holder).ok_or(unlike)?));
        }
        let sealing = Sealing {
            attempt,
            dealer: me,
            threshold,
            scale: terms.scale,
            query: terms.query,
            holders: &holders,
            values,
        };
        let step = self.escrow.seal(&self.secrets.root, &sealing)?;
        Ok(written(step, out))
    }

    /// Holds what a neighbour sealed in an attempt of this view; whether it is new.
    pub(super) fn hold(
        &mut self,
        (from, attempt): (PeerIndex, Attempt),
        (view, bytes): (&View, usize),
        (frame, share): (Arc<[u8]>, [u8; HIDDEN_SHARE_LEN]),
        out: &mut Vec<Output>,
    ) -> Result<bool, Refused> {
        let unlike = Refused::NoNeighbour { dealer: from };
        let threshold = self.thresholds.of(from).ok_or(unlike)?;
        let cuts = view.disruptions.cuts();
        let holders: Vec<PeerIndex> = self.setup.links.live(from, cuts, &view.members).collect();
        let expected = Expected {
            attempt,
            dealer: from,
            threshold,
            holders: &holders,
            bytes,
        };
        let seal = Seal::read(frame, &[(self.setup.me, share)], &expected)?;
        let key = self.secrets.coming_from(from).ok_or(unlike)?;
        let step = self.escrow.hold(&seal, key)?;
        if self.seals.contains_key(&(attempt, from)) {
            // The same bytes again.
            return Ok(false);
        }
        out.push(Output::Persist(DiskRecord::Seal(seal.clone())));
        written(step, out);
        self.seals.insert((attempt, from), seal);
        Ok(true)
    }

    /// Whether a neighbour's seal is held.
    pub(super) fn holds(&self, attempt: Attempt, dealer: PeerIndex) -> bool {
        self.seals.contains_key(&(attempt, dealer))
    }

    /// Makes durable that this peer says it holds all seals of an attempt.
    pub(super) fn attest(
        &mut self,
        attempt: Attempt,
        out: &mut Vec<Output>,
    ) -> Result<(), Refused> {
        let _ = written(self.escrow.attest(attempt)?, out);
        Ok(())
    }

    /// Takes a certificate, and makes durable that the own contribution is opened. Whatever tells of it may leave afterwards.
    pub(super) fn open(
        &mut self,
        certificate: &Certificate,
        out: &mut Vec<Output>,
    ) -> Result<SealKey, Refused> {
        let signatures = &self.setup.signatures;
        if !self.defect.is_some_and(Defect::opens_unchecked) {
            let step = self.escrow.certify(certificate, |by, bytes, signature| {
                signatures.verify(by, bytes, signature)
            })?;
            written(step, out);
        }
        let attempt = certificate.attempt();
        let step = self.escrow.open(attempt, &self.secrets.root)?;
        let mut nowhere = Vec::new();
        let out = match self.defect {
            Some(defect) if defect.forgets_openings() => &mut nowhere,
            _ => out,
        };
        let key = written(step, out);
        // Everybody is done with the releases before.
        written(self.escrow.close(attempt.release), out);
        self.forget(attempt.release);
        Ok(key)
    }

    /// The own contribution as it was sealed. It is never computed again: the same noise on another contribution would show the difference.
    pub(super) fn own(&self, attempt: Attempt, key: &SealKey) -> Result<Vec<u8>, SealError> {
        let seal = self.escrow.sealed(attempt).ok_or(SealError::Key)?;
        seal.open(key)
    }

    /// Makes durable that the own share in the contribution of a lost peer is given up, and gives it.
    pub(super) fn release(
        &mut self,
        dealer: PeerIndex,
        attempt: Attempt,
        out: &mut Vec<Output>,
    ) -> Result<Share, Refused> {
        let mut nowhere = Vec::new();
        let out = match self.defect {
            Some(defect) if defect.forgets_releases() => &mut nowhere,
            _ => out,
        };
        let share = written(self.escrow.release(dealer, attempt)?, out);
        let shares = self.shares.entry(dealer).or_default();
        shares.insert(self.setup.me, share.clone());
        Ok(share)
    }

    /// Keeps a share that another holder gave up; whether it is new.
    pub(super) fn take_share(
        &mut self,
        (attempt, dealer): (Attempt, PeerIndex),
        holder: PeerIndex,
        share: &Share,
    ) -> Result<bool, SealError> {
        if let Some(seal) = self.seals.get(&(attempt, dealer)) {
            let place = seal.holders().binary_search(&holder);
            let point = share.point();
            if place.map(|at| at + 1) != Ok(usize::from(point)) {
                return Err(SealError::NotAHolder { peer: holder });
            }
            seal.check_share(share)?;
        }
        let shares = self.shares.entry(dealer).or_default();
        let is_new = !shares.contains_key(&holder);
        shares.entry(holder).or_insert_with(|| share.clone());
        Ok(is_new)
    }

    /// Whether a holder's share is here.
    pub(super) fn has_share(&self, dealer: PeerIndex, holder: PeerIndex) -> bool {
        let shares = self.shares.get(&dealer);
        shares.is_some_and(|shares| shares.contains_key(&holder))
    }

    /// Keeps a key that its owner sent for a contribution that is held.
    pub(super) fn take_key(&mut self, attempt: Attempt, from: PeerIndex, key: SealKey) {
        if self.holds(attempt, from) {
            self.keys.entry((attempt, from)).or_insert(key);
        }
    }

    /// What a neighbour contributed, by its key or by enough shares of it; nothing if there are not enough.
    pub(super) fn recovered(
        &self,
        attempt: Attempt,
        dealer: PeerIndex,
    ) -> Option<Result<Vec<u8>, SealError>> {
        let seal = self.seals.get(&(attempt, dealer))?;
        if let Some(values) = self.opened(attempt, dealer)
            && values.is_ok()
        {
            return Some(values);
        }
        let shares = self.shares.get(&dealer)?;
        if shares.len() < seal.threshold().shares() {
            return None;
        }
        let shares: Vec<Share> = shares.values().cloned().collect();
        Some(seal.recover(&shares).map(|(_, values)| values))
    }

    /// What a neighbour contributed, by the key that it sent; nothing if it has sent none.
    pub(super) fn opened(
        &self,
        attempt: Attempt,
        dealer: PeerIndex,
    ) -> Option<Result<Vec<u8>, SealError>> {
        let seal = self.seals.get(&(attempt, dealer))?;
        let key = self.keys.get(&(attempt, dealer))?;
        Some(seal.open(key))
    }

    fn forget(&mut self, oldest: ReleaseId) {
        self.seals.retain(|(at, _), _| at.release >= oldest);
        self.keys.retain(|(at, _), _| at.release >= oldest);
    }
}

/// Writes the record of a step, and takes what it gives.
fn written<A>(step: Durable<'_, A>, out: &mut Vec<Output>) -> A {
    let write = |record: &escrow::Record| {
        out.push(Output::Persist(DiskRecord::Escrow(record.clone())));
        Ok::<(), Infallible>(())
    };
    let Ok(given) = step.persist(write);
    given
}

/// Values as they travel.
pub(super) fn packed(values: Values, numbers: &[f64]) -> Zeroizing<Vec<u8>> {
    let mut bytes = Zeroizing::new(Vec::with_capacity(values.bytes() * numbers.len()));
    for number in numbers {
        match values {
            Values::F32 => bytes.extend_from_slice(&(*number as f32).to_le_bytes()),
            _ => bytes.extend_from_slice(&number.to_le_bytes()),
        }
    }
    bytes
}

/// The same back.
pub(super) fn unpacked(values: Values, bytes: &[u8]) -> Vec<f64> {
    match values {
        Values::F32 => {
            let (numbers, _) = bytes.as_chunks::<4>();
            let numbers = numbers.iter();
            numbers
                .map(|four| f64::from(f32::from_le_bytes(*four)))
                .collect()
        }
        _ => {
            let (numbers, _) = bytes.as_chunks::<8>();
            numbers
                .iter()
                .map(|eight| f64::from_le_bytes(*eight))
                .collect()
        }
    }
}
