//! How large the sources are, counted one way by everybody: `cargo test --test main -- layering::size --nocapture`.

use super::source::{Source, read_all};

/// The most lines of code in `src` and `crates`: neither blank nor comment, outside what is compiled for tests only.
const MOST_CODE: usize = 106_850;

/// What was counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Size {
    /// Lines of code.
    code: usize,
    /// Lines of code that are compiled for tests only.
    tests: usize,
    /// `cfg(test)` and `cfg(not(test))` on fields, statements and expressions of code that ships.
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
        let code = lines(&source.without_tests().code);
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

/// How often code is switched by `cfg(test)` without being an item of its own.
fn switches(code: &str) -> usize {
    const ITEMS: [&str; 12] = [
        "mod ", "use ", "fn ", "impl", "struct ", "enum ", "const ", "static ", "type ", "trait ",
        "extern ", "unsafe ",
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
    let marks = ["#[cfg(test)]", "#[cfg(not(test))]"];
    let count = |mark: &str| {
        let after = code.match_indices(mark).map(|(at, _)| at + mark.len());
        after.filter(|at| !is_item(&code[*at..])).count()
    };
    marks.map(count).iter().sum::<usize>() + code.matches("cfg!(test)").count()
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

#[test]
fn comments_blanks_and_tests_are_no_code() {
    let text = "//! About.\n\nfn one() -> u32 { // here\n    let s = \"a\n// b\";\n    1\n}\n#[cfg(test)]\nmod tests {\n    fn two() {}\n}\n";
    let size = Size::of(&Source::new("src/a.rs", text));
    assert_eq!((size.code, size.switches), (4, 0));
    assert!(size.tests >= 3, "{size:?}");
    let switched = "struct A {\n    #[cfg(test)]\n    wrong: bool,\n    #[cfg(not(test))]\n    right: u8,\n}\n#[cfg(test)]\npub(crate) fn three() {}\n";
    assert_eq!(Size::of(&Source::new("src/b.rs", switched)).switches, 2);
    let of_tests = Size::of(&Source::new("tests/c.rs", text));
    assert_eq!(of_tests.code, 0);
}
