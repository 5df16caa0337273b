//! Recipes: a TOML file that says how to make or where to find a graph, and what to expect of it.
//!
//! The grammar is that of TOML 1.0 (which has no lone CR and no control characters), with the keys of [`Recipe`]
//! and no others, each at most once. A name holds no character that cannot be seen.

use serde::{Deserialize, Serialize};

use super::super::file_problem::FileProblem;
use super::parsed::Fault;
use crate::topology::GeneratorConfig;
use crate::vocabulary::hidden;

/// A named topology, as the files of `topologies/` describe it. Unknown keys are refused.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Recipe {
    /// Short name.
    pub name: String,
    /// What the graph is, in a sentence or two.
    pub description: String,
    /// What the graph is good for.
    pub fits: Option<String>,
    /// How to generate it; the number of nodes may be left to whoever loads the recipe.
    pub generator: Option<GeneratorConfig>,
    /// The file that holds it, relative to the recipe; instead of `generator`.
    pub file: Option<String>,
    /// Keep the largest connected component only.
    #[serde(default)]
    pub largest_component: bool,
    /// What to do where an edge occurs more than once.
    #[serde(default)]
    pub parallel_edges: ParallelEdges,
    /// Where the graph comes from: citation or address.
    pub source: Option<String>,
    /// Terms under which the graph may be passed on.
    pub licence: Option<String>,
    /// What must come out.
    pub expected: Option<Expected>,
}

/// What to do where an edge occurs more than once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ParallelEdges {
    /// Report it.
    #[default]
    Refuse,
    /// Keep one.
    Merge,
}

/// What a recipe's graph must be. The counts are checked on loading; the spectral numbers by a test, to
/// six digits.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Expected {
    /// Number of nodes.
    pub nodes: usize,
    /// Number of edges.
    pub edges: usize,
    /// 1 − max(λ₂(W), |λ_min(W)|) of the Metropolis–Hastings mixing matrix W.
    pub spectral_gap: f64,
    /// λ₂(L).
    pub algebraic_connectivity: f64,
}

/// Reads a recipe.
pub(super) fn parse(bytes: &[u8]) -> Result<Recipe, Fault> {
    let text = super::plain_text(bytes)?;
    let line_of = |offset: usize| {
        let before = &text.as_bytes()[..offset.min(text.len())];
        1 + before.iter().filter(|b| **b == b'\n').count()
    };
    let recipe: Recipe = toml::from_str(text).map_err(|error| {
        let reason = error.message().chars().take(400).collect();
        let line = line_of(error.span().map_or(0, |span| span.start));
        (line, FileProblem::Recipe { reason })
    })?;
    if let Some(found) = hidden(&recipe.name) {
        return Err((1, FileProblem::Hidden { found }));
    }
    let found = match (&recipe.generator, &recipe.file) {
        (Some(_), Some(_)) => Some("both"),
        (None, None) => Some("neither"),
        _ => None,
    };
    match found {
        Some(found) => Err((1, FileProblem::RecipeSource { found })),
        None => Ok(recipe),
    }
}
