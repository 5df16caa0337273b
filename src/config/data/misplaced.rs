//! Says of a key of `[data]` that the family has not what it is about.

use super::Family;

/// Keys that say at this value that there is nothing of what they are about, which is true of every family.
const NEUTRAL: [(&str, f64); 3] = [("threshold", 0.0), ("items", 0.0), ("degree_floor", 1.0)];

/// Keys of numbers.
const NUMBERS: [&str; 9] = [
    "ranges",
    "row_limit",
    "centre",
    "means",
    "raw_clip",
    "mean_share",
    "row_clip",
    "scale",
    "image",
];

/// What a key of another family means here.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::config) enum ForeignKey {
    /// Nothing: it says that there is none of something that the family has not.
    Neutral,
    /// A mistake, with what to do.
    Refused(String),
}

/// What a key that other families have means in this one, with its value if it is a number; `None` where the family has it, and where none has.
pub(in crate::config) fn misplaced(
    family: Family,
    key: &str,
    value: Option<f64>,
) -> Option<ForeignKey> {
    let has = |family: &Family| family.keys().contains(&key);
    if has(&family) || !Family::ALL.iter().any(has) {
        return None;
    }
    if NEUTRAL
        .iter()
        .any(|(known, none)| *known == key && value == Some(*none))
    {
        return Some(ForeignKey::Neutral);
    }
    let why = match (key, family) {
        ("generate", _) => {
            "belongs to format = \"generated\", which belongs to it: give both or neither"
        }
        (_, Family::Graph | Family::Bipartite) => {
            "is about ratings or rows, and this file is a graph or a matrix whose rows and columns are the peers: leave it out"
        }
        ("drop", _) => "is a key of formats \"matrix-csv\" and \"npy\"; leave it out",
        ("columns", _) => "is a key of format = \"table\"; leave it out, or set the format",
        (key, Family::Interactions) if NUMBERS.contains(&key) => {
            "is about numbers, and this file is read as who interacted with what: set values = \"ratings\", choose a format of matrices, or \
             leave it out"
        }
        ("threshold" | "degree_floor", _) => {
            "is about interactions, and this file is read as numbers; leave it out"
        }
        ("image", _) => {
            "is the shape of the rows of a matrix, and this is a rating file; leave it out"
        }
        (_, Family::Ratings) => {
            "is about a mean of every column of a matrix, and this is a rating file; leave it out"
        }
        _ => "is about rating files, and this is a matrix; leave it out",
    };
    Some(ForeignKey::Refused(format!("[data] {key} {why}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_of_another_family_is_refused_with_a_reason_and_what_no_family_has_is_left_to_the_reader()
     {
        for &family in Family::ALL {
            for other in Family::ALL {
                for key in other.keys() {
                    let said = misplaced(family, key, Some(7.0));
                    match family.keys().contains(key) {
                        true => assert_eq!(said, None, "{family:?} {key}"),
                        false => assert!(
                            matches!(&said, Some(ForeignKey::Refused(why)) if why.contains(key) && why.contains("leave it out") || *key == "generate"),
                            "{family:?} {key}: {said:?}"
                        ),
                    }
                }
            }
            assert_eq!(misplaced(family, "itms", None), None);
        }
        assert_eq!(
            misplaced(Family::Matrix, "threshold", Some(0.0)),
            Some(ForeignKey::Neutral)
        );
    }
}
