//! Many runs at once: sweeps over keys, studies of a figure or table, and advice drawn from stand-ins.

pub mod advise;
pub mod study;
pub mod sweep;
