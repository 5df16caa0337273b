//! Matrices that are drawn instead of read.

use rand::RngExt;
use rand::distr::Distribution;
use serde::{Deserialize, Serialize};

use crate::data::matrix_problem::GeneratedError;
use crate::data::ratings::Loaded;
use crate::linalg::{SparseRows, start_block};
use crate::vocabulary::{Label, Seed, StandardNormal};

/// The most numbers of a generated matrix.
const MOST: usize = 500_000_000;

/// `data.generate` of an experiment file: a family of matrices with its public numbers and a seed of its own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Generated {
    /// A spiked covariance: rows Σ_j λ_j g_j u_j + σ g, with independent standard normals g_j and g and random orthonormal
    /// directions u_j. The covariance is Σ_j λ_j² u_j u_jᵀ + σ² I.
    Spiked {
        /// Number of rows m.
        rows: usize,
        /// Number of columns n.
        columns: usize,
        /// λ_j, one per spike.
        strengths: Vec<f64>,
        /// σ.
        noise: f64,
        /// Of the directions and of all rows.
        seed: u64,
    },
    /// The family M_C on which no private method finds the leading singular value to better than a bound (Hardt & Roth 2013,
    /// section 6): n × n, n/C rows equal to one vector of n/2 ones in random places, all other rows zero. Its rank is 1, its
    /// singular value n/√(2C), its coherence C.
    LowerBound {
        /// n, even.
        size: usize,
        /// C, which divides n.
        coherence: usize,
        /// Of the places of the ones.
        seed: u64,
    },
}

impl Generated {
    /// The matrix.
    ///
    /// # Errors
    /// [`GeneratedError`] for sizes of 0 or too large, and numbers that make no matrix of the family.
    pub fn load(&self) -> Result<Loaded, GeneratedError> {
        let (rows, columns) = match *self {
            Self::Spiked { rows, columns, .. } => (rows, columns),
            Self::LowerBound { size, .. } => (size, size),
        };
        let numbers = rows.checked_mul(columns);
        if numbers.is_none_or(|numbers| !(1..=MOST).contains(&numbers)) {
            return Err(GeneratedError::Size {
                rows,
                columns,
                most: MOST,
            });
        }
        let values = match self {
            Self::Spiked {
                strengths,
                noise,
                seed,
                ..
            } => spiked((rows, columns), strengths, *noise, *seed)?,
            Self::LowerBound {
                coherence, seed, ..
            } => lower_bound(rows, *coherence, *seed)?,
        };
        let names = (1..=columns).map(|column| column.to_string()).collect();
        Ok(Loaded::of_rows(values, names, 0))
    }
}

fn spiked(
    (rows, columns): (usize, usize),
    strengths: &[f64],
    noise: f64,
    seed: u64,
) -> Result<SparseRows, GeneratedError> {
    let found = strengths.len();
    let refused = GeneratedError::Spikes { found, columns };
    let valid = |x: &f64| x.is_finite() && *x >= 0.0;
    if found > columns || !strengths.iter().chain([&noise]).all(valid) {
        return Err(refused);
    }
    let seed = Seed::from_u64(seed);
    let directions = match found {
        0 => None,
        _ => Some(start_block(&seed, columns, found).map_err(|_| refused)?),
    };
    let mut generator = seed.generator(Label::Scenario);
    let mut normal = || -> f64 { StandardNormal.sample(&mut generator) };
    let mut out = SparseRows::new(columns);
    for _ in 0..rows {
        let along: Vec<f64> = strengths
            .iter()
            .map(|strength| strength * normal())
            .collect();
        let entry = |column: usize| {
            directions.as_ref().map_or(0.0, |directions| {
                let row = directions.row(column).iter().zip(&along);
                row.map(|(u, x)| u * x).sum::<f64>()
            })
        };
        let row: Vec<f64> = (0..columns)
            .map(|column| entry(column) + noise * normal())
            .collect();
        out.push_row((0..).zip(row))
            .expect("finite numbers in ascending columns");
    }
    Ok(out)
}

fn lower_bound(size: usize, coherence: usize, seed: u64) -> Result<SparseRows, GeneratedError> {
    if coherence == 0 || !size.is_multiple_of(coherence) || !size.is_multiple_of(2) {
        return Err(GeneratedError::Coherence { coherence, size });
    }
    let mut generator = Seed::from_u64(seed).generator(Label::Scenario);
    let mut ones: Vec<f64> = (0..size)
        .map(|at| f64::from(u8::from(2 * at < size)))
        .collect();
    // Fisher–Yates, written out so that the order does not hang on another crate's shuffle.
    for last in (1..size).rev() {
        let other = generator.random_range(0..=last);
        ones.swap(last, other);
    }
    let mut out = SparseRows::new(size);
    for row in 0..size {
        let filled = row < size / coherence;
        let entries = ones.iter().map(|one| if filled { *one } else { 0.0 });
        out.push_row((0..).zip(entries))
            .expect("finite numbers in ascending columns");
    }
    Ok(out)
}
