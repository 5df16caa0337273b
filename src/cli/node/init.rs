//! `undertone node init`.

use std::io::{self, Write};

use anyhow::Result;

use super::super::Verdict;
use super::arguments::InitArguments;
use crate::node::store::{StateDir, StateView, StoreError};

pub(super) fn execute(arguments: &InitArguments) -> Result<Verdict> {
    let path = arguments.state.path()?;
    if arguments.keep {
        match StateView::open(&path) {
            Ok(state) => {
                let id = state.identity()?.id();
                writeln!(io::stdout().lock(), "{id}")?;
                return Ok(Verdict::Success);
            }
            Err(StoreError::NotInitialised(_)) => {}
            Err(error) => return Err(error.into()),
        }
    }
    let state = StateDir::init(&path, &arguments.name)?;
    let (id, _) = state.view().public()?;
    writeln!(io::stdout().lock(), "{id}")?;
    let shown = path.display();
    eprintln!(
        "a new peer lives in {shown}: keep {shown}/peer.key secret, and never run two copies of it\n\
         next: read {shown}/policy.toml, then give others the line that `undertone node id --state {shown} --address ...` prints"
    );
    Ok(Verdict::Success)
}
