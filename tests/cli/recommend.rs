//! `undertone recommend`: the same list however the user's row is given, and refusals that say what to give.

use serde_json::Value;

use crate::support::scratch::Scratch;

/// A folder in which the small experiment has run.
fn ran() -> Scratch {
    let scratch = Scratch::new();
    let run = scratch.undertone("run sims/sim.toml --out out");
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    scratch
}

/// Recommends and parses the document.
fn recommended(scratch: &Scratch, arguments: &str) -> Value {
    let shown = scratch.undertone(&format!("recommend {arguments} --json"));
    assert_eq!(shown.code, Some(0), "{arguments}: {}", shown.stderr);
    serde_json::from_str(&shown.stdout).expect("one document")
}

fn items(document: &Value) -> Vec<String> {
    let list = document["recommendations"].as_array().expect("a list");
    list.iter()
        .map(|one| one["item"].as_str().expect("an id").to_owned())
        .collect()
}

const BASIS: &str = "--basis out/basis.npy --top 5";
const DATA: &str = "--data sims/ratings.csv --format csv-triples";

#[test]
fn data_experiment_and_own_row_give_one_list_of_unseen_items() {
    let scratch = ran();
    let csv = String::from_utf8(scratch.read("sims/ratings.csv")).expect("text");
    let own: Vec<&str> = csv
        .lines()
        .filter_map(|line| line.strip_prefix("u3,"))
        .map(|rest| rest.split(',').next().expect("an item"))
        .collect();
    scratch.write("own.txt", &own.join("\n"));
    let from_sim = recommended(&scratch, &format!("{BASIS} --sim sims/sim.toml --user u3"));
    let list = items(&from_sim);
    assert_eq!(list.len(), 5);
    assert!(
        list.iter().all(|item| !own.contains(&item.as_str())),
        "{list:?} {own:?}"
    );
    for other in [
        format!("{DATA} --items 20 --user u3"),
        "--row own.txt".to_owned(),
    ] {
        let document = recommended(&scratch, &format!("{BASIS} {other}"));
        assert_eq!(
            document["recommendations"], from_sim["recommendations"],
            "{other}"
        );
    }
    // Scores fall, ranks count.
    let list = from_sim["recommendations"].as_array().expect("a list");
    for (position, pair) in list.windows(2).enumerate() {
        assert_eq!(pair[0]["rank"], position + 1);
        assert!(pair[0]["score"].as_f64() >= pair[1]["score"].as_f64());
    }
    let other = recommended(&scratch, &format!("{BASIS} --sim sims/sim.toml --user u8"));
    assert_ne!(other["recommendations"], from_sim["recommendations"]);
    // Without the item list the data's own order is the basis's.
    std::fs::rename(scratch.path("out/items.csv"), scratch.path("list.csv")).expect("moved");
    let without = recommended(&scratch, &format!("{BASIS} {DATA} --items 20 --user u3"));
    assert_eq!(without["recommendations"], from_sim["recommendations"]);
    let named = recommended(
        &scratch,
        &format!("{BASIS} --items-file list.csv --row own.txt"),
    );
    assert_eq!(named["recommendations"], from_sim["recommendations"]);
}

/// P comes from the item list, or from the experiment where there is none, and decides the list.
#[test]
fn a_basis_of_p_a_p_is_scored_with_p() {
    let set = "--set algorithm.precondition=items --set algorithm.precondition_exponent=0.4";
    let scratch = Scratch::new();
    let run = scratch.undertone(&format!("run sims/sim.toml --out out {set}"));
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let from = |arguments: &str| recommended(&scratch, &format!("{BASIS} {arguments}"));
    let listed = from("--sim sims/sim.toml --user u3");
    std::fs::rename(scratch.path("out/items.csv"), scratch.path("list.csv")).expect("moved");
    let from_sim = from(&format!("--sim sims/sim.toml {set} --user u3"));
    assert_eq!(from_sim["recommendations"], listed["recommendations"]);
    // Without P the scores are others.
    let without = from("--sim sims/sim.toml --user u3");
    assert_ne!(without["recommendations"], listed["recommendations"]);
}

#[test]
fn the_item_list_names_every_row_of_the_basis_with_its_degree() {
    let scratch = ran();
    let list = String::from_utf8(scratch.read("out/items.csv")).expect("text");
    let ratings = String::from_utf8(scratch.read("sims/ratings.csv")).expect("text");
    let mut rows = list.lines();
    assert_eq!(rows.next(), Some("row,item,degree"));
    let rows: Vec<Vec<&str>> = rows.map(|row| row.split(',').collect()).collect();
    assert_eq!(rows.len(), 20);
    for (number, row) in rows.iter().enumerate() {
        let rated = format!(",{},", row[1]);
        let degree = ratings.lines().filter(|line| line.contains(&rated)).count();
        assert_eq!(
            (row[0], row[2]),
            (&*number.to_string(), &*degree.to_string())
        );
    }
}

#[test]
fn held_out_items_are_not_in_the_row_of_the_experiment() {
    let scratch = Scratch::new();
    let run = scratch.undertone("run sims/sim.toml --out out --set evaluation.holdout=0.5 --json");
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let summary: Value = serde_json::from_str(&run.stdout).expect("one document");
    let found = &summary["recommendation"];
    for key in ["top", "users_evaluated", "recall", "ndcg"] {
        assert!(found[key].is_number(), "{key}: {found}");
    }
    for run in ["central", "non_private", "exact", "popularity"] {
        assert!(
            found[run]["recall"].is_number() && found[run]["ndcg"].is_number(),
            "{run}: {found}"
        );
    }
    let used = |set: &str| {
        let document = recommended(
            &scratch,
            &format!("{BASIS} --sim sims/sim.toml --user u3 {set}"),
        );
        document["interactions_used"].as_u64().expect("a number")
    };
    assert!(used("--set evaluation.holdout=0.5") < used(""));
    let table = scratch.undertone("run sims/sim.toml --out table -v --set evaluation.holdout=0.5");
    for words in [
        "held out: ",
        "recall@20",
        "most popular",
        "exact eigenvectors",
    ] {
        assert!(table.stdout.contains(words), "{words}: {}", table.stdout);
    }
}

#[test]
fn a_test_file_is_matched_by_name() {
    let scratch = Scratch::new();
    scratch.write(
        "sims/test.csv",
        "user,item,rating\nnobody,i1,5\nu2,i1,5\nu2,new,5\nu1,i29,5\n",
    );
    let run =
        scratch.undertone("run sims/sim.toml --out out --set evaluation.test=test.csv --json");
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let summary: Value = serde_json::from_str(&run.stdout).expect("one document");
    let held_out = &summary["recommendation"]["held_out"];
    assert_eq!(held_out["test_users"], 2);
    assert_eq!(held_out["unknown_users"], 1);
    assert!(
        held_out["with_unknown_items"].as_u64() >= Some(1),
        "{held_out}"
    );
    assert_eq!(summary["data"]["interactions_held_out"], 0);
    // The written configuration finds the file from elsewhere.
    let again = scratch.undertone("run out/config.toml --out again");
    assert_eq!(again.code, Some(0), "{}", again.stderr);
    assert_eq!(
        scratch.read("out/basis.npy"),
        scratch.read("again/basis.npy")
    );
}

#[test]
fn titles_are_shown_where_known() {
    let scratch = ran();
    let list = recommended(&scratch, &format!("{BASIS} --sim sims/sim.toml --user u3"));
    let first = items(&list)[0].clone();
    scratch.write("titles.csv", &format!("id,title\n{first},\"First, The\"\n"));
    let shown = scratch.undertone(&format!(
        "recommend {BASIS} --sim sims/sim.toml --user u3 --titles titles.csv"
    ));
    assert_eq!(shown.code, Some(0), "{}", shown.stderr);
    assert!(shown.stdout.contains("First, The"), "{}", shown.stdout);
    assert!(shown.stdout.lines().count() >= 7, "{}", shown.stdout);
}

#[test]
fn refusals_say_what_was_found_and_what_to_give() {
    let scratch = ran();
    scratch.write("none.txt", "unheard-of\n");
    scratch.write("bad.npy", "not an array");
    let refused: [(&str, &[&str]); 9] = [
        ("--basis out/basis.npy", &["--data", "--sim", "--row"]),
        ("--basis out/basis.npy --sim sims/sim.toml", &["--user"]),
        (
            "--basis out/basis.npy --data sims/ratings.csv --user u1",
            &["--format"],
        ),
        (
            "--basis out/basis.npy --sim sims/sim.toml --user 99",
            &["\"99\"", "40 users", "\"u0\""],
        ),
        (
            "--basis out/basis.npy --row none.txt",
            &["none", "20 items"],
        ),
        (
            "--basis bad.npy --sim sims/sim.toml --user u1",
            &["bad.npy", "no NumPy array"],
        ),
        (
            "--basis gone.npy --sim sims/sim.toml --user u1",
            &["gone.npy", "check the path"],
        ),
        (
            "--basis out/trace.npy --items-file out/metrics.csv --row none.txt",
            &["metrics.csv", "row,item,degree"],
        ),
        (
            "--basis out/basis.npy --data sims/ratings.csv --format csv --user u1",
            &["csv-triples"],
        ),
    ];
    for (arguments, words) in refused {
        let shown = scratch.undertone(&format!("recommend {arguments}"));
        assert_eq!(shown.code, Some(2), "{arguments}: {}", shown.stderr);
        for word in words {
            assert!(
                shown.stderr.contains(word),
                "{arguments}: no {word:?} in {}",
                shown.stderr
            );
        }
        assert!(!shown.stderr.contains("panicked"), "{}", shown.stderr);
    }
    std::fs::remove_file(scratch.path("out/items.csv")).expect("there");
    for (arguments, words) in [
        (
            "--basis out/basis.npy --row none.txt",
            ["items.csv", "--items-file"],
        ),
        (
            "--basis out/basis.npy --data sims/ratings.csv --format csv-triples --user u1",
            ["20 rows", "30 items"],
        ),
    ] {
        let shown = scratch.undertone(&format!("recommend {arguments}"));
        assert_eq!(shown.code, Some(2), "{arguments}: {}", shown.stderr);
        assert!(
            words.iter().all(|word| shown.stderr.contains(word)),
            "{}",
            shown.stderr
        );
    }
}

#[test]
fn an_evaluation_that_cannot_be_made_is_refused_by_key() {
    let scratch = Scratch::new();
    for (set, words) in [
        (
            "--set evaluation.holdout=1.5",
            ["[evaluation] holdout", "1.5"],
        ),
        ("--set evaluation.top=0", ["[evaluation] top", "at least 1"]),
        (
            "--set evaluation.reference_floor=0",
            ["reference_floor", "at least 1"],
        ),
        (
            "--set evaluation.test=../x/../gone.csv --set data.obtain=library",
            [
                "[evaluation] there is no file gone.csv: put it there",
                "set evaluation.test to where it is; to obtain it: library",
            ],
        ),
        (
            "--set evaluation.holdout=0.2 --set evaluation.test=ratings.csv",
            ["holdout", "not both"],
        ),
    ] {
        let shown = scratch.undertone(&format!("run sims/sim.toml --out out {set}"));
        assert_eq!(shown.code, Some(2), "{set}: {}", shown.stderr);
        assert!(
            words.iter().all(|word| shown.stderr.contains(word)),
            "{set}: {}",
            shown.stderr
        );
    }
}
