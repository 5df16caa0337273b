//! The one definition of an averaging round at one peer, at any tile width.
//!
//! # Definition
//! Let v₁ < … < v_d be a peer's neighbours with weights w₁ … w_d, cut into maximal runs of consecutive
//! neighbours of equal weight. Per coordinate, in exactly this order:
//!
//! ```text
//! y = (mixed·w_uu + current)·x_u
//! y = y + previous·b                         if previous ≠ 0, b the value one round ago
//! y = y + (mixed·w_r)·(x_a + x_{a+1} + …)    for each run r = a, a+1, …, neighbours in ascending order
//! ```
//!
//! which is mixed·(W x)_u + current·x_u + previous·b up to rounding. On a regular graph all weights are
//! equal: one sum and one product. Where all weights differ every run has one neighbour and one product.
//!
//! # Equal bits
//! Coordinates never meet, so any tiling gives the same bits. The kernels are compiled for several
//! instruction sets and picked at run time; rustc never contracts a product and a sum into a fused
//! operation and IEEE 754 fixes each of them, so the instruction set and its vector width leave no trace.

use pulp::NullaryFnOnce;

use super::coefficients::Coefficients;

/// Consecutive neighbours of equal weight.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Run {
    /// Their common weight w_uv.
    pub weight: f64,
    /// How many they are, at least 1.
    pub length: u32,
}

/// The maximal runs of equal consecutive weights, in order.
pub fn runs(weights: impl IntoIterator<Item = f64>) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for weight in weights {
        match runs.last_mut() {
            Some(run) if run.weight.to_bits() == weight.to_bits() => run.length += 1,
            _ => runs.push(Run { weight, length: 1 }),
        }
    }
    runs
}

/// One round at one peer over `T` coordinates, as the module defines it.
///
/// `neighbours` are whatever names a neighbour, in ascending order, and `at` finds the values of one.
/// `before` is ignored while `previous` is 0. Inlined into its callers, so that it is compiled for the
/// instruction set they were dispatched to.
#[inline(always)]
pub(crate) fn mix_tile<'a, N, const T: usize>(
    coefficients: Coefficients,
    self_weight: f64,
    own: &[f64; T],
    (runs, neighbours): (&[Run], &[N]),
    at: impl Fn(&N) -> &'a [f64; T],
    before: &[f64; T],
) -> [f64; T] {
    let Coefficients {
        mixed,
        current,
        previous,
    } = coefficients;
    let factor = mixed * self_weight + current;
    let mut out = own.map(|x| factor * x);
    if previous != 0.0 {
        add_scaled(previous, before, &mut out);
    }
    let mut rest = neighbours;
    for run in runs {
        let (members, others) = rest.split_at(run.length as usize);
        rest = others;
        let Some((first, members)) = members.split_first() else {
            continue;
        };
        let mut sum = *at(first);
        for member in members {
            for (sum, x) in sum.iter_mut().zip(at(member)) {
                *sum += x;
            }
        }
        add_scaled(mixed * run.weight, &sum, &mut out);
    }
    out
}

#[inline(always)]
fn add_scaled<const T: usize>(factor: f64, x: &[f64; T], out: &mut [f64; T]) {
    for (out, x) in out.iter_mut().zip(x) {
        *out += factor * x;
    }
}

/// Coordinates per step of [`mix`].
const WIDTH: usize = 32;

/// One round at one peer: `out` = mixed · (w_uu·own + Σ_v w_uv·x_v) + current · own + previous · before,
/// in the order of operations the module defines.
///
/// `neighbours` come in ascending order with their weights. `before` is ignored while `previous` is 0 and
/// may then be empty. Peers combine exchanged values nowhere else, and the lockstep engine runs the same
/// `mix_tile`, so equal inputs give equal bits in every engine.
///
/// # Panics
/// If slices differ in length (`before` excepted).
pub fn mix(
    coefficients: Coefficients,
    self_weight: f64,
    own: &[f64],
    neighbours: &[(f64, &[f64])],
    before: &[f64],
    out: &mut [f64],
) {
    // A block that is never read stands in for the missing one.
    let before = if coefficients.previous == 0.0 {
        own
    } else {
        before
    };
    assert_eq!(before.len(), out.len(), "{SHAPE}");
    dispatch(
        coefficients,
        (self_weight, own),
        neighbours,
        Some(before),
        out,
    );
}

/// As [`mix`], with the same bits, where `block` holds the values before and then the result: no memory is taken.
///
/// # Panics
/// If slices differ in length.
pub(super) fn mix_over(
    coefficients: Coefficients,
    self_weight: f64,
    own: &[f64],
    neighbours: &[(f64, &[f64])],
    block: &mut [f64],
) {
    dispatch(coefficients, (self_weight, own), neighbours, None, block);
}

const SHAPE: &str = "blocks of one shape";

/// Without `before` that is what lies in `out`.
fn dispatch(
    coefficients: Coefficients,
    (self_weight, own): (f64, &[f64]),
    neighbours: &[(f64, &[f64])],
    before: Option<&[f64]>,
    out: &mut [f64],
) {
    assert_eq!(own.len(), out.len(), "{SHAPE}");
    assert!(
        neighbours.iter().all(|(_, x)| x.len() == out.len()),
        "{SHAPE}"
    );
    pulp::Arch::new().dispatch(Mix {
        coefficients,
        self_weight,
        own,
        runs: &runs(neighbours.iter().map(|(weight, _)| *weight)),
        neighbours,
        before,
        out,
    });
}

struct Mix<'a> {
    coefficients: Coefficients,
    self_weight: f64,
    own: &'a [f64],
    runs: &'a [Run],
    neighbours: &'a [(f64, &'a [f64])],
    before: Option<&'a [f64]>,
    out: &'a mut [f64],
}

impl<'a> NullaryFnOnce for Mix<'a> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Mix {
            coefficients,
            self_weight,
            runs,
            neighbours,
            ..
        } = self;
        let (tiles, rest) = self.out.as_chunks_mut::<WIDTH>();
        let tail = tiles.len() * WIDTH;
        for (k, out) in tiles.iter_mut().enumerate() {
            let at = |x: &'a [f64]| tile::<WIDTH>(x, k * WIDTH);
            let lying = *out;
            *out = mix_tile(
                coefficients,
                self_weight,
                at(self.own),
                (runs, neighbours),
                |(_, x)| at(x),
                self.before.map_or(&lying, at),
            );
        }
        for (k, out) in rest.iter_mut().enumerate() {
            let at = |x: &'a [f64]| tile::<1>(x, tail + k);
            let lying = [*out];
            [*out] = mix_tile(
                coefficients,
                self_weight,
                at(self.own),
                (runs, neighbours),
                |(_, x)| at(x),
                self.before.map_or(&lying, at),
            );
        }
    }
}

#[inline(always)]
fn tile<const T: usize>(x: &[f64], start: usize) -> &[f64; T] {
    x[start..].first_chunk().expect("lengths were compared")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The definition, one coordinate at a time.
    fn by_definition(
        c: Coefficients,
        self_weight: f64,
        own: f64,
        neighbours: &[(f64, f64)],
        before: f64,
    ) -> f64 {
        let mut y = (c.mixed * self_weight + c.current) * own;
        if c.previous != 0.0 {
            y += c.previous * before;
        }
        let mut i = 0;
        while i < neighbours.len() {
            let (weight, mut sum) = neighbours[i];
            i += 1;
            while i < neighbours.len() && neighbours[i].0 == weight {
                sum += neighbours[i].1;
                i += 1;
            }
            y += (c.mixed * weight) * sum;
        }
        y
    }

    #[test]
    fn every_length_and_every_pattern_of_weights_gives_the_bits_of_the_definition() {
        let patterns: [&[f64]; 5] = [
            &[],
            &[0.25],
            &[0.1; 10],
            &[0.1, 0.2, 0.2, 0.1, 0.3],
            &[0.05, 0.07, 0.11, 0.13],
        ];
        let steps = [(1.0, 0.0, 0.0), (1.3, -0.1, 0.0), (1.7, -0.2, -0.5)];
        let value = |i: usize, j: usize| ((i * 131 + j * 17 + 3) as f64).sin();
        for length in [0, 1, 7, 31, 32, 33, 100] {
            let block = |i: usize| (0..length).map(|j| value(i, j)).collect::<Vec<f64>>();
            let (own, before) = (block(100), block(101));
            for weights in patterns {
                let blocks: Vec<Vec<f64>> = (0..weights.len()).map(block).collect();
                let neighbours: Vec<(f64, &[f64])> = weights
                    .iter()
                    .zip(&blocks)
                    .map(|(&w, x)| (w, x.as_slice()))
                    .collect();
                for (mixed, current, previous) in steps {
                    let c = Coefficients {
                        mixed,
                        current,
                        previous,
                    };
                    let before: &[f64] = if previous == 0.0 { &[] } else { &before };
                    let mut out = vec![f64::NAN; length];
                    mix(c, 0.3, &own, &neighbours, before, &mut out);
                    // What is never read may be NaN, too.
                    let mut over = before.to_vec();
                    over.resize(length, f64::NAN);
                    mix_over(c, 0.3, &own, &neighbours, &mut over);
                    let bits =
                        |block: &[f64]| block.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
                    assert_eq!(bits(&over), bits(&out), "{length} {weights:?}");
                    for (j, &found) in out.iter().enumerate() {
                        let around: Vec<(f64, f64)> =
                            neighbours.iter().map(|(w, x)| (*w, x[j])).collect();
                        let b = before.get(j).copied().unwrap_or(0.0);
                        let expected = by_definition(c, 0.3, own[j], &around, b);
                        assert_eq!(found.to_bits(), expected.to_bits(), "{length} {weights:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn runs_are_maximal_and_keep_the_order() {
        let run = |weight, length| Run { weight, length };
        assert_eq!(runs([]), []);
        assert_eq!(
            runs([0.5, 0.5, 0.25, 0.5]),
            [run(0.5, 2), run(0.25, 1), run(0.5, 1)]
        );
    }
}
