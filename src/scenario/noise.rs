//! What is asked of noise, and what is planned: worked out here alone, for a configuration and for a receipt alike.

use std::borrow::Borrow;

use super::mechanism::Mechanism;
use crate::config::{Config, EngineKind};
use crate::privacy::ring::Modulus;
use crate::privacy::{
    self, Adjacency, Budget, Calibrated, Calibration, Connectivity, GroupLoss, NoisePlan,
    NoiseRequest, OnDisconnect, PrivacyError, RingRequest, Scheme, SensitivitySpec, sparse_vector,
};
use crate::topology::Graph;
use crate::vocabulary::Distribution;

/// What a file, or a receipt, asks of noise.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NoiseAsked {
    pub(crate) epsilon: f64,
    pub(crate) delta: f64,
    pub(crate) adjacency: Adjacency,
    pub(crate) calibration: Calibration,
    pub(crate) scheme: Scheme,
    pub(crate) distribution: Distribution,
    pub(crate) holders: Option<usize>,
    /// k, where sums are integers mod 2^k and it was asked for.
    pub(crate) bits: Option<Modulus>,
    /// How many may collude, or be lost.
    pub(crate) colluders: usize,
    /// β: the extra loss of shared noise; of Laplace noise the ε of shared noise over that of Laplace noise.
    pub(crate) overhead: f64,
    pub(crate) on_disconnect: OnDisconnect,
    pub(crate) engine: EngineKind,
    /// At how many participants one person's rows may be; `None` where one file is partitioned.
    pub(crate) participants: Option<usize>,
}

/// What was planned: the multiplier, the noise, and what changes at several peers cost.
pub(crate) struct Planned<P> {
    pub(crate) calibrated: Calibrated,
    pub(crate) plan: P,
    pub(crate) groups: Vec<GroupLoss>,
}

impl<P> Planned<P> {
    /// The same with the plan held otherwise.
    pub(super) fn map<Q>(self, held: impl FnOnce(P) -> Q) -> Planned<Q> {
        Planned {
            calibrated: self.calibrated,
            plan: held(self.plan),
            groups: self.groups,
        }
    }
}

impl NoiseAsked {
    /// What this configuration asks for.
    pub(super) fn of(config: &Config) -> Self {
        let (noise, privacy) = (&config.noise, &config.privacy);
        Self {
            epsilon: privacy.epsilon,
            delta: privacy.delta,
            adjacency: privacy.adjacency,
            calibration: privacy.calibration,
            scheme: noise.scheme,
            distribution: noise.distribution,
            holders: noise.holders,
            bits: noise.bits,
            // Whoever is lost hides nobody, as if it colluded.
            colluders: privacy
                .colluders
                .saturating_add(config.dropouts.map_or(0, |one| one.tolerate)),
            overhead: privacy.overhead,
            on_disconnect: privacy.on_disconnect,
            engine: config.engine.kind,
            participants: privacy.participants(),
        }
    }

    /// Refuses the protection of persons at several of so many peers where it has no meaning or no proof. `searches`: whether thresholds are searched
    /// for.
    ///
    /// # Errors
    /// [`PrivacyError::Participants`] and [`PrivacyError::ParticipantsOfPeers`].
    pub(crate) fn check_participants(
        &self,
        peers: usize,
        searches: bool,
    ) -> Result<(), PrivacyError> {
        let Some(found) = self.participants.filter(|k| *k != 1) else {
            return Ok(());
        };
        let refuse = |problem| Err(PrivacyError::Participants { found, problem });
        if found == 0 {
            return refuse(
                "a person's rows are at one participant or more: set it to 1, or leave it out",
            );
        }
        if !self.adjacency.is_of_rows() {
            return refuse(
                "privacy.adjacency is not about rows of persons: choose \"user\", \"replace-user\", \"interaction\", \"swap\" or \"rating\", or leave it \
                 out",
            );
        }
        if self.holders.is_some() {
            return refuse(
                "noise.holders hide what one peer changes, and nothing is proved of several: leave one of the two out",
            );
        }
        if searches {
            return refuse(
                "what algorithm.clip = \"sparse-vector\" searches for is proved to hide one record: choose another clip, or leave it out",
            );
        }
        match found > peers {
            true => Err(PrivacyError::ParticipantsOfPeers { found, peers }),
            false => Ok(()),
        }
    }

    /// The same where every peer reads a file of its own, if so.
    pub(crate) fn of_files(self, own: bool) -> Self {
        let participants = self.participants.or(own.then_some(1));
        Self {
            participants,
            ..self
        }
    }

    /// ε and δ of Gaussian noise, validated; `None` for Laplace noise, whose δ may be 0.
    ///
    /// # Errors
    /// [`PrivacyError`] unless ε is finite and above 0 and δ lies strictly between 0 and 1.
    pub(crate) fn budget(&self) -> Result<Option<Budget>, PrivacyError> {
        match self.distribution {
            Distribution::Gaussian => Budget::new(self.epsilon, self.delta).map(Some),
            Distribution::Laplace => Ok(None),
        }
    }

    /// What the program asks of sums of integers, over so many peers of which one holds at most so many rows; `None` for noise of real
    /// numbers, such as a curator's.
    ///
    /// # Errors
    /// [`PrivacyError`] for a k without integers, and releases whose coordinates nobody bounds.
    pub(crate) fn ring(
        &self,
        mechanism: &Mechanism,
        sensitivity: &SensitivitySpec,
        size: (usize, usize),
    ) -> Result<Option<RingRequest>, PrivacyError> {
        match (self.scheme, self.engine, self.bits) {
            (Scheme::Ring, EngineKind::Central, _) => Ok(None),
            (Scheme::Ring, _, bits) => mechanism.ring(sensitivity, size, bits).map(Some),
            (_, _, Some(_)) => Err(PrivacyError::BitsOfNothing),
            (_, _, None) => Ok(None),
        }
    }

    /// The multiplier of Gaussian noise for so many releases. Of the budget, integers cost their sampler's distance, and a curator's
    /// searches for thresholds the share `searches`.
    ///
    /// # Errors
    /// [`PrivacyError`] for a budget that cannot be had.
    pub(crate) fn calibrated(
        &self,
        budget: Budget,
        releases: u32,
        ring: Option<RingRequest>,
        searches: Option<f64>,
    ) -> Result<Calibrated, PrivacyError> {
        let distance = ring.map_or(0.0, |ring| ring.distance);
        let reduced = privacy::ring::distance::reduced(budget, distance)?;
        match searches {
            Some(share) => {
                let searched =
                    sparse_vector::calibrate(self.calibration, reduced, releases, share)?;
                Ok(searched.calibrated)
            }
            None => privacy::calibrate(self.calibration, reduced, releases),
        }
    }

    /// Gaussian noise of this multiplier on this graph. Its connectivity is asked for only where noise is shared.
    ///
    /// # Errors
    /// [`PrivacyError`] for noise that is not to be had on this graph.
    pub(crate) fn gaussian(
        &self,
        (graph, connectivity): (&Graph, impl FnOnce() -> Connectivity),
        (budget, calibrated): (Budget, &Calibrated),
        mechanism: &Mechanism,
        ring: Option<RingRequest>,
    ) -> Result<NoisePlan, PrivacyError> {
        let charge = mechanism.charge;
        let trusted_sum = self.engine.reveals_only_sums();
        let participants = self.participants.unwrap_or(1);
        let plan = if self.engine == EngineKind::Central && self.scheme != Scheme::None {
            NoisePlan::curator_for_persons(calibrated, participants, budget.delta)
        } else {
            let shared = matches!(self.scheme, Scheme::Pairwise | Scheme::Ring) && !trusted_sum;
            if shared {
                // Before eigenvalues are looked for, which takes seconds on a large graph.
                privacy::refuse_split(graph, self.colluders, self.on_disconnect)?;
            }
            let request = NoiseRequest {
                graph,
                connectivity: match shared {
                    true => connectivity(),
                    false => Connectivity::UNKNOWN,
                },
                noise_multiplier: calibrated.z(),
                iterations: charge,
                delta: budget.delta,
                colluders: self.colluders,
                overhead: self.overhead,
                scheme: self.scheme,
                trusted_sum,
                on_disconnect: self.on_disconnect,
                ring,
            };
            NoisePlan::for_persons(&request, participants)?
        };
        Ok(match mechanism.has_own_coordinates() {
            true => plan.with_coordinates(calibrated, (charge, self.colluders), budget.delta),
            false => plan,
        })
    }

    /// What changes at several peers cost under Gaussian noise, with the noise itself.
    ///
    /// What a person loses is stated for the whole charge, with what a pilot spends of it.
    ///
    /// # Errors
    /// As [`NoisePlan::groups`].
    pub(crate) fn with_groups<P: Borrow<NoisePlan>>(
        &self,
        (budget, calibrated): (Budget, Calibrated),
        plan: P,
        mechanism: &Mechanism,
        peers: usize,
    ) -> Result<Planned<P>, PrivacyError> {
        let (noise, size) = (plan.borrow(), (peers, self.colluders));
        let groups = match self.participants.filter(|_| self.adjacency.is_of_rows()) {
            Some(participants) => {
                let charge = f64::from(mechanism.charge);
                noise.persons(participants, size, charge, budget.delta)?
            }
            None => {
                let (adjacency, seen) = (self.adjacency, self.engine.seen());
                noise.groups(adjacency, seen, size, mechanism.cost(), budget.delta)?
            }
        };
        Ok(Planned {
            calibrated,
            plan,
            groups,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::error::ExperimentError;
    use super::super::experiment::Experiment;
    use super::super::testing::sim;
    use super::*;

    /// Two triangles that share a peer: what a colluder there would do is said before anybody looks for eigenvalues.
    #[test]
    fn a_graph_that_splits_is_refused_before_its_eigenvalues_are_looked_for() {
        let experiment = sim("quickstart.toml", &["privacy.colluders=1"]).expect("valid");
        let asked = NoiseAsked::of(&experiment.config);
        let graph = Graph::from_edges(5, &[(0, 1), (1, 2), (0, 2), (2, 3), (3, 4), (2, 4)]);
        let graph = graph.expect("a graph");
        let plan = |asked: &NoiseAsked, lambda2: &dyn Fn() -> Connectivity| {
            let budget = Budget::new(1.0, 1e-5).expect("valid");
            let asked_for = (budget, &experiment.calibrated);
            asked.gaussian((&graph, lambda2), asked_for, &experiment.mechanism, None)
        };
        let refused = plan(&asked, &|| panic!("asked for eigenvalues"));
        let refused = refused.expect_err("peer 2 is all that ties them");
        assert!(
            matches!(refused, PrivacyError::CutVertex { .. }),
            "{refused}"
        );
        let paid = NoiseAsked {
            on_disconnect: OnDisconnect::SmallestComponent,
            ..asked
        };
        assert!(plan(&paid, &|| Connectivity::UNKNOWN).is_ok());
    }

    const USERS: [&str; 3] = [
        "privacy.adjacency=user",
        "peers.count=12",
        "topology.degree=4",
    ];

    fn with(more: &[&str]) -> Result<Experiment, ExperimentError> {
        sim("quickstart.toml", &[&USERS[..], more].concat())
    }

    #[test]
    fn persons_at_several_peers_are_refused_where_nothing_is_proved() {
        for (set, said) in [
            (
                &["privacy.participants_per_person=0"][..],
                "at one participant or more",
            ),
            (
                &["privacy.participants_per_person=13"],
                "there are 12 peers",
            ),
            (
                &[
                    "privacy.participants_per_person=2",
                    "privacy.adjacency=matrix",
                ],
                "not about rows of persons",
            ),
            (
                &[
                    "privacy.participants_per_person=2",
                    "noise.distribution=laplace",
                    "noise.holders=3",
                ],
                "noise.holders",
            ),
            (
                &[
                    "privacy.participants_per_person=2",
                    "engine.kind=central",
                    "algorithm={kind=\"power\",rank=2,iterations=2,clip=\"sparse-vector\"}",
                    "averaging={scheme=\"chebyshev\"}",
                ],
                "sparse-vector",
            ),
        ] {
            let refused = with(set).expect_err(said).to_string();
            assert!(refused.contains(said), "{refused}");
        }
        // One is what is meant without it.
        let (one, none) = (with(&["privacy.participants_per_person=1"]), with(&[]));
        let (one, none) = (one.expect("valid"), none.expect("valid"));
        assert_eq!(one.noise(), none.noise());
        assert_eq!(one.statement(), none.statement());
        assert!(one.groups().is_empty() && none.groups().is_empty());
    }

    #[test]
    fn a_curator_and_laplace_noise_protect_persons_at_several_peers_too() {
        for (set, least) in [
            (&["engine.kind=central"][..], 1.99),
            (&["engine.kind=federated", "noise.scheme=independent"], 1.9),
            (&["noise.scheme=local"], 1.99),
            (
                &[
                    "noise.scheme=local",
                    "noise.distribution=laplace",
                    "privacy.delta=0",
                ],
                1.99,
            ),
        ] {
            let plan = |k: usize| {
                let asked = format!("privacy.participants_per_person={k}");
                with(&[set, &[&asked]].concat()).expect("valid")
            };
            let (one, three) = (plan(1), plan(3));
            let factor = three.noise().sigma_sum() / one.noise().sigma_sum();
            let expected = match (one.config.noise.scheme, one.config.noise.distribution) {
                (Scheme::Local, Distribution::Gaussian) => 3.0_f64.sqrt(),
                _ => 3.0,
            };
            assert!((factor / expected - 1.0).abs() < 1e-8, "{set:?}: {factor}");
            if one.config.engine.kind == EngineKind::Central {
                assert_eq!(three.sigma_central(), three.noise().sigma_sum());
            }
            let group = three.groups().iter().find(|group| group.peers == 3);
            let epsilon = group.expect("stated").epsilon;
            assert!(
                epsilon <= 2.0 * (1.0 + 1e-8) && epsilon > least,
                "{set:?}: {epsilon}"
            );
        }
    }

    /// A pilot of half the budget and what follows it, under noise that every peer adds by itself, which is exactly what hides a person's rows.
    #[test]
    fn a_pilot_and_its_session_protect_persons_together() {
        let mut squares = 0.0;
        let mut allowed = 0.0;
        for kind in ["pilot", "covariance"] {
            let kind = format!("algorithm.kind={kind}");
            let asked = [
                "privacy.participants_per_person=2",
                "noise.scheme=local",
                "pilot.share=0.5",
                kind.as_str(),
            ];
            let set = [&USERS[..], &asked].concat();
            let part = super::super::testing::part_of("quickstart.toml", &set).expect("valid");
            squares += 2.0 * part.mechanism.cost() / part.noise().sigma_own().powi(2);
            allowed = part.calibrated().mu_total();
            // Stated is the whole, with what the other part spends.
            let stated = part.groups()[0].mu;
            assert!((stated / allowed - 1.0).abs() < 1e-8, "{stated} {allowed}");
        }
        let spent = squares.sqrt();
        assert!(
            spent <= allowed && spent > 0.999 * allowed,
            "{spent} {allowed}"
        );
    }
}
