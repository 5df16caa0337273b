//! What was released in a session so far: a digest that all members know alike, to which the noise of views is bound.
//!
//! With h₀ = 0, the digest after release l is hₗ = H(hₗ₋₁, a, d), where a is the attempt whose contributions make the sum of l, and d the digest of the
//! view in which a was begun. That digest covers members, cut links and the digest of what was released before the view.
//!
//! # All members of a view have the same digest
//! Claim: two members that go on with release l + 1 in one view have the same hₗ. *Proof.* By induction over l. Both have the sum of l. Nobody has it
//! without the certificate of its attempt, and among members of later views at most one attempt at a release is certified (part (b) of
//! [`regroup`](super)). A certificate is over the digest of the attempt's view. So a and d are the same for both, and hₗ₋₁ is by induction. ∎
//!
//! # Equal keys mean equal contributions
//! Let two runs of one session have views of equal digests. Their members are the same, and so are the attempts that were released before and,
//! by induction, the noise of those. Then both runs release the same, or under other noise.

use std::collections::BTreeMap;

use super::attempt::Attempt;
use crate::vocabulary::ReleaseId;

/// Domain separation of digests of what was released.
const CONTEXT: &str = "undertone 2026-11 releases before a view v1";

/// Digest of the releases of a session up to one of them; zeros before the first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct History(pub(super) [u8; 32]);

impl History {
    /// This history with one more release: that of an attempt, begun in the view of this digest.
    #[must_use]
    pub fn and(self, attempt: Attempt, view: &[u8; 32]) -> Self {
        let mut hasher = blake3::Hasher::new_derive_key(CONTEXT);
        hasher.update(&self.0);
        hasher.update(&attempt.address());
        hasher.update(view);
        Self(*hasher.finalize().as_bytes())
    }
}

/// The histories up to each of the last releases of a member.
#[derive(Clone, Debug)]
pub(super) struct Histories(BTreeMap<ReleaseId, History>);

impl Default for Histories {
    fn default() -> Self {
        Self(BTreeMap::from([(ReleaseId(0), History::default())]))
    }
}

impl Histories {
    /// The history of all releases before this one, if this member has it.
    pub(super) fn before(&self, release: ReleaseId) -> Option<History> {
        let last = ReleaseId(release.0.checked_sub(1)?);
        self.0.get(&last).copied()
    }

    /// Adds the release of an attempt, begun in the view of this digest. Replaces that of an earlier attempt.
    pub(super) fn add(&mut self, attempt: Attempt, view: &[u8; 32]) {
        if let Some(before) = self.before(attempt.release) {
            self.0.insert(attempt.release, before.and(attempt, view));
        }
    }

    /// Forgets the histories up to releases that come more than one before this one.
    pub(super) fn forget_before(&mut self, oldest: ReleaseId) {
        self.0.retain(|release, _| release.0 + 1 >= oldest.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::regroup::ViewNumber;

    #[test]
    fn a_history_tells_apart_attempts_views_and_what_came_before() {
        let attempt = |release, retry, view| Attempt {
            release: ReleaseId(release),
            retry,
            view: ViewNumber(view),
        };
        let courses: [&[(Attempt, [u8; 32])]; 6] = [
            &[(attempt(1, 0, 0), [1; 32]), (attempt(2, 0, 0), [1; 32])],
            &[(attempt(1, 0, 0), [2; 32]), (attempt(2, 0, 0), [1; 32])],
            &[(attempt(1, 0, 0), [1; 32]), (attempt(2, 0, 0), [2; 32])],
            &[(attempt(1, 1, 0), [1; 32]), (attempt(2, 0, 0), [1; 32])],
            &[(attempt(1, 0, 0), [1; 32]), (attempt(2, 0, 9), [1; 32])],
            &[(attempt(1, 0, 0), [1; 32])],
        ];
        let mut seen = vec![History::default()];
        for course in courses {
            let mut histories = Histories::default();
            for (attempt, view) in course {
                histories.add(*attempt, view);
            }
            let last = ReleaseId(course.len() as u32).next();
            let history = histories.before(last).expect("all of it is known");
            assert!(!seen.contains(&history));
            seen.push(history);
        }
        // A release without the one before it is not known.
        let mut histories = Histories::default();
        histories.add(attempt(2, 0, 0), &[1; 32]);
        assert_eq!(histories.before(ReleaseId(3)), None);
    }
}
