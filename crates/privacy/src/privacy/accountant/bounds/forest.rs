//! Disjoint trees around every peer, one per noise partner.

use rayon::prelude::*;

use crate::topology::Graph;

/// Visits of an edge allowed for the forests of all peers together; beyond, trees stay smaller than they could be
/// and the bounds made from them weaker, never wrong.
const MOST_VISITS: usize = 1_000_000_000;

/// Where the visits allowed to one peer are less than this share of both directions of all edges, fewer are made: trees
/// cut that short bound little themselves, and serve to find the nearest anchors.
const WORTHWHILE: f64 = 0.2;

/// The allowed visits are divided by this where they are not worthwhile.
const REDUCED: usize = 10;

/// Anchors that a tree of a reduced forest meets on average, at least where the allowed visits suffice. A tree meets none with
/// a probability of e⁻³, and a bound against t colluders needs t + 1 trees that do.
const ANCHORS_PER_TREE: usize = 3;

/// Visits allowed on top for the forests of anchors, which are never cut short.
const ANCHOR_VISITS: usize = 1_000_000_000;

/// The distance to an anchor where a tree holds none.
const NO_ANCHOR: u32 = u32::MAX;

/// Part of a tree: its root and the peers next to it in the order of growth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Prefix {
    /// m: how many peers it has.
    pub peers: u32,
    /// Q: the sum of squares of its subtree sizes.
    pub squares: f64,
}

/// The trees around one peer, each as a few of its parts of growing size.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Forest {
    prefixes: Vec<Prefix>,
    /// Where each tree's parts end.
    ends: Vec<usize>,
    /// For each tree, how many edges from the peer the first anchor is that the tree took.
    anchors: Vec<u32>,
}

impl Forest {
    /// Number of trees: the degree of the peer.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// For each tree, how many edges of it lead from the peer to the nearest anchor in it, if there is one.
    pub(super) fn anchors(&self) -> impl Iterator<Item = Option<u32>> {
        let known = |&distance: &u32| (distance != NO_ANCHOR).then_some(distance);
        self.anchors.iter().map(known)
    }

    /// The parts of each tree.
    pub(super) fn trees(&self) -> impl Iterator<Item = &[Prefix]> {
        self.ends.iter().scan(0, |start, &end| {
            let tree = &self.prefixes[*start..end];
            *start = end;
            Some(tree)
        })
    }
}

/// The peers whose forests are grown to the end whatever the size of the graph: as many as [`ANCHOR_VISITS`] pays for,
/// those with the most partners, of equals in a scattered order.
pub(super) fn anchors(graph: &Graph) -> Vec<bool> {
    let each = (2 * graph.edges()).max(1);
    let mut order: Vec<u32> = (0..graph.nodes() as u32).collect();
    order.sort_by_key(|&u| {
        let scattered = u.wrapping_mul(0x9e37_79b1);
        (std::cmp::Reverse(graph.degree(u as usize)), scattered)
    });
    let mut chosen = vec![false; graph.nodes()];
    for &u in order.iter().take(ANCHOR_VISITS / each) {
        chosen[u as usize] = true;
    }
    chosen
}

/// The forests of all peers, those of `anchors` whole.
///
/// # Cost
/// O(s·|E|) visits, at most [`MOST_VISITS`] and [`ANCHOR_VISITS`].
pub(super) fn forests(graph: &Graph, anchors: &[bool]) -> Vec<Forest> {
    let visits = visits_per_peer(graph, anchors.iter().filter(|&&is| is).count());
    (0..graph.nodes())
        .into_par_iter()
        .map_init(
            || Growth::new(graph.nodes()),
            |growth, u| {
                let allowed = if anchors[u] { usize::MAX } else { visits };
                growth.around(graph, u, allowed, anchors)
            },
        )
        .collect()
}

/// Visits allowed for the forest of one peer that is none of so many anchors.
fn visits_per_peer(graph: &Graph, anchors: usize) -> usize {
    let (visits, whole) = (MOST_VISITS / graph.nodes(), 2 * graph.edges());
    if visits as f64 >= WORTHWHILE * whole as f64 {
        return visits;
    }
    // A visit finds a new peer nearly always while forests are this small; one in s/anchors peers is an anchor, and a peer has
    // 2|E|/s trees.
    let meets_anchors = ANCHORS_PER_TREE.saturating_mul(whole) / anchors.max(1);
    (visits / REDUCED).max(meets_anchors).min(visits)
}

/// A peer taken by a tree.
#[derive(Clone, Copy)]
struct Taken {
    peer: u32,
    tree: u32,
    /// Position of its parent, or its own at a root.
    parent: u32,
    /// Edges from the peer in the middle.
    distance: u32,
    /// Position of the peer the same tree took next; 0 if none yet (no root follows another peer).
    next: u32,
}

/// Where a tree goes on growing.
#[derive(Clone, Copy)]
struct Tip {
    /// The peer whose neighbours are looked at, by position.
    position: u32,
    /// The next of these neighbours.
    neighbour: usize,
    /// The peer taken last, by position.
    last: u32,
}

/// Reused between peers.
struct Growth {
    /// Which peers are taken: those marked with the current round.
    mark: Vec<u32>,
    round: u32,
    taken: Vec<Taken>,
    sizes: Vec<u32>,
}

impl Growth {
    fn new(peers: usize) -> Self {
        Self {
            mark: vec![0; peers],
            round: 0,
            taken: Vec::new(),
            sizes: Vec::new(),
        }
    }

    /// Grows the trees around `u` in turns, each breadth first by one peer at a time, so that those that can still
    /// grow have equal sizes. Their parts are noted whenever that size is a power of two, and at the end.
    fn around(&mut self, graph: &Graph, u: usize, visits: usize, anchors: &[bool]) -> Forest {
        self.round += 1;
        self.taken.clear();
        self.mark[u] = self.round;
        let roots = graph.neighbours(u);
        let mut tips: Vec<Tip> = Vec::with_capacity(roots.len());
        for (position, &root) in (0_u32..).zip(roots) {
            self.mark[root as usize] = self.round;
            self.taken.push(Taken {
                peer: root,
                tree: position,
                parent: position,
                distance: 1,
                next: 0,
            });
            tips.push(Tip {
                position,
                neighbour: 0,
                last: position,
            });
        }
        let mut parts: Vec<Vec<Prefix>> = vec![Vec::new(); roots.len()];
        self.note(&mut parts);
        let mut growing: Vec<u32> = (0..roots.len() as u32).collect();
        let (mut size, mut left) = (1_u32, visits);
        // Once everybody is taken there is nothing left to find.
        while !growing.is_empty() && left > 0 && self.taken.len() + 1 < graph.nodes() {
            growing.retain(|&tree| self.extend(graph, tree, &mut tips[tree as usize], &mut left));
            size += 1;
            if size.is_power_of_two() {
                self.note(&mut parts);
            }
        }
        self.note(&mut parts);
        let mut forest = Forest {
            anchors: vec![NO_ANCHOR; roots.len()],
            ..Forest::default()
        };
        for taken in &self.taken {
            if anchors[taken.peer as usize] {
                let nearest = &mut forest.anchors[taken.tree as usize];
                *nearest = taken.distance.min(*nearest);
            }
        }
        for tree in parts {
            forest.prefixes.extend(tree);
            forest.ends.push(forest.prefixes.len());
        }
        forest
    }

    /// Takes one free peer for `tree`; whether it found any.
    fn extend(&mut self, graph: &Graph, tree: u32, tip: &mut Tip, left: &mut usize) -> bool {
        loop {
            let here = self.taken[tip.position as usize];
            let around = graph.neighbours(here.peer as usize);
            while let Some(&v) = around.get(tip.neighbour) {
                if *left == 0 {
                    return false;
                }
                *left -= 1;
                tip.neighbour += 1;
                let mark = &mut self.mark[v as usize];
                if *mark != self.round {
                    *mark = self.round;
                    let position = self.taken.len() as u32;
                    self.taken[tip.last as usize].next = position;
                    self.taken.push(Taken {
                        peer: v,
                        tree,
                        parent: tip.position,
                        distance: here.distance + 1,
                        next: 0,
                    });
                    tip.last = position;
                    return true;
                }
            }
            if here.next == 0 {
                return false;
            }
            tip.position = here.next;
            tip.neighbour = 0;
        }
    }

    /// Notes the size and the sum of squares of every tree that has grown since it was last noted.
    fn note(&mut self, parts: &mut [Vec<Prefix>]) {
        self.sizes.clear();
        self.sizes.resize(self.taken.len(), 1);
        let mut totals = vec![(0_u32, 0.0_f64); parts.len()];
        for (position, taken) in self.taken.iter().enumerate().rev() {
            let size = self.sizes[position];
            let total = &mut totals[taken.tree as usize];
            total.1 += f64::from(size) * f64::from(size);
            if taken.parent as usize == position {
                total.0 = size;
            } else {
                self.sizes[taken.parent as usize] += size;
            }
        }
        for (tree, (peers, squares)) in parts.iter_mut().zip(totals) {
            if tree.last().is_none_or(|last| last.peers < peers) {
                tree.push(Prefix { peers, squares });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(nodes: usize, edges: &[(u32, u32)]) -> Graph {
        Graph::from_edges(nodes, edges).expect("a simple graph")
    }

    #[test]
    fn trees_of_a_path_are_its_two_ends() {
        let edges: Vec<_> = (1..8).map(|v| (v - 1, v)).collect();
        let forest = &forests(&graph(8, &edges), &[true; 8])[2];
        let trees: Vec<Vec<Prefix>> = forest.trees().map(<[Prefix]>::to_vec).collect();
        let sizes: Vec<Vec<u32>> = trees
            .iter()
            .map(|t| t.iter().map(|p| p.peers).collect())
            .collect();
        assert_eq!(sizes, [vec![1, 2], vec![1, 2, 4, 5]]);
        // 5² + 4² + 3² + 2² + 1².
        assert_eq!(trees[1][3].squares, 55.0);
    }

    #[test]
    fn trees_share_no_peer_and_cover_what_they_can_reach() {
        let edges = [
            (0, 1),
            (0, 2),
            (1, 3),
            (2, 3),
            (3, 4),
            (4, 5),
            (1, 2),
            (6, 7),
        ];
        let g = graph(8, &edges);
        for (u, forest) in forests(&g, &anchors(&g)).iter().enumerate() {
            assert_eq!(forest.len(), g.degree(u));
            let covered: u32 = forest
                .trees()
                .map(|t| t.last().expect("a root").peers)
                .sum();
            let reachable = g.distances(u).iter().flatten().count() as u32 - 1;
            assert_eq!(covered, reachable, "{u}");
        }
    }

    #[test]
    fn cut_forests_are_reduced_where_they_still_meet_anchors() {
        let ring = |nodes: u32| {
            let edges: Vec<_> = (0..nodes).map(|u| (u, (u + 1) % nodes)).collect();
            graph(nodes as usize, &edges)
        };
        // Every forest may be whole.
        assert_eq!(visits_per_peer(&ring(1_000), 1_000), 1_000_000);
        let large = ring(100_000);
        for (anchors, visits) in [(5_000, 1_000), (200, 3_000), (10, 10_000), (0, 10_000)] {
            assert_eq!(visits_per_peer(&large, anchors), visits);
        }
    }

    #[test]
    fn a_tree_that_runs_out_of_visits_is_smaller_and_still_a_tree() {
        let edges: Vec<_> = (1..50).map(|v| (v - 1, v)).collect();
        let g = graph(50, &edges);
        let mut anchors = [false; 50];
        anchors[3] = true;
        let forest = Growth::new(50).around(&g, 0, 9, &anchors);
        assert_eq!(forest.anchors().collect::<Vec<_>>(), [Some(3)]);
        let tree = forest.trees().next().expect("one tree");
        let last = tree.last().expect("a root");
        assert!(last.peers < 12 && last.peers > 3, "{last:?}");
    }
}
