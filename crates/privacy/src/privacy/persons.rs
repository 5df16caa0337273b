//! Persons whose rows are in the files of several participants: what they lose, and the noise that protects them.
//!
//! A record is a change of one user's row at one peer. Participants of a session read files of their own, and nobody can see whether a person is in
//! two of them. What such a person may lose is the loss of a group of peers ([`GroupLoss::bound`]).

use super::{Calibrated, Delta, GroupLoss, NoisePlan, NoiseRequest, PrivacyError};

#[cfg(test)]
mod tests;

/// Numbers of participants for which the loss of a person is always stated.
const STATED: [usize; 2] = [2, 3];

/// Covers the rounding of own noise in two plans.
const ROUNDING: f64 = 1.0 + 1e-9;

impl NoisePlan {
    /// The noise of [`Self::new`] for persons with one record at each of up to `participants` k peers.
    ///
    /// # Statement
    /// Let the plan for the noise multiplier z have own noise σ_η per unit of what one record moves. This is the plan for c·z, with
    /// c = min(k, √k·z/σ_η). Against every coalition that the plan is for, one record at each of k honest peers costs at most √T/z, where T is
    /// Σ_l 1/f_l² over the releases that a record meets: what the plan for z promises about one record.
    ///
    /// # Proof
    /// One record costs at most μ = √T/(c·z) by [`Self::new`]. The own noise is c·σ_η, as its ratio to the multiplier depends on the graph, β, t and
    /// the grid alone (`noise_plan/pairwise.rs`, `noise_plan/ring.rs`). So k records cost at most min(k·√T/(c·z), √(k·T)/(c·σ_η)), by
    /// [`Self::persons`]. The first is √T/z if c = k, the second if c = √k·z/σ_η. ∎
    ///
    /// c does not depend on T. Sessions that share a budget, a pilot and what follows it, have the same c, and their shares f and 1 − f of T cost
    /// √(f·T)/z and √((1 − f)·T)/z. A c from the share of one of them would be too small for both together.
    ///
    /// # Which it is
    /// With noise of its own only, σ_η = z, so c = √k. With pairwise noise among n honest peers, σ_η² = z²(1 + β)/n, and c = k unless k > n/(1 + β):
    /// the noise of the sum hides k records as one k times as large.
    ///
    /// # Errors
    /// [`PrivacyError::Zero`] for no participants, and those of [`Self::new`].
    pub fn for_persons(
        request: &NoiseRequest<'_>,
        participants: usize,
    ) -> Result<Self, PrivacyError> {
        if participants == 0 {
            return Err(PrivacyError::Zero {
                name: "the number of participants with rows of one person",
            });
        }
        let one = Self::new(request)?;
        if participants == 1 {
            return Ok(one);
        }
        let (k, z, own) = (
            participants as f64,
            request.noise_multiplier,
            one.own_per_unit(),
        );
        let factor = match own > 0.0 {
            true => k.min(k.sqrt() * z / own * ROUNDING),
            false => k,
        };
        Self::new(&NoiseRequest {
            noise_multiplier: factor * z,
            ..*request
        })
    }

    /// A curator's noise ([`Self::curator`]) for persons with one record at each of up to `participants` k peers: k times as large, as the sum moves
    /// by k records.
    #[must_use]
    pub fn curator_for_persons(calibrated: &Calibrated, participants: usize, delta: Delta) -> Self {
        match participants {
            1 => Self::curator(calibrated),
            k => Self::curator(&calibrated.with_noise_times(k as f64, delta)),
        }
    }

    /// The loss of a person with one record at each of 2, 3 and `participants` peers, as far as there are so many, against `colluders`. Empty where
    /// nothing is protected.
    ///
    /// `iterations` is the number of releases of noise factor 1 that one record is charged for, as the views have it.
    ///
    /// # Statement
    /// Let every of k honest peers' contributions change by one record of its own, all alike or not. The loss is at most that of
    /// μ_k = min(k·μ, √(k·T)/σ_η), with μ of the view of this coalition and T = `iterations`.
    ///
    /// # Proof
    /// [`GroupLoss::bound`], if all k records are met by the same releases. In a stream every record is met by the releases of its own
    /// batch. Let w_u have the entry 1/f_l for every release l that meets the record of peer u, and 0 for all others: ‖w_u‖² ≤ T. Release l costs
    /// μ_l² ≤ v·(Σ_u w_ul)² and μ_l² ≤ Σ_u w_ul²/σ_η², v being the largest variance factor. The sums over l are at most v·(Σ_u ‖w_u‖)² ≤ v·k²·T and
    /// k·T/σ_η². Both hold for every history, so that releases compose adaptively. Where only a sum is seen, it moves by Σ_u D_u, of norm at most k·Δ, and is a
    /// function of the inputs, of which the second bound speaks. ∎
    ///
    /// # Errors
    /// As [`GroupLoss::bound`].
    pub fn persons(
        &self,
        participants: usize,
        (peers, colluders): (usize, usize),
        iterations: f64,
        delta: Delta,
    ) -> Result<Vec<GroupLoss>, PrivacyError> {
        let own = self.own_per_unit();
        let covering = self.views().iter().find(|view| view.colluders >= colluders);
        // A curator has one view and nobody who colludes.
        let curated = self.views().first().filter(|_| own == 0.0);
        let Some(view) = covering.or(curated) else {
            return Ok(Vec::new());
        };
        let loss = |k: usize| {
            let mut group = match own > 0.0 {
                true => GroupLoss::bound(k, view.mu, own, iterations, delta)?,
                false => GroupLoss {
                    peers: k,
                    mu: k as f64 * view.mu,
                    epsilon: 0.0,
                },
            };
            group.epsilon = self.epsilon_of(group.mu, delta);
            Ok(group)
        };
        person_sizes(participants, peers).map(loss).collect()
    }
}

/// 2, 3 and `participants`, ascending, as far as there are so many peers.
pub fn person_sizes(participants: usize, peers: usize) -> impl Iterator<Item = usize> {
    let more = (participants > 3).then_some(participants);
    let sizes = STATED.into_iter().chain(more);
    sizes.filter(move |size| *size <= peers)
}
