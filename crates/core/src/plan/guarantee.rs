//! What noise protects, planned from a program, a promise and the graph that noise is shared on.

use std::sync::Arc;

use serde::{Serialize, Serializer};

use super::division::{Division, has_only_own_coordinates, has_own_coordinates, told};
use super::memo::Memo;
use super::network::graphs_digest;
use super::{Noise, PlanError, Promise};
use crate::algorithm::Program;
use crate::noise::{LaplaceShares, WishartShares};
use crate::privacy::{
    self, AdversaryView, Budget, Calibrated, Connectivity, GroupLoss, NoisePlan, NoiseRequest,
    OnDisconnect, PrivacyError, RingRequest, Scheme, sparse_vector,
};
use crate::protocol::{PlannedRelease, RingParameters, SessionParameters, Values};
use crate::topology::Topology;
use crate::vocabulary::{Distribution, ReleaseId};

/// What noise protects: how the budget is divided, the noise multiplier, the σ's and every coalition's loss.
///
/// It needs no communication graph, so that a receipt can check it.
#[derive(Clone, Debug)]
pub struct Guarantee {
    division: Division,
    calibrated: Calibrated,
    noise: Arc<NoisePlan>,
    groups: Vec<GroupLoss>,
    /// What is proved of the noise graph's connectivity, where noise is shared.
    connectivity: Connectivity,
}

/// A guarantee as a receipt states it.
#[derive(Serialize)]
struct Written<'a> {
    charge: u32,
    cost: f64,
    cost_at_best: f64,
    factors: &'a [f64],
    calibrated: &'a Calibrated,
    noise: &'a NoisePlan,
    groups: &'a [GroupLoss],
    connectivity: Connectivity,
}

impl Serialize for Guarantee {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let division = &self.division;
        let written = Written {
            charge: division.charge(),
            cost: division.cost(),
            cost_at_best: division.cost_at_best(),
            factors: division.factors(),
            calibrated: &self.calibrated,
            noise: &self.noise,
            groups: &self.groups,
            connectivity: self.connectivity,
        };
        written.serialize(serializer)
    }
}

/// Noise plans that were made before, for whoever plans many sessions on few graphs.
#[derive(Default)]
pub struct NoiseMemo(Memo<NoiseKey, (NoisePlan, Connectivity)>);

/// All that decides Gaussian noise.
#[derive(PartialEq)]
struct NoiseKey {
    noise: Noise,
    seen: AdversaryView,
    withstood: usize,
    participants: Option<usize>,
    /// The noise multiplier, which searches for thresholds change, and what it spends.
    calibrated: Calibrated,
    budget: Budget,
    charge: u32,
    ring: Option<RingRequest>,
    /// Whether coordinates of peers' own are released too.
    own: bool,
    graph: [u8; 32],
}

impl Guarantee {
    /// What noise on this graph protects, where this program is run under this promise and no peer holds more than so many rows.
    ///
    /// How many rows is asked by [`Noise::Ring`] alone.
    ///
    /// # Errors
    /// [`PlanError`] for a budget that cannot be had or divided, releases without a proved bound, noise that is not to be had on this graph, and
    /// a coalition beyond every certificate.
    pub fn of(
        program: &Program,
        promise: &Promise,
        noise_topology: &Topology,
        most_rows: usize,
    ) -> Result<Self, PlanError> {
        Self::with(program, promise, noise_topology, most_rows, None)
    }

    /// The same, with noise that was planned before.
    ///
    /// # Errors
    /// As [`Self::of`].
    pub fn with(
        program: &Program,
        promise: &Promise,
        noise_topology: &Topology,
        most_rows: usize,
        memo: Option<&NoiseMemo>,
    ) -> Result<Self, PlanError> {
        // Where nothing is summed, every peer adds all of the noise.
        let alone = has_only_own_coordinates(program)
            && promise.noise.distribution() == Distribution::Gaussian
            && promise.seen == AdversaryView::Everything;
        let promise = &match alone {
            true => promise
                .clone()
                .with_noise(promise.noise.of_own_coordinates()),
            false => promise.clone(),
        };
        let peers = noise_topology.graph().nodes();
        promise.check_participants(peers, program.search.is_some())?;
        let division = Division::of(program, promise)?;
        match promise.noise.distribution() {
            Distribution::Gaussian => {
                Self::gaussian(program, promise, noise_topology, most_rows, division, memo)
            }
            Distribution::Laplace => Self::laplace(promise, noise_topology, division),
            Distribution::Wishart => Self::wishart(program, promise, noise_topology, division),
        }
    }

    fn gaussian(
        program: &Program,
        promise: &Promise,
        topology: &Topology,
        most_rows: usize,
        division: Division,
        memo: Option<&NoiseMemo>,
    ) -> Result<Self, PlanError> {
        let (budget, peers) = (promise.budget()?, topology.graph().nodes());
        let ring = match (promise.noise, promise.seen) {
            // A curator counts on no grid.
            (Noise::Ring { .. }, AdversaryView::CuratorOutput) => None,
            (Noise::Ring { bits, .. }, _) => {
                Some(division.ring(program, promise, (peers, most_rows), bits)?)
            }
            _ => None,
        };
        let searches = program.search.as_ref().map(|search| search.share);
        let calibrated = calibrated(promise, budget, division.charge(), ring, searches)?;
        let own = has_own_coordinates(program);
        let make = || {
            shared_noise(
                promise,
                topology,
                (budget, &calibrated),
                &division,
                (ring, own),
            )
        };
        let made = match memo {
            None => Arc::new(make()?),
            Some(memo) => {
                let key = NoiseKey {
                    noise: promise.noise,
                    seen: promise.seen,
                    withstood: promise.withstood(),
                    participants: promise.participants,
                    calibrated: calibrated.clone(),
                    budget,
                    charge: division.charge(),
                    ring,
                    own,
                    graph: graphs_digest(topology, topology),
                };
                memo.0.get(key, make)?
            }
        };
        let (noise, connectivity) = &*made;
        let size = (peers, promise.withstood());
        let participants = promise
            .participants
            .filter(|_| promise.adjacency().is_of_rows());
        let groups = match participants {
            Some(participants) => {
                let charge = f64::from(division.charge());
                noise.persons(participants, size, charge, budget.delta)?
            }
            None => {
                let (adjacency, seen) = (promise.adjacency(), promise.seen);
                noise.groups(adjacency, seen, size, division.cost(), budget.delta)?
            }
        };
        Ok(Self {
            division,
            calibrated,
            noise: Arc::new(noise.clone()),
            groups,
            connectivity: *connectivity,
        })
    }

    /// That of noise that promises (ε, 0).
    pub(super) fn of_pure_noise(
        division: Division,
        calibrated: Calibrated,
        noise: NoisePlan,
        groups: Vec<GroupLoss>,
    ) -> Self {
        Self {
            division,
            calibrated,
            noise: Arc::new(noise),
            groups,
            connectivity: Connectivity::UNKNOWN,
        }
    }

    /// The curator's noise per unit sensitivity: z, k·z for persons at k participants, or 0 without noise.
    #[must_use]
    pub fn sigma_central(&self, promise: &Promise) -> f64 {
        if promise.noise.is_none() {
            return 0.0;
        }
        let z = self.calibrated.z();
        match promise.noise.distribution() {
            Distribution::Gaussian => z * promise.participants.unwrap_or(1) as f64,
            // Calibrated to ε/k.
            Distribution::Laplace | Distribution::Wishart => z,
        }
    }

    /// How own noise is dealt to so many peers where it adds up to Laplace noise.
    #[must_use]
    pub fn laplace_shares(&self, peers: u32) -> Option<LaplaceShares> {
        let laplace = self.noise.laplace_noise()?;
        Some(match laplace.holders() {
            Some(holders) => LaplaceShares::held(holders.count, peers),
            None => LaplaceShares::of_all(laplace.shape(), peers),
        })
    }

    /// How the terms of own noise are dealt to so many peers where it adds up to Wishart noise. A curator's are all dealt to one.
    pub(super) fn wishart_shares(&self, program: &Program, peers: u32) -> Option<WishartShares> {
        let wishart = self.noise.wishart_noise()?;
        Some(WishartShares {
            // Of a size that no message holds neither is meant.
            dimension: u32::try_from(program.items).unwrap_or(u32::MAX),
            terms: wishart.terms(),
            peers,
            isometric: program.isometric_triangles().unwrap_or(false),
            mean: wishart.mean_shape(),
        })
    }

    /// What a session of so many peers is told of this guarantee. The network and the start are left out.
    pub(super) fn parameters(
        &self,
        program: &Arc<Program>,
        promise: &Promise,
        peers: u32,
    ) -> SessionParameters {
        let noise = &*self.noise;
        SessionParameters {
            peers,
            program: Arc::clone(program),
            sensitivity: promise.bounds.clone(),
            sigma_own: noise.sigma_own(),
            sigma_pairwise: noise.sigma_pairwise(),
            sigma_coordinate: match has_own_coordinates(program) {
                true => self.sigma_central(promise),
                false => 0.0,
            },
            ring: noise.ring().map(|ring| RingParameters {
                grid: ring.grid(),
                modulus: ring.modulus(),
                clamp: ring.clamp(),
            }),
            laplace: self.laplace_shares(peers),
            wishart: self.wishart_shares(program, peers),
            // Shares are the algorithm's own, and the plan knows them; weights and what a private mean takes it does not.
            noise_factors: told(program, &self.division),
            scale_rounds: 0,
            averaging_rounds: 0,
            values: Values::F64,
            schedule: [0; 32],
            topology: [0; 32],
            start: [0; 32],
        }
    }

    /// All releases with their bounds and noise factors, checked as far as no communication graph is needed.
    ///
    /// # Errors
    /// [`PlanError::Session`] for releases that cannot be run, and for bounds that are not proved of what the program makes of rows.
    pub fn releases(
        &self,
        program: &Arc<Program>,
        promise: &Promise,
        peers: u32,
    ) -> Result<Vec<PlannedRelease>, PlanError> {
        let parameters = self.parameters(program, promise, peers);
        Ok(parameters.planned_releases()?)
    }

    /// How the budget is divided.
    #[must_use]
    pub fn division(&self) -> &Division {
        &self.division
    }

    /// What the σ's of a release, from 1, are multiplied by: 1 with an even budget and no private mean.
    #[must_use]
    pub fn noise_factor(&self, release: ReleaseId) -> f64 {
        let known = self.division.factors().get(release.index());
        known.copied().unwrap_or(1.0)
    }

    /// The noise multiplier and what it spends.
    #[must_use]
    pub fn calibrated(&self) -> &Calibrated {
        &self.calibrated
    }

    /// σ's per unit sensitivity and the guarantee of every view.
    #[must_use]
    pub fn noise(&self) -> &NoisePlan {
        &self.noise
    }

    /// What changes at several peers cost, where one record is a change of one peer's matrix or a person can be in several files.
    #[must_use]
    pub fn groups(&self) -> &[GroupLoss] {
        &self.groups
    }

    #[cfg(any(test, feature = "testing"))]
    pub(super) fn noise_mut(&mut self) -> &mut NoisePlan {
        Arc::make_mut(&mut self.noise)
    }

    #[cfg(any(test, feature = "testing"))]
    pub(super) fn set_factors(&mut self, program: &Program, factors: Vec<f64>) {
        self.division.set_factors(program, factors);
    }

    /// What is proved of the noise graph's connectivity, where noise is shared.
    #[must_use]
    pub fn connectivity(&self) -> Connectivity {
        self.connectivity
    }
}

/// The multiplier of Gaussian noise for so many releases. Of the budget, integers cost their sampler's distance, and a curator's searches
/// for thresholds the share `searches`.
fn calibrated(
    promise: &Promise,
    budget: Budget,
    releases: u32,
    ring: Option<RingRequest>,
    searches: Option<f64>,
) -> Result<Calibrated, PrivacyError> {
    let distance = ring.map_or(0.0, |ring| ring.distance);
    let reduced = privacy::ring::distance::reduced(budget, distance)?;
    match searches {
        Some(share) => {
            let searched = sparse_vector::calibrate(promise.calibration, reduced, releases, share)?;
            Ok(searched.calibrated)
        }
        None => privacy::calibrate(promise.calibration, reduced, releases),
    }
}

/// Gaussian noise of this multiplier on this graph, with what is proved of its connectivity: that is asked for only where noise is shared.
fn shared_noise(
    promise: &Promise,
    topology: &Topology,
    (budget, calibrated): (Budget, &Calibrated),
    division: &Division,
    (ring, own): (Option<RingRequest>, bool),
) -> Result<(NoisePlan, Connectivity), PrivacyError> {
    let (charge, scheme, colluders) = (
        division.charge(),
        promise.noise.scheme(),
        promise.withstood(),
    );
    let participants = promise.participants.unwrap_or(1);
    let mut connectivity = Connectivity::UNKNOWN;
    let plan = if promise.seen == AdversaryView::CuratorOutput && scheme != Scheme::None {
        NoisePlan::curator_for_persons(calibrated, participants, budget.delta)
    } else {
        let trusted_sum = promise.hides_inputs();
        let on_disconnect: OnDisconnect = promise.noise.on_disconnect();
        let graph = topology.graph();
        if matches!(scheme, Scheme::Pairwise | Scheme::Ring) && !trusted_sum {
            // Before eigenvalues are looked for, which takes seconds on a large graph.
            privacy::refuse_split(graph, colluders, on_disconnect)?;
            connectivity = topology.spectrum().algebraic_connectivity.into();
        }
        let request = NoiseRequest {
            graph,
            connectivity,
            noise_multiplier: calibrated.z(),
            iterations: charge,
            delta: budget.delta,
            colluders,
            overhead: promise.noise.overhead(),
            scheme,
            trusted_sum,
            on_disconnect,
            ring,
        };
        NoisePlan::for_persons(&request, participants)?
    };
    let plan = match own {
        true => plan.with_coordinates(calibrated, (charge, colluders), budget.delta),
        false => plan,
    };
    Ok((plan, connectivity))
}

/// The noise multiplier that this promise asks for so many releases of an even budget, before there is a plan: what items are worth their noise
/// is decided by it, and what a private mean may cost.
///
/// # Errors
/// [`PrivacyError`] for a budget that cannot be had.
pub fn multiplier(promise: &Promise, releases: u32) -> Result<Calibrated, PrivacyError> {
    calibrated(promise, promise.budget()?, releases, None, None)
}

/// What a curator's searches for thresholds spend each, where they take this share of the budget of so many releases.
///
/// # Errors
/// [`PrivacyError`] for a budget that cannot be had.
pub fn search_epsilon(promise: &Promise, releases: u32, share: f64) -> Result<f64, PrivacyError> {
    let budget = promise.budget()?;
    let searched = sparse_vector::calibrate(promise.calibration, budget, releases, share)?;
    Ok(searched.search_epsilon)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::{Algorithm, PowerMethod};
    use crate::privacy::Adjacency;
    use crate::topology::{Graph, Provenance};

    /// Two triangles that share a peer: a colluder there leaves two parts, and shared noise hides neither.
    #[test]
    fn a_graph_that_splits_is_refused_or_paid_for() {
        let graph = Graph::from_edges(5, &[(0, 1), (1, 2), (0, 2), (2, 3), (3, 4), (2, 4)]);
        let topology =
            Topology::from_graph(graph.expect("a graph"), Provenance::edges("triangles"));
        let program = PowerMethod::new(4, 2, 3).expect("valid").program();
        let promise = Promise::new(1.0, 1e-5, Adjacency::Interaction).expect("valid");
        let of = |promise: &Promise| Guarantee::of(&program, promise, &topology, 1);
        let refused = of(&promise).expect_err("peer 2 is all that ties them");
        assert!(
            matches!(refused, PlanError::Privacy(PrivacyError::CutVertex { .. })),
            "{refused}"
        );
        let paid = promise.clone().with_noise(Noise::Pairwise {
            overhead: 0.01,
            on_disconnect: OnDisconnect::SmallestComponent,
        });
        assert!(of(&paid).is_ok());
        let outsider = of(&promise.against(0)).expect("the graph is connected");
        let epsilon = outsider.noise().epsilon().expect("protected");
        assert!((0.99..=1.0 + 1e-9).contains(&epsilon), "{epsilon}");
    }

    /// Noise against fewer colluders is less, and is not taken for that against more.
    #[test]
    fn what_is_remembered_for_other_coalitions_is_not_used() {
        let edges: Vec<(u32, u32)> = (0..6)
            .flat_map(|u| (u + 1..6).map(move |v| (u, v)))
            .collect();
        let graph = Graph::from_edges(6, &edges).expect("a graph");
        let topology = Topology::from_graph(graph, Provenance::edges("complete"));
        let program = PowerMethod::new(4, 2, 3).expect("valid").program();
        let promise = Promise::new(1.0, 1e-5, Adjacency::Interaction).expect("valid");
        let memo = NoiseMemo::default();
        let own = |promise: &Promise, memo: Option<&NoiseMemo>| {
            let found = Guarantee::with(&program, promise, &topology, 1, memo);
            found.expect("planned").noise().sigma_own()
        };
        let (none, two) = (promise.clone().against(0), promise.against(2));
        assert!(own(&none, Some(&memo)) < own(&two, None));
        assert_eq!(own(&two, Some(&memo)), own(&two, None));
        assert_eq!(own(&none, Some(&memo)), own(&none, None));
    }
}
