//! What a peer does where sums are of integers mod 2^k: it adds, exactly.

use std::sync::Arc;

use super::phase::Phase;
use super::{Peer, PeerError};
use crate::protocol::averaging::Part;
use crate::protocol::message::{Body, Summand};
use crate::protocol::outbox::{Event, Outbox};
use crate::protocol::plan::{Steps, Terms};
use crate::protocol::release_error::ReleaseError;
use crate::vocabulary::Time;

impl Peer {
    /// Publishes a contribution that is counted in steps, under own noise and masks, mod 2^k.
    pub(super) fn publish_integers(
        &mut self,
        counted: &[f64],
        (terms, steps): (Terms, Steps),
        now: Time,
        outbox: &mut impl Outbox,
    ) -> Result<(), PeerError> {
        let release = self.release();
        let mut input = vec![0; counted.len()];
        let added = steps.add(counted, &mut input);
        added.ok_or_else(|| self.failed(ReleaseError::Overflow))?;
        self.setup.noise.add_integers_to(release, &mut input);
        steps.reduce(&mut input);
        let current = Arc::new(input);
        outbox.emit(Event::Published {
            release,
            input: Summand::Residues(Arc::clone(&current)),
        });
        self.phase = Phase::Add {
            at: 0,
            terms,
            steps,
            current,
        };
        self.enter_average(now, outbox);
        Ok(())
    }

    /// Adds what came in the step at position `at`, and moves to the next one.
    pub(super) fn add<'m>(
        &mut self,
        (at, terms, steps, current): (usize, Terms, Steps, Arc<Vec<u64>>),
        bodies: impl Iterator<Item = &'m Body>,
        now: Time,
        outbox: &mut impl Outbox,
    ) -> Result<(), PeerError> {
        let current = self.added(at, bodies, &steps, current)?;
        if self.round_of(at + 1).is_none() {
            let values = steps.to_reals(&current).collect();
            return self.conclude(terms, values, now, outbox);
        }
        self.phase = Phase::Add {
            at: at + 1,
            terms,
            steps,
            current,
        };
        self.enter_average(now, outbox);
        Ok(())
    }

    /// The residues after the step at position `at`: those that are kept and those that came, added mod 2^k. The schedule does nothing
    /// but add, which was looked at before the peer began.
    fn added<'m>(
        &self,
        at: usize,
        bodies: impl Iterator<Item = &'m Body>,
        steps: &Steps,
        current: Arc<Vec<u64>>,
    ) -> Result<Arc<Vec<u64>>, PeerError> {
        let listed = match self.part() {
            Part::Listed { steps, .. } => steps.get(at),
            Part::Recurrence { .. } | Part::Passing(_) => None,
        };
        let step = listed.ok_or_else(|| self.failed(ReleaseError::OutOfOrder))?;
        let mut blocks = bodies.filter_map(|body| match body {
            Body::Residues(values) => Some(values),
            // The plan maps this step to residues: others were refused when they came.
            Body::Scale(_) | Body::Average(_) | Body::Coordinates(_) => None,
        });
        let mut sum = if step.own != 0.0 {
            current
        } else if let Some(first) = blocks.next() {
            Arc::clone(first)
        } else {
            Arc::new(vec![0; current.len()])
        };
        for block in blocks {
            let sum: &mut Vec<u64> = Arc::make_mut(&mut sum);
            steps.add_residues(block, sum);
        }
        Ok(sum)
    }
}
