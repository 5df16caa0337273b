//! What README.md tells people to type works, and what it shows is what they see.

use std::fs;
use std::path::Path;

use crate::support::command::undertone_in;
use crate::support::repository;

const RUN: &str = "cargo run --release -- ";
const QUICKSTART: &str = "run sims/quickstart.toml";

/// A fenced block.
#[derive(Debug, PartialEq)]
struct Block {
    language: String,
    lines: Vec<String>,
}

/// The fenced blocks of a Markdown document, in order.
fn blocks(markdown: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Option<Block> = None;
    for line in markdown.lines() {
        match (line.strip_prefix("```"), open.take()) {
            (Some(language), None) => {
                open = Some(Block {
                    language: language.trim().to_owned(),
                    lines: Vec::new(),
                });
            }
            (Some(_), Some(block)) => blocks.push(block),
            (None, Some(mut block)) => {
                block.lines.push(line.to_owned());
                open = Some(block);
            }
            (None, None) => {}
        }
    }
    assert!(open.is_none(), "a fenced block is not closed");
    blocks
}

/// The lines of all `sh` blocks, comments and blank lines left out.
fn commands(blocks: &[Block]) -> Vec<&str> {
    let shell = blocks.iter().filter(|block| block.language == "sh");
    shell
        .flat_map(|block| &block.lines)
        .map(|line| line.split(" #").next().unwrap_or_default().trim())
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .collect()
}

/// Splits a command line at spaces outside single or double quotes.
fn arguments(command: &str) -> Vec<String> {
    let mut all = vec![String::new()];
    let mut quote = None;
    for c in command.chars() {
        match (c, quote) {
            ('\'' | '"', None) => quote = Some(c),
            (c, Some(open)) if c == open => quote = None,
            (' ', None) => all.push(String::new()),
            (c, _) => all.last_mut().expect("never empty").push(c),
        }
    }
    all.retain(|argument| !argument.is_empty());
    all
}

/// The block that shows what the quickstart prints: the next one after its command, in language `text`.
fn shown_output(blocks: &[Block]) -> Option<&Block> {
    let quickstart = format!("{RUN}{QUICKSTART}");
    let at = blocks
        .iter()
        .position(|block| block.lines.contains(&quickstart))?;
    blocks.get(at + 1).filter(|block| block.language == "text")
}

/// Lines that do not vary from machine to machine.
fn lasting<'a>(lines: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    lines
        .filter(|line| !line.starts_with("took"))
        .map(str::trim_end)
        .collect()
}

fn readme() -> Vec<Block> {
    let text = fs::read_to_string(repository("README.md"))
        .expect("README.md is missing at the root of the repository: these tests run what it says");
    blocks(&text)
}

/// A copy of what commands need, so that they write nothing into the repository.
fn workplace() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for part in ["sims", "topologies"] {
        copy(&repository(part), &folder.path().join(part));
    }
    folder
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir(to).expect("writable");
    for entry in fs::read_dir(from).expect("readable") {
        let entry = entry.expect("readable");
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).expect("copies");
        }
    }
}

/// Whether a command starts the engine that needs the feature `node`.
fn needs_libp2p(arguments: &[String]) -> bool {
    let engine = arguments.iter().position(|argument| argument == "--engine");
    if let Some(at) = engine {
        return arguments
            .get(at + 1)
            .is_some_and(|engine| engine == "swarm");
    }
    let sims = arguments
        .iter()
        .filter(|argument| argument.starts_with("sims/"));
    arguments[0] != "privacy"
        && sims
            .filter_map(|sim| fs::read_to_string(repository(sim)).ok())
            .any(|text| {
                text.lines()
                    .any(|line| line.starts_with("kind = \"swarm\""))
            })
}

#[test]
fn every_command_of_the_readme_is_of_a_kind_that_is_tested() {
    let blocks = readme();
    let commands = commands(&blocks);
    for command in &commands {
        let known = command.starts_with(RUN) || command.starts_with("cargo test");
        assert!(known, "teach this test how to try `{command}`");
    }
    assert!(
        commands
            .iter()
            .any(|command| command.starts_with("cargo test"))
    );
    assert!(commands.contains(&format!("{RUN}{QUICKSTART}").as_str()));
}

#[test]
fn every_command_of_the_readme_works() {
    let folder = workplace();
    for command in commands(&readme()) {
        let Some(rest) = command.strip_prefix(RUN) else {
            continue;
        };
        let arguments = arguments(rest);
        if !cfg!(feature = "node") && needs_libp2p(&arguments) {
            crate::support::skipped(format_args!("`{command}` needs the feature `node`"));
            continue;
        }
        let shown = undertone_in(folder.path(), &arguments);
        assert_eq!(shown.code, Some(0), "`{command}`: {}", shown.stderr);
        assert_ne!(shown.stdout, "", "`{command}` shows nothing");
        if arguments.iter().any(|argument| argument == "--json") {
            let document = serde_json::from_str::<serde_json::Value>(&shown.stdout);
            assert!(document.is_ok(), "`{command}`: {document:?}");
        }
    }
}

#[test]
fn the_readme_shows_what_the_quickstart_prints() {
    let blocks = readme();
    let shown = shown_output(&blocks)
        .expect("the quickstart command is followed by a ```text block with its output");
    let printed = undertone_in(workplace().path(), &arguments(QUICKSTART)).stdout;
    let expected = lasting(printed.lines());
    assert_eq!(
        lasting(shown.lines.iter().map(String::as_str)),
        expected,
        "README.md should show:\n{printed}"
    );
    let varying = shown.lines.iter().filter(|line| line.starts_with("took"));
    assert_eq!(varying.count(), 1, "time and memory are shown");
}

const SAMPLE: &str = "# Title\n\n```sh\ncargo run --release -- run sims/quickstart.toml\n```\n\ntext\n\n```text\nresult 1\n\
took 2 s\n```\n\n```sh\n# comment\ncargo test   # all of it\n\n  cargo run --release -- topology list\n```\n";

#[test]
fn blocks_and_commands_are_found() {
    let found = blocks(SAMPLE);
    let languages: Vec<&str> = found.iter().map(|block| block.language.as_str()).collect();
    assert_eq!(languages, ["sh", "text", "sh"]);
    assert_eq!(
        commands(&found),
        [
            &format!("{RUN}{QUICKSTART}"),
            "cargo test",
            &format!("{RUN}topology list")
        ]
    );
    let shown = shown_output(&found).expect("a text block follows");
    assert_eq!(shown.lines, ["result 1", "took 2 s"]);
    assert_eq!(
        lasting(shown.lines.iter().map(String::as_str)),
        ["result 1"]
    );
}

#[test]
fn output_that_is_elsewhere_or_unmarked_is_not_found() {
    assert_eq!(
        shown_output(&blocks(&SAMPLE.replace("```text", "```"))),
        None
    );
    assert_eq!(
        shown_output(&blocks(&SAMPLE.replace("quickstart", "other"))),
        None
    );
}

#[test]
#[should_panic(expected = "not closed")]
fn a_block_that_is_not_closed_is_noticed() {
    blocks("```sh\ncargo test\n");
}

#[test]
fn arguments_keep_quoted_spaces() {
    let split = arguments("run a.toml  --set 'topology={generator = \"ring\"}' --json");
    assert_eq!(
        split,
        [
            "run",
            "a.toml",
            "--set",
            "topology={generator = \"ring\"}",
            "--json"
        ]
    );
}

#[test]
fn commands_that_need_libp2p_are_known() {
    let needs = |command: &str| needs_libp2p(&arguments(command));
    assert!(needs("run sims/swarm-64.toml"));
    assert!(needs("verify sims/quickstart.toml --engine swarm"));
    assert!(!needs("run sims/swarm-64.toml --engine lockstep"));
    assert!(!needs("run sims/quickstart.toml"));
    assert!(!needs("privacy sims/swarm-64.toml"));
}
