//! Who says that it holds what was published in an attempt: words, the way they go, and certificates, which are everybody's.

use super::attempt::Attempt;
use super::certificate::{Certificate, SIGNATURE_LEN};
use super::history::History;
use super::interface::{End, Output};
use super::machine::{Regroup, Stage};
use super::paths::Paths;
use super::record::{Durable, Record};
use super::resume::Resume;
use super::signed::Signed;
use crate::vocabulary::{PeerIndex, ReleaseId};

impl Regroup {
    /// Whether this member may need what somebody says of this attempt. It counts from the sums that it has, not from the attempt that it is in: a member
    /// that has come back is in none, and is told again what it missed.
    ///
    /// What it lacks is in its present view and try, and at the release after its last sum. *Proof.* Let p show a certificate of A that this member lacks, with
    /// both in a later view. This member said that it holds A, so it had decided A's view and tried A. It has decided no later view: p certified A before it stated what that was
    /// decided on, and then the decision came with A's certificate, or later, when p was frozen and certified nothing. Tries are counted by decisions, and nobody has
    /// a sum without its certificate. ∎ Others are one release further at most, since they wait for this member's word.
    pub(super) fn may_come(&self, attempt: Attempt) -> bool {
        let (release, done) = (attempt.release.0, self.done.0);
        attempt.view == self.view().number
            && attempt.retry == self.retries
            && (done..=done.saturating_add(2)).contains(&release)
    }

    pub(super) fn note_held(
        &mut self,
        attempt: Attempt,
        by: PeerIndex,
        signature: [u8; SIGNATURE_LEN],
    ) {
        let held = self.held.entry(attempt).or_default();
        held.insert(by, signature);
    }

    /// Passes on somebody's word that it holds what its neighbours published in an attempt of the present view.
    ///
    /// As long as nothing goes wrong it takes shortest paths from its origin, and comes once to everybody ([`Paths`]). Once this member is frozen it goes to all neighbours, once:
    /// back to whom it came from too. That one may know it from its origin alone, and not have passed it on, since the word's way went elsewhere, over a link that is cut by now.
    /// So does every word of the newest certificate before the statement that claims it ([`Self::state`]), and by induction over the way of that statement whoever hears the claim has
    /// heard those words on the same link before. Older certificates are with everybody: a certificate at the next release says that all are done with
    /// this one.
    pub(super) fn pass_on(&mut self, word: Signed, from: Option<PeerIndex>, out: &mut Vec<Output>) {
        let Record::Held { origin, attempt } = word.record else {
            return;
        };
        if self.stage == Stage::Running {
            let view = &self.views[self.views.len() - 1];
            let paths = match self.paths.take() {
                Some(paths) if paths.view() == view.number => paths,
                _ => Paths::of(view, &self.setup.links, self.setup.me),
            };
            let mut to = paths.onward(origin).to_vec();
            self.paths = Some(paths);
            to.retain(|neighbour| Some(*neighbour) != from);
            if !to.is_empty() {
                out.push(Output::Send { to, record: word });
            }
        } else if self.told.insert((attempt, origin)) {
            self.flood(word, None, out);
        }
    }

    /// This member holds what all its neighbours published.
    pub(super) fn hold(&mut self, attempt: Attempt, out: &mut Vec<Output>) {
        let origin = self.setup.me;
        let word = self.signed(Record::Held { origin, attempt });
        self.note_held(attempt, origin, word.signature);
        out.push(Output::Persist(Durable::Held(attempt)));
        self.pass_on(word, None, out);
        self.certify(out);
    }

    /// Notes of which attempt the sum of a release is.
    pub(super) fn note_released(&mut self, release: ReleaseId) {
        let attempt = self.certified.keys().find(|at| at.release == release);
        let attempt = attempt.and_then(|at| Some((*at, self.digest_of(at.view)?)));
        if let Some((attempt, view)) = attempt {
            self.released.add(attempt, &view);
        }
    }

    /// What was released before the session goes on like this. `None` where this member lacks one of those releases.
    pub(super) fn history_before(&self, resume: &Resume) -> Option<History> {
        match resume {
            Resume::Begin { attempt, .. } => self.released.before(attempt.release),
            Resume::Average { attempt, .. } => {
                let before = self.released.before(attempt.release)?;
                Some(before.and(*attempt, &self.digest_of(attempt.view)?))
            }
            Resume::Finished | Resume::Lost { .. } => Some(History::default()),
        }
    }

    /// The neighbours whose words this member waits for, or through whom others' are to come, ascending; nobody unless words are all that it waits for.
    #[must_use]
    pub fn waits_for(&self) -> Vec<PeerIndex> {
        let here = self.current.filter(|at| self.is_current(*at));
        let held = here.filter(|at| !self.certified.contains_key(at));
        let held = held.and_then(|at| self.held.get(&at));
        let Some(held) = held.filter(|held| held.contains_key(&self.setup.me)) else {
            return Vec::new();
        };
        let view = self.view();
        let known = self
            .paths
            .as_ref()
            .filter(|paths| paths.view() == view.number);
        let made = match known {
            Some(_) => None,
            None => Some(Paths::of(view, &self.setup.links, self.setup.me)),
        };
        let paths = known.or(made.as_ref());
        let missing = view
            .members
            .iter()
            .filter(|member| !held.contains_key(member));
        let through = missing.filter_map(|member| paths?.from(member));
        let through: std::collections::BTreeSet<PeerIndex> = through.collect();
        through.into_iter().collect()
    }

    /// Goes on with an attempt whose certificate is complete.
    pub(super) fn certify(&mut self, out: &mut Vec<Output>) {
        let Some(attempt) = self.current.filter(|at| self.is_current(*at)) else {
            return;
        };
        let is_own = self
            .held
            .get(&attempt)
            .is_some_and(|held| held.contains_key(&self.setup.me));
        if !is_own || !self.is_certificate(attempt) || self.certified.contains_key(&attempt) {
            return;
        }
        if attempt.release > self.setup.last {
            return self.finish(End::Finished, out);
        }
        if let Some(certificate) = self.note_certified(attempt, out) {
            self.forget();
            out.push(Output::Certified(certificate));
        }
    }

    /// Whether everybody who takes part in an attempt has said that it holds what was published.
    pub(super) fn is_certificate(&self, attempt: Attempt) -> bool {
        let view = self.views.iter().rfind(|view| view.number == attempt.view);
        let held = self.held.get(&attempt);
        let (Some(view), Some(held)) = (view, held) else {
            return false;
        };
        let needed = self.defect;
        match needed.and_then(|defect| defect.words_needed(view.members.len())) {
            Some(needed) => held.len() >= needed,
            None => view.members.iter().all(|member| held.contains_key(&member)),
        }
    }

    /// The certificate of an attempt, if this member has it.
    #[must_use]
    pub fn certificate(&self, attempt: Attempt) -> Option<&Certificate> {
        self.certified.get(&attempt)
    }

    /// Makes an attempt's certificate durable, once everybody has said that it holds what was published.
    pub(super) fn note_certified(
        &mut self,
        attempt: Attempt,
        out: &mut Vec<Output>,
    ) -> Option<Certificate> {
        if !self.is_certificate(attempt) {
            return None;
        }
        let signatures = self.held.get(&attempt)?.clone();
        let certificate = Certificate::new(attempt, signatures);
        out.push(Output::Persist(Durable::Certified(certificate.clone())));
        self.certified.insert(attempt, certificate.clone());
        Some(certificate)
    }
}
