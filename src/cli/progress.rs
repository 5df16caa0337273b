//! A progress bar on standard error, when it is a terminal.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::campaign::sweep::Advance;
use crate::engine::{Observer, ReleaseRecord};

/// Shows how far a run is. Invisible when standard error is no terminal or with `--quiet`.
#[derive(Clone)]
pub(crate) struct Progress {
    bar: ProgressBar,
}

impl Progress {
    pub(crate) fn new(what: &str, quiet: bool) -> Self {
        let target = match quiet {
            true => ProgressDrawTarget::hidden(),
            false => ProgressDrawTarget::stderr(),
        };
        Self::on(what, target)
    }

    fn on(what: &str, target: ProgressDrawTarget) -> Self {
        // A length of 0 would count as done.
        let bar = ProgressBar::with_draw_target(None, target);
        let style =
            ProgressStyle::with_template("{msg:12} {bar:40} {percent:>3}% {elapsed} (eta {eta})")
                .expect("the template is constant and valid");
        bar.set_style(style);
        bar.set_message(what.to_owned());
        bar.enable_steady_tick(Duration::from_millis(200));
        Self { bar }
    }

    /// Begins another part of the work, of which nothing is done yet.
    pub(crate) fn message(&self, what: &str) {
        self.bar.unset_length();
        self.bar.set_position(0);
        self.bar.reset_eta();
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
    fn released(&mut self, record: &ReleaseRecord) {
        self.bar.set_message(record.iteration.to_string());
    }

    fn progress(&mut self, done: u64, total: u64) {
        self.steps(done, total);
    }
}

#[cfg(test)]
mod tests {
    use std::io::Result;
    use std::sync::{Arc, Mutex};

    use indicatif::TermLike;

    use super::*;

    /// A terminal that keeps all that was drawn.
    #[derive(Clone, Debug, Default)]
    struct Drawn(Arc<Mutex<String>>);

    impl TermLike for Drawn {
        fn width(&self) -> u16 {
            100
        }
        fn move_cursor_up(&self, _: usize) -> Result<()> {
            Ok(())
        }
        fn move_cursor_down(&self, _: usize) -> Result<()> {
            Ok(())
        }
        fn move_cursor_right(&self, _: usize) -> Result<()> {
            Ok(())
        }
        fn move_cursor_left(&self, _: usize) -> Result<()> {
            Ok(())
        }
        fn write_line(&self, text: &str) -> Result<()> {
            self.write_str(text)
        }
        fn write_str(&self, text: &str) -> Result<()> {
            self.0.lock().expect("one thread").push_str(text);
            Ok(())
        }
        fn clear_line(&self) -> Result<()> {
            self.write_str("|")
        }
        fn flush(&self) -> Result<()> {
            Ok(())
        }
    }

    #[test]
    fn no_part_of_the_work_begins_as_done() {
        let drawn = Drawn::default();
        let target = ProgressDrawTarget::term_like(Box::new(drawn.clone()));
        let progress = Progress::on("reading", target);
        let shown = || {
            progress.bar.force_draw();
            std::mem::take(&mut *drawn.0.lock().expect("one thread"))
        };
        let begun = shown();
        assert!(begun.contains("reading"), "{begun}");
        assert!(!begun.contains("100%"), "{begun}");
        progress.steps(4, 4);
        assert!(shown().contains("100%"));
        progress.message("verifying");
        progress.bar.force_draw();
        let next = shown();
        let last = next.rsplit("verifying").next().expect("never empty");
        assert!(
            next.contains("verifying") && last.contains("  0%"),
            "{next}"
        );
    }
}
