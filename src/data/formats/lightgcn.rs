//! One line per user: the user, then every item, numbers separated by spaces.
//!
//! ```text
//! file = { digits blanks digits { blanks digits } }    one line each, every user once
//! ```
//!
//! There are no quotes, comments, headers or other separators.

use super::fields::whole_number;
use super::{Description, LineReader, Problem, Ratings, excerpt};

pub(super) const DESCRIPTION: Description = Description {
    name: "lightgcn",
    recognises: |text| {
        let mut fields = text.split_ascii_whitespace();
        fields.clone().nth(1).is_some() && fields.all(|field| whole_number(field, "id").is_ok())
    },
    reader: || Box::<Reader>::default(),
};

/// Lines of the users so far: every user has exactly one.
#[derive(Default)]
struct Reader {
    lines: Vec<u64>,
}

impl LineReader for Reader {
    fn line(&mut self, text: &str, ratings: &mut Ratings) -> Result<(), Problem> {
        let mut fields = text.split_ascii_whitespace();
        let name = fields.next().unwrap_or_default();
        whole_number(name, "user")?;
        let user = ratings.user(name)?;
        if let Some(&first) = self.lines.get(user as usize) {
            return Err(Problem::RepeatedUser {
                user: excerpt(name),
                first,
            });
        }
        self.lines.push(ratings.line());
        let before = ratings.rating_count();
        for field in fields {
            whole_number(field, "item")?;
            let item = ratings.item(field)?;
            ratings.add(user, item, None)?;
        }
        if ratings.rating_count() == before {
            return Err(Problem::EmptyUser {
                user: excerpt(name),
            });
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
        Format::Lightgcn,
        "0 5 3 9\n4 3 \n",
        &["0", "4"],
        &["5", "3", "9"],
        &[&[0, 1, 2], &[1]],
    );
}
