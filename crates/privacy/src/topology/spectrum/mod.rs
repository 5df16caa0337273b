//! The eigenvalues of a graph that decide privacy and averaging rounds, as intervals.

mod certified;
mod estimated;
mod laplacian;

#[cfg(test)]
mod tests;

use serde::Serialize;

use super::{Graph, Mixing};
use laplacian::Laplacian;

/// Up to this many nodes both ends of every interval are proved; beyond, most are estimated.
pub const CERTIFIED_UP_TO: usize = 2000;

/// The factor by which an estimated distance (λ₂(L), 1 − λ₂(W), 1 + λ_min(W)) is reduced before it is
/// used as if it were a bound. Only the number of averaging rounds may rest on it, never a privacy promise.
pub const SAFETY: f64 = 0.9;

/// Half a unit in the last place of 1.
const UNIT: f64 = f64::EPSILON / 2.0;

/// Where an eigenvalue lies.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// The best single number, within the interval: the eigenvalue to several digits, or, where nothing
    /// converged, the end on the side of slower mixing.
    pub estimate: f64,
    /// Upper end.
    pub high: f64,
    /// Whether both ends are proved, rounding errors of the proof included. Otherwise the end that
    /// matters (the one on the side of slower mixing) is a converged Lanczos estimate. Its distance λ₂(L),
    /// 1 − λ₂(W) or 1 + λ_min(W) is multiplied by 0.9.
    pub certified: bool,
}

/// Whether a number is the value of a quantity, or a lower bound on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Known {
    /// It is the quantity, to the digits that are shown.
    Value,
    /// The quantity is that or more: nothing better is known.
    AtLeast,
}

impl Known {
    /// What stands before the number in a text: nothing, or "at least ".
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Value => "",
            Self::AtLeast => "at least ",
        }
    }
}

impl Interval {
    /// Whether [`Self::estimate`] is the quantity, or no more than the lower end of an interval whose upper end is
    /// elsewhere, by a millionth of it or more.
    #[must_use]
    pub fn known(&self) -> Known {
        let width = self.high - self.low;
        let at_the_end = self.estimate - self.low <= 1e-6 * width;
        if at_the_end && width > 1e-6 * self.estimate.abs() {
            Known::AtLeast
        } else {
            Known::Value
        }
    }

    fn exactly(value: f64) -> Self {
        Self {
            low: value,
            estimate: value,
            high: value,
            certified: true,
        }
    }

    /// Whether `value` lies in the interval.
    #[must_use]
    pub fn contains(&self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }

    /// The interval of `1 − value`, rounded outwards.
    fn one_minus(self) -> Self {
        Self {
            low: (1.0 - self.high).next_down(),
            estimate: 1.0 - self.estimate,
            high: (1.0 - self.low).next_up(),
            certified: self.certified,
        }
    }

    /// The interval of `value / divisor`, rounded outwards, for a positive divisor.
    fn divided_by(self, divisor: f64) -> Self {
        Self {
            low: (self.low / divisor).next_down(),
            estimate: self.estimate / divisor,
            high: (self.high / divisor).next_up(),
            certified: self.certified,
        }
    }
}

/// What the spectra of a graph's Laplacian L and mixing matrix W say.
///
/// For a single node, which has nothing to mix, all three are 0.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Spectrum {
    /// λ₂(L), Fiedler's algebraic connectivity; decides what a coalition can undo (the chapter on accounting of the guide).
    pub algebraic_connectivity: Interval,
    /// λ₂(W), the second largest eigenvalue of the mixing matrix; decides the rounds of averaging
    /// (the chapter on averaging of the guide).
    pub mixing_second: Interval,
    /// The smallest eigenvalue of the mixing matrix, above −1.
    pub mixing_smallest: Interval,
}

impl Spectrum {
    /// The spectrum of `graph` and its Metropolis–Hastings weights.
    ///
    /// # Cost
    /// O(n³) up to 2000 nodes (at most 8 n³/3 multiplications in the usual case), a few
    /// hundred sparse products beyond, where a graph that mixes very slowly may take several seconds.
    #[must_use]
    pub fn of(graph: &Graph, mixing: &Mixing) -> Self {
        if graph.nodes() == 1 {
            return Self {
                algebraic_connectivity: Interval::exactly(0.0),
                mixing_second: Interval::exactly(0.0),
                mixing_smallest: Interval::exactly(0.0),
            };
        }
        let dense = graph.nodes() <= CERTIFIED_UP_TO;
        let second = |m| {
            if dense {
                certified::second_smallest(m)
            } else {
                estimated::second_smallest(m)
            }
        };
        let of_mixing = Laplacian::of_mixing(graph, mixing);
        let (algebraic_connectivity, mixing_second) = if graph.is_connected() {
            let connectivity = second(Laplacian::of_graph(graph));
            // On a regular graph every weight is 1 / (1 + d): I − W = L / (1 + d).
            let gap = if graph.min_degree() == graph.max_degree() {
                connectivity.divided_by(1.0 + graph.max_degree() as f64)
            } else {
                second(of_mixing)
            };
            (connectivity, gap.one_minus())
        } else {
            (Interval::exactly(0.0), Interval::exactly(1.0))
        };
        let mixing_smallest = if dense {
            certified::largest(of_mixing)
        } else {
            estimated::largest(of_mixing)
        };
        Self {
            algebraic_connectivity,
            mixing_second,
            mixing_smallest: mixing_smallest.one_minus(),
        }
    }

    /// 1 − max(λ₂(W), |λ_min(W)|), from the estimates: the share of disagreement that one round of plain
    /// averaging removes, in (0, 1] for a connected graph.
    #[must_use]
    pub fn spectral_gap(&self) -> f64 {
        let smallest = self.mixing_smallest.estimate.abs();
        1.0 - self.mixing_second.estimate.max(smallest)
    }

    /// Whether every interval is proved.
    #[must_use]
    pub fn is_certified(&self) -> bool {
        self.algebraic_connectivity.certified
            && self.mixing_second.certified
            && self.mixing_smallest.certified
    }
}

/// A lower bound of λ₂(M) on a connected graph that needs no eigenvalue: the better of two.
///
/// The smallest weight times 4 / (s · diameter) (Mohar 1991, for L; and M ⪰ smallest weight · L), and the smallest
/// weight over [`tree_load`].
fn distance_floor(m: Laplacian<'_>) -> f64 {
    let by_diameter = m.graph().diameter_bound().map_or(0.0, |diameter| {
        4.0 / (m.nodes() as f64 * f64::from(diameter.max(1)))
    });
    let by_tree = tree_load(m.graph()).map_or(0.0, |load| 1.0 / load);
    m.least_weight() * by_diameter.max(by_tree) * (1.0 - 8.0 * UNIT)
}

/// max_e Σ_{i below e} ℓ_i over the edges of a breadth-first tree from a central node, ℓ_i being i's distance to it;
/// `None` if the graph is not connected or has no edge.
///
/// Statement: λ₂(L) ≥ 1/this. Proof: for x ⟂ 1 and the root r, ‖x‖² ≤ Σ_i (x_i − x_r)². Cauchy–Schwarz along the path of
/// ℓ_i edges gives (x_i − x_r)² ≤ ℓ_i·Σ_e (x_a − x_b)²_e over that path; summed over i every tree edge occurs with the
/// weight Σ_{i below e} ℓ_i, and the squares over all edges add up to xᵀLx. ∎ On a path of n nodes it is 8/n², where
/// λ₂ ≈ π²/n².
fn tree_load(graph: &Graph) -> Option<f64> {
    let farthest = |from: usize| -> Option<(u32, usize, Vec<u32>)> {
        let distances: Option<Vec<u32>> = graph.distances(from).into_iter().collect();
        let distances = distances?;
        let (&most, last) = distances.iter().zip(0..).max_by_key(|&(d, _)| *d)?;
        Some((most, last, distances))
    };
    // The middle of a long shortest path.
    let (_, end, _) = farthest(0)?;
    let (length, other, from_end) = farthest(end)?;
    let from_other = farthest(other)?.2;
    let middle = (0..graph.nodes())
        .filter(|&u| from_end[u] + from_other[u] == length)
        .min_by_key(|&u| from_end[u].abs_diff(from_other[u]))?;
    let distance = farthest(middle)?.2;
    let mut order: Vec<usize> = (0..graph.nodes()).filter(|&u| u != middle).collect();
    order.sort_by_key(|&u| std::cmp::Reverse(distance[u]));
    // Whole numbers below 2⁵³ for every graph that fits into memory as long as it is not one long path of 10⁸ nodes;
    // beyond, each of the sums rounds once per node.
    let mut load: Vec<f64> = distance.iter().copied().map(f64::from).collect();
    let mut largest = 0.0_f64;
    for u in order {
        largest = largest.max(load[u]);
        let mut nearer = graph.neighbours(u).iter().map(|&v| v as usize);
        let parent = nearer.find(|&v| distance[v] + 1 == distance[u])?;
        load[parent] += load[u];
    }
    let rounding = 1.0 + graph.nodes() as f64 * f64::EPSILON;
    (largest > 0.0).then_some(largest * rounding)
}
