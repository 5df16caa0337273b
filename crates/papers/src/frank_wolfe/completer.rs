//! What completes rows after the steps are over: the directions, and how a row moves along them.

use std::collections::BTreeMap;

use super::super::CompletionMode;
use super::row::{Direction, Row};
use super::{EIGENVALUE, FrankWolfeParameters, Global, LENGTH, Local, StepRule};
use crate::algorithm::{
    CHECKED, Completer, CompleterParts, MAX_ITERATIONS, PartsError, RatedRows, Released, checked,
    freed, overlap,
};
use crate::linalg::Block;

/// Completes rows by the directions that were found. Public.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct FrankWolfeCompleter {
    dimension: usize,
    parameters: FrankWolfeParameters,
    /// v of each step, n numbers.
    directions: Vec<Vec<f64>>,
    /// λ of each.
    lengths: Vec<f64>,
    /// w of each, in squares of the unit.
    eigenvalues: Vec<f64>,
    /// Whether the user's own ratings check predictions.
    checked: bool,
}

impl FrankWolfeCompleter {
    /// The name of the method in files.
    pub(super) const METHOD: &str = "frank-wolfe";

    pub(super) fn new(
        dimension: usize,
        parameters: &FrankWolfeParameters,
        steps: &[Released],
    ) -> Self {
        let number = |at: usize| steps.iter().map(move |one| one.sum.values()[at]).collect();
        Self {
            dimension,
            parameters: *parameters,
            directions: steps
                .iter()
                .map(|one| one.query.values().to_vec())
                .collect(),
            lengths: number(LENGTH),
            eigenvalues: number(EIGENVALUE),
            checked: parameters.mode == CompletionMode::Tight,
        }
    }

    /// Shrinks every step by cos² of the angle that noise with this edge turned its direction by.
    ///
    /// A step along v is proportional to 1/λ; a regression takes λ² for the variance along v. A λ of 0 leaves the direction out.
    pub(super) fn shrink(&mut self, edges: impl Iterator<Item = f64>) {
        let lengths = self.lengths.iter_mut().zip(&self.eigenvalues);
        for ((length, eigenvalue), edge) in lengths.zip(edges) {
            let left = overlap(freed(eigenvalue.max(edge), edge), edge);
            *length = match self.parameters.local {
                Local::FrankWolfe { .. } if left > 0.0 => *length / left,
                Local::FrankWolfe { .. } => 0.0,
                Local::Ridge => *length * left.sqrt(),
            };
        }
    }

    /// From parts that were checked.
    pub(super) fn of(parts: &CompleterParts) -> Result<Self, PartsError> {
        let count = parts.directions.columns();
        let iterations = parts.count("steps", MAX_ITERATIONS)?;
        if count > iterations as usize {
            return Err(PartsError::number(
                "steps",
                "less than there are directions",
            ));
        }
        let lengths = parts.of_each("length")?.to_vec();
        if lengths.iter().any(|length| *length < 0.0) {
            return Err(PartsError::number("length", "below 0"));
        }
        let step = match parts.count("standard step", 1)? {
            0 => StepRule::Constant,
            _ => StepRule::Standard,
        };
        let local = match parts.count("ridge", 1)? {
            0 => Local::FrankWolfe {
                nuclear: parts.positive("nuclear")?,
                step,
            },
            _ => Local::Ridge,
        };
        let mode = match parts.count("published", 1)? {
            0 => CompletionMode::Tight,
            _ => CompletionMode::Paper,
        };
        let slots = parts.count("slots", u32::MAX)? as usize;
        let rows = RatedRows {
            slots,
            radius: parts.positive("radius")?,
            most_ratings: parts.directions.rows(),
            user_centred: false,
        };
        let column = |j| -> Vec<f64> {
            let rows = 0..parts.directions.rows();
            rows.map(|i| parts.directions.row(i)[j]).collect()
        };
        Ok(Self {
            dimension: parts.directions.rows(),
            parameters: FrankWolfeParameters {
                rank: 1,
                iterations,
                rows,
                local,
                global: Global::Covariance,
                mode,
            },
            directions: (0..count).map(column).collect(),
            lengths,
            eigenvalues: parts.of_each("eigenvalue")?.to_vec(),
            checked: parts.flag(CHECKED)?,
        })
    }

    /// One prediction per item, not checked.
    pub(super) fn predict(&self, items: &[u32], values: &[f64]) -> Vec<f64> {
        let steps = self.directions.iter().zip(&self.lengths);
        let steps = steps.map(|(vector, &length)| Direction { vector, length });
        let steps: Vec<Direction<'_>> = steps.collect();
        let row = Row::fitted(items, values, &steps, (self.dimension, &self.parameters));
        let mut all = vec![0.0; self.dimension];
        for (factor, direction) in row.coefficients().iter().zip(&self.directions) {
            for (sum, x) in all.iter_mut().zip(direction) {
                *sum += factor * x;
            }
        }
        all
    }
}

impl Completer for FrankWolfeCompleter {
    fn complete(&self, items: &[u32], values: &[f64]) -> Vec<f64> {
        let predict = |items: &[u32], values: &[f64]| self.predict(items, values);
        match self.checked {
            true => checked((items, values), predict),
            false => predict(items, values),
        }
    }

    fn parts(&self) -> CompleterParts {
        let mut directions = Block::zeros(self.dimension, self.directions.len());
        for (j, direction) in self.directions.iter().enumerate() {
            for (i, x) in direction.iter().enumerate() {
                directions.values_mut()[i * self.directions.len() + j] = *x;
            }
        }
        let parameters = &self.parameters;
        let (ridge, nuclear, step) = match parameters.local {
            Local::FrankWolfe { nuclear, step } => (0.0, nuclear, step),
            Local::Ridge => (1.0, 0.0, StepRule::Constant),
        };
        let flag = |set: bool| f64::from(u8::from(set));
        let constants = [
            ("steps", f64::from(parameters.iterations)),
            ("radius", parameters.rows.radius),
            ("slots", parameters.rows.slots as f64),
            ("ridge", ridge),
            ("nuclear", nuclear),
            ("standard step", flag(step == StepRule::Standard)),
            ("published", flag(parameters.mode == CompletionMode::Paper)),
            (CHECKED, flag(self.checked)),
        ];
        let of_directions = [
            ("eigenvalue", self.eigenvalues.clone()),
            ("length", self.lengths.clone()),
        ];
        let named = |name: &str| name.to_owned();
        CompleterParts {
            method: Self::METHOD.to_owned(),
            directions,
            of_directions: BTreeMap::from(of_directions.map(|(name, x)| (named(name), x))),
            item_means: Vec::new(),
            constants: BTreeMap::from(constants.map(|(name, x)| (named(name), x))),
        }
    }
}
