//! The loop in which every peer on a network runs: it feeds an actor with what the tasks around it tell, and carries out in order what the actor puts out.
//!
//! ```text
//! edges ── inbox ──▶ loop ──▶ Actor: the peer, and what its kind of edges tell it
//!                     │  ▲
//!                     ▼  └── clock, one deadline
//!                   Host: sends, charges, persists, tells
//! ```
//!
//! What must be on the disk is there before anything that follows it leaves, and before the next input is handled. A host waits for no neighbour; only its caller
//! may be waited for. So no cycle of full channels can form.

use std::future::Future;
use std::pin::pin;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};

use super::error::HostError;
use crate::vocabulary::Time;

/// What an actor is fed.
#[derive(Debug)]
pub(super) enum Input<I> {
    /// Begin.
    Start,
    /// What the tasks around it tell.
    Heard(I),
    /// The time that it waits for has come.
    Due,
}

/// What an actor puts out, to be carried out in order.
#[derive(Debug)]
pub(super) enum Output<A: Actor> {
    /// Has its price charged, which is durable before anything that follows is carried out.
    Charge(A::Price),
    /// Writes to the disk before anything that follows leaves.
    Persist(A::Record),
    /// Hands a message to the edges.
    Send(A::Targets, A::Message),
    /// Tells the caller, once everything before is on the disk.
    Tell(A::News),
    /// Tells the caller at once, whatever waits for the disk.
    Note(A::News),
    /// Feeds the actor, once all else that this input leads to is carried out.
    Feed(A::Inbound),
}

/// A peer with what its kind of edges tell it.
pub(super) trait Actor: Sized {
    /// What the tasks around it tell.
    type Inbound;
    /// What is charged.
    type Price;
    /// What is written to the disk.
    type Record;
    /// Whom a message is for.
    type Targets;
    /// What it says to neighbours.
    type Message;
    /// What it tells its caller.
    type News;

    /// Takes an input.
    ///
    /// # Errors
    /// Why it cannot go on. Nothing of what it has put out meanwhile is carried out.
    fn handle(
        &mut self,
        input: Input<Self::Inbound>,
        now: Time,
        out: &mut Vec<Output<Self>>,
    ) -> Result<(), HostError>;

    /// Whether it needs no further input.
    fn is_over(&self) -> bool;

    /// When it is to be fed [`Input::Due`], if nothing else comes before.
    fn due(&self) -> Option<Time>;
}

/// What differs between the places in which an actor runs.
pub(super) trait Host<A: Actor> {
    /// Hands a message to the edges of these neighbours. Gives what the actor is to be fed where one has left too much unread for it.
    ///
    /// # Errors
    /// What ends the run at once.
    fn send(&mut self, to: &A::Targets, message: A::Message) -> Result<Vec<A::Inbound>, HostError>;

    /// Charges a price durably.
    ///
    /// # Errors
    /// Why it is not charged.
    fn charge(&mut self, price: A::Price) -> Result<(), HostError>;

    /// Writes records to the disk, in order.
    ///
    /// # Errors
    /// Why they are not kept.
    fn persist(&mut self, records: Vec<A::Record>) -> Result<(), HostError>;

    /// Tells the caller, who may be slow.
    ///
    /// # Errors
    /// Why the run cannot go on.
    fn tell(&mut self, news: A::News) -> impl Future<Output = Result<(), HostError>> + Send;
}

/// The time of a run.
pub(super) trait Clock {
    /// The present time.
    fn now(&self) -> Time;

    /// Waits until this time.
    fn until(&self, time: Time) -> impl Future<Output = ()> + Send;
}

/// Time as it passes since an instant.
impl Clock for Instant {
    fn now(&self) -> Time {
        time(self.elapsed())
    }

    fn until(&self, time: Time) -> impl Future<Output = ()> + Send {
        sleep_until(*self + Duration::from_nanos(time.0))
    }
}

/// A duration since the beginning of a run as peers count it.
pub(super) fn time(duration: Duration) -> Time {
    Time(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX))
}

/// An actor at its host.
pub(super) struct Runtime<A: Actor, H, C> {
    pub(super) actor: A,
    pub(super) host: H,
    pub(super) clock: C,
    pub(super) inbox: mpsc::Receiver<A::Inbound>,
    /// What is to be carried out.
    out: Vec<Output<A>>,
    /// Inputs that wait, the next one last.
    waiting: Vec<Input<A::Inbound>>,
}

impl<A: Actor, H: Host<A>, C: Clock> Runtime<A, H, C> {
    pub(super) fn new(actor: A, host: H, clock: C, inbox: mpsc::Receiver<A::Inbound>) -> Self {
        Self {
            actor,
            host,
            clock,
            inbox,
            out: Vec::new(),
            waiting: Vec::new(),
        }
    }

    /// Runs the actor until it is over: true; or until `stop` resolves or nobody can tell it anything any more: false. `broken` is why it cannot go on, once
    /// everything in the inbox has been handled.
    ///
    /// # Errors
    /// What the actor, its host and `broken` say.
    pub(super) async fn run(
        &mut self,
        stop: impl Future<Output = ()>,
        broken: impl Future<Output = HostError>,
    ) -> Result<bool, HostError> {
        let (mut stop, mut broken) = (pin!(stop), pin!(broken));
        self.handle(Input::Start).await?;
        while !self.actor.is_over() {
            let due = self.actor.due();
            let input = tokio::select! {
                // What is here wins over the time that would call it missing.
                biased;
                () = &mut stop => return Ok(false),
                inbound = self.inbox.recv() => match inbound {
                    Some(inbound) => Input::Heard(inbound),
                    None => return Ok(false),
                },
                error = &mut broken => return Err(error),
                () = self.clock.until(due.unwrap_or(Time(0))), if due.is_some() => Input::Due,
            };
            self.handle(input).await?;
        }
        Ok(true)
    }

    /// Feeds the actor and carries out what it puts out, and then what that leads to.
    async fn handle(&mut self, input: Input<A::Inbound>) -> Result<(), HostError> {
        self.waiting.push(input);
        while let Some(input) = self.waiting.pop() {
            let now = self.clock.now();
            self.actor.handle(input, now, &mut self.out)?;
            let before = self.waiting.len();
            self.carry_out().await?;
            self.waiting[before..].reverse();
        }
        Ok(())
    }

    async fn carry_out(&mut self) -> Result<(), HostError> {
        let mut unkept = Vec::new();
        for output in self.out.drain(..) {
            let follows = !matches!(
                output,
                Output::Persist(_) | Output::Note(_) | Output::Feed(_)
            );
            if follows && !unkept.is_empty() {
                self.host.persist(std::mem::take(&mut unkept))?;
            }
            match output {
                Output::Charge(price) => self.host.charge(price)?,
                Output::Persist(record) => unkept.push(record),
                Output::Send(to, message) => {
                    let fed = self.host.send(&to, message)?;
                    self.waiting.extend(fed.into_iter().map(Input::Heard));
                }
                Output::Tell(news) | Output::Note(news) => self.host.tell(news).await?,
                Output::Feed(inbound) => self.waiting.push(Input::Heard(inbound)),
            }
        }
        if !unkept.is_empty() {
            self.host.persist(unkept)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};

    use tokio::runtime::Builder;

    use super::super::error::GateError;
    use super::*;
    use crate::vocabulary::ReleaseId;

    /// Puts out what it is told to.
    struct Scripted;

    /// Outputs, in order.
    type Script = Vec<Output<Scripted>>;

    impl Actor for Scripted {
        type Inbound = fn() -> Script;
        type Price = u32;
        type Record = u32;
        type Targets = ();
        type Message = u32;
        type News = String;

        fn handle(
            &mut self,
            input: Input<Self::Inbound>,
            _: Time,
            out: &mut Script,
        ) -> Result<(), HostError> {
            match input {
                Input::Heard(script) => out.extend(script()),
                Input::Start | Input::Due => {}
            }
            Ok(())
        }

        fn is_over(&self) -> bool {
            false
        }

        fn due(&self) -> Option<Time> {
            None
        }
    }

    /// Notes what it does. It cannot charge 9, and somebody has no room for message 13.
    #[derive(Default)]
    struct Noting(Vec<String>);

    impl Host<Scripted> for Noting {
        fn send(&mut self, (): &(), message: u32) -> Result<Vec<fn() -> Script>, HostError> {
            self.0.push(format!("send {message}"));
            let full: fn() -> Script = || vec![Output::Tell("full".into())];
            Ok((message == 13).then_some(full).into_iter().collect())
        }

        fn charge(&mut self, price: u32) -> Result<(), HostError> {
            self.0.push(format!("charge {price}"));
            match price {
                9 => Err(HostError::Charge {
                    release: ReleaseId(price),
                    source: GateError::new("full"),
                }),
                _ => Ok(()),
            }
        }

        fn persist(&mut self, records: Vec<u32>) -> Result<(), HostError> {
            self.0.push(format!("persist {records:?}"));
            Ok(())
        }

        async fn tell(&mut self, news: String) -> Result<(), HostError> {
            self.0.push(news);
            Ok(())
        }
    }

    /// Feeds this script.
    fn fed(script: fn() -> Script) -> Output<Scripted> {
        Output::Feed(script)
    }

    /// What is done before the loop ends, and how it ends, if it hears this and a task breaks afterwards.
    fn ran(stop: impl Future<Output = ()>, script: fn() -> Script) -> (Vec<String>, HostError) {
        let (sender, inbox) = mpsc::channel(1);
        assert!(sender.try_send(script).is_ok());
        let host = Noting::default();
        let mut runtime = Runtime::new(Scripted, host, Instant::now(), inbox);
        let executor = Builder::new_current_thread().enable_all().build();
        let broken = ready(HostError::TaskLost);
        let ended = executor
            .expect("a runtime")
            .block_on(runtime.run(stop, broken));
        let ended = ended.map(|is_over| assert!(!is_over));
        (
            runtime.host.0,
            ended.err().unwrap_or(HostError::BegunBefore),
        )
    }

    #[test]
    fn outputs_are_carried_out_in_order_and_nothing_leaves_before_what_must_be_on_the_disk() {
        let (done, ended) = ran(pending(), || {
            vec![
                Output::Persist(1),
                Output::Note("note".into()),
                Output::Persist(2),
                Output::Charge(3),
                Output::Send((), 13),
                fed(|| vec![Output::Persist(4)]),
                fed(|| vec![Output::Send((), 5)]),
                Output::Persist(6),
                Output::Tell("tell".into()),
                Output::Persist(7),
            ]
        });
        let expected = [
            "note",
            "persist [1, 2]",
            "charge 3",
            "send 13",
            "persist [6]",
            "tell",
            "persist [7]",
            "full",
            "persist [4]",
            "send 5",
        ];
        assert_eq!(done, expected);
        // What is in the inbox comes before the end of a task.
        assert!(matches!(ended, HostError::TaskLost));
    }

    #[test]
    fn nothing_leaves_after_what_cannot_be_charged_nor_after_a_stop() {
        let script = || {
            vec![
                Output::Send((), 1),
                Output::Charge(9),
                Output::Send((), 2),
                Output::Tell("tell".into()),
            ]
        };
        let (done, ended) = ran(pending(), script);
        assert_eq!(done, ["send 1", "charge 9"]);
        assert!(matches!(ended, HostError::Charge { .. }));
        let (done, ended) = ran(ready(()), script);
        assert_eq!(done, [""; 0]);
        assert!(matches!(ended, HostError::BegunBefore));
    }
}
