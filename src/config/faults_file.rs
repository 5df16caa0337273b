//! Files of faults, as a run writes one beside its results.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::dropouts::FaultsConfig;
use super::error::ConfigError;

/// The longest file of faults, in bytes.
const MOST_BYTES: u64 = 16 * 1024 * 1024;

/// A file with the one table `[faults]`.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FaultsFile {
    faults: FaultsConfig,
}

/// Reads a file of faults, as `undertone run` writes one beside its results.
///
/// # Errors
/// [`ConfigError::Read`] and [`ConfigError::Parse`].
pub fn read_faults(path: &Path) -> Result<FaultsConfig, ConfigError> {
    let read = |source| ConfigError::Read {
        path: path.to_path_buf(),
        source,
    };
    let size = std::fs::metadata(path).map_err(read)?.len();
    if size > MOST_BYTES {
        return Err(read(std::io::Error::other(format!(
            "it has {size} bytes, and a file of faults has at most {MOST_BYTES}"
        ))));
    }
    let text = std::fs::read_to_string(path).map_err(read)?;
    let file: FaultsFile = toml::from_str(&text).map_err(|source| ConfigError::Parse {
        path: path.to_path_buf(),
        source: Box::new(source),
    })?;
    Ok(file.faults)
}

/// The text of a file of these faults.
///
/// # Panics
/// For a schedule that holds what TOML cannot; one that was checked never does.
#[must_use]
pub(crate) fn faults_text(faults: &FaultsConfig) -> String {
    let file = FaultsFile {
        faults: faults.clone(),
    };
    toml::to_string(&file).expect("checking refused seeds that TOML cannot hold")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::PeerName;
    use crate::engine::event::faults::CrashPoint;

    #[test]
    fn a_file_of_faults_says_what_it_was_written_from() {
        let text = "[faults]\nseed = 3\nloss = 0.2\nlatency = { heavy-tail = { least_micros = 300 } }\n\
                    [[faults.crash]]\npeer = \"Oslo\"\nafter = 7\n\
                    [[faults.crash]]\npeer = 4\nafter = 9\nat = \"torn-record\"\nrestart_micros = 5\n\
                    [[faults.outage]]\nlink = [\"Oslo\", 4]\nfrom_micros = 1\nuntil_micros = 2\n\
                    [[faults.partition]]\nside = [4]\nfrom_micros = 1\n\
                    [faults.random]\ncrashes = 2\nrestarts = 0.5\n";
        let file: FaultsFile = toml::from_str(text).expect("a file of faults");
        let faults = file.faults;
        assert_eq!(faults.crashes[0].peer, PeerName("Oslo".to_owned()));
        assert_eq!(faults.crashes[0].at, CrashPoint::Frame);
        assert_eq!(faults.outages[0].link.1, PeerName("4".to_owned()));
        let again: FaultsFile = toml::from_str(&faults_text(&faults)).expect("a file of faults");
        assert_eq!(again.faults, faults);
        for (wrong, why) in [
            ("[faults]\nlose = 0.1", "lose"),
            ("[faults]\n[[faults.crash]]\nafter = 1", "peer"),
            ("[faults]\n[[faults.crash]]\npeer = 1\nafter = -1", "-1"),
            ("[dropouts]\ntolerate = 1", "dropouts"),
        ] {
            let refused = toml::from_str::<FaultsFile>(wrong).map(|_| ());
            let refused = refused.expect_err(wrong).to_string();
            assert!(refused.contains(why), "{refused}");
        }
    }
}
