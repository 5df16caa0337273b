//! Persons whose rows are in the files of several participants: what they lose.
//!
//! A record is a change of one user's row at one peer. Participants of a session read files of their own, and nobody can see whether a person is in
//! two of them. What such a person may lose is the loss of a group of peers ([`GroupLoss::bound`]).

use super::{Delta, GroupLoss, NoisePlan, PrivacyError};

#[cfg(test)]
mod tests;

/// Numbers of participants for which the loss of a person is always stated.
const STATED: [usize; 2] = [2, 3];

impl NoisePlan {
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
pub(crate) fn person_sizes(participants: usize, peers: usize) -> impl Iterator<Item = usize> {
    let more = (participants > 3).then_some(participants);
    let sizes = STATED.into_iter().chain(more);
    sizes.filter(move |size| *size <= peers)
}
