//! Checks that the process may open as many sockets as a swarm or a member needs, and raises its limit where it may.

use std::fs;

use crate::topology::Graph;

/// Descriptors for what the runtime opens, and some air.
const RESERVE: u64 = 64;

/// A limit on open files that cannot be raised as far as needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "about {needed} open files are needed, and this process may have {limit}: raise the limit (`ulimit -n {needed}`)"
)]
pub struct TooFewFiles {
    /// Files that the network and the rest of the process need.
    pub needed: u64,
    /// What the system allows.
    pub limit: u64,
}

/// Refuses graphs whose connections over TCP would exceed the limit on open files, which is raised as far as the system allows.
///
/// Where there is no limit nothing is refused, and a listen or dial error tells instead.
///
/// # Errors
/// [`TooFewFiles`] with the number to raise the limit to.
pub(super) fn check(graph: &Graph) -> Result<(), TooFewFiles> {
    ensure(needed(graph, open()))
}

/// As [`check`], for so many sockets.
///
/// # Errors
/// [`TooFewFiles`].
pub(super) fn check_count(sockets: u64) -> Result<(), TooFewFiles> {
    ensure(open() + sockets + RESERVE)
}

/// Files that are open.
fn open() -> u64 {
    fs::read_dir("/proc/self/fd").map_or(0, |files| files.count() as u64)
}

#[cfg(unix)]
fn ensure(needed: u64) -> Result<(), TooFewFiles> {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let Some(soft) = current.filter(|soft| *soft < needed) else {
        return Ok(());
    };
    let refused = TooFewFiles {
        needed,
        limit: maximum.unwrap_or(soft),
    };
    if maximum.is_some_and(|hard| hard < needed) {
        return Err(refused);
    }
    let raised = Rlimit {
        current: Some(needed),
        maximum,
    };
    setrlimit(Resource::Nofile, raised).map_err(|_| refused)
}

#[cfg(not(unix))]
fn ensure(_: u64) -> Result<(), TooFewFiles> {
    Ok(())
}

/// Both ends of every edge are sockets of this process and every node has a listener; `open` files are
/// there already. (Measured at 64 nodes and 192 edges: 460 open files, 448 by this count, 9 before.)
fn needed(graph: &Graph, open: u64) -> u64 {
    open + 2 * graph.edges() as u64 + graph.nodes() as u64 + RESERVE
}

#[cfg(all(test, unix))]
mod tests {
    use rustix::process::{Resource, getrlimit};

    use super::*;

    #[test]
    fn a_graph_beyond_the_limit_is_refused_with_the_number_to_raise_it_to() {
        let edges: Vec<_> = (0..600_u32).map(|u| (u, u + 1)).collect();
        let graph = Graph::from_edges(601, &edges).expect("a path");
        let needed = needed(&graph, 10);
        assert_eq!(needed, 10 + 1200 + 601 + RESERVE);
        let limit = getrlimit(Resource::Nofile);
        assert!(ensure(limit.current.unwrap_or(needed)).is_ok());
        let Some(hard) = limit.maximum else { return };
        let error = ensure(hard + 1).expect_err("too many").to_string();
        assert!(
            error.contains(&format!("ulimit -n {}", hard + 1)),
            "{error}"
        );
    }

    #[test]
    fn the_limit_is_raised_as_far_as_the_system_allows() {
        let limit = getrlimit(Resource::Nofile);
        if let (Some(soft), Some(hard)) = (limit.current, limit.maximum)
            && soft < hard
        {
            ensure(soft + 1).expect("allowed");
            assert_eq!(getrlimit(Resource::Nofile).current, Some(soft + 1));
        }
    }
}
