//! What a run with faults has cost, from what was published in it.

use std::collections::BTreeSet;

use super::outcome::FaultyOutcome;
use crate::engine::SessionViews;
use crate::privacy::realised::{Attempted, Realised, RealisedError};
use crate::protocol::PlannedRelease;
use crate::protocol::regroup::Attempt;
use crate::vocabulary::PeerIndex;

impl FaultyOutcome {
    /// Every attempt in which anybody published, as privacy accounting takes it: open contributions are read as soon as they are sent, sealed ones once
    /// they are opened.
    ///
    /// Losses are in units of the sensitivity: a contribution moves by at most 1, under noise of scale 1 times the factor of its release.
    ///
    /// # Errors
    /// [`RealisedError`]; never for a run of this session.
    pub fn realised(&self, views: &SessionViews) -> Result<Realised, RealisedError> {
        let session = views.session();
        let plan = session.plan();
        let sigmas = plan.sigmas();
        let graph = session.noise_graph().clone();
        let mut realised = Realised::new(graph, sigmas.own, sigmas.pairwise)?;
        for (attempt, (view, retries)) in &self.parts {
            let read: Vec<u32> = self.readers(*attempt).map(|peer| peer.0).collect();
            let members: Vec<u32> = view.members.iter().map(|peer| peer.0).collect();
            let planned = plan.release(attempt.release);
            let factor = planned.map_or(1.0, PlannedRelease::factor);
            realised.record(Attempted {
                release: attempt.release,
                retry: *retries,
                view: view.number.0,
                scales: vec![factor; members.len()],
                members,
                read,
                revealed: Vec::new(),
                sensitivity: 1.0,
            })?;
        }
        Ok(realised)
    }

    /// Who could be read in an attempt, ascending: whoever published in the open, and whoever's sealed contribution was opened, by itself or by
    /// those who hold shares.
    fn readers(&self, attempt: Attempt) -> impl Iterator<Item = PeerIndex> + '_ {
        let all = (attempt, PeerIndex(0))..=(attempt, PeerIndex(u32::MAX));
        let by_shares = self.observed.shares.range(all.clone());
        let by_shares = by_shares.map(|((_, peer), _)| *peer);
        let mut read: BTreeSet<PeerIndex> = by_shares.collect();
        read.extend(self.observed.read.range(all).map(|(_, peer)| *peer));
        read.into_iter()
    }
}
