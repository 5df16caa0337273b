//! The only planner: from what is released, what is promised and what it runs over to noise, averaging and sessions.

use std::sync::Arc;

use super::division::has_own_coordinates;
use super::network::{graphs_digest, mixing_bounds};
use super::{Guarantee, Network, NoiseMemo, PlanError, Promise};
use crate::algorithm::{Algorithm, Form, Program};
use crate::linalg::Block;
use crate::noise::{LaplaceShares, WishartShares};
#[cfg(any(test, feature = "testing"))]
use crate::privacy::NoisePlan;
use crate::privacy::{AdversaryView, Scheme};
use crate::protocol::averaging::Schedule;
use crate::protocol::{SessionParameters, SessionPlan};
use crate::vocabulary::ReleaseId;

/// A program under a promise over a network, planned: every session of it, under whatever seed, keeps the promise.
#[derive(Clone, Debug)]
pub struct Plan {
    program: Arc<Program>,
    promise: Promise,
    network: Network,
    guarantee: Guarantee,
    schedule: Arc<Schedule>,
    contraction: f64,
    /// A number of hops in which a value reaches everybody.
    scale_rounds: u32,
    /// Hash of both graphs.
    graphs: [u8; 32],
}

impl Plan {
    /// Plans noise and averaging.
    ///
    /// # Errors
    /// [`PlanError`], as of [`Guarantee::of`], and for an averaging that has no schedule on the communication graph.
    pub fn of(program: &Program, promise: &Promise, network: &Network) -> Result<Self, PlanError> {
        let guarantee =
            Guarantee::of(program, promise, &network.noise_topology, network.most_rows)?;
        Self::under(guarantee, program, promise, network)
    }

    /// What is released.
    #[must_use]
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// What is promised.
    #[must_use]
    pub fn promise(&self) -> &Promise {
        &self.promise
    }

    /// What it runs over.
    #[must_use]
    pub fn network(&self) -> &Network {
        &self.network
    }

    /// What noise protects.
    #[must_use]
    pub fn guarantee(&self) -> &Guarantee {
        &self.guarantee
    }

    /// What is exchanged in every averaging round.
    #[must_use]
    pub fn schedule(&self) -> &Arc<Schedule> {
        &self.schedule
    }

    /// The factor by which all rounds shrink the spread between peers.
    #[must_use]
    pub fn contraction(&self) -> f64 {
        self.contraction
    }

    /// Hash of the communication graph and the noise graph.
    #[must_use]
    pub fn graphs_digest(&self) -> [u8; 32] {
        self.graphs
    }

    /// The curator's noise per unit sensitivity: z, k·z for persons at k participants, or 0 without noise.
    #[must_use]
    pub fn sigma_central(&self) -> f64 {
        self.guarantee.sigma_central(&self.promise)
    }

    /// What the σ's of a release, from 1, are multiplied by: 1 with an even budget and no private mean.
    #[must_use]
    pub fn noise_factor(&self, release: ReleaseId) -> f64 {
        self.guarantee.noise_factor(release)
    }

    /// Whether every peer fills coordinates of its own in this release.
    #[must_use]
    pub fn is_own(&self, release: ReleaseId) -> bool {
        let release = self.program.releases.get(release.index());
        release.is_some_and(|one| one.form == Form::OwnCoordinates)
    }

    /// Whether there is such a release.
    #[must_use]
    pub fn has_own_coordinates(&self) -> bool {
        has_own_coordinates(&self.program)
    }

    /// Standard deviation, per unit sensitivity and noise factor, of the noise in what everybody learns of this release: that of the sum, or of
    /// every peer's own coordinates.
    #[must_use]
    pub fn sigma_released(&self, release: ReleaseId) -> f64 {
        let noise = self.guarantee.noise();
        match self.mean_over_triangle(release) {
            _ if self.is_own(release) => self.sigma_central(),
            Some(factor) => noise.sigma_sum() * factor,
            None => noise.sigma_sum(),
        }
    }

    /// The standard deviation of the noise on this release over that on a triangle, where it is a mean before one that has Wishart noise.
    fn mean_over_triangle(&self, release: ReleaseId) -> Option<f64> {
        let shares = self.wishart_shares_drawn()?;
        let mean = shares.mean.is_some() && release == ReleaseId(1);
        mean.then(|| shares.sigma_of_mean() / shares.sigma_of_triangle())
    }

    /// How the terms of own noise are dealt where it adds up to Wishart noise.
    fn wishart_shares(&self) -> Option<WishartShares> {
        let peers = self.network.topology.graph().nodes() as u32;
        self.guarantee.wishart_shares(&self.program, peers)
    }

    /// How own noise is dealt where it adds up to Laplace noise.
    #[must_use]
    pub fn laplace_shares(&self) -> Option<LaplaceShares> {
        let peers = self.network.topology.graph().nodes() as u32;
        self.guarantee.laplace_shares(peers)
    }

    /// What peers of one session agree on and hash, from this public starting block.
    ///
    /// # Errors
    /// [`PlanError::Session`] for an algorithm of another program, and for releases that cannot be run.
    pub fn session_plan(
        &self,
        algorithm: &Arc<dyn Algorithm>,
        start: &Block,
    ) -> Result<SessionPlan, PlanError> {
        let peers = self.network.topology.graph().nodes() as u32;
        let told = self
            .guarantee
            .parameters(&self.program, &self.promise, peers);
        let parameters = SessionParameters {
            scale_rounds: self.scale_rounds,
            averaging_rounds: self.schedule.rounds(),
            values: self.network.values,
            schedule: self.schedule.digest(),
            topology: self.graphs,
            start: start.digest(),
            ..told
        };
        Ok(SessionPlan::new(parameters, Arc::clone(algorithm))?)
    }
}

// For the other crates of Undertone.
#[doc(hidden)]
impl Plan {
    /// The same, with noise that was planned before.
    ///
    /// # Errors
    /// As [`Self::of`].
    pub fn with(
        program: &Program,
        promise: &Promise,
        network: &Network,
        memo: &NoiseMemo,
    ) -> Result<Self, PlanError> {
        let noise = &network.noise_topology;
        let guarantee = Guarantee::with(program, promise, noise, network.most_rows, Some(memo))?;
        Self::under(guarantee, program, promise, network)
    }

    /// The same under a guarantee that was planned for it.
    pub fn under(
        guarantee: Guarantee,
        program: &Program,
        promise: &Promise,
        network: &Network,
    ) -> Result<Self, PlanError> {
        // Before its schedule is compiled, which may be refused for reasons that have nothing to do with the ring.
        if guarantee.noise().ring().is_some() && network.averaging.divides() {
            return Err(PlanError::Inexact);
        }
        let (topology, bounds) = (&network.topology, mixing_bounds(&network.topology));
        let schedule = network.averaging.compile(topology, bounds)?;
        let contraction = match schedule.contraction() {
            Some(certified) => certified,
            None => network.averaging.contraction(bounds, schedule.rounds())?,
        };
        // Engines that reveal only sums run on any graph and exchange no scales.
        let nodes = topology.graph().nodes() as u32;
        Ok(Self {
            program: Arc::new(program.clone()),
            promise: promise.clone(),
            guarantee,
            schedule: Arc::new(schedule),
            contraction,
            scale_rounds: topology.diameter_bound().unwrap_or(nodes),
            graphs: graphs_digest(topology, &network.noise_topology),
            network: network.clone(),
        })
    }

    /// The Wishart noise that is drawn: a curator's, or that of all peers.
    pub fn wishart_shares_drawn(&self) -> Option<WishartShares> {
        let shares = self.wishart_shares()?;
        Some(match self.promise.seen {
            AdversaryView::CuratorOutput => shares.of_curator(),
            _ => shares,
        })
    }

    /// The terms of Wishart noise that the adversary does not know: a curator's, those of one honest peer where everybody adds all of it, or those
    /// that as many colluders leave as are withstood.
    pub fn terms_left(&self) -> Option<u64> {
        let shares = self.wishart_shares_drawn()?;
        let colluders = self.promise.withstood() as u64;
        Some(match (self.promise.seen, self.promise.noise.scheme()) {
            (AdversaryView::CuratorOutput, _) => shares.terms,
            (_, Scheme::Local) => shares.terms / u64::from(shares.peers.max(1)),
            _ => shares.terms.saturating_sub(colluders * shares.of_one()),
        })
    }

    /// The most that one peer adds on a sum: its standard deviation per unit sensitivity and noise factor.
    pub fn sigma_of_one(&self, release: ReleaseId) -> f64 {
        let own = self.guarantee.noise().sigma_own();
        let factor = self.wishart_shares().map(|shares| match shares.mean {
            Some(shape) if release == ReleaseId(1) => (2.0 * shape).sqrt(),
            _ => (shares.of_one() as f64).sqrt(),
        });
        own * factor.unwrap_or(1.0)
    }

    /// What a curator adds on this release, likewise.
    pub fn sigma_of_curator(&self, release: ReleaseId) -> f64 {
        let factor = self.wishart_shares().map(|shares| shares.of_curator());
        let factor = factor.filter(|shares| shares.mean.is_some() && release == ReleaseId(1));
        let factor = factor.map(|shares| shares.sigma_of_mean() / shares.sigma_of_triangle());
        self.sigma_central() * factor.unwrap_or(1.0)
    }

    /// The sum of the shapes of all peers' shares of Laplace noise, or of the curator's; `None` where noise is Gaussian or there is none.
    pub fn sum_of_shapes(&self) -> Option<f64> {
        let shares = self.laplace_shares()?;
        Some(match self.promise.seen {
            AdversaryView::CuratorOutput => 1.0,
            _ => f64::from(shares.drawing()) * shares.shape,
        })
    }

    /// The noise plan, to state other views or σ's.
    #[cfg(any(test, feature = "testing"))]
    pub fn noise_mut(&mut self) -> &mut NoisePlan {
        self.guarantee.noise_mut()
    }

    /// What the σ's of the releases are multiplied by, to spend another budget than was divided.
    #[cfg(any(test, feature = "testing"))]
    pub fn set_factors(&mut self, factors: Vec<f64>) {
        self.guarantee.set_factors(&self.program, factors);
    }
}
