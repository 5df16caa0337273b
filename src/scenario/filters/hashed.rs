//! What goes with a partition by hashes of users' names.
//!
//! Without a list of users their number is private, and so is the number of rows at a peer: one user more is one more. Whatever
//! needs either is refused there, so that nothing is planned by them.

use crate::config::{Config, PeerCount};
use crate::data::Partition;
use crate::privacy::Scheme;
use crate::scenario::error::{ExperimentError, NetworkError};
use crate::scenario::{graph, numbers};

/// Refuses settings that a partition by hashes cannot serve, whatever the data.
pub(super) fn check(config: &Config) -> Result<(), ExperimentError> {
    if config.peers.partition != Partition::Hashed {
        return Ok(());
    }
    let refuse = |key, why| Err(NetworkError::Hashed { key, why }.into());
    if numbers::is_matrix(&config.data) || graph::is_meant(&config.data) {
        return refuse(
            "data.format",
            "has rows without names to hash: leave peers.partition out",
        );
    }
    if config.peers.count == PeerCount::Users {
        return refuse(
            "peers.count",
            "= \"users\" is one peer per user: give a number of peers, or leave peers.partition out",
        );
    }
    if config.peers.sizes.is_some() {
        return refuse(
            "peers.sizes",
            "says how many users each peer holds, and a hash does not: leave one of the two out",
        );
    }
    if !config.hides_users() {
        return Ok(());
    }
    let algorithm = &config.algorithm;
    let needs = [
        (
            "noise.scheme",
            config.noise.scheme == Scheme::Ring,
            "= \"ring\" is planned by the most rows of a peer",
        ),
        (
            "algorithm.clip",
            algorithm.table().clip(1).is_some(),
            "is planned by the number of users",
        ),
        (
            "data.values",
            numbers::are_meant(&config.data),
            "= \"ratings\" may be planned by the number of users",
        ),
        (
            "algorithm.kind",
            algorithm.table().requirements().arrival.is_some(),
            "= \"streaming\" takes users in the order of their list",
        ),
        (
            "recommender",
            config.recommender.is_some(),
            "weighs popularity by the number of users",
        ),
        (
            "pilot",
            config.pilot.is_some(),
            "is read with the number of users",
        ),
    ];
    match needs.into_iter().find(|(_, needed, _)| *needed) {
        Some((key, _, why)) => Err(NetworkError::HashedUnlisted { key, why }.into()),
        None => Ok(()),
    }
}
