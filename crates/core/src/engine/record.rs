//! Collects what peers report, in any order, into release records.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::outcome::{
    Consensus, Inputs, Observer, ReleaseRecord, Standing, StepTotals, Totals, Transcript,
};
use super::session::Session;
use crate::algorithm::PublicState;
use crate::linalg::Block;
use crate::protocol::averaging::CommonEnd;
use crate::protocol::{Event, PlannedRelease, Steps, Summand, Terms, Values, kernel};
use crate::vocabulary::{CHUNK, PeerIndex, ReleaseId};

/// Everything known so far about one release.
#[derive(Debug)]
pub(super) struct Pending {
    /// What every peer of the session published.
    pub(super) inputs: Vec<Option<Summand>>,
    /// The sum that each of them has; nothing of one that was lost.
    pub(super) sums: Vec<Option<Arc<Block>>>,
    /// The estimate that follows from it.
    pub(super) bases: Vec<Option<Arc<Block>>>,
    /// How much is still to come.
    pub(super) missing: usize,
    /// How the noise was scaled.
    pub(super) terms: Option<Terms>,
}

/// Turns the events of all peers into [`ReleaseRecord`]s.
///
/// Sums over peers run in peer order once a release is complete, so arrival order leaves no trace.
/// A release's blocks are dropped as soon as its record is made.
#[derive(Debug)]
pub struct Collector {
    session: Session,
    /// What all peers should end with in each turn, where the averaging schedule makes that the same.
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
            commons: session.schedule().common_ends(&**session.topology()),
            session,
            pending: BTreeMap::new(),
            records: Vec::new(),
        }
    }

    /// Notes an event. If this completes the oldest open release, the observer is shown what everybody published
    /// in it, if it wants to, and then its record.
    pub fn event(&mut self, from: PeerIndex, event: &Event, observer: &mut dyn Observer) {
        let u = from.index();
        observer.peer(
            from,
            match event {
                Event::Published { release, .. } => Standing::Published(*release),
                Event::Released { release, .. } | Event::Advanced { release, .. } => {
                    Standing::Released(*release)
                }
                Event::Finished => Standing::Finished,
            },
        );
        match event {
            Event::Published { release, input } => {
                let pending = self.pending(*release);
                if pending.inputs[u].replace(input.clone()).is_none() {
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
        let sum = self.session.plan().sums_before(next);
        let turn = |commons: &'_ [CommonEnd]| (sum % commons.len() as u64) as usize;
        let commons = self.commons.as_deref();
        let common = commons.map(|commons| &commons[turn(commons)]);
        let record = of(&self.session, next, (&pending, &states), (0, common))?;
        if observer.wants_transcript() {
            let inputs = || pending.inputs.iter().flatten();
            let reals = inputs().filter_map(Summand::reals);
            let reals: Vec<f64> = reals.flat_map(|x| x.iter().copied()).collect();
            let residues = inputs().filter_map(Summand::residues);
            let residues: Vec<u64> = residues.flat_map(|x| x.iter().copied()).collect();
            let terms = pending.terms.as_ref()?;
            observer.transcript(Transcript {
                release: next,
                terms,
                inputs: match terms.steps() {
                    Some(_) => Inputs::Residues(&residues),
                    None => Inputs::Reals(&reals),
                },
                states: &states,
            });
        }
        observer.released(&record);
        self.records.push(record);
        Some(())
    }
}

/// The record of a release of this session, by the member at the place `reporter`, in which every member has published. `common` is what averaging makes of
/// inputs at every peer, where that is the same for all.
pub(super) fn of(
    session: &Session,
    release: ReleaseId,
    (pending, states): (&Pending, &[PublicState]),
    (reporter, common): (usize, Option<&CommonEnd>),
) -> Option<ReleaseRecord> {
    let planned = session.plan().release(release)?;
    let terms = pending.terms.as_ref()?;
    let totals = match terms.steps() {
        Some(steps) => totals_in_steps(session, planned, (pending, states), (terms, steps))?,
        None => totals(session, planned, (pending, states), terms)?,
    };
    let consensus = if planned.is_own() {
        Consensus::default()
    } else {
        let values = session.plan().values();
        consensus(&totals.published, terms, pending, (common, values))?
    };
    Some(ReleaseRecord {
        release,
        iteration: planned.spec().iteration,
        statistic: terms.statistic,
        sensitivity: terms.sensitivity,
        sigmas: terms
            .sigmas(session.plan().sigma_of_release(planned, terms.scale))
            .into(),
        query: Arc::clone(&states.get(reporter)?.query),
        sum: Arc::clone(pending.sums.get(reporter)?.as_ref()?),
        basis: Arc::clone(pending.bases.get(reporter)?.as_ref()?),
        totals,
        consensus: Some(consensus),
    })
}

/// What was published and what of it is local contributions: summed over peers, or peer after peer.
fn totals(
    session: &Session,
    planned: &PlannedRelease,
    (pending, states): (&Pending, &[PublicState]),
    terms: &Terms,
) -> Option<Totals> {
    let (height, width) = planned.shape();
    let peers = session.peers();
    let places = if planned.is_own() { peers } else { 1 };
    let shape = || Block::zeros(height * places, width);
    let (mut published, mut local) = (shape(), shape());
    let values = planned.values();
    for (u, state) in states.iter().enumerate() {
        let place = if planned.is_own() { u * values } else { 0 };
        let rows = session.rows().contributing(u, planned.spec().batch);
        let history = state.history();
        let one = kernel::contribution(session.plan(), planned, rows, history, terms);
        let sums = &mut local.values_mut()[place..place + values];
        for (sum, x) in sums.iter_mut().zip(one.values()) {
            *sum += x;
        }
        let sums = &mut published.values_mut()[place..place + values];
        let input = pending.inputs[u].as_ref()?.reals()?;
        for (sum, x) in sums.iter_mut().zip(input.iter()) {
            *sum += x;
        }
    }
    Some(Totals::of_reals(published, local))
}

/// The same of integers mod 2^k.
fn totals_in_steps(
    session: &Session,
    planned: &PlannedRelease,
    (pending, states): (&Pending, &[PublicState]),
    (terms, steps): (&Terms, &Steps),
) -> Option<Totals> {
    let zeros = || vec![0; planned.values()];
    let (mut published, mut local) = (zeros(), zeros());
    for (u, state) in states.iter().enumerate() {
        let rows = session.rows().contributing(u, planned.spec().batch);
        let history = state.history();
        let one = kernel::contribution(session.plan(), planned, rows, history, terms);
        steps.add(one.values(), &mut local)?;
        let input = pending.inputs[u].as_ref()?.residues()?;
        steps.add_residues(input, &mut published);
    }
    steps.reduce(&mut local);
    let sums = StepTotals { published, local };
    Some(Totals::of_steps(steps, planned.shape(), sums))
}

/// How far the peers are apart, in the units in which reals are published.
///
/// Sums run in the order in which the lockstep engine has them, so that the bits agree.
fn consensus(
    published: &Block,
    terms: &Terms,
    pending: &Pending,
    (common, sent): (Option<&CommonEnd>, Values),
) -> Option<Consensus> {
    let inputs: Option<Vec<&Summand>> = pending.inputs.iter().map(Option::as_ref).collect();
    let inputs = inputs?;
    // Integers are added exactly, whatever the schedule.
    let common = common.filter(|_| terms.steps().is_none());
    let mut total = published.values().to_vec();
    if let Some(common) = common {
        let reals: Option<Vec<&Arc<Vec<f64>>>> = inputs.iter().map(|input| input.reals()).collect();
        total = end_of(common, sent, &reals?, total.len());
    }
    if (common.is_some() || terms.steps().is_some()) && terms.has_units() {
        // What a peer holds has left the units of the inputs and comes back to them.
        terms.from_units(0..total.len(), &mut total);
        terms.to_units(0..total.len(), &mut total);
    }
    let first = in_units(terms, pending.sums.iter().flatten().next()?);
    let (mut worst, mut apart) = (0.0_f64, 0.0_f64);
    for sum in pending.sums.iter().flatten() {
        let sum = in_units(terms, sum);
        let distance = |others: &[f64]| {
            let squares = sum.values().iter().zip(others);
            squares.map(|(x, y)| (x - y).powi(2)).sum::<f64>().sqrt()
        };
        worst = worst.max(distance(&total));
        apart = apart.max(distance(first.values()));
    }
    let norm = published.norm();
    let spread = spread(published, &inputs, terms);
    Some(Consensus {
        disagreement: worst / norm,
        between_peers: apart / norm,
        initial_spread: inputs.len() as f64 * spread.sqrt() / norm,
        approximation: None,
    })
}

/// What the averaging schedule makes of these inputs at every peer.
fn end_of(common: &CommonEnd, sent: Values, inputs: &[&Arc<Vec<f64>>], values: usize) -> Vec<f64> {
    let mut end = vec![0.0; values];
    let mut registers = Vec::new();
    for (chunk, out) in end.chunks_mut(CHUNK).enumerate() {
        let range = chunk * CHUNK..chunk * CHUNK + out.len();
        let input = |u: usize| &inputs[u][range.clone()];
        common.evaluate(sent, input, &mut registers, out);
    }
    end
}

/// Σ_u ‖x_u − x̄‖² of the inputs; residues stand for the integers nearest to 0, in units of reals.
fn spread(published: &Block, inputs: &[&Summand], terms: &Terms) -> f64 {
    let mut spread = 0.0;
    for (chunk, totals) in published.values().chunks(CHUNK).enumerate() {
        let mut squares = vec![0.0; totals.len()];
        let range = chunk * CHUNK..chunk * CHUNK + totals.len();
        for input in inputs {
            let input: Cow<'_, [f64]> = match (input, terms.steps()) {
                (Summand::Reals(input), _) => Cow::Borrowed(&input[range.clone()]),
                (Summand::Residues(input), Some(steps)) => {
                    Cow::Owned(steps.to_reals(&input[range.clone()]).collect())
                }
                // Residues have a grid.
                (Summand::Residues(_), None) => Cow::Owned(vec![f64::NAN; totals.len()]),
            };
            let values = input.iter().zip(totals);
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
fn in_units<'a>(terms: &Terms, sum: &'a Arc<Block>) -> Cow<'a, Block> {
    if !terms.has_units() {
        return Cow::Borrowed(sum);
    }
    let mut scaled = Block::clone(sum);
    let all = 0..scaled.values().len();
    terms.to_units(all, scaled.values_mut());
    Cow::Owned(scaled)
}
