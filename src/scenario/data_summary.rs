//! How much was read, and how much each filter dropped.

use serde::Serialize;

/// What was read and what the filters dropped.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DataSummary {
    /// What the file showed of its own layout, where its format leaves that open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub layout: Option<String>,
    /// Users who take part: those of the data, or of `data.users_file`.
    pub users: usize,
    /// Users of the data who were left out, since `data.users_file` does not name them.
    #[serde(skip_serializing_if = "is_zero")]
    pub users_dropped: usize,
    /// Users of `data.users_file` that the data do not name: they take part with an empty row.
    #[serde(skip_serializing_if = "is_zero")]
    pub users_unknown: usize,
    /// Items in the file.
    pub items: usize,
    /// Ratings in the file.
    pub ratings: u64,
    /// Ratings at or below the threshold, which are no interactions.
    pub ratings_below_threshold: u64,
    /// Interactions before the filters.
    pub interactions: usize,
    /// Items of the item list: columns of the matrix.
    pub items_kept: usize,
    /// Items in the file that the list does not name.
    pub items_dropped: usize,
    /// Items of the list that the file does not name: empty columns.
    pub items_unknown: usize,
    /// Of these, interactions that `[evaluation] holdout` keeps from the peers.
    pub interactions_held_out: usize,
    /// Interactions left after all filters.
    pub interactions_kept: usize,
    /// D of the run's own matrix.
    pub degree_floor: u32,
    /// Interactions the degree cap dropped.
    pub interactions_capped: usize,
    /// Users without interactions after all filters; they stay and contribute zero and their noise.
    pub users_without_interactions: usize,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "the signature serde asks for"
)]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

impl DataSummary {
    /// Whether rows of a matrix were read: numbers that are neither interactions nor too low to be one.
    #[must_use]
    pub fn is_matrix(&self) -> bool {
        self.ratings > 0 && self.interactions == 0 && self.ratings_below_threshold == 0
    }
}
