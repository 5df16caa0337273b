//! Defects of a host that tests build: what it sends, and when it stops, differs from what its peer says.
//!
//! Without the feature `testing` a [`Defect`] has no values. Hosts hold an `Option` of one, which then takes no room, and every line that
//! reads it is compiled in every build: what is tested is what ships.

#[cfg(any(test, feature = "testing"))]
#[cfg_attr(
    not(test),
    allow(dead_code, reason = "unit tests alone build a host with a defect")
)]
mod switched_on {
    use std::collections::{BTreeMap, BTreeSet};
    use std::path::PathBuf;
    use std::sync::{Arc, Mutex};
    use std::time::Duration;

    use crate::node::deployed::hub::lock;
    use crate::node::deployed::tolerance::{Life, SignedLife};
    use crate::protocol::regroup::Attempt;
    use crate::protocol::tolerant::Frame;
    use crate::protocol::{Body, Message, Targets};
    use crate::session::PublicId;

    /// What is wrong with a host.
    #[derive(Clone, Debug, Default)]
    pub(in crate::node) struct Defect {
        /// Releases in whose sums the last of several receivers is sent something else.
        pub(in crate::node) equivocates: Vec<u32>,
        /// What is sent as every coordinate of a sum.
        pub(in crate::node) distorts: Option<f64>,
        /// A file of who is on which side of a network that has come apart. Each line has the ids of those on one side; whoever is on none hears everybody.
        pub(in crate::node) sides: Option<PathBuf>,
        /// After which frame of a tolerant peer the process dies.
        pub(in crate::node) dies: Option<Moment>,
        /// After which frame of a tolerant peer its driver does nothing any more, for ever, in a process that lives.
        pub(in crate::node) hangs: Option<Moment>,
        /// What is claimed of neighbours' lives, and of which neighbour if not of all.
        pub(in crate::node) claims: Option<(Claim, Option<usize>)>,
        /// What has left so far.
        pub(in crate::node) sent: Arc<Mutex<Sent>>,
        /// The first life of each neighbour that was heard of.
        pub(in crate::node) first: Arc<Mutex<BTreeMap<usize, SignedLife>>>,
    }

    /// A frame of a tolerant peer, by its number among those of its kind, from 1.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(in crate::node) enum Moment {
        Contribution(u32),
        Average(u32),
    }

    /// The life that a neighbour is shown in place of its last one.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(in crate::node) enum Claim {
        /// A later one that it has not signed.
        Unsigned,
        /// One of the claimant's own.
        Own,
        /// The present one.
        Present,
        /// The first one that was heard of.
        Older,
    }

    /// How many frames of a tolerant peer have left.
    #[derive(Clone, Copy, Debug, Default)]
    pub(in crate::node) struct Sent {
        contributions: u32,
        averages: u32,
        /// Whose contribution left last: a sealed one leaves once for each of its holders.
        last: Option<Attempt>,
    }

    impl Sent {
        /// Counts a frame, and gives its place.
        fn count(&mut self, frame: &Frame) -> Option<Moment> {
            match frame {
                Frame::Published { attempt, .. } | Frame::Sealed { attempt, .. } => {
                    if self.last.replace(*attempt) == Some(*attempt) {
                        return None;
                    }
                    self.contributions += 1;
                    Some(Moment::Contribution(self.contributions))
                }
                Frame::Step { message, .. } if matches!(message.body, Body::Average(_)) => {
                    self.averages += 1;
                    Some(Moment::Average(self.averages))
                }
                _ => None,
            }
        }
    }

    impl Defect {
        /// What is sent in place of this message.
        pub(in crate::node::deployed) fn distorted(&self, message: &Message) -> Option<Message> {
            let value = self.distorts?;
            let Body::Average(values) = &message.body else {
                return None;
            };
            Some(Message {
                body: Body::Average(Arc::new(vec![value; values.len()])),
                ..message.clone()
            })
        }

        /// What the last of several receivers is sent in place of this message, and its position.
        pub(in crate::node::deployed) fn other(
            &self,
            message: &Message,
            targets: &Targets,
        ) -> Option<(usize, Message)> {
            let (Body::Average(values), Targets::Positions(positions)) = (&message.body, targets)
            else {
                return None;
            };
            let [_, .., last] = **positions else {
                return None;
            };
            self.equivocates.contains(&message.release.0).then(|| {
                let body = Body::Average(Arc::new(values.iter().map(|x| x + 50.0).collect()));
                let message = Message {
                    body,
                    ..message.clone()
                };
                (last as usize, message)
            })
        }

        /// The members that a host of `own` admits no more, by their ids.
        pub(in crate::node::deployed) fn barred(&self, own: &PublicId) -> BTreeSet<String> {
            let Some(path) = &self.sides else {
                return BTreeSet::new();
            };
            let own = own.to_string();
            let text = std::fs::read_to_string(path).unwrap_or_default();
            let sides: Vec<Vec<&str>> =
                text.lines().map(|side| side.split(' ').collect()).collect();
            let is_here = sides.iter().any(|side| side.contains(&own.as_str()));
            let others = sides
                .iter()
                .filter(|side| is_here && !side.contains(&own.as_str()));
            others.flatten().map(|id| (*id).to_owned()).collect()
        }

        /// Dies or hangs, if it is to do so after this frame.
        pub(in crate::node::deployed) fn after(&self, frame: &Frame) {
            let Some(moment) = lock(&self.sent).count(frame) else {
                return;
            };
            let (dies, hangs) = (self.dies == Some(moment), self.hangs == Some(moment));
            if !dies && !hangs {
                return;
            }
            tracing::info!(?moment, dies, "now");
            // Writers have threads of their own: what was handed to them leaves.
            std::thread::sleep(Duration::from_millis(300));
            if dies {
                std::process::abort();
            }
            loop {
                std::thread::sleep(Duration::from_secs(1));
            }
        }

        /// The life that the neighbour at this place is told to be over, whatever it has signed.
        pub(in crate::node::deployed) fn claimed(
            &self,
            place: usize,
            signed: &SignedLife,
            own: &SignedLife,
        ) -> Option<SignedLife> {
            let first = *lock(&self.first).entry(place).or_insert(*signed);
            let (claim, to) = self.claims?;
            if to.is_some_and(|to| to != place) {
                return None;
            }
            match claim {
                Claim::Unsigned => {
                    let mut bytes = signed.to_bytes();
                    let later = Life::new(signed.life().before() + 1, 3, 1);
                    bytes[..8].copy_from_slice(&later.number().to_le_bytes());
                    Some(SignedLife::from_bytes(bytes))
                }
                Claim::Own => Some(*own),
                Claim::Present => Some(*signed),
                Claim::Older => (first != *signed).then_some(first),
            }
        }
    }
}

#[cfg(not(any(test, feature = "testing")))]
mod switched_off {
    use std::collections::BTreeSet;

    use crate::node::deployed::tolerance::SignedLife;
    use crate::protocol::tolerant::Frame;
    use crate::protocol::{Message, Targets};
    use crate::session::PublicId;

    /// Nothing: this build has no defects.
    #[derive(Clone, Debug)]
    pub(in crate::node) enum Defect {}

    impl Defect {
        pub(in crate::node::deployed) fn distorted(&self, _: &Message) -> Option<Message> {
            match *self {}
        }

        pub(in crate::node::deployed) fn other(
            &self,
            _: &Message,
            _: &Targets,
        ) -> Option<(usize, Message)> {
            match *self {}
        }

        pub(in crate::node::deployed) fn barred(&self, _: &PublicId) -> BTreeSet<String> {
            match *self {}
        }

        pub(in crate::node::deployed) fn after(&self, _: &Frame) {
            match *self {}
        }

        pub(in crate::node::deployed) fn claimed(
            &self,
            _: usize,
            _: &SignedLife,
            _: &SignedLife,
        ) -> Option<SignedLife> {
            match *self {}
        }
    }

    const _: () = assert!(size_of::<Option<Defect>>() == 0);
}

#[cfg(not(any(test, feature = "testing")))]
pub(in crate::node) use switched_off::Defect;
#[cfg(any(test, feature = "testing"))]
pub(in crate::node) use switched_on::Defect;
#[cfg(test)]
pub(in crate::node) use switched_on::{Claim, Moment};
