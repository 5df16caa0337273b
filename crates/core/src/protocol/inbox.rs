//! Two slots per neighbour: the message that is due, and the next.

use super::fault::FaultKind;
use super::message::Body;

/// What is known of a message.
#[derive(Clone, Debug)]
pub(super) enum Slot {
    /// It is here.
    Message(Body),
    /// It will not come.
    Lost,
}

/// Messages waiting to be combined, by the parity of their number among those of their sender, and by its position.
///
/// That two slots suffice is a theorem, not a tuning: no neighbour sends message o before this peer has taken message
/// o − 2. It is stated and proved, and checked for every listed schedule, in `averaging::window`.
#[derive(Debug)]
pub(super) struct Inbox {
    neighbours: usize,
    /// Empty until the first message is stored: a driver may hand over whole steps and store none.
    slots: [Vec<Option<Slot>>; 2],
    stored: usize,
    /// Messages that the present step still waits for.
    missing: usize,
}

impl Inbox {
    pub(super) fn new(neighbours: usize) -> Self {
        Self {
            neighbours,
            slots: [Vec::new(), Vec::new()],
            stored: 0,
            missing: 0,
        }
    }

    /// Begins a step that waits for these `count` messages, given by position and number.
    pub(super) fn expect(&mut self, count: usize, expected: impl Iterator<Item = (usize, u64)>) {
        self.missing = count;
        if self.stored > 0 {
            let here = |&(position, number): &(usize, u64)| self.holds(position, number);
            self.missing -= expected.filter(here).count();
        }
    }

    /// Stores message `number` of the neighbour at `position`, whose message `due` is the next this peer takes. `step` is the
    /// exchange it belongs to, `now` whether the present step waits for it.
    pub(super) fn store(
        &mut self,
        (position, number, due): (usize, u64, u64),
        (step, now): (u64, bool),
        expected: u64,
        body: Body,
    ) -> Result<(), FaultKind> {
        if number != due && number != due + 1 {
            let found = step;
            return Err(FaultKind::OutOfStep { expected, found });
        }
        match self.slot(position, number) {
            Some(Slot::Message(_)) => return Err(FaultKind::Duplicate { step }),
            // It was given up too early, and its step has not come.
            slot @ Some(Slot::Lost) => {
                *slot = Some(Slot::Message(body));
                return Ok(());
            }
            slot @ None => *slot = Some(Slot::Message(body)),
        }
        self.stored += 1;
        self.missing -= usize::from(now);
        Ok(())
    }

    /// Notes that message `number` of the neighbour at `position`, which is due or the next, will not come, unless it is here. `now` says
    /// whether the present step waits for it.
    pub(super) fn lose(&mut self, position: usize, number: u64, now: bool) {
        let slot = self.slot(position, number);
        if slot.is_none() {
            *slot = Some(Slot::Lost);
            self.stored += 1;
            self.missing -= usize::from(now);
        }
    }

    fn slot(&mut self, position: usize, number: u64) -> &mut Option<Slot> {
        let slots = &mut self.slots[(number % 2) as usize];
        if slots.is_empty() {
            slots.resize(self.neighbours, None);
        }
        &mut slots[position]
    }

    /// Whether message `number` of the neighbour at `position`, which is due or the next, is here or known to be lost.
    pub(super) fn holds(&self, position: usize, number: u64) -> bool {
        let slots = &self.slots[(number % 2) as usize];
        slots.get(position).is_some_and(Option::is_some)
    }

    /// How many messages the present step still waits for.
    pub(super) fn missing(&self) -> usize {
        self.missing
    }

    /// Takes what is known of message `number` of the neighbour at `position`.
    pub(super) fn take(&mut self, position: usize, number: u64) -> Option<Slot> {
        let slot = self.slots[(number % 2) as usize]
            .get_mut(position)?
            .take()?;
        self.stored -= 1;
        Some(slot)
    }
}
