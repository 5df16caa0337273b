//! `undertone node compose`: files for container runtimes that run every member of a session.

mod docker;
mod kubernetes;
mod members;
#[cfg(test)]
mod tests;
mod yaml;

use std::path::Path;

use anyhow::{Context, Result, ensure};

use super::super::Verdict;
use super::arguments::{ComposeArguments, Format};
use crate::node::store::signature_path;
use crate::writing::replace;
use members::ComposeSession;

/// Bytes of the longest session file: what a Kubernetes config map holds, with room for its signature.
const LONGEST: u64 = 1_000_000;

pub(super) fn execute(arguments: &ComposeArguments) -> Result<Verdict> {
    let session = read(&arguments.session)?;
    if session.signature.is_none() {
        eprintln!(
            "{} is not signed: its members will refuse it. Put its convener's {} beside it, and write these files anew",
            arguments.session.display(),
            signature_path(&arguments.session).display()
        );
    }
    std::fs::create_dir_all(&arguments.out)
        .with_context(|| format!("cannot make {}", arguments.out.display()))?;
    let (name, text) = match arguments.format {
        Format::Compose => ("compose.yaml", docker::write(&session, &arguments.image)),
        Format::Kubernetes => (
            "undertone.yaml",
            kubernetes::write(&session, &arguments.image)?,
        ),
    };
    let mut files = vec![(name, text)];
    if arguments.format == Format::Compose {
        // What is mounted is what was read, so that the signature beside it holds.
        files.push(("session.toml", session.text));
        files.extend(session.signature.map(|text| ("session.toml.sig", text)));
    }
    for (name, text) in files {
        let path = arguments.out.join(name);
        replace(&path, text.as_bytes())
            .with_context(|| format!("cannot write {}", path.display()))?;
        eprintln!("wrote {}", path.display());
    }
    Ok(Verdict::Success)
}

fn read(path: &Path) -> Result<ComposeSession> {
    let shown = path.display();
    let cannot = || format!("cannot read {shown}");
    let length = std::fs::metadata(path).with_context(cannot)?.len();
    ensure!(
        length <= LONGEST,
        "{shown} is longer than {LONGEST} bytes, which no container runtime hands on"
    );
    let text = std::fs::read_to_string(path).with_context(cannot)?;
    let signature = signature_path(path);
    let signature = match signature.exists() {
        true => Some(
            std::fs::read_to_string(&signature)
                .with_context(|| format!("cannot read {}", signature.display()))?,
        ),
        false => None,
    };
    ComposeSession::of(text, signature).with_context(|| format!("{shown} cannot be deployed"))
}
