//! Which of the candidates is advised.

use super::Candidate;

/// Candidates predicted within this of the best are taken as equal.
pub const TIE: f64 = 0.02;

/// Of the candidates with a prediction and at most so many bytes, those predicted within [`TIE`] of the best, and of these the one
/// with fewest iterations, then the least predicted error, then the fewest bytes from the busiest peer.
///
/// What is predicted is not known to 2 %, and fewer iterations take fewer rounds.
pub(super) fn choose<'a>(candidates: &'a [Candidate], bytes: Option<u64>) -> Option<&'a Candidate> {
    let fitting = || {
        let fits =
            |candidate: &&Candidate| bytes.is_none_or(|most| candidate.bytes_max_peer <= most);
        let predicted = |candidate: &'a Candidate| Some((candidate, candidate.predicted_error?));
        candidates.iter().filter(fits).filter_map(predicted)
    };
    let least = fitting().map(|(_, error)| error).min_by(f64::total_cmp)?;
    fitting()
        .filter(|(_, error)| *error <= least * (1.0 + TIE))
        .min_by(|(a, of_a), (b, of_b)| {
            let iterations = a.algorithm.iterations.cmp(&b.algorithm.iterations);
            iterations
                .then(of_a.total_cmp(of_b))
                .then(a.bytes_max_peer.cmp(&b.bytes_max_peer))
        })
        .map(|(candidate, _)| candidate)
}
