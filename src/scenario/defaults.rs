//! What an experiment is given where its file does not say: what needs the data to be chosen. The rest are defaults of [`Config`] itself.

use super::error::{ExperimentError, PrivacyTableError};
use super::placement;
use crate::config::{Config, PeerCount, TopologySource};
use crate::data::{self, Partition};
use crate::privacy::{Adjacency, SensitivityRule};

/// Above so many users a peer holds the rows of several.
const MOST_ALONE: usize = 1000;
/// How many peers there are then.
const PEERS: usize = 100;

/// Fills in the rule of the sensitivity, and how many peers there are where the kind of the data decides that; `nodes` are those of a graph that is there
/// already.
pub(super) fn of_format(config: &mut Config, nodes: Option<usize>) {
    if config.privacy.sensitivity.is_none() {
        let whole = [Adjacency::User, Adjacency::ReplaceUser, Adjacency::Rating];
        let rows = config.data.is_of_numbers() && whole.contains(&config.privacy.adjacency);
        config.privacy.sensitivity = Some(match rows {
            true => SensitivityRule::UnitRow,
            false => SensitivityRule::Exact,
        });
    }
    if config.peers.count != PeerCount::Auto {
        return;
    }
    if config.data.is_graph() {
        config.peers.count = PeerCount::Vertices;
    } else if config.peers.partition == Partition::Hashed || config.peers.sizes.is_some() {
        // Sizes say how many peers there are; a private number of users must not.
        let sizes = config.peers.sizes.as_ref().map(Vec::len);
        config.peers.count = PeerCount::Number(sizes.unwrap_or(PEERS));
    } else if let Some(nodes) = nodes
        && placement::is_meant(&config.data)
    {
        config.peers.count = PeerCount::Number(nodes);
    }
}

/// Fills in the number of peers, the graph and δ where they are left open; `nodes` as of [`of_format`].
///
/// δ is [`usual_delta`]; 0 with Wishart noise, and with Laplace noise that no pairs hide.
///
/// # Errors
/// [`PrivacyTableError::Delta`] where n is private.
pub(super) fn of_data(
    config: &mut Config,
    loaded: &data::Loaded,
    nodes: Option<usize>,
) -> Result<(), ExperimentError> {
    let users = loaded.interactions.users();
    if config.peers.count == PeerCount::Auto {
        config.peers.count = match nodes {
            Some(nodes) if nodes != users => PeerCount::Number(nodes),
            None if users > MOST_ALONE => PeerCount::Number(PEERS),
            _ => PeerCount::Users,
        };
    }
    if config.topology == TopologySource::Auto {
        let peers = super::network::peer_count(config, loaded);
        config.topology = TopologySource::usual(peers);
    }
    if config.privacy.delta.is_none() {
        let pure = config.noise.distribution.is_pure() && config.noise.holders.is_none();
        config.privacy.delta = Some(match pure {
            true => 0.0,
            false if config.hides_users() => return Err(PrivacyTableError::Delta.into()),
            false => usual_delta(users),
        });
    }
    Ok(())
}

/// 1/n^1.1 for n users, rows or vertices, rounded down to three digits: it reads well, and no last bit of a power decides it.
fn usual_delta(users: usize) -> f64 {
    let exact = libm::pow(users.max(2) as f64, -1.1);
    let text = format!("{exact:e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let digits: String = digits.chars().take("8.63".len()).collect();
    // As a file that states it is read.
    format!("{digits}e{exponent}").parse().unwrap_or(exact)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delta_has_three_digits_and_is_below_one_over_the_number_of_users() {
        assert_eq!(usual_delta(610).to_string(), "0.000863");
        for users in [
            1, 2, 3, 9, 10, 11, 99, 100, 1000, 123_456, 1_000_000, 70_000_000,
        ] {
            let delta = usual_delta(users);
            let exact = (users.max(2) as f64).powf(-1.1);
            assert!(
                delta <= exact * (1.0 + 1e-12) && delta > 0.98 * exact,
                "{users}"
            );
            assert!(
                format!("{delta:e}").len() <= "8.63e-4".len() + 1,
                "{delta:e}"
            );
        }
    }
}
