//! What the lines of a ledger add up to: sessions, what they reserved, what they charged.

use std::collections::{BTreeMap, BTreeSet};

use super::super::digest::Digest;
use super::super::ledger_error::{LedgerError, LineError};
use super::super::terms::{Reservation, ScopeName, SessionEnd};
use super::entry::LedgerEvent;
use crate::privacy::{Adjacency, Budget, LifetimeBudget, SquareSum, gaussian};
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

    /// What counts against the budget of one record of `record`: c times what is held. `None` where the session bounds nothing about it.
    #[must_use]
    pub fn held_for(&self, record: Adjacency) -> Option<SquareSum> {
        let Reservation {
            adjacency, plain, ..
        } = self.reservation;
        let factor = adjacency.square_factor(record, plain)?;
        Some(self.held().times(factor))
    }
}

impl Accounts {
    pub(super) fn get(&self, session: &Digest) -> Option<&Account> {
        self.sessions.get(session)
    }

    pub(super) fn all(&self) -> impl Iterator<Item = (&Digest, &Account)> {
        self.sessions.iter()
    }

    /// The sessions of a scope.
    fn of<'a>(&'a self, scope: &'a ScopeName) -> impl Iterator<Item = &'a Account> {
        let of = move |account: &&Account| account.reservation.scope == *scope;
        self.sessions.values().filter(of)
    }

    /// Everything that one record of this adjacency may have lost in a scope: of every session that bounds it.
    ///
    /// # Statement and proof
    /// Σ μ² over all sessions whose adjacency bounds `adjacency`, each c times its own ([`Adjacency::square_factor`]). The sessions are independent mechanisms, session i
    /// has loss at most √c_i·μ_i for the record, and Gaussian losses add up in squares (Dong, Roth & Su, JRSS-B 2022, Corollary 3.3), also where a session
    /// is chosen by what earlier ones released. Sessions without a factor are those of [`Self::uncounted`]. ∎
    pub(super) fn held(&self, scope: &ScopeName, adjacency: Adjacency) -> SquareSum {
        let held = self.of(scope);
        held.filter_map(|account| account.held_for(adjacency)).sum()
    }

    /// The adjacencies of the scope's sessions, ascending, each once.
    pub(super) fn adjacencies(&self, scope: &ScopeName) -> BTreeSet<Adjacency> {
        self.of(scope)
            .map(|account| account.reservation.adjacency)
            .collect()
    }

    /// The adjacencies of sessions of a scope that spent something and bound nothing about a record of this one.
    pub(super) fn uncounted(&self, scope: &ScopeName, adjacency: Adjacency) -> BTreeSet<Adjacency> {
        self.of(scope)
            .filter(|account| account.held_for(adjacency).is_none() && account.held().get() > 0.0)
            .map(|account| account.reservation.adjacency)
            .collect()
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
                None if account.reservation.is_of(wanted) => Ok(Standing::Known),
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

    /// Whether the sums of a scope stay within its budget with this reservation: that of its own adjacency, and of every other one that sessions of the
    /// scope protect and that it bounds.
    pub(super) fn check_budget(
        &self,
        wanted: &Reservation,
        budget: Budget,
    ) -> Result<(), LedgerError> {
        let lifetime = LifetimeBudget::new(budget);
        let mut records = self.adjacencies(&wanted.scope);
        records.remove(&wanted.adjacency);
        for record in std::iter::once(wanted.adjacency).chain(records) {
            let Some(factor) = wanted.adjacency.square_factor(record, wanted.plain) else {
                continue;
            };
            let held = self.held(&wanted.scope, record);
            let charge = wanted.mu_squared.0.times(factor);
            if !lifetime.allows(held.plus(charge)) {
                let left = lifetime.left(held) / f64::from(factor);
                return Err(LedgerError::Budget {
                    scope: wanted.scope.clone(),
                    adjacency: record,
                    epsilon: budget.epsilon.get(),
                    delta: budget.delta.get(),
                    wanted: lifetime.epsilon_of(charge),
                    held: lifetime.epsilon_of(held),
                    left: gaussian::epsilon(left.sqrt(), budget.delta),
                    left_squared: left,
                });
            }
        }
        Ok(())
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
