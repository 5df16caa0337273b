//! Recommendations from one Gram matrix of items that was released under noise.
//!
//! The release is split into what the public item degrees explain and directions beyond it ([`GramModel`]); directions are shrunk by what
//! noise did to them ([`NoiseEdge`]); a method makes scores of them ([`GramMethod`]), in which popularity weighs the more the less of
//! the release stands out of its noise. All of it is a function of the release and of public degrees: post-processing, of which any
//! device can do its part alone. Nothing is released beside the matrix.

mod edge;
mod item_regression;
mod items;
mod linear;
mod methods;
mod model;
mod pass;
mod scorer;
#[cfg(test)]
mod tests;

pub use edge::NoiseEdge;
pub use items::{FloorRule, items_worth_their_noise};
pub use methods::{GramMethod, popularity_weight};
pub use model::{GramModel, ReleasedGram};
pub use scorer::{GramScorer, ScoreParts};
