//! `undertone node run`: takes part in a session.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::arguments::RunArguments;
use anyhow::{Context, Result, bail};
use time::OffsetDateTime;

use super::planning;
use crate::cli::Verdict;
use crate::data::OwnFile;
use crate::node::member::{
    Joining, MemberEnd, MemberResult, MemberRows, MemberSetup, Outset, Progress, join,
};
use crate::node::store::{Record, StateDir, signature_path};
use crate::session::Invitation;

/// The files of a result.
const RESULT: [&str; 4] = [
    "basis.npy",
    "receipt.json",
    "receipt.json.sig",
    "config.toml",
];

pub(super) fn execute(options: &RunArguments) -> Result<Verdict> {
    log_to_stderr();
    let began = Instant::now();
    let Begun { folder, outset } = begin(options, &mut |line| eprintln!("{line}"))?;
    let end = match outset {
        Outset::Joining(joining) => join(*joining, &mut |progress| print(&progress))?,
        Outset::Ended => MemberEnd::Before,
    };
    match end {
        MemberEnd::Done(result) => done(options, &folder, Some(&result), began.elapsed())?,
        MemberEnd::Before => {
            eprintln!("this session has ended before; its result again, nothing was charged");
            done(options, &folder, None, Duration::ZERO)?;
        }
    }
    Ok(Verdict::Success)
}

/// A member before anything of it has left.
struct Begun {
    /// Where its session is kept.
    folder: PathBuf,
    outset: Outset,
}

/// Everything that `node run` does before its first byte leaves, and all that it says to its operator until then.
///
/// Nothing of it depends on a row: the file is read before the session file and by its owner's rule ([`OwnFile`]), compared with it by kind and by
/// names of columns alone, and looked at again when all members are ready ([`MemberRows`]).
fn begin(options: &RunArguments, say: &mut dyn FnMut(&str)) -> Result<Begun> {
    let state = StateDir::open(&options.state.path()?)?;
    let policy = state.view().policy()?;
    let own = OwnFile::read(&options.data, options.rows.options());
    let session = planning::read_session(&options.session);
    let has_ended = match &session {
        Ok((invitation, _)) => has_recorded(&state, invitation, |record| {
            matches!(record, Record::End { .. })
        })?,
        Err(_) => false,
    };
    // What is printed again needs no rows, and may be asked for at any time. Otherwise a file that is not read is the first thing that is said.
    let own = match has_ended {
        true => None,
        false => Some(own?),
    };
    let (invitation, bytes) = session?;
    if !planning::check_signature(&invitation, &options.session, &bytes)? && !options.unsigned {
        let signature = signature_path(&options.session);
        bail!(
            "{} is not signed: nothing shows that its convener wrote it. Ask the convener for {} and put it beside it, or take the file as it is with --unsigned",
            options.session.display(),
            signature.display()
        );
    }
    let folder = state.session(invitation.hash().0)?;
    let folder = folder.view().path().to_path_buf();
    let id = state.identity()?.id();
    let (planner, deployment) =
        planning::planner(&invitation, &options.session, &options.scope, &policy)?;
    let (rows, closes_in) = match own {
        None => (MemberRows::made(deployment.no_rows()), Duration::ZERO),
        Some(own) => {
            // Whoever has begun goes on, whatever the time is.
            let tolerates = invitation.tolerates_losses();
            let has_begun = has_recorded(&state, &invitation, |record| match record {
                Record::Begun { .. } | Record::Result { .. } => true,
                Record::Agreed { .. } => !tolerates,
                _ => false,
            })?;
            let closes_in = match has_begun {
                true => Duration::ZERO,
                false => window(&invitation)?,
            };
            if invitation.member(&id).is_none() {
                bail!(
                    "{id} is not invited: ask the convener for a session file with this member's ticket"
                );
            }
            let refused = || format!("{} does not fit the session", options.data.display());
            deployment.check_columns(&own).with_context(refused)?;
            let digest = *own.digest();
            let make = move || {
                let rows = deployment
                    .own_rows(&own)
                    .map_err(|error| error.to_string())?;
                Ok(rows.rows)
            };
            (MemberRows::new(digest, make), closes_in)
        }
    };
    let listen = match options.listen.is_empty() {
        true => policy.listen().iter().map(ToString::to_string).collect(),
        false => options.listen.clone(),
    };
    let setup = MemberSetup {
        state,
        policy,
        listen,
        scope: options.scope.clone(),
        rows,
        planner,
        closes_in,
        invitation,
    };
    let name = setup.invitation.session.name.clone();
    say(&format!("session {} \"{name}\"", setup.invitation.hash()));
    let outset = Joining::prepare(setup)?;
    Ok(Begun { folder, outset })
}

/// The network's own words go to standard error; RUST_LOG says how many.
fn log_to_stderr() {
    use tracing_subscriber::EnvFilter;
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("warn"));
    let log = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr);
    // A second call in one process changes nothing.
    let _ = log.try_init();
}

/// Whether the journal of this session has such a record: a member that has begun goes on where it was, and one that has ended says so.
fn has_recorded(
    state: &StateDir,
    invitation: &Invitation,
    wanted: impl Fn(&Record) -> bool,
) -> Result<bool> {
    let id = invitation.hash().0;
    let sessions = state.view().sessions()?;
    let files = sessions.iter().find(|session| session.id().0 == id);
    let records = files.map_or(Ok(Vec::new()), |files| files.records())?;
    Ok(records.iter().any(wanted))
}

/// How long until the list of members is drawn up.
fn window(invitation: &Invitation) -> Result<Duration> {
    let session = &invitation.session;
    let opens = planning::moment(&session.opens, "session.opens")?;
    let closes = planning::moment(&session.closes, "session.closes")?;
    let now = OffsetDateTime::now_utc();
    // Clocks of members may be a minute apart.
    if now + Duration::from_secs(60) < opens {
        bail!(
            "the session opens at {}, and it is {now} here: wait, or set this host's clock",
            session.opens
        );
    }
    match Duration::try_from(closes - now) {
        Ok(left) => Ok(left),
        Err(_) => bail!(
            "the session closed at {}, and it is {now} here: ask the convener for a new one, or set this host's clock",
            session.closes
        ),
    }
}

/// One line for an operator.
fn print(progress: &Progress) {
    match progress {
        Progress::Listening { addresses } => eprintln!("listening on {}", addresses.join(", ")),
        Progress::Joining { missing } if missing.is_empty() => eprintln!("all have joined"),
        Progress::Joining { missing } if missing.len() > 5 => {
            eprintln!("waiting for {} members", missing.len());
        }
        Progress::Joining { missing } => eprintln!("waiting for {}", missing.join(", ")),
        Progress::Agreed { members, own, plan } => eprintln!(
            "agreed: {} members, plan {plan}; you are peer {own}",
            members.len()
        ),
        Progress::Link { member, up: true } => eprintln!("{member} is connected"),
        Progress::Link { member, up: false } => {
            eprintln!("{member}: connection lost, trying again")
        }
        Progress::GaveUp { member } => eprintln!("{member} is given up"),
        Progress::WentOn {
            members,
            without,
            release,
            is_again,
        } => {
            let without = match without.is_empty() {
                true => String::new(),
                false => format!(", without {}", without.join(", ")),
            };
            let what = match (release, is_again) {
                (Some(release), true) => {
                    format!("; {release} is averaged again, with all who contributed")
                }
                (Some(release), false) => format!("; {release} begins with those who are left"),
                (None, _) => String::new(),
            };
            eprintln!("{members} members go on{without}{what}");
        }
        Progress::Charged { release, of } => eprintln!("{release} of {of}: charged"),
        Progress::Released {
            release,
            of,
            seconds,
        } => eprintln!("{release} of {of}: averaged after {seconds:.1} s"),
        Progress::Fetched { from, signed, file } => eprintln!(
            "{from} has handed over the result of the others, which {signed} of them have signed: {file} in the session's folder"
        ),
        Progress::Asking { seconds } => {
            eprintln!("asking the others for the result, for up to {seconds} s");
        }
        Progress::Unkept { why } => eprintln!(
            "the result is here and cannot be written: {why}; make room: it is tried every second while the others wait, and lost when this process ends"
        ),
        Progress::Waiting { missing } if missing.is_empty() => eprintln!("everybody is done"),
        Progress::Waiting { missing } if missing.len() > 5 => {
            eprintln!("done here; {} others are not yet", missing.len());
        }
        Progress::Waiting { missing } => {
            eprintln!("done here; not yet: {}", missing.join(", "));
        }
    }
}

/// Copies and prints what there is.
fn done(
    options: &RunArguments,
    folder: &Path,
    result: Option<&MemberResult>,
    took: Duration,
) -> Result<()> {
    if let Some(out) = &options.out {
        std::fs::create_dir_all(out).with_context(|| format!("cannot make {}", out.display()))?;
        for file in RESULT {
            let from = folder.join(file);
            if !from.is_file() {
                continue;
            }
            let bytes =
                std::fs::read(&from).with_context(|| format!("cannot read {}", from.display()))?;
            let to = out.join(file);
            crate::writing::replace(&to, &bytes)
                .with_context(|| format!("cannot write {}; choose another --out", to.display()))?;
        }
    }
    let place = options.out.as_deref().unwrap_or(folder).join("basis.npy");
    if options.json {
        let outcome = serde_json::json!({
            "schema": 1,
            "basis": place,
            "members": result.map(|result| &result.members),
            "peer": result.map(|result| result.index.0),
            "releases": result.map(|result| result.releases.len()),
            "messages": result.map(|result| result.written.messages),
            "resent": result.map(|result| result.written.resent),
            "seconds": result.map(|_| took.as_secs_f64()),
        });
        println!("{}", serde_json::to_string_pretty(&outcome)?);
    } else {
        match result {
            Some(result) => println!(
                "done: {} ({} x {}) after {:.1} s",
                place.display(),
                result.basis.rows(),
                result.basis.columns(),
                took.as_secs_f64()
            ),
            None => println!("done before: {}", place.display()),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
