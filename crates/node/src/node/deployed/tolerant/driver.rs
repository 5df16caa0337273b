//! Where a tolerant peer runs: its ledger and disk are asked before anything that follows is handed to its links.
//!
//! It runs on a thread of its own, since a contribution may take long and the disk is waited for.

use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;

use super::actor::LinkedPeer;
use super::inbound::Inbound;
use super::outgoing::{Outgoing, place_of};
use crate::node::deployed::defect::Defect;
use crate::node::deployed::hub::Hub;
use crate::node::deployed::setup::HostEvent;
use crate::node::deployed::tolerance::{Keeper, Told};
use crate::node::error::HostError;
use crate::node::runtime::{Clock, Host, Runtime, time};
use crate::protocol::regroup::{Attempt, End, Resume};
use crate::protocol::tolerant::{DiskRecord, Format, Frame};
use crate::vocabulary::{PeerIndex, Time};

/// A tolerant peer, to be run until its host ends.
pub(in super::super) struct Driver {
    pub(in super::super) runtime: Runtime<LinkedPeer, Keeping, AwakeSince>,
    /// Set, or gone, when the host ends.
    pub(in super::super) stop: watch::Receiver<bool>,
}

/// The host of a tolerant peer.
pub(in super::super) struct Keeping {
    pub(in super::super) format: Arc<Format>,
    pub(in super::super) keeper: Box<dyn Keeper>,
    /// One per neighbour, ascending.
    pub(in super::super) links: Vec<Arc<Outgoing>>,
    pub(in super::super) hub: Arc<Hub>,
    pub(in super::super) defect: Option<Defect>,
}

/// The clock of the process, since the beginning of a run.
pub(in super::super) struct AwakeSince(
    pub(in super::super) Arc<Hub>,
    pub(in super::super) Duration,
);

impl Clock for AwakeSince {
    fn now(&self) -> Time {
        time(self.0.awake.now().saturating_sub(self.1))
    }

    fn until(&self, time: Time) -> impl Future<Output = ()> + Send {
        self.0.awake.until(self.1 + Duration::from_nanos(time.0))
    }
}

impl Driver {
    /// Runs the peer until the host ends.
    pub(in super::super) async fn drive(mut self) {
        let stopped = async { _ = self.stop.wait_for(|stop| *stop).await };
        if let Err(error) = self.runtime.run(stopped, pending()).await {
            // Nobody is to take it for a peer that goes on.
            self.runtime.host.cut_all();
            let failed = HostEvent::Failed(error);
            self.runtime.host.hub.tell(failed).await;
        }
    }
}

impl Keeping {
    fn cut_all(&self) {
        self.links.iter().for_each(|link| link.cut());
    }
}

impl Host<LinkedPeer> for Keeping {
    /// Over the links of neighbours that have left too much unread nothing goes any more.
    fn send(&mut self, to: &Vec<PeerIndex>, frame: Frame) -> Result<Vec<Inbound>, HostError> {
        let bytes: Arc<[u8]> = self.format.frame_bytes(&frame).into();
        let mut overfull = Vec::new();
        for place in to.iter().filter_map(|one| place_of(&self.links, *one)) {
            let link = &self.links[place];
            if !link.push(&bytes) {
                tracing::info!(member = %link.member.id, "a neighbour has left too much unread");
                link.cut();
                overfull.push(Inbound::Gone(place));
            }
        }
        if let Some(defect) = &self.defect {
            defect.after(&frame);
        }
        Ok(overfull)
    }

    fn charge(&mut self, attempt: Attempt) -> Result<(), HostError> {
        let release = attempt.release;
        let charged = self.keeper.charge(attempt);
        charged.map_err(|source| HostError::Charge { release, source })
    }

    fn persist(&mut self, records: Vec<DiskRecord>) -> Result<(), HostError> {
        let bytes = records
            .iter()
            .map(|record| self.format.record_bytes(record));
        let bytes = bytes.collect();
        self.keeper.keep(bytes).map_err(HostError::Keep)
    }

    async fn tell(&mut self, told: Told) -> Result<(), HostError> {
        match &told {
            Told::GaveUp(member) => {
                let link = self.links.iter().find(|link| link.member.id == *member);
                link.into_iter().for_each(|link| link.cut());
            }
            Told::WentOn {
                view,
                resume: Resume::Begin { attempt, .. },
            } => {
                let noted = self.keeper.note(*attempt, view);
                let release = attempt.release;
                noted.map_err(|source| HostError::Begin { release, source })?;
            }
            Told::Ended(end) if *end != End::Finished => self.cut_all(),
            _ => {}
        }
        self.hub.tell(HostEvent::Tolerant(told)).await;
        Ok(())
    }
}
