//! The paragraph that says in words what a run protects.

use super::number;
use crate::privacy::Statement;
use crate::run::summary::PrivacySummary;

/// The guarantee of a run with this promise, or that there is none.
pub(super) fn words(privacy: &PrivacySummary, promise: &Statement) -> String {
    let Some(asked) = privacy.epsilon else {
        return "No guarantee: this run adds no noise and protects nobody.".to_owned();
    };
    let withstood = privacy
        .views
        .iter()
        .filter(|view| view.colluders <= promise.colluders + promise.lost.unwrap_or(0));
    let worst = withstood.map(|view| view.epsilon).fold(f64::NAN, f64::max);
    let (epsilon, delta) = (number::short(worst), number::short(privacy.delta));
    let groups: Vec<String> = privacy
        .groups
        .iter()
        .map(|group| {
            format!(
                "{} peers: ε ≤ {}",
                group.peers,
                number::short(group.epsilon)
            )
        })
        .collect();
    let groups = match groups.as_slice() {
        [] => String::new(),
        groups if promise.adjacency.is_of_rows() => {
            format!(
                " A person with rows at several loses more: {}.",
                groups.join(", ")
            )
        }
        groups => format!(
            " Changes at several peers at once, also those that leave the sum as it is, cost more: {}.",
            groups.join(", ")
        ),
    };
    format!(
        "{} can hardly tell whether {}: what they see is (ε, δ)-differentially private with ε = {epsilon} nats \
         and δ = {delta} over the whole run. That is, no event becomes more likely by more than a factor of e^ε = {}, \
         but for a probability of {delta}. Asked for was ε = {}.{}{groups}",
        promise.against(),
        promise.record(),
        number::significant(worst.exp(), 3),
        number::short(asked),
        promise.whoever_is_lost(),
    )
}
