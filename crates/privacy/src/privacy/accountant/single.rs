//! Variance factors against every coalition of one peer, by enumeration.
//!
//! # One inverse for all coalitions
//! Let M = aI + bL_G + τ11ᵀ on a connected piece of G with inverse X (see [`super::component`]). Without
//! peer c the covariance (with the same τ) is T = M restricted to the others, minus b on the diagonal of c's
//! neighbours N, whose degree falls by one. The restriction has the inverse P = X − X_{:c}X_{c:}/X_cc, and with E
//! the columns e_v, v ∈ N, Woodbury gives T⁻¹ = P + PE·K⁻¹·EᵀP, K = I/b − EᵀPE, positive definite because T
//! is. So with K = FFᵀ, [T⁻¹]_uu = P_uu + ‖F⁻¹EᵀPe_u‖²: O(n·d_c²) for all u, where a fresh inverse costs O(n³).
//!
//! If c is a cut vertex, T is singular up to a and its pieces are inverted directly; likewise where a pivot of
//! K says that the update would lose more than six digits.

use rayon::prelude::*;

use super::component::{Component, pieces};
use crate::privacy::PrivacyError;
use crate::topology::Graph;

/// Coalitions of one peer are enumerated up to this many peers.
pub(crate) const ENUMERATED_UP_TO: usize = 2000;

/// Relative allowance for rounding on every enumerated diagonal entry. The updates lose at most six of sixteen
/// digits (see [`SMALLEST_PIVOT`]); the base inverse's own error bound is added on top, a hundredfold.
const ALLOWANCE: f64 = 1e-8;

/// Pivots of b·K below this are not trusted.
const SMALLEST_PIVOT: f64 = 1e-6;

/// Multiplications above which enumeration is given up.
const MOST_WORK: f64 = 3e10;

/// The most exposed peer of one honest piece, under one coalition.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Exposure {
    /// The coalition: nobody, or one peer. (For a piece the coalition does not touch, any peer elsewhere.)
    pub colluder: Option<u32>,
    /// The most exposed peer.
    pub peer: u32,
    /// Honest peers connected to it, itself included.
    pub honest: usize,
    /// An upper bound on Σ_{k≥2} w_k/(a + bλ_k); its variance factor is 1/(honest·a) + this.
    pub excess: f64,
}

impl Exposure {
    /// [Σ_H⁻¹]_uu of the most exposed peer: its μ² per iteration is Δ² times this.
    #[must_use]
    pub(crate) fn variance_factor(&self, own: f64) -> f64 {
        1.0 / (self.honest as f64 * own) + self.excess
    }
}

/// The most exposed peers of a graph.
pub(in crate::privacy) struct Exposures {
    /// With no coalition: one entry per connected piece.
    pub alone: Vec<Exposure>,
    /// With coalitions of one: one entry per coalition and piece it leaves; `None` if not asked for, or if the
    /// graph is too dense.
    pub single: Option<Vec<Exposure>>,
}

/// Enumerates coalitions of nobody and (`singles`) of one peer, for own noise of variance a = `own` ≥ 0 and
/// pairwise noise of variance b = `pairwise` ≥ 0, not both 0.
///
/// `None` if the graph has more than [`ENUMERATED_UP_TO`] peers.
///
/// # Errors
/// [`PrivacyError::IllConditioned`] if an inverse fails its own check.
pub(in crate::privacy) fn enumerate(
    graph: &Graph,
    own: f64,
    pairwise: f64,
    singles: bool,
) -> Result<Option<Exposures>, PrivacyError> {
    if graph.nodes() > ENUMERATED_UP_TO {
        return Ok(None);
    }
    let all = pieces(graph, &[]);
    let cut = if singles {
        graph.cut_vertices()
    } else {
        Vec::new()
    };
    let mut exposures = Exposures {
        alone: Vec::with_capacity(all.len()),
        single: (singles && work(graph, &all, &cut) <= MOST_WORK).then(Vec::new),
    };
    for nodes in all {
        let component = Component::new(graph, nodes, own, pairwise)?;
        let alone = most_exposed(None, &component);
        exposures.alone.push(alone);
        let Some(single) = &mut exposures.single else {
            continue;
        };
        if alone.honest < graph.nodes() {
            let colluder =
                (0..graph.nodes() as u32).find(|u| component.nodes.binary_search(u).is_err());
            single.push(Exposure { colluder, ..alone });
        }
        let per_colluder: Result<Vec<Vec<Exposure>>, PrivacyError> = (0..component.nodes.len())
            .into_par_iter()
            .map(|c| {
                let colluder = component.nodes[c];
                let updated = if cut.binary_search(&colluder).is_ok() {
                    None
                } else {
                    without(graph, &component, c, pairwise)
                };
                updated.map_or_else(
                    || directly(graph, &component, colluder, own, pairwise),
                    |exposure| Ok(exposure.into_iter().collect()),
                )
            })
            .collect();
        single.extend(per_colluder?.into_iter().flatten());
    }
    Ok(Some(exposures))
}

/// The exposure with the largest variance factor; the first of equals.
pub(in crate::privacy) fn worst(exposures: &[Exposure], own: f64) -> Option<Exposure> {
    exposures.iter().copied().reduce(|best, next| {
        if next.variance_factor(own) > best.variance_factor(own) {
            next
        } else {
            best
        }
    })
}

/// Multiplications that enumerating the coalitions of one would take, apart from one inverse per piece.
fn work(graph: &Graph, all: &[Vec<u32>], cut: &[u32]) -> f64 {
    let mut total = 0.0;
    for nodes in all {
        let n = nodes.len() as f64;
        for &c in nodes {
            let d = graph.degree(c as usize) as f64;
            total += if cut.binary_search(&c).is_ok() {
                graph
                    .component_sizes_without(&[c])
                    .into_iter()
                    .filter(|&size| size < nodes.len())
                    .map(|size| 2.0 * (size as f64).powi(3))
                    .sum()
            } else {
                n * d * d + d * d * d
            };
        }
    }
    total
}

impl Component {
    /// The relative allowance on an entry derived from this inverse.
    fn allowance(&self) -> f64 {
        ALLOWANCE + 100.0 * self.relative_error
    }
}

fn most_exposed(colluder: Option<u32>, component: &Component) -> Exposure {
    let (index, excess) = largest(component.excess().into_iter());
    let honest = component.nodes.len();
    let entry = excess + component.known_part(honest);
    Exposure {
        colluder,
        peer: component.nodes[index],
        honest,
        excess: if honest == 1 {
            0.0
        } else {
            excess + entry * component.allowance()
        },
    }
}

fn largest(values: impl Iterator<Item = f64>) -> (usize, f64) {
    values
        .enumerate()
        .fold((0, f64::NEG_INFINITY), |best, next| {
            if next.1 > best.1 { next } else { best }
        })
}

/// The piece of `component` left by its peer number `c`, by Woodbury; `None` where that is not trusted, an
/// empty option inside where nobody is left.
fn without(
    graph: &Graph,
    component: &Component,
    c: usize,
    pairwise: f64,
) -> Option<Option<Exposure>> {
    let n = component.nodes.len();
    if n == 1 {
        return Some(None);
    }
    if pairwise == 0.0 {
        return None;
    }
    let x = &component.inverse;
    let around: Vec<usize> = graph
        .neighbours(component.nodes[c] as usize)
        .iter()
        .filter_map(|v| component.nodes.binary_search(v).ok())
        .collect();
    let d = around.len();
    let pivot_column = x.column(c);
    let pivot = x[(c, c)];
    // Rows of EᵀP, then, in place, of F⁻¹EᵀP.
    let mut rows: Vec<Vec<f64>> = around
        .iter()
        .map(|&v| {
            let factor = x[(v, c)] / pivot;
            x.column(v)
                .iter()
                .zip(pivot_column.iter())
                .map(|(a, b)| a - factor * b)
                .collect()
        })
        .collect();
    let mut factor = vec![0.0; d * d];
    for i in 0..d {
        for j in 0..=i {
            let mut value = -rows[i][around[j]];
            if i == j {
                value += 1.0 / pairwise;
            }
            factor[i * d + j] = value;
        }
    }
    for i in 0..d {
        for j in 0..=i {
            let dot: f64 = (0..j).map(|k| factor[i * d + k] * factor[j * d + k]).sum();
            let value = factor[i * d + j] - dot;
            if i == j {
                let relative = value * pairwise;
                if relative.is_nan() || relative <= SMALLEST_PIVOT {
                    return None;
                }
                factor[i * d + i] = value.sqrt();
            } else {
                factor[i * d + j] = value / factor[j * d + j];
            }
        }
    }
    let mut diagonal: Vec<f64> = (0..n)
        .map(|u| x[(u, u)] - pivot_column[u] * pivot_column[u] / pivot)
        .collect();
    for i in 0..d {
        let (before, from) = rows.split_at_mut(i);
        let row = &mut from[0];
        for (j, earlier) in before.iter().enumerate() {
            let weight = factor[i * d + j];
            for (value, other) in row.iter_mut().zip(earlier) {
                *value -= weight * other;
            }
        }
        let inverse = 1.0 / factor[i * d + i];
        for (value, sum) in row.iter_mut().zip(&mut diagonal) {
            *value *= inverse;
            *sum += *value * *value;
        }
    }
    diagonal[c] = f64::NEG_INFINITY;
    let (index, value) = largest(diagonal.into_iter());
    let excess = value * (1.0 + component.allowance()) - component.known_part(n - 1);
    Some(Some(Exposure {
        colluder: Some(component.nodes[c]),
        peer: component.nodes[index],
        honest: n - 1,
        excess: if n == 2 { 0.0 } else { excess.max(0.0) },
    }))
}

/// The pieces of `component` left by `colluder`, each inverted on its own.
fn directly(
    graph: &Graph,
    component: &Component,
    colluder: u32,
    own: f64,
    pairwise: f64,
) -> Result<Vec<Exposure>, PrivacyError> {
    pieces(graph, &[colluder])
        .into_iter()
        .filter(|nodes| component.nodes.binary_search(&nodes[0]).is_ok())
        .map(|nodes| {
            let piece = Component::new(graph, nodes, own, pairwise)?;
            Ok(most_exposed(Some(colluder), &piece))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_update_that_would_lose_its_digits_is_not_trusted() {
        // Without node 2 the graph falls apart: what is left is singular up to a/b.
        let graph = Graph::from_edges(5, &[(0, 1), (0, 2), (1, 2), (2, 3), (2, 4), (3, 4)])
            .expect("two triangles");
        let component =
            Component::new(&graph, (0..5).collect(), 1.0, 1e8).expect("well conditioned");
        assert_eq!(without(&graph, &component, 2, 1e8), None);
        assert!(without(&graph, &component, 0, 1e8).is_some());
        // The direct route takes over.
        let left = directly(&graph, &component, 2, 1.0, 1e8).expect("well conditioned");
        assert_eq!(left.iter().map(|e| e.honest).collect::<Vec<_>>(), [2, 2]);
    }
}
