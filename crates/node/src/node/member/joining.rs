//! A member until its first statement: everything that happens before a byte leaves.

use std::sync::Arc;

use super::defect::Defect;
use super::error::MemberError;
use super::resume::{self, Ready, Standing};
use super::setup::MemberSetup;
use crate::node::deployed::HostLimits;
use crate::node::descriptors;
use crate::node::store::SessionEnd;
use crate::protocol::wire::signed::SIGNED_VERSION;
use crate::session::{Identity, Join};

/// A member that has set aside what its session may cost, and is about to send its Join. Nothing has left.
pub struct Joining {
    pub(super) setup: MemberSetup,
    pub(super) identity: Arc<Identity>,
    pub(super) ready: Ready,
    pub(super) defect: Option<Defect>,
}

/// Outcome of a member's preparations.
pub enum Outset {
    /// It takes part.
    Joining(Box<Joining>),
    /// The session had ended, with a result.
    Ended,
}

impl Joining {
    /// Finds out how far this member had come, sets aside what the session may cost, and makes or finds its secrets. It looks at no row.
    ///
    /// # Errors
    /// [`MemberError`], which has the exit code.
    pub fn prepare(setup: MemberSetup) -> Result<Outset, MemberError> {
        let identity = Arc::new(setup.state.identity()?);
        let id = identity.id();
        if setup.invitation.member(&id).is_none() {
            return Err(MemberError::NotInvited { id });
        }
        // Whoever runs out of them later has charged releases and gets no result.
        let others = setup.invitation.members.len() as u32 - 1;
        descriptors::check_count(HostLimits::default().sockets(others))?;
        let wire = (SIGNED_VERSION, SIGNED_VERSION);
        let ready = match resume::prepare(&setup, &identity, wire)? {
            Standing::Ready(ready) => *ready,
            Standing::Ended(SessionEnd::Done, _) => return Ok(Outset::Ended),
            Standing::Ended(end, charged) => return Err(MemberError::EndedBefore { end, charged }),
        };
        Ok(Outset::Joining(Box::new(Self {
            setup,
            identity,
            ready,
            defect: None,
        })))
    }

    /// What this member sends first.
    #[must_use]
    pub fn statement(&self) -> &Join {
        &self.ready.join
    }

    /// μ² that is set aside.
    #[must_use]
    pub fn reserved(&self) -> f64 {
        self.ready.reserved
    }
}
