//! The words every other layer uses: peer and step numbers, virtual time, seeds and streams.
//!
//! Nothing here reads a clock, draws entropy or knows the protocol.

mod ids;
mod release;
mod seed;
#[cfg(test)]
pub(crate) mod testing;
mod time;

pub use ids::{Iteration, PeerIndex, Round};
pub use release::Release;
pub(crate) use seed::GROUP;
pub use seed::{Binding, CHUNK, Label, NoiseLabel, NoiseRoot, Normals, Seed, StreamKey};
pub use time::{Span, Time};
