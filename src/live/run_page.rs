//! The page of a run.

use std::sync::Arc;

use axum::extract::State;
use axum::routing::{MethodRouter, post};

use super::picture::{Phase, Shared};
use super::scene::Scene;
use super::serving::{LiveError, Server, Shown};
use super::watching::{Watching, conclude};
use crate::engine::Observer;
use crate::run::summary::Summary;
use crate::scenario::Experiment;

/// A page that shows a run. Dropping it closes the page's server and lets a paused run go on.
pub struct Live {
    shared: Arc<Shared>,
    server: Server,
}

impl std::fmt::Debug for Live {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The path is what keeps others out.
        f.write_str("Live")
    }
}

/// What browsers are sent.
struct Run {
    shared: Arc<Shared>,
    scene: String,
}

impl Shown for Run {
    fn version(&self) -> u64 {
        self.shared.version()
    }

    fn scene(&self) -> String {
        self.scene.clone()
    }

    fn picture(&self) -> String {
        // Numbers that are none have no place in JSON: serde writes null.
        serde_json::to_string(&self.shared.picture()).unwrap_or_default()
    }
}

impl Live {
    /// Serves the page of an experiment on the loopback interface; port 0 is any that is free.
    ///
    /// # Errors
    /// [`LiveError`].
    pub fn start(experiment: &Experiment, port: u16, paused: bool) -> Result<Self, LiveError> {
        let shared = Arc::new(Shared::new(experiment.topology().graph().nodes()));
        if paused {
            shared.pause();
        }
        let scene = serde_json::to_string(&Scene::of(experiment));
        let shown = Run {
            shared: Arc::clone(&shared),
            scene: scene.map_err(|error| LiveError::Start(error.to_string()))?,
        };
        let buttons: [(&str, Press); 4] = [
            ("pause", Shared::pause),
            ("resume", Shared::go_on),
            ("step", |shared| shared.allow(1)),
            ("leap", |shared| shared.allow(1_000)),
        ];
        let buttons = buttons.map(|(name, press)| (name, button(press)));
        let server = Server::start(port, Arc::new(shown), &shared, buttons)?;
        Ok(Self { shared, server })
    }

    /// What to open in a browser. Whoever has it may watch and pause the run.
    #[must_use]
    pub fn address(&self) -> &str {
        self.server.address()
    }

    /// An observer that shows what it is told and passes it on.
    #[must_use]
    pub fn watch<'a>(&self, experiment: &Experiment, inner: &'a mut dyn Observer) -> Watching<'a> {
        let session = experiment.session(&experiment.root_seed());
        Watching::new(inner, Arc::clone(&self.shared), session)
    }

    /// The run is over and written.
    pub fn done(&self, summary: &Summary) {
        conclude(&self.shared, summary);
    }

    /// The run ended without a result.
    pub fn failed(&self, why: &str) {
        self.shared.write(|state| {
            state.phase = Phase::Failed;
            state.error = Some(why.to_owned());
        });
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        self.shared.release_brake();
    }
}

/// What a button of the page does.
type Press = fn(&Shared);

/// Where a press of a button arrives.
fn button(press: Press) -> MethodRouter<Arc<Shared>> {
    post(move |State(shared): State<Arc<Shared>>| async move { press(&shared) })
}
