//! Items with one field changed, and signed anew.

use rand::{Rng, RngExt};

use super::actor::{Hands, Item};
use super::*;
use crate::protocol::regroup::{self, Attempt, ViewNumber};
use crate::protocol::tolerant::Frame;
use crate::protocol::{Body, Message, SessionId, Summand};
use crate::session::{
    Join, LedgerHead, Mode, Reason, Roster, SECTIONS, Sections, Signed, Statement,
};
use crate::vocabulary::{ReleaseId, Round};

type Random = chacha20::ChaCha20Rng;

/// Numbers at the ends of what there is.
pub(super) const EXTREME: [f64; 10] = [
    1.7e308,
    -1.7e308,
    1e200,
    1e150,
    5e-324,
    0.0,
    f64::NAN,
    f64::INFINITY,
    -1e16,
    1.0,
];

fn number(random: &mut Random) -> u64 {
    let all = [
        0,
        1,
        2,
        3,
        7,
        255,
        1 << 31,
        u64::from(u32::MAX),
        u64::MAX - 1,
        u64::MAX,
    ];
    all[random.random_range(0..all.len())]
}

fn hash(random: &mut Random) -> [u8; 32] {
    let mut bytes = [0; 32];
    if random.random_bool(0.8) {
        random.fill_bytes(&mut bytes);
    }
    bytes
}

/// A statement of this kind with fields of any value.
pub(super) fn statement(kind: usize, ids: &[PublicId], random: &mut Random) -> Statement {
    match kind {
        0 => Statement::Roster(Roster {
            attempt: number(random) as u8,
            members: match random.random_bool(0.5) {
                true => (1 << ids.len()) - 1,
                false => u128::from(random.next_u64() % (1 << ids.len())),
            },
            joins: hash(random),
        }),
        1 => Statement::Reveal(hash(random)),
        2 => Statement::Ready(Sections([hash(random); SECTIONS.len()])),
        3 => Statement::LedgerBehind {
            join: Arc::from(&hash(random)[..]),
        },
        4 => Statement::Gone {
            reason: [Reason::Refused, Reason::Lost, Reason::Failed][random.random_range(0..3)],
            about: match random.random_bool(0.6) {
                true => Some(ids[random.random_range(0..ids.len())]),
                false => None,
            },
            text: "signed two different frames for one place of the protocol".to_owned(),
            is_final: random.random(),
        },
        _ => Statement::Finished {
            result: hash(random),
        },
    }
}

/// The same statement with one field changed.
fn altered(said: &Statement, random: &mut Random, ids: &[PublicId]) -> Statement {
    match said {
        Statement::Join(join) => Statement::Join(joined(join, random)),
        Statement::Roster(roster) => {
            let mut roster = *roster;
            match random.random_range(0..3) {
                0 => roster.attempt = number(random) as u8,
                1 => roster.members ^= 1 << random.random_range(0..ids.len()),
                _ => roster.joins = hash(random),
            }
            Statement::Roster(roster)
        }
        Statement::Ready(sections) => {
            let mut sections = *sections;
            sections.0[random.random_range(0..SECTIONS.len())] = hash(random);
            Statement::Ready(sections)
        }
        Statement::Reveal(_) => Statement::Reveal(hash(random)),
        Statement::LedgerBehind { .. } => statement(3, ids, random),
        Statement::Gone { .. } => statement(4, ids, random),
        Statement::Finished { .. } => statement(5, ids, random),
        Statement::Stamps(stamps) => {
            let mut stamps = stamps.clone();
            match random.random_range(0..3) {
                0 => stamps.parts = number(random) as u8,
                1 => stamps.part = number(random) as u8,
                _ => {
                    for (signer, stamp) in &mut stamps.stamps {
                        *signer = number(random) as u8;
                        stamp[random.random_range(0..stamp.len())] ^= 1;
                    }
                }
            }
            Statement::Stamps(stamps)
        }
    }
}

/// The same Join with one field changed.
pub(super) fn joined(join: &Join, random: &mut Random) -> Join {
    let mut join = join.clone();
    match random.random_range(0..8) {
        0 => join.mode = Mode::Simulation,
        1 => join.wire = (number(random) as u8, number(random) as u8),
        2 => join.build.push('x'),
        3 => join.sampler = hash(random),
        4 => join.ephemeral = [0; 32],
        5 => join.ephemeral = hash(random),
        6 => join.commitment = hash(random),
        _ => {
            join.ledger = LedgerHead {
                length: number(random),
                hash: hash(random),
            }
        }
    }
    join
}

fn message(message: &Message, random: &mut Random) -> Message {
    let mut message = message.clone();
    match random.random_range(0..8) {
        0 => message.session = SessionId([number(random) as u8; 16]),
        1 => message.release = ReleaseId(number(random) as u32),
        2 => message.round = Round(number(random) as u32),
        _ => message.body = body(&message.body, random),
    }
    message
}

fn body(body: &Body, random: &mut Random) -> Body {
    match body {
        Body::Scale(_) => Body::Scale(EXTREME[random.random_range(0..EXTREME.len())]),
        Body::Average(values) => Body::Average(Arc::new(block(values, random))),
        other => other.clone(),
    }
}

/// A block with some or all values changed, or of another length.
pub(super) fn block(values: &[f64], random: &mut Random) -> Vec<f64> {
    let mut values = values.to_vec();
    let value = EXTREME[random.random_range(0..EXTREME.len())];
    match random.random_range(0..5) {
        0 => values.fill(value),
        1 => {
            for (at, x) in values.iter_mut().enumerate() {
                *x = if at % 3 == 0 { -value } else { value };
            }
        }
        2 => {
            let at = random.random_range(0..values.len().max(1));
            if let Some(x) = values.get_mut(at) {
                *x = value;
            }
        }
        3 => values.iter_mut().for_each(|x| *x += 50.0),
        _ => _ = values.pop(),
    }
    values
}

fn attempt(attempt: &mut Attempt, random: &mut Random) {
    match random.random_range(0..3) {
        0 => attempt.release = ReleaseId(number(random) as u32),
        1 => attempt.retry = number(random) as u32,
        _ => attempt.view = ViewNumber(number(random)),
    }
}

/// A record signed by this member.
pub(super) fn signed(hands: &Hands<'_>, record: regroup::Record) -> Option<Frame> {
    let lossy = hands.lossy()?;
    let view = lossy.peer.regroup().view();
    let bytes = record.signed_bytes(lossy.setup.session, |_| Some(view.digest()))?;
    let signature = lossy.setup.signatures.sign(&bytes);
    Some(Frame::Record(regroup::Signed { record, signature }))
}

fn frame(hands: &Hands<'_>, said: &Frame, random: &mut Random) -> Option<Frame> {
    let mut frame = said.clone();
    match &mut frame {
        Frame::Record(said) => {
            let mut record = said.record.clone();
            match &mut record {
                regroup::Record::Statement {
                    serial, statement, ..
                } => match random.random_range(0..5) {
                    0 => *serial = number(random),
                    1 => statement.done = ReleaseId(number(random) as u32),
                    2 => statement.certified.clear(),
                    3 => {
                        statement.sent = Some(Attempt {
                            release: ReleaseId(number(random) as u32),
                            retry: number(random) as u32,
                            view: ViewNumber(number(random)),
                        });
                    }
                    _ => statement.retries = number(random) as u32,
                },
                regroup::Record::Held { attempt: at, .. } => attempt(at, random),
                regroup::Record::Restart { count, .. } => *count = number(random) as u8,
                regroup::Record::Cut { link, .. } => {
                    link.0 = random.random_range(0..hands.lossy()?.setup.links.len() as u32);
                }
                regroup::Record::Finished { .. } => {}
            }
            return signed(hands, record);
        }
        Frame::Published { attempt: at, input } => match random.random_range(0..4) {
            0 => attempt(at, random),
            _ => {
                let values = input.reals()?.to_vec();
                *input = Summand::Reals(Arc::new(block(&values, random)));
            }
        },
        Frame::Sealed {
            attempt: at,
            frame,
            share,
        } => match random.random_range(0..3) {
            0 => attempt(at, random),
            1 => {
                let mut bytes = frame.to_vec();
                let place = random.random_range(0..bytes.len());
                bytes[place] ^= 1 << random.random_range(0..8);
                *frame = bytes.into();
            }
            _ => share[random.random_range(0..share.len())] ^= 1,
        },
        Frame::Key { attempt: at, .. } => attempt(at, random),
        Frame::Share { view, signed } => match random.random_range(0..3) {
            0 => *view = ViewNumber(number(random)),
            1 => attempt(&mut signed.attempt, random),
            _ => signed.signature[0] ^= 1,
        },
        Frame::Step {
            view,
            message: said,
        } => match random.random_range(0..4) {
            0 => *view = ViewNumber(number(random)),
            _ => *said = message(said, random),
        },
    }
    Some(frame)
}

/// The item with one field changed, and rightly signed.
pub(super) fn item(hands: &Hands<'_>, said: &Item, random: &mut Random) -> Item {
    match said {
        Item::Statement(bytes) => {
            let Ok(read) = Signed::read(bytes, hands.session, |_| true) else {
                return said.clone();
            };
            Item::Statement(hands.sign(altered(&read.statement, random, hands.ids)))
        }
        Item::Message(said) => Item::Message(message(said, random)),
        Item::Frame(said) => match frame(hands, said, random) {
            Some(frame) => Item::Frame(frame),
            None => Item::Frame(said.clone()),
        },
        Item::Record(bytes) => {
            let mut bytes = bytes.clone();
            let place = random.random_range(0..bytes.len());
            bytes[place] ^= 1 << random.random_range(0..8);
            Item::Record(bytes)
        }
        Item::Bytes(bytes) => {
            let mut bytes = bytes.to_vec();
            let place = random.random_range(0..bytes.len());
            bytes[place] ^= 1 << random.random_range(0..8);
            Item::Bytes(bytes.into())
        }
    }
}
