//! What the ledger and everything around it speak of: scopes, reservations, ends of sessions, heads of ledgers.

use serde::{Deserialize, Serialize};

use super::digest::Digest;
use crate::privacy::{Adjacency, PrivacyError, SquareSum};
use crate::vocabulary::hidden;

/// Characters of the longest name of a scope.
const LONGEST_SCOPE: usize = 64;

/// Sessions that one repair may take up.
pub const MOST_ADOPTED: usize = 100;

/// A μ² as the ledger writes it: text, so that every bit comes back whatever reads the number.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Square(pub SquareSum);

/// The most that a session may spend, and of what.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reservation {
    /// The session: the hash of its file.
    pub session: Digest,
    /// Whose data: a scope of the policy.
    pub scope: ScopeName,
    /// What one record is.
    pub adjacency: Adjacency,
    /// The largest Σ μ² that the session may come to.
    pub mu_squared: Square,
    /// Whether the session is plain, which tells more about records of other adjacencies ([`Adjacency::square_factor`]). Ledgers of older versions do not say.
    #[serde(default, skip_serializing_if = "is_false")]
    pub plain: bool,
}

fn is_false(value: &bool) -> bool {
    !value
}

/// The name of a group of people whose data several sessions use: 1 to 64 characters that can be seen.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ScopeName(String);

/// A scope's name that is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a scope's name has 1 to {LONGEST_SCOPE} characters that can be seen")]
pub struct NoScope;

/// How a session ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SessionEnd {
    /// With a result.
    Done,
    /// Without one.
    Aborted,
    /// The others went on without this peer.
    Excluded,
    /// The operator left it.
    Abandoned,
    /// It closed before this peer was ready.
    Lapsed,
}

/// How long a ledger is and the hash of its last line: what members tell one another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Head {
    /// One more than the number of the last line.
    pub length: u64,
    /// BLAKE3 of the last line, without its end.
    pub hash: Digest,
}

/// What a peer's files are brought up to after a restored backup: how far the lost ledger went, and which sessions it had.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Repair {
    /// The longest ledger of this peer that any member has seen.
    pub known: Head,
    /// The sessions that it had and this one has not, each at its full reservation.
    #[serde(default, rename = "session")]
    pub sessions: Vec<Reservation>,
}

impl Reservation {
    /// Whether this is the reservation that `wanted` asks for. One of an older version does not say whether its session is plain.
    #[must_use]
    pub fn is_of(&self, wanted: &Self) -> bool {
        let plain = self.plain;
        (plain <= wanted.plain)
            && *self
                == Self {
                    plain,
                    ..wanted.clone()
                }
    }
}

impl ScopeName {
    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for ScopeName {
    type Error = NoScope;

    fn try_from(text: String) -> Result<Self, NoScope> {
        let long = text.len() > 4 * LONGEST_SCOPE || text.chars().count() > LONGEST_SCOPE;
        let blank = text.trim() != text || text.is_empty() || text.contains('\t');
        match long || blank || hidden(&text).is_some() {
            true => Err(NoScope),
            false => Ok(Self(text)),
        }
    }
}

impl std::str::FromStr for ScopeName {
    type Err = NoScope;

    fn from_str(text: &str) -> Result<Self, NoScope> {
        text.to_owned().try_into()
    }
}

impl From<ScopeName> for String {
    fn from(scope: ScopeName) -> Self {
        scope.0
    }
}

impl std::fmt::Display for ScopeName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(&self.0)
    }
}

impl Square {
    /// A μ².
    ///
    /// # Errors
    /// Those of [`SquareSum::new`].
    pub fn new(square: f64) -> Result<Self, PrivacyError> {
        SquareSum::new(square).map(Self)
    }
}

impl Serialize for Square {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{:e}", self.0.get()))
    }
}

impl<'de> Deserialize<'de> for Square {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let square: f64 = text.parse().map_err(serde::de::Error::custom)?;
        Self::new(square).map_err(serde::de::Error::custom)
    }
}

impl std::fmt::Display for SessionEnd {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            Self::Done => "done",
            Self::Aborted => "aborted",
            Self::Excluded => "excluded",
            Self::Abandoned => "abandoned",
            Self::Lapsed => "lapsed",
        })
    }
}
