//! One connected component of honest peers with its noise.

/// The honest peers of one connected component, their own variances and the variances they share, in units of
/// [`Self::unit`].
pub(super) struct Piece {
    /// The peers; everything else is indexed by position in this list.
    pub nodes: Vec<u32>,
    /// Own variances d_i, the largest between 1 and 2.
    pub own: Vec<f64>,
    offsets: Vec<usize>,
    neighbours: Vec<u32>,
    weights: Vec<f64>,
    /// A power of two: the variance that counts as 1, so that scaling loses nothing.
    pub unit: f64,
}

impl Piece {
    /// The piece on `nodes` with own variances `own` (not all 0, finite) and for every node its partners, by
    /// position, with the variance shared.
    pub(super) fn new(
        nodes: Vec<u32>,
        mut own: Vec<f64>,
        rows: impl Iterator<Item = Vec<(u32, f64)>>,
    ) -> Self {
        let largest = own.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
        // The exponent alone: the largest power of two that is not above it.
        let unit = f64::from_bits(largest.to_bits() & !((1 << 52) - 1));
        own.iter_mut().for_each(|variance| *variance /= unit);
        let (mut offsets, mut neighbours, mut weights) = (vec![0], Vec::new(), Vec::new());
        for row in rows {
            for (v, weight) in row {
                neighbours.push(v);
                weights.push(weight / unit);
            }
            offsets.push(neighbours.len());
        }
        Self {
            nodes,
            own,
            offsets,
            neighbours,
            weights,
            unit,
        }
    }

    /// Number of peers.
    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// The largest number of partners.
    pub(super) fn largest_degree(&self) -> usize {
        (0..self.len())
            .map(|i| self.partners(i).len())
            .max()
            .unwrap_or(0)
    }

    /// The partners of node i, by position.
    pub(super) fn partners(&self, i: usize) -> &[u32] {
        &self.neighbours[self.offsets[i]..self.offsets[i + 1]]
    }

    /// Where the partners of every node start in the concatenation of all of them.
    pub(super) fn offsets(&self) -> &[usize] {
        &self.offsets
    }

    /// The partners of all nodes, concatenated.
    pub(super) fn neighbours(&self) -> &[u32] {
        &self.neighbours
    }

    /// The partners of node i with the variance shared with each.
    pub(super) fn row(&self, i: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let range = self.offsets[i]..self.offsets[i + 1];
        self.partners(i)
            .iter()
            .zip(&self.weights[range])
            .map(|(&v, &weight)| (v as usize, weight))
    }

    /// tr D = Σ d_i to a few units in the last place, whatever the number of peers (Neumaier 1974).
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
