//! Laplace noise: what it goes with, and what is planned.

use super::{Division, Guarantee, Holders, Noise, PlanError, Promise};
use crate::privacy::{
    AdversaryView, Calibrated, Delta, Epsilon, GroupLoss, HoldersRequest, LaplaceRequest,
    NoisePlan, OnDisconnect, PrivacyError, Scheme, calibrate_laplace, laplace, person_sizes,
};
use crate::topology::Topology;

/// Sizes of groups that are stated.
const STATED: [usize; 4] = [2, 3, 5, 10];

impl Promise {
    /// Refuses what does not go with Laplace noise; nothing where noise is Gaussian.
    ///
    /// # Errors
    /// [`PrivacyError`] with what to change.
    pub fn check_laplace(&self) -> Result<(), PrivacyError> {
        let Noise::Laplace {
            scheme,
            holders,
            on_disconnect,
        } = self.noise
        else {
            return Ok(());
        };
        let refuse = |problem| Err(PrivacyError::Laplace { problem });
        if scheme == Scheme::None {
            return Ok(());
        }
        if scheme == Scheme::Ring {
            return refuse(
                "sums of integers mod 2^k have rounded Gaussian noise: set noise.scheme = \"local\", or \"pairwise\" with noise.holders, \
                 or engine.kind = \"federated\"",
            );
        }
        let Some(Holders { overhead, .. }) = holders else {
            return match self.delta {
                None => Ok(()),
                Some(delta) => Err(PrivacyError::DeltaOfLaplace { found: delta.get() }),
            };
        };
        if self.hides_inputs() || scheme != Scheme::Pairwise {
            return refuse(
                "noise.holders belongs to noise.scheme = \"pairwise\" on engines that pass messages: leave it out",
            );
        }
        Delta::new(self.delta.map_or(0.0, Delta::get))?;
        if self.adjacency().is_of_matrix() {
            return refuse(
                "holders hide what one peer changes, and a change of the matrix may lie at several: choose an adjacency of rows, or leave \
                 noise.holders out and set noise.scheme = \"local\"",
            );
        }
        if on_disconnect != OnDisconnect::Refuse {
            return refuse(
                "a piece without an honest holder is not hidden at any price: leave privacy.on_disconnect at \"refuse\"",
            );
        }
        match overhead > 0.0 && overhead <= 1e6 {
            true => Ok(()),
            false => Err(PrivacyError::Parameter {
                name: "privacy.overhead",
                found: overhead,
                expected: "a number above 0 and at most 1e6 (for example 0.01); finite pairwise noise cannot do without",
            }),
        }
    }
}

impl Guarantee {
    /// That of Laplace noise on this noise graph.
    ///
    /// With holders, ε is what Laplace noise and the noise that is shared spend together: the latter β times the former.
    pub(super) fn laplace(
        promise: &Promise,
        topology: &Topology,
        division: Division,
    ) -> Result<Self, PlanError> {
        promise.check_laplace()?;
        let (calibrated, noise) = planned(promise, topology, &division)?;
        let groups = groups(promise, &noise, topology.graph().nodes());
        Ok(Self::of_pure_noise(division, calibrated, noise, groups))
    }
}

fn planned(
    promise: &Promise,
    topology: &Topology,
    division: &Division,
) -> Result<(Calibrated, NoisePlan), PrivacyError> {
    let (scheme, holders) = match promise.noise {
        Noise::Laplace {
            scheme, holders, ..
        } => (scheme, holders),
        other => (other.scheme(), None),
    };
    // (ε/k, 0) for one record is (ε, 0) for k of them.
    let epsilon = Epsilon::new(promise.epsilon.get() / promise.participants.unwrap_or(1) as f64)?;
    let alone = match holders {
        Some(held) => Epsilon::new(epsilon.get() / (1.0 + held.overhead))?,
        None => epsilon,
    };
    let calibrated = calibrate_laplace(promise.calibration, alone, division.charge())?;
    if promise.seen == AdversaryView::CuratorOutput && scheme != Scheme::None {
        let plan = NoisePlan::laplace_curator(&calibrated);
        return Ok((calibrated, plan));
    }
    let holders = match holders {
        Some(held) => Some(HoldersRequest {
            count: held.count,
            epsilon: Epsilon::new(epsilon.get() - alone.get())?,
            delta: Delta::new(promise.delta.map_or(0.0, Delta::get))?,
            inverse_squares: division.inverse_squares(),
        }),
        None => None,
    };
    let plan = NoisePlan::laplace(&LaplaceRequest {
        graph: topology.graph(),
        scheme,
        calibrated: &calibrated,
        colluders: promise.withstood(),
        trusted_sum: promise.hides_inputs(),
        holders,
    })?;
    Ok((calibrated, plan))
}

/// What changes at several peers cost where one record is a change of one peer's matrix and single inputs are seen, under noise that
/// every peer adds by itself, or where a person can be in several files: (ε, 0) for one is (kε, 0) for k.
pub(super) fn groups(promise: &Promise, plan: &NoisePlan, peers: usize) -> Vec<GroupLoss> {
    let Some(one) = plan.epsilon() else {
        return Vec::new();
    };
    let of_rows = promise.adjacency().is_of_rows();
    let persons = promise.participants.filter(|_| of_rows);
    let sizes: Vec<usize> = match (persons, promise.seen) {
        (Some(participants), _) => person_sizes(participants, peers).collect(),
        (None, AdversaryView::Everything) if promise.adjacency().is_of_matrix() => {
            let honest = peers.saturating_sub(promise.withstood());
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
