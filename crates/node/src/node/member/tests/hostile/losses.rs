//! What a hostile member says while others agree on losses.

use super::actor::{Hands, Item};
use super::*;
use crate::protocol::regroup::{Attempt, Record, Statement};
use crate::protocol::tolerant::Frame;

/// The record of an item, if its origin is the hostile member.
pub(super) fn record<'a>(hands: &Hands<'_>, item: &'a Item) -> Option<&'a Record> {
    match item {
        Item::Frame(Frame::Record(signed)) => {
            let own = hands.lossy()?.setup.me;
            (signed.record.origin() == own).then_some(&signed.record)
        }
        _ => None,
    }
}

/// Signs a record and sends it to all neighbours.
pub(super) fn flood(hands: &mut Hands<'_>, record: Record) {
    if let Some(frame) = altering::signed(hands, record) {
        for to in hands.others() {
            hands.send(to, Item::Frame(frame.clone()));
        }
    }
}

/// Cuts a link of the hostile member that is not cut yet.
pub(super) fn cut(hands: &mut Hands<'_>) {
    let Some(lossy) = hands.lossy() else { return };
    let origin = lossy.setup.me;
    let mut links = lossy.setup.links.neighbours(origin).iter().rev();
    let known = lossy.peer.regroup().known().cuts();
    let open = links.find(|(_, link)| !known.contains(*link));
    if let Some((_, link)) = open {
        let link = *link;
        flood(hands, Record::Cut { link, origin });
    }
}

/// The item with another content, where it is a statement of the hostile member's.
pub(super) fn restated(hands: &Hands<'_>, item: Item, change: impl FnOnce(&mut Statement)) -> Item {
    let Some(Record::Statement {
        origin,
        serial,
        statement,
    }) = record(hands, &item)
    else {
        return item;
    };
    let mut statement = statement.clone();
    change(&mut statement);
    let record = Record::Statement {
        origin: *origin,
        serial: *serial,
        statement,
    };
    altering::signed(hands, record).map_or(item, Item::Frame)
}

/// A member that receives what all publish, does not say that it holds it, and cuts a link of its own instead, so many times.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unheld {
    left: u32,
    last: Option<Attempt>,
}

impl Unheld {
    pub(super) fn new(left: u32) -> Self {
        Self { left, last: None }
    }

    /// Whether this item does not leave.
    pub(super) fn keeps_back(&mut self, hands: &mut Hands<'_>, item: &Item) -> bool {
        let Some(Record::Held { attempt, .. }) = record(hands, item) else {
            return false;
        };
        let attempt = *attempt;
        if self.last == Some(attempt) {
            return true;
        }
        if self.left == 0 {
            return false;
        }
        self.left -= 1;
        self.last = Some(attempt);
        cut(hands);
        true
    }
}
