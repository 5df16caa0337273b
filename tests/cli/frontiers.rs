//! The frontier of a sweep on its page: every method in the table, a mark for each, a line through the best.

use crate::support::command::undertone;

/// Methods of `sims/frontier-small.toml`.
const METHODS: [&str; 6] = [
    "P1, L 3",
    "power, L 1, D 20",
    "power, L 3, D 20",
    "krylov, L 2, b 8, D 20",
    "krylov, L 3, b 16, D 20",
    "covariance, D 20",
];
/// Their algorithms, and how many methods use each.
const ALGORITHMS: [(&str, usize); 3] = [("power", 3), ("krylov", 2), ("covariance", 1)];

/// What stands between two marks of a text, the first after `from`.
fn between<'a>(text: &'a str, from: &str, to: &str) -> &'a str {
    let (_, rest) = text.split_once(from).unwrap_or_else(|| panic!("no {from}"));
    rest.split_once(to)
        .unwrap_or_else(|| panic!("no {to} after {from}"))
        .0
}

/// Elements with this tag and attribute.
fn count(drawn: &str, tags: &[&str], attribute: &str) -> usize {
    let elements = drawn.split('<');
    elements
        .filter(|element| tags.iter().any(|tag| element.starts_with(tag)))
        .filter(|element| element.contains(attribute))
        .count()
}

#[test]
fn a_page_of_a_frontier_sweep_draws_every_algorithm_and_names_every_method() {
    let out = tempfile::tempdir().expect("a temporary folder");
    let folder = out.path().to_str().expect("text");
    let set = ["--set", "data.items=40", "--set", "sweep.seeds=2"];
    let arguments = [
        &[
            "run",
            "sims/frontier-small.toml",
            "--quiet",
            "--out",
            folder,
        ][..],
        &set,
    ]
    .concat();
    let ran = undertone(&arguments);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let page = std::fs::read_to_string(out.path().join("report.html")).expect("a page");
    for word in ["NaN", "inf\"", "∞"] {
        assert!(!page.contains(word), "{word}");
    }
    let section = between(&page, "What a byte buys</h2>", "<h2");
    for (number, epsilon) in ["1", "10"].into_iter().enumerate() {
        let figure = between(
            section,
            &format!("<figure id=\"frontier-{number}\""),
            "</figure>",
        );
        let title = between(figure, "<figcaption>", "</figcaption>");
        assert!(title.starts_with(&format!("At ε = {epsilon}, ")), "{title}");
        let (drawn, legend) = figure.split_once("class=\"legend\"").expect("a legend");
        for (look, (algorithm, methods)) in ALGORITHMS.into_iter().enumerate() {
            let colour = format!("fill=\"var(--series-{look})\"");
            let marks = count(drawn, &["circle", "polygon"], &colour);
            assert_eq!(marks, methods, "{algorithm} at {epsilon}");
            assert!(legend.contains(&format!("{algorithm}</bdi>")), "{legend}");
        }
        let line = format!("stroke=\"var(--series-{})\"", ALGORITHMS.len());
        assert_eq!(count(drawn, &["polyline"], &line), 1, "the frontier");
        assert!(legend.contains("Pareto frontier</bdi>"), "{legend}");
        let caption = format!("All methods at ε = {epsilon}</caption>");
        let table = between(section, &caption, "</table>");
        for method in METHODS {
            assert_eq!(table.matches(&format!(">{method}<")).count(), 1, "{method}");
        }
    }
}
