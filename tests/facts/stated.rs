//! Reads the table in the header of an experiment file.

use std::collections::BTreeMap;

use crate::support::repository;

/// A number as it is written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Stated {
    pub(super) value: f64,
    /// Digits behind the point.
    digits: i32,
}

impl Stated {
    fn parse(text: &str) -> Option<Self> {
        let digits = text.split_once('.').map_or(0, |(_, digits)| digits.len());
        Some(Self {
            value: text.parse().ok()?,
            digits: i32::try_from(digits).ok()?,
        })
    }

    /// Half of the last digit.
    fn rounding(self) -> f64 {
        0.5 * 10_f64.powi(-self.digits)
    }
}

/// A mean over seeds with the standard deviation over seeds, as stated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Cell {
    pub(super) mean: Stated,
    pub(super) spread: Stated,
}

impl Cell {
    fn parse(text: &str) -> Option<Self> {
        let (mean, spread) = text.split_once('±')?;
        Some(Self {
            mean: Stated::parse(mean.trim())?,
            spread: Stated::parse(spread.trim())?,
        })
    }

    /// Whether `runs` with this mean and standard deviation are of the same law, as far as can be seen.
    pub(super) fn agrees(self, (mean, spread): (f64, f64), runs: usize) -> bool {
        let own = self.spread.value + self.spread.rounding();
        let error = ((own.powi(2) + spread.powi(2)) / runs as f64).sqrt();
        let least = (self.spread.value - self.spread.rounding()).max(0.0);
        (mean - self.mean.value).abs() <= 4.0 * error + self.mean.rounding()
            && (least / 4.0..=4.0 * own).contains(&spread)
    }
}

/// What a header states, by method and ε.
pub(super) type Numbers = BTreeMap<(String, String), Cell>;

/// The table in the header of an experiment file.
pub(super) fn stated(text: &str) -> Numbers {
    let header = text.lines().take_while(|line| line.starts_with('#'));
    let lines = header.filter_map(|line| line.trim_start_matches(['#', ' ']).strip_prefix('|'));
    let cells = |line: &str| -> Vec<String> {
        let line = line.trim().trim_end_matches('|');
        line.split('|').map(|cell| cell.trim().to_owned()).collect()
    };
    let mut lines = lines.map(cells);
    let columns = lines.next().unwrap_or_default();
    let mut found = Numbers::new();
    for row in lines {
        assert_eq!(row.len(), columns.len(), "{row:?}");
        for (column, cell) in columns.iter().zip(&row).skip(1) {
            if cell.is_empty() {
                continue;
            }
            let place = (row[0].clone(), column.clone());
            let read = Cell::parse(cell).unwrap_or_else(|| panic!("{cell:?}"));
            found.insert(place, read);
        }
    }
    found
}

/// The table of `sims/NAME.toml`.
pub(super) fn header(name: &str) -> Numbers {
    let path = repository("sims").join(format!("{name}.toml"));
    stated(&std::fs::read_to_string(path).expect("readable"))
}

#[test]
fn a_mean_beyond_its_error_is_noticed() {
    let cell = Cell::parse("0.73 ± 0.02").expect("a cell");
    assert!(cell.agrees((0.7261, 0.0191), 10));
    // Four times 0.0101, and half a digit.
    assert!(cell.agrees((0.765, 0.02), 10) && cell.agrees((0.695, 0.02), 10));
    assert!(!cell.agrees((0.78, 0.02), 10) && !cell.agrees((0.68, 0.02), 10));
    assert!(!cell.agrees((0.74, 0.11), 10) && !cell.agrees((0.74, 0.0), 10));
    assert!(!cell.agrees((f64::NAN, 0.02), 10));
    let exact = Cell::parse("0.998 ± 0.000").expect("a cell");
    assert!(exact.agrees((0.9981, 0.0), 10) && !exact.agrees((0.99, 0.0), 10));
    assert_eq!(Cell::parse("0.73"), None);
}
