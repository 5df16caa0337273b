//! Results of members that differ, and the stamps that they then show one another.

use super::process::{Effect, Process, Run};
use super::*;
use crate::node::member::dispute;
use crate::node::member::error::MemberError;
use crate::node::member::exchange::statements;
use crate::session::{Stamps, Statement};

impl Process {
    pub(super) fn compare_results(&mut self, out: &mut Vec<Effect>) {
        let planned = self.planned.as_ref();
        if self.disputed.is_some() || !planned.is_some_and(|p| p.session.schedule().ends_equal()) {
            return;
        }
        let own = self.identity.id();
        let Some(ours) = self.results.iter().find(|signed| signed.from == own) else {
            return;
        };
        let mut results = self.results.iter();
        let Some(theirs) = results.find(|theirs| theirs.statement != ours.statement) else {
            return;
        };
        let member = self.situation().named(&theirs.from);
        self.disputed = dispute::keep(&self.ready.files, (ours, theirs), &member);
        if self.disputed.is_some() {
            self.show_stamps(out);
        }
    }

    pub(super) fn show_stamps(&mut self, out: &mut Vec<Effect>) {
        let received = match &self.run {
            Run::Plain(plain) => plain.stamps.clone(),
            _ => Vec::new(),
        };
        let own = self.identity.id();
        for stamps in statements(&received, &self.roster) {
            self.say(Statement::Stamps(stamps.clone()), out);
            self.take_stamps(own, &stamps);
        }
    }

    pub(super) fn take_stamps(&mut self, from: PublicId, shown: &Stamps) {
        let planned = self.planned.as_ref();
        let Some(session) = planned.map(|one| one.session.plan().session()) else {
            return;
        };
        let found = self.exchange.take(from, (session, &self.roster), shown);
        if let Some(evidence) = found.filter(|_| !self.has_evidence()) {
            let member = self.situation().named(&evidence.culprit);
            self.disputed = Some(dispute::convict(&self.ready.files, &evidence, member));
        }
    }

    fn has_evidence(&self) -> bool {
        matches!(self.disputed, Some(MemberError::Equivocated { .. }))
    }

    /// Whether nothing more is to be found out about why results differ.
    pub(super) fn is_settled(&self) -> bool {
        self.disputed.is_none() || self.has_evidence() || self.exchange.is_complete(&self.roster)
    }
}
