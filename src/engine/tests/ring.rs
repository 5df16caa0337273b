//! Sums of integers mod 2^k: equal on every engine to the last bit, and wrong as soon as anything is missing.

use std::sync::Arc;

use super::{assert_same_bits, graphs, rows, schemes_on, session_of};
use crate::engine::central::{self, SumNoise};
use crate::engine::event::{self, Latency};
use crate::engine::noise::{Assignment, Tamper};
use crate::engine::{
    EngineError, Observer, PeerRows, Session, SessionError, Silent, Transcript, federated, lockstep,
};
use crate::linalg::SparseRows;
use crate::noise::{RingLaws, Sigmas};
use crate::privacy::ring::{Grid, Modulus};
use crate::protocol::averaging::AveragingKind;
use crate::protocol::{Plan, PlanParameters, RingParameters};
use crate::topology::Graph;
use crate::vocabulary::{Binding, NoiseRoot, PeerIndex, ReleaseId, Seed};

const RING: RingParameters = RingParameters {
    grid: Grid::of(16),
    modulus: Modulus::Bits32,
    clamp: 1 << 20,
};

fn parameters(session: &Session, ring: RingParameters) -> PlanParameters {
    PlanParameters {
        sigma_pairwise: 0.0,
        ring: Some(ring),
        ..session.plan().parameters().clone()
    }
}

fn in_ring(graph: &Graph, kind: AveragingKind) -> Result<Session, SessionError> {
    let session = session_of(graph, rows(), 4, (3, 40), kind, 5);
    let plan = Plan::new(parameters(&session, RING))?;
    session.with_plan(plan)
}

/// The exact schemes that a graph has the edges for.
fn exact(graph: &Graph) -> impl Iterator<Item = AveragingKind> {
    schemes_on(graph).filter(|kind| kind.is_exact())
}

#[test]
fn every_engine_has_the_bits_of_the_curator_with_the_peers_shares() {
    for graph in graphs() {
        for kind in exact(&graph) {
            let session = in_ring(&graph, kind).expect("exact");
            let lockstep = lockstep::run(&session, &mut Silent).expect("runs");
            let latency = Latency::Uniform {
                low_micros: 1,
                high_micros: 5000,
            };
            let event = event::run(&session, latency, &mut Silent).expect("runs");
            assert_same_bits(&lockstep, &event);
            let central = central::run(&session, SumNoise::Shares, &mut Silent).expect("runs");
            let federated = federated::run(&session, &mut Silent).expect("runs");
            for (l, record) in lockstep.records.iter().enumerate() {
                for other in [&central.records[l], &federated.records[l]] {
                    assert_eq!(record.sum, other.sum, "public sum of iteration {l}");
                    assert_eq!(record.query, other.query, "public state before it");
                    assert_eq!(record.basis, other.basis, "public state after it");
                    assert_eq!(record.totals, other.totals);
                }
                let consensus = record.consensus.expect("peers");
                assert_eq!(
                    (consensus.disagreement, consensus.between_peers),
                    (0.0, 0.0)
                );
            }
            // Noise is there: the sum is not that of the contributions.
            let record = &lockstep.records[0];
            let apart = record.sum.values().iter().zip(record.totals.local.values());
            let square: f64 = apart.map(|(sum, local)| (sum - local).powi(2)).sum();
            let sigma = session.plan().sigma_of_sum(record.sensitivity);
            let mean = square / record.sum.values().len() as f64 / sigma.powi(2);
            // 600 coordinates: the mean square is 1 within 0.06 standard deviations; seven of them.
            assert!((mean - 1.0).abs() < 0.42, "{mean}");
        }
    }
}

#[test]
fn gossip_and_residues_that_do_not_fit_messages_are_refused() {
    let graph = &graphs()[3];
    for kind in AveragingKind::all().filter(|kind| !kind.is_exact()) {
        let refused = in_ring(graph, kind).expect_err("takes means");
        assert!(matches!(refused, SessionError::Inexact), "{refused:?}");
        assert!(refused.to_string().contains("tree"), "{refused}");
    }
    let session = in_ring(graph, AveragingKind::Tree).expect("exact");
    let wide = RingParameters {
        modulus: Modulus::Bits64,
        ..RING
    };
    let plan = Plan::new(parameters(&session, wide)).expect("can be planned");
    let wide = session
        .clone()
        .with_plan(plan)
        .expect("and made a session of");
    let lockstep = lockstep::run(&wide, &mut Silent);
    assert_eq!(lockstep.expect_err("cannot be sent"), EngineError::Modulus);
    let latency = Latency::Constant { micros: 5 };
    assert!(event::run(&wide, latency, &mut Silent).is_err());
    // Noise of real numbers, or of another grid, is not this plan's.
    let root = || root_of(&session);
    let sigmas = session.plan().sigmas();
    let real = Assignment::new(root(), sigmas).expect("finite");
    let laws = Arc::new(RingLaws::new(&[100.0; 3]).expect("supported"));
    let other = Assignment::new(root(), sigmas)
        .expect("finite")
        .in_ring(Some(laws));
    for noise in [real, other] {
        let session = session.clone().with_noise(noise);
        assert_eq!(
            lockstep::run(&session, &mut Silent).expect_err("noise"),
            EngineError::Noise
        );
        assert!(event::run(&session, latency, &mut Silent).is_err());
    }
}

fn root_of(session: &Session) -> NoiseRoot {
    session.planned_noise().root().clone()
}

/// Keeps what everybody published in each release.
#[derive(Default)]
struct Published(Vec<Vec<f64>>);

impl Observer for Published {
    fn wants_transcript(&self) -> bool {
        true
    }

    fn transcript(&mut self, transcript: Transcript<'_>) {
        self.0.push(transcript.inputs.to_vec());
    }
}

#[test]
fn what_is_published_are_residues_that_look_uniform_and_sum_to_the_release() {
    let session = in_ring(&graphs()[3], AveragingKind::Tree).expect("exact");
    let mut published = Published::default();
    let outcome = lockstep::run(&session, &mut published).expect("runs");
    let mut again = Published::default();
    event::run(&session, Latency::Constant { micros: 5 }, &mut again).expect("runs");
    assert_eq!(published.0, again.0);
    let mut bins = [0_u32; 16];
    for (inputs, record) in published.0.iter().zip(&outcome.records) {
        let values = inputs.len() / 12;
        let mut sums = vec![0.0; values];
        for input in inputs.chunks_exact(values) {
            for (sum, &x) in sums.iter_mut().zip(input) {
                assert!((0.0..RingLaws::MODULUS).contains(&x) && x.fract() == 0.0);
                bins[(x / RingLaws::MODULUS * 16.0) as usize] += 1;
                *sum += x;
            }
        }
        RingLaws::lift(&mut sums);
        let step = RING.grid.step() * record.sensitivity;
        let lifted: Vec<f64> = sums.iter().map(|sum| sum * step).collect();
        assert_eq!(lifted, record.sum.values());
    }
    // 21,600 residues in 16 bins: χ² with 15 degrees of freedom exceeds 60 with probability 2e-7.
    let expected = f64::from(bins.iter().sum::<u32>()) / 16.0;
    let chi: f64 = bins
        .iter()
        .map(|&n| (f64::from(n) - expected).powi(2) / expected)
        .sum();
    assert!(chi < 60.0, "{chi}");
}

#[test]
fn a_missing_mask_spoils_the_sum_and_halved_noise_is_not_the_curator_s() {
    let session = in_ring(&graphs()[1], AveragingKind::Tree).expect("exact");
    let central = central::run(&session, SumNoise::Shares, &mut Silent).expect("runs");
    for tamper in [
        Tamper::ForgetPartner,
        Tamper::FlipPairwiseSign,
        Tamper::HalveOwnNoise,
        Tamper::DropPeerNoise,
        Tamper::ReuseStream,
        Tamper::ShareOwnNoise,
    ] {
        let broken = session.clone().tampered(tamper);
        let Ok(outcome) = lockstep::run(&broken, &mut Silent) else {
            continue;
        };
        let same = outcome
            .records
            .iter()
            .zip(&central.records)
            .all(|(a, b)| a.sum == b.sum);
        assert!(!same, "{tamper:?}");
    }
}

#[test]
fn a_retry_over_another_set_of_peers_draws_other_noise() {
    let graph = &graphs()[3];
    let session = in_ring(graph, AveragingKind::Tree).expect("exact");
    let own = |session: &Session, peer: u32| {
        let mut draws = vec![0.0; 50];
        session
            .planned_noise()
            .own(PeerIndex(peer))
            .add_to(ReleaseId(1), 1.0, &mut draws);
        draws
    };
    let mask = |session: &Session| {
        let mut draws = vec![0.0; 50];
        let (term, _) = session.planned_noise().pair(PeerIndex(0), PeerIndex(1));
        term.add_to(ReleaseId(1), 1.0, &mut draws);
        draws
    };
    assert_eq!(own(&session, 0), own(&session.clone(), 0));
    // The same peers without the rows of one: what a second attempt after a dropout would sum.
    let mut without = rows();
    without[11] = SparseRows::new(150);
    let without = session.clone().with_rows(Arc::new(PeerRows::new(without)));
    let without = without.expect("fits");
    // The same plan with another clamp, that is, another plan.
    let plan = Plan::new(parameters(
        &session,
        RingParameters {
            clamp: 1 << 19,
            ..RING
        },
    ));
    let replanned = session
        .clone()
        .with_plan(plan.expect("valid"))
        .expect("fits");
    for other in [&without, &replanned] {
        for peer in 0..11 {
            assert!(own(&session, peer) != own(other, peer), "peer {peer}");
        }
        assert!(mask(&session) != mask(other));
    }
    // No two terms of one session share a stream either.
    assert!(own(&session, 0) != own(&session, 1));
    let root = Seed::from_u64(5).noise_root(Binding::to(&[]));
    let sigmas = Sigmas::of_sums(0.02, 1.0);
    assert!(
        Assignment::new(root, sigmas)
            .expect("finite")
            .is_in_ring(None)
    );
}
