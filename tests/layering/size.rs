//! How large the sources are, counted one way by everybody: `cargo test --test main -- layering::size --nocapture`.

use super::source::{Source, read_all, words};

/// The most lines of code in `src` and `crates`: neither blank nor comment, outside what is compiled for tests only.
const MOST_CODE: usize = 110_580;

/// What was counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Size {
    /// Lines of code.
    code: usize,
    /// Lines of code that are compiled for tests only.
    tests: usize,
    /// Code that ships and that a build for tests replaces or adds to ([`switches`]).
    switches: usize,
}

impl Size {
    fn of(source: &Source) -> Self {
        let lines = |code: &str| code.lines().filter(|line| !line.trim().is_empty()).count();
        let all = lines(&source.code);
        if !source.path.starts_with("src/") && !source.path.starts_with("crates/")
            || source.is_test_file()
        {
            return Self {
                tests: all,
                ..Self::default()
            };
        }
        let code = lines(&source.without_testing().code);
        Self {
            code,
            tests: all.saturating_sub(code),
            switches: switches(&source.code),
        }
    }

    fn plus(self, other: Self) -> Self {
        Self {
            code: self.code + other.code,
            tests: self.tests + other.tests,
            switches: self.switches + other.switches,
        }
    }
}

/// How often code is switched by `test` in a `cfg`: a field, statement or expression, or any item of builds that are not for tests. Items of their own
/// that tests alone have are none, nor are both halves of a type that has no values without the feature `testing`.
fn switches(code: &str) -> usize {
    const ITEMS: [&str; 13] = [
        "mod ", "use ", "fn ", "impl", "struct ", "enum ", "const ", "static ", "type ", "trait ",
        "extern ", "unsafe ", "async ",
    ];
    let is_item = |after: &str| {
        let mut rest = after.trim_start();
        while let Some(attribute) = rest.strip_prefix("#[") {
            let end = attribute.find(']').map_or(attribute.len(), |end| end + 1);
            rest = attribute[end..].trim_start();
        }
        let rest = match rest.strip_prefix("pub") {
            Some(scope) if scope.starts_with('(') => {
                let end = scope.find(')').map_or(scope.len(), |end| end + 1);
                scope[end..].trim_start()
            }
            Some(scope) => scope.trim_start(),
            None => rest,
        };
        ITEMS.iter().any(|item| rest.starts_with(item))
    };
    let is_of_tests = |condition: &str| words(condition).any(|word| word == "test");
    let is_switch = |(at, _): &(usize, &str)| {
        let rest = &code[*at..];
        let (condition, after) = rest.split_once(']').unwrap_or((rest, ""));
        is_of_tests(condition) && (condition == "#[cfg(not(test))" || !is_item(after))
    };
    let is_expression = |(at, _): &(usize, &str)| {
        let rest = &code[*at..];
        is_of_tests(rest.split(')').next().unwrap_or(rest))
    };
    let attributes = code.match_indices("#[cfg(").filter(is_switch);
    attributes.count() + code.match_indices("cfg!(").filter(is_expression).count()
}

#[test]
fn the_sources_do_not_outgrow_their_limit() {
    let folders = ["src", "crates", "tests"];
    let size = folders
        .iter()
        .flat_map(|folder| read_all(folder))
        .map(|source| Size::of(&source))
        .fold(Size::default(), Size::plus);
    println!(
        "{} lines of code, {} of tests, {} switches by cfg(test)",
        size.code, size.tests, size.switches
    );
    assert!(size.code <= MOST_CODE, "{} lines of code", size.code);
}

/// What is tested is what ships.
#[test]
fn no_line_that_ships_is_another_one_in_tests() {
    for source in ["src", "crates"].into_iter().flat_map(read_all) {
        let Size { switches, .. } = Size::of(&source);
        assert_eq!(
            switches, 0,
            "{} has {switches} fields, statements, expressions or items that `cfg(test)` adds to a build for tests, or `cfg(not(test))` takes \
             from it, so that what is tested is not what ships. Make what tests change a type that has no values without the feature \
             `testing`, hold an `Option` of it, and match on that in every build: see crates/core/src/noise/defect.rs. What only tests call may be an item of \
             its own under `cfg(test)`.",
            source.path
        );
    }
}

#[test]
fn comments_blanks_and_tests_are_no_code() {
    let text = "//! About.\n\nfn one() -> u32 { // here\n    let s = \"a\n// b\";\n    1\n}\n#[cfg(test)]\nmod tests {\n    fn two() {}\n}\n";
    let size = Size::of(&Source::new("src/a.rs", text));
    assert_eq!((size.code, size.switches), (4, 0));
    assert!(size.tests >= 3, "{size:?}");
    let switched = "struct A {\n    #[cfg(test)]\n    wrong: bool,\n    #[cfg(not(test))]\n    right: u8,\n}\n#[cfg(test)]\npub(crate) fn three() {}\n";
    assert_eq!(Size::of(&Source::new("src/b.rs", switched)).switches, 2);
    let replaced = "#[cfg(not(test))]\nfn four() {}\nfn five() -> bool {\n    #[cfg(any(test, feature = \"testing\"))]\n    return cfg!(test);\n    true\n}\n#[cfg(not(any(test, feature = \"testing\")))]\nmod six {}\n#[cfg(unix)]\nmod seven {}\n";
    assert_eq!(Size::of(&Source::new("src/c.rs", replaced)).switches, 3);
    let of_tests = Size::of(&Source::new("tests/c.rs", text));
    assert_eq!(of_tests.code, 0);
}
