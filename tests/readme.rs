//! What the README and the guide tell people to type works, and what they show is what people see.

mod picture;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::support::command::undertone_in;
use crate::support::repository;

/// What runs the command from a checkout: built as tests are, or for long experiments.
const RUNS: [&str; 2] = ["cargo run -- ", "cargo run --release -- "];
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

/// What the command `undertone` is given; `None` for another command.
fn given(command: &str) -> Option<&str> {
    RUNS.iter().find_map(|run| command.strip_prefix(run))
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

/// A command and, where the next block is in language `text`, what it says the first command of its block prints.
struct Shown<'a> {
    command: &'a str,
    output: Option<&'a Block>,
}

/// All commands of a document, in order, each with the output that is shown of it.
fn shown(blocks: &[Block]) -> Vec<Shown<'_>> {
    let mut all = Vec::new();
    for (place, block) in blocks.iter().enumerate() {
        let mut output = blocks.get(place + 1).filter(|next| next.language == "text");
        for command in commands(std::slice::from_ref(block)) {
            let output = output.take();
            all.push(Shown { command, output });
        }
    }
    all
}

/// A line that stands for lines left out.
const LEFT_OUT: &str = "...";

/// Where the shown lines are not what was printed: its parts between [`LEFT_OUT`] must occur in order, line by line.
fn differs(shown: &[&str], printed: &[&str]) -> Option<String> {
    let mut rest = printed;
    for (part, lines) in shown.split(|line| *line == LEFT_OUT).enumerate() {
        if lines.is_empty() {
            continue;
        }
        let mut places = rest.windows(lines.len()).enumerate();
        match places.find(|(_, window)| *window == lines) {
            Some((place, _)) if part > 0 || place == 0 => rest = &rest[place + lines.len()..],
            _ => return Some(lines.join("\n")),
        }
    }
    (shown.last() != Some(&LEFT_OUT) && !rest.is_empty())
        .then(|| "the end is left out without a mark".to_owned())
}

/// Lines that do not vary from machine to machine.
fn lasting<'a>(lines: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    lines
        .filter(|line| !line.starts_with("took"))
        .map(str::trim_end)
        .collect()
}

/// The documents that tell people what to type: the README first, then the pages of the guide.
fn documents() -> Vec<(String, Vec<Block>)> {
    let pages = fs::read_dir(repository("src/guide")).expect("the guide is a folder of pages");
    let mut paths: Vec<String> = pages
        .map(|entry| entry.expect("readable").file_name())
        .map(|name| format!("src/guide/{}", name.to_string_lossy()))
        .filter(|path| path.ends_with(".md"))
        .collect();
    paths.sort();
    paths.insert(0, "README.md".to_owned());
    let read = |path: String| {
        let text = fs::read_to_string(repository(&path)).expect("readable");
        let blocks = blocks(&text);
        (path, blocks)
    };
    paths.into_iter().map(read).collect()
}

/// The files that a document tells people to write: the blocks whose language is followed by a path.
fn files(blocks: &[Block]) -> impl Iterator<Item = (&str, &Block)> {
    let named = |block: &Block| block.language.split_once(' ').map(|(_, path)| path.len());
    blocks.iter().filter_map(move |block| {
        let path = &block.language[block.language.len() - named(block)?..];
        Some((path, block))
    })
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
fn every_command_is_of_a_kind_that_is_tested() {
    let documents = documents();
    for (path, blocks) in &documents {
        for command in commands(blocks) {
            let known = given(command).is_some() || command.starts_with("cargo test");
            assert!(known, "{path}: teach this test how to try `{command}`");
        }
    }
    let (_, readme) = &documents[0];
    let commands = commands(readme);
    assert!(
        commands
            .iter()
            .any(|command| command.starts_with("cargo test"))
    );
    assert_eq!(commands[0], format!("{}{QUICKSTART}", RUNS[0]));
    assert!(
        shown(readme)[0].output.is_some(),
        "the quickstart's output follows it"
    );
    assert!(documents.len() > 10, "the guide has pages");
}

/// Tries the commands of a document, after those that it takes to have been typed before. A command that an earlier document or an
/// earlier line has is tried again only where the document shows what it prints.
fn works(page: &str, before: &[&str]) {
    let folder = workplace();
    let documents = documents();
    let at = documents.iter().position(|(path, _)| path == page);
    let (earlier, later) = documents.split_at(at.expect("a document"));
    let blocks = &later[0].1;
    for (name, block) in files(blocks) {
        let file = folder.path().join(name);
        assert!(!file.exists(), "{page}: {name} is there already");
        fs::write(file, block.lines.join("\n") + "\n").expect("writable");
    }
    for command in before {
        let ran = undertone_in(folder.path(), &arguments(command));
        assert_eq!(ran.code, Some(0), "{page}: `{command}`: {}", ran.stderr);
    }
    let earlier = earlier.iter().flat_map(|(_, blocks)| commands(blocks));
    let mut tried: BTreeSet<&str> = earlier.collect();
    for Shown { command, output } in shown(blocks) {
        let Some(rest) = given(command) else {
            continue;
        };
        let arguments = arguments(rest);
        if !cfg!(feature = "node") && needs_libp2p(&arguments) {
            crate::support::skipped(format_args!("`{command}` needs the feature `node`"));
            continue;
        }
        if !tried.insert(command) && output.is_none() {
            continue;
        }
        let ran = undertone_in(folder.path(), &arguments);
        assert_eq!(ran.code, Some(0), "{page}: `{command}`: {}", ran.stderr);
        assert_ne!(ran.stdout, "", "{page}: `{command}` shows nothing");
        if arguments.iter().any(|argument| argument == "--json") {
            let document = serde_json::from_str::<serde_json::Value>(&ran.stdout);
            assert!(document.is_ok(), "{page}: `{command}`: {document:?}");
        }
        if let Some(block) = output {
            let lines = lasting(block.lines.iter().map(String::as_str));
            let wrong = differs(&lines, &lasting(ran.stdout.lines()));
            assert_eq!(wrong, None, "{page}: `{command}` prints:\n{}", ran.stdout);
        }
    }
}

/// A test for each document with commands, so that they run beside one another, and the list of them.
macro_rules! every_command_works {
    ($($test:ident: $page:literal after $before:expr,)*) => {
        const WITH_COMMANDS: &[&str] = &[$($page),*];

        mod every_command_works_and_prints_what_is_shown {
            $(
                #[test]
                fn $test() {
                    super::works($page, &$before);
                }
            )*
        }
    };
}

every_command_works! {
    readme: "README.md" after [],
    algorithms: "src/guide/algorithms.md" after [],
    averaging: "src/guide/averaging.md" after [],
    campaigns: "src/guide/campaigns.md" after [],
    choosing_epsilon: "src/guide/choosing_epsilon.md" after [],
    commands: "src/guide/commands.md" after [],
    completion: "src/guide/completion.md" after [],
    cookbook: "src/guide/cookbook.md" after [],
    engines: "src/guide/engines.md" after [],
    matrices: "src/guide/matrices.md" after [],
    recommendation: "src/guide/recommendation.md" after [super::QUICKSTART],
    results: "src/guide/results.md" after [super::QUICKSTART],
    tutorial: "src/guide/tutorial.md" after [],
}

#[test]
fn every_document_with_commands_is_tried_and_no_two_write_the_same_file() {
    let documents = documents();
    let tells = |blocks: &[Block]| commands(blocks).iter().any(|one| given(one).is_some());
    let all = documents.iter().filter(|(_, blocks)| tells(blocks));
    let all: Vec<&str> = all.map(|(path, _)| path.as_str()).collect();
    assert_eq!(all, WITH_COMMANDS);
    let mut written = BTreeSet::new();
    for (path, blocks) in &documents {
        for (name, _) in files(blocks) {
            assert!(written.insert(name), "{path}: {name} is another page's");
            let known = WITH_COMMANDS.contains(&path.as_str());
            assert!(known, "{path}: nobody reads {name}");
        }
    }
}

/// The most words that the README has, code and tables included.
const MOST_WORDS: usize = 900;

/// The lengths in words of the sentences of a Markdown text, without headings, tables, lists' marks, pictures and code.
fn sentence_lengths(markdown: &str) -> Vec<usize> {
    let mut paragraphs = vec![String::new()];
    let mut in_code = false;
    for line in markdown.lines().map(str::trim) {
        in_code ^= line.starts_with("```");
        let item = line.strip_prefix("- ");
        if in_code || line.is_empty() || line.starts_with(['|', '#', '<', '!', '[', '`']) {
            paragraphs.push(String::new());
            continue;
        }
        if item.is_some() {
            paragraphs.push(String::new());
        }
        let paragraph = paragraphs.last_mut().expect("never empty");
        paragraph.push_str(item.unwrap_or(line));
        paragraph.push(' ');
    }
    let sentences = paragraphs
        .iter()
        .flat_map(|text| text.split_inclusive(". "));
    let lengths = sentences.map(|sentence| sentence.split_whitespace().count());
    lengths.filter(|length| *length > 2).collect()
}

#[test]
fn the_readme_is_short_in_plain_sentences() {
    let text = fs::read_to_string(repository("README.md")).expect("readable");
    let words = text.split_whitespace().count();
    assert!(words <= MOST_WORDS, "{words} words");
    let mut lengths = sentence_lengths(&text);
    lengths.sort_unstable();
    assert!(lengths.len() > 30, "{} sentences", lengths.len());
    assert!(lengths[lengths.len() / 2] <= 14, "{lengths:?}");
    let long = lengths.iter().filter(|length| **length > 30).count();
    assert!(20 * long <= lengths.len(), "{lengths:?}");
}

#[test]
fn sentences_are_measured() {
    let text = "# Not this\n\nOne two three. Four five\nsix seven.\n\n- Eight nine ten.\n\n```sh\nnot this either\n```\n";
    assert_eq!(sentence_lengths(text), [3, 4, 3]);
}

/// The targets of a Markdown text's links that are no addresses of other hosts.
fn linked(markdown: &str) -> Vec<&str> {
    let parts = markdown.split("](").skip(1);
    let targets = parts.filter_map(|part| part.split(')').next());
    targets.filter(|target| !target.contains("://")).collect()
}

#[test]
fn the_readme_sends_readers_to_pages_that_are_there() {
    let text = fs::read_to_string(repository("README.md")).expect("readable");
    let targets = linked(&text);
    assert!(targets.len() >= 10, "{targets:?}");
    for target in targets {
        assert!(repository(target).exists(), "the README links to {target}");
    }
    let named = text.split('`').skip(1).step_by(2);
    for path in named.filter(|name| name.contains('/') && !name.contains(' ')) {
        assert!(repository(path).exists(), "the README names {path}");
    }
}

#[test]
fn the_test_in_the_readme_is_that_of_the_example() {
    let example = fs::read_to_string(repository("examples/equivalence_test.rs")).expect("readable");
    let lines: Vec<&str> = example.lines().map(str::trim).collect();
    let (_, readme) = &documents()[0];
    let rust = readme
        .iter()
        .find(|block| block.language.starts_with("rust"));
    for line in &rust.expect("the README shows a test").lines {
        assert!(lines.contains(&line.trim()), "not in the example: {line}");
    }
}

/// A page of the guide.
fn page(name: &str) -> String {
    fs::read_to_string(repository(&format!("src/guide/{name}"))).expect("readable")
}

#[test]
fn the_guide_explains_every_key_and_every_file_of_a_run() {
    let folder = workplace();
    let keys = page("experiment_files.md");
    // The examples at its head are experiments, and what they leave out has the defaults of the tables.
    let examples = blocks(&keys);
    let mut examples = examples.iter().filter(|block| block.language == "toml");
    let mut write = |name: &str| {
        let example = examples.next().expect("the page shows two files");
        let path = folder.path().join("sims").join(name);
        fs::write(path, example.lines.join("\n")).expect("writable");
        example.lines.len()
    };
    assert!(write("short.toml") <= 6);
    write("mine.toml");
    let ran = undertone_in(folder.path(), &["run", "sims/short.toml"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let told = ran.stdout.lines().last().expect("a screen");
    assert!(
        told.starts_with("defaults: peers.count = \"users\", topology = "),
        "{told}"
    );
    let ran = undertone_in(
        folder.path(),
        &["run", "sims/mine.toml", "--trace", "--quiet"],
    );
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);

    let out = folder.path().join("out/mine");
    let written = fs::read_to_string(out.join("config.toml")).expect("written");
    let written: toml::Table = toml::from_str(&written).expect("valid");
    for (name, value) in &written {
        let table = value.as_table();
        for key in table.map_or(vec![name], |table| table.keys().collect()) {
            let named = [format!("`{key}`"), format!("`{name}.{key}`")];
            assert!(
                named.iter().any(|named| keys.contains(named.as_str())),
                "experiment_files.md does not explain {name}.{key}"
            );
        }
    }

    let results = page("results.md");
    for entry in fs::read_dir(&out).expect("readable") {
        let name = entry.expect("readable").file_name();
        let name = name.to_string_lossy();
        assert!(
            results.contains(&format!("`{name}")),
            "results.md does not explain {name}"
        );
    }
    let summary = fs::read_to_string(out.join("summary.json")).expect("written");
    let summary: serde_json::Value = serde_json::from_str(&summary).expect("valid");
    for key in summary.as_object().expect("an object").keys() {
        assert!(
            results.contains(&format!("`{key}")),
            "results.md does not explain {key}"
        );
    }
    let metrics = fs::read_to_string(out.join("metrics.csv")).expect("written");
    for column in metrics.lines().next().expect("a heading").split(',') {
        assert!(
            results.contains(&format!("`{column}`")),
            "results.md does not explain {column}"
        );
    }
}

const SAMPLE: &str = "# Title\n\n```sh\ncargo run -- run sims/quickstart.toml\n```\n\ntext\n\n```text\nresult 1\n\
took 2 s\n```\n\n```sh\n# comment\ncargo test   # all of it\n\n  cargo run --release -- topology list\n```\n";

#[test]
fn blocks_and_commands_are_found() {
    let found = blocks(SAMPLE);
    let languages: Vec<&str> = found.iter().map(|block| block.language.as_str()).collect();
    assert_eq!(languages, ["sh", "text", "sh"]);
    assert_eq!(
        commands(&found),
        [
            &format!("{}{QUICKSTART}", RUNS[0]),
            "cargo test",
            &format!("{}topology list", RUNS[1])
        ]
    );
    let shown = shown(&found);
    let output = shown[0].output.expect("a text block follows");
    assert_eq!(output.lines, ["result 1", "took 2 s"]);
    assert_eq!(
        lasting(output.lines.iter().map(String::as_str)),
        ["result 1"]
    );
    assert!(shown[1..].iter().all(|shown| shown.output.is_none()));
}

#[test]
fn output_that_is_unmarked_is_not_found() {
    let found = blocks(&SAMPLE.replace("```text", "```"));
    assert!(shown(&found)[0].output.is_none());
}

#[test]
fn output_may_leave_lines_out_where_it_says_so_and_nowhere_else() {
    let printed = ["a", "b", "c", "d", "e"];
    for right in [
        &["a", "b", "c", "d", "e"][..],
        &["a", "...", "c", "d", "e"],
        &["...", "b", "...", "e"],
        &["a", "b", "..."],
    ] {
        assert_eq!(differs(right, &printed), None, "{right:?}");
    }
    for wrong in [
        &["a", "c", "d", "e"][..],
        &["b", "..."],
        &["a", "...", "x"],
        &["a", "...", "d"],
        &["a", "...", "d", "...", "c", "..."],
    ] {
        assert!(differs(wrong, &printed).is_some(), "{wrong:?}");
    }
}

#[test]
#[should_panic(expected = "not closed")]
fn a_block_that_is_not_closed_is_noticed() {
    blocks("```sh\ncargo test\n");
}

#[test]
fn files_to_be_written_are_found() {
    let found = blocks("```toml sims/a.toml\nname = \"a\"\n```\n\n```toml\nname = \"b\"\n```\n");
    let found: Vec<_> = files(&found).collect();
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].0, "sims/a.toml");
    assert_eq!(found[0].1.lines, ["name = \"a\""]);
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
