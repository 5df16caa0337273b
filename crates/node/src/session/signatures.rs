//! Ed25519 signatures of deployed members on what they tell one another while something goes wrong.

use std::fmt;
use std::sync::Arc;

use super::identity::{Domain, Identity, PublicId, SIGNATURE_LEN, Signature};
use super::statement::SessionHash;
use crate::protocol::regroup::{Signer, Verifier};
use crate::vocabulary::PeerIndex;

/// Of everything that [`regroup`](crate::protocol::regroup) and shares of sealed contributions sign, after the hash of the session file. What is signed names its plan.
const DOMAIN: Domain = Domain("undertone 2026-11 agreement on losses v2");

/// The public keys of the members of a session, in the order of their numbers: all that it takes to check evidence.
#[derive(Clone)]
pub struct MemberKeys {
    session: SessionHash,
    members: Arc<[PublicId]>,
}

/// A member's own key and those of all.
pub struct MemberSigner {
    identity: Arc<Identity>,
    keys: MemberKeys,
}

impl MemberKeys {
    /// These keys, of members of the session with this file.
    #[must_use]
    pub fn new(session: SessionHash, members: impl IntoIterator<Item = PublicId>) -> Self {
        let members = members.into_iter().collect();
        Self { session, members }
    }

    /// What is signed for these bytes.
    fn bound(&self, bytes: &[u8]) -> Vec<u8> {
        [&self.session.0, bytes].concat()
    }
}

impl MemberSigner {
    /// The member with this identity among these.
    #[must_use]
    pub fn new(identity: Arc<Identity>, keys: MemberKeys) -> Self {
        Self { identity, keys }
    }
}

impl Verifier for MemberKeys {
    fn verify(&self, by: PeerIndex, bytes: &[u8], signature: &[u8; SIGNATURE_LEN]) -> bool {
        let signature = Signature::from_bytes(*signature);
        let key = self.members.get(by.index());
        key.is_some_and(|key| key.verify(DOMAIN, &self.bound(bytes), &signature).is_ok())
    }
}

impl Verifier for MemberSigner {
    fn verify(&self, by: PeerIndex, bytes: &[u8], signature: &[u8; SIGNATURE_LEN]) -> bool {
        self.keys.verify(by, bytes, signature)
    }
}

impl Signer for MemberSigner {
    fn sign(&self, bytes: &[u8]) -> [u8; SIGNATURE_LEN] {
        let bytes = self.keys.bound(bytes);
        self.identity.sign(DOMAIN, &bytes).to_bytes()
    }
}

impl fmt::Debug for MemberKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MemberKeys({} members)", self.members.len())
    }
}

impl fmt::Debug for MemberSigner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MemberSigner({})", self.identity.id())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::SessionId;
    use crate::protocol::regroup::{
        Disruptions, Evidence, Input, Links, Output, Publication, Record, Regroup, RegroupSetup,
        Signed, Statement, Tolerance,
    };
    use crate::vocabulary::{ReleaseId, Span, Time};

    const SESSION: SessionId = SessionId([6; 16]);
    const FILE: SessionHash = SessionHash([5; 32]);

    fn identity(number: u8) -> Arc<Identity> {
        Arc::new(Identity::from_secret([number + 1; 32].into()))
    }

    fn member(me: u32, keys: &MemberKeys) -> Regroup {
        let pairs = [(0, 1), (0, 2), (1, 2)].map(|(u, v)| (PeerIndex(u), PeerIndex(v)));
        Regroup::new(RegroupSetup {
            me: PeerIndex(me),
            session: SESSION,
            signatures: Arc::new(MemberSigner::new(identity(me as u8), keys.clone())),
            links: Arc::new(Links::new(3, pairs.to_vec()).expect("a graph")),
            tolerance: Arc::new(Tolerance {
                colluders: 1,
                floor: 2,
                needs: vec![1; 3],
                retries: 0,
                publication: Publication::Open,
            }),
            last: ReleaseId(1),
            patience: Span(1),
        })
    }

    /// Whoever says two things is proved to have, with its real key, to a third party that has nothing but public keys.
    #[test]
    fn evidence_is_checked_by_whoever_has_the_public_keys() {
        let keys = MemberKeys::new(FILE, (0..3).map(|number| identity(number).id()));
        let mut honest = member(1, &keys);
        let mut out = Vec::new();
        honest.handle(Input::Start, Time(0), &mut out);
        let mut disruptions = None;
        let mut liar = member(0, &keys);
        liar.handle(Input::Start, Time(0), &mut out);
        out.clear();
        liar.handle(Input::Suspect(PeerIndex(2)), Time(0), &mut out);
        // It states what it knows a little later.
        let timer = out.iter().find_map(|output| match output {
            Output::Wake(number, _) => Some(*number),
            _ => None,
        });
        let timer = timer.expect("it is about to state what it knows");
        liar.handle(Input::Timer(timer), Time(0), &mut out);
        let mut said = Vec::new();
        for output in &out {
            if let Output::Send { record, .. } = output {
                if let Record::Statement { statement, .. } = &record.record {
                    disruptions = Some(statement.disruptions.clone());
                }
                said.push(record.clone());
            }
        }
        let disruptions: Disruptions = disruptions.expect("it states what it knows");
        let other = Record::Statement {
            origin: PeerIndex(0),
            serial: 1,
            statement: Statement {
                disruptions,
                done: ReleaseId(1),
                certified: Vec::new(),
                sent: None,
                retries: 0,
            },
        };
        let signer = MemberSigner::new(identity(0), keys.clone());
        let bytes = other.signed_bytes(SESSION, |_| None).expect("a statement");
        let signature = signer.sign(&bytes);
        said.push(Signed {
            record: other.clone(),
            signature,
        });
        let from = PeerIndex(0);
        let hear = |honest: &mut Regroup, record: &Signed| {
            let mut out = Vec::new();
            let record = record.clone();
            honest.handle(Input::Heard { from, record }, Time(0), &mut out);
            out.into_iter().find_map(|output| match output {
                Output::Deviates(evidence) => Some(*evidence),
                _ => None,
            })
        };
        // Signed by somebody else it is nothing.
        let by_another = MemberSigner::new(identity(2), keys.clone()).sign(&bytes);
        let forged = Signed {
            record: other,
            signature: by_another,
        };
        let mut proofs: Vec<Evidence> = said
            .iter()
            .filter_map(|record| {
                assert_eq!(hear(&mut honest, &forged), None);
                hear(&mut honest, record)
            })
            .collect();
        let evidence = proofs.pop().expect("it said two things");
        assert!(proofs.is_empty() && evidence.culprit() == PeerIndex(0));
        assert!(evidence.is_proof(SESSION, &keys));
        assert!(!evidence.is_proof(SessionId([7; 16]), &keys));
        let elsewhere = MemberKeys::new(
            SessionHash([4; 32]),
            (0..3).map(|number| identity(number).id()),
        );
        assert!(!evidence.is_proof(SESSION, &elsewhere));
        let others = MemberKeys::new(FILE, (1..4).map(|number| identity(number).id()));
        assert!(!evidence.is_proof(SESSION, &others));
        let few = MemberKeys::new(FILE, []);
        assert!(!evidence.is_proof(SESSION, &few));
        assert!(!format!("{signer:?} {keys:?}").contains("101"));
    }
}
