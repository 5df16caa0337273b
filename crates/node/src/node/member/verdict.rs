//! The consequences for this member of what another member does, and its own last statement.
//!
//! Pure: no host, no disk, no clock. The conductor carries out what this decides.
//!
//! # Blame
//! A member blames another for two things only, both observed at the link between the two: an absence, and a fault in what came over it. A message that
//! has not come is nobody's fault: whoever should have sent it may wait for another. Where
//! somebody else says something about a third member, the error names who says it, and this member's own last statement repeats nothing of it.

use std::collections::BTreeMap;

use super::error::MemberError;
use crate::node::deployed::Misbehaviour;
use crate::session::{PublicId, Reason, Signed, Statement};

/// Where a session stands for this member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// Members are agreeing.
    Assembling,
    /// This member has begun before, and makes its plan again.
    Resuming,
    /// The peer runs.
    Running,
    /// The result is here, and on the disk but where that refuses.
    Done,
}

/// What decides about the consequences of what others do.
#[derive(Clone, Copy, Debug)]
pub(super) struct Situation<'a> {
    pub(super) stage: Stage,
    /// Whether the session file has the others go on when a member is lost.
    pub(super) tolerates_losses: bool,
    pub(super) names: &'a BTreeMap<PublicId, String>,
}

/// The consequence for this member of what another did.
#[derive(Debug)]
pub(super) enum Consequence {
    /// None.
    Nothing,
    /// The agreement is told that the other is absent.
    Absent,
    /// The link to the other is cut.
    LinkCut {
        /// Whether it is not waited for any more either.
        is_over: bool,
    },
    /// The other is not waited for any more.
    NotAwaited,
    /// The other has a result.
    Result,
    /// The session ends here.
    Ends(MemberError),
}

impl Situation<'_> {
    /// Whether the session has begun and goes on when members are lost.
    pub(super) fn tolerates(&self) -> bool {
        self.stage != Stage::Assembling && self.tolerates_losses
    }

    /// After a statement of somebody who takes part, that came over this member's connection, once members have agreed.
    pub(super) fn heard(&self, signed: &Signed, over: &PublicId) -> Consequence {
        match &signed.statement {
            Statement::Finished { .. } => Consequence::Result,
            // It may be of an earlier try: its author may have come back.
            Statement::Gone { is_final, .. } if !is_final && signed.from != *over => {
                Consequence::Nothing
            }
            Statement::Gone {
                reason,
                about,
                text,
                ..
            } => self.gone(&signed.from, *reason, about.as_ref(), text),
            _ => Consequence::Nothing,
        }
    }

    /// After a member's word that it leaves.
    fn gone(
        &self,
        author: &PublicId,
        reason: Reason,
        about: Option<&PublicId>,
        text: &str,
    ) -> Consequence {
        let outlives = self.tolerates() || self.stage == Stage::Done;
        match about {
            // Where something failed it may start again and ask for the result.
            None if outlives => Consequence::LinkCut {
                is_over: reason != Reason::Failed,
            },
            // What others say of others is what the peers agree on.
            Some(_) if outlives => Consequence::Nothing,
            about => Consequence::Ends(MemberError::EndedBy {
                member: self.named(author),
                about: about.map(|about| self.named(about)),
                why: text.to_owned(),
            }),
        }
    }

    /// After a member has had no connection for the whole grace; `is_listed` says whether it takes part.
    pub(super) fn lost(&self, id: &PublicId, is_listed: bool, grace_seconds: u64) -> Consequence {
        match self.stage {
            Stage::Assembling if self.tolerates_losses => Consequence::Absent,
            // It may come back for the result: whoever has it lingers.
            _ if self.tolerates() => Consequence::LinkCut { is_over: false },
            // Nobody is there any more to wait for.
            Stage::Done => Consequence::NotAwaited,
            _ if is_listed => self.blame(id, format!("has been gone for {grace_seconds} s")),
            // Until the list is drawn up it may come back.
            _ => Consequence::Nothing,
        }
    }

    /// After what no member sends, over the culprit's own link.
    pub(super) fn fault(
        &self,
        culprit: &PublicId,
        what: &Misbehaviour,
        has_evidence: bool,
    ) -> Consequence {
        match has_evidence {
            _ if self.tolerates() => Consequence::LinkCut { is_over: false },
            // It may have waited for somebody who deviates.
            false if matches!(what, Misbehaviour::Protocol(kind) if kind.names_nobody()) => {
                Consequence::Ends(MemberError::Stalled {
                    member: self.named(culprit),
                    what: what.to_string(),
                })
            }
            true => self.blame(
                culprit,
                format!("{what}; both are kept as evidence-first.bin and evidence-second.bin"),
            ),
            false => self.blame(
                culprit,
                format!("{what}; this was observed here, and nothing proves it to others"),
            ),
        }
    }

    fn blame(&self, id: &PublicId, why: String) -> Consequence {
        Consequence::Ends(MemberError::Culprit {
            id: *id,
            member: self.named(id),
            why,
        })
    }

    /// A member in words that blame it: its name, which others chose, and the end of its id.
    pub(super) fn named(&self, id: &PublicId) -> String {
        named(self.names, id)
    }
}

/// A member in words that blame it: its name, which others chose, and the end of its id.
pub(super) fn named(names: &BTreeMap<PublicId, String>, id: &PublicId) -> String {
    let name = names.get(id);
    name.map_or_else(|| id.to_string(), |name| id.beside(name))
}

/// What this member says to the others as it ends with this error, for good or not; nothing where the agreement has said it.
pub(super) fn last_statement(error: &MemberError, is_final: bool) -> Option<Statement> {
    let (reason, about, text) = match error {
        MemberError::Assembly(_) => return None,
        MemberError::Culprit { id, why, .. } => (Reason::Lost, Some(*id), why.as_str()),
        MemberError::EndedBy { .. } => (Reason::Lost, None, "another member has ended the session"),
        // That is nobody's fault.
        MemberError::NotComputed(_) => (Reason::Failed, None, "its release could not be computed"),
        MemberError::Stalled { .. } => (Reason::Lost, None, "it has waited in vain"),
        MemberError::Stopped => (Reason::Refused, None, "stopped by its operator"),
        // What is wrong with this member's disk is nobody else's business.
        _ if error.is_disk() => (Reason::Failed, None, "it cannot go on"),
        _ => (Reason::Refused, None, "it cannot go on"),
    };
    Some(Statement::Gone {
        reason,
        about,
        text: text.to_owned(),
        is_final,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::FaultKind;
    use crate::session::{Identity, SessionHash};

    fn identity(number: u8) -> Identity {
        Identity::from_secret([number; 32].into())
    }

    fn names() -> BTreeMap<PublicId, String> {
        let named = |number| (identity(number).id(), format!("h{number}"));
        (1..4).map(named).collect()
    }

    fn gone(by: u8, about: Option<u8>, text: &str) -> Signed {
        let statement = Statement::Gone {
            reason: Reason::Lost,
            about: about.map(|number| identity(number).id()),
            text: text.to_owned(),
            is_final: false,
        };
        Signed::new(&identity(by), SessionHash([9; 32]), statement)
    }

    fn running(names: &BTreeMap<PublicId, String>) -> Situation<'_> {
        Situation {
            stage: Stage::Running,
            tolerates_losses: false,
            names,
        }
    }

    /// One hostile member says of an honest one what no honest member saw.
    #[test]
    fn a_claim_about_another_names_its_author_and_is_not_repeated() {
        let names = names();
        let said = "signed two different frames for one place of the protocol";
        let id = identity(3).id();
        let Consequence::Ends(error) = running(&names).heard(&gone(3, Some(1), said), &id) else {
            panic!("a plain session ends when a member leaves")
        };
        let words = error.to_string();
        let author = format!("{} ended the session", id.beside("h3"));
        assert!(words.starts_with(&author), "{words}");
        assert!(
            words.contains("gives h1 (") && words.contains(said),
            "{words}"
        );
        assert_eq!(error.exit_code(), 1);
        // The next one to hear it hears nothing of h1.
        let Some(statement) = last_statement(&error, true) else {
            panic!("the others are told")
        };
        let Statement::Gone { about, text, .. } = &statement else {
            panic!("{statement:?}")
        };
        assert_eq!(*about, None);
        assert!(!text.contains("h1") && !text.contains("frames"), "{text}");
        let passed_on = Signed::new(&identity(2), SessionHash([9; 32]), statement);
        let Consequence::Ends(error) = running(&names).heard(&passed_on, &id) else {
            panic!("it ends here, too")
        };
        assert!(!error.to_string().contains("h1"), "{error}");
    }

    #[test]
    fn an_absence_and_a_fault_at_the_own_link_are_said_of_whose_link_it_is() {
        let names = names();
        let culprit = identity(2).id();
        let fault = Misbehaviour::Truncated;
        let seen = [
            running(&names).lost(&culprit, true, 7),
            running(&names).fault(&culprit, &fault, false),
            running(&names).fault(&culprit, &fault, true),
        ];
        for consequence in seen {
            let Consequence::Ends(error) = consequence else {
                panic!("{consequence:?}")
            };
            assert!(error.to_string().starts_with("h2 ("), "{error}");
            let Some(Statement::Gone { about, .. }) = last_statement(&error, true) else {
                panic!("{error}")
            };
            assert_eq!(about, Some(culprit));
        }
    }

    /// Members wait for one another: the neighbour that sends nothing need not be the one that holds all up.
    #[test]
    fn silence_of_a_neighbour_that_is_connected_is_said_of_nobody() {
        let names = names();
        let what = Misbehaviour::Protocol(FaultKind::Silent { step: 6 });
        let consequence = running(&names).fault(&identity(2).id(), &what, false);
        let Consequence::Ends(error) = consequence else {
            panic!("{consequence:?}")
        };
        assert!(matches!(error, MemberError::Stalled { .. }), "{error}");
        let Some(Statement::Gone { about, text, .. }) = last_statement(&error, true) else {
            panic!("{error}")
        };
        assert!(about.is_none() && !text.contains("h2"), "{text}");
    }

    #[test]
    fn a_member_that_outlives_others_takes_no_word_about_a_third() {
        let names = names();
        for (stage, tolerates_losses) in [(Stage::Done, false), (Stage::Running, true)] {
            let situation = Situation {
                stage,
                tolerates_losses,
                names: &names,
            };
            let id = identity(3).id();
            let about = situation.heard(&gone(3, Some(1), "lies"), &id);
            assert!(matches!(about, Consequence::Nothing), "{about:?}");
            let itself = situation.heard(&gone(3, None, "leaves"), &id);
            assert!(matches!(itself, Consequence::LinkCut { is_over: true }));
            // Said again by another, who may have kept it from an earlier try.
            let again = situation.heard(&gone(3, None, "leaves"), &identity(2).id());
            assert!(matches!(again, Consequence::Nothing), "{again:?}");
        }
    }
}
