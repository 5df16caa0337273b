//! What a listed schedule computes, derived from its steps: whether all peers end with the same bits, and whether that is
//! the sum of all inputs.
//!
//! # Formulas
//! A listed schedule is run once on *formulas* in place of numbers. A formula is an input, or a fold of earlier formulas
//! with factors, in the order in which [`fold`](fn@super::fold) adds them. Equal formulas get one number, so that they are compared in
//! one step. Two rules say that formulas written differently are equal:
//!
//! 1. one term of factor 1 is the term itself;
//! 2. the first two terms of a fold may change places.
//!
//! # Claim
//! Values with the same formula are the same numbers at every peer, bit for bit, in every coordinate and for all inputs; of NaN it
//! is only said that both are NaN.
//!
//! # Proof
//! By induction over the formulas, each fold performs the same operations on the same numbers in the same order, so that only the rules need
//! a proof. Rule 1: 1 · m = m exactly in IEEE 754, −0 and infinities included. Rule 2: a fold of t₁, t₂, t₃, … is
//! ((w₁t₁ ⊕ w₂t₂) ⊕ w₃t₃) ⊕ …, each product rounded before it is added (rustc fuses none). The rounded sum of two numbers is the
//! rounding of their exact sum, which does not depend on their order; where the exact sum is 0, both orders give −0 if both numbers
//! are −0 and +0 otherwise; opposite infinities give NaN and a NaN gives NaN in both orders. Later terms may not change
//! places: ⊕ is not associative. Where peers round what they hold, inputs and every fold are rounded: a function of the formula, which
//! leaves the values of rule 1 as they are, for they were rounded before. ∎
//!
//! The converse is not claimed: different formulas may happen to agree.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::neighbourhood::Neighbourhood;
use super::step::PeerStep;

/// The number of a formula. Inputs are numbered like their peers, all others follow.
type Number = u32;

/// A term of a fold: the bits of its factor, and what is multiplied.
pub(super) type Term = (u64, Number);

/// Runs a listed schedule on values of any kind: what every peer ends with.
///
/// `combine` gets the terms of a fold in order, an absent own value left out.
fn run<V: Copy>(
    network: &dyn Neighbourhood,
    steps: &[Vec<PeerStep>],
    mut values: Vec<V>,
    mut combine: impl FnMut(&[(f64, V)]) -> V,
) -> Vec<V> {
    let mut folds: Vec<(u32, usize, &PeerStep)> = Vec::new();
    for (peer, steps) in steps.iter().enumerate() {
        let changing = |step: &&PeerStep| !step.expect.is_empty() || step.own != 1.0;
        let changing = steps.iter().filter(changing);
        folds.extend(changing.map(|step| (step.round, peer, step)));
    }
    folds.sort_unstable_by_key(|(round, peer, _)| (*round, *peer));
    let (mut terms, mut next) = (Vec::new(), Vec::new());
    for round in folds.chunk_by(|a, b| a.0 == b.0) {
        next.clear();
        for &(_, peer, step) in round {
            terms.clear();
            let neighbours = network.neighbours(peer);
            terms.extend(step.expect.iter().map(|expected| {
                let sender = neighbours[expected.position as usize] as usize;
                (expected.weight, values[sender])
            }));
            if step.own != 0.0 {
                terms.insert(step.own_at as usize, (step.own, values[peer]));
            }
            next.push(combine(&terms));
        }
        // All send what they had before the round.
        for (&(_, peer, _), &value) in round.iter().zip(&next) {
            values[peer] = value;
        }
    }
    values
}

/// The formulas of a schedule, each once.
#[derive(Debug)]
pub(super) struct Formulas {
    inputs: usize,
    /// The folds, each after those that it adds. That of index i has the number `inputs` + i.
    folds: Vec<Rc<[Term]>>,
}

impl Formulas {
    /// The formulas of these steps, and that which each peer ends with.
    pub(super) fn of(network: &dyn Neighbourhood, steps: &[Vec<PeerStep>]) -> (Self, Vec<Number>) {
        let inputs = steps.len();
        let mut folds: Vec<Rc<[Term]>> = Vec::new();
        let mut known: BTreeMap<Rc<[Term]>, Number> = BTreeMap::new();
        let ends = run(
            network,
            steps,
            (0..inputs as u32).collect(),
            |terms: &[(f64, Number)]| {
                if let [(1.0, same)] = terms {
                    return *same;
                }
                let mut terms: Vec<Term> = terms.iter().map(|(w, x)| (w.to_bits(), *x)).collect();
                if let [first, second, ..] = terms.as_mut_slice()
                    && second < first
                {
                    std::mem::swap(first, second);
                }
                if let Some(&number) = known.get(terms.as_slice()) {
                    return number;
                }
                let (number, terms) = ((inputs + folds.len()) as u32, Rc::from(terms));
                known.insert(Rc::clone(&terms), number);
                folds.push(terms);
                number
            },
        );
        (Self { inputs, folds }, ends)
    }

    /// The terms of a fold; nothing for an input.
    pub(super) fn terms(&self, number: Number) -> Option<&[Term]> {
        let index = (number as usize).checked_sub(self.inputs)?;
        Some(&self.folds[index])
    }

    /// Inputs and folds.
    pub(super) fn len(&self) -> usize {
        self.inputs + self.folds.len()
    }
}

/// The one formula that all peers end with, among all formulas, if it is one.
///
/// # Cost
/// O(m log m) for m messages, and as much memory as the steps.
pub(super) fn common(
    network: &dyn Neighbourhood,
    steps: &[Vec<PeerStep>],
) -> Option<(Formulas, Number)> {
    let (formulas, ends) = Formulas::of(network, steps);
    let (&first, others) = ends.split_first()?;
    others
        .iter()
        .all(|end| *end == first)
        .then_some((formulas, first))
}
