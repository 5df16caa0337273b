//! What releases cost to send, derived from the program: the one place that counts messages and bytes.

use super::program::Form;
use super::{Network, Program};
use crate::protocol::values::Values;
use crate::protocol::{Body, wire};

/// Messages and bytes of all peers, headers and length prefixes included.
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

/// What is exchanged beside the averaging program: how often, and how large.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Load {
    /// Exchanges in which every peer sends a number to all neighbours.
    pub number_rounds: u64,
    /// Bytes of one message of each sum, in the order in which the sums are formed.
    pub sums: Vec<u64>,
    /// Exchanges in which every peer sends the coordinates of all peers to all neighbours.
    pub coordinate_rounds: u64,
    /// Bytes of one message of each of these exchanges, added up.
    pub coordinate_bytes: u64,
}

impl Load {
    /// One sum of so many coordinates of these values after so many rounds of max-consensus.
    #[must_use]
    pub fn sum(number_rounds: u32, coordinates: usize, values: Values) -> Self {
        Self {
            number_rounds: u64::from(number_rounds),
            sums: vec![wire::framed_block_len(coordinates, values) as u64],
            ..Self::default()
        }
    }

    /// The same so many times over.
    #[must_use]
    pub fn repeated(self, times: u32) -> Self {
        Self {
            number_rounds: self.number_rounds * u64::from(times),
            sums: self.sums.repeat(times as usize),
            coordinate_rounds: self.coordinate_rounds * u64::from(times),
            coordinate_bytes: self.coordinate_bytes * u64::from(times),
        }
    }

    /// Sums that are formed by turn number `turn` of `turns`, and bytes of one message of each, added up.
    fn of_turn(&self, turn: usize, turns: usize) -> (u64, u64) {
        let of_turn = self.sums.iter().skip(turn).step_by(turns);
        of_turn.fold((0, 0), |(sums, bytes), more| (sums + 1, bytes + more))
    }
}

impl Traffic {
    /// The traffic of `program` on `network` with this load.
    ///
    /// A number or coordinates go to all neighbours in each of their rounds; a block goes to all neighbours in every round of a
    /// recurrence, and to those listed in every step of a listed program.
    #[must_use]
    pub fn of(program: &Program, network: &dyn Network, load: &Load) -> Self {
        let number = wire::framed_len(&Body::Scale(0.0), Values::F64) as u64;
        let rounds = load.number_rounds
            + load.sums.len() as u64 * u64::from(program.rounds())
            + load.coordinate_rounds;
        let mut traffic = Self {
            rounds: u32::try_from(rounds).unwrap_or(u32::MAX),
            ..Self::default()
        };
        let turns: Vec<(&Program, (u64, u64))> = program
            .turns()
            .iter()
            .enumerate()
            .map(|(number, turn)| (turn, load.of_turn(number, program.turns().len())))
            .collect();
        for u in 0..network.peers() {
            let degree = network.neighbours(u).len() as u64;
            let mut bytes = degree * (load.number_rounds * number + load.coordinate_bytes);
            traffic.messages += degree * (load.number_rounds + load.coordinate_rounds);
            for (turn, (sums, sum_bytes)) in &turns {
                let blocks = match turn.form() {
                    Form::Recurrence(_) => degree * u64::from(turn.rounds()),
                    Form::Listed(steps) => steps[u].iter().map(|s| s.send_to.len() as u64).sum(),
                };
                bytes += blocks * sum_bytes;
                traffic.messages += blocks * sums;
            }
            traffic.bytes_total += bytes;
            traffic.bytes_max_peer = traffic.bytes_max_peer.max(bytes);
        }
        traffic
    }

    /// The same so many times over, rounds excepted, which stay those of one.
    #[must_use]
    pub fn times(self, times: u32) -> Self {
        let times = u64::from(times);
        Self {
            rounds: self.rounds,
            messages: self.messages * times,
            bytes_total: self.bytes_total * times,
            bytes_max_peer: self.bytes_max_peer * times,
        }
    }
}
