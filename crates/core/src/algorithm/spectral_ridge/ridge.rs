//! What a user computes alone: the posterior mean of the own coordinates along public directions.

use std::collections::BTreeMap;

use nalgebra::DMatrix;

use super::super::{CHECKED, Completer, CompleterParts, PartsError, checked};
use crate::linalg::{Block, Cholesky};

/// Directions, how much users vary along each, and how much ratings vary about all of them. Public.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Ridge {
    /// V, n × d, orthonormal.
    pub(super) directions: Block,
    /// l, d of them, above 0.
    pub(super) eigenvalues: Vec<f64>,
    /// τ², d of them, above 0.
    pub(super) priors: Vec<f64>,
    /// s²; above 0 where there is a direction.
    pub(super) residual: f64,
    /// b, n of them; none where none were released.
    pub(super) item_means: Vec<f64>,
    /// n.
    pub(super) items: usize,
    /// Whether the mean of what b leaves of a row is part of the prediction.
    pub(super) recentred: bool,
    /// Whether the user's own ratings check predictions.
    pub(super) checked: bool,
}

/// Appends a − b at the items of a row, less its mean if `recentred`; gives that mean, or 0.
pub(super) fn less(
    item_means: &[f64],
    recentred: bool,
    (items, values): (&[u32], &[f64]),
    out: &mut Vec<f64>,
) -> f64 {
    let start = out.len();
    let rest = items.iter().zip(values);
    out.extend(rest.map(|(&item, a)| a - item_means.get(item as usize).unwrap_or(&0.0)));
    if !recentred || items.is_empty() {
        return 0.0;
    }
    let mean = out[start..].iter().sum::<f64>() / items.len() as f64;
    out[start..].iter_mut().for_each(|x| *x -= mean);
    mean
}

impl Ridge {
    /// The name of the method in files.
    pub(super) const METHOD: &str = "spectral-ridge";

    /// From parts that were checked.
    pub(super) fn of(parts: &CompleterParts) -> Result<Self, PartsError> {
        let ridge = Self {
            directions: parts.directions.clone(),
            eigenvalues: parts.of_each("eigenvalue")?.to_vec(),
            priors: parts.of_each("prior")?.to_vec(),
            residual: parts.constant("residual")?,
            item_means: parts.item_means.clone(),
            items: parts.directions.rows(),
            recentred: parts.constant("recentred")? != 0.0,
            checked: parts.flag(CHECKED)?,
        };
        if ridge.priors.iter().any(|prior| *prior <= 0.0) {
            return Err(PartsError::number("prior", "not above 0"));
        }
        if !ridge.priors.is_empty() && ridge.residual <= 0.0 {
            return Err(PartsError::number("residual", "not above 0"));
        }
        Ok(ridge)
    }

    /// c = (V_ΩᵀV_Ω + s²·diag(1/τ²))⁻¹ V_Ωᵀa.
    fn coordinates(&self, items: &[u32], values: &[f64]) -> Vec<f64> {
        let width = self.directions.columns();
        let mut matrix = DMatrix::zeros(width, width);
        let mut along = vec![0.0; width];
        for (&item, a) in items.iter().zip(values) {
            let row = self.directions.row(item as usize);
            for (j, x) in row.iter().enumerate() {
                along[j] += x * a;
                for (i, y) in row.iter().enumerate().skip(j) {
                    matrix[(i, j)] += x * y;
                }
            }
        }
        for (j, prior) in self.priors.iter().enumerate() {
            matrix[(j, j)] += self.residual / prior;
        }
        match Cholesky::of(matrix) {
            Some(factor) => {
                factor.solve(&mut along);
                along
            }
            // Where penalties are so small that rounding leaves no definite matrix, nothing is known of the user.
            None => vec![0.0; width],
        }
    }

    /// One prediction per item, not checked.
    fn predict(&self, items: &[u32], values: &[f64]) -> Vec<f64> {
        let mut rest = Vec::with_capacity(items.len());
        let mean = less(&self.item_means, self.recentred, (items, values), &mut rest);
        let coordinates = self.coordinates(items, &rest);
        (0..self.items)
            .map(|item| {
                let row = self.directions.row(item).iter().zip(&coordinates);
                let along: f64 = row.map(|(v, c)| v * c).sum();
                mean + self.item_means.get(item).unwrap_or(&0.0) + along
            })
            .collect()
    }
}

impl Completer for Ridge {
    fn complete(&self, items: &[u32], values: &[f64]) -> Vec<f64> {
        let predict = |items: &[u32], values: &[f64]| self.predict(items, values);
        match self.checked {
            true => checked((items, values), predict),
            false => predict(items, values),
        }
    }

    fn parts(&self) -> CompleterParts {
        let of_directions = [
            ("eigenvalue", self.eigenvalues.clone()),
            ("prior", self.priors.clone()),
        ];
        let constants = [
            ("residual", self.residual),
            ("recentred", f64::from(u8::from(self.recentred))),
            (CHECKED, f64::from(u8::from(self.checked))),
        ];
        let named = |name: &str| name.to_owned();
        CompleterParts {
            method: Self::METHOD.to_owned(),
            directions: self.directions.clone(),
            of_directions: BTreeMap::from(of_directions.map(|(name, x)| (named(name), x))),
            item_means: self.item_means.clone(),
            constants: BTreeMap::from(constants.map(|(name, x)| (named(name), x))),
        }
    }
}
