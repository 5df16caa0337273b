//! Reads the numbers printed on the errata page.

/// A row of a table of the page: | `key` | number | text |.
#[derive(Debug)]
pub(super) struct Printed {
    pub(super) key: String,
    pub(super) text: String,
    pub(super) value: f64,
    /// Half a unit of the last digit.
    pub(super) tolerance: f64,
}

/// All numbers of the page, in order.
pub(super) fn printed(page: &str) -> Vec<Printed> {
    page.lines()
        .filter_map(|line| line.strip_prefix("| `"))
        .map(|line| {
            let mut cells = line.split('|').map(str::trim);
            let key = cells.next().expect("a first cell").trim_end_matches('`');
            let text = cells.next().expect("a second cell");
            let (mantissa, exponent) = text.split_once('e').unwrap_or((text, "0"));
            let decimals = mantissa.split_once('.').map_or(0, |(_, d)| d.len());
            let exponent: i32 = exponent.parse().expect("an integer exponent");
            Printed {
                key: key.to_owned(),
                text: text.to_owned(),
                value: text.parse().expect("a number"),
                tolerance: 0.5 * 10_f64.powi(exponent - decimals as i32) * (1.0 + 1e-9),
            }
        })
        .collect()
}

#[test]
fn numbers_are_read_with_their_last_digit() {
    let rows = printed("text | 3 |\n| key | number |\n| `a-b` | 1.25e-3 | x |\n| `c` | 12 | y |");
    assert_eq!(rows.len(), 2);
    assert_eq!((rows[0].key.as_str(), rows[0].value), ("a-b", 1.25e-3));
    assert!((rows[0].tolerance / 5e-6 - 1.0).abs() < 1e-6);
    assert!((rows[1].tolerance / 0.5 - 1.0).abs() < 1e-6);
}
