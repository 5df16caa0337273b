//! Parts of a sweep that run on machines of their own, and how their results become those of the whole.
//!
//! Shard i of n runs every n-th cell, from the i-th on, and keeps `cells.jsonl` and `shard.json` in a folder of its own. Merging takes the finished
//! cells of all folders together and writes what the whole sweep would have written: a cell's numbers depend on its own configuration alone, and the
//! results are a function of all cells in their order. A shard that was interrupted goes on where it stopped, as a sweep does.

use std::fs;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::error::{SweepError, SweepRunError};
use super::grid::Sweep;
use super::journal::Journal;
use super::result::SweepResult;
use super::{Advance, output};
use crate::config::{Config, SweepConfig, resolved};
use crate::run::output::{OutputError, create, put};
use crate::scenario::Materials;

/// Most parts of one sweep.
const MOST: u32 = 100_000;

/// Version of `shard.json`.
const SCHEMA: u32 = 1;

/// No `shard.json` that this program writes is longer.
const LONGEST: u64 = 1 << 22;

/// The name of the file that says which part of which sweep a folder holds.
const FILE: &str = "shard.json";

/// Part `number` of `of`, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Shard {
    number: u32,
    of: u32,
}

/// A text that names no part.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{found:?} is no part of a sweep: write i/n with 1 <= i <= n <= {MOST}, such as 2/4")]
pub struct ShardError {
    /// The text.
    pub found: String,
}

impl FromStr for Shard {
    type Err = ShardError;

    fn from_str(text: &str) -> Result<Self, ShardError> {
        let wrong = || ShardError {
            found: text.to_owned(),
        };
        let plain = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit());
        let (number, of) = text.split_once('/').ok_or_else(wrong)?;
        if !(plain(number) && plain(of)) {
            return Err(wrong());
        }
        let number: u32 = number.parse().map_err(|_| wrong())?;
        let of: u32 = of.parse().map_err(|_| wrong())?;
        if number < 1 || number > of || of > MOST {
            return Err(wrong());
        }
        Ok(Self { number, of })
    }
}

impl TryFrom<String> for Shard {
    type Error = ShardError;

    fn try_from(text: String) -> Result<Self, ShardError> {
        text.parse()
    }
}

impl From<Shard> for String {
    fn from(shard: Shard) -> Self {
        shard.to_string()
    }
}

impl std::fmt::Display for Shard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.number, self.of)
    }
}

impl Shard {
    /// Whether the cell of this index is its own.
    #[must_use]
    pub fn has(self, index: usize) -> bool {
        index % self.of as usize == self.number as usize - 1
    }
}

/// `shard.json`: which part of which sweep a folder holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    schema: u32,
    shard: Shard,
    /// Where relative paths of the experiment start, on the machine of the shard.
    base: PathBuf,
    /// The experiment file with every default filled in.
    experiment: String,
}

/// Folders that do not make a sweep.
#[derive(Debug, thiserror::Error)]
pub enum MergeError {
    /// No folder was given.
    #[error("no folder to merge: give the folder of every shard")]
    Nothing,
    /// A folder without a readable `shard.json`.
    #[error("{path} is no shard's: {why}; give folders that `undertone run SIM --shard i/n --out DIR` wrote", path = path.display())]
    NoShard {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// Shards of two sweeps.
    #[error("{path} is a shard of another sweep than {first}: merge shards of one experiment file, with the same changes",
        path = path.display(), first = first.display())]
    OtherSweep {
        /// The folder.
        path: PathBuf,
        /// The folder that it was held against.
        first: PathBuf,
    },
    /// The sweep is not valid here.
    #[error("the sweep of {path} cannot be set up here: {source}; if its files are elsewhere on this machine, name the folder of the experiment file as base",
        path = path.display())]
    Sweep {
        /// The folder.
        path: PathBuf,
        /// Why.
        source: Box<SweepError>,
    },
    /// Cells that no shard has finished.
    #[error(
        "{missing} of {cells} cells are not finished: {whose}; run the missing shards, or run them again to the end. Shards count only if they were run \
         by this very program on the same data"
    )]
    Unfinished {
        /// How many.
        missing: usize,
        /// Of how many.
        cells: usize,
        /// Which shards they belong to.
        whose: String,
    },
    /// A result could not be written, or a data file could not be read.
    #[error(transparent)]
    Run(#[from] SweepRunError),
}

impl From<OutputError> for MergeError {
    fn from(error: OutputError) -> Self {
        Self::Run(error.into())
    }
}

/// The sweep of some shards, and their folders.
pub struct Shards {
    sweep: Sweep,
    /// The experiment as the shards were given it.
    config: Config,
    folders: Vec<(PathBuf, Shard)>,
}

impl Sweep {
    /// Runs the cells of one shard that `directory/cells.jsonl` does not hold yet. Writes `shard.json`, `config.toml` and, of these cells,
    /// `sweep.csv`. Gives the number of cells of the shard.
    ///
    /// # Errors
    /// As for [`Sweep::run`].
    pub fn run_shard(
        &self,
        shard: Shard,
        directory: &Path,
        progress: &mut dyn FnMut(Advance),
    ) -> Result<usize, SweepRunError> {
        create(directory)?;
        let base = self.materials.base();
        let written = Written {
            schema: SCHEMA,
            shard,
            base: std::path::absolute(base).unwrap_or_else(|_| base.to_path_buf()),
            experiment: resolved(&self.whole_config()),
        };
        let mut json = serde_json::to_vec_pretty(&written).map_err(|error| OutputError {
            path: directory.join(FILE),
            source: error.into(),
        })?;
        json.push(b'\n');
        put(directory, FILE, &json)?;
        let outcomes = self.finish(directory, |index| shard.has(index), progress)?;
        Ok((0..outcomes.len()).filter(|&i| shard.has(i)).count())
    }
}

impl Shards {
    /// Reads the folders of shards. `materials` gives what the experiment is made of, told where relative paths started for the first shard.
    ///
    /// # Errors
    /// [`MergeError`] naming the folder and what to change.
    pub fn open(
        folders: &[PathBuf],
        materials: impl FnOnce(&Path) -> Materials,
    ) -> Result<Self, MergeError> {
        let mut read = Vec::new();
        for folder in folders {
            read.push((folder.clone(), written(folder)?));
        }
        let (first, written) = read.first().ok_or(MergeError::Nothing)?;
        let other = read.iter().find(|(_, other)| {
            (&other.experiment, other.shard.of) != (&written.experiment, written.shard.of)
        });
        if let Some((path, _)) = other {
            return Err(MergeError::OtherSweep {
                path: path.clone(),
                first: first.clone(),
            });
        }
        let config = Config::read(&written.experiment).map_err(|error| MergeError::NoShard {
            path: first.join(FILE),
            why: error.to_string(),
        })?;
        let materials = materials(&written.base);
        let sweep = Sweep::from_materials(config.clone(), materials);
        let sweep = sweep.map_err(|source| MergeError::Sweep {
            path: first.clone(),
            source: Box::new(source),
        })?;
        let folders = read.iter();
        let folders = folders.map(|(folder, written)| (folder.clone(), written.shard));
        Ok(Self {
            sweep,
            config,
            folders: folders.collect(),
        })
    }

    /// The same shards, computed by this file and not by the running program: as [`Sweep::computed_by`].
    #[must_use]
    pub fn computed_by(mut self, program: &Path) -> Self {
        self.sweep = self.sweep.computed_by(program);
        self
    }

    /// The experiment file that the shards were given, with every default filled in.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Its `[sweep]`.
    #[must_use]
    pub fn table(&self) -> &SweepConfig {
        &self.sweep.table
    }

    /// Writes into `directory` what the whole sweep would have written there, byte for byte but for the order of lines in `cells.jsonl`.
    ///
    /// # Errors
    /// [`MergeError::Unfinished`] if a cell is missing, with nothing written; [`MergeError::Run`].
    pub fn merge(&self, directory: &Path) -> Result<SweepResult, MergeError> {
        let keys = self.sweep.keys()?;
        let mut journals = Vec::new();
        for (folder, _) in &self.folders {
            journals.push(Journal::read(&folder.join("cells.jsonl"))?);
        }
        let finished = |key: &String| {
            let mut found = journals.iter().filter_map(|journal| journal.get(key));
            found.next().cloned()
        };
        let outcomes: Vec<_> = keys.iter().map(finished).collect();
        if outcomes.iter().any(Option::is_none) {
            let missing: Vec<usize> = (0..keys.len()).filter(|&i| outcomes[i].is_none()).collect();
            return Err(MergeError::Unfinished {
                missing: missing.len(),
                cells: keys.len(),
                whose: self.whose(&missing),
            });
        }
        create(directory)?;
        output::forget(directory)?;
        output::write_config(&self.sweep, directory)?;
        let mut journal = Journal::open(&directory.join("cells.jsonl"))?;
        for (key, outcome) in keys.iter().zip(&outcomes) {
            if let Some(outcome) = outcome
                && journal.finished(key).is_none()
            {
                journal.append(key, outcome)?;
            }
        }
        Ok(self.sweep.conclude(directory, outcomes)?)
    }

    /// Which shards these cells belong to.
    fn whose(&self, missing: &[usize]) -> String {
        let of = self.folders.first().map_or(1, |(_, shard)| shard.of);
        let mut shards: Vec<Shard> = (1..=of)
            .map(|number| Shard { number, of })
            .filter(|shard| missing.iter().any(|&index| shard.has(index)))
            .collect();
        let more = shards.len().saturating_sub(8);
        shards.truncate(8);
        let names = shards.iter().map(|shard| {
            let folder = self.folders.iter().find(|(_, other)| other == shard);
            match folder {
                Some((path, _)) => format!("shard {shard} in {} has not ended", path.display()),
                None => format!("shard {shard} was not given"),
            }
        });
        let mut text = names.collect::<Vec<_>>().join(", ");
        if more > 0 {
            text += &format!(", and {more} more");
        }
        text
    }
}

fn written(folder: &Path) -> Result<Written, MergeError> {
    let path = folder.join(FILE);
    let wrong = |why: String| MergeError::NoShard {
        path: path.clone(),
        why,
    };
    let length = fs::metadata(&path).map_err(|error| wrong(error.to_string()))?;
    if length.len() > LONGEST {
        return Err(wrong(format!("it is longer than {LONGEST} bytes")));
    }
    let text = fs::read(&path).map_err(|error| wrong(error.to_string()))?;
    let written: Written =
        serde_json::from_slice(&text).map_err(|error| wrong(error.to_string()))?;
    if written.schema != SCHEMA {
        let found = written.schema;
        return Err(wrong(format!(
            "it has schema {found}, and this program reads {SCHEMA}"
        )));
    }
    Ok(written)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_share_all_cells_out_and_are_written_as_they_are_read() {
        for of in 1..9 {
            let shards: Vec<Shard> = (1..=of)
                .map(|number| format!("{number}/{of}").parse().expect("a shard"))
                .collect();
            for index in 0..100 {
                let owners = shards.iter().filter(|shard| shard.has(index)).count();
                assert_eq!(owners, 1);
            }
        }
        for wrong in [
            "",
            "0/4",
            "5/4",
            "1",
            "1/0",
            "a/b",
            "1/100001",
            "-1/4",
            "+1/4",
            "1/4/2",
            "1 /4",
            "1/99999999999",
        ] {
            let error = wrong.parse::<Shard>().expect_err(wrong).to_string();
            assert!(error.contains("such as 2/4"), "{error}");
        }
        let shard: Shard = "3/8".parse().expect("a shard");
        assert_eq!(serde_json::to_string(&shard).expect("JSON"), "\"3/8\"");
        assert!(serde_json::from_str::<Shard>("\"9/8\"").is_err());
    }
}
