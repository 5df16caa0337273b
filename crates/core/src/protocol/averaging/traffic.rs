//! What releases cost to send, derived from the schedule: the one place that counts messages and bytes.

use std::ops::AddAssign;

use serde::Serialize;

use super::schedule::Form;
use super::{Neighbourhood, Schedule};
use crate::protocol::values::Values;
use crate::protocol::{Body, wire};

/// What a message is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Agreeing on a public number, such as the statistic that scales the noise.
    Agreement,
    /// Forming a sum.
    Sums,
    /// Gathering what only one peer has of each coordinate.
    Coordinates,
}

impl Phase {
    /// That of a message with this content.
    #[must_use]
    pub fn of(body: &Body) -> Self {
        match body {
            Body::Scale(_) => Self::Agreement,
            Body::Average(_) | Body::Residues(_) => Self::Sums,
            Body::Coordinates(_) => Self::Coordinates,
        }
    }
}

/// Bytes that one peer sends, by what they are for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PeerBytes {
    /// Agreeing on public numbers.
    pub agreement: u64,
    /// Forming sums.
    pub sums: u64,
    /// Gathering own coordinates.
    pub coordinates: u64,
}

impl PeerBytes {
    /// So many bytes more for this.
    pub fn add(&mut self, phase: Phase, bytes: u64) {
        *match phase {
            Phase::Agreement => &mut self.agreement,
            Phase::Sums => &mut self.sums,
            Phase::Coordinates => &mut self.coordinates,
        } += bytes;
    }

    /// All of them.
    #[must_use]
    pub fn total(self) -> u64 {
        self.agreement + self.sums + self.coordinates
    }
}

impl AddAssign for PeerBytes {
    fn add_assign(&mut self, other: Self) {
        self.agreement += other.agreement;
        self.sums += other.sums;
        self.coordinates += other.coordinates;
    }
}

/// What the bytes of many peers amount to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct ByteCount {
    /// Bytes sent by all peers.
    pub bytes_total: u64,
    /// Bytes that a peer sends on average.
    pub bytes_mean_peer: f64,
    /// Bytes sent by the peer that sends most of these.
    pub bytes_max_peer: u64,
}

impl ByteCount {
    /// Of peers that send so many bytes each.
    #[must_use]
    pub fn of(sent: impl Iterator<Item = u64>) -> Self {
        let (mut count, mut peers) = (Self::default(), 0_u64);
        for bytes in sent {
            peers += 1;
            count.bytes_total += bytes;
            count.bytes_max_peer = count.bytes_max_peer.max(bytes);
        }
        count.bytes_mean_peer = count.bytes_total as f64 / peers.max(1) as f64;
        count
    }
}

/// Bytes by what they are for. The peer that sends most may be another one in each phase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct PhaseBytes {
    /// Agreeing on public numbers.
    pub agreement: ByteCount,
    /// Forming sums.
    pub sums: ByteCount,
    /// Gathering own coordinates.
    pub coordinates: ByteCount,
}

/// Messages and bytes of all peers, headers and length prefixes included.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Traffic {
    /// Exchanges one after the other: rounds of max-consensus, then averaging rounds.
    pub rounds: u32,
    /// Messages, one per receiver.
    pub messages: u64,
    /// Bytes sent by all peers, by a peer on average and by the busiest one.
    pub bytes: ByteCount,
    /// The same by what they are for.
    pub phases: PhaseBytes,
}

/// What is exchanged beside the averaging schedule: how often, and how large.
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
    /// The traffic of `schedule` on `network` with this load.
    #[must_use]
    pub fn of(schedule: &Schedule, network: &dyn Neighbourhood, load: &Load) -> Self {
        let rounds = load.number_rounds
            + load.sums.len() as u64 * u64::from(schedule.rounds())
            + load.coordinate_rounds;
        let rounds = u32::try_from(rounds).unwrap_or(u32::MAX);
        let (messages, sent) = Self::sent(schedule, network, load);
        Self::counted(rounds, messages, &sent)
    }

    /// Messages in all and bytes of every peer of `schedule` on `network` with this load.
    ///
    /// A number or coordinates go to all neighbours in each of their rounds; a block goes to all neighbours in every round of a
    /// recurrence, and to those listed in every step of a listed schedule.
    #[must_use]
    pub fn sent(
        schedule: &Schedule,
        network: &dyn Neighbourhood,
        load: &Load,
    ) -> (u64, Vec<PeerBytes>) {
        let number = wire::framed_len(&Body::Scale(0.0), Values::F64) as u64;
        let turns: Vec<(&Schedule, (u64, u64))> = schedule
            .turns()
            .iter()
            .enumerate()
            .map(|(number, turn)| (turn, load.of_turn(number, schedule.turns().len())))
            .collect();
        let mut messages = 0;
        let mut sent = vec![PeerBytes::default(); network.peers()];
        for (u, sent) in sent.iter_mut().enumerate() {
            let degree = network.neighbours(u).len() as u64;
            sent.agreement = degree * load.number_rounds * number;
            sent.coordinates = degree * load.coordinate_bytes;
            messages += degree * (load.number_rounds + load.coordinate_rounds);
            for (turn, (sums, sum_bytes)) in &turns {
                let blocks = match turn.form() {
                    Form::Recurrence(_) => degree * u64::from(turn.rounds()),
                    Form::Listed(steps) => steps[u].iter().map(|s| s.send_to.len() as u64).sum(),
                    Form::Passing(passing) => {
                        let contacts = &passing.contacts;
                        contacts.messages(u, degree as usize, turn.rounds())
                    }
                };
                sent.sums += blocks * sum_bytes;
                messages += blocks * sums;
            }
        }
        (messages, sent)
    }

    /// The traffic of peers that have sent these bytes, each its own, in so many messages in all.
    #[must_use]
    pub fn counted(rounds: u32, messages: u64, sent: &[PeerBytes]) -> Self {
        let of = |bytes: fn(&PeerBytes) -> u64| ByteCount::of(sent.iter().map(bytes));
        Self {
            rounds,
            messages,
            bytes: of(|sent| sent.total()),
            phases: PhaseBytes {
                agreement: of(|sent| sent.agreement),
                sums: of(|sent| sent.sums),
                coordinates: of(|sent| sent.coordinates),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_means_and_largest_are_of_each_phase_and_of_all() {
        let mut sent = [PeerBytes::default(); 4];
        for (peer, phase, bytes) in [
            (0, Phase::Agreement, 10),
            (0, Phase::Sums, 5),
            (1, Phase::Sums, 7),
            (1, Phase::Sums, 4),
            (2, Phase::Coordinates, 12),
        ] {
            sent[peer].add(phase, bytes);
        }
        let traffic = Traffic::counted(3, 5, &sent);
        let of = |bytes: ByteCount| {
            (
                bytes.bytes_total,
                bytes.bytes_mean_peer,
                bytes.bytes_max_peer,
            )
        };
        assert_eq!(of(traffic.bytes), (38, 9.5, 15));
        assert_eq!(of(traffic.phases.agreement), (10, 2.5, 10));
        assert_eq!(of(traffic.phases.sums), (16, 4.0, 11));
        assert_eq!(of(traffic.phases.coordinates), (12, 3.0, 12));
        assert_eq!(of(Traffic::counted(0, 0, &[]).bytes), (0, 0.0, 0));
    }
}
