//! How values follow from values in an averaging schedule, at any peer, and how far rounding puts their readings off.

use std::sync::Arc;

use super::reading::{Probe, Reading};
use crate::protocol::averaging::{Coefficients, Form, Neighbourhood, Part, PeerSchedule, Schedule};
use crate::protocol::values::Values;
use crate::vocabulary::PeerIndex;

/// 2⁻⁵³.
const UNIT: f64 = f64::EPSILON / 2.0;

/// 2⁻²⁴.
const UNIT_F32: f64 = f32::EPSILON as f64 / 2.0;

/// Half the smallest f32 above 0, which bounds its rounding near 0: 2⁻¹⁵⁰.
const TINY_F32: f64 = 7.006_492_321_624_085e-46;

/// A kind of averaging whose arithmetic is not tested.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unprobed {
    /// Integers.
    #[error("sums of integers mod 2^k are not tested: use noise.kind = \"pairwise\"")]
    Integers,
    /// Mass that is passed on.
    #[error(
        "averaging that passes mass is not tested: choose averaging.scheme = \"linear\", \"chebyshev\", \"tree\" or \"doubling\""
    )]
    Passing,
}

/// What a peer sent in a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// Who.
    pub peer: PeerIndex,
    /// When.
    pub round: u32,
}

/// One term of the sum that a step forms.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Input {
    /// What a neighbour sent; nothing for a value of its own.
    pub(super) from: Option<Place>,
    /// The position of the own value among all it held, where it is one.
    pub(super) at: usize,
    /// What it is multiplied by.
    pub(super) weight: f64,
}

/// The averaging schedule of one sum with the graph it was compiled for: public, so that anybody can follow anybody's arithmetic.
#[derive(Clone, Debug)]
pub struct Rules {
    peers: Vec<PeerSchedule>,
    neighbours: Vec<Vec<u32>>,
    values: Values,
}

impl Rules {
    /// Of sum number `sum` of a session, counted from 0, over this network.
    ///
    /// # Errors
    /// [`Unprobed`] for sums whose arithmetic is not tested.
    pub fn of(
        schedule: &Schedule,
        network: &dyn Neighbourhood,
        values: Values,
        sum: u64,
    ) -> Result<Self, Unprobed> {
        if values.is_residues() {
            return Err(Unprobed::Integers);
        }
        let turn = schedule.turn(sum);
        if matches!(turn.form(), Form::Passing(_)) {
            return Err(Unprobed::Passing);
        }
        let all = 0..network.peers();
        let neighbours = |peer| network.neighbours(peer).to_vec();
        Ok(Self {
            peers: all.clone().map(|peer| turn.peer(network, peer)).collect(),
            neighbours: all.map(neighbours).collect(),
            values,
        })
    }

    /// How many peers.
    #[must_use]
    pub fn peers(&self) -> usize {
        self.peers.len()
    }

    /// How many steps a peer has.
    #[must_use]
    pub fn steps(&self, peer: PeerIndex) -> usize {
        self.peers[peer.index()].steps()
    }

    /// The position of the step at which a peer sends in a round, if it sends then.
    #[must_use]
    pub fn step_of(&self, place: Place) -> Option<usize> {
        let part = self.peers.get(place.peer.index())?.part();
        match part {
            Part::Recurrence { coefficients, .. } => {
                ((place.round as usize) < coefficients.len()).then_some(place.round as usize)
            }
            Part::Listed { steps, .. } => {
                let at = steps.binary_search_by_key(&place.round, |step| step.round);
                at.ok().filter(|at| !steps[*at].send_to.is_empty())
            }
            Part::Passing(_) => None,
        }
    }

    /// Where a peer sends, in order.
    #[must_use]
    pub fn places(&self, peer: PeerIndex) -> Vec<Place> {
        let rounds = 0..self.peers[peer.index()].rounds();
        let places = rounds.map(|round| Place { peer, round });
        places
            .filter(|place| self.step_of(*place).is_some())
            .collect()
    }

    /// What a peer hears of its neighbours, step by step.
    #[must_use]
    pub fn heard(&self, peer: PeerIndex) -> Vec<Place> {
        let inputs = (0..self.steps(peer)).flat_map(|step| self.inputs(peer, step));
        inputs.filter_map(|input| input.from).collect()
    }

    /// Whether a peer waits for what was sent at this place.
    pub(super) fn hears(&self, peer: PeerIndex, place: Place) -> bool {
        peer.index() < self.peers() && self.heard(peer).contains(&place)
    }

    /// What a step adds up.
    pub(super) fn inputs(&self, peer: PeerIndex, step: usize) -> Vec<Input> {
        let neighbours = &self.neighbours[peer.index()];
        let own = |at, weight| Input {
            from: None,
            at,
            weight,
        };
        let heard = |position: usize, round, weight| {
            let peer = PeerIndex(neighbours[position]);
            let from = Some(Place { peer, round });
            let at = 0;
            Input { from, at, weight }
        };
        match self.peers[peer.index()].part() {
            Part::Recurrence {
                coefficients,
                self_weight,
                weights,
            } => {
                let Coefficients {
                    mixed,
                    current,
                    previous,
                } = coefficients[step];
                let mut inputs = vec![own(step, mixed * self_weight + current)];
                if previous != 0.0 {
                    inputs.push(own(step.saturating_sub(1), previous));
                }
                let others = weights.iter().enumerate();
                inputs.extend(others.map(|(v, weight)| heard(v, step as u32, mixed * weight)));
                inputs
            }
            Part::Listed { steps, .. } => {
                let listed = &steps[step];
                let mine = (listed.own != 0.0).then(|| own(step, listed.own));
                let others = listed.expect.iter();
                let others = others.map(|e| heard(e.position as usize, listed.round, e.weight));
                mine.into_iter().chain(others).collect()
            }
            Part::Passing(_) => Vec::new(),
        }
    }

    /// The value after a step, from all that the peer held before and what it heard, with the bits that the peer itself gets.
    pub(super) fn next<'a>(
        &self,
        peer: PeerIndex,
        step: usize,
        held: &[Arc<Vec<f64>>],
        heard: impl Fn(Place) -> Option<&'a Arc<Vec<f64>>>,
    ) -> Option<Arc<Vec<f64>>> {
        let inputs = self.inputs(peer, step);
        let places = inputs.iter().filter_map(|input| input.from);
        let blocks: Option<Vec<_>> = places.map(heard).collect();
        let current = held.get(step)?;
        let previous = Arc::clone(held.get(step.saturating_sub(1))?);
        let schedule = &self.peers[peer.index()];
        Some(schedule.combined(step, (current, previous), blocks?.into_iter(), self.values))
    }

    /// A bound on how far rounding puts the reading of a value off what follows from the readings of its terms.
    ///
    /// # Statement
    /// Let z be the value that a peer computes from blocks x_j with weights w_j, d terms of n values each, and let m_j = Σᵢ |x_{j,i}| as computed. Then
    /// for both vectors |fl⟨ρ, z⟩ − fl Σ_j w_j fl⟨ρ, x_j⟩| is at most this.
    ///
    /// # Proof
    /// Write γ_k = k u/(1 − k u) with u = 2⁻⁵³ (Higham, *Accuracy and Stability of Numerical Algorithms*, 2002, lemma 3.1). A coordinate of z is a
    /// sum of products in some order whose weights are rounded at most three times: it is off by at most γ_{d+5} Σ_j |w_j| |x_{j,i}|, and with |ρ| ≤ 1 the sum over i is at
    /// most γ_{d+5} Σ_j |w_j| M_j, M_j the exact magnitude. Rounding to f32 adds u₃₂ |zᵢ| + 2⁻¹⁵⁰ to each. The readings of z and x_j are inner products of n
    /// terms, off by γ_n times magnitudes (ibid., eq. 3.5); what is computed of these is off by γ_n as well, so M_j ≤ m_j (1 + 2γ_n). Adding up d products adds γ_{d+1} Σ_j |w_j| m_j. The
    /// sum of all, with 8 u (n + d + 8) for the γ's, which holds while k u < 1/8, covers them and the factors 1 + 2γ_n. Underflow adds at most 2⁻¹⁰⁷⁴ per
    /// operation; 2⁻¹⁰⁰⁰ per value is more. ∎
    #[must_use]
    pub fn slack(&self, probe: &Probe, terms: &[(f64, Reading)], found: &Reading) -> f64 {
        let (n, d) = (probe.values() as f64, terms.len() as f64);
        let weighed = terms.iter().map(|(weight, of)| weight.abs() * of.magnitude);
        let magnitudes = weighed.sum::<f64>() + found.magnitude;
        let tiny = n * 2.0_f64.powi(-1000);
        let single = match self.values {
            Values::F32 => 1.01 * (UNIT_F32 * found.magnitude + n * TINY_F32),
            _ => 0.0,
        };
        8.0 * UNIT * (n + d + 8.0) * magnitudes + single + tiny
    }
}
