//! Results have the same bits on every machine: what depends on the platform is not used below the layers that describe them.

use std::path::Path;

use super::source::Source;
use super::{assert_none, the_sources};

/// Functions of `f64` that the mathematical library of the platform computes, each with roundings of its own. The crate `libm` has all
/// of them. Square roots and powers of whole exponents are not among them: one is exactly rounded, the other a product in fixed order.
const OF_THE_PLATFORM: [&str; 25] = [
    "exp", "exp2", "exp_m1", "ln", "ln_1p", "log", "log2", "log10", "powf", "sin", "cos", "tan",
    "sin_cos", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh",
    "cbrt", "hypot",
];

/// Folders whose numbers enter no plan, key, digest or release, and choose nothing.
const DESCRIBING: [&str; 7] = [
    "src/assess",
    "src/campaign/study",
    "src/campaign/sweep",
    "src/report",
    "src/live",
    "src/cli",
    "src/guide",
];

/// A method of this crate that is called like one of them: that of `Delta`, by `libm`.
const OUR_OWN: &str = "delta.ln(";

/// What a source computes with functions of the platform.
fn of_the_platform(source: &Source) -> Vec<String> {
    let path = Path::new(source.place());
    let describes = DESCRIBING.iter().any(|folder| path.starts_with(folder));
    if describes || source.is_test_file() {
        return Vec::new();
    }
    let code = source.without_tests().code.replace(OUR_OWN, "");
    // A line may begin with the call.
    let code: String = code.split_whitespace().collect();
    let ends = |rest: &str| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_');
    let named = |prefix: &str, name: &str| {
        let call = format!("{prefix}{name}");
        let mut found = code.match_indices(&call);
        found.any(|(at, _)| ends(&code[at + call.len()..]))
    };
    OF_THE_PLATFORM
        .iter()
        .filter(|name| code.contains(&format!(".{name}(")) || named("f64::", name))
        .map(|name| format!("{}: `{name}` is the platform's: use libm", source.path))
        .collect()
}

#[test]
fn results_do_not_use_the_mathematical_library_of_the_platform() {
    assert_none(
        &the_sources()
            .iter()
            .flat_map(of_the_platform)
            .collect::<Vec<_>>(),
    );
}

#[test]
fn functions_of_the_platform_are_found() {
    let caught = [
        "fn f(x: f64) -> f64 { x.exp() }",
        "fn f(x: f64) -> f64 {\n x\n .powf(2.0)\n}",
        "fn f(x: Option<f64>) -> Option<f64> { x.map(f64::ln) }",
        "fn f(delta: f64) -> f64 { (1.0 / delta).ln() }",
    ];
    for text in caught {
        let found = of_the_platform(&Source::new("src/privacy/made_up.rs", text));
        assert_eq!(found.len(), 1, "{text}: {found:?}");
        assert!(of_the_platform(&Source::new("src/report/made_up.rs", text)).is_empty());
    }
    let fine = [
        "fn f(x: f64) -> f64 { libm::exp(x).sqrt().powi(2) }",
        "fn f(delta: Delta) -> f64 { delta.ln() }",
        "// x.exp()",
        "#[cfg(test)]\nmod tests { fn f(x: f64) -> f64 { x.exp() } }",
    ];
    for text in fine {
        let found = of_the_platform(&Source::new("src/privacy/made_up.rs", text));
        assert!(found.is_empty(), "{text}: {found:?}");
    }
}
