//! From the tables of a session file to the experiment that all members plan alike, and to one member's own rows.
//!
//! # What is planned depends on nobody's data
//! [`Deployment::experiment`] plans for members who hold rows without a single entry: what it returns is a function of the session file, the number
//! of members and the beacon. A member's own rows are read by [`Deployment::own_rows`], with the same steps between the file and the rows that a
//! simulation has (see [`super::filters`] and [`super::numbers`]), and meet the plan in the peer alone. What a simulation draws from everybody's
//! data, which has nobody to draw it here, is refused by name: the most rated items, a start from popularity, weights of items, a clip by what was
//! counted, anything that is measured or recommended from all rows.

mod graphs;

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
use super::numbers;
use super::rows::Rows;
use crate::algorithm::{AlgorithmKind, LocalData, Precondition, Start};
use crate::config::{Centre, Config, DataFormat, NamedCentre, PeerCount};
use crate::data::{ItemNames, Loaded};
use crate::linalg::SparseRows;
use crate::privacy::Scheme;
use crate::vocabulary::{Label, Seed};

/// What stands for the file of every member's rows in the experiment that all plan.
const ROWS: &str = "rows";
/// What stands for the file of the list of items.
const ITEMS: &str = "items.txt";
/// Most rows without entries that are planned with, where their number matters.
const MOST_ROWS: usize = 20_000_000;

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
    /// A graph that is not over the members.
    #[error("[{key}] {why}")]
    Graph {
        /// Which table.
        key: &'static str,
        /// Why, and what to do.
        why: String,
    },
    /// A table that does not read.
    #[error("{0}")]
    Parse(String),
    /// An experiment that cannot be.
    #[error(transparent)]
    Experiment(#[from] ExperimentError),
    /// Rows over other columns.
    #[error(
        "{path} has other columns than the session: {found} columns of which number {place} is {theirs:?}, where the session's {columns} have \
         {ours:?}",
        path = path.display()
    )]
    Columns {
        /// The file.
        path: PathBuf,
        /// How many it has.
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
    /// More rows than the session allows this member.
    #[error(
        "{path} has {found} users, and the session allows this member {limit}: shorten the file, or ask the convener for another session",
        path = path.display()
    )]
    TooManyRows {
        /// The file.
        path: PathBuf,
        /// Users in it.
        found: usize,
        /// `member.rows`.
        limit: usize,
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
        for (key, why) in [
            ("seed", "the beacon of the members decides; leave it out"),
            ("peers", "the members are the peers; leave it out"),
            ("engine", "deployed peers are libp2p nodes; leave it out"),
            (
                "evaluation",
                "nobody sees all data to measure against; leave it out",
            ),
            ("completion", "nobody sees all ratings; leave it out"),
            (
                "recommender",
                "recommend from the result afterwards; leave it out",
            ),
            ("pilot", "a session spends its budget at once; leave it out"),
            ("compare", "a session runs one algorithm; leave it out"),
            (
                "faults",
                "in a deployment they come by themselves; leave it out",
            ),
            ("sweep", "a session is one run; leave it out"),
        ] {
            if plan.contains_key(key) {
                return Err(DeploymentError::Key { key, why });
            }
        }
        let deployment = Self {
            table: plan.clone(),
            columns,
            most_rows,
            base: base.to_path_buf(),
        };
        let config = deployment.config(2, &[0; 32], 0)?;
        check(&config)?;
        Ok(deployment)
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
        Value::Table(table)
            .try_into()
            .map_err(|error: toml::de::Error| DeploymentError::Parse(error.to_string()))
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
        let config = self.config(members, beacon, draw)?;
        check(&config)?;
        let materials = self.materials()?;
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
        let numbers = numbers::is_matrix(&config.data);
        let loaded = Loaded::without_entries(each * members, self.columns.clone(), numbers);
        let topology = materials
            .topology(&config.topology, members)
            .map_err(NetworkError::Topology)
            .map_err(ExperimentError::from)?;
        let clock = Clock::default();
        let experiment =
            Experiment::assemble(config, &Arc::new(loaded), topology, &materials, clock)?;
        Ok(experiment)
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
        let materials = Materials::new(&self.base);
        let list = ItemNames::named(&self.columns, "the session's items");
        let list = list.map_err(|error| ExperimentError::from(DataTableError::from(error)))?;
        materials.know_items(&self.base.join(ITEMS), list);
        Ok(materials)
    }

    /// One member's rows, as the plan has peers hold them: at most `limit` users.
    ///
    /// # Errors
    /// [`DeploymentError`] for a file that cannot be read, with other columns or with too many users.
    pub fn own_rows(&self, path: &Path, limit: usize) -> Result<OwnRows, DeploymentError> {
        let mut config = self.config(1, &[0; 32], 0)?;
        config.data.path = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
        config.peers.count = PeerCount::Number(1);
        let materials = self.materials()?;
        let loaded = materials.loaded(&config.data)?;
        let found = loaded.interactions.users();
        if found > limit {
            return Err(DeploymentError::TooManyRows {
                path: path.to_path_buf(),
                found,
                limit,
            });
        }
        let list = match numbers::is_matrix(&config.data) {
            true => {
                self.check_columns(path, &loaded)?;
                None
            }
            false => super::filters::item_list(&mut config, &materials)?,
        };
        let floor = NonZeroU32::new(config.data.degree_floor)
            .ok_or(DataTableError::DegreeFloor)
            .map_err(ExperimentError::from)?;
        let rows = Rows::of(&config, &loaded, list.as_deref(), (floor, 1), &materials)?;
        let none = || SparseRows::new(self.columns.len());
        let own = rows.peer_rows.first().cloned().unwrap_or_else(none);
        let kept = own.entries();
        let read = loaded
            .values
            .as_ref()
            .map_or(loaded.interactions.len(), |_| kept);
        Ok(OwnRows {
            users: found,
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

    fn check_columns(&self, path: &Path, loaded: &Loaded) -> Result<(), DeploymentError> {
        let found = loaded.interactions.items();
        let name = |at: usize| match at < found {
            true => loaded.interactions.item_name(at).to_owned(),
            false => "missing".to_owned(),
        };
        let own = |at: usize| self.columns.get(at).cloned();
        let differs = (0..found.max(self.columns.len()))
            .find(|&at| own(at).as_deref() != Some(name(at).as_str()));
        match differs {
            None => Ok(()),
            Some(at) => Err(DeploymentError::Columns {
                path: path.to_path_buf(),
                found,
                place: at + 1,
                theirs: name(at),
                columns: self.columns.len(),
                ours: own(at).unwrap_or_else(|| "missing".to_owned()),
            }),
        }
    }
}

/// Refuses what a simulation draws from everybody's data.
fn check(config: &Config) -> Result<(), DeploymentError> {
    let refused = |key, why| Err(DeploymentError::Key { key, why });
    let (data, algorithm) = (&config.data, &config.algorithm);
    match data.format {
        DataFormat::Ratings(_) | DataFormat::Matrix(_) => {}
        _ => {
            let why = "members hold rows of interactions or of numbers: choose a format of those";
            return refused("data.format", why);
        }
    }
    if data.items > 0 {
        let why = "the most rated items are drawn from everybody's data: `undertone node invite --items FILE` takes a public list";
        return refused("data.items", why);
    }
    if matches!(data.centre, Some(Centre::Named(NamedCentre::Private))) {
        let why = "a private mean is not built for sessions yet: take public means, or none";
        return refused("data.centre", why);
    }
    if algorithm.start == Start::Popularity {
        let why = "popularity is drawn from everybody's data: leave start out";
        return refused("algorithm.start", why);
    }
    if algorithm.precondition != Precondition::None {
        let why = "weights of items are drawn from everybody's data: leave precondition out";
        return refused("algorithm.precondition", why);
    }
    match algorithm.kind {
        AlgorithmKind::Power
        | AlgorithmKind::Krylov
        | AlgorithmKind::Covariance
        | AlgorithmKind::IsometricCovariance
        | AlgorithmKind::RakedCovariance => {}
        _ => {
            let why = "sessions run power, krylov, covariance, isometric-covariance and raked-covariance so far: choose one of those";
            return refused("algorithm.kind", why);
        }
    }
    if config.noise.scheme == Scheme::None {
        let why = "without noise a session would publish private data: choose \"pairwise\", \"ring\" or \"local\"";
        return refused("noise.scheme", why);
    }
    Ok(())
}
