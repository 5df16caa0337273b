//! `undertone node check`: what a session would cost this member, against its own policy.

use super::arguments::CheckArguments;
use anyhow::{Result, bail};
use time::OffsetDateTime;

use super::planning;
use crate::cli::Verdict;
use crate::data::OwnFile;
use crate::node::store::{Offer, Policy, StateView};
use crate::privacy::{Budget, Scheme, SquareSum, gaussian};
use crate::scenario::SessionTables;

pub(super) fn execute(options: &CheckArguments) -> Result<Verdict> {
    let state = StateView::open(&options.state.path()?)?;
    let (own, _) = state.public()?;
    // As `run` does: before the session file is looked at.
    let read = |path| OwnFile::read(path, options.rows.options());
    let rows = options.data.as_deref().map(read).transpose()?;
    let (invitation, bytes) = planning::read_session(&options.session)?;
    let session = &invitation.session;
    println!(
        "session {} \"{}\", convened by {}",
        invitation.hash(),
        session.name,
        session.convener
    );
    match planning::check_signature(&invitation, &options.session, &bytes)? {
        true => println!("signed by its convener"),
        false => println!(
            "not signed: nothing shows that its convener wrote it; `node run` refuses it without --unsigned"
        ),
    }
    let convener = session.convener;
    let is_known = convener == own
        || invitation.member(&convener).is_some()
        || state
            .address_book()?
            .peers()
            .iter()
            .any(|peer| peer.id == convener);
    if !is_known {
        println!(
            "its convener is no member of it and is not in the address book: make sure whose key {convener} is"
        );
    }
    let Some(member) = invitation.member(&own) else {
        bail!(
            "{own} is not invited: ask the convener for a session file with this member's ticket"
        );
    };
    println!(
        "you are {:?}, one of {} invited; at least {} must join",
        member.name,
        invitation.members.len(),
        session.min_peers
    );
    let (opens, closes) = (
        planning::moment(&session.opens, "session.opens")?,
        planning::moment(&session.closes, "session.closes")?,
    );
    let now = OffsetDateTime::now_utc();
    if now < opens {
        println!("it opens at {}", session.opens);
    } else if now > closes {
        bail!(
            "it closed at {}: ask the convener for a new session",
            session.closes
        );
    } else {
        println!("it is open until {}", session.closes);
    }
    let policy = state.policy()?;
    let deployment = planning::deployment(&invitation, &options.session, &policy)?;
    let stated = planning::stated_rows(&invitation);
    let planned = planning::planned(&deployment, &stated, &[0; 32], invitation.stated)?;
    let offer = planning::offer(&planned, &options.scope)?;
    let (plan, draft) = (planned.plan(), planned.draft());
    let tables = draft.tables();
    println!(
        "{} of rank {} on {} columns, averaged by \"{}\"",
        tables.algorithm.name(),
        tables.algorithm.table().rank(),
        invitation.columns.len(),
        tables.averaging.scheme.name(),
    );
    println!(
        "\nwhat one record ({}) at one participant may lose, in all {} releases:",
        offer.adjacency,
        plan.program().releases.len()
    );
    let (person, one) = (planning::person(draft), planning::promised(draft)?);
    for view in plan.guarantee().noise().views() {
        let promise = match view == one && person.is_none() {
            true => "  <- the promise",
            false => "",
        };
        println!(
            "  {:<24} epsilon {:>8.4}  mu {:>7.4}  {}{promise}",
            view.view,
            view.epsilon,
            view.mu,
            serde_json::to_value(view.certificate)?
                .as_str()
                .unwrap_or_default(),
        );
    }
    for group in plan.guarantee().groups() {
        let what = match offer.adjacency.is_of_rows() {
            true => format!("a person at {} participants", group.peers),
            false => format!("changes at {} participants", group.peers),
        };
        let promise = match person == Some(group) {
            true => "  <- the promise",
            false => "",
        };
        println!(
            "  {what:<28} epsilon <= {:>8.4}  mu <= {:>7.4}{promise}",
            group.epsilon, group.mu
        );
    }
    match tables.dropouts {
        None => println!(
            "  at delta = {:e}; nothing is tolerated to drop out: whoever crashes ends the session",
            offer.delta
        ),
        Some(dropouts) => println!(
            "  at delta = {:e}; {} members may be lost and {} releases tried again within the promise, which is against {} curious and all who are lost",
            offer.delta, dropouts.tolerate, dropouts.retries, offer.colluders,
        ),
    }
    println!("\nwhat becomes of your rows, whatever they are:");
    for step in steps(&tables, member.rows) {
        println!("  {step}");
    }
    println!("  whether and when this member joins does not depend on them");
    if let (Some(path), Some(rows)) = (&options.data, &rows) {
        let own = deployment.own_rows(rows)?;
        println!(
            "\n{} (not private: for you alone): {} users, {} entries kept, {} of columns that the session does not have",
            path.display(),
            own.users,
            own.kept,
            own.unknown
        );
    }
    policy.check(&offer)?;
    println!("\nyour policy allows it");
    left(&state, &policy, &offer)?;
    Ok(Verdict::Success)
}

/// What the session's constants do to every row, in order.
fn steps(tables: &SessionTables, rows: usize) -> Vec<String> {
    let data = &tables.data;
    let mut steps = Vec::new();
    if let Some(clip) = data.row_clip() {
        if let Some(drop) = data.drop() {
            steps.push(format!("{} columns are left out", drop.len()));
        }
        if data.ranges().is_some() {
            steps.push("numbers are clipped to public ranges and become 0 to 1".to_owned());
        }
        if data.means().is_some() {
            steps.push("public means are taken from them".to_owned());
        }
        if let Some(raw_clip) = data.raw_clip() {
            steps.push(format!(
                "their sum, of rows shortened to {raw_clip}, is released first, and the mean that everybody knows then is taken from them"
            ));
        }
        steps.push(format!("rows longer than {clip} are shortened to that"));
    } else {
        steps.push(format!(
            "ratings above {} count, once each",
            data.threshold()
        ));
        if let Some(cap) = data.degree_cap() {
            steps.push(format!("{cap} of them at most"));
        }
    }
    if tables.noise.scheme == Scheme::Ring {
        steps.push(format!(
            "no row is left out; your contribution is clamped to what {rows} rows can reach"
        ));
    }
    steps
}

/// What is left of the scope's budget before and after, for a record of the session's adjacency and of every other one that sessions of the scope had.
fn left(state: &StateView, policy: &Policy, offer: &Offer) -> Result<()> {
    let scope = &offer.scope;
    let Some(Budget { epsilon, delta }) = policy.lifetime(scope) else {
        return Ok(());
    };
    let ledger = state.ledger()?;
    let mut records = ledger.adjacencies(scope);
    records.retain(|record| *record != offer.adjacency);
    records.insert(0, offer.adjacency);
    for record in records {
        let held = ledger.held(scope, record);
        let Some(factor) = offer.adjacency.square_factor(record, offer.plain) else {
            println!(
                "scope \"{scope}\": what this session costs one record ({record}) has no bound: it is planned for {}",
                offer.adjacency
            );
            continue;
        };
        let after = held.plus(offer.mu_squared.times(factor));
        let of = |square: SquareSum| gaussian::epsilon(square.get().sqrt(), delta);
        println!(
            "scope \"{scope}\", one record ({record}): epsilon {:.4} of {} spent or reserved at delta = {:e}, {:.4} after this session",
            of(held),
            epsilon.get(),
            delta.get(),
            of(after),
        );
        for other in ledger.uncounted(scope, record) {
            println!(
                "  not counted there: sessions planned for {other}, whose cost to such a record has no bound"
            );
        }
        if of(after) > epsilon.get() * (1.0 + 1e-9) {
            bail!(
                "the session does not fit into what is left of scope \"{scope}\" for one record ({record})"
            );
        }
    }
    Ok(())
}
