//! The spread of the error over draws of the noise: a run is one draw, and so is its central baseline.
//!
//! # The law of a draw
//! Every draw is the run's own session (rows, starting block, budget split, algorithm) under a seed of its own, made by a curator whose noise
//! on a sum is the method's: N(0, (√s·σ_own·Δ)²) where peers add Gaussian noise, and the sum of the peers' own shares where noise is Laplace, Wishart or of
//! integers. Pairwise noise cancels in the sum. So a draw has the law of the run's result up to the error of averaging; where that is not
//! small beside the noise, or peers are missing from a sum, the run itself has no draws and a reason instead.
//!
//! # Cost
//! The number of draws follows from sizes alone, so that equal runs have equal summaries: at most [`DRAWS`], and none if fewer than [`FEWEST`] fit.

use rayon::prelude::*;

use super::spread::{Draws, DrawsSummary, Measure};
use super::summary::Summary;
use crate::engine::central::{self, SumNoise};
use crate::engine::{Outcome, Session, SessionError, Silent};
use crate::linalg::SparseRows;
use crate::protocol::PlannedRelease;
use crate::scenario::Experiment;

/// Draws of each method at most.
pub(crate) const DRAWS: u32 = 10;

/// Draws below which a spread says too little.
const FEWEST: u32 = 5;

/// Multiplications that the draws of one method may take in any run: hundredths of a second.
const CHEAP: u64 = 24_000_000;

/// Multiplications up to which a method has [`FEWEST`] draws where more would be dear: tenths of a second.
const DEAR: u64 = 120_000_000;

/// The part of the network's own work that the draws of one method may take.
const PART: u64 = 3;

/// Numbers of a release above which nothing is drawn: a draw holds several such arrays.
const LARGEST: usize = 1 << 21;

/// Multiplications that a normal number takes.
const NORMAL: u64 = 8;

/// Products with a noisy matrix that its eigenvectors take, measured.
const PRODUCTS: u64 = 80;

/// Multiplications per score or predicted rating and direction, measured.
const SCORE: u64 = 16;

/// The error of averaging relative to the noise above which a draw has another law than the run.
const COARSE: f64 = 0.1;

/// The figure of an outcome.
pub(super) type Figure<'a> = dyn Fn(&Outcome) -> Option<f64> + Sync + 'a;

/// One method: its session, whose curator has the σ of a draw, and where the noise comes from.
struct MethodSession {
    session: Session,
    noise: SumNoise,
}

impl DrawsSummary {
    /// The draws of a run with this summary, of its central baseline and of the compared experiment; `None` without noise or without a figure.
    pub(super) fn of(
        experiment: &Experiment,
        session: &Session,
        compared: Option<&Experiment>,
        (summary, figure): (&Summary, &Figure<'_>),
    ) -> Option<Self> {
        let measure = Measure::of(summary).filter(|_| experiment.is_private())?;
        let of_method =
            |drawn: Result<MethodSession, SessionError>, experiment: &Experiment| match drawn {
                Ok(drawn) => drawn.draws(count(&drawn, experiment, summary), figure),
                Err(error) => Draws::none(error.to_string()),
            };
        let has_basis = !matches!(measure, Measure::Rmse | Measure::Recall);
        let compared = compared.filter(|_| has_basis);
        Some(Self {
            of: measure,
            this_run: match differs(summary) {
                Some(reason) => Draws::none(reason),
                None => of_method(MethodSession::of_peers(session), experiment),
            },
            central: of_method(Ok(MethodSession::of_curator(session)), experiment),
            compared: compared.map(|other| {
                let session = other.session(&other.root_seed());
                of_method(MethodSession::of_peers(&session), other)
            }),
        })
    }
}

/// The reason why draws of exact sums of everybody have another law than this run; `None` where they have the same.
fn differs(summary: &Summary) -> Option<String> {
    let faults = summary.faults.as_ref();
    let mut releases = faults.iter().flat_map(|faults| &faults.releases);
    if releases.any(|one| !one.missing.is_empty() || (one.noise - 1.0).abs() > 1e-9) {
        return Some("peers crash in this run, and in no draw".to_owned());
    }
    let averaging = summary.consensus.relative_to_noise;
    let coarse = averaging.filter(|part| part.is_nan() || *part > COARSE)?;
    Some(format!(
        "averaging leaves an error of {coarse:.2} times the noise, and in no draw"
    ))
}

impl MethodSession {
    /// Draws with the noise that the peers' shares add up to, or the curator's where peers add none.
    fn of_peers(session: &Session) -> Result<Self, SessionError> {
        let parameters = session.plan().parameters();
        let sigma = session.plan().sigma_of_sum(1.0);
        if sigma == 0.0 {
            return Ok(Self::of_curator(session));
        }
        // Only shares have the law of a sum of shares, and of integers.
        let by_shares = parameters.distribution().is_pure() || parameters.ring.is_some();
        Ok(Self {
            noise: match by_shares {
                true => SumNoise::Shares,
                false => SumNoise::Curator,
            },
            session: session.clone().with_curator_sigma(sigma)?,
        })
    }

    /// Draws with the curator's noise.
    fn of_curator(session: &Session) -> Self {
        Self {
            session: session.clone(),
            noise: SumNoise::Curator,
        }
    }

    /// The figure of each draw that has one, in order.
    fn figures(&self, count: u32, figure: &Figure<'_>) -> Vec<f64> {
        let draw = |number: u32| {
            let seed = self.session.seed().repetition(number);
            let session = self.session.clone().with_seed(seed).ok()?;
            let outcome = central::run(&session, self.noise, &mut Silent).ok()?;
            figure(&outcome)
        };
        let all: Vec<Option<f64>> = (0..count).into_par_iter().map(draw).collect();
        all.into_iter().flatten().collect()
    }

    fn draws(&self, count: Result<u32, String>, figure: &Figure<'_>) -> Draws {
        match count {
            Ok(count) => Draws::of(&self.figures(count, figure)),
            Err(reason) => Draws::none(reason),
        }
    }

    /// Multiplications that one draw and its figure take, about.
    fn work(&self, experiment: &Experiment, summary: &Summary) -> u64 {
        let plan = self.session.plan();
        let (entries, squares) = sizes(&self.session);
        let columns = experiment.config().algorithm.table().rank() as u64;
        let items = plan.program().items as u64;
        let drawing = match self.noise {
            SumNoise::Shares => self.session.peers() as u64,
            _ => 1,
        };
        let of_release = |release: &PlannedRelease| {
            let values = release.values() as u64;
            let is_matrix = values > items * items / 4;
            let (contributed, advanced) = match is_matrix {
                true => (squares, PRODUCTS * items * items * columns),
                false => (2 * entries * values / items.max(1), values * columns),
            };
            contributed + advanced + NORMAL * drawing * values
        };
        let releases: u64 = plan.releases().iter().map(of_release).sum();
        let catalogue = experiment.catalogue().items() as u64;
        let users = summary.recommendation.as_ref();
        let users = users.map_or(0, |found| found.this_run.users_evaluated as u64);
        let scores = match summary.completion.is_some() {
            true => entries * columns * columns,
            false => users * catalogue * columns,
        };
        releases + 8 * entries * columns + items * items + SCORE * scores
    }
}

/// Stored entries of all rows, and the sum of the squares of their lengths.
fn sizes(session: &Session) -> (u64, u64) {
    let rows = session.rows().iter();
    let lengths =
        rows.flat_map(|rows: &SparseRows| (0..rows.len()).map(|i| rows.row(i).0.len() as u64));
    lengths.fold((0, 0), |(all, squares), length| {
        (all + length, squares + length * length)
    })
}

/// The number of draws of a method that fit, or why none do.
fn count(drawn: &MethodSession, experiment: &Experiment, summary: &Summary) -> Result<u32, String> {
    let plan = drawn.session.plan();
    let work = drawn.work(experiment, summary).max(1);
    let values: u64 = plan.releases().iter().map(|one| one.values() as u64).sum();
    let network = drawn.session.peers() + drawn.session.noise_graph().edges();
    let allowed = CHEAP.max(NORMAL * values * network as u64 / PART);
    let fit = u32::try_from(allowed / work).unwrap_or(u32::MAX).min(DRAWS);
    let fit = match work <= DEAR / u64::from(FEWEST) {
        true => fit.max(FEWEST),
        false => fit,
    };
    match fit >= FEWEST && plan.most_values() <= LARGEST {
        true => Ok(fit),
        false => Err("the data are too large to draw the noise again".to_owned()),
    }
}

#[cfg(test)]
mod tests;
