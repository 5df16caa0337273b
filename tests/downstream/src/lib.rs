//! Somebody else's crate. What it verifies stands in `examples/equivalence_test.rs`, which is its test.
