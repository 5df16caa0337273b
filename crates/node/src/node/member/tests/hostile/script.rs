//! Hostile members by hand: what each does is written where it is used.

use super::actor::{Actor, Hands, Item};
use super::*;

type OnSend = Box<dyn FnMut(&mut Hands<'_>, usize, Item)>;
type OnAct = Box<dyn FnMut(&mut Hands<'_>, u64)>;
type OnBegin = Box<dyn FnMut(&mut Hands<'_>)>;
type OnHear = Box<dyn FnMut(&Arc<[u8]>)>;

/// A hostile member that does as its honest process, but for what is given.
#[derive(Default)]
pub(super) struct Script {
    on_begin: Option<OnBegin>,
    on_send: Option<OnSend>,
    on_act: Option<OnAct>,
    on_hear: Option<OnHear>,
}

impl Script {
    pub(super) fn sends(act: impl FnMut(&mut Hands<'_>, usize, Item) + 'static) -> Self {
        Self {
            on_send: Some(Box::new(act)),
            ..Self::default()
        }
    }

    pub(super) fn begins(mut self, act: impl FnMut(&mut Hands<'_>) + 'static) -> Self {
        self.on_begin = Some(Box::new(act));
        self
    }

    pub(super) fn acts(mut self, act: impl FnMut(&mut Hands<'_>, u64) + 'static) -> Self {
        self.on_act = Some(Box::new(act));
        self
    }

    pub(super) fn hears(mut self, act: impl FnMut(&Arc<[u8]>) + 'static) -> Self {
        self.on_hear = Some(Box::new(act));
        self
    }
}

impl Actor for Script {
    fn begins(&mut self, hands: &mut Hands<'_>) {
        if let Some(act) = &mut self.on_begin {
            act(hands);
        }
    }

    fn sends(&mut self, hands: &mut Hands<'_>, to: usize, item: Item) {
        match &mut self.on_send {
            Some(act) => act(hands, to, item),
            None => hands.send(to, item),
        }
    }

    fn hears(&mut self, bytes: &Arc<[u8]>) {
        if let Some(act) = &mut self.on_hear {
            act(bytes);
        }
    }

    fn acts(&mut self, hands: &mut Hands<'_>, number: u64) {
        if let Some(act) = &mut self.on_act {
            act(hands, number);
        }
    }
}
