//! What an omniscient observer notes of honest members.

use super::actor::Item;
use super::process::Process;
use super::*;
use crate::protocol::Body;
use crate::protocol::regroup::{self, Attempt, Record};
use crate::protocol::tolerant::Frame;
use crate::protocol::wire::signed::{RECORD_HEAD_LEN, STAMP_LEN};
use crate::session::Join;

const HEADER: usize = STAMP_LEN - 32;

/// Everything that honest members signed and published.
#[derive(Default)]
pub(super) struct Notes {
    hostile: Option<usize>,
    /// Statements by member, in order, each once.
    pub(super) statements: Vec<Vec<Arc<[u8]>>>,
    /// Statements of the agreement on losses.
    pub(super) stated: Vec<Vec<regroup::Signed>>,
    /// Digests of frames by header.
    stamps: Vec<BTreeMap<Vec<u8>, [u8; 32]>>,
    /// Contributions in plaintext, by member: the release, the retry, and what tells two apart.
    pub(super) published: Vec<BTreeSet<(u32, u32, [u8; 32])>>,
    /// The Joins that each has assembled a session from, after it had revealed its number.
    assembled: Vec<BTreeMap<PublicId, Join>>,
    /// Whom tolerant peers have named, and their proofs.
    pub(super) named: Vec<(usize, PublicId, String)>,
    pub(super) proofs: Vec<(usize, PublicId, regroup::Evidence)>,
    /// Promises that were broken on the way.
    pub(super) broken: Vec<String>,
}

impl Notes {
    pub(super) fn new(members: usize, hostile: Option<usize>) -> Self {
        Self {
            hostile,
            statements: vec![Vec::new(); members],
            stated: vec![Vec::new(); members],
            assembled: vec![BTreeMap::new(); members],
            stamps: vec![BTreeMap::new(); members],
            published: vec![BTreeSet::new(); members],
            ..Self::default()
        }
    }

    fn is_honest(&self, member: usize) -> bool {
        self.hostile != Some(member)
    }

    pub(super) fn broken(&mut self, what: String) {
        self.broken.push(what);
    }

    /// A member has said this.
    pub(super) fn said(&mut self, member: usize, bytes: &Arc<[u8]>) {
        let known = &mut self.statements[member];
        if !known.contains(bytes) {
            known.push(Arc::clone(bytes));
        }
    }

    /// A member has revealed its number, as all others have, and plans.
    pub(super) fn assembled(&mut self, member: usize, assembled: &Assembled) {
        for (seat, join) in assembled.roster.iter().zip(&assembled.joins) {
            let known = self.assembled[member].insert(seat.id, join.clone());
            if self.hostile != Some(member) && known.is_some_and(|known| known != *join) {
                let name = &seat.name;
                self.broken.push(format!(
                    "{member} has revealed its number, and goes on with another Join of {name}"
                ));
            }
        }
    }

    /// An honest member sends this.
    pub(super) fn sent(&mut self, member: usize, item: &Item, peers: &[usize]) {
        match item {
            Item::Message(message) if matches!(message.body, Body::Average(_)) => {
                self.published[member].insert((message.release.0, 0, [0; 32]));
            }
            Item::Frame(frame) => self.frame(member, frame, peers),
            _ => {}
        }
    }

    /// `peers` are the members that take part, by the numbers of their peers.
    fn frame(&mut self, member: usize, frame: &Frame, peers: &[usize]) {
        let place = |peer: PeerIndex| peers.get(peer.index()).copied();
        let opened = |attempt: &Attempt| {
            let mut which = [0; 32];
            which[..8].copy_from_slice(&attempt.view.0.to_le_bytes());
            (attempt.release.0, attempt.retry, which)
        };
        match frame {
            Frame::Published { attempt, input } => {
                let mut hasher = blake3::Hasher::new();
                for value in input.reals().into_iter().flat_map(|values| values.iter()) {
                    hasher.update(&value.to_bits().to_le_bytes());
                }
                let digest = *hasher.finalize().as_bytes();
                self.published[member].insert((attempt.release.0, attempt.retry, digest));
            }
            Frame::Key { attempt, .. } => {
                self.published[member].insert(opened(attempt));
            }
            Frame::Share { signed, .. } => {
                let is_honest = place(signed.holder).is_some_and(|holder| self.is_honest(holder));
                if let Some(dealer) = place(signed.dealer).filter(|_| is_honest) {
                    self.published[dealer].insert(opened(&signed.attempt));
                }
            }
            Frame::Record(signed) if matches!(signed.record, Record::Statement { .. }) => {
                let own = place(signed.record.origin()) == Some(member);
                let known = &mut self.stated[member];
                if own && !known.contains(signed) {
                    known.push(signed.clone());
                }
            }
            _ => {}
        }
    }

    /// A record leaves a member, signed.
    pub(super) fn record(&mut self, member: usize, bytes: &[u8]) {
        if !self.is_honest(member) {
            return;
        }
        let frame = &bytes[RECORD_HEAD_LEN..bytes.len() - 64];
        let (header, values) = frame.split_at(HEADER);
        let digest = *blake3::hash(values).as_bytes();
        let before = self.stamps[member].insert(header.to_vec(), digest);
        if before.is_some_and(|before| before != digest) {
            self.broken.push(format!(
                "{member} signed two different frames for one place"
            ));
        }
    }

    /// A process has ended.
    pub(super) fn left(&mut self, member: usize, process: &Process) {
        if !self.is_honest(member) {
            return;
        }
        for (culprit, what) in &process.named {
            self.named.push((member, *culprit, what.clone()));
        }
        let proofs = process.proofs.iter().cloned();
        self.proofs
            .extend(proofs.map(|(id, proof)| (member, id, proof)));
    }
}
