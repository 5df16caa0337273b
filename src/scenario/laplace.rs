//! Laplace noise of an experiment: what it goes with, and what is planned.

use super::mechanism::Mechanism;
use super::noise::{NoiseAsked, Planned};
use crate::config::{Config, EngineKind};
use crate::privacy::{
    AdversaryView, Calibrated, Delta, Epsilon, GroupLoss, HoldersRequest, LaplaceRequest,
    NoisePlan, OnDisconnect, PrivacyError, Scheme, calibrate_laplace, laplace, person_sizes,
};
use crate::topology::Graph;
use crate::vocabulary::Distribution;

/// δ of the budget, where it is above 0; of a validated configuration.
pub(super) fn delta(config: &Config) -> Option<Delta> {
    Delta::new(config.privacy.delta).ok()
}

/// Refuses keys that Laplace noise does not go with, and keys of Laplace noise without it.
pub(super) fn check(config: &Config) -> Result<(), PrivacyError> {
    match (config.noise.distribution, config.noise.holders) {
        (Distribution::Gaussian, Some(_)) => Err(PrivacyError::HoldersOfNothing),
        (Distribution::Gaussian, None) => Ok(()),
        (Distribution::Laplace, _) => NoiseAsked::of(config).check_laplace(),
    }
}

impl NoiseAsked {
    /// Refuses what does not go with Laplace noise.
    pub(crate) fn check_laplace(&self) -> Result<(), PrivacyError> {
        let refuse = |problem| Err(PrivacyError::Laplace { problem });
        Epsilon::new(self.epsilon)?;
        if self.scheme == Scheme::None {
            return Ok(());
        }
        if self.engine == EngineKind::Analytic {
            return refuse(
                "engine \"analytic\" draws estimates from a Gaussian law: set engine.kind = \"lockstep\"",
            );
        }
        if self.scheme == Scheme::Ring {
            return refuse(
                "sums of integers mod 2^k have rounded Gaussian noise: set noise.scheme = \"local\", or \"pairwise\" with noise.holders, \
                 or engine.kind = \"federated\"",
            );
        }
        if self.holders.is_none() {
            return match self.delta {
                0.0 => Ok(()),
                found => Err(PrivacyError::DeltaOfLaplace { found }),
            };
        }
        if self.engine.reveals_only_sums() || self.scheme != Scheme::Pairwise {
            return refuse(
                "noise.holders belongs to noise.scheme = \"pairwise\" on engines that pass messages: leave it out",
            );
        }
        Delta::new(self.delta)?;
        if self.adjacency.is_of_matrix() {
            return refuse(
                "holders hide what one peer changes, and a change of the matrix may lie at several: choose an adjacency of rows, or leave \
                 noise.holders out and set noise.scheme = \"local\"",
            );
        }
        if self.on_disconnect != OnDisconnect::Refuse {
            return refuse(
                "a piece without an honest holder is not hidden at any price: leave privacy.on_disconnect at \"refuse\"",
            );
        }
        if !(self.overhead > 0.0 && self.overhead <= 1e6) {
            return Err(PrivacyError::Parameter {
                name: "privacy.overhead",
                found: self.overhead,
                expected: "a number above 0 and at most 1e6 (for example 0.01); finite pairwise noise cannot do without",
            });
        }
        Ok(())
    }

    /// Laplace noise of this program on this noise graph, and what changes at several peers cost.
    ///
    /// With holders, ε is what Laplace noise and the noise that is shared spend together: the latter β times the former.
    ///
    /// # Errors
    /// [`PrivacyError`] for a budget, or holders, that cannot be had on this graph.
    pub(crate) fn laplace(
        &self,
        graph: &Graph,
        mechanism: &Mechanism,
    ) -> Result<Planned<NoisePlan>, PrivacyError> {
        let (calibrated, plan) = self.laplace_plan(graph, mechanism)?;
        let groups = self.laplace_groups(&plan, graph.nodes());
        Ok(Planned {
            calibrated,
            plan,
            groups,
        })
    }

    fn laplace_plan(
        &self,
        graph: &Graph,
        mechanism: &Mechanism,
    ) -> Result<(Calibrated, NoisePlan), PrivacyError> {
        // (ε/k, 0) for one record is (ε, 0) for k of them.
        let epsilon = Epsilon::new(self.epsilon / self.participants.unwrap_or(1) as f64)?;
        let alone = match self.holders {
            Some(_) => Epsilon::new(epsilon.get() / (1.0 + self.overhead))?,
            None => epsilon,
        };
        let calibrated = calibrate_laplace(self.calibration, alone, mechanism.charge)?;
        if self.engine == EngineKind::Central && self.scheme != Scheme::None {
            let plan = NoisePlan::laplace_curator(&calibrated);
            return Ok((calibrated, plan));
        }
        let holders = match self.holders {
            Some(count) => Some(HoldersRequest {
                count,
                epsilon: Epsilon::new(epsilon.get() - alone.get())?,
                delta: Delta::new(self.delta)?,
                inverse_squares: mechanism.inverse_squares(),
            }),
            None => None,
        };
        let plan = NoisePlan::laplace(&LaplaceRequest {
            graph,
            scheme: self.scheme,
            calibrated: &calibrated,
            colluders: self.colluders,
            trusted_sum: self.engine.reveals_only_sums(),
            holders,
        })?;
        Ok((calibrated, plan))
    }

    /// What changes at several peers cost where one record is a change of one peer's matrix and single inputs are seen, under noise that
    /// every peer adds by itself, or where a person can be in several files: (ε, 0) for one is (kε, 0) for k.
    fn laplace_groups(&self, plan: &NoisePlan, peers: usize) -> Vec<GroupLoss> {
        let Some(one) = plan.epsilon() else {
            return Vec::new();
        };
        let persons = self.participants.filter(|_| self.adjacency.is_of_rows());
        let sizes: Vec<usize> = match (persons, self.engine.seen()) {
            (Some(participants), _) => person_sizes(participants, peers).collect(),
            (None, AdversaryView::Everything) if self.adjacency.is_of_matrix() => {
                let honest = peers.saturating_sub(self.colluders);
                let stated = STATED.into_iter().filter(|k| *k < honest);
                stated.chain((honest > 1).then_some(honest)).collect()
            }
            _ => return Vec::new(),
        };
        let group = |peers: usize| {
            let epsilon = peers as f64 * one;
            GroupLoss {
                peers,
                mu: laplace::mu(epsilon),
                epsilon,
            }
        };
        sizes.into_iter().map(group).collect()
    }
}

/// Sizes of groups that are stated.
const STATED: [usize; 4] = [2, 3, 5, 10];
