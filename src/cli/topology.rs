//! `undertone topology`: describes, generates and lists graphs.

use std::io::{self, BufWriter, Write};
use std::path::Path;

use anyhow::{Context, Result};
use serde::Deserialize;

use super::arguments::{TopologyArguments, TopologyCommand};
use super::{Verdict, table};
use crate::config::parse_set;
use crate::topology::{
    GeneratorConfig, LoadOptions, REGISTRY, Recipe, Topology, load, load_recipe, write_edges,
};
use crate::writing::replace_with;

pub(crate) fn execute(arguments: &TopologyArguments) -> Result<Verdict> {
    match &arguments.command {
        TopologyCommand::Inspect {
            file,
            largest_component,
            merge_parallel,
            json,
        } => {
            let options = LoadOptions {
                largest_component: *largest_component,
                merge_parallel: *merge_parallel,
                disconnected: true,
                ..LoadOptions::default()
            };
            inspect(&load(file, options)?, *json)?;
        }
        TopologyCommand::Generate {
            generator,
            nodes,
            set,
            out,
        } => {
            generate(generator, *nodes, set, out.as_deref())?;
        }
        TopologyCommand::List { directory } => list(directory)?,
    }
    Ok(Verdict::Success)
}

fn inspect(topology: &Topology, json: bool) -> Result<()> {
    let mut out = io::stdout().lock();
    let summary = topology.summary();
    if json {
        serde_json::to_writer_pretty(&mut out, &summary).context("cannot print the summary")?;
        writeln!(out)?;
        return Ok(());
    }
    let provenance = topology.provenance();
    let spectrum = topology.spectrum();
    let known = if summary.certified {
        "certified"
    } else {
        "estimated, with a safety factor"
    };
    writeln!(out, "{}", provenance.name)?;
    writeln!(out, "  nodes                    {}", summary.nodes)?;
    writeln!(out, "  edges                    {}", summary.edges)?;
    writeln!(
        out,
        "  degrees                  {} to {}",
        summary.min_degree, summary.max_degree
    )?;
    writeln!(out, "  connected                {}", connected(topology))?;
    writeln!(
        out,
        "  algebraic connectivity   {}{}",
        summary.algebraic_connectivity_is.words(),
        match summary.algebraic_connectivity {
            small if small != 0.0 && small < 1e-3 => format!("{small:.3e}"),
            value => format!("{value:.6}"),
        },
    )?;
    writeln!(
        out,
        "  mixing, second largest   {:.6}",
        summary.mixing_second_eigenvalue
    )?;
    writeln!(
        out,
        "  mixing, smallest         {:.6}",
        spectrum.mixing_smallest.estimate
    )?;
    writeln!(
        out,
        "  spectral gap             {:.6}",
        spectrum.spectral_gap()
    )?;
    writeln!(out, "  eigenvalue bounds        {known}")?;
    if let Some(diameter) = topology.graph().diameter_bound() {
        writeln!(
            out,
            "  diameter                 {diameter}{}",
            if summary.nodes > 2000 { " at most" } else { "" }
        )?;
    }
    let cuts = topology.graph().cut_vertices();
    let names: Vec<String> = cuts
        .iter()
        .take(8)
        .map(|&v| topology.graph().printed(v as usize))
        .collect();
    match cuts.len() {
        0 => writeln!(
            out,
            "  cut vertices             none: any one peer may be curious"
        )?,
        count => writeln!(
            out,
            "  cut vertices             {count}: {}{}",
            names.join(", "),
            if count > names.len() { ", ..." } else { "" },
        )?,
    }
    for (what, text) in [
        ("source", &provenance.source),
        ("licence", &provenance.licence),
    ] {
        if let Some(text) = text {
            writeln!(out, "  {what:<24} {text}")?;
        }
    }
    if provenance.merged_edges + provenance.dropped_nodes > 0 {
        writeln!(
            out,
            "  left out                 {} repeated edges, {} nodes outside the largest component",
            provenance.merged_edges, provenance.dropped_nodes,
        )?;
    }
    if let Some(left_out) = &provenance.left_out {
        writeln!(out, "  not part of the graph    {left_out}")?;
    }
    Ok(())
}

/// Whether every node reaches every other, and how large the parts are where not.
fn connected(topology: &Topology) -> String {
    let mut sizes = topology.graph().component_sizes_without(&[]);
    if sizes.len() == 1 {
        return "yes".to_owned();
    }
    sizes.sort_unstable_by_key(|size| std::cmp::Reverse(*size));
    let shown: Vec<String> = sizes.iter().take(8).map(usize::to_string).collect();
    let more = if sizes.len() > shown.len() {
        ", ..."
    } else {
        ""
    };
    format!(
        "no: {} components, of {}{more} nodes. Peers need one: take the largest with `--largest-component`, and `topology.largest_component = true` in an experiment",
        sizes.len(),
        shown.join(", "),
    )
}

fn generate(generator: &str, nodes: usize, set: &[String], file: Option<&Path>) -> Result<()> {
    let mut parameters = toml::Table::new();
    parameters.insert(
        "generator".to_owned(),
        toml::Value::String(generator.to_owned()),
    );
    for text in set {
        let (key, value) = parse_set(text)?;
        parameters.insert(key, value);
    }
    let config = GeneratorConfig::deserialize(parameters)
        .map_err(|error| anyhow::anyhow!("{}", error.message().trim()))
        .context(
            "the generator and its parameters do not fit; `undertone topology list` shows examples",
        )?;
    let graph = config.generate(nodes)?;
    match file {
        Some(path) => {
            replace_with(path, |out| write_edges(&graph, out))
                .with_context(|| format!("cannot write {}", path.display()))?;
        }
        None => write_edges(&graph, BufWriter::new(io::stdout().lock()))?,
    }
    Ok(())
}

fn list(directory: &Path) -> Result<()> {
    let mut out = io::stdout().lock();
    writeln!(
        out,
        "generators (for [topology] tables and `undertone topology generate`):"
    )?;
    let mut rows = vec![
        ["name", "what", "parameters, for example"]
            .map(str::to_owned)
            .to_vec(),
    ];
    for entry in REGISTRY {
        let (example, _) = (entry.example)(1);
        rows.push(vec![
            entry.name.to_owned(),
            entry.summary.to_owned(),
            parameters(&example),
        ]);
    }
    table::write(&mut out, &rows)?;
    let Ok(entries) = std::fs::read_dir(directory) else {
        writeln!(
            out,
            "\nno directory {}: name the one that holds your recipes",
            directory.display()
        )?;
        return Ok(());
    };
    let mut paths: Vec<_> = entries
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .collect();
    paths.retain(|path| {
        path.extension()
            .is_some_and(|extension| extension == "toml")
    });
    paths.sort();
    writeln!(out, "\n{} (for `file = ...`):", directory.display())?;
    let mut rows = vec![
        ["file", "nodes", "edges", "spectral gap", "what"]
            .map(str::to_owned)
            .to_vec(),
    ];
    for path in paths {
        rows.push(described(&path, load_recipe(&path)?));
    }
    table::write(&mut out, &rows)?;
    Ok(())
}

fn described(path: &Path, recipe: Recipe) -> Vec<String> {
    let file = path
        .file_name()
        .map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let expected = |pick: fn(&crate::topology::Expected) -> String| {
        recipe
            .expected
            .as_ref()
            .map_or_else(|| "-".to_owned(), pick)
    };
    vec![
        file,
        expected(|e| e.nodes.to_string()),
        expected(|e| e.edges.to_string()),
        expected(|e| format!("{:.6}", e.spectral_gap)),
        recipe.description,
    ]
}

/// The keys of a generator's table, without its name.
fn parameters(config: &GeneratorConfig) -> String {
    let table = toml::Table::try_from(config).unwrap_or_default();
    let keys = table.iter().filter(|(key, _)| *key != "generator");
    keys.map(|(key, value)| format!("{key} = {value}"))
        .collect::<Vec<_>>()
        .join(", ")
}
