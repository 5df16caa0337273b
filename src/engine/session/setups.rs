//! What single peers start from: simulated ones, and members of a deployment.

use std::sync::Arc;

use super::Session;
use crate::algorithm::LocalData;
use crate::noise::PeerNoise;
use crate::protocol::{PeerSetup, wire};
use crate::vocabulary::{PeerIndex, Span};

impl Session {
    /// What member `index` of a deployment starts from: the public parts of this session, which was planned on nobody's data, its own rows, and
    /// noise under keys of its own. Nothing that derives from this session's seed is in it but what is public.
    #[must_use]
    pub fn member_setup(
        &self,
        index: PeerIndex,
        rows: LocalData,
        noise: PeerNoise,
        patience: Option<Span>,
    ) -> PeerSetup {
        PeerSetup {
            rows,
            noise,
            ..self.peer_setup(index, patience)
        }
    }

    /// What peer `index` starts from.
    #[must_use]
    pub fn peer_setup(&self, index: PeerIndex, patience: Option<Span>) -> PeerSetup {
        let u = index.index();
        let neighbours = self.graph().neighbours(u).iter();
        let plan = Arc::clone(&self.plan);
        let plan = match self.noise.defect() {
            None => plan,
            Some(defect) => defect.plan_of(index, plan),
        };
        PeerSetup {
            index,
            plan,
            neighbours: neighbours.map(|&v| PeerIndex(v)).collect(),
            schedule: self.schedule.peer(&*self.topology, u),
            rows: self.rows.local(u),
            noise: self.noise.peer(index, self.noise_graph()),
            noise_partners: self
                .noise_graph()
                .neighbours(u)
                .iter()
                .map(|&v| PeerIndex(v))
                .collect(),
            start: Arc::clone(&self.start),
            patience,
        }
    }

    /// Hashes of what processes that run one simulation must have in common: the plan, everybody's rows, and the settings that noise is
    /// bound to.
    #[cfg(feature = "node")]
    pub(crate) fn fingerprint(&self) -> [[u8; 32]; 3] {
        // The hash of the rows is as secret as they are; of this one nobody else makes use.
        let context = "undertone 2026-11 simulation rows v1";
        let rows = blake3::derive_key(context, self.rows.digest());
        [*self.plan.digest(), rows, self.setting]
    }

    /// Bytes of the longest message of this session, prefixes included.
    #[must_use]
    pub fn longest_message(&self) -> usize {
        let held = self.plan.most_values() + self.schedule.extra_values();
        wire::framed_block_len(held, self.plan.parameters().values)
    }
}
