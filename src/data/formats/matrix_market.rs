//! Matrix Market coordinate files: a banner, comments, a size line, then one entry per line.
//!
//! ```text
//! file    = "%%MatrixMarket matrix coordinate" ("real" | "integer" | "pattern") "general"
//!           digits blanks digits blanks digits             rows, columns, entries
//!           { digits blanks digits [ blanks number ] }     one line each; the number unless "pattern"
//! comment = "%" anything, on a line of its own below the first
//! ```
//!
//! Ids are numbers: `01` is 1. There are no quotes or other separators.
//! Sizes are what entries are checked against, never what memory is sized by: a file that claims 10¹⁸
//! entries costs as much as the entries it holds. Users and items are the rows and columns that entries
//! name, in order of appearance.

use super::fields::{number, whole_number};
use super::{Description, LineReader, Problem, Ratings, excerpt};

const BANNER: &str = "%%MatrixMarket matrix coordinate real|integer|pattern general";
const TAG: &str = "%%MatrixMarket";

pub(super) const DESCRIPTION: Description = Description {
    name: "matrix-market",
    recognises: |text| {
        let tag = text.split_ascii_whitespace().next();
        tag.is_some_and(|tag| tag.eq_ignore_ascii_case(TAG))
    },
    reader: || {
        Box::new(Reader {
            stage: Stage::Banner,
        })
    },
};

#[derive(Clone, Copy)]
enum Field {
    Real,
    Integer,
    Pattern,
}

#[derive(Clone, Copy)]
struct Sizes {
    rows: u64,
    columns: u64,
    entries: u64,
}

#[derive(Clone, Copy)]
enum Stage {
    Banner,
    Sizes(Field),
    Entries(Field, Sizes),
}

struct Reader {
    stage: Stage,
}

impl LineReader for Reader {
    fn line(&mut self, text: &str, ratings: &mut Ratings) -> Result<(), Problem> {
        match self.stage {
            Stage::Banner => self.stage = Stage::Sizes(banner(text)?),
            _ if text.trim_start().starts_with('%') => ratings.skip_line(),
            Stage::Sizes(field) => self.stage = Stage::Entries(field, sizes(text)?),
            Stage::Entries(field, sizes) => entry(text, field, sizes, ratings)?,
        }
        Ok(())
    }

    fn finish(&mut self, ratings: &mut Ratings) -> Result<(), Problem> {
        let Stage::Entries(_, sizes) = self.stage else {
            return Ok(());
        };
        let found = ratings.rating_count();
        if found != sizes.entries {
            return Err(Problem::EntryCount {
                declared: sizes.entries,
                found,
            });
        }
        let rows = sizes.rows.saturating_sub(ratings.user_count() as u64);
        let columns = sizes.columns.saturating_sub(ratings.item_count() as u64);
        ratings.set_declared_but_absent(rows.saturating_add(columns));
        Ok(())
    }
}

fn banner(text: &str) -> Result<Field, Problem> {
    let lower = text.to_ascii_lowercase();
    let words: Vec<&str> = lower.split_ascii_whitespace().take(6).collect();
    let [tag, object, layout, field, symmetry] = words[..] else {
        return Err(Problem::Header {
            found: excerpt(text),
            expected: BANNER,
        });
    };
    if !tag.eq_ignore_ascii_case(TAG) {
        return Err(Problem::Header {
            found: excerpt(text),
            expected: BANNER,
        });
    }
    let unsupported = |found: &str, supported| Problem::Unsupported {
        found: excerpt(found),
        supported,
    };
    if object != "matrix" {
        return Err(unsupported(object, "\"matrix\""));
    }
    if layout != "coordinate" {
        return Err(unsupported(layout, "\"coordinate\" (sparse)"));
    }
    if symmetry != "general" {
        return Err(unsupported(
            symmetry,
            "\"general\", every entry of the users × items matrix written out",
        ));
    }
    match field {
        "real" => Ok(Field::Real),
        "integer" => Ok(Field::Integer),
        "pattern" => Ok(Field::Pattern),
        _ => Err(unsupported(field, "\"real\", \"integer\" or \"pattern\"")),
    }
}

fn sizes(text: &str) -> Result<Sizes, Problem> {
    let mut fields = Fields::new(text, "3: rows, columns and entries");
    let sizes = Sizes {
        rows: whole_number(fields.next()?, "the number of rows")?,
        columns: whole_number(fields.next()?, "the number of columns")?,
        entries: whole_number(fields.next()?, "the number of entries")?,
    };
    fields.end()?;
    Ok(sizes)
}

fn entry(text: &str, field: Field, sizes: Sizes, ratings: &mut Ratings) -> Result<(), Problem> {
    let mut fields = Fields::new(
        text,
        match field {
            Field::Pattern => "2: row and column",
            Field::Real | Field::Integer => "3: row, column and value",
        },
    );
    let user = index(fields.next()?, "row", sizes.rows)?;
    let item = index(fields.next()?, "column", sizes.columns)?;
    let rating = match field {
        Field::Pattern => None,
        Field::Real => Some(number(fields.next()?, "the value")?),
        Field::Integer => Some(integer(fields.next()?)?),
    };
    fields.end()?;
    let found = ratings.rating_count() + 1;
    if found > sizes.entries {
        return Err(Problem::EntryCount {
            declared: sizes.entries,
            found,
        });
    }
    let user = ratings.user(&user.to_string())?;
    let item = ratings.item(&item.to_string())?;
    ratings.add(user, item, rating)
}

fn index(text: &str, what: &'static str, limit: u64) -> Result<u64, Problem> {
    let found = whole_number(text, what)?;
    if (1..=limit).contains(&found) {
        Ok(found)
    } else {
        Err(Problem::IdOutOfRange { what, found, limit })
    }
}

fn integer(text: &str) -> Result<f64, Problem> {
    match text.parse::<i64>() {
        Ok(value) => Ok(value as f64),
        Err(_) => Err(Problem::NotANumber {
            what: "the value",
            found: excerpt(text),
            expected: "an integer of at most 64 bits, as the banner says",
        }),
    }
}

/// Fields separated by blanks, with the count for errors.
struct Fields<'a> {
    text: &'a str,
    rest: std::str::SplitAsciiWhitespace<'a>,
    layout: &'static str,
}

impl<'a> Fields<'a> {
    fn new(text: &'a str, layout: &'static str) -> Self {
        Self {
            text,
            rest: text.split_ascii_whitespace(),
            layout,
        }
    }

    fn count(&self) -> usize {
        self.text.split_ascii_whitespace().count()
    }

    fn next(&mut self) -> Result<&'a str, Problem> {
        self.rest.next().ok_or_else(|| Problem::TooFewFields {
            found: self.count(),
            layout: self.layout,
        })
    }

    fn end(&mut self) -> Result<(), Problem> {
        match self.rest.next() {
            None => Ok(()),
            Some(_) => Err(Problem::TooManyFields {
                found: self.count(),
                layout: self.layout,
            }),
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use crate::data::formats::Format;
    use crate::data::formats::tests::Sample;

    /// A small good file.
    pub(in crate::data::formats) const SAMPLE: Sample = (
        Format::MatrixMarket,
        "%%MatrixMarket matrix coordinate real general\n% a comment\n3 9 3\n3 7 1.5\n1 9 -2\n1 7 3e1\n",
        &["3", "1"],
        &["7", "9"],
        &[&[0], &[0]],
    );
}
