//! The simplest file to produce: a header line, then user, item and perhaps a rating.
//!
//! ```text
//! file   = header { line }
//! header = name "," name [ "," name ]     not all numbers, the third no number; no user or item is called so
//! line   = user "," item [ "," number ]   at most as many fields as the header
//! ```
//!
//! Fields as in every comma-separated format here: blanks around them are dropped, quoted ones hold commas and
//! doubled quotes. Ids are any text, compared byte by byte. A line that starts with `#`, `%` or `//` is refused:
//! it could be a comment or an id; quoted it is an id.

use csv::StringRecord;

use super::fields::{number, split_commas};
use super::{Description, LineReader, Problem, Ratings, excerpt};

const LAYOUT: &str = "2 or 3 as in the header: user, item and perhaps a rating";

pub(super) const DESCRIPTION: Description = Description {
    name: "csv-triples",
    recognises: |text| {
        let mut record = StringRecord::new();
        split_commas(text, &mut record).is_ok() && is_header(&record)
    },
    reader: || Box::<Reader>::default(),
};

/// Two or three names; a line whose rating is a number, or that is all numbers, is data.
fn is_header(record: &StringRecord) -> bool {
    let numeric = |field: &str| number(field, "").is_ok();
    let data = record.iter().all(numeric) || record.get(2).is_some_and(numeric);
    matches!(record.len(), 2 | 3) && !data && record.iter().all(|field| !field.is_empty())
}

#[derive(Default)]
struct Reader {
    /// The header.
    header: Option<StringRecord>,
    record: StringRecord,
}

impl LineReader for Reader {
    fn line(&mut self, text: &str, ratings: &mut Ratings) -> Result<(), Problem> {
        split_commas(text, &mut self.record)?;
        let Some(header) = &self.header else {
            if !is_header(&self.record) {
                return Err(Problem::Header {
                    found: excerpt(text),
                    expected: "\"user,item\" or \"user,item,rating\" (any names)",
                });
            }
            self.header = Some(self.record.clone());
            return Ok(());
        };
        let found = self.record.len();
        let (Some(user), Some(item)) = (self.record.get(0), self.record.get(1)) else {
            return Err(Problem::TooFewFields {
                found,
                layout: LAYOUT,
            });
        };
        if found > header.len() {
            return Err(Problem::TooManyFields {
                found,
                layout: LAYOUT,
            });
        }
        for (column, id) in [user, item].into_iter().enumerate() {
            if header.get(column) == Some(id) {
                return Err(Problem::HeaderName { id: excerpt(id) });
            }
        }
        let rating = match self.record.get(2) {
            Some(field) => Some(number(field, "rating")?),
            None => None,
        };
        let (user, item) = (ratings.user(user)?, ratings.item(item)?);
        ratings.add(user, item, rating)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use crate::data::formats::Format;
    use crate::data::formats::tests::Sample;

    /// A small good file.
    pub(in crate::data::formats) const SAMPLE: Sample = (
        Format::CsvTriples,
        "user,item,rating\nanna,\"War, and Peace\",5\nbo,Emma\nanna,Emma,0.5\n",
        &["anna", "bo"],
        &["War, and Peace", "Emma"],
        &[&[0, 1], &[1]],
    );
}
