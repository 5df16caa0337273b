//! `undertone node id`.

use std::io::{self, Write};

use anyhow::Result;

use super::super::Verdict;
use super::arguments::IdArguments;
use crate::node::store::StateView;
use crate::session::{Address, Ticket};

pub(super) fn execute(arguments: &IdArguments) -> Result<Verdict> {
    let state = StateView::open(&arguments.state.path()?)?;
    let (id, name) = state.public()?;
    let addresses = match arguments.address.is_empty() {
        false => arguments.address.clone(),
        true => {
            let mut listened = state.policy()?.listen().to_vec();
            listened.retain(|address| !is_anywhere(address));
            listened
        }
    };
    let ticket = Ticket::new(id, addresses, name)?;
    writeln!(io::stdout().lock(), "{ticket}")?;
    if ticket.addresses().is_empty() {
        eprintln!(
            "nobody can dial this peer: it has no address that others know. Name one with --address /dns4/HOST/tcp/PORT, or leave it if it only dials"
        );
    }
    Ok(Verdict::Success)
}

/// Whether an address means every interface of a host, which says nothing to others.
fn is_anywhere(address: &Address) -> bool {
    ["/ip4/0.0.0.0/", "/ip6/::/"]
        .iter()
        .any(|start| address.as_str().starts_with(start))
}
