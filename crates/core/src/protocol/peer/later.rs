//! Peers that do not begin at the beginning: after some releases, or with a sum whose inputs are there already.

use std::sync::Arc;

use super::{Peer, PeerError};
use crate::algorithm::PublicState;
use crate::protocol::averaging::Part;
use crate::protocol::lane::Lanes;
use crate::protocol::message::SessionId;
use crate::protocol::plan::PlannedRelease;
use crate::protocol::values::Values;
use crate::vocabulary::{PeerIndex, ReleaseId};

impl Peer {
    /// The same peer, which begins after the releases that `state` has behind it.
    ///
    /// # Errors
    /// [`PeerError::Shape`] if its query is no n × b block of this plan, [`PeerError::StartedTwice`] for a peer that has begun.
    pub fn after(mut self, state: PublicState) -> Result<Self, PeerError> {
        let peer = self.setup.index;
        if self.started {
            return Err(PeerError::StartedTwice { peer });
        }
        let (found, expected) = (state.query.values().len(), self.setup.start.values().len());
        if found != expected {
            let what = "query";
            return Err(PeerError::Shape {
                what,
                found,
                expected,
            });
        }
        self.state = state;
        let (release, is_agreed) = (self.release(), self.state.agreed.is_some());
        if let Lanes::Each(lanes) = &mut self.lanes {
            // Messages are numbered from the beginning of the session.
            for (lane, due) in lanes {
                *due = lane.first_of(release, is_agreed);
            }
        }
        Ok(self)
    }

    /// The same peer, which averages these values in its first release instead of a contribution of its own. It draws no noise for
    /// them: what is given has been published before.
    ///
    /// # Errors
    /// [`PeerError::Shape`] if they are not as many as that release has coordinates, [`PeerError::GivenReals`] where sums are of integers.
    pub fn given(mut self, input: Arc<Vec<f64>>) -> Result<Self, PeerError> {
        self.give(input)?;
        Ok(self)
    }

    /// The same of a peer that is kept until then.
    ///
    /// # Errors
    /// As [`Self::given`].
    pub fn give(&mut self, input: Arc<Vec<f64>>) -> Result<(), PeerError> {
        if self.setup.plan.values().is_residues() {
            let peer = self.setup.index;
            return Err(PeerError::GivenReals { peer });
        }
        let planned = self.setup.plan.release(self.release());
        let expected = planned.map_or(0, PlannedRelease::values);
        let found = input.len();
        if found != expected {
            let what = "sum that is given";
            return Err(PeerError::Shape {
                what,
                found,
                expected,
            });
        }
        self.given = Some(input);
        Ok(())
    }

    /// What its contribution to the present release is scaled with, and a digest of the query that it answers.
    #[must_use]
    pub fn answering(&self) -> (f64, [u8; 32]) {
        let planned = self.setup.plan.release(self.release());
        let agreed = self.state.agreed.unwrap_or(0.0);
        let scale = planned.map_or(0.0, |planned| planned.terms(agreed).scale);
        let mut hasher = blake3::Hasher::new_derive_key("undertone 2026-11 query v1");
        for value in self.state.query.values() {
            hasher.update(&value.to_le_bytes());
        }
        (scale, *hasher.finalize().as_bytes())
    }

    /// How the coordinates of its sums travel.
    #[must_use]
    pub fn values(&self) -> Values {
        self.setup.plan.values()
    }

    /// Bytes of a contribution to a release, if the plan has it.
    #[must_use]
    pub fn bytes_of(&self, release: ReleaseId) -> Option<usize> {
        let planned = self.setup.plan.release(release)?;
        Some(planned.values() * self.values().bytes())
    }

    /// What all peers agreed on for the release that this peer is in, once they have.
    #[must_use]
    pub fn agreement(&self) -> Option<f64> {
        self.state.agreed
    }

    /// Its neighbours, ascending.
    #[must_use]
    pub fn neighbours(&self) -> &[PeerIndex] {
        &self.setup.neighbours
    }

    /// The session it is in.
    #[must_use]
    pub fn session(&self) -> SessionId {
        self.setup.plan.session()
    }

    /// This peer's part of the averaging schedule.
    pub(in crate::protocol) fn part_of_program(&self) -> &Part {
        self.setup.schedule.part()
    }
}
