//! An ideal secure sum (P1 Algorithm 2): runs sessions for [`Federated`](super::Federated).

use super::central::{self, SumNoise};
use super::{Communication, EngineError, Observer, Outcome, Session};
use crate::protocol::averaging::{PeerBytes, Phase, Traffic};
use crate::protocol::{Values, wire};

/// Runs the session.
///
/// # Errors
/// As [`central::run`].
pub(super) fn run(session: &Session, observer: &mut dyn Observer) -> Result<Outcome, EngineError> {
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
