//! What a peer says of a release, and what it shows of others.

use std::sync::Arc;

use super::reading::Reading;
use super::rules::Place;
use crate::vocabulary::PeerIndex;

/// What a peer says it held in a release.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    /// Readings of its value before each of its steps, and after the last.
    pub readings: Vec<Reading>,
}

/// A peer shows what a neighbour sent it, since the neighbour says something else, or nothing.
#[derive(Clone, Debug, PartialEq)]
pub struct Exhibit {
    /// Who shows it.
    pub by: PeerIndex,
    /// Who sent it, and when.
    pub place: Place,
    /// What was sent, with the neighbour's signature.
    pub block: Arc<Vec<f64>>,
}
