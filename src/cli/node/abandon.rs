//! `undertone node abandon`.

use std::io::{self, Write};

use anyhow::{Result, bail, ensure};

use super::super::Verdict;
use super::arguments::AbandonArguments;
use crate::node::store::{Digest, Record, SessionEnd, StateDir};

/// Fewest digits that name a session.
const FEWEST: usize = 8;

pub(super) fn execute(arguments: &AbandonArguments) -> Result<Verdict> {
    let state = StateDir::open(&arguments.state.path()?)?;
    let mut ledger = state.ledger()?;
    let known = ledger.view().sessions().map(|(session, _)| *session);
    let mut sessions: Vec<Digest> = known.collect();
    let with_files = state.view().sessions()?;
    sessions.extend(with_files.iter().map(|session| session.id()));
    sessions.sort();
    sessions.dedup();
    let session = find(&arguments.session, &sessions)?;
    // The ledger first: what is free again can be charged by nobody.
    if let Some(account) = ledger.view().session(session.0) {
        let charged = account.charged().get();
        ledger.abandon(session.0)?;
        writeln!(
            io::stdout().lock(),
            "left session {session}: mu^2 = {charged:?} stays charged"
        )?;
    } else {
        writeln!(
            io::stdout().lock(),
            "left session {session}: nothing was reserved for it"
        )?;
    }
    if with_files.iter().any(|files| files.id() == session) {
        let files = state.session(session.0)?;
        let outcome = SessionEnd::Abandoned;
        // A journal that is damaged is no reason to keep secrets.
        let journal = files.journal().and_then(|mut journal| {
            let end = Record::End { outcome };
            match journal.records().last() == Some(&end) {
                true => Ok(()),
                false => Ok(journal.append(end)?),
            }
        });
        files.erase_secrets()?;
        journal?;
    }
    Ok(Verdict::Success)
}

/// The one session whose hash begins so.
fn find(start: &str, sessions: &[Digest]) -> Result<Digest> {
    ensure!(
        start.len() >= FEWEST,
        "name the session by at least {FEWEST} digits of its hash; `undertone node status` lists them"
    );
    let mut found = sessions
        .iter()
        .filter(|session| session.to_string().starts_with(start));
    match (found.next(), found.next()) {
        (Some(one), None) => Ok(*one),
        (None, _) => {
            bail!("this peer knows no session {start}; `undertone node status` lists them")
        }
        (Some(_), Some(_)) => bail!("several sessions begin with {start}: name more digits"),
    }
}
