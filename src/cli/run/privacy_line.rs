//! The guarantee of a run in one line.

use crate::privacy::{Adjacency, AdversaryView, Statement};
use crate::run::summary::PrivacySummary;

/// The guarantee: ε and δ, what one record is, against whom, and what else it covers.
pub(super) fn privacy_line(
    privacy: &PrivacySummary,
    promise: &Statement,
    with_pilot: bool,
) -> String {
    let Some(epsilon) = privacy.epsilon else {
        return "privacy: none, as there is no noise".to_owned();
    };
    let pilot = if with_pilot { ", pilot included" } else { "" };
    format!(
        "privacy: ({}, {})-differential privacy for {}, {}{}{pilot}",
        rounded(epsilon),
        small(privacy.delta),
        record(promise),
        adversary(promise),
        crashes(promise),
    )
}

/// δ as a power of ten.
fn small(delta: f64) -> String {
    match delta == 0.0 {
        true => "0".to_owned(),
        false => format!("{delta:e}"),
    }
}

/// ε with two digits after the point, or all that it has.
fn rounded(epsilon: f64) -> String {
    let short = format!("{epsilon:.2}");
    match short.parse::<f64>() {
        Ok(same) if epsilon == same => short,
        _ => epsilon.to_string(),
    }
}

/// The record that is protected.
fn record(promise: &Statement) -> String {
    let everything = promise.seen == AdversaryView::Everything;
    let what = match promise.adjacency {
        Adjacency::Interaction => "one interaction",
        Adjacency::Swap => "one interaction in place of another",
        Adjacency::User => "one user",
        Adjacency::ReplaceUser => "one user in place of another",
        Adjacency::Rating => "one rating",
        Adjacency::Edge => "one edge of the graph",
        Adjacency::EntryBipartite => "one entry of the matrix, by at most 1",
        Adjacency::Matrix | Adjacency::UnitSpectral if everything => {
            "one peer's matrix, by a norm of at most 1"
        }
        Adjacency::Matrix | Adjacency::UnitSpectral => "the matrix, by a norm of at most 1",
        Adjacency::Entry if everything => "one entry of one peer's matrix, by at most 1",
        Adjacency::Entry => "one entry of the matrix, by at most 1",
    };
    match promise
        .participants
        .filter(|_| promise.adjacency.is_of_rows())
    {
        None => what.to_owned(),
        Some(1) => format!("{what} at one peer"),
        Some(peers) => format!("{what} at each of {peers} peers"),
    }
}

/// The adversaries it holds against, and who is trusted.
fn adversary(promise: &Statement) -> String {
    let colluding = match promise.colluders {
        0 => "observers outside of the network".to_owned(),
        1 => "any one colluding peer".to_owned(),
        more => format!("any {more} colluding peers"),
    };
    match promise.seen {
        AdversaryView::CuratorOutput => "if the curator is trusted".to_owned(),
        AdversaryView::SecureSum => format!("against {colluding}, if the secure sum is trusted"),
        AdversaryView::Everything => format!("against {colluding}"),
    }
}

/// The crashes it covers.
fn crashes(promise: &Statement) -> String {
    match promise.lost {
        None | Some(0) => String::new(),
        Some(1) => ", also if one peer crashes".to_owned(),
        Some(lost) => format!(", also if up to {lost} peers crash"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::testing::sim;

    fn line(set: &[&str]) -> String {
        let set = [
            &["peers.count=12", "topology.degree=4", "data.items=40"],
            set,
        ]
        .concat();
        let experiment = sim("../tests/power.toml", &set).expect("valid");
        privacy_line(
            &experiment.privacy_summary(),
            &experiment.statement(),
            false,
        )
    }

    #[test]
    fn the_line_says_for_what_and_against_whom() {
        let usual = "privacy: (2.00, 1e-5)-differential privacy for one interaction, against any one colluding peer";
        assert_eq!(line(&[]), usual);
        assert_eq!(
            line(&[
                "privacy.colluders=2",
                "privacy.epsilon=0.125",
                "privacy.delta=0.001"
            ]),
            "privacy: (0.125, 1e-3)-differential privacy for one interaction, against any 2 colluding peers"
        );
        assert_eq!(
            line(&["engine.kind=central"]),
            "privacy: (2.00, 1e-5)-differential privacy for one interaction, if the curator is trusted"
        );
        assert!(line(&["engine.kind=federated"]).ends_with("if the secure sum is trusted"));
        assert_eq!(
            line(&["noise.scheme=none"]),
            "privacy: none, as there is no noise"
        );
    }
}
