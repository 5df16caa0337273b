//! The modules of a tree of sources, and the file in which a path that one of them names is defined.

use std::collections::{BTreeMap, BTreeSet};

use super::paths::{is_word, tokens};
use super::source::Source;

/// Re-exports are followed at most this often: two modules may re-export each other.
const MOST_HOPS: usize = 16;

/// Words after which a name is defined.
const DEFINING: [&str; 9] = [
    "struct",
    "enum",
    "trait",
    "fn",
    "const",
    "static",
    "type",
    "union",
    "macro_rules",
];

/// One file as a module.
pub(super) struct Module {
    /// The file.
    pub(super) file: String,
    /// The names of the modules from the crate's root to this one.
    pub(super) path: Vec<String>,
    /// Names defined at the outermost level of the file.
    defined: BTreeSet<String>,
    /// What `use` brings in: the name it has here (`*` for all of them) and where it is taken from.
    imports: Vec<(String, Vec<String>)>,
    /// Paths in the code itself.
    mentions: Vec<Vec<String>>,
}

/// An arrow: one file takes a name that another defines.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Arrow {
    pub(super) from: usize,
    pub(super) to: usize,
    /// The path as the first file writes it.
    pub(super) named: String,
}

/// All modules of a crate that are not compiled for tests only.
pub(super) struct Modules {
    pub(super) modules: Vec<Module>,
    by_path: BTreeMap<Vec<String>, usize>,
    /// Every arrow between two files, except those from a module to what stands inside it: it declares that, and hands it on.
    pub(super) arrows: BTreeSet<Arrow>,
}

impl Modules {
    pub(super) fn of(sources: &[Source]) -> Self {
        let kept = sources
            .iter()
            .filter(|source| source.place().starts_with("src/") && source.path != "src/main.rs")
            .filter(|source| !source.is_test_file());
        let mut modules: Vec<Module> = kept
            .map(|source| Module::of(&source.without_tests()))
            .collect();
        modules.sort_by(|a, b| a.file.cmp(&b.file));
        let by_path = (0..modules.len())
            .map(|index| (modules[index].path.clone(), index))
            .collect();
        let mut crate_modules = Self {
            modules,
            by_path,
            arrows: BTreeSet::new(),
        };
        crate_modules.arrows = crate_modules.drawn();
        crate_modules
    }

    fn drawn(&self) -> BTreeSet<Arrow> {
        let mut arrows = BTreeSet::new();
        for (from, module) in self.modules.iter().enumerate() {
            let imported = module.imports.iter().map(|(_, path)| path);
            for path in imported.chain(&module.mentions) {
                let Some(to) = self.resolve(from, path, MOST_HOPS) else {
                    continue;
                };
                let inside = self.modules[to].path.starts_with(&module.path);
                if !inside {
                    let named = path.join("::");
                    arrows.insert(Arrow { from, to, named });
                }
            }
        }
        arrows
    }

    /// The module that defines what `path` means in the module `from`; `None` for names of other crates.
    fn resolve(&self, from: usize, path: &[String], hops: usize) -> Option<usize> {
        let hops = hops.checked_sub(1)?;
        let own = &self.modules[from].path;
        let supers = path.iter().take_while(|part| *part == "super").count();
        let first = path.first()?.as_str();
        let (start, rest) = match first {
            "crate" | "undertone" => (Vec::new(), &path[1..]),
            "self" => (own.clone(), &path[1..]),
            "super" => (
                own[..own.len().saturating_sub(supers)].to_vec(),
                &path[supers..],
            ),
            _ if self.knows(from, first) => (own.clone(), path),
            _ => return None,
        };
        self.walk(*self.by_path.get(&start)?, rest, hops)
    }

    /// Follows `path` from inside a module to the module that defines its end.
    fn walk(&self, mut at: usize, path: &[String], hops: usize) -> Option<usize> {
        for (index, part) in path.iter().enumerate() {
            if part == "self" || part == "*" {
                continue;
            }
            if let Some(child) = self.child(at, part) {
                at = child;
                continue;
            }
            let module = &self.modules[at];
            if module.defined.contains(part) {
                return Some(at);
            }
            let rest = &path[index + 1..];
            let by_name = module.imports.iter().filter(|(name, _)| name == part);
            for (_, source) in by_name {
                let whole: Vec<String> = source.iter().chain(rest).cloned().collect();
                if let Some(found) = self.resolve(at, &whole, hops) {
                    return Some(found);
                }
            }
            let globs = module.imports.iter().filter(|(name, _)| name == "*");
            for (_, source) in globs {
                let found = self.resolve(at, source, hops).filter(|&inner| inner != at);
                if let Some(inner) = found.filter(|&inner| self.knows(inner, part)) {
                    return self.walk(inner, &path[index..], hops.checked_sub(1)?);
                }
            }
            // A name that a macro defines, say.
            return Some(at);
        }
        Some(at)
    }

    fn child(&self, at: usize, name: &str) -> Option<usize> {
        let mut path = self.modules[at].path.clone();
        path.push(name.to_owned());
        self.by_path.get(&path).copied()
    }

    /// Whether the module itself says what the name is.
    fn knows(&self, at: usize, name: &str) -> bool {
        let module = &self.modules[at];
        self.child(at, name).is_some()
            || module.defined.contains(name)
            || module.imports.iter().any(|(known, _)| known == name)
    }
}

impl Module {
    fn of(source: &Source) -> Self {
        let tokens = tokens(&source.code);
        let mut module = Self {
            file: source.path.clone(),
            path: source.module(),
            defined: BTreeSet::new(),
            imports: Vec::new(),
            mentions: Vec::new(),
        };
        let (mut at, mut depth) = (0, 0_usize);
        while at < tokens.len() {
            let next = |ahead: usize| tokens.get(at + ahead).copied().unwrap_or("");
            match tokens[at] {
                "{" | "(" | "[" => depth += 1,
                "}" | ")" | "]" => depth = depth.saturating_sub(1),
                "use" if next(1) != "<" => {
                    at = import(&tokens, at + 1, &mut Vec::new(), &mut module.imports);
                    continue;
                }
                word if depth == 0 && DEFINING.contains(&word) => {
                    let name = if next(1) == "!" { next(2) } else { next(1) };
                    module.defined.insert(name.to_owned());
                }
                // `pub(in crate::a)` names no more than who may look.
                "in" if at > 0 && tokens[at - 1] == "(" => at += 1,
                word if is_word(word) && next(1) == "::" && (at == 0 || tokens[at - 1] != "::") => {
                    let mut path = vec![word.to_owned()];
                    while tokens.get(at + 1) == Some(&"::")
                        && tokens.get(at + 2).is_some_and(|word| is_word(word))
                    {
                        path.push(tokens[at + 2].to_owned());
                        at += 2;
                    }
                    module.mentions.push(path);
                }
                _ => {}
            }
            at += 1;
        }
        module
    }
}

/// Reads the use-tree at `at` below `prefix`; returns where it ends.
fn import(
    tokens: &[&str],
    mut at: usize,
    prefix: &mut Vec<String>,
    found: &mut Vec<(String, Vec<String>)>,
) -> usize {
    let length = prefix.len();
    while let Some(&token) = tokens.get(at) {
        match token {
            "::" => at += 1,
            "{" => {
                at += 1;
                while at < tokens.len() && tokens[at] != "}" {
                    at = import(tokens, at, prefix, found);
                    at += usize::from(tokens.get(at) == Some(&","));
                }
                at += 1;
                break;
            }
            "*" => {
                prefix.push("*".to_owned());
                found.push(("*".to_owned(), prefix.clone()));
                at += 1;
                break;
            }
            word if is_word(word) => {
                prefix.push(word.to_owned());
                at += 1;
                if tokens.get(at) == Some(&"::") {
                    continue;
                }
                let mut name = word;
                if tokens.get(at) == Some(&"as") {
                    name = tokens.get(at + 1).copied().unwrap_or("_");
                    at += 2;
                }
                if name == "self" {
                    name = prefix.iter().rev().nth(1).map_or("self", String::as_str);
                }
                found.push((name.to_owned(), prefix.clone()));
                break;
            }
            _ => break,
        }
    }
    prefix.truncate(length);
    at
}
