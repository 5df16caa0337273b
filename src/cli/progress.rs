//! A progress bar on standard error, when it is a terminal.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

use crate::campaign::sweep::Advance;
use crate::engine::{IterationRecord, Observer};

/// Shows how far a run is. Invisible when standard error is no terminal or with `--quiet`.
pub(crate) struct Progress {
    bar: ProgressBar,
}

impl Progress {
    pub(crate) fn new(what: &str, quiet: bool) -> Self {
        let bar = if quiet {
            ProgressBar::hidden()
        } else {
            ProgressBar::new(0)
        };
        let style =
            ProgressStyle::with_template("{msg:12} {bar:40} {percent:>3}% {elapsed} (eta {eta})")
                .expect("the template is constant and valid");
        bar.set_style(style);
        bar.set_message(what.to_owned());
        bar.enable_steady_tick(Duration::from_millis(200));
        Self { bar }
    }

    pub(crate) fn message(&self, what: &str) {
        self.bar.set_message(what.to_owned());
    }

    /// Shows how many cells of a sweep are done.
    pub(crate) fn advance(&self, advance: Advance) {
        self.steps(advance.done as u64, advance.total as u64);
    }

    /// Shows how many of so many steps are done; may be called from any thread.
    pub(crate) fn steps(&self, done: u64, total: u64) {
        if self.bar.length() != Some(total) {
            self.bar.set_length(total);
        }
        self.bar.set_position(done);
    }

    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

impl Observer for Progress {
    fn iteration(&mut self, record: &IterationRecord) {
        self.bar.set_message(record.iteration.to_string());
    }

    fn progress(&mut self, done: u64, total: u64) {
        self.steps(done, total);
    }
}
