//! `node status --live` in a real browser, of members that wait, run, stop, and of nobody.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::browser::{Browser, Look};
use super::count;
use super::pictures::{self, Picture};
use crate::nodes::group::Group;

/// A page of a member; its process is ended when this is dropped.
struct Page {
    child: Child,
    address: String,
}

impl Drop for Page {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn page(group: &Group, member: usize) -> Page {
    let mut child = Command::new(env!("CARGO_BIN_EXE_undertone"))
        .args(["node", "status", "--live", "--state"])
        .arg(group.path(&format!("member-{member}")))
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary was built");
    let errors = BufReader::new(child.stderr.take().expect("piped"));
    let line = errors.lines().next().expect("a line").expect("text");
    let address = line.split(' ').nth(1).expect("an address").to_owned();
    Page { child, address }
}

/// Everything that the page is sent and shows, as text.
fn all(browser: &mut Browser) -> String {
    let sent = browser.value("(async () => JSON.stringify([picture, await (await fetch('scene')).json(), document.documentElement.outerHTML]))()");
    sent.as_str().expect("text").to_owned()
}

fn phase(browser: &mut Browser, wanted: &str) {
    browser.until(&format!(
        "document.querySelector('#phase') && document.querySelector('#phase').dataset.phase === '{wanted}'"
    ));
}

#[test]
fn the_page_of_a_member_shows_what_the_node_says() {
    const ITERATIONS: u32 = 3000;
    let Some(mut browser) = Browser::start("the live page of a member") else {
        return;
    };
    let group = Group::new(3, ITERATIONS, &["--grace", "60", "--linger", "20"]);
    let page = page(&group, 0);
    browser.look(1000, 900, Look::Light);
    browser.open(&page.address);
    phase(&mut browser, "absent");
    // Two of three: the page says whom they wait for.
    let mut members = vec![group.start(0), group.start(1)];
    phase(&mut browser, "agreeing");
    browser.until("document.querySelector('#clock').textContent === 'join; waiting for member-2'");
    assert_eq!(count(&mut browser, "#graph circle"), 3);
    let classes = "[...document.querySelectorAll('#graph circle')].map((circle) => circle.getAttribute('class').trim()).sort().join('')";
    browser.until(&format!("{classes} === 'cno'"));
    assert_eq!(browser.value("scene.links.length"), 0);
    assert!(browser.value("scene.promise").is_null());
    // All three: values are exchanged, and every link is drawn.
    members.push(group.start(2));
    phase(&mut browser, "running");
    browser.until("picture.done > 2 && scene.links.length === 3 && scene.promise");
    browser.until(&format!("{classes} === 'cco'"));
    // It stands still while one of them does.
    let third = members[2].child.id().to_string();
    let signal = |name: &str| {
        let sent = Command::new("kill").args([name, &third]).status();
        assert!(sent.expect("kill").success());
    };
    signal("-STOP");
    let mut last = browser.value("picture.done");
    loop {
        std::thread::sleep(Duration::from_millis(1200));
        let now = browser.value("picture.done");
        if now == last {
            break;
        }
        last = now;
    }
    assert!(last.as_u64() < Some(u64::from(ITERATIONS)), "it is over");
    // What the page shows is what the command prints.
    let printed = group.ok(&["node", "status", "--state", "member-0", "--json"]);
    let printed: serde_json::Value = serde_json::from_str(&printed).expect("JSON");
    let running = &printed["running"];
    for (key, said) in [
        ("release", "release"),
        ("iteration", "iteration"),
        ("members", "members"),
        ("charged", "charged"),
        ("mu_squared", "mu_squared"),
        ("reserved", "reserved"),
    ] {
        let found = super::shown(&mut browser, key);
        assert_eq!(found.as_f64(), running[said].as_f64(), "{key}");
    }
    pictures::check(
        &mut browser,
        &Picture {
            name: "live-node",
            look: Look::Light,
            height: 900,
            left_out: &[
                // Who stands where in the list follows from keys, which are new every time; who there is was asked above.
                "peers",
                "names",
                "setting",
                "clock",
                "figure release",
                "figure iteration",
                "figure charged",
                "figure mu_squared",
                "figure seconds",
                "happened",
                "line",
                "row",
            ],
            is_sparse: true,
        },
    );
    // Nothing secret is sent: no key, no row, no path.
    let sent = all(&mut browser);
    let key = fs::read(group.path("member-0/peer.key")).expect("its own");
    let key = String::from_utf8(key).expect("text");
    // Format, secret, public id.
    let secret = key.lines().nth(1).expect("a secret");
    assert!(secret.len() > 40 && !sent.contains(secret), "a key is sent");
    for secret in [&group.path("member-0").to_string_lossy(), "rows-", "/ip4/"] {
        assert!(!sent.contains(secret), "{secret} is sent");
    }
    // A browser that asks and never reads, and one that is gone, slow nobody: the node goes on, and answers.
    let host = page.address.strip_prefix("http://").expect("a page");
    let (host, path) = host.split_once('/').expect("a path");
    let slow: Vec<_> = (0..8)
        .map(|_| {
            use std::io::Write;
            let mut stream = std::net::TcpStream::connect(host).expect("listens");
            let request = format!("GET /{path}events HTTP/1.1\r\nHost: {host}\r\n\r\n");
            stream.write_all(request.as_bytes()).expect("written");
            stream
        })
        .collect();
    signal("-CONT");
    let before = last.as_u64().expect("a number");
    browser.until(&format!("picture.done > {before}"));
    let began = Instant::now();
    group.ok(&["node", "status", "--state", "member-0", "--json"]);
    assert!(began.elapsed() < Duration::from_secs(20));
    drop(slow);
    // A member that is killed: the page says so, and goes on.
    members.remove(2).kill();
    browser.until("picture.lines.some((line) => line.text === 'member-2: connection lost')");
    members.remove(0).kill();
    phase(&mut browser, "ended");
    browser.until("document.querySelectorAll('#sessions tbody tr').length === 1");
}
