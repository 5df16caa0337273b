//! Two slots per neighbour: the message that is due, and the next.

use super::fault::FaultKind;
use super::message::Body;

/// Messages waiting to be combined, by the parity of their number among those of their sender, and by its position.
///
/// That two slots suffice is a theorem, not a tuning: no neighbour sends message o before this peer has taken message
/// o − 2. It is stated and proved, and checked for every listed program, in `averaging::window`.
#[derive(Debug)]
pub(super) struct Inbox {
    neighbours: usize,
    /// Empty until the first message is stored: a driver may hand over whole steps and store none.
    slots: [Vec<Option<Body>>; 2],
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
        let slots = &mut self.slots[(number % 2) as usize];
        if slots.is_empty() {
            slots.resize(self.neighbours, None);
        }
        if slots[position].is_some() {
            return Err(FaultKind::Duplicate { step });
        }
        slots[position] = Some(body);
        self.stored += 1;
        self.missing -= usize::from(now);
        Ok(())
    }

    /// Whether message `number` of the neighbour at `position`, which is due or the next, is here.
    pub(super) fn holds(&self, position: usize, number: u64) -> bool {
        let slots = &self.slots[(number % 2) as usize];
        slots.get(position).is_some_and(Option::is_some)
    }

    /// How many messages the present step still waits for.
    pub(super) fn missing(&self) -> usize {
        self.missing
    }

    /// Takes message `number` of the neighbour at `position`, if it is here.
    pub(super) fn take(&mut self, position: usize, number: u64) -> Option<Body> {
        let body = self.slots[(number % 2) as usize]
            .get_mut(position)?
            .take()?;
        self.stored -= 1;
        Some(body)
    }
}
