//! A sweep of users' lists on the screen and on its page.

use crate::support::command::undertone;

const SIM: &str = "sims/recommender-movielens-epsilon.toml";

/// What lists are ranked by is what the screen and the page show.
#[test]
fn the_frontier_and_the_page_are_of_what_is_asked_for() {
    for (error, id, said) in [
        ("recall", "recall", "Recall@20"),
        ("ndcg", "ndcg", "NDCG@20"),
    ] {
        let out = tempfile::tempdir().expect("a temporary folder");
        let folder = out.path().to_str().expect("text");
        let mut arguments = vec!["run".to_owned(), SIM.to_owned()];
        arguments.extend(["--out".to_owned(), folder.to_owned()]);
        let error = format!("sweep.error={error}");
        let set = [
            "data.items=60",
            "peers.count=12",
            "sweep.seeds=1",
            "sweep.over={\"privacy.epsilon\"=[50]}",
            &error,
        ];
        for set in set {
            arguments.extend(["--set".to_owned(), set.to_owned()]);
        }
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let ran = undertone(&arguments);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        for text in [
            format!("{said} of the users' lists"),
            "what is popular".to_owned(),
            "auto, one person, no noise".to_owned(),
        ] {
            assert!(ran.stdout.contains(&text), "{text}: {}", ran.stdout);
        }
        let page = std::fs::read_to_string(out.path().join("report.html")).expect("a page");
        let figure = |id: &str| page.find(&format!("<figure id=\"{id}\""));
        let (own, other) = match id {
            "recall" => (figure("recall"), figure("ndcg")),
            _ => (figure("ndcg"), figure("recall")),
        };
        assert!(own.is_some() && own < other, "{id} comes first");
        assert_eq!(figure("against-non-private"), None);
        let axis = format!("{said} [ratio]");
        assert!(
            page.contains(&axis) && !page.contains("1 - "),
            "the frontier's axis"
        );
        for word in ["NaN", "inf\"", "∞"] {
            assert!(!page.contains(word), "{word}");
        }
    }
}
