//! Why an experiment file cannot be read.

use std::path::PathBuf;

use super::overrides::OverrideError;

/// What a file without a required key can have there, in words to end the refusal with; nothing where no key is missing.
fn example(refusal: &str) -> String {
    let key = refusal
        .strip_prefix("missing field `")
        .and_then(|rest| rest.split('`').next());
    let text = match key {
        Some("data") => "[data]\npath = \"ratings.csv\"\nformat = \"csv-triples\"",
        Some("format") => {
            "format = \"csv-triples\" (user,item,rating), \"movielens-csv\", \"table\", \"matrix-csv\" or \"npy\"; all are in the guide, experiment_files"
        }
        Some("privacy") => "[privacy]\nepsilon = 1.0",
        Some("epsilon") => "epsilon = 1.0",
        Some("kind") => "kind = \"covariance\"",
        Some("rank") => "rank = 4",
        Some("iterations") => "iterations = 3, or 1 with kind = \"covariance\"",
        _ => return String::new(),
    };
    format!("add it, for example:\n{text}\n")
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
    #[error("{path}: {source}{}", example(source.message()), path = path.display())]
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
