//! What a peer notes while it averages, and what it says and shows of it afterwards.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::account::{Account, Exhibit};
use super::reading::Probe;
use super::rules::{Place, Rules};
use crate::protocol::message::{Body, Message};
use crate::vocabulary::PeerIndex;

/// What a peer has published and heard in the averaging of one release.
#[derive(Clone, Debug)]
pub struct Witness {
    me: PeerIndex,
    published: Option<Arc<Vec<f64>>>,
    heard: BTreeMap<Place, Arc<Vec<f64>>>,
}

impl Witness {
    /// Of this peer, which has neither published nor heard anything.
    #[must_use]
    pub fn new(me: PeerIndex) -> Self {
        Self {
            me,
            published: None,
            heard: BTreeMap::new(),
        }
    }

    /// Notes what this peer averages.
    pub fn publish(&mut self, values: Arc<Vec<f64>>) {
        self.published = Some(values);
    }

    /// Notes what a neighbour sent, if it is part of an averaging. The first message of a round stays.
    pub fn hear(&mut self, from: PeerIndex, message: &Message) {
        if let Body::Average(values) = &message.body {
            let (peer, round) = (from, message.round.0);
            self.heard
                .entry(Place { peer, round })
                .or_insert_with(|| Arc::clone(values));
        }
    }

    /// What this peer held, step by step, as the rules have it follow from what it published and heard; nothing if that is not all there.
    #[must_use]
    pub fn account(&self, rules: &Rules, probe: &Probe) -> Option<Account> {
        let read = |value: &Arc<Vec<f64>>| probe.read(value);
        let held = self.held(rules)?;
        let readings = held.iter().map(read).collect();
        Some(Account { readings })
    }

    /// The values before each step and after the last.
    fn held(&self, rules: &Rules) -> Option<Vec<Arc<Vec<f64>>>> {
        let mut held = vec![Arc::clone(self.published.as_ref()?)];
        for at in 0..rules.steps(self.me) {
            let next = rules.next(self.me, at, &held, |place| self.heard.get(&place))?;
            held.push(next);
        }
        Some(held)
    }

    /// What neighbours sent to this peer, where their accounts have another reading, or none.
    #[must_use]
    pub fn exhibits(
        &self,
        rules: &Rules,
        probe: &Probe,
        accounts: &[Option<Account>],
    ) -> Vec<Exhibit> {
        let accounts = rules.whole(accounts);
        let is_shown = |place: Place, block: &Arc<Vec<f64>>| {
            let claimed = rules.claimed(&accounts, place);
            claimed != Some(&probe.read(block))
        };
        let heard = rules.heard(self.me).into_iter();
        let heard = heard.filter_map(|place| Some((place, self.heard.get(&place)?)));
        let shown = heard.filter(|(place, block)| is_shown(*place, block));
        let by = self.me;
        let exhibits = shown.map(|(place, block)| Exhibit {
            by,
            place,
            block: Arc::clone(block),
        });
        exhibits.collect()
    }
}
