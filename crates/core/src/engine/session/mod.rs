//! One session, ready to run on any engine.

mod error;
mod public;
mod secrets;
mod setups;
mod views;

use std::sync::Arc;

pub use error::{NewSessionError, SessionError};
pub use public::PublicSession;
pub(crate) use views::ViewError;
pub use views::{PublicViews, SessionViews};

use super::EngineError;
use super::noise::{Assignment, Defect};
use super::rows::PeerRows;
use crate::linalg::{Block, SparseRows};
use crate::noise::{LaplaceShares, Term};
use crate::plan::graphs_digest;
use crate::protocol::averaging::Schedule;
use crate::protocol::{PlannedRelease, SessionParameters, SessionPlan, Values};
use crate::topology::{Graph, Mixing, Provenance, Topology};
use crate::vocabulary::{Binding, NoiseLabel, NoiseRoot, PeerIndex, ReleaseId, Seed};

/// Everything a simulation of one session needs: its public part, every peer's rows and noise.
///
/// This is a simulator's view from above. A peer built from it by [`Session::peer_setup`] receives its
/// own part only.
///
/// # Invariants
/// Only parts that fit one another make a session, and every `with_…` checks again what it changes: sizes fit, the graphs and
/// the starting block are those that the plan names, the columns of the block are orthonormal. Noise cannot be handed in:
/// it is derived from the plan's standard deviations, under keys that are bound to the whole plan, to all rows and to the
/// seed (see `vocabulary/seed.rs`). So two sessions that differ in anything but what engines may choose for
/// themselves have independent noise, and equal sessions have equal noise on every engine.
///
/// ```compile_fail,E0616
/// # fn swapped(mut quiet: undertone_core::engine::Session, noisy: &undertone_core::engine::Session) {
/// // Noise of another plan: refused by the compiler.
/// quiet.noise = noisy.noise.clone();
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Session {
    public: PublicSession,
    rows: Arc<PeerRows>,
    seed: Seed,
    sigma_central: f64,
    setting: [u8; 32],
    /// Follows from all of the above.
    noise: Assignment,
}

/// What a session is made from, before validation.
#[derive(Clone, Debug)]
pub struct SessionParts {
    /// What all peers agreed on.
    pub plan: Arc<SessionPlan>,
    /// Who talks to whom, with the weights of the averaging.
    pub topology: Arc<Topology>,
    /// What is exchanged in every averaging round, compiled from the topology; the plan names it.
    pub schedule: Arc<Schedule>,
    /// Who shares noise with whom; usually the same.
    pub noise_topology: Arc<Topology>,
    /// Every peer's private rows.
    pub rows: Arc<PeerRows>,
    /// The public starting block X⁰.
    pub start: Arc<Block>,
    /// The seed of this run, for noise and for what engines draw themselves.
    pub seed: Seed,
    /// The standard deviation of a trusted curator's noise per unit sensitivity (engine `central`).
    pub sigma_central: f64,
    /// A digest of everything else the noise is bound to: settings that the plan and the rows do not show, such as how
    /// the rows were chosen and what is published. Sessions that must give equal bits have equal ones.
    pub setting: [u8; 32],
}

fn check_rows(plan: &SessionPlan, rows: &PeerRows) -> Result<(), SessionError> {
    let (peers, dimension) = (plan.parameters().peers, plan.program().items);
    if rows.len() != peers as usize {
        let found = rows.len();
        return Err(SessionError::Rows { found, peers });
    }
    if let Some(u) = rows.iter().position(|rows| rows.dimension() != dimension) {
        return Err(SessionError::Dimension {
            peer: PeerIndex::from_index(u),
            found: rows[u].dimension(),
            dimension,
        });
    }
    let batched = |one: &PlannedRelease| one.spec().batch.is_some();
    if plan.releases().iter().any(batched)
        && let Some(u) = (0..rows.len()).find(|&u| !rows[u].is_empty() && !rows.is_stream(u))
    {
        let peer = PeerIndex::from_index(u);
        return Err(SessionError::Batches { peer });
    }
    Ok(())
}

/// Where peers add noise, their own adds up to at least what a curator would need; where they add none, a curator may.
fn check_curator(plan: &SessionPlan, sigma_central: f64) -> Result<(), SessionError> {
    let sigmas = plan.sigmas();
    let private = (sigmas.own, sigmas.pairwise) != (0.0, 0.0);
    let most = if private {
        plan.sigma_of_sum(1.0)
    } else {
        f64::INFINITY
    };
    // The sum of s shares is computed as √s times one: the last bits may differ.
    let valid = sigma_central.is_finite()
        && sigma_central <= most * (1.0 + 1e-9)
        && (sigma_central > 0.0 || (sigma_central == 0.0 && !private));
    if !valid {
        let found = sigma_central;
        return Err(SessionError::Curator { found, most });
    }
    let (found, needed) = (sigmas.coordinate, sigma_central);
    if plan.releases().iter().any(PlannedRelease::is_own) && found < needed * (1.0 - 1e-9) {
        return Err(SessionError::Coordinates { found, needed });
    }
    Ok(())
}

impl Session {
    /// The session with this public part, of peers who hold these rows, whose noise is derived.
    ///
    /// # Errors
    /// Those of [`Self::new`] that are about rows and a curator's noise.
    fn among(
        public: PublicSession,
        rows: Arc<PeerRows>,
        seed: Seed,
        sigma_central: f64,
        setting: [u8; 32],
    ) -> Result<Self, SessionError> {
        check_rows(public.plan(), &rows)?;
        check_curator(public.plan(), sigma_central)?;
        let most = rows.iter().map(SparseRows::len).max();
        let made = Self::derive(public, rows, seed, sigma_central, setting)?;
        made.check_rounding(most.unwrap_or(0))?;
        Ok(made)
    }

    /// The same without a check: derives the noise.
    fn derive(
        public: PublicSession,
        rows: Arc<PeerRows>,
        seed: Seed,
        sigma_central: f64,
        setting: [u8; 32],
    ) -> Result<Self, SessionError> {
        // The plan's digest covers σ's, noise factors, algorithm, shape, sensitivity, averaging, both graphs and X⁰.
        let plan = public.plan();
        let root = seed.noise_root(Binding::to(&[plan.digest(), rows.digest(), &setting]));
        Ok(Self {
            noise: Assignment::new(root, plan.sigmas())?.in_ring(plan.ring_laws().cloned()),
            public,
            rows,
            seed,
            sigma_central,
            setting,
        })
    }

    /// Whether rounding of contributions of so many rows is small beside the noise, if there is any. A new session asks it of the most that a peer holds.
    ///
    /// # Errors
    /// [`SessionError::Plan`] with [`SessionPlanError::Rounding`](crate::protocol::SessionPlanError::Rounding).
    pub fn check_rounding(&self, rows: usize) -> Result<(), SessionError> {
        let sigmas = self.plan().sigmas();
        match sigmas.own > 0.0 || sigmas.pairwise > 0.0 || self.sigma_central > 0.0 {
            true => self.public.check_rounding(rows),
            false => Ok(()),
        }
    }

    /// What all peers agreed on.
    #[must_use]
    pub fn plan(&self) -> &Arc<SessionPlan> {
        self.public.plan()
    }

    /// Who talks to whom, with the weights of the averaging.
    #[must_use]
    pub fn topology(&self) -> &Arc<Topology> {
        self.public.topology()
    }

    /// What is exchanged in every averaging round: what the plan names.
    #[must_use]
    pub fn schedule(&self) -> &Arc<Schedule> {
        self.public.schedule()
    }

    /// Who shares noise with whom.
    #[must_use]
    pub fn noise_topology(&self) -> &Arc<Topology> {
        self.public.noise_topology()
    }

    /// The public starting block X⁰.
    #[must_use]
    pub fn start(&self) -> &Arc<Block> {
        self.public.start()
    }

    /// The standard deviation of a trusted curator's noise per unit sensitivity.
    #[must_use]
    pub fn sigma_central(&self) -> f64 {
        self.sigma_central
    }

    /// Every peer's noise: the plan's standard deviations, under keys that are bound to this session.
    #[must_use]
    pub fn planned_noise(&self) -> &Assignment {
        &self.noise
    }

    /// A trusted curator's noise. Its key is bound to its standard deviation too, which is not part of the plan.
    #[must_use]
    pub fn curator_noise(&self) -> Term {
        let root = self.engine_root(&self.sigma_central.to_bits().to_le_bytes());
        self.curator_term(&root)
    }

    /// A curator's noise under this root, of the plan's law.
    fn curator_term(&self, root: &NoiseRoot) -> Term {
        let key = root.key(NoiseLabel::CuratorNoise, 0, 0);
        let parameters = self.plan().parameters();
        match (parameters.laplace, parameters.wishart) {
            (_, Some(shares)) => {
                let alone = shares.of_curator();
                let scale = self.sigma_central / alone.sigma_of_triangle();
                Term::wishart(key, scale, alone.of_peer(PeerIndex(0)))
            }
            (Some(_), None) => Term::laplace(key, self.sigma_central, 1.0),
            (None, None) => Term::new(key, self.sigma_central),
        }
    }

    /// The standard deviation per unit sensitivity of a trusted curator's noise on this release: [`Self::sigma_central`] but for a mean before a
    /// triangle that has Wishart noise.
    pub(super) fn curator_sigma(&self, planned: &PlannedRelease) -> f64 {
        match self.plan().parameters().wishart {
            Some(shares) if !planned.is_triangle() => {
                let alone = shares.of_curator();
                self.sigma_central / alone.sigma_of_triangle() * alone.sigma_of_mean()
            }
            _ => self.sigma_central,
        }
    }

    /// What a curator's search before a release draws from. Its key is bound to the ε that it spends too.
    pub(super) fn search_stream(&self, release: ReleaseId, epsilon: f64) -> impl rand::Rng {
        let root = self.engine_root(&epsilon.to_bits().to_le_bytes());
        let key = root.key(NoiseLabel::ThresholdSearch, 0, 0);
        key.words(release.0, 0)
    }

    /// A trusted curator's noise on the coordinates of `peer`.
    pub(super) fn curator_coordinate(&self, peer: PeerIndex) -> Term {
        let root = self.engine_root(&self.sigma_central.to_bits().to_le_bytes());
        self.coordinate_of(&root, peer)
    }

    fn coordinate_of(&self, root: &NoiseRoot, peer: PeerIndex) -> Term {
        let key = root.key(NoiseLabel::CoordinateNoise, peer.0, 0);
        Term::new(key, self.plan().sigmas().coordinate)
    }

    /// What noise derives from that an engine draws for itself: bound to this session, as the peers' is, and to whatever
    /// else decides what that engine publishes.
    pub(super) fn engine_root(&self, what: &[u8]) -> NoiseRoot {
        let (plan, rows) = (self.plan().digest(), self.rows.digest());
        let binding = Binding::to(&[plan, rows, &self.setting, what]);
        self.seed.noise_root(binding)
    }

    /// Number of peers.
    #[must_use]
    pub fn peers(&self) -> usize {
        self.rows.len()
    }

    /// The communication graph.
    #[must_use]
    pub fn graph(&self) -> &Graph {
        self.public.graph()
    }

    /// The weights of the averaging.
    #[must_use]
    pub fn mixing(&self) -> &Mixing {
        self.public.mixing()
    }

    /// The noise graph.
    #[must_use]
    pub fn noise_graph(&self) -> &Graph {
        self.public.noise_graph()
    }

    /// The same session from another public starting block, which its plan then names. Its noise is another.
    ///
    /// # Errors
    /// [`SessionError::Start`] for a block of another shape or with columns that are not orthonormal.
    pub fn with_start(self, start: Arc<Block>) -> Result<Self, SessionError> {
        let public = self.public.with_start(start)?;
        Self::derive(
            public,
            self.rows,
            self.seed,
            self.sigma_central,
            self.setting,
        )
    }

    /// The same session under another plan. Its noise is another.
    ///
    /// # Errors
    /// [`SessionError`] where the plan does not fit the rest.
    pub fn with_plan(self, plan: SessionPlan) -> Result<Self, SessionError> {
        let public = self.public.under(Arc::new(plan));
        public.check()?;
        Self::among(
            public,
            self.rows,
            self.seed,
            self.sigma_central,
            self.setting,
        )
    }

    /// The same session with a curator whose noise has this standard deviation per unit sensitivity. The peers' noise
    /// stays as it is, the curator's is another.
    ///
    /// # Errors
    /// [`SessionError::Curator`].
    pub fn with_curator_sigma(self, sigma_central: f64) -> Result<Self, SessionError> {
        check_curator(self.plan(), sigma_central)?;
        Ok(Self {
            sigma_central,
            ..self
        })
    }

    /// What every engine looks at again before it runs: the starting block, and that averaging and noise are the plan's; and that
    /// nobody has to see all rows.
    ///
    /// # Errors
    /// [`EngineError::CuratorOnly`], and those of [`Self::admit_curator`].
    pub(super) fn admit(&self) -> Result<(), EngineError> {
        match self.plan().program().search {
            Some(_) => Err(EngineError::CuratorOnly),
            None => self.admit_curator(),
        }
    }

    /// The same for somebody who does see all rows.
    ///
    /// # Errors
    /// [`EngineError::Start`], [`EngineError::Schedule`] and [`EngineError::Noise`]; never, as long as the invariants hold.
    pub(super) fn admit_curator(&self) -> Result<(), EngineError> {
        self.public.admit()?;
        let laws = self.plan().ring_laws().map(|laws| &**laws);
        if self.noise.is_planned(self.plan().sigmas()) && self.noise.is_in_ring(laws) {
            Ok(())
        } else {
            Err(EngineError::Noise)
        }
    }

    /// The rows of all peers in one matrix, in peer order.
    #[must_use]
    pub fn all_rows(&self) -> SparseRows {
        let mut all = SparseRows::new(self.plan().program().items);
        for rows in self.rows.iter() {
            all.append(rows);
        }
        all
    }
}

// For the other crates of Undertone.
#[doc(hidden)]
impl Session {
    /// Hashes of what processes that run one simulation must have in common: the plan, everybody's rows, and the settings that noise is
    /// bound to.
    pub fn fingerprint(&self) -> [[u8; 32]; 3] {
        // The hash of the rows is as secret as they are; of this one nobody else makes use.
        let context = "undertone 2026-11 simulation rows v1";
        let rows = blake3::derive_key(context, self.rows.digest());
        [*self.plan().digest(), rows, self.setting]
    }

    /// Checks that the parts belong together, and derives the noise of all peers.
    ///
    /// # Errors
    /// [`SessionError`] naming the part that does not fit the plan: graphs of another size or hash, another averaging schedule, rows of another number
    /// or dimension, too few rounds to agree on the statistic, a starting block that is not the plan's or not orthonormal,
    /// a curator's noise that is no number or not that of the plan.
    ///
    /// # Cost
    /// O(edges + peers + n b²); the diameter of a graph is found once per [`Topology`].
    pub fn new(parts: SessionParts) -> Result<Self, SessionError> {
        let graphs = (parts.topology, parts.noise_topology);
        let public = PublicSession::new(parts.plan, graphs, parts.schedule, parts.start)?;
        Self::among(
            public,
            parts.rows,
            parts.seed,
            parts.sigma_central,
            parts.setting,
        )
    }

    /// A trusted curator's session, which needs no network: one peer holds all rows and adds no noise of its own; the
    /// curator's noise has standard deviation `sigma_central` per unit sensitivity.
    ///
    /// Of what is `planned` what is about a network is replaced: peers, graphs, averaging, own and pairwise noise, rounds of
    /// max-consensus, and the hash of the starting block by that of `start`.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn curated(
        planned: &SessionPlan,
        rows: Arc<PeerRows>,
        start: Arc<Block>,
        seed: &Seed,
        sigma_central: f64,
    ) -> Result<Self, SessionError> {
        let alone = Graph::from_edges(1, &[])?;
        let topology = Arc::new(Topology::from_graph(alone, Provenance::edges("curator")));
        // Nobody to exchange with: one step that does nothing.
        let schedule = Schedule::listed(&*topology, 1.0, vec![Vec::new()])?;
        let parameters = SessionParameters {
            peers: 1,
            averaging_rounds: schedule.rounds(),
            schedule: schedule.digest(),
            sigma_own: 0.0,
            ring: None,
            laplace: planned
                .parameters()
                .laplace
                .map(|_| LaplaceShares::of_all(1.0, 1)),
            wishart: planned
                .parameters()
                .wishart
                .map(|shares| shares.of_curator()),
            sigma_pairwise: 0.0,
            // Whoever holds all rows fills all coordinates.
            sigma_coordinate: sigma_central,
            scale_rounds: 0,
            values: Values::F64,
            topology: graphs_digest(&topology, &topology),
            start: start.digest(),
            ..planned.parameters().clone()
        };
        let plan = planned.with(parameters)?;
        Self::new(SessionParts {
            plan: Arc::new(plan),
            noise_topology: Arc::clone(&topology),
            topology,
            schedule: Arc::new(schedule),
            rows,
            start,
            seed: seed.clone(),
            sigma_central,
            setting: [0; 32],
        })
    }

    /// What every member may know: all of this session but rows, seed and noise.
    #[must_use]
    pub fn public(&self) -> &PublicSession {
        &self.public
    }

    /// Every peer's private rows.
    #[must_use]
    pub fn rows(&self) -> &Arc<PeerRows> {
        &self.rows
    }

    /// The same session of peers who hold other rows: another world, on which the same plan is run. Its noise is another.
    ///
    /// # Errors
    /// [`SessionError::Rows`] and [`SessionError::Dimension`].
    pub fn with_rows(self, rows: Arc<PeerRows>) -> Result<Self, SessionError> {
        check_rows(self.plan(), &rows)?;
        Self::derive(
            self.public,
            rows,
            self.seed,
            self.sigma_central,
            self.setting,
        )
    }

    /// The same session under another seed, from the same starting block: other noise.
    ///
    /// # Errors
    /// None for a session that was checked.
    pub fn with_seed(self, seed: Seed) -> Result<Self, SessionError> {
        Self::derive(
            self.public,
            self.rows,
            seed,
            self.sigma_central,
            self.setting,
        )
    }

    /// The seed of this run, for what hides nothing: latencies, network identities.
    pub fn seed(&self) -> &Seed {
        &self.seed
    }
}

impl Session {
    /// The same session with a defect in how its noise is drawn. No build has one without the feature `testing`.
    #[must_use]
    pub fn with_defect(mut self, defect: Defect) -> Self {
        let plan = defect.plan(Arc::clone(self.plan()));
        self.public = self.public.under(plan);
        self.noise = self.noise.with_defect(defect);
        self
    }
}

/// What tests do to a session to see that engines notice, or that statistics do.
#[cfg(any(test, feature = "testing"))]
#[doc(hidden)]
impl Session {
    /// A session of parts that nobody checked.
    #[must_use]
    pub fn unchecked(parts: SessionParts) -> Self {
        let graphs = (parts.topology, parts.noise_topology);
        let public = PublicSession::unchecked(parts.plan, graphs, parts.schedule, parts.start);
        let (rows, seed) = (parts.rows, parts.seed);
        Self::derive(public, rows, seed, parts.sigma_central, parts.setting)
            .expect("noise of a valid plan")
    }

    /// The parts of this session.
    #[must_use]
    pub fn parts(&self) -> SessionParts {
        let public = &self.public;
        SessionParts {
            plan: Arc::clone(public.plan()),
            topology: Arc::clone(public.topology()),
            schedule: Arc::clone(public.schedule()),
            noise_topology: Arc::clone(public.noise_topology()),
            rows: Arc::clone(&self.rows),
            start: Arc::clone(public.start()),
            seed: self.seed.clone(),
            sigma_central: self.sigma_central,
            setting: self.setting,
        }
    }

    /// The same session with other noise than its own.
    #[must_use]
    pub fn with_noise(mut self, noise: Assignment) -> Self {
        self.noise = noise;
        self
    }
}
