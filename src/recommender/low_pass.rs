//! The low-pass filter of P1 on a whole rating matrix, and the relative error of one basis against another.

use std::borrow::Cow;

use nalgebra::DMatrix;

use crate::data::Interactions;
use crate::linalg::{Block, ItemWeights, add_product, product};

/// Most items for which the n × n Gram matrix is held: 32 MiB.
const DENSE_UP_TO: usize = 2048;
/// Users whose projections are multiplied at once.
const TILE: usize = 256;

/// The low-pass filter R ↦ R W U Uᵀ W⁻¹ applied to a rating matrix, in factored form.
///
/// W is a diagonal of [`ItemWeights`]: I^{-1/2} for the item degrees I, where an item of degree 0 gets 0 in both I^{1/2} and I^{-1/2}, or the P of
/// a run on P A P.
#[derive(Debug)]
pub struct LowPassFilter<'a> {
    interactions: Cow<'a, Interactions>,
    weights: ItemWeights,
    /// W RᵀR W, in the dense form.
    gram: Option<DMatrix<f64>>,
}

/// How BᵀB of [`LowPassFilter::relative_error`] is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FilterForm {
    /// From the rows, each time: O(interactions · p + users · p²).
    Rows,
    /// From the n × n Gram matrix, formed once in O(Σ_u d_u²): then O(n² p).
    Gram,
}

impl<'a> LowPassFilter<'a> {
    /// The filter of these interactions by the roots of their item degrees, in the form that is cheaper to apply often: dense up to 2,048
    /// items if the Gram matrix has fewer entries than the rows have work for a basis of 8 columns.
    #[must_use]
    pub fn new(interactions: &'a Interactions) -> Self {
        Self::weighted(interactions, Self::own_weights(interactions))
    }

    /// I^{-1/2} of these interactions.
    fn own_weights(interactions: &Interactions) -> ItemWeights {
        ItemWeights::inverse_roots(&interactions.item_degrees())
    }

    /// The filter by these weights, in the form that is cheaper to apply often.
    ///
    /// # Panics
    /// If there is not a weight per item.
    #[must_use]
    pub fn weighted(interactions: &'a Interactions, weights: ItemWeights) -> Self {
        let n = interactions.items();
        let dense = n <= DENSE_UP_TO && n * n <= interactions.len() + 16 * interactions.users();
        let form = if dense {
            FilterForm::Gram
        } else {
            FilterForm::Rows
        };
        Self::with_form(interactions, weights, form)
    }

    /// The filter in this form. Both give the same figures up to rounding.
    ///
    /// # Panics
    /// If there is not a weight per item.
    #[must_use]
    pub fn with_form(
        interactions: &'a Interactions,
        weights: ItemWeights,
        form: FilterForm,
    ) -> Self {
        assert_eq!(weights.len(), interactions.items(), "a weight per item");
        let gram = (form == FilterForm::Gram).then(|| gram(interactions, weights.weights()));
        Self {
            interactions: Cow::Borrowed(interactions),
            weights,
            gram,
        }
    }

    /// The filter of a matrix known by RᵀR, up to a factor, and its positive item degrees alone.
    ///
    /// # Panics
    /// If there is not one degree per row of `products`.
    #[must_use]
    pub fn of_gram(products: &DMatrix<f64>, degrees: &[f64]) -> LowPassFilter<'static> {
        let n = degrees.len();
        assert_eq!(products.shape(), (n, n), "a degree per item");
        let roots = degrees.iter().map(|degree| degree.sqrt()).collect();
        let weights = ItemWeights::of_reciprocals(roots);
        let w = weights.weights();
        let gram = DMatrix::from_fn(n, n, |i, j| products[(i, j)] * w[i] * w[j]);
        let nobody = Interactions::from_rows(n, &[]).expect("no rows are in order");
        LowPassFilter {
            interactions: Cow::Owned(nobody),
            weights,
            gram: Some(gram),
        }
    }

    /// The filter with a copy of the interactions of its own.
    #[must_use]
    pub fn into_owned(self) -> LowPassFilter<'static> {
        let interactions = self.interactions.into_owned();
        LowPassFilter {
            interactions: Cow::Owned(interactions),
            weights: self.weights,
            gram: self.gram,
        }
    }

    /// The form in use.
    #[must_use]
    pub fn form(&self) -> FilterForm {
        match self.gram {
            Some(_) => FilterForm::Gram,
            None => FilterForm::Rows,
        }
    }

    /// ‖R̃_p − R_p‖_F / ‖R_p‖_F, where R̃_p is filtered with span(X) and R_p with span(U).
    ///
    /// # Claim
    /// With Z = [X U], S = diag(1…1, −1…−1), B = R W Z and E = W⁻¹ Z the difference is
    /// R W Z S Zᵀ W⁻¹ = B S Eᵀ, so its squared norm is tr(S BᵀB S EᵀE): two small matrices,
    /// never one of users × items.
    ///
    /// BᵀB = Zᵀ G Z with G = W RᵀR W, which depends on no basis: where n is small it is
    /// formed once ([`FilterForm::Gram`]).
    ///
    /// Differences below about 1e-8 are rounding, since the squared norms cancel.
    ///
    /// # Source
    /// P1 section 6 for the measure; the trace formula is derived in [`crate::guide::results`].
    ///
    /// # Panics
    /// If a block does not have a row per item.
    #[must_use]
    pub fn relative_error(&self, x: &Block, u: &Block) -> f64 {
        if x == u {
            return 0.0;
        }
        let (p, q) = (x.columns(), u.columns());
        let projected = match &self.gram {
            Some(gram) => {
                let z = side_by_side(x, u);
                z.tr_mul(&product(gram, &z))
            }
            None => self.projected(x, u),
        };
        let expanded = self.expanded(x, u);
        let sign = |i: usize| if i < p { 1.0 } else { -1.0 };
        let mut difference = 0.0;
        let mut reference = 0.0;
        for i in 0..p + q {
            for j in 0..p + q {
                let term = projected[(i, j)] * expanded[(j, i)];
                difference += sign(i) * sign(j) * term;
                if i >= p && j >= p {
                    reference += term;
                }
            }
        }
        (difference.max(0.0) / reference).sqrt()
    }

    /// BᵀB, a tile of users at a time.
    fn projected(&self, x: &Block, u: &Block) -> DMatrix<f64> {
        outer_sum(
            x.columns() + u.columns(),
            self.interactions.users(),
            |user, sums| {
                for &item in self.interactions.row(user) {
                    let item = item as usize;
                    let weight = self.weights.weights()[item];
                    let entries = x.row(item).iter().chain(u.row(item));
                    for (sum, entry) in sums.iter_mut().zip(entries) {
                        *sum += weight * entry;
                    }
                }
            },
        )
    }

    /// EᵀE.
    fn expanded(&self, x: &Block, u: &Block) -> DMatrix<f64> {
        outer_sum(
            x.columns() + u.columns(),
            self.weights.len(),
            |item, values| {
                let entries = x.row(item).iter().chain(u.row(item));
                for (value, entry) in values.iter_mut().zip(entries) {
                    *value = self.weights.reciprocals()[item] * entry;
                }
            },
        )
    }
}

/// Σ_i v_i v_iᵀ over `count` vectors of this width, which `fill` writes into zeros.
fn outer_sum(width: usize, count: usize, fill: impl Fn(usize, &mut [f64])) -> DMatrix<f64> {
    let mut sum = DMatrix::zeros(width, width);
    let mut start = 0;
    while start < count {
        let mut tile = DMatrix::zeros(width, TILE.min(count - start));
        for (offset, mut vector) in tile.column_iter_mut().enumerate() {
            fill(start + offset, vector.as_mut_slice());
        }
        add_product(&mut sum, 1.0, &tile, &tile.transpose());
        start += tile.ncols();
    }
    sum
}

fn side_by_side(x: &Block, u: &Block) -> DMatrix<f64> {
    let p = x.columns();
    DMatrix::from_fn(x.rows(), p + u.columns(), |i, j| {
        if j < p { x.row(i)[j] } else { u.row(i)[j - p] }
    })
}

/// W RᵀR W: how often two items are liked together, times their weights.
fn gram(interactions: &Interactions, weights: &[f64]) -> DMatrix<f64> {
    let n = interactions.items();
    let mut gram = DMatrix::<f64>::zeros(n, n);
    for user in 0..interactions.users() {
        let row = interactions.row(user);
        for &j in row {
            let mut column = gram.column_mut(j as usize);
            for &i in row {
                column[i as usize] += 1.0;
            }
        }
    }
    for j in 0..n {
        for i in 0..n {
            gram[(i, j)] *= weights[i] * weights[j];
        }
    }
    gram
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::start_block;
    use crate::vocabulary::Seed;

    /// 60 users, 25 items, the last without interactions.
    pub(super) fn interactions() -> Interactions {
        let rows: Vec<Vec<u32>> = (0..60_u32)
            .map(|u| {
                (0..24)
                    .filter(|i| (u * 5 + i * i + u * i) % 7 < 2)
                    .collect()
            })
            .collect();
        Interactions::from_rows(25, &rows).expect("ascending")
    }

    fn block(seed: u64, p: usize) -> Block {
        start_block(&Seed::from_u64(seed), 25, p).expect("25 rows")
    }

    fn in_form(data: &Interactions, form: FilterForm) -> LowPassFilter<'_> {
        LowPassFilter::with_form(data, LowPassFilter::own_weights(data), form)
    }

    /// The definition, with users × items matrices.
    fn by_definition(data: &Interactions, x: &Block, u: &Block) -> f64 {
        let degrees = data.item_degrees();
        let mut r = DMatrix::<f64>::zeros(data.users(), data.items());
        for user in 0..data.users() {
            for &item in data.row(user) {
                r[(user, item as usize)] = 1.0;
            }
        }
        let root = DMatrix::from_fn(25, 25, |i, j| {
            if i == j {
                f64::from(degrees[i]).sqrt()
            } else {
                0.0
            }
        });
        let inverse = root.map(|v| if v > 0.0 { 1.0 / v } else { 0.0 });
        let filtered = |z: &Block| {
            let z = z.to_matrix();
            &r * &inverse * &z * z.transpose() * &root
        };
        let reference = filtered(u);
        (filtered(x) - &reference).norm() / reference.norm()
    }

    #[test]
    fn both_forms_agree_with_the_definition_and_each_other() {
        let data = interactions();
        assert_eq!(data.item_degrees()[24], 0, "an item nobody rated");
        for (p, q) in [(3, 3), (1, 4), (8, 2)] {
            let (x, u) = (block(1, p), block(2, q));
            let expected = by_definition(&data, &x, &u);
            let rows = in_form(&data, FilterForm::Rows).relative_error(&x, &u);
            let gram = in_form(&data, FilterForm::Gram).relative_error(&x, &u);
            assert!((rows - expected).abs() < 1e-12, "{rows} {expected}");
            assert!((rows - gram).abs() < 1e-10, "{rows} {gram}");
        }
        assert_eq!(LowPassFilter::new(&data).form(), FilterForm::Gram);
    }

    /// With weights of one's own both forms are R W U Uᵀ W⁻¹, and weights that only differ in scale give the same.
    #[test]
    fn other_weights_agree_with_the_definition() {
        let data = interactions();
        let numbers = |scale: f64| (0..25).map(|i| scale / f64::from(i + 1)).collect();
        let weights = ItemWeights::new(numbers(1.0)).expect("positive");
        let (x, u) = (block(5, 3), block(6, 3));
        let mut r = DMatrix::<f64>::zeros(data.users(), 25);
        for user in 0..data.users() {
            for &item in data.row(user) {
                r[(user, item as usize)] = 1.0;
            }
        }
        let diagonal =
            |values: &[f64]| DMatrix::from_diagonal(&nalgebra::DVector::from_row_slice(values));
        let (w, inverse) = (diagonal(weights.weights()), diagonal(weights.reciprocals()));
        let filtered = |z: &Block| {
            let z = z.to_matrix();
            &r * &w * &z * z.transpose() * &inverse
        };
        let expected = (filtered(&x) - filtered(&u)).norm() / filtered(&u).norm();
        for scale in [1.0, 7.0] {
            for form in [FilterForm::Rows, FilterForm::Gram] {
                let weights = ItemWeights::new(numbers(scale)).expect("positive");
                let filter = LowPassFilter::with_form(&data, weights, form);
                let found = filter.relative_error(&x, &u);
                assert!((found - expected).abs() < 1e-10, "{found} {expected}");
            }
        }
        let usual = LowPassFilter::new(&data).relative_error(&x, &u);
        assert!((usual - expected).abs() > 1e-3, "weights matter");
    }

    #[test]
    fn many_users_fill_more_than_one_tile() {
        let rows: Vec<Vec<u32>> = (0..(2 * TILE as u32 + 3))
            .map(|u| {
                (0..25)
                    .filter(|i| (u * 11 + i * i * 3 + u * i) % 5 < 2)
                    .collect()
            })
            .collect();
        let data = Interactions::from_rows(25, &rows).expect("ascending");
        let (x, u) = (block(3, 4), block(4, 4));
        let rows = in_form(&data, FilterForm::Rows).relative_error(&x, &u);
        let gram = in_form(&data, FilterForm::Gram).relative_error(&x, &u);
        assert!((rows - gram).abs() < 1e-10, "{rows} {gram}");
        assert!((rows - by_definition(&data, &x, &u)).abs() < 1e-12);
    }
}
