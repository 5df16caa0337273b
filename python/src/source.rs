//! What a caller says an experiment is: a file or a dictionary, keys set on top, and what is held in memory.

use std::path::{Path, PathBuf};

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use toml::{Table, Value};
use undertone::config::{Config, anchored, apply, parse_set, read_config, read_faults};
use undertone::scenario::{Experiment, Materials};

use crate::failure::Failure;
use crate::memory::Memory;
use crate::tables;

/// An experiment as its caller describes it.
#[derive(Clone)]
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

/// A configuration, where its files are, and what of it is in memory.
pub(crate) struct Configured {
    pub(crate) config: Config,
    pub(crate) materials: Materials,
}

impl Source {
    /// Reads what Python hands over: a path or a dictionary, keys to set, and what is in memory.
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
        let memory = memory.map(Memory::of).transpose()?;
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
                if let Some(memory) = memory {
                    table = memory.over(table)?;
                }
                (apply(table, &self.set)?, PathBuf::from("."))
            }
        };
        if let Some(path) = &self.faults {
            config.faults = Some(read_faults(path)?);
        }
        let mut materials = Materials::new(&base);
        if let Some(memory) = &self.memory {
            // Other paths are absolute: none of them is the name of what is in memory.
            config = memory.named(anchored(config, &base));
            memory.make_known(&mut materials);
        }
        Ok(Configured { config, materials })
    }

    /// The experiment.
    pub(crate) fn experiment(&self) -> Result<Experiment, Failure> {
        let Configured { config, materials } = self.read()?;
        self.resolved(config, &materials)
    }

    /// The experiment of this configuration.
    pub(crate) fn resolved(
        &self,
        config: Config,
        materials: &Materials,
    ) -> Result<Experiment, Failure> {
        Experiment::resolve_from(config, materials).map_err(|error| self.named(error))
    }
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
