//! Frames between neighbours, as bytes.

use zeroize::Zeroizing;

use super::{Format, FormatError, whole};
use crate::protocol::escrow::{SealKey, Share};
use crate::protocol::message::{Body, Message, SessionId, Summand};
use crate::protocol::regroup::{Attempt, Reader, Signed};
use crate::protocol::tolerant::{Frame, SignedShare};
use crate::protocol::wire;
use crate::vocabulary::Round;

const RECORD: u8 = 1;
const PUBLISHED: u8 = 2;
const SEALED: u8 = 3;
const KEY: u8 = 4;
const SHARE: u8 = 5;
const STEP: u8 = 6;

/// The session that messages name which stand for a contribution: its attempt says where it belongs.
const NO_SESSION: SessionId = SessionId([0; 16]);

impl Format {
    /// A frame as it travels.
    #[must_use]
    pub fn frame_bytes(&self, frame: &Frame) -> Vec<u8> {
        let mut out = Vec::new();
        match frame {
            Frame::Record(signed) => {
                out.push(RECORD);
                signed.append_to(&mut out);
            }
            Frame::Published { attempt, input } => {
                out.push(PUBLISHED);
                out.extend_from_slice(&attempt.address());
                self.append_input(*attempt, input, &mut out);
            }
            Frame::Sealed {
                attempt,
                frame,
                share,
            } => {
                out.push(SEALED);
                out.extend_from_slice(&attempt.address());
                out.extend_from_slice(share);
                out.extend_from_slice(frame);
            }
            Frame::Key { attempt, key } => {
                out.push(KEY);
                out.extend_from_slice(&attempt.address());
                out.extend_from_slice(key.secret());
            }
            Frame::Share { view, signed } => {
                let SignedShare {
                    attempt,
                    dealer,
                    holder,
                    share,
                    signature,
                } = signed;
                out.push(SHARE);
                out.extend_from_slice(&view.0.to_le_bytes());
                out.extend_from_slice(&attempt.address());
                out.extend_from_slice(&dealer.0.to_le_bytes());
                out.extend_from_slice(&holder.0.to_le_bytes());
                out.push(share.point());
                out.extend_from_slice(share.value());
                out.extend_from_slice(signature);
            }
            Frame::Step { view, message } => {
                out.push(STEP);
                out.extend_from_slice(&view.0.to_le_bytes());
                out.extend_from_slice(&wire::encode_framed(message, self.values));
            }
        }
        out
    }

    /// The frame in these bytes, all of them.
    ///
    /// # Errors
    /// [`FormatError`]; blocks have the length that the plan gives them, and nothing in them is NaN or infinite.
    pub fn frame(&self, bytes: &[u8]) -> Result<Frame, FormatError> {
        whole(bytes, |from| {
            Some(match from.byte()? {
                RECORD => Frame::Record(Signed::read(from, self.extent)?),
                PUBLISHED => {
                    let attempt = from.attempt()?;
                    let input = self.input(attempt, from)?;
                    Frame::Published { attempt, input }
                }
                SEALED => Frame::Sealed {
                    attempt: from.attempt()?,
                    share: from.array()?,
                    frame: from.rest().into(),
                },
                KEY => Frame::Key {
                    attempt: from.attempt()?,
                    key: SealKey::from_secret(&Zeroizing::new(from.array()?)),
                },
                SHARE => {
                    let (view, attempt) = (from.view()?, from.attempt()?);
                    let (dealer, holder) = (from.peer(self.extent)?, from.peer(self.extent)?);
                    let share = share(from)?;
                    let signature = from.array()?;
                    let signed = SignedShare {
                        attempt,
                        dealer,
                        holder,
                        share,
                        signature,
                    };
                    Frame::Share { view, signed }
                }
                STEP => Frame::Step {
                    view: from.view()?,
                    message: self.message(from)?,
                },
                _ => return None,
            })
        })
    }

    fn message(&self, from: &mut Reader<'_>) -> Option<Message> {
        let (message, rest) = wire::decode_framed(from.rest(), &self.sizes).ok()?;
        rest.is_empty().then_some(message)
    }

    /// Appends what somebody contributed to an attempt, as a message of its release would say it.
    pub(super) fn append_input(&self, attempt: Attempt, input: &Summand, out: &mut Vec<u8>) {
        let message = Message {
            session: NO_SESSION,
            release: attempt.release,
            round: Round(0),
            body: input.body(),
        };
        out.extend_from_slice(&wire::encode_framed(&message, self.values));
    }

    /// What somebody contributed to this attempt: all that is left.
    pub(super) fn input(&self, attempt: Attempt, from: &mut Reader<'_>) -> Option<Summand> {
        let message = self.message(from)?;
        let is_named = message.session == NO_SESSION
            && message.release == attempt.release
            && message.round == Round(0);
        match message.body {
            Body::Average(values) if is_named => Some(Summand::Reals(values)),
            Body::Residues(values) if is_named => Some(Summand::Residues(values)),
            _ => None,
        }
    }
}

/// A share that follows.
fn share(from: &mut Reader<'_>) -> Option<Share> {
    let point = from.byte()?;
    let value = Zeroizing::new(from.array()?);
    Share::new(point, &value).ok()
}
