//! What is proved of an algorithm beyond the quantities that it declares.

use serde::{Deserialize, Serialize};

/// What is proved of an algorithm beyond the quantities of its releases.
///
/// A quantity names a function of the rows that peers hold, and a bound is proved for that function. Two algorithms may declare one quantity and
/// differ in what they do before or after it, so a quantity alone does not say where an algorithm may be used.
///
/// # An algorithm of your own
/// Its quantities and its bounds are your word, and so is this: by default it adds up its quantities of the rows as they are held, for matrices
/// without negative eigenvalues. [`Program::proved`](super::Program::proved) says more or less.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Proved {
    /// Contributions are the declared quantities of the rows as peers hold them.
    ///
    /// Otherwise the algorithm makes other rows of them, of norm at most 1, of which nothing else is known: only the bounds of `unit-row` for
    /// users who are there or not, or replaced, hold for those. The others ask for equal entries, or for one entry that moves alone.
    pub as_held: bool,
    /// The planned noise covers neighbours of which one user's row replaces another's.
    pub replaced: bool,
    /// What it releases, and what it makes of that, has been shown for the matrix A alone, whatever rows it is the sum of: it may be computed of
    /// P A P, of rows less a mean, and after a pilot.
    pub matrix_only: bool,
    /// It finds eigenvectors of matrices that have negative eigenvalues, as those of graphs.
    pub indefinite: bool,
}

impl Default for Proved {
    fn default() -> Self {
        Self {
            as_held: true,
            replaced: true,
            matrix_only: false,
            indefinite: false,
        }
    }
}

impl Proved {
    /// An algorithm that makes rows of its own.
    pub const OF_OWN_ROWS: Self = Self {
        as_held: false,
        replaced: true,
        matrix_only: false,
        indefinite: false,
    };
    /// An algorithm that is about a matrix without negative eigenvalues and nothing else.
    pub const MATRIX_ONLY: Self = Self {
        as_held: true,
        replaced: true,
        matrix_only: true,
        indefinite: false,
    };
    /// An algorithm for matrices of any sign.
    pub const INDEFINITE: Self = Self {
        as_held: true,
        replaced: true,
        matrix_only: false,
        indefinite: true,
    };
}
