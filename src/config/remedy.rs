//! What to write instead of what a file may not have, from what its parser says.

use super::known_keys::keys_called;

/// Most keys of other tables that a remedy names.
const MOST: usize = 3;

/// What to change where a parser refuses with this message, as one line or example; nothing where the message says it already.
pub(super) fn remedy(message: &str) -> Option<String> {
    if let Some(key) = quoted_after(message, "missing field ") {
        return example(key).map(|text| format!("add it, for example:\n{text}"));
    }
    if let Some(key) = quoted_after(message, "unknown field ") {
        let tables = keys_called(key);
        return match (1..=MOST).contains(&tables.len()) {
            true => Some(format!("did you mean {}?", tables.join(" or "))),
            false => nearest(key, message).or_else(|| Some("leave it out".to_owned())),
        };
    }
    if let Some(value) = quoted_after(message, "unknown variant ") {
        return nearest(value, message);
    }
    if message.starts_with("duplicate key") {
        return Some("it is there twice: leave one of the two out".to_owned());
    }
    if message.starts_with("unexpected key or value") {
        return Some(
            "a number has a point, such as 0.5, and a list brackets, such as [1, 2]".to_owned(),
        );
    }
    let is_other = ["invalid type: ", "invalid value: "]
        .iter()
        .any(|start| message.starts_with(start));
    let expected = is_other.then(|| message.rsplit_once("expected "))?;
    let wanted = match expected.map(|(_, expected)| expected.trim())? {
        "usize" | "u8" | "u16" | "u32" | "u64" => "a whole number of at least 0",
        "nonzero usize" | "a nonzero usize" | "a nonzero u32" => "a whole number of at least 1",
        "f64" => "a number",
        "a string" | "path string" => "text in quotes",
        "a boolean" => "true or false",
        "a sequence" => "a list, such as [1, 2]",
        _ => return None,
    };
    let quotes = match message.contains("string \"") && wanted != "text in quotes" {
        true => ", without quotes",
        false => "",
    };
    Some(format!("write {wanted}{quotes}"))
}

/// What stands in `…` after these words, with which the message begins.
fn quoted_after<'a>(message: &'a str, words: &str) -> Option<&'a str> {
    message.strip_prefix(words)?.split('`').nth(1)
}

/// Which of the names that were expected was meant, if one is alike.
fn nearest(found: &str, message: &str) -> Option<String> {
    let (_, expected) = message.split_once("expected ")?;
    let names = expected.split('`').skip(1).step_by(2);
    let distance = |name: &str| strsim::damerau_levenshtein(found, name);
    let name = names.min_by_key(|name| distance(name))?;
    let most = (found.chars().count() / 3).max(1);
    (distance(name) <= most).then(|| format!("did you mean `{name}`?"))
}

/// What a file can have where this key is missing.
fn example(key: &str) -> Option<&'static str> {
    Some(match key {
        "data" => "[data]\npath = \"ratings.csv\"\nformat = \"csv-triples\"",
        "format" => {
            "format = \"csv-triples\" (user,item,rating), \"movielens-csv\", \"table\", \"matrix-csv\" or \"npy\"; all are in the guide, experiment_files"
        }
        "privacy" => "[privacy]\nepsilon = 1.0",
        "epsilon" => "epsilon = 1.0",
        "kind" => "kind = \"covariance\"",
        "rank" => "rank = 4",
        "momentum" => "momentum = 0.01, a number near (lambda_(rank+1) / 2)^2",
        "nuclear" => {
            "nuclear = 100.0, the public size of the ball, in units of ratings; of the order of the largest singular value of the ratings times the \
             number of iterations"
        }
        "row_clip" => {
            "row_clip = 1.0, a public bound on the length of a row, to which longer ones are shortened; choose it without looking at them"
        }
        "clip" => "clip = \"histogram\"",
        "iterations" => "iterations = 3, or 1 with kind = \"covariance\"",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_meant_is_said() {
        for (message, expected) in [
            (
                "missing field `epsilon`",
                Some("add it, for example:\nepsilon = 1.0"),
            ),
            ("missing field `nobody knows`", None),
            (
                "unknown field `itms`, expected one of `path`, `items`",
                Some("did you mean `items`?"),
            ),
            // A key of another table.
            (
                "unknown field `epsilon`, expected one of `path`, `items`",
                Some("did you mean privacy.epsilon?"),
            ),
            (
                "unknown field `frobnicate`, expected one of `path`, `items`",
                Some("leave it out"),
            ),
            (
                "unknown field `x`, there are no fields",
                Some("leave it out"),
            ),
            (
                "unknown variant `krylow`, expected `power` or `krylov`",
                Some("did you mean `krylov`?"),
            ),
            ("unknown variant ``, expected `power`", None),
            (
                "duplicate key",
                Some("it is there twice: leave one of the two out"),
            ),
            (
                "invalid type: string \"6\", expected usize",
                Some("write a whole number of at least 0, without quotes"),
            ),
            (
                "invalid type: floating point `3.5`, expected u32",
                Some("write a whole number of at least 0"),
            ),
            (
                "invalid type: integer `3`, expected a string",
                Some("write text in quotes"),
            ),
            ("invalid type: integer `3`, expected anything else", None),
        ] {
            assert_eq!(remedy(message).as_deref(), expected, "{message}");
        }
    }
}
