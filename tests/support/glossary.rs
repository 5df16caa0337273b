//! Finds words of printed text that the glossary does not have.

use std::collections::BTreeSet;

/// Most lines of a first screen.
pub(crate) const MOST_LINES: usize = 12;

/// Plain English and units, which no glossary explains.
const PLAIN: &[&str] = &[
    "a",
    "above",
    "adds",
    "after",
    "again",
    "against",
    "all",
    "also",
    "an",
    "and",
    "another",
    "any",
    "are",
    "as",
    "at",
    "be",
    "because",
    "before",
    "below",
    "besides",
    "best",
    "better",
    "between",
    "beyond",
    "but",
    "by",
    "can",
    "chance",
    "changed",
    "changes",
    "column",
    "columns",
    "computation",
    "corrected",
    "data",
    "described",
    "details",
    "difference",
    "different",
    "do",
    "each",
    "ends",
    "error",
    "every",
    "for",
    "from",
    "graph",
    "had",
    "hardly",
    "has",
    "have",
    "held",
    "if",
    "in",
    "included",
    "into",
    "is",
    "it",
    "its",
    "know",
    "large",
    "later",
    "least",
    "leaves",
    "less",
    "lists",
    "make",
    "may",
    "mean",
    "missing",
    "more",
    "most",
    "narrower",
    "never",
    "no",
    "non",
    "none",
    "not",
    "notes",
    "nothing",
    "number",
    "of",
    "on",
    "one",
    "only",
    "or",
    "other",
    "out",
    "output",
    "over",
    "overlap",
    "particular",
    "per",
    "place",
    "protect",
    "reached",
    "read",
    "reconstruction",
    "result",
    "see",
    "several",
    "spent",
    "tell",
    "than",
    "that",
    "the",
    "their",
    "them",
    "there",
    "they",
    "this",
    "those",
    "time",
    "times",
    "to",
    "too",
    "two",
    "under",
    "up",
    "was",
    "were",
    "what",
    "where",
    "whether",
    "which",
    "whoever",
    "why",
    "will",
    "with",
    "within",
    "without",
    // Units.
    "b",
    "bytes",
    "gb",
    "kb",
    "mb",
    "ms",
    "s",
    "tb",
];

/// The words that text for newcomers may use.
pub(crate) struct Glossary {
    words: BTreeSet<String>,
}

impl Glossary {
    /// The words of the terms in `src/guide/glossary.md`, and plain English.
    pub(crate) fn read() -> Self {
        Self::of(include_str!("../../src/guide/glossary.md"))
    }

    /// The words of the first two columns of the tables in this text, terms and symbols, and plain English.
    fn of(text: &str) -> Self {
        let rows = text.lines().filter_map(|line| line.strip_prefix('|'));
        let terms = rows.flat_map(|row| row.split('|').take(2));
        let terms = terms.flat_map(words);
        let plain = PLAIN.iter().map(|word| (*word).to_owned());
        Self {
            words: terms.chain(plain).collect(),
        }
    }

    /// Whether the glossary has the word, in the singular or in the plural.
    fn has(&self, word: &str) -> bool {
        let singular = [Some(word), word.strip_suffix('s'), word.strip_suffix("es")];
        let ending_in_y = word.strip_suffix("ies").map(|stem| format!("{stem}y"));
        let mut forms = singular.into_iter().flatten();
        forms.any(|form| self.words.contains(form))
            || ending_in_y.is_some_and(|form| self.words.contains(&form))
    }

    /// Words of the text that are neither in the glossary nor plain English, in order of appearance. `names` are names
    /// in the experiment file and paths, which are left out.
    pub(crate) fn unknown(&self, text: &str, names: &[String]) -> Vec<String> {
        let mut unknown = Vec::new();
        for token in text.split_whitespace() {
            let bare = token.trim_matches(|c: char| !c.is_alphanumeric());
            let is_name = |name: &String| name == token || name == bare;
            // What can be typed explains itself with `--help`.
            let is_flag = token.starts_with("--");
            if is_flag || names.iter().any(is_name) {
                continue;
            }
            let missing = words(token).filter(|word| !self.has(word));
            unknown.extend(missing);
        }
        unknown.dedup();
        unknown
    }

    /// Panics with a list if the text has too many lines or an unknown word.
    pub(crate) fn assert_first_screen(&self, what: &str, text: &str, names: &[String]) {
        self.assert_screen(what, (text, text.lines().count()), names);
    }

    /// As [`Self::assert_first_screen`], but without a limit on the rows of tables, which begin with two blanks.
    pub(crate) fn assert_screen_of_many(&self, what: &str, text: &str, names: &[String]) {
        let others = text.lines().filter(|line| !line.starts_with("  "));
        self.assert_screen(what, (text, others.count()), names);
    }

    fn assert_screen(&self, what: &str, (text, lines): (&str, usize), names: &[String]) {
        assert!(
            lines <= MOST_LINES,
            "{what}: {lines} lines, and a first screen has at most {MOST_LINES}:\n{text}"
        );
        let unknown = self.unknown(text, names);
        assert!(
            unknown.is_empty(),
            "{what}: not in src/guide/glossary.md: {unknown:?}\n{text}"
        );
    }
}

/// The words of a text in lower case: runs of letters that are not part of a number such as 1e-5.
fn words(text: &str) -> impl Iterator<Item = String> {
    let mut without_numbers = String::new();
    let mut in_number = false;
    for c in text.chars() {
        in_number = match c {
            '0'..='9' => true,
            'e' | 'E' => in_number,
            _ => false,
        };
        without_numbers.push(if in_number { ' ' } else { c });
    }
    let found = without_numbers.split(|c: char| !c.is_alphabetic());
    let found: Vec<String> = found
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    found.into_iter()
}

/// The texts and keys in a configuration, and their parts, which names of series are made of.
pub(crate) fn parts_in(config: &str) -> Vec<String> {
    let all = texts_in(config, true);
    let parts = all
        .iter()
        .flat_map(|name| name.split([' ', ',', ';', '=', '.']));
    parts.map(str::to_owned).chain(all.clone()).collect()
}

/// The texts in a configuration: names of kinds, generators and files, which a first screen may show.
pub(crate) fn names_in(config: &str) -> Vec<String> {
    texts_in(config, false)
}

/// The texts in a configuration, and its keys if they are asked for.
fn texts_in(config: &str, with_keys: bool) -> Vec<String> {
    let table: toml::Table = config.parse().expect("a configuration is TOML");
    let mut all = Vec::new();
    collect(&toml::Value::Table(table), with_keys, &mut all);
    all
}

fn collect(value: &toml::Value, with_keys: bool, texts: &mut Vec<String>) {
    match value {
        toml::Value::String(text) => texts.push(text.clone()),
        toml::Value::Array(all) => {
            all.iter().for_each(|one| collect(one, with_keys, texts));
        }
        toml::Value::Table(all) => {
            for (key, one) in all {
                texts.extend(with_keys.then(|| key.clone()));
                collect(one, with_keys, texts);
            }
        }
        _ => {}
    }
}

#[test]
fn words_that_a_glossary_lacks_are_found() {
    let glossary = Glossary::of("| term | x |\n| relative error | e |\n| peer, query | u |\n");
    let names = names_in("name = \"mine\"\n[a]\nb = [\"random-regular\"]\n");
    let unknown = |text: &str| glossary.unknown(text, &names);
    let none: [&str; 0] = [];
    assert_eq!(
        unknown("mine: 3 peers, 1e-5 of 2.36 GB; queries (Relative errors)"),
        none
    );
    assert_eq!(unknown("random-regular graph"), none);
    assert_eq!(unknown("random graph"), ["random"]);
    assert_eq!(unknown("peers over a flumbershire"), ["flumbershire"]);
    assert_eq!(unknown("recall@20 (mu = 3)"), ["recall", "mu"]);
}

#[test]
fn screens_that_are_too_long_or_have_unknown_words_are_refused() {
    let glossary = Glossary::of("| peer |\n");
    let refused = |text: String| {
        std::panic::catch_unwind(|| glossary.assert_first_screen("it", &text, &[])).is_err()
    };
    assert!(!refused("peers\n".repeat(MOST_LINES)));
    assert!(refused("peers\n".repeat(MOST_LINES + 1)));
    assert!(refused("peers and gossips\n".to_owned()));
    let many = |text: String| {
        std::panic::catch_unwind(|| glossary.assert_screen_of_many("it", &text, &[])).is_err()
    };
    assert!(!many("peers\n".to_owned() + &"  peers\n".repeat(99)));
    assert!(many("peers\n".repeat(MOST_LINES + 1)));
    assert!(many("  gossips\n".to_owned()));
}
