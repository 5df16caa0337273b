//! Graph families, one per file.
//!
//! A new family is one file with a `Family` implementation and one line in `families!` below; the
//! conformance tests then run on it.

mod barabasi_albert;
mod complete;
mod erdos_renyi;
mod grid;
mod hypercube;
mod k_out;
mod path;
mod random_geometric;
mod random_regular;
mod ring;
mod star;
mod torus;
mod watts_strogatz;

#[cfg(test)]
mod tests;

use chacha20::ChaCha20Rng;
use petgraph::visit::EdgeRef;
use rand::Rng;
use serde::{Deserialize, Serialize};

use super::{Graph, TopologyError};
use crate::vocabulary::{Label, Seed};

pub use barabasi_albert::BarabasiAlbert;
pub use complete::Complete;
pub use erdos_renyi::ErdosRenyi;
pub use grid::Grid;
pub use hypercube::Hypercube;
pub use k_out::KOut;
pub use path::Path;
pub use random_geometric::RandomGeometric;
pub use random_regular::RandomRegular;
pub use ring::Ring;
pub use star::Star;
pub use torus::Torus;
pub use watts_strogatz::WattsStrogatz;

/// The largest graph a generator builds, in nodes.
pub(super) const MAX_NODES: usize = 10_000_000;

/// The largest graph a generator builds, in edges.
pub(super) const MAX_EDGES: usize = 100_000_000;

/// Random graphs drawn before a random family gives up on a connected one.
pub(super) const ATTEMPTS: u32 = 100;

/// Edges of a graph under construction: any order, each pair once.
pub(super) type EdgeList = Vec<(u32, u32)>;

/// A graph family with its parameters.
pub(super) trait Family {
    /// The number of nodes written in the configuration, if any.
    fn declared_nodes(&self) -> Option<usize>;

    /// The smallest number of nodes for which the family is defined.
    fn least_nodes(&self) -> usize {
        1
    }

    /// The seed of a random family and the parameter to raise when its graphs fall apart; `None` for a
    /// family with one graph per number of nodes.
    fn randomness(&self) -> Option<Randomness> {
        None
    }

    /// The edges of the family's graph on `nodes` nodes (between [`Self::least_nodes`] and
    /// [`MAX_NODES`]); a random family draws from `random` alone.
    ///
    /// # Errors
    /// [`TopologyError`] for parameters that do not fit each other or `nodes`.
    fn edges(&self, nodes: usize, random: &mut ChaCha20Rng) -> Result<EdgeList, TopologyError>;
}

/// What a random family says about its draws.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Randomness {
    /// The seed: the same seed gives the same graph.
    pub seed: u64,
    /// The parameter to raise when no draw is connected.
    pub raise: &'static str,
}

/// One line of the registry.
#[doc(hidden)]
pub struct Entry {
    /// The name in configurations.
    pub name: &'static str,
    /// One sentence for listings.
    pub summary: &'static str,
    /// A small valid member of the family with the given seed (which a family without randomness
    /// ignores) and its number of nodes; the conformance tests run on it.
    pub example: fn(u64) -> (GeneratorConfig, usize),
}

macro_rules! families {
    ($($variant:ident = $name:literal, $summary:literal, $example:expr;)*) => {
        /// A graph family and its parameters, as written in a configuration: a table with
        /// `generator = "<family>"` and the family's keys. Unknown keys are refused.
        #[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
        #[serde(tag = "generator")]
        pub enum GeneratorConfig {
            $(
                #[doc = $summary]
                #[serde(rename = $name)]
                $variant($variant),
            )*
        }

        impl GeneratorConfig {
            /// The family's name in configurations.
            #[must_use]
            pub fn name(&self) -> &'static str {
                match self {
                    $(Self::$variant(_) => $name,)*
                }
            }

            fn family(&self) -> &dyn Family {
                match self {
                    $(Self::$variant(family) => family,)*
                }
            }
        }

        /// Every family.
        #[doc(hidden)]
        pub const REGISTRY: &[Entry] = &[
            $(Entry { name: $name, summary: $summary, example: $example },)*
        ];
    };
}

families! {
    Complete = "complete", "Every pair of nodes is an edge.",
        |_| (GeneratorConfig::Complete(Complete { n: None }), 9);
    Ring = "ring", "A cycle.",
        |_| (GeneratorConfig::Ring(Ring { n: None }), 11);
    Path = "path", "A line.",
        |_| (GeneratorConfig::Path(Path { n: None }), 7);
    Star = "star", "One hub, and an edge from it to every other node.",
        |_| (GeneratorConfig::Star(Star { n: None }), 8);
    Torus = "torus", "A two-dimensional lattice that wraps around at both borders.",
        |_| (GeneratorConfig::Torus(Torus { n: None, rows: None, columns: None }), 20);
    Grid = "grid", "A two-dimensional lattice with borders.",
        |_| (GeneratorConfig::Grid(Grid { n: None, rows: None, columns: None }), 12);
    Hypercube = "hypercube", "The bit strings of one length; an edge where two differ in one bit.",
        |_| (GeneratorConfig::Hypercube(Hypercube { n: None }), 16);
    RandomRegular = "random-regular", "A random graph in which every node has the same degree.",
        |seed| (GeneratorConfig::RandomRegular(RandomRegular { n: None, degree: 4, seed }), 30);
    KOut = "k-out", "Every node picks k others at random.",
        |seed| (GeneratorConfig::KOut(KOut { n: None, k: 3, seed }), 30);
    ErdosRenyi = "erdos-renyi", "Every pair is an edge with one probability, independently.",
        |seed| (GeneratorConfig::ErdosRenyi(ErdosRenyi { n: None, probability: 0.2, seed }), 30);
    WattsStrogatz = "watts-strogatz", "A ring lattice with some edges rewired: a small world.",
        |seed| (GeneratorConfig::WattsStrogatz(WattsStrogatz { n: None, degree: 4, rewire: 0.3, seed }), 30);
    BarabasiAlbert = "barabasi-albert", "Growth by preferential attachment: few hubs, many leaves.",
        |seed| (GeneratorConfig::BarabasiAlbert(BarabasiAlbert { n: None, edges_per_node: 2, seed }), 30);
    RandomGeometric = "random-geometric", "Random points of the unit square, joined where closer than a radius.",
        |seed| (GeneratorConfig::RandomGeometric(RandomGeometric { n: None, radius: 0.4, seed }), 30);
}

/// Degree of the graph that is drawn where none is asked for.
const DEGREE: usize = 10;

impl GeneratorConfig {
    /// The graph of so many peers where none is asked for: random and regular of degree 10, or complete where there are at most eleven.
    #[must_use]
    pub fn usual(peers: usize, seed: u64) -> Self {
        match peers > DEGREE + 1 {
            true => Self::RandomRegular(RandomRegular {
                n: None,
                degree: DEGREE,
                seed,
            }),
            false => Self::Complete(Complete { n: None }),
        }
    }

    /// The number of nodes written in the configuration; where it is `None`, whoever uses the graph
    /// chooses (an experiment: its number of peers).
    #[must_use]
    pub fn nodes(&self) -> Option<usize> {
        self.family().declared_nodes()
    }

    /// Whether two seeds give two graphs.
    #[must_use]
    pub fn is_random(&self) -> bool {
        self.family().randomness().is_some()
    }

    /// The connected graph with `nodes` nodes: equal for equal configurations. A random family draws up
    /// to 100 graphs, from streams derived from its seed, and returns the first connected one.
    ///
    /// # Errors
    /// [`TopologyError`] for parameters outside their range, a number of nodes that differs from the
    /// declared one, and [`TopologyError::NeverConnected`].
    pub fn generate(&self, nodes: usize) -> Result<Graph, TopologyError> {
        let randomness = self.family().randomness();
        let attempts = if randomness.is_some() { ATTEMPTS } else { 1 };
        for attempt in 0..attempts {
            let graph = self.draw(nodes, attempt)?;
            if graph.is_connected() {
                return Ok(graph);
            }
        }
        Err(TopologyError::NeverConnected {
            generator: self.name(),
            attempts,
            nodes,
            parameter: randomness.map_or("n", |r| r.raise),
        })
    }

    /// The first draw with `nodes` nodes, connected or not.
    ///
    /// # Errors
    /// As [`Self::generate`], without [`TopologyError::NeverConnected`].
    pub fn generate_any(&self, nodes: usize) -> Result<Graph, TopologyError> {
        self.draw(nodes, 0)
    }

    fn draw(&self, nodes: usize, attempt: u32) -> Result<Graph, TopologyError> {
        let family = self.family();
        if let Some(declared) = family.declared_nodes()
            && declared != nodes
        {
            return Err(TopologyError::NodeCountMismatch {
                declared,
                wanted: nodes,
            });
        }
        let least = family.least_nodes();
        if !(least..=MAX_NODES).contains(&nodes) {
            return Err(TopologyError::NodeCount {
                generator: self.name(),
                nodes,
                least,
                most: MAX_NODES,
            });
        }
        let seed = family.randomness().map_or(0, |r| r.seed);
        let mut random = Seed::from_u64(seed)
            .key(Label::Topology, attempt, 0)
            .stream(0, 0);
        let edges = family.edges(nodes, &mut random)?;
        Ok(Graph::from_edges(nodes, &edges)?)
    }
}

/// Refuses a graph of about `edges` edges if that is more than [`MAX_EDGES`].
fn check_edges(
    generator: &'static str,
    parameter: &'static str,
    edges: u128,
) -> Result<(), TopologyError> {
    if edges > MAX_EDGES as u128 {
        return Err(TopologyError::TooManyEdges {
            generator,
            edges,
            most: MAX_EDGES,
            parameter,
        });
    }
    Ok(())
}

/// Refuses a degree-like parameter outside `least..=most`.
fn check_degree(
    generator: &'static str,
    parameter: &'static str,
    found: usize,
    nodes: usize,
    (least, most): (usize, usize),
) -> Result<(), TopologyError> {
    if !(least..=most).contains(&found) {
        return Err(TopologyError::DegreeOutOfRange {
            generator,
            parameter,
            found,
            nodes,
            least,
            most,
        });
    }
    Ok(())
}

/// A petgraph graph of the kind the rustworkx generators build.
type Built<N> = petgraph::graph::UnGraph<N, ()>;

/// The edges of a graph built by rustworkx.
fn edges_of<N>(built: &Built<N>) -> EdgeList {
    built
        .edge_references()
        .map(|edge| (edge.source().index() as u32, edge.target().index() as u32))
        .collect()
}

/// The seed of a rustworkx generator, which takes 64 bits.
fn library_seed(random: &mut ChaCha20Rng) -> Option<u64> {
    Some(random.next_u64())
}
