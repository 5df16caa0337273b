//! Basic types that every other layer uses: peer and step numbers, virtual time, seeds and streams, names.
//!
//! Nothing here reads a clock, draws entropy or knows the protocol.

mod blocks;
mod degrees;
mod distribution;
mod ids;
mod margins;
mod naming;
mod normal;
mod normals;
mod quantity;
mod seed;
#[cfg(any(test, feature = "testing"))]
#[doc(hidden)]
pub mod testing;
mod text;
mod time;

pub use distribution::Distribution;
pub use ids::{Iteration, PeerIndex, ReleaseId, Round};
pub use naming::Named;
pub use quantity::Quantity;
pub use seed::{Label, Seed};
pub use time::{Span, Time};
// For the other crates of Undertone.
#[doc(hidden)]
pub use {
    degrees::TAIL_DEGREES, margins::margin_weights, naming::NameSyntax, naming::printed,
    naming::printed_list, naming::read_name, naming::read_names, normal::StandardNormal,
    normals::CHUNK, normals::GROUP, seed::Binding, seed::NoiseLabel, seed::NoiseRoot,
    seed::StreamKey, text::Hidden, text::Spellings, text::hidden,
};
