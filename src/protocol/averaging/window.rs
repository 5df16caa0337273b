//! Why two message slots per neighbour suffice, and the check that a listed program obeys it.
//!
//! # Statement
//! Let v send messages 0, 1, 2, … to u over all iterations, rounds of max-consensus included. If the program passes
//! [`check`], or is a recurrence, then v does not send message o before u has taken message o − 2. So at most two messages
//! of v are ever under way or waiting at u, and two slots, by parity of the message's number, hold them.
//!
//! # Proof
//! Let r(o) be how many messages of u have been taken by v when it sends o, and c(j) how many messages of v have been
//! taken by u when it sends its message j. Peers do both in the fixed order of their steps, so r and c are numbers that the
//! program alone decides, and c does not decrease. When v sends o it has taken u's message r(o) − 1, which u sent after
//! taking c(r(o) − 1) messages of v. If that is at least o − 1, then messages 0 … o − 2 were taken before: the claim for
//! o. [`check`] tests it for every o of three iterations in a row, and with 0, 1 and 2 rounds of max-consensus. A further
//! round of max-consensus, and a further iteration, begin with what the last one ended with: each adds the same
//! number to o, r and c on both sides. In a recurrence every exchange is v's message k and u's message k, each sent after
//! message k − 1 of the other was taken: r(o) = o and c(j) = j, so c(r(o) − 1) = o − 1. ∎
//!
//! # Where mass is passed
//! Both ends of an edge meet in the same rounds, and each sends before it waits: on every edge it is as in a recurrence. A lost message
//! counts as taken when its receiver is told that it is lost. The statement holds as long as nobody is told so before the message was
//! sent: then v, told of the loss of u's message o − 1, still sends o after u has taken o − 2.

use super::network::Network;
use super::step::{PeerStep, ProgramError};

/// What a peer does on one edge, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Act {
    Send,
    Take,
}

/// Iterations and rounds of max-consensus that are tried.
const ITERATIONS: usize = 3;
const SCALE_ROUNDS: usize = 2;

/// Checks the statement for every edge that carries messages.
///
/// # Errors
/// [`ProgramError::Ahead`] with the first edge on which a sender could run ahead.
pub(super) fn check(network: &dyn Network, steps: &[Vec<PeerStep>]) -> Result<(), ProgramError> {
    let acts: Vec<Vec<Vec<Act>>> = steps
        .iter()
        .enumerate()
        .map(|(u, steps)| {
            let mut acts = vec![Vec::new(); network.neighbours(u).len()];
            for step in steps {
                for &position in &*step.send_to {
                    acts[position as usize].push(Act::Send);
                }
                for expected in &step.expect {
                    acts[expected.position as usize].push(Act::Take);
                }
            }
            acts
        })
        .collect();
    for (from, own) in acts.iter().enumerate() {
        for (position, own) in own.iter().enumerate().filter(|(_, acts)| !acts.is_empty()) {
            let to = network.neighbours(from)[position] as usize;
            let back = network.neighbours(to).binary_search(&(from as u32));
            let theirs = back.map_or(&[][..], |back| acts[to][back].as_slice());
            for scale_rounds in 0..=SCALE_ROUNDS {
                if !stays_near(
                    &unrolled(own, scale_rounds),
                    &unrolled(theirs, scale_rounds),
                ) {
                    return Err(ProgramError::Ahead { from, to });
                }
            }
        }
    }
    Ok(())
}

fn unrolled(acts: &[Act], scale_rounds: usize) -> Vec<Act> {
    let scale = [Act::Send, Act::Take].repeat(scale_rounds);
    [scale.as_slice(), acts].concat().repeat(ITERATIONS)
}

/// Whether the one that acts by `own` never sends message o before the other has taken o − 2.
fn stays_near(own: &[Act], theirs: &[Act]) -> bool {
    // How many were taken before each send.
    let taken_before = |acts: &[Act]| -> Vec<usize> {
        let mut taken = 0;
        let mut before = Vec::new();
        for act in acts {
            match act {
                Act::Take => taken += 1,
                Act::Send => before.push(taken),
            }
        }
        before
    };
    let (heard, answered) = (taken_before(own), taken_before(theirs));
    heard.iter().enumerate().skip(2).all(|(o, &heard)| {
        let last = heard.checked_sub(1).and_then(|last| answered.get(last));
        last.is_some_and(|&answered| answered + 1 >= o)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn asking_and_answering_stays_near_and_talking_on_does_not() {
        use Act::{Send, Take};
        assert!(stays_near(
            &[Send, Take, Send, Take],
            &[Take, Send, Take, Send]
        ));
        assert!(stays_near(
            &[Send, Take, Send, Take],
            &[Send, Take, Send, Take]
        ));
        assert!(stays_near(&[Send, Send], &[Take, Take]));
        assert!(!stays_near(&[Send, Send, Send], &[Take, Take, Take]));
        // An answer sent before the first message was taken says nothing.
        assert!(!stays_near(
            &[Send, Send, Take, Send],
            &[Send, Take, Take, Take]
        ));
        assert!(stays_near(
            &[Send, Send, Take, Send],
            &[Take, Send, Take, Take]
        ));
    }
}
