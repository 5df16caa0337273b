//! A member while its peer runs: results, and the end in ledger and journal.

use std::sync::{Arc, PoisonError};

use tokio::time::Instant;

use super::conductor::{Conductor, Stage, name};
use super::dispute::keep;
use super::error::MemberError;
use super::late;
use super::setup::{MemberResult, Progress, Released};
use crate::node::store::{Digest, RECEIPT, Record, SessionEnd, sign_file};
use crate::protocol::Event;
use crate::session::{Signed, Statement};

/// What a member signs of what its planner writes.
const RECEIPT_FILE: &str = "receipt.json";

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
                #[cfg(test)]
                let basis = super::tests::taken_down(basis);
                let digest = Digest(basis.digest());
                self.basis = Some(basis);
                self.ready
                    .journal
                    .append(Record::Done { release, digest })?;
                let of = self
                    .planned
                    .as_ref()
                    .map_or(0, |planned| planned.charges.len());
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
        let files = (planned.keep)(&result).map_err(MemberError::Plan)?;
        for (file, bytes) in files {
            self.ready.files.write(&file, &bytes)?;
            if file == RECEIPT_FILE {
                let path = self.ready.files.path(&file);
                sign_file(&path, &self.identity, RECEIPT)
                    .map_err(|error| MemberError::Plan(error.to_string()))?;
            }
        }
        self.end(SessionEnd::Done)?;
        self.result = Some(result);
        self.host.publish(late::bytes_of(&basis));
        self.stage = Stage::Done;
        self.finished.insert(self.identity.id());
        let statement = Statement::Finished {
            result: basis.digest(),
        };
        let signed = Signed::new(&self.identity, self.session, statement);
        self.host.broadcast(Arc::clone(&signed.bytes))?;
        self.results.push(signed);
        self.compare_results()?;
        self.report_waiting();
        Ok(())
    }

    /// Whether all who are done have this member's result. Averaging that is not exact leaves every member a result of its own, and there is
    /// nothing to compare.
    pub(super) fn compare_results(&mut self) -> Result<(), MemberError> {
        let planned = self.planned.as_ref();
        if self.disputed.is_some() || !planned.is_some_and(|p| p.session.program().ends_equal()) {
            return Ok(());
        }
        let own = self.identity.id();
        let said = |signed: &&Signed| signed.from == own;
        let Some(ours) = self.results.iter().find(said) else {
            return Ok(());
        };
        let other = self
            .results
            .iter()
            .find(|theirs| theirs.statement != ours.statement);
        let Some(theirs) = other else { return Ok(()) };
        let member = name(&self.names, &theirs.from);
        self.disputed = keep(&self.ready.files, (ours, theirs), &member)?;
        Ok(())
    }

    pub(super) fn report_waiting(&mut self) {
        if matches!(self.stage, Stage::Done) {
            let missing = self.roster.iter().filter(|id| !self.finished.contains(*id));
            let missing = missing.map(|id| name(&self.names, id)).collect();
            (self.progress)(Progress::Waiting { missing });
        }
    }

    /// Ledger first, then journal, then the secrets are erased.
    pub(super) fn end(&mut self, end: SessionEnd) -> Result<(), MemberError> {
        let mut ledger = self
            .ready
            .ledger
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        ledger.finish(self.session.0, end)?;
        drop(ledger);
        self.ready.journal.append(Record::End { outcome: end })?;
        self.ready.files.erase_secrets()?;
        Ok(())
    }
}
