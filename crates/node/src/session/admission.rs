//! Who may take part: builds, modes and ledgers that fit, and claims about ledgers that are proven.

use std::sync::Arc;

use super::assembly::{Assembly, Output, Step};
use super::error::AssemblyError;
use super::identity::PublicId;
use super::keys::gives_a_secret;
use super::ledger_proof::{LedgerProof, Remembered};
use super::statement::{Join, Signed, Statement};

impl Assembly {
    /// Whether this member takes part with us; where it cannot and everybody is needed, why the session ends.
    pub(super) fn check_join(
        &self,
        from: PublicId,
        join: &Join,
        out: &mut Vec<Output>,
    ) -> Result<bool, Box<AssemblyError>> {
        let own = &self.setup.join;
        let member = || self.name(&from);
        if !gives_a_secret(&join.ephemeral) {
            // The others come to the same end without a word, and go on as if it had not joined.
            return match self.setup.tolerates_losses {
                true => Ok(false),
                false => Err(Box::new(AssemblyError::WeakKey { member: member() })),
            };
        }
        if join.mode != own.mode {
            return Err(Box::new(AssemblyError::OtherMode { member: member() }));
        }
        if (&join.build, join.sampler) != (&own.build, own.sampler) {
            return Err(Box::new(AssemblyError::OtherBuild {
                member: member(),
                theirs: join.built(),
                ours: own.built(),
            }));
        }
        let (low, high) = join.wire;
        if low > own.wire.1 || high < own.wire.0 {
            return Err(Box::new(AssemblyError::OtherWire {
                member: member(),
                low,
                high,
            }));
        }
        let remembered = self.setup.remembered.get(&from);
        if let Some(seen) = remembered.filter(|seen| seen.refutes(&join.ledger)) {
            if let Remembered::Shown(proof) = seen {
                self.show(proof, out);
            }
            return Err(Box::new(AssemblyError::RestoredState {
                member: member(),
                found: join.ledger.length,
                known: seen.ledger().length,
            }));
        }
        Ok(true)
    }

    /// Says to all that a ledger went back: before the word that this member leaves, so that its owner hears why from whomever it hears first.
    fn show(&self, proof: &LedgerProof, out: &mut Vec<Output>) {
        let join = Arc::clone(proof.bytes());
        let statement = Statement::LedgerBehind { join };
        let signed = Signed::new(&self.setup.identity, self.setup.session, statement);
        out.push(Output::Broadcast(signed.bytes));
    }

    /// Somebody says that a ledger went back. What it shows holds for everybody; where it shows nothing, nothing was said.
    pub(super) fn ledger_behind(
        &mut self,
        witness: PublicId,
        join: &[u8],
        out: &mut Vec<Output>,
    ) -> Step {
        let Ok(proof) = LedgerProof::read(join) else {
            return Ok(());
        };
        let (about, known) = (proof.about(), proof.ledger().length);
        let own = &self.setup.join.ledger;
        if about == self.setup.identity.id() {
            return match proof.refutes(own) {
                true => Err(Box::new(AssemblyError::OwnStateRestored {
                    witness: self.name(&witness),
                    known,
                    hash: proof.ledger().hash,
                    found: own.length,
                })),
                false => Ok(()),
            };
        }
        let held = self.joins.get(&about).map(|(join, _)| join.ledger);
        if let Some(found) = held.filter(|found| proof.refutes(found)) {
            self.show(&proof, out);
            return Err(Box::new(AssemblyError::RestoredState {
                member: self.name(&about),
                found: found.length,
                known,
            }));
        }
        // Its Join may come yet.
        let invited = self.setup.seats.iter().any(|seat| seat.id == about);
        let before = self.setup.remembered.get(&about);
        if invited && before.is_none_or(|before| before.ledger().length < known) {
            let shown = Remembered::Shown(proof);
            self.setup.remembered.insert(about, shown);
        }
        Ok(())
    }
}
