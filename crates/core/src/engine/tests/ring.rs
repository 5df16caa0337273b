//! Sums of integers mod 2^k: equal on every engine to the last bit, and wrong as soon as anything is missing.

use std::sync::Arc;

use super::{assert_same_bits, graphs, rows, schemes_on, session_of};
use crate::engine::central::{self, SumNoise};
use crate::engine::event::{self, Latency};
use crate::engine::noise::{Assignment, Defect, Extent};
use crate::engine::{
    EngineError, Observer, PeerRows, Session, SessionError, Silent, Transcript, federated, lockstep,
};
use crate::linalg::SparseRows;
use crate::noise::{RingLaws, Sigmas};
use crate::privacy::ring::{Grid, Modulus};
use crate::protocol::averaging::AveragingKind;
use crate::protocol::{RingParameters, SessionParameters, wire};
use crate::topology::Graph;
use crate::vocabulary::{Binding, NoiseRoot, PeerIndex, ReleaseId, Round, Seed};

const RING: RingParameters = RingParameters {
    grid: Grid::of(16),
    modulus: Modulus::Bits32,
    clamp: 1 << 20,
};

/// A grid so fine that 32 bits would not hold the sums, nor an f64 the residues.
const WIDE: RingParameters = RingParameters {
    grid: Grid::of(44),
    modulus: Modulus::Bits64,
    clamp: 1 << 58,
};

fn parameters(session: &Session, ring: RingParameters) -> SessionParameters {
    SessionParameters {
        sigma_pairwise: 0.0,
        ring: Some(ring),
        ..session.plan().parameters().clone()
    }
}

fn in_ring(
    graph: &Graph,
    kind: AveragingKind,
    ring: RingParameters,
) -> Result<Session, SessionError> {
    let session = session_of(graph, rows(), 4, (3, 40), kind, 5);
    let plan = session.plan().with(parameters(&session, ring))?;
    session.with_plan(plan)
}

/// The exact schemes that a graph has the edges for.
fn exact(graph: &Graph) -> impl Iterator<Item = AveragingKind> {
    schemes_on(graph).filter(|kind| kind.is_exact())
}

#[test]
fn every_engine_has_the_bits_of_the_curator_with_the_peers_shares() {
    for (graph, ring) in graphs()
        .iter()
        .flat_map(|graph| [(graph, RING), (graph, WIDE)])
    {
        for kind in exact(graph) {
            let session = in_ring(graph, kind, ring).expect("exact");
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
            // A number takes 4 or 8 bytes, frames and agreements aside; up and down where there is a server.
            let width = ring.modulus.bits() as usize / 8;
            let values = lockstep.records[0].sum.values().len();
            let block = wire::framed_block_len(values, session.plan().values()) as u64;
            assert_eq!(
                block as usize,
                values * width + wire::PREFIX_LEN + wire::HEADER_LEN
            );
            let sums = lockstep.communication.phases.sums.bytes_total;
            assert!(sums > 0 && sums.is_multiple_of(block), "{sums} of {block}");
            assert_eq!(federated.communication.bytes_total, 3 * 12 * 2 * block);
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
fn gossip_and_noise_of_another_kind_are_refused() {
    let graph = &graphs()[3];
    for kind in AveragingKind::all().filter(|kind| !kind.is_exact()) {
        let refused = in_ring(graph, kind, RING).expect_err("takes means");
        assert!(matches!(refused, SessionError::Inexact), "{refused:?}");
        assert!(refused.to_string().contains("tree"), "{refused}");
    }
    let session = in_ring(graph, AveragingKind::Tree, RING).expect("exact");
    let latency = Latency::Constant { micros: 5 };
    // Noise of real numbers, of another grid, or with masks of another width, is not this plan's.
    let root = || root_of(&session);
    let sigmas = session.plan().sigmas();
    let real = Assignment::new(root(), sigmas).expect("finite");
    let steps = session.plan().sigmas().own / RING.grid.step();
    let [coarse, wide] = [(100.0, 32), (steps, 64)].map(|(sigma, bits)| {
        let laws = Arc::new(RingLaws::new(&[sigma; 3], bits).expect("supported"));
        let real = Assignment::new(root(), sigmas).expect("finite");
        real.in_ring(Some(laws))
    });
    for noise in [real, coarse, wide] {
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
struct Published(Vec<Vec<u64>>);

impl Observer for Published {
    fn wants_transcript(&self) -> bool {
        true
    }

    fn transcript(&mut self, transcript: Transcript<'_>) {
        self.0
            .push(transcript.inputs.residues().expect("integers").to_vec());
    }
}

#[test]
fn what_is_published_are_residues_that_look_uniform_and_sum_to_the_release() {
    for ring in [RING, WIDE] {
        published_residues(ring);
    }
}

fn published_residues(ring: RingParameters) {
    let session = in_ring(&graphs()[3], AveragingKind::Tree, ring).expect("exact");
    let bits = ring.modulus.bits();
    let mut published = Published::default();
    let outcome = lockstep::run(&session, &mut published).expect("runs");
    let mut again = Published::default();
    event::run(&session, Latency::Constant { micros: 5 }, &mut again).expect("runs");
    assert_eq!(published.0, again.0);
    let mut bins = [0_u32; 16];
    for (inputs, record) in published.0.iter().zip(&outcome.records) {
        let values = inputs.len() / 12;
        let mut sums = vec![0_u64; values];
        for input in inputs.chunks_exact(values) {
            for (sum, &x) in sums.iter_mut().zip(input) {
                assert_eq!(x >> (bits - 1) >> 1, 0, "below 2^k");
                bins[(x >> (bits - 4)) as usize] += 1;
                *sum = sum.wrapping_add(x);
            }
        }
        let step = ring.grid.step() * record.sensitivity;
        let lifted = sums.iter().map(|&sum| match bits {
            32 => f64::from(sum as u32 as i32) * step,
            _ => sum as i64 as f64 * step,
        });
        assert_eq!(lifted.collect::<Vec<f64>>(), record.sum.values());
        // What takes 64 bits does not fit into 32.
        let wide = |&sum: &u64| (sum as i64).unsigned_abs() > 1 << 31;
        assert!(bits == 32 || sums.iter().any(wide));
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
    for ring in [RING, WIDE] {
        defects_show(ring);
    }
}

fn defects_show(ring: RingParameters) {
    let session = in_ring(&graphs()[1], AveragingKind::Tree, ring).expect("exact");
    let central = central::run(&session, SumNoise::Shares, &mut Silent).expect("runs");
    for defect in [
        Defect::ForgetPartner,
        Defect::FlipPairwiseSign,
        Defect::HalveOwnNoise,
        Defect::DropPeerNoise,
        Defect::ReuseStream,
        Defect::ShareOwnNoise,
    ] {
        let broken = session.clone().with_defect(defect);
        let Ok(outcome) = lockstep::run(&broken, &mut Silent) else {
            continue;
        };
        let same = outcome
            .records
            .iter()
            .zip(&central.records)
            .all(|(a, b)| a.sum == b.sum);
        assert!(!same, "{defect:?}");
    }
}

#[test]
fn peers_that_reduce_mod_another_power_of_two_end_with_another_sum_or_are_blamed() {
    for (ring, bits) in [(RING, 32), (WIDE, 64)] {
        let session = in_ring(&graphs()[3], AveragingKind::Tree, ring).expect("exact");
        let honest = lockstep::run(&session, &mut Silent).expect("runs");
        let latency = Latency::Constant { micros: 5 };
        for wrong in [bits - 1, bits + 1]
            .into_iter()
            .filter(|&wrong| wrong <= 64)
        {
            let defect = Defect::WrongModulus(wrong, Extent::First);
            let broken = session.clone().with_defect(defect);
            match event::run(&broken, latency, &mut Silent) {
                // One bit of peer 0's residues is lost: of 600 sums about half change.
                Ok(outcome) => assert!(wrong < bits && outcome.records != honest.records),
                // What is no residue mod 2^k is the sender's fault.
                Err(error) => assert!(
                    wrong > bits && error.to_string().contains("residues-32"),
                    "{error}"
                ),
            }
        }
    }
}

#[test]
fn rounds_that_are_watched_end_where_all_peers_agree() {
    #[derive(Default)]
    struct Rounds(Vec<Vec<f64>>);
    impl Observer for Rounds {
        fn wants_rounds(&self) -> bool {
            true
        }

        fn round(&mut self, _: ReleaseId, round: Round, spread: f64) {
            if round.0 == 0 {
                self.0.push(Vec::new());
            }
            self.0.last_mut().expect("begun").push(spread);
        }
    }
    for ring in [RING, WIDE] {
        let session = in_ring(&graphs()[3], AveragingKind::Tree, ring).expect("exact");
        let mut rounds = Rounds::default();
        let watched = lockstep::run(&session, &mut rounds).expect("runs");
        assert_eq!(watched, lockstep::run(&session, &mut Silent).expect("runs"));
        for (rounds, record) in rounds.0.iter().zip(&watched.records) {
            assert_eq!(rounds.len() as u32, session.schedule().rounds() + 1);
            assert_eq!(rounds[0], record.consensus.expect("peers").initial_spread);
            assert!(
                rounds[0] > 1.0 && rounds[rounds.len() - 1] < 1e-13,
                "{rounds:?}"
            );
        }
    }
}

#[test]
fn a_retry_over_another_set_of_peers_draws_other_noise() {
    let graph = &graphs()[3];
    let session = in_ring(graph, AveragingKind::Tree, RING).expect("exact");
    let own = |session: &Session, peer: u32| {
        let mut draws = vec![0; 50];
        session
            .planned_noise()
            .own(PeerIndex(peer))
            .add_integers_to(ReleaseId(1), &mut draws);
        draws
    };
    let mask = |session: &Session| {
        let mut draws = vec![0; 50];
        let (term, _) = session.planned_noise().pair(PeerIndex(0), PeerIndex(1));
        term.add_integers_to(ReleaseId(1), &mut draws);
        draws
    };
    assert_eq!(own(&session, 0), own(&session.clone(), 0));
    // The same peers without the rows of one: what a second attempt after a dropout would sum.
    let mut without = rows();
    without[11] = SparseRows::new(150);
    let without = session.clone().with_rows(Arc::new(PeerRows::new(without)));
    let without = without.expect("fits");
    // The same plan with another clamp, that is, another plan.
    let plan = session.plan().with(parameters(
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
