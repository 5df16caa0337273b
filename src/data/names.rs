//! Ids as found in a file, numbered in order of first appearance.

use std::collections::BTreeMap;

use super::error::{Problem, excerpt};
use crate::vocabulary::Spellings;

/// The distinct ids seen so far.
///
/// Ids that are plain numbers (most are) are looked up by value and stored once. An id that is another spelling of
/// one before is refused.
pub(super) struct Names {
    what: &'static str,
    most: usize,
    longest: usize,
    list: Vec<String>,
    numbers: BTreeMap<u64, u32>,
    words: BTreeMap<Box<str>, u32>,
    spellings: Spellings,
    last: usize,
}

impl Names {
    /// No ids yet. `what` is `user`, `item` or `peer`, `most` how many there may be, `longest` their bytes.
    pub(super) fn new(what: &'static str, most: usize, longest: usize) -> Self {
        Self {
            what,
            most,
            longest,
            list: Vec::new(),
            numbers: BTreeMap::new(),
            words: BTreeMap::new(),
            spellings: Spellings::default(),
            last: 0,
        }
    }

    /// The index of `name`, which is the next free one if it is new.
    pub(super) fn index(&mut self, name: &str) -> Result<u32, Problem> {
        if self.list.get(self.last).is_some_and(|last| last == name) {
            return Ok(self.last as u32);
        }
        let number = canonical_number(name);
        let index = match find(&self.numbers, &self.words, name) {
            Some(index) => index,
            None => self.append(name, number)?,
        };
        self.last = index as usize;
        Ok(index)
    }

    fn append(&mut self, name: &str, number: Option<u64>) -> Result<u32, Problem> {
        if name.is_empty() {
            return Err(Problem::EmptyId { what: self.what });
        }
        if name.len() > self.longest {
            return Err(Problem::TooMany {
                what: match self.what {
                    "user" => "bytes in a user id",
                    "peer" => "bytes in the name of a peer",
                    _ => "bytes in an item id",
                },
                limit: self.longest as u64,
            });
        }
        if self.list.len() >= self.most {
            return Err(Problem::TooMany {
                what: match self.what {
                    "user" => "users",
                    "peer" => "peers",
                    _ => "items",
                },
                limit: self.most as u64,
            });
        }
        if name.contains('\t') || name.trim() != name {
            return Err(Problem::BlankInId {
                what: self.what,
                id: excerpt(name),
            });
        }
        let known = |form: &str| find(&self.numbers, &self.words, form).is_some();
        if let Some(earlier) = self.spellings.clash(name, known) {
            return Err(Problem::Spelling {
                what: self.what,
                id: excerpt(name),
                earlier: excerpt(&earlier),
            });
        }
        let index = self.list.len() as u32;
        match number {
            Some(number) => self.numbers.insert(number, index),
            None => self.words.insert(name.into(), index),
        };
        self.list.push(name.to_owned());
        Ok(index)
    }

    /// The id numbered `index`.
    pub(super) fn name(&self, index: u32) -> &str {
        &self.list[index as usize]
    }

    /// Number of distinct ids.
    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    /// The ids in order of first appearance.
    pub(super) fn into_list(self) -> Vec<String> {
        self.list
    }
}

/// The index of `name` among numbers and words, if it is there.
fn find(numbers: &BTreeMap<u64, u32>, words: &BTreeMap<Box<str>, u32>, name: &str) -> Option<u32> {
    let found = match canonical_number(name) {
        Some(number) => numbers.get(&number),
        None => words.get(name),
    };
    found.copied()
}

/// The number that `name` is, if writing that number gives `name` again.
fn canonical_number(name: &str) -> Option<u64> {
    let digits = name.as_bytes();
    let canonical = matches!(digits.len(), 1..=19)
        && digits.iter().all(u8::is_ascii_digit)
        && (digits.len() == 1 || digits[0] != b'0');
    if canonical { name.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_text_and_numbered_by_first_appearance() {
        let mut names = Names::new("user", 10, 30);
        let ids = [
            "7",
            "08",
            "b",
            "7",
            "+9",
            "18446744073709551616",
            "b",
            "0",
            "08",
        ];
        let indices: Vec<u32> = ids
            .iter()
            .map(|id| names.index(id).expect("room"))
            .collect();
        assert_eq!(indices, [0, 1, 2, 0, 3, 4, 2, 5, 1]);
        for again in ["07", "+7", "7.0", "8", "9", "00", "-0"] {
            assert!(
                matches!(
                    names.index(again),
                    Err(Problem::Spelling { what: "user", .. })
                ),
                "{again}"
            );
        }
        for blank in [" a", "a ", "a\tb", "\u{a0}a"] {
            assert!(
                matches!(names.index(blank), Err(Problem::BlankInId { .. })),
                "{blank:?}"
            );
        }
        assert_eq!(
            names.into_list(),
            ["7", "08", "b", "+9", "18446744073709551616", "0"]
        );
    }

    #[test]
    fn limits_hold_for_count_and_length() {
        let mut names = Names::new("item", 1, 3);
        assert_eq!(names.index(""), Err(Problem::EmptyId { what: "item" }));
        assert!(matches!(
            names.index("long"),
            Err(Problem::TooMany { limit: 3, .. })
        ));
        assert_eq!(names.index("abc"), Ok(0));
        assert!(matches!(
            names.index("x"),
            Err(Problem::TooMany {
                limit: 1,
                what: "items"
            })
        ));
        assert_eq!(names.index("abc"), Ok(0));
    }
}
