//! The joint law of the probes' noise, and draws from it.

use nalgebra::DMatrix;
use rayon::prelude::*;

use super::deviation;
use crate::engine::Session;
use crate::linalg::Block;
use crate::noise::Term;
use crate::topology::Graph;
use crate::vocabulary::{NoiseLabel, PeerIndex, ReleaseId};

/// What the engine draws from: see the statement in the module above.
#[derive(Clone, Debug)]
pub(super) struct Law {
    /// The probe peers U.
    pub(super) probes: Vec<PeerIndex>,
    /// The rows D_u.
    pub(super) deviations: Vec<Vec<f64>>,
    /// t per unit sensitivity.
    pub(super) sum: Term,
    /// A factor F of Cov(d) = F Fᵀ per unit sensitivity and coordinate, probes × rank.
    pub(super) factor: DMatrix<f64>,
    /// The standard normals that F multiplies, one stream per column.
    pub(super) normals: Vec<Term>,
    /// E Σ_v (n_v − n̄)² per unit sensitivity and coordinate.
    noise_spread: f64,
    /// Per peer: 1, then its entry of every probe's row.
    weights: Vec<f64>,
}

impl Law {
    /// The law of these probes of the session.
    pub(super) fn of(session: &Session, probes: &[PeerIndex]) -> Self {
        let parameters = session.plan().parameters();
        let deviations = deviation::rows(session, session.schedule(), probes);
        let (own, pairwise) = (parameters.sigma_own, parameters.sigma_pairwise);
        let covariance = covariance(&deviations, own, pairwise, session.noise_graph());
        let peers = session.peers() as f64;
        let edges = session.noise_graph().edges() as f64;
        let factor = factor(&covariance);
        // Which peers are drawn decides Δ, and with it what is published: runs with other probes must share nothing.
        let drawn: Vec<u8> = probes.iter().flat_map(|u| u.0.to_le_bytes()).collect();
        let root = session.engine_root(&drawn);
        let normals = (0..factor.ncols() as u32)
            .map(|column| Term::new(root.key(NoiseLabel::AnalyticDeviation, column, 0), 1.0))
            .collect();
        let sum = root.key(NoiseLabel::AnalyticSum, 0, 0);
        let mut law = Self {
            probes: probes.to_vec(),
            deviations,
            sum: Term::new(sum, own * peers.sqrt()),
            factor,
            normals,
            noise_spread: own.powi(2) * (peers - 1.0) + 2.0 * edges * pairwise.powi(2),
            weights: Vec::new(),
        };
        law.weigh();
        law
    }

    /// Lays the rows out by peer.
    pub(super) fn weigh(&mut self) {
        let peers = self.deviations.first().map_or(0, Vec::len);
        self.weights = (0..peers)
            .flat_map(|v| std::iter::once(1.0).chain(self.deviations.iter().map(move |row| row[v])))
            .collect();
    }

    /// The weights of every peer's contribution, peers × (1 + probes): 1 for the sum, then D_uv.
    pub(super) fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// max_uv |1 + D_uv|.
    pub(super) fn largest_weight(&self) -> f64 {
        let entries = self.deviations.iter().flatten();
        entries.fold(1.0, |most, d| most.max((1.0 + d).abs()))
    }

    /// Adds d_u of one iteration to every probe's block.
    pub(super) fn add_deviations(
        &self,
        release: ReleaseId,
        sensitivity: f64,
        blocks: &mut [Block],
    ) {
        let Some(shape) = blocks.first().map(|b| (b.rows(), b.columns())) else {
            return;
        };
        for (column, term) in self.normals.iter().enumerate() {
            let mut normals = Block::zeros(shape.0, shape.1);
            term.add_to(release, 1.0, normals.values_mut());
            blocks.par_iter_mut().enumerate().for_each(|(u, block)| {
                block.add_scaled(sensitivity * self.factor[(u, column)], &normals);
            });
        }
    }

    /// The root mean square of ‖x⁰ − x̄‖_F over the noise, where `contributions` is Σ_v ‖c_v − c̄‖_F² and a peer's input
    /// has `coordinates` coordinates.
    ///
    /// Contributions and noise are uncorrelated, and E Σ_v (n_v − n̄)² = tr Cov(n) − 1ᵀCov(n)1/s
    /// = Δ²((s − 1)σ_own² + 2·edges·σ_pair²) per coordinate, because tr L = 2·edges and L1 = 0.
    pub(super) fn spread(&self, sensitivity: f64, contributions: f64, coordinates: usize) -> f64 {
        let noise = coordinates as f64 * sensitivity.powi(2) * self.noise_spread;
        (contributions.max(0.0) + noise).sqrt()
    }
}

/// D_U(σ_own² I + σ_pair² L)D_Uᵀ: Σ_v σ_own² D_uv D_u'v + Σ_{ab} σ_pair² (D_ua − D_ub)(D_u'a − D_u'b) over the edges ab.
///
/// A sum of products of the deviations themselves: its diagonal has only positive terms, so its relative error is
/// rounding however small D is.
pub(super) fn covariance(
    deviations: &[Vec<f64>],
    own: f64,
    pairwise: f64,
    graph: &Graph,
) -> DMatrix<f64> {
    let m = deviations.len();
    let entries: Vec<(usize, usize)> = (0..m).flat_map(|i| (0..=i).map(move |j| (i, j))).collect();
    let values: Vec<f64> = entries
        .par_iter()
        .map(|&(i, j)| {
            let (a, b) = (&deviations[i], &deviations[j]);
            let at_peers: f64 = a.iter().zip(b).map(|(x, y)| x * y).sum();
            let mut value = own.powi(2) * at_peers;
            if pairwise != 0.0 {
                let along_edges: f64 = graph
                    .edge_list()
                    .map(|(v, w)| (v as usize, w as usize))
                    .map(|(v, w)| (a[v] - a[w]) * (b[v] - b[w]))
                    .sum();
                value += pairwise.powi(2) * along_edges;
            }
            value
        })
        .collect();
    let mut matrix = DMatrix::zeros(m, m);
    for (&(i, j), value) in entries.iter().zip(values) {
        matrix[(i, j)] = value;
        matrix[(j, i)] = value;
    }
    matrix
}

/// F with F Fᵀ = C for a positive semidefinite C of any rank, m × rank: Cholesky with diagonal pivoting on the correlations.
///
/// # Claim
/// |(F Fᵀ − C)_ij| ≤ τ √(C_ii C_jj) with τ = 64 m ε, besides the rounding of the elimination, which is of that size.
///
/// # Proof
/// The elimination works on the correlation matrix, of unit diagonal, and ends when no remaining diagonal entry exceeds τ.
/// The remainder is a Schur complement, positive semidefinite, so its entries are bounded by its diagonal; scaling
/// back multiplies entry ij by √(C_ii C_jj). ∎
///
/// # Source
/// N. J. Higham, Accuracy and Stability of Numerical Algorithms (2002), section 10.3. Nothing is added to the diagonal.
pub(super) fn factor(covariance: &DMatrix<f64>) -> DMatrix<f64> {
    let m = covariance.nrows();
    let scale: Vec<f64> = (0..m).map(|i| covariance[(i, i)].max(0.0).sqrt()).collect();
    let stop = 64.0 * m as f64 * f64::EPSILON;
    let mut left: Vec<f64> = scale
        .iter()
        .map(|&s| if s > 0.0 { 1.0 } else { 0.0 })
        .collect();
    let mut columns: Vec<Vec<f64>> = Vec::new();
    while columns.len() < m {
        let pivot = (0..m).fold(0, |best, i| if left[i] > left[best] { i } else { best });
        if left.get(pivot).is_none_or(|&most| most <= stop) {
            break;
        }
        let root = left[pivot].sqrt();
        let mut column = vec![0.0; m];
        for i in 0..m {
            if left[i] > 0.0 && i != pivot {
                let correlation = covariance[(i, pivot)] / (scale[i] * scale[pivot]);
                let known: f64 = columns.iter().map(|c| c[i] * c[pivot]).sum();
                column[i] = (correlation - known) / root;
                left[i] = (left[i] - column[i].powi(2)).max(0.0);
            }
        }
        column[pivot] = root;
        left[pivot] = 0.0;
        columns.push(column);
    }
    DMatrix::from_fn(m, columns.len(), |i, j| scale[i] * columns[j][i])
}
