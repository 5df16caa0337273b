//! Tiles, threads and widths leave no trace in what gossip computes.

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
            let mut averaged = Averaged::default();
            let mut seen = None;
            for tile in [4, 8, 16, 32, 64] {
                for threads in [1, 3] {
                    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
                    let values = (width, inputs.as_slice());
                    let rounds = Rounds {
                        exchange: Exchange::Recurrence(&schedule),
                        values: Values::F64,
                        factor: 14.0,
                        watch: true,
                    };
                    pool.expect("threads").install(|| {
                        gossip.average_in_tiles(tile, rounds, values, &mut averaged);
                    });
                    let squares = averaged.squares().to_vec();
                    assert_eq!(squares.len(), 6);
                    assert!(squares[5] < squares[0]);
                    let what = (squares, averaged.totals().to_vec());
                    assert_eq!(what, *seen.get_or_insert_with(|| what.clone()));
                    let mut found = vec![0.0; 14 * width];
                    // Not all at once, and not from the first.
                    let (head, tail) = found.split_at_mut(5 * width);
                    averaged.copy_peers(5, tail.chunks_exact_mut(width));
                    averaged.copy_peers(0, head.chunks_exact_mut(width));
                    for (u, (found, expected)) in
                        found.chunks_exact(width).zip(&expected).enumerate()
                    {
                        let scaled: Vec<f64> = expected.iter().map(|x| x * 14.0).collect();
                        assert_eq!(found, scaled, "{kind:?}, tiles of {tile}, peer {u}");
                    }
                }
            }
            let (squares, totals) = seen.expect("averaged");
            let column = |j: usize| inputs.chunks_exact(width).map(move |x| x[j]);
            for (j, total) in totals.iter().enumerate() {
                assert_eq!(*total, column(j).fold(0.0, |sum, x| sum + x));
            }
            let apart = |(j, total): (usize, &f64)| {
                let mean = total / 14.0;
                column(j).map(|x| (x - mean).powi(2)).sum::<f64>()
            };
            let spread: f64 = totals.iter().enumerate().map(apart).sum();
            assert!((squares[0] / spread - 1.0).abs() < 1e-12);
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
    let [a, b] = [narrow, wide].map(|gossip| {
        let mut averaged = Averaged::default();
        let rounds = Rounds {
            exchange: Exchange::Recurrence(&schedule),
            values: Values::F64,
            factor: 1.0,
            watch: false,
        };
        gossip.average(rounds, (10, &inputs), &mut averaged);
        let mut values = vec![0.0; 400];
        averaged.copy_peers(0, values.chunks_exact_mut(10));
        values
    });
    assert_eq!(a, b);
}

#[test]
fn tiles_narrow_as_peers_grow() {
    let widths = [10, 100, 1000, 5000, 25_000, 1_000_000].map(tile_width);
    assert_eq!(widths, [64, 64, 16, 8, 8, 4]);
}
