//! Users that a column of the data assigns to the peers of the graph, by name.
//!
//! At which peer a user is, is public by assumption, as is who takes part: the receipt says so. That one record changes one peer's rows by
//! that change is proved at [`data::assign_to`](crate::data).

use std::collections::BTreeMap;
use std::sync::Arc;

use super::error::{DataTableError, ExperimentError};
use super::rules::{Rule, keep_data};
use crate::config::{Config, DataConfig, PeerCount};
use crate::data::{Loaded, Partition};
use crate::topology::Topology;

/// Whether a column of the data says at which peer every user is.
pub(super) fn is_meant(data: &DataConfig) -> bool {
    let columns = data.columns();
    columns.is_some_and(|columns| columns.peer.is_some())
}

/// What says otherwise who is at which peer.
const RULES: &[Rule] = &[
    (
        "columns",
        |config| config.data.users_file().is_some(),
        "has a column of peers, and users of data.users_file of whom the data have no line would be at no peer: leave one of the two out",
    ),
    (
        "columns",
        |config| {
            let peers = &config.peers;
            peers.partition != Partition::RoundRobin || peers.sizes.is_some()
        },
        "has a column of peers, which says where every user is: leave peers.partition and peers.sizes out, or that column",
    ),
    (
        "columns",
        |config| matches!(config.peers.count, PeerCount::Users | PeerCount::Auto),
        "has a column of peers, whose number nothing says: set peers.count to the number of nodes of the graph (\"users\" is one peer per user)",
    ),
];

/// Refuses settings that say otherwise who is at which peer, whatever the data.
pub(super) fn check(config: &Config) -> Result<(), ExperimentError> {
    match is_meant(&config.data) {
        true => keep_data(RULES, config),
        false => Ok(()),
    }
}

/// The peer of every user, by number, where a column says it.
///
/// # Errors
/// [`DataTableError::UnknownPeer`] for a name that no node of the graph has.
pub(super) fn of(
    config: &Config,
    loaded: &Loaded,
    topology: &Topology,
) -> Result<Option<Arc<[u32]>>, ExperimentError> {
    let Some(named) = &loaded.peers else {
        return Ok(None);
    };
    let names = topology.graph().names().unwrap_or_default();
    let places: BTreeMap<&str, u32> = names.iter().map(String::as_str).zip(0..).collect();
    let number = |(name, line): (&str, u64)| match places.get(name) {
        Some(&number) => Ok(number),
        // Numbers where nodes have no names, and the words of the refusal.
        None => topology.find(name).map_err(|error| {
            let (path, error) = (config.data.path().to_owned(), Box::new(error));
            DataTableError::UnknownPeer { path, line, error }
        }),
    };
    let numbers: Vec<u32> = named.named().map(number).collect::<Result<_, _>>()?;
    let users = named.of_users().iter();
    Ok(Some(users.map(|&peer| numbers[peer as usize]).collect()))
}
