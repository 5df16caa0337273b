//! Runs the two worlds and reduces each transcript to what attackers look at.

use std::sync::Arc;

use rayon::prelude::*;

use super::attackers::{FEATURES, Features, Trials};
use super::canary::Canary;
use super::error::AuditError;
use super::finding::CanaryReport;
use super::reused::Reused;
use super::scaled::{SIZES, Scaled, weights};
use crate::algorithm::{PublicState, ReleaseSpec};
use crate::engine::noise::Assignment;
use crate::engine::{
    EngineError, Inputs, Observer, PeerRows, Session, Simulation, Transcript, lockstep,
};
use crate::linalg::Block;
use crate::noise::Term;
use crate::plan::Plan;
use crate::privacy::accountant;
use crate::protocol::{Terms, kernel};
use crate::vocabulary::{Named, PeerIndex, ReleaseId, Seed};

/// Trials between two reports of progress.
const BATCH: u32 = 128;

/// The two worlds and what the adversary knows.
pub(super) struct Game<'a> {
    simulation: &'a Simulation,
    canary: Canary,
    victim: usize,
    /// Whether a peer colludes.
    colludes: Vec<bool>,
    /// The sessions of both worlds, which trials run under seeds of their own: X⁰ is public and the same in all.
    worlds: [Session; 2],
    /// What every peer contributes first, in the world without the canary: the same in all trials.
    first: Vec<Block>,
    /// Σ_H⁻¹ e_u per unit sensitivity, 0 for colluders: the optimal weights of the honest residuals.
    weights: Vec<f64>,
    /// The same for pairwise noise of another size.
    scaled: Scaled,
    /// The same where every iteration adds the same pairwise noise: it then has L times the variance in their sum.
    reused: Vec<f64>,
    /// v_u = [Σ_H⁻¹]_uu.
    variance_factor: f64,
}

impl<'a> Game<'a> {
    /// The game of these sessions with the canary that `find` finds for their starting block.
    pub(super) fn new(
        simulation: &'a Simulation,
        victim: u32,
        coalition: &[u32],
        find: impl FnOnce(&Session) -> Result<(Canary, [PeerRows; 2]), AuditError>,
    ) -> Result<Self, AuditError> {
        let session = simulation.own_session();
        let start = Arc::clone(session.start());
        let plan = simulation.plan();
        let peers = plan.network().topology.graph().nodes();
        let (canary, worlds) = find(&session)?;
        let [without, with] = worlds.map(|rows| {
            let world = session.clone().with_rows(Arc::new(rows));
            world.map_err(|error| named(simulation, error.into()))
        });
        let worlds = [without?, with?];
        let begun = PublicState::new(start);
        let terms = first_terms(&worlds[0], &begun);
        let first = (0..peers)
            .into_par_iter()
            .map(|peer| contributed(&worlds[0], peer, &begun, &terms))
            .collect();
        let mut colludes = vec![false; peers];
        coalition
            .iter()
            .for_each(|&peer| colludes[peer as usize] = true);
        let optimal = |factor| weights(plan, victim as usize, &colludes, factor);
        let planned = optimal(1.0)?;
        let reused = optimal(widest_releases(&plan.program().releases))?;
        let scaled = Scaled::new(plan, victim as usize, &colludes)?;
        let variance_factor = variance_factor(plan, victim, coalition)?;
        let victim = victim as usize;
        Ok(Self {
            simulation,
            canary,
            victim,
            colludes,
            worlds,
            first,
            weights: planned,
            scaled,
            reused,
            variance_factor,
        })
    }

    /// The honest peers.
    pub(super) fn honest(&self) -> impl Iterator<Item = usize> {
        (0..self.colludes.len()).filter(|&v| !self.colludes[v])
    }

    /// The optimal weight of an honest peer's residual.
    pub(super) fn weight(&self, v: usize) -> f64 {
        self.weights[v]
    }

    /// The victim.
    pub(super) fn victim(&self) -> usize {
        self.victim
    }

    /// μ certified for this victim and coalition: every iteration is scaled to its own sensitivity
    /// and noise factor.
    pub(super) fn certified_mu(&self) -> f64 {
        let cost = self.simulation.plan().guarantee().division().cost();
        (cost * self.variance_factor).sqrt()
    }

    pub(super) fn report(&self) -> CanaryReport {
        let start = self.worlds[0].start();
        let begun = self.canary.begun(start);
        let mut change = self.canary.change(self.simulation, &begun);
        let release = ReleaseId(begun.released).next();
        let planned = self.worlds[0].plan().release(release);
        let planned = planned.expect("a row is of a batch of the program");
        let terms = planned.terms(planned.statistic().of(start));
        terms.to_units(0..change.values().len(), change.values_mut());
        let [without, with] = self.canary.entries();
        CanaryReport {
            without,
            with,
            tightness: change.norm() / terms.sensitivity,
        }
    }

    /// `trials` runs in each world, with independent noise.
    pub(super) fn play(
        &self,
        trials: u32,
        prepare: &(dyn Fn(Session) -> Session + Sync),
        observer: &mut dyn Observer,
    ) -> Result<Trials, AuditError> {
        let root = self.simulation.root();
        let total = 2 * u64::from(trials);
        let mut worlds = [Vec::new(), Vec::new()];
        for (world, features) in worlds.iter_mut().enumerate() {
            for batch in 0..trials.div_ceil(BATCH) {
                let range = batch * BATCH..trials.min((batch + 1) * BATCH);
                let played: Result<Vec<Features>, AuditError> = range
                    .into_par_iter()
                    .map(|trial| {
                        self.trial(world, &root.repetition(2 * trial + world as u32), prepare)
                    })
                    .collect();
                features.extend(played?);
                let before = world as u64 * u64::from(trials);
                observer.progress(before + features.len() as u64, total);
            }
        }
        Ok(Trials { worlds })
    }

    fn trial(
        &self,
        world: usize,
        seed: &Seed,
        prepare: &(dyn Fn(Session) -> Session + Sync),
    ) -> Result<Features, AuditError> {
        let session = self.worlds[world]
            .clone()
            .with_seed(seed.clone())
            .map_err(|error| named(self.simulation, error.into()))?;
        let planned = session.planned_noise().clone();
        let session = prepare(session);
        let mut adversary = Adversary {
            game: self,
            planned,
            features: Features::default(),
            last: None,
            last_in_steps: None,
            reused: Reused::default(),
        };
        lockstep::run(&session, &mut adversary).map_err(|error| named(self.simulation, error))?;
        Ok(adversary.features)
    }
}

/// An engine's error in the words of the communication graph: peers by their names.
fn named(simulation: &Simulation, error: EngineError) -> AuditError {
    let names = simulation.plan().network().topology.graph().names();
    AuditError::Engine(Named::new(error, names))
}

/// How many releases are as large as the largest one.
fn widest_releases(releases: &[ReleaseSpec]) -> f64 {
    let most = releases.iter().map(ReleaseSpec::values).max();
    let widest = releases.iter().filter(|one| Some(one.values()) == most);
    widest.count() as f64
}

/// How the noise of the first release is scaled: the start is public and the same in all trials.
fn first_terms(session: &Session, begun: &PublicState) -> Terms {
    let planned = session.plan().release(ReleaseId(1));
    let planned = planned.expect("a program has a release");
    planned.terms(planned.statistic().of(&begun.query))
}

/// Sees one run and keeps what the attackers use.
pub(super) struct Adversary<'a> {
    pub(super) game: &'a Game<'a>,
    /// The noise of the plan under this run's seed: what colluders know of theirs.
    planned: Assignment,
    features: Features,
    /// The victim's residual of the iteration before, per unit sensitivity.
    last: Option<Vec<f64>>,
    /// The same in whole steps, mod 2⁶⁴.
    pub(super) last_in_steps: Option<Vec<u64>>,
    reused: Reused,
}

impl Observer for Adversary<'_> {
    fn wants_transcript(&self) -> bool {
        true
    }

    fn transcript(&mut self, transcript: Transcript<'_>) {
        let game = self.game;
        let scale = 1.0 / transcript.terms.scale;
        let mut change = game
            .canary
            .change(game.simulation, &transcript.states[game.victim]);
        let all = 0..change.values().len();
        transcript.terms.to_units(all, change.values_mut());
        let size = change.norm();
        let Seen {
            combined,
            in_sum,
            by_size,
            victims,
            difference,
            spread,
        } = match (transcript.inputs, transcript.terms.steps()) {
            (Inputs::Reals(inputs), _) => self.seen(&transcript, inputs),
            (Inputs::Residues(inputs), Some(steps)) => {
                self.seen_in_steps(&transcript, inputs, steps)
            }
            // Residues have a grid.
            (Inputs::Residues(_), None) => return,
        };
        let along = |x: &[f64]| {
            x.iter()
                .zip(change.values())
                .map(|(x, c)| x * c)
                .sum::<f64>()
                * scale
        };
        let features = &mut self.features.values;
        // The likelihood ratio of the plan's two Gaussians, optimal if the implementation is the plan.
        let loss = size * scale * size * scale * game.variance_factor;
        features[0] += along(&combined) - 0.5 * loss;
        // The victim alone, as if nothing else had been published.
        features[1] += along(&victims) / (size * scale).max(f64::MIN_POSITIVE);
        // The size of what own noise is left: leaks through the scale of the noise.
        features[2] += combined.iter().map(|r| r * r).sum::<f64>();
        // A stream used twice cancels in differences.
        if let Some(difference) = difference {
            features[3] += along(&difference) / (size * scale).max(f64::MIN_POSITIVE);
        }
        // Pairwise noise of the size that the others' residuals show.
        let found = game.scaled.size(spread);
        let weight = game.scaled.of(game.victim)[found];
        features[4] += along(&by_size[found]) - 0.5 * size * scale * size * scale * weight;
        // Pairwise noise that is the same in every iteration; sums of releases of different sizes mean nothing.
        let plan = game.simulation.plan();
        let widest = plan.program().releases.iter().map(ReleaseSpec::values);
        if Some(change.values().len()) == widest.max() {
            let moved: Vec<f64> = change.values().iter().map(|c| c * scale).collect();
            self.reused.add(&moved, &victims, &in_sum);
            let own = plan.guarantee().noise().sigma_own().powi(2);
            features[5] = self.reused.ratio(own, game.reused[game.victim]);
        }
        self.features.loss += loss;
    }
}

/// What one release shows, per unit of noise.
pub(super) struct Seen {
    /// Σ weight · residual, with the optimal weights for the planned noise.
    pub(super) combined: Vec<f64>,
    /// The same for pairwise noise that is the same in every iteration.
    pub(super) in_sum: Vec<f64>,
    /// The same for pairwise noise of other sizes.
    pub(super) by_size: [Vec<f64>; SIZES.len()],
    /// The victim's residual alone.
    pub(super) victims: Vec<f64>,
    /// The victim's residual less that of the iteration before.
    pub(super) difference: Option<Vec<f64>>,
    /// Mean square of the other honest residuals.
    pub(super) spread: f64,
}

impl Adversary<'_> {
    /// What real numbers show.
    fn seen(&mut self, transcript: &Transcript<'_>, inputs: &[f64]) -> Seen {
        let game = self.game;
        let values = inputs.len() / game.colludes.len();
        let zeros = || vec![0.0; values];
        let (mut combined, mut in_sum) = (zeros(), zeros());
        let mut by_size = SIZES.map(|_| zeros());
        let (mut squares, mut count) = (0.0, 0_usize);
        let mut victims = Vec::new();
        for v in game.honest() {
            let residual = self.left(transcript, inputs, v);
            for (sum, r) in combined.iter_mut().zip(&residual) {
                *sum += game.weights[v] * r;
            }
            for (sum, r) in in_sum.iter_mut().zip(&residual) {
                *sum += game.reused[v] * r;
            }
            for (sums, weight) in by_size.iter_mut().zip(game.scaled.of(v)) {
                for (sum, r) in sums.iter_mut().zip(&residual) {
                    *sum += weight * r;
                }
            }
            if v == game.victim {
                victims = residual;
            } else {
                squares += residual.iter().map(|r| r * r).sum::<f64>();
                count += residual.len();
            }
        }
        let last = self.last.replace(victims.clone());
        let difference = last.map(|last| victims.iter().zip(&last).map(|(a, b)| a - b).collect());
        Seen {
            combined,
            in_sum,
            by_size,
            victims,
            difference,
            spread: squares / count as f64,
        }
    }

    /// What an honest peer published minus what the adversary knows of it, per unit of noise: the local product (with the canary's world 0 at
    /// the victim) and pairwise noise shared with colluders.
    fn left(&self, transcript: &Transcript<'_>, inputs: &[f64], v: usize) -> Vec<f64> {
        let mut known = self.local(transcript, v);
        for shared in self.shared(v) {
            shared.add_to(transcript.release, transcript.terms.scale, &mut known);
        }
        let published = inputs[v * known.len()..].iter().zip(&known);
        let left = published.map(|(x, k)| (x - k) / transcript.terms.scale);
        left.collect()
    }

    /// What peer `v` contributes in the canary's world 0.
    pub(super) fn local(&self, transcript: &Transcript<'_>, v: usize) -> Vec<f64> {
        let game = self.game;
        let state = &transcript.states[v];
        let local = match state.released {
            0 => game.first[v].clone(),
            _ => contributed(&game.worlds[0], v, state, transcript.terms),
        };
        local.into_values()
    }

    /// The noise that peer `v` shares with colluders.
    pub(super) fn shared(&self, v: usize) -> impl Iterator<Item = Term> {
        let partners = self
            .game
            .simulation
            .plan()
            .network()
            .noise_topology
            .graph()
            .neighbours(v);
        let known = partners
            .iter()
            .filter(|&&w| self.game.colludes[w as usize] && self.planned.has_pairwise());
        let peer = PeerIndex::from_index(v);
        known.map(move |&w| self.planned.shared(peer, PeerIndex(w)))
    }
}

/// What peer `v` contributes in this state of its rows in the release's batch, without noise and as it is published.
fn contributed(session: &Session, v: usize, state: &PublicState, terms: &Terms) -> Block {
    let history = state.history();
    let planned = session.plan().release(history.release);
    let planned = planned.expect("a release of the program");
    let rows = session.rows().contributing(v, planned.spec().batch);
    kernel::contribution(session.plan(), planned, rows, history, terms)
}

const _: () = assert!(FEATURES == 6, "the adversary fills every feature");

/// v_u of the victim against the coalition, per unit sensitivity.
pub(super) fn variance_factor(
    plan: &Plan,
    victim: u32,
    coalition: &[u32],
) -> Result<f64, AuditError> {
    let noise = plan.guarantee().noise();
    if let Some(ring) = noise.ring() {
        let graph = plan.network().noise_topology.graph();
        let pieces = graph.components_without(coalition);
        let of_victim = pieces[victim as usize];
        let size = pieces.iter().filter(|piece| **piece == of_victim).count();
        return Ok(ring.factor(size) / noise.sigma_own().powi(2));
    }
    let factors = accountant::exact_variance_factors(
        plan.network().noise_topology.graph(),
        noise.sigma_own().powi(2),
        noise.sigma_pairwise().powi(2),
        coalition,
    )?;
    Ok(factors[victim as usize].expect("the victim is honest"))
}
