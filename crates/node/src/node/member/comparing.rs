//! What a member does once results differ: it shows which frames it has received, and compares them with what others show.

use std::time::Duration;

use tokio::time::Instant;

use super::conductor::Conductor;
use super::dispute::convict;
use super::error::MemberError;
use super::exchange::statements;
use super::verdict::named;
use crate::session::{PublicId, Signed, Stamps, Statement};

/// How long members that are done wait for the stamps of others, once all are done.
const WAITING: Duration = Duration::from_secs(10);

impl Conductor<'_> {
    /// Shows the others which frames this member has received, as their results differ.
    pub(super) fn show_stamps(&mut self) {
        let own = self.identity.id();
        for stamps in statements(&self.host.stamps(), &self.roster) {
            let statement = Statement::Stamps(stamps.clone());
            let signed = Signed::new(&self.identity, self.session, statement);
            if let Err(error) = self.host.broadcast(signed.bytes) {
                tracing::warn!(%error, "stamps of frames were not shown to the others");
            }
            self.take_stamps(own, &stamps);
        }
    }

    /// Compares the frames that a member says it has received with those that others have. Evidence takes the place of two results.
    pub(super) fn take_stamps(&mut self, from: PublicId, shown: &Stamps) {
        let Some(session) = self
            .planned
            .as_ref()
            .map(|one| one.session.plan().session())
        else {
            return;
        };
        let Some(evidence) = self.exchange.take(from, (session, &self.roster), shown) else {
            return;
        };
        if self.has_evidence() {
            return;
        }
        let member = named(&self.names, &evidence.culprit);
        self.disputed = Some(convict(&self.ready.files, &evidence, member));
    }

    fn has_evidence(&self) -> bool {
        matches!(self.disputed, Some(MemberError::Equivocated { .. }))
    }

    /// Whether nothing more is to be found out about why results differ, now that all are done.
    pub(super) fn is_settled(&mut self) -> bool {
        if self.disputed.is_none() || self.has_evidence() || self.exchange.is_complete(&self.roster)
        {
            return true;
        }
        let until = *self.settles.get_or_insert_with(|| Instant::now() + WAITING);
        until <= Instant::now()
    }
}
