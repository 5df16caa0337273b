//! Titles of items: MovieLens `movies.csv` and `movies.dat`, or any CSV of `id,title`.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use csv::StringRecord;

use super::error::{DataError, Problem, excerpt};
use super::formats::fields::{number, split_commas};
use super::names::Names;
use super::source::{Limits, Lines};

const LAYOUT: &str = "at least 2: id, title";

/// Reads titles by item id, from a plain or gzipped file; see [`read_titles`].
///
/// # Errors
/// [`DataError::Open`] if the file cannot be opened, and everything [`read_titles`] refuses.
pub fn load_titles(path: &Path) -> Result<BTreeMap<String, String>, DataError> {
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
/// A first line with `::` begins MovieLens `movies.dat` (`id::title::genres`, no header, Latin-1 in older
/// collections); otherwise the first line is the header of a CSV file whose first two columns are id and title, with
/// fields as in the comma-separated rating formats. Blanks around ids and titles are dropped.
///
/// # Errors
/// [`DataError`] at the first line that has no id and title, names an id again or in another spelling, holds a
/// character that cannot be seen, or exceeds the default [`Limits`].
pub fn read_titles(
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

/// How the lines of a file are laid out; its first line tells.
enum Layout {
    Colons,
    /// With the name of the first column.
    Commas(String),
}

/// Titles so far.
struct Titles {
    ids: Names,
    layout: Option<Layout>,
    titles: BTreeMap<String, String>,
}

impl Titles {
    fn line(&mut self, text: &str, record: &mut StringRecord) -> Result<(), Problem> {
        if self.layout.is_none() && text.contains("::") {
            self.layout = Some(Layout::Colons);
        }
        match &self.layout {
            Some(Layout::Colons) => self.add(text.split("::").map(str::trim)),
            Some(Layout::Commas(heading)) => {
                split_commas(text, record)?;
                if record.get(0) == Some(heading.as_str()) {
                    let id = excerpt(heading);
                    return Err(Problem::HeaderName { id });
                }
                self.add(record.iter())
            }
            None => {
                split_commas(text, record)?;
                let heading = record.get(0).unwrap_or_default();
                if record.len() < 2 || heading.is_empty() || number(heading, "").is_ok() {
                    return Err(Problem::Header {
                        found: excerpt(text),
                        expected: "\"id,title\" (any names, and more columns)",
                    });
                }
                self.layout = Some(Layout::Commas(heading.to_owned()));
                Ok(())
            }
        }
    }

    fn add<'a>(&mut self, mut fields: impl Iterator<Item = &'a str>) -> Result<(), Problem> {
        let (Some(id), Some(title)) = (fields.next(), fields.next()) else {
            return Err(Problem::TooFewFields {
                found: 1,
                layout: LAYOUT,
            });
        };
        if self.ids.index(id)? as usize != self.titles.len() {
            return Err(Problem::RepeatedItem { item: excerpt(id) });
        }
        self.titles.insert(id.to_owned(), title.trim().to_owned());
        Ok(())
    }
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
            read(b"id,title\nx,\"A ::B\"\n\ny,C\n").expect("good"),
            pairs(&[("x", "A ::B"), ("y", "C")])
        );
    }

    #[test]
    fn what_has_no_title_is_refused_with_its_line() {
        for (text, words) in [
            ("id,title\nx\n", ["line 2", "id, title"]),
            ("id,title\n,A\n", ["line 2", "empty"]),
            ("id,title\nx,A\nx,B\n", ["line 3", "again"]),
            ("1::A::g\n2\n", ["line 2", "id, title"]),
            ("id,title\nx,\"A\n", ["line 2", "quote"]),
        ] {
            let error = read(text.as_bytes()).expect_err(text);
            assert!(words.iter().all(|word| error.contains(word)), "{error}");
        }
    }
}
