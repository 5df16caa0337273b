//! Programs of releases that no experiment file names: one small algorithm per kind of release, on every engine.

mod batches;
mod centred;
mod composite;
mod coordinates;
mod names;
mod proved;
mod refusals;
mod triangle;
mod two_releases;

use std::sync::Arc;

use undertone::algorithm::{Algorithm, LocalData};
use undertone::engine::central::{self, SumNoise};
use undertone::engine::event::{self, Latency};
use undertone::engine::{Federated, Outcome, Runner as _, Session, Silent, lockstep};
use undertone::linalg::SparseRows;
use undertone::privacy::SensitivitySpec;
use undertone::protocol::Values;
use undertone::protocol::averaging::{AveragingKind, AveragingOptions, Length, MixingBounds};
use undertone::topology::{Graph, Provenance, Topology};
use undertone::vocabulary::PeerIndex;

use crate::support::bits::Told;
use crate::support::sessions::Parts;
pub(crate) use two_releases::{alternating, bounds_of_alternating};

pub(crate) const ITEMS: usize = 7;
pub(crate) const PEERS: usize = 6;

/// A ring of six peers with two chords.
pub(crate) fn graph() -> Graph {
    let edges = [
        (0, 1),
        (1, 2),
        (2, 3),
        (3, 4),
        (4, 5),
        (0, 5),
        (0, 3),
        (1, 4),
    ];
    Graph::from_edges(PEERS, &edges).expect("simple")
}

/// Two users per peer, each with a few of the seven items; the last one of peer 2 is there or not.
pub(crate) fn users(with_last_of_peer_2: bool) -> Vec<SparseRows> {
    (0..PEERS as u32)
        .map(|u| {
            let mut rows = SparseRows::new(ITEMS);
            for k in 0..2_u32 {
                let items: Vec<u32> = (0..ITEMS as u32)
                    .filter(|i| (u * 5 + k * 3 + i * i + u * i) % 3 == 0)
                    .filter(|_| with_last_of_peer_2 || (u, k) != (2, 1))
                    .collect();
                let value = 1.0 / (items.len().max(1) as f64).sqrt();
                rows.push_row(items.into_iter().map(|i| (i, value)))
                    .expect("ascending");
            }
            rows
        })
        .collect()
}

/// What a session is made of beside its algorithm.
#[derive(Clone)]
pub(crate) struct Setting {
    pub(crate) sensitivity: SensitivitySpec,
    pub(crate) averaging: AveragingKind,
    pub(crate) sigmas: [f64; 3],
}

impl Setting {
    /// The session of these peers; own, pairwise and coordinate noise per unit sensitivity.
    pub(crate) fn session(
        &self,
        algorithm: Arc<dyn Algorithm>,
        peers: &[LocalData],
        seed: u64,
    ) -> Session {
        let topology = Arc::new(Topology::from_graph(graph(), Provenance::edges("test")));
        let bounds = MixingBounds {
            lowest: -0.95,
            second: 0.95,
        };
        let length = match self.averaging.is_exact() {
            true => Length::Own,
            false => Length::Rounds(120),
        };
        let schedule =
            self.averaging
                .compile(&*topology, bounds, length, AveragingOptions::default());
        let parts = Parts {
            schedule: Arc::new(schedule.expect("a connected graph")),
            topology,
            algorithm,
            sensitivity: self.sensitivity.clone(),
            sigmas: self.sigmas,
            values: Values::F64,
            ring: None,
            wishart: None,
        };
        parts.session(peers, seed).expect("fits")
    }
}

pub(crate) fn local(rows: Vec<SparseRows>) -> Vec<LocalData> {
    rows.into_iter().map(LocalData::from).collect()
}

/// The engines without copies of the sum: a curator with the peers' shares, and an ideal secure sum.
pub(crate) fn one_copy(session: &Session) -> Outcome {
    let central = central::run(session, SumNoise::Shares, &mut Silent).expect("runs");
    let federated = Federated.run(session, &mut Silent).expect("runs");
    assert_eq!(central.records, federated.records);
    central
}

/// The engines with peers, which must agree in every bit.
pub(crate) fn with_peers(session: &Session) -> Told {
    let reference = Told::by(|told| lockstep::run(session, told)).expect("runs");
    let same = |found: &Told| assert_eq!(reference.difference(found), None);
    for latency in [
        Latency::Constant { micros: 10 },
        Latency::Uniform {
            low_micros: 1,
            high_micros: 900,
        },
    ] {
        same(&Told::by(|told| event::run(session, latency, told)).expect("runs"));
    }
    #[cfg(feature = "node")]
    {
        let options = undertone::node::SwarmOptions {
            transport: undertone::node::Transport::Memory,
            ..Default::default()
        };
        same(&Told::by(|told| undertone::node::run(session, &options, told)).expect("runs"));
    }
    reference
}

/// Runs an algorithm on all engines, under gossip and under a tree: equal bits among those with peers, equal bits among those
/// without, and both the same numbers to `tolerance`.
pub(crate) fn conforms(setting: &Setting, algorithm: &Arc<dyn Algorithm>, peers: &[LocalData]) {
    for (averaging, tolerance) in [
        (AveragingKind::Chebyshev, 1e-6),
        (AveragingKind::Linear, 1e-6),
        (AveragingKind::Tree, 1e-12),
    ] {
        let setting = Setting {
            averaging,
            ..setting.clone()
        };
        let session = setting.session(Arc::clone(algorithm), peers, 3);
        let (one, many) = (one_copy(&session), with_peers(&session));
        assert_eq!(one.records.len(), session.plan().releases().len());
        for (a, b) in one.records.iter().zip(&many.records) {
            let mut gap = (*a.sum).clone();
            gap.add_scaled(-1.0, &b.sum);
            let apart = gap.norm() / a.sum.norm();
            assert!(
                apart <= tolerance,
                "{averaging:?}, {}: {apart:e}",
                a.release
            );
        }
    }
}

/// The noise of the honest peers' inputs on one coordinate as a coalition sees it, per unit scale: covariance of what is left
/// when everything that the coalition knows is subtracted, over the honest peers in order.
pub(crate) fn covariance_of_honest(
    sigmas: [f64; 3],
    coalition: &[u32],
) -> (Vec<usize>, nalgebra::DMatrix<f64>) {
    let honest: Vec<usize> = (0..PEERS)
        .filter(|u| !coalition.contains(&(*u as u32)))
        .collect();
    let (own, pairwise) = (sigmas[0].powi(2), sigmas[1].powi(2));
    let mut covariance = nalgebra::DMatrix::zeros(honest.len(), honest.len());
    for (i, &u) in honest.iter().enumerate() {
        covariance[(i, i)] += own;
        for (j, &v) in honest.iter().enumerate() {
            if graph().neighbours(u).contains(&(v as u32)) {
                // An edge between honest peers: its noise is unknown, and its two ends cancel.
                covariance[(i, i)] += pairwise;
                covariance[(i, j)] -= pairwise;
            }
        }
    }
    (honest, covariance)
}

/// The peer whose user is there or not.
pub(crate) const VICTIM: PeerIndex = PeerIndex(2);
