//! Is this decentralised run equal to central differential privacy?
//!
//! Six kinds of check over repeated runs with independent seeds:
//!
//! | | statement | how |
//! | --- | --- | --- |
//! | algebra | noise is scaled by the Δ of X^{l−1}; published inputs sum to Σ local products + Σ own noise; each is local product + planned noise | recomputed from the plan, not read from the run |
//! | peers | what all peers publish has the joint law N(0, σ_η² I + σ_Δ² L), L the Laplacian of the noise graph, independent across coordinates, iterations and runs | whitening, χ², Student's t, see `peers/` |
//! | law | the noise in the sum is N(0, σ²), independent across coordinates, iterations and runs | Kolmogorov–Smirnov, χ², correlations |
//! | record | leaving a row out moves no block of its peer's contribution by more than the bound that noise is scaled by | up to 64 rows of the run, at every release |
//! | utility | subspace errors are those of a curator with the same noise | Wilcoxon–Mann–Whitney |
//! | spent | every view that the plan promises costs at most the target ε | the accountant |
//!
//! The law of the sum is tested on what a peer computes (its estimate of the sum minus the true sum of local
//! products), so noise that is wrong and averaging that is too short both show. Pairwise noise cancels there; that it is
//! there, of the planned size, fresh and in the right places shows in what every peer publishes.
//!
//! Where sums are integers mod 2^k, the algebra is one of equality: the decentralised sum **is** the curator's with the same shares, to the
//! last bit, and every peer's message is its contribution plus its planned noise and masks, exactly. There is no joint law of Gaussians to
//! test; that own noise has its law and that what is published is uniform takes its place (`peers/uniform.rs`).
//!
//! Where noise is Laplace, the sum is held against the law of a sum of such shares (`laplace.rs`), and the curator is one with the shares of
//! another seed. Where it is Wishart, numbers of the sum are held against theirs (`wishart.rs`).
//!
//! A correct run fails with probability at most the significance asked for, over the whole table: every p-value is
//! held against it divided by their number (Bonferroni).

mod checks;
mod error;
mod laplace;
mod pair;
pub(in crate::assess) mod peers;
mod record;
pub(in crate::assess) mod statistics;
mod table;
mod wishart;

#[cfg(test)]
mod tests;

pub use error::VerifyError;
pub use table::{Check, Verification};

use crate::engine::central::SumNoise;
use crate::engine::{
    EngineError, Observer, Outcome, ReleaseRecord, Session, Silent, Simulation, central,
};
use crate::linalg::{Block, subspace_distance, top_eigenvectors};
use crate::plan::Plan;
use crate::privacy::AdversaryView;
use crate::protocol::{Steps, Terms, Values};
use crate::run::RunError;
use crate::scenario::{Experiment, memory};
use crate::vocabulary::{PeerIndex, ReleaseId};
use checks::Samples;
use laplace::SumLaw;
use peers::{PeerLaw, largest_term};
use record::RowMoves;
use wishart::MatrixLaw;

/// How thorough to be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VerifyOptions {
    /// Repeated runs with independent seeds.
    pub runs: u32,
    /// Probability at most that a correct run fails: a check fails if its p-value is below this divided by the number
    /// of p-values in the table (Bonferroni).
    pub significance: f64,
}

impl Default for VerifyOptions {
    fn default() -> Self {
        Self {
            runs: 20,
            significance: 1e-3,
        }
    }
}

/// What can be verified: rows in memory, and experiment files.
pub trait Subject {
    /// What makes a session of every seed.
    fn simulation(&self) -> Simulation;

    /// Refuses what does not fit into the memory that is free.
    ///
    /// # Errors
    /// [`VerifyError::Memory`].
    fn check_memory(&self) -> Result<(), VerifyError> {
        Ok(())
    }

    /// What is left out of its runs, if anything is.
    fn left_out(&self) -> Option<&'static str> {
        None
    }
}

impl Subject for Simulation {
    fn simulation(&self) -> Simulation {
        self.clone()
    }
}

impl Subject for Experiment {
    fn simulation(&self) -> Simulation {
        self.simulation()
    }

    fn check_memory(&self) -> Result<(), VerifyError> {
        memory::check_verify(self).map_err(|error| VerifyError::Memory(Box::new(error)))
    }

    fn left_out(&self) -> Option<&'static str> {
        self.config().faults.as_ref().map(|_| {
            "everything above is of runs in which nothing goes wrong: where something does, others take part in each sum"
        })
    }
}

/// Verifies an experiment on the engine it names, with nothing of its `[faults]`: that a run in which something goes wrong is the same again, and what it cost, is
/// for the command `undertone verify` to check.
///
/// For an integration test of your own rows, graph or algorithm build a [`Simulation`], of a file on your own graph an experiment with
/// [`Experiment::on_topology`], and assert [`Verification::passed`].
///
/// # Errors
/// [`VerifyError`] if a run fails, the significance is no probability, or if what all peers publish in one iteration does not fit into the memory that is free.
///
/// # Cost
/// `runs` runs of the engine and as many of the curator; where peers publish, also what the tests of their joint law
/// cost, which is less than the runs (see `peers/`), and two arrays of what all peers hold.
pub fn verify(
    subject: &impl Subject,
    options: VerifyOptions,
    observer: &mut dyn Observer,
) -> Result<Verification, VerifyError> {
    verify_sessions(subject, options, &|session| session, observer)
}

/// The same with a chance to change each session before it runs: `testing` breaks it on purpose.
pub(crate) fn verify_sessions(
    subject: &impl Subject,
    options: VerifyOptions,
    prepare: &dyn Fn(Session) -> Session,
    observer: &mut dyn Observer,
) -> Result<Verification, VerifyError> {
    let (mut table, _) = unsettled(subject, options, prepare, observer)?;
    checks::settle(&mut table, options.significance);
    table.skipped.extend(subject.left_out().map(str::to_owned));
    Ok(table)
}

/// Verifies a pilot and what was chosen by it, each on the engine that it names, and that their noise is independent: no stream of one is a
/// stream of the other, and the noise in their sums is not correlated. Without that, what two Gaussian mechanisms cost together is not the root
/// of the sum of their squares.
///
/// A correct pair fails with probability at most the significance asked for, over the whole table.
///
/// # Errors
/// As [`verify`].
pub fn verify_pair(
    pilot: &Experiment,
    chosen: &Experiment,
    options: VerifyOptions,
    observer: &mut dyn Observer,
) -> Result<Verification, VerifyError> {
    verify_pair_of_sessions(pilot, chosen, options, &|_, session| session, observer)
}

/// The same with a chance to change the sessions of what was chosen, given the session of the pilot in the same run; test builds break them on
/// purpose.
fn verify_pair_of_sessions(
    pilot: &Experiment,
    chosen: &Experiment,
    options: VerifyOptions,
    prepare: &dyn Fn(&Session, Session) -> Session,
    observer: &mut dyn Observer,
) -> Result<Verification, VerifyError> {
    let (mut table, first) = unsettled(pilot, options, &|session| session, observer)?;
    for check in &mut table.checks {
        check.name = format!("pilot: {}", check.name);
    }
    for skipped in &mut table.skipped {
        *skipped = format!("pilot: {skipped}");
    }
    // The run whose session is prepared next: sessions are prepared once each, in order.
    let run = std::cell::Cell::new(0);
    let before = |run: u32| pilot.session(&pilot.root_seed().repetition(run));
    let prepared = |session: Session| {
        let number = run.replace(run.get() + 1);
        prepare(&before(number), session)
    };
    let (later, second) = unsettled(chosen, options, &prepared, observer)?;
    table.checks.extend(later.checks);
    table.skipped.extend(later.skipped);
    let session = prepare(
        &before(0),
        chosen.session(&chosen.root_seed().repetition(0)),
    );
    table.checks.extend(pair::independent(
        (&before(0), &session),
        (&first, &second),
        pilot.is_private(),
    ));
    checks::settle(&mut table, options.significance);
    Ok(table)
}

/// The table before tests are held against anything, and the noise in the sums.
fn unsettled(
    subject: &impl Subject,
    options: VerifyOptions,
    prepare: &dyn Fn(Session) -> Session,
    observer: &mut dyn Observer,
) -> Result<(Verification, Samples), VerifyError> {
    let found = options.significance;
    if !(found > 0.0 && found < 1.0) {
        return Err(VerifyError::Significance { found });
    }
    // Laws are of runs in which everybody publishes: the noise and the plan are those of the runs in which something goes wrong.
    let simulation = subject.simulation();
    let (plan, root) = (simulation.plan(), simulation.root());
    let rank = plan.program().rank;
    // A pilot finds no basis to be compared.
    let exact = (rank > 0).then(|| top_eigenvectors(&simulation.own_session().all_rows(), rank));
    let runner = simulation.runner();
    // A curator draws the noise that the promise needs, also where the plan shares out more of it.
    let is_central = runner.seen() == AdversaryView::CuratorOutput;
    let total_sigma = match is_central {
        true => plan.sigma_central(),
        false => plan.guarantee().noise().sigma_sum(),
    };
    let sums = plan
        .sum_of_shapes()
        .map(|shapes| if is_central { 1.0 } else { shapes });
    let mut matrices = MatrixLaw::of(plan);
    let runs = options.runs.max(1);
    let mut samples = Samples::new(runs, plan.program().releases.len() as u32);
    let publishes = runner.draws_every_input() && runner.seen() == AdversaryView::Everything;
    if publishes {
        subject.check_memory()?;
    }
    let mut peers = publishes.then(|| PeerLaw::new(&simulation, runs));
    let no_rows = record::skipped(plan.promise().adjacency());
    let mut moves = RowMoves::default();
    let (mut algebra, mut least_ratio) = (0.0_f64, f64::INFINITY);
    let (mut ours, mut curated) = (Vec::new(), Vec::new());
    for run in 0..runs {
        let seed = root.repetition(run);
        let honest = simulation.session(&seed);
        let session = prepare(honest.clone());
        let outcome = match &mut peers {
            Some(peers) => {
                let moves = (run == 0 && no_rows.is_none()).then_some(&mut moves);
                runner.run(&session, &mut peers.watch(&honest, moves))
            }
            None => runner.run(&session, &mut Silent),
        };
        let outcome = outcome.map_err(RunError::from)?;
        let needed = needed_sensitivities(&honest, &outcome);
        for (record, needed) in outcome.records.iter().zip(&needed) {
            least_ratio = least_ratio.min(record.sensitivity / needed);
        }
        if total_sigma > 0.0 {
            let sigmas: Vec<f64> = (1..)
                .zip(&needed)
                .map(|(l, needed)| {
                    let id = ReleaseId(l);
                    let sigma = match is_central {
                        true => plan.sigma_of_curator(id),
                        false => plan.sigma_released(id),
                    };
                    needed * plan.noise_factor(id) * sigma
                })
                .collect();
            samples.push_run(&outcome, &sigmas, honest.plan());
            if let Some(matrices) = &mut matrices {
                matrices.push_run(&outcome, &sigmas, honest.plan());
            }
        }
        algebra = algebra.max(algebra_gap(plan, &honest, &outcome));
        if let Some(Ok(top)) = &exact {
            let (matched, noise) = match sums.is_some() || matrices.is_some() {
                // One Laplace number of that variance has another law than a sum of shares; the shares of another seed have the same.
                true => {
                    let other = root.repetition(runs + run);
                    (honest.clone().with_seed(other), SumNoise::Shares)
                }
                false => {
                    // Peers add no more to coordinates of their own than a curator does.
                    let matched = match plan.has_own_coordinates() {
                        true => plan.sigma_central(),
                        false => total_sigma,
                    };
                    let curated = honest.clone().with_curator_sigma(matched);
                    (curated, SumNoise::Curator)
                }
            };
            let matched = matched
                .map_err(EngineError::from)
                .map_err(RunError::engine(&honest))?;
            let curator =
                central::run(&matched, noise, &mut Silent).map_err(RunError::engine(&matched))?;
            ours.push(subspace_distance(outcome.basis(), &top.vectors));
            curated.push(subspace_distance(curator.basis(), &top.vectors));
        }
        observer.progress(u64::from(run) + 1, u64::from(runs));
    }
    let mut table = Verification {
        checks: vec![checks::sensitivity(least_ratio)],
        skipped: Vec::new(),
        runs,
    };
    if is_central {
        let reason = "algebra of the noise: a trusted curator has no published inputs";
        table.skipped.push(reason.to_owned());
    } else if !runner.draws_every_input() {
        let reason =
            "algebra of the noise: the analytic engine draws the noise of the sum as a whole";
        table.skipped.push(reason.to_owned());
    } else {
        table.checks.push(checks::algebra(algebra));
    }
    if let Some(peers) = &peers {
        table.checks.push(checks::algebra_of_peers(peers.gap()));
        table.checks.extend(peers.checks());
        match no_rows {
            Some(reason) => table.skipped.push(reason),
            None => table.checks.push(moves.check()),
        }
    } else {
        table.skipped.push(format!(
            "peers, record: with engine {} no peer publishes anything; lockstep, event and swarm do",
            runner.name()
        ));
    }
    if total_sigma > 0.0 {
        let each = !plan.guarantee().division().factors().is_empty();
        let law = sums.map(SumLaw::new);
        match &matrices {
            Some(matrices) => {
                table.checks.extend(matrices.checks());
                table.checks.extend(samples.of_repeated_runs());
                table.checks.extend(wishart::terms_left(plan));
            }
            None => table.checks.extend(samples.law(each, law.as_ref())),
        }
        if (law.is_some() || matrices.is_some()) && publishes {
            let reason = "peers: the joint law of noise that is not Gaussian has no test; every peer's message is held against its planned noise, number \
                          by number";
            table.skipped.push(reason.to_owned());
        }
        checks::spent(plan, &mut table);
    } else {
        table.skipped.push(
            "peers, law, spent: noise.scheme = \"none\" adds no noise and protects nobody"
                .to_owned(),
        );
    }
    match exact {
        None => table
            .skipped
            .push("utility: a pilot counts users and finds no basis".to_owned()),
        Some(Ok(_)) if is_central => table
            .skipped
            .push("utility: this run is the curator's own".to_owned()),
        Some(Ok(_)) => checks::utility(&ours, &curated, options.significance, &mut table),
        Some(Err(error)) => table.skipped.push(format!("utility: {error}")),
    }
    Ok((table, samples))
}

/// The sensitivity that each iteration's public query calls for, computed here and not read from the run.
fn needed_sensitivities(honest: &Session, outcome: &Outcome) -> Vec<f64> {
    let later = outcome.records.iter().skip(1).map(|record| &*record.query);
    let queries = std::iter::once(&**honest.start()).chain(later);
    let planned = honest.plan().releases().iter();
    queries
        .zip(planned)
        .map(|(query, planned)| planned.terms(planned.statistic().of(query)).sensitivity)
        .collect()
}

/// Whether Σ published = Σ local + Σ own noise as integers mod 2^k, and whether every peer's estimate is what that sum stands for. Own noise
/// and k are those of the untouched plan.
fn equal_in_steps(
    honest: &Session,
    (terms, steps): (&Terms, &Steps),
    record: &ReleaseRecord,
) -> bool {
    let Some(found) = &record.totals.steps else {
        return false;
    };
    let mut sum = found.local.clone();
    for u in 0..honest.peers() {
        let own = honest.planned_noise().own(PeerIndex::from_index(u));
        own.add_integers_to(record.release, &mut sum);
    }
    steps.reduce(&mut sum);
    let mut estimate: Vec<f64> = steps.to_reals(&sum).collect();
    terms.from_units(0..estimate.len(), &mut estimate);
    sum == found.published && estimate == record.sum.values()
}

/// The largest |Σ published − Σ local − Σ own noise| over iterations and coordinates, in units of what
/// rounding can explain. Own noise is drawn again from the untouched plan. Integers mod 2^k must be equal: infinite unless they are.
fn algebra_gap(plan: &Plan, honest: &Session, outcome: &Outcome) -> f64 {
    let noise = plan.guarantee().noise();
    let assignment = honest.planned_noise();
    let peers = honest.peers();
    let degree = honest.noise_graph().max_degree() as f64;
    let mut worst = 0.0_f64;
    for record in &outcome.records {
        if let Some(planned) = honest.plan().release(record.release)
            && let terms = planned.terms(record.statistic)
            && let Some(steps) = terms.steps()
        {
            if !equal_in_steps(honest, (&terms, steps), record) {
                return f64::INFINITY;
            }
            continue;
        }
        let mut expected = Block::zeros(record.sum.rows(), record.sum.columns());
        let scale = record.sensitivity * plan.noise_factor(record.release);
        let is_own = plan.is_own(record.release);
        let values = expected.values().len() / if is_own { peers } else { 1 };
        for u in 0..peers {
            let peer = PeerIndex::from_index(u);
            let (term, place) = match is_own {
                true => (assignment.coordinate(peer), u * values),
                false => (assignment.own(peer), 0),
            };
            let coordinates = &mut expected.values_mut()[place..place + values];
            term.add_to(record.release, scale, coordinates);
        }
        expected.add_scaled(1.0, &record.totals.local);
        // Each of s additions rounds values of at most a few standard deviations of one input.
        let largest = largest_term((plan, honest), record.release);
        let input = match is_own {
            true => scale * plan.sigma_central() + record.totals.local.max_entry().max(largest),
            false => {
                let own = plan.sigma_of_one(record.release);
                scale * (own + noise.sigma_pairwise() * degree.sqrt()) + largest
            }
        };
        let mut rounding = 16.0 * f64::EPSILON * peers as f64 * input;
        if honest.plan().values() == Values::F32 {
            // Before that every peer rounds what it publishes: errors of at most half a unit in the last place each, which add up as
            // independent ones do.
            rounding += 16.0 * f64::from(f32::EPSILON) * (peers as f64).sqrt() * input;
        }
        for (a, b) in record
            .totals
            .published
            .values()
            .iter()
            .zip(expected.values())
        {
            worst = worst.max((a - b).abs() / rounding);
        }
    }
    worst
}
