//! Graphs of a session that are written out, edge by edge, between its members by name.

use std::path::Path;

use toml::{Table, Value};

use super::DeploymentError;
use crate::config::{PeerName, TopologySource};
use crate::topology::Graph;

/// The table of a file or a list of edges as the session file holds it: all members by name in the order of their keys, and the edges between
/// them. `base` is where relative paths start.
///
/// # Errors
/// [`DeploymentError`] if it cannot be read or is not over these members.
pub(super) fn listed(
    key: &'static str,
    table: &Table,
    names: &[String],
    base: &Path,
) -> Result<Table, DeploymentError> {
    let wrong = |why: String| DeploymentError::Graph { key, why };
    let mut source: TopologySource = Value::Table(table.clone())
        .try_into()
        .map_err(|error: toml::de::Error| wrong(error.to_string()))?;
    if let TopologySource::Edges(edges) = &mut source {
        // Members need not be listed: the session knows them.
        let all = || names.iter().cloned().map(PeerName).collect();
        edges.nodes.get_or_insert_with(all);
    }
    let topology = source.resolve(base, names.len());
    let topology = topology.map_err(|error| wrong(error.to_string()))?;
    let graph = topology.graph();
    if let Some(stranger) = (0..graph.nodes()).find(|&node| !names.contains(&graph.name(node))) {
        return Err(wrong(format!(
            "has a node {}, which no member is called: members are {}",
            graph.printed(stranger),
            crate::vocabulary::printed_list(names),
        )));
    }
    Ok(written(graph, names))
}

/// A graph's edges, sorted, between members in this order.
fn written(graph: &Graph, names: &[String]) -> Table {
    let place = |node: u32| {
        let name = graph.name(node as usize);
        names.iter().position(|own| *own == name)
    };
    let edges = graph.edge_list().map(|(u, v)| (place(u), place(v)));
    let mut edges: Vec<_> = edges.map(|(u, v)| (u.min(v), u.max(v))).collect();
    edges.sort_unstable();
    let name = |place: Option<usize>| {
        let name = place.and_then(|place| names.get(place));
        Value::String(name.cloned().unwrap_or_default())
    };
    let edges = edges.into_iter();
    let edges = edges.map(|(u, v)| Value::Array(vec![name(u), name(v)]));
    let nodes = names.iter().cloned().map(Value::String);
    Table::from_iter([
        ("nodes".to_owned(), Value::Array(nodes.collect())),
        ("edges".to_owned(), Value::Array(edges.collect())),
    ])
}

/// Refuses graphs of a session file that are not over its members in the order of their keys, or that some members may miss.
///
/// # Errors
/// [`DeploymentError`] naming the key and what to change.
pub(super) fn check(
    plan: &Table,
    names: &[String],
    min_peers: usize,
) -> Result<(), DeploymentError> {
    for key in ["topology", "noise_topology"] {
        let Some(Value::Table(table)) = plan.get(key) else {
            continue;
        };
        let refused = |why| Err(DeploymentError::Key { key, why });
        if table.contains_key("file") {
            return refused(
                "members have no such file: `undertone node invite` writes the file's edges into the session",
            );
        }
        if !table.contains_key("edges") {
            continue;
        }
        let listed = table.get("nodes").and_then(Value::as_array);
        let listed: Vec<_> = listed.into_iter().flatten().map(Value::as_str).collect();
        if !listed
            .into_iter()
            .eq(names.iter().map(|name| Some(name.as_str())))
        {
            return refused(
                "`nodes` must be the names of all members in the order of their keys, as `undertone node invite` writes them",
            );
        }
        if min_peers < names.len() {
            return refused(
                "a graph that is written out needs all of its members: leave --min-peers out, or choose a generator",
            );
        }
    }
    Ok(())
}
