//! `data.items_file`: a public list of items, and what is refused about it and around it.

use serde_json::Value;

use crate::support::scratch::Scratch;

const RUN: &str = "run sims/sim.toml --out out --quiet";
const LISTED: &str = "--set data.items=0 --set data.items_file=items.txt";

fn summary(scratch: &Scratch) -> Value {
    serde_json::from_slice(&scratch.read("out/summary.json")).expect("JSON")
}

#[test]
fn a_list_decides_the_columns_and_what_it_drops_is_counted() {
    let scratch = Scratch::new();
    scratch.write(
        "sims/items.txt",
        "\u{feff}i3\r\ni29\r\n\r\nnobody has this\r\ni1\r\ni0\r\n",
    );
    let run = scratch.undertone(&format!("{RUN} {LISTED}"));
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let data = &summary(&scratch)["data"];
    assert_eq!(data["items_kept"], 5, "{data}");
    assert_eq!(data["items_unknown"], 1, "{data}");
    let (all, dropped) = (data["items"].as_u64(), data["items_dropped"].as_u64());
    assert_eq!(all.expect("a number"), dropped.expect("a number") + 4);
    let items = String::from_utf8(scratch.read("out/items.csv")).expect("text");
    let names: Vec<&str> = items
        .lines()
        .skip(1)
        .filter_map(|line| line.split(',').nth(1))
        .collect();
    assert_eq!(names, ["i3", "i29", "nobody has this", "i1", "i0"]);
    assert!(items.contains("2,nobody has this,0\n"), "{items}");
    // A sweep over the data's own lists and the same file twice are unaffected: the resolved configuration runs again.
    let before = scratch.read("out/basis.npy");
    let again = scratch.undertone("run out/config.toml --out again --quiet");
    assert_eq!(again.code, Some(0), "{}", again.stderr);
    assert_eq!(scratch.read("again/basis.npy"), before);
}

#[test]
fn lists_and_settings_that_do_not_fit_are_refused_with_the_way_out() {
    let scratch = Scratch::new();
    scratch.write("sims/items.txt", "i0\ni1\ni2\ni3\n");
    scratch.write("sims/twice.txt", "i0\ni1\ni0\n");
    scratch.write("sims/empty.txt", "\n\n");
    scratch.write("sims/table.txt", "row,item,degree\n0,i0,3\n");
    let of = |name: &str| format!("--set data.items=0 --set data.items_file={name}");
    for (set, words) in [
        (
            "--set data.items_file=items.txt".to_owned(),
            ["either items", "items_file"],
        ),
        (of("twice.txt"), ["twice.txt, line 3", "again"]),
        (of("empty.txt"), ["empty.txt", "no item"]),
        (of("table.txt"), ["table.txt, line 1", "one per line"]),
        (of("missing.txt"), ["missing.txt", "check the path"]),
        (
            format!("{LISTED} --set data.items_hash=00ff"),
            ["items_hash", "restore the file"],
        ),
        (
            "--set data.items_hash=00ff".to_owned(),
            ["items_hash", "items_file"],
        ),
        (
            "--set evaluation.holdout=0.2 --set privacy.adjacency=matrix".to_owned(),
            ["no function of A", "evaluation.test"],
        ),
        (
            "--set evaluation.holdout=0.2 --set privacy.adjacency=unit-spectral".to_owned(),
            ["no function of A", "adjacency = \"interaction\""],
        ),
        (
            "--set data.degree_cap=3".to_owned(),
            ["push out another", "\"swap\""],
        ),
    ] {
        let shown = scratch.undertone(&format!("{RUN} {set}"));
        assert_eq!(shown.code, Some(2), "{set}: {}", shown.stdout);
        for word in words {
            assert!(shown.stderr.contains(word), "{set}: {}", shown.stderr);
        }
    }
    // What is neighbour-preserving runs.
    for set in [
        "--set data.degree_cap=3 --set privacy.adjacency=swap",
        "--set data.degree_cap=3 --set privacy.adjacency=user --set evaluation.holdout=0.2",
        "--set privacy.adjacency=swap --set evaluation.holdout=0.2",
    ] {
        let shown = scratch.undertone(&format!("{RUN} {set}"));
        assert_eq!(shown.code, Some(0), "{set}: {}", shown.stderr);
    }
}
