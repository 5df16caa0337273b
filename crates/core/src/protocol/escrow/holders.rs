//! What a peer may seal, hold, sign, open and give up: the rules of [`super`], kept across restarts.

use std::collections::{BTreeMap, BTreeSet};

use super::defect::Defect;
use super::keys::{EscrowKey, SealKey, SealRoot};
use super::membership::Membership;
use super::record::{HeldSeal, Record};
use super::refused::{Refused, Rule};
use super::seal::{Seal, Sealing};
use super::shamir::Share;
use crate::protocol::SessionId;
use crate::protocol::regroup::{
    Attempt, Certificate, HELD_LEN, SIGNATURE_LEN, Threshold, ViewNumber, held_statement,
};
use crate::vocabulary::{PeerIndex, ReleaseId};

/// A step that waits for its record to be on disk. Dropped, it has not happened.
#[must_use = "a step happens once its record is on disk"]
#[derive(Debug)]
pub struct Durable<'a, A> {
    escrow: &'a mut Escrow,
    record: Option<Record>,
    action: A,
}

impl<A> Durable<'_, A> {
    /// Writes the record, if the step has one, and gives what may be sent after it. A step that was taken before has no record and
    /// may be repeated at will.
    ///
    /// # Errors
    /// Those of `write`; the step has not happened then.
    pub fn persist<E>(self, write: impl FnOnce(&Record) -> Result<(), E>) -> Result<A, E> {
        if let Some(record) = self.record {
            write(&record)?;
            self.escrow.apply(record);
        }
        Ok(self.action)
    }
}

/// A peer's seals, its shares in those of its neighbours, and what it has done with either.
#[derive(Clone, Debug, PartialEq)]
pub struct Escrow {
    me: PeerIndex,
    session: SessionId,
    threshold: Threshold,
    floor: usize,
    view: Option<Membership>,
    /// Digest and members of every view that was entered.
    views: BTreeMap<ViewNumber, ([u8; 32], Vec<PeerIndex>)>,
    /// What is before this release is over.
    closed: ReleaseId,
    sealed: BTreeMap<Attempt, Seal>,
    held: BTreeMap<(PeerIndex, Attempt), HeldSeal>,
    attested: BTreeSet<Attempt>,
    certified: BTreeSet<Attempt>,
    opened: BTreeSet<Attempt>,
    released: BTreeSet<(PeerIndex, Attempt)>,
    pub(in crate::protocol) defect: Option<Defect>,
}

impl Escrow {
    /// Nothing has happened yet to the peer `me` of a session whose views have at least `floor` members; `threshold` is of its own contributions.
    #[must_use]
    pub fn new(me: PeerIndex, session: SessionId, threshold: Threshold, floor: usize) -> Self {
        Self {
            me,
            session,
            threshold,
            floor,
            view: None,
            views: BTreeMap::new(),
            closed: ReleaseId(0),
            sealed: BTreeMap::new(),
            held: BTreeMap::new(),
            attested: BTreeSet::new(),
            certified: BTreeSet::new(),
            opened: BTreeSet::new(),
            released: BTreeSet::new(),
            defect: None,
        }
    }

    /// As [`Self::new`], after a restart: `records` are those that are on disk, in the order in which they were written.
    #[must_use]
    pub fn replay(
        me: PeerIndex,
        session: SessionId,
        threshold: Threshold,
        floor: usize,
        records: impl IntoIterator<Item = Record>,
    ) -> Self {
        let mut escrow = Self::new(me, session, threshold, floor);
        escrow.take_up(records);
        escrow
    }

    /// Takes up, after a restart, what is on disk.
    pub(in crate::protocol) fn take_up(&mut self, records: impl IntoIterator<Item = Record>) {
        records.into_iter().for_each(|record| self.apply(record));
    }

    /// The present view.
    #[must_use]
    pub fn view(&self) -> Option<&Membership> {
        self.view.as_ref()
    }

    /// The own contribution to an attempt, as it was sealed: what is sent again.
    #[must_use]
    pub fn sealed(&self, attempt: Attempt) -> Option<&Seal> {
        self.sealed.get(&attempt)
    }

    /// What is held of a neighbour's contribution to an attempt.
    #[must_use]
    pub fn held(&self, dealer: PeerIndex, attempt: Attempt) -> Option<&HeldSeal> {
        self.held.get(&(dealer, attempt))
    }

    /// Whether everybody's word was heard that the seals of an attempt are held.
    #[must_use]
    pub fn is_certified(&self, attempt: Attempt) -> bool {
        self.certified.contains(&attempt)
    }

    /// Enters a decided view. How it was decided is not this module's.
    ///
    /// # Errors
    /// [`Refused::OldView`], [`Refused::SmallView`].
    pub fn enter(&mut self, view: Membership) -> Result<Durable<'_, ()>, Refused> {
        let number = view.number();
        let members = view.members().len();
        if let Some(current) = self
            .view
            .as_ref()
            .map(Membership::number)
            .filter(|c| *c >= number)
        {
            return Err(Refused::OldView { number, current });
        }
        if members < self.floor || !view.has(self.me) {
            return Err(Refused::SmallView {
                number,
                members,
                floor: self.floor,
                peer: self.me,
            });
        }
        Ok(self.step(Record::Entered(view), ()))
    }

    /// Seals the own contribution to an attempt of the present view, for its live neighbours. What is written is sent, now and whenever it is asked for.
    ///
    /// # Errors
    /// [`Refused::Sealed`] if that was done, [`Refused::Rule`] for [`Rule::OneKey`] and [`Rule::LastSealed`], [`Refused::Holders`] for a seal of another
    /// peer, other holders or another threshold, [`Refused::Seal`] for too few holders.
    pub fn seal(
        &mut self,
        root: &SealRoot,
        sealing: &Sealing<'_>,
    ) -> Result<Durable<'_, Seal>, Refused> {
        let attempt = sealing.attempt;
        let view = self.present(attempt)?;
        let mut holders = sealing.holders.iter().map(|(holder, _)| holder);
        let is_own = sealing.dealer == self.me && sealing.threshold == self.threshold;
        if !is_own || !holders.by_ref().eq(view.neighbours()) {
            return Err(Refused::Holders { attempt });
        }
        if self.sealed.contains_key(&attempt) {
            return Err(Refused::Sealed { attempt });
        }
        let opened = self.opened.range(attempt.same_try()).next();
        self.rule(Rule::OneKey, opened.is_none(), attempt)?;
        let later = self.sealed.range(attempt.later()).next();
        self.rule(Rule::LastSealed, later.is_none(), attempt)?;
        let seal = Seal::new(root, sealing)?;
        Ok(self.step(Record::Sealed(seal.clone()), seal))
    }

    /// Holds the seal of a live neighbour in the present view, and the own share in it, which `escrow` hides. The frame itself must be on disk as well
    /// before the record is.
    ///
    /// # Errors
    /// [`Refused::NotNow`], [`Refused::NoNeighbour`], [`Refused::Twice`] if another seal is held, [`Refused::Seal`] for a share that is
    /// not the one named.
    pub fn hold(&mut self, seal: &Seal, escrow: &EscrowKey) -> Result<Durable<'_, ()>, Refused> {
        let (dealer, attempt) = (seal.dealer(), seal.attempt());
        let view = self.present(attempt)?;
        if view.neighbours().binary_search(&dealer).is_err() {
            return Err(Refused::NoNeighbour { dealer });
        }
        let digest = seal.digest();
        match self.held.get(&(dealer, attempt)) {
            Some(held) if held.digest == digest => return Ok(self.repeated(())),
            Some(_) => return Err(Refused::Twice { dealer, attempt }),
            None => {}
        }
        let seal = HeldSeal {
            digest,
            scale: seal.scale(),
            query: seal.query(),
            share: seal.share_of(self.me, escrow)?,
        };
        let record = Record::Held {
            dealer,
            attempt,
            seal,
        };
        Ok(self.step(record, ()))
    }

    /// The words to sign and flood once the seals of all live neighbours in the present view are held and agree with the own.
    ///
    /// # Errors
    /// [`Refused::NotNow`], [`Refused::NotSealed`], [`Refused::NotHeld`], [`Refused::Disagree`], and [`Refused::Rule`] for [`Rule::ReleasedBefore`].
    pub fn attest(&mut self, attempt: Attempt) -> Result<Durable<'_, [u8; HELD_LEN]>, Refused> {
        let view = self.present(attempt)?;
        let own = self.sealed.get(&attempt);
        let own = own.ok_or(Refused::NotSealed { attempt })?;
        for &dealer in view.neighbours() {
            let held = self.held.get(&(dealer, attempt));
            let held = held.ok_or(Refused::NotHeld { dealer, attempt })?;
            let agrees = held.scale.to_bits() == own.scale().to_bits() && held.query == own.query();
            if !agrees {
                return Err(Refused::Disagree { dealer, attempt });
            }
        }
        let same_try = attempt.same_try();
        let gave = self.released.iter().any(|(_, a)| same_try.contains(a));
        self.rule(Rule::ReleasedBefore, !gave, attempt)?;
        let statement = held_statement(self.session, attempt, view.digest());
        match self.attested.contains(&attempt) {
            true => Ok(self.repeated(statement)),
            false => Ok(self.step(Record::Attested(attempt), statement)),
        }
    }

    /// Takes a certificate for an attempt of a view that this peer was in; `verify` says whether a signature is a peer's over some bytes.
    ///
    /// # Errors
    /// [`Refused::UnknownView`], [`Refused::Certificate`].
    pub fn certify(
        &mut self,
        certificate: &Certificate,
        verify: impl Fn(PeerIndex, &[u8], &[u8; SIGNATURE_LEN]) -> bool,
    ) -> Result<Durable<'_, ()>, Refused> {
        let attempt = certificate.attempt();
        self.not_over(attempt)?;
        if self.certified.contains(&attempt) {
            return Ok(self.repeated(()));
        }
        let known = self.views.get(&attempt.view);
        let (digest, members) = known.ok_or(Refused::UnknownView { attempt })?;
        let statement = held_statement(self.session, attempt, digest);
        certificate.check(members, &statement, verify)?;
        Ok(self.step(Record::Certified(attempt), ()))
    }

    /// The key of the own contribution to an attempt, to be sent to whoever averages.
    ///
    /// # Errors
    /// [`Refused::NotSealed`], and [`Refused::Rule`] for [`Rule::Certified`], [`Rule::LastSealed`] and [`Rule::OneKey`].
    pub fn open(
        &mut self,
        attempt: Attempt,
        root: &SealRoot,
    ) -> Result<Durable<'_, SealKey>, Refused> {
        self.not_over(attempt)?;
        if !self.sealed.contains_key(&attempt) {
            return Err(Refused::NotSealed { attempt });
        }
        self.rule(Rule::Certified, self.is_certified(attempt), attempt)?;
        let later = self.sealed.range(attempt.later()).next();
        self.rule(Rule::LastSealed, later.is_none(), attempt)?;
        let mut opened = self.opened.range(attempt.same_try());
        self.rule(Rule::OneKey, opened.all(|o| *o == attempt), attempt)?;
        let key = root.key(attempt);
        match self.opened.contains(&attempt) {
            true => Ok(self.repeated(key)),
            false => Ok(self.step(Record::Opened(attempt), key)),
        }
    }

    /// The own share in the contribution of a peer that has left, to be sent to whoever opens it.
    ///
    /// # Errors
    /// [`Refused::NotHeld`], and [`Refused::Rule`] for [`Rule::Certified`], [`Rule::StillThere`], [`Rule::LaterSeal`] and [`Rule::OneShare`].
    pub fn release(
        &mut self,
        dealer: PeerIndex,
        attempt: Attempt,
    ) -> Result<Durable<'_, Share>, Refused> {
        self.not_over(attempt)?;
        let held = self.held.get(&(dealer, attempt));
        let held = held.ok_or(Refused::NotHeld { dealer, attempt })?;
        let share = held.share.clone();
        self.rule(Rule::Certified, self.is_certified(attempt), attempt)?;
        let is_out = self.view.as_ref().is_some_and(|view| !view.has(dealer));
        self.rule(Rule::StillThere, is_out, attempt)?;
        let (after, last) = attempt.later();
        let of_dealer = (after.map(|a| (dealer, a)), last.map(|a| (dealer, a)));
        let later = self.held.range(of_dealer).next();
        self.rule(Rule::LaterSeal, later.is_none(), attempt)?;
        let (first, last) = attempt.same_try().into_inner();
        let mut released = self.released.range((dealer, first)..=(dealer, last));
        self.rule(
            Rule::OneShare,
            released.all(|(_, a)| *a == attempt),
            attempt,
        )?;
        match self.released.contains(&(dealer, attempt)) {
            true => Ok(self.repeated(share)),
            false => Ok(self.step(Record::Released { dealer, attempt }, share)),
        }
    }

    /// Ends all releases before `release`: nothing of them is needed any more, so their frames and shares are forgotten.
    pub fn close(&mut self, release: ReleaseId) -> Durable<'_, ()> {
        match release <= self.closed {
            true => self.repeated(()),
            false => self.step(Record::Closed(release), ()),
        }
    }

    fn step<A>(&mut self, record: Record, action: A) -> Durable<'_, A> {
        Durable {
            escrow: self,
            record: Some(record),
            action,
        }
    }

    fn repeated<A>(&mut self, action: A) -> Durable<'_, A> {
        Durable {
            escrow: self,
            record: None,
            action,
        }
    }

    fn apply(&mut self, record: Record) {
        match record {
            Record::Entered(view) => {
                let known = (*view.digest(), view.members().to_vec());
                self.views.insert(view.number(), known);
                self.view = Some(view);
            }
            Record::Sealed(seal) => {
                self.sealed.insert(seal.attempt(), seal);
            }
            Record::Held {
                dealer,
                attempt,
                seal,
            } => {
                self.held.insert((dealer, attempt), seal);
            }
            Record::Attested(attempt) => {
                self.attested.insert(attempt);
            }
            Record::Certified(attempt) => {
                self.certified.insert(attempt);
            }
            Record::Opened(attempt) => {
                self.opened.insert(attempt);
            }
            Record::Released { dealer, attempt } => {
                self.released.insert((dealer, attempt));
            }
            Record::Closed(release) => {
                self.closed = release;
                let lasts = |attempt: &Attempt| attempt.release >= release;
                self.sealed.retain(|attempt, _| lasts(attempt));
                self.held.retain(|(_, attempt), _| lasts(attempt));
                self.released.retain(|(_, attempt)| lasts(attempt));
                for set in [&mut self.attested, &mut self.certified, &mut self.opened] {
                    set.retain(lasts);
                }
            }
        }
    }

    fn not_over(&self, attempt: Attempt) -> Result<(), Refused> {
        match attempt.release < self.closed {
            true => Err(Refused::Over { attempt }),
            false => Ok(()),
        }
    }

    /// The present view, if it is the attempt's.
    fn present(&self, attempt: Attempt) -> Result<&Membership, Refused> {
        self.not_over(attempt)?;
        let view = self.view.as_ref();
        view.filter(|view| view.number() == attempt.view)
            .ok_or(Refused::NotNow { attempt })
    }

    fn rule(&self, rule: Rule, is_kept: bool, attempt: Attempt) -> Result<(), Refused> {
        match is_kept || self.defect.is_some_and(|defect| defect.breaks(rule)) {
            true => Ok(()),
            false => Err(Refused::Rule { rule, attempt }),
        }
    }
}
