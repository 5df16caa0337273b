//! Transcripts of two neighbouring inputs against a claimed (ε, δ).

use super::arrays::{blocks, enough, finite};
use super::error::TranscriptError;
use super::finding::Finding;
use super::scores::{Guess, choose};
use super::verdict::verdict;
use super::{FALSE_ALARM, MISS};
use crate::assess::audit::confidence::epsilon_lower_bound;
use crate::privacy::{Delta, Epsilon};

/// The most runs of each input that count. Quantiles of beta laws of larger parameters are not known well enough.
const MOST_COUNTED: u64 = 1 << 17;

/// Asserts that transcripts of two neighbouring inputs do not refute a claim of (ε, δ)-differential privacy.
///
/// `with_record` and `without_record` hold R runs of `values` numbers each, run after run: what an adversary sees of a run, in any order that is the same in all runs. `delta` is `None` for
/// pure ε.
///
/// Half of the runs of each input choose a set S of transcripts, among thresholds of single values, of weighted differences of the means and of a ratio of likelihoods. The other half
/// counts, at most 131,072 of each: a lower confidence bound of ε, ln((p − δ)/a) with the Clopper–Pearson ends p of P(S | one input) from below and a of P(S | the other) from above. The claim fails if that bound exceeds it.
///
/// Returns the one finding. A right program fails with probability at most 10⁻³.
///
/// *Proof.* (ε, δ)-differential privacy means P(S) ≤ e^ε·P′(S) + δ for both orders of neighbouring inputs and every S. S does not depend on the runs that count, so that each end is wrong with
/// probability at most 10⁻³/2 (C. J. Clopper & E. S. Pearson 1934). If neither is, the bound is at most ln((P(S) − δ)/P′(S)) ≤ ε. ∎
///
/// A claim that passes is not proved: these S may not be the best ones, and ε is bounded from below alone.
///
/// # Errors
/// [`TranscriptError::Failed`] if the claim is refuted. The other variants if nothing can be said: arrays that do not fit, numbers that are none, and fewer runs than [`runs_for_epsilon`].
///
/// # Source
/// M. Jagielski, J. Ullman & A. Oprea 2020, for lower bounds of ε by such counts.
pub fn assert_epsilon(
    with_record: &[f64],
    without_record: &[f64],
    values: usize,
    epsilon: Epsilon,
    delta: Option<Delta>,
) -> Result<Vec<Finding>, TranscriptError> {
    let runs = blocks(
        "with_record",
        with_record.len(),
        values,
        "the values of every run",
    )?;
    if without_record.len() != with_record.len() {
        return Err(TranscriptError::Length {
            what: "without_record",
            found: without_record.len(),
            expected: format!("{}, as with_record has", with_record.len()),
        });
    }
    let counted = enough(runs, runs_for_epsilon(epsilon, delta)?)?;
    finite("with_record", with_record, &[values])?;
    finite("without_record", without_record, &[values])?;
    let delta = delta.map_or(0.0, Delta::get);
    let half = runs / 2 * values;
    let worlds = [without_record, with_record];
    let guess = choose(worlds.map(|world| &world[..half]), values, delta);
    let counting = (runs - runs / 2).min(MOST_COUNTED as usize) * values;
    let judged = worlds.map(|world| &world[half..][..counting]);
    let (right, wrong, count) = guess.counts(judged, values);
    let bound = epsilon_lower_bound(right, wrong, count, delta, FALSE_ALARM);
    verdict(
        counted,
        vec![finding(&guess, (right, wrong, count), bound, epsilon)],
    )
}

fn finding(
    guess: &Guess,
    (right, wrong, count): (u64, u64, u64),
    bound: f64,
    epsilon: Epsilon,
) -> Finding {
    let [one, other] = match guess.calls_with {
        true => ["with", "without"],
        false => ["without", "with"],
    };
    Finding {
        what: format!(
            "lower confidence bound of epsilon ({}: {right} of {count} runs {one} the record, {wrong} of {count} {other} it)",
            guess.score
        ),
        peers: Vec::new(),
        values: guess.score.values(),
        runs: Vec::new(),
        expected: epsilon.get(),
        found: bound,
        p_value: None,
        threshold: epsilon.get(),
        passed: bound <= epsilon.get(),
    }
}

/// Runs of each input that [`assert_epsilon`] needs.
///
/// With this many runs it refutes, but for probability 10⁻³, the claim of a program for whose transcripts a threshold of one value tells the two inputs apart as well as ε′ = ε + max(ε, 1)
/// allows: it is right with probability e^{ε′}/(1 + e^{ε′}) of either. No test of so few runs refutes ε of a program that keeps little more than that: to notice Gaussian noise that is somewhat
/// too small, use [`assert_central_dp`](super::assert_central_dp) or [`assert_published_law`](super::assert_published_law), which know its law.
///
/// # Errors
/// [`TranscriptError::WeakClaim`] where 131,072 runs that count would not do.
pub fn runs_for_epsilon(epsilon: Epsilon, delta: Option<Delta>) -> Result<u64, TranscriptError> {
    let delta = delta.map_or(0.0, Delta::get);
    let kept = epsilon.get() + epsilon.get().max(1.0);
    // 1 − e^{ε′}/(1 + e^{ε′}), as far as it can be told from 0.
    let wrong = (1.0 / (1.0 + kept.exp())).max(1e-15);
    let refutes = |runs: u64| {
        let alarms = most_alarms(runs, wrong, MISS / 2.0).min(runs);
        // Right guesses are as many of the other kind.
        let bound = epsilon_lower_bound(runs - alarms, alarms, runs, delta, FALSE_ALARM);
        bound > epsilon.get()
    };
    let mut enough = 64;
    while !refutes(enough) {
        enough *= 2;
        if enough > MOST_COUNTED {
            return Err(TranscriptError::WeakClaim {
                epsilon: epsilon.get(),
                delta,
            });
        }
    }
    let mut few = enough / 2;
    while few + 1 < enough {
        let middle = few + (enough - few) / 2;
        match refutes(middle) {
            true => enough = middle,
            false => few = middle,
        }
    }
    // Half of them choose the test, and among many sets the choice must be right too: twice as many as counting alone would take.
    Ok(4 * enough)
}

/// A number that a binomial variable of `runs` trials and this probability exceeds with probability at most `tail`.
///
/// With v its variance and l = ln(1/tail), P(X ≥ mean + t) ≤ exp(−t²/(2(v + t/3))) (S. N. Bernstein 1924) is at most the tail at t = l/3 + √(l²/9 + 2·l·v).
fn most_alarms(runs: u64, probability: f64, tail: f64) -> u64 {
    let mean = runs as f64 * probability;
    let (variance, l) = (mean * (1.0 - probability), -tail.ln());
    let beyond = l / 3.0 + (l * l / 9.0 + 2.0 * l * variance).sqrt();
    (mean + beyond).ceil() as u64
}
