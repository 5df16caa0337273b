//! The diagonal of (D + K)⁻¹ with proved ends, K a weighted graph Laplacian and D a diagonal.
//!
//! Small matrices are inverted densely ([`dense`]), large ones take a few Lanczos steps per row ([`quadrature`]).

pub(crate) mod dense;
mod matrix;
pub(crate) mod quadrature;

pub(crate) use matrix::ShiftedLaplacian;
