//! What one iteration costs to send, derived from the program: the one place that counts messages and bytes.

use super::program::Form;
use super::{Network, Program};
use crate::protocol::{Body, wire};

/// Messages and bytes of all peers in one iteration, headers and length prefixes included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Exchanges one after the other: rounds of max-consensus, then averaging rounds.
    pub rounds: u32,
    /// Messages, one per receiver.
    pub messages: u64,
    /// Bytes sent by all peers.
    pub bytes_total: u64,
    /// Bytes sent by the busiest peer.
    pub bytes_max_peer: u64,
}

impl Traffic {
    /// The traffic of `program` on `network` with `scale_rounds` rounds of max-consensus and blocks of `values` values.
    ///
    /// A scale goes to all neighbours in each of its rounds; a block goes to all neighbours in every round of a
    /// recurrence, and to those listed in every step of a listed program.
    #[must_use]
    pub fn of(program: &Program, network: &dyn Network, scale_rounds: u32, values: usize) -> Self {
        let scale = wire::framed_len(&Body::Scale(0.0)) as u64;
        let block = wire::framed_block_len(values) as u64;
        let mut traffic = Self {
            rounds: scale_rounds + program.rounds(),
            ..Self::default()
        };
        for u in 0..network.peers() {
            let degree = network.neighbours(u).len() as u64;
            let scales = degree * u64::from(scale_rounds);
            let blocks = match program.form() {
                Form::Recurrence(_) => degree * u64::from(program.rounds()),
                Form::Listed(steps) => steps[u].iter().map(|s| s.send_to.len() as u64).sum(),
            };
            let bytes = scales * scale + blocks * block;
            traffic.messages += scales + blocks;
            traffic.bytes_total += bytes;
            traffic.bytes_max_peer = traffic.bytes_max_peer.max(bytes);
        }
        traffic
    }

    /// The same over so many iterations, rounds excepted, which stay those of one.
    #[must_use]
    pub fn times(self, iterations: u32) -> Self {
        let times = u64::from(iterations);
        Self {
            rounds: self.rounds,
            messages: self.messages * times,
            bytes_total: self.bytes_total * times,
            bytes_max_peer: self.bytes_max_peer * times,
        }
    }
}
