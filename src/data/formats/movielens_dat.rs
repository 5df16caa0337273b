//! MovieLens 1M and 10M: `ratings.dat`.
//!
//! ```text
//! file = { digits "::" digits "::" number "::" digits }    one line each; blanks around fields are dropped
//! ```
//!
//! Ids are whole numbers. There are no quotes, comments or headers.

use super::fields::{BLANKS, number};
use super::movielens_csv::add_rating;
use super::{Description, LineReader, Problem, Ratings};

const SEPARATOR: &str = "::";

pub(super) const DESCRIPTION: Description = Description {
    name: "movielens-dat",
    recognises: |text| {
        let mut fields = text.split(SEPARATOR).skip(2);
        let rating = fields.next().is_some_and(|f| number(f, "rating").is_ok());
        rating && fields.count() == 1
    },
    reader: || Box::new(Reader),
};

struct Reader;

impl LineReader for Reader {
    fn line(&mut self, text: &str, ratings: &mut Ratings) -> Result<(), Problem> {
        let fields = text.split(SEPARATOR);
        add_rating(fields.map(|field| field.trim_matches(BLANKS)), ratings)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use crate::data::formats::Format;
    use crate::data::formats::tests::Sample;

    /// A small good file.
    pub(in crate::data::formats) const SAMPLE: Sample = (
        Format::MovielensDat,
        "9::31::2.5::126\n9::7::3::12\n2::31::0.5::13\n",
        &["9", "2"],
        &["31", "7"],
        &[&[0, 1], &[0]],
    );
}
