//! Real files outside the repository: the Internet Topology Zoo and two SNAP graphs.

use std::io::Read;
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;

use super::*;

/// A file of the shared data folder; `None`, said aloud, where it is absent.
fn shared(name: &str) -> Option<PathBuf> {
    let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
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
            ..LoadOptions::default()
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

/// A digest of what a reader found in these files: nodes, names and edges as they stand there.
fn digest<'a>(files: impl Iterator<Item = (String, &'a [u8])>) -> String {
    let mut hasher = blake3::Hasher::new();
    for (name, bytes) in files {
        let (format, _) = Format::of(Path::new(&name)).expect("a graph");
        let found = match format.parse(bytes) {
            Ok(parsed) => format!("{:?} {:?} {:?}", parsed.nodes, parsed.names, parsed.edges),
            Err((line, problem)) => format!("refused at line {line}: {problem:?}"),
        };
        hasher.update(format!("{name}\n{found}\n").as_bytes());
    }
    hasher.finalize().to_hex()[..32].to_owned()
}

/// What the readers made of these files before they refused anything that is ambiguous: nothing real is read
/// as something else since.
#[test]
fn real_files_are_read_as_they_always_were() {
    let mut wrong = Vec::new();
    let mut compare = |what, digest: String, before| {
        if digest != before {
            wrong.push(format!("{what}: {digest}"));
        }
    };
    if let Some(path) = shared("topology-zoo-gml.tar.gz") {
        let mut archive = Vec::new();
        GzDecoder::new(File::open(path).expect("it exists"))
            .read_to_end(&mut archive)
            .expect("gzip");
        let mut files = untar(&archive);
        files.retain(|(name, _)| name.ends_with(".gml"));
        files.sort();
        assert_eq!(files.len(), 276);
        compare(
            "Topology Zoo",
            digest(files.into_iter()),
            "e2a8160879879727aba1d3e0780f64bc",
        );
    }
    let names = [
        "ego-facebook.edges.gz",
        "oregon1-010331.edges.gz",
        "karate.edges",
        "les-miserables.edges",
    ];
    let paths: Vec<_> = names.iter().filter_map(|name| shared(name)).collect();
    if paths.len() == names.len() {
        compare(
            "shared edge lists",
            digest_of(&paths),
            "2b54129851eab82c7a1621de16daffba",
        );
    }
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("topologies");
    let mut paths: Vec<_> = std::fs::read_dir(folder)
        .expect("in the repository")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| matches!(Format::of(path), Some((format, _)) if format != Format::Recipe))
        .collect();
    paths.sort();
    compare(
        "topologies/",
        digest_of(&paths),
        "5d5d3aece28718b02d615f3512d2f548",
    );
    assert!(wrong.is_empty(), "{wrong:#?}");
}

fn digest_of(paths: &[PathBuf]) -> String {
    let files: Vec<(String, Vec<u8>)> = paths
        .iter()
        .map(|path| {
            let name = path.file_name().expect("a name").to_string_lossy();
            let bytes = read(path, name.ends_with(".gz"), MAX_FILE).expect("readable");
            (name.into_owned(), bytes)
        })
        .collect();
    digest(files.iter().map(|(name, bytes)| (name.clone(), &bytes[..])))
}
