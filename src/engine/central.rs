//! A trusted curator who holds everybody's rows: P1 Algorithm 1, the baseline of every comparison.

use std::sync::Arc;

use super::course::{self, Current, Engine};
use super::outcome::ReleaseRecord;
use super::{Communication, EngineError, Observer, Outcome, Session, Totals};
use crate::algorithm::PublicState;
use crate::linalg::Block;
use crate::protocol::{PlannedRelease, kernel};
use crate::vocabulary::PeerIndex;

/// Where the noise on the sum comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SumNoise {
    /// The curator draws N(0, (zΔ)²) for every coordinate.
    Curator,
    /// The sum of the peers' own shares η_u, in peer order: the very numbers the decentralised engines
    /// are left with once pairwise noise has cancelled.
    Shares,
    /// None.
    Nothing,
}

/// What a curator adds.
#[derive(Clone, Copy)]
enum Noise {
    Sum(SumNoise),
    /// Normals of the seed alone.
    Rehearsed,
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
    run_adding(session, Noise::Sum(noise), observer)
}

/// A curator's run on made-up data, to compare candidates by: all of one seed share their normals, so that differences
/// between them are differences of the candidates. For the same reason its outcome must never be published.
///
/// # Errors
/// As [`run`].
pub(crate) fn rehearse(
    session: &Session,
    observer: &mut dyn Observer,
) -> Result<Outcome, EngineError> {
    run_adding(session, Noise::Rehearsed, observer)
}

fn run_adding(
    session: &Session,
    noise: Noise,
    observer: &mut dyn Observer,
) -> Result<Outcome, EngineError> {
    session.admit()?;
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

struct Curator<'a> {
    session: &'a Session,
    noise: Noise,
    state: PublicState,
}

impl Curator<'_> {
    /// Adds the noise of a sum; returns its standard deviation.
    fn add_to_sum(&self, current: Current<'_>, sum: &mut [f64]) -> f64 {
        let (session, id, scale) = (self.session, current.id, current.terms.scale);
        match self.noise {
            Noise::Sum(SumNoise::Curator) => {
                session.curator_noise().add_to(id, scale, sum);
                scale * session.sigma_central()
            }
            Noise::Rehearsed => {
                session.rehearsed_noise().add_to(id, scale, sum);
                scale * session.sigma_central()
            }
            Noise::Sum(SumNoise::Shares) => {
                for u in 0..session.peers() {
                    let term = session.planned_noise().own(PeerIndex::from_index(u));
                    term.add_to(id, scale, sum);
                }
                session.plan().sigma_of_sum(scale)
            }
            Noise::Sum(SumNoise::Nothing) => 0.0,
        }
    }

    /// Adds every peer's noise to its own coordinates; returns its standard deviation.
    fn add_to_coordinates(&self, current: Current<'_>, all: &mut [f64]) -> f64 {
        if matches!(self.noise, Noise::Sum(SumNoise::Nothing)) {
            return 0.0;
        }
        let scale = current.terms.scale;
        let shares = matches!(self.noise, Noise::Sum(SumNoise::Shares));
        for (u, own) in all.chunks_exact_mut(current.planned.values()).enumerate() {
            let peer = PeerIndex::from_index(u);
            let term = match self.noise {
                Noise::Sum(_) if shares => self.session.planned_noise().coordinate(peer),
                Noise::Sum(_) => self.session.curator_coordinate(peer),
                Noise::Rehearsed => self.session.rehearsed_coordinate(peer),
            };
            term.add_to(current.id, scale, own);
        }
        self.session.plan().sigma_of_release(current.planned, scale)
    }
}

impl Engine for Curator<'_> {
    fn front(&self) -> &PublicState {
        &self.state
    }

    fn agree(&mut self, planned: &PlannedRelease) -> f64 {
        let value = planned.proposal(self.session.plan().algorithm(), &self.state);
        self.state.agreed = Some(value);
        value
    }

    fn release(
        &mut self,
        current: Current<'_>,
        observer: &mut dyn Observer,
    ) -> Result<ReleaseRecord, EngineError> {
        let (session, plan) = (self.session, self.session.plan());
        let Current { id, planned, .. } = current;
        // A curator's own noise is of real numbers; the peers' is of integers where the plan says so.
        let real = current.terms.without_steps();
        let terms = match self.noise {
            Noise::Sum(SumNoise::Shares) => current.terms,
            _ => &real,
        };
        let failed = |error| EngineError::at(id, error);
        let values = planned.values();
        let places = if planned.is_own() { session.peers() } else { 1 };
        let mut local = vec![0.0; values * places];
        for u in 0..session.peers() {
            let Some(rows) = session.rows().contributing(u, planned.spec().batch) else {
                continue;
            };
            let prepared = plan.algorithm().prepare(rows, self.state.history());
            let place = if planned.is_own() { u * values } else { 0 };
            let out = &mut local[place..place + values];
            if terms.has_steps() {
                let mut one = vec![0.0; values];
                let own = (rows, prepared.as_slice());
                kernel::add_contribution(plan, id, own, 0..values, terms, &mut one);
                for (sum, x) in out.iter_mut().zip(one) {
                    *sum += x;
                }
            } else {
                plan.algorithm()
                    .add_contribution(id, rows, &prepared, 0..values, out);
            }
        }
        if !terms.has_steps() {
            for one in local.chunks_exact_mut(values) {
                terms.to_units(0..values, one);
            }
        }
        let mut published = local.clone();
        let sigma = if planned.is_own() {
            self.add_to_coordinates(current, &mut published)
        } else {
            self.add_to_sum(current, &mut published)
        };
        let sum = kernel::released(planned, terms, published.clone()).map_err(failed)?;
        let query = Arc::clone(&self.state.query);
        self.state =
            kernel::advance(plan, &self.state, &sum, &terms.sigmas(sigma)).map_err(failed)?;
        terms.from_steps(&mut published);
        terms.from_steps(&mut local);
        let (height, width) = (sum.rows(), sum.columns());
        let done = u64::from(self.state.released);
        observer.progress(done, plan.releases().len() as u64);
        Ok(ReleaseRecord {
            release: id,
            iteration: planned.spec().iteration,
            statistic: terms.statistic,
            sensitivity: terms.sensitivity,
            totals: Totals {
                published: Block::from_values(height, width, published),
                local: Block::from_values(height, width, local),
            },
            query,
            sum,
            basis: plan.algorithm().estimate(&self.state),
            consensus: None,
        })
    }
}
