//! A server and an ideal secure sum: P1 Algorithm 2.

use super::central::{self, SumNoise};
use super::{Communication, EngineError, Observer, Outcome, Session};
use crate::protocol::averaging::{PeerBytes, Phase, Traffic};
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
    let mut sent = PeerBytes::default();
    // Residues where sums are of integers; reals at their full width.
    let summed = match session.plan().values() {
        values if values.is_residues() => values,
        _ => Values::F64,
    };
    for record in &outcome.records {
        let Some(planned) = session.plan().release(record.release) else {
            continue;
        };
        let (down, phase, travels) = match planned.is_own() {
            true => {
                let all = planned.values() * session.peers();
                (all, Phase::Coordinates, Values::F64)
            }
            false => (planned.values(), Phase::Sums, summed),
        };
        for values in [planned.values(), down] {
            sent.add(phase, wire::framed_block_len(values, travels) as u64);
        }
    }
    let releases = outcome.records.len();
    let messages = 2 * session.peers() * releases;
    let all = Traffic::counted(
        releases as u32,
        messages as u64,
        &vec![sent; session.peers()],
    );
    outcome.communication = Communication::of(all, vec![1; releases]);
    Ok(outcome)
}
