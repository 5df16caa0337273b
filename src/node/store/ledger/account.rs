//! What the lines of a ledger add up to: sessions, what they reserved, what they charged.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::super::digest::Digest;
use super::LedgerError;
use super::entry::{LedgerEvent, LineError};
use crate::privacy::{Adjacency, Budget, LifetimeBudget, PrivacyError, SquareSum};
use crate::vocabulary::{ReleaseId, hidden};

/// Characters of the longest name of a scope.
const LONGEST_SCOPE: usize = 64;

/// A μ² as the ledger writes it: text, so that every bit comes back whatever reads the number.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Square(pub SquareSum);

/// The most that a session may spend, and of what.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reservation {
    /// The session: the hash of its file.
    pub session: Digest,
    /// Whose data: a scope of the policy.
    pub scope: ScopeName,
    /// What one record is.
    pub adjacency: Adjacency,
    /// The largest Σ μ² that the session may come to.
    pub mu_squared: Square,
}

/// The name of a group of people whose data several sessions use: 1 to 64 characters that can be seen.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ScopeName(String);

/// A scope's name that is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a scope's name has 1 to {LONGEST_SCOPE} characters that can be seen")]
pub struct NoScope;

/// How a session ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SessionEnd {
    /// With a result.
    Done,
    /// Without one.
    Aborted,
    /// The others went on without this peer.
    Excluded,
    /// The operator left it.
    Abandoned,
}

/// One session in the ledger.
#[derive(Clone, Debug, PartialEq)]
pub struct Account {
    /// What it may spend, and of what.
    pub reservation: Reservation,
    /// What it charged, by release.
    pub charged: BTreeMap<ReleaseId, SquareSum>,
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
                mu_squared,
            } => self.check_charge(session, *release, mu_squared.0),
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
        release: ReleaseId,
        square: SquareSum,
    ) -> Result<Standing, LedgerError> {
        let account = self.find(session)?;
        if let Some(&charged) = account.charged.get(&release) {
            return match charged == square {
                true => Ok(Standing::Known),
                false => Err(LedgerError::ChargeDiffers {
                    session: *session,
                    release,
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
        if !(total <= reserved * (1.0 + LifetimeBudget::ALLOWANCE)) {
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
            LedgerEvent::Reserved(reservation) => self.open(reservation, false),
            LedgerEvent::Charged {
                session,
                release,
                mu_squared,
            } => {
                if let Some(account) = self.sessions.get_mut(&session) {
                    account.charged.insert(release, mu_squared.0);
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
                    self.open(reservation, true);
                }
            }
        }
    }

    fn open(&mut self, reservation: Reservation, adopted: bool) {
        let account = Account {
            charged: BTreeMap::new(),
            ended: adopted.then_some(SessionEnd::Abandoned),
            adopted,
            reservation: reservation.clone(),
        };
        self.sessions.insert(reservation.session, account);
    }
}

impl ScopeName {
    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for ScopeName {
    type Error = NoScope;

    fn try_from(text: String) -> Result<Self, NoScope> {
        let long = text.len() > 4 * LONGEST_SCOPE || text.chars().count() > LONGEST_SCOPE;
        let blank = text.trim() != text || text.is_empty() || text.contains('\t');
        match long || blank || hidden(&text).is_some() {
            true => Err(NoScope),
            false => Ok(Self(text)),
        }
    }
}

impl std::str::FromStr for ScopeName {
    type Err = NoScope;

    fn from_str(text: &str) -> Result<Self, NoScope> {
        text.to_owned().try_into()
    }
}

impl From<ScopeName> for String {
    fn from(scope: ScopeName) -> Self {
        scope.0
    }
}

impl std::fmt::Display for ScopeName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(&self.0)
    }
}

impl Square {
    /// A μ².
    ///
    /// # Errors
    /// Those of [`SquareSum::new`].
    pub fn new(square: f64) -> Result<Self, PrivacyError> {
        SquareSum::new(square).map(Self)
    }
}

impl Serialize for Square {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{:e}", self.0.get()))
    }
}

impl<'de> Deserialize<'de> for Square {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let square: f64 = text.parse().map_err(serde::de::Error::custom)?;
        Self::new(square).map_err(serde::de::Error::custom)
    }
}

impl std::fmt::Display for SessionEnd {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            Self::Done => "done",
            Self::Aborted => "aborted",
            Self::Excluded => "excluded",
            Self::Abandoned => "abandoned",
        })
    }
}
