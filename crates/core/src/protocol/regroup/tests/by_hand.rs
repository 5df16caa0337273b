//! Cases that random schedules meet too seldom, message by message.

use std::collections::VecDeque;
use std::sync::Arc;

use super::super::attempt::{Attempt, ViewNumber};
use super::super::evidence::Evidence;
use super::super::history::History;
use super::super::interface::{Input, Output, RegroupSetup};
use super::super::links::{Links, LinksError};
use super::super::machine::Regroup;
use super::super::record::{Durable, MOST_RESTARTS, Onward, Record};
use super::super::resume::{Publication, Resume, Tolerance};
use super::super::sets::{CutLinks, LinkIndex, Members};
use super::super::signed::Signed;
use super::super::threshold::Thresholds;
use super::Marks;
use crate::protocol::SessionId;
use crate::vocabulary::{PeerIndex, ReleaseId, Span, Time};

const FIRST: Attempt = Attempt {
    release: ReleaseId(1),
    retry: 0,
    view: ViewNumber(0),
};

const SESSION: SessionId = SessionId([1; 16]);

/// This record as its origin signs it.
fn signed(record: Record) -> Signed {
    let bytes = record.signed_bytes(SESSION, |_| Some([0; 32]));
    let signature = Marks::of(record.origin()).sign(&bytes.expect("a digest"));
    Signed { record, signature }
}

fn pair(u: u32, v: u32) -> (PeerIndex, PeerIndex) {
    (PeerIndex(u), PeerIndex(v))
}

const PATIENCE: u64 = 1_000;

/// Four members, each connected to each.
struct Four {
    members: Vec<Regroup>,
    disks: Vec<Vec<Durable>>,
    resumed: Vec<Option<Resume>>,
    certified: Vec<Option<Attempt>>,
    proven: Vec<(usize, Evidence)>,
    under_way: VecDeque<(usize, usize, Signed)>,
    /// Timers of members that are about to state where they stand.
    timers: Vec<(usize, u64)>,
}

fn setup(u: u32) -> RegroupSetup {
    let pairs = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)].map(|(u, v)| pair(u, v));
    RegroupSetup {
        me: PeerIndex(u),
        session: SESSION,
        signatures: Marks::of(PeerIndex(u)),
        links: Arc::new(Links::new(4, pairs.to_vec()).expect("a graph")),
        tolerance: Arc::new(Tolerance {
            colluders: 1,
            floor: 3,
            needs: vec![1; 4],
            retries: 0,
            publication: Publication::Sealed(Thresholds::forged(&[1; 4])),
        }),
        last: ReleaseId(3),
        patience: Span(PATIENCE),
    }
}

impl Four {
    fn new() -> Self {
        let mut four = Self {
            members: (0..4).map(|u| Regroup::new(setup(u))).collect(),
            disks: vec![Vec::new(); 4],
            resumed: vec![None; 4],
            certified: vec![None; 4],
            proven: Vec::new(),
            under_way: VecDeque::new(),
            timers: Vec::new(),
        };
        (0..4).for_each(|u| four.tell(u, Input::Start));
        four
    }

    fn tell(&mut self, u: usize, input: Input) {
        let mut out = Vec::new();
        self.members[u].handle(input, Time(0), &mut out);
        for output in out {
            match output {
                Output::Persist(record) => self.disks[u].push(record),
                Output::Send { to, record } => {
                    let one = |v: PeerIndex| (u, v.index(), record.clone());
                    self.under_way.extend(to.into_iter().map(one));
                }
                Output::Resume { resume, .. } => self.resumed[u] = Some(resume),
                Output::Certified(certificate) => self.certified[u] = Some(certificate.attempt()),
                Output::Deviates(evidence) => self.proven.push((u, *evidence)),
                Output::Wake(number, at) if at.0 < PATIENCE => self.timers.push((u, number)),
                _ => {}
            }
        }
    }

    /// Delivers what is under way over these links, in order, and lets members state where they stand, until nothing is.
    fn deliver(&mut self, may: impl Fn(usize, usize) -> bool) {
        loop {
            while let Some(at) = self.under_way.iter().position(|(u, v, _)| may(*u, *v)) {
                let (from, to, record) = self.under_way.remove(at).expect("found");
                let from = PeerIndex::from_index(from);
                self.tell(to, Input::Heard { from, record });
            }
            let due = std::mem::take(&mut self.timers);
            if due.is_empty() {
                return;
            }
            due.into_iter()
                .for_each(|(u, number)| self.tell(u, Input::Timer(number)));
        }
    }

    /// Crashes a member, which comes back with its disk, or what it `keeps` of it. What was under way to it is gone.
    fn restart(&mut self, u: usize, keeps: impl Fn(&Durable) -> bool) {
        self.under_way.retain(|(_, to, _)| *to != u);
        self.timers.retain(|(of, _)| *of != u);
        let disk = self.disks[u].iter().filter(|one| keeps(one)).cloned();
        self.members[u] = Regroup::recovered(setup(u as u32), disk);
        self.resumed = vec![None; 4];
        for v in (0..4).filter(|v| *v != u) {
            self.tell(v, Input::Returned(PeerIndex::from_index(u)));
        }
        self.tell(u, Input::Start);
        self.deliver(|_, _| true);
    }
}

/// Member 0 alone has certified, and may have opened, when it crashes and another link breaks. What comes of the first release when it is
/// back depends on its disk.
fn after_a_crash(keeps: impl Fn(&Durable) -> bool) -> Vec<Option<Resume>> {
    let mut four = Four::new();
    (0..4).for_each(|u| four.tell(u, Input::Sending(FIRST)));
    (0..4).for_each(|u| four.tell(u, Input::Holding(FIRST)));
    four.deliver(|_, to| to == 0);
    assert_eq!(four.certified, [Some(FIRST), None, None, None]);
    // What was under way to the crashed process is gone; the others freeze before they hear who else holds.
    four.under_way.retain(|(_, to, _)| *to != 0);
    let held: VecDeque<_> = four.under_way.drain(..).collect();
    for u in 1..4 {
        let record = signed(Record::Cut {
            link: LinkIndex(3),
            origin: PeerIndex(1),
        });
        let from = PeerIndex(if u == 1 { 2 } else { 1 });
        let other_end = if u == 1 {
            Input::Suspect(from)
        } else {
            Input::Heard { from, record }
        };
        four.tell(u, other_end);
    }
    assert!((1..4).all(|u| four.members[u].is_frozen()));
    four.under_way.retain(|(_, to, _)| *to != 0);
    let later: VecDeque<_> = four.under_way.drain(..).collect();
    four.under_way = held.into_iter().chain(later).collect();
    four.deliver(|_, to| to != 0);
    assert_eq!(four.certified[1..], [None, None, None]);
    four.restart(0, keeps);
    four.resumed
}

#[test]
fn what_one_member_certified_is_final_for_all() {
    let again = |resume: &Option<Resume>| matches!(resume, Some(Resume::Average { attempt: FIRST, heirs, .. }) if heirs.is_empty());
    let resumed = after_a_crash(|_| true);
    assert!(resumed.iter().all(again), "{resumed:?}");
    // Without its certificate on the disk the release would be tried anew: what member 0 opened would be readable twice.
    let resumed = after_a_crash(|record| !matches!(record, Durable::Certified(_)));
    let anew = |resume: &Option<Resume>| matches!(resume, Some(Resume::Begin { attempt, .. }) if attempt.view > FIRST.view);
    assert!(resumed.iter().all(anew), "{resumed:?}");
}

/// A member that crashes when its word has left, and before it has those of all others, comes back to others that know of a certificate that it lacks. It is told what it
/// missed, whichever release it is at: measured by the attempt that it is in, as it once was, a member that is in none would take no word of the third
/// release, and would wait for ever while everybody else has gone on.
#[test]
fn whoever_comes_back_hears_what_it_missed_at_every_release() {
    for last in 1..=3 {
        let mut four = Four::new();
        let at = |release| Attempt {
            release: ReleaseId(release),
            ..FIRST
        };
        for release in 1..=last {
            (0..4).for_each(|u| four.tell(u, Input::Sending(at(release))));
            (0..4).for_each(|u| four.tell(u, Input::Holding(at(release))));
            if release < last {
                four.deliver(|_, _| true);
                (0..4).for_each(|u| four.tell(u, Input::Averaged(ReleaseId(release))));
            }
        }
        four.deliver(|_, to| to != 0);
        let knows = |u: usize| four.members[u].certificate(at(last)).is_some();
        assert_eq!([0, 1, 2, 3].map(knows), [false, true, true, true]);
        four.restart(0, |_| true);
        let is_again = |resume: &Option<Resume>| matches!(resume, Some(Resume::Average { attempt, .. }) if *attempt == at(last));
        assert!(
            four.resumed.iter().all(is_again),
            "{last}: {:?}",
            four.resumed
        );
    }
}

/// A word takes one way only while nothing goes wrong. What is lost with the links that it was on comes another way before the claim that it shows: from whoever claims, and
/// through members that knew it before and claim nothing.
#[test]
fn a_claim_comes_with_the_words_that_show_it() {
    let lost: [&[(usize, usize)]; 2] = [&[(0, 3)], &[(0, 3), (1, 2)]];
    let cut: [&[(usize, usize)]; 2] = [&[(0, 3)], &[(0, 3), (1, 3), (1, 2)]];
    for (lost, cut) in lost.into_iter().zip(cut) {
        let mut four = Four::new();
        (0..4).for_each(|u| four.tell(u, Input::Sending(FIRST)));
        (0..4).for_each(|u| four.tell(u, Input::Holding(FIRST)));
        four.deliver(|from, to| !lost.contains(&(from, to)));
        let lacks = |u: usize| lost.iter().any(|(_, to)| *to == u);
        let expected = [0, 1, 2, 3].map(|u| (!lacks(u)).then_some(FIRST));
        assert_eq!(four.certified, expected);
        four.under_way.clear();
        for &(u, v) in cut {
            four.tell(u, Input::Suspect(PeerIndex::from_index(v)));
            four.tell(v, Input::Suspect(PeerIndex::from_index(u)));
        }
        four.resumed = vec![None; 4];
        four.deliver(|_, _| true);
        let again = |resume: &Option<Resume>| matches!(resume, Some(Resume::Average { attempt: FIRST, heirs, .. }) if heirs.is_empty());
        assert!(
            four.resumed.iter().all(again),
            "{lost:?}: {:?}",
            four.resumed
        );
    }
}

/// A member that claims a certificate that nobody else can check is not heard.
#[test]
fn a_certificate_is_not_believed() {
    let mut four = Four::new();
    (0..4).for_each(|u| four.tell(u, Input::Sending(FIRST)));
    (1..4).for_each(|u| four.tell(u, Input::Holding(FIRST)));
    four.tell(1, Input::Suspect(PeerIndex(2)));
    four.deliver(|_, to| to != 0);
    four.under_way.clear();
    let mut statement = None;
    for record in &four.disks[1] {
        if let Durable::Stated { statement: one, .. } = record {
            statement = Some(one.clone());
        }
    }
    let mut statement = statement.expect("member 1 froze");
    statement.certified = vec![FIRST];
    let (origin, serial) = (PeerIndex(0), 1);
    for to in 1..4 {
        let record = signed(Record::Statement {
            origin,
            serial,
            statement: statement.clone(),
        });
        let from = origin;
        four.tell(to, Input::Heard { from, record });
    }
    four.deliver(|_, to| to != 0);
    assert!(
        (1..4).all(|u| four.members[u].is_frozen()),
        "nobody goes on with what member 0 claims"
    );
    // Nor does anybody take a record that its origin could not have signed, or a link that is not there.
    let record = signed(Record::Cut {
        link: LinkIndex(5),
        origin: PeerIndex(0),
    });
    let serial_before = four.disks[3].len();
    let from = PeerIndex(0);
    four.tell(3, Input::Heard { from, record });
    for link in [LinkIndex(6), LinkIndex(u32::MAX)] {
        let record = signed(Record::Cut {
            link,
            origin: PeerIndex(0),
        });
        four.tell(3, Input::Heard { from, record });
    }
    let record = signed(Record::Held {
        origin: PeerIndex(9),
        attempt: FIRST,
    });
    four.tell(3, Input::Heard { from, record });
    assert_eq!(four.disks[3].len(), serial_before);
}

#[test]
fn the_largest_component_goes_on_and_nobody_in_a_tie() {
    let links = Links::new(
        6,
        [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5)]
            .map(|(u, v)| pair(u, v))
            .to_vec(),
    );
    let links = links.expect("a line");
    let cut = |at: &[u32]| {
        let mut cuts = CutLinks::none(links.len());
        at.iter()
            .for_each(|link| assert!(cuts.insert(LinkIndex(*link))));
        cuts
    };
    let members = |at: &[u32], needs: u32| -> Vec<u32> {
        let found = links.members(&cut(at), &[needs; 6]);
        found.iter().map(|peer| peer.0).collect()
    };
    assert_eq!(members(&[], 0), [0, 1, 2, 3, 4, 5]);
    assert_eq!(members(&[1], 0), [2, 3, 4, 5]);
    assert_eq!(members(&[2], 0), [0; 0], "three against three");
    assert_eq!(members(&[1, 3], 0), [0; 0], "three pairs");
    assert_eq!(
        members(&[], 2),
        [0; 0],
        "the ends of a line have one neighbour, and then the next have"
    );
    assert_eq!(links.diameter(&cut(&[1]), &Members::all(6)), 3);
    assert_eq!(links.diameter(&cut(&[]), &Members::all(6)), 5);
    for (peers, pairs) in [
        (2, vec![pair(1, 0)]),
        (2, vec![pair(0, 2)]),
        (3, vec![pair(0, 1); 2]),
    ] {
        assert_eq!(
            Links::new(peers, pairs.clone()).map(|_| ()),
            Err(LinksError::Pair {
                at: pairs.len() - 1,
                peers
            })
        );
    }
}

/// What a session has paid for is not forgotten when all its members start again: the next attempt would pass for one of the try before.
#[test]
fn retries_are_remembered_by_whoever_comes_back() {
    let mut disruptions = Regroup::new(setup(0)).view().disruptions.clone();
    disruptions.restarts[1] = 1;
    let decided = Durable::Decided {
        disruptions,
        history: History::default(),
        onward: Some(Onward::Anew(ReleaseId(1))),
        retries: 2,
    };
    let mut member = Regroup::recovered(setup(0), [decided]);
    let mut out = Vec::new();
    member.handle(Input::Start, Time(0), &mut out);
    let timer = out.iter().find_map(|output| match output {
        Output::Wake(number, _) => Some(*number),
        _ => None,
    });
    let timer = Input::Timer(timer.expect("it is about to state where it stands"));
    member.handle(timer, Time(0), &mut out);
    let stated = out.iter().find_map(|output| match output {
        Output::Persist(Durable::Stated { statement, .. }) => Some(statement.retries),
        _ => None,
    });
    assert_eq!((member.retries(), stated), (2, Some(2)));
}

/// Whoever came back more often than it may is believed nothing, though it signs that it did.
#[test]
fn a_restart_beyond_the_limit_changes_nothing() {
    let mut four = Four::new();
    let from = PeerIndex(0);
    let mut known = |count| {
        let record = signed(Record::Restart {
            origin: from,
            count,
        });
        four.tell(1, Input::Heard { from, record });
        let member = &four.members[1];
        (member.known().restarts()[0], member.is_frozen())
    };
    assert_eq!(known(MOST_RESTARTS + 1), (0, false));
    assert_eq!(known(MOST_RESTARTS), (MOST_RESTARTS, true));
}

/// A member that states two things is proved to deviate, everywhere and by whoever has both halves; a signature that is not its origin's does nothing.
#[test]
fn two_statements_of_one_member_are_proof_against_it() {
    let mut four = Four::new();
    four.tell(0, Input::Suspect(PeerIndex(1)));
    four.deliver(|_, _| true);
    let mut honest = None;
    for record in &four.disks[0] {
        if let Durable::Stated { statement, .. } = record {
            honest = Some(statement.clone());
        }
    }
    let honest = honest.expect("member 0 froze");
    let mut other = honest.clone();
    other.done = ReleaseId(1);
    let statement = |serial, statement| Record::Statement {
        origin: PeerIndex(0),
        serial,
        statement,
    };
    let from = PeerIndex(0);
    // Nobody but member 0 can sign it.
    let signature = signed(statement(1, honest.clone())).signature;
    let forged = Signed {
        record: statement(1, other.clone()),
        signature,
    };
    four.tell(
        2,
        Input::Heard {
            from,
            record: forged,
        },
    );
    assert!(four.proven.is_empty() && !four.members[2].is_cut(from));
    // The same again is no contradiction.
    let record = signed(statement(1, honest.clone()));
    four.tell(2, Input::Heard { from, record });
    assert!(four.proven.is_empty());
    let record = signed(statement(1, other.clone()));
    four.tell(2, Input::Heard { from, record });
    four.deliver(|_, _| true);
    let by: Vec<usize> = four.proven.iter().map(|(u, _)| *u).collect();
    assert!([1, 2, 3].iter().all(|u| by.contains(u)), "{by:?}");
    for (u, evidence) in &four.proven {
        assert_eq!(evidence.culprit(), PeerIndex(0));
        assert!(evidence.is_proof(SESSION, &Marks(PeerIndex::from_index(*u))));
        let elsewhere = SessionId([2; 16]);
        assert!(!evidence.is_proof(elsewhere, &Marks(PeerIndex(3))));
        assert!(four.members[*u].is_cut(PeerIndex(0)));
    }
    // What is later and says more is no contradiction, and what is forged is none that anybody accepts.
    let mut more = honest.clone();
    more.disruptions.restarts[0] += 1;
    let (first, second) = (
        signed(statement(1, honest)),
        signed(statement(2, more.clone())),
    );
    assert_eq!(Evidence::of(&first, &second), None);
    assert_eq!(Evidence::of(&second, &first), None);
    let backwards = signed(statement(3, other));
    let evidence = Evidence::of(&second, &backwards).expect("less had gone wrong later");
    assert!(evidence.is_proof(SESSION, &Marks(PeerIndex(3))));
    let Signed { record, .. } = backwards;
    let forged = Signed {
        record,
        signature: second.signature,
    };
    let evidence = Evidence::of(&second, &forged).expect("a contradiction");
    assert!(!evidence.is_proof(SESSION, &Marks(PeerIndex(3))));
}

/// What was decided to be averaged again is not there for whoever comes back, and what was averaged since then is.
#[test]
fn a_sum_that_is_averaged_again_is_gone_after_a_restart() {
    let mut disruptions = Regroup::new(setup(0)).view().disruptions.clone();
    disruptions.restarts[1] = 1;
    let again = Durable::Decided {
        disruptions,
        history: History::default(),
        onward: Some(Onward::Again(ReleaseId(2))),
        retries: 0,
    };
    let done = [1, 2].map(|release| Durable::Done(ReleaseId(release)));
    let [first, second] = done;
    let had = [first.clone(), second.clone(), again.clone()];
    assert_eq!(Regroup::recovered(setup(0), had).done, ReleaseId(1));
    let has = [first, second.clone(), again, second];
    assert_eq!(Regroup::recovered(setup(0), has).done, ReleaseId(2));
}
