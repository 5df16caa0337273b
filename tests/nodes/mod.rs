//! Peers on hosts of their own: their files, their commands.

#[cfg(unix)]
mod commands;
#[cfg(unix)]
mod store;
