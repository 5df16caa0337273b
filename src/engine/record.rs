//! Collects what peers report, in any order, into release records.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::outcome::{Consensus, Observer, ReleaseRecord, Totals, Transcript};
use super::session::Session;
use crate::algorithm::PublicState;
use crate::linalg::Block;
use crate::protocol::averaging::CommonEnd;
use crate::protocol::{Event, PlannedRelease, Terms, Values, kernel};
use crate::vocabulary::{CHUNK, PeerIndex, ReleaseId};

/// Everything known so far about one release.
#[derive(Debug)]
struct Pending {
    inputs: Vec<Option<Arc<Vec<f64>>>>,
    sums: Vec<Option<Arc<Block>>>,
    bases: Vec<Option<Arc<Block>>>,
    missing: usize,
    terms: Option<Terms>,
}

/// Turns the events of all peers into [`ReleaseRecord`]s.
///
/// Sums over peers run in peer order once a release is complete, so arrival order leaves no trace.
/// A release's blocks are dropped as soon as its record is made.
#[derive(Debug)]
pub struct Collector {
    session: Session,
    /// What all peers should end with in each turn, where the averaging program makes that the same.
    commons: Option<Vec<CommonEnd>>,
    pending: BTreeMap<ReleaseId, Pending>,
    /// The public state each peer entered the release with, by release.
    states: BTreeMap<ReleaseId, Vec<Option<PublicState>>>,
    records: Vec<ReleaseRecord>,
}

impl Collector {
    /// A collector for one run.
    #[must_use]
    pub fn new(session: Session) -> Self {
        let start = PublicState::new(Arc::clone(session.start()));
        let first = vec![Some(start); session.peers()];
        Self {
            states: BTreeMap::from([(ReleaseId(1), first)]),
            commons: session.program().common_ends(&**session.topology()),
            session,
            pending: BTreeMap::new(),
            records: Vec::new(),
        }
    }

    /// Notes an event. If this completes the oldest open release, the observer is shown what everybody published
    /// in it, if it wants to, and then its record.
    pub fn event(&mut self, from: PeerIndex, event: &Event, observer: &mut dyn Observer) {
        let u = from.index();
        match event {
            Event::Published { release, input } => {
                let pending = self.pending(*release);
                if pending.inputs[u].replace(Arc::clone(input)).is_none() {
                    pending.missing -= 1;
                }
            }
            Event::Released {
                release,
                terms,
                sum,
            } => {
                let pending = self.pending(*release);
                if u == 0 {
                    pending.terms = Some(terms.clone());
                }
                if pending.sums[u].replace(Arc::clone(sum)).is_none() {
                    pending.missing -= 1;
                }
            }
            Event::Advanced {
                release,
                state,
                basis,
            } => {
                let peers = self.session.peers();
                self.states
                    .entry(release.next())
                    .or_insert_with(|| vec![None; peers])[u] = Some(state.clone());
                let pending = self.pending(*release);
                if pending.bases[u].replace(Arc::clone(basis)).is_none() {
                    pending.missing -= 1;
                }
            }
            Event::Finished => {}
        }
        self.complete_next(observer);
    }

    /// The records of all completed releases.
    #[must_use]
    pub fn into_records(self) -> Vec<ReleaseRecord> {
        self.records
    }

    fn pending(&mut self, release: ReleaseId) -> &mut Pending {
        let peers = self.session.peers();
        self.pending.entry(release).or_insert_with(|| Pending {
            inputs: vec![None; peers],
            sums: vec![None; peers],
            bases: vec![None; peers],
            missing: 3 * peers,
            terms: None,
        })
    }

    fn complete_next(&mut self, observer: &mut dyn Observer) -> Option<()> {
        let next = ReleaseId(self.records.len() as u32 + 1);
        if self.pending.get(&next)?.missing > 0 {
            return None;
        }
        let pending = self.pending.remove(&next)?;
        let states: Vec<PublicState> = self.states.remove(&next)?.into_iter().flatten().collect();
        let record = self.record(next, &pending, &states)?;
        if observer.wants_transcript() {
            let inputs = pending.inputs.iter().flatten();
            let inputs: Vec<f64> = inputs.flat_map(|x| x.iter().copied()).collect();
            observer.transcript(Transcript {
                release: next,
                terms: pending.terms.as_ref()?,
                inputs: &inputs,
                states: &states,
            });
        }
        observer.released(&record);
        self.records.push(record);
        Some(())
    }

    fn record(
        &self,
        release: ReleaseId,
        pending: &Pending,
        states: &[PublicState],
    ) -> Option<ReleaseRecord> {
        let planned = self.session.plan().release(release)?;
        let terms = pending.terms.as_ref()?;
        let (mut published, mut local) = self.totals(planned, pending, states, terms)?;
        let consensus = if planned.is_own() {
            Consensus::default()
        } else {
            let sum = self.session.plan().sums_before(release);
            let turn = |commons: &'_ [CommonEnd]| (sum % commons.len() as u64) as usize;
            let commons = self.commons.as_deref();
            let common = commons.map(|commons| &commons[turn(commons)]);
            let values = self.session.plan().values();
            consensus(&published, terms, pending, (common, values))?
        };
        terms.from_steps(published.values_mut());
        terms.from_steps(local.values_mut());
        Some(ReleaseRecord {
            release,
            iteration: planned.spec().iteration,
            statistic: terms.statistic,
            sensitivity: terms.sensitivity,
            query: Arc::clone(&states.first()?.query),
            sum: Arc::clone(pending.sums[0].as_ref()?),
            basis: Arc::clone(pending.bases[0].as_ref()?),
            totals: Totals { published, local },
            consensus: Some(consensus),
        })
    }

    /// What was published and what of it is local contributions: summed over peers, or peer after peer.
    fn totals(
        &self,
        planned: &PlannedRelease,
        pending: &Pending,
        states: &[PublicState],
        terms: &Terms,
    ) -> Option<(Block, Block)> {
        let (height, width) = planned.shape();
        let peers = self.session.peers();
        let places = if planned.is_own() { peers } else { 1 };
        let shape = || Block::zeros(height * places, width);
        let (mut published, mut local) = (shape(), shape());
        let values = planned.values();
        for (u, state) in states.iter().enumerate() {
            let place = if planned.is_own() { u * values } else { 0 };
            let rows = self.session.rows().contributing(u, planned.spec().batch);
            let history = state.history();
            let one = kernel::contribution(self.session.plan(), planned, rows, history, terms);
            let sums = &mut local.values_mut()[place..place + values];
            for (sum, x) in sums.iter_mut().zip(one.values()) {
                *sum += x;
            }
            let sums = &mut published.values_mut()[place..place + values];
            for (sum, x) in sums.iter_mut().zip(pending.inputs[u].as_ref()?.iter()) {
                *sum += x;
            }
        }
        Some((published, local))
    }
}

/// How far the peers are apart, in the units in which inputs are published.
///
/// Sums run in the order in which the lockstep engine has them, so that the bits agree.
fn consensus(
    published: &Block,
    terms: &Terms,
    pending: &Pending,
    (common, sent): (Option<&CommonEnd>, Values),
) -> Option<Consensus> {
    let inputs: Option<Vec<&[f64]>> = pending
        .inputs
        .iter()
        .map(|input| input.as_deref().map(Vec::as_slice))
        .collect();
    let inputs = inputs?;
    let total = match common {
        Some(common) => due((common, sent), terms, &inputs, published.values().len()),
        None => {
            let mut total = published.values().to_vec();
            terms.from_steps(&mut total);
            total
        }
    };
    let first = in_units(terms, pending.sums.first()?.as_ref()?);
    let (mut worst, mut apart) = (0.0_f64, 0.0_f64);
    for sum in &pending.sums {
        let sum = in_units(terms, sum.as_ref()?);
        let distance = |others: &[f64]| {
            let squares = sum.values().iter().zip(others);
            squares.map(|(x, y)| (x - y).powi(2)).sum::<f64>().sqrt()
        };
        worst = worst.max(distance(&total));
        apart = apart.max(distance(first.values()));
    }
    let norm = published.norm();
    Some(Consensus {
        disagreement: worst / norm,
        between_peers: apart / norm,
        initial_spread: inputs.len() as f64 * spread(published, &inputs).sqrt() / norm,
        approximation: None,
    })
}

/// What the averaging program makes of these inputs at every peer, as a peer holds it: it has left the units of the inputs and comes
/// back to them.
fn due(
    (common, sent): (&CommonEnd, Values),
    terms: &Terms,
    inputs: &[&[f64]],
    values: usize,
) -> Vec<f64> {
    let mut end = vec![0.0; values];
    let mut registers = Vec::new();
    for (chunk, out) in end.chunks_mut(CHUNK).enumerate() {
        let range = chunk * CHUNK..chunk * CHUNK + out.len();
        let input = |u: usize| &inputs[u][range.clone()];
        common.evaluate(sent, input, &mut registers, out);
    }
    terms.from_steps(&mut end);
    if terms.has_units() {
        terms.from_units(0..values, &mut end);
        terms.to_units(0..values, &mut end);
    }
    end
}

/// Σ_u ‖x_u − x̄‖² of the inputs.
fn spread(published: &Block, inputs: &[&[f64]]) -> f64 {
    let mut spread = 0.0;
    for (chunk, totals) in published.values().chunks(CHUNK).enumerate() {
        let mut squares = vec![0.0; totals.len()];
        for input in inputs {
            let values = input[chunk * CHUNK..].iter().zip(totals);
            for (square, (x, total)) in squares.iter_mut().zip(values) {
                let apart = x - total / inputs.len() as f64;
                *square += apart * apart;
            }
        }
        spread += squares.iter().sum::<f64>();
    }
    spread
}

/// A released sum in the units in which inputs are published.
fn in_units<'a>(terms: &Terms, sum: &'a Arc<Block>) -> std::borrow::Cow<'a, Block> {
    use std::borrow::Cow;
    if !terms.has_units() {
        return Cow::Borrowed(sum);
    }
    let mut scaled = Block::clone(sum);
    let all = 0..scaled.values().len();
    terms.to_units(all, scaled.values_mut());
    Cow::Owned(scaled)
}
