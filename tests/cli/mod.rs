//! The built command: what it writes, prints and refuses.

mod help;
mod outputs;
mod printed;
mod refusals;
mod schema;
mod topology;
