//! Explains a refused noise plan: which peer, piece or number is in the way, and what would do.

use super::super::PrivacyError;
use super::super::accountant::PublicGraph;
use super::{NoiseRequest, OnDisconnect, certified};
use crate::topology::{CERTIFIED_UP_TO, Graph};

/// Names listed in a message before "and n more".
const LISTED: usize = 5;

/// Refuses a graph that is in pieces, or that one colluder would leave in pieces, unless these are to be paid for: what needs no eigenvalue to be seen.
///
/// # Errors
/// [`PrivacyError::Disconnected`] and [`PrivacyError::CutVertex`], which name the pieces.
pub fn refuse_split(
    graph: &Graph,
    colluders: usize,
    on_disconnect: OnDisconnect,
) -> Result<(), PrivacyError> {
    if on_disconnect == OnDisconnect::SmallestComponent {
        return Ok(());
    }
    if_disconnected(graph)?;
    match colluders {
        1 => if_cut(graph),
        _ => Ok(()),
    }
}

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
fn if_cut(graph: &Graph) -> Result<(), PrivacyError> {
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
        vertex: graph.printed(vertex as usize),
        isolated: members(graph, &components, piece),
        remaining: graph.nodes() - 1 - size,
    })
}

/// The refusal of a coalition against which no certificate stays within the overhead, with what would.
pub(super) fn too_many(
    request: &NoiseRequest<'_>,
    public: &PublicGraph<'_>,
    exact_out_of_reach: bool,
) -> PrivacyError {
    let &NoiseRequest {
        graph,
        colluders,
        connectivity,
        overhead,
        ..
    } = request;
    let needed = |t: usize| {
        let factor = certified::limit(request, public, t);
        (factor < 1.0).then(|| (factor * (graph.nodes() - t) as f64 - 1.0).max(0.0))
    };
    let withstood = |t: usize| needed(t).is_some_and(|needed| needed < overhead);
    // The certificates weaken with t, so the largest size is found by halving; whatever is found was looked at.
    let largest = withstood(0).then(|| {
        let (mut good, mut bad) = (0, colluders);
        while bad - good > 1 {
            let middle = good + (bad - good) / 2;
            if withstood(middle) {
                good = middle;
            } else {
                bad = middle;
            }
        }
        good
    });
    let weakest = if graph.min_degree() <= colluders {
        (0..graph.nodes())
            .min_by_key(|&u| graph.degree(u))
            .unwrap_or(0)
    } else {
        public.worst(f64::INFINITY, colluders).1 as usize
    };
    PrivacyError::TooManyColluders {
        colluders,
        connectivity: connectivity.lower_bound,
        exact_out_of_reach,
        overhead,
        // A little more than the limit, so that finite pairwise noise can do it.
        needed: needed(colluders).map(|needed| (needed * 1.01 + 0.001) * (1.0 + 1e-9)),
        weakest: graph.printed(weakest),
        partners: graph.degree(weakest),
        largest,
        degree: sufficient_degree(colluders, graph.nodes()),
    }
}

/// A degree at which random regular graphs have λ₂ ≈ d − 2√(d−1) > t (Friedman 2008), with a twentieth to
/// spare; at most that of the complete graph, whose λ₂ is s. Beyond [`CERTIFIED_UP_TO`] peers nobody proves λ₂, and the
/// trees that t colluders leave of d must cover more than half of the peers: a tenth to spare there.
fn sufficient_degree(colluders: usize, peers: usize) -> usize {
    let t = colluders as f64;
    (3..peers)
        .find(|&degree| {
            let d = degree as f64;
            let overlaps = peers <= CERTIFIED_UP_TO || d > 2.2 * t + 1.0;
            overlaps && d - 2.0 * (d - 1.0).sqrt() > 1.05 * t
        })
        .unwrap_or_else(|| peers.saturating_sub(1))
}

/// The names of the nodes of one component as they can be typed, the first few.
fn members(graph: &Graph, components: &[Option<u32>], piece: u32) -> Vec<String> {
    let mut nodes = (0..graph.nodes()).filter(|&u| components[u] == Some(piece));
    let mut names: Vec<String> = nodes
        .by_ref()
        .take(LISTED)
        .map(|u| graph.printed(u))
        .collect();
    let rest = nodes.count();
    if rest > 0 {
        names.push(format!("{rest} more"));
    }
    names
}
