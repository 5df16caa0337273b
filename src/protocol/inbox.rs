//! Two slots per neighbour: the step a peer is in, and the next.

use super::fault::FaultKind;
use super::message::Body;

/// Messages waiting to be folded, by step parity and neighbour position.
///
/// The bound is a theorem, not a tuning: to send step k+2 a neighbour needs our message of step k+1, which
/// we send only after leaving step k. So while we are in step k nothing beyond k+1 can honestly arrive.
#[derive(Debug)]
pub(super) struct Inbox {
    neighbours: usize,
    /// Empty until the first message is stored: a driver may hand over whole steps and store none.
    slots: [Vec<Option<Body>>; 2],
    filled: [usize; 2],
}

impl Inbox {
    pub(super) fn new(neighbours: usize) -> Self {
        Self {
            neighbours,
            slots: [Vec::new(), Vec::new()],
            filled: [0, 0],
        }
    }

    /// Stores a message of `step` from the neighbour at `position` while the peer is in step `current`.
    pub(super) fn store(
        &mut self,
        current: u64,
        step: u64,
        position: usize,
        body: Body,
    ) -> Result<(), FaultKind> {
        if step != current && step != current + 1 {
            return Err(FaultKind::OutOfStep {
                expected: current,
                found: step,
            });
        }
        let parity = (step % 2) as usize;
        let slots = &mut self.slots[parity];
        if slots.is_empty() {
            slots.resize(self.neighbours, None);
        }
        if slots[position].is_some() {
            return Err(FaultKind::Duplicate { step });
        }
        slots[position] = Some(body);
        self.filled[parity] += 1;
        Ok(())
    }

    /// Whether every neighbour's message of `step` is here.
    pub(super) fn complete(&self, step: u64) -> bool {
        let parity = (step % 2) as usize;
        self.filled[parity] == self.neighbours
    }

    /// Positions of the neighbours whose message of `step` is missing.
    pub(super) fn missing(&self, step: u64) -> impl Iterator<Item = usize> + '_ {
        let slots = &self.slots[(step % 2) as usize];
        (0..self.neighbours).filter(|&position| slots.get(position).is_none_or(Option::is_none))
    }

    /// Whether no neighbour's message of `step` is here.
    pub(super) fn is_empty(&self, step: u64) -> bool {
        self.filled[(step % 2) as usize] == 0
    }

    /// Takes the messages of `step` out, in neighbour order; the slots must be given back.
    pub(super) fn take(&mut self, step: u64) -> Vec<Option<Body>> {
        let parity = (step % 2) as usize;
        self.filled[parity] = 0;
        std::mem::take(&mut self.slots[parity])
    }

    /// Gives the slots of `step` back, making room for step + 2.
    pub(super) fn give_back(&mut self, step: u64, mut slots: Vec<Option<Body>>) {
        slots.fill(None);
        self.slots[(step % 2) as usize] = slots;
    }
}
