//! Private spectral computation without a server.
//!
//! Peers hold private rows. Together they want the leading eigenvectors of A = Σ_u R_uᵀR_u, and nobody, no
//! server and no coalition of neighbours, may learn about one person more than differential privacy
//! allows. In every iteration each peer multiplies its own rows with the current public basis, adds its
//! share of noise and pairwise noise that cancels against its neighbours', and the graph averages by
//! gossip. What is left is the noise a trusted curator would have added; orthonormalise; repeat.
//!
//! The manual is the module [`guide`]: protocol, threat model, accounting, experiment files, results, glossary.
//!
//! # Layers
//!
//! Imports point down only; a test reads them.
//!
//! ```text
//! cli              guide    arguments, terminal, exit codes | the manual: pages without code
//! report      live          report.html: figures, tables, the graph | the run as it happens, in a browser
//! campaign                  sweeps, studies, advice: many runs
//! assess                    verify, audit, coalitions: is it true
//! run                       execute, references, metrics, receipt, summary, files
//! scenario                  dataset, topology, noise plan, rounds → a validated experiment, sessions
//! config                    sims/*.toml: schema, overrides, errors; knows no experiment
//! engine      node          central, federated, lockstep, event | libp2p
//! plan                      what is promised and what keeps it: noise, budget, averaging, from data alone
//! session                   agreement without a server: ids, invitations, roster, beacon, keys
//! protocol                  sans-IO peer, messages, wire format, averaging schemes
//! algorithm  noise  privacy what is contributed; what is drawn; what it costs
//! recommender               low-pass scores, rankings, held-out data
//! linalg  topology  data    matrices; graphs, weights, spectra; formats, filters, partitions
//! writing                   whole files, CSV, tables, NumPy arrays
//! vocabulary                peer indices, iterations, rounds, time, seeds, names
//! ```
//!
//! [`protocol`] imports neither the graph nor the dataset: a [`protocol::Peer`] knows its own rows and its
//! neighbours' messages. [`privacy`] knows no protocol: it takes a graph, variances, sensitivities and a
//! coalition. tokio and libp2p occur in `node` alone, behind the default feature `node`.
//!
//! # Example
//!
//! A test that your own graph gives central differential privacy:
//!
//! ```no_run
//! use std::path::Path;
//! use undertone::assess::verification::{VerifyOptions, verify};
//! use undertone::config::read_config;
//! use undertone::engine::Silent;
//! use undertone::scenario::Experiment;
//! use undertone::topology::{Graph, Provenance, Topology};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let config = read_config(Path::new("sims/quickstart.toml"), &["peers.count=4".to_owned()])?;
//! let graph = Graph::from_edges(4, &[(0, 1), (1, 2), (2, 3), (3, 0), (0, 2)])?;
//! let topology = Topology::from_graph(graph, Provenance::edges("mine"));
//! let experiment = Experiment::on_topology(config, Path::new("sims"), topology)?;
//! let table = verify(&experiment, VerifyOptions::default(), &mut Silent)?;
//! assert!(table.passed(), "{:?}", table.failures().collect::<Vec<_>>());
//! # Ok(())
//! # }
//! ```

pub mod algorithm;
pub mod assess;
pub mod campaign;
#[cfg(feature = "cli")]
pub mod cli;
pub mod config;
pub mod data;
pub mod engine;
pub mod guide;
pub mod linalg;
#[cfg(feature = "live")]
pub mod live;
#[cfg(feature = "node")]
pub mod node;
pub mod noise;
pub mod plan;
pub mod privacy;
pub mod protocol;
pub mod recommender;
#[cfg(feature = "report")]
pub mod report;
pub mod run;
pub mod scenario;
#[cfg(feature = "node")]
pub mod session;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
pub mod topology;
pub mod vocabulary;
pub mod writing;
