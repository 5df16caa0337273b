//! What is public of rows of ratings.

use serde::{Deserialize, Serialize};

/// What is public of the rows that are completed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RatedRows {
    /// m: slots for users, filled or not.
    pub slots: usize,
    /// R: what contributions shorten rows to, above 0; its square is finite and not 0.
    pub radius: f64,
    /// ξ: the most ratings of one user; the number of items where there is no cap.
    pub most_ratings: usize,
    /// Whether the mean of the user's own ratings was taken from them.
    pub user_centred: bool,
}

impl RatedRows {
    /// All numbers by name.
    #[must_use]
    pub fn settings(&self) -> [(&'static str, f64); 4] {
        [
            ("slots", self.slots as f64),
            ("radius", self.radius),
            ("most ratings", self.most_ratings as f64),
            ("user centred", f64::from(u8::from(self.user_centred))),
        ]
    }

    /// Whether these are numbers that rows can have.
    #[must_use]
    pub fn are_valid(&self) -> bool {
        let squared = self.radius.powi(2);
        self.slots > 0 && self.most_ratings > 0 && self.radius > 0.0 && squared.is_normal()
    }
}

/// What a method of completion is told beside the keys of its own.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Completion {
    /// What is public of the rows.
    pub rows: RatedRows,
    /// Whether item means are released first.
    pub item_means: bool,
    /// Of μ²: what sums, counts and the triangle spend.
    pub shares: [f64; 3],
}

/// The shares of sums, counts and the triangle where a file gives none.
pub const SHARES: [f64; 3] = [0.10, 0.05, 0.85];
