//! Whoever sees two transcripts of one seed must not be able to subtract them.
//!
//! Sweeps, comparisons and second tries run one seed under several plans, on several data sets. If the plans shared their
//! noise streams, every coordinate that peer u publishes in iteration 1 would be y_k = a + o_k g + p_k h with the same
//! contribution a = (A_u X⁰)_i and the same normals g (own) and h (pairwise, signed and added up) in every run k, while
//! the standard deviations o_k and p_k are public: three runs, three unknowns. The attack below solves exactly that by
//! least squares, for the contributions and for the normals. It needs no seed.
//!
//! With streams bound to the session the errors of its estimates must be those of independent noise. Noise is independent
//! across the coordinates of a peer (at least 300 here), so a ratio of mean squares has a standard deviation of at most
//! √(2/300) = 0.08, however peers are correlated; the limits 0.5 and 1.5 are six of them away: a correct build fails with
//! probability below 1e-8 per assertion. Seeds are fixed.

use std::sync::Arc;

use nalgebra::DMatrix;

use crate::algorithm;
use crate::algorithm::PublicState;
use crate::engine::noise::Assignment;
use crate::engine::{Observer, PeerRows, Session, Silent, Transcript, lockstep};
use crate::linalg::SparseRows;
use crate::run::run_engine;
use crate::scenario::Experiment;
use crate::scenario::testing::sim;
use crate::vocabulary::Seed;

/// P1's own method at seed 7 on a smaller graph, one iteration.
fn experiment(set: &[&str]) -> Experiment {
    let small = [
        "peers.count=16",
        "topology.degree=4",
        "data.items=100",
        "algorithm.iterations=1",
        "averaging.rounds=3",
        "seed=7",
    ];
    sim("../tests/power.toml", &[&small, set].concat()).expect("resolves")
}

fn session(set: &[&str]) -> Session {
    experiment(set).session(&Seed::from_u64(7))
}

/// Iteration 1 as everybody in the network sees it, and what nobody may: the contributions.
#[derive(Default)]
struct Seen {
    /// fΔ.
    scale: f64,
    /// What every peer published, one after the other.
    inputs: Vec<f64>,
    /// A_u X⁰ of every peer.
    contributions: Vec<f64>,
    /// Standard deviations of own and pairwise noise.
    sigmas: (f64, f64),
    /// σ_own² + degree·σ_pair² of every coordinate, times scale².
    variances: Vec<f64>,
}

impl Observer for Seen {
    fn wants_transcript(&self) -> bool {
        true
    }

    fn transcript(&mut self, transcript: Transcript<'_>) {
        if transcript.release.0 == 1 {
            self.scale = transcript.terms.scale;
            self.inputs = transcript.inputs.reals().expect("reals").to_vec();
        }
    }
}

fn seen(session: &Session) -> Seen {
    let mut seen = Seen::default();
    lockstep::run(session, &mut seen).expect("runs");
    let plan = session.plan();
    let (own, pairwise) = (
        seen.scale * plan.parameters().sigma_own,
        seen.scale * plan.parameters().sigma_pairwise,
    );
    seen.sigmas = (own, pairwise);
    let algorithm = plan.algorithm();
    let begun = PublicState::new(Arc::clone(session.start()));
    for (u, rows) in session.rows().iter().enumerate() {
        let history = begun.history();
        let block = algorithm::contribution(algorithm, rows, history, plan.releases()[0].shape());
        let degree = session.noise_graph().neighbours(u).len() as f64;
        let variance = own.powi(2) + degree * pairwise.powi(2);
        seen.variances
            .extend(std::iter::repeat_n(variance, block.values().len()));
        seen.contributions.extend_from_slice(block.values());
    }
    seen
}

/// How well an attacker does: the largest error, and the mean square of the errors over that of independent noise.
#[derive(Clone, Copy, Debug)]
struct Success {
    largest: f64,
    ratio: f64,
}

/// The least-squares estimates of all contributions, and of the normals of the first run, from what the runs show.
fn attack(runs: &[Seen]) -> (Success, Success) {
    let design = DMatrix::from_fn(runs.len(), 3, |k, column| {
        let (own, pairwise) = runs[k].sigmas;
        [1.0, own, pairwise][column]
    });
    let solved = design.pseudo_inverse(1e-9).expect("a small matrix");
    // Whatever the scales, the noise of run k is Σ_j solved's columns: the normals in units of the first run's noise.
    let noise_of_first = |k: usize| {
        let (own, pairwise) = runs[0].sigmas;
        own * solved[(1, k)] + pairwise * solved[(2, k)]
    };
    let outcome = |weight: &dyn Fn(usize) -> f64, of_noise: bool| {
        let (mut largest, mut squares, mut expected) = (0.0_f64, 0.0, 0.0);
        for i in 0..runs[0].inputs.len() {
            let noise = |k: usize| runs[k].inputs[i] - runs[k].contributions[i];
            let found: f64 = (0..runs.len()).map(|k| weight(k) * runs[k].inputs[i]).sum();
            let truth = if of_noise {
                noise(0)
            } else {
                runs[0].contributions[i]
            };
            largest = largest.max((found - truth).abs());
            squares += (found - truth).powi(2);
            for (k, run) in runs.iter().enumerate() {
                let known = f64::from(u8::from(of_noise && k == 0));
                expected += (weight(k) - known).powi(2) * run.variances[i];
            }
        }
        Success {
            largest,
            ratio: squares / expected,
        }
    };
    (
        outcome(&|k| solved[(0, k)], false),
        outcome(&noise_of_first, true),
    )
}

fn assert_fails(about: &str, runs: &[Seen]) {
    let (contributions, normals) = attack(runs);
    for (what, success) in [("contributions", contributions), ("normals", normals)] {
        assert!(
            (0.5..1.5).contains(&success.ratio),
            "{about}: {what} to {success:?}"
        );
    }
}

const TWO: [&[&str]; 2] = [&["privacy.epsilon=2"], &["privacy.epsilon=1"]];

/// Three ratios of σ_own to σ_pair.
const THREE: [&[&str]; 3] = [
    &["privacy.overhead=0.01"],
    &["privacy.overhead=0.05"],
    &["privacy.overhead=0.3", "privacy.epsilon=1"],
];

#[test]
fn transcripts_of_one_seed_under_other_plans_cannot_be_solved_for_anything() {
    assert_fails("two epsilons", &TWO.map(|set| seen(&session(set))));
    assert_fails("three overheads", &THREE.map(|set| seen(&session(set))));
}

/// What version 1 of the streams did: every run's noise from one root, whatever its plan and data.
fn sharing_streams(sessions: &[Session]) -> Vec<Seen> {
    let root = sessions[0].planned_noise().root();
    let shared = |session: &Session| {
        let sigmas = session.plan().sigmas();
        let noise = Assignment::new(root.clone(), sigmas).expect("finite");
        seen(&session.clone().with_noise(noise))
    };
    sessions.iter().map(shared).collect()
}

#[test]
fn the_same_attack_solves_runs_that_share_their_streams() {
    for (about, sets) in [("two", &TWO as &[&[&str]]), ("three", &THREE)] {
        let sessions: Vec<Session> = sets.iter().map(|set| session(set)).collect();
        let (contributions, normals) = attack(&sharing_streams(&sessions));
        for success in [contributions, normals] {
            assert!(success.largest < 1e-12, "{about}: {success:?}");
        }
    }
    let worlds = sharing_streams(&worlds());
    assert!(difference(&worlds).0 < 1e-12);
}

/// The quickstart's peers, and the same where peer 3 holds one interaction more.
fn worlds() -> [Session; 2] {
    let without = session(&[]);
    let mut rows = without.rows().to_vec();
    let mut more = SparseRows::new(rows[3].dimension());
    for i in 0..rows[3].len() {
        let (items, values) = rows[3].row(i);
        let mut row: Vec<(u32, f64)> = items.iter().copied().zip(values.iter().copied()).collect();
        if i == 0 {
            let free = (0..).find(|item| !items.contains(item)).expect("room");
            row.push((free, 0.1));
            row.sort_by_key(|entry| entry.0);
        }
        more.push_row(row).expect("ascending");
    }
    rows[3] = more;
    let with = without.clone().with_rows(Arc::new(PeerRows::new(rows)));
    [without, with.expect("fits")]
}

/// The attack on two runs of one plan on neighbouring data: what both published, subtracted, against the difference of
/// the data. The largest error, and the mean square of errors over that of independent noise, at peer 3 and elsewhere.
fn difference(worlds: &[Seen]) -> (f64, [f64; 2]) {
    let [without, with] = worlds else {
        panic!("two worlds")
    };
    let width = without.inputs.len() / 16;
    let (mut largest, mut ratios) = (0.0_f64, [(0.0, 0.0); 2]);
    for i in 0..without.inputs.len() {
        let found = with.inputs[i] - without.inputs[i];
        let truth = with.contributions[i] - without.contributions[i];
        let (squares, expected) = &mut ratios[usize::from(i / width != 3)];
        largest = largest.max((found - truth).abs());
        *squares += (found - truth).powi(2);
        *expected += without.variances[i] + with.variances[i];
    }
    (
        largest,
        ratios.map(|(squares, expected)| squares / expected),
    )
}

#[test]
fn transcripts_of_neighbouring_data_do_not_differ_by_the_data() {
    let worlds = worlds().map(|world| seen(&world));
    let changed = &worlds[0].contributions[3 * worlds[0].inputs.len() / 16..];
    assert_ne!(
        changed[..],
        worlds[1].contributions[3 * worlds[1].inputs.len() / 16..]
    );
    let (_, ratios) = difference(&worlds);
    assert!(ratios.iter().all(|r| (0.5..1.5).contains(r)), "{ratios:?}");
}

/// Any one thing that a plan or the data can differ in, one seed and one starting block for all.
const VARIANTS: [&[&str]; 12] = [
    &[],
    &["privacy.epsilon=2.0000001"],
    &["privacy.delta=1.0001e-5"],
    &["privacy.adjacency=user"],
    &["privacy.colluders=0"],
    &["privacy.overhead=0.0100001"],
    &["noise.scheme=local"],
    &["averaging.rounds=4"],
    &["averaging.scheme=linear"],
    &["algorithm.iterations=2", "privacy.budget=[1, 1]"],
    &["algorithm.iterations=2", "privacy.budget=[1, 1.0001]"],
    &["data.degree_floor=21"],
];

/// Σxy/√(Σx²Σy²).
fn correlation(x: &[f64], y: &[f64]) -> f64 {
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    dot(x, y) / (dot(x, x) * dot(y, y)).sqrt()
}

/// Peer 0's noise has 400 coordinates: the correlation of independent ones has a standard deviation of 1/20, and is
/// beyond 0.35 with probability 2e-12 each.
#[test]
fn whatever_two_runs_differ_in_their_noise_is_independent() {
    let noise = |seen: &Seen| -> Vec<f64> {
        let width = seen.inputs.len() / 16;
        let values = seen.inputs.iter().zip(&seen.contributions);
        values.take(width).map(|(x, a)| x - a).collect()
    };
    let mut sessions: Vec<Session> = VARIANTS.iter().map(|set| session(set)).collect();
    sessions.push(worlds()[1].clone());
    sessions.push(session(&[]).with_seed(Seed::from_u64(8)).expect("checked"));
    let start = sessions[0].start().digest();
    assert!(
        sessions
            .iter()
            .all(|session| session.start().digest() == start)
    );
    let runs: Vec<Vec<f64>> = sessions
        .iter()
        .map(|session| noise(&seen(session)))
        .collect();
    for (i, x) in runs.iter().enumerate() {
        for (j, y) in runs[..i].iter().enumerate() {
            let found = correlation(x, y);
            assert!(found.abs() < 0.35, "{i} and {j}: {found}");
        }
    }
    let again = noise(&seen(&session(&[])));
    assert_eq!(runs[0], again, "equal sessions have equal noise");
    // The statistic sees streams that are shared, however the scales differ.
    let shared: Vec<Vec<f64>> = sharing_streams(&sessions).iter().map(noise).collect();
    for (session, y) in sessions.iter().zip(&shared) {
        // Scheme local has none of the pairwise noise that dominates the others.
        let found = correlation(&shared[0], y);
        assert!(
            found > 0.6 || session.plan().sigmas().pairwise == 0.0,
            "{found}"
        );
    }
}

/// The noise in the sum of iteration 1 as the engines draw it that simulate no peers.
#[test]
fn the_noise_of_sums_is_bound_too() {
    let engines: [&[&str]; 3] = [
        &["engine.kind=central"],
        &["engine.kind=federated", "noise.scheme=independent"],
        &["engine.kind=analytic", "engine.probes=2"],
    ];
    for engine in engines {
        let noise = |set: &[&str]| {
            let experiment = experiment(&[engine, set].concat());
            let session = experiment.session(&Seed::from_u64(7));
            let outcome = run_engine(&experiment, &session, &mut Silent).expect("runs");
            let mut noise = (*outcome.records[0].sum).clone();
            noise.add_scaled(-1.0, &outcome.records[0].totals.local);
            noise.into_values()
        };
        let found = correlation(&noise(TWO[0]), &noise(TWO[1]));
        assert!(found.abs() < 0.35, "{engine:?}: {found}");
        assert_eq!(noise(TWO[0]), noise(TWO[0]), "{engine:?}");
    }
}

/// A curator's noise is bound to its standard deviation, which no plan names; the peers' is not.
#[test]
fn a_curator_of_another_sigma_draws_another_noise() {
    let session = session(&[]);
    let less = session
        .clone()
        .with_curator_sigma(0.5 * session.sigma_central())
        .expect("less than the peers' own");
    assert!(session.curator_noise().key() != less.curator_noise().key());
    assert_eq!(session.planned_noise().root(), less.planned_noise().root());
}
