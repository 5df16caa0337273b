//! Numbers that may be infinite, in JSON.

use serde::{Deserialize, Deserializer};

/// Reads a number that JSON has as null where it is infinite.
pub(crate) fn or_infinite<'de, D: Deserializer<'de>>(reader: D) -> Result<f64, D::Error> {
    Ok(Option::deserialize(reader)?.unwrap_or(f64::INFINITY))
}
