//! The built command: what it writes, prints and refuses.

mod help;
mod outputs;
mod refusals;
mod topology;
