//! Wishart noise: what it goes with, and what is planned.

use super::laplace::groups;
use super::{Division, Guarantee, Noise, PlanError, Promise};
use crate::algorithm::Program;
use crate::privacy::{
    AdversaryView, Delta, Epsilon, NoisePlan, PrivacyError, Scheme, WishartRequest,
    calibrate_wishart,
};
use crate::topology::Topology;

impl Promise {
    /// Refuses what does not go with Wishart noise; nothing where noise has another law.
    ///
    /// # Errors
    /// [`PrivacyError`] with what to change.
    pub fn check_wishart(&self) -> Result<(), PrivacyError> {
        let Noise::Wishart { scheme } = self.noise else {
            return Ok(());
        };
        if scheme == Scheme::None {
            return Ok(());
        }
        if let Some(found) = self.delta.map(Delta::get) {
            return Err(PrivacyError::DeltaOfWishart { found });
        }
        if self.losses.is_some() {
            return Err(PrivacyError::Wishart {
                problem: "a peer that leaves takes its terms along, and nothing is proved of the rest: leave the table [dropouts] out, or set \
                          noise.distribution = \"gaussian\"",
            });
        }
        if self.part.is_some() {
            return Err(PrivacyError::Wishart {
                problem: "a pilot's counts of users have no bound that its noise is scaled by: leave the pilot out, or set noise.distribution = \
                          \"gaussian\"",
            });
        }
        Ok(())
    }
}

impl Guarantee {
    /// That of Wishart noise on this noise graph, of which only the number of peers matters.
    pub(super) fn wishart(
        program: &Program,
        promise: &Promise,
        topology: &Topology,
        division: Division,
    ) -> Result<Self, PlanError> {
        promise.check_wishart()?;
        program.isometric_triangles()?;
        let (scheme, peers) = (promise.noise.scheme(), topology.graph().nodes());
        // (ε/k, 0) for one record is (ε, 0) for k of them.
        let persons = promise.participants.unwrap_or(1) as f64;
        let epsilon = Epsilon::new(promise.epsilon.get() / persons)?;
        let calibration = promise.calibration;
        let calibrated = calibrate_wishart(calibration, epsilon, division.charge(), program.items)?;
        let mean = program.prelude.is_some();
        let curated = promise.seen == AdversaryView::CuratorOutput && scheme != Scheme::None;
        let noise = match curated {
            true => NoisePlan::wishart_curator(&calibrated, program.items, mean),
            false => NoisePlan::wishart(&WishartRequest {
                dimension: program.items,
                peers,
                scheme,
                calibrated: &calibrated,
                colluders: promise.withstood(),
                trusted_sum: promise.hides_inputs(),
                mean,
            })?,
        };
        let groups = groups(promise, &noise, peers);
        Ok(Self::of_pure_noise(division, calibrated, noise, groups))
    }
}
