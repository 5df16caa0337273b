//! What the lines of a ledger add up to: sessions, what they reserved, what they charged.

use std::collections::BTreeMap;

use super::super::digest::Digest;
use super::super::ledger_error::{LedgerError, LineError};
use super::super::terms::{Reservation, ScopeName, SessionEnd};
use super::entry::LedgerEvent;
use crate::privacy::{Adjacency, Budget, LifetimeBudget, SquareSum};
use crate::vocabulary::ReleaseId;

/// One session in the ledger.
#[derive(Clone, Debug, PartialEq)]
pub struct Account {
    /// What it may spend, and of what.
    pub reservation: Reservation,
    /// What it charged, by release and by how many tries had been charged anew.
    pub charged: BTreeMap<(ReleaseId, u32), SquareSum>,
    /// How it ended, if it has.
    pub ended: Option<SessionEnd>,
    /// Whether it was taken up from a lost ledger: then it counts in full.
    pub adopted: bool,
}

/// All sessions of a ledger.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Accounts {
    sessions: BTreeMap<Digest, Account>,
}

/// Whether a line must be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// It says something new.
    New,
    /// It is recorded already.
    Known,
}

impl Account {
    /// Σ μ² of what was charged, rounded up.
    #[must_use]
    pub fn charged(&self) -> SquareSum {
        self.charged.values().copied().sum()
    }

    /// What counts against the budget: everything reserved until the session ends, then what was charged.
    #[must_use]
    pub fn held(&self) -> SquareSum {
        let (charged, reserved) = (self.charged(), self.reservation.mu_squared.0);
        match self.ended.is_some() && !self.adopted {
            true => charged,
            // Rounding may have brought the charges above what was reserved.
            false if charged > reserved => charged,
            false => reserved,
        }
    }
}

impl Accounts {
    pub(super) fn get(&self, session: &Digest) -> Option<&Account> {
        self.sessions.get(session)
    }

    pub(super) fn all(&self) -> impl Iterator<Item = (&Digest, &Account)> {
        self.sessions.iter()
    }

    /// Everything spent or reserved of a scope, in one unit of protection.
    pub(super) fn held(&self, scope: &ScopeName, adjacency: Adjacency) -> SquareSum {
        let of = |account: &&Account| {
            account.reservation.scope == *scope && account.reservation.adjacency == adjacency
        };
        self.sessions.values().filter(of).map(Account::held).sum()
    }

    /// Whether `event` may follow, apart from budgets, and whether it is there already.
    pub(super) fn check(&self, event: &LedgerEvent) -> Result<Standing, LedgerError> {
        match event {
            LedgerEvent::Opened { .. } => Err(LedgerError::Line {
                line: 0,
                problem: LineError::Impossible,
            }),
            LedgerEvent::Reserved(wanted) => self.check_reserved(wanted),
            LedgerEvent::Charged {
                session,
                release,
                retry,
                mu_squared,
            } => self.check_charge(session, (*release, *retry), mu_squared.0),
            LedgerEvent::Finished { session, outcome } => {
                let account = self.find(session)?;
                match account.ended {
                    None => Ok(Standing::New),
                    Some(ended) if ended == *outcome => Ok(Standing::Known),
                    Some(ended) => Err(LedgerError::Ended {
                        session: *session,
                        ended,
                    }),
                }
            }
            LedgerEvent::Adopted { sessions, .. } => {
                let known = sessions.iter().find(|missing| {
                    let same = |other: &&Reservation| other.session == missing.session;
                    self.get(&missing.session).is_some() || sessions.iter().filter(same).count() > 1
                });
                match known {
                    None => Ok(Standing::New),
                    Some(known) => Err(LedgerError::NotMissing {
                        session: known.session,
                    }),
                }
            }
        }
    }

    fn find(&self, session: &Digest) -> Result<&Account, LedgerError> {
        let unknown = LedgerError::NotReserved { session: *session };
        self.get(session).ok_or(unknown)
    }

    fn check_reserved(&self, wanted: &Reservation) -> Result<Standing, LedgerError> {
        match self.get(&wanted.session) {
            None => Ok(Standing::New),
            Some(account) => match account.ended {
                Some(ended) => Err(LedgerError::Ended {
                    session: wanted.session,
                    ended,
                }),
                None if account.reservation == *wanted => Ok(Standing::Known),
                None => Err(LedgerError::Differs {
                    session: wanted.session,
                }),
            },
        }
    }

    fn check_charge(
        &self,
        session: &Digest,
        which: (ReleaseId, u32),
        square: SquareSum,
    ) -> Result<Standing, LedgerError> {
        let account = self.find(session)?;
        if let Some(&charged) = account.charged.get(&which) {
            return match charged == square {
                true => Ok(Standing::Known),
                false => Err(LedgerError::ChargeDiffers {
                    session: *session,
                    release: which.0,
                }),
            };
        }
        if let Some(ended) = account.ended {
            return Err(LedgerError::Ended {
                session: *session,
                ended,
            });
        }
        let reserved = account.reservation.mu_squared.0.get();
        let total = account.charged().plus(square).get();
        // The same allowance for rounding as the budget's, and no other.
        let most = reserved * (1.0 + LifetimeBudget::ALLOWANCE);
        // Neither is ever NaN: both are sums of squares.
        if total > most {
            return Err(LedgerError::Overcharged {
                session: *session,
                reserved,
                total,
            });
        }
        Ok(Standing::New)
    }

    /// Whether the sum of a scope stays within its budget with this reservation.
    pub(super) fn check_budget(
        &self,
        wanted: &Reservation,
        budget: Budget,
    ) -> Result<(), LedgerError> {
        let lifetime = LifetimeBudget::new(budget);
        let held = self.held(&wanted.scope, wanted.adjacency);
        let total = held.plus(wanted.mu_squared.0);
        match lifetime.allows(total) {
            true => Ok(()),
            false => Err(LedgerError::Budget {
                scope: wanted.scope.clone(),
                adjacency: wanted.adjacency,
                epsilon: budget.epsilon.get(),
                delta: budget.delta.get(),
                wanted: lifetime.epsilon_of(wanted.mu_squared.0),
                held: lifetime.epsilon_of(held),
                left: lifetime.epsilon_left(held),
                left_squared: lifetime.left(held),
            }),
        }
    }

    /// Takes up what [`Self::check`] has allowed.
    pub(super) fn apply(&mut self, event: LedgerEvent) {
        match event {
            LedgerEvent::Opened { .. } => {}
            LedgerEvent::Reserved(reservation) => self.open(&reservation, false),
            LedgerEvent::Charged {
                session,
                release,
                retry,
                mu_squared,
            } => {
                if let Some(account) = self.sessions.get_mut(&session) {
                    account.charged.insert((release, retry), mu_squared.0);
                }
            }
            LedgerEvent::Finished { session, outcome } => {
                if let Some(account) = self.sessions.get_mut(&session) {
                    account.ended = Some(outcome);
                }
            }
            LedgerEvent::Adopted { sessions, .. } => {
                // What is open here may have gone on in the ledger that was lost.
                for account in self.sessions.values_mut() {
                    if account.ended.is_none() {
                        account.ended = Some(SessionEnd::Abandoned);
                        account.adopted = true;
                    }
                }
                for reservation in sessions {
                    self.open(&reservation, true);
                }
            }
        }
    }

    fn open(&mut self, reservation: &Reservation, adopted: bool) {
        let account = Account {
            charged: BTreeMap::new(),
            ended: adopted.then_some(SessionEnd::Abandoned),
            adopted,
            reservation: reservation.clone(),
        };
        self.sessions.insert(reservation.session, account);
    }
}
