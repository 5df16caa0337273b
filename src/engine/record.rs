//! Collects what peers report, in any order, into iteration records.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::outcome::{Consensus, IterationRecord, Observer, Totals, Transcript};
use super::session::Session;
use crate::algorithm;
use crate::linalg::Block;
use crate::protocol::Event;
use crate::vocabulary::{Iteration, PeerIndex};

/// Everything known so far about one iteration.
#[derive(Debug)]
struct Pending {
    inputs: Vec<Option<Arc<Vec<f64>>>>,
    sums: Vec<Option<Arc<Block>>>,
    bases: Vec<Option<Arc<Block>>>,
    missing: usize,
    statistic: f64,
    sensitivity: f64,
}

/// Turns the events of all peers into [`IterationRecord`]s.
///
/// Sums over peers run in peer order once an iteration is complete, so arrival order leaves no trace.
/// An iteration's blocks are dropped as soon as its record is made.
#[derive(Debug)]
pub struct Collector {
    session: Session,
    pending: BTreeMap<Iteration, Pending>,
    /// The query each peer entered the iteration with, by iteration.
    queries: BTreeMap<Iteration, Vec<Option<Arc<Block>>>>,
    records: Vec<IterationRecord>,
}

impl Collector {
    /// A collector for one run.
    #[must_use]
    pub fn new(session: Session) -> Self {
        let first = vec![Some(Arc::clone(session.start())); session.peers()];
        Self {
            queries: BTreeMap::from([(Iteration(1), first)]),
            session,
            pending: BTreeMap::new(),
            records: Vec::new(),
        }
    }

    /// Notes an event. If this completes the oldest open iteration, the observer is shown what everybody published
    /// in it, if it wants to, and then its record.
    pub fn event(&mut self, from: PeerIndex, event: &Event, observer: &mut dyn Observer) {
        let u = from.index();
        match event {
            Event::Published { iteration, input } => {
                let pending = self.pending(*iteration);
                if pending.inputs[u].replace(Arc::clone(input)).is_none() {
                    pending.missing -= 1;
                }
            }
            Event::Averaged {
                iteration,
                statistic,
                sensitivity,
                sum,
            } => {
                let pending = self.pending(*iteration);
                if u == 0 {
                    pending.statistic = *statistic;
                    pending.sensitivity = *sensitivity;
                }
                if pending.sums[u].replace(Arc::clone(sum)).is_none() {
                    pending.missing -= 1;
                }
            }
            Event::Advanced {
                iteration,
                query,
                basis,
            } => {
                let peers = self.session.peers();
                let next = Iteration(iteration.0 + 1);
                self.queries
                    .entry(next)
                    .or_insert_with(|| vec![None; peers])[u] = Some(Arc::clone(query));
                let pending = self.pending(*iteration);
                if pending.bases[u].replace(Arc::clone(basis)).is_none() {
                    pending.missing -= 1;
                }
            }
            Event::Finished => {}
        }
        self.complete_next(observer);
    }

    /// The records of all completed iterations.
    #[must_use]
    pub fn into_records(self) -> Vec<IterationRecord> {
        self.records
    }

    fn pending(&mut self, iteration: Iteration) -> &mut Pending {
        let peers = self.session.peers();
        self.pending.entry(iteration).or_insert_with(|| Pending {
            inputs: vec![None; peers],
            sums: vec![None; peers],
            bases: vec![None; peers],
            missing: 3 * peers,
            statistic: 0.0,
            sensitivity: 0.0,
        })
    }

    fn complete_next(&mut self, observer: &mut dyn Observer) -> Option<()> {
        let next = Iteration(self.records.len() as u32 + 1);
        if self.pending.get(&next)?.missing > 0 {
            return None;
        }
        let pending = self.pending.remove(&next)?;
        let queries = self.queries.remove(&next)?;
        let record = self.record(next, &pending, &queries)?;
        if observer.wants_transcript() {
            let flat =
                |values: &mut dyn Iterator<Item = &[f64]>| values.flatten().copied().collect();
            let inputs = pending.inputs.iter().flatten().map(|x| x.as_slice());
            let queries = queries.iter().flatten().map(|query| query.values());
            let (mut inputs, mut queries) = (inputs, queries);
            let (inputs, queries): (Vec<f64>, Vec<f64>) = (flat(&mut inputs), flat(&mut queries));
            observer.transcript(Transcript {
                iteration: next,
                scale: self.session.plan().noise_scale(next, record.sensitivity),
                inputs: &inputs,
                queries: &queries,
            });
        }
        observer.iteration(&record);
        self.records.push(record);
        Some(())
    }

    fn record(
        &self,
        iteration: Iteration,
        pending: &Pending,
        queries: &[Option<Arc<Block>>],
    ) -> Option<IterationRecord> {
        let algorithm = self.session.plan().algorithm();
        let (height, width) = self.session.plan().shape();
        let shape = || Block::zeros(height, width);
        let (mut published, mut local) = (shape(), shape());
        for (u, query) in queries.iter().enumerate() {
            let (rows, query) = (&self.session.rows()[u], query.as_ref()?);
            let contribution = algorithm::contribution(algorithm.as_ref(), rows, query.values());
            local.add_scaled(1.0, &contribution);
            for (sum, x) in published
                .values_mut()
                .iter_mut()
                .zip(pending.inputs[u].as_ref()?.iter())
            {
                *sum += x;
            }
        }
        let peers = self.session.peers() as f64;
        let mut spread = 0.0;
        let (mut worst, mut apart) = (0.0_f64, 0.0_f64);
        for u in 0..self.session.peers() {
            let total = published.values().iter();
            let input = pending.inputs[u].as_ref()?;
            spread += input
                .iter()
                .zip(total.clone())
                .map(|(x, y)| (x - y / peers).powi(2))
                .sum::<f64>();
            let sum = pending.sums[u].as_ref()?;
            let first = pending.sums[0].as_ref()?.values().iter();
            let distance = |others: std::slice::Iter<'_, f64>| {
                let squares = sum.values().iter().zip(others);
                squares.map(|(x, y)| (x - y).powi(2)).sum::<f64>().sqrt()
            };
            worst = worst.max(distance(total));
            apart = apart.max(distance(first));
        }
        let norm = published.norm();
        let consensus = Consensus {
            disagreement: worst / norm,
            between_peers: apart / norm,
            initial_spread: peers * spread.sqrt() / norm,
            approximation: None,
        };
        Some(IterationRecord {
            iteration,
            statistic: pending.statistic,
            sensitivity: pending.sensitivity,
            query: Arc::clone(queries[0].as_ref()?),
            sum: Arc::clone(pending.sums[0].as_ref()?),
            basis: Arc::clone(pending.bases[0].as_ref()?),
            totals: Totals { published, local },
            consensus: Some(consensus),
        })
    }
}
