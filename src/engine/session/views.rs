//! The sessions of views: the same session among those who are left.

use std::collections::BTreeMap;
use std::error::Error;
use std::sync::{Arc, Mutex, PoisonError};

use super::{Session, SessionError, SessionParts};
use crate::algorithm::LocalData;
use crate::engine::rows::PeerRows;
use crate::plan::{graphs_digest, mixing_bounds};
use crate::protocol::averaging::{AveragingError, AveragingKind, AveragingOptions, Length};
use crate::protocol::regroup::{Links, LinksError, View, ViewNumber};
use crate::protocol::tolerant::{ViewSetup, Views};
use crate::protocol::{SessionParameters, SessionPlanError};
use crate::topology::{Graph, GraphError, Provenance, Topology};
use crate::vocabulary::PeerIndex;

/// How averaging is compiled again for those who are left.
#[derive(Clone, Copy, Debug)]
pub struct Recompiled {
    /// The scheme.
    pub kind: AveragingKind,
    /// How long its programs are.
    pub length: Length,
    /// Its options; a root is given up with the peer that it is.
    pub options: AveragingOptions,
}

/// Why there is no session among the members of a view.
#[derive(Debug, thiserror::Error)]
pub enum ViewError {
    /// Their averaging cannot be compiled.
    #[error(transparent)]
    Averaging(#[from] AveragingError),
    /// Their plan is none.
    #[error(transparent)]
    Plan(#[from] SessionPlanError),
    /// Their parts do not fit.
    #[error(transparent)]
    Session(#[from] SessionError),
    /// Their graph is none.
    #[error(transparent)]
    Graph(#[from] GraphError),
    /// Somebody asks who is not a member.
    #[error("{0} is not a member of this view")]
    Stranger(PeerIndex),
}

/// A session among the members of a view, who are numbered without gaps in it.
#[derive(Clone, Debug)]
pub struct ViewSession {
    session: Session,
    members: Arc<[PeerIndex]>,
}

impl ViewSession {
    /// The session.
    #[must_use]
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// Its members, in the order of their numbers.
    #[must_use]
    pub fn members(&self) -> &Arc<[PeerIndex]> {
        &self.members
    }
}

/// The views of a simulated session: each is made once in a run, whose views form a chain. In another run the same number may be that of another view.
#[derive(Debug)]
pub struct SessionViews {
    session: Session,
    recompiled: Recompiled,
    made: Mutex<BTreeMap<ViewNumber, (View, Arc<ViewSession>)>>,
    /// A defect of all peers, to show that it is seen.
    #[cfg(test)]
    pub(crate) tamper: crate::protocol::tolerant::Tamper,
}

impl SessionViews {
    /// The views of this session, whose averaging is compiled like this.
    #[must_use]
    pub fn new(session: Session, recompiled: Recompiled) -> Self {
        Self {
            session,
            recompiled,
            made: Mutex::default(),
            #[cfg(test)]
            tamper: crate::protocol::tolerant::Tamper::default(),
        }
    }

    /// The session in which nothing has gone wrong.
    #[must_use]
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// The links of the session's communication graph.
    ///
    /// # Errors
    /// None for a graph: its edges ascend.
    pub fn links(&self) -> Result<Links, LinksError> {
        let edges = self.session.graph().edge_list();
        let pairs = edges.map(|(u, v)| (PeerIndex(u), PeerIndex(v)));
        Links::new(self.session.peers(), pairs.collect())
    }

    /// The session among the members of this view. That of a view in which nothing has gone wrong is the session itself.
    ///
    /// Noise is derived under keys that are bound to the view's own plan and to [`View::digest`], which covers everything that was released
    /// before it. Views after different histories share no stream, and an attempt that is repeated draws fresh noise.
    ///
    /// # Errors
    /// [`ViewError`].
    pub fn of(&self, view: &View) -> Result<Arc<ViewSession>, ViewError> {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((known, session)) = made.get(&view.number)
            && known == view
        {
            return Ok(Arc::clone(session));
        }
        let fresh = Arc::new(self.make(view)?);
        made.insert(view.number, (view.clone(), Arc::clone(&fresh)));
        Ok(fresh)
    }

    fn make(&self, view: &View) -> Result<ViewSession, ViewError> {
        let members: Arc<[PeerIndex]> = view.members.iter().collect();
        if view.number == ViewNumber(0) && members.len() == self.session.peers() {
            let session = self.session.clone();
            return Ok(ViewSession { session, members });
        }
        let cuts = view.disruptions.cuts();
        let is_cut =
            |place: usize| cuts.contains(crate::protocol::regroup::LinkIndex(place as u32));
        let edges = self.session.graph().edge_list().enumerate();
        let open = edges
            .filter(|(place, _)| !is_cut(*place))
            .map(|(_, edge)| edge);
        let nodes: Vec<u32> = members.iter().map(|member| member.0).collect();
        let topology = induced(&nodes, open)?;
        // Partners need no link to share noise.
        let noise_topology = induced(&nodes, self.session.noise_graph().edge_list())?;
        let Recompiled {
            kind,
            length,
            options,
        } = self.recompiled;
        let root = options
            .root()
            .map(|root| members.binary_search(&PeerIndex(root)));
        let options = match root {
            Some(Ok(place)) => options.with_root(place as u32),
            Some(Err(_)) => AveragingOptions::default(),
            None => options,
        };
        let schedule = kind.compile(&*topology, mixing_bounds(&topology), length, options)?;
        let all = self.session.plan().parameters();
        let parameters = SessionParameters {
            peers: members.len() as u32,
            scale_rounds: topology.diameter_bound().unwrap_or(0),
            averaging_rounds: schedule.rounds(),
            schedule: schedule.digest(),
            topology: graphs_digest(&topology, &noise_topology),
            ..all.clone()
        };
        let plan = self.session.plan().with(parameters)?;
        let rows: Vec<LocalData> = members
            .iter()
            .map(|member| self.session.rows().local(member.index()))
            .collect();
        let mut setting = blake3::Hasher::new_derive_key("undertone 2026-11 view v2");
        setting.update(&self.session.setting);
        setting.update(self.session.plan().digest());
        #[cfg(test)]
        let is_told = self.tamper != crate::protocol::tolerant::Tamper::SameStream;
        #[cfg(not(test))]
        let is_told = true;
        if is_told {
            setting.update(&view.digest());
        }
        let session = Session::new(SessionParts {
            topology,
            schedule: Arc::new(schedule),
            noise_topology,
            rows: Arc::new(PeerRows::of_local(&rows)),
            start: Arc::clone(self.session.start()),
            seed: self.session.seed.clone(),
            sigma_central: self.session.sigma_central.min(plan.sigma_of_sum(1.0)),
            plan: Arc::new(plan),
            setting: *setting.finalize().as_bytes(),
        })?;
        Ok(ViewSession { session, members })
    }
}

impl Views for SessionViews {
    fn setup(&self, view: &View, me: PeerIndex) -> Result<ViewSetup, Box<dyn Error + Send + Sync>> {
        let view = self.of(view)?;
        let place = view.members.binary_search(&me);
        let place = place.map_err(|_| ViewError::Stranger(me))?;
        let setup = view.session.peer_setup(PeerIndex::from_index(place), None);
        Ok(ViewSetup {
            setup,
            members: Arc::clone(&view.members),
            ends_equal: view.session.schedule().ends_equal(),
        })
    }
}

/// The graph of these edges between members, with the weights of its own degrees.
fn induced(
    members: &[u32],
    edges: impl Iterator<Item = (u32, u32)>,
) -> Result<Arc<Topology>, GraphError> {
    let graph = Graph::among(members, edges)?;
    let topology = Topology::from_graph(graph, Provenance::edges("view"));
    Ok(Arc::new(topology))
}
