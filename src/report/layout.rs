//! Places the nodes of a drawn graph: springs and repulsion, started from the graph's slow directions.
//!
//! Only sums, products, quotients and square roots, in a fixed order: the same graph gives the same picture.

use crate::topology::Graph;

/// A place in the plane.
pub(super) type Place = (f64, f64);

/// Pairs of nodes that all steps together may visit.
const BUDGET: usize = 30_000_000;

/// A place for every node in the square from (0, 0) to (1, 1).
///
/// Two directions of slow mixing (power iteration of the lazy walk) give the start; then nodes repel each other with
/// k²/d and edges pull with d²/k, in steps that shrink.
///
/// # Source
/// Fruchterman & Reingold (1991) for the forces.
///
/// # Cost
/// O(steps · nodes²), with fewer steps for more nodes: about 3·10⁷ pairs.
#[must_use]
pub(crate) fn places(graph: &Graph) -> Vec<(f64, f64)> {
    let nodes = graph.nodes();
    let mut places = slow_directions(graph);
    let pairs = (nodes * nodes / 2).max(1);
    let steps = (BUDGET / pairs).clamp(12, 300);
    let unit = (1.0 / nodes as f64).sqrt();
    let mut forces = vec![(0.0, 0.0); nodes];
    for step in 0..steps {
        let left = 1.0 - step as f64 / steps as f64;
        let limit = 0.1 * left * left + 0.02 * unit;
        apply_forces(graph, &places, unit, &mut forces);
        for (place, force) in places.iter_mut().zip(&forces) {
            let length = (force.0 * force.0 + force.1 * force.1).sqrt().max(1e-12);
            let scale = length.min(limit) / length;
            place.0 += force.0 * scale;
            place.1 += force.1 * scale;
        }
    }
    fitted(places)
}

fn apply_forces(graph: &Graph, places: &[Place], unit: f64, forces: &mut [Place]) {
    forces.fill((0.0, 0.0));
    for u in 0..places.len() {
        let (x, y) = places[u];
        let mut sum = (0.0, 0.0);
        for v in u + 1..places.len() {
            let (dx, dy) = (x - places[v].0, y - places[v].1);
            let push = unit * unit / (dx * dx + dy * dy).max(1e-9);
            sum.0 += push * dx;
            sum.1 += push * dy;
            forces[v].0 -= push * dx;
            forces[v].1 -= push * dy;
        }
        forces[u].0 += sum.0;
        forces[u].1 += sum.1;
        // A little gravity keeps separate pieces in the picture.
        forces[u].0 -= 0.2 * (x - 0.5);
        forces[u].1 -= 0.2 * (y - 0.5);
    }
    for (u, v) in graph.edge_list() {
        let (u, v) = (u as usize, v as usize);
        let (dx, dy) = (places[u].0 - places[v].0, places[u].1 - places[v].1);
        let pull = (dx * dx + dy * dy).sqrt() / unit;
        forces[u].0 -= pull * dx;
        forces[u].1 -= pull * dy;
        forces[v].0 += pull * dx;
        forces[v].1 += pull * dy;
    }
}

/// Two directions in which the lazy walk mixes slowly, scaled to the unit square, with a little noise so that no two
/// nodes coincide.
fn slow_directions(graph: &Graph) -> Vec<Place> {
    let nodes = graph.nodes();
    let mut first: Vec<f64> = (0..nodes).map(|u| hashed(u as u64)).collect();
    let mut second: Vec<f64> = (0..nodes).map(|u| hashed((u + nodes) as u64)).collect();
    let degrees: Vec<f64> = (0..nodes).map(|u| graph.degree(u).max(1) as f64).collect();
    for _ in 0..60 {
        for vector in [&mut first, &mut second] {
            *vector = lazy_step(graph, vector);
        }
        let ones = vec![1.0; nodes];
        remove(&mut first, &ones, &degrees);
        remove(&mut second, &ones, &degrees);
        remove(&mut second, &first, &degrees);
        normalise(&mut first, &degrees);
        normalise(&mut second, &degrees);
    }
    let spread = 0.25 * (degrees.iter().sum::<f64>()).sqrt();
    (0..nodes)
        .map(|u| {
            let jitter = |k: usize| 0.02 * hashed((u + k * nodes) as u64);
            let at = |vector: &[f64], k| 0.5 + spread * vector[u] + jitter(k);
            (at(&first, 2), at(&second, 3))
        })
        .collect()
}

fn lazy_step(graph: &Graph, vector: &[f64]) -> Vec<f64> {
    (0..vector.len())
        .map(|u| {
            let around = graph.neighbours(u);
            let sum: f64 = around.iter().map(|&v| vector[v as usize]).sum();
            0.5 * (vector[u] + sum / around.len().max(1) as f64)
        })
        .collect()
}

fn weighted(a: &[f64], b: &[f64], weights: &[f64]) -> f64 {
    a.iter()
        .zip(b)
        .zip(weights)
        .map(|((x, y), w)| x * y * w)
        .sum()
}

fn remove(vector: &mut [f64], other: &[f64], weights: &[f64]) {
    let norm = weighted(other, other, weights);
    if norm > 0.0 {
        let share = weighted(vector, other, weights) / norm;
        for (x, y) in vector.iter_mut().zip(other) {
            *x -= share * y;
        }
    }
}

fn normalise(vector: &mut [f64], weights: &[f64]) {
    let norm = weighted(vector, vector, weights).sqrt();
    if norm > 0.0 {
        vector.iter_mut().for_each(|x| *x /= norm);
    }
}

/// A number between −1 and 1 that looks random (the finaliser of SplitMix64).
fn hashed(index: u64) -> f64 {
    let mut z = index.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
}

/// Moved and scaled, alike in both directions, into the unit square.
fn fitted(mut places: Vec<Place>) -> Vec<Place> {
    let ends = |coordinate: fn(&Place) -> f64| {
        let values = places.iter().map(coordinate);
        values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| {
            (low.min(v), high.max(v))
        })
    };
    let ((left, right), (top, bottom)) = (ends(|p| p.0), ends(|p| p.1));
    let size = (right - left).max(bottom - top).max(1e-9);
    let middle = (0.5 * (left + right), 0.5 * (top + bottom));
    for place in &mut places {
        place.0 = 0.5 + (place.0 - middle.0) / size;
        place.1 = 0.5 + (place.1 - middle.1) / size;
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    fn distance(a: Place, b: Place) -> f64 {
        ((a.0 - b.0).powi(2) + (a.1 - b.1).powi(2)).sqrt()
    }

    #[test]
    fn neighbours_are_drawn_close_and_nobody_on_top_of_another() {
        let ring: Vec<(u32, u32)> = (0..24).map(|u| (u, (u + 1) % 24)).collect();
        let star: Vec<(u32, u32)> = (1..24).map(|v| (0, v)).collect();
        let pieces: Vec<(u32, u32)> = (0..8).map(|u| (3 * u, 3 * u + 1)).collect();
        for edges in [ring, star, pieces] {
            let graph = Graph::from_edges(24, &edges).expect("simple");
            let drawn = places(&graph);
            assert_eq!(drawn, places(&graph));
            let pairs = || (0..24).flat_map(|u| (u + 1..24).map(move |v| (u, v)));
            let all: f64 = pairs().map(|(u, v)| distance(drawn[u], drawn[v])).sum();
            let mean = all / 276.0;
            let least = pairs()
                .map(|(u, v)| distance(drawn[u], drawn[v]))
                .fold(f64::INFINITY, f64::min);
            assert!(least > 0.02, "{least}");
            let joined = graph
                .edge_list()
                .map(|(u, v)| distance(drawn[u as usize], drawn[v as usize]));
            let joined = joined.sum::<f64>() / graph.edges() as f64;
            assert!(joined < 0.8 * mean, "{joined} {mean}");
            let inside = |v: f64| (-1e-9..=1.0 + 1e-9).contains(&v);
            assert!(drawn.iter().all(|p| inside(p.0) && inside(p.1)));
        }
    }

    #[test]
    fn a_single_node_has_a_place() {
        let graph = Graph::from_edges(1, &[]).expect("one node");
        assert_eq!(places(&graph), [(0.5, 0.5)]);
    }
}
