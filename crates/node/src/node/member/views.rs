//! What a deployed member starts from in each view: the public session among those who are left, its own rows, and noise under keys of that view.

use std::error::Error;
use std::sync::Arc;

use super::defect::Defect;
use super::error::MemberError;
use crate::algorithm::LocalData;
use crate::engine::PublicViews;
use crate::protocol::regroup::{View, ViewNumber};
use crate::protocol::tolerant::{SealSecrets, ViewSetup, Views};
use crate::session::{Ephemeral, OwnNoise, PairEnd};
use crate::vocabulary::PeerIndex;

/// What names views among everything that keys are derived for.
const VIEW_CONTEXT: &str = "undertone 2026-11 noise of a view v1";

/// The views of a session, for one member.
pub(super) struct MemberViews {
    pub(super) public: Arc<PublicViews>,
    pub(super) rows: LocalData,
    pub(super) noise: OwnNoise,
    pub(super) ephemeral: Ephemeral,
    /// Everybody, in the order of peers.
    pub(super) ends: Vec<PairEnd>,
    pub(super) defect: Option<Defect>,
}

/// What keys of a view are bound to, beside the plan of its session: two views may have plans that are alike, as after a restart, and what is drawn in one
/// must not be drawn in another. Where nothing has gone wrong it is the plan's digest.
fn within(plan: &[u8; 32], view: &View) -> [u8; 32] {
    if view.number == ViewNumber(0) {
        return *plan;
    }
    let mut hasher = blake3::Hasher::new_derive_key(VIEW_CONTEXT);
    hasher.update(plan);
    hasher.update(&view.digest());
    *hasher.finalize().as_bytes()
}

impl MemberViews {
    /// The secrets that this member seals with.
    pub(super) fn seal_secrets(&self, me: PeerIndex) -> Result<SealSecrets, MemberError> {
        let session = self.public.session();
        let plan = session.plan().digest();
        let neighbours = session.graph().neighbours(me.index()).iter();
        let pairs: Result<Vec<_>, MemberError> = neighbours
            .map(|&other| {
                let ends = (self.ends[me.index()], self.ends[other as usize]);
                let pair = self.ephemeral.seal_pair(plan, ends.0, ends.1)?;
                Ok((PeerIndex(other), pair))
            })
            .collect();
        let root = self.noise.seal_root(plan);
        Ok(SealSecrets::new(me, &root, pairs?))
    }
}

impl Views for MemberViews {
    fn setup(&self, view: &View, me: PeerIndex) -> Result<ViewSetup, Box<dyn Error + Send + Sync>> {
        let made = self.public.of(view)?;
        let (session, members) = (made.session(), made.members());
        let index = made.place(me)?;
        let within = within(session.plan().digest(), view);
        let partners = session.noise_graph().neighbours(index.index()).iter();
        let partners: Result<Vec<_>, MemberError> = partners
            .map(|&partner| {
                let other = members[partner as usize];
                let (mine, theirs) = (self.ends[me.index()], self.ends[other.index()]);
                let key = self.ephemeral.shared(&within, mine, theirs)?;
                Ok((PeerIndex(partner), key))
            })
            .collect();
        let noise = self
            .noise
            .noise_in(&within, session.plan(), index, partners?);
        let noise = match &self.defect {
            None => noise,
            Some(defect) => defect.noise(Some(view), me, noise),
        };
        let setup = session.peer_setup(index, self.rows.clone(), noise, None);
        Ok(ViewSetup {
            setup,
            members: Arc::clone(members),
            ends_equal: session.schedule().ends_equal(),
        })
    }
}
