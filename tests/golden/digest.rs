//! Digests of runs: BLAKE3 over the bits of each iteration's query, sum, basis, statistic, sensitivity and sums over all peers, then over
//! what every peer published where the engine tells, and over what was sent.

use undertone::engine::{Observer, Outcome, Transcript};
use undertone::run::run;
use undertone::scenario::Experiment;

/// Hashes what all peers published.
#[derive(Default)]
struct Published(blake3::Hasher);

impl Observer for Published {
    fn wants_transcript(&self) -> bool {
        true
    }

    fn transcript(&mut self, transcript: Transcript<'_>) {
        hash_values(&mut self.0, &[transcript.terms.scale]);
        for bits in transcript.inputs.bits() {
            self.0.update(&bits.to_le_bytes());
        }
        for state in transcript.states {
            hash_values(&mut self.0, state.query.values());
        }
    }
}

fn hash_values(hasher: &mut blake3::Hasher, values: &[f64]) {
    for value in values {
        hasher.update(&value.to_bits().to_le_bytes());
    }
}

fn hash_outcome(hasher: &mut blake3::Hasher, outcome: &Outcome) {
    for record in &outcome.records {
        hash_values(hasher, &[record.statistic, record.sensitivity]);
        for block in [
            &*record.query,
            &*record.sum,
            &*record.basis,
            &record.totals.published,
            &record.totals.local,
        ] {
            hash_values(hasher, block.values());
        }
    }
    let sent = &outcome.communication;
    for rounds in &sent.rounds {
        hasher.update(&rounds.to_le_bytes());
    }
    for count in [sent.messages, sent.bytes_total, sent.bytes_max_peer] {
        hasher.update(&count.to_le_bytes());
    }
}

/// Twelve hexadecimal digits of one run.
pub(crate) fn digest_of(experiment: &Experiment) -> String {
    let mut published = Published::default();
    let report = run(experiment, &mut published).expect("the experiment runs");
    let mut hasher = published.0;
    hash_outcome(&mut hasher, &report.outcome);
    hasher.finalize().to_hex()[..12].to_owned()
}
