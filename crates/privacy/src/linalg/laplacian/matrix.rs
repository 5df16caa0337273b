//! A weighted graph Laplacian plus a diagonal that is not negative.

/// Σ = D + K on a connected graph: D diagonal with entries of at least 0, not all 0, and K the Laplacian of weighted
/// edges (K1 = 0). Everything is in units of [`Self::unit`].
///
/// Noise of this covariance is what independent terms at every node (D) and terms of opposite sign at the two ends of every
/// edge (K) add up to.
#[derive(Clone, Debug)]
pub(crate) struct ShiftedLaplacian {
    /// The diagonal of D, its largest entry between 1 and 2.
    pub(super) own: Vec<f64>,
    offsets: Vec<usize>,
    neighbours: Vec<u32>,
    weights: Vec<f64>,
    /// A power of two: the number that counts as 1, so that scaling loses nothing.
    pub(super) unit: f64,
}

impl ShiftedLaplacian {
    /// The matrix with the diagonal `own` of D (finite, at least 0, not all 0) and for every row the neighbours in the
    /// graph with the weight of the edge. Rows are numbered breadth-first: every row but the first has a neighbour before it.
    pub(crate) fn new(mut own: Vec<f64>, rows: impl Iterator<Item = Vec<(u32, f64)>>) -> Self {
        let largest = own.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
        // The exponent alone: the largest power of two that is not above it.
        let unit = f64::from_bits(largest.to_bits() & !((1 << 52) - 1));
        own.iter_mut().for_each(|entry| *entry /= unit);
        let (mut offsets, mut neighbours, mut weights) = (vec![0], Vec::new(), Vec::new());
        for row in rows {
            for (v, weight) in row {
                neighbours.push(v);
                weights.push(weight / unit);
            }
            offsets.push(neighbours.len());
        }
        Self {
            own,
            offsets,
            neighbours,
            weights,
            unit,
        }
    }

    /// Number of rows.
    pub(crate) fn len(&self) -> usize {
        self.own.len()
    }

    /// The first row whose entry of D is 0.
    pub(crate) fn first_without_own(&self) -> Option<usize> {
        self.own.iter().position(|&entry| entry == 0.0)
    }

    /// The largest number of neighbours.
    pub(super) fn largest_degree(&self) -> usize {
        (0..self.len())
            .map(|i| self.neighbours_of(i).len())
            .max()
            .unwrap_or(0)
    }

    /// The neighbours of row i.
    pub(super) fn neighbours_of(&self, i: usize) -> &[u32] {
        &self.neighbours[self.offsets[i]..self.offsets[i + 1]]
    }

    /// Where the neighbours of every row start in the concatenation of all of them.
    pub(super) fn offsets(&self) -> &[usize] {
        &self.offsets
    }

    /// The neighbours of all rows, concatenated.
    pub(super) fn neighbours(&self) -> &[u32] {
        &self.neighbours
    }

    /// The neighbours of row i with the weight of each edge, in units.
    pub(crate) fn row(&self, i: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let range = self.offsets[i]..self.offsets[i + 1];
        self.neighbours_of(i)
            .iter()
            .zip(&self.weights[range])
            .map(|(&v, &weight)| (v as usize, weight))
    }

    /// Σ_ii of every row.
    pub(super) fn diagonal(&self) -> Vec<f64> {
        (0..self.len())
            .map(|i| self.own[i] + self.row(i).map(|(_, weight)| weight).sum::<f64>())
            .collect()
    }

    /// tr D = Σ d_i to a few units in the last place, whatever the number of rows (Neumaier 1974).
    pub(super) fn total_own(&self) -> f64 {
        let (mut sum, mut lost) = (0.0_f64, 0.0);
        for &term in &self.own {
            let next = sum + term;
            // Terms are not negative: the larger one loses nothing.
            lost += if sum >= term {
                (sum - next) + term
            } else {
                (term - next) + sum
            };
            sum = next;
        }
        sum + lost
    }
}
