//! What one iteration costs on every engine, measured against formulas (P1 Table 1).
//!
//! Notation: s peers, n items, p columns, deg neighbours of a peer, E edges, K averaging rounds, S rounds of
//! max-consensus on the noise scale. A message of v values has F + 8v bytes on a stream, F = 35: length prefix 4,
//! magic 1, version 1, session 16, iteration 4, round 4, kind 1, count 4.
//!
//! | engine | bytes a peer sends per iteration | all peers |
//! | --- | --- | --- |
//! | central | 0: the curator holds the rows | 0 |
//! | federated | 2(F + 8np): one block up, one down, both counted at the client | s times that |
//! | lockstep, event, swarm, by recurrences | deg·(S(F + 8) + K(F + 8np)) | 2E·(S(F + 8) + K(F + 8np)) |
//! | the same, by a tree | deg·S(F + 8) + t(F + 8np), t its neighbours in the tree | 2E·S(F + 8) + 2(s − 1)(F + 8np) |
//!
//! The last two follow from the averaging schedule; nothing here counts them again.
//!
//! P1's secure aggregation costs a client O(log s + np) values and O(log² s + np log s) steps; both are shown as
//! formulas with every constant 1, and no engine implements it.

use std::path::Path;
use std::time::Instant;

use super::error::StudyError;
use super::kind::Study;
use super::result::StudyResult;
use crate::config::{Cost, EngineConfig, EngineKind, TransportKind, read_config};
use crate::engine::{Observer, Outcome, Session, Silent};
use crate::protocol::averaging::{AveragingKind, Form};
use crate::run::run_engine;
use crate::scenario::Experiment;
use crate::vocabulary::Seed;
use crate::writing::{Table, Value};

/// F: bytes of a message besides its values.
const FRAME: u64 = 4 + 1 + 1 + 16 + 4 + 4 + 1 + 4;

/// Bytes per iteration: sent by the busiest peer and by all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Bytes {
    busiest: u64,
    total: u64,
}

impl Bytes {
    fn measured(outcome: &Outcome) -> Self {
        let iterations = outcome.records.len().max(1) as u64;
        Self {
            busiest: outcome.communication.bytes_max_peer / iterations,
            total: outcome.communication.bytes_total / iterations,
        }
    }

    /// The formulas above.
    fn predicted(engine: EngineKind, session: &Session) -> Self {
        let program = session.plan().program();
        let block = FRAME + 8 * (program.items * program.query_columns) as u64;
        match engine {
            EngineKind::Central => Self {
                busiest: 0,
                total: 0,
            },
            EngineKind::Federated => Self {
                busiest: 2 * block,
                total: 2 * block * session.peers() as u64,
            },
            // The analytic engine reports what the peers it does not simulate would send and compute.
            EngineKind::Lockstep | EngineKind::Analytic | EngineKind::Event | EngineKind::Swarm => {
                let traffic = session.public().traffic(1);
                Self {
                    busiest: traffic.bytes.bytes_max_peer,
                    total: traffic.bytes.bytes_total,
                }
            }
        }
    }
}

fn gossips(engine: EngineKind) -> bool {
    !engine.reveals_only_sums()
}

/// Multiply–adds of an average peer per iteration: the product A_uX, noise, averaging, and QR.
fn work(engine: EngineKind, experiment: &Experiment, session: &Session) -> f64 {
    let program = session.plan().program();
    let (n, p) = (program.items as f64, program.query_columns as f64);
    let s = session.peers() as f64;
    let product = 2.0 * experiment.user_rows().entries() as f64 * p / s;
    let qr = 2.0 * n * p * p;
    match engine {
        EngineKind::Central => product * s + n * p + qr,
        EngineKind::Federated => product + n * p,
        EngineKind::Lockstep | EngineKind::Analytic | EngineKind::Event | EngineKind::Swarm => {
            let noise_degree = 2.0 * session.noise_graph().edges() as f64 / s;
            // Every message that is combined, and the own value once per round of a recurrence.
            let scales = 2
                * session.graph().edges() as u64
                * u64::from(session.plan().parameters().scale_rounds);
            let combined = (session.public().traffic(1).messages - scales) as f64 / s;
            let own = match session.schedule().form() {
                Form::Recurrence(coefficients) => coefficients.len() as f64,
                // Off its own what it gives.
                Form::Passing(_) => f64::from(session.schedule().rounds()),
                Form::Listed(_) => 0.0,
            };
            product + (1.0 + noise_degree) * n * p + (combined + own) * n * p + qr
        }
    }
}

impl Cost {
    fn load(
        &self,
        base: &Path,
        size: usize,
        (engine, scheme): (EngineKind, AveragingKind),
    ) -> Result<Experiment, StudyError> {
        let path = base.join(&self.experiment);
        let mut set = self.set.clone();
        set.push(format!("peers.count={size}"));
        let mut config = read_config(&path, &set)?;
        config.averaging.scheme = scheme;
        if scheme.is_exact() {
            (config.averaging.tolerance, config.averaging.rounds) = (None, None);
        }
        config.engine = EngineConfig {
            kind: engine,
            transport: TransportKind::Memory,
            ..EngineConfig::default()
        };
        let folder = path.parent().unwrap_or(Path::new("."));
        Ok(Experiment::resolve(config, folder)?)
    }

    /// Every run: size, engine, scheme. Engines that do not average run once.
    fn runs(&self) -> Vec<(usize, EngineKind, AveragingKind)> {
        let mut runs = Vec::new();
        for &size in &self.sizes {
            for &engine in &self.engines {
                let no_node = cfg!(not(feature = "node"));
                if engine == EngineKind::Swarm && (no_node || size > self.largest_swarm) {
                    continue;
                }
                let schemes = if gossips(engine) {
                    self.averaging.as_slice()
                } else {
                    &self.averaging[..1]
                };
                runs.extend(schemes.iter().map(|&scheme| (size, engine, scheme)));
            }
        }
        runs
    }
}

impl Study for Cost {
    fn check(&self) -> Result<(), StudyError> {
        for (key, empty) in [
            ("sizes", self.sizes.is_empty()),
            ("engines", self.engines.is_empty()),
            ("averaging", self.averaging.is_empty()),
        ] {
            if empty {
                return Err(StudyError::key(key, "[]", "at least one"));
            }
        }
        match self.sizes.iter().find(|size| **size < 2) {
            Some(size) => Err(StudyError::key("sizes", size, "2 peers or more")),
            None => Ok(()),
        }
    }

    fn run(
        &self,
        seed: &Seed,
        base: &Path,
        observer: &mut dyn Observer,
    ) -> Result<StudyResult, StudyError> {
        let mut bytes = Table::new(
            "communication",
            &[
                ("peers", ""),
                ("engine", ""),
                ("averaging", ""),
                ("values", "n x p"),
                ("rounds", "per iteration"),
                ("messages", "per iteration"),
                ("busiest", "B"),
                ("busiest_formula", "B"),
                ("busiest_ratio", ""),
                ("total", "B"),
                ("total_formula", "B"),
                ("total_ratio", ""),
                ("paper_secure_client", "B"),
            ],
        );
        let mut steps = Table::new(
            "computation",
            &[
                ("peers", ""),
                ("engine", ""),
                ("averaging", ""),
                ("peer_formula", "multiply-adds"),
                ("paper_plain_client", "np"),
                ("paper_secure_client", "log^2 s + np log s"),
            ],
        );
        let mut notes = vec![
            "Bytes, rounds and messages are those of one iteration. Ratios are measured over formula."
                .to_owned(),
            "paper_secure_client: O(log s + np) of P1 Table 1 with constants 1, 8 bytes a value; not implemented here."
                .to_owned(),
        ];
        if self.engines.contains(&EngineKind::Swarm) {
            notes.push(if cfg!(feature = "node") {
                format!("The swarm runs up to {} peers.", self.largest_swarm)
            } else {
                "No swarm: this build leaves libp2p out; build with the feature `node`.".to_owned()
            });
        }
        let runs = self.runs();
        for (done, &(size, engine, scheme)) in runs.iter().enumerate() {
            observer.progress(done as u64, runs.len() as u64);
            let experiment = self.load(base, size, (engine, scheme))?;
            let session = experiment.session(seed);
            let start = Instant::now();
            let outcome = run_engine(&experiment, &session, &mut Silent)?;
            let seconds = start.elapsed().as_secs_f64();
            let iterations = outcome.records.len().max(1) as u64;
            let scheme = if gossips(engine) {
                scheme.name()
            } else {
                "none"
            };
            let (measured, predicted) = (
                Bytes::measured(&outcome),
                Bytes::predicted(engine, &session),
            );
            let (s, values) = (size as f64, session.plan().most_values());
            let np = values as f64;
            let rounds = outcome.communication.rounds.first().copied().unwrap_or(0);
            bytes.push(vec![
                size.into(),
                engine.name().into(),
                scheme.into(),
                values.into(),
                rounds.into(),
                (outcome.communication.messages / iterations).into(),
                measured.busiest.into(),
                predicted.busiest.into(),
                ratio(measured.busiest, predicted.busiest),
                measured.total.into(),
                predicted.total.into(),
                ratio(measured.total, predicted.total),
                (8.0 * (s.log2() + np)).into(),
            ]);
            steps.push(vec![
                size.into(),
                engine.name().into(),
                scheme.into(),
                work(engine, &experiment, &session).into(),
                np.into(),
                (s.log2().powi(2) + np * s.log2()).into(),
            ]);
            notes.push(format!(
                "{size} peers, {}, {scheme}: {:.1e} s per iteration here, all peers on one machine",
                engine.name(),
                seconds / iterations as f64
            ));
        }
        observer.progress(runs.len() as u64, runs.len() as u64);
        Ok(StudyResult {
            tables: vec![bytes, steps],
            notes,
            ..StudyResult::default()
        })
    }
}

/// Measured over formula; missing where the formula says nothing is sent and nothing was.
fn ratio(measured: u64, formula: u64) -> Value {
    if formula == 0 && measured == 0 {
        Value::Missing
    } else {
        Value::Number(measured as f64 / formula as f64)
    }
}
