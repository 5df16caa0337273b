//! Experiment files: read, checked for what needs no data, and written again with every default filled in.

use std::path::{Path, PathBuf};

use super::error::ConfigError;
use super::overrides;
use super::schema::Config;
use super::topology::TopologySource;

/// Reads and parses an experiment file and applies overrides.
///
/// # Errors
/// [`ConfigError::Read`], [`ConfigError::Parse`] or [`ConfigError::Override`].
pub fn read_config(path: &Path, set: &[String]) -> Result<Config, ConfigError> {
    check_path(path)?;
    let text = std::fs::read_to_string(path).map_err(|source| ConfigError::Read {
        path: path.to_path_buf(),
        source,
    })?;
    let parse_error = |source| ConfigError::Parse {
        path: path.to_path_buf(),
        source: Box::new(source),
    };
    // Parsed as written first, so that errors point at lines of the file.
    let config: Config = toml::from_str(&text).map_err(parse_error)?;
    if set.is_empty() {
        return Ok(config);
    }
    let table: toml::Table = toml::from_str(&text).map_err(parse_error)?;
    Ok(overrides::apply(table, set)?)
}

/// The configuration with all defaults filled in, as an experiment file.
///
/// # Panics
/// For a configuration that holds what TOML cannot; one that makes an experiment never does.
#[must_use]
pub fn resolved(config: &Config) -> String {
    toml::to_string(config).expect("resolving refused seeds and names that TOML cannot hold")
}

/// A configuration with its paths, which start at `base`, made absolute.
#[must_use]
pub fn anchored(mut config: Config, base: &Path) -> Config {
    let anchor = |path: &mut PathBuf| {
        let joined = base.join(&*path);
        // Without a current directory nothing is absolute; the joined path is the best there is.
        *path = std::path::absolute(&joined).unwrap_or(joined);
    };
    if !config.data.path.as_os_str().is_empty() {
        anchor(&mut config.data.path);
    }
    config.data.constants_mut().into_iter().for_each(anchor);
    config.evaluation.test.iter_mut().for_each(anchor);
    config.data.items_file.iter_mut().for_each(anchor);
    config.data.users_file.iter_mut().for_each(anchor);
    config.data.titles.iter_mut().for_each(anchor);
    config.topology.file_mut().into_iter().for_each(anchor);
    let noise = config.noise_topology.iter_mut();
    noise.filter_map(TopologySource::file_mut).for_each(anchor);
    config
}

/// Refuses a file in a folder whose name is no text: results name it in `config.toml`.
pub(super) fn check_path(path: &Path) -> Result<(), ConfigError> {
    match std::path::absolute(path) {
        Ok(whole) if whole.to_str().is_none() => Err(ConfigError::PathNotText {
            path: path.to_path_buf(),
        }),
        _ => Ok(()),
    }
}

/// Checks a name and a seed: the name becomes a folder, and TOML holds no larger numbers.
pub(crate) fn check_identity(name: &str, seed: u64) -> Result<(), ConfigError> {
    let fits = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    if name.is_empty() || name.len() > 80 || name.starts_with('.') || !name.chars().all(fits) {
        let name = name.to_owned();
        return Err(ConfigError::Name { name });
    }
    if i64::try_from(seed).is_err() {
        return Err(ConfigError::Seed { seed });
    }
    Ok(())
}
