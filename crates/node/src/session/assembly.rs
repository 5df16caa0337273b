//! The agreement as a state machine: statements and time in; statements, timers and the outcome out.
//!
//! ```text
//! Joining ── all invited joined, or the session closed ──▶ Listing ── all listed hold the same Joins ──▶ Revealing ── all revealed ──▶ Planning
//!                                                                                                                               │ plan
//!                                                        Agreed ◀── all Ready alike ── Comparing ◀────────────────────────────────┘
//! ```
//!
//! No step needs a leader, and none private data: whatever goes wrong here costs nobody anything but time.
//!
//! # What it relies on
//! *Joins.* Every Join is signed for one session file; the list of Joins is agreed on by their hash, so that whoever completes
//! [`Stage::Listing`] holds, for every listed member, the very key and commitment that all others hold. *Beacon.* Every listed member committed to
//! its number before any was revealed (a member reveals after it has seen equal lists of commitments from all), so that the hash of all numbers is
//! unpredictable to whoever has one honest member in the list; the last to reveal can only stop the session. Privacy does not depend on it: the
//! account holds for every coalition on the graph that is drawn. *Comparing.* Members compute the plan on their own and compare hashes; nobody takes
//! a plan from anybody.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::error::AssemblyError;
use super::identity::{Identity, PublicId, Verifier};
use super::ledger_proof::Remembered;
use super::statement::{
    Join, Listed, Reason, Roster, Sections, SessionHash, Signed, Statement, StatementError,
};
use crate::vocabulary::{Span, Time};

/// A member who is invited.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seat {
    /// Its key.
    pub id: PublicId,
    /// What the session file calls it.
    pub name: String,
}

/// What an assembly starts from.
#[derive(Clone, Debug)]
pub struct AssemblySetup {
    /// This member.
    pub identity: Arc<Identity>,
    /// The hash of the session file.
    pub session: SessionHash,
    /// Everybody invited, this member included, in the order of their keys.
    pub seats: Vec<Seat>,
    /// How many must join.
    pub least: usize,
    /// When the list is drawn up.
    pub closes: Time,
    /// What this member's Join says.
    pub join: Join,
    /// The number it has committed to.
    pub number: [u8; 32],
    /// The ledgers of others as they were last seen here.
    pub remembered: BTreeMap<PublicId, Remembered>,
    /// How long members may take for a step after the list is closed.
    pub patience: Span,
    /// After how long without progress everything held is said again.
    pub repeat: Span,
    /// Whether the others go on without members that leave while they are agreeing.
    pub tolerates_losses: bool,
    /// The last list that this member has signed for this session, in whatever process.
    pub listed: Option<Listed>,
}

/// What the driver tells it.
#[derive(Clone, Debug)]
pub enum Input {
    /// Begin; once.
    Start,
    /// Bytes from a member's connection, by whomever they are signed.
    Received {
        /// Whose connection.
        from: PublicId,
        /// What came.
        bytes: Vec<u8>,
    },
    /// A member has had no connection for the whole grace.
    Disconnected(PublicId),
    /// A member is connected.
    Connected(PublicId),
    /// The time that was asked for has come.
    Tick,
    /// What this member computed from what was assembled.
    Planned(Result<Box<Sections>, String>),
}

/// What it tells the driver.
#[derive(Clone, Debug)]
pub enum Output {
    /// To every member.
    Broadcast(Arc<[u8]>),
    /// What another member has said and is new here: to be passed on where not every two members have a connection.
    Relay {
        /// Who signed it.
        by: PublicId,
        /// As signed.
        bytes: Arc<[u8]>,
    },
    /// This member is about to sign a list of members: to be on the disk before what follows is said.
    Listed(Box<Listed>),
    /// It takes long: whoever is not connected with somebody should be, now.
    Widen,
    /// To be called with [`Input::Tick`] at this time.
    Wake(Time),
    /// Compute the plan from this, and answer with [`Input::Planned`].
    Plan(Box<Assembled>),
    /// All members have the same plan: the session begins.
    Agreed(Box<Assembled>),
    /// How many of the invited have joined; for an operator.
    Joined {
        /// Who, by name, has not.
        missing: Vec<String>,
    },
    /// There is no session.
    Failed(Box<AssemblyError>),
}

/// Who takes part, under which keys, and the beacon.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assembled {
    /// In the order of their keys, which is that of peers.
    pub roster: Vec<Seat>,
    /// Their Joins.
    pub joins: Vec<Join>,
    /// The hash of those, which sections and plans are bound to.
    pub hash: [u8; 32],
    /// What graphs and the starting block are drawn from: nobody could choose it.
    pub beacon: [u8; 32],
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Stage {
    Joining,
    Listing {
        attempt: u8,
        members: u128,
    },
    Revealing {
        members: u128,
    },
    Planning {
        assembled: Box<Assembled>,
    },
    Comparing {
        assembled: Box<Assembled>,
    },
    /// Agreed here; others may still have to hear what this member holds.
    Told,
    Over,
}

/// The hash that a Join commits to.
#[must_use]
pub fn commitment(number: &[u8; 32]) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new_derive_key("undertone 2026-11 session commitment v1");
    hasher.update(number);
    *hasher.finalize().as_bytes()
}

/// One member's view of an agreement.
#[derive(Clone, Debug)]
pub struct Assembly {
    pub(super) setup: AssemblySetup,
    pub(super) stage: Stage,
    /// When the stage began.
    pub(super) since: Time,
    pub(super) joins: BTreeMap<PublicId, (Join, Signed)>,
    pub(super) rosters: BTreeMap<PublicId, (Roster, Signed)>,
    pub(super) reveals: BTreeMap<PublicId, ([u8; 32], Signed)>,
    /// By member and by the list that its plan is of.
    pub(super) readies: BTreeMap<(PublicId, [u8; 32]), (Sections, Signed)>,
    /// The last list that this member has said Ready for.
    pub(super) proposed: Option<Box<Assembled>>,
    /// Members that have left or fallen silent, of a session that goes on without them.
    pub(super) absent: BTreeSet<PublicId>,
    /// Everybody invited, ready to verify.
    verifiers: BTreeMap<[u8; 32], Verifier>,
    /// Hashes of what was received, so that repeats cost no verification.
    pub(super) known: BTreeSet<[u8; 32]>,
    pub(super) repeated: Time,
}

pub(super) type Step = Result<(), Box<AssemblyError>>;

impl Assembly {
    /// An assembly that has not begun.
    #[must_use]
    pub fn new(setup: AssemblySetup) -> Self {
        let ids = setup.seats.iter().map(|seat| seat.id);
        let verifiers = ids.filter_map(|id| Some((*id.bytes(), id.verifier().ok()?)));
        let (mut rosters, mut known) = (BTreeMap::new(), BTreeSet::new());
        if let Some(Listed { roster, .. }) = setup.listed {
            let signed = Signed::new(&setup.identity, setup.session, Statement::Roster(roster));
            known.insert(signed.hash());
            rosters.insert(signed.from, (roster, signed));
        }
        Self {
            verifiers: verifiers.collect(),
            setup,
            stage: Stage::Joining,
            since: Time(0),
            joins: BTreeMap::new(),
            rosters,
            reveals: BTreeMap::new(),
            readies: BTreeMap::new(),
            proposed: None,
            absent: BTreeSet::new(),
            known,
            repeated: Time(0),
        }
    }

    /// Whether it has nothing more to say.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.stage == Stage::Over
    }

    /// Takes one input and appends what follows from it.
    pub fn handle(&mut self, input: Input, now: Time, out: &mut Vec<Output>) {
        // What comes after the agreement is about the session itself, and for whoever runs it.
        if self.is_over() || (self.stage == Stage::Told && !matches!(input, Input::Tick)) {
            return;
        }
        // What is known changes nothing: where words are passed on, most are.
        if let Input::Received { from, bytes } = &input
            && self.known.contains(blake3::hash(bytes).as_bytes())
            && !Signed::claims_departure(bytes, from)
        {
            return;
        }
        let step = self.step(input, now, out).and_then(|()| {
            let moved = self.advance(now, out);
            self.wake(now, out);
            moved
        });
        if let Err(error) = step {
            self.fail(error, out);
        }
    }

    fn step(&mut self, input: Input, now: Time, out: &mut Vec<Output>) -> Step {
        match input {
            Input::Start => {
                self.since = now;
                self.repeated = now;
                let join = self.setup.join.clone();
                self.state(Statement::Join(join), out)
            }
            Input::Received { from, bytes } => self.received(from, &bytes, out),
            Input::Disconnected(id) => {
                self.absent.insert(id);
                Ok(())
            }
            Input::Connected(id) => {
                self.absent.remove(&id);
                Ok(())
            }
            Input::Tick => self.tick(now, out),
            Input::Planned(Ok(sections)) => match &self.stage {
                Stage::Planning { assembled } => {
                    let assembled = assembled.clone();
                    self.proposed = Some(assembled.clone());
                    self.enter(Stage::Comparing { assembled }, now);
                    self.state(Statement::Ready(*sections), out)
                }
                _ => Ok(()),
            },
            Input::Planned(Err(why)) => Err(Box::new(AssemblyError::Refused(why))),
        }
    }

    pub(super) fn enter(&mut self, stage: Stage, now: Time) {
        self.stage = stage;
        self.since = now;
        self.repeated = now;
    }

    /// Says something and holds it as said; what has been said before is said again.
    pub(super) fn state(&mut self, statement: Statement, out: &mut Vec<Output>) -> Step {
        let signed = Signed::new(&self.setup.identity, self.setup.session, statement);
        out.push(Output::Broadcast(Arc::clone(&signed.bytes)));
        match self.known.insert(signed.hash()) {
            true => self.hold(signed, false, out),
            false => Ok(()),
        }
    }

    pub(super) fn name(&self, id: &PublicId) -> String {
        let seat = self.setup.seats.iter().find(|seat| seat.id == *id);
        seat.map_or_else(|| id.to_string(), |seat| id.beside(&seat.name))
    }

    fn received(&mut self, from: PublicId, bytes: &[u8], out: &mut Vec<Output>) -> Step {
        let signed = match self.read(bytes) {
            Ok(signed) => signed,
            // Whose connection it came over is known for certain: it has another file, or talks nonsense.
            Err(StatementError::Session { .. }) => {
                let member = self.name(&from);
                return Err(Box::new(AssemblyError::OtherFile { member }));
            }
            Err(source) => {
                let member = self.name(&from);
                return Err(Box::new(AssemblyError::Malformed {
                    from,
                    member,
                    source,
                }));
            }
        };
        if self.known.insert(signed.hash()) {
            // Before anything follows from it, which may be the end.
            out.push(Output::Relay {
                by: signed.from,
                bytes: Arc::clone(&signed.bytes),
            });
        }
        match signed.statement {
            Statement::Gone { .. } => self.gone(&signed, &from),
            _ => self.hold(signed, true, out),
        }
    }

    /// Reads and verifies a statement of this session by somebody invited.
    ///
    /// # Errors
    /// [`StatementError`]; the signature is looked at last.
    pub fn read(&self, bytes: &[u8]) -> Result<Signed, StatementError> {
        Signed::read_by(bytes, self.setup.session, |key| {
            match self.verifiers.get(key) {
                Some(verifier) => Ok(*verifier),
                None => {
                    let from = PublicId::from_bytes(*key)?;
                    Err(StatementError::Stranger { from })
                }
            }
        })
    }

    /// Takes a statement in, that came from somebody or that this process makes.
    fn hold(&mut self, signed: Signed, came: bool, out: &mut Vec<Output>) -> Step {
        let from = signed.from;
        let is_foreign = came && from == self.setup.identity.id();
        match signed.statement.clone() {
            Statement::Join(join) => {
                if let Some((_, held)) = self.joins.get(&from) {
                    return Err(self.contradiction(held, &signed));
                }
                if let Some(before) = self.other_join(&signed) {
                    return Err(self.contradiction(before, &signed));
                }
                if !self.check_join(from, &join, out)? {
                    return Ok(());
                }
                self.joins.insert(from, (join, signed));
                let joined = |seat: &&Seat| !self.joins.contains_key(&seat.id);
                let missing = self.setup.seats.iter().filter(joined);
                out.push(Output::Joined {
                    missing: missing.map(|seat| seat.name.clone()).collect(),
                });
            }
            Statement::Roster(roster) => match self.rosters.get(&from) {
                Some((held, other)) if held.attempt == roster.attempt => {
                    return Err(self.contradiction(other, &signed));
                }
                Some((held, _)) if held.attempt > roster.attempt => {}
                // An attempt beyond the last one that members make is ignored.
                _ if roster.attempt >= self.attempts() => {}
                _ if is_foreign => return Err(Box::new(AssemblyError::SaidElsewhere)),
                _ => {
                    self.rosters.insert(from, (roster, signed));
                }
            },
            Statement::Reveal(number) => {
                if let Some((_, held)) = self.reveals.get(&from) {
                    return Err(self.contradiction(held, &signed));
                }
                self.reveals.insert(from, (number, signed));
            }
            Statement::Ready(sections) => {
                let key = (from, sections.roster());
                if let Some((_, held)) = self.readies.get(&key) {
                    return Err(self.contradiction(held, &signed));
                }
                if self.readies_of(from).count() < usize::from(self.attempts()) {
                    self.readies.insert(key, (sections, signed));
                }
            }
            Statement::LedgerBehind { join } => self.ledger_behind(from, &join, out)?,
            // Of an earlier life of this session: whoever has finished it does not join again.
            Statement::Finished { .. } | Statement::Gone { .. } | Statement::Stamps(_) => {}
        }
        Ok(())
    }

    fn contradiction(&self, held: &Signed, found: &Signed) -> Box<AssemblyError> {
        Box::new(AssemblyError::Contradiction {
            member: self.name(&found.from),
            kind: found.statement.kind(),
            evidence: Box::new((held.bytes.to_vec(), found.bytes.to_vec())),
        })
    }

    /// Goes as far as what is held allows.
    fn advance(&mut self, now: Time, out: &mut Vec<Output>) -> Step {
        loop {
            if let Some(agreed) = self.agreed()? {
                self.enter(Stage::Told, now);
                out.push(Output::Agreed(agreed));
                return Ok(());
            }
            if self.shorten(now, out)? {
                continue;
            }
            match self.stage.clone() {
                Stage::Joining => {
                    if !self.is_complete() && now < self.setup.closes {
                        return Ok(());
                    }
                    let (attempt, members) = self.first_list()?;
                    self.list(attempt, members, now, out)?;
                }
                Stage::Listing { members, .. } => {
                    // What this member has stated of this attempt: a Join that it holds never changes.
                    let own = self.setup.identity.id();
                    let ours = self.rosters.get(&own).map(|(roster, _)| roster);
                    let alike = |seat: &Seat| {
                        let theirs = self.rosters.get(&seat.id).map(|(roster, _)| roster);
                        theirs.is_some() && theirs == ours
                    };
                    if !self.listed(members).all(alike) {
                        return Ok(());
                    }
                    self.enter(Stage::Revealing { members }, now);
                    self.state(Statement::Reveal(self.setup.number), out)?;
                }
                Stage::Revealing { members } => {
                    if !self
                        .listed(members)
                        .all(|seat| self.reveals.contains_key(&seat.id))
                    {
                        return Ok(());
                    }
                    let assembled = Box::new(self.assembled(members)?);
                    self.enter(
                        Stage::Planning {
                            assembled: assembled.clone(),
                        },
                        now,
                    );
                    out.push(Output::Plan(assembled));
                    return Ok(());
                }
                Stage::Planning { .. } | Stage::Comparing { .. } | Stage::Told | Stage::Over => {
                    return Ok(());
                }
            }
        }
    }

    fn assembled(&self, members: u128) -> Result<Assembled, Box<AssemblyError>> {
        let mut hasher = blake3::Hasher::new_derive_key("undertone 2026-11 session beacon v1");
        let (mut roster, mut joins) = (Vec::new(), Vec::new());
        for seat in self.listed(members) {
            let number = self.reveals.get(&seat.id).map(|(number, _)| number);
            let join = self.joins.get(&seat.id).map(|(join, _)| join);
            let (Some(number), Some(join)) = (number, join) else {
                return Err(Box::new(AssemblyError::Excluded));
            };
            if commitment(number) != join.commitment {
                let member = self.name(&seat.id);
                return Err(Box::new(AssemblyError::Commitment { member }));
            }
            hasher.update(number);
            roster.push(seat.clone());
            joins.push(join.clone());
        }
        let hash = self.joins_of(members).unwrap_or_default();
        Ok(Assembled {
            roster,
            joins,
            hash,
            beacon: *hasher.finalize().as_bytes(),
        })
    }

    fn tick(&mut self, now: Time, out: &mut Vec<Output>) -> Step {
        if now >= self.repeated + self.pause() {
            self.repeated = now;
            // Everything held, whoever signed it: members that are not connected to one another hear it from us.
            let joins = self.joins.values().map(|(_, signed)| signed);
            let rosters = self.rosters.values().map(|(_, signed)| signed);
            let reveals = self.reveals.values().map(|(_, signed)| signed);
            let readies = self.readies.values().map(|(_, signed)| signed);
            let all = joins.chain(rosters).chain(reveals).chain(readies);
            out.push(Output::Widen);
            out.extend(all.map(|signed| Output::Broadcast(Arc::clone(&signed.bytes))));
        }
        if now < self.since + self.setup.patience {
            return Ok(());
        }
        let seconds = self.setup.patience.0 / 1_000_000_000;
        match self.stage.clone() {
            Stage::Listing { attempt, members } => self.relist(attempt, members, now, out),
            Stage::Revealing { .. } | Stage::Comparing { .. } if self.setup.tolerates_losses => {
                let silent = self.unanswered().map(|seat| seat.id).collect::<Vec<_>>();
                self.absent.extend(silent);
                Ok(())
            }
            Stage::Revealing { .. } | Stage::Comparing { .. } => {
                let (step, _) = self.awaited();
                let members = self.names(self.unanswered());
                Err(Box::new(AssemblyError::Silent {
                    members,
                    step,
                    seconds,
                }))
            }
            Stage::Told => {
                self.stage = Stage::Over;
                Ok(())
            }
            Stage::Joining | Stage::Planning { .. } | Stage::Over => Ok(()),
        }
    }

    /// Asks to be woken for whatever is due next.
    fn wake(&self, now: Time, out: &mut Vec<Output>) {
        let mut next = self.repeated + self.pause();
        match self.stage {
            Stage::Over => return,
            Stage::Joining => next = next.min(self.setup.closes.max(now)),
            _ => next = next.min((self.since + self.setup.patience).max(now)),
        }
        out.push(Output::Wake(next));
    }

    /// How long to wait before everything is said again: while others may still come there is no hurry.
    fn pause(&self) -> Span {
        match self.stage {
            Stage::Joining => Span(self.setup.repeat.0.saturating_mul(10)),
            _ => self.setup.repeat,
        }
    }

    fn fail(&mut self, error: Box<AssemblyError>, out: &mut Vec<Output>) {
        self.stage = Stage::Over;
        if let Some(text) = self.last_words(&error) {
            let statement = Statement::Gone {
                reason: Reason::Refused,
                about: None,
                text,
                // Whoever has been ready comes to no second agreement.
                is_final: self.proposed.is_some(),
            };
            let signed = Signed::new(&self.setup.identity, self.setup.session, statement);
            out.push(Output::Broadcast(signed.bytes));
        }
        out.push(Output::Failed(error));
    }

    /// Whether the list of members has been drawn up, and this one is on it.
    #[must_use]
    pub fn lists(&self, id: &PublicId) -> bool {
        self.current().is_some() && !self.is_left_out(*id)
    }

    /// The hash of the Joins of those who take part; zeros before they are known.
    #[must_use]
    pub fn roster_hash(&self) -> [u8; 32] {
        match &self.stage {
            Stage::Planning { assembled } | Stage::Comparing { assembled } => assembled.hash,
            _ => [0; 32],
        }
    }

    /// The Joins as signed, for a journal.
    pub fn signed_joins(&self) -> impl Iterator<Item = &Signed> {
        self.joins.values().map(|(_, signed)| signed)
    }

    /// What members have to do now, and who has not done it yet, by name; for an operator.
    #[must_use]
    pub fn awaited(&self) -> (&'static str, Vec<String>) {
        let step = match &self.stage {
            Stage::Joining => "join",
            Stage::Listing { .. } => "list who joined",
            Stage::Revealing { .. } => "reveal its number",
            Stage::Planning { .. } => {
                return ("plan", vec![self.name(&self.setup.identity.id())]);
            }
            Stage::Comparing { .. } => "say that it has the plan",
            Stage::Told | Stage::Over => "begin",
        };
        (
            step,
            self.unanswered().map(|seat| seat.name.clone()).collect(),
        )
    }
}
