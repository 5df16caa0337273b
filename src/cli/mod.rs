//! The command line: arguments, terminal output, exit codes.
//!
//! Exit codes: 0 success, 1 a check failed, 2 bad usage or input; `node` adds 3 and 4.

/// Like the standard `println!`, but a reader that has left (`| head -1`) is no reason to panic.
macro_rules! println {
    ($($words:tt)*) => {
        $crate::cli::print_line(format_args!($($words)*))
    };
}

mod advise;
mod arguments;
mod audit;
mod auto;
mod colour;
mod faults;
mod interrupted;
mod live;
mod mistyped;
#[cfg(feature = "node")]
mod node;
mod privacy;
mod progress;
mod recommend;
mod run;
mod signed;
mod study;
mod sweep;
mod sweep_details;
mod sweep_labels;
mod sweep_pareto;
mod sweep_points;
mod sweep_screen;
mod sweep_target;
mod table;
mod topology;
mod verify;

use std::process::ExitCode;

use clap::Parser;

use arguments::{Arguments, Command};

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Everything asked for was done and holds.
    Success,
    /// It was done, and a check failed.
    CheckFailed,
}

/// Parses the arguments, runs the command and maps its result to an exit code.
#[must_use]
pub fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            let typed: Vec<String> = std::env::args_os()
                .skip(1)
                .map(|word| word.to_string_lossy().into_owned())
                .collect();
            let error = mistyped::with_tip(error, &typed);
            let code = if error.use_stderr() { 2 } else { 0 };
            // A closed pipe is no reason to complain.
            let _ = error.print();
            return ExitCode::from(code);
        }
    };
    size_limits_are_errors();
    let outcome = match &arguments.command {
        Command::Run(options) => run::execute(options),
        Command::Verify(options) => verify::execute(options),
        Command::Privacy(options) => privacy::execute(options),
        Command::Advise(options) => advise::execute(options),
        Command::Audit(options) => audit::execute(options),
        Command::Recommend(options) => recommend::execute(options),
        Command::Faults(command) => faults::execute(command),
        Command::Sweep(command) => sweep::execute_command(command),
        Command::Topology(options) => topology::execute(options),
        #[cfg(feature = "node")]
        Command::Node(command) => node::execute(command),
    };
    match outcome {
        Ok(Verdict::Success) => ExitCode::SUCCESS,
        Ok(Verdict::CheckFailed) => ExitCode::from(1),
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            report(&error);
            ExitCode::from(code(&error))
        }
    }
}

/// The exit code of a command that ends with an error: 2, unless the files of a peer say otherwise.
fn code(error: &anyhow::Error) -> u8 {
    #[cfg(feature = "node")]
    for cause in error.chain() {
        use crate::node::member::MemberError;
        use crate::node::store::{LedgerError, StoreError};
        use crate::run::RunError;
        if let Some(RunError::Swarm(error)) = cause.downcast_ref::<RunError>()
            && error.error().concerns_a_host()
        {
            return 1;
        }
        if let Some(error) = cause.downcast_ref::<MemberError>() {
            return error.exit_code();
        }
        if let Some(error) = cause.downcast_ref::<StoreError>() {
            return error.exit_code();
        }
        if let Some(error) = cause.downcast_ref::<LedgerError>() {
            return error.exit_code();
        }
    }
    #[cfg(not(feature = "node"))]
    let _ = error;
    2
}

/// Makes a file that grows beyond the process's size limit (`ulimit -f`) a failed write, which is reported and
/// cleaned up after, instead of the signal that ends the process.
fn size_limits_are_errors() {
    #[cfg(unix)]
    {
        use signal_hook::{consts::SIGXFSZ, flag};
        // Only that there is a handler matters. Without it the signal ends the process: also no half result.
        let _ = flag::register(SIGXFSZ, std::sync::Arc::default());
    }
}

/// Prints one line. What nobody reads any more is not missed; other failures end the program.
fn print_line(line: std::fmt::Arguments<'_>) {
    use std::io::{ErrorKind, Write};
    match writeln!(anstream::stdout(), "{line}") {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            colour::error(format_args!("cannot write to standard output: {error}"));
            std::process::exit(2);
        }
        _ => {}
    }
}

/// The error and its causes, one line each; a cause that is already quoted is not repeated.
fn report(error: &anyhow::Error) {
    let mut said = error.to_string();
    colour::error(&said);
    for cause in error.chain().skip(1).map(ToString::to_string) {
        if !said.contains(cause.trim_end()) {
            eprintln!("  because: {cause}");
            said = cause;
        }
    }
}

/// Warnings go to standard error, with `--quiet` too: they say what a result is worth.
fn warn(warnings: &[impl std::fmt::Display]) {
    warnings.iter().for_each(colour::warn);
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<std::io::Error>())
        .any(|cause| cause.kind() == std::io::ErrorKind::BrokenPipe)
}
