//! Local search: starts from coalitions that are likely to learn much and exchanges their members.

use std::collections::BTreeSet;

use rayon::prelude::*;

use super::given::{COMPARED, Evaluator, REPORTED};
use crate::privacy::accountant::bounds::PublicGraph;
use crate::topology::Graph;

/// Peers whose protection is attacked: those with the weakest certificates.
const VICTIMS: usize = 12;

/// Conjugate gradient steps per coalition looked at, and for the one reported.
const STEPS: usize = 40;
const FINAL_STEPS: usize = 400;

/// Coalitions evaluated beside one another, whatever the number of threads.
const BATCH: usize = 8;

/// Peers a region around a victim may grow to, and the boundary (beyond t) at which growing it is given up.
const LARGEST_REGION: usize = 200;
const WIDEST_BOUNDARY: usize = 64;

/// Separators tried per victim.
const SEPARATORS: usize = 3;

/// Peers that may be exchanged into a coalition.
const POOL: usize = 40;

/// A coalition and what it learns.
pub(super) struct Found {
    /// A lower bound on v_u per unit of 1/σ_η².
    pub factor: f64,
    /// Ascending.
    pub coalition: Vec<u32>,
    /// u.
    pub victim: u32,
}

/// A peer that a coalition of `colluders` can isolate, and that coalition; the first of those with fewest partners.
pub(super) fn isolating(graph: &Graph, colluders: usize) -> Option<(u32, Vec<u32>)> {
    let victim = (0..graph.nodes()).min_by_key(|&u| graph.degree(u))?;
    (graph.degree(victim) <= colluders).then(|| {
        let victim = victim as u32;
        let around = graph.neighbours(victim as usize);
        (victim, padded(graph, around, victim, &[], colluders))
    })
}

/// The best coalition found with about `budget` multiplications.
pub(super) fn search(public: &PublicGraph<'_>, ratio: f64, colluders: usize, budget: f64) -> Found {
    let graph = public.graph();
    let each = STEPS as f64 * (2 * graph.edges() + 6 * graph.nodes()) as f64;
    // Float to integer conversion saturates, and NaN becomes 0.
    let mut left = (budget / each) as usize;
    let mut best: Option<Found> = None;
    let victims = victims(public, ratio, colluders);
    let mut batches = Batches::new(graph, ratio);
    for (number, &victim) in victims.iter().enumerate() {
        let mut allowed = left / (victims.len() - number);
        left -= allowed;
        let mut sets = candidates(graph, victim, colluders);
        // One coalition is evaluated whatever the budget.
        sets.truncate(allowed.max(usize::from(best.is_none())));
        allowed = allowed.saturating_sub(sets.len());
        let mut here: Option<(f64, Vec<u32>)> = None;
        for (factor, coalition) in batches.evaluate(&sets, victim).into_iter().zip(sets) {
            if here.as_ref().is_none_or(|h| factor > h.0) {
                here = Some((factor, coalition));
            }
        }
        let Some((mut factor, mut coalition)) = here else {
            continue;
        };
        let mut improved = colluders > 0;
        while improved {
            improved = false;
            let pool = pool(graph, victim, &coalition);
            let newcomers = |place| pool.iter().map(move |&newcomer| (place, newcomer));
            let mut exchanges = (0..coalition.len()).flat_map(newcomers);
            while !improved {
                let exchanges = exchanges.by_ref().take(BATCH.min(allowed));
                let exchanged = |(place, newcomer)| {
                    let mut other: Vec<u32> = coalition.clone();
                    other[place] = newcomer;
                    other
                };
                let mut others: Vec<Vec<u32>> = exchanges.map(exchanged).collect();
                if others.is_empty() {
                    break;
                }
                let found = batches.evaluate(&others, victim);
                // The first improvement counts, and nothing after it, as if one were evaluated after the other.
                let first = found.iter().position(|&f| f > factor * (1.0 + 1e-9));
                allowed -= first.map_or(others.len(), |first| first + 1);
                if let Some(first) = first {
                    (factor, coalition, improved) = (found[first], others.swap_remove(first), true);
                }
            }
        }
        left += allowed;
        if best.as_ref().is_none_or(|b| factor > b.factor) {
            best = Some(Found {
                factor,
                coalition,
                victim,
            });
        }
    }
    let mut best = best.unwrap_or_else(|| Found {
        factor: 0.0,
        coalition: padded(graph, &[], 0, &[], colluders),
        victim: 0,
    });
    best.coalition.sort_unstable();
    best.factor =
        Evaluator::new(graph, ratio).at_least(&best.coalition, best.victim, FINAL_STEPS, REPORTED);
    best
}

/// Evaluators that work beside one another.
struct Batches<'a> {
    graph: &'a Graph,
    ratio: f64,
    evaluators: Vec<Evaluator<'a>>,
}

impl<'a> Batches<'a> {
    fn new(graph: &'a Graph, ratio: f64) -> Self {
        Self {
            graph,
            ratio,
            evaluators: Vec::new(),
        }
    }

    /// A lower bound on what each coalition learns about `victim`.
    fn evaluate(&mut self, coalitions: &[Vec<u32>], victim: u32) -> Vec<f64> {
        let (graph, ratio) = (self.graph, self.ratio);
        let most = coalitions.len().max(self.evaluators.len());
        self.evaluators
            .resize_with(most, || Evaluator::new(graph, ratio));
        self.evaluators
            .par_iter_mut()
            .zip(coalitions)
            .map(|(evaluator, coalition)| evaluator.at_least(coalition, victim, STEPS, COMPARED))
            .collect()
    }
}

/// Peers with the largest bounds, those with fewer partners first among equals.
fn victims(public: &PublicGraph<'_>, ratio: f64, colluders: usize) -> Vec<u32> {
    let graph = public.graph();
    let mut order: Vec<(f64, u32)> = public
        .best(ratio, colluders)
        .into_iter()
        .map(|found| found.factor)
        .zip(0..)
        .collect();
    order.sort_by(|a, b| {
        let degrees = graph.degree(a.1 as usize).cmp(&graph.degree(b.1 as usize));
        b.0.total_cmp(&a.0).then(degrees).then(a.1.cmp(&b.1))
    });
    order.truncate(VICTIMS);
    order.into_iter().map(|(_, u)| u).collect()
}

/// Coalitions of t against one victim: small separators around it, its partners with many and with few partners of
/// their own, and the hubs of the graph.
fn candidates(graph: &Graph, victim: u32, colluders: usize) -> Vec<Vec<u32>> {
    let mut sets = separators(graph, victim, colluders);
    let mut around = graph.neighbours(victim as usize).to_vec();
    around.sort_by_key(|&v| (std::cmp::Reverse(graph.degree(v as usize)), v));
    for _ in 0..2 {
        let first = &around[..colluders.min(around.len())];
        sets.push(padded(graph, first, victim, &[], colluders));
        around.reverse();
    }
    sets.push(padded(graph, &[], victim, &[], colluders));
    sets
}

/// Boundaries of at most t peers of regions around the victim, from the smallest region on. A region grows by the peer
/// of its boundary that brings the fewest new ones.
fn separators(graph: &Graph, victim: u32, colluders: usize) -> Vec<Vec<u32>> {
    let mut sets = Vec::new();
    let mut region = BTreeSet::from([victim]);
    let mut boundary: BTreeSet<u32> = graph.neighbours(victim as usize).iter().copied().collect();
    while sets.len() < SEPARATORS
        && region.len() < LARGEST_REGION.min(graph.nodes() / 2)
        && boundary.len() <= colluders + WIDEST_BOUNDARY
    {
        if boundary.len() <= colluders {
            let inside: Vec<u32> = region.iter().copied().collect();
            let edge: Vec<u32> = boundary.iter().copied().collect();
            sets.push(padded(graph, &edge, victim, &inside, colluders));
        }
        let brings = |v: u32| {
            let new = |w: &&u32| !region.contains(w) && !boundary.contains(w);
            graph.neighbours(v as usize).iter().filter(new).count()
        };
        let Some(joins) = boundary.iter().copied().min_by_key(|&v| (brings(v), v)) else {
            break;
        };
        boundary.remove(&joins);
        region.insert(joins);
        let new = graph.neighbours(joins as usize).iter().copied();
        boundary.extend(new.filter(|w| !region.contains(w)));
    }
    sets
}

/// `members` and, up to t, the peers with most partners: never the victim, and `spared` ones only if no others are left.
fn padded(
    graph: &Graph,
    members: &[u32],
    victim: u32,
    spared: &[u32],
    colluders: usize,
) -> Vec<u32> {
    let mut set: Vec<u32> = members.to_vec();
    if set.len() < colluders {
        let mut rest: Vec<u32> = (0..graph.nodes() as u32)
            .filter(|u| *u != victim && !set.contains(u))
            .collect();
        let partners = |u: u32| std::cmp::Reverse(graph.degree(u as usize));
        rest.sort_by_key(|&u| (spared.contains(&u), partners(u), u));
        rest.truncate(colluders - set.len());
        set.extend(rest);
    }
    set.sort_unstable();
    set
}

/// Peers worth exchanging into the coalition: partners of the victim, then partners of members.
fn pool(graph: &Graph, victim: u32, coalition: &[u32]) -> Vec<u32> {
    let mut pool: Vec<u32> = Vec::new();
    for &from in std::iter::once(&victim).chain(coalition) {
        for &v in graph.neighbours(from as usize) {
            if pool.len() >= POOL {
                return pool;
            }
            if v != victim && !coalition.contains(&v) && !pool.contains(&v) {
                pool.push(v);
            }
        }
    }
    pool
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn no_candidate_contains_its_victim_or_has_another_size() {
        let edges: Vec<(u32, u32)> = (0..9)
            .flat_map(|u| [(u, u + 1), (u, (u + 4) % 10)])
            .map(|(u, v)| (u.min(v), u.max(v)))
            .collect();
        let graph = Graph::from_edges(10, &edges).expect("a simple graph");
        for victim in 0..10 {
            for colluders in 0..10 {
                for set in candidates(&graph, victim, colluders) {
                    assert!(!set.contains(&victim), "{victim}: {set:?}");
                    assert!(set.len() == colluders && set.windows(2).all(|w| w[0] < w[1]));
                }
            }
        }
    }
}
