//! What experiments are made of and is costly to make: read, filtered, dealt, drawn and planned once, and
//! shared by every experiment that asks for the same.
//!
//! A key is the part of the configuration a material depends on, in full: experiments that differ anywhere
//! else share it, and nothing else does. One set of materials is for one base folder.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use super::data_summary::DataSummary;
use super::error::{DataTableError, ExperimentError};
use super::held_out::HeldOut;
use crate::config::{Config, DataConfig, TopologySource};
use crate::data::{self, DataError, Interactions, ItemNames};
use crate::engine::PeerRows;
use crate::linalg::SparseRows;
use crate::privacy::NoisePlan;
use crate::topology::{Topology, TopologyError};

/// Values computed once per key.
///
/// Whoever asks first computes; whoever asks for the same key meanwhile waits for that value, and other keys
/// are not held up. Errors are not kept.
pub(crate) struct Memo<T>(Mutex<BTreeMap<String, Slot<T>>>);

type Slot<T> = Arc<Mutex<Option<Arc<T>>>>;

impl<T> Default for Memo<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T> Memo<T> {
    /// The value of this key.
    pub(crate) fn get<E>(
        &self,
        key: &impl Debug,
        make: impl FnOnce() -> Result<T, E>,
    ) -> Result<Arc<T>, E> {
        let slot = {
            let mut slots = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(slots.entry(format!("{key:?}")).or_default())
        };
        let mut slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(value) = &*slot {
            return Ok(Arc::clone(value));
        }
        let value = Arc::new(make()?);
        *slot = Some(Arc::clone(&value));
        Ok(value)
    }
}

/// The interactions that the peers hold, what was read and dropped, and what is held out.
pub(super) type Held = (Arc<Interactions>, DataSummary, Option<HeldOut>);

/// The materials of all experiments of one base folder.
#[derive(Default)]
pub(crate) struct Materials {
    loaded: Memo<data::Loaded>,
    item_lists: Memo<ItemNames>,
    held: Memo<Held>,
    user_rows: Memo<SparseRows>,
    peer_rows: Memo<PeerRows>,
    topologies: Memo<Topology>,
    plans: Memo<NoisePlan>,
}

impl Materials {
    /// The ratings file, read.
    pub(super) fn loaded(
        &self,
        data: &DataConfig,
        base: &Path,
    ) -> Result<Arc<data::Loaded>, ExperimentError> {
        let key = (&data.path, data.format, data.threshold);
        self.loaded.get(&key, || {
            let path = base.join(&data.path);
            data::load(&path, data.format, data.threshold).map_err(|error| match error {
                DataError::Open {
                    kind: std::io::ErrorKind::NotFound,
                    ..
                } => DataTableError::MissingData {
                    path,
                    obtain: data.obtain.clone(),
                }
                .into(),
                other => DataTableError::from(other).into(),
            })
        })
    }

    /// The item list of a file, read.
    pub(super) fn item_list(&self, path: &Path) -> Result<Arc<ItemNames>, DataError> {
        self.item_lists.get(&path, || ItemNames::load(path))
    }

    /// What the filters leave of it.
    pub(super) fn held<E>(
        &self,
        config: &Config,
        make: impl FnOnce() -> Result<Held, E>,
    ) -> Result<Arc<Held>, E> {
        self.held.get(&held_key(config), make)
    }

    /// Every user's normalised row.
    pub(super) fn user_rows<E>(
        &self,
        config: &Config,
        make: impl FnOnce() -> Result<SparseRows, E>,
    ) -> Result<Arc<SparseRows>, E> {
        let key = (held_key(config), config.data.degree_floor);
        self.user_rows.get(&key, make)
    }

    /// The rows each peer holds.
    pub(super) fn peer_rows<E>(
        &self,
        config: &Config,
        make: impl FnOnce() -> Result<PeerRows, E>,
    ) -> Result<Arc<PeerRows>, E> {
        // A random deal is the seed's.
        let seed = (config.peers.partition == data::Partition::Random).then_some(config.seed);
        let key = (
            held_key(config),
            config.data.degree_floor,
            &config.peers,
            seed,
        );
        self.peer_rows.get(&key, make)
    }

    /// A graph for so many peers.
    pub(super) fn topology(
        &self,
        source: &TopologySource,
        base: &Path,
        peers: usize,
    ) -> Result<Arc<Topology>, TopologyError> {
        self.topologies
            .get(&(source, peers), || source.resolve(base, peers))
    }

    /// The noise of this budget on this graph; one that is `renumbered` depends on the communication graph's order too.
    pub(super) fn plan<E>(
        &self,
        config: &Config,
        peers: usize,
        renumbered: bool,
        make: impl FnOnce() -> Result<NoisePlan, E>,
    ) -> Result<Arc<NoisePlan>, E> {
        let graph = config.noise_topology.as_ref().unwrap_or(&config.topology);
        let key = (
            &config.privacy,
            &config.noise,
            graph,
            (peers, renumbered.then_some(&config.topology)),
            config.algorithm.iterations,
            config.engine.kind,
        );
        self.plans.get(&key, make)
    }
}

/// All that decides which interactions are left.
pub(crate) fn held_key(config: &Config) -> impl Debug + '_ {
    let data = DataConfig {
        degree_floor: 1,
        ..config.data.clone()
    };
    let evaluation = &config.evaluation;
    // Which interactions exceed the cap, and which are held out, is drawn.
    let drawn = config.data.degree_cap.is_some() || evaluation.holdout.is_some();
    (
        data,
        evaluation.holdout,
        &evaluation.test,
        drawn.then_some(config.seed),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_made_once_per_key_and_errors_are_not_kept() {
        let memo = Memo::default();
        let mut made = 0;
        assert_eq!(memo.get(&1, || Err::<u32, &str>("no")), Err("no"));
        for (key, value) in [(1, 10), (1, 11), (2, 20), (1, 12)] {
            let found = memo.get(&key, || {
                made += 1;
                Ok::<u32, &str>(value)
            });
            assert_eq!(*found.expect("made"), if key == 1 { 10 } else { 20 });
        }
        assert_eq!(made, 2);
    }

    #[test]
    fn keys_hold_what_the_material_depends_on() {
        let config: Config =
            toml::from_str(include_str!("../../sims/quickstart.toml")).expect("valid");
        let key = |change: &dyn Fn(&mut Config)| {
            let mut config = config.clone();
            change(&mut config);
            format!("{:?}", held_key(&config))
        };
        let same = key(&|_| ());
        assert_eq!(same, key(&|c| c.seed += 1));
        assert_eq!(same, key(&|c| c.data.degree_floor += 1));
        assert_ne!(same, key(&|c| c.data.items += 1));
        assert_ne!(same, key(&|c| c.data.items_file = Some("x".into())));
        assert_ne!(same, key(&|c| c.data.items_hash = Some("x".to_owned())));
        assert_ne!(same, key(&|c| c.evaluation.holdout = Some(0.2)));
        assert_ne!(same, key(&|c| c.data.threshold += 1.0));
        assert_ne!(
            key(&|c| c.data.degree_cap = Some(3)),
            key(&|c| {
                c.data.degree_cap = Some(3);
                c.seed += 1;
            })
        );
    }
}
