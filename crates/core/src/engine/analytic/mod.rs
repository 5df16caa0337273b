//! The estimates of a few probe peers, drawn from their exact joint law instead of simulated with all peers.
//!
//! Averaging and noise are linear and Gaussian. All rounds of a schedule multiply by one matrix P, for a recurrence a polynomial
//! P = p_K(W) of the mixing matrix W (symmetric, W1 = 1), and peer u's estimate of the sum is S_u = f Σ_v P_uv (c_v + n_v) with the
//! schedule's last factor f, which is s where P keeps the mean: c_v is peer v's contribution and n_v = Δ(σ_own g_v ± σ_pair g_vw …)
//! its noise. That needs no other peer's estimate.
//!
//! # Statement
//! Let D = fP − 11ᵀ with D1 = 0 (true where rows of P sum to s/f; other programs are refused), let L be the Laplacian of the noise graph and U the probes. Given the contributions,
//! S_u = Σ_v c_v + Σ_v D_uv c_v + t + d_u for u in U, where independently for every coordinate t ~ N(0, s σ_own² Δ²),
//! (d_u)_U ~ N(0, Δ² D_U (σ_own² I + σ_pair² L) D_Uᵀ), and t is independent of d.
//!
//! # Proof
//! S_u = Σ_v (1 + D_uv)(c_v + n_v). Put t = Σ_v n_v and d = D_U n. Both are linear in the independent normals, hence jointly
//! Gaussian with mean 0. The noise of an edge enters n with opposite signs at its ends, so Cov(n) = Δ²(σ_own² I + σ_pair² L):
//! that is Cov(d). Because L1 = 0, Var(t) = Δ² σ_own² 1ᵀ1, and Cov(t, d) = Δ² σ_own² 1ᵀ D_Uᵀ = 0 by D1 = 0. ∎
//!
//! D and the covariance of d are computed directly and never as a difference of nearly equal matrices: after a usual
//! number of rounds D is 1e-9 of 11ᵀ and such a difference would be rounding. Schemes without pairwise or without any
//! noise are the cases σ_pair = 0 and σ_own = σ_pair = 0.
//!
//! # What is exact and what is not
//! The joint law of the probes' estimates is exact if all peers contribute at one public state; in iteration 1 they do.
//! From iteration 2 on peer v of a real run contributes A_v X_v at its own X_v, while here all contribute at probe 0's X₀.
//! Every probe goes on from its own estimate. The agreed statistic is the largest of the probes, not of all peers.
//!
//! # Claim: the price of that
//! Let Ȳ be the exact sum of the iteration before, Q its orthonormal factor, σ its smallest singular value,
//! g ≥ (Σ_v ‖S_v − Ȳ‖_F²)^½ what averaging guarantees (contraction times spread; the spread's root mean square),
//! g₀ = ‖S₀ − Ȳ‖_F, λ ≥ λ₁(A), ρ ≥ max_v ‖R_v‖₂ and w = max_uv |1 + D_uv|. If g < σ, every probe's estimate moves by at most
//! w (√λ ρ √2 g/(σ − g) + λ √2 g₀/(σ − g₀)) + |δΔ|/Δ ‖N‖_F in Frobenius norm, where N is the noise in the estimate and δΔ
//! the largest change of Δ when the statistic changes by 2√2 g/(σ − g); without a statistic there is none. Divided by ‖Ȳ‖_F
//! of this iteration it is [`Consensus::approximation`]. It is what this iteration adds, given the states it began with, and
//! not what all iterations together add; and g is a root mean square over the noise, so it is no bound that holds surely.
//! An algorithm whose next query is not the orthonormal factor of the sum alone has none here.
//!
//! # Proof
//! For Y(τ) = Y + τE of full rank with QR factors Q, R: Q̇ = (I − QQᵀ)E R⁻¹ + QΩ with Ω skew and equal to QᵀER⁻¹ below the
//! diagonal, so ‖Q̇‖_F ≤ √2 ‖E‖_F/σ_min(Y(τ)) ≤ √2 ‖E‖_F/(σ − τ‖E‖_F); hence ‖Q(Y + E) − Q(Y)‖_F ≤ √2 ‖E‖_F/(σ − ‖E‖_F).
//! The estimate moves by Σ_v w_v A_v (X_v − Q) + Σ_v w_v A_v (Q − X₀) with w_v = 1 + D_uv. Stack R = (R_v): the first term is Rᵀ
//! times the stacked w_v R_v (X_v − Q), at most √λ w ρ (Σ_v ‖X_v − Q‖_F²)^½; the second is RᵀWR(Q − X₀), at most λ w ‖Q − X₀‖_F.
//! The statistics are largest norms of rows or entries, so they change by at most ‖X − X'‖_F. Both the largest over all peers
//! and the largest over the probes are within √2 g/(σ − g) of that of Q. The noise is Δ times normals that know no Δ. ∎
//!
//! # Source
//! Ours. Correlated noise as a Laplacian is the view of the accountant, too. QR under perturbation: G. W. Stewart 1977 (the constant √2 is
//! proved above).

mod contributions;
mod deviation;
mod law;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use rayon::prelude::*;

use super::course::{self, Current, Engine};
use super::outcome::ReleaseRecord;
use super::{Consensus, EngineError, Observer, Outcome, Session, Totals};
use crate::algorithm::{Form, PublicState, ReleaseSpec, RetainedState};
use crate::linalg::Block;
use crate::privacy::{Sensitivity, Statistic};
use crate::protocol::{PeerError, PlannedRelease, kernel};
use crate::vocabulary::{PeerIndex, Quantity};
use contributions::Contributions;
use law::Law;

/// The most probes a run may have: their covariance is dense.
pub(super) const MAX_PROBES: usize = 64;

/// The largest |Σ_v D_uv|/s that counts as 0: rounding of a schedule's weights.
const MOST_UNBALANCED: f64 = 1e-9;

/// What the analytic engine is asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct AnalyticOptions {
    /// Number of probe peers m, peer 0 and others evenly spaced: peer ⌊i·s/m⌋ for i < m. Clamped to 1..=min(s, 64).
    pub(super) probes: usize,
    /// The factor by which the plan's rounds shrink the spread between peers, for [`Consensus::approximation`].
    pub(super) contraction: f64,
}

/// The probe peers among `peers`.
///
/// They are different, ascending, and the first is peer 0.
fn probes(count: usize, peers: usize) -> Vec<PeerIndex> {
    let count = count.clamp(1, peers.clamp(1, MAX_PROBES));
    (0..count)
        .map(|i| PeerIndex::from_index(i * peers / count))
        .collect()
}

/// Runs the session for its probe peers alone.
///
/// # Errors
/// [`EngineError::NotProduct`] if the algorithm releases anything but A X, [`EngineError::Start`], [`EngineError::Noise`] and
/// [`EngineError::Schedule`] for a starting block, noise or averaging that is not the plan's, [`EngineError::Unbalanced`] if the
/// averaging does not return s times a common value, [`EngineError::Lossless`] if it is made for lost messages, [`EngineError::Turns`] if its turns deviate differently, [`EngineError::Peer`] with the first probe whose sum has no unique
/// basis or who would go on with a query that is not orthonormal.
pub(super) fn run(
    session: &Session,
    options: AnalyticOptions,
    observer: &mut dyn Observer,
) -> Result<Outcome, EngineError> {
    let law = Law::of(session, &probes(options.probes, session.peers()));
    run_law(session, &law, options.contraction, observer)
}

/// What the next iteration's approximation rests on.
#[derive(Clone, Copy, Debug)]
struct Agreement {
    /// ‖Ȳ‖_F.
    norm: f64,
    /// What averaging guarantees for all peers together, absolute: g.
    all: f64,
    /// ‖S₀ − Ȳ‖_F: g₀.
    first: f64,
    /// At most σ_min(Ȳ).
    smallest: f64,
}

/// How the noise of this iteration was scaled.
#[derive(Clone, Copy, Debug)]
struct Scaled {
    sensitivity: Sensitivity,
    /// The statistic Δ was taken at.
    statistic: f64,
    /// At least ‖N‖_F for every probe.
    noise: f64,
}

impl Scaled {
    /// The largest |δΔ|/Δ when the statistic changes by at most `by`.
    fn change(&self, by: f64) -> f64 {
        if self.sensitivity.statistic() == Statistic::None {
            return 0.0;
        }
        let used = self.sensitivity.bound(self.statistic);
        let above = self.sensitivity.bound((self.statistic + by).min(1.0));
        let below = (self.statistic - by).max(f64::MIN_POSITIVE);
        (above - used).max(used - self.sensitivity.bound(below)) / used
    }
}

/// Whether this is a sum of products A X over all rows, whose law is known.
pub(super) fn is_product(release: &ReleaseSpec) -> bool {
    let product = matches!(release.blocks.as_slice(), [only] if only.quantity == Quantity::Product);
    product && release.form == Form::Sum && release.batch.is_none()
}

fn run_law(
    session: &Session,
    law: &Law,
    contraction: f64,
    observer: &mut dyn Observer,
) -> Result<Outcome, EngineError> {
    for planned in session.plan().releases() {
        if !is_product(planned.spec()) {
            let released = planned.spec().blocks[0].quantity;
            return Err(EngineError::NotProduct { released });
        }
    }
    session.admit()?;
    if session.plan().parameters().ring.is_some() {
        return Err(EngineError::Integers);
    }
    if session.plan().parameters().distribution().is_pure() {
        return Err(EngineError::Laplace);
    }
    let loss = session.schedule().loss();
    if !loss.is_none() {
        let loss = loss.fraction();
        return Err(EngineError::Lossless { loss });
    }
    for (&peer, row) in law.probes.iter().zip(&law.deviations) {
        let found = row.iter().sum::<f64>() / session.peers() as f64;
        // The law below is that of D1 = 0; NaN is refused too.
        if found.is_nan() || found.abs() > MOST_UNBALANCED {
            return Err(EngineError::Unbalanced { peer, found });
        }
    }
    if let [first, others @ ..] = session.schedule().turns()
        && !others.is_empty()
    {
        let of = |turn| deviation::rows(session, turn, &law.probes);
        let first = of(first);
        if others.iter().any(|turn| of(turn) != first) {
            return Err(EngineError::Turns);
        }
    }
    let start = PublicState::new(Arc::clone(session.start()));
    let mut probes = Probes {
        session,
        law,
        contraction,
        contributions: Contributions::of(session.rows()),
        states: vec![start; law.probes.len()],
        before: None,
    };
    let records = course::run(session, &mut probes, observer)?;
    Ok(Outcome {
        communication: session
            .public()
            .communication(records.len(), probes.front().agreed.is_some()),
        records,
    })
}

/// The probe peers, and what all contribute.
struct Probes<'a> {
    session: &'a Session,
    law: &'a Law,
    contraction: f64,
    contributions: Contributions<'a>,
    states: Vec<PublicState>,
    before: Option<Agreement>,
}

impl Probes<'_> {
    /// How far a later release moves an estimate because not all contribute at one query.
    fn approximation(
        &self,
        current: Current<'_>,
        (published, local): (&Block, &Block),
        (deviations, without_noise): (&[Block], &[f64]),
    ) -> Option<f64> {
        if current.id.0 == 1 {
            return Some(0.0);
        }
        let agreement = self.before?;
        let mut noise = published.clone();
        noise.add_scaled(-1.0, local);
        let parts = deviations.iter().map(Block::norm).zip(without_noise);
        let scaled = Scaled {
            sensitivity: current.planned.bounds()[0],
            statistic: current.terms.statistic,
            noise: noise.norm() + parts.fold(0.0, |most, (a, b)| (a + b).max(most)),
        };
        let largest = self.law.largest_weight();
        approximation(agreement, &self.contributions, largest, scaled).map(|a| a / published.norm())
    }
}

impl Engine for Probes<'_> {
    fn front(&self) -> &PublicState {
        &self.states[0]
    }

    fn agree(&mut self, planned: &PlannedRelease) -> f64 {
        let algorithm = self.session.plan().algorithm();
        let proposals = self.states.iter().map(|x| planned.proposal(algorithm, x));
        // One that is not finite would have stopped its peer.
        let value = proposals.fold(f64::NEG_INFINITY, |most, proposal| {
            match proposal.is_finite() {
                true => most.max(proposal),
                false => f64::NAN,
            }
        });
        for state in &mut self.states {
            state.agreed = Some(value);
        }
        value
    }

    fn release(
        &mut self,
        current: Current<'_>,
        observer: &mut dyn Observer,
    ) -> Result<ReleaseRecord, EngineError> {
        let Current { id, planned, terms } = current;
        let (session, law) = (self.session, self.law);
        let plan = session.plan();
        let query = Arc::clone(&self.states[0].query);
        let gathered = self
            .contributions
            .gather(&query, law.weights(), law.probes.len() + 1);
        let (local, mut deviations) = (gathered.total, gathered.deviations);
        let mut published = local.clone();
        law.sum.add_to(id, terms.scale, published.values_mut());
        let without_noise: Vec<f64> = deviations.iter().map(Block::norm).collect();
        law.add_deviations(id, terms.scale, &mut deviations);
        let norm = published.norm();
        let worst = deviations.iter().map(Block::norm).fold(0.0, f64::max);
        let from_first = |deviation: &Block| {
            let mut apart = deviation.clone();
            apart.add_scaled(-1.0, &deviations[0]);
            apart.norm()
        };
        let apart = deviations.iter().map(from_first).fold(0.0, f64::max);
        let spread = law.spread(
            terms.scale,
            gathered.squares - local.norm().powi(2) / session.peers() as f64,
            published.values().len(),
        );
        let initial_spread = session.peers() as f64 * spread / norm;
        let sums: Vec<Block> = deviations
            .par_iter()
            .map(|deviation| {
                let mut sum = published.clone();
                sum.add_scaled(1.0, deviation);
                sum
            })
            .collect();
        let sigmas = terms.sigmas(plan.sigma_of_release(planned, terms.scale));
        let next: Vec<Result<(PublicState, Arc<Block>), PeerError>> = self
            .states
            .par_iter()
            .zip(sums)
            .zip(&law.probes)
            .map(|((state, sum), &peer)| {
                kernel::released(planned, terms, sum.into_values())
                    .and_then(|sum| Ok((kernel::advance(plan, state, &sum, &sigmas)?, sum)))
                    .map_err(|error| PeerError::at(peer, id, error))
            })
            .collect();
        let next = next.into_iter().collect::<Result<Vec<_>, _>>()?;
        let parts = (deviations.as_slice(), without_noise.as_slice());
        let approximation = self.approximation(current, (&published, &local), parts);
        let sum = Arc::clone(&next[0].1);
        self.states = next.into_iter().map(|(state, _)| state).collect();
        let first = deviations[0].norm();
        // The claim needs the next query to be the orthonormal factor of the sum.
        let in_place = plan.program().state == RetainedState::Query;
        self.before = in_place.then(|| Agreement {
            norm,
            all: self.contraction * initial_spread * norm,
            first,
            smallest: smallest_singular_value(&self.states[0].query, &sum) - first,
        });
        observer.progress(u64::from(id.0), plan.releases().len() as u64);
        Ok(ReleaseRecord {
            release: id,
            iteration: planned.spec().iteration,
            statistic: terms.statistic,
            sensitivity: terms.sensitivity,
            sigmas: terms
                .sigmas(plan.sigma_of_release(planned, terms.scale))
                .into(),
            query,
            sum,
            basis: plan.algorithm().estimate(&self.states[0]),
            totals: Totals::of_reals(published, local),
            consensus: Some(Consensus {
                disagreement: worst / norm,
                between_peers: apart / norm,
                initial_spread,
                approximation,
            }),
        })
    }
}

/// The claim of the module's documentation, absolute; `None` where the condition does not hold.
fn approximation(
    before: Agreement,
    contributions: &Contributions<'_>,
    largest_weight: f64,
    scaled: Scaled,
) -> Option<f64> {
    let Agreement {
        norm,
        all,
        first,
        smallest,
    } = before;
    let moved = |by: f64| {
        let room = smallest - by;
        (room > f64::EPSILON * norm).then(|| 2.0_f64.sqrt() * by / room)
    };
    let spectral = contributions.spectral_bound();
    let (all, first) = (moved(all)?, moved(first)?);
    let by_contributions =
        largest_weight * (spectral.sqrt() * contributions.largest_block() * all + spectral * first);
    Some(by_contributions + scaled.change(2.0 * all) * scaled.noise)
}

/// The smallest singular value of `sum` = `basis` · R, from R = basisᵀ · sum.
fn smallest_singular_value(basis: &Block, sum: &Block) -> f64 {
    basis.transpose_times(sum).singular_values().min()
}
