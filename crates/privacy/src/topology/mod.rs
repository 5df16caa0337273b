//! Communication and noise graphs: generators, files, mixing weights and spectra.
//!
//! A [`Topology`] is a [`Graph`] with its mixing weights ([`Mixing`]), its [`Spectrum`] and its
//! [`Provenance`]. It comes from a generator ([`GeneratorConfig`]) or from a file ([`load`]).

mod error;
mod file_problem;
#[cfg(feature = "files")]
mod files;
pub mod generators;
mod graph;
mod mixing;
mod named_edges;
mod names;
mod spectrum;
mod vertex_connectivity;

#[cfg(test)]
mod collection;

use std::sync::{Arc, OnceLock};

use serde::Serialize;

pub use error::{NamedEdgesError, TopologyError};
pub use file_problem::FileProblem;
#[cfg(feature = "files")]
pub use files::{LoadOptions, ParallelEdges, load, load_graph};
pub use generators::{GeneratorConfig, REGISTRY};
pub use graph::{Graph, GraphError};
pub use mixing::Mixing;
pub use names::PeerNameError;
pub use spectrum::{Interval, Known, Spectrum};
// For the other crates of Undertone.
#[cfg(feature = "files")]
#[doc(hidden)]
pub use files::{Expected, Recipe, load_recipe, write_edges};
#[doc(hidden)]
pub use {
    mixing::metropolis_weight, mixing::self_weight, named_edges::NamedEdges,
    spectrum::CERTIFIED_UP_TO, spectrum::SAFETY, vertex_connectivity::vertex_connectivity,
};

/// A graph with everything that follows from it.
#[derive(Clone, Debug)]
pub struct Topology {
    graph: Graph,
    mixing: Mixing,
    /// Once somebody has asked; clones ask together.
    spectrum: Arc<OnceLock<Spectrum>>,
    provenance: Provenance,
    /// A bound on the diameter, once somebody has asked.
    hops: OnceLock<Option<u32>>,
}

/// Where a graph comes from.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Provenance {
    /// Short name: that of the recipe, the file or the generator.
    pub name: String,
    /// How it was obtained.
    pub origin: Origin,
    /// Citation or address, if a recipe gives one.
    pub source: Option<String>,
    /// Terms of use, if a recipe gives them.
    pub licence: Option<String>,
    /// Edges of the file that repeated others.
    pub merged_edges: usize,
    /// Nodes outside the largest component, which were left out.
    pub dropped_nodes: usize,
    /// What else the file holds, such as weights, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left_out: Option<String>,
}

/// How a graph was obtained.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Origin {
    /// By a generator.
    Generated(GeneratorConfig),
    /// From a file.
    File {
        /// Name of the file, without its folder.
        file: String,
    },
    /// As a list of edges, from a program.
    Edges,
}

impl Provenance {
    /// The provenance of a generated graph.
    #[must_use]
    pub fn generated(config: GeneratorConfig) -> Self {
        Self::plain(config.name(), Origin::Generated(config))
    }

    /// The provenance of a graph that a program made from a list of edges.
    #[must_use]
    pub fn edges(name: &str) -> Self {
        Self::plain(name, Origin::Edges)
    }

    fn plain(name: &str, origin: Origin) -> Self {
        Self {
            name: name.to_owned(),
            origin,
            source: None,
            licence: None,
            merged_edges: 0,
            dropped_nodes: 0,
            left_out: None,
        }
    }
}

/// A topology in numbers, as reports print it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct TopologySummary {
    /// Number of nodes.
    pub nodes: usize,
    /// Number of edges.
    pub edges: usize,
    /// Smallest degree.
    pub min_degree: usize,
    /// Largest degree.
    pub max_degree: usize,
    /// Whether every node reaches every other.
    pub connected: bool,
    /// λ₂(L), by [`Interval::estimate`].
    pub algebraic_connectivity: f64,
    /// Whether that is the value or only a lower bound of it.
    pub algebraic_connectivity_is: Known,
    /// λ₂(W), by [`Interval::estimate`].
    pub mixing_second_eigenvalue: f64,
    /// Whether the bounds used in place of the two numbers are proved.
    pub certified: bool,
}

impl Topology {
    /// The topology of `graph`, with Metropolis–Hastings weights. A disconnected graph is accepted here:
    /// its algebraic connectivity is 0 and it never averages; whoever needs it connected must look.
    #[must_use]
    pub fn from_graph(graph: Graph, provenance: Provenance) -> Self {
        let mixing = Mixing::metropolis(&graph);
        Self {
            graph,
            mixing,
            spectrum: Arc::default(),
            provenance,
            hops: OnceLock::new(),
        }
    }

    /// The topology a generator makes with `nodes` nodes.
    ///
    /// # Errors
    /// As [`GeneratorConfig::generate`].
    pub fn generate(config: &GeneratorConfig, nodes: usize) -> Result<Self, TopologyError> {
        let graph = config.generate(nodes)?;
        Ok(Self::from_graph(
            graph,
            Provenance::generated(config.clone()),
        ))
    }

    /// The same topology with its peers called what `other`'s are.
    ///
    /// # Errors
    /// [`GraphError::NameCount`] if the two have not as many nodes.
    pub fn with_names_of(mut self, other: &Graph) -> Result<Self, GraphError> {
        self.graph = self.graph.with_names_of(other)?;
        Ok(self)
    }

    /// The graph.
    #[must_use]
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// Its mixing weights.
    #[must_use]
    pub fn mixing(&self) -> &Mixing {
        &self.mixing
    }

    /// Its spectrum, found once, when it is first asked for.
    ///
    /// # Cost
    /// That of [`Spectrum::of`], seconds for thousands of nodes.
    #[must_use]
    pub fn spectrum(&self) -> &Spectrum {
        self.spectrum
            .get_or_init(|| Spectrum::of(&self.graph, &self.mixing))
    }

    /// [`Graph::diameter_bound`], found once.
    #[must_use]
    pub fn diameter_bound(&self) -> Option<u32> {
        *self.hops.get_or_init(|| self.graph.diameter_bound())
    }

    /// Where it comes from.
    #[must_use]
    pub fn provenance(&self) -> &Provenance {
        &self.provenance
    }

    /// The topology in numbers.
    #[must_use]
    pub fn summary(&self) -> TopologySummary {
        let spectrum = self.spectrum();
        TopologySummary {
            nodes: self.graph.nodes(),
            edges: self.graph.edges(),
            min_degree: self.graph.min_degree(),
            max_degree: self.graph.max_degree(),
            connected: self.graph.is_connected(),
            algebraic_connectivity: spectrum.algebraic_connectivity.estimate,
            algebraic_connectivity_is: spectrum.algebraic_connectivity.known(),
            mixing_second_eigenvalue: spectrum.mixing_second.estimate,
            certified: spectrum.is_certified(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clones_share_a_spectrum_whoever_asks_first() {
        let (config, nodes) = (REGISTRY[0].example)(2);
        let topology = Topology::generate(&config, nodes).expect("a graph");
        let clone = topology.clone();
        assert!(std::ptr::eq(clone.spectrum(), topology.spectrum()));
    }

    #[test]
    fn the_weights_of_every_family_are_symmetric_and_sum_to_one() {
        for entry in REGISTRY {
            let (config, nodes) = (entry.example)(2);
            let topology = Topology::generate(&config, nodes).expect(entry.name);
            let (graph, mixing) = (topology.graph(), topology.mixing());
            for u in 0..nodes {
                let weights = mixing.neighbour_weights(u);
                let sum = mixing.self_weight(u) + weights.iter().sum::<f64>();
                assert!((sum - 1.0).abs() < 1e-14, "{} {u}: {sum}", entry.name);
                assert!(mixing.self_weight(u) > 0.0);
                for (&v, weight) in graph.neighbours(u).iter().zip(weights) {
                    let back = graph
                        .neighbours(v as usize)
                        .binary_search(&(u as u32))
                        .expect("edges go both ways");
                    assert_eq!(mixing.neighbour_weights(v as usize)[back], *weight);
                    assert_eq!(
                        *weight,
                        metropolis_weight(graph.degree(u), graph.degree(v as usize))
                    );
                }
            }
            let gap = topology.spectrum().spectral_gap();
            assert!(gap > 0.0 && gap <= 1.0, "{} {gap}", entry.name);
        }
    }

    #[test]
    fn a_summary_has_exactly_the_documented_keys() {
        let config: GeneratorConfig = toml::from_str("generator = \"star\"").expect("valid");
        let topology = Topology::generate(&config, 5).expect("a star");
        let summary = serde_json::to_value(topology.summary()).expect("numbers");
        let mut keys: Vec<&str> = summary
            .as_object()
            .expect("a table")
            .keys()
            .map(String::as_str)
            .collect();
        let mut expected = [
            "nodes",
            "edges",
            "min_degree",
            "max_degree",
            "connected",
            "algebraic_connectivity",
            "algebraic_connectivity_is",
            "mixing_second_eigenvalue",
            "certified",
        ];
        expected.sort_unstable();
        keys.sort_unstable();
        assert_eq!(keys, expected);
        assert_eq!(summary["max_degree"], 4);
        assert_eq!(summary["certified"], true);
        assert_eq!(topology.provenance().name, "star");
    }
}
