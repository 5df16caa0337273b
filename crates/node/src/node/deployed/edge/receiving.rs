//! What one end of an edge has received: signatures, order and contents are checked here, without any stream.

use std::collections::VecDeque;

use crate::node::equivocation::{Evidence, SignedStamp};
use crate::node::misbehaviour::Misbehaviour;
use crate::protocol::wire::signed::{self, Stamping};
use crate::protocol::wire::{Arriving, FrameSizes, HEADER_LEN, Memory};
use crate::protocol::{Body, Message};
use crate::session::{PublicId, Signature};

/// Stamps that are kept to recognise what is said twice: 127 bytes each.
const KEPT_STAMPS: usize = 256;

/// What a neighbour is blamed for, with the proof where there is one.
pub(in crate::node) type Blame = Box<(Misbehaviour, Option<Evidence>)>;

/// Blame without proof.
pub(in crate::node) fn blame(what: Misbehaviour) -> Blame {
    Box::new((what, None))
}

/// A record that has begun. Nothing of it counts before its signature has come and holds.
#[derive(Debug)]
struct Coming {
    sequence: u64,
    stamping: Stamping,
    /// Bytes of its values that have not come.
    missing: usize,
    /// Why its values are no part of the message that is arriving, if they are not decoded into it. Said only if the sender has signed them.
    refused: Option<Misbehaviour>,
}

/// The records of one directed edge at its receiver.
///
/// Values are digested and decoded as they come, while they are in a cache, so that no frame is ever held beside its values.
#[derive(Debug)]
pub(in crate::node) struct Receiving {
    sender: PublicId,
    sizes: FrameSizes,
    last: u64,
    stamps: VecDeque<SignedStamp>,
    /// The message whose frames are coming.
    arriving: Option<Arriving>,
    /// The record that is coming.
    coming: Option<Coming>,
    /// The last sum handed on; its memory is used again once the peer has dropped it.
    handed: Option<Body>,
}

impl Receiving {
    pub(in crate::node) fn new(sender: PublicId, sizes: FrameSizes) -> Self {
        Self {
            sender,
            sizes,
            last: 0,
            stamps: VecDeque::new(),
            arriving: None,
            coming: None,
            handed: None,
        }
    }

    /// The number of the last record received.
    pub(in crate::node) fn last(&self) -> u64 {
        self.last
    }

    /// The stamp of the last record received.
    pub(in crate::node) fn last_stamp(&self) -> Option<&SignedStamp> {
        self.stamps.back()
    }

    /// The bound on whatever is announced.
    pub(in crate::node) fn sizes(&self) -> &FrameSizes {
        &self.sizes
    }

    /// Whether the next record is in the middle of a message.
    pub(in crate::node) fn is_within_a_message(&self) -> bool {
        self.arriving.is_some()
    }

    /// Begins a record whose frame has `length` bytes and this header, once its head has been checked.
    ///
    /// # Errors
    /// [`Misbehaviour::Malformed`] if the frame is not that of a signed record.
    pub(in crate::node) fn begin(
        &mut self,
        (length, sequence): (usize, u64),
        header: &[u8; HEADER_LEN],
    ) -> Result<(), Misbehaviour> {
        self.forget();
        let stamping = Stamping::begin(header)?;
        let refused = self.begin_frame(header, length).err();
        self.coming = Some(Coming {
            sequence,
            stamping,
            missing: length.saturating_sub(HEADER_LEN),
            refused,
        });
        Ok(())
    }

    fn begin_frame(
        &mut self,
        header: &[u8; HEADER_LEN],
        length: usize,
    ) -> Result<(), Misbehaviour> {
        let header = signed::opened(header)?;
        match &mut self.arriving {
            Some(arriving) => arriving.next_frame(&header, length)?,
            None => {
                let memory = self.handed.take().map(Memory::of).unwrap_or_default();
                let arriving = Arriving::new(&header, length, &self.sizes, memory)?;
                self.arriving = Some(arriving);
            }
        }
        Ok(())
    }

    /// Bytes of values that the record still has.
    pub(in crate::node) fn missing(&self) -> usize {
        self.coming.as_ref().map_or(0, |coming| coming.missing)
    }

    /// Takes the next bytes of values: at most as many as are missing, and a multiple of 8 unless they are the last.
    pub(in crate::node) fn take(&mut self, bytes: &[u8]) {
        let Some(coming) = &mut self.coming else {
            return;
        };
        coming.stamping.take(bytes);
        coming.missing = coming.missing.saturating_sub(bytes.len());
        if let (None, Some(arriving)) = (&coming.refused, &mut self.arriving)
            && let Err(error) = arriving.take(bytes)
        {
            coming.refused = Some(error.into());
            self.forget_frame();
        }
    }

    /// Ends the record, whose values are complete, with its signature; gives the message that it completes.
    ///
    /// # Errors
    /// What the sender is to be blamed for. Nothing of the record counts then.
    pub(in crate::node) fn end(&mut self, signature: [u8; 64]) -> Result<Option<Message>, Blame> {
        let ended = self.checked(signature);
        if ended.is_err() {
            self.forget();
        }
        ended
    }

    fn checked(&mut self, signature: [u8; 64]) -> Result<Option<Message>, Blame> {
        let Some(coming) = &self.coming else {
            return Ok(None);
        };
        let (sequence, stamp) = (coming.sequence, coming.stamping.finish());
        let signature = Signature::from_bytes(signature);
        let signed = SignedStamp { stamp, signature };
        if !signed.is_by(&self.sender) {
            return Err(blame(Misbehaviour::Signature { sequence }));
        }
        self.check_order(sequence, &signed)?;
        if let Some(what) = &coming.refused {
            return Err(blame(what.clone()));
        }
        let message = self.complete().map_err(blame)?;
        self.coming = None;
        self.last = sequence;
        if self.stamps.len() >= KEPT_STAMPS {
            self.stamps.pop_front();
        }
        self.stamps.push_back(signed);
        Ok(message)
    }

    /// Forgets the record that is coming, which has not come to its end and may come again.
    pub(in crate::node) fn forget(&mut self) {
        if self
            .coming
            .take()
            .is_some_and(|coming| coming.refused.is_none())
        {
            self.forget_frame();
        }
    }

    /// Forgets the frame that is being decoded.
    fn forget_frame(&mut self) {
        self.arriving = self.arriving.take().and_then(|mut arriving| {
            let has_others = arriving.forget_frame();
            has_others.then_some(arriving)
        });
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

    /// The message, if all its frames are here.
    fn complete(&mut self) -> Result<Option<Message>, Misbehaviour> {
        let Some(arriving) = self.arriving.take_if(|arriving| arriving.is_complete()) else {
            return Ok(None);
        };
        let message = arriving.finish()?;
        if let Body::Average(_) | Body::Residues(_) = &message.body {
            self.handed = Some(message.body.clone());
        }
        Ok(Some(message))
    }
}
