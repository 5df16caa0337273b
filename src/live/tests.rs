//! What browsers are sent, who is refused, and that nobody who looks slows a run.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::Value;

use super::Live;
use super::picture::{MOST_LINES, Shared};
use crate::engine::{Observer, Silent, Standing};
use crate::run::run;
use crate::scenario::Experiment;
use crate::scenario::testing::sim;
use crate::vocabulary::{PeerIndex, ReleaseId, Time};

const SMALL: [&str; 5] = [
    "peers.count=12",
    "topology.degree=4",
    "data.items=40",
    "algorithm.rank=2",
    "algorithm.iterations=3",
];

fn small(set: &[&str]) -> Experiment {
    sim("../tests/power.toml", &[&SMALL, set].concat()).expect("valid")
}

/// Host and path of a page.
fn parts(live: &Live) -> (String, String) {
    let rest = live.address().strip_prefix("http://").expect("a page");
    let (host, path) = rest.split_once('/').expect("a path");
    (host.to_owned(), format!("/{path}"))
}

pub(super) fn asked(host: &str, request: &str) -> (u16, String, BufReader<TcpStream>) {
    let mut stream = TcpStream::connect(host).expect("listens");
    let limit = Some(Duration::from_secs(20));
    stream.set_read_timeout(limit).expect("a socket");
    stream.write_all(request.as_bytes()).expect("written");
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        assert!(
            reader.read_line(&mut head).expect("an answer") > 0,
            "{head}"
        );
    }
    let code = head.split(' ').nth(1).and_then(|code| code.parse().ok());
    (code.expect("a code"), head, reader)
}

pub(super) fn get(host: &str, path: &str) -> (u16, String, String) {
    let request = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
    let (code, head, mut reader) = asked(host, &request);
    let mut body = String::new();
    reader.read_to_string(&mut body).expect("text");
    (code, head, body)
}

/// The next pictures until one is wanted.
fn picture(reader: &mut BufReader<TcpStream>, is_wanted: impl Fn(&Value) -> bool) -> Value {
    let mut text = String::new();
    loop {
        let mut line = String::new();
        assert!(
            reader.read_line(&mut line).expect("an event") > 0,
            "it ended"
        );
        // A chunk of the transfer may end inside an event.
        let line = line.trim_end_matches(['\r', '\n']);
        match line.strip_prefix("data: ") {
            Some(data) => text = data.to_owned(),
            None if line.is_empty() && !text.is_empty() => {
                if let Ok(found) = serde_json::from_str(&text)
                    && is_wanted(&found)
                {
                    return found;
                }
                text.clear();
            }
            None => {}
        }
    }
}

#[test]
fn what_is_sent_in_the_end_is_what_the_summary_says() {
    for engine in ["lockstep", "event"] {
        let experiment = small(&[&format!("engine.kind={engine}")]);
        let live = Live::start(&experiment, 0, false).expect("listens");
        let mut silent = Silent;
        let mut watching = live.watch(&experiment, &mut silent);
        let report = run(&experiment, &mut watching).expect("runs");
        live.done(&report.summary);
        let (host, path) = parts(&live);
        let (code, _, body) = get(&host, &format!("{path}scene"));
        assert_eq!(code, 200);
        let scene: Value = serde_json::from_str(&body).expect("JSON");
        assert_eq!(scene["peers"], 12);
        assert_eq!(scene["links"].as_array().map(Vec::len), Some(24));
        assert_eq!(scene["epsilon"].as_array().map(Vec::len), Some(12));
        assert_eq!(scene["steps"], engine == "event");
        let request = format!("GET {path}events HTTP/1.1\r\nHost: {host}\r\n\r\n");
        let (code, head, mut events) = asked(&host, &request);
        assert_eq!(code, 200);
        assert!(
            head.to_lowercase()
                .contains("content-type: text/event-stream"),
            "{head}"
        );
        let last = picture(&mut events, |picture| picture["phase"] == "done");
        let summary = serde_json::to_value(&report.summary).expect("JSON");
        let said = &last["last"];
        assert_eq!(said["epsilon"], summary["privacy"]["epsilon"]);
        assert_eq!(said["relative_error"], summary["utility"]["relative_error"]);
        assert_eq!(said["bytes_total"], summary["communication"]["bytes_total"]);
        assert_eq!(said["messages"], summary["communication"]["messages"]);
        assert_eq!(
            said["max_disagreement"],
            summary["consensus"]["max_disagreement"]
        );
        assert_eq!(last["peers"], "f".repeat(12));
        let releases = last["releases"].as_array().expect("a list");
        assert_eq!(releases.len(), 3);
        assert_eq!(
            releases[2]["bytes"],
            summary["communication"]["bytes_total"]
        );
        assert!(releases[0]["change"].is_null());
        let change = releases[2]["change"].as_f64().expect("a number");
        assert!((1e-6..=1.0).contains(&change), "{change}");
        assert_eq!(last["done"], last["total"]);
    }
}

#[test]
fn strangers_are_refused_and_pages_load_nothing_from_elsewhere() {
    let experiment = small(&[]);
    let live = Live::start(&experiment, 0, false).expect("listens");
    let other = Live::start(&experiment, 0, false).expect("listens");
    assert!(!format!("{live:?}").contains(&parts(&live).1));
    let (host, path) = parts(&live);
    let (code, head, body) = get(&host, &path);
    assert_eq!(code, 200);
    assert!(head.contains("default-src 'none'"), "{head}");
    for page in [
        &body,
        &get(&host, &format!("{path}page.js")).2,
        &get(&host, &format!("{path}page.css")).2,
    ] {
        assert!(page.len() > 1000);
        let elsewhere = page.replace("http://www.w3.org/2000/svg", "");
        assert!(!elsewhere.contains("http:") && !elsewhere.contains("https:"));
    }
    for wrong in [
        "/",
        "/events",
        "/scene",
        &parts(&other).1,
        "/00000000000000000000000000000000/",
    ] {
        assert_eq!(get(&host, wrong).0, 404, "{wrong}");
    }
    // What a page of another site can make a browser ask, by a name that leads here.
    for named in ["example.org", "127.0.0.1", "localhost:1"] {
        let request = format!("GET {path} HTTP/1.1\r\nHost: {named}\r\nConnection: close\r\n\r\n");
        assert_eq!(asked(&host, &request).0, 403, "{named}");
    }
    let request = format!("GET {path}pause HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
    assert_eq!(asked(&host, &request).0, 405);
    let port: u16 = host
        .rsplit(':')
        .next()
        .and_then(|port| port.parse().ok())
        .expect("a port");
    let error = Live::start(&experiment, port, false)
        .expect_err("taken")
        .to_string();
    assert!(error.contains("choose another port"), "{error}");
}

#[test]
fn a_paused_run_takes_steps_and_goes_on() {
    // Some 240 arrivals an iteration.
    let experiment = small(&["engine.kind=event", "algorithm.iterations=20"]);
    let live = Live::start(&experiment, 0, true).expect("listens");
    let (host, path) = parts(&live);
    let press = |what: &str| {
        let request = format!(
            "POST {path}{what} HTTP/1.1\r\nHost: {host}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        );
        assert_eq!(asked(&host, &request).0, 200, "{what}");
    };
    let request = format!("GET {path}events HTTP/1.1\r\nHost: {host}\r\n\r\n");
    let (_, _, mut events) = asked(&host, &request);
    let is_over = Arc::new(AtomicBool::new(false));
    std::thread::scope(|scope| {
        let over = Arc::clone(&is_over);
        let (live, experiment) = (&live, &experiment);
        let running = scope.spawn(move || {
            let mut silent = Silent;
            let mut watching = live.watch(experiment, &mut silent);
            let report = run(experiment, &mut watching).expect("runs");
            over.store(true, Ordering::SeqCst);
            report
        });
        // Every exchange takes virtual time: the first thing that happens is an arrival.
        let first = picture(&mut events, |picture| picture["micros"].as_u64() > Some(0));
        assert_eq!(first["paused"], true);
        assert!(!is_over.load(Ordering::SeqCst));
        press("leap");
        let begun = first["micros"].as_u64();
        let later = picture(&mut events, |picture| picture["micros"].as_u64() > begun);
        assert_eq!(later["paused"], true);
        assert!(
            !is_over.load(Ordering::SeqCst),
            "a thousand steps are not all"
        );
        press("resume");
        let paused = running.join().expect("ends");
        let free = run(experiment, &mut Silent).expect("runs");
        assert_eq!(paused.outcome, free.outcome, "who looks changes nothing");
    });
}

/// A run that nobody lets go on ends its wait when the page is gone.
#[test]
fn a_page_that_is_gone_lets_a_paused_run_go_on() {
    let shared = Arc::new(Shared::new(2));
    shared.pause();
    std::thread::scope(|scope| {
        let waiting = Arc::clone(&shared);
        let step = scope.spawn(move || waiting.step(5));
        shared.release_brake();
        step.join().expect("goes on");
    });
    shared.step(6);
}

#[test]
fn what_goes_wrong_is_a_line_and_lines_are_bounded() {
    let shared = Shared::new(3);
    let name = |u: usize| format!("peer {u}");
    shared.step(1_500_000);
    let tell = |u, standing| shared.peer(PeerIndex(u), standing, name);
    tell(0, Standing::Published(ReleaseId(2)));
    tell(1, Standing::Crashed);
    tell(2, Standing::GaveUp(PeerIndex(1)));
    let picture = shared.picture();
    assert_eq!((picture.peers.as_str(), picture.happened), ("pdw", 2));
    assert_eq!(picture.reached, [2, 0, 0]);
    assert_eq!(picture.lines[1].text, "peer 2 gave up its link to peer 1");
    assert_eq!(picture.lines[1].micros, 1_500_000);
    tell(1, Standing::Restarted);
    tell(1, Standing::Released(ReleaseId(1)));
    tell(0, Standing::Ended);
    // A peer that there is not changes nothing.
    tell(7, Standing::Finished);
    assert_eq!(shared.picture().peers, "xrw");
    for _ in 0..2 * MOST_LINES {
        tell(2, Standing::WentOn);
    }
    let picture = shared.picture();
    assert_eq!(picture.lines.len(), MOST_LINES);
    assert_eq!(picture.happened, 4 + 2 * MOST_LINES as u64);
}

/// Everything that an observer is told reaches the one behind.
#[test]
fn what_is_watched_is_passed_on() {
    #[derive(Default)]
    struct Counts {
        released: u32,
        peers: u32,
        steps: u64,
        done: (u64, u64),
    }
    impl Observer for Counts {
        fn released(&mut self, _: &crate::engine::ReleaseRecord) {
            self.released += 1;
        }
        fn progress(&mut self, done: u64, total: u64) {
            self.done = (done, total);
        }
        fn peer(&mut self, _: PeerIndex, _: Standing) {
            self.peers += 1;
        }
        fn step(&mut self, now: Time) {
            self.steps = now.0;
        }
    }
    let experiment = small(&["engine.kind=event"]);
    let live = Live::start(&experiment, 0, false).expect("listens");
    let mut counts = Counts::default();
    run(&experiment, &mut live.watch(&experiment, &mut counts)).expect("runs");
    assert_eq!(counts.released, 3);
    // Published, released and advanced in each of three, and finished.
    assert_eq!(counts.peers, 12 * (3 * 3 + 1));
    assert!(counts.steps > 0 && counts.done.0 == counts.done.1);
}
