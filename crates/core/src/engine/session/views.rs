//! The sessions of views: the same session among those who are left.

use std::collections::BTreeMap;
use std::error::Error;
use std::sync::{Arc, Mutex, PoisonError};

use super::{PublicSession, Session, SessionError};
use crate::algorithm::LocalData;
use crate::engine::rows::PeerRows;
use crate::plan::{Averaging, graphs_digest, mixing_bounds};
use crate::protocol::averaging::AveragingError;
use crate::protocol::regroup::{View, ViewNumber};
use crate::protocol::tolerant::{Defect, ViewSetup, Views};
use crate::protocol::{SessionParameters, SessionPlanError};
use crate::topology::{Graph, GraphError, Provenance, Topology};
use crate::vocabulary::PeerIndex;

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
pub struct ViewSession<S> {
    session: S,
    view: View,
    members: Arc<[PeerIndex]>,
}

impl<S> ViewSession<S> {
    /// The session.
    #[must_use]
    pub fn session(&self) -> &S {
        &self.session
    }

    /// Its members, in the order of their numbers.
    #[must_use]
    pub fn members(&self) -> &Arc<[PeerIndex]> {
        &self.members
    }

    /// The place of a member.
    ///
    /// # Errors
    /// [`ViewError::Stranger`].
    pub fn place(&self, member: PeerIndex) -> Result<PeerIndex, ViewError> {
        let place = self.members.binary_search(&member);
        let place = place.map_err(|_| ViewError::Stranger(member))?;
        Ok(PeerIndex::from_index(place))
    }
}

/// Sessions of views, each made once in a run, whose views form a chain. In another run the same number may be that of another view.
#[derive(Debug)]
struct Made<S>(Mutex<BTreeMap<ViewNumber, Arc<ViewSession<S>>>>);

impl<S> Default for Made<S> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<S> Made<S> {
    fn or_make(
        &self,
        view: &View,
        make: impl FnOnce(&[PeerIndex]) -> Result<S, ViewError>,
    ) -> Result<Arc<ViewSession<S>>, ViewError> {
        let mut made = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = made.get(&view.number)
            && known.view == *view
        {
            return Ok(Arc::clone(known));
        }
        let members: Arc<[PeerIndex]> = view.members.iter().collect();
        let fresh = Arc::new(ViewSession {
            session: make(&members)?,
            view: view.clone(),
            members,
        });
        made.insert(view.number, Arc::clone(&fresh));
        Ok(fresh)
    }
}

/// What every member may know of the sessions of all views: nothing of it derives from anybody's secret.
#[derive(Debug)]
pub struct PublicViews {
    session: PublicSession,
    averaging: Averaging,
    made: Made<PublicSession>,
}

impl PublicViews {
    /// The views of this session, whose schedule is this averaging's; it is compiled again for those who are left.
    #[must_use]
    pub fn new(session: PublicSession, averaging: Averaging) -> Self {
        Self {
            session,
            averaging,
            made: Made::default(),
        }
    }

    /// The session in which nothing has gone wrong.
    #[must_use]
    pub fn session(&self) -> &PublicSession {
        &self.session
    }

    /// The session among the members of this view. That of a view in which nothing has gone wrong is the session itself.
    ///
    /// # Errors
    /// Those of a view that does not fit the session.
    pub fn of(&self, view: &View) -> Result<Arc<ViewSession<PublicSession>>, ViewError> {
        self.made.or_make(view, |members| self.make(view, members))
    }

    fn make(&self, view: &View, members: &[PeerIndex]) -> Result<PublicSession, ViewError> {
        if is_whole(view, self.session.peers()) {
            return Ok(self.session.clone());
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
        let averaging = self.averaging.among(members);
        let schedule = averaging.compile(&topology, mixing_bounds(&topology))?;
        let all = self.session.plan().parameters();
        let parameters = SessionParameters {
            peers: members.len() as u32,
            scale_rounds: topology.diameter_bound().unwrap_or(0),
            averaging_rounds: schedule.rounds(),
            schedule: schedule.digest(),
            topology: graphs_digest(&topology, &noise_topology),
            ..all.clone()
        };
        let plan = Arc::new(self.session.plan().with(parameters)?);
        let start = Arc::clone(self.session.start());
        let graphs = (topology, noise_topology);
        Ok(PublicSession::new(plan, graphs, Arc::new(schedule), start)?)
    }
}

/// Whether nothing has gone wrong: the first view, of all peers.
fn is_whole(view: &View, peers: usize) -> bool {
    view.number == ViewNumber(0) && view.members.len() == peers
}

/// The views of a simulated session, with the rows and the noise of all members.
#[derive(Debug)]
pub struct SessionViews {
    session: Session,
    public: PublicViews,
    made: Made<Session>,
    pub(crate) defect: Option<Defect>,
}

impl SessionViews {
    /// The views of this session, whose schedule is this averaging's; it is compiled again for those who are left.
    #[must_use]
    pub fn new(session: Session, averaging: Averaging) -> Self {
        Self {
            public: PublicViews::new(session.public().clone(), averaging),
            session,
            made: Made::default(),
            defect: None,
        }
    }

    /// The session in which nothing has gone wrong.
    #[must_use]
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// The session among the members of this view, as [`PublicViews::of`], with rows and noise.
    ///
    /// Noise is derived under keys that are bound to the view's own plan and to [`View::digest`], which covers everything that was released
    /// before it. Views after different histories share no stream, and an attempt that is repeated draws fresh noise.
    ///
    /// # Errors
    /// Those of a view that does not fit the session.
    pub fn of(&self, view: &View) -> Result<Arc<ViewSession<Session>>, ViewError> {
        self.made.or_make(view, |_| self.make(view))
    }

    fn make(&self, view: &View) -> Result<Session, ViewError> {
        if is_whole(view, self.session.peers()) {
            return Ok(self.session.clone());
        }
        let made = self.public.of(view)?;
        let rows: Vec<LocalData> = made
            .members
            .iter()
            .map(|member| self.session.rows().local(member.index()))
            .collect();
        let mut setting = blake3::Hasher::new_derive_key("undertone 2026-11 view v2");
        setting.update(&self.session.setting);
        setting.update(self.session.plan().digest());
        if !self.defect.is_some_and(Defect::repeats_streams) {
            setting.update(&view.digest());
        }
        let public = made.session.clone();
        let sigma_central = self
            .session
            .sigma_central
            .min(public.plan().sigma_of_sum(1.0));
        Ok(Session::among(
            public,
            Arc::new(PeerRows::of_local(&rows)),
            self.session.seed.clone(),
            sigma_central,
            *setting.finalize().as_bytes(),
        )?)
    }
}

impl Views for SessionViews {
    fn setup(&self, view: &View, me: PeerIndex) -> Result<ViewSetup, Box<dyn Error + Send + Sync>> {
        let view = self.of(view)?;
        Ok(ViewSetup {
            setup: view.session.peer_setup(view.place(me)?, None),
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
