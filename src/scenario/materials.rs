//! What experiments are made of and is costly to make: read, filtered, dealt, drawn and planned once, and
//! shared by every experiment that asks for the same.
//!
//! A key is the part of the configuration a material depends on, in full: experiments that differ anywhere
//! else share it, and nothing else does.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::divisor::Divisor;
use super::error::{DataTableError, ExperimentError};
use super::held::Held;
use super::in_memory::InMemory;
use super::rating_test::RatingTest;
use super::{graph, numbers};
use crate::algorithm::Arrival;
use crate::config::{Config, DataConfig, DataFormat, ItemCount, PeersConfig, TopologySource};
use crate::data::{self, DataError, Generated, ItemNames, MatrixOptions, TableOptions, UserNames};
use crate::engine::PeerRows;
use crate::linalg::SparseRows;
use crate::plan::{Memo, NoiseMemo};
use crate::topology::{Graph, Topology, TopologyError};

/// What all experiments of one base folder share: data, graphs and noise plans, made once for all that ask for the same.
///
/// Experiments resolved from the same materials are those that [`Experiment::resolve`](super::Experiment::resolve) gives, in a
/// fraction of the time. A file is read once: a change on the disk afterwards is not seen. What is made stays in memory until
/// the materials are dropped.
pub struct Materials {
    base: PathBuf,
    in_memory: InMemory,
    loaded: Memo<LoadedKey, data::Loaded>,
    item_lists: Memo<PathBuf, ItemNames>,
    user_lists: Memo<PathBuf, UserNames>,
    titles: Memo<PathBuf, BTreeMap<String, String>>,
    held: Memo<HeldKey, Held>,
    samples: Memo<HeldKey, SparseRows>,
    rating_tests: Memo<HeldKey, RatingTest>,
    user_rows: Memo<(HeldKey, Divisor), SparseRows>,
    peer_rows: Memo<DealtKey, PeerRows>,
    topologies: Memo<(TopologySource, usize), Topology>,
    noise: NoiseMemo,
}

/// All that decides who holds which rows, and in which batch: degree floor, peers, seed where the deal is random, stream, the peer of every user where a column
/// says it.
type DealtKey = (
    HeldKey,
    Divisor,
    PeersConfig,
    Option<u64>,
    Option<(Arrival, u32)>,
    Option<Arc<[u32]>>,
);

/// All that decides which interactions are left.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct HeldKey {
    /// With the degree floor 1, which drops nothing.
    data: DataConfig,
    holdout: Option<f64>,
    test: Option<PathBuf>,
    /// Whether peers hold rows that are not shortened.
    completes: bool,
    /// Of how many items a matrix is released.
    recommended: Option<ItemCount>,
    /// The seed, where something is drawn.
    seed: Option<u64>,
    /// Whether rows and columns are the peers.
    vertices: bool,
}

impl HeldKey {
    /// That of this configuration.
    pub(crate) fn of(config: &Config) -> Self {
        let evaluation = &config.evaluation;
        // Which interactions exceed the cap, and which are held out, is drawn.
        let mut data = config.data.clone();
        data.set_degree_floor(1);
        let drawn = config.data.degree_cap().is_some() || config.held_share().is_some();
        Self {
            data,
            holdout: config.held_share(),
            test: evaluation.test.clone(),
            completes: config.algorithm.table().requirements().completes,
            recommended: config.recommender.map(|table| table.items),
            seed: drawn.then_some(config.seed),
            vertices: config.data.is_bipartite(),
        }
    }
}

/// All that decides what is read: path, format, threshold, whether numbers are kept, how a matrix is read or made, the list of users.
type LoadedKey = (
    PathBuf,
    DataFormat,
    f64,
    bool,
    (MatrixOptions, TableOptions),
    Option<Generated>,
    Option<PathBuf>,
);

impl Materials {
    /// Nothing yet, of configurations whose relative paths start at `base`.
    #[must_use]
    pub fn new(base: &Path) -> Self {
        Self {
            base: base.to_path_buf(),
            in_memory: InMemory::default(),
            loaded: Memo::default(),
            item_lists: Memo::default(),
            user_lists: Memo::default(),
            titles: Memo::default(),
            held: Memo::default(),
            samples: Memo::default(),
            rating_tests: Memo::default(),
            user_rows: Memo::default(),
            peer_rows: Memo::default(),
            topologies: Memo::default(),
            noise: NoiseMemo::default(),
        }
    }

    /// Takes these data for what is at `path` in this format: a configuration with that `data.path` and `data.format` reads no file. Ratings are as
    /// [`Loaded::from_ratings`](data::Loaded::from_ratings) gives them, rows as [`Loaded::from_array`](data::Loaded::from_array) does.
    pub fn know_data(&mut self, path: &Path, format: DataFormat, loaded: Arc<data::Loaded>) {
        let path = path.to_path_buf();
        self.in_memory.know_data(path, format, loaded);
    }

    /// Takes this graph for what is at `path`: a configuration with that `topology.file` or `noise_topology.file` reads no file. The graph has a name
    /// for every node, as a graph from a file does.
    pub fn know_graph(&mut self, path: &Path, graph: Arc<Graph>) {
        self.in_memory.know_graph(path.to_path_buf(), graph);
    }

    /// The same of a graph that was read from this file: whoever keeps the edges of that file private must not send along them.
    pub fn know_graph_of_file(&mut self, path: &Path, graph: Arc<Graph>, file: &Path) {
        self.know_graph(path, graph);
        self.in_memory
            .know_origin(path.to_path_buf(), file.to_path_buf());
    }

    /// Nothing yet, of configurations with the paths of an experiment: data and graphs that it has in memory, and where its files are.
    pub(super) fn beside(base: &Path, in_memory: &InMemory) -> Self {
        Self {
            in_memory: in_memory.clone(),
            ..Self::new(base)
        }
    }

    /// Data and graphs that are in memory and in no file.
    pub(super) fn in_memory(&self) -> &InMemory {
        &self.in_memory
    }

    /// The configuration with absolute paths, but for those of what is in memory.
    pub(crate) fn anchored(&self, config: Config) -> Config {
        self.in_memory.anchored(config, &self.base)
    }

    /// A digest of the data at `data.path`, if they are in memory. It is a secret like the data.
    pub(crate) fn digest_in_memory(&self, data: &DataConfig) -> Option<blake3::Hash> {
        self.in_memory.digest(data.path())
    }

    /// The folder at which relative paths start.
    #[must_use]
    pub fn base(&self) -> &Path {
        &self.base
    }

    /// The ratings file, read; with `data.users_file` the users of that list.
    pub(super) fn loaded(&self, data: &DataConfig) -> Result<Arc<data::Loaded>, ExperimentError> {
        let known = match self.in_memory.data(data.path()) {
            Some((format, _)) if *format != data.format() => {
                let why = "is not that of the data in memory: leave it out";
                return Err(DataTableError::Key { key: "format", why }.into());
            }
            known => known.map(|(_, loaded)| loaded),
        };
        if let Some(all) = known.filter(|_| is_read_whole(data)) {
            return Ok(Arc::clone(all));
        }
        let (options, values) = (data.matrix_options(), data.is_of_numbers());
        let table = data.table_options();
        let key = (
            data.path().to_owned(),
            data.format(),
            data.threshold(),
            values,
            (options.clone(), table.clone()),
            data.generate().cloned(),
            data.users_file().cloned(),
        );
        self.loaded.get(key, || {
            let path = self.base.join(data.path());
            let missing = |error: &DataError, path: &Path| {
                let obtain = data.obtain().map(String::as_str);
                DataTableError::missing(error, "data.path", path, obtain)
            };
            if data.is_graph() {
                return graph::load(&path).map_err(|error| match &error {
                    ExperimentError::Data(DataTableError::Data(open)) => {
                        missing(open, &path).map_or(error, ExperimentError::from)
                    }
                    _ => error,
                });
            }
            let loaded = match (known, data.format(), data.generate()) {
                (Some(known), ..) => part(data, known),
                (None, DataFormat::Ratings(format), _) => {
                    let threshold = (!values).then_some(data.threshold());
                    numbers::load_ratings(&path, format, &table, threshold)
                }
                (None, DataFormat::Matrix(format), _) => data::load_matrix(&path, format, &options),
                (None, DataFormat::Generated, Some(family)) => {
                    family.load().map_err(DataError::from)
                }
                (None, DataFormat::Generated | DataFormat::Graph, _) => {
                    let why = "belongs to format = \"generated\": say which matrix";
                    let key = "generate";
                    return Err(DataTableError::Key { key, why }.into());
                }
            };
            let loaded = loaded
                .map_err(|error| missing(&error, &path).unwrap_or(DataTableError::Data(error)))?;
            Ok(match data.users_file() {
                Some(list) => loaded.with_users(&*self.user_list(list)?),
                None => loaded,
            })
        })
    }

    /// The item list of a file, read.
    pub(super) fn item_list(&self, path: &Path) -> Result<Arc<ItemNames>, DataError> {
        self.item_lists
            .get(path.to_path_buf(), || ItemNames::load(path))
    }

    /// The list of users of a file, read.
    pub(super) fn user_list(&self, path: &Path) -> Result<Arc<UserNames>, ExperimentError> {
        let load = || UserNames::load(&self.base.join(path));
        let list = self.user_lists.get(path.to_path_buf(), load);
        Ok(list.map_err(DataTableError::from)?)
    }

    /// The titles of a file, read.
    pub(super) fn titles(
        &self,
        path: &Path,
    ) -> Result<Arc<BTreeMap<String, String>>, ExperimentError> {
        let load = || data::load_titles(&self.base.join(path));
        let titles = self.titles.get(path.to_path_buf(), load);
        Ok(titles.map_err(DataTableError::from)?)
    }

    /// What the filters leave of it.
    pub(super) fn held<E>(
        &self,
        config: &Config,
        make: impl FnOnce() -> Result<Held, E>,
    ) -> Result<Arc<Held>, E> {
        self.held.get(HeldKey::of(config), make)
    }

    /// The prepared numbers of every user.
    pub(super) fn samples<E>(
        &self,
        config: &Config,
        make: impl FnOnce() -> Result<SparseRows, E>,
    ) -> Result<Arc<SparseRows>, E> {
        self.samples.get(HeldKey::of(config), make)
    }

    /// The ratings that no peer holds.
    pub(super) fn rating_test<E>(
        &self,
        config: &Config,
        make: impl FnOnce() -> Result<RatingTest, E>,
    ) -> Result<Arc<RatingTest>, E> {
        self.rating_tests.get(HeldKey::of(config), make)
    }

    /// Every user's normalised row.
    pub(super) fn user_rows<E>(
        &self,
        config: &Config,
        divisor: Divisor,
        make: impl FnOnce() -> Result<SparseRows, E>,
    ) -> Result<Arc<SparseRows>, E> {
        let key = (HeldKey::of(config), divisor);
        self.user_rows.get(key, make)
    }

    /// The rows each peer holds.
    pub(super) fn peer_rows<E>(
        &self,
        config: &Config,
        divisor: Divisor,
        placed: Option<Arc<[u32]>>,
        make: impl FnOnce() -> Result<PeerRows, E>,
    ) -> Result<Arc<PeerRows>, E> {
        // A random deal is the seed's, and so is one by hashes.
        let partition = config.peers.partition;
        let is_seeded = matches!(partition, data::Partition::Random | data::Partition::Hashed);
        let seed = is_seeded.then_some(config.seed);
        let key = (
            HeldKey::of(config),
            divisor,
            config.peers.clone(),
            seed,
            config.algorithm.table().requirements().arrival,
            placed,
        );
        self.peer_rows.get(key, make)
    }

    /// A graph for so many peers.
    pub(super) fn topology(
        &self,
        source: &TopologySource,
        peers: usize,
    ) -> Result<Arc<Topology>, TopologyError> {
        let key = (source.clone(), peers);
        self.topologies.get(key, || {
            let known = self.in_memory.topology(source, peers);
            known.unwrap_or_else(|| source.resolve(&self.base, peers))
        })
    }

    /// Noise that was planned before.
    pub(super) fn noise(&self) -> &NoiseMemo {
        &self.noise
    }
}

/// Whether nothing of data in memory is left out or made interactions.
fn is_read_whole(data: &DataConfig) -> bool {
    let drops = data.drop().is_some_and(|drop| !drop.is_empty());
    data.is_of_numbers() && !drops && data.users_file().is_none()
}

/// What a file with these data in memory is read as.
///
/// # Errors
/// [`DataError`] for columns that are not there, and for a threshold that is not finite.
fn part(table: &DataConfig, loaded: &data::Loaded) -> Result<data::Loaded, DataError> {
    let threshold = table.threshold();
    if table.is_of_numbers() {
        Ok(loaded.without_columns(&table.matrix_options().drop)?)
    } else if threshold.is_finite() {
        Ok(loaded.above(threshold))
    } else {
        Err(DataError::Threshold { threshold })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::SpectralRidgeTable;

    #[test]
    fn keys_hold_what_the_material_depends_on() {
        let table: toml::Table =
            toml::from_str(include_str!("../../tests/power.toml")).expect("valid");
        let with = |set: &[&str], change: &dyn Fn(&mut Config)| {
            let set: Vec<String> = set.iter().map(|text| (*text).to_owned()).collect();
            let mut config: Config = crate::config::apply(table.clone(), &set).expect("valid");
            change(&mut config);
            HeldKey::of(&config)
        };
        let key = |change: &dyn Fn(&mut Config)| with(&[], change);
        let set = |text: &str| with(&[text], &|_| ());
        let same = key(&|_| ());
        assert_eq!(same, key(&|c| c.seed += 1));
        assert_eq!(same, set("data.degree_floor=11"));
        assert_ne!(same, set("data.items=41"));
        assert_ne!(same, with(&["data.items=0", "data.items_file=x"], &|_| ()));
        assert_ne!(
            same,
            with(
                &["data.items=0", "data.items_file=x", "data.items_hash=x"],
                &|_| ()
            )
        );
        assert_ne!(same, key(&|c| c.evaluation.holdout = Some(0.2)));
        assert_ne!(same, key(&|c| c.completion.test_share = Some(0.2)));
        let ridge = SpectralRidgeTable::default();
        assert_ne!(same, key(&|c| c.algorithm = ridge.into()));
        assert_ne!(same, set("data.threshold=3.75"));
        assert_ne!(
            set("data.degree_cap=3"),
            with(&["data.degree_cap=3"], &|c| c.seed += 1)
        );
    }
}
