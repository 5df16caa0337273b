//! `undertone node invite`: from a plan and tickets to a session file.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::arguments::InviteArguments;
use anyhow::{Context, Result, anyhow, bail};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use super::planning;
use crate::cli::Verdict;
use crate::node::store::{INVITATION, StateView, sign_file};
use crate::privacy::Delta;
use crate::scenario::Deployment;
use crate::session::{Invitation, Member, SessionTable, Stated, Ticket};
use crate::writing::replace;

/// Graphs that are planned for at each size: what is stated is enough for all of them.
const DRAWS: u32 = 8;

/// Rows of a member that are planned for where nothing is said.
const ROWS: usize = 1_000_000;

pub(super) fn execute(options: &InviteArguments) -> Result<Verdict> {
    let state = StateView::open(&options.state.path()?)?;
    let identity = state.identity()?;
    let text = std::fs::read_to_string(&options.plan)
        .with_context(|| format!("cannot read the plan {}", options.plan.display()))?;
    let mut plan: toml::Table = toml::from_str(&text)
        .with_context(|| format!("{} is no experiment file", options.plan.display()))?;
    let base = options.plan.parent().map(PathBuf::from).unwrap_or_default();
    let columns = names(&options.items)?;
    let rows = options.rows.unwrap_or(ROWS);
    let deployment = Deployment::new(&plan, columns.clone(), rows, &base)?;
    if options.rows.is_none() && deployment.has_private_mean() {
        bail!(
            "data.centre = \"private\" divides the sum of all rows by their number: say with --rows N how many a member has on average"
        );
    }
    let members = members(options, rows)?;
    let names: Vec<_> = members.iter().map(|member| member.name.clone()).collect();
    deployment.inline_constants(&mut plan, &names)?;
    let deployment = Deployment::new(&plan, columns.clone(), rows, &base)?;
    deployment.check_constants()?;
    let least = options.min_peers.unwrap_or(members.len());
    deployment.check_graphs(&names, least)?;
    let stated = stated(&deployment, (least, members.len()), rows)?;
    let now = OffsetDateTime::now_utc();
    let now = now.replace_nanosecond(0)?;
    let closes = now + Duration::from_secs(60 * options.closes_in);
    let name = match (
        &options.name,
        plan.get("name").and_then(toml::Value::as_str),
    ) {
        (Some(name), _) => name.clone(),
        (None, Some(name)) => name.to_owned(),
        (None, None) => bail!("the plan has no name: give one with --name"),
    };
    let table = SessionTable {
        version: 2,
        name,
        nonce: crate::session::nonce()?,
        convener: identity.id(),
        opens: datetime(now)?,
        closes: datetime(closes)?,
        min_peers: least,
        grace_seconds: options.grace,
        step_limit_seconds: options.step_limit,
        linger_seconds: options.linger,
    };
    let text = Invitation::write(table, members, columns, stated, plan)?;
    let out = &options.out;
    replace(out, text.as_bytes()).with_context(|| format!("cannot write {}", out.display()))?;
    sign_file(out, &identity, INVITATION)?;
    let invitation = Invitation::read(text.as_bytes())?;
    let all_rows = planning::stated_rows(&invitation);
    let session = planning::planned(&deployment, &all_rows, &[0; 32], stated)?;
    let (planned, promise) = (session.plan(), session.plan().promise());
    let view = planning::promised(session.draft())?;
    println!(
        "session {} \"{}\": {} invited, {} must join before {}",
        invitation.hash(),
        invitation.session.name,
        invitation.members.len(),
        least,
        invitation.session.closes,
    );
    println!(
        "each record ({}) at one participant may lose epsilon = {:.3} at delta = {:e} to {} curious members",
        promise.adjacency(),
        view.epsilon,
        promise.delta.map_or(0.0, Delta::get),
        promise.colluders,
    );
    for group in planned.guarantee().groups() {
        let promised = match planning::person(session.draft()) == Some(group) {
            true => ", as promised",
            false => "",
        };
        println!(
            "at {} participants at once: epsilon <= {:.3}{promised}",
            group.peers, group.epsilon
        );
    }
    let policy = state.policy()?;
    let scope = policy.scopes().next().cloned();
    if let Some(scope) = scope
        && let Err(refusal) = policy.check(&planning::offer(&session, &scope)?)
    {
        println!("this peer's own policy refuses it, and so may those of members: {refusal}");
    }
    println!(
        "written: {} and its signature; give both to every member, who runs `undertone node check` and `undertone node run`",
        options.out.display()
    );
    Ok(Verdict::Success)
}

fn datetime(at: OffsetDateTime) -> Result<toml::value::Datetime> {
    let text = at.format(&Rfc3339)?;
    text.parse().map_err(|_| anyhow!("{text} is no time"))
}

/// The columns' names.
fn names(path: &Path) -> Result<Vec<String>> {
    let list = crate::data::ItemNames::load(path).with_context(|| {
        format!(
            "cannot read the names of the columns from {}",
            path.display()
        )
    })?;
    Ok(list.as_slice().to_vec())
}

/// One member per ticket, in the order of their keys.
fn members(options: &InviteArguments, rows: usize) -> Result<Vec<Member>> {
    let path = &options.members;
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("cannot read the tickets in {}", path.display()))?;
    let mut members: Vec<Member> = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let ticket: Ticket = line
            .parse()
            .with_context(|| format!("line {number} of {}", path.display()))?;
        let id = ticket.id();
        let name = match ticket.name().as_str() {
            "" => format!("member-{}", members.len() + 1),
            name => name.to_owned(),
        };
        let addresses: Vec<String> = ticket.addresses().iter().map(ToString::to_string).collect();
        members.push(Member {
            id,
            name,
            reachable: !addresses.is_empty(),
            addresses,
            rows,
        });
    }
    members.sort_by_key(|member| member.id);
    Ok(members)
}

/// Noise that is enough for every number of members that the file allows, on graphs as the beacon may draw them.
fn stated(deployment: &Deployment, (least, most): (usize, usize), rows: usize) -> Result<Stated> {
    let mut stated = Stated {
        sigma_own: 0.0,
        sigma_pairwise: 0.0,
    };
    let sizes = if least == most {
        vec![most]
    } else {
        vec![least, most]
    };
    for members in sizes {
        for draw in 0..DRAWS {
            let session = deployment.plan(&vec![rows; members], &[0; 32], draw)?;
            let (own, pairwise) = planning::sigmas(session.draft());
            stated.sigma_own = stated.sigma_own.max(own);
            stated.sigma_pairwise = stated.sigma_pairwise.max(pairwise);
            if !deployment.draws_graphs() {
                break;
            }
        }
    }
    Ok(stated)
}
