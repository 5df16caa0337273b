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

/// One tree as a few of its parts of growing size: the i-th has 2^i peers, and the last all of them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tree<'a> {
    peers: u32,
    /// Q of each part.
    squares: &'a [f64],
}

impl Tree<'_> {
    /// The parts.
    pub(super) fn parts(self) -> impl Iterator<Item = Prefix> {
        let sizes = std::iter::successors(Some(1_u32), |size| Some(size.saturating_mul(2)));
        let parts = sizes.zip(self.squares);
        parts.map(move |(size, &squares)| Prefix {
            peers: size.min(self.peers),
            squares,
        })
    }

    /// The last part.
    pub(super) fn whole(self) -> Prefix {
        Prefix {
            peers: self.peers,
            squares: self.squares.last().copied().unwrap_or(1.0),
        }
    }
}

/// What is kept of a tree beside its sums of squares.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Outline {
    peers: u32,
    /// Where its sums of squares end.
    end: u32,
    /// How many edges from the peer in the middle the first anchor is that the tree took.
    anchor: u32,
}

/// The trees around one peer.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Forest {
    squares: Box<[f64]>,
    outlines: Box<[Outline]>,
}

impl Forest {
    /// Number of trees: the degree of the peer.
    pub(super) fn len(&self) -> usize {
        self.outlines.len()
    }

    /// For each tree, how many edges of it lead from the peer to the nearest anchor in it, if there is one.
    pub(super) fn anchors(&self) -> impl Iterator<Item = Option<u32>> {
        let distances = self.outlines.iter().map(|tree| tree.anchor);
        distances.map(|distance| (distance != NO_ANCHOR).then_some(distance))
    }

    /// The trees.
    pub(super) fn trees(&self) -> impl Iterator<Item = Tree<'_>> {
        self.outlines.iter().scan(0, |start, outline| {
            let end = outline.end as usize;
            let squares = &self.squares[*start..end];
            *start = end;
            Some(Tree {
                peers: outline.peers,
                squares,
            })
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
    /// Position of its parent, or its own at a root.
    parent: u32,
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

/// A tree's sums of squares so far and the number of peers at the last of them.
#[derive(Clone, Default)]
struct Noted {
    peers: u32,
    squares: Vec<f64>,
}

/// The trees around one peer while they grow; reused between peers.
struct Growth {
    /// The peer in the middle.
    middle: u32,
    /// Which peers are taken, the one in the middle among them: a bit each, so that those of many peers fit a cache.
    marks: Vec<u64>,
    taken: Vec<Taken>,
    sizes: Vec<u32>,
    /// For each peer taken: its tree, and edges from the peer in the middle.
    places: Vec<(u32, u32)>,
    noted: Vec<Noted>,
}

impl Growth {
    fn new(peers: usize) -> Self {
        Self {
            middle: 0,
            marks: vec![0; peers.div_ceil(64)],
            taken: Vec::new(),
            sizes: Vec::new(),
            places: Vec::new(),
            noted: Vec::new(),
        }
    }

    /// Marks a peer; whether it was free.
    fn mark(&mut self, peer: u32) -> bool {
        let (word, bit) = (&mut self.marks[peer as usize / 64], 1 << (peer % 64));
        let free = *word & bit == 0;
        *word |= bit;
        free
    }

    /// Takes nobody but `u`, the peer in the middle.
    fn start(&mut self, u: u32) {
        let before = self.taken.iter().map(|taken| taken.peer);
        for peer in before.chain([self.middle]) {
            self.marks[peer as usize / 64] = 0;
        }
        self.taken.clear();
        self.places.clear();
        self.middle = u;
        self.mark(u);
    }

    /// Grows the trees around `u` in turns, each breadth first by one peer at a time, so that those that can still
    /// grow have equal sizes. Their sums of squares are noted whenever that size is a power of two, and at the end.
    fn around(&mut self, graph: &Graph, u: usize, visits: usize, anchors: &[bool]) -> Forest {
        self.start(u as u32);
        let roots = graph.neighbours(u);
        let mut tips: Vec<Tip> = Vec::with_capacity(roots.len());
        for (position, &root) in (0_u32..).zip(roots) {
            self.mark(root);
            self.taken.push(Taken {
                peer: root,
                parent: position,
                next: 0,
            });
            tips.push(Tip {
                position,
                neighbour: 0,
                last: position,
            });
        }
        self.noted.truncate(roots.len());
        for noted in &mut self.noted {
            noted.peers = 0;
            noted.squares.clear();
        }
        self.noted.resize_with(roots.len(), Noted::default);
        self.note();
        let mut growing: Vec<u32> = (0..roots.len() as u32).collect();
        let (mut size, mut left) = (1_u32, visits);
        // Once everybody is taken there is nothing left to find.
        while !growing.is_empty() && left > 0 && self.taken.len() + 1 < graph.nodes() {
            growing.retain(|&tree| self.extend(graph, &mut tips[tree as usize], &mut left));
            size += 1;
            if size.is_power_of_two() {
                self.note();
            }
        }
        self.note();
        self.forest(anchors)
    }

    /// Takes one free peer for the tree of this tip; whether it found any.
    fn extend(&mut self, graph: &Graph, tip: &mut Tip, left: &mut usize) -> bool {
        loop {
            let here = self.taken[tip.position as usize];
            let around = graph.neighbours(here.peer as usize);
            while let Some(&v) = around.get(tip.neighbour) {
                if *left == 0 {
                    return false;
                }
                *left -= 1;
                tip.neighbour += 1;
                if self.mark(v) {
                    let position = self.taken.len() as u32;
                    self.taken[tip.last as usize].next = position;
                    self.taken.push(Taken {
                        peer: v,
                        parent: tip.position,
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

    /// Notes the sum of squares of every tree that has grown since it was last noted.
    fn note(&mut self) {
        self.sizes.clear();
        self.sizes.resize(self.taken.len(), 1);
        for taken in &self.taken[self.places.len()..] {
            let root = self.places.len() as u32;
            let place = match self.places.get(taken.parent as usize) {
                Some(&(tree, distance)) => (tree, distance + 1),
                None => (root, 1),
            };
            self.places.push(place);
        }
        let mut squares = vec![0.0_f64; self.noted.len()];
        for (position, taken) in self.taken.iter().enumerate().rev() {
            let size = self.sizes[position];
            let (tree, _) = self.places[position];
            squares[tree as usize] += f64::from(size) * f64::from(size);
            if taken.parent as usize != position {
                self.sizes[taken.parent as usize] += size;
            }
        }
        // The roots were taken first, and a root's subtree is its tree.
        for ((noted, &peers), squares) in self.noted.iter_mut().zip(&self.sizes).zip(squares) {
            if noted.peers < peers {
                noted.peers = peers;
                noted.squares.push(squares);
            }
        }
    }

    /// What is kept of the trees as they were last noted.
    fn forest(&self, anchors: &[bool]) -> Forest {
        let mut nearest = vec![NO_ANCHOR; self.noted.len()];
        for (taken, &(tree, distance)) in self.taken.iter().zip(&self.places) {
            if anchors[taken.peer as usize] {
                let nearest = &mut nearest[tree as usize];
                *nearest = distance.min(*nearest);
            }
        }
        let mut squares = Vec::with_capacity(self.noted.iter().map(|n| n.squares.len()).sum());
        let outline = |(noted, anchor): (&Noted, u32)| {
            squares.extend_from_slice(&noted.squares);
            Outline {
                peers: noted.peers,
                end: squares.len() as u32,
                anchor,
            }
        };
        let outlines = self.noted.iter().zip(nearest).map(outline).collect();
        Forest {
            squares: squares.into_boxed_slice(),
            outlines,
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
        let trees: Vec<Vec<Prefix>> = forest.trees().map(|t| t.parts().collect()).collect();
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
            let covered: u32 = forest.trees().map(|t| t.whole().peers).sum();
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
        let last = forest.trees().next().expect("one tree").whole();
        assert!(last.peers < 12 && last.peers > 3, "{last:?}");
    }
}
