//! What came of a run with faults.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::fired::Fired;
use super::observer::Observed;
use super::random::Extent;
use crate::algorithm::PublicState;
use crate::engine::record::{self, Pending};
use crate::engine::{Communication, Outcome, SessionViews, Standing, ViewError};
use crate::linalg::Block;
use crate::protocol::averaging::{CommonEnd, PeerBytes, Traffic};
use crate::protocol::regroup::{Attempt, End, Evidence, Heir, View, ViewNumber};
use crate::protocol::{Summand, Terms};
use crate::vocabulary::{PeerIndex, ReleaseId};

/// How one peer ended.
#[derive(Clone, Debug, Default)]
pub struct PeerEnd {
    /// How its session ended; nothing for one that crashed before and did not come back.
    pub end: Option<End>,
    /// Whether it lives, or has crashed only after its end.
    pub is_up: bool,
    /// Its estimate of the leading eigenvectors after its last release, n × p.
    pub basis: Option<Arc<Block>>,
    /// What it took of every release.
    pub taken: BTreeMap<ReleaseId, Taken>,
    /// The public states it had, by how many releases they had behind them.
    pub states: BTreeMap<u32, PublicState>,
    /// How often it tried a release again at the price of one more.
    pub retries: u32,
}

/// The sum of a release, as one peer took it.
#[derive(Clone, Debug)]
pub struct Taken {
    /// Of which attempt.
    pub attempt: Attempt,
    /// In which view it was averaged last.
    pub view: Arc<View>,
    /// The sum, in the shape of the release, and how its noise was scaled.
    pub sum: Arc<Block>,
    /// How the noise was scaled.
    pub terms: Terms,
    /// The estimate of the leading eigenvectors that follows, n × p.
    pub basis: Arc<Block>,
}

/// Something that happened to a peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// Its process crashed.
    Crashed,
    /// Its disk failed, and it stopped.
    DiskFailed,
    /// Its process started again.
    Restarted,
    /// It gave up its link to another.
    GaveUp(PeerIndex),
    /// It went on in a view.
    WentOn(ViewNumber),
    /// It has the sum of a release.
    Released(ReleaseId),
    /// Its session ended.
    Ended(End),
}

impl From<Moment> for Standing {
    fn from(moment: Moment) -> Self {
        match moment {
            Moment::Crashed => Self::Crashed,
            Moment::DiskFailed => Self::DiskFailed,
            Moment::Restarted => Self::Restarted,
            Moment::GaveUp(other) => Self::GaveUp(other),
            Moment::WentOn(_) => Self::WentOn,
            Moment::Released(release) => Self::Released(release),
            Moment::Ended(End::Finished) => Self::Finished,
            Moment::Ended(_) => Self::Ended,
        }
    }
}

/// The most moments that are noted of a run.
pub const MOST_MOMENTS: usize = 200_000;

/// What came of a run.
#[derive(Clone, Debug, Default)]
pub struct FaultyOutcome {
    /// Every peer's end.
    pub peers: Vec<PeerEnd>,
    /// Every contribution that its peer made, by attempt and peer; sealed ones as they were before.
    pub published: BTreeMap<(Attempt, PeerIndex), Summand>,
    /// How often a peer published something else in an attempt than it had published in it before: never.
    pub contradictions: u64,
    /// How often an attempt was tried again although somebody who is left knew that all held it, and all it takes was held: never.
    pub finals_given_up: u64,
    /// Who took part in every attempt, and how many tries had been paid for when it began, itself included.
    pub parts: BTreeMap<Attempt, (Arc<View>, u32)>,
    /// Heirs, by the view that they were heirs in.
    pub heirs: BTreeMap<(ViewNumber, Attempt), Vec<Heir>>,
    /// Who was proved to deviate.
    pub proven: BTreeMap<PeerIndex, Evidence>,
    /// What became known, and was charged.
    pub observed: Observed,
    /// What went wrong.
    pub fired: Fired,
    /// Frames that were sent, each as often as it was.
    pub frames: u64,
    /// Bytes sent by each peer.
    pub sent: Vec<PeerBytes>,
    /// When the last thing happened, in microseconds.
    pub micros: u64,
    /// When the last peer ended that did, in microseconds.
    pub ended_micros: u64,
    /// What happened to whom, and when in microseconds; the first [`MOST_MOMENTS`].
    pub moments: Vec<(u64, PeerIndex, Moment)>,
    /// The most frames and records of one peer, and how long it took until all had ended.
    pub extent: Extent,
}

impl FaultyOutcome {
    /// The peer with the lowest number that has all sums, if anybody does.
    #[must_use]
    pub fn reporter(&self) -> Option<PeerIndex> {
        let finished = |peer: &PeerEnd| peer.end == Some(End::Finished);
        let place = self.peers.iter().position(finished)?;
        Some(PeerIndex::from_index(place))
    }

    /// Retries that were spent, as far as anybody knows.
    #[must_use]
    pub fn retries(&self) -> u32 {
        let all = self.parts.values().map(|(_, retries)| *retries);
        all.max().unwrap_or(0)
    }

    /// The records of the run as engines make them on which nothing goes wrong: those of the peer with the lowest number that has all sums, over
    /// whoever took part in each. `None` if nobody has all sums.
    ///
    /// Where nothing went wrong they are, bit for bit, those of the session under [`event::run`](crate::engine::event::run), and so are the
    /// figures of agreement.
    ///
    /// # Errors
    /// [`ViewError`]; never for views of this run.
    pub fn outcome(&self, views: &SessionViews) -> Result<Option<Outcome>, ViewError> {
        let Some(reporter) = self.reporter() else {
            return Ok(None);
        };
        let mut records = Vec::new();
        for (release, taken) in &self.peers[reporter.index()].taken {
            let then = &self.parts[&taken.attempt].0;
            let (made, now) = (views.of(then)?, views.of(&taken.view)?);
            let session = made.session();
            let input = |member: &PeerIndex| {
                let published = self.published.get(&(taken.attempt, *member));
                published.cloned()
            };
            let took = |member: &PeerIndex| {
                let peer = &self.peers[member.index()];
                let same = peer.taken.get(release);
                let same = same.filter(|same| same.attempt == taken.attempt);
                same.filter(|_| peer.end == Some(End::Finished))
            };
            let members = made.members().iter();
            let pending = Pending {
                inputs: members.clone().map(input).collect(),
                sums: members
                    .clone()
                    .map(|one| took(one).map(|one| Arc::clone(&one.sum)))
                    .collect(),
                bases: members
                    .clone()
                    .map(|one| took(one).map(|one| Arc::clone(&one.basis)))
                    .collect(),
                missing: 0,
                terms: Some(taken.terms.clone()),
            };
            let start = PublicState::new(Arc::clone(session.start()));
            let before = release.0 - 1;
            let states = members.map(|member| match before {
                0 => Some(start.clone()),
                _ => self.peers[member.index()].states.get(&before).cloned(),
            });
            let Some(states) = states.collect::<Option<Vec<PublicState>>>() else {
                return Ok(None);
            };
            let place = made.members().binary_search(&reporter).unwrap_or(0);
            // What averaging makes of inputs is known in advance where the same peers averaged that took part.
            let commons = match now.members() == made.members() {
                true => now
                    .session()
                    .schedule()
                    .common_ends(&**now.session().topology()),
                false => None,
            };
            let turn = |commons: &Vec<CommonEnd>| {
                let sums = session.plan().sums_before(*release);
                (sums % commons.len() as u64) as usize
            };
            let common = commons.as_ref().map(|commons| &commons[turn(commons)]);
            let record = record::of(session, *release, (&pending, &states), (place, common));
            match record {
                Some(record) => records.push(record),
                None => return Ok(None),
            }
        }
        let rounds = views
            .session()
            .public()
            .communication(records.len(), false)
            .rounds;
        let all = Traffic::counted(rounds.iter().sum(), self.frames, &self.sent);
        Ok(Some(Outcome {
            records,
            communication: Communication {
                lost: self.fired.frames_lost,
                ..Communication::of(all, rounds)
            },
        }))
    }
}
