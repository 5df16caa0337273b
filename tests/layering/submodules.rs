//! The layer map between the submodules that it names, and what the protocol may not even reach.

use std::collections::{BTreeMap, BTreeSet};

use super::map::BELOW;
use super::modules::{Arrow, Modules};

/// What several engines stand on.
const SHARED_BY_ENGINES: &[&str] = &[
    "engine/course",
    "engine/losses",
    "engine/noise",
    "engine/outcome",
    "engine/record",
    "engine/session",
    "engine/threshold",
];

/// A submodule, what it may name of its own layer, and the layers below that it may name if those are fewer than its layer's.
type Submodule = (
    &'static str,
    &'static [&'static str],
    Option<&'static [&'static str]>,
);

/// What a submodule may name of its own layer, and of the layers below if that is less than its layer may; lowest first.
/// What the parent itself defines may be named by every child. A file that is not in the table is bound by its layer alone.
pub(super) const SUBMODULES: &[Submodule] = &[
    ("linalg/block", &[], Some(&[])),
    ("linalg/bracket", &[], Some(&[])),
    ("linalg/product", &[], Some(&[])),
    ("linalg/inverse", &["linalg/product"], Some(&[])),
    // Proofs about matrices: no sparse rows, no random starts.
    (
        "linalg/laplacian",
        &["linalg/bracket", "linalg/inverse", "linalg/product"],
        Some(&[]),
    ),
    (
        "linalg/lanczos",
        &[
            "linalg/block",
            "linalg/eigen",
            "linalg/extension",
            "linalg/orthonormal",
            "linalg/product",
            "linalg/sparse",
        ],
        None,
    ),
    ("topology/file_problem", &[], None),
    ("topology/graph", &[], None),
    (
        "topology/error",
        &["topology/file_problem", "topology/graph"],
        Some(&["vocabulary"]),
    ),
    ("topology/mixing", &["topology/graph"], Some(&[])),
    (
        "topology/spectrum",
        &["topology/graph", "topology/mixing"],
        Some(&["linalg"]),
    ),
    (
        "topology/generators",
        &["topology/error", "topology/graph"],
        Some(&["vocabulary"]),
    ),
    (
        "topology/files",
        &[
            "topology/error",
            "topology/file_problem",
            "topology/generators",
            "topology/graph",
        ],
        Some(&["linalg", "vocabulary"]),
    ),
    ("data/matrix_problem", &[], Some(&[])),
    (
        "data/error",
        &["data/matrix_problem"],
        Some(&["vocabulary", "linalg", "interactions", "dataset"]),
    ),
    (
        "data/formats",
        &["data/error", "data/ratings", "data/source"],
        Some(&["vocabulary", "linalg"]),
    ),
    (
        "data/matrix",
        &[
            "data/error",
            "data/formats",
            "data/matrix_problem",
            "data/ratings",
            "data/source",
        ],
        Some(&["vocabulary", "linalg", "interactions"]),
    ),
    // A name for what one record is; how data are held is known to the neighbours alone.
    ("privacy/adjacency", &[], Some(&[])),
    ("privacy/sensitivity_rule", &[], Some(&[])),
    (
        "privacy/neighbours",
        &["privacy/adjacency"],
        Some(&["vocabulary", "interactions"]),
    ),
    (
        "privacy/error",
        &["privacy/adjacency", "privacy/sensitivity_rule"],
        Some(&["vocabulary", "linalg"]),
    ),
    // What a contribution can move by: no graph and no noise.
    (
        "privacy/sensitivity",
        &[
            "privacy/adjacency",
            "privacy/error",
            "privacy/sensitivity_rule",
        ],
        Some(&["vocabulary", "linalg"]),
    ),
    // What a coalition sees of noise on a graph: no data and no plan.
    (
        "privacy/accountant",
        &["privacy/certificate", "privacy/error"],
        Some(&["linalg", "topology"]),
    ),
    (
        "privacy/ring",
        &["privacy/budget", "privacy/error", "privacy/gaussian"],
        Some(&["vocabulary", "topology"]),
    ),
    (
        "privacy/noise_plan",
        &[
            "privacy/accountant",
            "privacy/budget",
            "privacy/calibration",
            "privacy/certificate",
            "privacy/error",
            "privacy/rounded_up",
            "privacy/gaussian",
            "privacy/laplace",
            "privacy/ring",
            "privacy/wishart",
        ],
        Some(&["vocabulary", "topology"]),
    ),
    // What happened in a session, as sets of peers: no plan and no protocol.
    (
        "privacy/realised",
        &["privacy/accountant", "privacy/error"],
        Some(&["vocabulary", "linalg", "topology"]),
    ),
    (
        "privacy/advice",
        &["privacy/accountant", "privacy/error"],
        Some(&["topology"]),
    ),
    ("protocol/message", &[], None),
    ("protocol/values", &[], Some(&[])),
    (
        "protocol/wire",
        &["protocol/finite", "protocol/message", "protocol/values"],
        Some(&["vocabulary"]),
    ),
    // Weights and steps of a public graph; it knows no noise, no algorithm and no peer.
    (
        "protocol/averaging",
        &["protocol/message", "protocol/values", "protocol/wire"],
        Some(&["vocabulary", "linalg"]),
    ),
    // Who is left and what is final: no plan, no peer and no network.
    (
        "protocol/regroup",
        &["protocol/message"],
        Some(&["vocabulary"]),
    ),
    // Seals, shares and who may open them: no plan, no peer and no network.
    (
        "protocol/escrow",
        &["protocol/message", "protocol/regroup"],
        Some(&["vocabulary"]),
    ),
    // Every engine takes a session and tells an outcome; none knows another but for the one it stands on.
    ("engine/outcome", &[], None),
    ("engine/central", SHARED_BY_ENGINES, None),
    ("engine/lockstep", SHARED_BY_ENGINES, None),
    ("engine/analytic", SHARED_BY_ENGINES, None),
    // Schedules of faults list peers that deviate, too.
    (
        "engine/event",
        &[
            "engine/course",
            "engine/deviants",
            "engine/losses",
            "engine/noise",
            "engine/outcome",
            "engine/record",
            "engine/session",
            "engine/threshold",
        ],
        None,
    ),
    (
        "engine/federated",
        &[
            "engine/central",
            "engine/outcome",
            "engine/record",
            "engine/session",
        ],
        None,
    ),
];

/// Arrows that a submodule may not have.
pub(super) fn wrong(modules: &Modules) -> Vec<String> {
    let arrows = &modules.arrows;
    let found = arrows.iter().filter_map(|arrow| {
        let path = |module: usize| modules.modules[module].path.join("/");
        let (from, to) = (path(arrow.from), path(arrow.to));
        let (name, inside, below) = SUBMODULES.iter().find(|(name, ..)| is_in(&from, name))?;
        let layer = layer_of(name);
        let allowed = is_in(&to, name)
            // What a parent defines.
            || is_in(name, &to)
            || inside.iter().any(|allowed| is_in(&to, allowed))
            || layer_of(&to) != layer
                && below.is_none_or(|below| below.iter().any(|allowed| is_in(&to, allowed)));
        (!allowed).then(|| told(modules, arrow, name))
    });
    once(found)
}

/// Arrows between layers that the layer map does not have, however the name is written: a re-export is followed to the file
/// that defines it.
pub(super) fn wrong_layers(modules: &Modules) -> Vec<String> {
    let arrows = &modules.arrows;
    let found = arrows.iter().filter_map(|arrow| {
        let layer = |module: usize| modules.modules[module].path.first();
        let (from, to) = (layer(arrow.from)?, layer(arrow.to)?);
        let (_, allowed) = BELOW.iter().find(|(name, _)| name == from)?;
        let wrong = from != to && !allowed.contains(&to.as_str());
        wrong.then(|| told(modules, arrow, from))
    });
    once(found)
}

/// Ways from the protocol to the graph or the data, through whatever stands between.
pub(super) fn reached_by_the_protocol(modules: &Modules) -> Vec<String> {
    let arrows = &modules.arrows;
    let mut next: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    for arrow in arrows {
        next.entry(arrow.from).or_default().insert(arrow.to);
    }
    let layer = |module: usize| {
        modules.modules[module]
            .path
            .first()
            .map_or("", String::as_str)
    };
    let protocol = (0..modules.modules.len()).filter(|&module| layer(module) == "protocol");
    let mut way: BTreeMap<usize, Option<usize>> = protocol.map(|module| (module, None)).collect();
    let mut open: Vec<usize> = way.keys().copied().collect();
    let mut found = Vec::new();
    while let Some(here) = open.pop() {
        for &there in next.get(&here).into_iter().flatten() {
            if way.contains_key(&there) {
                continue;
            }
            way.insert(there, Some(here));
            if ["topology", "interactions", "dataset", "data"].contains(&layer(there)) {
                let mut text = modules.modules[there].file.clone();
                let mut at = there;
                while let Some(&Some(before)) = way.get(&at) {
                    text = format!("{} -> {text}", modules.modules[before].file);
                    at = before;
                }
                found.push(text);
            } else {
                open.push(there);
            }
        }
    }
    found
}

/// Whether a path of modules stands in another, or is it.
fn is_in(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

pub(super) fn layer_of(path: &str) -> &str {
    path.split('/').next().unwrap_or(path)
}

fn told(modules: &Modules, arrow: &Arrow, name: &str) -> String {
    let file = |module: usize| &modules.modules[module].file;
    format!(
        "{}: {name} may not name {}, as {} does",
        file(arrow.from),
        file(arrow.to),
        arrow.named
    )
}

/// Each line once for a pair of files.
fn once(lines: impl Iterator<Item = String>) -> Vec<String> {
    let mut seen = BTreeSet::new();
    lines
        .filter(|line| seen.insert(line.split(", as ").next().unwrap_or_default().to_owned()))
        .collect()
}
