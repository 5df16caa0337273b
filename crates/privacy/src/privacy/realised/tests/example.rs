//! One session of 64 peers, three releases, (ε, δ) = (2, 10⁻⁵), one colluder, overhead 1 %: what goes wrong, and what that costs.
//!
//! The expected numbers were computed from the same graph by another program, with dense inverses in another language.

use std::collections::BTreeMap;

use super::super::*;
use super::attempt;
use super::brute::Joint;
use crate::privacy::testing::algebraic_connectivity;
use crate::privacy::{Budget, Delta, Epsilon, Loss, gaussian};

/// A random graph of 64 peers, almost all of degree 10: for every peer but the last its neighbours with larger numbers.
const NEIGHBOURS: &str = "\
8 9 14 23 28 32 34 42 43 44;3 10 11 15 43 44 48 58 59 60;9 27 32 36 37 43 48 53 54 58;13 19 22 30 37 41 47 56 \
63;7 15 16 36 38 39 43 47 49 58;6 11 13 28 30 34 45 52 56 57;25 28 29 31 33 34 43 47 62;17 21 23 27 28 37 40 57 \
61;9 10 15 23 27 43 45 50 53;10 15 26 32 46 50 59;18 22 28 33 42 44 60;14 18 22 23 34 43 46 58;14 15 17 18 22 \
23 25 28 32 62;16 32 40 46 50 54 55 62;25 35 39 41 42 49 56;19 22 29 34 40;19 23 24 26 43 46 51 56;18 28 34 39 \
44 49 54 56;21 33 38 41 57 59;20 24 29 35 48 57 63;21 22 30 35 36 45 52 54 55;33 36 47 49 56 61 63;25 31 34 55;\
28 33 57 58;26 27 37 52 56 57 62 63;32 42 45 46 52 57;38 40 44 46 50 58 59;35 45 52 54 58 63;33 54;30 34 40 51 \
53 55 59;31 32 40 42 44 61;34 38 39 41 46 52 56;39 52 53;46 48 50 51;35;37 43 44 47 56;42 45 51 52 59 60;41 45 \
59 61 62;42 47 49 51 53 61;40 41 48 59 62;51 53 58;46 55 57 61;55 56 62;44;45 63;50 52;47;49 54 62;49 53 58 60 \
61;50 51 61;53 55 61;55 59 60;62;54 55;60 63;60;;58 60;;63;61 63;;63";

const DELTA: f64 = 1e-5;
const RELEASES: u32 = 3;

fn graph() -> Graph {
    let mut edges = Vec::new();
    for (u, list) in (0_u32..).zip(NEIGHBOURS.split(';')) {
        let larger = list.split_whitespace();
        edges.extend(larger.map(|v| (u, v.parse().expect("a number"))));
    }
    Graph::from_edges(64, &edges).expect("a simple graph")
}

/// σ_η and σ_Δ for one colluder and `tolerated` peers that may be out, by the connectivity.
fn sigmas(graph: &Graph, tolerated: f64) -> (f64, f64) {
    let (epsilon, delta) = (Epsilon::new(2.0), Delta::new(DELTA));
    let mu = gaussian::mu(epsilon.expect("valid"), delta.expect("valid"));
    let (overhead, left) = (0.01, 63.0 - tolerated);
    let own = (1.0 + overhead) * f64::from(RELEASES) / (left * mu * mu);
    let connectivity = algebraic_connectivity(graph) - 1.0 - tolerated;
    let pairwise = own * ((left - 1.0) / overhead - 1.0) / connectivity;
    (own.sqrt(), pairwise.sqrt())
}

fn epsilon(square: f64) -> f64 {
    let delta = Delta::new(DELTA).expect("valid");
    Loss::of_square(square).expect("a square").epsilon(delta)
}

/// ε of the worst-placed peer against the worst single colluder.
fn worst(realised: &Realised) -> f64 {
    let all = (0..64).flat_map(|colluder| {
        let losses = realised.losses(&[colluder], Counted::Read);
        losses.expect("well conditioned").into_iter().flatten()
    });
    epsilon(all.map(|loss| loss.high).fold(0.0, f64::max))
}

fn close(found: f64, expected: f64) {
    assert!((found / expected - 1.0).abs() < 1e-9, "{found} {expected}");
}

#[test]
fn whoever_drops_out_before_sealing_costs_the_others_what_was_planned() {
    let graph = graph();
    // σ_η, σ_Δ, ε if nobody drops, and if peers 10, …, 10 + f − 1 do.
    for (out, own, pairwise, nobody, dropped) in [
        (
            0,
            0.4372555615964241,
            17.809538335933016,
            1.9939926509287258,
            1.9939926509287258,
        ),
        (
            1,
            0.440767710881624,
            20.807808185379606,
            1.9749770559075608,
            1.9931205393830211,
        ),
        (
            2,
            0.4443658743456473,
            26.116745476554346,
            1.955820781094416,
            1.9919437841628922,
        ),
    ] {
        let sigmas = sigmas(&graph, f64::from(out));
        close(sigmas.0, own);
        close(sigmas.1, pairwise);
        for (gone, expected) in [(0, nobody), (out, dropped)] {
            let members: Vec<u32> = (0..64).filter(|u| !(10..10 + gone).contains(u)).collect();
            let mut realised = Realised::new(graph.clone(), sigmas.0, sigmas.1).expect("valid");
            for release in 1..=RELEASES {
                let attempt = attempt(release, 0, &members, &members);
                realised.record(attempt).expect("it happened");
            }
            close(worst(&realised), expected);
            let lambda2 = algebraic_connectivity(&graph) * (1.0 - 1e-12);
            let connectivity = Connectivity {
                lower_bound: lambda2,
            };
            let planned = realised.planned(connectivity, 1, out as usize);
            let planned = planned.expect("tolerated").into_iter().fold(0.0, f64::max);
            let promised = epsilon(planned);
            let budget = Budget::new(2.0, DELTA).expect("valid");
            assert!(promised >= expected && promised <= budget.epsilon.get() * (1.0 + 1e-9));
            let certified = realised.certified(1).expect("valid");
            let certified = epsilon(certified.into_iter().fold(0.0, f64::max));
            assert!((expected..=promised * (1.0 + 1e-9)).contains(&certified));
        }
    }
}

/// The peer in question, and the colluder against whom it is worst placed.
const PEER: u32 = 58;
const COLLUDER: u32 = 1;

/// ε of the peer if the last of the three releases went as `last` says.
fn if_the_last(graph: &Graph, last: impl FnOnce(&mut Attempted)) -> f64 {
    let sigmas = sigmas(graph, 0.0);
    let mut realised = Realised::new(graph.clone(), sigmas.0, sigmas.1).expect("valid");
    let all: Vec<u32> = (0..64).collect();
    for release in 1..RELEASES {
        let attempt = attempt(release, 0, &all, &all);
        realised.record(attempt).expect("it happened");
    }
    let mut attempt = attempt(RELEASES, 0, &all, &all);
    last(&mut attempt);
    realised.record(attempt).expect("it happened");
    let losses = realised.losses(&[COLLUDER], Counted::Read).expect("valid");
    epsilon(losses[PEER as usize].expect("honest").high)
}

#[test]
fn rolling_back_after_publication_is_reported_as_the_disclosure_that_it_is() {
    let graph = graph();
    // In the order in which they roll back.
    let partners = [2, 4, 40, 11, 48, 23, 57, 26, 27];
    let known = graph.neighbours(PEER as usize).iter();
    let mut honest: Vec<u32> = known.copied().filter(|&w| w != COLLUDER).collect();
    honest.sort_by_key(|w| partners.iter().position(|partner| partner == w));
    assert_eq!(honest, partners);
    for (rolled_back, expected) in [
        (0, 1.993926675586541),
        (1, 1.994134240684203),
        (4, 1.995277583322453),
        (8, 2.007424459030334),
        (9, 12.04185186893891),
    ] {
        let revealed = partners[..rolled_back].iter();
        let revealed: Vec<(u32, u32)> = revealed.map(|&w| (w, PEER)).collect();
        close(
            if_the_last(&graph, |last| last.revealed = revealed),
            expected,
        );
    }
    // Sealed and never opened by a partner: its term dangles, and hides more.
    let dangling = if_the_last(&graph, |last| last.read.retain(|&w| w != partners[0]));
    close(dangling, 1.5946494665805329);
}

#[test]
fn an_iteration_repeated_in_the_open_is_one_release_more() {
    let graph = graph();
    let sigmas = sigmas(&graph, 0.0);
    let mut realised = Realised::new(graph.clone(), sigmas.0, sigmas.1).expect("valid");
    let all: Vec<u32> = (0..64).collect();
    for (release, retry) in [(1, 0), (2, 0), (3, 0), (3, 1)] {
        let attempt = Attempted {
            retry,
            ..attempt(release, 0, &all, &all)
        };
        realised.record(attempt).expect("it happened");
    }
    let losses = realised.losses(&[COLLUDER], Counted::Read).expect("valid");
    close(
        epsilon(losses[PEER as usize].expect("honest").high),
        2.3424139704689297,
    );
}

#[test]
fn an_exact_sum_without_a_peer_that_was_read_leaves_it_its_own_noise_alone() {
    // The sum may come about in any way: here it is simply seen.
    let ring: Vec<(u32, u32)> = (0..7)
        .map(|u| (u.min((u + 1) % 7), u.max((u + 1) % 7)))
        .collect();
    let graph = Graph::from_edges(7, &ring).expect("a ring");
    let (own, pairwise) = (0.4, 12.0);
    let mut joint = Joint::new(7);
    let mut sum = (BTreeMap::new(), BTreeMap::new());
    for v in 0..7_u32 {
        let mut noise = BTreeMap::from([(joint.term(0, v, v), own)]);
        if v != 3 {
            sum.0.insert(v, 1.0);
            sum.1.extend(noise.clone());
        }
        for &w in graph.neighbours(v as usize) {
            let sign = if v < w { 1.0 } else { -1.0 };
            noise.insert(joint.term(0, v, w), sign * pairwise);
        }
        joint.see([(v, 1.0)].into(), noise);
    }
    joint.see(sum.0, sum.1);
    let bare = joint.losses()[3];
    close(bare, 1.0 / (own * own));
    // What is reported if all its terms became known.
    let all: Vec<u32> = (0..7).collect();
    let mut realised = Realised::new(graph, own, pairwise).expect("valid");
    let revealed = Attempted {
        revealed: vec![(2, 3), (4, 3)],
        ..attempt(1, 0, &all, &all)
    };
    realised.record(revealed).expect("it happened");
    let losses = realised.losses(&[], Counted::Read).expect("valid");
    close(losses[3].expect("honest").estimate, bare);
}
