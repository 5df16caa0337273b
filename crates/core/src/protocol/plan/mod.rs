//! What a session does, validated: its releases, their noise and their exchanges, and the name it goes by.

mod bounds;
mod defect;
mod error;
mod largest;
mod parameters;
mod release;
mod rounding;
mod steps;
mod summand;
mod wishart;

use std::sync::Arc;

pub use error::SessionPlanError;
pub use parameters::{RingParameters, SessionParameters};
pub use release::{PlannedRelease, Terms};
pub use steps::Steps;

use super::message::{Body, SessionId};
use super::release_error::ReleaseError;
use super::values::Values;
use super::wire::{self, FrameSizes};
use crate::algorithm::{Algorithm, Next, Program, PublicState, charged, share_factors};
use crate::noise::{RingLaws, Sigmas};
use crate::privacy::{Adjacency, SensitivityRule};
use crate::vocabulary::{ReleaseId, Round};

/// A validated plan with its session name.
#[derive(Clone, Debug)]
pub struct SessionPlan {
    parameters: SessionParameters,
    algorithm: Arc<dyn Algorithm>,
    releases: Arc<[PlannedRelease]>,
    /// Exchanges before every release, and after the last one.
    before: Arc<[Exchanges]>,
    /// Hash of the parameters.
    digest: [u8; 32],
    session: SessionId,
    /// The laws of own noise where sums are integers mod 2^k.
    ring_laws: Option<Arc<RingLaws>>,
    /// Per release what no coordinate of a published contribution exceeds.
    largest: Arc<[f64]>,
}

/// The most releases of a program.
const MAX_RELEASES: usize = 1_000_000;

/// Two plans are the same if their parameters are.
impl PartialEq for SessionPlan {
    fn eq(&self, other: &Self) -> bool {
        self.parameters == other.parameters && self.digest == other.digest
    }
}

/// How many exchanges of each kind there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Exchanges {
    /// Agreements on a number, [`SessionParameters::scale_rounds`] exchanges each.
    pub(super) agreements: u64,
    /// Sums, [`SessionParameters::averaging_rounds`] exchanges each.
    pub(super) sums: u64,
    /// Gatherings of own coordinates, [`SessionParameters::scale_rounds`] exchanges each.
    pub(super) gatherings: u64,
}

impl SessionPlan {
    /// Checks the parameters and names the session.
    ///
    /// # Errors
    /// [`SessionPlanError`] for zero or excessive counts, numbers that make no algorithm, releases that are declared wrongly or have no
    /// proved bound, and bad noise scales.
    pub fn new(
        mut parameters: SessionParameters,
        algorithm: Arc<dyn Algorithm>,
    ) -> Result<Self, SessionPlanError> {
        let most = u32::MAX as usize;
        let program = Arc::clone(&parameters.program);
        let releases = parameters.planned_releases()?;
        count(
            "averaging rounds",
            1,
            super::averaging::MAX_ROUNDS as usize,
            parameters.averaging_rounds as usize,
        )?;
        // A number that is none equals nothing: what is wrong with the program itself is said before.
        if algorithm.program() != *program {
            let algorithm = program.name.clone();
            return Err(SessionPlanError::OtherProgram { algorithm });
        }
        let noisy = parameters.sigma_own > 0.0 || parameters.sigma_pairwise > 0.0;
        if releases.iter().any(PlannedRelease::floods) && parameters.peers > 1 {
            // Without a round every peer would scale its noise by a statistic of its own. A bound on the diameter
            // that comes from an eccentricity is at most twice the diameter.
            count(
                "scale_rounds, the rounds in which peers agree on the statistic of the sensitivity,",
                1,
                (2 * parameters.peers as usize).min(most),
                parameters.scale_rounds as usize,
            )?;
        } else {
            parameters.scale_rounds = 0;
        }
        let bounds: Vec<_> = releases
            .iter()
            .map(|one| one.all_bounds().clone())
            .collect();
        let digest = parameters.digest(&bounds);
        let mut before = vec![Exchanges::default()];
        before.extend(releases.iter().scan(Exchanges::default(), |sum, one| {
            sum.agreements += u64::from(one.agrees());
            sum.sums += u64::from(!one.is_own());
            sum.gatherings += u64::from(one.is_own());
            Some(*sum)
        }));
        let mut plan = Self {
            largest: Arc::default(),
            session: wire::session_of(&digest),
            ring_laws: ring_laws(&parameters, &releases)?,
            parameters,
            algorithm,
            releases: releases.into(),
            before: before.into(),
            digest,
        };
        if noisy || plan.parameters.sigma_coordinate > 0.0 {
            plan.check_rounding(1, 0)?;
        }
        plan.largest = plan
            .releases()
            .iter()
            .map(|one| plan.largest_of(one))
            .collect();
        Ok(plan)
    }

    /// The plan of the same algorithm under other parameters.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn with(&self, parameters: SessionParameters) -> Result<Self, SessionPlanError> {
        Self::new(parameters, Arc::clone(&self.algorithm))
    }

    /// The session's name.
    #[must_use]
    pub fn session(&self) -> SessionId {
        self.session
    }

    /// Hash of all parameters, whose beginning is the session's name. Public.
    #[must_use]
    pub fn digest(&self) -> &[u8; 32] {
        &self.digest
    }

    /// The laws of own noise and masks where sums are integers mod 2^k. Public.
    #[must_use]
    pub fn ring_laws(&self) -> Option<&Arc<RingLaws>> {
        self.ring_laws.as_ref()
    }

    /// Standard deviations of all noise per unit sensitivity; for masks, which have none, 1. Public.
    #[must_use]
    pub fn sigmas(&self) -> Sigmas {
        self.parameters.sigmas()
    }

    /// Standard deviation of the noise on every coordinate of a release, where noise is scaled by `scale`. Public.
    #[must_use]
    pub fn sigma_of_release(&self, planned: &PlannedRelease, scale: f64) -> f64 {
        match self.parameters.wishart {
            _ if planned.is_own() => scale * self.parameters.sigma_coordinate,
            Some(shares) if !planned.is_triangle() => {
                scale * self.parameters.sigma_own * shares.sigma_of_mean()
            }
            _ => self.sigma_of_sum(scale),
        }
    }

    /// The public parameters.
    #[must_use]
    pub fn parameters(&self) -> &SessionParameters {
        &self.parameters
    }

    /// The algorithm of the session.
    #[must_use]
    pub fn algorithm(&self) -> &dyn Algorithm {
        self.algorithm.as_ref()
    }

    /// What the session releases. Public.
    #[must_use]
    pub fn program(&self) -> &Program {
        &self.parameters.program
    }

    /// All releases, in order.
    #[must_use]
    pub fn releases(&self) -> &[PlannedRelease] {
        &self.releases
    }

    /// The release of this place in the program, if there is one.
    #[must_use]
    pub fn release(&self, id: ReleaseId) -> Option<&PlannedRelease> {
        self.releases.get((id.0 as usize).checked_sub(1)?)
    }

    /// For how many releases of noise factor 1 one record is charged: what the standard deviations must be planned for.
    #[must_use]
    pub fn charge(&self) -> f64 {
        charged(&self.program().releases, |_| 1.0)
    }

    /// What comes next in this public state: a release is preceded by the agreement that its bound needs.
    ///
    /// # Errors
    /// [`ReleaseError::OutOfOrder`] if the algorithm asks for what it has not declared.
    pub fn next(&self, state: &PublicState) -> Result<Next, ReleaseError> {
        let here = ReleaseId(state.released).next();
        let planned = self.release(here);
        let next = self
            .algorithm
            .next(state, planned.map(PlannedRelease::spec));
        let Some(planned) = planned else {
            return match next {
                Next::Done => Ok(next),
                _ => Err(ReleaseError::OutOfOrder),
            };
        };
        let open = planned.agrees() && state.agreed.is_none();
        match next {
            Next::Done if state.released == 0 || !planned.spec().may_end_before => {
                Err(ReleaseError::OutOfOrder)
            }
            Next::Done => Ok(Next::Done),
            Next::Agree if !open => Err(ReleaseError::OutOfOrder),
            Next::Release(id) if id != here => Err(ReleaseError::OutOfOrder),
            Next::Agree | Next::Release(_) if open => Ok(Next::Agree),
            Next::Agree | Next::Release(_) => Ok(next),
        }
    }

    /// The most coordinates that one peer contributes to a release.
    #[must_use]
    pub fn most_values(&self) -> usize {
        let values = self.releases.iter().map(PlannedRelease::values);
        values.max().unwrap_or(0)
    }

    /// Standard deviation of the noise on every coordinate of the sum of all peers, where noise is scaled by `scale`
    /// (see [`Terms::scale`]): pairwise noise cancels, s own terms are left, or those of the holders of Laplace noise. Of Wishart noise the m
    /// terms of a triangle are left. Public.
    #[must_use]
    pub fn sigma_of_sum(&self, scale: f64) -> f64 {
        if let Some(shares) = self.parameters.wishart {
            return scale * self.parameters.sigma_own * shares.sigma_of_triangle();
        }
        let shares = self.parameters.laplace;
        let drawing = shares.map_or(self.parameters.peers, |shares| shares.drawing());
        scale * self.parameters.sigma_own * f64::from(drawing).sqrt()
    }

    /// Averaging rounds K per sum.
    #[must_use]
    pub fn averaging_rounds(&self) -> u32 {
        self.parameters.averaging_rounds
    }

    /// What the coordinates of a sum are while they are averaged: residues where sums are of integers, whose width follows from k.
    #[must_use]
    pub fn values(&self) -> Values {
        let ring = self.parameters.ring;
        ring.map_or(self.parameters.values, |ring| ring.values())
    }

    /// The same plan for somebody who reduces integers mod 2 to this number.
    #[cfg(any(test, feature = "testing"))]
    pub(crate) fn with_wrong_modulus(mut self, bits: u32) -> Self {
        let mut releases = self.releases.to_vec();
        for release in &mut releases {
            release.defect = Some(defect::WrongModulus(bits));
        }
        self.releases = releases.into();
        self
    }

    /// Rounds in which a value reaches everybody.
    #[must_use]
    pub fn scale_rounds(&self) -> u32 {
        self.parameters.scale_rounds
    }

    /// Exchanges before a release, by kind; before one that the plan does not have, all exchanges.
    pub(super) fn exchanges_before(&self, release: ReleaseId) -> Exchanges {
        let last = self.before.len() - 1;
        self.before[release.index().min(last)]
    }

    /// Sums that are formed before a release: the number of its own one among those of the session, from 0, if it is a sum.
    #[must_use]
    pub fn sums_before(&self, release: ReleaseId) -> u64 {
        self.exchanges_before(release).sums
    }

    /// The last release that begins at or before the place where `count` says that so many messages have gone before.
    pub(super) fn release_at(&self, number: u64, count: impl Fn(Exchanges) -> u64) -> ReleaseId {
        let begun = self
            .before
            .partition_point(|&before| count(before) <= number);
        ReleaseId(begun as u32)
    }

    /// The first exchange of a release, counted over the session.
    #[must_use]
    pub fn first_step(&self, release: ReleaseId) -> u64 {
        self.steps_of(self.exchanges_before(release))
    }

    pub(super) fn steps_of(&self, exchanges: Exchanges) -> u64 {
        let (flood, average) = (self.scale_rounds(), self.averaging_rounds());
        (exchanges.agreements + exchanges.gatherings) * u64::from(flood)
            + exchanges.sums * u64::from(average)
    }

    /// Exchanges of a release: rounds of max-consensus, then averaging rounds or rounds in which coordinates spread.
    #[must_use]
    pub fn steps_of_release(&self, release: ReleaseId) -> u32 {
        (self.first_step(release.next()) - self.first_step(release)) as u32
    }

    /// Rounds of max-consensus before a release.
    #[must_use]
    pub fn agreement_rounds(&self, release: ReleaseId) -> u32 {
        match self.release(release) {
            Some(planned) if planned.agrees() => self.scale_rounds(),
            _ => 0,
        }
    }

    /// The position of a message in the session's sequence of exchanges, if the plan has it.
    #[must_use]
    pub fn step(&self, release: ReleaseId, round: Round, body: &Body) -> Option<u64> {
        let planned = self.release(release)?;
        let agreement = self.agreement_rounds(release);
        let (before, rounds) = match body {
            Body::Scale(_) => (0, agreement),
            Body::Average(_) | Body::Residues(_) if !planned.is_own() => {
                (agreement, self.averaging_rounds())
            }
            Body::Coordinates(_) if planned.is_own() => (agreement, self.scale_rounds()),
            Body::Average(_) | Body::Residues(_) | Body::Coordinates(_) => (0, 0),
        };
        let valid = round.0 < rounds;
        valid.then(|| self.first_step(release) + u64::from(before) + u64::from(round.0))
    }

    /// How many values a message of each release holds, `extra` beside those of a sum: what frames are bounded by before anything is
    /// allocated.
    #[must_use]
    pub fn frame_sizes(&self, extra: usize) -> FrameSizes {
        let peers = self.parameters.peers as usize;
        FrameSizes::new(
            self.values(),
            self.releases.iter().map(|one| {
                let values = match one.is_own() {
                    true => one.values() * peers,
                    false => one.values() + extra,
                };
                (values, one.is_own())
            }),
        )
    }
}

/// Refuses a number of things that is too small or too large.
fn count(
    what: &'static str,
    low: usize,
    high: usize,
    found: usize,
) -> Result<(), SessionPlanError> {
    match (low..=high).contains(&found) {
        true => Ok(()),
        false => Err(SessionPlanError::Count {
            what,
            low,
            high,
            found,
        }),
    }
}

impl SessionParameters {
    /// All releases with their bounds and noise factors, checked as far as neither the network nor the start is asked for.
    ///
    /// # Errors
    /// As [`SessionPlan::new`], but for the algorithm and the exchanges.
    pub(crate) fn planned_releases(&self) -> Result<Vec<PlannedRelease>, SessionPlanError> {
        let most = u32::MAX as usize;
        count("the number of peers", 1, most, self.peers as usize)?;
        count("the number of items", 1, most, self.program.items)?;
        self.sigmas().check()?;
        check_laplace(self)?;
        wishart::check(self)?;
        check_proved(self)?;
        let releases = planned(self)?;
        let noisy = self.sigma_own > 0.0 || self.sigma_pairwise > 0.0;
        if noisy && self.program.search.is_some() {
            let algorithm = self.program.kind();
            return Err(SessionPlanError::CuratorOnly { algorithm });
        }
        if noisy && self.sigma_coordinate == 0.0 && releases.iter().any(PlannedRelease::is_own) {
            let algorithm = self.program.kind();
            return Err(SessionPlanError::BareCoordinates { algorithm });
        }
        Ok(releases)
    }
}

/// Refuses a bound that is not proved for what the algorithm makes of rows, and neighbours that its noise does not cover.
fn check_proved(parameters: &SessionParameters) -> Result<(), SessionPlanError> {
    let proved = parameters.program.proved;
    let (adjacency, rule) = (
        parameters.sensitivity.adjacency(),
        parameters.sensitivity.rule(),
    );
    let algorithm = parameters.program.kind();
    let of_lengths = rule == SensitivityRule::UnitRow
        && matches!(adjacency, Adjacency::User | Adjacency::ReplaceUser);
    if !(proved.as_held || of_lengths) {
        return Err(SessionPlanError::OwnRows {
            algorithm,
            adjacency,
            rule,
        });
    }
    match !proved.replaced && adjacency == Adjacency::ReplaceUser {
        true => Err(SessionPlanError::NotReplaced { algorithm }),
        false => Ok(()),
    }
}

/// Refuses shares of Laplace noise that are for other peers, and what Laplace noise does not go with.
fn check_laplace(parameters: &SessionParameters) -> Result<(), SessionPlanError> {
    let Some(shares) = parameters.laplace else {
        return Ok(());
    };
    let held = shares.holders;
    let problem = if parameters.ring.is_some() {
        "sums of integers have rounded Gaussian noise"
    } else if shares.peers != parameters.peers {
        "its shares are dealt to another number of peers"
    } else if held.is_some_and(|holders| holders == 0 || holders > shares.peers) {
        "between one and all peers hold it"
    } else if (parameters.sigma_pairwise > 0.0) && held.is_none() {
        "noise that partners share is Gaussian, and promises something only beside holders of Laplace noise"
    } else {
        return Ok(());
    };
    Err(SessionPlanError::Laplace { problem })
}

/// The laws of own noise and masks of these releases; `None` for sums of reals.
fn ring_laws(
    parameters: &SessionParameters,
    releases: &[PlannedRelease],
) -> Result<Option<Arc<RingLaws>>, SessionPlanError> {
    let Some(ring) = parameters.ring else {
        if parameters.values.is_residues() {
            let problem = "residues are exchanged where sums are of integers, which takes a grid, a modulus and a clamp";
            return Err(SessionPlanError::Ring { problem });
        }
        return Ok(None);
    };
    let most = libm::exp2(f64::from(ring.modulus.bits() - 1));
    let problem = if parameters.sigma_pairwise != 0.0 {
        "partners share masks, which have no standard deviation: set sigma_pairwise to 0"
    } else if parameters.sigma_own <= 0.0 {
        "masks hide nothing but the summands: the sum needs own noise"
    } else if ring.clamp <= 0 || ring.clamp as f64 * f64::from(parameters.peers) >= most {
        "the contributions of all peers, at their clamp, must add up to less than half the modulus"
    } else if parameters.values != Values::F64 {
        "sums of integers travel as residues, whose width follows from noise.bits: leave averaging.values at \"f64\""
    } else {
        let sigmas = releases
            .iter()
            .map(|one| parameters.sigma_own * one.factor() / ring.grid.step());
        let sigmas: Vec<f64> = sigmas.collect();
        return Ok(Some(Arc::new(RingLaws::new(&sigmas, ring.modulus.bits())?)));
    };
    Err(SessionPlanError::Ring { problem })
}

/// The releases that the algorithm declares, with their bounds and their shares of the budget.
fn planned(parameters: &SessionParameters) -> Result<Vec<PlannedRelease>, SessionPlanError> {
    let program = &*parameters.program;
    let specs = &program.releases;
    let wrong = |index: usize, problem| {
        Err(SessionPlanError::Release {
            algorithm: program.kind(),
            release: ReleaseId(index as u32 + 1),
            problem,
        })
    };
    if specs.is_empty() || specs.len() > MAX_RELEASES {
        return wrong(0, "a program has at least one release");
    }
    let ordered =
        specs.iter().all(|one| one.iteration.0 > 0) && specs.is_sorted_by_key(|one| one.iteration);
    if !ordered {
        return wrong(0, "iterations are counted from 1 and never fall");
    }
    let of_rows = parameters.sensitivity.degree_floor();
    if program.degree_floor.is_some_and(|floor| floor != of_rows) {
        return wrong(
            0,
            "it is weighed for another degree floor than that of the rows, and its bound would be of something else: give both one floor",
        );
    }
    let shares = specs
        .iter()
        .all(|one| one.share.is_finite() && one.share > 0.0);
    if !shares {
        return wrong(0, "shares of the budget are finite and above 0");
    }
    let factors = &parameters.noise_factors;
    if !factors.is_empty() && factors.len() != specs.len() {
        return Err(SessionPlanError::Factors {
            found: factors.len(),
            releases: specs.len(),
        });
    }
    let allowed = charged(specs, |_| 1.0);
    let shares = share_factors(specs);
    let law = parameters.distribution();
    let effective: Vec<f64> = (0..specs.len())
        .map(|index| {
            let given = factors.get(index).copied().unwrap_or(1.0);
            given * shares.get(index).map_or(1.0, |share| law.factor(*share))
        })
        .collect();
    let found = charged(specs, |index| law.cost(effective[index]));
    let valid = effective.iter().all(|f| f.is_finite() && *f > 0.0);
    if !(valid && found <= allowed * (1.0 + 1e-12)) {
        return Err(SessionPlanError::Overspent {
            found,
            releases: allowed,
        });
    }
    (1..)
        .zip(specs)
        .zip(effective)
        .map(|((id, spec), factor)| {
            PlannedRelease::new(parameters, ReleaseId(id), spec.clone(), factor)
        })
        .collect()
}
