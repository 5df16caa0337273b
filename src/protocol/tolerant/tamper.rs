//! Defects on purpose: with each of them schedules must turn red.

use std::sync::Arc;

use super::{Peer, TolerantError, TolerantPeer};
use crate::protocol::message::Summand;
use crate::protocol::outbox::{CollectingOutbox, Event};
use crate::protocol::peer;
use crate::protocol::regroup::{Attempt, Tamper as Agreement, View};
use crate::vocabulary::{PeerIndex, Time};

/// A defect of all peers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Tamper {
    #[default]
    None,
    /// Whoever holds what its neighbours sealed opens at once.
    NoBarrier,
    /// One word is not waited for.
    OneShort,
    /// One word of somebody else is a certificate.
    OneSignature,
    /// Statements do not say what is certified.
    ForgetCertificates,
    /// More than half of all decide.
    Majority,
    /// Who shared noise with a lost peer takes it back, and the lost peer is left out of the sum.
    RollBack,
    /// That a share was given up is not on the disk.
    UnsavedRelease,
    /// That the own contribution was opened is not on the disk.
    UnsavedOpening,
    /// The ledger has the charge after the contribution has left.
    ChargeLate,
    /// Whoever comes back contributes anew to what is certified, with fresh noise.
    Redraw,
    /// Whoever comes back computes again what it had sealed, and has forgotten what was agreed on.
    Recompute,
    /// An heir adds twice what it inherits.
    HeirTwice,
    /// One key serves both directions of a pair.
    OneKey,
    /// Attempts under different views draw one noise.
    SameStream,
    /// Not a defect but a lie: the first member overstates how often releases were tried again ([`Agreement::Overstates`]).
    Overstates,
}

#[cfg(feature = "node")]
impl TolerantPeer {
    /// A peer that overstates how often releases were tried again, and cuts links so that they are ([`Agreement::Overstates`]).
    pub(crate) fn overstating(mut self) -> Self {
        self.regroup.tamper = Agreement::Overstates;
        self
    }
}

impl Tamper {
    /// The defect of the agreement that goes with it.
    pub(super) fn agreement(self) -> Agreement {
        match self {
            Self::NoBarrier => Agreement::NoBarrier,
            Self::OneShort => Agreement::OneShort,
            Self::OneSignature => Agreement::OneSignature,
            Self::ForgetCertificates => Agreement::ForgetCertificates,
            Self::Majority => Agreement::Majority,
            Self::Overstates => Agreement::Overstates,
            _ => Agreement::None,
        }
    }

    /// Whether signatures are not counted when something is opened.
    pub(super) fn opens_without(self) -> bool {
        matches!(self, Self::NoBarrier | Self::OneShort | Self::OneSignature)
    }

    /// Whose contributions a peer brings in.
    pub(super) fn brought_in(self, mut all: Vec<PeerIndex>) -> Vec<PeerIndex> {
        match self {
            Self::HeirTwice => {
                let inherited = all[1..].to_vec();
                all.extend(inherited);
            }
            Self::RollBack => all.truncate(1),
            _ => {}
        }
        all
    }
}

impl TolerantPeer {
    /// The contribution to a certified attempt, made again by a peer that has come back.
    pub(super) fn made_again(&self, attempt: Attempt) -> Result<Option<Summand>, TolerantError> {
        let agreed = self.kept.get(&attempt).and_then(|kept| kept.agreed);
        let then = self.regroup.view_with(attempt.view);
        let (view, agreed) = match self.tamper {
            Tamper::Redraw => (Some(self.regroup.view()), agreed),
            Tamper::Recompute => (then, agreed.map(|agreed| 0.9 * agreed)),
            _ => return Ok(None),
        };
        let state = self.states.get(&attempt.release.0.saturating_sub(1));
        let (Some(view), Some(state), true) = (view, state, self.came_back) else {
            return Ok(None);
        };
        let mut state = state.clone();
        state.agreed = agreed;
        let Ok(made) = self.views.setup(view, self.setup.me) else {
            return Ok(None);
        };
        let mut peer = Peer::new(made.setup)?.after(state)?;
        let mut said = CollectingOutbox::default();
        peer.handle(peer::Input::Start, Time(0), &mut said)?;
        let published = said.events.into_iter().find_map(|event| match event {
            Event::Published { input, .. } => Some(input),
            _ => None,
        });
        Ok(published)
    }

    /// Takes back what this peer shares with peers that are lost, which is what nobody may do.
    pub(super) fn roll_back(&self, attempt: Attempt, inputs: &mut [Summand]) {
        let (Some(inner), Some(view)) = (&self.inner, self.regroup.view_with(attempt.view)) else {
            return;
        };
        let view: &View = view;
        let (scale, _) = inner.peer.answering();
        let Ok(made) = self.views.setup(view, self.setup.me) else {
            return;
        };
        let Some(Summand::Reals(own)) = inputs.first() else {
            return;
        };
        let mut values = own.to_vec();
        for lost in inner.heirs.iter().map(|heir| heir.lost) {
            let local = made.members.binary_search(&lost).map(PeerIndex::from_index);
            let partners = &made.setup.noise_partners;
            let place = local
                .ok()
                .and_then(|local| partners.binary_search(&local).ok());
            if let Some(place) = place {
                let term = made.setup.noise.shared_term(place);
                term.add_to(attempt.release, -scale, &mut values);
            }
        }
        inputs[0] = Summand::Reals(Arc::new(values));
    }
}
