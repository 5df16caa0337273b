//! Own coordinates: every peer publishes a number of its own, and the algorithm stops when all agree that it is time.

use std::ops::Range;
use std::sync::Arc;

use undertone::algorithm::{
    AgreedNumber, Algorithm, BlockSpec, Form, History, Next, Program, PublicState, ReleaseSpec,
};
use undertone::engine::{Analytic, EngineError, Runner as _, RunnerError, Silent, lockstep};
use undertone::linalg::{Block, NotFullRank, SparseRows, orthonormalise};
use undertone::privacy::{Adjacency, Public, Rule, SensitivityRule, SensitivitySpec, Statistic};
use undertone::protocol::averaging::AveragingKind;
use undertone::protocol::{
    Body, CollectingOutbox, FaultKind, Input, Message, Peer, SessionPlanError,
};
use undertone::vocabulary::{Iteration, PeerIndex, Quantity, ReleaseId, Round, Time};

use super::{ITEMS, PEERS, Setting, conforms, local, one_copy, users, with_peers};

const ENERGY: Quantity = Quantity::Own("the energy of own rows along X");

/// In every iteration: every peer's ‖R_u X‖² as a coordinate of its own; then, unless the largest agreed energy is above
/// `enough`, a product, after which X moves on.
#[derive(Debug)]
struct Searching {
    enough: f64,
}

/// A user there or not changes ‖R_u x‖² by (r̂x)² ≤ 1.
#[derive(Debug)]
struct OneRow;

impl Rule for OneRow {
    const ADJACENCY: Adjacency = Adjacency::User;
    const QUANTITY: Quantity = ENERGY;

    fn statistic(_: &Public) -> Statistic {
        Statistic::None
    }

    fn bound(_: &Public, _: f64) -> f64 {
        1.0
    }
}

impl Algorithm for Searching {
    fn program(&self) -> Program {
        let releases = (1..=4).flat_map(|l| {
            let energies = ReleaseSpec {
                iteration: Iteration(l),
                form: Form::OwnCoordinates,
                blocks: vec![BlockSpec {
                    quantity: ENERGY,
                    shape: (1, 1),
                    columns: 1,
                    weight: 1.0,
                }],
                agreement: (l > 1).then_some(AgreedNumber::Finite),
                may_end_before: l > 1,
                ceiling: None,
                batch: None,
                share: 1.0,
            };
            [
                energies,
                ReleaseSpec::sum(l, Quantity::Product, (ITEMS, 1), 1),
            ]
        });
        Program::of("searching", ITEMS, 1, releases.collect()).with_setting("enough", self.enough)
    }

    fn next(&self, state: &PublicState, declared: Option<&ReleaseSpec>) -> Next {
        match (declared, state.agreed) {
            (None, _) => Next::Done,
            (Some(release), None) if release.agreement.is_some() => Next::Agree,
            // All peers hold this number with equal bits, so that all stop together.
            (Some(release), Some(energy)) if release.may_end_before && energy > self.enough => {
                Next::Done
            }
            _ => Next::Release(ReleaseId(state.released + 1)),
        }
    }

    /// The largest energy that has been published.
    fn statistic(&self, state: &PublicState) -> f64 {
        let mut energies = state.past.iter().filter(|one| one.release.0 % 2 == 1);
        let last = energies.next_back().map(|one| one.sum.values().to_vec());
        last.unwrap_or_default()
            .into_iter()
            .fold(f64::MIN, f64::max)
    }

    fn prepare(&self, rows: &SparseRows, history: History<'_>) -> Vec<f64> {
        rows.project(history.query, 1)
    }

    fn add_contribution(
        &self,
        release: ReleaseId,
        rows: &SparseRows,
        prepared: &[f64],
        range: Range<usize>,
        out: &mut [f64],
    ) {
        if release.0 % 2 == 1 {
            out[0] += prepared.iter().map(|x| x * x).sum::<f64>();
        } else {
            rows.add_back_projection(prepared, 1, range, out);
        }
    }

    fn advance(
        &self,
        state: &PublicState,
        sum: &Arc<Block>,
        sigmas: &[f64],
    ) -> Result<PublicState, NotFullRank> {
        let mut next = state.followed_by(sum, sigmas);
        if state.released % 2 == 1 {
            next.query = Arc::new(orthonormalise(sum)?);
        }
        Ok(next)
    }

    fn estimate(&self, state: &PublicState) -> Arc<Block> {
        Arc::clone(&state.query)
    }
}

fn setting(sigmas: [f64; 3]) -> Setting {
    Setting {
        sensitivity: SensitivitySpec::new(Adjacency::User, SensitivityRule::Exact, 1, None)
            .with_rule::<OneRow>(),
        averaging: AveragingKind::Tree,
        sigmas,
    }
}

const SIGMAS: [f64; 3] = [0.1, 1.0, 0.5];

#[test]
fn all_engines_give_equal_bits() {
    let algorithm: Arc<dyn Algorithm> = Arc::new(Searching { enough: 1e9 });
    conforms(&setting(SIGMAS), &algorithm, &local(users(true)));
}

/// Every peer learns every coordinate with the bits of its owner, under gossip too; central is local exactly.
#[test]
fn own_coordinates_are_those_of_a_curator_bit_for_bit() {
    let setting = Setting {
        averaging: AveragingKind::Linear,
        ..setting(SIGMAS)
    };
    let session = setting.session(Arc::new(Searching { enough: 1e9 }), &local(users(true)), 4);
    let (one, many) = (one_copy(&session), with_peers(&session));
    let (one, many) = (&one.records[0], &many.records[0]);
    assert_eq!(one.sum, many.sum);
    assert_eq!(one.sum.rows(), PEERS);
    for u in 0..PEERS {
        let rows = &session.rows()[u];
        let energy: f64 = rows
            .project(session.start().values(), 1)
            .iter()
            .map(|x| x * x)
            .sum();
        let mut noise = [0.0];
        let term = session.planned_noise().coordinate(PeerIndex::from_index(u));
        term.add_to(ReleaseId(1), 1.0, &mut noise);
        assert_ne!(noise[0], 0.0);
        assert_eq!(one.sum.values()[u], energy + noise[0], "peer {u}");
    }
}

#[test]
fn all_peers_stop_together_when_an_agreed_number_says_so() {
    let all = setting(SIGMAS).session(Arc::new(Searching { enough: 1e9 }), &local(users(true)), 4);
    let energies = lockstep::run(&all, &mut Silent).expect("runs").records[0]
        .sum
        .clone();
    let largest = energies.values().iter().copied().fold(f64::MIN, f64::max);
    let stops = Arc::new(Searching {
        enough: largest - 0.5,
    });
    for averaging in [AveragingKind::Tree, AveragingKind::Linear] {
        let setting = Setting {
            averaging,
            ..setting(SIGMAS)
        };
        let session = setting.session(
            Arc::clone(&stops) as Arc<dyn Algorithm>,
            &local(users(true)),
            4,
        );
        let (one, many) = (one_copy(&session), with_peers(&session));
        assert!(many.records.len() < session.plan().releases().len());
        assert_eq!(one.records.len(), many.records.len());
    }
}

/// Peer 0 with neighbours 1, 3 and 5: each says its own number in round 0; in round 1 peer 3 says another one of peer 1.
#[test]
fn a_neighbour_that_tells_another_peer_s_coordinate_otherwise_is_named() {
    let algorithm = Arc::new(Searching { enough: 1e9 });
    let session = setting(SIGMAS).session(algorithm, &local(users(true)), 4);
    let mut peer = Peer::new(session.peer_setup(PeerIndex(0), None)).expect("valid");
    let mut outbox = CollectingOutbox::default();
    let mut give = |input| {
        peer.handle(input, Time(0), &mut outbox).expect("goes on");
        outbox.faults.drain(..).collect::<Vec<_>>()
    };
    assert_eq!(give(Input::Start), []);
    let say = |from: u32, round: u32, known: &[(usize, f64)]| {
        let mut all = vec![f64::NEG_INFINITY; PEERS];
        for &(place, value) in known {
            all[place] = value;
        }
        let message = Message {
            session: session.plan().session(),
            release: ReleaseId(1),
            round: Round(round),
            body: Body::Coordinates(Arc::new(all)),
        };
        let from = PeerIndex(from);
        Input::Message { from, message }
    };
    for from in [1, 3, 5] {
        assert_eq!(give(say(from, 0, &[(from as usize, 0.5)])), []);
    }
    assert_eq!(give(say(1, 1, &[(1, 0.5), (2, 0.1)])), []);
    assert_eq!(give(say(5, 1, &[(5, 0.5)])), []);
    // Nor can it change what peer 0 says of itself.
    let faults = give(say(3, 1, &[(3, 0.5), (1, 1e300), (0, 1e300)]));
    let named: Vec<_> = faults
        .iter()
        .map(|fault| (fault.culprit, &fault.kind))
        .collect();
    let kind = FaultKind::Contradiction { coordinate: 0 };
    assert_eq!(named, [(PeerIndex(3), &kind)]);
}

#[test]
fn coordinates_without_noise_of_their_own_and_an_engine_that_draws_sums_are_refused() {
    let session =
        setting(SIGMAS).session(Arc::new(Searching { enough: 1e9 }), &local(users(true)), 4);
    let mut parameters = session.plan().parameters().clone();
    parameters.sigma_coordinate = 0.0;
    assert!(matches!(
        session.plan().with(parameters),
        Err(SessionPlanError::BareCoordinates { .. })
    ));
    let options = Analytic {
        probes: 2,
        contraction: 1.0,
    };
    let Err(RunnerError::Engine(refused)) = options.run(&session, &mut Silent) else {
        panic!("it draws no coordinates");
    };
    assert!(matches!(refused.error(), EngineError::NotProduct { .. }));
}
