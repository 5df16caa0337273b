//! Defects of a network's noise that tests build, to see that somebody notices.
//!
//! They show in what is drawn, after every check of the plan has been passed. Without the feature `testing` a [`Defect`] has no values:
//! sessions hold an `Option` of one, which then takes no room, and every line that looks at it is compiled in every build.

#[cfg(any(test, feature = "testing"))]
mod switched_on {
    use std::sync::Arc;

    use crate::noise::{Term, TermDefect};
    use crate::protocol::SessionPlan;
    use crate::vocabulary::PeerIndex;

    /// What is wrong with the noise of a session, for tests of whatever should notice.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub enum Defect {
        /// Every peer's own noise has half the planned standard deviation.
        HalveOwnNoise,
        /// Both ends of every edge of peer 0 add the pairwise term with a plus sign.
        FlipPairwiseSign,
        /// Every iteration draws the first iteration's streams.
        ReuseStream,
        /// Peer 0 adds no own noise.
        DropPeerNoise,
        /// Peer 0 does not add the noise it shares with peer 1; peer 1 does.
        ForgetPartner,
        /// Peer 0's own noise is scaled by this factor.
        ScaleOwnNoise(f64),
        /// All noise has half the planned standard deviation.
        HalveAllNoise,
        /// All pairwise noise, at both ends, has this many times the planned standard deviation: 0 for none at all.
        ScalePairwise(f64),
        /// The pairwise noise of one edge, lower end first, is scaled by this factor at both ends.
        ScaleEdge(u32, u32, f64),
        /// Neither peer 0 nor its partners add the noise they share.
        OmitPairsOfPeer,
        /// The stream of an edge depends on its lower end only.
        KeyedByLowerEnd,
        /// The stream of an edge depends on its upper end only.
        KeyedByUpperEnd,
        /// Every iteration draws the first iteration's pairwise streams; own noise is fresh.
        ReusePairwise,
        /// Every chunk of coordinates repeats the first chunk's pairwise normals.
        RepeatChunk,
        /// Peer 1 adds the very own noise that peer 0 adds.
        ShareOwnNoise,
        /// Every peer leaves out this many of its terms of Wishart noise.
        FewerTerms(u64),
        /// Of Wishart noise one of the two matrices is left out.
        OneMatrix,
        /// Masks are uniform mod 2^(k−1) and sums are mod 2^k: at both ends, so that they cancel.
        NarrowMasks,
        /// Whoever reduces integers does so mod 2 to this number: all peers, or peer 0 alone.
        WrongModulus(u32, Extent),
    }

    /// How many peers have a defect.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Extent {
        /// Everybody.
        All,
        /// Peer 0, where engines have peers.
        First,
    }

    /// Draws that are multiplied by this.
    fn times(factor: f64) -> TermDefect {
        TermDefect {
            factor,
            ..TermDefect::PLANNED
        }
    }

    const FROZEN: TermDefect = TermDefect {
        frozen: true,
        ..TermDefect::PLANNED
    };

    impl Defect {
        /// The plan that all peers have.
        pub(in crate::engine) fn plan(self, plan: Arc<SessionPlan>) -> Arc<SessionPlan> {
            match self {
                Self::WrongModulus(bits, Extent::All) => {
                    Arc::new(SessionPlan::clone(&plan).with_wrong_modulus(bits))
                }
                _ => plan,
            }
        }

        /// The plan as this peer has it.
        pub(in crate::engine) fn plan_of(
            self,
            peer: PeerIndex,
            plan: Arc<SessionPlan>,
        ) -> Arc<SessionPlan> {
            match self {
                Self::WrongModulus(bits, Extent::First) if peer.0 == 0 => {
                    Arc::new(SessionPlan::clone(&plan).with_wrong_modulus(bits))
                }
                _ => plan,
            }
        }

        /// Whose own noise this peer draws.
        pub(in crate::engine) fn owner(self, peer: PeerIndex) -> PeerIndex {
            match self {
                Self::ShareOwnNoise if peer.0 == 1 => PeerIndex(0),
                _ => peer,
            }
        }

        /// What the stream of an edge is keyed by.
        pub(in crate::engine) fn ends(self, (lower, upper): (u32, u32)) -> (u32, u32) {
            match self {
                Self::KeyedByLowerEnd => (lower, 0),
                Self::KeyedByUpperEnd => (upper, 0),
                _ => (lower, upper),
            }
        }

        /// The own term of `peer`.
        pub(in crate::engine) fn own(self, peer: PeerIndex, mut term: Term) -> Term {
            let defect = match self {
                Self::HalveOwnNoise | Self::HalveAllNoise => Some(times(0.5)),
                Self::ScaleOwnNoise(factor) if peer.0 == 0 => Some(times(factor)),
                Self::DropPeerNoise if peer.0 == 0 => Some(times(0.0)),
                Self::ReuseStream => Some(FROZEN),
                Self::FewerTerms(fewer) => Some(TermDefect {
                    fewer,
                    ..TermDefect::PLANNED
                }),
                Self::OneMatrix => Some(TermDefect {
                    one_sided: true,
                    ..TermDefect::PLANNED
                }),
                _ => None,
            };
            term.scale.defect = defect;
            term
        }

        /// The terms at both ends of an edge.
        pub(in crate::engine) fn pair(
            self,
            (lower, upper): (PeerIndex, PeerIndex),
            (mut plus, mut minus): (Term, Term),
        ) -> (Term, Term) {
            let (at_lower, at_upper) = match self {
                Self::FlipPairwiseSign if lower.0 == 0 => (None, Some(times(-1.0))),
                Self::ForgetPartner if (lower.0, upper.0) == (0, 1) => (Some(times(0.0)), None),
                Self::HalveAllNoise => (Some(times(0.5)), Some(times(0.5))),
                Self::ScalePairwise(factor) => (Some(times(factor)), Some(times(factor))),
                Self::ScaleEdge(a, b, factor) if (lower.0, upper.0) == (a, b) => {
                    (Some(times(factor)), Some(times(factor)))
                }
                Self::OmitPairsOfPeer if lower.0 == 0 => (Some(times(0.0)), Some(times(0.0))),
                Self::ReuseStream | Self::ReusePairwise => (Some(FROZEN), Some(FROZEN)),
                Self::RepeatChunk => {
                    let one_chunk = TermDefect {
                        one_chunk: true,
                        ..TermDefect::PLANNED
                    };
                    (Some(one_chunk), Some(one_chunk))
                }
                Self::NarrowMasks => {
                    let narrow = TermDefect {
                        narrow: true,
                        ..TermDefect::PLANNED
                    };
                    (Some(narrow), Some(narrow))
                }
                _ => (None, None),
            };
            plus.scale.defect = at_lower;
            minus.scale.defect = at_upper;
            (plus, minus)
        }
    }
}

#[cfg(not(any(test, feature = "testing")))]
mod switched_off {
    use std::sync::Arc;

    use crate::noise::Term;
    use crate::protocol::SessionPlan;
    use crate::vocabulary::PeerIndex;

    /// Nothing: this build has no defects.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub enum Defect {}

    impl Defect {
        pub(in crate::engine) fn plan(self, _: Arc<SessionPlan>) -> Arc<SessionPlan> {
            match self {}
        }

        pub(in crate::engine) fn plan_of(
            self,
            _: PeerIndex,
            _: Arc<SessionPlan>,
        ) -> Arc<SessionPlan> {
            match self {}
        }

        pub(in crate::engine) fn owner(self, _: PeerIndex) -> PeerIndex {
            match self {}
        }

        pub(in crate::engine) fn ends(self, _: (u32, u32)) -> (u32, u32) {
            match self {}
        }

        pub(in crate::engine) fn own(self, _: PeerIndex, _: Term) -> Term {
            match self {}
        }

        pub(in crate::engine) fn pair(
            self,
            _: (PeerIndex, PeerIndex),
            _: (Term, Term),
        ) -> (Term, Term) {
            match self {}
        }
    }

    const _: () = assert!(size_of::<Option<Defect>>() == 0);
}

#[cfg(not(any(test, feature = "testing")))]
pub use switched_off::Defect;
#[cfg(any(test, feature = "testing"))]
pub use switched_on::{Defect, Extent};
