//! How well noise that is shared along edges connects every peer to an honest holder of noise of another kind.
//!
//! # Statement
//! A flow of strength 1 from w to u along the edges of an honest graph H has at least the energy Σ f_e² = R(u, w), the effective
//! resistance of H with unit conductances (Thomson's principle), and one flow attains it. R(u, w) is at most the number of edges of any
//! path, as removing edges never lowers it (Rayleigh), which also makes larger coalitions worse than smaller ones: they take edges and
//! holders away.

use nalgebra::DMatrix;

use crate::linalg::CheckedInverse;
use crate::privacy::PrivacyError;
use crate::topology::Graph;

/// The most numbers that are touched before resistances are bounded by distances, and before distances are refused.
const AFFORDABLE: f64 = 2e9;

/// An upper bound on the largest resistance from any honest peer to the nearest honest holder, over all coalitions of `colluders` peers.
///
/// Exact, to rounding, as far as one dense inverse per coalition and honest holder is affordable; the distance in edges beyond that. 0
/// where every peer is a holder.
///
/// # Errors
/// [`PrivacyError::HoldersCutOff`] if some coalition leaves the honest peers in several pieces, and
/// [`PrivacyError::HoldersOutOfReach`] for too many coalitions to look at.
///
/// # Panics
/// If the holders are not more than the colluders, or the colluders not fewer than the peers.
pub(in crate::privacy) fn worst_resistance(
    graph: &Graph,
    holders: &[u32],
    colluders: usize,
) -> Result<f64, PrivacyError> {
    let peers = graph.nodes();
    assert!(colluders < holders.len() && colluders < peers);
    let coalitions =
        (0..colluders).fold(1.0, |count, i| count * (peers - i) as f64 / (i + 1) as f64);
    let edges = (graph.edges() + peers) as f64;
    let dense = coalitions * holders.len() as f64 * (peers as f64).powi(3);
    if coalitions * edges > AFFORDABLE {
        return Err(PrivacyError::HoldersOutOfReach { colluders, peers });
    }
    let mut worst = 0.0_f64;
    let mut coalition: Vec<u32> = (0..colluders as u32).collect();
    loop {
        if graph.component_sizes_without(&coalition).len() > 1 {
            return Err(PrivacyError::HoldersCutOff { colluders });
        }
        let honest: Vec<u32> = (holders.iter().copied())
            .filter(|holder| coalition.binary_search(holder).is_err())
            .collect();
        let found = match dense <= AFFORDABLE {
            true => resistance(graph, &coalition, &honest)?,
            false => distance(graph, &coalition, &honest),
        };
        worst = worst.max(found);
        if !advance(&mut coalition, peers as u32) {
            return Ok(worst);
        }
    }
}

/// The next set of as many numbers below `limit`, ascending; whether there is one.
fn advance(set: &mut [u32], limit: u32) -> bool {
    let size = set.len() as u32;
    let movable = (0..set.len())
        .rev()
        .find(|&i| set[i] + size - (i as u32) < limit);
    let Some(i) = movable else {
        return false;
    };
    let start = set[i] + 1;
    for (number, next) in set[i..].iter_mut().zip(start..) {
        *number = next;
    }
    true
}

/// The largest, over honest peers, of the least resistance to one of the holders.
fn resistance(graph: &Graph, coalition: &[u32], holders: &[u32]) -> Result<f64, PrivacyError> {
    let honest: Vec<u32> = (0..graph.nodes() as u32)
        .filter(|peer| coalition.binary_search(peer).is_err())
        .collect();
    let mut least = vec![f64::INFINITY; honest.len()];
    for &holder in holders {
        // The Laplacian with the holder's row left out: the diagonal of its inverse are the resistances to it.
        let others: Vec<usize> = (0..honest.len()).filter(|&i| honest[i] != holder).collect();
        let mut place = vec![None; graph.nodes()];
        for (at, &i) in others.iter().enumerate() {
            place[honest[i] as usize] = Some(at);
        }
        let mut laplacian = DMatrix::zeros(others.len(), others.len());
        for (u, v) in graph.edge_list() {
            if [u, v]
                .iter()
                .any(|end| coalition.binary_search(end).is_ok())
            {
                continue;
            }
            let ends = (place[u as usize], place[v as usize]);
            for end in [ends.0, ends.1].into_iter().flatten() {
                laplacian[(end, end)] += 1.0;
            }
            if let (Some(a), Some(b)) = ends {
                laplacian[(a, b)] -= 1.0;
                laplacian[(b, a)] -= 1.0;
            }
        }
        if !others.is_empty() {
            let checked = CheckedInverse::of(&laplacian)?;
            for (at, &i) in others.iter().enumerate() {
                let found = checked.inverse[(at, at)] * (1.0 + checked.relative_error);
                least[i] = least[i].min(found);
            }
        }
        let own = honest.binary_search(&holder).expect("an honest holder");
        least[own] = 0.0;
    }
    Ok(least.into_iter().fold(0.0, f64::max))
}

/// The largest, over honest peers, of the least number of edges to one of the holders.
fn distance(graph: &Graph, coalition: &[u32], holders: &[u32]) -> f64 {
    let mut steps = vec![None; graph.nodes()];
    let mut front: Vec<u32> = holders.to_vec();
    holders
        .iter()
        .for_each(|&holder| steps[holder as usize] = Some(0_u32));
    let mut last = 0;
    while !front.is_empty() {
        let mut next = Vec::new();
        for &u in &front {
            let here = steps[u as usize].unwrap_or(0);
            last = here;
            for &v in graph.neighbours(u as usize) {
                if steps[v as usize].is_none() && coalition.binary_search(&v).is_err() {
                    steps[v as usize] = Some(here + 1);
                    next.push(v);
                }
            }
        }
        front = next;
    }
    f64::from(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(nodes: usize, edges: &[(u32, u32)]) -> Graph {
        Graph::from_edges(nodes, edges).expect("simple")
    }

    fn ring(nodes: u32) -> Graph {
        let edges: Vec<_> = (0..nodes)
            .map(|u| (u.min((u + 1) % nodes), u.max((u + 1) % nodes)))
            .collect();
        graph(nodes as usize, &edges)
    }

    #[test]
    fn known_resistances() {
        // Two ways around a ring of 6, of 3 edges each.
        let found = worst_resistance(&ring(6), &[0], 0).expect("connected");
        assert!((found - 1.5).abs() < 1e-9, "{found}");
        assert_eq!(distance(&ring(6), &[], &[0]), 3.0);
        // Without one peer a ring of 6 is a path; its holders are 0 and 3. Whoever loses 3 is at most 3 edges from 0 (peer 4 or 2, two;
        // peer 3 gone), and whoever loses a neighbour of 0 has the way to 3.
        let found = worst_resistance(&ring(6), &[0, 3], 1).expect("connected");
        assert!((found - 2.0).abs() < 1e-9, "{found}");
        // In a complete graph of n every pair has 2/n.
        let edges: Vec<_> = (0..5)
            .flat_map(|u| (u + 1..5).map(move |v| (u, v)))
            .collect();
        let complete = graph(5, &edges);
        let found = worst_resistance(&complete, &[0, 2], 1).expect("connected");
        assert!((found - 0.5).abs() < 1e-9, "{found}");
        assert_eq!(worst_resistance(&complete, &[0, 1, 2, 3, 4], 4), Ok(0.0));
    }

    #[test]
    fn distances_bound_resistances() {
        let edges: Vec<_> = (0..12_u32)
            .flat_map(|u| [(u, (u + 1) % 12), (u, (u + 5) % 12)])
            .map(|(u, v)| (u.min(v), u.max(v)))
            .collect();
        let graph = graph(12, &edges);
        for gone in 0..12 {
            for holder in (0..12).filter(|&holder| holder != gone) {
                let exact = resistance(&graph, &[gone], &[holder]).expect("well conditioned");
                let bound = distance(&graph, &[gone], &[holder]);
                assert!(exact <= bound && exact > 0.2 * bound, "{exact} {bound}");
            }
        }
    }

    #[test]
    fn every_coalition_is_looked_at_and_one_that_splits_the_honest_is_refused() {
        let mut set = vec![0, 1];
        let mut count = 1;
        while advance(&mut set, 6) {
            assert!(set.is_sorted() && set[1] < 6);
            count += 1;
        }
        assert_eq!(count, 15);
        assert!(!advance(&mut [], 6));
        let path = graph(4, &[(0, 1), (1, 2), (2, 3)]);
        let cut = Err(PrivacyError::HoldersCutOff { colluders: 1 });
        assert_eq!(worst_resistance(&path, &[0, 3], 1), cut);
        let two = Err(PrivacyError::HoldersCutOff { colluders: 2 });
        assert_eq!(worst_resistance(&ring(6), &[0, 2, 4], 2), two);
    }
}
