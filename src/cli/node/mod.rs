//! `undertone node`: one peer of one's own, deployed.
//!
//! Exit codes: 0 done, 1 aborted by the protocol, 2 usage, input or own policy, 3 excluded by the others, 4 local state unusable.

mod check;
mod invite;
mod planning;
mod run;

use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::{Args, Subcommand};

use super::Verdict;

#[derive(Debug, Subcommand)]
pub(crate) enum NodeCommand {
    /// Write a session file: what is computed, who is invited, how much noise that takes
    Invite(invite::InviteArguments),
    /// What a session would cost this peer, against its own policy; refuses like `run` does
    Check(check::CheckArguments),
    /// Take part in a session
    Run(run::RunArguments),
}

/// Which peer.
#[derive(Args, Debug)]
pub(crate) struct StateArguments {
    /// The peer's own directory [default: ~/.undertone]
    #[arg(long, value_name = "DIR")]
    pub(crate) state: Option<PathBuf>,
}

pub(super) fn execute(command: &NodeCommand) -> Result<Verdict> {
    match command {
        NodeCommand::Invite(options) => invite::execute(options),
        NodeCommand::Check(options) => check::execute(options),
        NodeCommand::Run(options) => run::execute(options),
    }
}

impl StateArguments {
    /// The state directory named, or `~/.undertone`.
    pub(super) fn path(&self) -> Result<PathBuf> {
        if let Some(state) = &self.state {
            return Ok(state.clone());
        }
        match std::env::var_os("HOME") {
            Some(home) if !home.is_empty() => Ok(PathBuf::from(home).join(".undertone")),
            _ => bail!("there is no HOME to keep the peer in: name a directory with --state"),
        }
    }
}
