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
        let mut bytes = Vec::new();
        File::open(path)
            .and_then(|file| file.take(MOST_BYTES + 1).read_to_end(&mut bytes))
            .map_err(|source| ItemListError::Unreadable {
                path: path.to_path_buf(),
                source,
            })?;
        Self::parse(&bytes, path)
    }

    fn parse(bytes: &[u8], path: &Path) -> Result<Self, ItemListError> {
        let refused = |record, expected| ItemListError::Record {
            path: path.to_path_buf(),
            record,
            expected,
        };
        if bytes.len() as u64 > MOST_BYTES {
            return Err(refused(1, "at most 1 GiB"));
        }
        let text = std::str::from_utf8(bytes).map_err(|_| refused(1, "UTF-8 text"))?;
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut reader = ItemListReader::default();
        for (number, line) in (1..).zip(text.split_inclusive('\n')) {
            let read = reader.read_line(number, line);
            read.map_err(|expected| refused(number, expected))?;
        }
        reader.list().map_err(|expected| refused(1, expected))
    }
}

/// A list that is read line by line. Every refusal is what was expected instead.
#[derive(Default)]
struct ItemListReader {
    list: ItemList,
    /// The weights so far.
    weights: Vec<f64>,
    /// How many columns the header has; 0 before it.
    columns: usize,
    /// The ids so far, to refuse the same item twice.
    known: BTreeSet<String>,
    spellings: Spellings,
    record: csv::StringRecord,
}

impl ItemListReader {
    /// Reads the line with this number, from 1: the header first, then an item a line.
    fn read_line(&mut self, number: usize, line: &str) -> Result<(), &'static str> {
        let Some(line) = line.strip_suffix('\n') else {
            return Err("a line end: the file is cut off");
        };
        let line = line.strip_suffix('\r').unwrap_or(line);
        if hidden(line).is_some() {
            return Err("no characters that cannot be seen");
        }
        split_commas(line, &mut self.record)
            .map_err(|_| "three fields of text: row,item,degree")?;
        if number == 1 {
            self.columns = self.record.len();
        }
        let known_header = (HEADER.len() - 1..=HEADER.len()).contains(&self.columns);
        let header = number > 1 || self.record.iter().zip(HEADER).all(|(a, b)| a == b);
        if !known_header || self.record.len() != self.columns || !header {
            return Err(
                "the header row,item,degree and three fields each, or both with a fourth, weight",
            );
        }
        match number {
            1 => Ok(()),
            _ => self.read_item(),
        }
    }

    /// Reads the record as the next item.
    fn read_item(&mut self) -> Result<(), &'static str> {
        let [row, name, degree] = [0, 1, 2].map(|i| &self.record[i]);
        if self.columns == HEADER.len() {
            let weight = self.record[3].parse();
            self.weights.push(weight.map_err(|_| "a weight")?);
        }
        if row != self.list.names.len().to_string() {
            return Err("rows numbered 0, 1, 2, … in order");
        }
        if name.is_empty() || name.len() > MOST_NAME {
            return Err("an item id of 1 to 512 bytes");
        }
        let is_known = |form: &str| self.known.contains(form);
        if is_known(name) || self.spellings.clash(name, is_known).is_some() {
            return Err("an item id that no row before has, in any spelling");
        }
        let degree = degree.parse().map_err(|_| "a degree below 2^32")?;
        self.list.degrees.push(degree);
        self.known.insert(name.to_owned());
        self.list.names.push(name.to_owned());
        Ok(())
    }

    /// The list, after its last line.
    fn list(mut self) -> Result<ItemList, &'static str> {
        if self.list.names.is_empty() {
            return Err("at least one item");
        }
        if self.columns == HEADER.len() {
            let weights = ItemWeights::new(self.weights);
            let expected = "weights that are finite, above 0 and at least 1/65536 of the largest";
            self.list.weights = Some(weights.map_err(|_| expected)?);
        }
        Ok(self.list)
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
