//! Why an experiment file cannot be read.

use std::path::PathBuf;

use super::overrides::OverrideError;
use super::remedy::remedy;

/// What the parser says, and what to change where it does not say that itself.
fn told(refusal: &toml::de::Error) -> String {
    let text = refusal.to_string();
    let text = text.trim_end();
    remedy(refusal.message()).map_or_else(|| text.to_owned(), |change| format!("{text}\n{change}"))
}

/// Why an experiment file cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("cannot read the experiment file {path}: {source}", path = path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The file lies where no TOML file can say.
    #[error(
        "{path} lies in a folder whose name is not UTF-8, which config.toml could not name: move or rename the folder",
        path = path.display()
    )]
    PathNotText {
        /// The file.
        path: PathBuf,
    },
    /// The file is not a valid experiment.
    #[error("{path}: {}", told(source), path = path.display())]
    Parse {
        /// The file.
        path: PathBuf,
        /// Line, column, key, what was found and what was expected.
        source: Box<toml::de::Error>,
    },
    /// A `--set key=value` that cannot be applied.
    #[error(transparent)]
    Override(#[from] OverrideError),
    /// A name that is no file name.
    #[error(
        "name = {name:?} must be 1 to 80 letters, digits, dots, dashes or underscores and not begin with a dot: it names the output folder"
    )]
    Name {
        /// The name given.
        name: String,
    },
    /// A number that no experiment file can hold.
    #[error(
        "seed = {seed} is too large for an experiment file: the largest is {}",
        i64::MAX
    )]
    Seed {
        /// The seed given.
        seed: u64,
    },
}
