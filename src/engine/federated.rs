//! A server and an ideal secure sum: P1 Algorithm 2.

use super::central::{self, SumNoise};
use super::{EngineError, Observer, Outcome, Session};
use crate::protocol::wire;

/// Runs the session with every client adding its own share of noise and an ideal secure aggregation that
/// reveals the sum alone.
///
/// The sum is Σ_u (f_u(X) + η_u), which is what a curator would compute with the clients' shares as its
/// noise. Bytes count one noisy block up and one public block down per client and iteration; what a real
/// secure-aggregation protocol adds to that is not modelled.
///
/// # Errors
/// As [`central::run`].
///
/// # Source
/// P1 Algorithm 2 (clients know their own noise, see ref item 0.8: budget against n_H = s − t shares).
pub fn run(session: &Session, observer: &mut dyn Observer) -> Result<Outcome, EngineError> {
    let mut outcome = central::run(session, SumNoise::Shares, observer)?;
    let iterations = outcome.records.len() as u64;
    let block = wire::framed_block_len(session.plan().values()) as u64;
    let peers = session.peers() as u64;
    outcome.communication.rounds = vec![1; outcome.records.len()];
    outcome.communication.messages = 2 * peers * iterations;
    outcome.communication.bytes_total = 2 * peers * iterations * block;
    outcome.communication.bytes_max_peer = 2 * iterations * block;
    Ok(outcome)
}
