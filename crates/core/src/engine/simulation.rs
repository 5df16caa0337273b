//! A planned session with the rows of all peers and what runs it: one session per seed.

use std::sync::Arc;

use super::{
    NewSessionError, Observer, Outcome, PeerRows, Runner, RunnerError, Session, SessionParts,
};
use crate::algorithm::{Algorithm, Program, Start};
use crate::plan::Plan;
use crate::privacy::NoisePlan;
use crate::vocabulary::Seed;

/// A plan, an algorithm, the rows of all peers and what runs it: a value from which every seed makes a session.
///
/// Experiment files and rows in memory are builders of this one type, and whatever looks at sessions takes it.
#[derive(Clone, Debug)]
pub struct Simulation {
    plan: Arc<Plan>,
    algorithm: Arc<dyn Algorithm>,
    rows: Arc<PeerRows>,
    /// Where the query starts, with the public item degrees that it may start at.
    start: (Start, Arc<[u32]>),
    /// What noise is bound to beside plan and rows.
    setting: [u8; 32],
    /// The root of all random streams.
    root: Seed,
    runner: Arc<dyn Runner>,
}

impl Simulation {
    /// The parts of an experiment as one value: what was planned must be what this algorithm releases of these rows.
    #[doc(hidden)]
    #[must_use]
    pub fn of_parts(
        plan: Arc<Plan>,
        algorithm: Arc<dyn Algorithm>,
        rows: Arc<PeerRows>,
        start: (Start, Arc<[u32]>),
        setting: [u8; 32],
        root: Seed,
        runner: Arc<dyn Runner>,
    ) -> Self {
        Self {
            plan,
            algorithm,
            rows,
            start,
            setting,
            root,
            runner,
        }
    }

    /// What is planned.
    #[must_use]
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// What is released. Public.
    #[must_use]
    pub fn program(&self) -> &Program {
        self.plan.program()
    }

    /// What is contributed and how the public state advances.
    #[must_use]
    pub fn algorithm(&self) -> &dyn Algorithm {
        self.algorithm.as_ref()
    }

    /// σ's per unit sensitivity and the guarantee of every view; `None` where nothing is promised.
    #[must_use]
    pub fn noise(&self) -> Option<&NoisePlan> {
        let private = !self.plan.promise().noise.is_none();
        private.then(|| self.plan.guarantee().noise())
    }

    /// The root of all random streams: whoever knows it can compute all noise.
    #[must_use]
    pub fn root(&self) -> &Seed {
        &self.root
    }

    /// What runs it.
    #[must_use]
    pub fn runner(&self) -> &dyn Runner {
        self.runner.as_ref()
    }

    /// The session of one seed.
    ///
    /// # Errors
    /// [`NewSessionError`] if the start cannot be drawn; whatever else can be refused was when the simulation was built.
    pub fn try_session(&self, seed: &Seed) -> Result<Session, NewSessionError> {
        let program = self.plan.program();
        let (start, degrees) = &self.start;
        let start = start.block(seed, (program.items, program.query_columns), degrees)?;
        let network = self.plan.network();
        Ok(Session::new(SessionParts {
            plan: Arc::new(self.plan.session_plan(&self.algorithm, &start)?),
            topology: Arc::clone(&network.topology),
            schedule: Arc::clone(self.plan.schedule()),
            noise_topology: Arc::clone(&network.noise_topology),
            rows: Arc::clone(&self.rows),
            start: Arc::new(start),
            seed: seed.clone(),
            sigma_central: self.plan.sigma_central(),
            setting: self.setting,
        })?)
    }

    /// The session of one seed.
    ///
    /// # Panics
    /// Never: what can be refused was when the simulation was built.
    #[must_use]
    pub fn session(&self, seed: &Seed) -> Session {
        let session = self.try_session(seed);
        session.expect("what can be refused was refused before")
    }

    /// The session of its own seed.
    ///
    /// # Panics
    /// As [`Self::session`].
    #[must_use]
    pub fn own_session(&self) -> Session {
        self.session(&self.root)
    }

    /// Runs the session of its own seed.
    ///
    /// # Errors
    /// [`RunnerError`] of whatever runs it.
    pub fn run(&self, observer: &mut dyn Observer) -> Result<Outcome, RunnerError> {
        self.runner.run(&self.own_session(), observer)
    }
}

impl AsRef<Self> for Simulation {
    fn as_ref(&self) -> &Self {
        self
    }
}
