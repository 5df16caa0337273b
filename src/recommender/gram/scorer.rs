//! Scores of all items of a catalogue from public numbers and a user's own row.

use nalgebra::DMatrix;

use super::super::{Scorer, ScoringError};
use super::model::GramModel;
use crate::linalg::{Block, product};

/// The public numbers that scores are made of: a function of the release and the degrees.
///
/// The score of item j for the binary row r is
///
/// s_j = o_j·Σ_k w_k V_jk (Vᵀr)_k + ω·(π + [r·d])·d_j,
///
/// where an item outside the release has the second part only, and r·d counts with [`Self::of_row`] and over the items of the
/// release. The second part orders by popularity.
#[derive(Clone, Debug, PartialEq)]
pub struct ScoreParts {
    /// V, n × k.
    pub directions: Block,
    /// w, k numbers.
    pub weights: Vec<f64>,
    /// o, n numbers.
    pub item_scales: Vec<f64>,
    /// ω.
    pub popularity: f64,
    /// Whether the degrees of the user's own items count for popularity.
    pub of_row: bool,
    /// π: popularity that everybody has beside the own row.
    pub padding: f64,
    /// The power of all weights, for methods that have one.
    pub power: Option<f64>,
}

impl ScoreParts {
    /// Scores that are the degrees.
    pub(super) fn popularity(model: &GramModel) -> Self {
        let n = model.degrees.len();
        Self {
            directions: Block::zeros(n, 0),
            weights: Vec::new(),
            item_scales: vec![1.0; n],
            popularity: 1.0,
            of_row: false,
            padding: 1.0,
            power: None,
        }
    }
}

/// Scores a catalogue of items, some of which are in the release.
#[derive(Clone, Debug)]
pub struct GramScorer {
    parts: ScoreParts,
    /// Degrees of the catalogue.
    degrees: Vec<f64>,
    /// Where each item of the catalogue is in the release.
    places: Vec<Option<usize>>,
    /// V diag(w) Vᵀ diag(o), for many users.
    products: Option<DMatrix<f64>>,
}

impl GramScorer {
    /// The scorer of a catalogue with these degrees; `listed` are the items of the release in it, in the order of the release.
    ///
    /// # Errors
    /// [`ScoringError`] if numbers are missing or not finite, or an item is listed twice or not there.
    pub fn new(parts: ScoreParts, listed: &[u32], degrees: &[u32]) -> Result<Self, ScoringError> {
        let n = parts.directions.rows();
        for items in [listed.len(), parts.item_scales.len()] {
            if items != n {
                return Err(ScoringError::ItemCount { basis: n, items });
            }
        }
        if parts.weights.len() != parts.directions.columns() {
            return Err(ScoringError::Weights {
                directions: parts.directions.columns(),
                weights: parts.weights.len(),
            });
        }
        let finite = |row: usize| {
            let numbers = parts.directions.row(row).iter();
            numbers
                .chain([&parts.item_scales[row]])
                .all(|x| x.is_finite())
        };
        if let Some(row) = (0..n).find(|row| !finite(*row)) {
            return Err(ScoringError::NotFinite { row });
        }
        let constants = [parts.popularity, parts.padding];
        if !parts
            .weights
            .iter()
            .chain(&constants)
            .all(|x| x.is_finite())
        {
            return Err(ScoringError::Constants);
        }
        let mut places = vec![None; degrees.len()];
        for (place, &item) in listed.iter().enumerate() {
            match places.get_mut(item as usize) {
                Some(free @ None) => *free = Some(place),
                _ => return Err(ScoringError::Listed { item }),
            }
        }
        Ok(Self {
            parts,
            degrees: degrees.iter().map(|d| f64::from(*d)).collect(),
            places,
            products: None,
        })
    }

    /// The same with the products of all pairs of items at hand: n² numbers, for many users.
    #[must_use]
    pub fn for_many(mut self) -> Self {
        let parts = &self.parts;
        let mut weighted = parts.directions.to_matrix();
        for (mut column, weight) in weighted.column_iter_mut().zip(&parts.weights) {
            column *= *weight;
        }
        let mut products = product(&weighted, &parts.directions.to_matrix().transpose());
        for (mut row, scale) in products.row_iter_mut().zip(&parts.item_scales) {
            row *= *scale;
        }
        self.products = Some(products);
        self
    }

    /// Σ_k w_k V_jk (Vᵀr)_k·o_j for the items of the release.
    fn personal(&self, own: &[usize]) -> Vec<f64> {
        let parts = &self.parts;
        let n = parts.directions.rows();
        let mut scores = vec![0.0; n];
        if let Some(products) = &self.products {
            for &place in own {
                let column = products.column(place);
                scores
                    .iter_mut()
                    .zip(column.iter())
                    .for_each(|(s, x)| *s += x);
            }
            return scores;
        }
        let mut along = vec![0.0; parts.weights.len()];
        for &place in own {
            let row = parts.directions.row(place);
            along.iter_mut().zip(row).for_each(|(sum, x)| *sum += x);
        }
        along
            .iter_mut()
            .zip(&parts.weights)
            .for_each(|(sum, w)| *sum *= w);
        for (place, score) in scores.iter_mut().enumerate() {
            let row = parts.directions.row(place).iter().zip(&along);
            *score = parts.item_scales[place] * row.map(|(x, y)| x * y).sum::<f64>();
        }
        scores
    }
}

impl Scorer for GramScorer {
    fn items(&self) -> usize {
        self.degrees.len()
    }

    fn scores(&self, rows: &[&[u32]]) -> DMatrix<f64> {
        let parts = &self.parts;
        let mut scores = DMatrix::zeros(self.degrees.len(), rows.len());
        for (mut column, row) in scores.column_iter_mut().zip(rows) {
            let listed = row.iter().filter_map(|&item| {
                let place = self.places[item as usize]?;
                Some((place, self.degrees[item as usize]))
            });
            let (own, degrees): (Vec<usize>, Vec<f64>) = listed.unzip();
            let of_row: f64 = if parts.of_row {
                degrees.iter().sum()
            } else {
                0.0
            };
            let prior = parts.popularity * (parts.padding + of_row);
            let personal = self.personal(&own);
            for ((score, degree), place) in column.iter_mut().zip(&self.degrees).zip(&self.places) {
                *score = prior * degree + place.map_or(0.0, |place| personal[place]);
            }
        }
        scores
    }
}
