//! `undertone run --live`: shows a run on a page, and keeps the page after the run.

use anyhow::{Result, ensure};

use super::arguments::RunArguments;
use super::progress::Progress;
use crate::engine::Observer;
use crate::run::summary::Summary;
use crate::scenario::Experiment;

/// The page of a run, if one was asked for.
pub(super) struct Showing {
    #[cfg(feature = "live")]
    live: Option<crate::live::Live>,
}

impl Showing {
    /// Refuses `--live` where there is no single run to show.
    pub(super) fn refuse(arguments: &RunArguments, what: &str) -> Result<()> {
        #[cfg(feature = "live")]
        ensure!(
            arguments.live.is_none(),
            "--live shows one run, and {} is {what}: leave --live out, and open report.html when it has ended",
            arguments.experiment.sim.display()
        );
        #[cfg(not(feature = "live"))]
        let _ = (arguments, what);
        Ok(())
    }

    /// Starts the page and says where it is.
    #[cfg(feature = "live")]
    pub(super) fn start(arguments: &RunArguments, experiment: &Experiment) -> Result<Self> {
        use crate::config::EngineKind;
        let Some(port) = arguments.live else {
            return Ok(Self { live: None });
        };
        let kind = experiment.config().engine.kind;
        ensure!(
            !arguments.paused || kind == EngineKind::Event,
            "--paused needs virtual time, and engine {} has none: add --engine event",
            kind.name()
        );
        let live = crate::live::Live::start(experiment, port, arguments.paused)?;
        eprintln!("live: {}", live.address());
        Ok(Self { live: Some(live) })
    }

    /// This build has no page.
    #[cfg(not(feature = "live"))]
    pub(super) fn start(_: &RunArguments, _: &Experiment) -> Result<Self> {
        Ok(Self {})
    }

    /// What watches the run.
    pub(super) fn observer<'a>(
        &self,
        experiment: &Experiment,
        progress: &'a mut Progress,
    ) -> Box<dyn Observer + 'a> {
        #[cfg(feature = "live")]
        if let Some(live) = &self.live {
            return Box::new(live.watch(experiment, progress));
        }
        let _ = experiment;
        Box::new(Passing(progress))
    }

    /// All is written.
    pub(super) fn done(&self, summary: &Summary) {
        #[cfg(feature = "live")]
        if let Some(live) = &self.live {
            live.done(summary);
        }
        #[cfg(not(feature = "live"))]
        let _ = summary;
    }

    /// There is no result.
    pub(super) fn failed(&self, why: &dyn std::fmt::Display) {
        #[cfg(feature = "live")]
        if let Some(live) = &self.live {
            live.failed(&why.to_string());
        }
        #[cfg(not(feature = "live"))]
        let _ = why;
    }

    /// Keeps the page until Ctrl-C.
    pub(super) fn stay(&self) {
        #[cfg(feature = "live")]
        if let Some(live) = &self.live {
            let ends = super::interrupted::interrupted();
            eprintln!("live: {} stays until Ctrl-C", live.address());
            while !ends.load(std::sync::atomic::Ordering::Relaxed) {
                std::thread::sleep(std::time::Duration::from_millis(50));
            }
        }
    }
}

/// An observer behind a reference.
struct Passing<'a>(&'a mut Progress);

impl Observer for Passing<'_> {
    fn released(&mut self, record: &crate::engine::ReleaseRecord) {
        self.0.released(record);
    }

    fn progress(&mut self, done: u64, total: u64) {
        self.0.progress(done, total);
    }
}
