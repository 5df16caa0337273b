//! Advises which edges to add to a noise graph so that it reaches a gap to central differential privacy.

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use serde::Serialize;

use super::PrivacyError;
use super::accountant::{
    AFFORDABLE, Connectivity, ENUMERATED_UP_TO, PublicGraph, smallest_pieces, work,
};
use crate::topology::generators::RandomRegular;
use crate::topology::{GeneratorConfig, Graph, Mixing, Spectrum};

/// Graphs up to this size have their λ₂ certified on the way, and their advice thinned out.
const SMALL: usize = 150;

/// Graphs up to this size get an alternative: a random regular graph of the least degree that is enough.
const REGULAR_UP_TO: usize = 1000;

/// Seed of that graph.
const SEED: u64 = 1;

/// What to change about a noise graph so that a gap to central privacy is reached against coalitions of a size.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Advice {
    /// The certified gap of the graph as it is: √(s·max v_u·σ_η²) in the limit of large σ_Δ.
    pub gap: f64,
    /// Edges to add, as (lower, upper), in the order found; none if the gap is small enough already.
    pub edges: Vec<(u32, u32)>,
    /// The certified gap with them: below the target.
    pub reached: f64,
    /// Or the noise graph to use instead, where one was looked for.
    pub regular: Option<RegularAdvice>,
}

/// A random regular noise graph that reaches the gap.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RegularAdvice {
    /// `topology.degree`: the least that is enough.
    pub degree: usize,
    /// `topology.seed`.
    pub seed: u64,
    /// Its certified gap.
    pub gap: f64,
}

/// √(s·max v_u·σ_η²) in the limit of large σ_Δ, by the best certificate for all coalitions of `colluders`: the gap to
/// central differential privacy that this noise graph is known to reach with enough pairwise noise. A plan with
/// 1 + β = gap²·(s − t)/s·(1 + anything) exists.
///
/// t = 0, t = 1 up to [`ENUMERATED_UP_TO`] peers, and larger t on graphs so small that every coalition can be looked at
/// are exact: the size of the smallest piece.
#[must_use]
pub(super) fn certified_gap(public: &PublicGraph<'_>, colluders: usize) -> f64 {
    let worst = factors(public, colluders).into_iter().fold(0.0, f64::max);
    (public.graph().nodes() as f64 * worst).sqrt()
}

/// Which edges to add, or which random regular graph to use, so that the noise graph reaches `target_gap` against every
/// coalition of `colluders`.
///
/// Peers whose certificate exceeds the target are joined with each other, those with the fewest partners first and
/// each with the farthest one, until none is left; λ₂ is recomputed where that is cheap (the edges then serve it too:
/// distance is what its eigenvector separates). On small graphs every edge that turns out not to be needed is taken
/// out again. It ends, at the latest with the complete graph. The result is a function of the arguments.
///
/// The bounds are recomputed for what is returned: `reached` is certified.
///
/// # Errors
/// [`PrivacyError::NobodyHonest`], and [`PrivacyError::Parameter`] for a target that no graph reaches: colluders who know
/// their own noise cost √(s/(s − t)), and finite pairwise noise a little more.
///
/// # Cost
/// O(s·|E|) per round of edges, a few seconds for ten thousand peers and edges each.
pub fn advise(graph: &Graph, colluders: usize, target_gap: f64) -> Result<Advice, PrivacyError> {
    let peers = graph.nodes();
    if colluders >= peers {
        return Err(PrivacyError::NobodyHonest { colluders, peers });
    }
    let least = (peers as f64 / (peers - colluders) as f64).sqrt();
    // Written so that NaN is refused too.
    if !(target_gap > least * (1.0 + 1e-6) && target_gap.is_finite()) {
        return Err(PrivacyError::Parameter {
            name: "the gap to reach",
            found: target_gap,
            expected: "a finite number above sqrt(peers / (peers - colluders)), which no graph can beat",
        });
    }
    let gap = gap_of(graph, colluders, target_gap);
    let (mut edges, mut reached) = (Vec::new(), gap);
    let mut current = graph.clone();
    while reached >= target_gap {
        let added = round(&current, colluders, target_gap);
        if added.is_empty() {
            break;
        }
        edges.extend(added);
        current = with_edges(graph, &edges);
        reached = gap_of(&current, colluders, target_gap);
    }
    if peers <= SMALL && edges.len() <= 4 * SMALL {
        (edges, reached) = thinned(graph, colluders, target_gap, edges, reached);
    }
    Ok(Advice {
        gap,
        edges,
        reached,
        regular: regular(peers, colluders, target_gap),
    })
}

/// The limit of every peer's certified v_u·σ_η² for large σ_Δ.
fn factors(public: &PublicGraph<'_>, colluders: usize) -> Vec<f64> {
    let graph = public.graph();
    let after = |removed: &[u32], worst: &mut Vec<f64>| {
        let sizes = graph.component_sizes_without(removed);
        for (worst, piece) in worst.iter_mut().zip(graph.components_without(removed)) {
            if let Some(piece) = piece {
                *worst = worst.max(1.0 / sizes[piece as usize] as f64);
            }
        }
    };
    let mut worst = vec![0.0; graph.nodes()];
    match colluders {
        0 => after(&[], &mut worst),
        1 if graph.nodes() <= ENUMERATED_UP_TO => {
            // Whoever is not a cut vertex only takes itself away from its own piece.
            after(&[], &mut worst);
            for factor in &mut worst {
                *factor = 1.0 / (1.0 / *factor - 1.0).round().max(1.0);
            }
            for c in graph.cut_vertices() {
                after(&[c], &mut worst);
            }
        }
        t if work(graph.nodes(), t) <= AFFORDABLE => {
            let sizes = smallest_pieces(graph, t).into_iter();
            return sizes.map(|size| 1.0 / size as f64).collect();
        }
        _ => {
            let best = public.best(f64::INFINITY, colluders).into_iter();
            return best.map(|found| found.factor).collect();
        }
    }
    worst
}

/// What is known of λ₂ at little cost, if it matters.
fn connectivity(graph: &Graph, colluders: usize) -> Connectivity {
    if graph.nodes() > SMALL || colluders < 2 {
        return Connectivity::UNKNOWN;
    }
    let lambda2 = Spectrum::of(graph, &Mixing::metropolis(graph)).algebraic_connectivity;
    Connectivity::from(lambda2)
}

/// The certified gap, with λ₂ only where the trees are not enough.
fn gap_of(graph: &Graph, colluders: usize, target: f64) -> f64 {
    let gap = certified_gap(&PublicGraph::new(graph, Connectivity::UNKNOWN), colluders);
    if gap < target {
        return gap;
    }
    let known = connectivity(graph, colluders);
    certified_gap(&PublicGraph::new(graph, known), colluders)
}

/// One new edge for every peer whose certificate exceeds the target, to such a peer if possible.
fn round(graph: &Graph, colluders: usize, target: f64) -> Vec<(u32, u32)> {
    let peers = graph.nodes();
    let allowed = target * target / peers as f64;
    let known = connectivity(graph, colluders);
    let factors = factors(&PublicGraph::new(graph, known), colluders);
    let mut weak: Vec<u32> = (0..peers as u32)
        .filter(|&u| factors[u as usize] >= allowed)
        .collect();
    weak.sort_by(|&a, &b| {
        let degrees = graph.degree(a as usize).cmp(&graph.degree(b as usize));
        let exposed = factors[b as usize].total_cmp(&factors[a as usize]);
        degrees.then(exposed).then(a.cmp(&b))
    });
    let is_weak: Vec<bool> = factors.iter().map(|&factor| factor >= allowed).collect();
    let mut served = vec![false; peers];
    let mut added: BTreeSet<(u32, u32)> = BTreeSet::new();
    for &u in &weak {
        if served[u as usize] {
            continue;
        }
        let distances = graph.distances(u as usize);
        let free =
            |v: &u32| *v != u && !graph.has_edge(u, *v) && !added.contains(&(u.min(*v), u.max(*v)));
        // A weak peer that has no new edge yet, as far away as possible, with few partners.
        let partner = (0..peers as u32).filter(free).min_by_key(|&v| {
            let i = v as usize;
            let far = std::cmp::Reverse(distances[i].unwrap_or(u32::MAX));
            (served[i], !is_weak[i], far, graph.degree(i), v)
        });
        if let Some(v) = partner {
            served[u as usize] = true;
            served[v as usize] = true;
            added.insert((u.min(v), u.max(v)));
        }
    }
    added.into_iter().collect()
}

/// Leaves out, last first, every edge without which the target is still reached.
fn thinned(
    graph: &Graph,
    colluders: usize,
    target: f64,
    mut edges: Vec<(u32, u32)>,
    mut reached: f64,
) -> (Vec<(u32, u32)>, f64) {
    for index in (0..edges.len()).rev() {
        let mut fewer = edges.clone();
        fewer.remove(index);
        let gap = gap_of(&with_edges(graph, &fewer), colluders, target);
        if gap < target {
            (edges, reached) = (fewer, gap);
        }
    }
    (edges, reached)
}

fn with_edges(graph: &Graph, added: &[(u32, u32)]) -> Graph {
    let mut edges: Vec<(u32, u32)> = graph.edge_list().collect();
    edges.extend_from_slice(added);
    Graph::from_edges(graph.nodes(), &edges).expect("only edges the graph does not have are added")
}

/// The least degree at which a random regular graph reaches the target, if the graph is not too large to look.
fn regular(peers: usize, colluders: usize, target: f64) -> Option<RegularAdvice> {
    if peers > REGULAR_UP_TO {
        return None;
    }
    (colluders + 1..peers).find_map(|degree| {
        let config = GeneratorConfig::RandomRegular(RandomRegular {
            n: None,
            degree,
            seed: SEED,
        });
        let gap = gap_of(&config.generate(peers).ok()?, colluders, target);
        (gap < target).then_some(RegularAdvice {
            degree,
            seed: SEED,
            gap,
        })
    })
}
