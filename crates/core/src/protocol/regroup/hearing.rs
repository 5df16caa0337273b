//! Who says what: signatures on records, and statements that contradict each other.

use super::attempt::ViewNumber;
use super::evidence::Evidence;
use super::interface::Output;
use super::machine::Regroup;
use super::record::{Record, Statement};
use super::resume::View;
use super::signed::Signed;
use crate::vocabulary::{PeerIndex, Time};

impl Regroup {
    pub(super) fn heard_statement(
        &mut self,
        (from, serial): (PeerIndex, u64),
        signed: Signed,
        now: Time,
        out: &mut Vec<Output>,
    ) {
        let origin = signed.record.origin();
        if origin == self.setup.me || self.proven.contains(&origin) {
            return;
        }
        let known = self.stated.get(&origin);
        let is_new = self
            .statement_of(origin)
            .is_none_or(|(last, _)| serial > last);
        let evidence = known.and_then(|known| Evidence::of(known, &signed));
        let Record::Statement { statement, .. } = &signed.record else {
            return;
        };
        if !self.is_possible(serial, statement) {
            // Nobody who follows the protocol says it or passes it on.
            if let Some(evidence) = evidence.filter(|_| self.is_signed(&signed)) {
                self.proven.insert(origin);
                out.push(Output::Deviates(Box::new(evidence)));
            }
            out.push(Output::Refused(from));
            return self.suspect(from, now, out);
        }
        if !(is_new || evidence.is_some()) || !self.is_signed(&signed) {
            return;
        }
        let Some(evidence) = evidence else {
            self.stated.insert(origin, signed.clone());
            self.flood(signed, Some(from), out);
            return self.decide(out);
        };
        // Others have one half of it at least.
        self.proven.insert(origin);
        if let Some(known) = self.stated.get(&origin).cloned() {
            self.flood(known, Some(from), out);
        }
        self.flood(signed, Some(from), out);
        out.push(Output::Deviates(Box::new(evidence)));
        self.suspect(origin, now, out);
    }

    /// This record with the own signature.
    pub(super) fn signed(&self, record: Record) -> Signed {
        let bytes = self.bytes_of(&record).unwrap_or_default();
        let signature = self.setup.signatures.sign(&bytes);
        Signed { record, signature }
    }

    /// Whether its origin signed it.
    pub(super) fn is_signed(&self, signed: &Signed) -> bool {
        let Signed { record, signature } = signed;
        let bytes = self.bytes_of(record);
        let verify = |bytes: Vec<u8>| {
            let signatures = &self.setup.signatures;
            signatures.verify(record.origin(), &bytes, signature)
        };
        bytes.is_some_and(verify)
    }

    pub(super) fn bytes_of(&self, record: &Record) -> Option<Vec<u8>> {
        record.signed_bytes(self.setup.session, |number| self.digest_of(number))
    }

    /// The digest of a decided view.
    pub(super) fn digest_of(&self, number: ViewNumber) -> Option<[u8; 32]> {
        let mut views = self.views.iter().rev();
        views.find(|view| view.number == number).map(View::digest)
    }

    /// The newest statement of a member, and its number.
    pub(super) fn statement_of(&self, member: PeerIndex) -> Option<(u64, &Statement)> {
        match &self.stated.get(&member)?.record {
            Record::Statement {
                serial, statement, ..
            } => Some((*serial, statement)),
            _ => None,
        }
    }

    /// Tells a neighbour that has lost its memory what it cannot know.
    pub(super) fn inform(&mut self, neighbour: PeerIndex, out: &mut Vec<Output>) {
        let mut records = self.heard.clone();
        let held = self.held.iter().flat_map(|(attempt, held)| {
            let attempt = *attempt;
            held.iter().map(move |(&origin, &signature)| Signed {
                record: Record::Held { origin, attempt },
                signature,
            })
        });
        records.extend(held);
        records.extend(self.stated.values().cloned());
        let to = vec![neighbour];
        out.extend(records.into_iter().map(|record| Output::Send {
            to: to.clone(),
            record,
        }));
    }
}
