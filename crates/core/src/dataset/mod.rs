//! Data in memory: what peers hold rows of, and the public bounds that a sensitivity rule needs.

use std::num::NonZeroU32;

mod error;
mod partition;
mod vertices;

pub use error::DatasetError;
pub use partition::Partition;
// For the other crates of Undertone.
#[doc(hidden)]
pub use {
    partition::assign, partition::assign_by_name, partition::assign_sizes, partition::assign_to,
    partition::peer_rows, vertices::rows_of_edges,
};

use crate::interactions::Interactions;
use crate::linalg::SparseRows;
use crate::vocabulary::Seed;

/// What the peers hold together.
///
/// Each kind yields rows, of norm at most 1 but for graphs, and says what is publicly known of them. How a row is brought to that norm looks
/// at that row alone, so that neighbouring data stay neighbours.
#[derive(Clone, Debug)]
pub enum Dataset {
    /// Users and the items they interacted with, normalised to r_u/√max(d_u, D).
    Interactions {
        /// Who interacted with what.
        interactions: Interactions,
        /// D: rows with fewer interactions are not scaled up to norm 1.
        degree_floor: NonZeroU32,
    },
    /// Rows of real numbers, such as measurements: scaled by 1/R, where R is `radius`, and shortened to norm 1 if they are longer.
    Samples {
        /// The rows as they are.
        rows: SparseRows,
        /// R, public.
        radius: f64,
    },
    /// A graph whose vertices are the peers: the row of a vertex is 1 at each of its neighbours.
    ///
    /// Algorithms run on it inside [`OnGraph`](crate::algorithm::OnGraph), under the adjacencies `entry` and `edge`. Who talks to whom is public:
    /// a private graph must not be the communication graph.
    Graph {
        /// Number of vertices.
        vertices: usize,
        /// Undirected edges, each once.
        edges: Vec<(u32, u32)>,
    },
}

/// What is publicly known of every row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowBounds {
    /// d equal entries 1/√max(d, D) for some d.
    EqualEntries {
        /// D.
        degree_floor: u32,
    },
    /// Any numbers with Euclidean norm at most 1.
    UnitNorm,
    /// Zeros and ones: bounds on changes of a graph ask for nothing more.
    Edges,
}

impl Dataset {
    /// The rows, one per user, sample or vertex, normalised but for those of a graph.
    ///
    /// # Errors
    /// [`DatasetError::Radius`] for a radius that is not finite and above 0; [`DatasetError::Row`] and
    /// [`DatasetError::Vertex`] for edges that are not of a simple graph on so many vertices.
    pub fn rows(&self) -> Result<SparseRows, DatasetError> {
        match self {
            Self::Interactions {
                interactions,
                degree_floor,
            } => Ok(interactions.normalised_rows(*degree_floor)),
            Self::Samples { rows, radius } => clipped(rows, *radius),
            Self::Graph { vertices, edges } => rows_of_edges(*vertices, edges.iter().copied()),
        }
    }

    /// The rows of each of `peers` peers: all of them dealt in turn, or at random by the public `seed`.
    ///
    /// # Errors
    /// As [`Self::rows`]; [`DatasetError::NoPeers`] and [`DatasetError::TooManyPeers`] unless every peer gets a row, which no hash promises;
    /// [`DatasetError::HashedNames`] for a hash of names where rows have none.
    pub fn dealt(
        &self,
        peers: usize,
        partition: Partition,
        seed: &Seed,
    ) -> Result<Vec<SparseRows>, DatasetError> {
        let rows = self.rows()?;
        let assignment = match (self, partition) {
            (Self::Interactions { interactions, .. }, Partition::Hashed) => {
                assign_by_name(interactions.names_of_users(), peers, seed)?
            }
            _ => assign(rows.len(), peers, partition, seed)?,
        };
        Ok(peer_rows(&rows, &assignment))
    }

    /// Items n: columns of every row.
    #[must_use]
    pub fn items(&self) -> usize {
        match self {
            Self::Interactions { interactions, .. } => interactions.items(),
            Self::Samples { rows, .. } => rows.dimension(),
            Self::Graph { vertices, .. } => *vertices,
        }
    }

    /// Number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::Interactions { interactions, .. } => interactions.users(),
            Self::Samples { rows, .. } => rows.len(),
            Self::Graph { vertices, .. } => *vertices,
        }
    }

    /// Whether there are no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What is publicly known of every row.
    #[must_use]
    pub fn bounds(&self) -> RowBounds {
        match self {
            Self::Interactions { degree_floor, .. } => RowBounds::EqualEntries {
                degree_floor: degree_floor.get(),
            },
            Self::Samples { .. } => RowBounds::UnitNorm,
            Self::Graph { .. } => RowBounds::Edges,
        }
    }
}

fn clipped(rows: &SparseRows, radius: f64) -> Result<SparseRows, DatasetError> {
    if !(radius.is_finite() && radius > 0.0) {
        return Err(DatasetError::Radius { found: radius });
    }
    let mut out = SparseRows::new(rows.dimension());
    for i in 0..rows.len() {
        let (columns, values) = rows.row(i);
        // In units of its largest entry a row has a norm between 1 and √n: nothing overflows, whatever the row.
        let largest = values
            .iter()
            .fold(0.0_f64, |most, value| most.max(value.abs()));
        let unit = if largest > 0.0 { largest } else { 1.0 };
        let squares = values.iter().map(|value| (value / unit).powi(2));
        let norm = squares.sum::<f64>().sqrt();
        // A row of zeros fits every radius, also one whose reciprocal is not finite: 0 times that is no number.
        let fits = largest == 0.0 || norm * (unit / radius) <= 1.0;
        // A little shorter than 1, so that rounding never makes a row longer than its bound.
        let scaled = values.iter().map(|value| match fits {
            true => value / radius,
            false => value / unit * ((1.0 - 1e-12) / norm),
        });
        out.push_row(columns.iter().copied().zip(scaled))
            .expect("finite numbers of a valid row, none above 1");
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(radius: f64) -> Dataset {
        let mut rows = SparseRows::new(3);
        for row in [[3.0, 4.0, 0.0], [0.0, 0.1, -0.2], [1e300, 1e300, 1e300]] {
            rows.push_row((0..).zip(row)).expect("ascending");
        }
        Dataset::Samples { rows, radius }
    }

    #[test]
    fn samples_are_scaled_and_never_longer_than_1() {
        let rows = samples(5.0).rows().expect("valid");
        let norm = |i| rows.row(i).1.iter().map(|x| x * x).sum::<f64>().sqrt();
        assert!((norm(0) - 1.0).abs() < 1e-11);
        assert!((norm(1) - 0.05_f64.sqrt() / 5.0).abs() < 1e-15);
        assert!(norm(2) <= 1.0 && norm(2) > 0.999);
        // Neither a tiny radius nor the largest floats break a row or make it vanish.
        let mut rows = SparseRows::new(3);
        rows.push_row([(0, 1e300), (1, -2.0)]).expect("finite");
        rows.push_row([(0, 1.7e308), (2, 1.7e308)]).expect("finite");
        rows.push_row([]).expect("empty");
        for radius in [1e-10, 1.0, 1e308] {
            let rows = rows.clone();
            let clipped = Dataset::Samples { rows, radius }.rows().expect("valid");
            for i in 0..3 {
                let norm = clipped.row(i).1.iter().map(|x| x * x).sum::<f64>().sqrt();
                assert!(norm <= 1.0, "{radius:e}, row {i}: {norm}");
                assert!(
                    i == 2 || radius > 1.0 || norm > 0.999,
                    "{radius:e}, row {i}: {norm}"
                );
            }
        }
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(matches!(
                samples(bad).rows(),
                Err(DatasetError::Radius { .. })
            ));
        }
    }

    #[test]
    fn a_row_of_zeros_stays_zero_whatever_the_radius() {
        let mut rows = SparseRows::new(2);
        rows.push_row([(0, 0.0), (1, -0.0)]).expect("finite");
        rows.push_row([(0, 5e-324)]).expect("finite");
        for radius in [5e-324, 1e-310, 1.0, f64::MAX] {
            let rows = rows.clone();
            let clipped = Dataset::Samples { rows, radius }.rows().expect("valid");
            assert!(clipped.row(0).1.iter().all(|x| *x == 0.0), "{radius:e}");
            assert!((0.0..=1.0).contains(&clipped.row(1).1[0]), "{radius:e}");
        }
    }

    #[test]
    fn a_vertex_holds_its_own_edges() {
        let graph = |edges: &[(u32, u32)]| Dataset::Graph {
            vertices: 4,
            edges: edges.to_vec(),
        };
        let rows = graph(&[(0, 1), (0, 2), (3, 0)]).rows().expect("simple");
        assert_eq!(rows.row(0).0, [1, 2, 3]);
        assert_eq!(rows.row(1), (&[0][..], &[1.0][..]));
        for bad in [&[(0, 1), (1, 0)][..], &[(0, 4)]] {
            assert!(graph(bad).rows().is_err(), "{bad:?}");
        }
    }

    #[test]
    fn every_row_is_dealt_to_one_peer() {
        let peers = samples(5.0).dealt(2, Partition::RoundRobin, &Seed::from_u64(1));
        let counts: Vec<usize> = peers.expect("valid").iter().map(SparseRows::len).collect();
        assert_eq!(counts, [2, 1]);
        let none = samples(5.0).dealt(4, Partition::RoundRobin, &Seed::from_u64(1));
        assert!(matches!(none, Err(DatasetError::TooManyPeers { .. })));
    }
}
