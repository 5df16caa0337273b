//! The table `[peers]`: how many there are, and who holds what.

use serde::{Deserialize, Serialize};

use crate::data::Partition;

/// `[peers]`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PeersConfig {
    /// `"users"`: one peer per user; `"vertices"`: one per vertex of a private graph; or a number: users are dealt to that many peers. Where absent,
    /// `"auto"`: as many as the list of sizes or a graph that is handed in has; one per vertex; one per user up to 1,000 users, 100 above.
    #[serde(default)]
    pub count: PeerCount,
    /// How users are dealt.
    #[serde(default = "round_robin")]
    pub partition: Partition,
    /// With `partition = "contiguous"`: how many users each peer holds, in the order of the peers; equal shares where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sizes: Option<Vec<u32>>,
}

impl Default for PeersConfig {
    fn default() -> Self {
        Self {
            count: PeerCount::default(),
            partition: round_robin(),
            sizes: None,
        }
    }
}

fn round_robin() -> Partition {
    Partition::RoundRobin
}

/// Number of peers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PeerCount {
    /// What the data suggest.
    #[default]
    Auto,
    /// One peer per user.
    Users,
    /// One peer per vertex of the graph that is the data.
    Vertices,
    /// This many.
    Number(usize),
}

impl Serialize for PeerCount {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Auto => serializer.serialize_str("auto"),
            Self::Users => serializer.serialize_str("users"),
            Self::Vertices => serializer.serialize_str("vertices"),
            Self::Number(number) => serializer.serialize_u64(*number as u64),
        }
    }
}

impl<'de> Deserialize<'de> for PeerCount {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl serde::de::Visitor<'_> for Visitor {
            type Value = PeerCount;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("\"users\", \"vertices\", \"auto\" or a number of peers, at least 1")
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<PeerCount, E> {
                match text {
                    "auto" => Ok(PeerCount::Auto),
                    "users" => Ok(PeerCount::Users),
                    "vertices" => Ok(PeerCount::Vertices),
                    _ => Err(E::invalid_value(serde::de::Unexpected::Str(text), &self)),
                }
            }

            fn visit_i64<E: serde::de::Error>(self, number: i64) -> Result<PeerCount, E> {
                match usize::try_from(number) {
                    Ok(count) if count > 0 => Ok(PeerCount::Number(count)),
                    _ => Err(E::invalid_value(
                        serde::de::Unexpected::Signed(number),
                        &self,
                    )),
                }
            }

            fn visit_u64<E: serde::de::Error>(self, number: u64) -> Result<PeerCount, E> {
                self.visit_i64(i64::try_from(number).unwrap_or(-1))
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}
