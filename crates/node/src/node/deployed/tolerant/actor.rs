//! A peer that tolerates losses, as the loop runs it: with its neighbours' lives, and with whom it waits for.

use std::sync::Arc;
use std::time::Duration;

use super::inbound::Inbound;
use super::outgoing::{Outgoing, place_of};
use super::stalling::{Stalling, WAITING};
use crate::node::deployed::hub::lock;
use crate::node::deployed::tolerance::Told;
use crate::node::error::HostError;
use crate::node::runtime::{self, Actor, Input, time};
use crate::protocol::regroup::Attempt;
use crate::protocol::tolerant::{self, DiskRecord, Frame, Output, TolerantPeer};
use crate::vocabulary::{PeerIndex, Span, Time};

/// A tolerant peer with what is known of its links.
pub(in super::super) struct LinkedPeer {
    pub(in super::super) peer: TolerantPeer,
    /// One per neighbour, ascending.
    pub(in super::super) links: Vec<Arc<Outgoing>>,
    pub(in super::super) stalling: Stalling,
    /// Time 0 of the run, by the clock of this process.
    pub(in super::super) began: Duration,
    /// When the peer asked to be woken, and with which number.
    pub(in super::super) alarm: Option<(u64, Time)>,
    /// When to look next whom it waits for.
    pub(in super::super) look: Time,
}

type Out = Vec<runtime::Output<LinkedPeer>>;

impl LinkedPeer {
    /// Feeds the peer and passes on what it puts out.
    fn feed(&mut self, input: tolerant::Input, now: Time, out: &mut Out) -> Result<(), HostError> {
        let mut outputs = Vec::new();
        self.peer.handle(input, now, &mut outputs)?;
        for output in outputs {
            self.pass_on(output, out);
        }
        Ok(())
    }

    fn pass_on(&mut self, output: Output, out: &mut Out) {
        let passed = match output {
            Output::Persist(record) => runtime::Output::Persist(record),
            Output::Charge(attempt) => runtime::Output::Charge(attempt),
            Output::Send { to, frame } => {
                if !matches!(frame, Frame::Record(_)) {
                    self.stalling.advances();
                }
                runtime::Output::Send(to, frame)
            }
            Output::Wake(serial, at) => {
                self.alarm = Some((serial, at));
                return;
            }
            Output::Cut(neighbour) => match place_of(&self.links, neighbour) {
                Some(place) => runtime::Output::Tell(Told::GaveUp(self.links[place].member.id)),
                None => return,
            },
            Output::Resumed { view, resume } => {
                runtime::Output::Note(Told::WentOn { view, resume })
            }
            Output::Event(attempt, event) => runtime::Output::Tell(Told::Event(attempt, event)),
            Output::Fault(fault) => {
                let Some(place) = place_of(&self.links, fault.culprit) else {
                    return;
                };
                let culprit = self.links[place].member.id;
                let what = fault.kind;
                out.push(runtime::Output::Note(Told::Fault { culprit, what }));
                runtime::Output::Feed(Inbound::Gone(place))
            }
            Output::Deviates(evidence) => runtime::Output::Note(Told::Deviates(evidence)),
            Output::Ended(end) => runtime::Output::Tell(Told::Ended(end)),
        };
        out.push(passed);
    }

    /// Looks whom this peer waits for: those who have kept it waiting for too long are suspected. Tells the others that it waits.
    fn look(&mut self, now: Duration, out: &mut Out) {
        let waited = self.peer.waits_for();
        let waited: Vec<usize> = waited
            .iter()
            .filter_map(|one| place_of(&self.links, *one))
            .collect();
        let links = &self.links;
        let moved = |place: usize| *lock(&links[place].moved);
        let (late, hops) = self.stalling.look(&waited, now, moved);
        if let Some(hops) = hops {
            let frame: Arc<[u8]> = Arc::from([WAITING, hops]);
            // Whoever has left too much unread for this will be found out by what follows.
            let others = links
                .iter()
                .enumerate()
                .filter(|(at, _)| !waited.contains(at));
            others.for_each(|(_, link)| _ = link.push(&frame));
        }
        for place in late {
            tracing::info!(member = %links[place].member.id, "a neighbour is connected and keeps this peer waiting for too long");
            out.push(runtime::Output::Feed(Inbound::Gone(place)));
        }
    }

    /// The neighbour that has started again, as this frame tells for the first time.
    fn restarted(&self, frame: &Frame) -> Option<PeerIndex> {
        let Frame::Record(signed) = frame else {
            return None;
        };
        let (neighbour, restarts) = self.peer.regroup().news_of_restart(signed)?;
        let link = &self.links[place_of(&self.links, neighbour)?];
        link.awaits(restarts).then_some(neighbour)
    }
}

impl Actor for LinkedPeer {
    type Inbound = Inbound;
    type Price = Attempt;
    type Record = DiskRecord;
    type Targets = Vec<PeerIndex>;
    type Message = Frame;
    type News = Told;

    fn handle(&mut self, input: Input<Inbound>, now: Time, out: &mut Out) -> Result<(), HostError> {
        let awake = self.began + Duration::from_nanos(now.0);
        let input = match input {
            Input::Start => {
                self.look = now + pause(&self.stalling);
                tolerant::Input::Start
            }
            Input::Due => match self.alarm.take_if(|(_, at)| *at <= now) {
                Some((serial, _)) => tolerant::Input::Timer(serial),
                None => {
                    self.look(awake, out);
                    self.look = now + pause(&self.stalling);
                    return Ok(());
                }
            },
            Input::Heard(Inbound::Frame { place, frame }) => {
                if *self.links[place].is_cut.borrow() {
                    return Ok(());
                }
                self.stalling.heard(place);
                if let Some(neighbour) = self.restarted(&frame) {
                    // Before anything is said that follows from it.
                    self.feed(tolerant::Input::Returned(neighbour), now, out)?;
                    out.push(runtime::Output::Feed(Inbound::Frame { place, frame }));
                    return Ok(());
                }
                let from = self.links[place].neighbour;
                tolerant::Input::Frame { from, frame }
            }
            Input::Heard(Inbound::Waiting { place, hops }) => {
                self.stalling.waits(place, hops, awake);
                return Ok(());
            }
            // Nothing more is for its former life.
            Input::Heard(Inbound::Back { place, life }) => match self.links[place].begin(life) {
                true => tolerant::Input::Returned(self.links[place].neighbour),
                false => return Ok(()),
            },
            Input::Heard(Inbound::Gone(place)) => {
                tolerant::Input::Suspect(self.links[place].neighbour)
            }
            Input::Heard(Inbound::Failed(error)) => return Err(error),
        };
        self.feed(input, now, out)
    }

    /// Whoever has finished still answers.
    fn is_over(&self) -> bool {
        false
    }

    fn due(&self) -> Option<Time> {
        let alarm = self.alarm.map(|(_, at)| at);
        Some(alarm.map_or(self.look, |at| at.min(self.look)))
    }
}

/// Time between two looks.
fn pause(stalling: &Stalling) -> Span {
    Span(time(stalling.pause()).0)
}
