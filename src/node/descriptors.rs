//! Checks that the process may open as many sockets as a swarm needs.

use std::fs;

use super::error::SwarmError;
use crate::topology::Graph;

/// Descriptors for what the runtime opens, and some air.
const RESERVE: u64 = 64;

/// Refuses graphs whose connections over TCP would exceed the soft limit on open files.
///
/// Where the limit cannot be read (not Linux, or no limit) nothing is refused, and a listen or dial error
/// tells instead.
///
/// # Errors
/// [`SwarmError::FileDescriptors`] with the number to raise the limit to.
pub(super) fn check(graph: &Graph) -> Result<(), SwarmError> {
    let limits = fs::read_to_string("/proc/self/limits").unwrap_or_default();
    let open = fs::read_dir("/proc/self/fd").map_or(0, |files| files.count() as u64);
    match soft_limit(&limits) {
        Some(limit) => fits(needed(graph, open), limit),
        None => Ok(()),
    }
}

/// The same for so many sockets.
///
/// # Errors
/// As [`check`].
pub(super) fn check_count(sockets: u64) -> Result<(), SwarmError> {
    let limits = fs::read_to_string("/proc/self/limits").unwrap_or_default();
    let open = fs::read_dir("/proc/self/fd").map_or(0, |files| files.count() as u64);
    match soft_limit(&limits) {
        Some(limit) => fits(open + sockets + RESERVE, limit),
        None => Ok(()),
    }
}

fn fits(needed: u64, limit: u64) -> Result<(), SwarmError> {
    if needed <= limit {
        Ok(())
    } else {
        Err(SwarmError::FileDescriptors { needed, limit })
    }
}

/// Both ends of every edge are sockets of this process and every node has a listener; `open` files are
/// there already. (Measured at 64 nodes and 192 edges: 460 open files, 448 by this count, 9 before.)
fn needed(graph: &Graph, open: u64) -> u64 {
    open + 2 * graph.edges() as u64 + graph.nodes() as u64 + RESERVE
}

/// The soft limit on open files in the text of `/proc/self/limits`.
fn soft_limit(limits: &str) -> Option<u64> {
    let line = limits
        .lines()
        .find_map(|line| line.strip_prefix("Max open files"))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_soft_limit_is_read_and_no_limit_is_none() {
        let text = "Limit        Soft Limit   Hard Limit   Units\n\
                    Max processes  77   88   processes\n\
                    Max open files            1024                 524288               files\n";
        assert_eq!(soft_limit(text), Some(1024));
        assert_eq!(
            soft_limit("Max open files  unlimited unlimited files"),
            None
        );
        assert_eq!(soft_limit(""), None);
    }

    #[test]
    fn a_graph_beyond_the_limit_is_refused_with_the_number_to_raise_it_to() {
        let edges: Vec<_> = (0..600_u32).map(|u| (u, u + 1)).collect();
        let graph = Graph::from_edges(601, &edges).expect("a path");
        let needed = needed(&graph, 10);
        assert_eq!(needed, 10 + 1200 + 601 + RESERVE);
        assert!(fits(needed, needed).is_ok());
        let error = fits(needed, 1024).expect_err("too many").to_string();
        assert!(error.contains(&format!("ulimit -n {needed}")), "{error}");
    }
}
