//! Basic types that every other layer uses: peer and step numbers, virtual time, seeds and streams, names.
//!
//! Nothing here reads a clock, draws entropy or knows the protocol.

mod degrees;
mod distribution;
mod ids;
mod margins;
mod naming;
mod normal;
mod quantity;
mod seed;
#[cfg(any(test, feature = "testing"))]
#[doc(hidden)]
pub mod testing;
mod text;
mod time;

pub use degrees::TAIL_DEGREES;
pub use distribution::Distribution;
pub use ids::{Iteration, PeerIndex, ReleaseId, Round};
pub use margins::margin_weights;
pub use naming::{NameSyntax, Named, printed, printed_list, read_name, read_names};
pub use normal::StandardNormal;
pub use quantity::Quantity;
#[doc(hidden)]
pub use seed::GROUP;
pub use seed::{Binding, CHUNK, Label, NamedKey, NoiseLabel, NoiseRoot, Normals, Seed, StreamKey};
pub use text::{Hidden, Spellings, hidden};
pub use time::{Span, Time};
