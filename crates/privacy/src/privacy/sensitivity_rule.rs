//! Names of the ways in which a sensitivity can be bounded.

use std::fmt;

use serde::{Deserialize, Serialize};

/// How the bound is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SensitivityRule {
    /// The tight bounds of this crate, attained by some data.
    Exact,
    /// P1's bound from the largest row norm D̂.
    RowNorm,
    /// The earlier bound from the largest entry (Hardt & Price; Balcan et al.).
    MaxEntry,
    /// The bound for the largest entry any X can have, in the FedPower-style baseline (a reconstruction).
    WorstCase,
    /// The bound for rows of which only a norm of at most 1 is known.
    UnitRow,
    /// Rows under a root floor, divided by the fourth root of d·max(d, D), and the tight bounds for one interaction of these.
    RootFloor,
    /// That of a rule of your own.
    #[serde(skip)]
    Own,
}

impl fmt::Display for SensitivityRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Exact => "exact",
            Self::RowNorm => "row-norm",
            Self::MaxEntry => "max-entry",
            Self::WorstCase => "worst-case",
            Self::UnitRow => "unit-row",
            Self::RootFloor => "root-floor",
            Self::Own => "a rule of your own",
        })
    }
}
