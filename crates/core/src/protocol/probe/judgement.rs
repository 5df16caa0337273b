//! Who is to blame for a sum that is wrong, from what everybody says it held.

use std::collections::BTreeMap;

use super::account::{Account, Exhibit};
use super::reading::{Probe, Reading};
use super::rules::{Input, Place, Rules};
use crate::vocabulary::PeerIndex;

/// What a peer has done.
#[derive(Clone, Debug, PartialEq)]
pub enum Finding {
    /// It gave no account, one of another length, or with numbers that none are.
    NoAccount,
    /// It sent something else than it says: it told two neighbours two things, or lies about what it told them.
    Contradiction {
        /// Where.
        place: Place,
        /// Whoever shows it.
        shown_by: PeerIndex,
    },
    /// Its value after this step does not follow from the values that it accepted.
    WrongStep {
        /// The position of the step among its own.
        step: usize,
        /// How far its reading is off.
        off: f64,
        /// How far rounding could put it off.
        slack: f64,
    },
    /// It shows a block that its neighbour has not signed.
    Forgery {
        /// What it is said to be.
        place: Place,
    },
    /// A neighbour gave no account, and it does not show what that neighbour sent it.
    Withheld {
        /// Where.
        place: Place,
    },
}

/// A peer that is to blame, and for what.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// Who.
    pub culprit: PeerIndex,
    /// For what.
    pub finding: Finding,
}

impl Rules {
    /// Everybody who is to blame, from the accounts of all (by number; nothing for who gave none) and all exhibits. `is_signed` tells whether
    /// the block of an exhibit carries the signature of the peer of its place.
    ///
    /// A pure function: whoever has the signed accounts and exhibits comes to the same verdicts.
    #[must_use]
    pub fn judge(
        &self,
        probe: &Probe,
        accounts: &[Option<Account>],
        exhibits: &[Exhibit],
        is_signed: impl Fn(&Exhibit) -> bool,
    ) -> Vec<Verdict> {
        let accounts = &self.whole(accounts);
        let all = (0..self.peers()).map(PeerIndex::from_index);
        let is_silent = |peer: &PeerIndex| accounts[peer.index()].is_none();
        let silent = all.clone().filter(is_silent);
        let mut verdicts: Vec<Verdict> = silent
            .map(|culprit| Verdict {
                culprit,
                finding: Finding::NoAccount,
            })
            .collect();
        // What came from neighbours who say something else, or nothing.
        let mut shown = BTreeMap::new();
        for exhibit in exhibits {
            let (by, place) = (exhibit.by, exhibit.place);
            let is_right = exhibit.block.len() == probe.values() && self.hears(by, place);
            if !is_right || !is_signed(exhibit) {
                let (culprit, finding) = (by, Finding::Forgery { place });
                verdicts.push(Verdict { culprit, finding });
                continue;
            }
            let reading = probe.read(&exhibit.block);
            let claimed = self.claimed(accounts, place);
            if claimed.is_some_and(|claimed| *claimed != reading) {
                let (culprit, shown_by) = (place.peer, by);
                let finding = Finding::Contradiction { place, shown_by };
                verdicts.push(Verdict { culprit, finding });
            }
            shown.insert((by, place), reading);
        }
        for culprit in all {
            let steps = 0..self.steps(culprit);
            let found =
                steps.filter_map(|step| self.check(probe, accounts, &shown, (culprit, step)));
            verdicts.extend(found.map(|finding| Verdict { culprit, finding }));
        }
        verdicts
    }

    /// Every peer's account, if it is one of as many readings as the peer held values, and they are numbers.
    pub(super) fn whole<'a>(&self, accounts: &'a [Option<Account>]) -> Vec<Option<&'a Account>> {
        let whole = |peer: PeerIndex| {
            let account = accounts.get(peer.index())?.as_ref()?;
            let is_sound = account.readings.iter().all(Reading::is_sound);
            let expected = self.steps(peer) + 1;
            (account.readings.len() == expected && is_sound).then_some(account)
        };
        let all = (0..self.peers()).map(PeerIndex::from_index);
        all.map(whole).collect()
    }

    /// What the sender says was sent at a place.
    pub(super) fn claimed<'a>(
        &self,
        whole: &[Option<&'a Account>],
        place: Place,
    ) -> Option<&'a Reading> {
        let account = whole.get(place.peer.index()).copied().flatten()?;
        account.readings.get(self.step_of(place)?)
    }

    /// What is wrong with what a peer says of a step.
    fn check(
        &self,
        probe: &Probe,
        accounts: &[Option<&Account>],
        shown: &BTreeMap<(PeerIndex, Place), Reading>,
        (peer, step): (PeerIndex, usize),
    ) -> Option<Finding> {
        let account = accounts[peer.index()]?;
        let mut terms = Vec::new();
        for Input { from, at, weight } in self.inputs(peer, step) {
            let reading = match from {
                None => account.readings.get(at).copied(),
                Some(place) => {
                    let shown = shown.get(&(peer, place));
                    shown.or_else(|| self.claimed(accounts, place)).copied()
                }
            };
            match (reading, from) {
                (Some(reading), _) => terms.push((weight, reading)),
                (None, Some(place)) => return Some(Finding::Withheld { place }),
                (None, None) => return Some(Finding::NoAccount),
            }
        }
        let found = account.readings.get(step + 1)?;
        let slack = self.slack(probe, &terms, found);
        let off = (0..2).map(|vector| {
            let products = terms
                .iter()
                .map(|(weight, of)| weight * of.projections[vector]);
            (found.projections[vector] - products.sum::<f64>()).abs()
        });
        let off = off.fold(0.0, f64::max);
        (off > slack).then_some(Finding::WrongStep { step, off, slack })
    }
}
