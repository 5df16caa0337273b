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
}
