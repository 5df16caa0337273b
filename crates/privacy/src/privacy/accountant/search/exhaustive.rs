//! Exhaustive search: looks at every coalition of a size.

use rayon::prelude::*;

use crate::privacy::PrivacyError;
use crate::privacy::accountant::component::{Component, pieces};
use crate::topology::Graph;

/// Multiplications that inverting the covariance for every coalition of `colluders` of `peers` takes.
pub(in crate::privacy) fn work(peers: usize, colluders: usize) -> f64 {
    let each = 3.0 * (peers as f64).powi(3) + 1e3;
    coalitions(peers, colluders) * each
}

/// What [`work`] may be for every coalition to be looked at without being asked to.
pub(in crate::privacy) const AFFORDABLE: f64 = 3e8;

/// C(s, t).
fn coalitions(peers: usize, colluders: usize) -> f64 {
    let chosen = colluders.min(peers - colluders);
    (0..chosen).fold(1.0, |count, i| count * (peers - i) as f64 / (i + 1) as f64)
}

/// The most exposed peer of one piece that one coalition leaves.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::privacy) struct Seen {
    /// The coalition, ascending.
    pub coalition: Vec<u32>,
    /// The peer.
    pub peer: u32,
    /// Peers of its piece.
    pub honest: usize,
    /// Σ_{k≥2} w_k/(a + bλ_k) of that peer.
    pub excess: f64,
    /// What `excess` may be wrong by, for any peer of the piece.
    pub error: f64,
}

/// What [`every_coalition`] returns.
pub(in crate::privacy) type Pieces = Vec<Seen>;

impl Seen {
    /// v_u per unit of 1/σ_η² at least.
    pub(in crate::privacy) fn at_least(&self) -> f64 {
        1.0 / self.honest as f64 + (self.excess - self.error).max(0.0)
    }

    /// v_u per unit of 1/σ_η² at most, for every peer of the piece.
    pub(in crate::privacy) fn at_most(&self) -> f64 {
        1.0 / self.honest as f64 + self.excess + self.error
    }
}

/// One entry per coalition of exactly `colluders` peers and piece it leaves, for own noise of variance `own` (1, or 0 for
/// the limit of large σ_Δ²) and pairwise noise of variance `pairwise`.
///
/// # Errors
/// [`PrivacyError::IllConditioned`] if an inverse fails its own check.
///
/// # Cost
/// [`work`]; the caller has looked at it.
pub(in crate::privacy) fn every_coalition(
    graph: &Graph,
    own: f64,
    pairwise: f64,
    colluders: usize,
) -> Result<Pieces, PrivacyError> {
    let found: Result<Vec<Pieces>, PrivacyError> = all(graph.nodes() as u32, colluders)
        .into_par_iter()
        .map(|coalition| {
            pieces(graph, &coalition)
                .into_iter()
                .map(|nodes| {
                    if nodes.len() == 1 {
                        return Ok(alone(coalition.clone(), nodes[0]));
                    }
                    let component = Component::new(graph, nodes, own, pairwise)?;
                    let honest = component.nodes.len();
                    let (index, excess) = component
                        .excess()
                        .into_iter()
                        .enumerate()
                        .max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)))
                        .unwrap_or((0, 0.0));
                    let entry = excess + component.known_part(honest);
                    Ok(Seen {
                        coalition: coalition.clone(),
                        peer: component.nodes[index],
                        honest,
                        excess,
                        error: entry * (component.relative_error + 1e-12),
                    })
                })
                .collect()
        })
        .collect();
    Ok(found?.into_iter().flatten().collect())
}

/// A peer on its own hides behind nobody.
fn alone(coalition: Vec<u32>, peer: u32) -> Seen {
    Seen {
        coalition,
        peer,
        honest: 1,
        excess: 0.0,
        error: 0.0,
    }
}

/// For every peer, the size of the smallest piece that any coalition of `colluders` (fewer than the peers) leaves it in.
pub(in crate::privacy) fn smallest_pieces(graph: &Graph, colluders: usize) -> Vec<usize> {
    let peers = graph.nodes();
    let smaller = |mut a: Vec<usize>, b: Vec<usize>| {
        for (a, b) in a.iter_mut().zip(b) {
            *a = (*a).min(b);
        }
        a
    };
    all(peers as u32, colluders)
        .into_par_iter()
        .map(|coalition| {
            let sizes = graph.component_sizes_without(&coalition);
            let pieces = graph.components_without(&coalition).into_iter();
            let size = |piece: Option<u32>| piece.map_or(peers, |piece| sizes[piece as usize]);
            pieces.map(size).collect()
        })
        .reduce(|| vec![peers; peers], smaller)
}

/// Every set of `chosen` of the numbers below `n`, in lexicographic order.
fn all(n: u32, chosen: usize) -> Vec<Vec<u32>> {
    let mut sets = Vec::new();
    let mut set: Vec<u32> = (0..chosen as u32).collect();
    loop {
        sets.push(set.clone());
        let Some(place) = (0..chosen).rfind(|&i| set[i] < n - (chosen - i) as u32) else {
            return sets;
        };
        set[place] += 1;
        for i in place + 1..chosen {
            set[i] = set[i - 1] + 1;
        }
    }
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn every_set_occurs_once() {
        for (n, k) in [(1, 0), (5, 0), (5, 2), (6, 6), (7, 3)] {
            let sets = all(n, k);
            assert_eq!(sets.len() as f64, coalitions(n as usize, k));
            assert!(sets.windows(2).all(|pair| pair[0] < pair[1]));
            assert!(
                sets.iter()
                    .all(|set| set.len() == k && set.iter().all(|&u| u < n))
            );
        }
    }
}
