//! `items.csv`: which item each row of a basis is, and the public degrees or weights that scoring needs.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::data::{Interactions, split_commas};
use crate::linalg::ItemWeights;
use crate::vocabulary::{Spellings, hidden};
use crate::writing;

/// Longest file read: 1 GiB, about 50 million items.
const MOST_BYTES: u64 = 1 << 30;
/// Longest id of an item, as in rating files.
const MOST_NAME: usize = 512;
/// The last only where the basis is of eigenvectors of P A P.
const HEADER: [&str; 4] = ["row", "item", "degree", "weight"];

/// The items of a basis, in the order of its rows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ItemList {
    /// Their ids as found in the rating file.
    pub names: Vec<String>,
    /// How many users interacted with each. Treated as public; **not** protected.
    pub degrees: Vec<u32>,
    /// The diagonal of P, where the basis is of eigenvectors of P A P. A function of the degrees, and as public.
    pub weights: Option<ItemWeights>,
}

/// An item list that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ItemListError {
    /// The file cannot be read.
    #[error("cannot read the item list {path}: {source}", path = path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A record that is not what `undertone run` writes.
    #[error("{path}, record {record}: expected {expected}; give the items.csv that `undertone run` wrote beside the basis", path = path.display())]
    Record {
        /// The file.
        path: PathBuf,
        /// The record, from 1; the header is 1.
        record: usize,
        /// What it should be.
        expected: &'static str,
    },
}

impl ItemList {
    /// The items of these interactions, with their degrees there.
    #[must_use]
    pub fn of(interactions: &Interactions) -> Self {
        let names = (0..interactions.items()).map(|item| interactions.item_name(item).to_owned());
        Self {
            names: names.collect(),
            degrees: interactions.item_degrees(),
            weights: None,
        }
    }

    /// The same list for a basis of eigenvectors of P A P, where there is a P.
    #[must_use]
    pub fn weighted(mut self, weights: Option<&ItemWeights>) -> Self {
        self.weights = weights.cloned();
        self
    }

    /// The weights that a low-pass filter by this basis scales rows with: P, or the inverse roots of the degrees.
    #[must_use]
    pub fn filter_weights(&self) -> ItemWeights {
        match &self.weights {
            Some(weights) => weights.clone(),
            None => ItemWeights::inverse_roots(&self.degrees),
        }
    }

    /// The list as CSV: header `row,item,degree`, rows from 0; with a column `weight`, in full precision, where there is a P.
    #[must_use]
    pub fn to_csv(&self) -> Vec<u8> {
        let columns = self.columns();
        let header = HEADER[..columns].iter().map(|&name| name.to_owned());
        let rows = (0..).zip(self.names.iter().zip(&self.degrees));
        let rows = rows.map(|(row, (name, degree)): (usize, _)| {
            let mut fields = vec![row.to_string(), name.clone(), degree.to_string()];
            if let Some(weights) = &self.weights {
                fields.push(weights.weights()[row].to_string());
            }
            fields
        });
        writing::csv(std::iter::once(header.collect()).chain(rows))
    }

    /// How many columns the file has.
    fn columns(&self) -> usize {
        match self.weights {
            Some(_) => HEADER.len(),
            None => HEADER.len() - 1,
        }
    }

    /// Reads what [`Self::to_csv`] wrote.
    ///
    /// # Errors
    /// [`ItemListError`] at the first record that is not the next row with an id and a degree.
    pub fn read(path: &Path) -> Result<Self, ItemListError> {
        let file = File::open(path).map_err(|source| ItemListError::Unreadable {
            path: path.to_path_buf(),
            source,
        })?;
        Self::parse(file, path)
    }

    fn parse(source: impl Read, path: &Path) -> Result<Self, ItemListError> {
        let refused = |record, expected| ItemListError::Record {
            path: path.to_path_buf(),
            record,
            expected,
        };
        let mut bytes = Vec::new();
        let unreadable = |source| ItemListError::Unreadable {
            path: path.to_path_buf(),
            source,
        };
        let read = source.take(MOST_BYTES + 1).read_to_end(&mut bytes);
        if read.map_err(unreadable)? as u64 > MOST_BYTES {
            return Err(refused(1, "at most 1 GiB"));
        }
        let text = std::str::from_utf8(&bytes).map_err(|_| refused(1, "UTF-8 text"))?;
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut list = Self::default();
        let mut weights = Vec::new();
        let mut columns = HEADER.len() - 1;
        let mut known = BTreeSet::new();
        let mut spellings = Spellings::default();
        let mut record = csv::StringRecord::new();
        for (number, line) in (1..).zip(text.split_inclusive('\n')) {
            let Some(line) = line.strip_suffix('\n') else {
                return Err(refused(number, "a line end: the file is cut off"));
            };
            let line = line.strip_suffix('\r').unwrap_or(line);
            if hidden(line).is_some() {
                return Err(refused(number, "no characters that cannot be seen"));
            }
            split_commas(line, &mut record)
                .map_err(|_| refused(number, "three fields of text: row,item,degree"))?;
            let fields = [0, 1, 2, 3].map(|i| record.get(i).unwrap_or_default());
            if number == 1 {
                columns = record.len();
            }
            let known_header = (HEADER.len() - 1..=HEADER.len()).contains(&columns);
            let header = number > 1 || fields[..columns.min(4)] == HEADER[..columns.min(4)];
            if !known_header || record.len() != columns || !header {
                return Err(refused(
                    number,
                    "the header row,item,degree and three fields each, or both with a fourth, weight",
                ));
            }
            if number == 1 {
                continue;
            }
            if columns == HEADER.len() {
                let weight = fields[3].parse::<f64>();
                weights.push(weight.map_err(|_| refused(number, "a weight"))?);
            }
            if fields[0] != list.names.len().to_string() {
                return Err(refused(number, "rows numbered 0, 1, 2, … in order"));
            }
            if fields[1].is_empty() || fields[1].len() > MOST_NAME {
                return Err(refused(number, "an item id of 1 to 512 bytes"));
            }
            let name = fields[1].to_owned();
            if known.contains(&name)
                || spellings
                    .clash(&name, |form| known.contains(form))
                    .is_some()
            {
                return Err(refused(
                    number,
                    "an item id that no row before has, in any spelling",
                ));
            }
            let degree = fields[2].parse();
            list.degrees
                .push(degree.map_err(|_| refused(number, "a degree below 2^32"))?);
            known.insert(name.clone());
            list.names.push(name);
        }
        if list.names.is_empty() {
            return Err(refused(1, "at least one item"));
        }
        if columns == HEADER.len() {
            let weights = ItemWeights::new(weights);
            let expected = "weights that are finite, above 0 and at least 1/65536 of the largest";
            list.weights = Some(weights.map_err(|_| refused(1, expected))?);
        }
        Ok(list)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_read_as_it_was_written() {
        let list = ItemList {
            names: ["1", "a, \"b\"", "ü"].map(str::to_owned).to_vec(),
            degrees: vec![3, 0, u32::MAX],
            weights: None,
        };
        let csv = list.to_csv();
        assert!(csv.starts_with(b"row,item,degree\n0,1,3\n"));
        let text = String::from_utf8(csv.clone()).expect("text");
        for text in [format!("\u{feff}{text}"), text.replace('\n', "\r\n")] {
            let read = ItemList::parse(text.as_bytes(), Path::new("x"));
            assert_eq!(read.expect("good"), list);
        }
        assert_eq!(
            ItemList::parse(&csv[..], Path::new("x")).expect("good"),
            list
        );
    }

    /// Weights come back to the bit, and decide the filter.
    #[test]
    fn weights_are_read_as_they_were_written() {
        let degrees = vec![3, 17, 0];
        let weights = ItemWeights::of_degrees(&degrees, 0.3, 0.1).expect("in range");
        let list = ItemList {
            names: ["a", "b", "c"].map(str::to_owned).to_vec(),
            degrees,
            weights: Some(weights.clone()),
        };
        let csv = list.to_csv();
        assert!(csv.starts_with(b"row,item,degree,weight\n0,a,3,0."));
        let read = ItemList::parse(&csv[..], Path::new("x")).expect("good");
        assert_eq!(read, list);
        assert_eq!(read.filter_weights(), weights);
        for (text, word) in [
            ("row,item,degree,weight\n0,a,1\n", "record 2"),
            ("row,item,degree\n0,a,1,0.5\n", "record 2"),
            ("row,item,degree,share\n0,a,1,0.5\n", "record 1"),
            ("row,item,degree,weight,x\n0,a,1,0.5,1\n", "record 1"),
            ("row,item,degree,weight\n0,a,1,x\n", "a weight"),
            ("row,item,degree,weight\n0,a,1,0\n", "above 0"),
            ("row,item,degree,weight\n0,a,1,NaN\n", "above 0"),
            ("row,item,degree,weight\n0,a,1,1\n1,b,1,1e-9\n", "65536"),
        ] {
            let error = ItemList::parse(text.as_bytes(), Path::new("x")).expect_err(text);
            assert!(error.to_string().contains(word), "{text}: {error}");
        }
    }

    #[test]
    fn other_files_are_refused_with_the_record() {
        for (text, word) in [
            ("", "at least one item"),
            ("row,item,degree\n", "at least one item"),
            ("row,item\n0,a\n", "record 1"),
            ("row,item,degree\n1,a,1\n", "rows numbered"),
            ("row,item,degree\n0,a,1\n0,b,1\n", "record 3"),
            ("row,item,degree\n0,,1\n", "item id"),
            ("row,item,degree\n0,a,-1\n", "a degree"),
            ("row,item,degree\n0,a,1,2\n", "record 2"),
            ("row,item,degree\n0,\u{0},x\n", "record 2"),
            ("row,item,degree\n0,a,x\n", "degree"),
            ("row,item,degree\n0,a,12", "cut off"),
            ("row,item,degree\r0,a,1\r", "cut off"),
            ("row,item,degree\n0,a\u{200b},1\n", "seen"),
            ("row,item,degree\n\u{feff}0,a,1\n", "seen"),
            ("row,item,degree\n0,a,1\n1,a,1\n", "no row before"),
            ("row,item,degree\n0,1,1\n1,01,1\n", "no row before"),
            (
                "row,item,degree\n0,Zu\u{308}rich,1\n1,Zürich,1\n",
                "no row before",
            ),
            ("row;item;degree\n0;a;1\n", "record 1"),
            ("row,item,degree\n0,a\"b\",1\n", "record 2"),
            ("row,item,degree\n# 0,a,1\n", "record 2"),
            ("row,item,degree\n00,a,1\n", "rows numbered"),
        ] {
            let error = ItemList::parse(text.as_bytes(), Path::new("x")).expect_err(text);
            assert!(error.to_string().contains(word), "{error}");
        }
    }
}
