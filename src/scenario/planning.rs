//! From tables and graphs to a plan: the steps that an experiment and a session of participants have in common.

use super::arranged::Arranged;
use super::clock::Clock;
use super::error::{
    AlgorithmTableError, AveragingTableError, EngineTableError, ExperimentError, PrivacyTableError,
};
use super::peer_names::Matched;
use super::{averaging, dropouts, numbers, promise, rating};
use crate::algorithm::{Prelude, Program};
use crate::config::{Config, EngineKind};
use crate::engine::NewSessionError;
use crate::plan::{Division, Guarantee, Network, NoiseMemo, Plan, PlanError, Promise};
use crate::privacy::{PrivacyError, Sensitivity};
use crate::protocol::PlannedRelease;
use crate::vocabulary::{Distribution, Quantity};

/// An algorithm whose releases have bounds, behind a mean where that is private.
pub(super) struct Bounded {
    /// The algorithm.
    pub(super) arranged: Arranged,
    /// How far one record moves the first release but a mean.
    pub(super) sensitivity: Sensitivity,
    /// The private mean, and whether its share is that of the public rule.
    pub(super) mean: Option<(Prelude, bool)>,
}

/// Puts the algorithm behind a private mean where the tables ask for one, and asks for its bound. So many rows over so many items take part.
pub(super) fn bounded(
    config: &Config,
    arranged: Arranged,
    promise: &mut Promise,
    (rows, items): (usize, usize),
) -> Result<Bounded, ExperimentError> {
    let bounds = promise.bounds.clone();
    promise.bounds = bounds.with_rating(rating::range(config, items)?);
    let first = &arranged.first().blocks[0];
    let (quantity, columns) = (first.quantity, first.columns);
    let sensitivity = promise.bounds.of(quantity, columns);
    let sensitivity = sensitivity.map_err(PrivacyTableError::from)?;
    if !Division::takes_weights(arranged.program()) && !config.privacy.budget.is_even() {
        let kind = config.algorithm.name();
        return Err(AlgorithmTableError::Weights { kind }.into());
    }
    let mean = numbers::prelude(config, (rows, items), promise, columns)?;
    let arranged = match mean {
        Some((prelude, _)) => arranged
            .centred(prelude)
            .map_err(AlgorithmTableError::from)?,
        None => arranged,
    };
    Ok(Bounded {
        arranged,
        sensitivity,
        mean,
    })
}

/// Plans this program under this promise over both graphs. No peer holds more than so many rows.
pub(super) fn plan(
    config: &Config,
    (program, promise): (&Program, &Promise),
    graphs: Matched,
    most_rows: usize,
    (memo, clock): (&NoiseMemo, &mut Clock),
) -> Result<Plan, ExperimentError> {
    check_analytic(config, program)?;
    promise::check_bits(config).map_err(PrivacyTableError::from)?;
    let Matched {
        topology,
        noise_topology,
        ..
    } = graphs;
    let (colluders, peers) = (config.privacy.colluders, topology.graph().nodes());
    if colluders >= peers && promise.noise.distribution() == Distribution::Gaussian {
        return Err(PrivacyTableError::Colluders { colluders, peers }.into());
    }
    let guarantee = clock.time("privacy", || {
        Guarantee::with(program, promise, &noise_topology, most_rows, Some(memo))
    });
    let guarantee = guarantee.map_err(|error| refused(config, error))?;
    if guarantee.noise().ring().is_some() {
        if config.engine.kind == EngineKind::Analytic {
            return Err(EngineTableError::AnalyticRing.into());
        }
        // Before its schedule is compiled, which may be refused for reasons that have nothing to do with the ring.
        if !config.averaging.scheme.is_exact() {
            return Err(AveragingTableError::Ring.into());
        }
    }
    let averaging = averaging::of(&config.averaging, config.engine.loss, &topology)?;
    let network = Network {
        topology,
        noise_topology,
        averaging,
        values: config.averaging.values,
        most_rows,
    };
    let plan = Plan::under(guarantee, program, promise, &network);
    plan.map_err(|error| refused(config, error))
}

/// Why there is no plan, in terms of the file's keys.
pub(super) fn refused(config: &Config, error: PlanError) -> ExperimentError {
    match error {
        PlanError::Privacy(error) => match dropouts::refused(config, error.clone()) {
            Some(refused) => refused.into(),
            None => PrivacyTableError::from(error).into(),
        },
        PlanError::Averaging(error) => AveragingTableError::from(error).into(),
        PlanError::Inexact => AveragingTableError::Ring.into(),
        PlanError::Session(error) => error.into(),
        PlanError::Unsupported(error) => AlgorithmTableError::from(error).into(),
        PlanError::Charge { .. } => PrivacyTableError::from(PrivacyError::Iterations).into(),
    }
}

/// Why there is no session of a plan, in terms of the file's keys.
pub(super) fn no_session(config: &Config, plan: &Plan, error: NewSessionError) -> ExperimentError {
    match error {
        NewSessionError::Start(source) => AlgorithmTableError::Rank {
            rank: config.algorithm.table().rank(),
            items: plan.program().items,
            source,
        }
        .into(),
        NewSessionError::Plan(error) => refused(config, error),
        NewSessionError::Session(error) => ExperimentError::from(error),
    }
}

/// Refuses releases that no message holds, before anything as large is drawn.
pub(super) fn check_widths(plan: &Plan) -> Result<(), ExperimentError> {
    let program = plan.program();
    let peers = plan.network().topology.graph().nodes() as u32;
    let mut releases = program.releases.iter();
    releases.try_for_each(|release| PlannedRelease::check_width(release, program, peers))?;
    Ok(())
}

/// Refuses releases that the analytic engine has no law of.
fn check_analytic(config: &Config, program: &Program) -> Result<(), EngineTableError> {
    let mut blocks = program.releases.iter().flat_map(|one| &one.blocks);
    match blocks.find(|block| block.quantity != Quantity::Product) {
        Some(other) if config.engine.kind == EngineKind::Analytic => {
            let released = other.quantity;
            Err(EngineTableError::AnalyticRelease { released })
        }
        _ => Ok(()),
    }
}
