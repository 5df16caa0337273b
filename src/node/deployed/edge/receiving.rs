//! What one end of an edge has received: signatures, order and contents are checked here, without any stream.

use std::collections::VecDeque;

use super::super::error::Misbehaviour;
use super::super::evidence::{Evidence, SignedStamp};
use crate::protocol::wire::signed::{self, Stamp};
use crate::protocol::wire::{Arriving, FrameSizes, Memory};
use crate::protocol::{Body, Message};
use crate::session::{PublicId, Signature};

/// Stamps that are kept to recognise what is said twice: 127 bytes each.
const KEPT_STAMPS: usize = 256;

/// What a neighbour is blamed for, with the proof where there is one.
pub(in super::super) type Blame = Box<(Misbehaviour, Option<Evidence>)>;

/// Blame without proof.
pub(in super::super) fn blame(what: Misbehaviour) -> Blame {
    Box::new((what, None))
}

/// The records of one directed edge at its receiver.
#[derive(Debug)]
pub(in super::super) struct Receiving {
    sender: PublicId,
    sizes: FrameSizes,
    last: u64,
    stamps: VecDeque<SignedStamp>,
    /// The message whose frames are coming.
    arriving: Option<Arriving>,
    /// The last sum handed on; its memory is used again once the peer has dropped it.
    handed: Option<Body>,
}

impl Receiving {
    pub(in super::super) fn new(sender: PublicId, sizes: FrameSizes) -> Self {
        Self {
            sender,
            sizes,
            last: 0,
            stamps: VecDeque::new(),
            arriving: None,
            handed: None,
        }
    }

    /// The number of the last record received.
    pub(in super::super) fn last(&self) -> u64 {
        self.last
    }

    /// The bound on whatever is announced.
    pub(in super::super) fn sizes(&self) -> &FrameSizes {
        &self.sizes
    }

    /// Whether the next record is in the middle of a message.
    pub(in super::super) fn is_within_a_message(&self) -> bool {
        self.arriving.is_some()
    }

    /// Takes a record; gives the message that it completes.
    ///
    /// # Errors
    /// What the sender is to be blamed for. Nothing of the record counts then.
    pub(in super::super) fn take(
        &mut self,
        sequence: u64,
        frame: &[u8],
        signature: [u8; 64],
    ) -> Result<Option<Message>, Blame> {
        let stamp = Stamp::of(frame).map_err(|error| blame(error.into()))?;
        let signature = Signature::from_bytes(signature);
        let signed = SignedStamp { stamp, signature };
        if !signed.is_by(&self.sender) {
            return Err(blame(Misbehaviour::Signature { sequence }));
        }
        self.check_order(sequence, &signed)?;
        let message = self.decode(frame).map_err(blame)?;
        self.last = sequence;
        if self.stamps.len() >= KEPT_STAMPS {
            self.stamps.pop_front();
        }
        self.stamps.push_back(signed);
        Ok(message)
    }

    /// Refuses what was said before, and what skips something.
    fn check_order(&self, sequence: u64, signed: &SignedStamp) -> Result<(), Blame> {
        let mut kept = self.stamps.iter();
        let earlier = kept.find(|earlier| earlier.stamp.is_of_one_place_with(&signed.stamp));
        if let Some(earlier) = earlier.filter(|earlier| earlier.stamp != signed.stamp) {
            let evidence = Evidence::new(self.sender, *earlier, *signed);
            let what = Misbehaviour::Equivocation { sequence };
            return Err(Box::new((what, Some(evidence))));
        }
        if earlier.is_some() || sequence <= self.last {
            return Err(blame(Misbehaviour::Replayed { sequence }));
        }
        let expected = self.last + 1;
        if sequence != expected {
            let found = sequence;
            return Err(blame(Misbehaviour::Gap { expected, found }));
        }
        Ok(())
    }

    fn decode(&mut self, frame: &[u8]) -> Result<Option<Message>, Misbehaviour> {
        let (header, values) = signed::opened(frame)?;
        let mut arriving = match self.arriving.take() {
            Some(mut arriving) => {
                arriving.next_frame(&header, frame.len())?;
                arriving
            }
            None => {
                let memory = self.handed.take().map(Memory::of).unwrap_or_default();
                Arriving::new(&header, frame.len(), &self.sizes, memory)?
            }
        };
        arriving.take(values)?;
        if !arriving.is_complete() {
            self.arriving = Some(arriving);
            return Ok(None);
        }
        let message = arriving.finish()?;
        if let Body::Average(_) | Body::Residues(_) = &message.body {
            self.handed = Some(message.body.clone());
        }
        Ok(Some(message))
    }
}
