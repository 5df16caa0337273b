//! All averaging rounds of a range of coordinates at all peers, tile by tile while a tile sits in cache.
//!
//! A tile is `T` coordinates of every peer, peer after peer, in two buffers: the values now and one round
//! ago. A round overwrites the older buffer, which every scheme reads at the peer's own place only, and
//! the buffers swap. Per round and element that is the compulsory one read and one write, plus one read
//! per neighbour from cache.
//!
//! Inputs come peer after peer and are laid out in tiles once, a [`PANEL`] of coordinates at a time, so that every
//! page of them is visited a few times and not once per tile.

use rayon::prelude::*;

use crate::linalg::{AtLine, LINE};
use crate::protocol::averaging::{Coefficients, Run, mix_tile, runs};
use crate::protocol::{Values, to_f32};
use crate::topology::{Graph, Mixing};

use super::shares::{Lost, Shares};
use super::walk::Walk;

/// Bytes of the two buffers of a tile up to which wider tiles are chosen: a fraction of a second-level
/// cache, so that the rows of a peer's neighbours come from the levels nearest to the core.
const TILE_BYTES: usize = 1 << 18;

/// Bytes of the two buffers of a tile above which half a cache line per peer is faster: it halves what competes for
/// the last-level cache. Measured from 64,000 peers on.
const HALF_LINE_BYTES: usize = 6 << 20;

/// Coordinates that are laid out together; a multiple of every tile width.
const PANEL: usize = 64;

/// Peers whose sums are written together: their rows stay in cache while the tiles go by.
pub(super) const PEERS_AT_ONCE: usize = 16;

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
    /// The one run of every peer, where all peers have the same.
    regular: Option<Run>,
}

/// Indices as narrow as the number of peers allows: they are read once per tile and round.
#[derive(Clone, Debug)]
enum Neighbours {
    Narrow(Vec<u16>),
    Wide(Vec<u32>),
}

/// Coordinates of all peers after averaging, tile after tile. Keeps its memory from one averaging to the next.
#[derive(Clone, Debug, Default)]
pub struct Averaged {
    peers: usize,
    width: usize,
    tile: usize,
    /// Per tile, `peers × tile` values; the last may have columns beyond the width, all zero.
    values: AtLine,
    totals: Vec<f64>,
    squares: Vec<f64>,
}

/// What to do with the inputs.
#[derive(Clone, Copy, Debug)]
pub struct Rounds<'a> {
    /// What peers exchange.
    pub exchange: Exchange<'a>,
    /// What a coordinate under way is: values are rounded to it after every combination. Inputs are taken as they come.
    pub values: Values,
    /// What the last values are multiplied by.
    pub factor: f64,
    /// Whether to measure after every round how far the peers are apart.
    pub watch: bool,
}

/// The three forms of an averaging schedule.
#[derive(Clone, Copy, Debug)]
pub enum Exchange<'a> {
    /// With all neighbours and these coefficients in every round.
    Recurrence(&'a [Coefficients]),
    /// Step by step.
    Listed(&'a Walk),
    /// Shares of value and weight, but for the messages that are lost.
    Passing(&'a Shares, Option<&'a Lost>),
}

impl Averaged {
    /// Σ_u of the inputs in peer order, one per coordinate.
    #[must_use]
    pub fn totals(&self) -> &[f64] {
        &self.totals
    }

    /// Σ_u ‖x_u − x̄‖² of the inputs, and after every round if watched.
    #[must_use]
    pub fn squares(&self) -> &[f64] {
        &self.squares
    }

    /// Writes the values of the peers from `first` on, one coordinate after the other, to one slice each.
    ///
    /// # Panics
    /// If there are fewer peers, or a slice has another length than there are coordinates.
    pub fn copy_peers<'a>(&self, first: usize, outs: impl Iterator<Item = &'a mut [f64]>) {
        let mut outs: Vec<&mut [f64]> = outs.collect();
        let tiles = self
            .values
            .values()
            .chunks_exact((self.peers * self.tile).max(1));
        for (columns, values) in (0..self.width).step_by(self.tile.max(1)).zip(tiles) {
            let used = self.tile.min(self.width - columns);
            let rows = values[first * self.tile..].chunks_exact(self.tile);
            assert!(rows.len() >= outs.len(), "as many peers");
            for (out, row) in outs.iter_mut().zip(rows) {
                assert_eq!(out.len(), self.width, "one value per coordinate");
                out[columns..columns + used].copy_from_slice(&row[..used]);
            }
        }
    }

    /// Makes room for this many values in tiles, which begin at a cache line, and returns them.
    fn make_room(&mut self, peers: usize, width: usize, tile: usize) -> &mut [f64] {
        (self.peers, self.width, self.tile) = (peers, width, tile);
        let length = peers * width.next_multiple_of(tile);
        if self.values.values().len() < length {
            self.values = AtLine::zeros(length);
        }
        &mut self.values.values_mut()[..length]
    }
}

/// Coordinates per tile for this many peers. Bits do not depend on it.
#[must_use]
pub fn tile_width(peers: usize) -> usize {
    let bytes = |width: usize| 2 * 8 * width * peers;
    let wide = [64, 32, 16].into_iter().find(|&w| bytes(w) <= TILE_BYTES);
    match wide {
        Some(width) => width,
        None if bytes(LINE) <= HALF_LINE_BYTES => LINE,
        None => LINE / 2,
    }
}

/// What a tile saw.
struct Seen<const T: usize> {
    totals: [f64; T],
    /// Per round and coordinate.
    squares: Vec<[f64; T]>,
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
                Some(run)
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

    /// Runs all rounds on `width` coordinates.
    ///
    /// # Shapes
    /// `inputs` is peers × `width`, one peer after the other.
    ///
    /// # Panics
    /// If `inputs` has another length.
    pub fn average(
        &self,
        rounds: Rounds<'_>,
        (width, inputs): (usize, &[f64]),
        averaged: &mut Averaged,
    ) {
        let tile = tile_width(self.self_weights.len());
        self.average_in_tiles(tile, rounds, (width, inputs), averaged);
    }

    /// The same in tiles of the given width: 4, 8, 16, 32 or 64.
    ///
    /// # Panics
    /// If `inputs` has another length or the width is none of these.
    pub fn average_in_tiles(
        &self,
        tile: usize,
        rounds: Rounds<'_>,
        (width, inputs): (usize, &[f64]),
        averaged: &mut Averaged,
    ) {
        let peers = self.self_weights.len();
        assert_eq!(inputs.len(), width * peers, "peers × width values");
        let task = Averaging {
            gossip: self,
            rounds,
            width,
            inputs,
        };
        match tile {
            4 => task.run::<4>(averaged),
            8 => task.run::<8>(averaged),
            16 => task.run::<16>(averaged),
            32 => task.run::<32>(averaged),
            64 => task.run::<64>(averaged),
            _ => panic!("no kernel for tiles of {tile} coordinates"),
        }
    }
}

/// One call of [`Gossip::average`].
struct Averaging<'a> {
    gossip: &'a Gossip,
    rounds: Rounds<'a>,
    width: usize,
    inputs: &'a [f64],
}

impl Averaging<'_> {
    fn run<const T: usize>(&self, averaged: &mut Averaged) {
        let peers = self.gossip.self_weights.len();
        let values = averaged.make_room(peers, self.width, T);
        let seen: Vec<Seen<T>> = values
            .par_chunks_mut((peers * PANEL).max(1))
            .enumerate()
            .flat_map_iter(|(panel, values)| self.panel::<T>(panel * PANEL, values))
            .collect();
        let columns = || seen.iter().flat_map(|seen| seen.totals).take(self.width);
        averaged.totals.clear();
        averaged.totals.extend(columns());
        // Coordinate by coordinate, so that the tile width leaves no trace.
        let rounds = seen.first().map_or(0, |seen| seen.squares.len());
        averaged.squares.clear();
        averaged.squares.extend((0..rounds).map(|round| {
            let squares = seen.iter().flat_map(|seen| seen.squares[round]);
            squares.take(self.width).sum::<f64>()
        }));
    }

    /// Lays out up to [`PANEL`] coordinates from `first` on and runs all their rounds.
    fn panel<const T: usize>(&self, first: usize, values: &mut [f64]) -> Vec<Seen<T>> {
        let peers = self.gossip.self_weights.len();
        let (rows, _) = values.as_chunks_mut::<T>();
        let columns = PANEL.min(self.width - first);
        for (u, input) in self.inputs.chunks_exact(self.width).enumerate() {
            let input = &input[first..first + columns];
            let (whole, rest) = input.as_chunks::<T>();
            for (k, x) in whole.iter().enumerate() {
                rows[k * peers + u] = *x;
            }
            if !rest.is_empty() {
                let last = &mut rows[whole.len() * peers + u];
                last[..rest.len()].copy_from_slice(rest);
                last[rest.len()..].fill(0.0);
            }
        }
        let scratch = || AtLine::zeros(peers * T);
        rows.par_chunks_mut(peers)
            .map_init(scratch, |scratch, tile| {
                let (scratch, _) = scratch.values_mut().as_chunks_mut::<T>();
                self.tile(tile, scratch)
            })
            .collect()
    }

    /// All rounds of one tile, in place.
    fn tile<const T: usize>(&self, tile: &mut [[f64; T]], scratch: &mut [[f64; T]]) -> Seen<T> {
        let totals = column_sums(tile);
        let mut squares = vec![spread(tile, &totals, 1.0)];
        match self.rounds.exchange {
            Exchange::Recurrence(schedule) => {
                self.recur(schedule, tile, scratch, &totals, &mut squares);
            }
            Exchange::Listed(walk) => {
                // What a peer would report if averaging ended here, as a mean.
                let share = self.rounds.factor / tile.len() as f64;
                for round in 0..walk.rounds() {
                    walk.round(round, self.rounds.values, tile, scratch);
                    if self.rounds.watch {
                        squares.push(spread(tile, &totals, share));
                    }
                }
            }
            Exchange::Passing(shares, lost) => {
                shares.run(tile, lost, |values, weights| {
                    if self.rounds.watch {
                        squares.push(spread_of_means(values, weights, &totals));
                    }
                });
                // These are estimates of the sum already.
                return Seen { totals, squares };
            }
        }
        for value in tile.as_flattened_mut() {
            *value *= self.rounds.factor;
        }
        Seen { totals, squares }
    }

    /// All rounds of a recurrence.
    fn recur<const T: usize>(
        &self,
        schedule: &[Coefficients],
        tile: &mut [[f64; T]],
        scratch: &mut [[f64; T]],
        totals: &[f64; T],
        squares: &mut Vec<[f64; T]>,
    ) {
        if schedule.first().is_some_and(|c| c.previous != 0.0) {
            scratch.as_flattened_mut().fill(0.0);
        }
        let arch = pulp::Arch::new();
        let (mut now, mut before) = (&mut *tile, &mut *scratch);
        for &coefficients in schedule {
            match &self.gossip.neighbours {
                Neighbours::Narrow(neighbours) => arch.dispatch(RoundOfTile {
                    gossip: self.gossip,
                    neighbours,
                    coefficients,
                    now,
                    before,
                }),
                Neighbours::Wide(neighbours) => arch.dispatch(RoundOfTile {
                    gossip: self.gossip,
                    neighbours,
                    coefficients,
                    now,
                    before,
                }),
            }
            std::mem::swap(&mut now, &mut before);
            if self.rounds.values == Values::F32 {
                arch.dispatch(|| to_f32(now.as_flattened_mut()));
            }
            if self.rounds.watch {
                // Averaging keeps the sum, so that of the inputs serves for every round.
                squares.push(spread(now, totals, 1.0));
            }
        }
        if schedule.len() % 2 == 1 {
            before.copy_from_slice(now);
        }
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

/// Σ_u (share · x_u − x̄)² per coordinate, in peer order.
fn spread<const T: usize>(values: &[[f64; T]], total: &[f64; T], share: f64) -> [f64; T] {
    let mean = total.map(|sum| sum / values.len() as f64);
    let mut squares = [0.0; T];
    for row in values {
        for ((square, x), mean) in squares.iter_mut().zip(row).zip(&mean) {
            let apart = share * x - mean;
            *square += apart * apart;
        }
    }
    squares
}

/// Σ_u (x_u / w_u − x̄)² per coordinate, in peer order.
fn spread_of_means<const T: usize>(
    values: &[[f64; T]],
    weights: &[[f64; 1]],
    total: &[f64; T],
) -> [f64; T] {
    let mean = total.map(|sum| sum / values.len() as f64);
    let mut squares = [0.0; T];
    for (row, [weight]) in values.iter().zip(weights) {
        for ((square, x), mean) in squares.iter_mut().zip(row).zip(&mean) {
            let apart = x / weight - mean;
            *square += apart * apart;
        }
    }
    squares
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
        match self.gossip.regular {
            // Of usual degrees the compiler unrolls the sum.
            Some(Run { weight, length: 4 }) => self.regular::<4>(weight),
            Some(Run { weight, length: 6 }) => self.regular::<6>(weight),
            Some(Run { weight, length: 8 }) => self.regular::<8>(weight),
            Some(Run { weight, length: 10 }) => self.regular::<10>(weight),
            Some(Run { weight, length: 12 }) => self.regular::<12>(weight),
            Some(Run { weight, length: 16 }) => self.regular::<16>(weight),
            _ => self.any(),
        }
    }
}

impl<N: Copy + Into<u32>, const T: usize> RoundOfTile<'_, N, T> {
    /// Every peer has `D` neighbours of this weight.
    #[inline(always)]
    fn regular<const D: usize>(self, weight: f64) {
        let Self { gossip, now, .. } = self;
        let run = Run {
            weight,
            length: D as u32,
        };
        let (neighbours, _) = self.neighbours.as_chunks::<D>();
        let peers = self.before.iter_mut().zip(now).zip(neighbours);
        for (((out, own), neighbours), &self_weight) in peers.zip(&gossip.self_weights) {
            *out = mix_tile(
                self.coefficients,
                self_weight,
                own,
                (&[run], neighbours),
                |&v| &now[v.into() as usize],
                out,
            );
        }
    }

    #[inline(always)]
    fn any(self) {
        let Self {
            gossip,
            neighbours,
            now,
            ..
        } = self;
        let ranges = gossip
            .offsets
            .windows(2)
            .zip(gossip.run_offsets.windows(2))
            .zip(&gossip.self_weights);
        for ((out, own), ((at, runs), &self_weight)) in self.before.iter_mut().zip(now).zip(ranges)
        {
            *out = mix_tile(
                self.coefficients,
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
mod tests;
