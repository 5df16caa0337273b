//! Says of a key of `[algorithm]` that the kind has not which kinds have it.

use super::algorithms::KINDS;

/// What the kinds that have a key do with it, and nothing else.
const WHY: [(&str, &str); 8] = [
    ("arrival", "its rows come in batches"),
    ("block", "its queries are blocks"),
    ("clip", "it clips what rows contribute"),
    ("coherence", "its noise can be scaled by a coherence"),
    ("eigenvalue_share", "it releases eigenvalues"),
    ("momentum", "its steps have a momentum"),
    ("output", "it gives a low-rank approximation"),
    ("scale", "its noise can be scaled by a coherence"),
];

/// Whether a kind has a key; also not if there is no such kind.
pub(super) fn has_key(kind: &str, key: &str) -> bool {
    let found = KINDS.iter().find(|(name, _)| *name == kind);
    found.is_some_and(|(_, keys)| keys().contains(&key))
}

/// Why this kind does not take a key that others have, with the value as a file has it after the key; `None` where it does, where no kind does, and for a kind that there is not.
pub(super) fn misplaced(kind: &str, key: &str, shown: &dyn Fn() -> String) -> Option<String> {
    let others = KINDS.iter().filter(|(name, _)| has_key(name, key));
    let others: Vec<&str> = others.map(|(name, _)| *name).collect();
    let is_kind = KINDS.iter().any(|(name, _)| *name == kind);
    if !is_kind || others.is_empty() || others.contains(&kind) {
        return None;
    }
    let shown = shown();
    // A kind that is still to be chosen.
    if !has_key(kind, "iterations") {
        return Some(match key.starts_with("precondition") {
            true => format!(
                "algorithm.kind = {kind:?} with algorithm.{key}: candidates are compared by the eigenvectors of A, not of P A P; leave \
                 {key} out, or name the algorithm"
            ),
            false => format!(
                "[algorithm] {key}{shown} with kind = {kind:?}, which chooses it: leave it out, or name the algorithm"
            ),
        });
    }
    let why = WHY.iter().find(|(known, _)| *known == key);
    let why = why.map_or(String::new(), |(_, why)| format!(", since {why}"));
    let have = if others.len() == 1 { "has" } else { "have" };
    let quoted: Vec<String> = others.iter().map(|name| format!("{name:?}")).collect();
    Some(format!(
        "algorithm.{key}{shown} with algorithm.kind = {kind:?}: only {} {have} it{why}; leave {key} out, or set algorithm.kind = {}",
        listed(&others, "and"),
        listed(&quoted, "or"),
    ))
}

/// Names, with a word before the last.
fn listed(names: &[impl AsRef<str>], word: &str) -> String {
    let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
    match names.as_slice() {
        [rest @ .., last] if !rest.is_empty() => format!("{} {word} {last}", rest.join(", ")),
        _ => names.concat(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_of_another_kind_is_sent_there_and_a_key_of_none_is_not() {
        let text = misplaced("power", "block", &|| " = 4".to_owned()).expect("krylov has it");
        assert_eq!(
            text,
            "algorithm.block = 4 with algorithm.kind = \"power\": only krylov has it, since its queries are blocks; leave block out, or set \
             algorithm.kind = \"krylov\""
        );
        let text =
            misplaced("deflation", "precondition", &String::new).expect("five kinds have it");
        assert!(
            text.contains("krylov, covariance and isometric-covariance have it"),
            "{text}"
        );
        assert!(
            text.contains("set algorithm.kind = \"power\", \"momentum\""),
            "{text}"
        );
        assert!(
            misplaced("auto", "iterations", &String::new)
                .expect("chosen")
                .contains("which chooses it")
        );
        for (kind, key) in [("power", "blok"), ("krylov", "block"), ("warp", "block")] {
            assert_eq!(misplaced(kind, key, &String::new), None, "{kind} {key}");
        }
    }

    #[test]
    fn what_is_said_of_a_key_is_about_a_key() {
        for (key, _) in WHY {
            assert!(KINDS.iter().any(|(kind, _)| has_key(kind, key)), "{key}");
        }
    }
}
