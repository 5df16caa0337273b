//! Losses from nothing but the joint law of everything that is seen.

use std::collections::BTreeMap;

use super::super::Attempted;
use crate::topology::Graph;

/// Something seen: how it moves with every peer's contribution, and its coefficients in independent standard normals.
struct Seen {
    means: Vec<f64>,
    noise: Vec<f64>,
}

/// μ² of every peer given observations one after another, each reduced to what those before it do not tell (Gram and Schmidt).
fn whitened(peers: usize, seen: Vec<Seen>) -> Vec<f64> {
    let mut basis: Vec<Seen> = Vec::new();
    let mut squares = vec![0.0; peers];
    let norm = |v: &[f64]| v.iter().map(|x| x * x).sum::<f64>().sqrt();
    for mut next in seen {
        let before = norm(&next.noise);
        // Twice, so that rounding does not add up.
        for _ in 0..2 {
            for known in &basis {
                let along: f64 = next
                    .noise
                    .iter()
                    .zip(&known.noise)
                    .map(|(a, b)| a * b)
                    .sum();
                let subtract = |from: &mut [f64], what: &[f64]| {
                    from.iter_mut().zip(what).for_each(|(a, b)| *a -= along * b);
                };
                subtract(&mut next.noise, &known.noise);
                subtract(&mut next.means, &known.means);
            }
        }
        let left = norm(&next.noise);
        if left < 1e-10 * before {
            // Known already, and so is what it moves with; otherwise somebody's contribution would be bare.
            assert!(norm(&next.means) < 1e-6);
            continue;
        }
        next.noise.iter_mut().for_each(|x| *x /= left);
        next.means.iter_mut().for_each(|x| *x /= left);
        for (square, mean) in squares.iter_mut().zip(&next.means) {
            *square += mean * mean;
        }
        basis.push(next);
    }
    squares
}

/// Everything that a coalition sees of some attempts, as one Gaussian vector.
pub(super) struct Joint {
    peers: usize,
    terms: BTreeMap<(u64, u32, u32), usize>,
    seen: Vec<(BTreeMap<u32, f64>, BTreeMap<usize, f64>)>,
}

impl Joint {
    pub(super) fn new(peers: usize) -> Self {
        Self {
            peers,
            terms: BTreeMap::new(),
            seen: Vec::new(),
        }
    }

    /// The number of the standard normal behind Δ_uv of an attempt, or η_u if both are equal.
    pub(super) fn term(&mut self, attempt: u64, u: u32, v: u32) -> usize {
        let next = self.terms.len();
        let place = (attempt, u.min(v), u.max(v));
        *self.terms.entry(place).or_insert(next)
    }

    pub(super) fn see(&mut self, means: BTreeMap<u32, f64>, noise: BTreeMap<usize, f64>) {
        self.seen.push((means, noise));
    }

    pub(super) fn losses(self) -> Vec<f64> {
        let dense = self.seen.iter().map(|(means, noise)| {
            let mut seen = Seen {
                means: vec![0.0; self.peers],
                noise: vec![0.0; self.terms.len()],
            };
            means.iter().for_each(|(&u, x)| seen.means[u as usize] = *x);
            noise.iter().for_each(|(&term, x)| seen.noise[term] = *x);
            seen
        });
        whitened(self.peers, dense.collect())
    }
}

/// μ² of every peer, 0 for colluders: one joint Gaussian per release of what colluders know, what was revealed and what was read.
pub(super) fn joint_losses(
    graph: &Graph,
    (own, pairwise): (f64, f64),
    coalition: &[u32],
    attempts: &[Attempted],
) -> Vec<f64> {
    let peers = graph.nodes();
    let mut sums = vec![0.0; peers];
    let last = attempts.iter().map(|a| a.release.0).max().unwrap_or(0);
    for release in 1..=last {
        let mut joint = Joint::new(peers);
        for a in attempts.iter().filter(|a| a.release.0 == release) {
            let is_member = |u: &u32| a.members.contains(u);
            let is_known = |edge: &(u32, u32)| {
                let colludes = coalition.contains(&edge.0) || coalition.contains(&edge.1);
                colludes || a.revealed.contains(edge)
            };
            let mut known: Vec<(u32, u32)> = graph.edge_list().filter(is_known).collect();
            known.retain(|(u, v)| is_member(u) && is_member(v));
            known.extend(coalition.iter().filter(|u| is_member(u)).map(|&u| (u, u)));
            for (u, v) in known {
                let term = joint.term(a.view, u, v);
                joint.see(BTreeMap::new(), [(term, 1.0)].into());
            }
        }
        for a in attempts.iter().filter(|a| a.release.0 == release) {
            for &v in &a.read {
                let at = a.members.iter().position(|&w| w == v).expect("a member");
                let scale = a.scales[at];
                let mut noise = BTreeMap::from([(joint.term(a.view, v, v), scale * own)]);
                for &w in graph.neighbours(v as usize) {
                    if a.members.contains(&w) {
                        let sign = if v < w { 1.0 } else { -1.0 };
                        noise.insert(joint.term(a.view, v, w), sign * scale * pairwise);
                    }
                }
                // What colluders contribute they know; their record is not the one that changes.
                let is_honest = !coalition.contains(&v);
                let moves = is_honest.then_some((v, a.sensitivity));
                joint.see(moves.into_iter().collect(), noise);
            }
        }
        for (sum, loss) in sums.iter_mut().zip(joint.losses()) {
            *sum += loss;
        }
    }
    sums
}
