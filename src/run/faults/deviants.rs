//! Peers that deviate: what they do to the sums, and who is named for it.

use std::collections::BTreeSet;

use serde::Serialize;

use crate::engine::deviants::{self, Deviant, DeviantError, Deviation};
use crate::engine::event::faults::FaultSchedule;
use crate::engine::{Session, Silent, lockstep};
use crate::protocol::probe::Finding;
use crate::scenario::Experiment;
use crate::vocabulary::{PeerIndex, ReleaseId};

/// `deviants` of `summary.json`'s `faults`: the session once more with peers that deviate while they average, on peers that tolerate no loss.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DeviantsSummary {
    /// Who deviated.
    pub deviants: Vec<Deviated>,
    /// Who was named, and for what.
    pub named: Vec<Named>,
    /// Deviants that nobody named.
    pub overlooked: Vec<String>,
    /// Honest peers that were named: never.
    pub wronged: Vec<String>,
    /// The largest error that they put into anybody's sum of a release, over the norm of that sum.
    pub spoiled: f64,
    /// Bytes that the test of averaging has on every link.
    pub account_bytes: u64,
}

/// A peer that deviated.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Deviated {
    /// Its name.
    pub peer: String,
    /// In the averaging of which release.
    pub release: u32,
    /// How.
    pub how: Deviation,
}

/// A peer that was named.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Named {
    /// Its name.
    pub peer: String,
    /// After which release.
    pub release: u32,
    /// For what.
    pub finding: &'static str,
}

fn words(finding: &Finding) -> &'static str {
    match finding {
        Finding::NoAccount => "gave no account",
        Finding::Contradiction { .. } => "sent something else than it says",
        Finding::WrongStep { .. } => "computed something else than what follows",
        Finding::Forgery { .. } => "showed a block that nobody signed",
        Finding::Withheld { .. } => "does not show what it was sent",
    }
}

/// Runs the session with the deviants of a schedule, if there are any.
pub(super) fn told(
    experiment: &Experiment,
    session: &Session,
    schedule: &FaultSchedule,
) -> Result<Option<DeviantsSummary>, DeviantError> {
    if schedule.deviants.is_empty() {
        return Ok(None);
    }
    let listed = schedule.deviants.iter().map(|one| Deviant {
        peer: PeerIndex(one.peer),
        release: ReleaseId(one.release),
        turn: one.turn as usize,
        deviation: one.how,
        error: one.error,
    });
    let listed: Vec<Deviant> = listed.collect();
    let outcome = deviants::run(session, &listed)?;
    let whole = lockstep::run(session, &mut Silent)?;
    let name = |peer: PeerIndex| experiment.topology().graph().name(peer.index());
    let verdicts = outcome.verdicts.iter();
    let named: BTreeSet<Named> = verdicts
        .map(|(release, verdict)| Named {
            peer: name(verdict.culprit),
            release: release.0,
            finding: words(&verdict.finding),
        })
        .collect();
    let guilty: BTreeSet<PeerIndex> = listed.iter().map(|one| one.peer).collect();
    let culprits = outcome.verdicts.iter().map(|(_, one)| one.culprit);
    let culprits: BTreeSet<PeerIndex> = culprits.collect();
    let mut spoiled: f64 = 0.0;
    for (sums, record) in outcome.sums.iter().zip(&whole.records) {
        let norm = record.sum.norm();
        for sum in sums {
            let off = sum.values().iter().zip(record.sum.values());
            let off = off.map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
            spoiled = spoiled.max(off / norm);
        }
    }
    Ok(Some(DeviantsSummary {
        deviants: listed
            .iter()
            .map(|one| Deviated {
                peer: name(one.peer),
                release: one.release.0,
                how: one.deviation,
            })
            .collect(),
        named: named.into_iter().collect(),
        overlooked: guilty.difference(&culprits).map(|one| name(*one)).collect(),
        wronged: culprits.difference(&guilty).map(|one| name(*one)).collect(),
        spoiled,
        account_bytes: outcome.account_bytes,
    }))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use crate::engine::Silent;
    use crate::run::engine::run_tolerant;
    use crate::scenario::testing::sim;
    use crate::vocabulary::Seed;

    /// What the header of the file says: five deviate, the five are named, and nobody else is; beside it peers crash, and the others have the result.
    #[test]
    fn byzantine_names_whoever_deviates_and_nobody_else() {
        let experiment = sim("byzantine.toml", &[]).expect("valid");
        let session = experiment.session(&Seed::from_u64(experiment.config().seed));
        let run = run_tolerant(&experiment, &session, &mut Silent).expect("there is a result");
        let summary = run.faults.expect("it tolerates losses").summary;
        println!("{summary:?}");
        let told = summary.deviants.as_ref().expect("five are listed");
        assert!(summary.finished > 20 && summary.fired.crashes > 0);
        assert!(told.overlooked.is_empty() && told.wronged.is_empty());
        let named: BTreeSet<&str> = told.named.iter().map(|one| one.peer.as_str()).collect();
        assert_eq!(named, BTreeSet::from(["2", "5", "11", "14", "20"]));
        assert!(told.spoiled > 1e-9, "{}", told.spoiled);
        let quiet = sim("byzantine.toml", &["faults.deviant=[]"]).expect("valid");
        let run = run_tolerant(&quiet, &session, &mut Silent).expect("there is a result");
        assert!(
            run.faults
                .expect("it tolerates losses")
                .summary
                .deviants
                .is_none()
        );
    }
}
