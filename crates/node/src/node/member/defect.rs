//! Defects of a member that tests build: its noise, what it takes down, and when it writes its files anew.
//!
//! Without the feature `testing` a [`Defect`] has no values. Members hold an `Option` of one, which then takes no room, and every line that
//! reads it is compiled in every build: what is tested is what ships.

#[cfg(any(test, feature = "testing"))]
#[cfg_attr(
    not(test),
    allow(dead_code, reason = "unit tests alone build a member with a defect")
)]
mod switched_on {
    use std::sync::Arc;

    use crate::linalg::Block;
    use crate::node::deployed;
    use crate::noise::PeerNoise;
    use crate::protocol::regroup::View;
    use crate::vocabulary::PeerIndex;

    /// The noise of a member in a view, or in the first one.
    pub(in crate::node) type NoiseSource =
        Arc<dyn Fn(Option<&View>, PeerIndex) -> PeerNoise + Send + Sync>;

    /// What is wrong with a member, or known of it beforehand.
    #[derive(Clone, Default)]
    pub(in crate::node) struct Defect {
        /// Where its noise comes from, in place of its own keys.
        pub(in crate::node) noise: Option<NoiseSource>,
        /// Whether it takes down a basis that is not the one that it computed.
        pub(in crate::node) miscomputes: bool,
        /// From how many bytes on it writes `recovery.bin` anew; with 0 whenever something is added.
        pub(in crate::node) compacts_at: Option<u64>,
        /// What is wrong with its host.
        pub(in crate::node) host: deployed::Defect,
    }

    impl Defect {
        /// The noise that it draws in this view, or in the first one, in place of its own.
        pub(in crate::node::member) fn noise(
            &self,
            view: Option<&View>,
            index: PeerIndex,
            own: PeerNoise,
        ) -> PeerNoise {
            match &self.noise {
                None => own,
                Some(noise) => noise(view, index),
            }
        }

        /// The basis that it takes down in place of this one.
        pub(in crate::node::member) fn taken_down(&self, basis: Arc<Block>) -> Arc<Block> {
            if !self.miscomputes {
                return basis;
            }
            let mut values = basis.values().to_vec();
            values[0] = -values[0];
            Arc::new(Block::from_values(basis.rows(), basis.columns(), values))
        }

        /// The length at which `recovery.bin`, which has this one, is written anew, in place of the usual one.
        pub(in crate::node::member) fn due(&self, usual: u64, length: u64) -> u64 {
            match self.compacts_at {
                None => usual,
                Some(0) => 0,
                Some(least) => least.max(2 * length),
            }
        }

        /// What is wrong with its host.
        pub(in crate::node::member) fn host(&self) -> deployed::Defect {
            self.host.clone()
        }
    }
}

#[cfg(not(any(test, feature = "testing")))]
mod switched_off {
    use std::sync::Arc;

    use crate::linalg::Block;
    use crate::node::deployed;
    use crate::noise::PeerNoise;
    use crate::protocol::regroup::View;
    use crate::vocabulary::PeerIndex;

    /// Nothing: this build has no defects.
    #[derive(Clone)]
    pub(in crate::node) enum Defect {}

    impl Defect {
        pub(in crate::node::member) fn noise(
            &self,
            _: Option<&View>,
            _: PeerIndex,
            _: PeerNoise,
        ) -> PeerNoise {
            match *self {}
        }

        pub(in crate::node::member) fn taken_down(&self, _: Arc<Block>) -> Arc<Block> {
            match *self {}
        }

        pub(in crate::node::member) fn due(&self, _: u64, _: u64) -> u64 {
            match *self {}
        }

        pub(in crate::node::member) fn host(&self) -> deployed::Defect {
            match *self {}
        }
    }

    const _: () = assert!(size_of::<Option<Defect>>() == 0);
}

#[cfg(not(any(test, feature = "testing")))]
pub(in crate::node) use switched_off::Defect;
#[cfg(any(test, feature = "testing"))]
pub(in crate::node) use switched_on::Defect;
#[cfg(test)]
pub(in crate::node) use switched_on::NoiseSource;
