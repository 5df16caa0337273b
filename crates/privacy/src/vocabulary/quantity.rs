//! What released numbers are a function of: the word that algorithms and sensitivity bounds share.

use std::fmt;

use serde::Serialize;

/// What the coordinates of one block of a release are a function of.
///
/// A sensitivity bound is proved for one of these and for no other: a plan looks up the bound of exactly what its
/// algorithm releases, and is refused where none is proved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Quantity {
    /// A_u X for a public X with orthonormal columns, n × p, row-major.
    Product,
    /// The upper triangle of A_u with its diagonal, row after row: n(n+1)/2 coordinates.
    PackedTriangle,
    /// The same with every entry off the diagonal times √2, so that the Euclidean norm of the coordinates is ‖A_u‖_F.
    IsometricTriangle,
    /// The same triangle with another diagonal, and row sums: of every row of d entries of 1 its pairs under the session's floor D, times √2, then λ/d on the diagonal, and
    /// after the triangle κ(d − 1)/d for every item, with λ and κ of `margin_weights` of D: n(n+1)/2 + n coordinates.
    TriangleAndMargins,
    /// Σ r of a peer's rows r, each of norm at most 1: n coordinates.
    RowSum,
    /// The same of rows without a negative entry.
    NonnegativeRowSum,
    /// vᵀ A_u v for a public query of one column v of norm 1: one number.
    RayleighQuotient,
    /// Σ of what rows contribute to A_u X, each first shortened to a public length or left out, and divided by that length: n × p, row-major.
    ClippedProduct,
    /// How many rows contribute how much, in bins: every row adds 1 to at most one of them.
    ClipHistogram,
    /// How many rows contribute no more than a public length: one number.
    ClipCount,
    /// How many rows have at least D_1, D_2, … interactions, for the public numbers `TAIL_DEGREES`.
    TailCounts,
    /// Σ r/√d of rows r of d entries of 1, whatever they are divided by: n coordinates, what every item has of its users' rows.
    ItemShares,
    /// A X for the adjacency matrix A of a private graph and a public X with orthonormal columns, row v of it at vertex v: p numbers of
    /// its own for every vertex.
    GraphProduct,
    /// One half of B X for B = [0 M; Mᵀ 0] and a public X with orthonormal columns: M times the last rows of X at the rows of M, or Mᵀ times the
    /// first at its columns, p numbers of its own for every one of either.
    BipartiteHalf,
    /// vᵀAv of A for a public v of norm 1, as the sum of v_s (Av)_s over vertices s: one number.
    GraphQuotient,
    /// What an algorithm of your own releases, by the name under which it brings its own bound.
    Own(&'static str),
}

impl Quantity {
    /// All quantities that have a name of their own.
    pub const NAMED: [Self; 15] = [
        Self::Product,
        Self::PackedTriangle,
        Self::IsometricTriangle,
        Self::TriangleAndMargins,
        Self::RowSum,
        Self::NonnegativeRowSum,
        Self::RayleighQuotient,
        Self::ClippedProduct,
        Self::ClipHistogram,
        Self::ClipCount,
        Self::TailCounts,
        Self::ItemShares,
        Self::GraphProduct,
        Self::BipartiteHalf,
        Self::GraphQuotient,
    ];
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Product => "the product A X",
            Self::PackedTriangle => "the packed triangle of A",
            Self::IsometricTriangle => "the isometric triangle of A",
            Self::TriangleAndMargins => "the triangle of A with its margins",
            Self::RowSum => "the sum of rows",
            Self::NonnegativeRowSum => "the sum of rows without negative entries",
            Self::RayleighQuotient => "the Rayleigh quotient of A",
            Self::ClippedProduct => "the product A X of clipped rows",
            Self::ClipHistogram => "the histogram of how long contributions are",
            Self::ClipCount => "the number of contributions within a length",
            Self::ItemShares => "what items have of their users' rows",
            Self::TailCounts => "how many users have how many interactions",
            Self::GraphProduct => "the product A X of a graph",
            Self::BipartiteHalf => "one half of a bipartite product",
            Self::GraphQuotient => "the Rayleigh quotient of a graph",
            Self::Own(name) => name,
        })
    }
}
