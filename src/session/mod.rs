//! Agreement on a session without a server: who takes part, on what, and under which keys.
//!
//! Nothing here knows a socket, a clock or a disk. What is signed is always a domain, a session and a body, so that a signature of one
//! kind is none of another.

mod identity;

pub use identity::{Domain, Identity, IdentityError, PublicId, Signature};
