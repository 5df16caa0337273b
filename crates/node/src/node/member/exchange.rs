//! Stamps of frames that members have received, compared once their results differ: whoever has sent two members different frames for one place is found.

use std::collections::{BTreeMap, BTreeSet};

use crate::node::deployed::{Evidence, SIGNED_STAMP_LEN, is_stamp};
use crate::protocol::SessionId;
use crate::protocol::wire::HEADER_LEN;
use crate::session::{MOST_STAMPS, PublicId, Stamps};

/// A signed stamp, as it travels.
type SignedBytes = [u8; SIGNED_STAMP_LEN];

/// Stamps that members have shown, one for each place of each signer.
///
/// # What it finds
/// A member that signed different frames for one place, if both receivers are among those who show stamps and the frames are among the last that each has received
/// ([`MOST_PARTS`](crate::session::MOST_PARTS) times [`MOST_STAMPS`]). It finds nothing about members that send everybody the same wrong values.
///
/// # What it believes
/// Signatures alone. A stamp that its signer has not signed, or for another session, is not kept. So nobody is convicted who has not signed two frames for one place, whatever
/// members show. At most 16 statements of 30 stamps count of each member.
#[derive(Debug, Default)]
pub(super) struct Exchange {
    stamps: BTreeMap<(u8, [u8; HEADER_LEN]), SignedBytes>,
    /// Who has shown which parts, of how many.
    shown: BTreeMap<PublicId, (u8, BTreeSet<u8>)>,
}

impl Exchange {
    /// Takes what `from` shows in a session of these members; gives evidence where it contradicts what is here.
    pub(super) fn take(
        &mut self,
        from: PublicId,
        (session, members): (SessionId, &[PublicId]),
        shown: &Stamps,
    ) -> Option<Evidence> {
        let (parts, seen) = self
            .shown
            .entry(from)
            .or_insert((shown.parts, BTreeSet::new()));
        if *parts != shown.parts || !seen.insert(shown.part) {
            return None;
        }
        let mut evidence = None;
        for (signer, stamp) in &shown.stamps {
            let found = self.compare(*signer, (session, members), stamp);
            evidence = evidence.or(found);
        }
        evidence
    }

    fn compare(
        &mut self,
        signer: u8,
        (session, members): (SessionId, &[PublicId]),
        stamp: &SignedBytes,
    ) -> Option<Evidence> {
        let culprit = *members.get(usize::from(signer))?;
        let (header, _) = stamp.split_first_chunk::<HEADER_LEN>()?;
        match self.stamps.get(&(signer, *header)) {
            Some(known) => {
                let evidence = Evidence {
                    culprit,
                    first: known.to_vec(),
                    second: stamp.to_vec(),
                };
                evidence.verify().is_ok().then_some(evidence)
            }
            None => {
                if is_stamp(stamp, session, &culprit) {
                    self.stamps.insert((signer, *header), *stamp);
                }
                None
            }
        }
    }

    /// Whether all these members have shown everything.
    pub(super) fn is_complete(&self, members: &[PublicId]) -> bool {
        members.iter().all(|id| {
            let shown = self.shown.get(id);
            shown.is_some_and(|(parts, seen)| seen.len() == usize::from(*parts))
        })
    }
}

/// The statements with which a member shows what it has received in a session of these members.
pub(super) fn statements(
    received: &[(PublicId, SignedBytes)],
    members: &[PublicId],
) -> Vec<Stamps> {
    let place = |id: &PublicId| members.iter().position(|member| member == id);
    let stamps: Vec<_> = received
        .iter()
        .filter_map(|(signer, stamp)| Some((u8::try_from(place(signer)?).ok()?, *stamp)))
        .collect();
    let mut all: Vec<_> = stamps.chunks(MOST_STAMPS).map(<[_]>::to_vec).collect();
    if all.is_empty() {
        all.push(Vec::new());
    }
    let parts = all.len() as u8;
    let parted = (0..).zip(all);
    parted
        .map(|(part, stamps)| Stamps {
            part,
            parts,
            stamps,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::{Domain, Identity, MOST_PARTS};

    const SESSION: SessionId = SessionId([5; 16]);

    fn member(number: u8) -> Identity {
        Identity::from_secret([number + 1; 32].into())
    }

    fn members() -> Vec<PublicId> {
        (0..4).map(|number| member(number).id()).collect()
    }

    /// What this member signs of a frame at this place of a session.
    fn stamp(by: u8, session: SessionId, place: u8, content: u8) -> SignedBytes {
        let mut stamp = [content; 63];
        stamp[..HEADER_LEN].fill(place);
        stamp[2..18].copy_from_slice(&session.0);
        let signature = member(by).sign(Domain("undertone 2026-11 frame v4"), &stamp);
        let signed = [&stamp[..], &signature.to_bytes()].concat();
        signed.try_into().expect("127 bytes")
    }

    fn shown(
        exchange: &mut Exchange,
        from: u8,
        part: u8,
        stamps: Vec<(u8, SignedBytes)>,
    ) -> Option<PublicId> {
        let shown = Stamps {
            part,
            parts: MOST_PARTS,
            stamps,
        };
        let members = members();
        let evidence = exchange.take(member(from).id(), (SESSION, &members), &shown)?;
        assert_eq!(evidence.verify(), Ok(()));
        Some(evidence.culprit)
    }

    #[test]
    fn who_signed_two_frames_for_one_place_is_found_whoever_shows_them() {
        let mut exchange = Exchange::default();
        let (one, other) = (stamp(1, SESSION, 7, 1), stamp(1, SESSION, 7, 2));
        assert_eq!(shown(&mut exchange, 0, 0, vec![(1, one)]), None);
        assert_eq!(shown(&mut exchange, 3, 0, vec![(1, one)]), None, "the same");
        let elsewhere = stamp(1, SESSION, 8, 2);
        assert_eq!(shown(&mut exchange, 3, 1, vec![(1, elsewhere)]), None);
        let found = shown(&mut exchange, 2, 0, vec![(1, other)]);
        assert_eq!(found, Some(member(1).id()));
    }

    /// Whatever a hostile member shows, members that signed one frame for a place are not named, and the one that signed two is found all the same.
    #[test]
    fn forged_foreign_replayed_and_too_many_stamps_change_nothing() {
        let (one, other) = (stamp(1, SESSION, 7, 1), stamp(1, SESSION, 7, 2));
        let honest = stamp(2, SESSION, 7, 1);
        let mut lies = vec![
            // Signed by the one who shows it, as another's.
            (2, stamp(3, SESSION, 7, 9)),
            (0, stamp(3, SESSION, 7, 9)),
            // Of other sessions, in which a member may say something else.
            (2, stamp(2, SessionId([6; 16]), 7, 9)),
            (2, stamp(2, SessionId([6; 16]), 7, 8)),
            // Of nobody.
            (4, honest),
            (255, honest),
            // Said before.
            (2, honest),
            (2, honest),
        ];
        for byte in 0..SIGNED_STAMP_LEN {
            let mut changed = honest;
            changed[byte] ^= 1;
            lies.push((2, changed));
        }
        let mut exchange = Exchange::default();
        let chunks: Vec<_> = lies.chunks(MOST_STAMPS).map(<[_]>::to_vec).collect();
        for (part, stamps) in (0..).zip(&chunks) {
            assert_eq!(shown(&mut exchange, 3, part, stamps.clone()), None);
        }
        assert_eq!(
            shown(&mut exchange, 0, 0, vec![(2, honest), (1, one)]),
            None
        );
        let kept = exchange.stamps.len();
        assert_eq!(kept, 2, "what is not signed for this session is not kept");
        // The same part once more, with something else.
        let flood = vec![(3, stamp(3, SESSION, 9, 1)); MOST_STAMPS];
        assert_eq!(shown(&mut exchange, 3, 0, flood), None);
        assert_eq!(exchange.stamps.len(), kept);
        assert_eq!(
            shown(&mut exchange, 2, 0, vec![(1, other)]),
            Some(member(1).id())
        );
    }

    #[test]
    fn it_is_complete_once_all_have_shown_all_parts() {
        let members = members();
        let received: Vec<_> = (0..70)
            .map(|place| (members[1], stamp(1, SESSION, place, 0)))
            .collect();
        let statements = statements(&received, &members);
        assert_eq!(statements.len(), 3);
        let mut exchange = Exchange::default();
        for from in &members {
            for part in &statements {
                assert!(!exchange.is_complete(&members));
                assert_eq!(exchange.take(*from, (SESSION, &members), part), None);
            }
        }
        assert!(exchange.is_complete(&members));
        let nothing = super::statements(&[], &members);
        assert_eq!((nothing.len(), nothing[0].parts), (1, 1));
    }
}
