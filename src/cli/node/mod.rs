//! `undertone node`: one peer of one's own, deployed.
//!
//! Exit codes: 0 done, 1 aborted by the protocol, 2 usage, input or own policy, 3 excluded by the others, 4 local state unusable.

mod abandon;
mod arguments;
mod check;
mod compose;
mod id;
mod init;
mod invite;
mod ledger;
mod planning;
mod run;
mod simulate;
mod status;
#[cfg(feature = "live")]
mod status_page;
mod verify_evidence;

use std::path::PathBuf;

use anyhow::{Result, bail};

pub(super) use arguments::NodeCommand;

use super::Verdict;
use arguments::StateArguments;

pub(super) fn execute(command: &NodeCommand) -> Result<Verdict> {
    match command {
        NodeCommand::Init(options) => init::execute(options),
        NodeCommand::Id(options) => id::execute(options),
        NodeCommand::Invite(options) => invite::execute(options),
        NodeCommand::Check(options) => check::execute(options),
        NodeCommand::Run(options) => run::execute(options),
        NodeCommand::Ledger(options) => ledger::execute(options),
        #[cfg(feature = "live")]
        NodeCommand::Status(options) if options.live.is_some() => {
            status_page::execute(options, options.live.unwrap_or_default())
        }
        NodeCommand::Status(options) => status::execute(options),
        NodeCommand::Abandon(options) => abandon::execute(options),
        NodeCommand::Simulate(options) => simulate::execute(options),
        NodeCommand::Compose(options) => compose::execute(options),
        NodeCommand::VerifyEvidence(options) => verify_evidence::execute(options),
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
