//! What an observer of all links, disks and ledgers notes of a run: who could be read, what was charged, and promises that were broken.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::protocol::Body;
use crate::protocol::escrow::{Record, Seal, SealKey, Share};
use crate::protocol::regroup::{Attempt, View};
use crate::protocol::tolerant::{DiskRecord, Frame};
use crate::vocabulary::{PeerIndex, ReleaseId};

/// A promise of the peers that a run broke. No run of a faultless build breaks one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Broken {
    /// A contribution left whose try was not in the ledger.
    Ledger,
    /// A sealed contribution left that was not on its owner's disk.
    Sealed,
    /// A key, a share or a step of averaging left, and not everybody who takes part had durably said that it holds all seals.
    Held,
    /// A key or a step of averaging left whose owner's disk did not say that it opens.
    Opened,
    /// A share left that its holder's disk did not say it gives up.
    Released,
    /// A share left in the contribution of a peer that takes part.
    Present,
    /// Two different contributions of one peer left for one attempt.
    Twice,
}

/// Who took part in every attempt, and how many tries had been paid for when it began.
type Parts = BTreeMap<Attempt, (Arc<View>, u32)>;

/// What became known, and to whom it was charged.
#[derive(Clone, Debug, Default)]
pub struct Observed {
    /// Promises that were broken.
    pub broken: BTreeSet<Broken>,
    /// Contributions that their owners made readable: in the open, or by opening them.
    pub read: BTreeSet<(Attempt, PeerIndex)>,
    /// Tries that every peer was charged for.
    pub charged: BTreeMap<PeerIndex, BTreeSet<(ReleaseId, u32)>>,
    /// Sealed contributions that left.
    pub seals: BTreeMap<(Attempt, PeerIndex), Seal>,
    /// Keys that left, by whose contribution they open.
    pub keys: BTreeMap<(Attempt, PeerIndex), SealKey>,
    /// Shares that left, by whose contribution they are in and by holder.
    pub shares: BTreeMap<(Attempt, PeerIndex), BTreeMap<PeerIndex, Share>>,
    /// Peers that a neighbour says deviate. Nobody in such a run does.
    pub blamed: BTreeSet<PeerIndex>,
    attested: BTreeSet<(Attempt, PeerIndex)>,
    durable_seals: BTreeMap<(Attempt, PeerIndex), Seal>,
    released: BTreeSet<(Attempt, PeerIndex, PeerIndex)>,
    at: BTreeMap<(PeerIndex, ReleaseId), (Attempt, Arc<View>)>,
}

impl Observed {
    /// A peer goes on with an attempt, in a view.
    pub(super) fn resumed(&mut self, peer: PeerIndex, attempt: Attempt, view: &Arc<View>) {
        let here = (attempt, Arc::clone(view));
        self.at.insert((peer, attempt.release), here);
    }

    /// A try is in a peer's ledger.
    pub(super) fn charged(&mut self, peer: PeerIndex, attempt: Attempt) {
        let of = self.charged.entry(peer).or_default();
        of.insert((attempt.release, attempt.retry));
    }

    /// A neighbour says that a peer deviates.
    pub(super) fn blamed(&mut self, peer: PeerIndex) {
        self.blamed.insert(peer);
    }

    /// A record is on a peer's disk.
    pub(super) fn written(&mut self, peer: PeerIndex, record: &DiskRecord) {
        let DiskRecord::Escrow(record) = record else {
            return;
        };
        match record {
            Record::Sealed(seal) => {
                self.durable_seals
                    .insert((seal.attempt(), peer), seal.clone());
            }
            Record::Attested(attempt) => {
                self.attested.insert((*attempt, peer));
            }
            Record::Opened(attempt) => {
                self.read.insert((*attempt, peer));
            }
            Record::Released { dealer, attempt } => {
                self.released.insert((*attempt, *dealer, peer));
            }
            Record::Entered(_) | Record::Held { .. } | Record::Certified(_) | Record::Closed(_) => {
            }
        }
    }

    /// A frame leaves a peer.
    pub(super) fn sent(&mut self, peer: PeerIndex, frame: &Frame, parts: &Parts) {
        match frame {
            Frame::Record(_) => {}
            Frame::Published { attempt, .. } => {
                self.check_charged(peer, *attempt);
                self.read.insert((*attempt, peer));
            }
            Frame::Sealed {
                attempt,
                frame,
                share,
            } => {
                self.check_charged(peer, *attempt);
                let is_of = |seal: &Seal| {
                    seal.frame() == frame && seal.hidden().any(|hidden| hidden == share)
                };
                match self.durable_seals.get(&(*attempt, peer)) {
                    Some(seal) if is_of(seal) => {
                        self.seals.insert((*attempt, peer), seal.clone());
                    }
                    Some(_) => self.note(Broken::Twice, true),
                    None => self.note(Broken::Sealed, true),
                }
            }
            Frame::Key { attempt, key } => {
                self.check_held(*attempt, parts);
                self.note(Broken::Opened, !self.read.contains(&(*attempt, peer)));
                self.keys.insert((*attempt, peer), key.clone());
            }
            Frame::Share { signed, .. } => {
                // Others pass it on.
                if signed.holder != peer {
                    return;
                }
                let (attempt, dealer) = (signed.attempt, signed.dealer);
                self.check_held(attempt, parts);
                let is_durable = self.released.contains(&(attempt, dealer, peer));
                self.note(Broken::Released, !is_durable);
                let here = self.at.get(&(peer, attempt.release));
                let takes_part = here.is_none_or(|(_, view)| view.members.contains(dealer));
                self.note(Broken::Present, takes_part);
                let shares = self.shares.entry((attempt, dealer)).or_default();
                shares.insert(peer, signed.share.clone());
            }
            Frame::Step { message, .. } => {
                let here = self.at.get(&(peer, message.release)).cloned();
                if let (Body::Average(_), Some((attempt, _))) = (&message.body, here)
                    && self.durable_seals.contains_key(&(attempt, peer))
                {
                    self.check_held(attempt, parts);
                    self.note(Broken::Opened, !self.read.contains(&(attempt, peer)));
                }
            }
        }
    }

    fn note(&mut self, broken: Broken, is_broken: bool) {
        if is_broken {
            self.broken.insert(broken);
        }
    }

    fn check_charged(&mut self, peer: PeerIndex, attempt: Attempt) {
        let tries = self.charged.get(&peer);
        let is_charged =
            tries.is_some_and(|tries| tries.contains(&(attempt.release, attempt.retry)));
        self.note(Broken::Ledger, !is_charged);
    }

    fn check_held(&mut self, attempt: Attempt, parts: &Parts) {
        let members = parts.get(&attempt).map(|(view, _)| &view.members);
        let all = members.is_some_and(|members| {
            let mut members = members.iter();
            members.all(|member| self.attested.contains(&(attempt, member)))
        });
        self.note(Broken::Held, !all);
    }
}
