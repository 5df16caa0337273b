//! The items that weigh most in each column of a basis: a function of the basis and of public names.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Serialize;

use super::items::ItemList;
use super::recommend::{RecommendError, check_count, list_of, titles_of};
use crate::config::Config;
use crate::data;
use crate::linalg::Block;
use crate::writing::read_basis;

/// A column of a basis.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Direction {
    /// Its number, from 1.
    pub direction: usize,
    /// The items of largest absolute weight, largest first.
    pub heaviest: Vec<ItemWeight>,
}

/// An item's entry in a column.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ItemWeight {
    /// Its id as found in the data.
    pub item: String,
    /// Its title, where known.
    pub title: Option<String>,
    /// The entry. The sign of a whole column has no meaning, that of one item against another has.
    pub weight: f64,
}

impl ItemWeight {
    /// The title, or the id where there is none.
    #[must_use]
    pub fn name(&self) -> &str {
        self.title.as_ref().unwrap_or(&self.item)
    }
}

/// Files of which [`directions`] are asked for.
#[derive(Clone, Debug)]
pub struct DirectionsRequest {
    /// `basis.npy` of a run.
    pub basis: PathBuf,
    /// The item list; `items.csv` beside the basis where absent.
    pub items: Option<PathBuf>,
    /// Titles of items.
    pub titles: Option<PathBuf>,
    /// Items of each column.
    pub top: usize,
}

/// The heaviest items of every column of the basis in a file.
///
/// # Errors
/// [`RecommendError`] naming the file and what to change.
pub fn directions(request: &DirectionsRequest) -> Result<Vec<Direction>, RecommendError> {
    let path = &request.basis;
    let basis = read_basis(path)?;
    let listed = list_of(path, request.items.as_deref());
    let list = listed.ok_or_else(|| RecommendError::NoItems {
        basis: path.clone(),
    })?;
    let names = ItemList::read(&list)?.names;
    check_count(
        (path, basis.rows()),
        names.len(),
        list.display().to_string(),
    )?;
    let titles = titles_of(request.titles.as_deref())?;
    Ok(of_basis(&basis, &names, &titles, request.top))
}

/// The `top` heaviest items of every column; the earlier row where two weigh the same.
///
/// # Panics
/// If there is not one name per row.
#[must_use]
pub fn of_basis(
    basis: &Block,
    names: &[String],
    titles: &BTreeMap<String, String>,
    top: usize,
) -> Vec<Direction> {
    assert_eq!(names.len(), basis.rows(), "a name per row");
    let heaviest = |column: usize| {
        let weight = |row: usize| basis.row(row)[column];
        let mut rows: Vec<usize> = (0..basis.rows()).collect();
        rows.sort_by(|&a, &b| weight(b).abs().total_cmp(&weight(a).abs()));
        let items = rows.into_iter().take(top).map(|row| ItemWeight {
            item: names[row].clone(),
            title: titles.get(&names[row]).cloned(),
            weight: weight(row),
        });
        items.collect()
    };
    (0..basis.columns())
        .map(|column| Direction {
            direction: column + 1,
            heaviest: heaviest(column),
        })
        .collect()
}

/// Whether the columns of this experiment's basis estimate one eigenvector each, in order, and are no other basis of their span.
#[must_use]
pub fn are_eigenvectors(config: &Config) -> bool {
    config.algorithm.table().finds_eigenvectors()
}

/// A sentence on where titles of this experiment's items are found.
#[must_use]
pub fn titles_are_in(config: &Config) -> &'static str {
    data::titles_hint(config.data.format().ratings())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_heaviest_come_first_with_their_sign_and_title() {
        let basis = Block::from_values(4, 2, vec![0.5, 0.0, -0.7, 0.1, 0.5, -0.1, 0.0, 0.9]);
        let names = ["a", "b", "c", "d"].map(str::to_owned);
        let titles = BTreeMap::from([("b".to_owned(), "B".to_owned())]);
        let found = of_basis(&basis, &names, &titles, 3);
        let shown = |direction: &Direction| -> Vec<(String, f64)> {
            let items = direction.heaviest.iter();
            items
                .map(|one| (one.name().to_owned(), one.weight))
                .collect()
        };
        let expected = |list: [(&str, f64); 3]| list.map(|(name, w)| (name.to_owned(), w));
        assert_eq!(
            shown(&found[0]),
            expected([("B", -0.7), ("a", 0.5), ("c", 0.5)])
        );
        assert_eq!(
            shown(&found[1]),
            expected([("d", 0.9), ("B", 0.1), ("c", -0.1)])
        );
        assert_eq!(
            (found[0].direction, found[1].direction, found.len()),
            (1, 2, 2)
        );
    }
}
