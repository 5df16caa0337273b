//! What happened in a run whose peers tolerate losses, in its receipt: a diagnostic, recomputed from who took part and who was read.

use std::collections::BTreeSet;

use super::document::{RealisedReceipt, Receipt, StatedAttempt};
use super::error::{ReceiptError, range};
use super::finding::Finding;
use crate::algorithm::Program;
use crate::plan::{Guarantee, Plan};
use crate::privacy::realised::{Attempted, Realised, RealisedError};
use crate::privacy::{Delta, NoisePlan};
use crate::run::faults::{Squares, squares};
use crate::topology::Graph;
use crate::vocabulary::ReleaseId;

/// The most attempts that a check accounts for.
const MOST_ATTEMPTS: usize = 10_000;

impl RealisedReceipt {
    /// What a run says of itself; `None` where nothing is protected, or the account fails.
    pub(crate) fn of(plan: &Plan, realised: &Realised) -> Option<Self> {
        let promise = plan.promise();
        let delta = promise.delta?;
        let spectrum = plan.network().noise_topology.spectrum();
        let lost = promise.losses?.tolerate;
        let connectivity = spectrum.algebraic_connectivity.into();
        let found = squares(realised, connectivity, (promise.colluders, lost)).ok()?;
        let attempts = realised.recorded().map(|one| StatedAttempt {
            release: one.release.0,
            retry: one.retry,
            view: one.view,
            members: one.members.to_vec(),
            read: one.read.to_vec(),
        });
        Some(Self::stated(
            attempts.collect(),
            found,
            (plan.guarantee().noise(), delta),
        ))
    }

    fn stated(
        attempts: Vec<StatedAttempt>,
        found: Squares,
        (noise, delta): (&NoisePlan, Delta),
    ) -> Self {
        let (planned, realised) = (found.planned.sqrt(), found.realised.sqrt());
        Self {
            attempts,
            planned_mu: planned,
            planned_epsilon: noise.epsilon_of(planned, delta),
            mu: realised,
            epsilon: noise.epsilon_of(realised, delta),
            is_exact: found.is_exact,
        }
    }
}

/// An attempt as one deployed member knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownAttempt {
    /// Of which release.
    pub release: ReleaseId,
    /// How many tries had been charged anew when it began, itself included.
    pub retry: u32,
    /// The number of the view that it was made in.
    pub view: u64,
    /// Who took part, ascending.
    pub members: Vec<u32>,
    /// The member whose account it is, where it has published in the open in this attempt.
    pub published: Option<u32>,
}

impl KnownAttempt {
    fn stated(&self, read: Vec<u32>) -> StatedAttempt {
        StatedAttempt {
            release: self.release.0,
            retry: self.retry,
            view: self.view,
            members: self.members.clone(),
            read,
        }
    }
}

/// What a member that knows who took part in which attempts, and nothing more, accounts for: in order of releases, tries and views.
///
/// What it does not know counts as read. Whoever takes part in the last attempt of a try is read in that one, and in no earlier one: those
/// who agreed to begin it had said that they had sent nothing that could be read. Whoever is lost in between may have sent before. What the member itself has
/// published is read, whatever was agreed.
fn read_at_worst(attempts: &[KnownAttempt]) -> Vec<Vec<u32>> {
    let read = |place: usize| {
        let one = &attempts[place];
        let of_one_try =
            |other: &&KnownAttempt| (other.release, other.retry) == (one.release, one.retry);
        let later: Vec<&KnownAttempt> = attempts[place + 1..].iter().filter(of_one_try).collect();
        let is_read = |member: &&u32| {
            one.published == Some(**member) || !later.iter().any(|one| one.members.contains(member))
        };
        one.members.iter().filter(is_read).copied().collect()
    };
    (0..attempts.len()).map(read).collect()
}

impl Receipt {
    /// Adds what these attempts, in order, have cost at worst, as far as a member knows of them.
    ///
    /// # Errors
    /// [`RealisedError`] for attempts that cannot have happened.
    pub fn account_for(
        &mut self,
        plan: &Plan,
        attempts: &[KnownAttempt],
    ) -> Result<(), RealisedError> {
        let read = read_at_worst(attempts).into_iter();
        let stated = attempts
            .iter()
            .zip(read)
            .map(|(one, read)| one.stated(read));
        let graph = plan.network().noise_topology.graph().clone();
        let realised = recorded(&stated.collect::<Vec<_>>(), graph, plan.guarantee())?;
        self.realised = RealisedReceipt::of(plan, &realised);
        Ok(())
    }

    /// Accounts for the attempts again, if there are any.
    ///
    /// # Errors
    /// [`ReceiptError`] for attempts that cannot have happened, or more than a check takes on.
    pub(super) fn check_realised(
        &self,
        graph: &Graph,
        (program, guarantee): (&Program, &Guarantee),
    ) -> Result<Vec<Finding>, ReceiptError> {
        let Some(stated) = &self.realised else {
            return Ok(Vec::new());
        };
        let promise = &self.promise;
        let (Some(losses), Some(delta)) = (promise.losses, promise.delta) else {
            return Ok(vec![Finding::flag(
                "promise.losses are tolerated where some are realised",
                false,
            )]);
        };
        range(
            "the number of realised.attempts",
            stated.attempts.len(),
            1,
            MOST_ATTEMPTS,
        )?;
        let realised = recorded(&stated.attempts, graph.clone(), guarantee)?;
        let mut findings = stated.check_attempts(program, losses.retries);
        let asked = (promise.colluders, losses.tolerate);
        match squares(&realised, guarantee.connectivity(), asked) {
            Ok(found) => {
                let noise = (guarantee.noise(), delta);
                findings.extend(stated.compare(&RealisedReceipt::stated(Vec::new(), found, noise)));
            }
            Err(RealisedError::Floor { .. }) => findings.push(Finding::flag(
                "realised.attempts: as many members as the session needs",
                false,
            )),
            Err(other) => return Err(other.into()),
        }
        Ok(findings)
    }
}

impl RealisedReceipt {
    /// Whether attempts at releases of this program, with so many retries, can have been made and charged as stated.
    fn check_attempts(&self, program: &Program, retries: u32) -> Vec<Finding> {
        let releases = 1..=program.releases.len() as u64;
        let is_planned = |one: &StatedAttempt| {
            releases.contains(&u64::from(one.release)) && one.retry <= retries
        };
        vec![
            Finding::flag(
                "realised.attempts: at releases of the program, within the retries",
                self.attempts.iter().all(is_planned),
            ),
            Finding::flag(
                "realised.attempts: nobody could be read in two attempts at a release with one number of retries: they are charged once",
                !is_read_twice(&self.attempts),
            ),
        ]
    }

    /// Compares the losses stated with those computed again.
    fn compare(&self, again: &Self) -> Vec<Finding> {
        let number = |field, stated, computed| {
            Finding::equal(&format!("realised.{field}"), stated, computed)
        };
        vec![
            number("planned_mu", self.planned_mu, again.planned_mu),
            number(
                "planned_epsilon",
                self.planned_epsilon,
                again.planned_epsilon,
            ),
            number("mu", self.mu, again.mu),
            number("epsilon", self.epsilon, again.epsilon),
            Finding {
                what: "realised.is_exact".to_owned(),
                stated: self.is_exact.into(),
                computed: again.is_exact.into(),
                agrees: self.is_exact == again.is_exact,
            },
        ]
    }
}

/// The execution in which these attempts, in order, were made with the noise of this guarantee.
///
/// # Errors
/// [`RealisedError`] for attempts that cannot have happened.
fn recorded(
    attempts: &[StatedAttempt],
    graph: Graph,
    guarantee: &Guarantee,
) -> Result<Realised, RealisedError> {
    let noise = guarantee.noise();
    let mut realised = Realised::new(graph, noise.sigma_own(), noise.sigma_pairwise())?;
    for one in attempts {
        let release = ReleaseId(one.release);
        realised.record(Attempted {
            release,
            retry: one.retry,
            view: one.view,
            members: one.members.clone(),
            read: one.read.clone(),
            revealed: Vec::new(),
            sensitivity: 1.0,
            scales: vec![guarantee.noise_factor(release); one.members.len()],
        })?;
    }
    Ok(realised)
}

/// Whether somebody could be read in two attempts of one try.
fn is_read_twice(attempts: &[StatedAttempt]) -> bool {
    let mut read = BTreeSet::new();
    let mut all = attempts.iter().flat_map(|one| {
        let of_try = (one.release, one.retry);
        one.read.iter().map(move |peer| (of_try, *peer))
    });
    !all.all(|one| read.insert(one))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_may_have_been_read_counts_as_read_and_nobody_twice_in_a_try() {
        let attempt = |release, retry, view, members: &[u32]| KnownAttempt {
            release: ReleaseId(release),
            retry,
            view,
            members: members.to_vec(),
            published: None,
        };
        let attempts = [
            attempt(1, 0, 0, &[0, 1, 2, 3]),
            // Nobody who is left had sent anything: the same try, without peer 3, which may have.
            attempt(1, 0, 1, &[0, 1, 2]),
            attempt(2, 0, 1, &[0, 1, 2]),
            // Somebody had: another try.
            attempt(2, 1, 2, &[0, 1, 2]),
        ];
        let read = read_at_worst(&attempts);
        assert_eq!(read, [vec![3], vec![0, 1, 2], vec![0, 1, 2], vec![0, 1, 2]]);
        // What this member has published was read, whatever the others agreed to do next.
        let mut published = attempts;
        published[0].published = Some(1);
        published[1].published = Some(1);
        let read = read_at_worst(&published);
        assert_eq!(read[..2], [vec![1, 3], vec![0, 1, 2]]);
        let stated = |read: Vec<Vec<u32>>| -> Vec<StatedAttempt> {
            let both = published.iter().zip(read);
            both.map(|(one, read)| one.stated(read)).collect()
        };
        assert!(is_read_twice(&stated(read)));
        assert!(!is_read_twice(&stated(read_at_worst(&[
            attempt(1, 0, 0, &[0, 1, 2, 3]),
            attempt(1, 0, 1, &[0, 1, 2]),
        ]))));
    }
}
