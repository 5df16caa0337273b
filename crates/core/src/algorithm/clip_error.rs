//! Numbers that make no clip.

/// Numbers that make no clip.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum ClipError {
    /// One that leaves nothing to one side, or to nobody.
    #[error("algorithm.{key} must be {allowed}, found {found}")]
    Number {
        /// The key.
        key: &'static str,
        /// What it may be.
        allowed: &'static str,
        /// The value given.
        found: f64,
    },
    /// A threshold that is found in one iteration for the next, where there is none.
    #[error(
        "algorithm.clip = \"{rule}\" finds in one iteration the threshold of the next: set algorithm.iterations to at least 2, or \
         algorithm.clip = \"histogram\" without clip_lag"
    )]
    OfNothing {
        /// The rule.
        rule: &'static str,
    },
}
