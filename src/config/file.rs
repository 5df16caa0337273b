//! Experiment files: read, checked for what needs no data, and written again with every default filled in.

use std::path::{Path, PathBuf};

use super::error::ConfigError;
use super::overrides;
use super::schema::Config;
use super::topology::TopologySource;

/// An experiment file as it is written.
struct Written {
    text: String,
    table: toml::Table,
}

impl Written {
    fn read(path: &Path) -> Result<Self, ConfigError> {
        let text = std::fs::read_to_string(path).map_err(|source| ConfigError::Read {
            path: path.to_path_buf(),
            source,
        })?;
        let table = toml::from_str(&text).map_err(|source| parse_error(path, source))?;
        Ok(Self { text, table })
    }
}

fn parse_error(path: &Path, source: toml::de::Error) -> ConfigError {
    ConfigError::Parse {
        path: path.to_path_buf(),
        source: Box::new(source),
    }
}

/// Reads and parses an experiment file and applies overrides.
///
/// # Errors
/// [`ConfigError::Read`], [`ConfigError::Parse`] or [`ConfigError::Override`].
pub fn read_config(path: &Path, set: &[String]) -> Result<Config, ConfigError> {
    check_path(path)?;
    let Written { text, mut table } = Written::read(path)?;
    let as_written = Config::read(&text).err();
    if let Some(name) = name_of(path) {
        table
            .entry("name")
            .or_insert_with(|| toml::Value::String(name));
    }
    // What overrides do not mend is shown where it stands in the file.
    overrides::apply(table, set).map_err(|error| match as_written {
        Some(source) => parse_error(path, source),
        None => error.into(),
    })
}

/// Keys whose defaults decide what is computed and promised.
const TOLD: [&str; 6] = [
    "peers.count",
    "topology",
    "algorithm",
    "averaging.scheme",
    "privacy.delta",
    "privacy.adjacency",
];

/// Of the keys whose defaults decide what is computed and promised, those that neither this experiment file nor overrides say.
///
/// # Errors
/// [`ConfigError::Read`] and [`ConfigError::Parse`].
pub fn left_to_defaults(path: &Path, set: &[String]) -> Result<Vec<&'static str>, ConfigError> {
    let table = Written::read(path)?.table;
    let is_set = |key: &str| {
        let keys = set.iter().filter_map(|text| text.split_once('='));
        let inside = |one: &str, other: &str| {
            let rest = one.strip_prefix(other);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        keys.map(|(set, _)| set.trim())
            .any(|set| inside(set, key) || inside(key, set))
    };
    let is_said = |key: &str| match key.split_once('.') {
        None => table.contains_key(key),
        Some((first, last)) => table
            .get(first)
            .is_some_and(|table| table.get(last).is_some()),
    };
    let mut keys = TOLD.to_vec();
    keys.retain(|key| !is_said(key) && !is_set(key));
    Ok(keys)
}

/// The name of an experiment whose file gives it none: that of the file, in the characters that names may have.
fn name_of(path: &Path) -> Option<String> {
    let stem = path.file_stem()?.to_string_lossy();
    let fit = |c: char| if is_of_name(c) { c } else { '-' };
    let name: String = stem
        .trim_start_matches('.')
        .chars()
        .take(MOST_NAME)
        .map(fit)
        .collect();
    (!name.is_empty()).then_some(name)
}

/// Characters of the longest name.
const MOST_NAME: usize = 80;

fn is_of_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || "._-".contains(c)
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
    if !config.data.path().as_os_str().is_empty() {
        anchor(config.data.path_mut());
    }
    config.data.side_files_mut().into_iter().for_each(anchor);
    config.evaluation.test.iter_mut().for_each(anchor);
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
    let fits = name.chars().all(is_of_name);
    if name.is_empty() || name.len() > MOST_NAME || name.starts_with('.') || !fits {
        let name = name.to_owned();
        return Err(ConfigError::Name { name });
    }
    if i64::try_from(seed).is_err() {
        return Err(ConfigError::Seed { seed });
    }
    Ok(())
}
