//! `undertone node ledger`: what was spent, what is left, and the repair after a restored backup.

use std::io::{self, Write};
use std::path::Path;

use anyhow::{Context, Result};
use serde::Serialize;

use super::super::{Verdict, table};
use super::arguments::LedgerArguments;
use crate::node::store::{
    Account, Head, LedgerView, Policy, Repair, ScopeName, SessionEnd, StateDir, StateView,
};
use crate::privacy::{Adjacency, LifetimeBudget};

/// Bytes of the longest repair file.
const LONGEST_REPAIR: u64 = 1 << 20;

/// What `--json` prints.
#[derive(Serialize)]
struct Document {
    head: Head,
    /// Bytes of a last line that a crash has torn.
    torn: u64,
    scopes: Vec<Scope>,
    sessions: Vec<Session>,
}

/// One scope in one unit of protection.
#[derive(Serialize)]
struct Scope {
    scope: ScopeName,
    adjacency: Adjacency,
    /// Σ μ² charged and reserved, of all sessions that bound such a record.
    mu_squared: f64,
    /// Adjacencies of sessions that are not in the sum, since they do not bound such a record.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    uncounted: Vec<Adjacency>,
    /// The budget's ε and δ, the ε of what is held, and the ε that one more session may have; none where the policy names no such scope.
    #[serde(skip_serializing_if = "Option::is_none")]
    budget: Option<Left>,
}

#[derive(Serialize)]
struct Left {
    epsilon: f64,
    delta: f64,
    held: f64,
    left: f64,
}

#[derive(Serialize)]
struct Session {
    session: String,
    scope: ScopeName,
    adjacency: Adjacency,
    reserved: f64,
    charged: f64,
    releases: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    ended: Option<SessionEnd>,
    /// Taken up from a lost ledger: counts in full.
    adopted: bool,
}

pub(super) fn execute(arguments: &LedgerArguments) -> Result<Verdict> {
    let path = arguments.state.path()?;
    if let Some(file) = &arguments.adopt {
        let repair = read_repair(file)?;
        let state = StateDir::open(&path)?;
        state.ledger()?.adopt(repair)?;
    }
    let state = StateView::open(&path)?;
    let ledger = state.ledger()?;
    if ledger.torn() > 0 {
        super::super::warn(&[format!(
            "the last {} bytes were torn by a crash and do not count; the next run cuts them off",
            ledger.torn()
        )]);
    }
    let document = document(&ledger, &state.policy()?);
    let mut out = io::stdout().lock();
    if arguments.json {
        serde_json::to_writer_pretty(&mut out, &document).context("cannot print the ledger")?;
        writeln!(out)?;
    } else if !arguments.quiet {
        let Head { length, hash } = document.head;
        writeln!(out, "verified: {length} lines, head {hash}")?;
        if !arguments.verify {
            print(&mut out, &document)?;
        }
    }
    Ok(Verdict::Success)
}

fn read_repair(file: &Path) -> Result<Repair> {
    let shown = file.display();
    let cannot = || format!("cannot read {shown}");
    let length = std::fs::metadata(file).with_context(cannot)?.len();
    anyhow::ensure!(length <= LONGEST_REPAIR, "{shown} is too long for a repair");
    let text = std::fs::read_to_string(file).with_context(cannot)?;
    toml::from_str(&text)
        .with_context(|| {
            format!("{shown} is no repair, as `undertone node ledger --help` shows one: it lists the sessions that are missing. A ledger itself cannot be adopted")
        })
}

fn document(ledger: &LedgerView, policy: &Policy) -> Document {
    let mut pairs = ledger.scopes();
    // Scopes that nothing was spent of yet.
    for scope in policy.scopes() {
        if !pairs.iter().any(|(known, _)| known == scope) {
            pairs.push((scope.clone(), Adjacency::User));
        }
    }
    let scopes = pairs.into_iter().map(|(scope, adjacency)| {
        let held = ledger.held(&scope, adjacency);
        let budget = policy.lifetime(&scope).map(|budget| {
            let lifetime = LifetimeBudget::new(budget);
            Left {
                epsilon: budget.epsilon.get(),
                delta: budget.delta.get(),
                held: lifetime.epsilon_of(held),
                left: lifetime.epsilon_left(held),
            }
        });
        Scope {
            uncounted: ledger.uncounted(&scope, adjacency),
            scope,
            adjacency,
            mu_squared: held.get(),
            budget,
        }
    });
    let sessions = ledger.sessions().map(|(session, account)| {
        let Account {
            reservation,
            charged,
            ended,
            adopted,
        } = account;
        Session {
            session: session.to_string(),
            scope: reservation.scope.clone(),
            adjacency: reservation.adjacency,
            reserved: reservation.mu_squared.0.get(),
            charged: account.charged().get(),
            releases: charged.len(),
            ended: *ended,
            adopted: *adopted,
        }
    });
    Document {
        head: ledger.head(),
        torn: ledger.torn(),
        scopes: scopes.collect(),
        sessions: sessions.collect(),
    }
}

fn print(out: &mut impl Write, document: &Document) -> io::Result<()> {
    let heading = [
        "scope",
        "adjacency",
        "sum of mu^2",
        "epsilon spent or reserved",
        "of",
        "delta",
        "left for one session",
    ];
    let mut rows = vec![heading.map(str::to_owned).to_vec()];
    for scope in &document.scopes {
        let number = |pick: fn(&Left) -> f64| {
            let value = scope.budget.as_ref().map(pick);
            table::optional(value)
        };
        rows.push(vec![
            scope.scope.to_string(),
            scope.adjacency.to_string(),
            table::number(scope.mu_squared),
            number(|left| left.held),
            number(|left| left.epsilon),
            number(|left| left.delta),
            number(|left| left.left),
        ]);
    }
    table::write(out, &rows)?;
    for scope in &document.scopes {
        for other in &scope.uncounted {
            writeln!(
                out,
                "not in the sum of scope \"{}\" for {}: sessions planned for {other}, whose cost to such a record has no bound",
                scope.scope, scope.adjacency
            )?;
        }
    }
    if document.sessions.is_empty() {
        return writeln!(out, "\nno sessions yet");
    }
    let heading = [
        "session",
        "scope",
        "adjacency",
        "reserved",
        "charged",
        "releases",
        "state",
    ];
    let mut rows = vec![heading.map(str::to_owned).to_vec()];
    for session in &document.sessions {
        let state = match (session.adopted, session.ended) {
            (true, _) => "lost, charged in full".to_owned(),
            (false, Some(ended)) => ended.to_string(),
            (false, None) => "open".to_owned(),
        };
        rows.push(vec![
            session.session[..16].to_owned(),
            session.scope.to_string(),
            session.adjacency.to_string(),
            table::number(session.reserved),
            table::number(session.charged),
            session.releases.to_string(),
            state,
        ]);
    }
    writeln!(out)?;
    table::write(out, &rows)
}
