//! Writes results: files that are there whole or not at all, CSV, tables, NumPy arrays, numbers of bytes.
//!
//! Nothing else in the program writes a file, but for the journal of a sweep, which only grows, and what a deployed peer must not lose.

mod atomic;
mod bytes;
mod csv;
mod npy;
mod table;

pub use atomic::{Staged, rename, replace, replace_with, stage};
pub use bytes::bytes;
pub use csv::csv;
pub use npy::{NpyError, NpyProblem, npy, read_basis, read_block};
pub use table::{Column, Table, Value};
