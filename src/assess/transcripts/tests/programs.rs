//! Small programs that publish messages, right and wrong.

use crate::topology::Graph;
use crate::vocabulary::{Label, Seed};

/// Standard normals.
pub(super) fn normals(seed: u64, count: usize) -> Vec<f64> {
    let mut out = vec![0.0; count];
    Seed::from_u64(seed)
        .key(Label::Scenario, 0, 0)
        .add_all_normals(1, 1.0, &mut out);
    out
}

/// A cycle of `peers`, every third of which is also joined to the opposite one.
pub(super) fn ring_with_chords(peers: u32) -> Graph {
    let cycle = (0..peers).map(|u| (u, (u + 1) % peers));
    let chords = (0..peers / 2).step_by(3).map(|u| (u, u + peers / 2));
    let edges: Vec<(u32, u32)> = cycle.chain(chords).collect();
    Graph::from_edges(peers as usize, &edges).expect("a graph")
}

/// What is done otherwise than published.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Wrong {
    Nothing,
    /// The noise of the first run is that of all.
    Reused,
    MissingTerm {
        at: u32,
        of: u32,
    },
    OwnScaled {
        by: f64,
    },
    PairwiseScaled {
        by: f64,
    },
    SilentPeer {
        at: usize,
    },
    Moved {
        at: usize,
        value: usize,
    },
    SameInAllValues,
    /// Both ends add the noise that they share.
    Added,
}

/// A gossip with own and pairwise noise.
pub(super) struct Gossip {
    pub(super) graph: Graph,
    pub(super) values: usize,
    pub(super) own: f64,
    pub(super) pairwise: f64,
    pub(super) contributions: Vec<f64>,
}

impl Gossip {
    pub(super) fn new(graph: Graph, values: usize, (own, pairwise): (f64, f64)) -> Self {
        let contributions = normals(99, graph.nodes() * values);
        Self {
            graph,
            values,
            own,
            pairwise,
            contributions,
        }
    }

    /// What all peers send in all runs.
    pub(super) fn messages(&self, seed: u64, runs: usize, wrong: Wrong) -> Vec<f64> {
        let (peers, values) = (self.graph.nodes(), self.values);
        let edges: Vec<(u32, u32)> = self.graph.edge_list().collect();
        let drawn = normals(seed, runs * (peers + edges.len()) * values);
        let mut all = Vec::with_capacity(runs * peers * values);
        for run in drawn.chunks_exact((peers + edges.len()) * values) {
            let run = if wrong == Wrong::Reused { &drawn } else { run };
            let (own, shared) = run.split_at(peers * values);
            let mut messages = self.contributions.clone();
            let mut add = |u: usize, sigma: f64, noise: &[f64]| {
                for (j, message) in messages[u * values..][..values].iter_mut().enumerate() {
                    let j = if wrong == Wrong::SameInAllValues {
                        0
                    } else {
                        j
                    };
                    *message += sigma * noise[j];
                }
            };
            for (u, noise) in own.chunks_exact(values).take(peers).enumerate() {
                let by = match wrong {
                    Wrong::OwnScaled { by } => by,
                    Wrong::SilentPeer { at } if at == u => 0.0,
                    _ => 1.0,
                };
                add(u, by * self.own, noise);
            }
            for (&(u, v), noise) in edges.iter().zip(shared.chunks_exact(values)) {
                let by = match wrong {
                    Wrong::PairwiseScaled { by } => by,
                    _ => 1.0,
                };
                let upper = if wrong == Wrong::Added { 1.0 } else { -1.0 };
                for (end, other, sign) in [(u, v, 1.0), (v, u, upper)] {
                    if wrong != (Wrong::MissingTerm { at: end, of: other }) {
                        add(end as usize, sign * by * self.pairwise, noise);
                    }
                }
            }
            if let Wrong::Moved { at, value } = wrong {
                messages[at * values + value] += self.own + self.pairwise;
            }
            all.extend(messages);
        }
        all
    }
}

/// Transcripts of randomised response: one number a run, which is the record's bit with probability `right`.
pub(super) fn randomised_response(seed: u64, runs: usize, right: f64, bit: bool) -> Vec<f64> {
    // Of a normal, whether it lies below the quantile: as likely as is asked for.
    let quantile = -super::super::power::deviate(right);
    let told = normals(seed, runs)
        .into_iter()
        .map(|x| (x < quantile) == bit);
    told.map(|one| f64::from(u8::from(one))).collect()
}
