//! The simplest file to produce: a header line, then user, item and perhaps a rating.

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
    /// Fields of the header.
    columns: Option<usize>,
    record: StringRecord,
}

impl LineReader for Reader {
    fn line(&mut self, text: &str, ratings: &mut Ratings) -> Result<(), Problem> {
        split_commas(text, &mut self.record)?;
        let Some(columns) = self.columns else {
            if !is_header(&self.record) {
                return Err(Problem::Header {
                    found: excerpt(text),
                    expected: "\"user,item\" or \"user,item,rating\" (any names)",
                });
            }
            self.columns = Some(self.record.len());
            return Ok(());
        };
        let found = self.record.len();
        let (Some(user), Some(item)) = (self.record.get(0), self.record.get(1)) else {
            return Err(Problem::TooFewFields {
                found,
                layout: LAYOUT,
            });
        };
        if found > columns {
            return Err(Problem::TooManyFields {
                found,
                layout: LAYOUT,
            });
        }
        let rating = match self.record.get(2) {
            Some(field) => Some(number(field, "rating")?),
            None => None,
        };
        let (user, item) = (ratings.user(user)?, ratings.item(item)?);
        ratings.add(user, item, rating)
    }
}
