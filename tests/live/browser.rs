//! A headless browser that does what tests ask, over a pair of pipes.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::skipped;

/// How long one answer may take: the machine may be busy with other things.
const PATIENCE: Duration = Duration::from_secs(120);

/// What the pages of a browser are told to look like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Look {
    Light,
    Dark,
}

/// A browser with one page. Ended when it is dropped.
pub(super) struct Browser {
    child: Child,
    to: ChildStdin,
    from: Receiver<Value>,
    page: Value,
    asked: u64,
    _profile: tempfile::TempDir,
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The name of a browser that is installed.
fn installed() -> Option<&'static str> {
    ["chromium", "chromium-browser", "google-chrome"]
        .into_iter()
        .find(|name| {
            let version = Command::new(name).arg("--version").output();
            version.is_ok_and(|output| output.status.success())
        })
}

impl Browser {
    /// Starts a browser, or says that this is not tested: there is none.
    pub(super) fn start(what: &str) -> Option<Self> {
        let Some(name) = installed() else {
            skipped(format_args!(
                "no browser: install chromium to see {what} tested"
            ));
            return None;
        };
        let profile = tempfile::tempdir().expect("a folder");
        // Its pipes have the numbers 3 and 4.
        let mut child = Command::new("sh")
            .args([
                "-c",
                "exec \"$@\" 3<&0 4>&1 0</dev/null 1>/dev/null",
                "sh",
                name,
            ])
            .args([
                "--headless=new",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--hide-scrollbars",
                "--remote-debugging-pipe",
            ])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("a shell");
        let to = child.stdin.take().expect("piped");
        let out = child.stdout.take().expect("piped");
        let (tell, from) = channel();
        std::thread::spawn(move || {
            let messages = BufReader::new(out).split(0).map_while(Result::ok);
            for message in messages {
                if let Ok(value) = serde_json::from_slice(&message) {
                    // Nobody listens once the test is over.
                    let _ = tell.send(value);
                }
            }
        });
        let mut browser = Self {
            child,
            to,
            from,
            page: Value::Null,
            asked: 0,
            _profile: profile,
        };
        let target = browser.ask("Target.createTarget", &json!({ "url": "about:blank" }));
        let attach = json!({ "targetId": target["targetId"], "flatten": true });
        browser.page = browser.ask("Target.attachToTarget", &attach)["sessionId"].clone();
        browser.ask("Page.enable", &json!({}));
        Some(browser)
    }

    /// Asks the browser, or its page once there is one, and waits for the answer.
    fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.asked += 1;
        let mut message = json!({ "id": self.asked, "method": method, "params": params });
        if !self.page.is_null() {
            message["sessionId"] = self.page.clone();
        }
        let mut bytes = message.to_string().into_bytes();
        bytes.push(0);
        self.to.write_all(&bytes).expect("the browser listens");
        let until = Instant::now() + PATIENCE;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let answer = self.from.recv_timeout(left);
            let answer = answer.unwrap_or_else(|_| panic!("{method}: no answer"));
            if answer["id"] == self.asked {
                assert!(answer["error"].is_null(), "{method}: {answer}");
                return answer["result"].clone();
            }
        }
    }

    /// So wide and high, light or dark.
    pub(super) fn look(&mut self, width: u32, height: u32, look: Look) {
        let size =
            json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        self.ask("Emulation.setDeviceMetricsOverride", &size);
        let value = match look {
            Look::Light => "light",
            Look::Dark => "dark",
        };
        let media = json!({ "features": [
            { "name": "prefers-color-scheme", "value": value },
            { "name": "prefers-reduced-motion", "value": "reduce" },
        ] });
        self.ask("Emulation.setEmulatedMedia", &media);
    }

    /// Opens a page, without waiting for what it will load.
    pub(super) fn open(&mut self, address: &str) {
        self.ask("Page.navigate", &json!({ "url": address }));
    }

    /// What an expression is on the page, once it is known.
    pub(super) fn value(&mut self, expression: &str) -> Value {
        let asked =
            json!({ "expression": expression, "awaitPromise": true, "returnByValue": true });
        let answer = self.ask("Runtime.evaluate", &asked);
        assert!(
            answer["exceptionDetails"].is_null(),
            "{expression}: {}",
            answer["exceptionDetails"]
        );
        answer["result"]["value"].clone()
    }

    /// Waits until this is true on the page.
    pub(super) fn until(&mut self, condition: &str) {
        let began = Instant::now();
        while self.value(&format!("Boolean({condition})")) != Value::Bool(true) {
            assert!(
                began.elapsed() < PATIENCE,
                "never: {condition}\n{}",
                self.value("document.body.innerText")
            );
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Presses a key.
    pub(super) fn press(&mut self, key: &str) {
        for kind in ["keyDown", "keyUp"] {
            let event = json!({ "type": kind, "key": key });
            self.ask("Input.dispatchKeyEvent", &event);
        }
    }

    /// A picture of the top of the page: a PNG file in base64.
    pub(super) fn picture(&mut self, width: u32, height: u32) -> String {
        let clip = json!({ "x": 0, "y": 0, "width": width, "height": height, "scale": 1 });
        let asked = json!({ "format": "png", "clip": clip, "captureBeyondViewport": true });
        let answer = self.ask("Page.captureScreenshot", &asked);
        answer["data"].as_str().expect("a picture").to_owned()
    }
}
