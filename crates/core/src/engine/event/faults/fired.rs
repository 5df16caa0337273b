//! What went wrong in a run, and what was done about it: counted where it happens.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::Serialize;

use crate::protocol::regroup::{Attempt, Links, Resume, View};
use crate::vocabulary::{PeerIndex, ReleaseId};

/// What went wrong, and what peers did about it. All of it is 0 where nothing goes wrong.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Fired {
    /// Processes that crashed.
    pub crashes: u64,
    /// Records of which a crash left half on the disk.
    pub torn_records: u64,
    /// Disks that failed.
    pub disk_failures: u64,
    /// Processes that started again.
    pub restarts: u64,
    /// Frames that were lost, and sent again.
    pub frames_lost: u64,
    /// Frames that waited for a link.
    pub frames_held_up: u64,
    /// Links that were given up.
    pub cuts: u64,
    /// Views that peers decided after the first.
    pub views: u64,
    /// Attempts that were begun again.
    pub attempts_again: u64,
    /// Averagings that were begun again.
    pub averagings_again: u64,
    /// Contributions of lost peers that an heir brought in.
    pub inherited: u64,
    /// By what had happened when somebody was lost.
    pub cases: Cases,
}

/// When somebody vanished, and what followed: one entry for each line of the table in the guide's page on lost peers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Cases {
    /// Lost before anybody had published: the release is begun without them, and costs nobody more.
    pub before_publishing: u64,
    /// Lost when some had published, and nobody knew that all held it: tried again, at the price of one release more.
    pub uncertified: u64,
    /// The same, where nobody but the lost knew.
    pub certified_by_the_lost_alone: u64,
    /// Lost when somebody who is left knew that all held what was published, and they themselves did not: heirs bring their contributions in.
    pub certified_by_others: u64,
    /// Lost while they averaged: heirs bring their contributions in.
    pub while_averaging: u64,
    /// A certified contribution that nobody holds any more: the release is tried again, or the session ends.
    pub nobody_holds_it: u64,
    /// Lost with all sums in hand.
    pub after_the_last_sum: u64,
    /// Back within the grace: nobody is lost, and one attempt or averaging is begun again.
    pub back_in_time: u64,
    /// Back too late: the others go on without it.
    pub back_too_late: u64,
    /// Lost with their disk.
    pub disk_lost: u64,
    /// Links that were given up, with everybody still connected.
    pub links_alone: u64,
    /// A release had to be tried again and no retry was left.
    pub out_of_retries: u64,
    /// Too few were left: the session ends.
    pub below_the_floor: u64,
    /// Alive, and cut off from those who go on.
    pub cut_off: u64,
}

impl Cases {
    /// Every case with its name.
    #[must_use]
    pub fn all(&self) -> [(&'static str, u64); 14] {
        [
            ("before publishing", self.before_publishing),
            ("uncertified", self.uncertified),
            (
                "certified by the lost alone",
                self.certified_by_the_lost_alone,
            ),
            ("certified by others", self.certified_by_others),
            ("while averaging", self.while_averaging),
            ("nobody holds it", self.nobody_holds_it),
            ("after the last sum", self.after_the_last_sum),
            ("back in time", self.back_in_time),
            ("back too late", self.back_too_late),
            ("disk lost", self.disk_lost),
            ("links alone", self.links_alone),
            ("out of retries", self.out_of_retries),
            ("below the floor", self.below_the_floor),
            ("cut off", self.cut_off),
        ]
    }

    fn add(&mut self, other: &Self) {
        self.before_publishing += other.before_publishing;
        self.uncertified += other.uncertified;
        self.certified_by_the_lost_alone += other.certified_by_the_lost_alone;
        self.certified_by_others += other.certified_by_others;
        self.while_averaging += other.while_averaging;
        self.nobody_holds_it += other.nobody_holds_it;
        self.after_the_last_sum += other.after_the_last_sum;
        self.back_in_time += other.back_in_time;
        self.back_too_late += other.back_too_late;
        self.disk_lost += other.disk_lost;
        self.links_alone += other.links_alone;
        self.out_of_retries += other.out_of_retries;
        self.below_the_floor += other.below_the_floor;
        self.cut_off += other.cut_off;
    }
}

impl Fired {
    /// What went wrong in another run as well.
    pub fn add(&mut self, other: &Self) {
        self.crashes += other.crashes;
        self.torn_records += other.torn_records;
        self.disk_failures += other.disk_failures;
        self.restarts += other.restarts;
        self.frames_lost += other.frames_lost;
        self.frames_held_up += other.frames_held_up;
        self.cuts += other.cuts;
        self.views += other.views;
        self.attempts_again += other.attempts_again;
        self.averagings_again += other.averagings_again;
        self.inherited += other.inherited;
        self.cases.add(&other.cases);
    }
}

/// What an observer who sees everything must remember to tell the cases apart.
#[derive(Debug, Default)]
pub(super) struct Watch {
    /// The view that was decided last: they form a chain.
    last: Option<Arc<View>>,
    /// Who has known of an attempt that it is certified.
    certified: BTreeMap<Attempt, BTreeSet<PeerIndex>>,
    /// Retries that were spent.
    retries: u32,
    /// Attempts that were tried again although somebody who is left knew of their certificate, and somebody else held every contribution: never.
    pub(super) finals_given_up: u64,
}

/// Who takes part in every attempt.
type Parts = BTreeMap<Attempt, (Arc<View>, u32)>;

/// Whether of everybody who took part in an attempt and is lost enough neighbours are left, who open together what it contributed: these `needs`.
fn is_held(attempt: &Attempt, now: &View, parts: &Parts, (links, needs): (&Links, &[u32])) -> bool {
    let Some((then, _)) = parts.get(attempt) else {
        return false;
    };
    let lost = then
        .members
        .iter()
        .filter(|peer| !now.members.contains(*peer));
    let is_left = |peer: &PeerIndex| now.members.contains(*peer);
    let mut held = lost.map(|lost| {
        let live = links.live(lost, then.disruptions.cuts(), &then.members);
        live.filter(is_left).count() >= needs[lost.index()].max(1) as usize
    });
    held.all(|is_held| is_held)
}

impl Watch {
    /// A peer has written down that an attempt is certified.
    pub(super) fn certified(&mut self, peer: PeerIndex, attempt: Attempt) {
        self.certified.entry(attempt).or_default().insert(peer);
    }

    /// A peer goes on in a view. What follows from a new one is counted with the first that does; `is_up` tells who lives.
    pub(super) fn goes_on(
        &mut self,
        view: &Arc<View>,
        resume: &Resume,
        is_up: impl Fn(PeerIndex) -> bool,
        (parts, held_by): (&Parts, (&Links, &[u32])),
        cases: &mut Cases,
    ) {
        let is_older = |last: &Arc<View>| last.number >= view.number;
        if self.last.as_ref().is_some_and(is_older) {
            return;
        }
        let Some(before) = self.last.replace(Arc::clone(view)) else {
            return;
        };
        let lost = before.members.iter();
        let lost: Vec<PeerIndex> = lost.filter(|peer| !view.members.contains(*peer)).collect();
        cases.cut_off += lost.iter().filter(|peer| is_up(**peer)).count() as u64;
        let restarts = |view: &View| -> u64 {
            let all = view.disruptions.restarts().iter().zip(0..);
            let here = all.filter(|(_, peer)| view.members.contains(PeerIndex(*peer)));
            here.map(|(count, _)| u64::from(*count)).sum()
        };
        let is_back = restarts(view) > restarts(&before);
        cases.back_in_time += u64::from(is_back);
        cases.links_alone += u64::from(lost.is_empty() && !is_back);
        match resume {
            Resume::Begin { attempt, retries } => {
                let given_up = self.certified.iter().filter(|(one, knew)| {
                    let is_known = knew.iter().any(|peer| view.members.contains(*peer));
                    one.release == attempt.release && is_known && is_held(one, view, parts, held_by)
                });
                self.finals_given_up += given_up.count() as u64;
                if *retries > self.retries {
                    *self.wasted(attempt.release, view, cases) += 1;
                    self.retries = *retries;
                } else if !lost.is_empty() {
                    cases.before_publishing += 1;
                }
            }
            Resume::Average {
                attempt, retries, ..
            } => {
                self.retries = self.retries.max(*retries);
                let knew = self.certified.get(attempt);
                for peer in lost {
                    match knew.is_some_and(|knew| knew.contains(&peer)) {
                        true => cases.while_averaging += 1,
                        false => cases.certified_by_others += 1,
                    }
                }
            }
            Resume::Finished | Resume::Lost { .. } => {}
        }
    }

    /// Which case it is that what was published at this release comes to nothing.
    fn wasted<'a>(&self, release: ReleaseId, view: &View, cases: &'a mut Cases) -> &'a mut u64 {
        let at = self.certified.iter();
        let mut at = at
            .filter(|(attempt, _)| attempt.release == release)
            .peekable();
        let is_certified = at.peek().is_some();
        let is_known = at.any(|(_, knew)| knew.iter().any(|peer| view.members.contains(*peer)));
        match (is_known, is_certified) {
            (true, _) => &mut cases.nobody_holds_it,
            (false, true) => &mut cases.certified_by_the_lost_alone,
            (false, false) => &mut cases.uncertified,
        }
    }
}
