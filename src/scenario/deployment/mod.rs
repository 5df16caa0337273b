//! From the tables of a session file to the experiment that all members plan alike, and to one member's own rows.
//!
//! # What is planned depends on nobody's data
//! [`Deployment::experiment`] plans for members who hold rows without a single entry: what it returns is a function of the session file, the number
//! of members and the beacon. A member's own rows are read by [`Deployment::own_rows`], with the same steps between the file and the rows that a
//! simulation has (see [`super::filters`] and [`super::numbers`]), and meet the plan in the peer alone. What a simulation draws from everybody's
//! data, which has nobody to draw it here, is refused by name: the most rated items, a start from popularity, weights of items, a clip by what was
//! counted, anything that is measured or recommended from all rows.
//!
//! # Whether a member joins does not depend on its rows
//! A session file is chosen by its convener, who sees who joins: a plan that fails on some rows would be a question about them. So what can fail
//! is of three kinds, and none of it looks at a row.
//!
//! 1. The file, which is read by its owner's rule before a session has a say ([`OwnFile`]).
//! 2. The session file: [`Deployment::new`] and [`Deployment::experiment`], which plans with rows that have no entries.
//! 3. The names of the columns and the kind of the file (ratings or numbers), which are the same for all neighbours:
//!    [`Deployment::check_columns`]. They are compared for rows of numbers alone; items that a session does not have are left out.
//!
//! [`Deployment::own_rows`] then is total. *Proof.* Let a session file and a file have passed 1 to 3. A threshold is finite and compares with every
//! rating. An item list, a degree cap and a degree floor map a set of items to a set of items, and d/√max(d, D) is finite for D ≥ 1. Ranges are as
//! many as the session's columns or one, and map every finite number into \[0, 1\]; means are as many as the columns and finite, and differences are
//! held within the floats. `row_clip` shortens every row of finite numbers and leaves zeros as they are ([`Dataset`](crate::data::Dataset)).
//! `row_limit`, the one key that makes rows invalid, is refused. Nothing else reads a row. ∎
//!
//! # No row is left out, however many there are
//! Only sums mod 2^k are planned for a largest number of rows N (`member.rows`): the modulus must hold what N rows can add up to. A member with
//! more rows contributes all of them, and its peer clamps every coordinate of the contribution to what N rows can reach
//! ([`RingPlan::clamp`](crate::privacy::RingPlan::clamp)). *Privacy.* Let x and x′ be the contributions of two files that differ in one record, and c
//! the clamp. |c(x)_i − c(x′)_i| ≤ |x_i − x′_i| in every coordinate i, so that the sensitivity is that of one record, which is what is accounted
//! for, whatever the number of rows is. A rule that keeps the first N rows would instead let row N+1 in whenever one of them goes, and change two
//! rows. Nothing tells a member with more than N rows from one with fewer before its noisy sums do. *Utility.* A coordinate that exceeds the clamp is
//! cut to it: N is to be chosen large enough, and costs a bit of the modulus where it is doubled. ∎
//!
//! Rounding to floating-point numbers is checked for members of 65,536 rows, or of `member.rows` where that is more and sums are mod 2^k
//! ([`SessionPlan::check_rounding`](crate::protocol::SessionPlan::check_rounding)). Its bound grows with the square of the number of rows, and a member with more than
//! that is not refused, since that would show.

mod graphs;
mod keys;

#[cfg(test)]
mod tests;

use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use toml::{Table, Value};

use super::clock::Clock;
use super::error::{DataTableError, ExperimentError, NetworkError};
use super::experiment::Experiment;
use super::materials::Materials;
use super::rows::Rows;
use super::{defaults, memory, numbers};
use crate::algorithm::LocalData;
use crate::config::{Config, PeerCount, ReadTable as _};
use crate::data::{ColumnProblem, FileFormat, ItemNames, Loaded, OwnFile};
use crate::linalg::SparseRows;
use crate::privacy::Scheme;
use crate::vocabulary::{Label, Seed};

/// What stands for the file of every member's rows in the experiment that all plan.
const ROWS: &str = "rows";
/// What stands for the file of the list of items.
const ITEMS: &str = "items.txt";
/// Most rows without entries that are planned with, where their number matters.
const MOST_ROWS: usize = 20_000_000;
/// Most multiplications in units of which a start is orthonormalised: columns times the square of a block's width.
const MOST_WORK: u128 = 1 << 35;
/// Rows of a member up to which a plan's floating-point arithmetic is proved to be fine enough.
const PROVED_ROWS: usize = 65_536;

/// Why a session file makes no deployment.
#[derive(Debug, thiserror::Error)]
pub enum DeploymentError {
    /// A table or key that a session decides.
    #[error("[{key}] does not belong to the plan of a session: {why}")]
    Key {
        /// Which.
        key: &'static str,
        /// Why, and what to do.
        why: &'static str,
    },
    /// A key that simulations have a default for, and that members agree on.
    #[error(
        "the plan of a session says {key} itself, since all members agree on it: add {example}"
    )]
    Missing {
        /// Which.
        key: &'static str,
        /// What it can be.
        example: &'static str,
    },
    /// A graph that is not over the members.
    #[error("[{key}] {why}")]
    Graph {
        /// Which table.
        key: &'static str,
        /// Why, and what to do.
        why: String,
    },
    /// A block so wide that members would compute for minutes before they know what it costs.
    #[error(
        "algorithm.rank or block = {width} on {columns} columns: columns times the square of it are beyond 2^35, minutes of work for every member; lower it"
    )]
    Work {
        /// Columns of the rows.
        columns: usize,
        /// Columns of the block.
        width: u128,
    },
    /// A table that does not read.
    #[error("{0}")]
    Parse(String),
    /// An experiment that cannot be.
    #[error(transparent)]
    Experiment(#[from] ExperimentError),
    /// Rows over other columns.
    #[error(
        "the rows have other columns than the session: {found} columns of which number {place} is {theirs:?}, where the session's {columns} have \
         {ours:?}; a first line names them (--header)"
    )]
    Columns {
        /// How many columns the file has.
        found: usize,
        /// The first that differs, from 1.
        place: usize,
        /// Its name in the file.
        theirs: String,
        /// How many the session has.
        columns: usize,
        /// Its name in the session.
        ours: String,
    },
    /// Columns that cannot be left out of the file.
    #[error("the rows have other columns than the session: {0}")]
    Drop(#[from] ColumnProblem),
    /// Ratings where the session is about numbers, or the other way round.
    #[error(
        "the file was read as {format}, and the session is about {wanted}: say what the file is with --format, or take another file"
    )]
    Kind {
        /// What the file was read as.
        format: FileFormat,
        /// What the session is about.
        wanted: &'static str,
    },
}

/// The plan of a session file, read.
#[derive(Clone, Debug)]
pub struct Deployment {
    table: Table,
    columns: Vec<String>,
    /// Rows that members are planned to hold at most.
    most_rows: usize,
    base: PathBuf,
    /// Bytes that a member's part may take.
    memory_limit: Option<u64>,
}

/// The experiments of one deployment, one for every graph that a beacon draws. They share what takes time to make.
pub(crate) struct Draws<'a> {
    deployment: &'a Deployment,
    members: usize,
    beacon: [u8; 32],
    /// Rows that every member is planned to hold.
    each: usize,
    materials: Materials,
    loaded: Arc<Loaded>,
}

impl Draws<'_> {
    /// The experiment of one draw but for its session, whose start takes time to draw: what has too much noise needs none.
    pub(crate) fn drawn(&self, draw: u32) -> Result<Experiment, DeploymentError> {
        let config = self.deployment.config(self.members, &self.beacon, draw)?;
        let topology = self
            .materials
            .topology(&config.topology, self.members)
            .map_err(NetworkError::Topology)
            .map_err(ExperimentError::from)?;
        let (loaded, clock) = (&self.loaded, Clock::default());
        let experiment = Experiment::assemble(config, loaded, topology, &self.materials, clock)?;
        Ok(experiment)
    }

    /// An experiment that was [drawn](Self::drawn), with its session.
    pub(crate) fn completed(
        &self,
        mut experiment: Experiment,
    ) -> Result<Experiment, DeploymentError> {
        experiment.keep_own_session()?;
        let session = experiment.own_session();
        let rounding = session.check_rounding(self.each.max(PROVED_ROWS));
        rounding.map_err(ExperimentError::from)?;
        Ok(experiment)
    }
}

/// What one member holds, and what became of its file. `Debug` prints no row.
#[derive(Debug)]
pub struct OwnRows {
    /// The rows as peers hold them.
    pub rows: LocalData,
    /// Users in the file.
    pub users: usize,
    /// Interactions, or numbers, that were kept.
    pub kept: usize,
    /// Interactions with items that the session does not have.
    pub unknown: usize,
}

impl Deployment {
    /// Reads the plan's tables. `columns` are the public names of the columns of everybody's rows; no member holds more rows than `most_rows`.
    /// Relative paths of constants start at `base`.
    ///
    /// # Errors
    /// [`DeploymentError`] naming the key and what to change.
    pub fn new(
        plan: &Table,
        columns: Vec<String>,
        most_rows: usize,
        base: &Path,
    ) -> Result<Self, DeploymentError> {
        keys::check_tables(plan)?;
        let deployment = Self {
            table: plan.clone(),
            columns,
            most_rows,
            base: base.to_path_buf(),
            memory_limit: None,
        };
        let config = deployment.config(2, &[0; 32], 0)?;
        keys::check(&config)?;
        Ok(deployment)
    }

    /// The same for a member that lets its part of a session take so many bytes of memory, as its policy says.
    #[must_use]
    pub fn within(self, memory_limit: u64) -> Self {
        Self {
            memory_limit: Some(memory_limit),
            ..self
        }
    }

    /// The configuration for so many members under this beacon; `draw` counts graphs that were drawn and refused.
    fn config(
        &self,
        members: usize,
        beacon: &[u8; 32],
        draw: u32,
    ) -> Result<Config, DeploymentError> {
        let number = |what: &str, draw| {
            let purpose = Seed::of_beacon(beacon, draw).named(Label::Beacon, what);
            Value::Integer((purpose.bits("number") >> 1) as i64)
        };
        let mut table = self.table.clone();
        table.insert("seed".to_owned(), number("start", 0));
        let peers = Table::from_iter([("count".to_owned(), Value::Integer(members as i64))]);
        table.insert("peers".to_owned(), Value::Table(peers));
        // Peers that tolerate losses are simulated in virtual time, others over libp2p: that is all that a deployed member makes of it.
        let kind = match table.contains_key("dropouts") {
            true => "event",
            false => "swarm",
        };
        let engine = Table::from_iter([("kind".to_owned(), Value::String(kind.to_owned()))]);
        table.insert("engine".to_owned(), Value::Table(engine));
        for key in ["topology", "noise_topology"] {
            let seed = table.get_mut(key).and_then(|graph| graph.get_mut("seed"));
            if let Some(seed) = seed
                && seed.as_str() == Some("beacon")
            {
                *seed = number(key, draw);
            }
        }
        if let Some(Value::Table(data)) = table.get_mut("data") {
            if data.contains_key("path") {
                return Err(DeploymentError::Key {
                    key: "data.path",
                    why: "every member names its own rows: `undertone node run --data FILE`; leave it out",
                });
            }
            data.insert("path".to_owned(), Value::String(ROWS.to_owned()));
            let ratings = !matches!(
                data.get("format").and_then(Value::as_str),
                Some("matrix-csv" | "npy" | "generated")
            );
            if ratings {
                data.insert("items_file".to_owned(), Value::String(ITEMS.to_owned()));
            }
        }
        let read = Config::of_table(table);
        let mut config = read.map_err(|error| DeploymentError::Parse(error.to_string()))?;
        defaults::of_format(&mut config, None);
        Ok(config)
    }

    /// The experiment that so many members plan alike under this beacon.
    ///
    /// # Errors
    /// [`DeploymentError`] if it cannot be.
    pub fn experiment(
        &self,
        members: usize,
        beacon: &[u8; 32],
        draw: u32,
    ) -> Result<Experiment, DeploymentError> {
        let draws = self.draws(members, beacon)?;
        draws.completed(draws.drawn(draw)?)
    }

    /// What all graphs that this beacon draws for so many members have in common.
    pub(crate) fn draws(
        &self,
        members: usize,
        beacon: &[u8; 32],
    ) -> Result<Draws<'_>, DeploymentError> {
        let config = self.config(members, beacon, 0)?;
        keys::check(&config)?;
        // Only integers mod 2^k are planned by how many rows a member may hold.
        let each = match config.noise.scheme {
            Scheme::Ring => self.most_rows,
            _ => 1,
        };
        if each.saturating_mul(members) > MOST_ROWS {
            return Err(DeploymentError::Key {
                key: "member.rows",
                why: "with noise.scheme = \"ring\" all members together may hold 20 million rows: lower it, or choose scheme = \"pairwise\"",
            });
        }
        let table = config.algorithm.table();
        let block = table.rank().max(table.query_columns()) as u128;
        if block
            .saturating_mul(block)
            .saturating_mul(self.columns.len() as u128)
            > MOST_WORK
        {
            let (columns, width) = (self.columns.len(), block);
            return Err(DeploymentError::Work { columns, width });
        }
        if let Some(limit) = self.memory_limit {
            memory::check_rows(each * members, self.columns.len(), limit)?;
        }
        let materials = self.materials()?;
        let numbers = numbers::is_matrix(&config.data);
        let loaded = Loaded::without_entries(each * members, self.columns.clone(), numbers);
        Ok(Draws {
            deployment: self,
            members,
            beacon: *beacon,
            each,
            materials,
            loaded: Arc::new(loaded),
        })
    }

    /// Refuses graphs of a session file that are not over these members, who are `names` in the order of their keys. All of the `invited` must join
    /// where a graph is written out: it has no meaning without one of its nodes.
    ///
    /// # Errors
    /// [`DeploymentError`] naming the key and what to change.
    pub fn check_graphs(&self, names: &[String], min_peers: usize) -> Result<(), DeploymentError> {
        graphs::check(&self.table, names, min_peers)
    }

    /// Whether the beacon draws a graph: another draw is another one.
    #[must_use]
    pub fn draws_graphs(&self) -> bool {
        ["topology", "noise_topology"].into_iter().any(|key| {
            let seed = self.table.get(key).and_then(|graph| graph.get("seed"));
            seed.and_then(Value::as_str) == Some("beacon")
        })
    }

    /// Writes the public constants of files into a plan's tables, so that a session file holds all that its hash must cover. A graph of a file or
    /// of a list becomes a list of edges between these members, who are `names` in the order of their keys.
    ///
    /// # Errors
    /// [`DeploymentError`] for files that cannot be read, and for graphs that are not over these members.
    pub fn inline_constants(
        &self,
        plan: &mut Table,
        names: &[String],
    ) -> Result<(), DeploymentError> {
        for key in ["topology", "noise_topology"] {
            if let Some(Value::Table(table)) = plan.get_mut(key)
                && (table.contains_key("file") || table.contains_key("edges"))
            {
                *table = graphs::listed(key, table, names, &self.base)?;
            }
        }
        let config = self.config(2, &[0; 32], 0)?;
        let ranges = numbers::ends(&config, &self.base)?;
        let means = numbers::public_means(&config.data, &self.base)?;
        let list =
            |numbers: &[f64]| Value::Array(numbers.iter().copied().map(Value::Float).collect());
        let Some(Value::Table(data)) = plan.get_mut("data") else {
            return Ok(());
        };
        if data.get("ranges").is_some_and(Value::is_str) {
            let pairs = ranges.iter().map(|pair| list(pair)).collect();
            data.insert("ranges".to_owned(), Value::Array(pairs));
        }
        if let Some(means) = means
            && data.get("means").is_some_and(Value::is_str)
        {
            data.insert("means".to_owned(), list(&means));
        }
        Ok(())
    }

    fn materials(&self) -> Result<Materials, DeploymentError> {
        let materials = Materials::new(&self.base).of_own_files(self.memory_limit);
        let list = ItemNames::named(&self.columns, "the session's items");
        let list = list.map_err(|error| ExperimentError::from(DataTableError::from(error)))?;
        materials.know_items(&self.base.join(ITEMS), list);
        Ok(materials)
    }

    /// Refuses constants that are in files of the member: a session file holds all that it says. It could otherwise ask what a file of the
    /// member's holds.
    ///
    /// # Errors
    /// [`DeploymentError::Key`].
    pub fn check_constants(&self) -> Result<(), DeploymentError> {
        let why = "names a file, which members do not have: `undertone node invite` writes its numbers into the session";
        let data = self.table.get("data").and_then(Value::as_table);
        for (key, name) in [("ranges", "data.ranges"), ("means", "data.means")] {
            let value = data.and_then(|data| data.get(key));
            if value.is_some_and(Value::is_str) {
                return Err(DeploymentError::Key { key: name, why });
            }
        }
        Ok(())
    }

    /// Refuses a file of another kind or with other columns than the session has. It compares names of columns and looks at no row.
    ///
    /// # Errors
    /// [`DeploymentError::Kind`], [`DeploymentError::Columns`] and [`DeploymentError::Drop`].
    pub fn check_columns(&self, file: &OwnFile) -> Result<(), DeploymentError> {
        let config = self.config(1, &[0; 32], 0)?;
        let format = file.format();
        let is_matrix = numbers::is_matrix(&config.data);
        if is_matrix != matches!(format, FileFormat::Matrix(_)) {
            let wanted = match is_matrix {
                true => "rows of numbers",
                false => "ratings",
            };
            return Err(DeploymentError::Kind { format, wanted });
        }
        if !is_matrix {
            return Ok(());
        }
        let drop = config.data.drop.as_deref().unwrap_or_default();
        let theirs = file.loaded().columns_without(drop)?;
        let differs = (0..theirs.len().max(self.columns.len()))
            .find(|&at| self.columns.get(at) != theirs.get(at));
        let name = |list: &[String], at: usize| match list.get(at) {
            Some(name) => name.clone(),
            None => "missing".to_owned(),
        };
        match differs {
            None => Ok(()),
            Some(at) => Err(DeploymentError::Columns {
                found: theirs.len(),
                place: at + 1,
                theirs: name(&theirs, at),
                columns: self.columns.len(),
                ours: name(&self.columns, at),
            }),
        }
    }

    /// One member's rows, as the plan has peers hold them: all of them, whatever they are.
    ///
    /// # Errors
    /// Those of [`Self::check_columns`], and what [`Self::experiment`] refuses whatever the rows are: no error depends on a row.
    pub fn own_rows(&self, file: &OwnFile) -> Result<OwnRows, DeploymentError> {
        self.check_columns(file)?;
        let mut config = self.config(1, &[0; 32], 0)?;
        config.peers.count = PeerCount::Number(1);
        let materials = self.materials()?;
        let drop = config.data.drop.as_deref().unwrap_or_default();
        let (loaded, list) = match numbers::is_matrix(&config.data) {
            true => (file.loaded().without_columns(drop)?, None),
            false => (
                file.loaded().above(config.data.threshold),
                super::filters::item_list(&mut config, &materials)?,
            ),
        };
        let floor = NonZeroU32::new(config.data.degree_floor)
            .ok_or(DataTableError::DegreeFloor)
            .map_err(ExperimentError::from)?;
        let rows = Rows::of(
            &config,
            &loaded,
            list.as_deref(),
            (floor, 1),
            None,
            &materials,
        )?;
        let none = || SparseRows::new(self.columns.len());
        let own = rows.peer_rows.first().cloned().unwrap_or_else(none);
        let kept = own.entries();
        let read = loaded
            .values
            .as_ref()
            .map_or(loaded.interactions.len(), |_| kept);
        Ok(OwnRows {
            users: loaded.interactions.users(),
            kept,
            unknown: read.saturating_sub(kept),
            rows: LocalData::from(own),
        })
    }

    /// No rows at all, of the session's width.
    #[must_use]
    pub fn no_rows(&self) -> LocalData {
        LocalData::from(SparseRows::new(self.columns.len()))
    }
}
