//! Sparse elimination in minimum degree order, and the entries of the inverse on its pattern.

use std::collections::BTreeSet;

use nalgebra::DMatrix;

use super::dense_core;
use super::pivot::pivot;
use crate::linalg::laplacian::ShiftedLaplacian;

/// The dense core may have so many rows, whatever the size of the matrix.
const MOST_CORE_ROWS: usize = 4096;

/// Entries that the factor may have outside its core.
const MOST_ENTRIES: usize = 20_000_000;

/// What is left is dense from this share of all possible entries on.
const DENSE: f64 = 0.5;

/// Entries that may be merged, per row and entry of the matrix, until few enough rows for a core are left.
const MERGED: f64 = 0.05;

/// Entries that may be merged whatever the size.
const MERGED_AT_LEAST: f64 = 1e6;

/// Place of a row that is not in the core.
const ELIMINATED: u32 = u32::MAX;

/// One eliminated row.
struct Column {
    row: u32,
    /// p.
    pivot: f64,
    /// The rows left that it was linked to, ascending, with l.
    links: Vec<(u32, f64)>,
}

/// The factorisation: eliminated rows in their order, and the core that is left.
pub(super) struct Eliminated {
    columns: Vec<Column>,
    /// The rows of the core, ascending, and for every row its place among them or [`ELIMINATED`].
    core: Vec<u32>,
    places: Vec<u32>,
    /// Own entries of the core, and its weights below the diagonal.
    own: Vec<f64>,
    weights: DMatrix<f64>,
}

/// Eliminates rows of least degree until what is left is dense; `None` where that is more than the share `largest_core`.
pub(super) fn eliminate(sigma: &ShiftedLaplacian, largest_core: f64) -> Option<Eliminated> {
    let n = sigma.len();
    let mut own = sigma.own.clone();
    let mut rows: Vec<Vec<(u32, f64)>> = (0..n)
        .map(|i| {
            let row = sigma.row(i).map(|(j, weight)| (j as u32, weight));
            let mut row: Vec<(u32, f64)> = row.collect();
            row.sort_unstable_by_key(|&(j, _)| j);
            row
        })
        .collect();
    let degree = |row: &[(u32, f64)]| row.len() as u32;
    let mut queue: BTreeSet<(u32, u32)> =
        (0..).zip(&rows).map(|(u, row)| (degree(row), u)).collect();
    let mut entries: usize = rows.iter().map(Vec::len).sum();
    let allowed = (MERGED * n as f64 * entries as f64).max(MERGED_AT_LEAST);
    let (mut merges, mut stored) = (0.0, 0);
    let mut columns: Vec<Column> = Vec::new();
    let mut places = vec![0; n];
    let mut merged: Vec<(u32, f64)> = Vec::new();
    let small = |left: usize| left as f64 <= largest_core * n as f64 && left <= MOST_CORE_ROWS;
    while let Some(&(least, u)) = queue.first() {
        let left = n - columns.len();
        let dense = entries as f64 > DENSE * (left as f64).powi(2);
        if left < 2 || 2 * least as usize > left && dense {
            break;
        }
        if !small(left) && merges > allowed || stored > MOST_ENTRIES {
            return None;
        }
        queue.remove(&(least, u));
        let links = std::mem::take(&mut rows[u as usize]);
        let here = own[u as usize];
        let pivot = pivot(here, links.iter().map(|&(_, weight)| weight));
        let inverse = 1.0 / pivot;
        places[u as usize] = ELIMINATED;
        entries -= 2 * links.len();
        for &(i, weight) in &links {
            let row = &mut rows[i as usize];
            queue.remove(&(degree(row), i));
            merges += (row.len() + links.len()) as f64;
            own[i as usize] += weight / pivot * here;
            let before = row.len() - 1;
            merge(row, &links, (u, i), weight, inverse, &mut merged);
            std::mem::swap(row, &mut merged);
            entries += row.len() - before;
            queue.insert((degree(row), i));
        }
        stored += links.len();
        let links = links.into_iter().map(|(i, weight)| (i, weight / pivot));
        columns.push(Column {
            row: u,
            pivot,
            links: links.collect(),
        });
    }
    let core: Vec<u32> = (0..n as u32)
        .filter(|&u| places[u as usize] != ELIMINATED)
        .collect();
    if core.len() > 1 && !small(core.len()) {
        return None;
    }
    for (place, &u) in (0_u32..).zip(&core) {
        places[u as usize] = place;
    }
    let mut weights = DMatrix::zeros(core.len(), core.len());
    for (j, &u) in core.iter().enumerate() {
        for &(v, weight) in &rows[u as usize] {
            let i = places[v as usize] as usize;
            if i > j {
                weights[(i, j)] = weight;
            }
        }
    }
    Some(Eliminated {
        columns,
        own: core.iter().map(|&u| own[u as usize]).collect(),
        core,
        places,
        weights,
    })
}

/// Writes to `merged` the row of i without u, each weight w_ij larger by w_ui·w_uj/p; `links` is the row of u, `weight` is w_ui.
///
/// The product of the two weights is rounded first, so that both ends of an edge get the same bits.
fn merge(
    row: &[(u32, f64)],
    links: &[(u32, f64)],
    (u, i): (u32, u32),
    weight: f64,
    inverse: f64,
    merged: &mut Vec<(u32, f64)>,
) {
    merged.clear();
    let mut row = row.iter().filter(|&&(j, _)| j != u).peekable();
    for &(j, other) in links {
        if j == i {
            continue;
        }
        while let Some(&entry) = row.next_if(|&&(k, _)| k < j) {
            merged.push(entry);
        }
        let before = row.next_if(|&&(k, _)| k == j).map_or(0.0, |&(_, w)| w);
        merged.push((j, before + weight * other * inverse));
    }
    merged.extend(row);
}

impl Eliminated {
    /// The diagonal of the inverse, and for each entry the roundings on the way to it, counted as in the proof of the
    /// parent module.
    pub(super) fn inverse_diagonal(self) -> (Vec<f64>, Vec<f64>) {
        let n = self.places.len();
        let (inverse, in_core) = dense_core::inverse(self.own, self.weights);
        let mut diagonal = vec![0.0; n];
        let mut roundings = vec![in_core; n];
        for (place, &u) in self.core.iter().enumerate() {
            diagonal[u as usize] = inverse[(place, place)];
        }
        let mut numbers = vec![0; n];
        for (number, column) in self.columns.iter().enumerate() {
            numbers[column.row as usize] = number;
        }
        let mut selected: Vec<Vec<f64>> = vec![Vec::new(); self.columns.len()];
        // Σ_j l_j·z_ij per row i of the column in hand.
        let mut sums = vec![0.0; n];
        for (number, column) in self.columns.iter().enumerate().rev() {
            let links = column.links.as_slice();
            for &(i, _) in links {
                sums[i as usize] = 0.0;
            }
            let in_core: Vec<(u32, f64)> = links
                .iter()
                .map(|&(j, l)| (self.places[j as usize], l))
                .filter(|&(place, _)| place != ELIMINATED)
                .collect();
            let mut known = 0.0_f64;
            for &(i, l) in links {
                known = known.max(roundings[i as usize]);
                let place = self.places[i as usize];
                if place != ELIMINATED {
                    let z = inverse.column(place as usize);
                    let z = z.as_slice();
                    let products = in_core.iter().map(|&(j, l)| z[j as usize] * l);
                    sums[i as usize] += products.sum::<f64>();
                    continue;
                }
                sums[i as usize] += diagonal[i as usize] * l;
                // Row i was eliminated later than this one: its column has z_ij for all j that were so still later.
                let later = numbers[i as usize];
                let theirs = self.columns[later].links.iter().zip(&selected[later]);
                let mut theirs = theirs.peekable();
                for &(j, other) in links {
                    while theirs.next_if(|((k, _), _)| *k < j).is_some() {}
                    if let Some((_, z)) = theirs.next_if(|((k, _), _)| *k == j) {
                        sums[i as usize] += z * other;
                        sums[j as usize] += z * l;
                    }
                }
            }
            let u = column.row as usize;
            selected[number] = links.iter().map(|&(i, _)| sums[i as usize]).collect();
            let products = links
                .iter()
                .zip(&selected[number])
                .map(|(&(_, l), z)| l * z);
            diagonal[u] = 1.0 / column.pivot + products.sum::<f64>();
            roundings[u] = known + (2 * links.len() + 12) as f64;
        }
        (diagonal, roundings)
    }
}
