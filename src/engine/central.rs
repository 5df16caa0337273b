//! A trusted curator who holds everybody's rows: P1 Algorithm 1, the baseline of every comparison.

use std::sync::Arc;

use super::{Communication, EngineError, IterationRecord, Observer, Outcome, Session, Totals};
use crate::algorithm::PublicState;
use crate::linalg::Block;
use crate::protocol::check_query;
use crate::vocabulary::{Iteration, PeerIndex};

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

/// Runs the session under a curator with this noise.
///
/// # Errors
/// [`EngineError::NotFullRank`] if the noisy sum has no unique basis, [`EngineError::Start`], [`EngineError::Noise`] and
/// [`EngineError::Query`] for a starting block or noise that is not the plan's and for a query that is not orthonormal.
///
/// # Source
/// P1 Algorithm 1, with noise scaled by X^{l−1} (see [`crate::algorithm::PowerMethod`]).
pub fn run(
    session: &Session,
    noise: SumNoise,
    observer: &mut dyn Observer,
) -> Result<Outcome, EngineError> {
    run_adding(session, observer, &|iteration, scale, sum| match noise {
        SumNoise::Curator => {
            let term = session.curator_noise();
            term.add_to(iteration, scale, sum);
            scale * session.sigma_central()
        }
        SumNoise::Shares => {
            for u in 0..session.peers() {
                let term = session.planned_noise().own(PeerIndex::from_index(u));
                term.add_to(iteration, scale, sum);
            }
            session.plan().sigma_of_sum(scale)
        }
        SumNoise::Nothing => 0.0,
    })
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
    run_adding(session, observer, &|iteration, scale, sum| {
        let term = session.rehearsed_noise();
        term.add_to(iteration, scale, sum);
        scale * session.sigma_central()
    })
}

/// The iterations of a curator. `add` adds the noise of an iteration, scaled by the number given, and says its standard
/// deviation.
fn run_adding(
    session: &Session,
    observer: &mut dyn Observer,
    add: &dyn Fn(Iteration, f64, &mut [f64]) -> f64,
) -> Result<Outcome, EngineError> {
    let parameters = session.plan().parameters();
    let algorithm = session.plan().algorithm();
    session.admit()?;
    let (height, width) = session.plan().shape();
    let mut state = PublicState::new(Arc::clone(session.start()));
    let mut records = Vec::new();
    for number in 1..=parameters.iterations {
        let iteration = Iteration(number);
        let statistic = parameters.sensitivity.statistic().of(&state.query);
        let sensitivity = parameters.sensitivity.bound(statistic);
        let mut local = Block::zeros(height, width);
        for rows in session.rows().iter() {
            let prepared = algorithm.prepare(rows, state.query.values());
            let values = local.values_mut();
            algorithm.add_contribution(rows, &prepared, 0..values.len(), values);
        }
        let mut sum = local.clone();
        let scale = session.plan().noise_scale(iteration, sensitivity);
        let sigma = add(iteration, scale, sum.values_mut());
        let sum = Arc::new(sum);
        let query = Arc::clone(&state.query);
        state = algorithm
            .advance(&state, &sum, sigma)
            .map_err(|source| EngineError::NotFullRank { iteration, source })?;
        if number < parameters.iterations {
            check_query(&state.query).map_err(|source| EngineError::Query {
                iteration: Iteration(number + 1),
                source,
            })?;
        }
        let record = IterationRecord {
            iteration,
            statistic,
            sensitivity,
            totals: Totals {
                published: (*sum).clone(),
                local,
            },
            query,
            sum,
            basis: algorithm.estimate(&state),
            consensus: None,
        };
        observer.iteration(&record);
        observer.progress(u64::from(number), u64::from(parameters.iterations));
        records.push(record);
    }
    Ok(Outcome {
        communication: Communication {
            rounds: vec![0; records.len()],
            ..Communication::default()
        },
        records,
    })
}
