//! A member while its peer runs: results, and the end in ledger and journal.

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use super::conductor::{Conductor, Stage, name};
use super::dispute::keep;
use super::error::{Charged, MemberError};
use super::late;
use super::setup::{MemberResult, Progress, Released};
use super::verdict::{last_statement, named};
use crate::node::store::{Digest, RECEIPT, Record, SessionEnd, sign_file};
use crate::protocol::Event;
use crate::session::{Signed, Statement};

/// What a member signs of what its planner writes.
const RECEIPT_FILE: &str = "receipt.json";

/// After how long a result that could not be written is written again.
const AGAIN: Duration = Duration::from_secs(1);

impl Conductor<'_> {
    /// What the peer tells.
    pub(super) fn peer(&mut self, event: Event) -> Result<(), MemberError> {
        match event {
            Event::Released { release, terms, .. } => self.releases.push(Released {
                release,
                statistic: terms.statistic,
                sensitivity: terms.sensitivity,
            }),
            Event::Advanced { release, basis, .. } => {
                let basis = match &self.defect {
                    None => basis,
                    Some(defect) => defect.taken_down(basis),
                };
                let digest = Digest(basis.digest());
                self.basis = Some(basis);
                let of = self
                    .planned
                    .as_ref()
                    .map_or(0, |planned| planned.charges.len());
                // For an operator alone: what must be on the disk before the next release leaves is its charge.
                if let Err(error) = self.ready.journal.append(Record::Done { release, digest }) {
                    tracing::warn!(%error, %release, "not noted in the journal");
                }
                let plan = self.planned.as_ref().map(|planned| planned.session.plan());
                if let Some(planned) = plan.and_then(|plan| plan.release(release)) {
                    self.status.iteration(planned.spec().iteration.0);
                }
                let seconds = self.last.elapsed().as_secs_f64();
                self.last = Instant::now();
                (self.progress)(Progress::Released {
                    release,
                    of,
                    seconds,
                });
            }
            Event::Finished => self.finish()?,
            Event::Published { .. } => {}
        }
        Ok(())
    }

    /// The result is here: keeps it, ends the session in the ledger, and tells the others.
    pub(super) fn finish(&mut self) -> Result<(), MemberError> {
        let (Some(planned), Some(basis), Some(index)) =
            (&self.planned, self.basis.clone(), self.own_index())
        else {
            return Err(MemberError::Plan("the session had no release".to_owned()));
        };
        let result = MemberResult {
            members: self.roster.iter().map(|id| name(&self.names, id)).collect(),
            index,
            basis: Arc::clone(&basis),
            releases: self.releases.clone(),
            written: self.written,
            attempts: self.attempts(),
            taken: self.taken.clone(),
            views: self.views.clone(),
        };
        self.files = (planned.keep)(&result).map_err(MemberError::Plan)?;
        self.result = Some(result);
        self.host.publish(late::bytes_of(&basis));
        self.stage = Stage::Done;
        let statement = Statement::Finished {
            result: basis.digest(),
        };
        let signed = Signed::new(&self.identity, self.session, statement);
        self.results.push(signed);
        self.compare_results();
        self.keep_result()
    }

    /// Writes down the result and the end of the session, and tells the others, who wait for that. Where the disk refuses, the result stays in memory and this is done again later.
    pub(super) fn keep_result(&mut self) -> Result<(), MemberError> {
        let own = self.identity.id();
        if let Err(error) = self.write_result() {
            let why = error.to_string();
            if self.unkept.is_none() {
                (self.progress)(Progress::Unkept { why: why.clone() });
            }
            self.unkept = Some((why, Instant::now() + AGAIN));
            return Ok(());
        }
        self.unkept = None;
        self.finished.insert(own);
        let ours = self.results.iter().find(|signed| signed.from == own);
        if let Some(ours) = ours {
            self.host.broadcast(Arc::clone(&ours.bytes))?;
        }
        self.report_waiting();
        Ok(())
    }

    /// All of it can be repeated: a failed write costs nothing but time.
    fn write_result(&mut self) -> Result<(), MemberError> {
        let Some(result) = &self.result else {
            return Ok(());
        };
        let digest = Digest(result.basis.digest());
        let ledger = &self.ready.ledger;
        let reopened = ledger
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .reopen();
        reopened?;
        self.ready.journal.reopen()?;
        let record = Record::Result { digest };
        if !self.ready.journal.records().contains(&record) {
            self.ready.journal.append(record)?;
        }
        for (file, bytes) in &self.files {
            self.ready.files.write(file, bytes)?;
            if file == RECEIPT_FILE {
                sign_file(&self.ready.files.path(file), &self.identity, RECEIPT)
                    .map_err(|error| MemberError::Plan(error.to_string()))?;
            }
        }
        self.ready.end(self.session, SessionEnd::Done)
    }

    /// The result that is in memory alone, as this member's lingering ends.
    pub(super) fn unkept(&self) -> Option<MemberError> {
        let (why, _) = self.unkept.as_ref()?;
        Some(MemberError::ResultNotKept {
            why: why.clone(),
            charged: self.charged(),
        })
    }

    /// What this session has charged so far.
    pub(super) fn charged(&self) -> Charged {
        self.ready.charged(self.session)
    }

    /// Whether all who are done have this member's result. Averaging that is not exact leaves every member a result of its own, and there is
    /// nothing to compare.
    pub(super) fn compare_results(&mut self) {
        let planned = self.planned.as_ref();
        if self.disputed.is_some() || !planned.is_some_and(|p| p.session.schedule().ends_equal()) {
            return;
        }
        let own = self.identity.id();
        let said = |signed: &&Signed| signed.from == own;
        let Some(ours) = self.results.iter().find(said) else {
            return;
        };
        let other = self
            .results
            .iter()
            .find(|theirs| theirs.statement != ours.statement);
        let Some(theirs) = other else { return };
        let member = named(&self.names, &theirs.from);
        self.disputed = keep(&self.ready.files, (ours, theirs), &member);
        if self.disputed.is_some() {
            self.show_stamps();
        }
    }

    pub(super) fn report_waiting(&mut self) {
        if matches!(self.stage, Stage::Done) {
            let missing = self.roster.iter().filter(|id| !self.finished.contains(*id));
            let missing = missing.map(|id| name(&self.names, id)).collect();
            (self.progress)(Progress::Waiting { missing });
        }
    }

    /// Says something to all.
    pub(super) fn say(&self, statement: Statement) {
        let signed = Signed::new(&self.identity, self.session, statement);
        let _ = self.host.broadcast(signed.bytes);
    }

    /// Tells the others why there is no result, and ends the session here if it had begun.
    pub(super) async fn end_with(&mut self, error: MemberError) -> MemberError {
        // Before anybody could be ready nothing has left: the session may be tried again until it closes.
        let has_begun = self.planned.is_some() || error.is_late();
        let goes_on = error.is_disk() && self.setup.invitation.tolerates_losses();
        if let Some(statement) = last_statement(&error, has_begun && !goes_on) {
            self.say(statement);
        }
        if has_begun
            && !goes_on
            && let Err(worse) = self.ready.end(self.session, error.end())
        {
            tracing::error!(error = %worse, "the end of the session was not written");
        }
        self.drain().await;
        error
    }
}
