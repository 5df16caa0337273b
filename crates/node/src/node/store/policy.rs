//! `policy.toml`: what this peer never does, whatever a session file asks for.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::disk;
use super::error::StoreError;
use super::terms::ScopeName;
use crate::privacy::{Adjacency, Budget, Certificate, Delta, Epsilon};
use crate::session::Address;

/// Bytes of the longest policy.
const LONGEST: u64 = 1 << 16;

/// Fewest bytes that a policy may allow a message: control messages are as long.
const LEAST_FRAME: u64 = 64 << 10;

/// Most bytes that a policy may allow a message.
const MOST_FRAME: u64 = 1 << 30;

/// Fewest and most bytes that a policy may allow a session.
const LEAST_MEMORY: u64 = 64 << 20;
const MOST_MEMORY: u64 = 1 << 40;

/// What `init` writes.
const DEFAULT: &str = include_str!("policy.toml");

/// Limits of one peer, checked before it joins and again before anything leaves. Unknown keys are refused: a limit that is misspelt would be none.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Policy {
    session: SessionLimits,
    #[serde(default)]
    lifetime: BTreeMap<ScopeName, Lifetime>,
    network: NetworkLimits,
}

/// How contributions are published.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Publish {
    /// Readable as soon as they are sent: who vanishes afterwards costs everybody the session, or a retry.
    Open,
    /// Encrypted until everybody's is held.
    Sealed,
}

/// What every session must keep.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SessionLimits {
    pub(super) min_peers: usize,
    pub(super) min_colluders: usize,
    pub(super) max_epsilon: Epsilon,
    pub(super) max_delta: Delta,
    pub(super) adjacency: Vec<Adjacency>,
    pub(super) certificates: Vec<Certificate>,
    pub(super) publish: Vec<Publish>,
    pub(super) max_retries: u32,
    #[serde(default = "max_memory")]
    max_memory: Size<LEAST_MEMORY, MOST_MEMORY>,
}

/// The limit of a policy that names none, which is that of a new one.
fn max_memory() -> Size<LEAST_MEMORY, MOST_MEMORY> {
    Size(4 << 30)
}

/// What one scope may lose.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Lifetime {
    epsilon: Epsilon,
    delta: Delta,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct NetworkLimits {
    listen: Vec<Address>,
    max_frame: Size<LEAST_FRAME, MOST_FRAME>,
}

/// A number of bytes within limits: `"64 MiB"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
struct Size<const LEAST: u64, const MOST: u64>(u64);

impl Policy {
    /// The file that `init` writes: cautious, with a comment on every key.
    #[must_use]
    pub fn default_text() -> &'static str {
        DEFAULT
    }

    /// Reads a policy.
    ///
    /// # Errors
    /// What is wrong and in which line: unknown keys, values without a meaning, limits that are none.
    pub fn parse(text: &str) -> Result<Self, String> {
        let policy: Self = toml::from_str(text).map_err(|error| error.to_string())?;
        let limits = &policy.session;
        if limits.min_peers < 2 {
            let found = limits.min_peers;
            return Err(format!(
                "session.min_peers is {found}; a session has at least 2 peers"
            ));
        }
        if limits.min_colluders >= limits.min_peers {
            return Err(format!(
                "session.min_colluders is {} with session.min_peers = {}; somebody must be honest besides this peer",
                limits.min_colluders, limits.min_peers
            ));
        }
        Ok(policy)
    }

    /// Reads the file.
    pub(super) fn read(path: &Path) -> Result<Self, StoreError> {
        let content = |problem| StoreError::Content {
            path: path.to_path_buf(),
            problem,
        };
        let text = disk::read_text(path, LONGEST)?;
        let missing = "it is not there, and without it this peer refuses everything; \
                       `undertone node init` in another directory writes one to copy";
        let text = text.ok_or_else(|| content(missing.to_owned()))?;
        Self::parse(&text).map_err(content)
    }

    pub(super) fn session(&self) -> &SessionLimits {
        &self.session
    }

    /// What the people of a scope may lose over all sessions, in each unit of protection.
    #[must_use]
    pub fn lifetime(&self, scope: &ScopeName) -> Option<Budget> {
        let Lifetime { epsilon, delta } = *self.lifetime.get(scope)?;
        Some(Budget { epsilon, delta })
    }

    /// The fewest members with which anything is begun.
    #[must_use]
    pub fn min_peers(&self) -> usize {
        self.session.min_peers
    }

    /// The scopes that have a budget, by name.
    pub fn scopes(&self) -> impl Iterator<Item = &ScopeName> {
        self.lifetime.keys()
    }

    /// Where to listen.
    #[must_use]
    pub fn listen(&self) -> &[Address] {
        &self.network.listen
    }

    /// Bytes that this peer's part of a session may take.
    #[must_use]
    pub fn max_memory(&self) -> u64 {
        self.session.max_memory.0
    }

    /// Bytes of the longest message that is taken.
    #[must_use]
    pub fn max_frame(&self) -> u64 {
        self.network.max_frame.0
    }
}

impl Default for Policy {
    /// What `init` writes.
    fn default() -> Self {
        Self::parse(DEFAULT).unwrap_or_else(|error| unreachable!("tested: {error}"))
    }
}

impl<const LEAST: u64, const MOST: u64> TryFrom<String> for Size<LEAST, MOST> {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let wrong = || {
            format!(
                "expected a size from \"{} KiB\" to \"{} GiB\", a whole number with the unit KiB, MiB or GiB; found {:?}",
                LEAST >> 10,
                MOST >> 30,
                text.chars().take(40).collect::<String>()
            )
        };
        let (number, unit) = text.split_once(' ').ok_or_else(wrong)?;
        let unit = match unit {
            "KiB" => 1_u64 << 10,
            "MiB" => 1 << 20,
            "GiB" => 1 << 30,
            _ => return Err(wrong()),
        };
        // `parse` would take a sign.
        let digits = number.bytes().all(|byte| byte.is_ascii_digit());
        number
            .parse::<u64>()
            .ok()
            .filter(|_| digits)
            .and_then(|number| number.checked_mul(unit))
            .filter(|bytes| (LEAST..=MOST).contains(bytes))
            .map(Self)
            .ok_or_else(wrong)
    }
}

#[cfg(test)]
mod tests {
    use rand::Rng;

    use super::*;
    use crate::vocabulary::{Label, Seed};

    #[test]
    fn the_default_is_a_policy_that_says_what_each_key_is_for() {
        let policy = Policy::default();
        assert_eq!(policy.max_frame(), 64 << 20);
        assert_eq!(policy.max_memory(), 4 << 30);
        let unlimited = DEFAULT
            .lines()
            .filter(|line| !line.starts_with("max_memory"));
        let unlimited = unlimited.collect::<Vec<_>>().join("\n");
        assert_eq!(Policy::parse(&unlimited), Ok(policy.clone()));
        assert_eq!(policy.listen().len(), 1);
        assert_eq!(policy.scopes().count(), 1);
        let keys = DEFAULT.lines().filter(|line| {
            line.split_once(" = ").is_some_and(|(key, _)| {
                key.bytes()
                    .all(|byte| byte.is_ascii_lowercase() || byte == b'_')
            })
        });
        for line in keys {
            assert!(line.contains('#'), "{line}");
        }
    }

    #[test]
    fn what_is_no_policy_says_what_to_change() {
        for (from, to, word) in [
            ("max_epsilon", "max_epsilom", "max_epsilom"),
            ("min_peers = 3", "min_peers = 1", "at least 2"),
            ("min_peers = 3", "min_peers = -1", "min_peers"),
            ("min_colluders = 1", "min_colluders = 3", "honest"),
            ("max_epsilon = 2.0", "max_epsilon = nan", "finite"),
            ("max_epsilon = 2.0", "max_epsilon = 0.0", "above 0"),
            ("max_delta = 1e-5", "max_delta = 1.0", "between 0 and 1"),
            ("[\"user\"]", "[\"users\"]", "users"),
            ("\"exact\",", "\"estimated\",", "estimated"),
            ("\"sealed\"", "\"shut\"", "shut"),
            ("epsilon = 4.0", "epsilom = 4.0", "epsilom"),
            ("lifetime.\"default\"", "lifetime.\"\"", "scope"),
            ("64 MiB", "64 MB", "64 KiB"),
            ("4 GiB", "63 MiB", "65536 KiB"),
            ("4 GiB", "2000 GiB", "1024 GiB"),
            ("64 MiB", "2 GiB", "1 GiB"),
            ("64 MiB", "99999999999999999999 GiB", "1 GiB"),
            ("64 MiB", "+64 MiB", "1 GiB"),
            ("/ip4/0.0.0.0/tcp/7655", "0.0.0.0:7655", "/ip4/"),
            ("[network]", "[networks]", "networks"),
        ] {
            assert!(DEFAULT.contains(from), "{from}");
            let problem = Policy::parse(&DEFAULT.replacen(from, to, 1)).expect_err(to);
            assert!(problem.contains(word), "{word}: {problem}");
        }
    }

    /// Reads changed policies: no panic, and what is read is within the limits of the type.
    fn fuzz(inputs: u32) -> u32 {
        // Without the comments, where changes do nothing.
        let lines = DEFAULT
            .lines()
            .map(|line| line.split('#').next().unwrap_or_default());
        let rest = |line: &str| !line.starts_with("certificates");
        let lines = lines.map(|line| {
            if rest(line) {
                line.trim()
            } else {
                "certificates = [\"exact\"]"
            }
        });
        let good = lines.collect::<Vec<_>>().join("\n").into_bytes();
        let mut rng = Seed::from_u64(7).key(Label::Identity, 0, 0).stream(0, 0);
        let mut read = 0;
        for _ in 0..inputs {
            let mut bytes = good.clone();
            for _ in 0..1 + rng.next_u32() % 3 {
                let at = rng.next_u32() as usize % bytes.len();
                match rng.next_u32() % 3 {
                    0 => bytes[at] ^= 1 << (rng.next_u32() % 8),
                    1 => drop(bytes.remove(at)),
                    _ => bytes.insert(at, b"0123456789.-\"[]\n"[rng.next_u32() as usize % 16]),
                }
            }
            let text = String::from_utf8_lossy(&bytes);
            if let Ok(policy) = Policy::parse(&text) {
                assert!((LEAST_FRAME..=MOST_FRAME).contains(&policy.max_frame()));
                let limits = policy.session();
                assert!(limits.min_peers >= 2 && limits.max_epsilon.get() > 0.0);
                read += 1;
            }
        }
        read
    }

    #[test]
    fn changed_policies_are_refused_or_mean_something() {
        let read = fuzz(100_000);
        assert!((1_000..99_000).contains(&read), "{read}");
    }

    #[test]
    #[ignore = "ten million inputs; cargo test --lib -- --ignored store::policy"]
    fn ten_million_changed_policies() {
        assert!(fuzz(10_000_000) > 0);
    }
}
