//! Whoever deviates is named, and nobody else, in every scheme.

use std::collections::BTreeSet;

use super::{Deviant, DeviantError, Deviation, run};
use crate::engine::testing::{changed, graphs, rows, schemes_on, session_of};
use crate::engine::{Session, Silent, lockstep};
use crate::protocol::Values;
use crate::protocol::averaging::AveragingKind;
use crate::protocol::probe::{Finding, Rules, Unprobed};
use crate::vocabulary::{PeerIndex, ReleaseId};

const ALL: [Deviation; 6] = [
    Deviation::Equivocate,
    Deviation::Stale,
    Deviation::WrongStep,
    Deviation::FalseAccount,
    Deviation::NoAccount,
    Deviation::Forgery,
];

/// A session per graph and scheme whose sums are of real numbers, with both widths of values.
fn sessions() -> impl Iterator<Item = (AveragingKind, Session)> {
    graphs().into_iter().flat_map(|graph| {
        let kinds: Vec<_> = schemes_on(&graph).collect();
        kinds.into_iter().flat_map(move |kind| {
            let session = session_of(&graph, rows(), 4, (2, 12), kind, 5);
            let single = || changed(&session, |plan| plan.values = Values::F32);
            let single = rules(&session).is_ok().then(single);
            [Some(session), single]
                .into_iter()
                .flatten()
                .map(move |session| (kind, session))
        })
    })
}

fn probed() -> impl Iterator<Item = (AveragingKind, Session)> {
    sessions().filter(|(_, session)| rules(session).is_ok())
}

fn rules(session: &Session) -> Result<Rules, Unprobed> {
    let (schedule, values) = (session.schedule(), session.plan().values());
    Rules::of(schedule, &**session.topology(), values, 0)
}

#[test]
fn honest_peers_are_never_named_and_have_the_sums_of_lockstep() {
    let mut seen = BTreeSet::new();
    for (kind, session) in probed() {
        let outcome = run(&session, &[]).expect("runs");
        assert_eq!(outcome.verdicts, [], "{kind:?}");
        let reference = lockstep::run(&session, &mut Silent).expect("runs");
        let first = &outcome.sums[0][0];
        assert_eq!(*first, reference.records[0].sum, "{kind:?}");
        assert!(outcome.account_bytes > 0);
        seen.insert(format!("{kind:?}"));
    }
    assert!(seen.len() >= 4, "{seen:?}");
}

/// The place where a deviant can be seen: one at which it sends what follows from something.
fn turn_after_a_step(session: &Session, peer: PeerIndex) -> Option<usize> {
    let rules = rules(session).expect("probed");
    let places = rules.places(peer);
    places
        .iter()
        .position(|place| rules.step_of(*place).is_some_and(|step| step > 0))
}

#[test]
fn every_deviant_is_named_and_nobody_else() {
    let mut named = 0;
    for (kind, session) in probed() {
        let is_single = session.plan().values() == Values::F32;
        let some = if is_single { &ALL[..3] } else { &ALL };
        for &deviation in some {
            for peer in [0, 7].map(PeerIndex) {
                let Some(turn) = turn_after_a_step(&session, peer) else {
                    continue;
                };
                let deviant = Deviant {
                    peer,
                    release: ReleaseId(1),
                    turn,
                    deviation,
                    error: 1e-3,
                };
                let outcome = run(&session, &[deviant]).expect("runs");
                let culprits: BTreeSet<PeerIndex> =
                    outcome.verdicts.iter().map(|(_, v)| v.culprit).collect();
                let expected = BTreeSet::from([peer]);
                assert_eq!(
                    culprits, expected,
                    "{kind:?} {deviant:?} {:?}",
                    outcome.verdicts
                );
                let releases = outcome.verdicts.iter().map(|(release, _)| *release);
                assert!(releases.into_iter().all(|release| release == ReleaseId(1)));
                let fits = outcome.verdicts.iter().any(|(_, verdict)| {
                    matches!(
                        (deviation, &verdict.finding),
                        (Deviation::Equivocate, Finding::Contradiction { .. })
                            | (
                                Deviation::Stale | Deviation::WrongStep,
                                Finding::WrongStep { .. }
                            )
                            | (Deviation::FalseAccount, Finding::Contradiction { .. })
                            | (Deviation::NoAccount, Finding::NoAccount)
                            | (Deviation::Forgery, Finding::Forgery { .. })
                    )
                });
                assert!(fits, "{kind:?} {deviant:?} {:?}", outcome.verdicts);
                named += 1;
            }
        }
    }
    assert!(named > 100, "{named}");
}

/// Whoever keeps to itself what a silent neighbour sent it is named for that, whatever becomes of the neighbour; alone it has nothing to hide.
#[test]
fn whoever_does_not_show_what_a_silent_neighbour_sent_is_named() {
    let mut named = 0;
    for (kind, session) in probed() {
        let release = ReleaseId(1);
        let deviant = |peer: u32, deviation| Deviant {
            peer: PeerIndex(peer),
            release,
            turn: 0,
            deviation,
            error: 1e-3,
        };
        let neighbour = session.graph().neighbours(0)[0];
        let silent = deviant(0, Deviation::NoAccount);
        let hides = deviant(neighbour, Deviation::Silence);
        let alone = run(&session, &[hides]).expect("runs");
        assert_eq!(alone.verdicts, [], "{kind:?}");
        let outcome = run(&session, &[silent, hides]).expect("runs");
        let withheld = outcome
            .verdicts
            .iter()
            .filter_map(|(_, verdict)| match verdict.finding {
                Finding::Withheld { place } => Some((verdict.culprit, place.peer)),
                _ => None,
            });
        let withheld: BTreeSet<_> = withheld.collect();
        let heard = rules(&session).expect("probed").heard(hides.peer);
        let hears = heard.iter().any(|place| place.peer == silent.peer);
        let expected = hears.then_some((hides.peer, silent.peer));
        assert_eq!(withheld, expected.into_iter().collect(), "{kind:?}");
        let culprits: BTreeSet<_> = outcome.verdicts.iter().map(|(_, v)| v.culprit).collect();
        assert!(culprits.contains(&silent.peer) && culprits.len() == 1 + usize::from(hears));
        named += usize::from(hears);
    }
    assert!(named > 10, "{named}");
}

#[test]
fn several_deviants_are_all_named() {
    for (kind, session) in probed() {
        let at = |peer, deviation| {
            let peer = PeerIndex(peer);
            let turn = turn_after_a_step(&session, peer)?;
            Some(Deviant {
                peer,
                release: ReleaseId(2),
                turn,
                deviation,
                // Far above what rounding to f32 hides.
                error: 0.1,
            })
        };
        let all = [
            at(1, Deviation::WrongStep),
            at(4, Deviation::Equivocate),
            at(9, Deviation::NoAccount),
        ];
        let all: Vec<Deviant> = all.into_iter().flatten().collect();
        let outcome = run(&session, &all).expect("runs");
        let culprits: BTreeSet<_> = outcome.verdicts.iter().map(|(_, v)| v.culprit).collect();
        let expected: BTreeSet<_> = all.iter().map(|one| one.peer).collect();
        assert!(
            expected.is_subset(&culprits) && culprits.is_subset(&expected),
            "{kind:?}: {all:?} {culprits:?}"
        );
    }
}

/// How small an error is seen: that of one coordinate of 600, against blocks whose values are about 1.
#[test]
fn errors_far_below_the_noise_are_seen() {
    for (kind, session) in probed() {
        let peer = PeerIndex(3);
        let Some(turn) = turn_after_a_step(&session, peer) else {
            continue;
        };
        let is_single = session.plan().values() == Values::F32;
        let error = if is_single { 1e-1 } else { 1e-7 };
        let deviant = Deviant {
            peer,
            release: ReleaseId(1),
            turn,
            deviation: Deviation::WrongStep,
            error,
        };
        let outcome = run(&session, &[deviant]).expect("runs");
        assert!(!outcome.verdicts.is_empty(), "{kind:?} {error}");
    }
}

#[test]
fn what_is_not_tested_is_refused() {
    let refused = sessions().filter(|(_, session)| rules(session).is_err());
    let mut kinds = BTreeSet::new();
    for (kind, session) in refused {
        let error = run(&session, &[]).expect_err("refused");
        assert!(matches!(error, DeviantError::Unprobed(Unprobed::Passing)));
        kinds.insert(format!("{kind:?}"));
    }
    assert_eq!(kinds.len(), 2, "{kinds:?}");
}
