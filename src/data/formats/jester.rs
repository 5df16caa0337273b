//! Jester: one line per user, the number of ratings, then a rating or 99 for every joke.
//!
//! ```text
//! file = { digits { "," number } }    one line each, all of as many fields; blanks around them are dropped
//! ```
//!
//! There are no quotes, comments or headers.
//! Users are named by the number of their line among the lines that are not blank, items by their column
//! after the first, both from 1.

use super::fields::{number, whole_number};
use super::{Description, LineReader, Problem, Ratings};

const NOT_RATED: f64 = 99.0;
const LOW: f64 = -10.0;
const HIGH: f64 = 10.0;

pub(super) const DESCRIPTION: Description = Description {
    name: "jester",
    recognises,
    reader: || Box::<Reader>::default(),
};

/// At least three jokes, all values on the scale, and a first column that counts them.
fn recognises(text: &str) -> bool {
    let mut fields = text.split(',');
    let count = fields.next().map(|count| whole_number(count.trim(), ""));
    let mut jokes = 0;
    let mut rated = 0;
    for field in fields {
        match rating(field) {
            Ok(Some(_)) => rated += 1,
            Ok(None) => {}
            Err(_) => return false,
        }
        jokes += 1;
    }
    jokes >= 3 && matches!(count, Some(Ok(count)) if count == rated)
}

fn rating(field: &str) -> Result<Option<f64>, Problem> {
    let rating = number(field, "rating")?;
    if rating == NOT_RATED {
        Ok(None)
    } else if (LOW..=HIGH).contains(&rating) {
        Ok(Some(rating))
    } else {
        Err(Problem::RatingOutOfRange {
            found: rating,
            low: LOW,
            high: HIGH,
            or: ", or 99 for not rated",
        })
    }
}

#[derive(Default)]
struct Reader {
    /// Columns of the first line, the count included.
    columns: Option<usize>,
}

impl LineReader for Reader {
    fn line(&mut self, text: &str, ratings: &mut Ratings) -> Result<(), Problem> {
        let columns = text.bytes().filter(|&byte| byte == b',').count() + 1;
        if self.columns.is_none() {
            if columns < 2 {
                return Err(Problem::TooFewFields {
                    found: columns,
                    layout: "at least 2: the number of ratings, then a rating or 99 for every joke",
                });
            }
            self.columns = Some(columns);
        }
        if let Some(expected) = self.columns.filter(|&expected| expected != columns) {
            return Err(Problem::ColumnCount {
                found: columns,
                expected,
            });
        }
        let mut fields = text.split(',');
        let declared = whole_number(
            fields.next().unwrap_or_default().trim(),
            "the number of ratings",
        )?;
        let name = (ratings.user_count() + 1).to_string();
        let user = ratings.user(&name)?;
        let before = ratings.rating_count();
        for (item, field) in (0_u32..).zip(fields) {
            if item as usize >= ratings.item_count() {
                // Only on the first line: it names every joke, rated or not.
                ratings.item(&(item + 1).to_string())?;
            }
            if let Some(rating) = rating(field)? {
                ratings.add(user, item, Some(rating))?;
            }
        }
        let found = ratings.rating_count() - before;
        if found != declared {
            return Err(Problem::RatedCount { declared, found });
        }
        if found == 0 {
            return Err(Problem::EmptyUser { user: name });
        }
        Ok(())
    }
}

#[cfg(test)]
pub(super) mod tests {
    use crate::data::formats::Format;
    use crate::data::formats::tests::Sample;

    /// A small good file.
    pub(in crate::data::formats) const SAMPLE: Sample = (
        Format::Jester,
        "2,99,-3.5,0.01,99\n4,10,-10,3,4.25\n1,-1,99,99,99\n",
        &["1", "2", "3"],
        &["1", "2", "3", "4"],
        &[&[2], &[0, 2, 3], &[]],
    );
}
