//! Which peer, which component, which number is in the way, and what would do.

use super::super::PrivacyError;
use super::super::coalition::ENUMERATED_UP_TO;
use super::NoiseRequest;
use crate::topology::Graph;

/// Names listed in a message before "and n more".
const LISTED: usize = 5;

/// Refuses a graph in pieces, naming the smallest ones.
pub(super) fn if_disconnected(graph: &Graph) -> Result<(), PrivacyError> {
    let mut sizes: Vec<(usize, u32)> = graph
        .component_sizes_without(&[])
        .into_iter()
        .zip(0..)
        .collect();
    if sizes.len() == 1 {
        return Ok(());
    }
    sizes.sort_unstable();
    let components = graph.components_without(&[]);
    let pieces = sizes
        .iter()
        .take(LISTED)
        .map(|&(size, piece)| {
            let members = members(graph, &components, piece);
            let peers = if size == 1 { "peer" } else { "peers" };
            format!("{size} {peers}: {}", members.join(", "))
        })
        .collect();
    Err(PrivacyError::Disconnected {
        count: sizes.len(),
        pieces,
    })
}

/// Refuses a graph that one peer can split, naming the peer that leaves the smallest piece behind.
pub(super) fn if_cut(graph: &Graph) -> Result<(), PrivacyError> {
    let worst = graph
        .cut_vertices()
        .into_iter()
        .filter_map(|vertex| {
            let sizes = graph.component_sizes_without(&[vertex]);
            let (size, piece) = sizes.iter().copied().zip(0_u32..).min()?;
            Some((size, vertex, piece))
        })
        .min();
    let Some((size, vertex, piece)) = worst else {
        return Ok(());
    };
    let components = graph.components_without(&[vertex]);
    Err(PrivacyError::CutVertex {
        vertex: graph.name(vertex as usize),
        isolated: members(graph, &components, piece),
        remaining: graph.nodes() - 1 - size,
    })
}

/// The refusal of a coalition that the connectivity does not withstand, with what would.
pub(super) fn too_many(request: &NoiseRequest<'_>, exact_out_of_reach: bool) -> PrivacyError {
    let &NoiseRequest {
        graph,
        colluders,
        connectivity,
        ..
    } = request;
    let enumerable = graph.nodes() <= ENUMERATED_UP_TO && !exact_out_of_reach;
    let exact = (enumerable && graph.is_connected())
        .then(|| usize::from(graph.nodes() > 1 && graph.cut_vertices().is_empty()));
    let spectral = (0..colluders)
        .rev()
        .find(|&t| connectivity.after(t).is_some());
    PrivacyError::TooManyColluders {
        colluders,
        connectivity: connectivity.lower_bound,
        exact_out_of_reach,
        largest: exact.max(spectral),
        degree: sufficient_degree(colluders, graph.nodes()),
    }
}

/// A degree at which random regular graphs have λ₂ ≈ d − 2√(d−1) > t (Friedman 2008), with a twentieth to
/// spare; at most that of the complete graph, whose λ₂ is s.
fn sufficient_degree(colluders: usize, peers: usize) -> usize {
    let wanted = 1.05 * colluders as f64;
    (3..peers)
        .find(|&degree| {
            let d = degree as f64;
            d - 2.0 * (d - 1.0).sqrt() > wanted
        })
        .unwrap_or_else(|| peers.saturating_sub(1))
}

/// The names of the nodes of one component, the first few.
fn members(graph: &Graph, components: &[Option<u32>], piece: u32) -> Vec<String> {
    let mut nodes = (0..graph.nodes()).filter(|&u| components[u] == Some(piece));
    let mut names: Vec<String> = nodes.by_ref().take(LISTED).map(|u| graph.name(u)).collect();
    let rest = nodes.count();
    if rest > 0 {
        names.push(format!("{rest} more"));
    }
    names
}
