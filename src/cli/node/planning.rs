//! From a session file to what it costs and what is run: the planner that members hand to the network.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, anyhow, bail};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use crate::config::Publish as Publication;
use crate::engine::{PublicSession, PublicViews};
use crate::node::member::{MemberResult, Planned, Planner, ResultFiles, ResultRule, Tolerant};
use crate::node::store::{
    INVITATION, Offer, Policy, Publish, ScopeName, SignedFileError, Square, verify_bytes,
};
use crate::privacy::{Budget, GroupLoss, SquareSum, View, gaussian};
use crate::run::receipt::{About, KnownAttempt, Receipt};
use crate::scenario::{Deployment, Experiment};
use crate::session::{Assembled, Invitation, MOST_FILE, Stated};
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

/// What so many members plan, with no more noise than is stated: on the first graph that the beacon draws which allows that.
pub(super) fn planned(
    deployment: &Deployment,
    members: usize,
    beacon: &[u8; 32],
    stated: Stated,
) -> Result<Experiment> {
    let mut found = None;
    let draws = deployment.draws(members, beacon)?;
    for draw in 0..DRAWS {
        let experiment = draws.drawn(draw)?;
        let (own, pairwise) = sigmas(&experiment);
        let within = |found: f64, limit: f64| found <= limit * (1.0 + 1e-9);
        let (spent, allowed) = (mu_promised(&experiment)?, mu_asked(&experiment)?);
        if within(own, stated.sigma_own)
            && within(pairwise, stated.sigma_pairwise)
            && within(spent, allowed)
        {
            return Ok(draws.completed(experiment)?);
        }
        found.get_or_insert((own, pairwise));
        if !deployment.draws_graphs() {
            break;
        }
    }
    let (own, pairwise) = found.unwrap_or((f64::NAN, f64::NAN));
    bail!(
        "{members} members need noise of sigma_own = {own:.4} and sigma_pairwise = {pairwise:.4} for what the session promises, and the file states \
         {:.4} and {:.4}: the convener's plan promises too much for so little noise, or too few joined; ask for a file of `undertone node invite`",
        stated.sigma_own,
        stated.sigma_pairwise,
    )
}

/// Standard deviations per unit sensitivity that this member's own planner finds.
pub(super) fn sigmas(experiment: &Experiment) -> (f64, f64) {
    let noise = experiment.noise();
    (noise.sigma_own(), noise.sigma_pairwise())
}

/// What the coalition that is planned for learns: whoever is lost hides nobody, as if it colluded.
pub(super) fn promised(experiment: &Experiment) -> Result<&View> {
    let lost = experiment.config().dropouts.map_or(0, |one| one.tolerate);
    let colluders = experiment.config().privacy.colluders + lost;
    let views = experiment.noise().views();
    // Where peers hide by noise of their own alone there is one view, of every coalition.
    let planned = views.iter().find(|view| view.colluders >= colluders);
    planned.ok_or_else(|| anyhow!("nothing is promised against {colluders} colluders"))
}

/// μ of what is promised: of one record, or of a person at as many participants as the noise is planned for.
fn mu_promised(experiment: &Experiment) -> Result<f64> {
    let one = promised(experiment)?.mu;
    Ok(person(experiment).map_or(one, |group| group.mu.max(one)))
}

/// What a person loses at as many participants as the noise is planned for, where those are several.
pub(super) fn person(experiment: &Experiment) -> Option<&GroupLoss> {
    let k = experiment.participants().filter(|k| *k > 1)?;
    experiment.groups().iter().find(|group| group.peers == k)
}

/// μ of the promise as asked for: what is charged, on whatever graph the beacon draws, whose own loss is at most that.
fn mu_asked(experiment: &Experiment) -> Result<f64> {
    let privacy = &experiment.config().privacy;
    let budget = Budget::new(privacy.epsilon, privacy.delta())?;
    Ok(gaussian::mu(budget.epsilon, budget.delta))
}

/// What this experiment costs one member. The charge is what is promised: with protection at up to k participants the ledger of each of them has
/// all that a person of theirs loses.
pub(super) fn offer(experiment: &Experiment, scope: &ScopeName) -> Result<Offer> {
    let view = promised(experiment)?;
    let privacy = &experiment.config().privacy;
    let session = session(experiment);
    let dropouts = experiment.config().dropouts;
    Ok(Offer {
        members: session.peers(),
        colluders: privacy.colluders,
        epsilon: privacy.epsilon,
        delta: privacy.delta(),
        adjacency: privacy.adjacency,
        certificate: view.certificate,
        retries: dropouts.map_or(0, |one| one.retries),
        publish: match dropouts.and_then(|one| one.publish) {
            Some(Publication::Sealed) => Publish::Sealed,
            Some(Publication::Open) | None => Publish::Open,
        },
        scope: scope.clone(),
        mu_squared: SquareSum::new(mu_asked(experiment)?.powi(2))?,
        plain: experiment.is_plain(),
        max_frame: session.longest_message() as u64,
    })
}

/// The public session of this experiment.
pub(super) fn session(experiment: &Experiment) -> PublicSession {
    experiment.own_session().public().clone()
}

/// μ² of every release: parts of the whole as 1/f², which is what a release with noise of factor f costs. The whole pays for all releases, and for
/// as many more as there are retries, each as dear as the dearest.
pub(super) fn charges(experiment: &Experiment, whole: SquareSum) -> Result<Vec<Square>> {
    let releases = 1..=experiment.releases().len() as u32;
    let parts: Vec<f64> = releases
        .map(|number| experiment.noise_factor(ReleaseId(number)).powi(-2))
        .collect();
    let dearest = parts.iter().copied().fold(0.0, f64::max);
    let retries = experiment.config().dropouts.map_or(0, |one| one.retries);
    let all: f64 = parts.iter().sum::<f64>() + f64::from(retries) * dearest;
    let square = |part: f64| Ok(Square::new(whole.get() * part / all)?);
    parts.into_iter().map(square).collect()
}

/// Plans one session file.
pub(super) struct Plans {
    pub(super) deployment: Arc<Deployment>,
    pub(super) members: usize,
    pub(super) stated: Stated,
    pub(super) scope: ScopeName,
}

impl Planner for Plans {
    fn offer(&self) -> Result<Offer, String> {
        let beacon = [0; 32];
        let experiment = planned(&self.deployment, self.members, &beacon, self.stated);
        let offer = experiment.and_then(|experiment| offer(&experiment, &self.scope));
        offer.map_err(|error| format!("{error:#}"))
    }

    fn plan(&self, assembled: &Assembled) -> Result<Planned, String> {
        let members = assembled.roster.len();
        let made = planned(&self.deployment, members, &assembled.beacon, self.stated).and_then(
            |experiment| {
                let offer = offer(&experiment, &self.scope)?;
                let session = session(&experiment);
                let averaging = &experiment.plan().network().averaging;
                let planned = Planned {
                    tolerant: experiment.tolerance().map(|tolerance| Tolerant {
                        tolerance: Arc::new(tolerance),
                        views: Arc::new(PublicViews::new(session.clone(), averaging.clone())),
                    }),
                    session,
                    charges: charges(&experiment, offer.mu_squared)?,
                    offer,
                    keep: Box::new(move |result| files(&experiment, result)),
                };
                Ok(planned)
            },
        );
        made.map_err(|error| format!("{error:#}"))
    }

    fn result(&self) -> Result<ResultRule, String> {
        let experiment = planned(&self.deployment, self.members, &[0; 32], self.stated);
        let experiment = experiment.map_err(|error| format!("{error:#}"))?;
        let colluders = experiment.config().privacy.colluders;
        Ok(ResultRule::of(&session(&experiment), colluders))
    }
}

/// What is kept of a session that was planned as this experiment.
fn files(experiment: &Experiment, result: &MemberResult) -> ResultFiles {
    let releases = result.releases.iter();
    let releases = releases.map(|one| (one.release, one.statistic, one.sensitivity));
    let about = About::experiment(experiment);
    let mut receipt = Receipt::of_plan(about, experiment.plan(), releases);
    if let Some(tolerance) = experiment.tolerance() {
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
        let accounted = receipt.account_for(experiment.plan(), &attempts);
        accounted.map_err(|error| error.to_string())?;
    }
    let receipt = serde_json::to_vec(&receipt).map_err(|error| error.to_string())?;
    let config = crate::config::resolved(experiment.config());
    Ok(vec![
        ("receipt.json".to_owned(), receipt),
        ("config.toml".to_owned(), config.into_bytes()),
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
    let plans = Plans {
        deployment: Arc::clone(&deployment),
        members: invitation.members.len(),
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

    fn experiment(more: &str) -> Experiment {
        let plan = toml::from_str(&format!("{PLAN}{more}")).expect("TOML");
        let columns = vec!["a".to_owned(), "b".to_owned()];
        let deployment = Deployment::new(&plan, columns, 30, Path::new("."));
        let planned = deployment.expect("valid").experiment(5, &[0; 32], 0);
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
            let experiment = experiment(&keys);
            let scope = "default".parse().expect("a name");
            let offer = offer(&experiment, &scope).expect("an offer");
            assert_eq!(
                offer.mu_squared.get().sqrt().to_bits() >> 4,
                asked.to_bits() >> 4
            );
            let promised = mu_promised(&experiment).expect("promised");
            assert!(
                promised <= asked * (1.0 + 1e-9) && promised > 0.99 * asked,
                "{k}"
            );
            let one = super::promised(&experiment).expect("promised").mu;
            let factor = match scheme {
                "local" => f64::from(k).sqrt(),
                _ => f64::from(k),
            };
            assert!((one * factor / asked - 1.0).abs() < 0.01, "{k}: {one}");
            assert_eq!(person(&experiment).is_some(), k > 1);
            let charges = charges(&experiment, offer.mu_squared).expect("charges");
            assert_eq!(charges.len(), experiment.releases().len());
        }
    }
}
