//! The module paths that a source names.

use super::source::Source;

/// The paths below the crate's root that a source names, each from the layer on: `crate::a::b`,
/// `undertone::a`, groups `crate::{a, b::c}`, and chains of `super` that reach the root.
pub(super) fn layers_named(source: &Source) -> Vec<Vec<String>> {
    let tokens = tokens(&source.code);
    let mut found = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let supers = tokens[at..]
            .chunks(2)
            .take_while(|pair| *pair == ["super", "::"])
            .count();
        let next =
            if ["crate", "undertone"].contains(&tokens[at]) && tokens.get(at + 1) == Some(&"::") {
                at + 2
            } else if supers >= source.module().len() {
                // Modules inside the file may add levels; then this is the root or above one of them.
                at + 2 * supers
            } else {
                at += (2 * supers).max(1);
                continue;
            };
        at = tree(&tokens, next, &mut Vec::new(), &mut found);
    }
    found
}

/// Reads one use-tree at `at`; pushes each of its leaves below `prefix`; returns where it ends.
fn tree(
    tokens: &[&str],
    mut at: usize,
    prefix: &mut Vec<String>,
    found: &mut Vec<Vec<String>>,
) -> usize {
    let length = prefix.len();
    loop {
        match tokens.get(at) {
            Some(&"{") => {
                at += 1;
                while at < tokens.len() && tokens[at] != "}" {
                    at = tree(tokens, at, prefix, found).max(at + 1);
                    // What follows a leaf: a comma, or `as name`.
                    while at < tokens.len() && tokens[at - 1] != "," && tokens[at] != "}" {
                        at += 1;
                    }
                }
                at += 1;
                break;
            }
            Some(word) if is_word(word) => {
                prefix.push((*word).to_owned());
                at += 1;
                if tokens.get(at) == Some(&"::") {
                    at += 1;
                    continue;
                }
                found.push(prefix.clone());
                break;
            }
            _ => {
                if prefix.len() > length {
                    found.push(prefix.clone());
                }
                break;
            }
        }
    }
    prefix.truncate(length);
    at
}

pub(super) fn is_word(token: &str) -> bool {
    token.chars().all(|c| c.is_alphanumeric() || c == '_')
}

/// Words, `::`, and single characters.
pub(super) fn tokens(code: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = code.trim_start();
    while let Some(first) = rest.chars().next() {
        let word = rest
            .find(|c: char| !(c.is_alphanumeric() || c == '_'))
            .unwrap_or(rest.len());
        let length = match word {
            0 if rest.starts_with("::") => 2,
            0 => first.len_utf8(),
            length => length,
        };
        tokens.push(&rest[..length]);
        rest = rest[length..].trim_start();
    }
    tokens
}

#[test]
fn use_trees_are_read_to_their_leaves() {
    let source = Source::new(
        "src/a/b.rs",
        "use crate::{x::{y, z::*}, w as v}; use super::super::q::{r};",
    );
    let named: Vec<String> = layers_named(&source)
        .iter()
        .map(|path| path.join("::"))
        .collect();
    assert_eq!(named, ["x::y", "x::z", "w", "q::r"]);
}
