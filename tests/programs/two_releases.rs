//! Two releases per iteration, of which the second looks at everything released before: products, and how large A is on the
//! span of all products so far.

use std::ops::Range;
use std::sync::Arc;

use undertone::algorithm::{
    Algorithm, BlockSpec, Form, History, LocalData, Program, PublicState, ReleaseSpec,
};
use undertone::engine::{Observer, Session, Silent, Transcript, lockstep};
use undertone::linalg::{Block, NotFullRank, SparseRows, orthonormalise};
use undertone::privacy::{Adjacency, Public, Rule, SensitivityRule, SensitivitySpec, Statistic};
use undertone::protocol::averaging::AveragingKind;
use undertone::protocol::kernel;
use undertone::vocabulary::{Iteration, Quantity, ReleaseId};

use super::{ITEMS, PEERS, Setting, VICTIM, conforms, covariance_of_honest, local, users};

const COLUMNS: usize = 2;
const ITERATIONS: u32 = 2;
const RAYLEIGH: Quantity = Quantity::Own("the Rayleigh matrix of the history");

/// In iteration l, with Q the orthonormal factor of Y_1 + … + Y_l: releases Y_l ≈ A X, then M_l ≈ Qᵀ A Q; goes on with X = Q.
/// A product spends three times the budget of a Rayleigh matrix.
#[derive(Debug)]
struct Alternating;

/// A user there or not changes Qᵀ A Q by (r̂Q)ᵀ(r̂Q), whose norm is ‖r̂Q‖² ≤ ‖r̂‖² ≤ 1 for orthonormal Q.
#[derive(Debug)]
struct Rayleigh;

impl Rule for Rayleigh {
    const ADJACENCY: Adjacency = Adjacency::User;
    const QUANTITY: Quantity = RAYLEIGH;

    fn statistic(_: &Public) -> Statistic {
        Statistic::None
    }

    fn bound(_: &Public, _: f64) -> f64 {
        1.0
    }
}

/// Q of the sum of all products so far.
fn direction(history: History<'_>) -> Block {
    let mut sum = Block::zeros(ITEMS, COLUMNS);
    let products = history.past.iter().filter(|one| one.release.0 % 2 == 1);
    products.for_each(|one| sum.add_scaled(1.0, &one.sum));
    orthonormalise(&sum).expect("noisy sums have full rank")
}

impl Algorithm for Alternating {
    fn program(&self) -> Program {
        let releases = (1..=ITERATIONS).flat_map(|l| {
            let mut product = ReleaseSpec::sum(l, Quantity::Product, (ITEMS, COLUMNS), COLUMNS);
            product.share = 3.0;
            let block = BlockSpec {
                quantity: RAYLEIGH,
                shape: (COLUMNS, COLUMNS),
                columns: COLUMNS,
                weight: 1.0,
            };
            let rayleigh = ReleaseSpec {
                iteration: Iteration(l),
                form: Form::Sum,
                blocks: vec![block],
                agreement: None,
                may_end_before: false,
                ceiling: None,
                batch: None,
                share: 1.0,
            };
            [product, rayleigh]
        });
        Program::of("alternating", ITEMS, COLUMNS, releases.collect())
            .with_setting("columns", COLUMNS as f64)
    }

    fn prepare(&self, rows: &SparseRows, history: History<'_>) -> Vec<f64> {
        if history.release.0 % 2 == 1 {
            rows.project(history.query, COLUMNS)
        } else {
            rows.project(direction(history).values(), COLUMNS)
        }
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
            rows.add_back_projection(prepared, COLUMNS, range, out);
            return;
        }
        for (coordinate, out) in range.zip(out) {
            let (i, j) = (coordinate / COLUMNS, coordinate % COLUMNS);
            for row in prepared.chunks_exact(COLUMNS) {
                *out += row[i] * row[j];
            }
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
            next.query = Arc::new(direction(next.history()));
        }
        Ok(next)
    }

    fn estimate(&self, state: &PublicState) -> Arc<Block> {
        Arc::clone(&state.query)
    }
}

/// An algorithm of two releases per iteration.
pub(crate) fn alternating() -> Arc<dyn Algorithm> {
    Arc::new(Alternating)
}

/// What one user changes in each of them.
pub(crate) fn bounds_of_alternating() -> SensitivitySpec {
    SensitivitySpec::new(Adjacency::User, SensitivityRule::Exact, 1, None).with_rule::<Rayleigh>()
}

fn setting(sigmas: [f64; 3]) -> Setting {
    Setting {
        sensitivity: bounds_of_alternating(),
        averaging: AveragingKind::Tree,
        sigmas,
    }
}

const SIGMAS: [f64; 3] = [1.1, 2.5, 0.0];

#[test]
fn all_engines_give_equal_bits() {
    let algorithm: Arc<dyn Algorithm> = Arc::new(Alternating);
    conforms(&setting(SIGMAS), &algorithm, &local(users(true)));
    let session = setting(SIGMAS).session(algorithm, &local(users(true)), 3);
    let outcome = lockstep::run(&session, &mut Silent).expect("runs");
    let places: Vec<(u32, u32)> = outcome
        .records
        .iter()
        .map(|record| (record.release.0, record.iteration.0))
        .collect();
    assert_eq!(places, [(1, 1), (2, 1), (3, 2), (4, 2)]);
}

#[test]
fn shares_of_the_budget_become_noise_factors_that_cost_as_much_as_even_ones() {
    let session = setting(SIGMAS).session(Arc::new(Alternating), &local(users(true)), 3);
    let factors: Vec<f64> = session
        .plan()
        .releases()
        .iter()
        .map(|one| one.factor())
        .collect();
    let cost: f64 = factors.iter().map(|f| 1.0 / (f * f)).sum();
    assert!(
        (cost - session.plan().charge()).abs() < 1e-12,
        "{factors:?}"
    );
    assert!(((factors[1] / factors[0]).powi(2) - 3.0).abs() < 1e-12);
}

/// The log-likelihood ratio of what everybody published under two worlds, for an adversary that is `coalition`: the honest
/// inputs are Gaussian given everything published before, with the covariance of the noise that the coalition does not know.
struct Ratio<'a> {
    session: &'a Session,
    worlds: [Vec<LocalData>; 2],
    coalition: Vec<u32>,
    /// ln p(world 1)/p(world 0) of the run that is watched.
    log: f64,
    /// The squared distance of the two means, in units of the noise: μ² of this run.
    loss: f64,
}

impl Observer for Ratio<'_> {
    fn wants_transcript(&self) -> bool {
        true
    }

    fn transcript(&mut self, transcript: Transcript<'_>) {
        let plan = self.session.plan();
        let planned = plan.release(transcript.release).expect("planned");
        let (honest, covariance) = covariance_of_honest(SIGMAS, &self.coalition);
        let inverse = covariance.try_inverse().expect("own noise everywhere");
        let values = planned.values();
        let mean = |world: usize, u: usize| {
            let (data, state) = (&self.worlds[world][u], &transcript.states[u]);
            let rows = kernel::contributing(planned, data);
            let terms = transcript.terms;
            kernel::contribution(plan, planned, rows, state.history(), terms).into_values()
        };
        let means: Vec<[Vec<f64>; 2]> = honest.iter().map(|&u| [mean(0, u), mean(1, u)]).collect();
        // What the coalition adds with honest peers it knows, and subtracts.
        let known: Vec<Vec<f64>> = honest
            .iter()
            .map(|&u| {
                let mut known = vec![0.0; values];
                for &v in super::graph().neighbours(u) {
                    if self.coalition.contains(&v) {
                        let peer = undertone::vocabulary::PeerIndex::from_index(u);
                        let partner = undertone::vocabulary::PeerIndex(v);
                        let term = self.session.planned_noise().shared(peer, partner);
                        term.add_to(transcript.release, transcript.terms.scale, &mut known);
                    }
                }
                known
            })
            .collect();
        let inputs = transcript.inputs.reals().expect("reals");
        for k in 0..values {
            let per = transcript.terms.scale;
            let of = |f: &dyn Fn(usize) -> f64| {
                nalgebra::DVector::from_fn(honest.len(), |i, _| f(i) / per)
            };
            let change = of(&|i| means[i][1][k] - means[i][0][k]);
            let seen = of(&|i| inputs[honest[i] * values + k] - known[i][k]);
            let middle = of(&|i| 0.5 * (means[i][0][k] + means[i][1][k]));
            let weighed = &inverse * &change;
            self.log += weighed.dot(&(seen - middle));
            self.loss += weighed.dot(&change);
        }
    }
}

/// Mean and variance of the log-likelihood ratio over runs in world `truth`, over μ² of each run; the planned noise is `SIGMAS`,
/// the drawn one `drawn`.
fn standardised(truth: usize, coalition: &[u32], drawn: [f64; 3], runs: u64) -> (f64, f64, f64) {
    let worlds = [users(false), users(true)].map(local);
    let (mut first, mut second, mut largest) = (0.0, 0.0, 0.0_f64);
    for seed in 0..runs {
        let session = setting(drawn).session(Arc::new(Alternating), &worlds[truth], seed);
        let mut ratio = Ratio {
            session: &session,
            worlds: worlds.clone(),
            coalition: coalition.to_vec(),
            log: 0.0,
            loss: 0.0,
        };
        lockstep::run(&session, &mut ratio).expect("runs");
        let sign = if truth == 1 { 0.5 } else { -0.5 };
        // N(±μ²/2, μ²) given the past, release by release: a standard normal.
        let normal = (ratio.log - sign * ratio.loss) / ratio.loss.sqrt();
        first += normal;
        second += normal * normal;
        largest = largest.max(ratio.loss);
    }
    let runs = runs as f64;
    (first / runs.sqrt(), second, largest)
}

/// v_u of the accountant's theory, by brute force: the entry of the victim in the inverse of the honest covariance.
fn loss_per_unit(coalition: &[u32]) -> f64 {
    let (honest, covariance) = covariance_of_honest(SIGMAS, coalition);
    let inverse = covariance.try_inverse().expect("own noise everywhere");
    let at = honest
        .iter()
        .position(|&u| u == VICTIM.index())
        .expect("honest");
    inverse[(at, at)]
}

/// The promise for a coalition: every release spends at most v_u/f², so the session v_u·Σ1/f². Every pair of worlds and every
/// history stays below it, and the worst one found comes close.
#[test]
fn the_account_is_the_brute_force_over_all_coalitions_of_one() {
    for coalition in (0..PEERS as u32).filter(|&peer| peer != VICTIM.0) {
        let session = setting(SIGMAS).session(Arc::new(Alternating), &local(users(true)), 0);
        let promised = loss_per_unit(&[coalition]) * session.plan().charge();
        let (_, _, largest) = standardised(1, &[coalition], SIGMAS, 20);
        assert!(
            largest <= promised * (1.0 + 1e-12),
            "{largest} > {promised}"
        );
        assert!(
            largest > 0.2 * promised,
            "{largest} of {promised}: the bound says nothing"
        );
    }
}

/// The audit: over 400 runs per world the best test of all sees exactly the Gaussian loss that is accounted for. The standardised
/// ratios are independent standard normals: their sum over √400 exceeds 5.5 by chance below 4e-8, and Σz² of 400 lies
/// outside 400 ± 5.5·√800 (about) below 1e-6.
#[test]
fn the_best_attacker_sees_what_is_accounted_for_and_would_see_less_noise() {
    let runs = 400;
    for truth in [0, 1] {
        let (mean, squares, _) = standardised(truth, &[1], SIGMAS, runs);
        assert!(mean.abs() < 5.5, "{truth}: {mean}");
        assert!(
            (squares / runs as f64 - 1.0).abs() < 0.39,
            "{truth}: {squares}"
        );
    }
    // Own noise of two thirds the size: the same statistic shows it.
    let (_, squares, _) = standardised(0, &[1], [0.7 * SIGMAS[0], 0.7 * SIGMAS[1], 0.0], runs);
    assert!(
        squares / runs as f64 > 0.0 && (squares / runs as f64 - 1.0).abs() > 0.39,
        "{squares}"
    );
}
