//! Defects of a tolerant peer that tests build, to see that somebody notices.
//!
//! Without the feature `testing` a [`Defect`] has no values. Peers hold an `Option` of one, which then takes no room, and every line that
//! reads it is compiled in every build: what is tested is what ships.

#[cfg(any(test, feature = "testing"))]
mod switched_on {
    use std::sync::Arc;

    use crate::protocol::escrow::{self, Rule};
    use crate::protocol::message::Summand;
    use crate::protocol::outbox::{CollectingOutbox, Event};
    use crate::protocol::peer::{self, Peer};
    use crate::protocol::regroup::{self, Attempt, View};
    use crate::protocol::tolerant::{SealSecrets, TolerantError, TolerantPeer};
    use crate::vocabulary::{PeerIndex, Time};

    /// A defect of all peers. With each of them schedules must turn red.
    #[cfg_attr(
        not(test),
        allow(dead_code, reason = "unit tests alone build a peer with a defect")
    )]
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Defect {
        /// One of the agreement.
        Agreement(regroup::Defect),
        /// One of the agreement, and no signatures are counted when something is opened.
        Unchecked(regroup::Defect),
        /// A peer that shared noise with a lost peer takes it back, and the lost peer is left out of the sum.
        RollBack,
        /// That a share was given up is not on the disk.
        UnsavedRelease,
        /// That the own contribution was opened is not on the disk.
        UnsavedOpening,
        /// The ledger has the charge after the contribution has left.
        ChargeLate,
        /// A peer that comes back contributes to what is certified a second time, with fresh noise.
        Redraw,
        /// A peer that comes back computes again what it had sealed, and has forgotten what was agreed on.
        Recompute,
        /// An heir adds twice what it inherits.
        HeirTwice,
        /// One key serves both directions of a pair.
        OneKey,
        /// Attempts under different views draw one noise.
        SameStream,
        /// Not a defect but a lie: the first member overstates how often releases were tried again ([`regroup::Defect::Overstates`]).
        FirstOverstates,
    }

    impl Defect {
        /// Whether this peer has it.
        pub(in crate::protocol::tolerant) fn is_of(self, peer: PeerIndex) -> bool {
            self != Self::FirstOverstates || peer == PeerIndex(0)
        }

        /// The defect of the agreement that goes with it.
        pub(in crate::protocol::tolerant) fn agreement(self) -> Option<regroup::Defect> {
            match self {
                Self::Agreement(defect) | Self::Unchecked(defect) => Some(defect),
                Self::FirstOverstates => Some(regroup::Defect::Overstates),
                _ => None,
            }
        }

        /// The defect of the escrow that goes with it.
        pub(in crate::protocol::tolerant) fn escrow(self) -> Option<escrow::Defect> {
            let defect = escrow::Defect(Rule::Certified);
            self.opens_unchecked().then_some(defect)
        }

        /// Whether signatures are not counted when something is opened.
        pub(in crate::protocol::tolerant) fn opens_unchecked(self) -> bool {
            matches!(self, Self::Unchecked(_))
        }

        /// Whether the disk does not have that the own contribution was opened.
        pub(in crate::protocol::tolerant) fn forgets_openings(self) -> bool {
            self == Self::UnsavedOpening
        }

        /// Whether the disk does not have that a share was given up.
        pub(in crate::protocol::tolerant) fn forgets_releases(self) -> bool {
            self == Self::UnsavedRelease
        }

        /// Whether a contribution leaves before it is charged.
        pub(in crate::protocol::tolerant) fn charges_late(self) -> bool {
            self == Self::ChargeLate
        }

        /// The peers whose contributions an heir brings in.
        pub(in crate::protocol::tolerant) fn brought_in(
            self,
            mut all: Vec<PeerIndex>,
        ) -> Vec<PeerIndex> {
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

        /// What a simulated peer seals with.
        pub fn secrets(self, me: PeerIndex, secrets: SealSecrets) -> SealSecrets {
            match self {
                Self::OneKey => secrets.with_one_key(me),
                _ => secrets,
            }
        }

        /// Whether the noise of a view does not depend on which view it is.
        pub fn repeats_streams(self) -> bool {
            self == Self::SameStream
        }

        /// The contribution to a certified attempt, made again by a peer that has come back.
        pub(in crate::protocol::tolerant) fn made_again(
            self,
            of: &TolerantPeer,
            attempt: Attempt,
        ) -> Result<Option<Summand>, TolerantError> {
            let agreed = of.kept.get(&attempt).and_then(|kept| kept.agreed);
            let then = of.regroup.view_with(attempt.view);
            let (view, agreed) = match self {
                Self::Redraw => (Some(of.regroup.view()), agreed),
                Self::Recompute => (then, agreed.map(|agreed| 0.9 * agreed)),
                _ => return Ok(None),
            };
            let state = of.states.get(&attempt.release.0.saturating_sub(1));
            let has_come_back = of.regroup.known().restarts()[of.setup.me.index()] > 0;
            let (Some(view), Some(state), true) = (view, state, has_come_back) else {
                return Ok(None);
            };
            let mut state = state.clone();
            state.agreed = agreed;
            let Ok(made) = of.views.setup(view, of.setup.me) else {
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
        pub(in crate::protocol::tolerant) fn take_back(
            self,
            of: &TolerantPeer,
            attempt: Attempt,
            inputs: &mut [Summand],
        ) {
            let then = of.regroup.view_with(attempt.view);
            let (Self::RollBack, Some(inner), Some(view)) = (self, &of.inner, then) else {
                return;
            };
            let view: &View = view;
            let (scale, _) = inner.peer.answering();
            let Ok(made) = of.views.setup(view, of.setup.me) else {
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
}

#[cfg(not(any(test, feature = "testing")))]
mod switched_off {
    use crate::protocol::escrow;
    use crate::protocol::message::Summand;
    use crate::protocol::regroup::{self, Attempt};
    use crate::protocol::tolerant::{SealSecrets, TolerantError, TolerantPeer};
    use crate::vocabulary::PeerIndex;

    /// Nothing: this build has no defects.
    #[derive(Clone, Copy, Debug)]
    pub enum Defect {}

    impl Defect {
        pub(in crate::protocol::tolerant) fn is_of(self, _: PeerIndex) -> bool {
            match self {}
        }

        pub(in crate::protocol::tolerant) fn agreement(self) -> Option<regroup::Defect> {
            match self {}
        }

        pub(in crate::protocol::tolerant) fn escrow(self) -> Option<escrow::Defect> {
            match self {}
        }

        pub(in crate::protocol::tolerant) fn opens_unchecked(self) -> bool {
            match self {}
        }

        pub(in crate::protocol::tolerant) fn forgets_openings(self) -> bool {
            match self {}
        }

        pub(in crate::protocol::tolerant) fn forgets_releases(self) -> bool {
            match self {}
        }

        pub(in crate::protocol::tolerant) fn charges_late(self) -> bool {
            match self {}
        }

        pub(in crate::protocol::tolerant) fn brought_in(self, _: Vec<PeerIndex>) -> Vec<PeerIndex> {
            match self {}
        }

        pub fn secrets(self, _: PeerIndex, _: SealSecrets) -> SealSecrets {
            match self {}
        }

        pub fn repeats_streams(self) -> bool {
            match self {}
        }

        pub(in crate::protocol::tolerant) fn made_again(
            self,
            _: &TolerantPeer,
            _: Attempt,
        ) -> Result<Option<Summand>, TolerantError> {
            match self {}
        }

        pub(in crate::protocol::tolerant) fn take_back(
            self,
            _: &TolerantPeer,
            _: Attempt,
            _: &mut [Summand],
        ) {
            match self {}
        }
    }

    const _: () = assert!(size_of::<Option<Defect>>() == 0);
}

#[cfg(not(any(test, feature = "testing")))]
pub use switched_off::Defect;
#[cfg(any(test, feature = "testing"))]
pub use switched_on::Defect;
