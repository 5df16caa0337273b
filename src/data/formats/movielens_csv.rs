//! MovieLens since 2015 (20M, 25M, latest): `ratings.csv`.
//!
//! ```text
//! file = "userId,movieId,rating,timestamp" { digits "," digits "," number "," digits }    one line each
//! ```
//!
//! Fields as in every comma-separated format here: blanks around them are dropped, quotes are allowed. Ids are
//! whole numbers; files with other ids are csv-triples. There are no comments.

use csv::StringRecord;

use super::fields::{number, split_commas, whole_number};
use super::{Description, LineReader, Problem, Ratings, excerpt};

const HEADER: &str = "userId,movieId,rating,timestamp";
const LAYOUT: &str = "4: user, movie, rating, timestamp";

pub(super) const DESCRIPTION: Description = Description {
    name: "movielens-csv",
    recognises: |text| text.trim() == HEADER,
    reader: || Box::<Reader>::default(),
};

#[derive(Default)]
struct Reader {
    header_seen: bool,
    record: StringRecord,
}

impl LineReader for Reader {
    fn line(&mut self, text: &str, ratings: &mut Ratings) -> Result<(), Problem> {
        if !self.header_seen {
            if text.trim() != HEADER {
                return Err(Problem::Header {
                    found: excerpt(text),
                    expected: HEADER,
                });
            }
            self.header_seen = true;
            return Ok(());
        }
        split_commas(text, &mut self.record)?;
        add_rating(self.record.iter(), ratings)
    }
}

/// Adds the rating of one MovieLens line, whatever separated its fields.
pub(super) fn add_rating<'a>(
    mut fields: impl Iterator<Item = &'a str> + Clone,
    ratings: &mut Ratings,
) -> Result<(), Problem> {
    let all = fields.clone();
    let mut next = || {
        fields.next().ok_or_else(|| Problem::TooFewFields {
            found: all.clone().count(),
            layout: LAYOUT,
        })
    };
    let (user, item, rating, timestamp) = (next()?, next()?, next()?, next()?);
    if next().is_ok() {
        return Err(Problem::TooManyFields {
            found: all.count(),
            layout: LAYOUT,
        });
    }
    for (id, what) in [(user, "user"), (item, "item")] {
        if !id.is_empty() {
            whole_number(id, what)?;
        }
    }
    let rating = number(rating, "rating")?;
    whole_number(timestamp.trim(), "timestamp")?;
    let (user, item) = (ratings.user(user)?, ratings.item(item)?);
    ratings.add(user, item, Some(rating))
}

#[cfg(test)]
pub(super) mod tests {
    use crate::data::formats::Format;
    use crate::data::formats::tests::Sample;

    /// A small good file.
    pub(in crate::data::formats) const SAMPLE: Sample = (
        Format::MovielensCsv,
        "userId,movieId,rating,timestamp\n9,31,2.5,126\n9,7,3.0,12\n2,31,0.5,13\n",
        &["9", "2"],
        &["31", "7"],
        &[&[0, 1], &[0]],
    );
}
