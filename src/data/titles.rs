//! Titles of items: a table of ids and titles, such as MovieLens `movies.csv`, `movies.dat` and `u.item`.
//!
//! ```text
//! file      = [ names ] { record }
//! names     = field separator field { separator field }  with a usual name of ids and one of titles, in any order
//! record    = field separator field { separator field }  as many fields on every line; without names: id, title, others
//! separator = tab, semicolon, comma, "|" or "::": the first of these to stand in the first line
//! ```
//!
//! Fields as in every comma-separated format here; between `|` or `::` quotes mean nothing, as MovieLens writes these files. A file
//! without names has a number as its first id. Lines that are not UTF-8 are read as Latin-1.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use csv::StringRecord;

use super::error::{DataError, Problem, excerpt};
use super::formats::fields::{number, split_fields};
use super::formats::{Format, ITEMS, plain, without_type};
use super::names::Names;
use super::source::{Limits, Lines};

/// Usual names of the titles' column, as [`plain`] gives them.
const TITLES: [&str; 12] = [
    "title",
    "name",
    "itemtitle",
    "itemname",
    "movietitle",
    "moviename",
    "booktitle",
    "artistname",
    "producttitle",
    "productname",
    "businessname",
    "label",
];
/// Characters of a title that are kept.
const LONGEST: usize = 200;
const LAYOUT: &str = "at least 2: id, title";

/// A sentence on where titles of the items of a rating file are found. `format` is that of the rating file, where it is known.
#[must_use]
pub(crate) fn titles_hint(format: Option<Format>) -> &'static str {
    match format {
        Some(Format::MovielensCsv | Format::MovielensDat) => {
            "movies.csv (or movies.dat) of the same MovieLens collection, such as ml-latest-small of \
             grouplens.org/datasets/movielens/latest, named in data.titles or with --titles"
        }
        _ => "a table of ids and titles, named in data.titles or with --titles",
    }
}

/// Reads titles by item id, from a plain or gzipped file; see [`read_titles`].
///
/// # Errors
/// [`DataError::Open`] if the file cannot be opened, and everything [`read_titles`] refuses.
pub(crate) fn load_titles(path: &Path) -> Result<BTreeMap<String, String>, DataError> {
    let name = path.display().to_string();
    match File::open(path) {
        Ok(file) => read_titles(file, &name),
        Err(error) => Err(DataError::Open {
            file: name,
            kind: error.kind(),
        }),
    }
}

/// Reads titles by item id.
///
/// The separator and the columns are found by the first line: tab, semicolon, comma, `|` (MovieLens `u.item`) or `::` (`movies.dat`), with
/// named columns or, where the first field is a number, id and title first. Blanks around ids and titles are dropped, titles of more than 200
/// characters are shortened, and an id without a title is left out. Titles need not differ.
///
/// # Errors
/// [`DataError`] at a first line that names no columns and holds no record, at the first line that has more or fewer fields than it, names an
/// id again or in another spelling, holds a character that cannot be seen, or exceeds the default [`Limits`].
pub(crate) fn read_titles(
    source: impl Read,
    source_name: &str,
) -> Result<BTreeMap<String, String>, DataError> {
    let limits = Limits::default();
    let mut lines = Lines::open(source, source_name, limits)?;
    let mut titles = Titles {
        ids: Names::new("item", limits.items, limits.name_bytes),
        layout: None,
        titles: BTreeMap::new(),
    };
    let mut record = StringRecord::new();
    while lines.advance()? {
        let text = lines.text_or_latin1()?;
        if !text.trim().is_empty() {
            titles
                .line(&text, &mut record)
                .map_err(|problem| lines.error(problem))?;
        }
    }
    Ok(titles.titles)
}

/// The arrangement of the lines of a file, found on the first one.
struct Layout {
    separator: &'static str,
    /// Places of id and title.
    places: [usize; 2],
    /// Fields on every line.
    width: usize,
    /// Name of the ids' column.
    heading: Option<String>,
}

impl Layout {
    /// The layout that the first line, split into `record`, shows.
    fn of(text: &str, separator: &'static str, record: &StringRecord) -> Result<Self, Problem> {
        let width = record.len();
        let named = |usual: &[&str]| {
            let is_usual = |name: &str| usual.contains(&plain(without_type(name)).as_str());
            record.iter().position(is_usual)
        };
        let ids = || named(&["id"]).or_else(|| named(&ITEMS));
        let (places, heading) = match (ids(), named(&TITLES)) {
            (Some(id), Some(title)) if id != title => {
                ([id, title], record.get(id).map(str::to_owned))
            }
            _ if width >= 2 && record.get(0).is_some_and(|id| number(id, "").is_ok()) => {
                ([0, 1], None)
            }
            _ => {
                return Err(Problem::Header {
                    found: excerpt(text),
                    expected: "\"id,title\" (or movieId, item_id, name and the like, in any order, among other columns)",
                });
            }
        };
        Ok(Self {
            separator,
            places,
            width,
            heading,
        })
    }
}

/// Titles so far.
struct Titles {
    ids: Names,
    layout: Option<Layout>,
    titles: BTreeMap<String, String>,
}

impl Titles {
    fn line(&mut self, text: &str, record: &mut StringRecord) -> Result<(), Problem> {
        let separator = match &self.layout {
            Some(layout) => layout.separator,
            None => separator(text),
        };
        split(text, separator, record)?;
        let layout = match &self.layout {
            Some(layout) => layout,
            None => {
                let layout = self.layout.insert(Layout::of(text, separator, record)?);
                if layout.heading.is_some() {
                    return Ok(());
                }
                layout
            }
        };
        if record.len() < 2 {
            return Err(Problem::TooFewFields {
                found: record.len(),
                layout: LAYOUT,
            });
        }
        if record.len() != layout.width {
            return Err(Problem::TableWidth {
                found: record.len(),
                expected: layout.width,
            });
        }
        let [id, title] = layout.places.map(|at| record.get(at).unwrap_or_default());
        if layout.heading.as_deref() == Some(id) {
            return Err(Problem::HeaderName { id: excerpt(id) });
        }
        let known = self.ids.len();
        if self.ids.index(id)? as usize != known {
            return Err(Problem::RepeatedItem { item: excerpt(id) });
        }
        if let Some(title) = shortened(title) {
            self.titles.insert(id.to_owned(), title);
        }
        Ok(())
    }
}

/// The first separator to stand in a line: ids come first, and hold none.
fn separator(text: &str) -> &'static str {
    let found = ["\t", ";", ",", "|", "::"].into_iter();
    let found = found.filter_map(|sign| Some((text.find(sign)?, sign)));
    found.min().map_or(",", |(_, sign)| sign)
}

/// The fields of a line.
fn split(text: &str, separator: &str, record: &mut StringRecord) -> Result<(), Problem> {
    if matches!(separator, "|" | "::") {
        *record = text.split(separator).map(str::trim).collect();
        return Ok(());
    }
    let sign = separator.chars().next().unwrap_or(',');
    split_fields(text, sign, record)
}

/// A title of bounded length, if there is one.
fn shortened(title: &str) -> Option<String> {
    let title = title.trim();
    let end = title.char_indices().nth(LONGEST);
    let title = match end {
        Some((end, _)) => format!("{}…", title[..end].trim_end()),
        None => title.to_owned(),
    };
    (!title.is_empty()).then_some(title)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> Result<Vec<(String, String)>, String> {
        let titles = read_titles(bytes, "memory").map_err(|error| error.to_string())?;
        Ok(titles.into_iter().collect())
    }

    fn pairs(list: &[(&str, &str)]) -> Vec<(String, String)> {
        list.iter()
            .map(|(a, b)| ((*a).to_owned(), (*b).to_owned()))
            .collect()
    }

    #[test]
    fn movielens_files_and_plain_csv_give_titles() {
        let csv = b"movieId,title,genres\n1,Toy Story (1995),Animation|Comedy\n11,\"American President, The (1995)\",Comedy\n";
        assert_eq!(
            read(csv).expect("good"),
            pairs(&[
                ("1", "Toy Story (1995)"),
                ("11", "American President, The (1995)")
            ])
        );
        let dat = b"1::Toy Story (1995)::Comedy\n2::Mis\xe9rables, Les (1995)::Drama\n";
        assert_eq!(
            read(dat).expect("good"),
            pairs(&[
                ("1", "Toy Story (1995)"),
                ("2", "Mis\u{e9}rables, Les (1995)")
            ])
        );
        assert_eq!(
            read(b"id,title\nx,\"A ::B\"\n\ny,C\nz,\n").expect("good"),
            pairs(&[("x", "A ::B"), ("y", "C")])
        );
    }

    #[test]
    fn separators_and_columns_are_found_on_the_first_line() {
        let expected = pairs(&[("1", "One; or, two"), ("2", "Zwei")]);
        for text in [
            "\u{feff}id\ttitle\r\n1\tOne; or, two\r\n2\tZwei\r\n",
            "year;name;item\n1999;\"One; or, two\";1\n;Zwei;2\n",
            "item_id:token\tmovie_title:token_seq\tclass:token_seq\n1\tOne; or, two\tDrama\n2\tZwei\t\n",
            "1|One; or, two|01-Jan-1995||http://x|0|1\n2|Zwei|01-Jan-1996||http://y|0|0\n",
            "1,\"One; or, two\",a|b\n2,Zwei,c\n",
            "\"id\",\"title\"\n\"1\",\"One; or, two\"\n\"2\",\"Zwei\"",
        ] {
            assert_eq!(read(text.as_bytes()).expect(text), expected, "{text}");
        }
        let item = b"1|Mis\xe9rables \"L|01-Jan-1995\n";
        assert_eq!(
            read(item).expect("u.item"),
            pairs(&[("1", "Mis\u{e9}rables \"L")])
        );
    }

    #[test]
    fn titles_are_shortened_and_may_be_equal() {
        let text = format!("1,{}\n2,A\n3,A\n", "é".repeat(5000));
        let titles = read(text.as_bytes()).expect("good");
        assert_eq!(titles[0].1.chars().count(), LONGEST + 1);
        assert_eq!(titles[1].1, titles[2].1);
    }

    #[test]
    fn what_has_no_title_is_refused_with_its_line() {
        for (text, words) in [
            ("id,title\nx\n", ["line 2", "id, title"]),
            ("id,title\n,A\n", ["line 2", "empty"]),
            ("id,title\nx,A\nx,B\n", ["line 3", "again"]),
            ("1::A::g\n2\n", ["line 2", "id, title"]),
            ("id,title\nx,\"A\n", ["line 2", "quote"]),
            ("x,A\ny,B\n", ["line 1", "header"]),
            ("1\n2\n", ["line 1", "header"]),
            ("id,year\n1,1999\n", ["line 1", "header"]),
            ("id,title\n1,President, The\n", ["line 2", "3 fields"]),
            ("1|A|x\n2|B\n", ["line 2", "2 fields"]),
            ("id,title\n1,A\u{1b}[31m\n", ["line 2", "control"]),
        ] {
            let error = read(text.as_bytes()).expect_err(text);
            assert!(words.iter().all(|word| error.contains(word)), "{error}");
        }
    }
}
