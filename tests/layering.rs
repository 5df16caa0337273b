//! Reads the sources: imports point down only, and what must stay in its place does.

mod blanked;
mod circles;
mod kinds;
mod made_up;
mod made_up_trees;
mod map;
mod modules;
mod paths;
mod portable;
mod size;
mod source;
mod submodules;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::LazyLock;

use crate::support::repository;
use map::{BELOW, CONFINED, NODE_FROM_ENGINE};
use modules::Modules;
use paths::layers_named;
use source::{Source, TEST_FOLDERS, read_all, read_crates, words};
use submodules::SUBMODULES;

/// Lines of the longest file, tests and all.
const LONGEST_FILE: usize = 640;

/// Lines of the median file of `src`: of the files that are not tests, up to their own test module.
const MEDIAN_FILE: usize = 120;
const EMPTY_NAMES: [&str; 6] = ["utils", "util", "helpers", "helper", "manager", "common"];

/// Imports that point up or sideways.
fn wrong_imports(source: &Source) -> Vec<String> {
    let Some(layer) = source.layer() else {
        return Vec::new();
    };
    let allowed = BELOW.iter().find(|(name, _)| *name == layer);
    let Some((_, allowed)) = allowed else {
        return vec![format!("{}: layer {layer} is not in the map", source.path)];
    };
    let named = layers_named(source);
    let wrong = named.iter().filter(|path| {
        let target = path[0].as_str();
        target != layer
            && BELOW.iter().any(|(name, _)| *name == target)
            && !allowed.contains(&target)
    });
    wrong
        .map(|path| format!("{}: {layer} may not name {}", source.path, path.join("::")))
        .collect()
}

/// What a `node` source takes from `engine` beyond the list.
fn wrong_engine_parts(source: &Source) -> Vec<String> {
    if source.layer() != Some("node") || source.is_test_file() {
        return Vec::new();
    }
    layers_named(&source.without_tests())
        .iter()
        .filter(|path| path[0] == "engine")
        .filter(|path| {
            path.get(1)
                .is_none_or(|part| !NODE_FROM_ENGINE.contains(&part.as_str()))
        })
        .map(|path| format!("{}: node may not name {}", source.path, path.join("::")))
        .collect()
}

/// Confined words outside their place, in code that is not a test.
fn misplaced(source: &Source) -> Vec<String> {
    if source.is_test_file() {
        return Vec::new();
    }
    let tested = source.without_tests();
    let used: BTreeSet<&str> = words(&tested.code).collect();
    let mut found = Vec::new();
    for (names, places, reason) in CONFINED {
        let inside = places
            .iter()
            .any(|place| Path::new(source.place()).starts_with(place));
        for name in names.iter().filter(|name| !inside && used.contains(**name)) {
            found.push(format!(
                "{}: `{name}` belongs in {places:?}: {reason}",
                source.path
            ));
        }
    }
    found
}

/// All sources of the crates, read once.
fn the_sources() -> &'static [Source] {
    static SOURCES: LazyLock<Vec<Source>> = LazyLock::new(read_crates);
    &SOURCES
}

/// The crate as modules, read once.
fn the_modules() -> &'static Modules {
    static MODULES: LazyLock<Modules> = LazyLock::new(|| Modules::of(the_sources()));
    &MODULES
}

fn assert_none(found: &[String]) {
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn imports_point_down_only() {
    let sources = the_sources();
    assert_none(&sources.iter().flat_map(wrong_imports).collect::<Vec<_>>());
    // The map in lib.rs and this one name the same layers, and the folders are those.
    let libraries = [
        "src",
        "crates/privacy/src",
        "crates/core/src",
        "crates/papers/src",
        "crates/node/src",
    ];
    let read =
        |folder| std::fs::read_to_string(repository(folder).join("lib.rs")).expect("readable");
    let libraries = libraries.map(read);
    for (layer, _) in BELOW.iter().filter(|(layer, _)| *layer != "node") {
        let crates = format!("pub use undertone_{layer} as {layer};");
        let declared = format!("pub mod {layer};");
        assert!(
            libraries
                .iter()
                .any(|text| text.contains(&declared) || text.contains(&crates)),
            "{layer}"
        );
    }
    let seen: BTreeSet<&str> = sources.iter().filter_map(Source::layer).collect();
    assert!(seen.len() >= 11, "{seen:?}");
}

#[test]
fn the_map_itself_points_down_only() {
    let rank: BTreeMap<&str, usize> = BELOW
        .iter()
        .enumerate()
        .map(|(i, (name, _))| (*name, i))
        .collect();
    for (layer, allowed) in BELOW {
        assert!(
            allowed.iter().all(|below| rank[below] < rank[layer]),
            "{layer}"
        );
    }
}

#[test]
fn submodules_and_re_exports_point_down_too() {
    let modules = the_modules();
    // Fewer would mean that paths are no longer understood.
    assert!(modules.arrows.len() > 1000);
    let mut found = submodules::wrong(modules);
    found.extend(submodules::wrong_layers(modules));
    assert_none(&found);
    for (index, (name, inside, below)) in SUBMODULES.iter().enumerate() {
        let layer = submodules::layer_of(name);
        let exists = modules
            .modules
            .iter()
            .any(|module| module.path.join("/") == *name);
        assert!(exists || layer == "node", "{name} is no module");
        let lower = SUBMODULES[..index].iter().map(|(lower, ..)| *lower);
        let later: Vec<&str> = SUBMODULES[index..]
            .iter()
            .map(|(later, ..)| *later)
            .collect();
        assert!(
            lower.into_iter().all(|lower| lower != *name),
            "{name} twice"
        );
        assert!(
            inside.iter().all(|part| !later.contains(part)),
            "{name}: lowest first"
        );
        let (_, allowed) = BELOW
            .iter()
            .find(|(known, _)| *known == layer)
            .expect("a layer");
        let below = below.unwrap_or_default();
        assert!(
            below.iter().all(|part| allowed.contains(part)),
            "{name}: more than its layer"
        );
    }
}

#[test]
fn the_protocol_reaches_neither_graph_nor_data_through_others() {
    let modules = the_modules();
    assert_none(&submodules::reached_by_the_protocol(modules));
}

#[test]
fn the_node_takes_from_the_engines_what_a_run_is_given_and_reports_alone() {
    let sources = the_sources();
    assert_none(
        &sources
            .iter()
            .flat_map(wrong_engine_parts)
            .collect::<Vec<_>>(),
    );
}

#[test]
fn confined_words_stay_in_their_place() {
    let sources = the_sources();
    assert_none(&sources.iter().flat_map(misplaced).collect::<Vec<_>>());
    // Words that occur nowhere would be a check of nothing.
    let everything: String = sources.iter().map(|source| source.code.as_str()).collect();
    let used: BTreeSet<&str> = words(&everything).collect();
    for word in [
        "clap",
        "anyhow",
        "bincode",
        "eprintln",
        "Instant",
        "rand_distr",
    ] {
        assert!(used.contains(word), "{word}");
    }
}

#[test]
fn files_exempt_as_tests_are_compiled_for_tests_only() {
    let mut exempt = 0;
    for source in the_sources().iter().filter(|source| source.is_test_file()) {
        // The outermost module that is exempt, and the file that must declare it for tests only.
        let parts: Vec<&str> = source.path.trim_end_matches(".rs").split('/').collect();
        let outermost = parts.iter().position(|part| TEST_FOLDERS.contains(part));
        let (folder, name) = match outermost {
            Some(at) => (parts[..at].join("/"), parts[at]),
            None => (parts[..parts.len() - 1].join("/"), parts[parts.len() - 1]),
        };
        let read = |path: String| std::fs::read_to_string(repository(&path));
        let parent = ["/mod.rs", ".rs", "/lib.rs"].map(|end| read(format!("{folder}{end}")));
        let parent = parent.into_iter().find_map(Result::ok);
        let parent = parent.unwrap_or_else(|| panic!("{}: no parent", source.path));
        let declared = ["mod", "pub(super) mod", "pub(crate) mod"];
        let declared = declared.map(|how| format!("#[cfg(test)]\n{how} {name};"));
        // What the tests of other crates share.
        let shared =
            format!("#[cfg(any(test, feature = \"testing\"))]\n#[doc(hidden)]\npub mod {name};");
        let found = parent.contains(&shared) || declared.iter().any(|text| parent.contains(text));
        assert!(found, "{} is not behind cfg(test)", source.path);
        exempt += 1;
    }
    assert!(exempt > 5);
}

#[test]
fn files_are_short_and_named_for_their_subject() {
    let mut found = Vec::new();
    for source in ["src", "crates", "tests", "benches"]
        .into_iter()
        .flat_map(read_all)
    {
        if source.lines > LONGEST_FILE {
            found.push(format!("{}: {} lines", source.path, source.lines));
        }
        let named_for_nothing = Path::new(&source.path)
            .with_extension("")
            .components()
            .any(|part| EMPTY_NAMES.contains(&part.as_os_str().to_string_lossy().as_ref()));
        if named_for_nothing {
            found.push(format!("{}: say what it is about", source.path));
        }
    }
    let sources = the_sources();
    let code = sources.iter().filter(|source| !source.is_test_file());
    let mut lines: Vec<usize> = code.map(|source| source.lines_before_tests).collect();
    lines.sort_unstable();
    let median = lines[lines.len() / 2];
    if median > MEDIAN_FILE {
        found.push(format!(
            "the median of {} files is {median} lines",
            lines.len()
        ));
    }
    assert_none(&found);
}

#[test]
fn files_are_written_in_one_place() {
    let direct = [
        "fs::write(",
        "File::create(",
        "fs::rename(",
        "File::options(",
    ];
    let sources = the_sources();
    let tested = |source: &Source| {
        let path = Path::new(&source.path);
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let parent = repository("").join(path.with_file_name("mod.rs"));
        let declared = format!("#[cfg(test)]\nmod {name};");
        std::fs::read_to_string(parent).is_ok_and(|text| text.contains(&declared))
    };
    let wrong = sources
        .iter()
        .filter(|source| !source.is_test_file() && !tested(source))
        .filter(|source| !source.place().starts_with("src/writing/"))
        .flat_map(|source| {
            let code = source.without_tests().code;
            let found = direct.iter().filter(move |call| code.contains(**call));
            found.map(|call| format!("{}: `{call}`: use writing::replace", source.path))
        });
    assert_none(&wrong.collect::<Vec<_>>());
}

#[test]
fn no_files_import_one_another_in_a_circle() {
    let modules = the_modules();
    assert_none(&circles::of_files(modules));
}

#[test]
fn no_neighbours_import_one_another_in_a_circle() {
    let modules = the_modules();
    assert_none(&circles::of_neighbours(modules));
}
