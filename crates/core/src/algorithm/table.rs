//! Keys of an algorithm that experiment files can name: one struct per kind, in the file of its algorithm.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{
    Algorithm, AlgorithmError, Arrival, Completer, CompleterParts, Completion, PartsError,
    Precondition, Program, Start,
};

/// The default of `precondition_exponent`.
const PRECONDITION_EXPONENT: f64 = 0.25;

/// Facts of the data that an algorithm is made for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DataFacts {
    /// Items n.
    pub items: usize,
    /// The degree floor of the rows, 1 where there is none.
    pub floor: u32,
    /// What is public of ratings that are to be completed; `None` where there are none.
    pub completion: Option<Completion>,
    /// The number of rows, where it is public and an algorithm is planned by it.
    pub slots: usize,
    /// ε of every search of a curator for a threshold; 0 where nobody searches.
    pub search_epsilon: f64,
}

impl DataFacts {
    /// So many items under this degree floor, without ratings and public rows.
    #[must_use]
    pub fn of_items(items: usize, floor: u32) -> Self {
        Self {
            items,
            floor,
            completion: None,
            slots: 0,
            search_epsilon: 0.0,
        }
    }

    /// What is public of the ratings that this algorithm completes.
    ///
    /// # Errors
    /// [`AlgorithmError::Ratings`] where there are none.
    pub fn rated(&self, algorithm: &'static str) -> Result<Completion, AlgorithmError> {
        self.completion.ok_or(AlgorithmError::Ratings { algorithm })
    }
}

/// The keys of P, where a kind has them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Weights {
    /// What P is made of.
    pub source: Precondition,
    /// e of P = diag(degree^−e), where it is given.
    pub exponent: Option<f64>,
    /// The share of the mean in every degree, where it is given.
    pub shrinkage: Option<f64>,
}

impl Weights {
    /// The exponent and the shrinkage of P, with their defaults.
    #[must_use]
    pub fn numbers(&self) -> (f64, f64) {
        let exponent = self.exponent.unwrap_or(PRECONDITION_EXPONENT);
        (exponent, self.shrinkage.unwrap_or(0.0))
    }
}

/// What a run of the power method gives: `algorithm.output` of an experiment file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Output {
    /// The basis.
    #[default]
    Basis,
    /// Also B = X Yᵀ of the query X and the sum Y of the last release, an approximation of A of rank at most p.
    LowRank,
}

/// Requirements of an algorithm on its data, and on what is measured of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DataRequirements {
    /// Where the iteration starts.
    pub start: Start,
    /// What P is made of, if there is one.
    pub weights: Weights,
    /// Whether it predicts ratings: it then takes rows that are not shortened, and shortens what it contributes itself.
    pub completes: bool,
    /// Whether it releases item means, whose keys are in `[completion]`.
    pub item_means: bool,
    /// Whether it runs with published constants, whose bound is not proved for replaced rows.
    pub published: bool,
    /// How rows are divided into batches, and how many there are; `None` where all rows count in every step.
    pub arrival: Option<(Arrival, u32)>,
    /// What a run writes beside the basis.
    pub output: Output,
}

impl DataRequirements {
    /// Those of an algorithm about the matrix alone: where it starts, and what P is made of with its exponent and shrinkage.
    pub(super) fn of_matrix(
        start: Start,
        source: Precondition,
        exponent: Option<f64>,
        shrinkage: Option<f64>,
    ) -> Self {
        Self {
            start,
            weights: Weights {
                source,
                exponent,
                shrinkage,
            },
            ..Self::default()
        }
    }
}

/// The keys of `[algorithm]` of one kind.
pub trait AlgorithmTable: fmt::Debug {
    /// p: eigenvectors wanted, columns of the basis.
    fn rank(&self) -> usize;

    /// L: iterations; 0 where they are still to be chosen.
    fn iterations(&self) -> u32;

    /// b: columns of every query.
    fn query_columns(&self) -> usize {
        self.rank()
    }

    /// The algorithm on such data.
    ///
    /// # Errors
    /// [`AlgorithmError`] for keys that do not go with each other, and for numbers that make no algorithm.
    fn algorithm(&self, facts: &DataFacts) -> Result<Arc<dyn Algorithm>, AlgorithmError>;

    /// The program of one iteration of this kind on two items, with one column: what it releases and what is proved of it, before items, ranks
    /// and iterations are known, and whatever the numbers are. `None` where the choice is left open, and for kinds that complete ratings.
    fn sketch(&self) -> Option<Program>;

    /// What it takes of the data.
    fn requirements(&self) -> DataRequirements {
        DataRequirements::default()
    }

    /// Whether the columns of its basis estimate one eigenvector each, in order; the others find their span.
    fn finds_eigenvectors(&self) -> bool {
        true
    }

    /// Whether a query can be too far from what it plans noise for, so that summaries say before which iteration it stopped.
    fn may_abort(&self) -> bool {
        false
    }

    /// What predicts ratings, made again from its public numbers; `None` where they are of another kind's method.
    ///
    /// # Errors
    /// [`PartsError`] for numbers that this kind's method cannot have.
    fn completer(parts: &CompleterParts) -> Result<Option<Box<dyn Completer>>, PartsError>
    where
        Self: Sized,
    {
        let _ = parts;
        Ok(None)
    }
}

/// An algorithm of any kind.
pub(super) fn made(
    algorithm: Result<impl Algorithm + 'static, AlgorithmError>,
) -> Result<Arc<dyn Algorithm>, AlgorithmError> {
    algorithm.map(|algorithm| Arc::new(algorithm) as Arc<dyn Algorithm>)
}

/// The program of an algorithm whose numbers are valid.
pub(super) fn program_of(algorithm: Result<impl Algorithm, AlgorithmError>) -> Option<Program> {
    algorithm.ok().map(|algorithm| algorithm.program())
}

/// The iterations of an algorithm that runs one.
pub(super) fn one() -> u32 {
    1
}
