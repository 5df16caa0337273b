//! What single peers of a simulated session start from.

use super::Session;
use crate::protocol::PeerSetup;
use crate::vocabulary::{PeerIndex, Span};

impl Session {
    /// What peer `index` starts from.
    #[must_use]
    pub fn peer_setup(&self, index: PeerIndex, patience: Option<Span>) -> PeerSetup {
        let rows = self.rows.local(index.index());
        let noise = self.noise.peer(index, self.noise_graph());
        let setup = self.public.peer_setup(index, rows, noise, patience);
        match self.noise.defect() {
            None => setup,
            Some(defect) => PeerSetup {
                plan: defect.plan_of(index, setup.plan),
                ..setup
            },
        }
    }

    /// Hashes of what processes that run one simulation must have in common: the plan, everybody's rows, and the settings that noise is
    /// bound to.
    #[doc(hidden)]
    pub fn fingerprint(&self) -> [[u8; 32]; 3] {
        // The hash of the rows is as secret as they are; of this one nobody else makes use.
        let context = "undertone 2026-11 simulation rows v1";
        let rows = blake3::derive_key(context, self.rows.digest());
        [*self.plan().digest(), rows, self.setting]
    }
}
