//! The tree scheme: sums up a spanning tree and sends the total back down.

use std::collections::VecDeque;
use std::sync::Arc;

use super::spanning::Spanning;
use super::{
    AveragingError, AveragingOption, AveragingOptions, AveragingScheme, Expected, Length,
    MixingBounds, Neighbourhood, PeerStep, Schedule,
};

/// The centre is exact where a search from every peer visits at most this many peers and ends of edges: about a second.
const EXACT_CENTRE: usize = 1 << 28;

/// The most children of a peer where `averaging.fan_in` is not given.
const FAN_IN: u32 = 4;

/// The exact sum over spanning trees of the communication graph.
///
/// The tree is rooted at `averaging.root`; where that is not given, at a centre of the graph, a peer whose farthest peer is
/// nearest; of several the one with the smallest number. With f = `averaging.fan_in` (default 4) no peer is joined to more than
/// f + 1 others in the tree, a parent and f children (the root has no parent and may have one child more), unless the graph
/// leaves no other choice that is found; see `spanning.rs` for how the tree grows. So no peer sends more
/// than f + 1 blocks per sum. With d the depth of a peer and H that of the deepest:
///
/// ```text
/// round H − d       a peer sends its own value plus its children's to its parent      (d ≥ 1)
/// round H − d − 1   it has waited for its children: y = x + Σ m_child, ascending      (inner peers)
/// round H + d       it sends the total to its children                                (inner peers)
/// round H + d − 1   it has taken the total from its parent, bit by bit                 (d ≥ 1)
/// ```
///
/// # Claim
/// After 2H rounds and 2(s − 1) messages all peers hold the same bits, and these are Σ_u x_u up to rounding.
///
/// # Proof
/// By induction from the deepest peers, what a peer sends up is the sum over its subtree, folded in one order. The root
/// holds the sum over everybody; every other peer takes its parent's value with weight 1 and none of its own, which
/// changes no bit. Each of the s − 1 tree edges carries one message up and one down. ∎
///
/// # Trees that take turns
/// With `averaging.rotate` = m > 1, sum number r of a session goes over tree r mod m, so that the load moves. The first tree is the one above;
/// each further one begins at the peer farthest from the roots so far (ties go to smaller numbers), and its peers prefer as
/// parents those that have sent least in the trees before. The claim holds for each tree; all last as many rounds as the
/// highest. Sums of different turns are added up in different orders: they differ in their last bits.
///
/// # What it costs in robustness
/// Every peer waits for the whole tree: one that fails stops everybody, and inner peers of small depth carry the sums
/// of many. The sums are of published inputs, so nothing is revealed that gossip would not reveal.
///
/// # The centre of a large graph
/// Where a search from every peer would visit more than 2²⁸ peers and ends of edges (16,000 peers of degree 1, 2,500 of
/// degree 40) the root is the middle of a
/// longest path that two searches find: from peer 0 to a farthest peer a, from a to a farthest peer b; ties go to
/// smaller numbers. On a tree that is a centre; on any graph its farthest peer is at most the diameter away, which is at most
/// twice the least.
#[derive(Clone, Copy, Debug)]
pub struct Tree;

impl AveragingScheme for Tree {
    fn name(&self) -> &'static str {
        "tree"
    }

    fn options(&self) -> &'static [AveragingOption] {
        &[
            AveragingOption::Root,
            AveragingOption::FanIn,
            AveragingOption::Rotate,
        ]
    }

    fn compile(
        &self,
        network: &dyn Neighbourhood,
        _bounds: MixingBounds,
        length: Length,
        options: AveragingOptions,
    ) -> Result<Schedule, AveragingError> {
        if length != Length::Own {
            return Err(AveragingError::FixedLength {
                scheme: self.name(),
            });
        }
        let peers = network.peers();
        let mut root = match options.root() {
            Some(root) if root as usize >= peers => {
                return Err(AveragingError::Root { root, peers });
            }
            Some(root) => root as usize,
            None => centre(network),
        };
        let most = options.fan_in().unwrap_or(FAN_IN).saturating_add(1);
        let mut load = vec![0; peers];
        // Hops to the nearest root so far.
        let mut hops = vec![u32::MAX; peers];
        let turns = (0..options.rotate()).map(|_| {
            let search = Search::from(network, root);
            if search.order.len() < peers {
                return Err(AveragingError::Unreachable {
                    scheme: self.name(),
                    reached: search.order.len(),
                    peers,
                });
            }
            let tree = Spanning::grown(network, root, most, &load);
            for (load, degree) in load.iter_mut().zip(&tree.degree) {
                *load += u64::from(*degree);
            }
            for (hops, depth) in hops.iter_mut().zip(&search.depth) {
                *hops = (*hops).min(*depth);
            }
            let farthest = (0..peers).rev().max_by_key(|u| hops[*u]);
            root = farthest.unwrap_or(root);
            let height = tree.height();
            let steps = (0..peers)
                .map(|u| steps_of(network, &tree, u, height))
                .collect();
            Ok(Schedule::listed(network, 1.0, steps)?)
        });
        let turns: Result<Vec<Schedule>, AveragingError> = turns.collect();
        Ok(Schedule::taking_turns(turns?)?)
    }

    fn contraction(&self, _bounds: MixingBounds, _rounds: u32) -> Result<f64, AveragingError> {
        Ok(0.0)
    }

    fn is_exact(&self) -> bool {
        true
    }
}

fn steps_of(network: &dyn Neighbourhood, tree: &Spanning, u: usize, height: u32) -> Vec<PeerStep> {
    let depth = tree.depth[u];
    let positions = |wanted: &dyn Fn(usize) -> bool| -> Vec<u32> {
        let neighbours = network.neighbours(u).iter().enumerate();
        neighbours
            .filter(|(_, v)| wanted(**v as usize))
            .map(|(position, _)| position as u32)
            .collect()
    };
    let children = positions(&|v| tree.parent[v] == Some(u as u32));
    let parent = positions(&|v| tree.parent[u] == Some(v as u32));
    let expected = |positions: &[u32]| {
        positions
            .iter()
            .map(|&position| Expected {
                position,
                weight: 1.0,
            })
            .collect()
    };
    let mut steps = Vec::new();
    if !children.is_empty() {
        steps.push(PeerStep {
            round: height - depth - 1,
            send_to: Arc::new([]),
            expect: expected(&children),
            own: 1.0,
            own_at: 0,
        });
    }
    if !parent.is_empty() {
        steps.push(PeerStep::sending(height - depth, &parent));
        steps.push(PeerStep {
            round: height + depth - 1,
            send_to: Arc::new([]),
            expect: expected(&parent),
            own: 0.0,
            own_at: 0,
        });
    }
    if !children.is_empty() {
        steps.push(PeerStep::sending(height + depth, &children));
    }
    steps
}

/// A breadth-first search that visits neighbours in ascending order.
struct Search {
    /// Peers in the order they are reached.
    order: Vec<u32>,
    parent: Vec<Option<u32>>,
    /// Hops from the start; meaningless for peers that are not reached.
    depth: Vec<u32>,
    farthest: u32,
}

impl Search {
    fn from(network: &dyn Neighbourhood, root: usize) -> Self {
        let peers = network.peers();
        let mut found = Self {
            order: Vec::with_capacity(peers),
            parent: vec![None; peers],
            depth: vec![u32::MAX; peers],
            farthest: 0,
        };
        let mut open = VecDeque::from([root as u32]);
        found.depth[root] = 0;
        while let Some(u) = open.pop_front() {
            found.order.push(u);
            let depth = found.depth[u as usize];
            found.farthest = found.farthest.max(depth);
            for &v in network.neighbours(u as usize) {
                if found.depth[v as usize] == u32::MAX {
                    found.depth[v as usize] = depth + 1;
                    found.parent[v as usize] = Some(u);
                    open.push_back(v);
                }
            }
        }
        found
    }

    /// A peer at the greatest distance; of several the one with the smallest number.
    fn far_end(&self) -> usize {
        let at_the_end = |u: &&u32| self.depth[**u as usize] == self.farthest;
        let ends = self.order.iter().filter(at_the_end);
        ends.min().map_or(0, |&u| u as usize)
    }
}

/// The root of the tree.
fn centre(network: &dyn Neighbourhood) -> usize {
    let peers = network.peers();
    let ends: usize = (0..peers).map(|u| network.neighbours(u).len()).sum();
    if peers.saturating_mul(peers + ends) <= EXACT_CENTRE {
        let eccentricity = |u: &usize| Search::from(network, *u).farthest;
        return (0..peers).min_by_key(eccentricity).unwrap_or(0);
    }
    let first = Search::from(network, 0).far_end();
    let across = Search::from(network, first);
    let mut middle = across.far_end() as u32;
    while 2 * across.depth[middle as usize] > across.farthest {
        match across.parent[middle as usize] {
            Some(parent) => middle = parent,
            None => break,
        }
    }
    middle as usize
}
