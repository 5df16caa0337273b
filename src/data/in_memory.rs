//! Data that a program holds in memory, as a file with the same content is read.

use super::error::Problem;
use super::matrix_problem::ArrayProblem;
use super::ratings::{Kept, Loaded, Ratings};
use super::source::Limits;
use crate::linalg::SparseRows;
use crate::vocabulary::hidden;

/// Reason why data in memory cannot be used.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum InMemoryError {
    /// An array that is too large or holds no number, or a column that it does not have.
    #[error(transparent)]
    Array(#[from] ArrayProblem),
    /// A number of an array that is not finite.
    #[error("[{row}, {column}] is not finite: leave the row out or fill it in")]
    NotFinite {
        /// The row, from 0.
        row: usize,
        /// The column, from 0.
        column: usize,
    },
    /// A rating whose user, item or number cannot be used.
    #[error("rating {rating}, counted from 0: {problem}")]
    Rating {
        /// The rating, from 0.
        rating: usize,
        /// What is wrong with it.
        problem: Box<Problem>,
    },
    /// Two ratings of one item by one user.
    #[error(
        "ratings {first} and {second}, counted from 0, are both of item {item:?} by user {user:?}; keep one of the two"
    )]
    Repeated {
        /// The first rating, from 0.
        first: usize,
        /// The second rating, from 0.
        second: usize,
        /// The user.
        user: String,
        /// The item.
        item: String,
    },
    /// No rating at all.
    #[error("there is no rating; give at least one")]
    Empty,
    /// Lists of ratings that differ in length.
    #[error("{users} users, {items} items and {ratings} ratings: give one of each per rating")]
    Lengths {
        /// Entries of the list of users.
        users: usize,
        /// Entries of the list of items.
        items: usize,
        /// Entries of the list of ratings.
        ratings: usize,
    },
}

/// Ratings in memory: rating k is that of item k by user k.
#[derive(Clone, Copy, Debug)]
pub struct RatingColumns<'a> {
    /// The user of every rating.
    pub users: &'a [String],
    /// The item of every rating.
    pub items: &'a [String],
    /// The ratings; without them each is 1.0.
    pub ratings: Option<&'a [f64]>,
}

impl Loaded {
    /// The numbers of an array of this shape, as from a file in [`MatrixFormat::Npy`](super::MatrixFormat::Npy): rows and columns are named by
    /// their number, from 1.
    ///
    /// # Errors
    /// [`InMemoryError`] for an array without numbers or with too many, before any is held, and for a number that is not finite.
    pub fn from_array(
        (rows, columns): (usize, usize),
        value: impl Fn(usize, usize) -> f64,
    ) -> Result<Self, InMemoryError> {
        Limits::default().check_array(rows as u64, columns as u64)?;
        let mut values = SparseRows::new(columns);
        for row in 0..rows {
            let entries = (0..columns).map(|column| (column as u32, value(row, column)));
            if values.push_row(entries).is_err() {
                let column = (0..columns).find(|&column| !value(row, column).is_finite());
                let column = column.unwrap_or(0);
                return Err(InMemoryError::NotFinite { row, column });
            }
        }
        let names = (1..=columns).map(|column| column.to_string()).collect();
        Ok(Self::of_rows(values, names, 0))
    }

    /// Ratings as numbers, as from a file in [`Format::CsvTriples`](super::Format::CsvTriples): users and items are in the order in which they
    /// are named first. [`Loaded::above`] makes interactions of them.
    ///
    /// # Errors
    /// [`InMemoryError`] at the first rating that a file could not hold.
    pub fn from_ratings(columns: RatingColumns<'_>) -> Result<Self, InMemoryError> {
        let RatingColumns {
            users,
            items,
            ratings,
        } = columns;
        let numbers = ratings.map_or(users.len(), <[f64]>::len);
        if users.len() != items.len() || users.len() != numbers {
            return Err(InMemoryError::Lengths {
                users: users.len(),
                items: items.len(),
                ratings: numbers,
            });
        }
        if users.is_empty() {
            return Err(InMemoryError::Empty);
        }
        let mut read = Ratings::new(Kept::Values, &Limits::default());
        for (place, (user, item)) in users.iter().zip(items).enumerate() {
            let rating = ratings.map(|ratings| ratings[place]);
            add(&mut read, place, (user, item), rating).map_err(|problem| {
                let problem = Box::new(problem);
                InMemoryError::Rating {
                    rating: place,
                    problem,
                }
            })?;
        }
        // A file has a header line.
        read.finish(users.len() as u64 + 1)
            .map_err(|(line, problem)| {
                let second = line.saturating_sub(1) as usize;
                match problem {
                    Problem::RepeatedPair { user, item, first } => InMemoryError::Repeated {
                        first: first.saturating_sub(1) as usize,
                        second,
                        user,
                        item,
                    },
                    problem => InMemoryError::Rating {
                        rating: second,
                        problem: Box::new(problem),
                    },
                }
            })
    }

    /// BLAKE3 of all names and numbers. It is a secret like the rows: whoever has it can compare guesses with it.
    pub(crate) fn content_digest(&self) -> blake3::Hash {
        let mut hasher = blake3::Hasher::new_derive_key("undertone 2026-11 data in memory v1");
        let read = &self.interactions;
        for names in [read.user_names(), read.item_names()] {
            hasher.update(&(names.len() as u64).to_le_bytes());
            for name in names {
                hasher.update(&(name.len() as u64).to_le_bytes());
                hasher.update(name.as_bytes());
            }
        }
        let rows = self.values.iter();
        for (columns, numbers) in rows.flat_map(|rows| (0..rows.len()).map(|row| rows.row(row))) {
            hasher.update(&(columns.len() as u64).to_le_bytes());
            for (column, number) in columns.iter().zip(numbers) {
                hasher.update(&column.to_le_bytes());
                hasher.update(&number.to_bits().to_le_bytes());
            }
        }
        hasher.finalize()
    }
}

/// Adds one rating.
fn add(
    read: &mut Ratings,
    place: usize,
    (user, item): (&str, &str),
    rating: Option<f64>,
) -> Result<(), Problem> {
    read.start_line(place as u64 + 1)?;
    for name in [user, item] {
        if let Some(found) = hidden(name) {
            return Err(Problem::Hidden { found });
        }
    }
    if let Some(found) = rating.filter(|rating| !rating.is_finite()) {
        let found = found.to_string();
        let what = "rating";
        return Err(Problem::NotFinite { what, found });
    }
    let (user, item) = (read.user(user)?, read.item(item)?);
    read.add(user, item, rating)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{
        Column, Format, MatrixFormat, MatrixOptions, read, read_matrix, read_values,
    };

    /// The file that `numpy.save` writes of an array of three columns.
    fn npy(numbers: &[f64]) -> Vec<u8> {
        let rows = numbers.len() / 3;
        let header =
            format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({rows}, 3), }}\n");
        let mut file = b"\x93NUMPY\x01\x00".to_vec();
        file.extend((header.len() as u16).to_le_bytes());
        file.extend(header.as_bytes());
        file.extend(numbers.iter().flat_map(|x| x.to_le_bytes()));
        file
    }

    fn texts(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn an_array_is_what_a_file_of_it_is_read_as() {
        let numbers = [0.5, -0.0, 1e-300, 0.0, 0.0, 7.0];
        let file = npy(&numbers);
        let found = Loaded::from_array((2, 3), |row, column| numbers[row * 3 + column]);
        let found = found.expect("finite");
        let all = MatrixOptions::default();
        let some = MatrixOptions {
            drop: vec![Column::Number(1), Column::Last],
            ..all.clone()
        };
        let format = MatrixFormat::Npy;
        for options in [all, some] {
            let limits = Limits::default();
            let read = read_matrix(file.as_slice(), "a", format, &options, limits).expect("good");
            assert_eq!(found.without_columns(&options.drop), Ok(read));
        }
    }

    #[test]
    fn a_number_that_is_none_is_named_by_its_place_and_sizes_are_bounded_first() {
        let broken = |row, column| {
            if (row, column) == (1, 2) {
                f64::NAN
            } else {
                1.0
            }
        };
        let error = Loaded::from_array((2, 3), broken).expect_err("not finite");
        assert!(
            error.to_string().starts_with("[1, 2] is not finite"),
            "{error}"
        );
        let untouched = |_, _| -> f64 { unreachable!("no number is looked at") };
        for shape in [
            (0, 3),
            (3, 0),
            (usize::MAX, 2),
            (1, 60_000_000),
            (40_000, 40_000),
        ] {
            assert!(matches!(
                Loaded::from_array(shape, untouched),
                Err(InMemoryError::Array(_))
            ));
        }
    }

    #[test]
    fn ratings_are_what_a_file_of_them_is_read_as() {
        let users = texts(&["ann", "7", "ann", "bob", "7", "eve"]);
        let items = texts(&["x", "y", "z", "x", "x", "q"]);
        let numbers = [4.0, 1.0, -2.5, 3.0, 0.1, 0.0];
        for ratings in [None, Some(&numbers[..])] {
            let mut file = "user,item,rating\n".to_owned();
            for (place, (user, item)) in users.iter().zip(&items).enumerate() {
                file += &match ratings {
                    Some(ratings) => format!("{user},{item},{}\n", ratings[place]),
                    None => format!("{user},{item}\n"),
                };
            }
            let (format, limits) = (Format::CsvTriples, Limits::default());
            let found = Loaded::from_ratings(RatingColumns {
                users: &users,
                items: &items,
                ratings,
            });
            let found = found.expect("good");
            let all = read_values(file.as_bytes(), "a", format, limits).expect("good");
            assert_eq!(found, all);
            for threshold in [-5.0, 0.0, 1.0, 9.0] {
                let some = read(file.as_bytes(), "a", format, threshold, limits);
                assert_eq!(Ok(found.above(threshold)), some);
            }
        }
    }

    #[test]
    fn ratings_that_no_file_could_hold_are_named_by_their_place() {
        let of = |users: &[&str], ratings: &[f64]| {
            let users = texts(users);
            let items = texts(&["x", "y", "x"]);
            let columns = RatingColumns {
                users: &users,
                items: &items,
                ratings: Some(ratings),
            };
            Loaded::from_ratings(columns)
                .expect_err("refused")
                .to_string()
        };
        let good = [1.0, 2.0, 3.0];
        for (users, ratings, says) in [
            (
                ["a", "b", "a"],
                &good[..],
                "ratings 0 and 2, counted from 0, are both of item \"x\"",
            ),
            (
                ["a", "", "b"],
                &good,
                "rating 1, counted from 0: the user id is empty",
            ),
            (
                ["a", "b", " c"],
                &good,
                "rating 2, counted from 0: the user id",
            ),
            (["7", "b", "07"], &good, "another spelling"),
            (["a", "b\n", "c"], &good, "rating 1, counted from 0: "),
            (
                ["a", "b", "c"],
                &[1.0, f64::INFINITY, 2.0],
                "rating 1, counted from 0: found \"inf\"",
            ),
            (["a", "b", "c"], &[1.0], "3 users, 3 items and 1 ratings"),
        ] {
            let found = of(&users, ratings);
            assert!(found.contains(says), "{found}\n{says}");
        }
    }

    #[test]
    fn a_digest_is_of_names_and_numbers() {
        let digest = |last: f64, columns: usize| {
            let rows = 6 / columns;
            let of = |row, column| {
                if row * columns + column == 5 {
                    last
                } else {
                    1.0
                }
            };
            Loaded::from_array((rows, columns), of)
                .expect("finite")
                .content_digest()
        };
        assert_eq!(digest(1.0, 2), digest(1.0, 2));
        assert_ne!(digest(1.0, 2), digest(1.5, 2));
        assert_ne!(digest(1.0, 2), digest(1.0, 3));
    }
}
