//! The diagonal of (D + K)⁻¹ with proved ends, K a weighted graph Laplacian and D a diagonal.
//!
//! Small matrices are inverted densely ([`dense`]). Large ones are eliminated sparsely where that fills little
//! ([`selected_inverse`]), and else take a few Lanczos steps per row ([`quadrature`]).

pub(crate) mod dense;
mod matrix;
pub(crate) mod quadrature;
pub(crate) mod selected_inverse;

pub(crate) use matrix::ShiftedLaplacian;
