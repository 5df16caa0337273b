//! `undertone node status --live`: the running node on a page.

use std::sync::atomic::Ordering;
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::Result;
use serde_json::Value;

use super::super::Verdict;
use super::super::interrupted::interrupted;
use super::arguments::StatusArguments;
use super::status::{running, written};
use crate::live::{Asked, MemberPage};
use crate::node::store::StateView;

/// How often the node is asked, whoever looks.
const EVERY: Duration = Duration::from_millis(500);
/// How often the journals are read again, at most.
const READ_EVERY: Duration = Duration::from_secs(2);
/// The share of the time that is spent on them, at most, as one part of so many: the ledger is verified with them, and grows.
const READ_SHARE: u32 = 20;
/// How soon an interruption is noticed.
const MOMENT: Duration = Duration::from_millis(50);

/// Asks and shows until it is interrupted. A node that stops may start again.
pub(super) fn execute(arguments: &StatusArguments, port: u16) -> Result<Verdict> {
    let state = StateView::open(&arguments.state.path()?)?;
    let ends = interrupted();
    let page = MemberPage::start(port)?;
    eprintln!("live: {} stays until Ctrl-C", page.address());
    let mut ran = None;
    let mut next_reading = Instant::now();
    loop {
        let mut asked = Asked::default();
        let answer = running(&state);
        let runs = matches!(answer, Ok(Some(_)));
        let answer = answer.and_then(|running| {
            asked.running = running;
            asked.members = members(&state)?;
            Ok(())
        });
        let mut error = answer.err().map(|error| error.to_string());
        // A session that has begun or ended is in the journals.
        if ran != Some(runs) || Instant::now() >= next_reading {
            let began = Instant::now();
            match written(&state) {
                Ok(sessions) => asked.sessions = Some(Value::Array(sessions)),
                Err(problem) => error = Some(problem.to_string()),
            }
            ran = Some(runs);
            next_reading = Instant::now() + READ_EVERY.max(READ_SHARE * began.elapsed());
        }
        asked.error = error;
        page.show(&asked);
        let next = Instant::now() + EVERY;
        while Instant::now() < next {
            if ends.load(Ordering::Relaxed) {
                return Ok(Verdict::Success);
            }
            sleep(MOMENT);
        }
    }
}

/// Who takes part in the session of the node that runs here.
fn members(state: &StateView) -> Result<Option<Value>, crate::node::store::StoreError> {
    #[cfg(unix)]
    return crate::node::store::ask(
        &state.control_socket(),
        crate::node::store::Asked::Members {},
    );
    #[cfg(not(unix))]
    Err(crate::node::store::StoreError::Unsupported)
}
