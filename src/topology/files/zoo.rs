//! Real files outside the repository: the Internet Topology Zoo and two SNAP graphs.

use std::io::Read;
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;

use super::*;

/// A file of the shared data folder; `None`, said aloud, where it is absent.
fn shared(name: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../shared/data/graphs")
        .join(name);
    if path.exists() {
        return Some(path);
    }
    crate::vocabulary::testing::skipped(format_args!("shared data file graphs/{name} is absent"));
    None
}

/// The files of a tar archive (POSIX ustar: 512-byte headers, sizes in octal).
fn untar(bytes: &[u8]) -> Vec<(String, &[u8])> {
    let field = |header: &[u8]| {
        let end = header.iter().position(|b| *b == 0).unwrap_or(header.len());
        String::from_utf8_lossy(&header[..end]).trim().to_owned()
    };
    let mut files = Vec::new();
    let mut at = 0;
    while at + 512 <= bytes.len() && bytes[at] != 0 {
        let header = &bytes[at..at + 512];
        let size = usize::from_str_radix(&field(&header[124..136]), 8).expect("an octal size");
        if header[156] == b'0' {
            files.push((field(&header[..100]), &bytes[at + 512..at + 512 + size]));
        }
        at += 512 + size.div_ceil(512) * 512;
    }
    files
}

#[test]
fn every_network_of_the_topology_zoo_is_read_or_refused_with_a_remedy() {
    let Some(path) = shared("topology-zoo-gml.tar.gz") else {
        return;
    };
    let mut archive = Vec::new();
    GzDecoder::new(File::open(path).expect("it exists"))
        .read_to_end(&mut archive)
        .expect("gzip");
    let folder = tempfile::tempdir().expect("a folder");
    let (mut plain, mut parallel, mut loops, mut disconnected) = (0, 0, 0, 0);
    let files = untar(&archive);
    for (name, bytes) in files.iter().filter(|(name, _)| name.ends_with(".gml")) {
        let path = folder
            .path()
            .join(Path::new(name).file_name().expect("a name"));
        std::fs::write(&path, bytes).expect("a temporary file");
        let options = LoadOptions {
            largest_component: true,
            merge_parallel: true,
            nodes: None,
        };
        match load_graph(&path, LoadOptions::default()) {
            Ok((graph, _)) => {
                plain += 1;
                assert!(graph.is_connected() && graph.nodes() >= 4, "{name}");
            }
            Err(TopologyError::File {
                problem: FileProblem::ParallelEdge { .. },
                ..
            }) => {
                parallel += 1;
                load_graph(&path, options).expect(name);
            }
            Err(TopologyError::File {
                problem: FileProblem::SelfLoop { .. },
                ..
            }) => loops += 1,
            Err(TopologyError::Disconnected { .. }) => {
                disconnected += 1;
                load_graph(&path, options).expect(name);
            }
            Err(other) => panic!("{name}: {other}"),
        }
    }
    // Counted independently with a script over the same archive.
    assert_eq!((plain, parallel, loops, disconnected), (166, 95, 1, 14));
}

#[test]
fn snap_graphs_have_their_published_counts() {
    for (name, nodes, edges) in [
        ("ego-facebook.edges.gz", 4039, 88_234),
        ("oregon1-010331.edges.gz", 10_670, 22_002),
        ("karate.edges", 34, 78),
        ("les-miserables.edges", 77, 254),
    ] {
        let Some(path) = shared(name) else { continue };
        let (graph, _) = load_graph(&path, LoadOptions::default()).expect(name);
        assert_eq!((graph.nodes(), graph.edges()), (nodes, edges), "{name}");
    }
}
