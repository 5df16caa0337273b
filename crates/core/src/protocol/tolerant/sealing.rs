//! Sealed publication: what a tolerant peer does from sealing its contribution to averaging, and for those that are lost in between.

use std::sync::Arc;

use super::frame::SignedShare;
use super::sealer::{Sealer, Terms, packed, unpacked};
use super::{Defect, DiskRecord, Frame, Output, TolerantError, TolerantPeer};
use crate::protocol::averaging::Part;
use crate::protocol::escrow::{HIDDEN_SHARE_LEN, Refused, SealError, SealKey};
use crate::protocol::fault::{Fault, FaultKind};
use crate::protocol::message::{Message, Summand};
use crate::protocol::outbox::Targets;
use crate::protocol::peer::Input;
use crate::protocol::regroup::{self, Attempt, Certificate, Heir, ViewNumber};
use crate::vocabulary::{PeerIndex, Round, Time};

impl TolerantPeer {
    /// Seals what the peer of the view contributes, and sends it once that is on the disk, and the charge for it in the ledger.
    pub(super) fn seal(
        &mut self,
        attempt: Attempt,
        input: &Summand,
        now: Time,
        out: &mut Vec<Output>,
    ) -> Result<(), TolerantError> {
        let (Some(inner), Some(sealer)) = (&self.inner, &mut self.sealer) else {
            return Ok(());
        };
        let Some(numbers) = input.reals() else {
            return Ok(());
        };
        let (scale, query) = inner.peer.answering();
        let query = match inner.ends_equal {
            true => query,
            // Averages of neighbours differ in their last digits, and so do their queries.
            false => [0; 32],
        };
        let agreed = inner.peer.agreement();
        let to = inner.targets(&Targets::All);
        let is_late = self.defect.is_some_and(Defect::charges_late);
        if !is_late {
            out.push(Output::Charge(attempt));
        }
        out.push(Output::Persist(DiskRecord::Agreed { attempt, agreed }));
        let values = packed(inner.peer.values(), numbers);
        let seal = sealer.seal(attempt, Terms { scale, query }, &values, out)?;
        let kept = self.kept.entry(attempt).or_default();
        kept.agreed = agreed;
        kept.inputs.insert(self.setup.me, input.clone());
        self.tell(regroup::Input::Sending(attempt), now, out)?;
        for holder in to {
            // All who are sent it hold it: both are the live neighbours in the view.
            let Some(share) = seal.hidden_for(holder).copied() else {
                continue;
            };
            let frame = Frame::Sealed {
                attempt,
                frame: Arc::clone(seal.frame()),
                share,
            };
            let to = vec![holder];
            out.push(Output::Send { to, frame });
        }
        if is_late {
            out.push(Output::Charge(attempt));
        }
        self.hold(attempt, now, out)
    }

    /// Holds what a neighbour sealed, if it is for the release that this peer is in or the next one.
    pub(super) fn take_seal(
        &mut self,
        from: PeerIndex,
        attempt: Attempt,
        (frame, share): (Arc<[u8]>, [u8; HIDDEN_SHARE_LEN]),
        out: &mut Vec<Output>,
    ) -> Result<(), TolerantError> {
        let is_running = self.is_running();
        let (Some(inner), Some(sealer)) = (&self.inner, &mut self.sealer) else {
            return Ok(());
        };
        let here = inner.attempt.release;
        let is_near = attempt.release == here || attempt.release == here.next();
        let is_here = attempt.view == self.regroup.view().number && inner.local(from).is_some();
        if !is_running || !is_near || !is_here || attempt.retry != self.regroup.retries() {
            return Ok(());
        }
        let culprit = from;
        let Some(bytes) = inner.peer.bytes_of(attempt.release) else {
            let (release, round) = (attempt.release, Round(0));
            let kind = FaultKind::NoSuchStep { release, round };
            out.push(Output::Fault(Fault { culprit, kind }));
            return Ok(());
        };
        match sealer.hold((from, attempt), (&inner.view, bytes), (frame, share), out) {
            Ok(_) => Ok(()),
            Err(refused) => blamed(culprit, refused, out),
        }
    }

    /// Makes durable that this peer says it holds all seals of an attempt; whether it may say so.
    pub(super) fn attest(
        &mut self,
        attempt: Attempt,
        out: &mut Vec<Output>,
    ) -> Result<bool, TolerantError> {
        let Some(sealer) = &mut self.sealer else {
            return Ok(true);
        };
        match sealer.attest(attempt, out) {
            Ok(()) => Ok(true),
            Err(Refused::Disagree { dealer, .. }) => {
                let kind = FaultKind::Unlike(Refused::Disagree { dealer, attempt });
                let culprit = dealer;
                out.push(Output::Fault(Fault { culprit, kind }));
                Ok(false)
            }
            Err(refused) => Err(refused.into()),
        }
    }

    /// Opens the own contribution, whose certificate is here, and sends its key.
    pub(super) fn send_key(
        &mut self,
        certificate: &Certificate,
        out: &mut Vec<Output>,
    ) -> Result<(), TolerantError> {
        let (Some(inner), Some(sealer)) = (&self.inner, &mut self.sealer) else {
            return Ok(());
        };
        let key = sealer.open(certificate, out)?;
        let attempt = certificate.attempt();
        let to = inner.targets(&Targets::All);
        let frame = Frame::Key { attempt, key };
        out.push(Output::Send { to, frame });
        Ok(())
    }

    /// Takes a neighbour's key for its own contribution.
    pub(super) fn take_key(
        &mut self,
        from: PeerIndex,
        attempt: Attempt,
        key: SealKey,
        now: Time,
        out: &mut Vec<Output>,
    ) -> Result<(), TolerantError> {
        let Some(sealer) = self.sealer.as_mut() else {
            return Ok(());
        };
        if self.regroup.is_cut(from) {
            return Ok(());
        }
        sealer.take_key(attempt, from, key);
        let is_running = self.is_running();
        let inner = self.inner.as_ref().filter(|_| is_running);
        let due = inner.filter(|inner| inner.attempt == attempt && inner.takes_published());
        match due.and_then(|inner| inner.local(from)) {
            Some(local) => self.feed(attempt, local, now, out),
            None => Ok(()),
        }
    }

    /// Hands what a neighbour published to the peer of the view, as the first message of its averaging, if it is readable by now.
    pub(super) fn feed(
        &mut self,
        attempt: Attempt,
        local: PeerIndex,
        now: Time,
        out: &mut Vec<Output>,
    ) -> Result<(), TolerantError> {
        let Some(inner) = &self.inner else {
            return Ok(());
        };
        let from = inner.members[local.index()];
        if inner.fed.contains(&local) || self.is_ended() {
            return Ok(());
        }
        let session = inner.peer.session();
        let input = match self.readable(attempt, from, Sealer::opened) {
            None => return Ok(()),
            Some(Ok(input)) => input,
            Some(Err(kind)) => {
                let culprit = from;
                out.push(Output::Fault(Fault { culprit, kind }));
                return Ok(());
            }
        };
        if let Some(inner) = &mut self.inner {
            inner.fed.insert(local);
        }
        let message = Message {
            session,
            release: attempt.release,
            round: Round(0),
            body: input.body(),
        };
        let from = local;
        self.run(Input::Message { from, message }, now, out)
    }

    /// What somebody published in an attempt, if this peer can read it; how a sealed contribution is opened says `open`.
    pub(super) fn readable(
        &self,
        attempt: Attempt,
        of: PeerIndex,
        open: impl Fn(&Sealer, Attempt, PeerIndex) -> Option<Result<Vec<u8>, SealError>>,
    ) -> Option<Result<Summand, FaultKind>> {
        let known = self
            .kept
            .get(&attempt)
            .and_then(|kept| kept.inputs.get(&of));
        if let Some(input) = known {
            return Some(Ok(input.clone()));
        }
        let (inner, sealer) = (self.inner.as_ref()?, self.sealer.as_ref()?);
        let bytes = match open(sealer, attempt, of)? {
            Ok(bytes) => bytes,
            Err(error) => return Some(Err(FaultKind::Sealed(error.into()))),
        };
        let numbers = unpacked(inner.peer.values(), &bytes);
        let input = Summand::Reals(Arc::new(numbers));
        let checked = inner.peer.check_published(attempt.release, &input);
        Some(checked.map(|()| input))
    }

    /// Opens the own contribution to an attempt that is averaged again, whether or not it had been opened, and gives up the shares in those of
    /// peers that are lost.
    pub(super) fn reopen(
        &mut self,
        attempt: Attempt,
        (view, heirs): (ViewNumber, &[Heir]),
        out: &mut Vec<Output>,
    ) -> Result<(), TolerantError> {
        let me = self.setup.me;
        let lost = |what| TolerantError::Disk {
            peer: me,
            what,
            release: attempt.release,
        };
        let Some(sealer) = &mut self.sealer else {
            return Ok(());
        };
        let Some(certificate) = self.regroup.certificate(attempt) else {
            return Err(lost("the certificate"));
        };
        let key = sealer.open(certificate, out)?;
        let mut shares = Vec::new();
        for dealer in heirs.iter().map(|heir| heir.lost) {
            if !sealer.holds(attempt, dealer) {
                continue;
            }
            let share = sealer.release(dealer, attempt, out)?;
            let mut signed = SignedShare {
                attempt,
                dealer,
                holder: me,
                share,
                signature: [0; regroup::SIGNATURE_LEN],
            };
            let bytes = signed.signed_bytes(self.setup.session);
            signed.signature = self.setup.signatures.sign(&bytes);
            shares.push(Frame::Share { view, signed });
        }
        let kept = self.kept.entry(attempt).or_default();
        if let (None, Some(inner)) = (kept.inputs.get(&me), &self.inner) {
            let bytes = sealer
                .own(attempt, &key)
                .map_err(|_| lost("its contribution"))?;
            let numbers = unpacked(inner.peer.values(), &bytes);
            kept.inputs.insert(me, Summand::Reals(Arc::new(numbers)));
        }
        if let Some(defect) = self.defect
            && let Some(again) = defect.made_again(self, attempt)?
        {
            let kept = self.kept.entry(attempt).or_default();
            kept.inputs.insert(me, again);
        }
        let to = self
            .inner
            .as_ref()
            .map(|inner| inner.targets(&Targets::All));
        for frame in shares {
            let to = to.clone().unwrap_or_default();
            out.push(Output::Send { to, frame });
        }
        Ok(())
    }

    /// Takes a share in a lost peer's contribution, and passes it on.
    pub(super) fn take_share(
        &mut self,
        from: PeerIndex,
        view: ViewNumber,
        signed: SignedShare,
        now: Time,
        out: &mut Vec<Output>,
    ) -> Result<(), TolerantError> {
        let is_running = self.is_running() && view == self.regroup.view().number;
        let (Some(inner), Some(sealer)) = (&self.inner, &mut self.sealer) else {
            return Ok(());
        };
        let (dealer, holder) = (signed.dealer, signed.holder);
        let is_lost = inner.heirs.iter().any(|heir| heir.lost == dealer);
        let is_holder = inner.view.members.contains(holder)
            && self.setup.links.between(dealer, holder).is_some();
        let is_here = inner.attempt == signed.attempt && inner.local(from).is_some();
        if !is_running || !is_here || !is_lost || !is_holder || sealer.has_share(dealer, holder) {
            return Ok(());
        }
        let bytes = signed.signed_bytes(self.setup.session);
        let signatures = &self.setup.signatures;
        if !signatures.verify(holder, &bytes, &signed.signature) {
            return Ok(());
        }
        let attempt = signed.attempt;
        if let Err(error) = sealer.take_share((attempt, dealer), holder, &signed.share) {
            // The dealer may have sealed differently for the two.
            let (culprit, kind) = (holder, FaultKind::Unlike(error.into()));
            out.push(Output::Fault(Fault { culprit, kind }));
            return Ok(());
        }
        let mut to = inner.targets(&Targets::All);
        to.retain(|neighbour| *neighbour != from);
        let frame = Frame::Share { view, signed };
        out.push(Output::Send { to, frame });
        self.inherit(now, out)
    }

    /// Begins to average again, once everything that this peer brings in is readable.
    pub(super) fn inherit(
        &mut self,
        now: Time,
        out: &mut Vec<Output>,
    ) -> Result<(), TolerantError> {
        let Some(inner) = self.inner.as_ref().filter(|inner| inner.waits) else {
            return Ok(());
        };
        let (me, attempt) = (self.setup.me, inner.attempt);
        let mine = inner.heirs.iter().filter(|heir| heir.heir == me);
        let all = [me].into_iter().chain(mine.map(|heir| heir.lost));
        let all: Vec<PeerIndex> = all.collect();
        let all = match self.defect {
            None => all,
            Some(defect) => defect.brought_in(all),
        };
        let lost = |what| TolerantError::Disk {
            peer: me,
            what,
            release: attempt.release,
        };
        let mut inputs = Vec::with_capacity(all.len());
        for of in all {
            match self.readable(attempt, of, Sealer::recovered) {
                // Others give up their shares as well.
                None if self.sealer.is_some() && of != me => return Ok(()),
                None => return Err(lost("a contribution")),
                Some(Ok(input)) => inputs.push(input),
                Some(Err(kind)) => {
                    let culprit = of;
                    out.push(Output::Fault(Fault { culprit, kind }));
                    return Ok(());
                }
            }
        }
        if let Some(defect) = self.defect {
            defect.take_back(self, attempt, &mut inputs);
        }
        let Some(inner) = &mut self.inner else {
            return Ok(());
        };
        inner.waits = false;
        let mut sum = super::added(&inputs).ok_or(lost("real numbers"))?;
        inner.peer.values().round(&mut sum);
        inner.peer.give(Arc::new(sum))?;
        let early = std::mem::take(&mut inner.early);
        self.run(Input::Start, now, out)?;
        for (from, message) in early {
            self.run(Input::Message { from, message }, now, out)?;
        }
        Ok(())
    }
}

/// A refusal that is a neighbour's doing.
fn blamed(
    culprit: PeerIndex,
    refused: Refused,
    out: &mut Vec<Output>,
) -> Result<(), TolerantError> {
    match refused {
        Refused::Seal(_) | Refused::Twice { .. } | Refused::Disagree { .. } => {
            let kind = match refused {
                Refused::Disagree { .. } => FaultKind::Unlike(refused),
                _ => FaultKind::Sealed(refused),
            };
            out.push(Output::Fault(Fault { culprit, kind }));
            Ok(())
        }
        Refused::NoNeighbour { .. } | Refused::NotNow { .. } | Refused::Over { .. } => Ok(()),
        _ => Err(refused.into()),
    }
}

impl super::inner::Inner {
    /// Whether what neighbours published is what their first messages of the averaging would say: they do not send it again.
    pub(super) fn takes_published(&self) -> bool {
        let is_recurrence = matches!(self.peer.part_of_program(), Part::Recurrence { .. });
        is_recurrence && !self.is_again && self.open == Some(self.attempt.release)
    }
}
