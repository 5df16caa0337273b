//! Why two message slots per neighbour suffice, and the check that a listed schedule obeys it.
//!
//! # Statement
//! Let v send messages 0, 1, 2, … to u over all releases, rounds of max-consensus included. If every turn of the schedule passes
//! [`check`], or the schedule is a recurrence, then v does not send message o before u has taken message o − 2, whatever turn
//! a release takes and however many rounds of max-consensus stand between any two. So at most two messages of v are ever under
//! way or waiting at u, and two slots, by parity of the message's number, hold them.
//!
//! # Proof
//! A session is a row of *segments*: rounds of max-consensus (or of spreading coordinates), in which either end of an edge sends
//! one message and then takes one, and turns. In every segment u takes as many messages of v as v sends to it, and the other way
//! round, so both ends count alike. Peers do all in the fixed order of their steps, so numbers below depend on nothing else.
//!
//! Call p the messages of v that u has not yet taken when u sends its last message so far to v; before u has sent any, all messages
//! of v so far. That is, p after a segment is the number of messages of v in it that u takes only after its own last one, or, if u
//! sends none in it, p before it plus the messages of v in it.
//!
//! Let v send message k of a segment, counted from 0, having taken r messages of u in this segment. If r > 0, the last of them was
//! sent after u had taken c messages of v in this segment, and all of earlier ones: what v knows to be untaken, itself excluded,
//! is k − c. If r = 0, the last message of u that v has taken is the last one that u sent before this segment, and what is untaken
//! is at most p + k, with p before the segment. In both cases message o − 2 was taken if that number is at most 1: the *condition*.
//!
//! A round of max-consensus fulfils it if p ≤ 1 before, and makes p = 1. [`check`] tests for each turn alone that with p = 1
//! before it the condition holds for all its messages, and p ≤ 1 after it. Both hold then with p = 0 before it as well, since p
//! only enters as a summand. The session begins with p = 0, so p ≤ 1 before every segment, by induction, and the condition holds
//! throughout. A recurrence is a row of exchanges of the kind of max-consensus. ∎
//!
//! The test is no stricter than it must be: a round of max-consensus may stand before a turn, which makes p = 1, and one may
//! follow, which needs p ≤ 1.
//!
//! # Where mass is passed
//! Both ends of an edge meet in the same rounds, and each sends before it waits: on every edge it is as in a recurrence. A lost message
//! counts as taken when its receiver is told that it is lost. The statement holds as long as nobody is told so before the message was
//! sent: then v, told of the loss of u's message o − 1, still sends o after u has taken o − 2.

use super::neighbourhood::Neighbourhood;
use super::step::{PeerStep, ScheduleError};

/// What a peer does on one edge, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Act {
    Send,
    Take,
}

/// Checks one turn on every edge that carries messages.
///
/// # Errors
/// [`ScheduleError::Ahead`] with the first edge on which a sender could run ahead.
///
/// # Cost
/// O(messages), and a search among the neighbours for every edge.
pub(super) fn check(
    network: &dyn Neighbourhood,
    steps: &[Vec<PeerStep>],
) -> Result<(), ScheduleError> {
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
            if !stays_near(own, theirs) {
                return Err(ScheduleError::Ahead { from, to });
            }
        }
    }
    Ok(())
}

/// How many messages were taken before each that is sent.
fn taken_before(acts: &[Act]) -> Vec<usize> {
    let mut taken = 0;
    let mut before = Vec::new();
    for act in acts {
        match act {
            Act::Take => taken += 1,
            Act::Send => before.push(taken),
        }
    }
    before
}

/// Whether a turn in which v acts by `own` and u by `theirs` keeps v near: the test of the proof.
fn stays_near(own: &[Act], theirs: &[Act]) -> bool {
    let pending = 1;
    let (heard, answered) = (taken_before(own), taken_before(theirs));
    let untaken = |(k, &heard): (usize, &usize)| match heard.checked_sub(1) {
        // What was sent is taken, as often: the schedule's messages match.
        Some(last) => answered.get(last).map(|&taken| k.saturating_sub(taken)),
        None => Some(pending + k),
    };
    let during = heard.iter().enumerate().map(untaken);
    let after = match answered.last() {
        Some(&taken) => heard.len().saturating_sub(taken),
        None => pending + heard.len(),
    };
    during
        .chain([Some(after)])
        .all(|one| one.is_some_and(|untaken| untaken <= 1))
}

#[cfg(test)]
mod tests {
    use super::Act::{Send, Take};
    use super::*;

    #[test]
    fn asking_and_answering_stays_near_and_talking_on_does_not() {
        assert!(stays_near(
            &[Send, Take, Send, Take],
            &[Take, Send, Take, Send]
        ));
        assert!(stays_near(
            &[Send, Take, Send, Take],
            &[Send, Take, Send, Take]
        ));
        assert!(stays_near(&[Take, Send], &[Send, Take]));
        assert!(!stays_near(&[Send, Send], &[Take, Take]));
        assert!(
            !stays_near(&[Send], &[Take]),
            "a third one in the release after"
        );
        // An answer sent before the first message was taken says nothing, even if a later one says all.
        assert!(!stays_near(
            &[Send, Take, Send, Send, Take],
            &[Send, Take, Take, Take, Send]
        ));
        assert!(stays_near(
            &[Send, Take, Send, Send, Take],
            &[Take, Send, Take, Take, Send]
        ));
        // An answer sent before the first message was taken says nothing.
        assert!(!stays_near(
            &[Send, Take, Send, Send],
            &[Send, Take, Take, Take]
        ));
    }

    /// The statement itself on a row of segments: v never sends message o before u has taken o − 2.
    fn keeps_two(own: &[Act], theirs: &[Act]) -> bool {
        let (heard, answered) = (taken_before(own), taken_before(theirs));
        heard.iter().enumerate().skip(2).all(|(o, &heard)| {
            let last = heard.checked_sub(1).and_then(|last| answered.get(last));
            last.is_some_and(|&answered| answered + 1 >= o)
        })
    }

    /// All words of up to so many acts.
    fn words(length: usize) -> Vec<Vec<Act>> {
        let mut all = vec![Vec::new()];
        let mut last = all.clone();
        for _ in 0..length {
            let longer =
                |word: &Vec<Act>| [Send, Take].map(|act| [word.as_slice(), &[act]].concat());
            last = last.iter().flat_map(longer).collect();
            all.extend(last.iter().cloned());
        }
        all
    }

    /// A turn that can be finished: each takes what the other sends, and neither waits for what comes only afterwards.
    fn finishes(own: &[Act], theirs: &[Act]) -> bool {
        let count = |acts: &[Act], act| acts.iter().filter(|one| **one == act).count();
        let matched =
            count(own, Send) == count(theirs, Take) && count(own, Take) == count(theirs, Send);
        let (mut a, mut b, mut sent) = (0, 0, [0_usize; 2]);
        loop {
            let before = (a, b);
            while let Some(act) = own.get(a) {
                match act {
                    Send => sent[0] += 1,
                    Take if count(&own[..a], Take) < sent[1] => {}
                    Take => break,
                }
                a += 1;
            }
            while let Some(act) = theirs.get(b) {
                match act {
                    Send => sent[1] += 1,
                    Take if count(&theirs[..b], Take) < sent[0] => {}
                    Take => break,
                }
                b += 1;
            }
            if before == (a, b) {
                return matched && (a, b) == (own.len(), theirs.len());
            }
        }
    }

    /// Against the definition: turns that pass may stand in any order, with any rounds of max-consensus between; one
    /// that fails breaks the statement in some row.
    #[test]
    fn turns_that_pass_may_follow_one_another_in_any_order_and_one_that_fails_may_not() {
        let words = words(5);
        let pairs = words
            .iter()
            .flat_map(|own| words.iter().map(move |theirs| (own, theirs)));
        let turns: Vec<_> = pairs
            .filter(|(own, theirs)| finishes(own, theirs))
            .collect();
        let passing = |(own, theirs): &(&Vec<Act>, &Vec<Act>)| {
            stays_near(own, theirs) && stays_near(theirs, own)
        };
        let (good, bad): (Vec<_>, Vec<_>) = turns.into_iter().partition(passing);
        assert!(
            good.len() > 10 && bad.len() > 10,
            "{} and {}",
            good.len(),
            bad.len()
        );
        let row = |segments: &[(&[Act], &[Act])]| {
            let own: Vec<Act> = segments.iter().flat_map(|one| one.0).copied().collect();
            let theirs: Vec<Act> = segments.iter().flat_map(|one| one.1).copied().collect();
            keeps_two(&own, &theirs) && keeps_two(&theirs, &own)
        };
        let exchange: (&[Act], &[Act]) = (&[Send, Take], &[Send, Take]);
        for (a, b) in &bad {
            let turn = (a.as_slice(), b.as_slice());
            assert!(
                !row(&[exchange, exchange, turn, exchange, exchange, turn, exchange]),
                "{a:?} {b:?}"
            );
        }
        for (a, b) in &good {
            for (c, d) in good.iter().step_by(5) {
                let (first, second) = ((a.as_slice(), b.as_slice()), (c.as_slice(), d.as_slice()));
                for rounds in [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [2, 1, 3]] {
                    let segments: Vec<_> = rounds
                        .iter()
                        .zip([first, second, first])
                        .flat_map(|(&rounds, turn)| {
                            vec![exchange; rounds].into_iter().chain([turn, second])
                        })
                        .collect();
                    assert!(row(&segments), "{a:?} {b:?} {c:?} {d:?} {rounds:?}");
                }
            }
        }
    }
}
