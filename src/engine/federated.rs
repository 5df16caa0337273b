//! A server and an ideal secure sum: P1 Algorithm 2.

use super::central::{self, SumNoise};
use super::{EngineError, Observer, Outcome, Session};
use crate::protocol::{Values, wire};

/// Runs the session with every client adding its own share of noise and an ideal secure aggregation that
/// reveals the sum alone.
///
/// The sum is Σ_u (f_u(X) + η_u), which is what a curator would compute with the clients' shares as its
/// noise. Bytes count one noisy block up and one public block down per client and release; what a real
/// secure-aggregation protocol adds to that is not modelled. Own coordinates go up as they are, and all of them down.
///
/// # Errors
/// As [`central::run`].
///
/// # Source
/// P1 Algorithm 2. Clients know their own noise, so that the budget is that of the s − t shares a coalition does not know.
pub fn run(session: &Session, observer: &mut dyn Observer) -> Result<Outcome, EngineError> {
    let mut outcome = central::run(session, SumNoise::Shares, observer)?;
    let peers = session.peers() as u64;
    let bytes: u64 = outcome
        .records
        .iter()
        .filter_map(|record| session.plan().release(record.release))
        .map(|planned| {
            let up = wire::framed_block_len(planned.values(), Values::F64) as u64;
            let all = planned.values() * session.peers();
            let down = if planned.is_own() {
                all
            } else {
                planned.values()
            };
            up + wire::framed_block_len(down, Values::F64) as u64
        })
        .sum();
    outcome.communication.rounds = vec![1; outcome.records.len()];
    outcome.communication.messages = 2 * peers * outcome.records.len() as u64;
    outcome.communication.bytes_total = peers * bytes;
    outcome.communication.bytes_max_peer = bytes;
    Ok(outcome)
}
