//! Where members go on once they agree on what has gone wrong: a pure function of their statements.

use std::collections::BTreeSet;

use super::attempt::{Attempt, ViewNumber};
use super::history::History;
use super::links::Links;
use super::record::{Disruptions, Onward, Statement};
use super::sets::Members;
use super::threshold::{Thresholds, ThresholdsError};
use crate::vocabulary::{PeerIndex, ReleaseId};

/// Who takes part, over which links: what all members decided on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct View {
    /// Which one.
    pub number: ViewNumber,
    /// What had gone wrong.
    pub disruptions: Disruptions,
    /// Who is left.
    pub members: Members,
    /// Digest of everything that was released before the view was decided, and of the attempt that it averages again.
    pub history: History,
}

impl View {
    /// The view in which this has gone wrong and nothing else, before anything was released.
    #[must_use]
    pub fn of(disruptions: Disruptions, links: &Links, tolerance: &Tolerance) -> Self {
        Self {
            number: disruptions.number(),
            members: links.members(disruptions.cuts(), &tolerance.needs),
            disruptions,
            history: History::default(),
        }
    }

    /// This view, decided after these releases.
    #[must_use]
    pub fn after(self, history: History) -> Self {
        Self { history, ..self }
    }

    /// The digest of what was decided: number, cut links, restarts, members, and what was released before. Two members that sign for one digest
    /// agree on who holds what of whom. Noise is drawn under keys that are bound to it.
    #[must_use]
    pub fn digest(&self) -> [u8; 32] {
        let mut bytes = self.number.0.to_le_bytes().to_vec();
        bytes.extend_from_slice(&self.history.0);
        self.disruptions.append_to(&mut bytes);
        let members = self.members.words().iter();
        bytes.extend(members.flat_map(|word| word.to_le_bytes()));
        blake3::derive_key(VIEW_CONTEXT, &bytes)
    }
}

/// What digests of views are of.
const VIEW_CONTEXT: &str = "undertone 2026-11 decided view v2";

/// Whether a contribution can be read before it is certified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Publication {
    /// It can: trying a release again is one more release for whoever had sent.
    Open,
    /// It cannot: a sealed contribution that is never opened costs nothing. Neighbours open together what a peer sealed that has been lost.
    Sealed(Thresholds),
}

/// What a session tolerates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tolerance {
    /// How many may be curious: the word of one more member is at least one honest member's.
    pub colluders: usize,
    /// How many must be left.
    pub floor: usize,
    /// Per peer, how many of its neighbours can open what it sealed together; 1 where contributions are open.
    pub needs: Vec<u32>,
    /// How often a release may be tried again at the price of one more.
    pub retries: u32,
    /// Whether contributions are sealed.
    pub publication: Publication,
}

impl Tolerance {
    /// Whether contributions can be read before they are certified.
    #[must_use]
    pub fn is_open(&self) -> bool {
        matches!(self.publication, Publication::Open)
    }

    /// Of a session among these peers that seal what they contribute, of whom `colluders` may be curious and `dropouts` may be lost, and of which
    /// releases may be tried again `retries` times. A peer is cut off when it has fewer live neighbours than open what it seals, not before: a rule that
    /// kept further losses in reserve would cut off both ends of one broken cable.
    ///
    /// # Errors
    /// [`ThresholdsError`] says what to change where degrees do not allow it.
    pub fn sealed(
        links: &Links,
        (colluders, dropouts): (usize, usize),
        retries: u32,
    ) -> Result<Self, ThresholdsError> {
        let thresholds = Thresholds::new(links, colluders, dropouts)?;
        Ok(Self {
            colluders,
            floor: links.peers() - dropouts,
            needs: thresholds.shares().collect(),
            retries,
            publication: Publication::Sealed(thresholds),
        })
    }
}

/// Whoever gives a lost peer's contribution to the sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Heir {
    /// Who has been lost.
    pub lost: PeerIndex,
    /// Its lowest neighbour that is left.
    pub heir: PeerIndex,
}

/// How the session goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Resume {
    /// A certified attempt is averaged again, by those who are left.
    Average {
        /// Which.
        attempt: Attempt,
        /// Who of those who took part is not there any more.
        heirs: Vec<Heir>,
        /// How often releases were tried again so far.
        retries: u32,
    },
    /// A release is tried anew, with fresh noise.
    Begin {
        /// Which.
        attempt: Attempt,
        /// How often releases were tried again so far, this time included.
        retries: u32,
    },
    /// All who are left have all sums.
    Finished,
    /// A certified contribution is lost, or was sent in the open, and no retry is left.
    Lost {
        /// Of which release.
        release: ReleaseId,
    },
}

impl Resume {
    /// What of it whoever starts again must know; nothing if the session ends with it.
    pub(super) fn onward(&self) -> Option<Onward> {
        match self {
            Self::Begin { attempt, .. } => Some(Onward::Anew(attempt.release)),
            Self::Average { attempt, .. } => Some(Onward::Again(attempt.release)),
            Self::Finished | Self::Lost { .. } => None,
        }
    }
}

/// What follows from the statements of all members of `view`. `before` are the views decided earlier.
///
/// The release that goes on is the first that somebody has not done. If somebody has certified an attempt at it, that attempt is final:
/// somebody may have opened it, and a second attempt that became readable would cost everybody one more release.
///
/// `None` if a certificate names a view that this member has not decided; whoever takes part in an attempt has decided its view.
pub(super) fn resume(
    (links, tolerance, last): (&Links, &Tolerance, ReleaseId),
    (view, before): (&View, &[View]),
    statements: &[&Statement],
) -> Option<Resume> {
    let certified = || statements.iter().flat_map(|one| &one.certified);
    // Whoever has a certificate at a release has seen everybody done with the one before.
    let newest = certified()
        .map(|attempt| attempt.release.0)
        .max()
        .unwrap_or(0);
    let done = statements.iter().map(|one| one.done.0).min().unwrap_or(0);
    let release = ReleaseId(done.max(newest.saturating_sub(1))).next();
    let retries = statements.iter().map(|one| one.retries).max().unwrap_or(0);
    if release > last {
        return Some(Resume::Finished);
    }
    let final_one = certified().find(|attempt| attempt.release == release);
    let mut again = None;
    if let Some(&attempt) = final_one {
        let mut all = before.iter().chain([view]);
        let then = all.find(|one| one.number == attempt.view)?;
        again = heirs(links, tolerance, then, view).map(|heirs| (attempt, heirs));
    }
    // What was sent in the open counts, whether or not it comes to anything: its release will be tried anew.
    let is_wasted = |at: Attempt| at.release >= release && !certified().any(|one| *one == at);
    let wasted = statements.iter().filter_map(|one| one.sent).any(is_wasted);
    let is_lost = final_one.is_some() && again.is_none();
    let is_charged = is_lost || (tolerance.is_open() && wasted);
    // Whatever others state, nothing is begun beyond what the session pays for.
    let paid = retries.checked_add(u32::from(is_charged));
    let Some(retries) = paid.filter(|retries| *retries <= tolerance.retries) else {
        return Some(Resume::Lost { release });
    };
    if let Some((attempt, heirs)) = again {
        return Some(Resume::Average {
            attempt,
            heirs,
            retries,
        });
    }
    let attempt = Attempt {
        release,
        retry: retries,
        view: view.number,
    };
    Some(Resume::Begin { attempt, retries })
}

/// Who brings in the contributions of those who were there `then` and are not `now`; `None` where somebody's is lost.
fn heirs(links: &Links, tolerance: &Tolerance, then: &View, now: &View) -> Option<Vec<Heir>> {
    let left = |peer: &PeerIndex| now.members.contains(*peer);
    let lost = then.members.iter().filter(|peer| !left(peer));
    lost.map(|lost| {
        // Everybody who was connected to it holds what it sealed: without that there would be no certificate.
        let live = links.live(lost, then.disruptions.cuts(), &then.members);
        let holders: BTreeSet<PeerIndex> = live.filter(left).collect();
        let enough = holders.len() >= tolerance.needs[lost.index()].max(1) as usize;
        let heir = holders.first().copied().filter(|_| enough)?;
        Some(Heir { lost, heir })
    })
    .collect()
}
