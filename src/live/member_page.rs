//! The page of a node: the session that it takes part in, and those that it took part in before.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::member::{Listed, Running, Written, first, letters, tell};
use super::picture::{Happened, Line, lock};
use super::scene::placed;
use super::serving::{LiveError, Server, Shown};
use crate::report::{MOST_EDGES, is_drawn};
use crate::topology::Graph;

/// What asking a node came to.
#[derive(Clone, Debug, Default)]
pub struct Asked {
    /// What the running node says of itself; none if no node runs.
    pub running: Option<Value>,
    /// Who takes part in its session.
    pub members: Option<Value>,
    /// Every session as its journal has it; none if nobody has looked again.
    pub sessions: Option<Value>,
    /// Why there is no answer.
    pub error: Option<String>,
}

/// A page that shows a node. Dropping it closes the page's server.
pub struct MemberPage {
    shown: Arc<Member>,
    server: Server,
}

impl std::fmt::Debug for MemberPage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The path is what keeps others out.
        f.write_str("MemberPage")
    }
}

/// The setting, sent again when it has changed.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
struct Scene {
    kind: &'static str,
    version: u64,
    name: String,
    session: String,
    own: String,
    peers: usize,
    edges: usize,
    promise: Option<String>,
    places: Vec<f32>,
    links: Vec<(u32, u32)>,
    names: Vec<String>,
}

/// A number of the page: its key, what it is, it, and how it is written where that is no number.
type Figure = (&'static str, &'static str, Value, Option<String>);

/// What changes.
#[derive(Clone, Debug, Default, Serialize)]
struct Picture {
    /// Version of the scene that it belongs to.
    scene: u64,
    phase: String,
    step: String,
    missing: Vec<String>,
    done: u32,
    total: u32,
    peers: String,
    figures: Vec<Figure>,
    sessions: Vec<Written>,
    all_sessions: usize,
    lines: Vec<Line>,
    happened: u64,
    error: Option<String>,
}

#[derive(Default)]
struct State {
    scene: Scene,
    listed: Listed,
    running: Option<Running>,
    has_run: bool,
    happened: Happened,
    picture: Picture,
}

#[derive(Default)]
struct Member {
    version: AtomicU64,
    state: Mutex<State>,
}

impl Shown for Member {
    fn version(&self) -> u64 {
        self.version.load(Ordering::Acquire)
    }

    fn scene(&self) -> String {
        serde_json::to_string(&lock(&self.state).scene).unwrap_or_default()
    }

    fn picture(&self) -> String {
        serde_json::to_string(&lock(&self.state).picture).unwrap_or_default()
    }
}

impl MemberPage {
    /// Serves the page of a node on the loopback interface; port 0 is any that is free.
    ///
    /// # Errors
    /// [`LiveError`].
    pub fn start(port: u16) -> Result<Self, LiveError> {
        let shown = Arc::new(Member::default());
        lock(&shown.state).scene.kind = "node";
        let server = Server::start(port, Arc::<Member>::clone(&shown), &Arc::new(()), [])?;
        Ok(Self { shown, server })
    }

    /// What to open in a browser. Whoever has it may watch.
    #[must_use]
    pub fn address(&self) -> &str {
        self.server.address()
    }

    /// Shows what the node was found to be.
    pub fn show(&self, asked: &Asked) {
        lock(&self.shown.state).take(asked);
        self.shown.version.fetch_add(1, Ordering::Release);
    }
}

/// A document of this form, or in words that it is none.
fn read<T: DeserializeOwned>(value: Option<&Value>, error: &mut Option<String>) -> Option<T> {
    let read = |value: &Value| serde_json::from_value(value.clone());
    value.map(read)?.map_or_else(
        |problem| {
            *error = Some(format!(
                "the node answers in another form than this program knows ({problem}): use one version for both"
            ));
            None
        },
        Some,
    )
}

impl State {
    fn take(&mut self, asked: &Asked) {
        let mut error = asked.error.clone();
        let running: Option<Running> = read(asked.running.as_ref(), &mut error);
        // What one failed question does not answer is as it was.
        if error.is_none() {
            tell(self.running.as_ref(), running.as_ref(), &mut self.happened);
            self.has_run |= running.is_some();
            self.running = running;
        }
        if let Some(listed) = read(asked.members.as_ref(), &mut error) {
            self.listed = listed;
            self.set_scene();
        }
        if let Some(sessions) = read(asked.sessions.as_ref(), &mut error) {
            (self.picture.sessions, self.picture.all_sessions) = first(sessions);
        }
        let picture = &mut self.picture;
        picture.scene = self.scene.version;
        if let Some(running) = &self.running {
            picture.phase.clone_from(&running.stage);
            picture.step.clone_from(&running.step);
            picture.missing.clone_from(&running.missing);
            (picture.done, picture.total) = (running.release, running.releases);
            picture.peers = letters(&self.listed, running);
            picture.figures = figures(running);
        } else {
            let own = picture
                .sessions
                .iter()
                .find(|one| one.session == self.listed.session);
            let ended = own.filter(|_| self.has_run);
            picture.step = ended.map_or(String::new(), |one| one.stage.clone());
            picture.missing.clear();
            picture.phase = if self.has_run { "ended" } else { "absent" }.to_owned();
        }
        picture.lines = self.happened.lines();
        picture.happened = self.happened.count;
        picture.error = error;
    }

    /// The graph anew, where it is another.
    fn set_scene(&mut self) {
        let Listed {
            session,
            name,
            own,
            members,
            links,
            promise,
            ..
        } = &self.listed;
        let mut scene = Scene {
            kind: "node",
            name: name.clone(),
            session: session.clone(),
            own: own.clone(),
            peers: members.len(),
            edges: links.len(),
            promise: promise.as_ref().map(|promise| promise.sentence()),
            links: links.clone(),
            names: members.clone(),
            ..Scene::default()
        };
        let old = &self.scene;
        let drawn = |scene: &Scene| (scene.names.clone(), scene.links.clone());
        if drawn(old) == drawn(&scene) {
            scene.places.clone_from(&old.places);
        } else if let Some(graph) = graph(members.len(), links) {
            scene.places = placed(&graph);
        }
        if scene.places.is_empty() {
            (scene.links, scene.names) = (Vec::new(), Vec::new());
        }
        scene.version = old.version;
        if scene != *old {
            scene.version += 1;
            self.scene = scene;
        }
    }
}

/// The graph of so many members, if it can be drawn; before they have agreed on one, everybody has the same place in it.
fn graph(members: usize, links: &[(u32, u32)]) -> Option<Graph> {
    let all = 0..u32::try_from(members).ok()?;
    let complete = || {
        let pairs = all.flat_map(|v| (0..v).map(move |u| (u, v)));
        pairs.take(MOST_EDGES + 1).collect::<Vec<_>>()
    };
    let graph = match links {
        [] => Graph::from_edges(members, &complete()),
        links => Graph::from_edges(members, links),
    };
    graph.ok().filter(is_drawn)
}

fn figures(running: &Running) -> Vec<Figure> {
    let released = format!("{} of {}", running.release, running.releases);
    let figure = |key, words, value: Value| (key, words, value, None);
    vec![
        (
            "release",
            "releases averaged",
            running.release.into(),
            (running.releases > 0).then_some(released),
        ),
        figure("iteration", "iteration", running.iteration.into()),
        figure("members", "members that take part", running.members.into()),
        figure(
            "charged",
            "releases charged to this member's ledger",
            running.charged.into(),
        ),
        figure(
            "mu_squared",
            "charged, sum of mu squared",
            running.mu_squared.into(),
        ),
        figure(
            "reserved",
            "reserved for the whole session",
            running.reserved.into(),
        ),
        figure(
            "seconds",
            "seconds since the node was started",
            running.seconds.round().into(),
        ),
    ]
}
