//! The minimum Rust version, held without a second toolchain: no dependency may need a newer compiler than this package
//! promises. (That the package's own code uses nothing newer is a lint's work: `clippy::incompatible_msrv`.)

use std::process::Command;

use serde_json::Value;

use crate::support::repository;

/// Where the words of a version differ from numbers: `1.88` is `1.88.0`.
fn version(text: &str) -> Vec<u64> {
    let mut parts: Vec<u64> = text
        .split('.')
        .map(|part| part.parse().expect("a number"))
        .collect();
    parts.resize(3, 0);
    parts
}

/// Every package that asks for more than `ours`, and what it asks for.
fn too_new(packages: &[Value], ours: &str) -> Vec<String> {
    let newer = packages.iter().filter_map(|package| {
        let needed = package["rust_version"].as_str()?;
        let wrong = version(needed) > version(ours);
        wrong.then(|| {
            format!(
                "{} {} needs Rust {needed}",
                package["name"], package["version"]
            )
        })
    });
    newer.collect()
}

/// The platform this test was compiled on, as `rustc` names it.
fn host() -> String {
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    let told = Command::new(rustc)
        .arg("-vV")
        .output()
        .expect("rustc runs")
        .stdout;
    let told = String::from_utf8(told).expect("text");
    let host = told.lines().find_map(|line| line.strip_prefix("host: "));
    host.expect("rustc tells its host").to_owned()
}

#[test]
fn no_dependency_needs_a_newer_compiler_than_this_package_promises() {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let told = Command::new(cargo)
        .args(["metadata", "--locked", "--offline", "--format-version", "1"])
        .args(["--filter-platform", &host()])
        .current_dir(repository(""))
        .output()
        .expect("cargo runs");
    let problem = String::from_utf8_lossy(&told.stderr);
    assert!(told.status.success(), "{problem}");
    let metadata: Value = serde_json::from_slice(&told.stdout).expect("JSON");
    let packages = metadata["packages"].as_array().expect("a list");
    let ours = env!("CARGO_PKG_RUST_VERSION");
    // Without dependencies this would be a check of nothing.
    assert!(packages.len() > 100);
    let newer = too_new(packages, ours);
    assert!(
        newer.is_empty(),
        "rust-version = {ours}, but\n{}",
        newer.join("\n")
    );
}

#[test]
fn a_dependency_that_needs_more_is_caught() {
    let packages = |needed: Value| {
        [serde_json::json!({ "name": "a", "version": "1.0.0", "rust_version": needed })]
    };
    for (needed, caught) in [
        ("1.90", 1),
        ("1.88.1", 1),
        ("1.88", 0),
        ("1.9", 0),
        ("1.88.0", 0),
    ] {
        assert_eq!(
            too_new(&packages(needed.into()), "1.88").len(),
            caught,
            "{needed}"
        );
    }
    assert_eq!(too_new(&packages(Value::Null), "1.88"), [""; 0]);
}
