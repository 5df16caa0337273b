//! What a page of a node shows of what the node answers, whatever that is.

use serde_json::{Value, json};

use super::member::{Listed, Running, letters, tell};
use super::picture::{Happened, MOST_LINES};
use super::tests::{asked, get};
use super::{Asked, MemberPage};

fn running(change: &Value) -> Value {
    let mut all = json!({
        "session": "5c1e", "name": "group", "stage": "running", "step": "contribute to release 2",
        "missing": [], "disconnected": [], "without": [], "members": 4, "release": 1, "releases": 3,
        "iteration": 1, "charged": 2, "mu_squared": 0.25, "reserved": 0.75, "seconds": 3.5,
    });
    for (key, value) in change.as_object().expect("an object") {
        all[key] = value.clone();
    }
    all
}

fn members(links: &Value) -> Value {
    json!({
        "session": "5c1e", "name": "group", "own": "a", "members": ["a", "b", "c", "d"], "far": ["d"], "links": links,
        "promise": { "epsilon": 1.5, "delta": 1e-6, "colluders": 1, "adjacency": "user" },
    })
}

/// Host, path, and the scene and picture that a browser would be sent first.
fn seen(page: &MemberPage) -> (Value, Value) {
    let rest = page.address().strip_prefix("http://").expect("a page");
    let (host, path) = rest.split_once('/').expect("a path");
    let scene = get(host, &format!("/{path}scene")).2;
    let request = format!("GET /{path}events HTTP/1.1\r\nHost: {host}\r\n\r\n");
    let (code, _, events) = asked(host, &request);
    assert_eq!(code, 200);
    let lines = std::io::BufRead::lines(events).map_while(Result::ok);
    let data = lines
        .filter_map(|line| line.strip_prefix("data: ").map(str::to_owned))
        .next()
        .expect("an event");
    let read = |text: &str| serde_json::from_str(text).expect("JSON");
    (read(&scene), read(&data))
}

#[test]
fn what_a_node_answers_is_shown() {
    let page = MemberPage::start(0).expect("listens");
    assert_eq!(format!("{page:?}"), "MemberPage");
    page.show(&Asked::default());
    let (scene, picture) = seen(&page);
    assert_eq!(
        (&scene["kind"], &picture["phase"]),
        (&json!("node"), &json!("absent"))
    );
    // Before they have agreed everybody has a place, and nobody a link.
    let mut asked = Asked {
        running: Some(running(
            &json!({ "stage": "agreeing", "missing": ["b"], "disconnected": ["b"] }),
        )),
        members: Some(members(&json!([]))),
        sessions: Some(
            json!([{ "session": "5c1e", "stage": "joined", "releases": 0, "charged": 0.0, "reserved": 0.75, "more": 1 }]),
        ),
        error: None,
    };
    page.show(&asked);
    let (scene, picture) = seen(&page);
    assert_eq!(scene["places"].as_array().map(Vec::len), Some(8));
    assert_eq!(
        (&scene["edges"], &scene["version"], &picture["scene"]),
        (&json!(0), &json!(1), &json!(1))
    );
    assert_eq!(picture["peers"], "oncw");
    assert_eq!(picture["sessions"][0]["stage"], "joined");
    assert_eq!(
        scene["promise"],
        "(1.5, 1e-6)-differentially private against any one curious member that also sees all messages; one record: user"
    );
    asked.running = Some(running(&json!({})));
    asked.members = Some(members(&json!([[0, 1], [1, 2], [2, 3], [0, 3]])));
    asked.sessions = None;
    page.show(&asked);
    let (scene, picture) = seen(&page);
    assert_eq!((&scene["edges"], &picture["scene"]), (&json!(4), &json!(2)));
    assert_eq!(
        (&picture["done"], &picture["total"]),
        (&json!(1), &json!(3))
    );
    assert_eq!(
        picture["figures"][0],
        json!(["release", "releases averaged", 1, "1 of 3"])
    );
    let lines: Vec<_> = picture["lines"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|line| line["text"].clone())
        .collect();
    assert_eq!(
        lines,
        [
            "a node runs: members join and agree on list, beacon and plan",
            "all have agreed; values are exchanged",
            "b is connected"
        ]
    );
    // The same again is the same scene; what is unanswered stays as it was, and says why.
    page.show(&asked);
    page.show(&Asked {
        error: Some("no answer".to_owned()),
        ..Asked::default()
    });
    let (scene, picture) = seen(&page);
    assert_eq!(
        (&scene["version"], &picture["phase"], &picture["error"]),
        (&json!(2), &json!("running"), &json!("no answer"))
    );
    page.show(&Asked {
        sessions: Some(json!([{ "session": "5c1e", "stage": "done" }])),
        ..Asked::default()
    });
    let (_, picture) = seen(&page);
    assert_eq!(
        (&picture["phase"], &picture["step"], &picture["error"]),
        (&json!("ended"), &json!("done"), &Value::Null)
    );
}

#[test]
fn answers_of_another_form_are_said_and_graphs_that_are_none_are_not_drawn() {
    let page = MemberPage::start(0).expect("listens");
    let asked = Asked {
        running: Some(running(&json!({ "release": "third" }))),
        members: Some(members(&json!([[0, 9]]))),
        sessions: Some(json!("none")),
        error: None,
    };
    page.show(&asked);
    let (scene, picture) = seen(&page);
    let error = picture["error"].as_str().expect("text");
    assert!(error.contains("use one version for both"), "{error}");
    assert_eq!(picture["phase"], "absent");
    assert_eq!(
        (&scene["places"], &scene["names"], &scene["links"]),
        (&json!([]), &json!([]), &json!([]))
    );
    // Larger than any session may be, and than is drawn.
    let names: Vec<String> = (0..200).map(|i| i.to_string()).collect();
    page.show(&Asked {
        running: Some(running(&json!({}))),
        members: Some(json!({ "session": "5c1e", "own": "0", "members": names })),
        sessions: Some(Value::Array(vec![json!({}); 1000])),
        error: None,
    });
    let (scene, picture) = seen(&page);
    assert_eq!(
        (&scene["peers"], &scene["names"]),
        (&json!(200), &json!([]))
    );
    assert_eq!(picture["sessions"].as_array().map(Vec::len), Some(100));
    assert_eq!(picture["all_sessions"], 1000);
}

/// There is nothing to press, and nobody else is answered.
#[test]
fn a_node_cannot_be_paused() {
    let page = MemberPage::start(0).expect("listens");
    let rest = page.address().strip_prefix("http://").expect("a page");
    let (host, path) = rest.split_once('/').expect("a path");
    for button in ["pause", "step", "leap", "resume"] {
        let request = format!(
            "POST /{path}{button} HTTP/1.1\r\nHost: {host}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        );
        assert_eq!(asked(host, &request).0, 404, "{button}");
    }
    assert_eq!(get(host, "/scene").0, 404);
    let request = format!("GET /{path} HTTP/1.1\r\nHost: example.org\r\nConnection: close\r\n\r\n");
    assert_eq!(asked(host, &request).0, 403);
}

#[test]
fn letters_say_how_members_are() {
    let read = |value: Value| -> Listed { serde_json::from_value(value).expect("members") };
    let listed = read(members(&json!([])));
    let told =
        |change: Value| -> Running { serde_json::from_value(running(&change)).expect("running") };
    for (change, expected) in [
        (json!({}), "occw"),
        (
            json!({ "disconnected": ["b", "c"], "missing": ["c", "d"] }),
            "onnm",
        ),
        (json!({ "without": ["b"], "disconnected": ["b"] }), "oxcw"),
        (json!({ "stage": "done", "missing": ["c"] }), "ffmf"),
        (
            json!({ "stage": "done", "missing": ["c"], "disconnected": ["b", "c"], "without": ["d"] }),
            "ffnx",
        ),
    ] {
        assert_eq!(
            letters(&listed, &told(change.clone())),
            expected,
            "{change}"
        );
    }
}

#[test]
fn what_has_happened_is_told_once_and_bounded() {
    let told =
        |change: Value| -> Running { serde_json::from_value(running(&change)).expect("running") };
    let mut happened = Happened::default();
    let first = told(json!({ "disconnected": ["b"] }));
    tell(None, Some(&first), &mut happened);
    tell(Some(&first), Some(&first), &mut happened);
    assert_eq!(happened.count, 1);
    let second = told(json!({ "without": ["b"], "disconnected": ["c"], "seconds": 4.0 }));
    tell(Some(&first), Some(&second), &mut happened);
    let texts: Vec<_> = happened
        .lines()
        .into_iter()
        .map(|line| line.text)
        .skip(1)
        .collect();
    assert_eq!(texts, ["the others go on without b", "c: connection lost"]);
    // A process that started again begins anew.
    let again = told(json!({ "seconds": 0.5 }));
    tell(Some(&second), Some(&again), &mut happened);
    tell(Some(&again), None, &mut happened);
    let lines = happened.lines();
    assert_eq!(
        lines[3].text,
        "a node runs: all have agreed; values are exchanged"
    );
    assert_eq!(
        (lines[4].text.as_str(), lines[4].micros),
        ("the node has stopped", 500_000)
    );
    for _ in 0..MOST_LINES {
        tell(None, Some(&first), &mut happened);
    }
    assert_eq!(happened.lines().len(), MOST_LINES);
    assert_eq!(happened.count, 5 + MOST_LINES as u64);
    let wild = told(json!({ "seconds": -1e300 }));
    tell(None, Some(&wild), &mut happened);
    assert_eq!(happened.lines().last().expect("a line").micros, 0);
}
