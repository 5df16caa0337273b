//! The view of the communication graph that averaging schemes are given.

/// The public communication graph and the mixing weights on it, as a scheme sees them when it compiles its schedule.
///
/// Who holds a graph implements this; the protocol itself knows no graph type.
pub trait Neighbourhood {
    /// Number of peers s.
    fn peers(&self) -> usize;

    /// The neighbours of `peer`, ascending. A *position* is an index into this list.
    fn neighbours(&self, peer: usize) -> &[u32];

    /// w_uv of the mixing matrix, in the order of [`Self::neighbours`].
    fn weights(&self, peer: usize) -> &[f64];

    /// w_uu of the mixing matrix.
    fn self_weight(&self, peer: usize) -> f64;
}
