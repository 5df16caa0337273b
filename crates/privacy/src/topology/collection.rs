//! The named graphs of `topologies/`: every recipe gives what it says.

use std::path::{Path, PathBuf};

use super::{LoadOptions, load, load_recipe};

fn recipes() -> Vec<PathBuf> {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("topologies");
    let mut recipes: Vec<_> = std::fs::read_dir(folder)
        .expect("the folder is part of the repository")
        .map(|entry| entry.expect("readable").path())
        .filter(|path| path.extension().is_some_and(|e| e == "toml"))
        .collect();
    recipes.sort();
    recipes
}

#[test]
fn every_recipe_gives_the_graph_and_the_spectrum_it_expects() {
    let recipes = recipes();
    assert!(recipes.len() >= 12, "{} recipes", recipes.len());
    for path in recipes {
        let recipe = load_recipe(&path).expect("a recipe");
        let topology =
            load(&path, LoadOptions::default()).unwrap_or_else(|error| panic!("{error}"));
        let summary = topology.summary();
        let gap = topology.spectrum().spectral_gap();
        let found = format!(
            "{}: nodes = {}, edges = {}, spectral_gap = {gap:.6}, algebraic_connectivity = {:.6}",
            recipe.name, summary.nodes, summary.edges, summary.algebraic_connectivity
        );
        let expected = recipe
            .expected
            .unwrap_or_else(|| panic!("no [expected]; {found}"));
        assert_eq!(
            Some(recipe.name.as_str()),
            path.file_stem().and_then(|s| s.to_str())
        );
        assert!(summary.connected && summary.certified, "{found}");
        assert!(recipe.fits.is_some_and(|fits| !fits.is_empty()), "{found}");
        assert!((gap - expected.spectral_gap).abs() < 1e-6, "{found}");
        assert!(
            (summary.algebraic_connectivity - expected.algebraic_connectivity).abs() < 1e-6,
            "{found}"
        );
        assert!(
            recipe.file.is_none() || (recipe.source.is_some() && recipe.licence.is_some()),
            "{}: a file needs source and licence",
            recipe.name
        );
    }
}
