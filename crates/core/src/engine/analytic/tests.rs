//! The analytic engine against lockstep with every peer simulated, and its parts against dense algebra.
//!
//! Seeds are fixed. A check fails at |z| > 5.2, which a correct engine does with probability 2e-7 per entry; all entries
//! of this file together: below 1e-3.

use std::sync::Arc;

use nalgebra::DMatrix;

use super::law::{Law, covariance, factor};
use super::{
    Agreement, AnalyticOptions, Contributions, Scaled, approximation, deviation, probes, run,
    run_law, smallest_singular_value,
};
use crate::algorithm::{Covariance, PublicState};
use crate::engine::testing::{graphs, running, session_of};
use crate::engine::{
    EngineError, Observer, Outcome, Session, SessionParts, Silent, Transcript, lockstep,
};
use crate::linalg::{Block, SparseRows, subspace_distance, top_eigenvectors};
use crate::noise::Term;
use crate::plan::graphs_digest;
use crate::protocol::SessionParameters;
use crate::protocol::averaging::{AveragingKind, Coefficients, Form, MixingBounds, mix};
use crate::topology::{Graph, Provenance, Topology};
use crate::vocabulary::{PeerIndex, Quantity, Seed};

const SEEDS: u64 = 400;
const PROBES: usize = 4;
const LIMIT: f64 = 5.2;
const LOOSE: MixingBounds = MixingBounds {
    lowest: -0.95,
    second: 0.99,
};

mod claims;

/// 12 peers with a row or two each of 6 items.
fn rows() -> Vec<SparseRows> {
    (0..12_u32)
        .map(|u| {
            let mut rows = SparseRows::new(6);
            for r in 0..=u32::from(u % 5 == 3) {
                let items = (0..6).filter(|i| (u * 5 + i * 3 + u * i + r) % 4 < 2 || *i == u % 2);
                rows.push_row(items.map(|i| (i, 0.4 + 0.05 * f64::from(u % 3))))
                    .expect("ascending");
            }
            rows
        })
        .collect()
}

/// A session with these noise scales and rounds; everything public is the same for all seeds.
fn session(
    graph: &Graph,
    noise_graph: Option<&Graph>,
    kind: AveragingKind,
    (iterations, rounds): (u32, u32),
    (own, pairwise): (f64, f64),
) -> Session {
    let base = session_of(graph, rows(), 2, (iterations, rounds), kind, 77);
    let mut parameters = base.plan().parameters().clone();
    parameters.sigma_own = own;
    parameters.sigma_pairwise = pairwise;
    let noise_topology = noise_graph.map_or_else(
        || Arc::clone(base.topology()),
        |graph| {
            Arc::new(Topology::from_graph(
                graph.clone(),
                Provenance::edges("noise"),
            ))
        },
    );
    let plan = |topology| {
        base.plan().with(SessionParameters {
            topology,
            ..parameters
        })
    };
    let plan = plan(graphs_digest(base.topology(), &noise_topology)).expect("valid");
    Session::new(SessionParts {
        sigma_central: plan.sigma_of_sum(1.0),
        plan: Arc::new(plan),
        noise_topology,
        ..base.parts()
    })
    .expect("fits")
}

/// The same session with other noise.
fn seeded(session: &Session, seed: u64) -> Session {
    session
        .clone()
        .with_seed(Seed::from_u64(seed))
        .expect("checked")
}

/// Ring, complete, star and ring with chords; the ring once more with the chords as noise graph, and without
/// pairwise noise.
fn cases() -> Vec<Session> {
    let graphs = graphs();
    let noise = (0.02, 0.05);
    let chebyshev = AveragingKind::Chebyshev;
    let mut cases: Vec<Session> = graphs
        .iter()
        .map(|graph| session(graph, None, chebyshev, (1, 3), noise))
        .collect();
    let linear = AveragingKind::Linear;
    cases.push(session(&graphs[0], Some(&graphs[3]), linear, (1, 3), noise));
    cases.push(session(&graphs[2], None, linear, (1, 3), (0.1, 0.0)));
    cases
}

/// Keeps what everybody published in the last iteration, and for which queries.
#[derive(Default)]
struct Published {
    inputs: Vec<f64>,
    states: Vec<PublicState>,
}

impl Observer for Published {
    fn wants_transcript(&self) -> bool {
        true
    }

    fn transcript(&mut self, transcript: Transcript<'_>) {
        self.inputs = transcript.inputs.reals().expect("reals").to_vec();
        self.states = transcript.states.to_vec();
    }
}

fn schedule_of(session: &Session) -> &[Coefficients] {
    match session.schedule().form() {
        Form::Recurrence(coefficients) => coefficients,
        Form::Listed(_) | Form::Passing(_) => panic!("no recurrence"),
    }
}

/// Every peer's estimate, by the protocol's own kernel.
fn averaged(session: &Session, inputs: &[f64]) -> Vec<Vec<f64>> {
    let width = session.plan().most_values();
    let mut now: Vec<Vec<f64>> = inputs.chunks_exact(width).map(<[f64]>::to_vec).collect();
    let mut before = now.clone();
    for coefficients in schedule_of(session) {
        let next = (0..session.peers())
            .map(|u| {
                let weights = session.mixing().neighbour_weights(u);
                let around = session.graph().neighbours(u).iter();
                let values = around.map(|&v| now[v as usize].as_slice());
                let neighbours: Vec<_> = weights.iter().copied().zip(values).collect();
                let mut out = vec![0.0; width];
                mix(
                    *coefficients,
                    session.mixing().self_weight(u),
                    &now[u],
                    &neighbours,
                    &before[u],
                    &mut out,
                );
                out
            })
            .collect();
        before = std::mem::replace(&mut now, next);
    }
    let peers = session.peers() as f64;
    now.iter()
        .map(|x| x.iter().map(|v| peers * v).collect())
        .collect()
}

/// One run as seen from the probes: their estimates and the noise t of the sum, one row each.
type Sample = Vec<Vec<f64>>;

fn simulated(case: &Session, seed: u64) -> Sample {
    let session = seeded(case, seed);
    let mut seen = Published::default();
    let outcome = lockstep::run(&session, &mut seen).expect("runs");
    let all = averaged(&session, &seen.inputs);
    assert_eq!(all[0], outcome.records[0].sum.values());
    let chosen = probes(PROBES, session.peers());
    let mut sample: Sample = chosen.iter().map(|u| all[u.index()].clone()).collect();
    sample.push(noise_of_sum(&outcome));
    sample
}

fn noise_of_sum(outcome: &Outcome) -> Vec<f64> {
    let totals = &outcome.records[0].totals;
    let mut noise = totals.published.clone();
    noise.add_scaled(-1.0, &totals.local);
    noise.into_values()
}

/// The same from the law, after `change`. An outcome holds probe 0's sum, so the law is put before every probe in turn:
/// streams belong to columns of the factor and stay in place.
fn drawn(case: &Session, seed: u64, change: &dyn Fn(&Session, &mut Law)) -> Sample {
    let session = seeded(case, seed);
    let mut law = Law::of(&session, &probes(PROBES, session.peers()));
    change(&session, &mut law);
    let mut sample = Sample::new();
    for u in 0..PROBES {
        let mut turned = law.clone();
        turned.probes.swap(0, u);
        turned.deviations.swap(0, u);
        turned.factor.swap_rows(0, u);
        turned.weigh();
        let outcome = run_law(&session, &turned, 1.0, &mut Silent).expect("runs");
        sample.push(outcome.records[0].sum.values().to_vec());
        if u == 0 {
            sample.push(noise_of_sum(&outcome));
        }
    }
    let noise = sample.remove(1);
    sample.push(noise);
    sample
}

/// Means by row and coordinate, and the covariance of the rows pooled over coordinates, of estimates, t, and the
/// deviations of probes 1… from probe 0.
struct Moments {
    means: Vec<f64>,
    covariance: DMatrix<f64>,
    /// Independent terms per entry.
    terms: f64,
    runs: f64,
}

fn moments(samples: &[Sample]) -> Moments {
    let widened: Vec<Sample> = samples
        .iter()
        .map(|sample| {
            let mut rows = sample.clone();
            for u in 1..PROBES {
                let difference = sample[u].iter().zip(&sample[0]).map(|(a, b)| a - b);
                rows.push(difference.collect());
            }
            rows
        })
        .collect();
    let (rows, width) = (widened[0].len(), widened[0][0].len());
    let runs = samples.len() as f64;
    let at = |r: usize, i: usize| widened.iter().map(move |s| s[r][i]);
    let mean = |r: usize, i: usize| at(r, i).sum::<f64>() / runs;
    let means: Vec<f64> = (0..rows)
        .flat_map(|r| (0..width).map(move |i| (r, i)))
        .map(|(r, i)| mean(r, i))
        .collect();
    let covariance = DMatrix::from_fn(rows, rows, |r, q| {
        let total: f64 = (0..width)
            .map(|i| {
                let (a, b) = (means[r * width + i], means[q * width + i]);
                at(r, i)
                    .zip(at(q, i))
                    .map(|(x, y)| (x - a) * (y - b))
                    .sum::<f64>()
            })
            .sum();
        total / ((runs - 1.0) * width as f64)
    });
    Moments {
        means,
        covariance,
        terms: (runs - 1.0) * width as f64,
        runs,
    }
}

/// The largest |z| over all means and covariances of two sets of runs. The variance of a mean is C_rr/runs, that of a
/// Gaussian sample covariance (C_rr C_qq + C_rq²)/terms.
fn worst_z(a: &[Sample], b: &[Sample]) -> f64 {
    let (a, b) = (moments(a), moments(b));
    let pooled = (&a.covariance + &b.covariance) * 0.5;
    let rows = pooled.nrows();
    let width = a.means.len() / rows;
    let mut worst = 0.0_f64;
    for (i, (x, y)) in a.means.iter().zip(&b.means).enumerate() {
        let r = i / width;
        // Rounding, where the rounds average exactly.
        let variance = 2.0 * pooled[(r, r)] / a.runs + 1e-24;
        worst = worst.max((x - y).abs() / variance.sqrt());
    }
    for r in 0..rows {
        for q in 0..=r {
            let spread = pooled[(r, r)] * pooled[(q, q)] + pooled[(r, q)].powi(2);
            let variance = 2.0 * spread / a.terms + 1e-30;
            let difference = a.covariance[(r, q)] - b.covariance[(r, q)];
            worst = worst.max(difference.abs() / variance.sqrt());
        }
    }
    worst
}

fn all_simulated(case: &Session) -> Vec<Sample> {
    (0..SEEDS).map(|seed| simulated(case, seed)).collect()
}

fn all_drawn(case: &Session, change: &dyn Fn(&Session, &mut Law)) -> Vec<Sample> {
    // Other seeds: nothing may rest on shared streams.
    (0..SEEDS)
        .map(|seed| drawn(case, 10_000 + seed, change))
        .collect()
}

/// 6 cases × (8 rows × 12 means + 36 covariances) entries.
#[test]
fn estimates_have_lockstep_s_means_and_covariances_on_every_graph() {
    for (number, case) in cases().iter().enumerate() {
        let worst = worst_z(&all_simulated(case), &all_drawn(case, &|_, _| {}));
        assert!(worst < LIMIT, "case {number}: |z| = {worst:.2}");
    }
}

/// Each defect must show in one of the cases at least at |z| > 8.
#[test]
fn every_defect_of_the_law_shows() {
    type Change = fn(&Session, &mut Law);
    let changes: [(&str, Change); 6] = [
        (
            "pairwise noise left out of the covariance",
            |session, law| {
                let own = session.plan().parameters().sigma_own;
                let covariance = covariance(&law.deviations, own, 0.0, session.noise_graph());
                law.factor = factor(&covariance);
            },
        ),
        ("contributions without D", |_, law| {
            law.deviations.iter_mut().for_each(|row| row.fill(0.0));
            law.weigh();
        }),
        ("the stream of t once more for d", |_, law| {
            law.normals[0] = Term::new(law.sum.key().clone(), 1.0);
        }),
        ("d without the factor s", |session, law| {
            law.factor /= session.peers() as f64;
        }),
        ("t with a factor s for its root", |session, law| {
            let scale = law.sum.scale() * (session.peers() as f64).sqrt();
            law.sum = Term::new(law.sum.key().clone(), scale);
        }),
        ("the communication graph's Laplacian", |session, law| {
            let parameters = session.plan().parameters();
            let (own, pairwise) = (parameters.sigma_own, parameters.sigma_pairwise);
            law.factor = factor(&covariance(&law.deviations, own, pairwise, session.graph()));
        }),
    ];
    let case = &cases()[4];
    let simulated = all_simulated(case);
    for (name, change) in changes {
        let worst = worst_z(&simulated, &all_drawn(case, &change));
        assert!(worst > 8.0, "{name}: |z| = {worst:.2} only");
    }
}

/// sup|F − G| of two samples.
fn kolmogorov_smirnov(a: &[f64], b: &[f64]) -> f64 {
    let below = |sample: &[f64], x: f64| {
        sample.iter().filter(|&&v| v <= x).count() as f64 / sample.len() as f64
    };
    let points = a.iter().chain(b);
    points.fold(0.0, |worst, &x| {
        worst.max((below(a, x) - below(b, x)).abs())
    })
}

/// The distance that two samples of `size` of one law exceed with probability 1e-5: Kolmogorov's 2e^{−2x²}, an upper
/// bound for the two-sample test of equal sizes beyond 458 and nearly one below (Wei & Dudley 2012).
fn critical_distance(size: usize) -> f64 {
    ((2.0_f64 / 1e-5).ln() / 2.0).sqrt() * (2.0 / size as f64).sqrt()
}

#[test]
fn errors_after_three_iterations_have_lockstep_s_law() {
    let graphs = graphs();
    let mut all = SparseRows::new(6);
    rows().iter().for_each(|rows| all.append(rows));
    let exact = top_eigenvectors(&all, 2).expect("converges").vectors;
    for (graph, rounds) in [(&graphs[0], 60), (&graphs[2], 60), (&graphs[3], 30)] {
        let case = session(
            graph,
            None,
            AveragingKind::Chebyshev,
            (3, rounds),
            (0.06, 0.3),
        );
        let error = |outcome: Outcome| subspace_distance(outcome.basis(), &exact);
        let simulated: Vec<f64> = (0..SEEDS)
            .map(|s| error(lockstep::run(&seeded(&case, s), &mut Silent).expect("runs")))
            .collect();
        let options = AnalyticOptions {
            probes: 3,
            contraction: 0.01,
        };
        let run_with = |seed: u64, own: f64| {
            let session = seeded(&case, 20_000 + seed);
            let mut parameters = session.plan().parameters().clone();
            parameters.sigma_own *= own;
            let plan = Arc::new(session.plan().with(parameters).expect("valid"));
            let session = Session::unchecked(SessionParts {
                plan,
                ..session.parts()
            });
            error(run(&session, options, &mut Silent).expect("runs"))
        };
        let drawn: Vec<f64> = (0..SEEDS).map(|seed| run_with(seed, 1.0)).collect();
        let limit = critical_distance(SEEDS as usize);
        let distance = kolmogorov_smirnov(&simulated, &drawn);
        assert!(distance < limit, "{distance} against {limit}");
        let halved: Vec<f64> = (0..SEEDS).map(|seed| run_with(seed, 0.5)).collect();
        let distance = kolmogorov_smirnov(&simulated, &halved);
        assert!(distance > limit, "half the noise: {distance} only");
    }
}

#[test]
fn one_seed_gives_one_outcome_whatever_the_number_of_threads() {
    let case = session(
        &graphs()[3],
        None,
        AveragingKind::Chebyshev,
        (3, 20),
        (0.05, 0.3),
    );
    let options = AnalyticOptions {
        probes: 5,
        contraction: 0.1,
    };
    let on = |threads: usize, seed: u64| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let session = seeded(&case, seed);
        pool.expect("threads")
            .install(|| run(&session, options, &mut Silent))
            .expect("runs")
    };
    assert_eq!(on(1, 5), on(3, 5));
    assert_ne!(on(1, 5).basis(), on(1, 6).basis());
}

#[test]
fn without_noise_the_run_is_lockstep_s() {
    for graph in graphs() {
        let case = session(&graph, None, AveragingKind::Chebyshev, (1, 3), (0.0, 0.0));
        let options = AnalyticOptions {
            probes: 2,
            contraction: 1.0,
        };
        let ours = run(&case, options, &mut Silent).expect("runs");
        let theirs = lockstep::run(&case, &mut Silent).expect("runs");
        assert_eq!(ours.communication, theirs.communication);
        let (a, b) = (&ours.records[0], &theirs.records[0]);
        let mut gap = (*a.sum).clone();
        gap.add_scaled(-1.0, &b.sum);
        assert!(gap.norm() < 1e-13 * b.sum.norm());
        let (p, q) = (a.consensus.expect("probes"), b.consensus.expect("peers"));
        assert!((p.initial_spread - q.initial_spread).abs() < 1e-12 * q.initial_spread);
        assert!(p.disagreement <= q.disagreement * (1.0 + 1e-12));
    }
}

/// The spread's mean square: 200 runs of 12 · 12 coordinates, 4 % at most besides 5 standard deviations.
#[test]
fn the_initial_spread_is_the_root_mean_square_of_lockstep_s() {
    for case in cases() {
        let options = AnalyticOptions {
            probes: 1,
            contraction: 1.0,
        };
        let absolute = |outcome: &Outcome| {
            let record = &outcome.records[0];
            record.consensus.expect("peers").initial_spread * record.totals.published.norm()
        };
        let expected = absolute(&run(&case, options, &mut Silent).expect("runs"));
        let squares = (0..200).map(|seed| {
            absolute(&lockstep::run(&seeded(&case, seed), &mut Silent).expect("runs")).powi(2)
        });
        let found = (squares.sum::<f64>() / 200.0).sqrt();
        assert!((found / expected - 1.0).abs() < 0.04, "{found} {expected}");
    }
}

#[test]
fn an_algorithm_that_releases_no_product_is_refused() {
    let case = cases().remove(0);
    let items = case.plan().program().items;
    let case = running(&case, Covariance::new(items, 2).expect("valid"));
    let options = AnalyticOptions {
        probes: 2,
        contraction: 1.0,
    };
    let released = Quantity::PackedTriangle;
    assert_eq!(
        run(&case, options, &mut Silent),
        Err(EngineError::NotProduct { released })
    );
}

#[test]
fn probes_are_distinct_ascending_and_begin_with_peer_0() {
    for (count, peers) in [
        (1, 1),
        (8, 8),
        (8, 9),
        (64, 71_567),
        (500, 100),
        (3, 2),
        (0, 5),
    ] {
        let chosen = probes(count, peers);
        assert_eq!(chosen.len(), count.clamp(1, peers.min(64)));
        assert_eq!(chosen[0], PeerIndex(0));
        assert!(chosen.windows(2).all(|two| two[0] < two[1]));
        assert!(chosen.iter().all(|probe| probe.index() < peers));
    }
}

#[test]
fn the_engine_s_streams_are_its_own() {
    let session = session(
        &graphs()[0],
        None,
        AveragingKind::Linear,
        (1, 3),
        (0.1, 0.1),
    );
    let law = Law::of(&session, &probes(PROBES, 12));
    let mut keys = vec![law.sum.key().clone(), session.curator_noise().key().clone()];
    keys.extend(law.normals.iter().map(|term| term.key().clone()));
    let noise = session.planned_noise();
    for u in 0..12 {
        keys.push(noise.own(PeerIndex(u)).key().clone());
        let (lower, upper) = (u.min((u + 1) % 12), u.max((u + 1) % 12));
        keys.push(
            noise
                .pair(PeerIndex(lower), PeerIndex(upper))
                .0
                .key()
                .clone(),
        );
    }
    for (i, key) in keys.iter().enumerate() {
        assert!(!keys[..i].contains(key), "stream {i} is used twice");
    }
}

/// Sums of 12 inputs of size 1, added up in two orders: below 1e-12.
#[test]
fn probes_of_passed_mass_deviate_as_peers_do() {
    let identity: Vec<f64> = (0..144).map(|i| f64::from(i % 13 == 0)).collect();
    for graph in graphs() {
        for kind in AveragingKind::all().filter(|kind| kind.passes_mass()) {
            let session = session_of(&graph, crate::engine::testing::rows(), 2, (1, 7), kind, 5);
            let Form::Passing(passing) = session.schedule().form() else {
                panic!("mass is passed");
            };
            let shares = lockstep::Shares::new(&graph, 7, passing);
            let rounds = lockstep::Rounds {
                exchange: lockstep::Exchange::Passing(&shares, None),
                factor: 12.0,
                watch: false,
                values: crate::protocol::Values::F64,
            };
            let mut averaged = lockstep::Averaged::default();
            let gossip = lockstep::Gossip::new(&graph, session.mixing());
            gossip.average(rounds, (12, &identity), &mut averaged);
            let mut found = vec![0.0; 144];
            averaged.copy_peers(0, found.chunks_exact_mut(12));
            let peers: Vec<PeerIndex> = (0..12).map(PeerIndex).collect();
            let rows = deviation::rows(&session, session.schedule(), &peers);
            for (row, sums) in rows.iter().zip(found.chunks_exact(12)) {
                for (deviation, sum) in row.iter().zip(sums) {
                    assert!((deviation + 1.0 - sum).abs() < 1e-12, "{kind:?}");
                }
            }
            // On a complete graph one round of push-sum is the mean.
            let exact = kind == AveragingKind::PushSum && graph.edges() == 66;
            let apart = rows
                .iter()
                .flatten()
                .any(|deviation| deviation.abs() > 1e-3);
            assert_eq!(apart, !exact);
        }
    }
}
