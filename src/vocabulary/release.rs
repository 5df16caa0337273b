//! What a peer releases in one iteration: the word that algorithms and sensitivity bounds share.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What the released coordinates are a function of. A sensitivity bound is proved for one of these and for no
/// other: a plan whose algorithm releases one thing and whose bound is for another is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Release {
    /// A_u X for a public X with orthonormal columns, n × p, row-major.
    Product,
    /// The upper triangle of A_u with its diagonal, row after row: n(n+1)/2 coordinates.
    PackedTriangle,
}

impl fmt::Display for Release {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Product => "the product A X",
            Self::PackedTriangle => "the packed triangle of A",
        })
    }
}
