//! Everything that a run tells, to the bit.

use undertone::engine::{Communication, Observer, Outcome, ReleaseRecord, Transcript};

/// A part of what was told, and its hash.
type Part = (String, blake3::Hash);

/// What a run has told: records and what was published as hashes by name, and what was sent.
#[derive(Debug, PartialEq)]
pub(crate) struct Told {
    parts: Vec<Part>,
    pub(crate) communication: Communication,
    pub(crate) records: Vec<ReleaseRecord>,
}

#[derive(Default)]
struct Listening(Vec<Part>);

fn hash<'a>(values: impl IntoIterator<Item = &'a f64>) -> blake3::Hash {
    let mut hasher = blake3::Hasher::new();
    for value in values {
        hasher.update(&value.to_bits().to_le_bytes());
    }
    hasher.finalize()
}

impl Observer for Listening {
    fn wants_transcript(&self) -> bool {
        true
    }

    fn transcript(&mut self, transcript: Transcript<'_>) {
        let release = transcript.release;
        let mut told = |what: &str, hash| self.0.push((format!("{what} of {release}"), hash));
        told("scale of the noise", hash([&transcript.terms.scale]));
        let mut hasher = blake3::Hasher::new();
        for bits in transcript.inputs.bits() {
            hasher.update(&bits.to_le_bytes());
        }
        told("what all peers published", hasher.finalize());
        let states = transcript.states.iter();
        let queries = states.clone().flat_map(|state| state.query.values());
        told("every peer's query", hash(queries));
        let past = states.flat_map(|state| state.past.iter().flat_map(|one| one.sum.values()));
        told("every peer's sums so far", hash(past));
    }
}

impl Told {
    /// What this run tells, if it comes to its end.
    pub(crate) fn by<E>(
        run: impl FnOnce(&mut dyn Observer) -> Result<Outcome, E>,
    ) -> Result<Self, E> {
        let mut listening = Listening::default();
        let outcome = run(&mut listening)?;
        let mut parts = listening.0;
        parts.extend(outcome.records.iter().flat_map(record));
        Ok(Self {
            parts,
            communication: outcome.communication,
            records: outcome.records,
        })
    }

    /// The first part in which another run differs.
    pub(crate) fn difference(&self, other: &Self) -> Option<String> {
        if self.parts.len() != other.parts.len() {
            let (ours, theirs) = (self.parts.len(), other.parts.len());
            return Some(format!("{ours} parts against {theirs}"));
        }
        let differing = self.parts.iter().zip(&other.parts).find(|(a, b)| a != b);
        let sent = || {
            let (ours, theirs) = (&self.communication, &other.communication);
            (ours != theirs).then(|| format!("{ours:?} against {theirs:?}"))
        };
        differing
            .map(|((what, _), (other, _))| match what == other {
                true => what.clone(),
                false => format!("{what} against {other}"),
            })
            .or_else(sent)
    }
}

/// The parts of a record.
fn record(record: &ReleaseRecord) -> Vec<Part> {
    let release = record.release;
    let consensus = record.consensus.unwrap_or_default();
    let numbers = [
        f64::from(record.iteration.0),
        record.statistic,
        record.sensitivity,
    ];
    let agreement = [
        consensus.disagreement,
        consensus.between_peers,
        consensus.initial_spread,
    ];
    let parts = [
        ("statistic and sensitivity", numbers.as_slice()),
        ("query", record.query.values()),
        ("sum", record.sum.values()),
        ("basis", record.basis.values()),
        ("total published", record.totals.published.values()),
        ("total contribution", record.totals.local.values()),
        ("agreement", &agreement),
    ];
    let parts = parts.map(|(what, values)| (format!("{what} of {release}"), hash(values)));
    parts.to_vec()
}
