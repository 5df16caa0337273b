//! The task that owns a tolerant peer: feeds it what arrives, keeps what it must not forget, and hands on what it says.
//!
//! It runs on a thread of its own, since a contribution may take long and the disk is waited for.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{mpsc, watch};
use zeroize::Zeroizing;

use super::inbound::Inbound;
use super::outgoing::Outgoing;
use super::stalling::{Stalling, WAITING};
use crate::node::deployed::defect::Defect;
use crate::node::deployed::error::HostError;
use crate::node::deployed::hub::{Hub, lock};
use crate::node::deployed::setup::HostEvent;
use crate::node::deployed::tolerance::{Keeper, Told};
use crate::protocol::regroup::{End, Resume};
use crate::protocol::tolerant::{Format, Frame, Input, Output, TolerantPeer};
use crate::vocabulary::{PeerIndex, Time};

/// Everything the task needs.
pub(in super::super) struct Driver {
    pub(in super::super) peer: TolerantPeer,
    pub(in super::super) format: Arc<Format>,
    pub(in super::super) keeper: Box<dyn Keeper>,
    pub(in super::super) inbox: mpsc::Receiver<Inbound>,
    /// One per neighbour, and the neighbours, ascending.
    pub(in super::super) links: Vec<Arc<Outgoing>>,
    pub(in super::super) neighbours: Vec<PeerIndex>,
    pub(in super::super) hub: Arc<Hub>,
    pub(in super::super) stalling: Stalling,
    /// Set, or gone, when the host ends.
    pub(in super::super) stop: watch::Receiver<bool>,
    /// Time 0 of the run, by the clock of this process.
    pub(in super::super) began: Duration,
    pub(in super::super) defect: Option<Defect>,
}

/// When a peer asked to be woken, and with which number.
type Alarm = Option<(u64, Duration)>;

impl Driver {
    /// Runs the peer until the host ends: whoever has finished still answers.
    pub(in super::super) async fn drive(mut self) {
        if let Err(error) = self.run().await {
            // Nobody is to take it for a peer that goes on.
            self.links.iter().for_each(|link| link.cut());
            self.hub.tell(HostEvent::Failed(error)).await;
        }
    }

    async fn run(&mut self) -> Result<(), HostError> {
        let mut stop = self.stop.clone();
        let mut alarm: Alarm = None;
        self.handle(Input::Start, &mut alarm).await?;
        let mut look = self.hub.awake.now() + self.stalling.pause();
        loop {
            let at = alarm.map_or(self.began, |(_, at)| at);
            let inbound = tokio::select! {
                // What is here wins over the timer that would call it missing.
                biased;
                _ = stop.wait_for(|stop| *stop) => return Ok(()),
                inbound = self.inbox.recv() => match inbound {
                    Some(inbound) => inbound,
                    None => return Ok(()),
                },
                () = self.hub.awake.until(at), if alarm.is_some() => {
                    if let Some((serial, _)) = alarm.take() {
                        self.handle(Input::Timer(serial), &mut alarm).await?;
                    }
                    continue;
                }
                () = self.hub.awake.until(look) => {
                    for suspect in self.look() {
                        self.handle(Input::Suspect(suspect), &mut alarm).await?;
                    }
                    look = self.hub.awake.now() + self.stalling.pause();
                    continue;
                }
            };
            let input = match inbound {
                Inbound::Frame { place, frame } if !self.is_cut(place) => {
                    self.stalling.heard(place);
                    let from = self.neighbours[place];
                    Input::Frame { from, frame }
                }
                Inbound::Frame { .. } => continue,
                Inbound::Waiting { place, hops } => {
                    self.stalling.waits(place, hops, self.hub.awake.now());
                    continue;
                }
                // Nothing more is for its former life.
                Inbound::Back { place, life } if self.links[place].begin(life) => {
                    Input::Returned(self.neighbours[place])
                }
                Inbound::Back { .. } => continue,
                Inbound::Gone(place) => Input::Suspect(self.neighbours[place]),
                Inbound::Failed(error) => return Err(error),
            };
            if let Some(neighbour) = self.restarted(&input) {
                // Before anything is said that follows from it.
                self.handle(Input::Returned(neighbour), &mut alarm).await?;
            }
            self.handle(input, &mut alarm).await?;
        }
    }

    /// Looks whom this peer waits for: those who have kept it waiting for too long. Tells the others that it waits.
    fn look(&mut self) -> Vec<PeerIndex> {
        let waited = self.peer.waits_for();
        let place = |neighbour: &PeerIndex| self.neighbours.binary_search(neighbour).ok();
        let waited: Vec<usize> = waited.iter().filter_map(place).collect();
        let links = &self.links;
        let moved = |place: usize| *lock(&links[place].moved);
        let (late, hops) = self.stalling.look(&waited, self.hub.awake.now(), moved);
        if let Some(hops) = hops {
            let frame: Arc<[u8]> = Arc::from([WAITING, hops]);
            // Whoever has left too much unread for this will be found out by what follows.
            let others = links
                .iter()
                .enumerate()
                .filter(|(at, _)| !waited.contains(at));
            others.for_each(|(_, link)| _ = link.push(&frame));
        }
        for &place in &late {
            tracing::info!(member = %links[place].member.id, "a neighbour is connected and keeps this peer waiting for too long");
        }
        late.into_iter()
            .map(|place| self.neighbours[place])
            .collect()
    }

    /// The neighbour that has started again, as this input tells for the first time.
    fn restarted(&self, input: &Input) -> Option<PeerIndex> {
        let Input::Frame {
            frame: Frame::Record(signed),
            ..
        } = input
        else {
            return None;
        };
        let (neighbour, restarts) = self.peer.regroup().news_of_restart(signed)?;
        self.link(neighbour)?.awaits(restarts).then_some(neighbour)
    }

    fn is_cut(&self, place: usize) -> bool {
        *self.links[place].is_cut.borrow()
    }

    fn now(&self) -> Time {
        let ran = self.hub.awake.now().saturating_sub(self.began);
        Time(u64::try_from(ran.as_nanos()).unwrap_or(u64::MAX))
    }

    /// Feeds the peer and carries out what it puts out, in order: what must be kept is on the disk before anything that follows leaves.
    async fn handle(&mut self, input: Input, alarm: &mut Alarm) -> Result<(), HostError> {
        let mut out = Vec::new();
        self.peer.handle(input, self.now(), &mut out)?;
        let (mut unkept, mut suspects) = (Vec::new(), Vec::new());
        for output in out {
            match output {
                Output::Persist(record) => unkept.push(self.format.record_bytes(&record)),
                Output::Charge(attempt) => {
                    self.keep(&mut unkept)?;
                    let charged = self.keeper.charge(attempt);
                    charged.map_err(|source| HostError::Charge {
                        release: attempt.release,
                        source,
                    })?;
                }
                Output::Send { to, frame } => {
                    self.keep(&mut unkept)?;
                    if !matches!(frame, Frame::Record(_)) {
                        self.stalling.advances();
                    }
                    suspects.extend(self.send(&to, &frame));
                    if let Some(defect) = &self.defect {
                        defect.after(&frame);
                    }
                }
                Output::Wake(serial, at) => {
                    *alarm = Some((serial, self.began + Duration::from_nanos(at.0)));
                }
                Output::Cut(neighbour) => {
                    self.keep(&mut unkept)?;
                    if let Some(link) = self.link(neighbour) {
                        link.cut();
                        let member = link.member.id;
                        self.tell(Told::GaveUp(member)).await;
                    }
                }
                Output::Resumed { view, resume } => {
                    if let Resume::Begin { attempt, .. } = &resume {
                        let noted = self.keeper.note(*attempt, &view);
                        let release = attempt.release;
                        noted.map_err(|source| HostError::Begin { release, source })?;
                    }
                    self.tell(Told::WentOn { view, resume }).await;
                }
                Output::Event(attempt, event) => {
                    self.keep(&mut unkept)?;
                    self.tell(Told::Event(attempt, event)).await;
                }
                Output::Fault(fault) => {
                    let place = self.neighbours.binary_search(&fault.culprit);
                    let Ok(place) = place else { continue };
                    let culprit = self.links[place].member.id;
                    let what = fault.kind;
                    self.tell(Told::Fault { culprit, what }).await;
                    suspects.push(fault.culprit);
                }
                Output::Deviates(evidence) => self.tell(Told::Deviates(evidence)).await,
                Output::Ended(end) => {
                    self.keep(&mut unkept)?;
                    if end != End::Finished {
                        self.links.iter().for_each(|link| link.cut());
                    }
                    self.tell(Told::Ended(end)).await;
                }
            }
        }
        self.keep(&mut unkept)?;
        // Once all that was put out before is carried out.
        for suspect in suspects {
            Box::pin(self.handle(Input::Suspect(suspect), alarm)).await?;
        }
        Ok(())
    }

    /// Forces what is to be kept to the disk.
    fn keep(&mut self, unkept: &mut Vec<Zeroizing<Vec<u8>>>) -> Result<(), HostError> {
        if unkept.is_empty() {
            return Ok(());
        }
        let records = std::mem::take(unkept);
        self.keeper.keep(records).map_err(HostError::Keep)
    }

    fn link(&self, neighbour: PeerIndex) -> Option<&Arc<Outgoing>> {
        let place = self.neighbours.binary_search(&neighbour).ok()?;
        self.links.get(place)
    }

    /// Hands a frame to these neighbours; gives those that have left too much unread for that, over whose links nothing goes any more.
    fn send(&self, to: &[PeerIndex], frame: &Frame) -> Vec<PeerIndex> {
        let bytes: Arc<[u8]> = self.format.frame_bytes(frame).into();
        let mut overfull = Vec::new();
        for neighbour in to {
            if let Some(link) = self.link(*neighbour)
                && !link.push(&bytes)
            {
                tracing::info!(member = %link.member.id, "a neighbour has left too much unread");
                link.cut();
                overfull.push(*neighbour);
            }
        }
        overfull
    }

    async fn tell(&self, told: Told) {
        self.hub.tell(HostEvent::Tolerant(told)).await;
    }
}
