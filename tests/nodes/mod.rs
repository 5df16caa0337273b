//! Deployed peers: real processes, real files, the loopback interface.

#[cfg(unix)]
mod agreement;
#[cfg(unix)]
mod commands;
#[cfg(unix)]
mod crashes;
#[cfg(unix)]
mod emulated;
#[cfg(unix)]
pub(crate) mod group;
#[cfg(unix)]
mod hospitals;
#[cfg(unix)]
mod losses;
#[cfg(unix)]
mod refusals;
#[cfg(unix)]
mod simulate;
#[cfg(unix)]
mod sizes;
#[cfg(unix)]
mod status;
#[cfg(unix)]
mod store;
#[cfg(unix)]
mod timing;
