//! A trusted curator who holds everybody's rows: P1 Algorithm 1, the baseline of every comparison.

use std::sync::Arc;

use super::course::{self, Current, Engine};
use super::outcome::ReleaseRecord;
use super::threshold;
use super::{Communication, EngineError, Observer, Outcome, Session, StepTotals, Totals};
use crate::algorithm::{PublicState, ThresholdSearch};
use crate::linalg::Block;
use crate::protocol::{PlannedRelease, ReleaseError, Steps, Terms, kernel};
use crate::vocabulary::PeerIndex;

/// Where the noise on the sum comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SumNoise {
    /// The curator draws N(0, (zΔ)²) for every coordinate, in real numbers.
    ///
    /// Under a plan of integers too. Somebody who holds all rows needs no masks, hence no modulus and no grid, and would pay for
    /// rounding alone: this is the yardstick that the whole price of integers is measured against. What decentralised integers are equal
    /// to, bit for bit, is [`Self::Shares`].
    Curator,
    /// The sum of the peers' own shares η_u, in peer order: the very numbers the decentralised engines
    /// are left with once pairwise noise or masks have cancelled.
    Shares,
    /// None.
    Nothing,
}

/// Runs the session under a curator with this noise. Own coordinates have a curator's noise each: the peers' very numbers with
/// [`SumNoise::Shares`], numbers of the curator's own with [`SumNoise::Curator`], whose sums lead to other public states.
///
/// # Errors
/// [`EngineError::NotFullRank`] if the noisy sum has no unique basis, [`EngineError::Start`], [`EngineError::Noise`] and
/// [`EngineError::Query`] for a starting block or noise that is not the plan's and for a query that is not orthonormal,
/// [`EngineError::Overflow`] for a sum that is not finite.
///
/// # Source
/// P1 Algorithm 1, with noise scaled by X^{l−1} (see [`crate::algorithm::PowerMethod`]).
pub fn run(
    session: &Session,
    noise: SumNoise,
    observer: &mut dyn Observer,
) -> Result<Outcome, EngineError> {
    session.admit_curator()?;
    check_search(session, noise)?;
    let mut curator = Curator {
        session,
        noise,
        state: PublicState::new(Arc::clone(session.start())),
    };
    let records = course::run(session, &mut curator, observer)?;
    Ok(Outcome {
        communication: Communication {
            rounds: vec![0; records.len()],
            ..Communication::default()
        },
        records,
    })
}

/// Refuses a search for a threshold to anybody but a curator, and to a curator whose noise it would be without.
fn check_search(session: &Session, noise: SumNoise) -> Result<(), EngineError> {
    let Some(search) = &session.plan().program().search else {
        return Ok(());
    };
    match noise {
        SumNoise::Nothing => Ok(()),
        SumNoise::Curator if session.sigma_central() == 0.0 => Ok(()),
        SumNoise::Curator if search.epsilon > 0.0 => Ok(()),
        SumNoise::Curator => Err(EngineError::Noise),
        SumNoise::Shares => Err(EngineError::CuratorOnly),
    }
}

struct Curator<'a> {
    session: &'a Session,
    noise: SumNoise,
    state: PublicState,
}

impl Curator<'_> {
    /// The threshold that a search over all rows finds.
    fn searched(&self, search: &ThresholdSearch) -> f64 {
        let (session, history) = (self.session, self.state.history());
        let algorithm = session.plan().algorithm();
        let mut above = vec![0.0; search.thresholds.len()];
        for rows in session.rows().iter() {
            let one = algorithm.rows_above(rows, history);
            above.iter_mut().zip(one).for_each(|(sum, one)| *sum += one);
        }
        let quiet = matches!(self.noise, SumNoise::Nothing);
        let search = ThresholdSearch {
            epsilon: if quiet { 0.0 } else { search.epsilon },
            ..search.clone()
        };
        let mut rng = session.search_stream(history.release, search.epsilon);
        threshold::search(&search, &above, &mut rng)
    }

    /// Adds the noise of a sum; returns its standard deviation.
    fn add_to_sum(&self, current: Current<'_>, sum: &mut [f64]) -> f64 {
        let (session, id, scale) = (self.session, current.id, current.terms.scale);
        match self.noise {
            SumNoise::Curator => {
                session.curator_noise().add_to(id, scale, sum);
                scale * session.curator_sigma(current.planned)
            }
            SumNoise::Shares => {
                for u in 0..session.peers() {
                    let term = session.planned_noise().own(PeerIndex::from_index(u));
                    term.add_to(id, scale, sum);
                }
                session.plan().sigma_of_release(current.planned, scale)
            }
            SumNoise::Nothing => 0.0,
        }
    }

    /// Adds every peer's noise to its own coordinates; returns its standard deviation.
    fn add_to_coordinates(&self, current: Current<'_>, all: &mut [f64]) -> f64 {
        if matches!(self.noise, SumNoise::Nothing) {
            return 0.0;
        }
        let scale = current.terms.scale;
        let shares = matches!(self.noise, SumNoise::Shares);
        for (u, own) in all.chunks_exact_mut(current.planned.values()).enumerate() {
            let peer = PeerIndex::from_index(u);
            let term = match shares {
                true => self.session.planned_noise().coordinate(peer),
                false => self.session.curator_coordinate(peer),
            };
            term.add_to(current.id, scale, own);
        }
        self.session.plan().sigma_of_release(current.planned, scale)
    }
}

/// What is released, what it is made of, and the standard deviation of its noise.
type Summed = (Vec<f64>, Totals, f64);

impl Curator<'_> {
    /// The sum of all contributions and the noise, in real numbers; of own coordinates all of them.
    fn sum_of_reals(&self, current: Current<'_>, terms: &Terms) -> Summed {
        let (session, Current { id, planned, .. }) = (self.session, current);
        let algorithm = session.plan().algorithm();
        let values = planned.values();
        let places = if planned.is_own() { session.peers() } else { 1 };
        let mut local = vec![0.0; values * places];
        for u in 0..session.peers() {
            let Some(rows) = session.rows().contributing(u, planned.spec().batch) else {
                continue;
            };
            let prepared = algorithm.prepare(rows, self.state.history());
            let place = if planned.is_own() { u * values } else { 0 };
            let out = &mut local[place..place + values];
            algorithm.add_contribution(id, rows, &prepared, 0..values, out);
        }
        for one in local.chunks_exact_mut(values) {
            terms.to_units(0..values, one);
        }
        let mut published = local.clone();
        let sigma = if planned.is_own() {
            self.add_to_coordinates(current, &mut published)
        } else {
            self.add_to_sum(current, &mut published)
        };
        let (height, width) = planned.shape();
        let block = |values| Block::from_values(height * places, width, values);
        let totals = Totals::of_reals(block(published.clone()), block(local));
        (published, totals, sigma)
    }

    /// The sum of all contributions and of the peers' own shares of noise in whole steps, mod 2^k: the very integers that
    /// decentralised engines are left with once masks have cancelled.
    fn sum_of_integers(&self, current: Current<'_>, steps: &Steps) -> Result<Summed, ReleaseError> {
        let (session, Current { id, planned, terms }) = (self.session, current);
        let plan = session.plan();
        let mut local = vec![0; planned.values()];
        for u in 0..session.peers() {
            let rows = session.rows().contributing(u, planned.spec().batch);
            let one = kernel::contribution(plan, planned, rows, self.state.history(), terms);
            let added = steps.add(one.values(), &mut local);
            added.ok_or(ReleaseError::Overflow)?;
        }
        let mut published = local.clone();
        for u in 0..session.peers() {
            let own = session.planned_noise().own(PeerIndex::from_index(u));
            own.add_integers_to(id, &mut published);
        }
        steps.reduce(&mut local);
        steps.reduce(&mut published);
        let released = steps.to_reals(&published).collect();
        let sums = StepTotals { published, local };
        let totals = Totals::of_steps(steps, planned.shape(), sums);
        Ok((released, totals, plan.sigma_of_sum(terms.scale)))
    }
}

impl Engine for Curator<'_> {
    fn front(&self) -> &PublicState {
        &self.state
    }

    fn agree(&mut self, planned: &PlannedRelease) -> f64 {
        let plan = self.session.plan();
        let value = match &plan.program().search {
            Some(search) => self.searched(search),
            None => planned.proposal(plan.algorithm(), &self.state),
        };
        self.state.agreed = Some(value);
        value
    }

    fn release(
        &mut self,
        current: Current<'_>,
        observer: &mut dyn Observer,
    ) -> Result<ReleaseRecord, EngineError> {
        let plan = self.session.plan();
        let Current { id, planned, .. } = current;
        // A curator's own noise is of real numbers (see `SumNoise::Curator`); the peers' is of integers where the plan says so.
        let real = current.terms.without_steps();
        let terms = match self.noise {
            SumNoise::Shares => current.terms,
            _ => &real,
        };
        let failed = |error| EngineError::at(id, error);
        let (released, totals, sigma) = match terms.steps() {
            Some(steps) => self.sum_of_integers(current, steps).map_err(failed)?,
            None => self.sum_of_reals(current, terms),
        };
        let sum = kernel::released(planned, terms, released).map_err(failed)?;
        let query = Arc::clone(&self.state.query);
        self.state =
            kernel::advance(plan, &self.state, &sum, &terms.sigmas(sigma)).map_err(failed)?;
        let done = u64::from(self.state.released);
        observer.progress(done, plan.releases().len() as u64);
        Ok(ReleaseRecord {
            release: id,
            iteration: planned.spec().iteration,
            statistic: terms.statistic,
            sensitivity: terms.sensitivity,
            sigmas: terms.sigmas(sigma).into(),
            totals,
            query,
            sum,
            basis: plan.algorithm().estimate(&self.state),
            consensus: None,
        })
    }
}
