//! One user's row under public directions: a pure function of own ratings and of history, replayed and never stored.

use nalgebra::{Cholesky, DMatrix, DVector};

use super::super::CompletionMode;
use super::{FrankWolfeParameters, LENGTH, Local};
use crate::algorithm::Released;

/// What everybody knows of a step: v of norm 1, and λ.
#[derive(Clone, Copy, Debug)]
pub(super) struct Direction<'a> {
    pub(super) vector: &'a [f64],
    pub(super) length: f64,
}

impl<'a> Direction<'a> {
    pub(super) fn of(step: &'a Released) -> Self {
        Self {
            vector: step.query.values(),
            length: step.sum.values()[LENGTH],
        }
    }
}

/// A user's y = Σ_t c_t v_t, with its numbers where there are ratings.
#[derive(Clone, PartialEq)]
pub(super) struct Row<'a> {
    items: &'a [u32],
    /// y* on Ω.
    ratings: Vec<f64>,
    /// y on Ω.
    fitted: Vec<f64>,
    /// c.
    coefficients: Vec<f64>,
}

/// What scales a vector down to this norm; 1 if it is no longer.
fn within(values: &[f64], radius: f64) -> f64 {
    let norm = values.iter().map(|x| x * x).sum::<f64>().sqrt();
    if norm > radius { radius / norm } else { 1.0 }
}

impl<'a> Row<'a> {
    /// y = 0, before the first step. As published rows are no longer than L.
    pub(super) fn new(items: &'a [u32], values: &[f64], parameters: &FrankWolfeParameters) -> Self {
        let factor = match parameters.mode {
            CompletionMode::Tight => 1.0,
            CompletionMode::Paper => within(values, parameters.rows.radius),
        };
        Self {
            items,
            ratings: values.iter().map(|x| x * factor).collect(),
            fitted: vec![0.0; items.len()],
            coefficients: Vec::new(),
        }
    }

    /// y after these steps.
    pub(super) fn fitted(
        items: &'a [u32],
        values: &[f64],
        directions: &[Direction<'_>],
        (dimension, parameters): (usize, &FrankWolfeParameters),
    ) -> Self {
        let mut row = Self::new(items, values, parameters);
        row.fit(directions, parameters, dimension);
        row
    }

    /// y after all of these steps.
    fn fit(
        &mut self,
        directions: &[Direction<'_>],
        parameters: &FrankWolfeParameters,
        dimension: usize,
    ) {
        match parameters.local {
            Local::FrankWolfe { .. } => {
                for direction in directions {
                    self.follow(*direction, parameters);
                }
            }
            Local::Ridge => {
                let rows = &parameters.rows;
                let noise = rows.radius.powi(2) * rows.slots as f64 / dimension as f64;
                self.regress(directions, |length| noise / (length * length));
            }
        }
    }

    /// One more step: y ← (1 − η)y − ηk(⟨a, v⟩/λ)·v.
    pub(super) fn follow(&mut self, direction: Direction<'_>, parameters: &FrankWolfeParameters) {
        let Local::FrankWolfe { nuclear, step } = parameters.local else {
            return;
        };
        let Direction { vector, length } = direction;
        let eta = step.size(self.coefficients.len(), parameters.iterations);
        let at = |item: &u32| vector[*item as usize];
        let along: f64 = (self.fitted.iter().zip(&self.ratings))
            .zip(self.items)
            .map(|((y, rating), item)| (y - rating) * at(item))
            .sum();
        // Without a length there is nothing to go towards.
        let push = match length > 0.0 {
            true => -eta * nuclear * along / length,
            false => 0.0,
        };
        let keep = 1.0 - eta;
        for (y, item) in self.fitted.iter_mut().zip(self.items) {
            *y = keep * *y + push * at(item);
        }
        self.coefficients.iter_mut().for_each(|c| *c *= keep);
        self.coefficients.push(push);
        if parameters.mode == CompletionMode::Paper {
            let factor = within(&self.fitted, parameters.rows.radius);
            self.fitted.iter_mut().for_each(|y| *y *= factor);
            self.coefficients.iter_mut().for_each(|c| *c *= factor);
        }
    }

    /// y = Vc with c = (V_ΩᵀV_Ω + diag ρ)⁻¹V_Ωᵀy*, where ρ = `penalty`(λ). A direction without a finite penalty has c = 0.
    fn regress(&mut self, directions: &[Direction<'_>], penalty: impl Fn(f64) -> f64) {
        let penalties: Vec<f64> = directions.iter().map(|one| penalty(one.length)).collect();
        let used = (0..directions.len()).filter(|&j| penalties[j].is_finite());
        let used: Vec<usize> = used.collect();
        self.coefficients = vec![0.0; directions.len()];
        if used.is_empty() {
            return;
        }
        let design = DMatrix::from_fn(self.items.len(), used.len(), |e, j| {
            directions[used[j]].vector[self.items[e] as usize]
        });
        let ratings = DVector::from_column_slice(&self.ratings);
        let mut normal = design.tr_mul(&design);
        for (j, &direction) in used.iter().enumerate() {
            normal[(j, j)] += penalties[direction];
        }
        let right = design.tr_mul(&ratings);
        if let Some(factor) = Cholesky::new(normal) {
            let found = factor.solve(&right);
            for (c, &direction) in found.iter().zip(&used) {
                self.coefficients[direction] = *c;
            }
            self.fitted = (design * found).as_slice().to_vec();
        }
    }

    /// y − y* on Ω.
    pub(super) fn residual(&self) -> impl Iterator<Item = f64> + '_ {
        self.fitted
            .iter()
            .zip(&self.ratings)
            .map(|(y, rating)| y - rating)
    }

    /// c.
    pub(super) fn coefficients(&self) -> &[f64] {
        &self.coefficients
    }
}
