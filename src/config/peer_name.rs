//! What files call peers.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What a file calls a peer: its name, or its number where nodes have no names.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct PeerName(pub String);

impl fmt::Debug for PeerName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl<'de> Deserialize<'de> for PeerName {
    fn deserialize<D: serde::Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        // Always some: a name that is absent is no name.
        name_or_number(source).map(|name| Self(name.unwrap_or_default()))
    }
}

/// A peer's name: text, or the number that it is called where nodes have no names.
pub(super) fn name_or_number<'de, D: serde::Deserializer<'de>>(
    source: D,
) -> Result<Option<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Name {
        Text(String),
        Number(u64),
    }
    Ok(Some(match Name::deserialize(source)? {
        Name::Text(name) => name,
        Name::Number(number) => number.to_string(),
    }))
}
