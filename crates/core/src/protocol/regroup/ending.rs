//! How a member learns that all are done, what it tells others after its own end, and what it believes of others about it.
//!
//! # What is believed
//! The certificate of the attempt after the last release holds everybody's signature that it has all sums: whoever has it is done, and so are all others of that view. What one member says of
//! all ([`Record::Finished`]) shows nothing. It ends no session but the link that it came over, and not even that one for a member that has all sums. Said by more members than may collude it
//! was said by one that follows the protocol, and is true.

use super::attempt::Attempt;
use super::interface::{End, Input, Output};
use super::machine::{Regroup, Stage};
use super::record::Record;
use super::signed::Signed;
use crate::vocabulary::{PeerIndex, Time};

impl Regroup {
    /// After its end a member that has finished shows it to neighbours that cannot know; nobody else has anything to say. Drivers of other members take no connection any more, so that
    /// a neighbour that comes back sees that they are gone.
    pub(super) fn after_the_end(
        &mut self,
        end: End,
        input: Input,
        now: Time,
        out: &mut Vec<Output>,
    ) {
        let (neighbour, is_back) = match input {
            Input::Returned(neighbour) => (neighbour, true),
            Input::Heard { from, record } => match record.record {
                Record::Restart { .. } => (from, true),
                // It is agreeing on something that came too late for this member.
                Record::Cut { .. } | Record::Statement { .. } => (from, false),
                Record::Finished { .. } if end == End::Finished && !self.is_cut(from) => {
                    return self.heard_finished(from, record, now, out);
                }
                Record::Held { .. } | Record::Finished { .. } => return,
            },
            _ => return,
        };
        if end != End::Finished || self.is_cut(neighbour) {
            return;
        }
        if self.shown.insert(neighbour) || is_back {
            let to = vec![neighbour];
            for record in self.shows_the_end() {
                let to = to.clone();
                out.push(Output::Send { to, record });
            }
        }
    }

    /// What shows that all are done, and last this member's own word.
    fn shows_the_end(&self) -> Vec<Signed> {
        let attempt = self.last_word();
        let held = self.held.get(&attempt).into_iter().flatten();
        let word = |(&origin, &signature)| Signed {
            record: Record::Held { origin, attempt },
            signature,
        };
        let mut records: Vec<Signed> = held.map(word).collect();
        records.extend(self.over.values().cloned());
        let origin = self.setup.me;
        records.push(self.signed(Record::Finished { origin }));
        records
    }

    /// The attempt after the last release, in the present view: nothing is published in it, and everybody's word in it is that it has all sums.
    fn last_word(&self) -> Attempt {
        Attempt {
            release: self.setup.last.next(),
            retry: self.retries,
            view: self.view().number,
        }
    }

    /// Ends if everybody has said that it has all sums, also where members are agreeing on what has gone wrong since: nothing is averaged any more. Where something has gone wrong the
    /// word of more members than may collude is enough.
    ///
    /// Where nothing has, every member that has all sums waits for all words: it has passed them on when it ends. A member that ends without them passes on why it does.
    pub(super) fn end_if_all_are_done(&mut self, out: &mut Vec<Output>) {
        let attempt = self.last_word();
        let held = self.held.get(&attempt);
        let is_own = held.is_some_and(|held| held.contains_key(&self.setup.me));
        if self.stage == Stage::Frozen && is_own && self.is_certificate(attempt) {
            return self.finish(End::Finished, out);
        }
        let has_all = self.done == self.setup.last;
        let colluders = self.setup.tolerance.colluders;
        let colluders = match self.defect {
            None => colluders,
            Some(defect) => defect.colluders(colluders),
        };
        if self.over.len() > colluders && (!has_all || self.known.count() > 0) {
            if !has_all {
                return self.finish(End::Missed, out);
            }
            for word in self.over.values().cloned().collect::<Vec<_>>() {
                self.flood(word, None, out);
            }
            self.finish(End::Finished, out);
        }
    }

    /// A member says that it has finished.
    pub(super) fn heard_finished(
        &mut self,
        from: PeerIndex,
        signed: Signed,
        now: Time,
        out: &mut Vec<Output>,
    ) {
        let origin = signed.record.origin();
        let is_known = origin == self.setup.me || self.over.contains_key(&origin);
        if is_known || origin.index() >= self.setup.links.peers() || !self.is_signed(&signed) {
            return;
        }
        self.over.insert(origin, signed.clone());
        // Where nothing goes wrong everybody hears all words, and these need not travel.
        if self.known.count() > 0 || !self.shown.is_empty() {
            self.flood(signed, Some(from), out);
        }
        if matches!(self.stage, Stage::Ended(_)) {
            return;
        }
        self.end_if_all_are_done(out);
        let is_lacking = self.end().is_none() && self.done < self.setup.last;
        if is_lacking && from == origin {
            // It has left, or lies: nothing of it is needed.
            self.suspect(origin, now, out);
        }
    }

    pub(super) fn finish(&mut self, end: End, out: &mut Vec<Output>) {
        self.stage = Stage::Ended(end);
        if end == End::Finished {
            let origin = self.setup.me;
            self.flood(self.signed(Record::Finished { origin }), None, out);
        }
        out.push(Output::Ended(end));
    }
}
