//! A matrix per degree floor to run candidates on, and the error of what comes out.

use std::collections::BTreeMap;

use nalgebra::DMatrix;

use super::candidates::Proposal;
use crate::algorithm::{KrylovTrial, Start, raked};
use crate::linalg::{Block, PackedTriangle, Spectrum};
use crate::recommender::LowPassFilter;
use crate::vocabulary::{Label, Quantity, Seed, margin_weights};

/// A data set, real or a stand-in, as far as runs and errors depend on it.
///
/// Under a curator a run sees its rows through A = Σ_u r̂_uᵀr̂_u alone, and so does its error through it and the filter.
#[derive(Debug)]
pub(super) struct Ground {
    /// A per degree floor.
    matrices: BTreeMap<u32, DMatrix<f64>>,
    /// Of the items, for starts from popularity.
    degrees: Vec<u32>,
    /// U of the reference floor.
    exact: Block,
    filter: LowPassFilter<'static>,
    /// What the noise has to be multiplied with, where items were left out.
    noise: f64,
}

/// The random numbers of one run of every candidate. All candidates take the same, so that differences between them are their own.
#[derive(Debug)]
pub(super) struct Draw {
    /// X⁰ by where it starts and its columns.
    starts: Vec<((Start, usize), DMatrix<f64>)>,
    /// n × n, standard normal.
    normals: DMatrix<f64>,
}

impl Ground {
    /// From A under every floor, A of the reference floor, item degrees and the filter.
    pub(super) fn new(
        matrices: impl IntoIterator<Item = (u32, DMatrix<f64>)>,
        (reference, rank): (&DMatrix<f64>, usize),
        degrees: Vec<u32>,
        filter: LowPassFilter<'static>,
        noise: f64,
    ) -> Self {
        let vectors = Spectrum::leading(reference, rank).vectors(rank);
        Self {
            matrices: matrices.into_iter().collect(),
            degrees,
            exact: Block::from_matrix(&vectors),
            filter,
            noise,
        }
    }

    /// What one run of each of these candidates draws. Those without a start of full rank have none.
    pub(super) fn draw(&self, all: &[Proposal], seed: &Seed) -> Draw {
        let n = self.exact.rows();
        let mut generator = seed.generator(Label::Probe);
        let normals = crate::linalg::normal_columns(n, n, &mut generator);
        let mut starts: Vec<((Start, usize), DMatrix<f64>)> = Vec::new();
        for setting in all {
            let key = (
                setting.algorithm.table().requirements().start,
                setting.algorithm.table().query_columns().min(n),
            );
            if starts.iter().any(|(known, _)| *known == key) {
                continue;
            }
            if let Ok(block) = key.0.block(seed, (n, key.1), &self.degrees) {
                starts.push((key, block.to_matrix()));
            }
        }
        Draw { starts, normals }
    }

    /// The relative error of one run of this candidate under a curator; `None` if it has no start, no proved sensitivity on so many items, or its
    /// floor is unknown.
    pub(super) fn error(&self, setting: &Proposal, draw: &Draw) -> Option<f64> {
        let matrix = self.matrices.get(&setting.floor)?;
        let n = self.exact.rows();
        let sensitivity = &setting.parameters.sensitivity;
        let sigma = setting.sigma * self.noise;
        let program = &setting.parameters.program;
        let rank = program.rank;
        let basis = match program.releases.first()?.blocks.first()?.quantity {
            Quantity::Product => {
                let key = (
                    setting.algorithm.table().requirements().start,
                    program.query_columns.min(n),
                );
                let (_, start) = draw.starts.iter().find(|(known, _)| *known == key)?;
                let bound = sensitivity.of(Quantity::Product, key.1).ok()?;
                let trial = KrylovTrial {
                    matrix,
                    start,
                    normals: &draw.normals,
                    iterations: program.releases.len(),
                    rank,
                };
                trial.estimate(|query| {
                    let statistic = bound.statistic().of(&Block::from_matrix(query));
                    sigma * bound.bound(statistic)
                })
            }
            Quantity::IsometricTriangle => {
                let bound = sensitivity.of(Quantity::IsometricTriangle, 1).ok()?;
                let sigma = sigma * bound.bound(0.0);
                let noisy = noisy(matrix, &draw.normals, sigma, sigma / 2.0_f64.sqrt());
                Spectrum::leading(&noisy, rank).vectors(rank)
            }
            Quantity::PackedTriangle => {
                let bound = sensitivity.of(Quantity::PackedTriangle, 1).ok()?;
                let sigma = sigma * bound.bound(0.0);
                let noisy = noisy(matrix, &draw.normals, sigma, sigma);
                Spectrum::leading(&noisy, rank).vectors(rank)
            }
            Quantity::TriangleAndMargins => {
                let floor = program.degree_floor?;
                let bound = sensitivity.of(Quantity::TriangleAndMargins, 1).ok()?;
                let sigma = sigma * bound.bound(0.0);
                let free = self.matrices.get(&1)?;
                let released = with_margins((matrix, free), &draw.normals, sigma, floor);
                let triangle = raked(n, &released, sigma, floor);
                let estimate = PackedTriangle::new(n, &triangle).to_block().to_matrix();
                Spectrum::leading(&estimate, rank).vectors(rank)
            }
            _ => return None,
        };
        let error = self
            .filter
            .relative_error(&Block::from_matrix(&basis), &self.exact);
        error.is_finite().then_some(error)
    }
}

/// The release of a raked covariance, of A under a floor and without one, with noise of this standard deviation on every coordinate. What lies above the
/// diagonal of the normals is the row sums'.
fn with_margins(
    (under, free): (&DMatrix<f64>, &DMatrix<f64>),
    normals: &DMatrix<f64>,
    sigma: f64,
    floor: u32,
) -> Vec<f64> {
    let n = under.nrows();
    let (lambda, kappa) = margin_weights(floor);
    let mut released = Vec::with_capacity(PackedTriangle::coordinates(n) + n);
    for i in 0..n {
        released.push(lambda * free[(i, i)] + sigma * normals[(i, i)]);
        let pair = |j| std::f64::consts::SQRT_2 * under[(i, j)] + sigma * normals[(j, i)];
        released.extend((i + 1..n).map(pair));
    }
    released.extend((0..n).map(|i| {
        let sum = free.row(i).sum() - free[(i, i)];
        let above = if i + 1 < n { (i, i + 1) } else { (0, i) };
        kappa * sum + sigma * normals[above]
    }));
    released
}

/// The matrix with symmetric noise of these standard deviations on and off its diagonal.
fn noisy(matrix: &DMatrix<f64>, normals: &DMatrix<f64>, on: f64, off: f64) -> DMatrix<f64> {
    let n = matrix.nrows();
    DMatrix::from_fn(n, n, |i, j| {
        let deviation = if i == j { on } else { off };
        matrix[(i, j)] + deviation * normals[(i.max(j), i.min(j))]
    })
}
