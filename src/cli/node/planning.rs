//! From a session file to what it costs and what is run: the planner that members hand to the network.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, anyhow, bail};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use crate::engine::PublicViews;
use crate::node::member::{MemberResult, Planned, Planner, ResultFiles, ResultRule, Tolerant};
use crate::node::store::{
    INVITATION, Offer, Policy, Publish, ScopeName, SignedFileError, Square, verify_bytes,
};
use crate::privacy::{Budget, GroupLoss, SquareSum, View, gaussian};
use crate::run::receipt::{KnownAttempt, Receipt};
use crate::scenario::{Deployment, PlannedSession, SessionDraft};
use crate::session::{Assembled, Invitation, MOST_FILE, PublicId, Stated};
use crate::vocabulary::ReleaseId;
use crate::writing::npy;

/// Graphs that are drawn before a session is given up.
const DRAWS: u32 = 64;

/// Reads a session file, bounded before anything of it is held.
pub(super) fn read_session(path: &Path) -> Result<(Invitation, Vec<u8>)> {
    let shown = path.display();
    let file = File::open(path).with_context(|| format!("cannot read the session file {shown}"))?;
    let mut bytes = Vec::new();
    file.take(MOST_FILE as u64 + 1)
        .read_to_end(&mut bytes)
        .with_context(|| format!("cannot read the session file {shown}"))?;
    let invitation =
        Invitation::read(&bytes).with_context(|| format!("{shown} is no session file"))?;
    Ok((invitation, bytes))
}

/// Whether its convener signed a session file. One that somebody else signed is refused.
pub(super) fn check_signature(invitation: &Invitation, path: &Path, bytes: &[u8]) -> Result<bool> {
    let convener = invitation.session.convener;
    match verify_bytes(path, bytes, INVITATION) {
        Ok(id) if id == convener => Ok(true),
        Ok(id) => bail!("the file names {convener} as its convener and is signed by {id}"),
        Err(SignedFileError::Unsigned { .. }) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// A time of a session file.
pub(super) fn moment(at: &toml::value::Datetime, key: &str) -> Result<OffsetDateTime> {
    OffsetDateTime::parse(&at.to_string(), &Rfc3339).map_err(|_| {
        anyhow!("{key} is {at}: write a date, a time and an offset, such as 2026-12-01T09:00:00Z")
    })
}

/// The plan of a session file, for a member with this policy.
pub(super) fn deployment(
    invitation: &Invitation,
    path: &Path,
    policy: &Policy,
) -> Result<Deployment> {
    let most = invitation.members.iter().map(|member| member.rows).max();
    let base = path.parent().unwrap_or(Path::new("."));
    let columns = invitation.columns.clone();
    let deployment = Deployment::new(&invitation.plan, columns, most.unwrap_or(1), base)?;
    let deployment = deployment.within(policy.max_memory());
    let names: Vec<_> = invitation
        .members
        .iter()
        .map(|member| member.name.clone())
        .collect();
    deployment.check_constants()?;
    deployment.check_graphs(&names, invitation.session.min_peers)?;
    Ok(deployment)
}

/// What participants who state so many rows each plan, with no more noise than the file states: on the first graph that the beacon draws which allows that.
pub(super) fn planned(
    deployment: &Deployment,
    rows: &[usize],
    beacon: &[u8; 32],
    stated: Stated,
) -> Result<PlannedSession> {
    let mut found = None;
    let draws = deployment.draws(rows, beacon)?;
    for draw in 0..DRAWS {
        let draft = draws.drawn(draw)?;
        let (own, pairwise) = sigmas(&draft);
        let within = |found: f64, limit: f64| found <= limit * (1.0 + 1e-9);
        let (spent, allowed) = (mu_promised(&draft)?, mu_asked(&draft)?);
        if within(own, stated.sigma_own)
            && within(pairwise, stated.sigma_pairwise)
            && within(spent, allowed)
        {
            return Ok(draft.completed()?);
        }
        found.get_or_insert((own, pairwise));
        if !deployment.draws_graphs() {
            break;
        }
    }
    let members = rows.len();
    let (own, pairwise) = found.unwrap_or((f64::NAN, f64::NAN));
    bail!(
        "{members} members need noise of sigma_own = {own:.4} and sigma_pairwise = {pairwise:.4} for what the session promises, and the file states \
         {:.4} and {:.4}: the convener's plan promises too much for so little noise, or too few joined; ask for a file of `undertone node invite`",
        stated.sigma_own,
        stated.sigma_pairwise,
    )
}

/// Standard deviations per unit sensitivity that this member's own planner finds.
pub(super) fn sigmas(draft: &SessionDraft) -> (f64, f64) {
    let noise = draft.plan().guarantee().noise();
    (noise.sigma_own(), noise.sigma_pairwise())
}

/// What the coalition that is planned for learns: whoever is lost hides nobody, as if it colluded.
pub(super) fn promised(draft: &SessionDraft) -> Result<&View> {
    let plan = draft.plan();
    let colluders = plan.promise().withstood();
    let views = plan.guarantee().noise().views();
    // Where peers hide by noise of their own alone there is one view, of every coalition.
    let planned = views.iter().find(|view| view.colluders >= colluders);
    planned.ok_or_else(|| anyhow!("nothing is promised against {colluders} colluders"))
}

/// μ of what is promised: of one record, or of a person at as many participants as the noise is planned for.
fn mu_promised(draft: &SessionDraft) -> Result<f64> {
    let one = promised(draft)?.mu;
    Ok(person(draft).map_or(one, |group| group.mu.max(one)))
}

/// What a person loses at as many participants as the noise is planned for, where those are several.
pub(super) fn person(draft: &SessionDraft) -> Option<&GroupLoss> {
    let k = draft.plan().promise().participants.filter(|k| *k > 1)?;
    let mut groups = draft.groups().iter();
    groups.find(|group| group.peers == k)
}

/// μ of the promise as asked for: what is charged, on whatever graph the beacon draws, whose own loss is at most that.
fn mu_asked(draft: &SessionDraft) -> Result<f64> {
    let Budget { epsilon, delta } = draft.plan().promise().budget()?;
    Ok(gaussian::mu(epsilon, delta))
}

/// What this session costs one member. The charge is what is promised: with protection at up to k participants the ledger of each of them has
/// all that a person of theirs loses.
pub(super) fn offer(session: &PlannedSession, scope: &ScopeName) -> Result<Offer> {
    let (draft, promise) = (session.draft(), session.plan().promise());
    let Budget { epsilon, delta } = promise.budget()?;
    let publish = match session.tolerance().is_none_or(|one| one.is_open()) {
        true => Publish::Open,
        false => Publish::Sealed,
    };
    Ok(Offer {
        members: session.public().peers(),
        colluders: promise.colluders,
        epsilon: epsilon.get(),
        delta: delta.get(),
        adjacency: promise.adjacency(),
        certificate: promised(draft)?.certificate,
        retries: promise.losses.map_or(0, |one| one.retries),
        publish,
        scope: scope.clone(),
        mu_squared: SquareSum::new(mu_asked(draft)?.powi(2))?,
        plain: draft.is_plain(),
        max_frame: session.public().longest_message() as u64,
    })
}

/// μ² of every release: parts of the whole as 1/f², which is what a release with noise of factor f costs. The whole pays for all releases, and for
/// as many more as there are retries, each as dear as the dearest.
pub(super) fn charges(draft: &SessionDraft, whole: SquareSum) -> Result<Vec<Square>> {
    let plan = draft.plan();
    let releases = 1..=plan.program().releases.len() as u32;
    let parts: Vec<f64> = releases
        .map(|number| plan.noise_factor(ReleaseId(number)).powi(-2))
        .collect();
    let dearest = parts.iter().copied().fold(0.0, f64::max);
    let retries = plan.promise().losses.map_or(0, |one| one.retries);
    let all: f64 = parts.iter().sum::<f64>() + f64::from(retries) * dearest;
    let square = |part: f64| Ok(Square::new(whole.get() * part / all)?);
    parts.into_iter().map(square).collect()
}

/// Rows that each invited member states, in the order of their keys.
pub(super) fn stated_rows(invitation: &Invitation) -> Vec<usize> {
    invitation
        .members
        .iter()
        .map(|member| member.rows)
        .collect()
}

/// Plans one session file.
pub(super) struct Plans {
    pub(super) deployment: Arc<Deployment>,
    /// Keys of all invited members with the rows that each states.
    pub(super) invited: Vec<(PublicId, usize)>,
    pub(super) stated: Stated,
    pub(super) scope: ScopeName,
}

impl Plans {
    /// The session of all who are invited, under no beacon yet.
    fn of_invited(&self) -> Result<PlannedSession> {
        let rows: Vec<usize> = self.invited.iter().map(|(_, rows)| *rows).collect();
        planned(&self.deployment, &rows, &[0; 32], self.stated)
    }

    /// Rows that those who joined state.
    fn rows_of(&self, assembled: &Assembled) -> Result<Vec<usize>> {
        let seats = assembled.roster.iter();
        let rows = seats.map(|seat| {
            let mut invited = self.invited.iter();
            let found = invited.find(|(id, _)| *id == seat.id);
            found.map(|(_, rows)| *rows)
        });
        let rows: Option<Vec<usize>> = rows.collect();
        rows.context("somebody joined who is not invited")
    }

    fn of_joined(&self, assembled: &Assembled) -> Result<Planned> {
        let rows = self.rows_of(assembled)?;
        let planned = planned(&self.deployment, &rows, &assembled.beacon, self.stated)?;
        let offer = offer(&planned, &self.scope)?;
        let session = planned.public().clone();
        let averaging = planned.plan().network().averaging.clone();
        Ok(Planned {
            tolerant: planned.tolerance().map(|tolerance| Tolerant {
                tolerance: Arc::new(tolerance),
                views: Arc::new(PublicViews::new(session.clone(), averaging)),
            }),
            session,
            charges: charges(planned.draft(), offer.mu_squared)?,
            offer,
            keep: Box::new(move |result| files(&planned, result)),
        })
    }
}

impl Planner for Plans {
    fn offer(&self) -> Result<Offer, String> {
        let session = self.of_invited();
        let offer = session.and_then(|session| offer(&session, &self.scope));
        offer.map_err(|error| format!("{error:#}"))
    }

    fn plan(&self, assembled: &Assembled) -> Result<Planned, String> {
        let planned = self.of_joined(assembled);
        planned.map_err(|error| format!("{error:#}"))
    }

    fn result(&self) -> Result<ResultRule, String> {
        let session = self.of_invited().map_err(|error| format!("{error:#}"))?;
        let colluders = session.plan().promise().colluders;
        Ok(ResultRule::of(session.public(), colluders))
    }
}

/// What is kept of a session that was planned so.
fn files(session: &PlannedSession, result: &MemberResult) -> ResultFiles {
    let releases = result.releases.iter();
    let releases = releases.map(|one| (one.release, one.statistic, one.sensitivity));
    let mut receipt = Receipt::of_session(session, releases);
    if let Some(tolerance) = session.tolerance() {
        let is_open = tolerance.is_open();
        let attempts = result.attempts.iter();
        let attempts: Vec<KnownAttempt> = attempts
            .map(|(attempt, begun)| KnownAttempt {
                release: attempt.release,
                retry: attempt.retry,
                view: attempt.view.0,
                members: begun.members.iter().map(|member| member.0).collect(),
                published: (is_open && begun.has_left).then_some(result.index.0),
            })
            .collect();
        let accounted = receipt.account_for(session.plan(), &attempts);
        accounted.map_err(|error| error.to_string())?;
    }
    let receipt = serde_json::to_vec(&receipt).map_err(|error| error.to_string())?;
    let tables = session.draft().tables().text();
    Ok(vec![
        ("receipt.json".to_owned(), receipt),
        ("config.toml".to_owned(), tables.into_bytes()),
        // Last: where it is, everything is.
        ("basis.npy".to_owned(), npy(&result.basis)),
    ])
}

/// The planner that a member's network is given.
pub(super) fn planner(
    invitation: &Invitation,
    path: &Path,
    scope: &ScopeName,
    policy: &Policy,
) -> Result<(Arc<dyn Planner>, Arc<Deployment>)> {
    let deployment = Arc::new(deployment(invitation, path, policy)?);
    let members = invitation.members.iter();
    let plans = Plans {
        deployment: Arc::clone(&deployment),
        invited: members.map(|member| (member.id, member.rows)).collect(),
        stated: invitation.stated,
        scope: scope.clone(),
    };
    Ok((Arc::new(plans), deployment))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAN: &str = r#"
name = "hospitals"
data = { format = "csv-triples" }
topology = { generator = "complete" }
algorithm = { kind = "covariance", rank = 1, iterations = 1 }
averaging = { scheme = "tree" }
[privacy]
epsilon = 2.0
delta = 1e-5
adjacency = "user"
"#;

    fn session(more: &str) -> PlannedSession {
        let plan = toml::from_str(&format!("{PLAN}{more}")).expect("TOML");
        let columns = vec!["a".to_owned(), "b".to_owned()];
        let deployment = Deployment::new(&plan, columns, 30, Path::new("."));
        let planned = deployment.expect("valid").plan(&[30; 5], &[0; 32], 0);
        planned.expect("can be planned")
    }

    /// Every ledger is charged what a person at all of them loses at most, and not what the noise for such a person makes of one record.
    #[test]
    fn ledgers_charge_what_is_promised_about_a_person() {
        let budget = Budget::new(2.0, 1e-5).expect("valid");
        let asked = gaussian::mu(budget.epsilon, budget.delta);
        for (k, scheme) in [1, 2, 3]
            .into_iter()
            .flat_map(|k| [(k, "pairwise"), (k, "local")])
        {
            let keys = format!("participants_per_person = {k}\n[noise]\nscheme = \"{scheme}\"\n");
            let session = session(&keys);
            let draft = session.draft();
            let scope = "default".parse().expect("a name");
            let offer = offer(&session, &scope).expect("an offer");
            assert_eq!(
                offer.mu_squared.get().sqrt().to_bits() >> 4,
                asked.to_bits() >> 4
            );
            let promised = mu_promised(draft).expect("promised");
            assert!(
                promised <= asked * (1.0 + 1e-9) && promised > 0.99 * asked,
                "{k}"
            );
            let one = super::promised(draft).expect("promised").mu;
            let factor = match scheme {
                "local" => f64::from(k).sqrt(),
                _ => f64::from(k),
            };
            assert!((one * factor / asked - 1.0).abs() < 0.01, "{k}: {one}");
            assert_eq!(person(draft).is_some(), k > 1);
            let charges = charges(draft, offer.mu_squared).expect("charges");
            assert_eq!(charges.len(), draft.plan().program().releases.len());
        }
    }
}
