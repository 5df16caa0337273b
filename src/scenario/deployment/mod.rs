//! From the tables of a session file to the session that all members plan alike, and to one member's own rows.
//!
//! # What is planned depends on nobody's data
//! [`Deployment::plan`] reads no row: what it returns is a function of the session file, of who takes part with how many stated rows, and of the
//! beacon. It has no seed and no noise. A member's own rows are read by [`Deployment::own_rows`], with the same steps between the file and the rows that a
//! simulation has (see [`super::filters`] and [`super::numbers`]), and meet the plan in the peer alone. What a simulation draws from everybody's
//! data, which has nobody to draw it here, is refused by name: the most rated items, a start from popularity, weights of items, a clip by what was
//! counted, anything that is measured or recommended from all rows.
//!
//! # Whether a member joins does not depend on its rows
//! A session file is chosen by its convener, who sees who joins: a plan that fails on some rows would be a question about them. So what can fail
//! is of three kinds, and none of it looks at a row.
//!
//! 1. The file, which is read by its owner's rule before a session has a say ([`OwnFile`](crate::data::OwnFile)).
//! 2. The session file: [`Deployment::new`] and [`Deployment::plan`].
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
//! # A private mean
//! With `data.centre = "private"` the first release is the sum of all rows, shortened to `raw_clip`, and everybody takes m̂ = `raw_clip`·sum/m from its
//! rows. The number of slots m is Σ `member.rows` over those who take part: a number of the session file, since nobody may know how many
//! rows there are. *Privacy* does not depend on m, which scales a number that is already released ([`Centred`](crate::algorithm::Centred)). *Utility*: members of
//! more rows in all than m have too large a mean taken from them, and members of fewer too small a one.
//!
//! # Rounding
//! Rounding to floating-point numbers is checked for members of 65,536 rows, or of `member.rows` where that is more and sums are mod 2^k
//! ([`SessionPlan::check_rounding`](crate::protocol::SessionPlan::check_rounding)). Its bound grows with the square of the number of rows, and a member with more than
//! that is not refused, since that would show.

mod error;
mod graphs;
mod keys;
mod own_rows;
mod session;
mod tables;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use toml::{Table, Value};

pub use error::DeploymentError;
pub use own_rows::OwnRows;
pub use session::{PlannedSession, SessionDraft};
pub use tables::SessionTables;

use super::error::{DataTableError, ExperimentError};
use super::materials::Materials;
use super::{defaults, memory, numbers};
use crate::algorithm::LocalData;
use crate::config::Config;
use crate::data::ItemNames;
use crate::linalg::SparseRows;

/// Most multiplications in units of which a start is orthonormalised: columns times the square of a block's width.
const MOST_WORK: u128 = 1 << 35;

/// A session file's tables with the public names of its columns: what every member plans from.
#[derive(Clone, Debug)]
pub struct Deployment {
    /// The tables as the session file has them.
    tables: Table,
    columns: Vec<String>,
    /// Rows that members are planned to hold at most.
    most_rows: usize,
    base: PathBuf,
    /// Bytes that a member's part may take.
    memory_limit: Option<u64>,
}

/// Sessions of one deployment, one for every graph that a beacon draws. They share what takes time to make.
pub(crate) struct Draws<'a> {
    deployment: &'a Deployment,
    /// Rows that each participant states.
    rows: Vec<usize>,
    beacon: [u8; 32],
    materials: Materials,
}

impl Draws<'_> {
    /// The session of one draw but for its start, which takes time to draw: what has too much noise needs none.
    pub(crate) fn drawn(&self, draw: u32) -> Result<SessionDraft, DeploymentError> {
        let deployment = self.deployment;
        let members = self.rows.len();
        let config = deployment.shared(members, &self.beacon, draw)?;
        let start = tables::start_seed(&self.beacon);
        let parts = session::Parts {
            items: deployment.items()?,
            rows: &self.rows,
            most_rows: deployment.most_rows,
            materials: &self.materials,
            memory_limit: deployment.memory_limit,
        };
        Ok(SessionDraft::of(config, parts, start)?)
    }
}

impl Deployment {
    /// Reads the plan's tables. `columns` are the public names of the columns of everybody's rows; sums of integers are planned for members of
    /// at most `most_rows` rows. Relative paths of constants start at `base`.
    ///
    /// # Errors
    /// [`DeploymentError`] naming the key and what to change.
    pub fn new(
        tables: &Table,
        columns: Vec<String>,
        most_rows: usize,
        base: &Path,
    ) -> Result<Self, DeploymentError> {
        let deployment = Self {
            tables: tables.clone(),
            columns,
            most_rows,
            base: base.to_path_buf(),
            memory_limit: None,
        };
        keys::check(&deployment.shared(2, &[0; 32], 0)?)?;
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

    /// The tables for so many members under this beacon, in the form that sessions and experiments share; `draw` counts graphs that were drawn and
    /// refused.
    fn shared(
        &self,
        members: usize,
        beacon: &[u8; 32],
        draw: u32,
    ) -> Result<Config, DeploymentError> {
        let tables = SessionTables::read(&self.tables, beacon, draw)?;
        let mut config = tables.shared(members);
        defaults::of_format(&mut config, None);
        if config.data.is_of_ratings() {
            // The session's columns are the list of items.
            if let Some(stated) = config.data.take_items_hash() {
                let found = self.items()?.hash();
                if stated != found {
                    let path = PathBuf::from("of the session");
                    let other = DataTableError::ItemsHash {
                        path,
                        stated,
                        found,
                    };
                    return Err(ExperimentError::from(other).into());
                }
            }
        }
        Ok(config)
    }

    /// The session of participants who state so many rows each, under this beacon and this draw of its graphs.
    ///
    /// # Errors
    /// [`DeploymentError`] if it cannot be.
    pub fn plan(
        &self,
        rows: &[usize],
        beacon: &[u8; 32],
        draw: u32,
    ) -> Result<PlannedSession, DeploymentError> {
        Ok(self.draws(rows, beacon)?.drawn(draw)?.completed()?)
    }

    /// What all graphs that this beacon draws for participants who state so many rows each have in common.
    pub(crate) fn draws(
        &self,
        rows: &[usize],
        beacon: &[u8; 32],
    ) -> Result<Draws<'_>, DeploymentError> {
        let config = self.shared(rows.len(), beacon, 0)?;
        keys::check(&config)?;
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
            memory::check_columns(self.columns.len(), limit)?;
        }
        Ok(Draws {
            deployment: self,
            rows: rows.to_vec(),
            beacon: *beacon,
            materials: Materials::new(&self.base),
        })
    }

    /// The session's columns as a list of items.
    fn items(&self) -> Result<ItemNames, ExperimentError> {
        let list = ItemNames::named(&self.columns, "the session's items");
        Ok(list.map_err(DataTableError::from)?)
    }

    /// Refuses graphs of a session file that are not over these members, who are `names` in the order of their keys. All of the `invited` must join
    /// where a graph is written out: it has no meaning without one of its nodes.
    ///
    /// # Errors
    /// [`DeploymentError`] naming the key and what to change.
    pub fn check_graphs(&self, names: &[String], min_peers: usize) -> Result<(), DeploymentError> {
        graphs::check(&self.tables, names, min_peers)
    }

    /// Whether the beacon draws a graph: another draw is another one.
    #[must_use]
    pub fn draws_graphs(&self) -> bool {
        tables::draws_graphs(&self.tables)
    }

    /// Whether the mean of the rows is released first, and divided by how many rows members state.
    #[must_use]
    pub fn has_private_mean(&self) -> bool {
        let data = self.tables.get("data");
        let centre = data.and_then(|data| data.get("centre"));
        centre.and_then(Value::as_str) == Some("private")
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
        for key in tables::GRAPHS {
            if let Some(Value::Table(table)) = plan.get_mut(key)
                && (table.contains_key("file") || table.contains_key("edges"))
            {
                *table = graphs::listed(key, table, names, &self.base)?;
            }
        }
        let config = self.shared(2, &[0; 32], 0)?;
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

    /// Refuses constants that are in files of the member: a session file holds all that it says. It could otherwise ask what a file of the
    /// member's holds.
    ///
    /// # Errors
    /// [`DeploymentError::Key`].
    pub fn check_constants(&self) -> Result<(), DeploymentError> {
        let why = "names a file, which members do not have: `undertone node invite` writes its numbers into the session";
        let data = self.tables.get("data").and_then(Value::as_table);
        for (key, name) in [("ranges", "data.ranges"), ("means", "data.means")] {
            let value = data.and_then(|data| data.get(key));
            if value.is_some_and(Value::is_str) {
                return Err(DeploymentError::Key { key: name, why });
            }
        }
        Ok(())
    }

    /// No rows at all, of the session's width.
    #[must_use]
    pub fn no_rows(&self) -> LocalData {
        LocalData::from(SparseRows::new(self.columns.len()))
    }
}
