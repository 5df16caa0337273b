//! What a privacy guarantee says, in words.

use super::number;
use crate::experiment::summary::PrivacySummary;
use crate::privacy::Adjacency;

/// The guarantee against coalitions of up to `colluders` peers, or that there is none.
pub(super) fn words(privacy: &PrivacySummary, colluders: usize, sums_only: bool) -> String {
    let Some(asked) = privacy.epsilon else {
        return "No guarantee: this run adds no noise and protects nobody.".to_owned();
    };
    let withstood = privacy
        .views
        .iter()
        .filter(|view| view.colluders <= colluders);
    let worst = withstood.map(|view| view.epsilon).fold(f64::NAN, f64::max);
    let (epsilon, delta) = (number::short(worst), number::short(privacy.delta));
    let observer = match (sums_only, colluders) {
        (true, _) => "Whoever sees the published sums".to_owned(),
        (false, 0) => "Whoever sees all messages, but holds no peer,".to_owned(),
        (false, 1) => "Any one curious peer that also sees all messages".to_owned(),
        (false, _) => format!("Any {colluders} colluding peers that also see all messages"),
    };
    format!(
        "{observer} can hardly tell whether {}: what they see is (ε, δ)-differentially private with ε = {epsilon} nats \
         and δ = {delta} over the whole run. That is, no event becomes more likely by more than a factor of e^ε = {}, \
         but for a probability of {delta}. Asked for was ε = {}.",
        record(privacy.adjacency),
        number::significant(worst.exp(), 3),
        number::short(asked),
    )
}

/// What two neighbouring datasets differ in.
fn record(adjacency: Adjacency) -> &'static str {
    match adjacency {
        Adjacency::Interaction => "one user had one particular interaction or not",
        Adjacency::User => "any one user's data were there at all",
        Adjacency::Swap => "one user had one item or another in its place",
        Adjacency::ReplaceUser => "one user's data were these or any others",
        Adjacency::Matrix => {
            "the matrix A was changed by any C with Σᵢ‖Cᵢ‖₁² ≤ 1 (the adjacency of the paper's equation 7)"
        }
        Adjacency::UnitSpectral => "the matrix A was changed by any C with ‖C‖₂ ≤ 1",
    }
}
