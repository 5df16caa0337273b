//! Reservations of sessions that have closed without this peer: they are free again.
//!
//! A session that was never agreed on has charged nothing and sent nothing but a Join. Once it has closed nobody can agree on it any more, so what is set aside for it protects nobody. The folder of a
//! session says when it closes; its journal says whether this peer was ready.

use std::time::Duration;

use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use super::directory::{StateDir, StateView};
use super::disk;
use super::error::StoreError;
use super::journal::Record;
use super::ledger::{Ledger, LedgerView};
use super::session_files::{SessionFiles, SessionView};
use super::terms::SessionEnd;

/// The file that says when a session closes.
const CLOSES: &str = "closes";
/// Bytes of the longest.
const LONGEST: u64 = 64;

/// How long after it has closed: members may still be agreeing, and clocks differ.
const AFTER: Duration = Duration::from_secs(3600);

impl SessionFiles {
    /// Keeps when the session closes, before anything is set aside for it.
    ///
    /// # Errors
    /// [`StoreError::Io`].
    pub fn keep_closes(&self, closes: &str) -> Result<(), StoreError> {
        self.write(CLOSES, closes.as_bytes())
    }
}

impl SessionView {
    /// Whether the session has closed by `now`, and this peer was not ready. Where that is in doubt, it was.
    fn is_over(&self, now: OffsetDateTime) -> bool {
        let closes = disk::read_text(&self.path().join(CLOSES), LONGEST)
            .ok()
            .flatten();
        let closes = closes.and_then(|text| OffsetDateTime::parse(&text, &Rfc3339).ok());
        let was_ready = |records: Vec<Record>| !records.iter().all(Record::is_of_joining);
        closes.is_some_and(|closes| now - closes > AFTER)
            && self.records().is_ok_and(|records| !was_ready(records))
    }
}

impl StateView {
    /// The sessions whose reservations hold nothing any more.
    pub(super) fn lapsed(
        &self,
        ledger: &LedgerView,
        now: OffsetDateTime,
    ) -> Result<Vec<SessionView>, StoreError> {
        let mut sessions = self.sessions()?;
        sessions.retain(|session| {
            let account = ledger.session(session.id().0);
            let is_open = account.is_some_and(|one| one.ended.is_none() && one.charged.is_empty());
            is_open && session.is_over(now)
        });
        Ok(sessions)
    }
}

impl StateDir {
    /// Ends the sessions whose reservations hold nothing any more.
    ///
    /// # Errors
    /// Those of writing ledger and journals.
    pub fn release_lapsed(&self, ledger: &mut Ledger) -> Result<(), StoreError> {
        for session in self
            .view()
            .lapsed(ledger.view(), OffsetDateTime::now_utc())?
        {
            let (id, outcome) = (session.id(), SessionEnd::Lapsed);
            tracing::info!(session = %id, "closed without this peer: what was set aside for it is free again");
            ledger.finish(id.0, outcome)?;
            let files = self.session(id.0)?;
            files.journal()?.append(Record::End { outcome })?;
            files.erase_secrets()?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::node::store::{Digest, Reservation, Square};
    use crate::privacy::{Adjacency, Budget};

    /// A state in which so much is set aside for session 1, which closes then; whether its journal says that members agreed.
    fn reserved(folder: &std::path::Path, closes: Option<&str>, agreed: bool) -> StateDir {
        let state = StateDir::init(&folder.join("peer"), &"Ulm".parse().expect("a name"));
        let state = state.expect("made");
        let files = state.session([1; 32]).expect("made");
        if let Some(closes) = closes {
            files.keep_closes(closes).expect("written");
        }
        let reservation = Reservation {
            session: Digest([1; 32]),
            scope: "default".parse().expect("a scope"),
            adjacency: Adjacency::User,
            mu_squared: Square::new(0.25).expect("a square"),
            plain: false,
        };
        let budget = Budget::new(4.0, 1e-5).expect("a budget");
        let mut ledger = state.ledger().expect("opened");
        ledger.reserve(reservation, budget).expect("fits");
        let mut journal = files.journal().expect("made");
        let digest = Digest([2; 32]);
        let joined = Record::Joined {
            file: Digest([1; 32]),
            rows: digest,
        };
        journal.append(joined).expect("written");
        if agreed {
            let agreed = Record::Agreed { plan: digest };
            journal.append(agreed).expect("written");
        }
        state
    }

    #[test]
    fn what_was_set_aside_for_a_session_that_closed_without_agreement_is_free_again() {
        let past = Some("2026-01-01T00:00:00Z");
        for (closes, agreed, is_free) in [
            (past, false, true),
            (past, true, false),
            (Some("9000-01-01T00:00:00Z"), false, false),
            (Some("tomorrow"), false, false),
            (None, false, false),
        ] {
            let folder = tempfile::tempdir().expect("a folder");
            let state = reserved(folder.path(), closes, agreed);
            let held = |ledger: &LedgerView| {
                let scope = "default".parse().expect("a scope");
                ledger.held(&scope, Adjacency::User).get()
            };
            let expected = if is_free { 0.0 } else { 0.25 };
            // Who looks sees it before anything is written.
            let view = state.view().ledger().expect("read");
            assert_eq!(held(&view), expected, "{closes:?} {agreed}");
            let mut ledger = state.ledger().expect("opened");
            assert_eq!(held(ledger.view()), 0.25);
            state.release_lapsed(&mut ledger).expect("written");
            assert_eq!(held(ledger.view()), expected, "{closes:?} {agreed}");
            let ended = ledger.view().session([1; 32]).expect("known").ended;
            assert_eq!(ended, is_free.then_some(SessionEnd::Lapsed));
            drop(ledger);
            // Again changes nothing, and the ledger verifies.
            let mut ledger = state.ledger().expect("opened");
            state.release_lapsed(&mut ledger).expect("written");
            assert_eq!(held(&state.view().ledger().expect("read")), expected);
        }
    }

    /// Until then clocks may differ, and members may still be agreeing.
    #[test]
    fn a_session_lapses_an_hour_after_it_closed() {
        let folder = tempfile::tempdir().expect("a folder");
        let closes = "2026-01-01T00:00:00Z";
        let state = reserved(folder.path(), Some(closes), false);
        let ledger = state.ledger().expect("opened");
        let closes = OffsetDateTime::parse(closes, &Rfc3339).expect("a time");
        let lapsed = |seconds| {
            let now = closes + Duration::from_secs(seconds);
            let found = state.view().lapsed(ledger.view(), now);
            found.expect("read").len()
        };
        assert_eq!((lapsed(3600), lapsed(3601)), (0, 1));
    }
}
