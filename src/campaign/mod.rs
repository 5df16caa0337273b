//! Many runs at once: sweeps over keys, studies of a figure or table, advice drawn from stand-ins, and runs that take it.

pub mod advise;
// For commands whose experiment has `kind = "auto"`, and for the Python package.
#[doc(hidden)]
pub mod auto;
pub mod study;
pub mod sweep;
