//! How far a probe's averaging is from exact: rows of D = f·P − 11ᵀ, for the linear map P of the schedule and its last
//! factor f.

use rayon::prelude::*;

use crate::engine::Session;
use crate::protocol::averaging::{
    Coefficients, Contacts, Form, Passing, PeerStep, Schedule, share,
};
use crate::vocabulary::PeerIndex;

/// The rows D_u of the probes under this program, each of one entry per peer.
///
/// # Claim
/// For a recurrence row u of D is s·p_K(W)(e_u − 1/s), transposed. For a listed schedule it is f·e_uᵀM_K…M_1 − 1ᵀ, where M_k is
/// what round k does to all values. Where mass is passed it is s·e_uᵀM/(e_uᵀM1) − 1ᵀ, with M = M_K…M_1: value and weight of a peer are
/// the same sums over all peers, of inputs and of ones.
///
/// # Proof
/// The second is the definition, evaluated from the left: a row times M_k moves weight from every peer that combines to
/// the senders it hears. A tree moves weight 1 from peer to peer and multiplies by nothing, so D = 0 exactly. For the first: W is symmetric, so row u of P is p_K(W)e_u; p_K(1) = 1 because the coefficients of every round sum to 1, so
/// p_K(W)1 = 1, and s·p_K(W)e_u − 1 = s·p_K(W)(e_u − 1/s). ∎
///
/// The start has mean 0 and every round keeps that. Rounding would not: an error along 1 is the only one that averaging
/// does not shrink, so every round takes the mean away again. What is left is as accurate as D is large.
///
/// # Cost
/// O(K·edges) per probe; the same bits whatever the number of threads.
pub(super) fn rows(session: &Session, schedule: &Schedule, probes: &[PeerIndex]) -> Vec<Vec<f64>> {
    probes
        .par_iter()
        .map(|probe| match schedule.form() {
            Form::Recurrence(coefficients) => recurred(session, coefficients, *probe),
            Form::Listed(steps) => walked(session, (steps, schedule.factor()), *probe),
            Form::Passing(passing) => shared(session, passing, *probe),
        })
        .collect()
}

fn walked(
    session: &Session,
    (steps, factor): (&[Vec<PeerStep>], f64),
    probe: PeerIndex,
) -> Vec<f64> {
    let mut row = vec![0.0; session.peers()];
    row[probe.index()] = 1.0;
    let mut all: Vec<(u32, usize, &PeerStep)> = steps
        .iter()
        .enumerate()
        .flat_map(|(peer, steps)| steps.iter().map(move |step| (step.round, peer, step)))
        .collect();
    all.sort_by_key(|(round, peer, _)| (*round, *peer));
    for round in all.chunk_by(|a, b| a.0 == b.0).rev() {
        // All weights as they were before any of this round has moved.
        let before: Vec<f64> = round.iter().map(|(_, peer, _)| row[*peer]).collect();
        for ((_, peer, step), weight) in round.iter().zip(&before) {
            row[*peer] += step.own * weight - weight;
        }
        for ((_, peer, step), weight) in round.iter().zip(&before) {
            let neighbours = session.graph().neighbours(*peer);
            for expected in &step.expect {
                row[neighbours[expected.position as usize] as usize] += expected.weight * weight;
            }
        }
    }
    row.iter().map(|weight| factor * weight - 1.0).collect()
}

fn shared(session: &Session, passing: &Passing, probe: PeerIndex) -> Vec<f64> {
    let (graph, peers) = (session.graph(), session.peers());
    let mut row = vec![0.0; peers];
    row[probe.index()] = 1.0;
    let mut before = row.clone();
    // A round gives what a peer keeps and what each it meets gets the same share: its column of M_k.
    match &passing.contacts {
        Contacts::All => {
            for _ in 0..session.schedule().rounds() {
                before.copy_from_slice(&row);
                for (u, weight) in row.iter_mut().enumerate() {
                    let neighbours = graph.neighbours(u);
                    let held = neighbours.iter().map(|&v| before[v as usize]);
                    let held = before[u] + held.sum::<f64>();
                    *weight = share(neighbours.len() as u32) * held;
                }
            }
        }
        Contacts::Pairs(meetings) => {
            let met = meetings.iter().enumerate().flat_map(|(u, own)| {
                let neighbours = graph.neighbours(u);
                let with = own.iter().filter_map(move |one| {
                    Some((one.round, u, neighbours[one.with? as usize] as usize))
                });
                with.filter(|(_, u, v)| u < v)
            });
            let mut met: Vec<(u32, usize, usize)> = met.collect();
            met.sort_unstable();
            for &(_, u, v) in met.iter().rev() {
                let mean = share(1) * (row[u] + row[v]);
                (row[u], row[v]) = (mean, mean);
            }
        }
    }
    let weight: f64 = row.iter().sum();
    row.iter()
        .map(|share| peers as f64 * share / weight - 1.0)
        .collect()
}

fn recurred(session: &Session, schedule: &[Coefficients], probe: PeerIndex) -> Vec<f64> {
    let peers = session.peers();
    let mut now = vec![-1.0 / peers as f64; peers];
    now[probe.index()] += 1.0;
    let mut before = now.clone();
    let mut next = vec![0.0; peers];
    for coefficients in schedule {
        session.mixing().multiply(session.graph(), &now, &mut next);
        for ((out, x), b) in next.iter_mut().zip(&now).zip(&before) {
            *out = coefficients.mixed * *out + coefficients.current * x + coefficients.previous * b;
        }
        centre(&mut next);
        std::mem::swap(&mut before, &mut now);
        std::mem::swap(&mut now, &mut next);
    }
    for value in &mut now {
        *value *= peers as f64;
    }
    now
}

fn centre(values: &mut [f64]) {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    for value in values {
        *value -= mean;
    }
}
