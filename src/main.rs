//! The `undertone` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    undertone::cli::main()
}
