//! Writes results: files that are there whole or not at all, and CSV.
//!
//! Nothing else in the program writes a file, but for the journal of a sweep, which only grows.

mod atomic;
mod csv;

pub use atomic::{Staged, replace, replace_with, stage};
pub use csv::csv;
