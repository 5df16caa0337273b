//! EachMovie: `Vote.txt`, one vote per line.
//!
//! The layout assumed is the one its documentation describes: fields separated by tabs or spaces, no header,
//!
//! ```text
//! person id   movie id   score (0 to 1)   weight (0 to 1)   date and time, any text, may be absent
//! ```
//!
//! Both ids are whole numbers; there are no quotes, comments or other separators. The weight says how sure the voter was and is checked, then ignored; so is
//! whatever follows it. The set was published by DEC Systems Research Center in 1997 and withdrawn in October
//! 2004; nobody may hand it out any more, so this reader is tested on lines made up from that description.

use super::fields::{number, whole_number};
use super::{Description, LineReader, Problem, Ratings};

const LAYOUT: &str = "at least 4: person, movie, score, weight, then the date";
const HIGHEST: f64 = 1.0;

pub(super) const DESCRIPTION: Description = Description {
    name: "eachmovie",
    recognises: |text| vote(text).is_ok(),
    reader: || Box::new(Reader),
};

/// One line: person, movie and score.
fn vote(text: &str) -> Result<(&str, &str, f64), Problem> {
    let mut fields = text.split_ascii_whitespace();
    let found = fields.clone().count();
    let layout = LAYOUT;
    let mut next = || fields.next().ok_or(Problem::TooFewFields { found, layout });
    let (person, movie, score, weight) = (next()?, next()?, next()?, next()?);
    whole_number(person, "person")?;
    whole_number(movie, "movie")?;
    let score = share(score, "score")?;
    share(weight, "weight")?;
    Ok((person, movie, score))
}

fn share(field: &str, what: &'static str) -> Result<f64, Problem> {
    let found = number(field, what)?;
    if (0.0..=HIGHEST).contains(&found) {
        Ok(found)
    } else {
        Err(Problem::RatingOutOfRange {
            found,
            low: 0.0,
            high: HIGHEST,
            or: "",
        })
    }
}

struct Reader;

impl LineReader for Reader {
    fn line(&mut self, text: &str, ratings: &mut Ratings) -> Result<(), Problem> {
        let (person, movie, score) = vote(text)?;
        let (user, item) = (ratings.user(person)?, ratings.item(movie)?);
        ratings.add(user, item, Some(score))
    }
}

#[cfg(test)]
pub(super) mod tests {
    use crate::data::formats::Format;
    use crate::data::formats::tests::Sample;

    /// A small good file.
    pub(in crate::data::formats) const SAMPLE: Sample = (
        Format::Eachmovie,
        "9\t31\t0.8\t1\t5/3/96 13:15:00\n9 7 1.0 0.2\n2\t31\t.2\t1\tNULL\n2\t7\t0\t0.2\t5/3/96\n",
        &["9", "2"],
        &["31", "7"],
        &[&[0, 1], &[0]],
    );
}
