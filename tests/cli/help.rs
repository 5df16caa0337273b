//! Every subcommand explains itself.

use crate::support::command::undertone;

const COMMANDS: &[&[&str]] = &[
    &["run"],
    &["advise"],
    &["verify"],
    &["privacy"],
    &["topology"],
    &["faults", "shrink"],
    &["sweep", "merge"],
    &["topology", "inspect"],
    &["topology", "generate"],
    &["topology", "list"],
    #[cfg(feature = "node")]
    &["node", "init"],
    #[cfg(feature = "node")]
    &["node", "id"],
    #[cfg(feature = "node")]
    &["node", "ledger"],
    #[cfg(feature = "node")]
    &["node", "status"],
    #[cfg(feature = "node")]
    &["node", "abandon"],
    #[cfg(feature = "node")]
    &["node", "verify-evidence"],
    #[cfg(feature = "node")]
    &["node", "compose"],
];

#[test]
fn every_subcommand_s_help_shows_an_example_and_exits_with_0() {
    for command in COMMANDS {
        let arguments = [*command, &["--help"]].concat();
        let shown = undertone(&arguments);
        assert_eq!(shown.code, Some(0), "{command:?}");
        assert_eq!(shown.stderr, "", "{command:?}");
        let example = format!("  undertone {}", command.join(" "));
        let (_, examples) = shown
            .stdout
            .split_once("Example")
            .unwrap_or_else(|| panic!("{command:?} shows no example:\n{}", shown.stdout));
        assert!(examples.contains(&example), "{command:?}: {examples}");
    }
}

#[test]
fn the_top_level_help_says_where_to_start_and_what_exit_codes_mean() {
    let shown = undertone(&["--help"]);
    assert_eq!(shown.code, Some(0));
    for word in [
        "run",
        "verify",
        "privacy",
        "topology",
        "sims/quickstart.toml",
        "Exit codes",
    ] {
        assert!(shown.stdout.contains(word), "{word}");
    }
}

#[test]
fn the_version_is_the_crate_s() {
    let shown = undertone(&["--version"]);
    assert_eq!(shown.code, Some(0));
    assert_eq!(
        shown.stdout.trim(),
        concat!("undertone ", env!("CARGO_PKG_VERSION"))
    );
}

#[test]
fn bad_usage_exits_with_2_and_prints_nothing_on_standard_output() {
    let empty: [&str; 0] = [];
    for arguments in [
        &["rnu"][..],
        &["run"],
        &["run", "a.toml", "--sede", "1"],
        &empty,
    ] {
        let shown = undertone(arguments);
        assert_eq!(shown.code, Some(2), "{arguments:?}");
        assert_eq!(shown.stdout, "", "{arguments:?}");
        assert!(
            shown.stderr.contains("Usage"),
            "{arguments:?}: {}",
            shown.stderr
        );
    }
}
