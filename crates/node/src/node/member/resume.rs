//! What this member has done in a session before, and what it therefore does now.

use std::sync::{Arc, Mutex};

use zeroize::Zeroizing;

use super::agreed;
use super::dispute;
use super::error::{Charged, MemberError};
use super::own_rows::MemberRows;
use super::setup::MemberSetup;
use crate::node::store::{
    Digest, Journal, JournalError, Ledger, OneTimeSecrets, Record, Reservation, SessionEnd,
    SessionFiles, Square,
};
use crate::session::{
    Assembled, Ephemeral, Identity, Invitation, Join, LedgerHead, Listed, Mode, OwnNoise, PublicId,
    Roster, SessionHash, Signed, Statement, StatementError, build, commitment, sampler_fingerprint,
};
use crate::writing::read_block;

/// The result.
const BASIS: &str = "basis.npy";
/// The Join as signed.
const JOIN: &str = "join.bin";

/// A member that is about to say its Join.
pub(super) struct Ready {
    pub(super) files: SessionFiles,
    pub(super) journal: Journal,
    pub(super) ledger: Arc<Mutex<Ledger>>,
    pub(super) ephemeral: Ephemeral,
    pub(super) noise: OwnNoise,
    pub(super) join: Join,
    /// μ² that is set aside.
    pub(super) reserved: f64,
    /// How many members may collude, where this member joins.
    pub(super) colluders: Option<usize>,
    /// What had been begun, where this member goes on.
    pub(super) resumed: Option<Resumed>,
    /// What was charged, where this member was interrupted so late that the others may have a result.
    pub(super) late: Option<Charged>,
    /// The list that it has signed last.
    pub(super) listed: Option<Listed>,
}

/// A session that tolerates losses and that this member had begun.
pub(super) struct Resumed {
    pub(super) assembled: Assembled,
    /// The plan that was agreed on.
    pub(super) plan: Digest,
    /// How many lives this member had.
    pub(super) lives: u32,
}

/// How far it had come.
pub(super) enum Standing {
    /// Nothing has left but, maybe, a Join.
    Ready(Box<Ready>),
    /// The session had ended, and has charged so much.
    Ended(SessionEnd, Charged),
}

/// Finds out how far this member had come, reserves what the session may cost, and makes or finds its secrets.
pub(super) fn prepare(
    setup: &MemberSetup,
    identity: &Identity,
    wire: (u8, u8),
) -> Result<Standing, MemberError> {
    let session = setup.invitation.hash();
    tracing::debug!("reading what was done in this session before");
    let files = setup.state.session(session.0)?;
    let mut journal = files.journal()?;
    let mut ledger = setup.state.ledger()?;
    let records = journal.records();
    tracing::debug!(records = records.len(), "journal and ledger are read");
    if let Some(outcome) = ended(records) {
        // A crash may have come between the two.
        if ledger.view().session(session.0).is_some() {
            ledger.finish(session.0, outcome)?;
        }
        files.erase_secrets()?;
        return match dispute::kept(&setup.invitation, &files) {
            Some(disputed) => Err(disputed),
            None => Ok(Standing::Ended(
                outcome,
                Charged::of(ledger.view().session(session.0)),
            )),
        };
    }
    let account = ledger.view().session(session.0);
    let charged = Charged::of(account);
    if let Some(ended) = account.and_then(|account| account.ended) {
        journal.append(Record::End { outcome: ended })?;
        files.erase_secrets()?;
        return Ok(Standing::Ended(ended, charged));
    }
    if has_result(records, &files) {
        // A crash, or a full disk, came between the result and the end.
        ledger.finish(session.0, SessionEnd::Done)?;
        journal.append(Record::End {
            outcome: SessionEnd::Done,
        })?;
        files.erase_secrets()?;
        return Ok(Standing::Ended(SessionEnd::Done, charged));
    }
    let tolerates = setup.invitation.tolerates_losses();
    let joined = records.iter().find_map(|record| match record {
        Record::Joined { rows, .. } => Some(*rows),
        _ => None,
    });
    let agreed = !records.iter().all(Record::is_of_joining);
    let listed = listed(records, &setup.invitation)?;
    // All is charged: the others may have what this member lacks.
    let is_late = agreed
        && !tolerates
        && account.is_some_and(|account| {
            charged.mu_squared >= account.reservation.mu_squared.0.get() * (1.0 - 1e-9)
        });
    let mut late = None;
    let ((reserved, colluders), secrets, resumed) = match begun(records).filter(|_| tolerates) {
        Some(before) => {
            let (reserved, resumed) = take_up(setup, (&files, &ledger), before)?;
            let secrets = kept(setup, &files, identity, joined)?;
            ((reserved, None), secrets, Some(resumed))
        }
        None if is_late => {
            late = Some(charged);
            let secrets = kept(setup, &files, identity, joined)?;
            ((charged.mu_squared, None), secrets, None)
        }
        // Where losses are tolerated nothing has left before the peer has begun, which the journal says first.
        None if agreed && !tolerates => {
            ledger.finish(session.0, SessionEnd::Aborted)?;
            journal.append(Record::End {
                outcome: SessionEnd::Aborted,
            })?;
            files.erase_secrets()?;
            return Err(MemberError::Interrupted { charged });
        }
        None if charged.releases > 0 => return Err(MemberError::JournalLost),
        None => {
            let reserved = reserve(setup, &files, &mut ledger)?;
            let secrets = match joined {
                Some(_) => {
                    let secrets = kept(setup, &files, identity, joined)?;
                    // What other sessions have added since would make the others take this Join for one of a restored backup.
                    if secrets.join.ledger.length != ledger.head().length {
                        return Err(MemberError::JoinedBefore);
                    }
                    // Another build may compute another plan for a list that this member was ready for.
                    if (&secrets.join.build, secrets.join.sampler)
                        != (&build(), sampler_fingerprint())
                    {
                        return Err(MemberError::OtherBuild);
                    }
                    secrets
                }
                None => draw(setup, (&files, &mut journal, &ledger), identity, wire)?,
            };
            (reserved, secrets, None)
        }
    };
    Ok(Standing::Ready(Box::new(Ready {
        files,
        journal,
        ledger: Arc::new(Mutex::new(ledger)),
        ephemeral: secrets.ephemeral,
        noise: secrets.noise,
        join: secrets.join,
        reserved,
        colluders,
        resumed,
        late,
        listed,
    })))
}

/// What a member draws for one session, and the Join that says so.
struct Secrets {
    ephemeral: Ephemeral,
    noise: OwnNoise,
    join: Join,
}

/// Sets aside what the session may cost; how much μ² that is, and how many members may collude.
fn reserve(
    setup: &MemberSetup,
    files: &SessionFiles,
    ledger: &mut Ledger,
) -> Result<(f64, Option<usize>), MemberError> {
    tracing::debug!("planning what the session may cost, and setting it aside");
    let offer = setup.planner.offer().map_err(MemberError::Plan)?;
    setup.policy.check(&offer)?;
    let scope = &offer.scope;
    // The check has found the scope.
    let budget = setup.policy.lifetime(scope);
    let budget =
        budget.ok_or_else(|| MemberError::Plan(format!("the policy has no scope {scope}")))?;
    let reservation = Reservation {
        session: Digest(setup.invitation.hash().0),
        scope: scope.clone(),
        adjacency: offer.adjacency,
        mu_squared: Square(offer.mu_squared),
        plain: offer.plain,
    };
    files.keep_closes(&setup.invitation.session.closes.to_string())?;
    setup.state.release_lapsed(ledger)?;
    ledger.reserve(reservation, budget)?;
    tracing::debug!("set aside");
    Ok((offer.mu_squared.get(), Some(offer.colluders)))
}

/// Draws the secrets of a session that this member has said nothing in, and writes them and the Join down.
fn draw(
    setup: &MemberSetup,
    (files, journal, ledger): (&SessionFiles, &mut Journal, &Ledger),
    identity: &Identity,
    wire: (u8, u8),
) -> Result<Secrets, MemberError> {
    let session = setup.invitation.hash();
    // Of an attempt that never said anything.
    files.erase_secrets()?;
    let (ephemeral, noise) = (Ephemeral::generate()?, OwnNoise::from_os()?);
    files.keep_secrets(&OneTimeSecrets {
        noise: noise.root(),
        exchange: ephemeral.secret(),
    })?;
    let head = ledger.head();
    let join = Join {
        mode: Mode::Deployed,
        wire,
        build: build(),
        sampler: sampler_fingerprint(),
        ephemeral: ephemeral.public(),
        commitment: commitment(&noise.number(&session)),
        ledger: LedgerHead {
            length: head.length,
            hash: head.hash.0,
        },
    };
    let signed = Signed::new(identity, session, Statement::Join(join.clone()));
    files.write(JOIN, &signed.bytes)?;
    journal.append(Record::Joined {
        file: Digest(session.0),
        rows: digest_of(&noise, &setup.rows),
    })?;
    Ok(Secrets {
        ephemeral,
        noise,
        join,
    })
}

/// The secrets of before, for the same rows: others under the same noise would be a disclosure.
fn kept(
    setup: &MemberSetup,
    files: &SessionFiles,
    identity: &Identity,
    joined: Option<Digest>,
) -> Result<Secrets, MemberError> {
    let secrets = files.secrets()?;
    let noise = OwnNoise::from_kept(&secrets.noise);
    if joined != Some(digest_of(&noise, &setup.rows)) {
        return Err(MemberError::OtherRows);
    }
    Ok(Secrets {
        ephemeral: Ephemeral::from_kept(&secrets.exchange),
        join: kept_join(files, setup.invitation.hash(), identity)?,
        noise,
    })
}

/// Which plan had been begun, and how often.
fn begun(records: &[Record]) -> Option<(Digest, u32)> {
    let lives = records
        .iter()
        .filter(|record| matches!(record, Record::Begun { .. }));
    let lives = u32::try_from(lives.count()).unwrap_or(u32::MAX);
    let plan = records.iter().rev().find_map(|record| match record {
        Record::Agreed { plan } => Some(*plan),
        _ => None,
    });
    plan.filter(|_| lives > 0).map(|plan| (plan, lives))
}

/// What it takes to go on with a session that this member had begun: the same plan, which is made again, and what is set aside for it.
fn take_up(
    setup: &MemberSetup,
    (files, ledger): (&SessionFiles, &Ledger),
    (plan, lives): (Digest, u32),
) -> Result<(f64, Resumed), MemberError> {
    let account = ledger.view().session(setup.invitation.hash().0);
    let reserved = account.map(|account| account.reservation.mu_squared.0.get());
    let reserved = reserved.ok_or(MemberError::JournalLost)?;
    let assembled = agreed::kept(files, &setup.invitation)?;
    let resumed = Resumed {
        assembled,
        plan,
        lives,
    };
    Ok((reserved, resumed))
}

/// Writes down the list that this member is about to sign.
pub(super) fn keep_list(journal: &mut Journal, listed: &Listed) -> Result<(), JournalError> {
    let is_list = |record: &Record| matches!(record, Record::Listed { .. });
    let joins = match journal.records().iter().any(is_list) {
        true => Vec::new(),
        false => listed
            .joins
            .iter()
            .map(|join| (*join.bytes).into())
            .collect(),
    };
    journal.append(Record::Listed {
        attempt: listed.roster.attempt,
        members: listed.roster.members,
        hash: Digest(listed.roster.joins),
        joins,
    })
}

/// The list that this member has signed last, and the Joins that it held when it signed its first.
fn listed(records: &[Record], invitation: &Invitation) -> Result<Option<Listed>, MemberError> {
    let mut found: Option<Listed> = None;
    for record in records {
        let Record::Listed {
            attempt,
            members,
            hash,
            joins,
        } = record
        else {
            continue;
        };
        let roster = Roster {
            attempt: *attempt,
            members: *members,
            joins: hash.0,
        };
        let invited = |id: &PublicId| invitation.member(id).is_some();
        let read = |join: &[u8]| Signed::read(join, invitation.hash(), invited);
        let joins = joins
            .iter()
            .map(|join| read(join))
            .collect::<Result<Vec<_>, _>>();
        let joins = joins.map_err(|_| MemberError::JournalLost)?;
        let before = found.take().map(|before| before.joins).unwrap_or_default();
        let joins = [before, joins].concat();
        found = Some(Listed { roster, joins });
    }
    Ok(found)
}

fn ended(records: &[Record]) -> Option<SessionEnd> {
    records.iter().find_map(|record| match record {
        Record::End { outcome } => Some(*outcome),
        _ => None,
    })
}

/// Whether the result that the journal names is on the disk. It is written after what is kept beside it.
fn has_result(records: &[Record], files: &SessionFiles) -> bool {
    let named = records.iter().rev().find_map(|record| match record {
        Record::Result { digest } => Some(*digest),
        _ => None,
    });
    let basis = read_block(&files.path(BASIS));
    named.is_some_and(|named| basis.is_ok_and(|basis| basis.digest() == named.0))
}

/// The Join that was said before, or was about to be.
fn kept_join(
    files: &SessionFiles,
    session: SessionHash,
    identity: &Identity,
) -> Result<Join, MemberError> {
    let bytes = std::fs::read(files.path(JOIN)).unwrap_or_default();
    let own = identity.id();
    match Signed::read(&bytes, session, |id| *id == own).map(|signed| signed.statement) {
        Ok(Statement::Join(join)) => Ok(join),
        Err(StatementError::Version { .. }) => Err(MemberError::OtherBuild),
        _ => Err(MemberError::JournalLost),
    }
}

/// A digest of the rows that says nothing to whoever does not have the noise.
fn digest_of(noise: &OwnNoise, rows: &MemberRows) -> Digest {
    let key: Zeroizing<[u8; 32]> = noise.root();
    Digest(*blake3::keyed_hash(&key, rows.digest()).as_bytes())
}
