//! Principal components of rows that stay with many peers, without a server and with differential privacy.
//!
//! Peers hold private rows. Together they compute the leading eigenvectors of A = Σ_u R_uᵀR_u. In every iteration each peer multiplies its own rows
//! with the current public basis and adds noise of two kinds: its share of what a trusted curator would add, and noise that cancels against its
//! neighbours'. The graph averages by gossip, and everybody orthonormalises. No server is needed, and no coalition of the planned size learns more
//! about one person than the promise allows.
//!
//! # A first program
//!
//! A hundred people on a random graph, each with one row of four numbers:
//!
//! ```
//! use undertone::prelude::*;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut rows = SparseRows::new(4);
//! for i in 0..100_u32 {
//!     let x = f64::from(i);
//!     rows.push_row([(0, x.sin()), (1, 0.8 * x.sin()), (2, 0.2 * x.cos())])?;
//! }
//! // No row is longer than 1.5. That is public: choose it without looking at the rows.
//! let data = Dataset::Samples { rows, radius: 1.5 };
//! let promise = Promise::new(2.0, 1e-5, Adjacency::User)?;
//! let simulation = Simulation::new(data, Covariance::new(4, 1)?, promise).build()?;
//! let outcome = simulation.run(&mut Silent)?;
//! println!("leading direction: {:.2?}", outcome.basis().values());
//!
//! // The decentralised run cannot be told from a curator's with the same noise.
//! let table = verify(&simulation, VerifyOptions::default(), &mut Silent)?;
//! assert!(table.passed(), "{table}");
//! # Ok(())
//! # }
//! ```
//!
//! # Where to go next
//!
//! - [`prelude`]: everything that a simulation and its test are made of, by topic.
//! - [`guide::tutorial`]: from the first command to a graph, rows and an algorithm of your own.
//! - [`engine::Simulation`]: your own graph, averaging, noise and runner. [`engine::Runner`]: an engine of your own.
//! - [`algorithm::Algorithm`]: an algorithm of your own. `examples/own_algorithm.rs` has one, `examples/equivalence_test.rs` its integration test.
//! - [`papers`]: algorithms as published, by paper.
//! - [`testing`]: assertions about transcripts that any program wrote. Behind the feature of that name, sessions that are broken on purpose, to see that
//!   your test would notice.
//! - [`scenario::Experiment`]: experiment files, as the command `undertone` runs them.
//! - [`guide`]: the manual, with protocol, threat model, accounting, results and a glossary.
//!
//! # Crates and layers
//!
//! Imports point down only. The compiler keeps the crates apart, a test the layers.
//!
//! ```text
//! undertone          cli        guide       arguments, terminal, exit codes | the manual: pages without code
//!                    report     live        report.html: figures, tables, the graph | the run as it happens, in a browser
//!                    campaign               sweeps, studies, advice: many runs
//!                    prelude    testing     names for a simulation and its test | tests of transcripts of other programs
//!                    assess                 verify, audit, coalitions: is it true
//!                    run                    execute, references, metrics, receipt, summary, files
//!                    scenario               files of data, topology, noise, rounds → a validated experiment, sessions
//!                    config                 sims/*.toml: schema, overrides, errors; knows no experiment
//!                    data  recommender      formats, filters | low-pass scores, rankings, held-out data
//! undertone-node     node                   libp2p: the swarm engine, deployed members
//!                    session                agreement without a server: ids, invitations, roster, beacon, keys
//! undertone-papers   papers                 algorithms as published: deflation, Frank–Wolfe and others
//! undertone-core     engine                 simulations: central, federated, lockstep, event
//!                    plan                   what is promised and what keeps it: noise, budget, averaging, from data alone
//!                    protocol               sans-IO peer, messages, wire format, averaging schemes
//!                    algorithm  noise       what is contributed | what is drawn
//!                    dataset    writing     rows in memory, dealt to peers | whole files, CSV, tables, NumPy arrays
//! undertone-privacy  privacy                what it costs, for every coalition
//!                    topology   linalg      graphs, weights, spectra | matrices
//!                    interactions           who did what, as sets
//!                    vocabulary             peer indices, iterations, rounds, time, seeds, names
//! ```
//!
//! This crate alone knows files of data and experiments, terminals and pages. It is an API boundary, and names every layer of the others too:
//! `undertone::engine` is `undertone_core::engine`. [`protocol`] imports neither the graph nor the dataset: a [`protocol::Peer`] knows its own rows
//! and its neighbours' messages. [`privacy`] knows no protocol: it takes a graph, variances, sensitivities and a coalition. libp2p occurs in `node`
//! alone, behind the default feature `node`.

#[doc(no_inline)]
pub use undertone_core::{algorithm, dataset, engine, noise, plan, protocol, writing};
#[cfg(feature = "node")]
#[doc(no_inline)]
pub use undertone_node::{node, session};
#[doc(no_inline)]
pub use undertone_papers as papers;
#[doc(no_inline)]
pub use undertone_privacy::{interactions, linalg, privacy, topology, vocabulary};

pub mod assess;
pub mod campaign;
// For the binary `undertone`.
#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod cli;
pub mod config;
pub mod data;
pub mod guide;
#[cfg(feature = "live")]
pub mod live;
pub mod prelude;
pub mod recommender;
#[cfg(feature = "report")]
pub mod report;
pub mod run;
pub mod scenario;
pub mod testing;
