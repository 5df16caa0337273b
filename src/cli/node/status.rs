//! `undertone node status`: asked of the running node, or read from its journals.

use std::io::{self, Write};
use std::time::Duration;

use anyhow::Result;
use serde_json::{Value, json};

use super::super::Verdict;
use super::arguments::StatusArguments;
#[cfg(unix)]
use crate::node::store::{Asked, ask};
use crate::node::store::{Record, SessionView, StateView, StoreError};

/// How often `--watch` asks.
const EVERY: Duration = Duration::from_secs(1);

pub(super) fn execute(arguments: &StatusArguments) -> Result<Verdict> {
    let state = StateView::open(&arguments.state.path()?)?;
    let mut last = None;
    loop {
        let running = match running(&state) {
            Err(error) if is_silent(&error) => {
                eprintln!("a node runs here and does not answer; this is what it has written down");
                Some(json!({ "stage": "silent" }))
            }
            running => running?,
        };
        let runs = running.is_some();
        let status = json!({ "running": running, "sessions": written(&state)? });
        if last.as_ref() != Some(&status) {
            let mut out = io::stdout().lock();
            match arguments.json {
                true => writeln!(out, "{status}")?,
                false => print(&mut out, &status)?,
            }
            out.flush()?;
        }
        if !(arguments.watch && runs) {
            return Ok(Verdict::Success);
        }
        last = Some(status);
        std::thread::sleep(EVERY);
    }
}

/// Whether a node is there and does not answer in time.
fn is_silent(error: &StoreError) -> bool {
    use io::ErrorKind::{TimedOut, WouldBlock};
    matches!(error, StoreError::Io { source, .. } if matches!(source.kind(), TimedOut | WouldBlock))
}

/// What the node that runs here says; none if none runs.
pub(super) fn running(state: &StateView) -> Result<Option<Value>, StoreError> {
    #[cfg(unix)]
    return ask(&state.control_socket(), Asked::Status {});
    #[cfg(not(unix))]
    Err(StoreError::Unsupported)
}

/// Every session as its journal has it.
pub(super) fn written(state: &StateView) -> Result<Vec<Value>, StoreError> {
    let ledger = state.ledger()?;
    let one = |session: &SessionView| {
        let records = session.records()?;
        let done = records
            .iter()
            .filter(|record| matches!(record, Record::Done { .. }));
        let account = ledger.session(session.id().0);
        Ok(json!({
            "session": session.id(),
            "stage": stage(&records),
            "releases": done.count(),
            "scope": account.map(|account| &account.reservation.scope),
            "reserved": account.map(|account| account.reservation.mu_squared.0.get()),
            "charged": account.map(|account| account.charged().get()),
        }))
    };
    state.sessions()?.iter().map(one).collect()
}

/// How far a session has come.
fn stage(records: &[Record]) -> String {
    match records.last() {
        None => "not joined".to_owned(),
        Some(Record::Joined { .. } | Record::Listed { .. }) => "joined".to_owned(),
        Some(Record::Agreed { .. }) => "agreed".to_owned(),
        Some(Record::Begun { .. }) => "begun".to_owned(),
        Some(Record::Done { release, .. }) => format!("{release} done"),
        Some(Record::Result { .. }) => "result".to_owned(),
        Some(Record::End { outcome }) => outcome.to_string(),
    }
}

fn print(out: &mut impl Write, status: &Value) -> io::Result<()> {
    match &status["running"] {
        Value::Null => writeln!(out, "no node runs on this state directory")?,
        running => {
            writeln!(out, "a node runs on this state directory")?;
            lines(out, running)?;
        }
    }
    let sessions = status["sessions"].as_array().map_or(&[][..], Vec::as_slice);
    if sessions.is_empty() {
        writeln!(out, "no sessions yet")?;
    }
    for session in sessions {
        writeln!(out, "session {}", text(&session["session"]))?;
        let rest = session.as_object().into_iter().flatten();
        for (key, value) in rest.filter(|(key, value)| *key != "session" && !value.is_null()) {
            writeln!(out, "  {key:<10} {}", text(value))?;
        }
    }
    Ok(())
}

/// The keys of an object, one per line, without lists of nobody.
fn lines(out: &mut impl Write, value: &Value) -> io::Result<()> {
    match value.as_object() {
        Some(object) => object
            .iter()
            .filter(|(_, value)| !value.as_array().is_some_and(Vec::is_empty))
            .try_for_each(|(key, value)| writeln!(out, "  {key:<12} {}", text(value))),
        None => writeln!(out, "  {}", text(value)),
    }
}

fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(all) => all.iter().map(text).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}
