//! The binary users × items matrix behind every experiment: which user interacted with which item.

use std::fmt;
use std::num::NonZeroU32;

use crate::linalg::SparseRows;

mod cap;

pub use cap::CapCounts;

/// A row that is not a sorted set of item indices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "row {user} names item {item} out of place; rows list distinct indices below {items} \
     in ascending order"
)]
pub struct InteractionsError {
    /// Index of the row.
    pub user: usize,
    /// The first index out of place.
    pub item: u32,
    /// Number of items.
    pub items: usize,
}

/// Binary interactions of users (rows) with items (columns), as compressed sparse rows.
///
/// Users and items are numbered in the order in which they first appear in the file and keep the names
/// found there. A row lists distinct item indices in ascending order and may be empty. `Debug` prints the
/// shape only.
#[derive(Clone, PartialEq, Eq)]
pub struct Interactions {
    offsets: Vec<usize>,
    columns: Vec<u32>,
    user_names: Vec<String>,
    item_names: Vec<String>,
}

impl Interactions {
    /// Interactions given as one list of item indices per user; users and items are named by their
    /// numbers, from 0.
    ///
    /// # Errors
    /// [`InteractionsError`] if a row is not strictly ascending or names an item at or beyond `items`.
    pub fn from_rows(items: usize, rows: &[Vec<u32>]) -> Result<Self, InteractionsError> {
        check_rows(items, rows)?;
        let names = |count: usize| (0..count).map(|i| i.to_string()).collect();
        Ok(Self::from_valid_rows(
            rows.iter().map(Vec::as_slice),
            names(rows.len()),
            names(items),
        ))
    }

    /// The same users and items with other rows, for example a part of each.
    ///
    /// # Errors
    /// [`InteractionsError`] if a row is not strictly ascending or names an item that is not there.
    ///
    /// # Panics
    /// If there is not one row per user.
    pub fn with_rows(&self, rows: &[Vec<u32>]) -> Result<Self, InteractionsError> {
        assert_eq!(rows.len(), self.users(), "one row per user");
        check_rows(self.items(), rows)?;
        Ok(Self::from_valid_rows(
            rows.iter().map(Vec::as_slice),
            self.user_names.clone(),
            self.item_names.clone(),
        ))
    }

    /// The same data with one user's row replaced.
    ///
    /// # Errors
    /// [`InteractionsError`] if the row is not strictly ascending or names an item that is not there.
    ///
    /// # Panics
    /// If there is no such user.
    pub fn with_row(&self, user: usize, row: &[u32]) -> Result<Self, InteractionsError> {
        let mut rows: Vec<Vec<u32>> = self.rows().map(<[u32]>::to_vec).collect();
        rows[user] = row.to_vec();
        self.with_rows(&rows)
    }

    /// The data of one user alone, with this row; items stay as they are.
    ///
    /// # Errors
    /// [`InteractionsError`] if the row is not strictly ascending or names an item that is not there.
    ///
    /// # Panics
    /// If there is no such user.
    pub fn alone(&self, user: usize, row: &[u32]) -> Result<Self, InteractionsError> {
        let rows = [row.to_vec()];
        check_rows(self.items(), &rows)?;
        let name = self.user_names[user].clone();
        Ok(Self::from_valid_rows(
            rows.iter(),
            vec![name],
            self.item_names.clone(),
        ))
    }

    /// Number of users, s.
    #[must_use]
    pub fn users(&self) -> usize {
        self.user_names.len()
    }

    /// Number of items, n.
    #[must_use]
    pub fn items(&self) -> usize {
        self.item_names.len()
    }

    /// Number of interactions.
    #[must_use]
    pub fn len(&self) -> usize {
        self.columns.len()
    }

    /// Whether nobody interacted with anything.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.columns.is_empty()
    }

    /// The items of `user`, ascending.
    #[must_use]
    pub fn row(&self, user: usize) -> &[u32] {
        &self.columns[self.offsets[user]..self.offsets[user + 1]]
    }

    /// The id of `user` as found in the file.
    #[must_use]
    pub fn user_name(&self, user: usize) -> &str {
        &self.user_names[user]
    }

    /// The id of `item` as found in the file.
    #[must_use]
    pub fn item_name(&self, item: usize) -> &str {
        &self.item_names[item]
    }

    /// Users per item, in item order: the diagonal of RᵀR, written I in P1.
    #[must_use]
    pub fn item_degrees(&self) -> Vec<u32> {
        let mut degrees = vec![0; self.items()];
        for &item in &self.columns {
            degrees[item as usize] += 1;
        }
        degrees
    }

    /// The s × n matrix with rows r_u / √max(d_u, D), where r_u is user u's binary row, d_u its number of
    /// interactions here (after any filter) and D = `degree_floor`.
    ///
    /// D = 1 is the user normalisation D_U^{-1/2} R of P1. A larger, public D leaves users with
    /// at least D interactions as they are and lowers what one interaction of the others can change
    /// (design, section 7). Every row has norm at most 1, and exactly √(d_u/D) if d_u ≤ D.
    #[must_use]
    pub fn normalised_rows(&self, degree_floor: NonZeroU32) -> SparseRows {
        let floor = f64::from(degree_floor.get());
        self.divided_rows(|degree| degree.max(floor).sqrt())
    }

    /// The s × n matrix with rows r_u / (d_u·max(d_u, D))^{1/4}: those of [`Self::normalised_rows`] for users with at least D interactions, and
    /// rows of norm (d_u/D)^{1/4}, nearer to 1, for the others. One interaction of theirs then moves A as much as one of the others.
    #[must_use]
    pub fn root_floored_rows(&self, degree_floor: NonZeroU32) -> SparseRows {
        let floor = f64::from(degree_floor.get());
        self.divided_rows(|degree| (degree * degree.max(floor)).sqrt().sqrt())
    }

    /// Every row divided by this function of its length.
    fn divided_rows(&self, divisor: impl Fn(f64) -> f64) -> SparseRows {
        let mut rows = SparseRows::new(self.items());
        for row in self.rows() {
            let value = divisor(row.len() as f64).recip();
            rows.push_row(row.iter().map(|&item| (item, value)))
                .expect("rows ascend within the items and the value is finite");
        }
        rows
    }
}

// For the other crates of Undertone.
#[doc(hidden)]
impl Interactions {
    /// Interactions from rows already known to be ascending, distinct and in range.
    #[must_use]
    pub fn from_valid_rows<R: AsRef<[u32]>>(
        rows: impl Iterator<Item = R>,
        user_names: Vec<String>,
        item_names: Vec<String>,
    ) -> Self {
        let mut offsets = Vec::with_capacity(user_names.len() + 1);
        offsets.push(0);
        let mut columns = Vec::new();
        for row in rows {
            columns.extend_from_slice(row.as_ref());
            offsets.push(columns.len());
        }
        Self::from_parts(offsets, columns, user_names, item_names)
    }

    /// Interactions from compressed rows already known to be ascending, distinct and in range.
    #[must_use]
    pub fn from_parts(
        offsets: Vec<usize>,
        mut columns: Vec<u32>,
        user_names: Vec<String>,
        item_names: Vec<String>,
    ) -> Self {
        debug_assert_eq!(offsets.len(), user_names.len() + 1);
        debug_assert_eq!(offsets.last(), Some(&columns.len()));
        columns.shrink_to_fit();
        Self {
            offsets,
            columns,
            user_names,
            item_names,
        }
    }

    /// The rows of all users, in order.
    pub fn rows(&self) -> impl Iterator<Item = &[u32]> {
        (0..self.users()).map(|user| self.row(user))
    }

    /// The ids of all users, in order.
    pub fn names_of_users(&self) -> impl Iterator<Item = &str> {
        self.user_names.iter().map(String::as_str)
    }

    #[must_use]
    pub fn user_names(&self) -> &[String] {
        &self.user_names
    }

    #[must_use]
    pub fn item_names(&self) -> &[String] {
        &self.item_names
    }
}

fn check_rows(items: usize, rows: &[Vec<u32>]) -> Result<(), InteractionsError> {
    for (user, row) in rows.iter().enumerate() {
        for (position, &item) in row.iter().enumerate() {
            let ascends = position == 0 || row[position - 1] < item;
            if !ascends || item as usize >= items {
                return Err(InteractionsError { user, item, items });
            }
        }
    }
    Ok(())
}

impl fmt::Debug for Interactions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Interactions({} users, {} items, {} interactions)",
            self.users(),
            self.items(),
            self.len()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> Interactions {
        Interactions::from_rows(5, &[vec![0, 2, 3], vec![], vec![2]]).expect("valid rows")
    }

    #[test]
    fn rows_degrees_and_shape_agree() {
        let data = example();
        assert_eq!((data.users(), data.items(), data.len()), (3, 5, 4));
        assert_eq!(data.row(0), [0, 2, 3]);
        assert!(data.row(1).is_empty());
        assert_eq!(data.item_degrees(), [1, 0, 2, 1, 0]);
        assert_eq!((data.user_name(2), data.item_name(4)), ("2", "4"));
    }

    #[test]
    fn one_row_is_replaced_or_stands_alone() {
        let data = example();
        let other = data.with_row(1, &[4]).expect("valid");
        assert_eq!((other.row(0), other.row(1)), (data.row(0), &[4][..]));
        let alone = data.alone(2, &[0, 1]).expect("valid");
        assert_eq!((alone.users(), alone.user_name(0)), (1, "2"));
        assert_eq!((alone.row(0), alone.items()), (&[0, 1][..], 5));
        assert!(data.with_row(1, &[5]).is_err() && data.alone(1, &[1, 0]).is_err());
    }

    #[test]
    fn the_degree_floor_divides_small_rows_and_spares_large_ones() {
        let data = example();
        let floor = |d| NonZeroU32::new(d).expect("positive");
        let plain = data.normalised_rows(floor(1));
        assert_eq!(plain.len(), 3);
        assert_eq!(plain.dimension(), 5);
        assert_eq!(plain.row(0).1, [1.0 / 3.0_f64.sqrt(); 3]);
        assert_eq!(plain.row(1).1, [0.0; 0]);
        assert_eq!(plain.row(2).1, [1.0]);
        let floored = data.normalised_rows(floor(2));
        assert_eq!(floored.row(0).1, plain.row(0).1);
        assert_eq!(floored.row(2).1, [1.0 / 2.0_f64.sqrt()]);
        let rooted = data.root_floored_rows(floor(4));
        for (user, norm) in [(0, 0.75_f64.powf(0.25)), (1, 0.0), (2, 0.25_f64.powf(0.25))] {
            let found = rooted.row(user).1.iter().map(|value| value * value);
            assert!((found.sum::<f64>().sqrt() - norm).abs() < 1e-15, "{user}");
        }
        let long = data.root_floored_rows(floor(2));
        assert!((long.row(0).1[2] - plain.row(0).1[2]).abs() < 1e-15);
    }

    #[test]
    fn rows_out_of_order_or_range_are_refused() {
        for (row, item) in [(vec![1, 1], 1), (vec![3, 2], 2), (vec![0, 5], 5)] {
            assert_eq!(
                Interactions::from_rows(5, &[vec![], row]),
                Err(InteractionsError {
                    user: 1,
                    item,
                    items: 5
                })
            );
        }
    }

    #[test]
    fn debug_prints_the_shape_and_no_row() {
        assert_eq!(
            format!("{:?}", example()),
            "Interactions(3 users, 5 items, 4 interactions)"
        );
    }
}
