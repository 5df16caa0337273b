//! What a node answers when it is asked, as far as a page shows it, and what has happened between two answers.

use serde::{Deserialize, Serialize};

use super::picture::Happened;

/// The most sessions of earlier times that are shown.
const MOST_SESSIONS: usize = 100;

/// What is true of a session at a running node: `running` of what `node status --json` prints.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub(super) struct Running {
    pub(super) session: String,
    pub(super) name: String,
    pub(super) stage: String,
    pub(super) step: String,
    pub(super) missing: Vec<String>,
    pub(super) disconnected: Vec<String>,
    pub(super) without: Vec<String>,
    pub(super) members: usize,
    pub(super) release: u32,
    pub(super) releases: u32,
    pub(super) iteration: u32,
    pub(super) charged: usize,
    pub(super) mu_squared: f64,
    pub(super) reserved: f64,
    pub(super) seconds: f64,
}

/// What the session promises.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(super) struct Promised {
    epsilon: f64,
    delta: f64,
    colluders: usize,
    adjacency: String,
}

impl Promised {
    pub(super) fn sentence(&self) -> String {
        let Self {
            epsilon,
            delta,
            colluders,
            adjacency,
        } = self;
        let against = match colluders {
            0 => "whoever sees all messages, but is no member".to_owned(),
            1 => "any one curious member that also sees all messages".to_owned(),
            t => format!("any {t} curious members that also see all messages"),
        };
        format!(
            "({epsilon}, {delta:e})-differentially private against {against}; one record: {adjacency}"
        )
    }
}

/// Who takes part, and who exchanges values with whom.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub(super) struct Listed {
    pub(super) session: String,
    pub(super) name: String,
    pub(super) own: String,
    pub(super) members: Vec<String>,
    pub(super) far: Vec<String>,
    pub(super) links: Vec<(u32, u32)>,
    pub(super) promise: Option<Promised>,
}

/// A session as its journal has it: one of `sessions` of what `node status --json` prints.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Written {
    pub(super) session: String,
    pub(super) stage: String,
    releases: u64,
    scope: Option<String>,
    reserved: Option<f64>,
    charged: Option<f64>,
}

/// The first sessions, and how many there are.
pub(super) fn first(mut sessions: Vec<Written>) -> (Vec<Written>, usize) {
    let all = sessions.len();
    sessions.truncate(MOST_SESSIONS);
    (sessions, all)
}

/// How members are drawn, one letter each: own, connected, waited for, not connected, reached through others, has the result, takes part
/// no more.
pub(super) fn letters(listed: &Listed, running: &Running) -> String {
    let is_done = running.stage == "done";
    let letter = |name: &String| {
        let is_in = |names: &[String]| names.contains(name);
        let is_waited_for = is_in(&running.missing);
        if is_in(&running.without) {
            'x'
        } else if is_done && !is_waited_for {
            'f'
        } else if *name == listed.own {
            'o'
        } else if is_in(&running.disconnected) {
            'n'
        } else if is_waited_for {
            'm'
        } else if is_in(&listed.far) {
            'w'
        } else {
            'c'
        }
    };
    listed.members.iter().map(letter).collect()
}

/// Says what has happened since the node was asked last.
pub(super) fn tell(before: Option<&Running>, now: Option<&Running>, happened: &mut Happened) {
    let micros = |running: &Running| (running.seconds.max(0.0) * 1e6) as u64;
    let Some(now) = now else {
        if let Some(before) = before {
            happened.push(micros(before), "the node has stopped".to_owned());
        }
        return;
    };
    let at = micros(now);
    let mut push = |text: String| happened.push(at, text);
    // Time that runs backwards is another process.
    let same =
        before.filter(|before| before.session == now.session && before.seconds <= now.seconds);
    let Some(before) = same else {
        push(format!("a node runs: {}", stage(now)));
        return;
    };
    if before.stage != now.stage {
        push(stage(now).to_owned());
    }
    let new = |then: &[String], now: &[String]| -> Vec<String> {
        let found = now.iter().filter(|name| !then.contains(name));
        found.cloned().collect()
    };
    for name in new(&before.without, &now.without) {
        push(format!("the others go on without {name}"));
    }
    for name in new(&before.disconnected, &now.disconnected) {
        push(format!("{name}: connection lost"));
    }
    for name in new(&now.disconnected, &before.disconnected) {
        // Whoever was left out is connected no better.
        if !now.without.contains(&name) {
            push(format!("{name} is connected"));
        }
    }
}

/// A stage in words.
fn stage(running: &Running) -> &'static str {
    match running.stage.as_str() {
        "agreeing" => "members join and agree on list, beacon and plan",
        "running" => "all have agreed; values are exchanged",
        "done" => "the result is here",
        _ => "it starts",
    }
}
