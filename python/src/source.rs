//! What a caller says an experiment is: a file or a dictionary, keys set on top, and what is held in memory.

use std::path::{Path, PathBuf};

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use toml::{Table, Value};
use undertone::config::{
    Config, FileSource, TopologySource, anchored, apply, parse_set, read_config, read_faults,
};
use undertone::scenario::Experiment;
use undertone::topology::ParallelEdges;

use crate::failure::Failure;
use crate::tables;

/// What is in memory, as files of a folder that nobody else sees: see `undertone._memory`.
#[derive(Clone, Debug, Default)]
struct Memory {
    folder: PathBuf,
    /// File and format of the data.
    data: Option<(String, String)>,
    topology: Option<String>,
    noise_topology: Option<String>,
}

/// An experiment as its caller describes it.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    /// The file, or the dictionary.
    described: Described,
    /// Keys set on top.
    set: Vec<String>,
    memory: Option<Memory>,
    faults: Option<PathBuf>,
}

#[derive(Clone, Debug)]
enum Described {
    File(PathBuf),
    Table(Table),
}

/// A configuration and the folder that its paths start at.
pub(crate) struct Configured {
    pub(crate) config: Config,
    pub(crate) base: PathBuf,
}

impl Source {
    /// Reads what Python hands over: a path or a dictionary, keys to set, and `(folder, data, topology, noise topology)` of what is in memory.
    pub(crate) fn of(
        sim: &Bound<'_, PyAny>,
        set: Option<&Bound<'_, PyAny>>,
        memory: Option<&Bound<'_, PyDict>>,
        faults: Option<PathBuf>,
    ) -> PyResult<Self> {
        let described = match sim.cast::<PyDict>() {
            Ok(dictionary) => Described::Table(tables::table(dictionary)?),
            Err(_) => Described::File(sim.extract().map_err(|_| {
                PyTypeError::new_err("an experiment is the path of a file or a dict")
            })?),
        };
        let memory = memory.map(memory_of).transpose()?;
        Ok(Self {
            described,
            set: set_of(set)?,
            memory,
            faults,
        })
    }

    /// The file, if it is one.
    pub(crate) fn path(&self) -> Option<&Path> {
        match &self.described {
            Described::File(path) => Some(path),
            Described::Table(_) => None,
        }
    }

    /// Keys set on top, as after `--set`.
    pub(crate) fn set(&self) -> &[String] {
        &self.set
    }

    /// The failure, said of this file.
    pub(crate) fn named(&self, failure: impl Into<Failure>) -> Failure {
        let failure = failure.into();
        match self.path() {
            Some(path) => failure.of_file(&path.display().to_string()),
            None => failure,
        }
    }

    /// The configuration, with everything set.
    pub(crate) fn read(&self) -> Result<Configured, Failure> {
        self.configured().map_err(|failure| self.named(failure))
    }

    fn configured(&self) -> Result<Configured, Failure> {
        let (mut config, base) = match (&self.described, &self.memory) {
            (Described::File(path), memory) => {
                let base = path.parent().unwrap_or(Path::new("."));
                let config = match memory {
                    None => read_config(path, &self.set)?,
                    // Read for its own sake first: errors then name lines.
                    Some(memory) => {
                        let config = read_config(path, &[])?;
                        let table = Table::try_from(config)
                            .map_err(|error| Failure::Value(error.to_string()))?;
                        apply(memory.over(table)?, &self.set)?
                    }
                };
                (config, base.to_path_buf())
            }
            (Described::Table(table), memory) => {
                let mut table = table.clone();
                let name = || Value::String("python".to_owned());
                table.entry("name").or_insert_with(name);
                table.entry("seed").or_insert(Value::Integer(0));
                if let Some(memory) = memory {
                    table = memory.over(table)?;
                }
                (apply(table, &self.set)?, PathBuf::from("."))
            }
        };
        if let Some(path) = &self.faults {
            config.faults = Some(read_faults(path)?);
        }
        let Some(memory) = &self.memory else {
            return Ok(Configured { config, base });
        };
        // Other paths stay where they are; what is in memory has names that are the same in every run.
        config = anchored(config, &base);
        if let Some((file, _)) = &memory.data {
            config.data.path = file.into();
        }
        if let Some(file) = &memory.topology {
            config.topology = graph_file(file);
        }
        if let Some(file) = &memory.noise_topology {
            config.noise_topology = Some(graph_file(file));
        }
        let base = memory.folder.clone();
        Ok(Configured { config, base })
    }

    /// The experiment.
    pub(crate) fn experiment(&self) -> Result<Experiment, Failure> {
        let Configured { config, base } = self.read()?;
        self.resolved(config, &base)
    }

    /// The experiment of this configuration.
    pub(crate) fn resolved(&self, config: Config, base: &Path) -> Result<Experiment, Failure> {
        Experiment::resolve(config, base).map_err(|error| self.named(error))
    }
}

impl Memory {
    /// The same table with what is in memory in place of what it says.
    fn over(&self, mut table: Table) -> Result<Table, Failure> {
        if let Some((file, format)) = &self.data {
            let data = table
                .entry("data")
                .or_insert_with(|| Value::Table(Table::new()));
            let Value::Table(data) = data else {
                return Err(Failure::Value("data is not a table".to_owned()));
            };
            data.insert("path".to_owned(), Value::String(file.clone()));
            data.insert("format".to_owned(), Value::String(format.clone()));
            data.remove("obtain");
            data.remove("generate");
        }
        for (key, file) in [
            ("topology", &self.topology),
            ("noise_topology", &self.noise_topology),
        ] {
            if let Some(file) = file {
                let source = Table::from_iter([("file".to_owned(), Value::String(file.clone()))]);
                table.insert(key.to_owned(), Value::Table(source));
            }
        }
        Ok(table)
    }
}

fn graph_file(file: &str) -> TopologySource {
    TopologySource::File(FileSource {
        file: file.into(),
        largest_component: false,
        parallel_edges: ParallelEdges::default(),
    })
}

fn memory_of(given: &Bound<'_, PyDict>) -> PyResult<Memory> {
    let text = |key: &str| -> PyResult<Option<String>> {
        match given.get_item(key)? {
            Some(value) if !value.is_none() => value.extract().map(Some),
            _ => Ok(None),
        }
    };
    let folder = text("folder")?.unwrap_or_default();
    Ok(Memory {
        folder: folder.into(),
        data: text("data")?.zip(text("format")?),
        topology: text("topology")?,
        noise_topology: text("noise_topology")?,
    })
}

/// Keys to set: a dictionary of dotted keys, or `key=value` texts as after `--set`.
fn set_of(set: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<String>> {
    let Some(set) = set else {
        return Ok(Vec::new());
    };
    if let Ok(dictionary) = set.cast::<PyDict>() {
        return dictionary
            .iter()
            .map(|(key, value)| tables::override_of(key.extract::<&str>()?, &value))
            .collect();
    }
    if set.is_instance_of::<PyString>() {
        return Err(PyTypeError::new_err(
            "set is a dict of dotted keys, such as {\"privacy.epsilon\": 0.5}, or a list of \"key=value\"",
        ));
    }
    let texts: Vec<String> = set.extract()?;
    for text in &texts {
        parse_set(text).map_err(|error| PyValueError::new_err(error.to_string()))?;
    }
    Ok(texts)
}
