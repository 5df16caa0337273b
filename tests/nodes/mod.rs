//! Deployed peers: real processes, real files, the loopback interface.

mod crashes;
mod group;
mod hospitals;
mod refusals;
