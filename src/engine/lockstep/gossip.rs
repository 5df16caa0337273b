//! All averaging rounds of a range of coordinates at all peers, tile by tile while a tile sits in cache.
//!
//! A tile is `T` coordinates of every peer, peer after peer, in two buffers: the values now and one round
//! ago. A round overwrites the older buffer, which every scheme reads at the peer's own place only, and
//! the buffers swap. Per round and element that is the compulsory one read and one write, plus one read
//! per neighbour from cache.

use rayon::prelude::*;

use crate::protocol::averaging::{Coefficients, Run, mix_tile, runs};
use crate::topology::{Graph, Mixing};

/// Bytes of the two buffers of a tile up to which wider tiles are chosen: a fraction of a second-level
/// cache, so that the rows of a peer's neighbours come from the levels nearest to the core.
const TILE_BYTES: usize = 1 << 18;

/// Bytes up to which a full cache line per peer still fits the second-level cache of most processors;
/// above it half a line does, until neither fits.
const CACHE_BYTES: usize = 5 << 18;

/// The averaging of one topology, laid out for flat arrays.
#[derive(Clone, Debug)]
pub struct Gossip {
    self_weights: Vec<f64>,
    /// Neighbours of all peers, ascending within each.
    neighbours: Neighbours,
    /// Where each peer's neighbours begin.
    offsets: Vec<usize>,
    /// Runs of equal weight of all peers.
    runs: Vec<Run>,
    /// Where each peer's runs begin.
    run_offsets: Vec<usize>,
    /// The degree and the one run of every peer, where all peers have the same.
    regular: Option<(usize, Run)>,
}

/// Indices as narrow as the number of peers allows: they are read once per tile and round.
#[derive(Clone, Debug)]
enum Neighbours {
    Narrow(Vec<u16>),
    Wide(Vec<u32>),
}

/// Coordinates of all peers after averaging, tile after tile.
#[derive(Clone, Debug, PartialEq)]
pub struct Averaged {
    width: usize,
    tile: usize,
    /// Per tile, `peers × tile` values; the last may have columns beyond the width, all zero.
    tiles: Vec<Vec<f64>>,
    squares: Vec<f64>,
}

impl Averaged {
    /// Σ_u ‖x_u − x̄‖² after every round, round 0 (the inputs) first; empty unless watched. The order of
    /// these sums depends on the tile width, their last bits with it.
    #[must_use]
    pub fn squares(&self) -> &[f64] {
        &self.squares
    }

    /// Writes the values of peer `u` to `out`, one per coordinate.
    ///
    /// # Panics
    /// If `out` has another length.
    pub fn copy_peer(&self, u: usize, out: &mut [f64]) {
        assert_eq!(out.len(), self.width, "one value per coordinate");
        for (out, tile) in out.chunks_mut(self.tile).zip(&self.tiles) {
            let width = out.len();
            out.copy_from_slice(&tile[u * self.tile..][..width]);
        }
    }
}

/// Coordinates per tile for this many peers. Bits do not depend on it.
#[must_use]
pub fn tile_width(peers: usize) -> usize {
    let bytes = |width: usize| 2 * 8 * width * peers;
    if let Some(width) = [64, 32, 16].into_iter().find(|&w| bytes(w) <= TILE_BYTES) {
        width
    } else if bytes(8) > CACHE_BYTES && bytes(4) <= 2 * CACHE_BYTES {
        4
    } else {
        8
    }
}

impl Gossip {
    /// The averaging over `graph` with the weights `mixing`.
    ///
    /// # Cost
    /// O(nodes + edges) time and memory, once per run.
    #[must_use]
    pub fn new(graph: &Graph, mixing: &Mixing) -> Self {
        let peers = graph.nodes();
        let (mut offsets, mut run_offsets) = (vec![0], vec![0]);
        let (mut wide, mut all_runs) = (Vec::with_capacity(2 * graph.edges()), Vec::new());
        for u in 0..peers {
            wide.extend_from_slice(graph.neighbours(u));
            offsets.push(wide.len());
            all_runs.extend(runs(mixing.neighbour_weights(u).iter().copied()));
            run_offsets.push(all_runs.len());
        }
        let neighbours = if peers <= 1 << 16 {
            Neighbours::Narrow(wide.iter().map(|&v| v as u16).collect())
        } else {
            Neighbours::Wide(wide)
        };
        let regular = match all_runs.first() {
            Some(&run) if all_runs.len() == peers && all_runs.iter().all(|other| *other == run) => {
                Some((run.length as usize, run))
            }
            _ => None,
        };
        Self {
            self_weights: (0..peers).map(|u| mixing.self_weight(u)).collect(),
            neighbours,
            offsets,
            runs: all_runs,
            run_offsets,
            regular,
        }
    }

    /// Runs all rounds of `schedule` on `width` coordinates and multiplies the result by `factor`. If
    /// somebody wants to `watch`, it also measures how far the peers are apart after every round.
    ///
    /// # Shapes
    /// `inputs` is peers × `width`, one peer after the other.
    ///
    /// # Panics
    /// If `inputs` has another length.
    #[must_use]
    pub fn average(
        &self,
        schedule: &[Coefficients],
        factor: f64,
        width: usize,
        inputs: &[f64],
        watch: bool,
    ) -> Averaged {
        let tile = tile_width(self.self_weights.len());
        self.average_in_tiles(tile, schedule, factor, width, inputs, watch)
    }

    /// The same in tiles of the given width: 4, 8, 16, 32 or 64.
    ///
    /// # Panics
    /// If `inputs` has another length or the width is none of these.
    #[must_use]
    pub fn average_in_tiles(
        &self,
        tile: usize,
        schedule: &[Coefficients],
        factor: f64,
        width: usize,
        inputs: &[f64],
        watch: bool,
    ) -> Averaged {
        assert_eq!(
            inputs.len(),
            width * self.self_weights.len(),
            "peers × width values"
        );
        let one = |start: usize| match tile {
            4 => self.tile::<4>(schedule, factor, (width, start), inputs, watch),
            8 => self.tile::<8>(schedule, factor, (width, start), inputs, watch),
            16 => self.tile::<16>(schedule, factor, (width, start), inputs, watch),
            32 => self.tile::<32>(schedule, factor, (width, start), inputs, watch),
            64 => self.tile::<64>(schedule, factor, (width, start), inputs, watch),
            _ => panic!("no kernel for tiles of {tile} coordinates"),
        };
        let starts: Vec<usize> = (0..width).step_by(tile).collect();
        let done: Vec<(Vec<f64>, Vec<f64>)> = starts.into_par_iter().map(one).collect();
        let mut squares = vec![0.0; if watch { schedule.len() + 1 } else { 0 }];
        for (sum, square) in done
            .iter()
            .flat_map(|(_, of_tile)| of_tile.iter().enumerate())
        {
            squares[sum] += square;
        }
        Averaged {
            width,
            tile,
            tiles: done.into_iter().map(|(values, _)| values).collect(),
            squares,
        }
    }

    fn tile<const T: usize>(
        &self,
        schedule: &[Coefficients],
        factor: f64,
        (width, start): (usize, usize),
        inputs: &[f64],
        watch: bool,
    ) -> (Vec<f64>, Vec<f64>) {
        let used = T.min(width - start);
        let mut now = vec![[0.0; T]; self.self_weights.len()];
        for (tile, x) in now.iter_mut().zip(inputs.chunks_exact(width)) {
            tile[..used].copy_from_slice(&x[start..start + used]);
        }
        let mut before = vec![[0.0; T]; now.len()];
        // Averaging keeps the sum, so that of the inputs serves for every round.
        let total = if watch { column_sums(&now) } else { [0.0; T] };
        let mut squares = Vec::new();
        if watch {
            squares.push(spread(&now, &total));
        }
        let arch = pulp::Arch::new();
        for &coefficients in schedule {
            match &self.neighbours {
                Neighbours::Narrow(neighbours) => arch.dispatch(RoundOfTile {
                    gossip: self,
                    neighbours,
                    coefficients,
                    now: &now,
                    before: &mut before,
                }),
                Neighbours::Wide(neighbours) => arch.dispatch(RoundOfTile {
                    gossip: self,
                    neighbours,
                    coefficients,
                    now: &now,
                    before: &mut before,
                }),
            }
            std::mem::swap(&mut now, &mut before);
            if watch {
                squares.push(spread(&now, &total));
            }
        }
        let mut values = now.into_flattened();
        for value in &mut values {
            *value *= factor;
        }
        (values, squares)
    }
}

fn column_sums<const T: usize>(values: &[[f64; T]]) -> [f64; T] {
    let mut sums = [0.0; T];
    for row in values {
        for (sum, value) in sums.iter_mut().zip(row) {
            *sum += value;
        }
    }
    sums
}

/// Σ_u ‖x_u − x̄‖².
fn spread<const T: usize>(values: &[[f64; T]], total: &[f64; T]) -> f64 {
    let peers = values.len() as f64;
    let squares = |row: &[f64; T]| {
        row.iter()
            .zip(total)
            .map(|(x, y)| (x - y / peers).powi(2))
            .sum::<f64>()
    };
    values.iter().map(squares).sum()
}

/// One round of one tile at all peers: `before` becomes the next values.
struct RoundOfTile<'a, N, const T: usize> {
    gossip: &'a Gossip,
    neighbours: &'a [N],
    coefficients: Coefficients,
    now: &'a [[f64; T]],
    before: &'a mut [[f64; T]],
}

impl<N: Copy + Into<u32>, const T: usize> pulp::NullaryFnOnce for RoundOfTile<'_, N, T> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Self {
            gossip,
            neighbours,
            coefficients,
            now,
            before,
        } = self;
        if let Some((degree, run)) = gossip.regular {
            let neighbours = neighbours.chunks_exact(degree);
            let peers = before.iter_mut().zip(now).zip(neighbours);
            for (((out, own), neighbours), &self_weight) in peers.zip(&gossip.self_weights) {
                *out = mix_tile(
                    coefficients,
                    self_weight,
                    own,
                    (&[run], neighbours),
                    |&v| &now[v.into() as usize],
                    out,
                );
            }
            return;
        }
        let ranges = gossip
            .offsets
            .windows(2)
            .zip(gossip.run_offsets.windows(2))
            .zip(&gossip.self_weights);
        for ((out, own), ((at, runs), &self_weight)) in before.iter_mut().zip(now).zip(ranges) {
            *out = mix_tile(
                coefficients,
                self_weight,
                own,
                (&gossip.runs[runs[0]..runs[1]], &neighbours[at[0]..at[1]]),
                |&v| &now[v.into() as usize],
                out,
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::averaging::{AveragingKind, MixingBounds, mix};

    #[test]
    fn every_tile_width_and_number_of_threads_gives_the_bits_of_peers_that_mix() {
        let ring: Vec<_> = (0..14).map(|u: u32| (u, (u + 1) % 14)).collect();
        let star = (1..14).map(|v| (0, v)).collect();
        let hubs = ring
            .iter()
            .copied()
            .chain((3..11).map(|v| (1, v)))
            .collect();
        let bounds = MixingBounds {
            lowest: -0.9,
            second: 0.97,
        };
        for edges in [ring.clone(), star, hubs] {
            let graph = Graph::from_edges(14, &edges).expect("simple");
            let mixing = Mixing::metropolis(&graph);
            let gossip = Gossip::new(&graph, &mixing);
            for (kind, width) in [(AveragingKind::Linear, 3), (AveragingKind::Chebyshev, 77)] {
                let schedule = kind.schedule(bounds, 5).expect("contracts");
                let inputs: Vec<f64> = (0..14 * width).map(|i| (i as f64 * 0.7).sin()).collect();
                let expected = by_peers(&graph, &mixing, &schedule, width, &inputs);
                for tile in [4, 8, 16, 32, 64] {
                    for threads in [1, 3] {
                        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
                        let found = pool.expect("threads").install(|| {
                            gossip.average_in_tiles(tile, &schedule, 14.0, width, &inputs, true)
                        });
                        assert_eq!(found.squares().len(), 6);
                        assert!(found.squares()[5] < found.squares()[0]);
                        let mut out = vec![0.0; width];
                        for (u, expected) in expected.iter().enumerate() {
                            found.copy_peer(u, &mut out);
                            let scaled: Vec<f64> = expected.iter().map(|x| x * 14.0).collect();
                            assert_eq!(out, scaled, "{kind:?}, tiles of {tile}, peer {u}");
                        }
                    }
                }
            }
        }
    }

    /// The rounds as peers run them.
    fn by_peers(
        graph: &Graph,
        mixing: &Mixing,
        schedule: &[Coefficients],
        width: usize,
        inputs: &[f64],
    ) -> Vec<Vec<f64>> {
        let mut now: Vec<Vec<f64>> = inputs.chunks(width).map(<[f64]>::to_vec).collect();
        let mut before = now.clone();
        for &coefficients in schedule {
            let next = (0..graph.nodes())
                .map(|u| {
                    let neighbours: Vec<(f64, &[f64])> = mixing
                        .neighbour_weights(u)
                        .iter()
                        .zip(graph.neighbours(u))
                        .map(|(&weight, &v)| (weight, now[v as usize].as_slice()))
                        .collect();
                    let mut out = vec![0.0; width];
                    let own = mixing.self_weight(u);
                    mix(
                        coefficients,
                        own,
                        &now[u],
                        &neighbours,
                        &before[u],
                        &mut out,
                    );
                    out
                })
                .collect();
            before = std::mem::replace(&mut now, next);
        }
        now
    }

    #[test]
    fn wide_and_narrow_indices_give_equal_bits() {
        let ring = (0..40).map(|u: u32| (u, (u + 1) % 40));
        let edges: Vec<_> = ring.chain((0..20).map(|u| (u, u + 20))).collect();
        let graph = Graph::from_edges(40, &edges).expect("simple");
        let narrow = Gossip::new(&graph, &Mixing::metropolis(&graph));
        let mut wide = narrow.clone();
        if let Neighbours::Narrow(indices) = &narrow.neighbours {
            wide.neighbours = Neighbours::Wide(indices.iter().map(|&v| v.into()).collect());
        }
        let schedule = AveragingKind::Linear
            .schedule(
                MixingBounds {
                    lowest: -0.9,
                    second: 0.9,
                },
                4,
            )
            .expect("contracts");
        let inputs: Vec<f64> = (0..400).map(|i| f64::from(i).cos()).collect();
        assert_eq!(
            narrow.average(&schedule, 1.0, 10, &inputs, false),
            wide.average(&schedule, 1.0, 10, &inputs, false)
        );
    }

    #[test]
    fn tiles_narrow_as_peers_grow() {
        let widths = [10, 100, 1000, 5000, 25_000, 1_000_000].map(tile_width);
        assert_eq!(widths, [64, 64, 16, 8, 4, 8]);
    }
}
