use super::*;
use crate::algorithm::{CovarianceTable, KrylovTable, Start};

const HEAD: &str = "[data]\npath = \"a.csv\"\nformat = \"csv-triples\"\n[privacy]\nepsilon = 1.0\n";

fn read(rest: &str) -> Result<Config, Error> {
    Config::read(&format!("{HEAD}{rest}"))
}

/// Line and caret of a refusal, and its last line.
fn refused(rest: &str) -> (String, String) {
    let text = read(rest).expect_err(rest).to_string();
    let lines: Vec<&str> = text.lines().collect();
    (lines[2..4].join("\n"), lines[lines.len() - 1].to_owned())
}

#[test]
fn what_is_wrong_in_a_table_of_an_algorithm_is_shown_where_it_stands() {
    for (rest, place, says) in [
        (
            "[algorithm]\nkind = \"krylov\"\nrank = 2\niterations = 3\nblok = 4",
            "10 | blok = 4\n   | ^^^^",
            "unknown field `blok`, expected one of `rank`, `block`",
        ),
        (
            "[algorithm]\nkind = \"power\"\nrank = 2\nblock = 4\niterations = 3",
            "9 | block = 4\n  | ^^^^^",
            "only krylov has it, since its queries are blocks; leave block out, or set algorithm.kind = \"krylov\"",
        ),
        (
            "[algorithm]\nrank = \"two\"\nkind = \"power\"\niterations = 3",
            "7 | rank = \"two\"\n  |        ^^^^^",
            "invalid type: string \"two\", expected usize",
        ),
        (
            "[algorithm]\nkind = \"power\"\nrank = 2",
            "6 | [algorithm]\n  | ^^^^^^^^^^^",
            "missing field `iterations`",
        ),
        (
            "[algorithm]\nrank = 2",
            "6 | [algorithm]\n  | ^^^^^^^^^^^",
            "missing field `kind`",
        ),
        (
            "[algorithm]\nrank = 2\nkind = \"powr\"",
            "8 | kind = \"powr\"\n  |        ^^^^^^",
            "unknown variant `powr`, expected one of `power`, `momentum`",
        ),
        (
            "[compare.algorithm]\nkind = \"krylov\"\niterations = 2\nstart = \"random\"",
            "9 | start = \"random\"\n  | ^^^^^",
            "[compare.algorithm] has start from [algorithm]",
        ),
        (
            "[compare.algorithm]\nkind = \"krylov\"\niterations = 2\nmomentum = 1.0",
            "9 | momentum = 1.0\n  | ^^^^^^^^",
            "only momentum has it",
        ),
    ] {
        let (found, text) = refused(rest);
        assert_eq!(found, place, "{rest}");
        assert!(text.contains(says), "{rest}: {text}");
    }
    // At the top of a file a key is no table's.
    let text = Config::read(&format!("algorithm = 3\n{HEAD}")).expect_err("no table");
    assert!(
        text.to_string()
            .contains("1 | algorithm = 3\n  |             ^"),
        "{text}"
    );
}

#[test]
fn tables_in_memory_name_the_key_in_place_of_the_line() {
    let of_table = |rest: &str| {
        let table = toml::from_str(&format!("{HEAD}{rest}")).expect("TOML");
        Config::of_table(table).expect_err(rest).to_string()
    };
    let text = of_table("[algorithm]\nrank = \"two\"\nkind = \"power\"\niterations = 3");
    assert!(text.contains("in `algorithm.rank`"), "{text}");
    let text = of_table("[algorithm]\nkind = \"power\"\nrank = 1\niterations = 3\nblock = 2");
    assert!(
        text.contains("algorithm.block = 2 with algorithm.kind = \"power\""),
        "{text}"
    );
}

#[test]
fn a_file_without_the_table_has_the_usual_algorithm() {
    let config = read("[compare.algorithm]\nkind = \"krylov\"\niterations = 2").expect("valid");
    assert_eq!(config.algorithm, AnyAlgorithmTable::usual());
    let compared = config.compare.expect("compared").algorithm.0;
    let krylov = KrylovTable {
        rank: 4,
        iterations: 2,
        ..KrylovTable::default()
    };
    assert_eq!(compared, krylov.into());
    let usual = toml::from_str(USUAL).expect("TOML");
    let read = AnyAlgorithmTable::of_table(usual).expect("valid");
    assert_eq!(read, AnyAlgorithmTable::usual());
}

#[test]
fn a_compared_method_shares_rank_start_and_p_where_its_kind_has_them_and_is_written_without() {
    let own = "[algorithm]\nkind = \"power\"\nrank = 3\niterations = 5\nstart = \"popularity\"\nprecondition = \"items\"\n";
    let text = format!("{own}[compare.algorithm]\nkind = \"covariance\"");
    let config = read(&text).expect("valid");
    let compared = config.compare.as_ref().expect("compared").algorithm.0;
    let AnyAlgorithmTable::Covariance(CovarianceTable {
        rank,
        start,
        precondition,
        ..
    }) = compared
    else {
        panic!("{compared:?}");
    };
    assert_eq!(
        (rank, start, precondition.is_none()),
        (3, Start::Popularity, false)
    );
    let written = toml::to_string(&config).expect("TOML");
    assert!(
        written.contains("[compare.algorithm]\nkind = \"covariance\"\niterations = 1\n"),
        "{written}"
    );
    assert_eq!(Config::read(&written).expect("valid"), config);
    let text = format!("{own}[compare.algorithm]\nkind = \"deflation\"\niterations = 2");
    assert!(read(&text).is_ok(), "deflation has no P");
}

#[test]
fn every_kind_is_written_with_its_name_first_and_read_again() {
    for text in [
        "kind = \"power\"\nrank = 2\niterations = 3\noutput = \"low-rank\"\n",
        "kind = \"momentum\"\nrank = 2\niterations = 3\nmomentum = 0.1\n",
        "kind = \"krylov\"\nrank = 2\nblock = 3\niterations = 3\n",
        "kind = \"covariance\"\nrank = 2\niterations = 1\nstart = \"popularity\"\n",
        "kind = \"isometric-covariance\"\nrank = 2\niterations = 1\n",
        "kind = \"raked-covariance\"\nrank = 2\niterations = 1\n",
        "kind = \"deflation\"\nrank = 2\niterations = 3\neigenvalue_share = 0.1\n",
        "kind = \"ppi\"\nrank = 1\niterations = 3\nscale = \"fixed\"\ncoherence = 2.0\n",
        "kind = \"streaming\"\nrank = 2\niterations = 3\narrival = \"round-robin\"\n",
        "kind = \"clipped-power\"\nrank = 2\niterations = 3\nclip = \"histogram\"\nclip_lag = true\n",
        "kind = \"spectral-ridge\"\nrank = 2\niterations = 2\n",
        "kind = \"frank-wolfe\"\nrank = 2\niterations = 3\nlocal = \"ridge\"\nmode = \"tight\"\n",
        "kind = \"svd-completion\"\nrank = 2\niterations = 1\n",
        "kind = \"projected-gradient\"\nrank = 2\niterations = 3\nnuclear = 5.0\n",
        "kind = \"pilot\"\nrank = 1\niterations = 1\n",
        "kind = \"auto\"\nrank = 2\nstart = \"popularity\"\n",
    ] {
        let table = toml::from_str(text).expect("TOML");
        let read = AnyAlgorithmTable::of_table(table).expect(text);
        assert_eq!(toml::to_string(&read).expect("TOML"), text);
    }
    assert_eq!(crate::config::algorithms::KINDS.len(), 16);
}

/// Whatever stands in the table: its numbers are checked when the data are known.
#[test]
fn every_kind_but_the_open_choice_and_completion_has_a_sketch() {
    for (name, keys) in crate::config::algorithms::KINDS {
        let mut table = toml::Table::new();
        for key in keys() {
            let value = match *key {
                "momentum" | "nuclear" | "coherence" | "clip_share" => Value::Float(f64::NAN),
                "rank" | "iterations" | "block" => Value::Integer(0),
                "clip" => Value::String("geometric".to_owned()),
                _ => continue,
            };
            table.insert((*key).to_owned(), value);
        }
        table.insert("kind".to_owned(), Value::String((*name).to_owned()));
        let read = AnyAlgorithmTable::of_table(table).expect(name);
        let sketch = read.table().sketch();
        let open = read.is_auto() || read.table().requirements().completes;
        assert_eq!(sketch.is_none(), open, "{name}");
        if let Some(program) = sketch {
            assert_eq!(program.kind(), *name);
            let ceiling = program.releases.iter().any(|one| one.ceiling.is_some());
            assert_eq!(ceiling, keys().contains(&"coherence"), "{name}");
        }
    }
}

/// A reader that does not know of files says that it needs one that does.
#[test]
fn a_kind_that_does_not_come_first_is_asked_for() {
    let read = |text: &str| toml::from_str::<AnyAlgorithmTable>(text);
    assert!(read("kind = \"covariance\"\nrank = 2").is_ok());
    let text = read("rank = 2\nkind = \"covariance\"")
        .expect_err("last")
        .to_string();
    assert!(text.contains("kind must be the first key"), "{text}");
    let text = read("rank = 2").expect_err("none").to_string();
    assert!(text.contains("missing field `kind`"), "{text}");
}
