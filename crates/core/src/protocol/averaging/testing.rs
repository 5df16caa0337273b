//! Small networks and a plain evaluation of listed schedules, for the tests of schemes.

use std::collections::BTreeSet;

use super::{Form, Neighbourhood, PeerStep, Schedule, fold};

/// A network of unit weights.
#[derive(Clone, Debug)]
pub(super) struct Sketch {
    neighbours: Vec<Vec<u32>>,
    weights: Vec<Vec<f64>>,
}

impl Sketch {
    pub(super) fn of(peers: usize, edges: impl IntoIterator<Item = (u32, u32)>) -> Self {
        let mut neighbours = vec![BTreeSet::new(); peers];
        for (u, v) in edges {
            neighbours[u as usize].insert(v);
            neighbours[v as usize].insert(u);
        }
        let neighbours: Vec<Vec<u32>> = neighbours
            .into_iter()
            .map(|own| own.into_iter().collect())
            .collect();
        let weights = neighbours.iter().map(|own| vec![1.0; own.len()]).collect();
        Self {
            neighbours,
            weights,
        }
    }

    pub(super) fn complete(peers: u32) -> Self {
        let edges = (0..peers).flat_map(|v| (0..v).map(move |u| (u, v)));
        Self::of(peers as usize, edges)
    }

    pub(super) fn path(peers: u32) -> Self {
        Self::of(peers as usize, (1..peers).map(|v| (v - 1, v)))
    }

    pub(super) fn star(peers: u32) -> Self {
        Self::of(peers as usize, (1..peers).map(|v| (0, v)))
    }

    /// The peers whose numbers differ in one digit are neighbours, over these bases, the lowest digit first.
    pub(super) fn hamming(bases: &[u32]) -> Self {
        let peers: u32 = bases.iter().product();
        let mut edges = Vec::new();
        let mut stride = 1;
        for base in bases {
            for u in 0..peers {
                let digit = u / stride % base;
                edges.extend((digit + 1..*base).map(|other| (u, u + (other - digit) * stride)));
            }
            stride *= base;
        }
        Self::of(peers as usize, edges)
    }

    /// A random spanning tree and so many more edges, some of them perhaps twice.
    pub(super) fn random(peers: u32, more: u32, seed: u64) -> Self {
        let mut state = seed;
        let mut below = |bound: u32| {
            // SplitMix64 (Steele, Lea & Flood 2014).
            state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
            let mut z = state;
            z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
            ((z ^ (z >> 31)) % u64::from(bound)) as u32
        };
        let mut edges: Vec<(u32, u32)> = (1..peers).map(|v| (below(v), v)).collect();
        for _ in 0..more {
            let v = 1 + below(peers - 1);
            edges.push((below(v), v));
        }
        Self::of(peers as usize, edges)
    }
}

impl Neighbourhood for Sketch {
    fn peers(&self) -> usize {
        self.neighbours.len()
    }

    fn neighbours(&self, peer: usize) -> &[u32] {
        &self.neighbours[peer]
    }

    fn weights(&self, peer: usize) -> &[f64] {
        &self.weights[peer]
    }

    fn self_weight(&self, _peer: usize) -> f64 {
        1.0
    }
}

/// The steps of a listed schedule.
pub(super) fn steps(schedule: &Schedule) -> &[Vec<PeerStep>] {
    match schedule.form() {
        Form::Listed(steps) => steps,
        Form::Recurrence(_) | Form::Passing(_) => panic!("no list of steps"),
    }
}

/// Every peer's estimate of the sum, straight from the definition of a schedule.
pub(super) fn estimates(
    schedule: &Schedule,
    network: &dyn Neighbourhood,
    inputs: &[f64],
) -> Vec<f64> {
    let mut values = inputs.to_vec();
    for round in 0..schedule.rounds() {
        let before = values.clone();
        for (u, own) in steps(schedule).iter().enumerate() {
            for step in own.iter().filter(|step| step.round == round) {
                let messages: Vec<(f64, f64)> = step
                    .expect
                    .iter()
                    .map(|e| {
                        let from = network.neighbours(u)[e.position as usize];
                        (e.weight, before[from as usize])
                    })
                    .collect();
                let messages = messages.iter().map(|(w, m)| (*w, std::slice::from_ref(m)));
                let out = std::slice::from_mut(&mut values[u]);
                fold((step.own, step.own_at), &before[u..=u], messages, out);
            }
        }
    }
    values.iter().map(|x| schedule.factor() * x).collect()
}

/// How many messages each peer sends.
pub(super) fn sent(schedule: &Schedule) -> Vec<usize> {
    let of_peer = |own: &Vec<PeerStep>| own.iter().map(|step| step.send_to.len()).sum();
    steps(schedule).iter().map(of_peer).collect()
}
