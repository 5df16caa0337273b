//! Tables of aligned columns for the terminal.

use std::io::{self, Write};

use super::colour;

/// Writes rows of cells with columns padded to equal width; the first row is a heading. Columns of
/// numbers are aligned right.
pub(crate) fn write(out: &mut impl Write, rows: &[Vec<String>]) -> io::Result<()> {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let length = |row: &Vec<String>, c: usize| row.get(c).map_or(0, |cell| colour::width(cell));
    let widths: Vec<usize> = (0..columns)
        .map(|c| rows.iter().map(|row| length(row, c)).max().unwrap_or(0))
        .collect();
    let right: Vec<bool> = (0..columns).map(|c| is_numeric(rows, c)).collect();
    for row in rows {
        let mut line = String::from(" ");
        for (c, cell) in row.iter().enumerate() {
            let padding = " ".repeat(widths[c] - colour::width(cell));
            let (before, after) = if right[c] {
                (padding.as_str(), "")
            } else {
                ("", padding.as_str())
            };
            line.push_str(&format!(" {before}{cell}{after} "));
        }
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}

fn is_numeric(rows: &[Vec<String>], column: usize) -> bool {
    let starts_like_a_number =
        |cell: &String| cell.starts_with(|c: char| c.is_ascii_digit() || c == '-');
    rows.len() > 1
        && rows
            .iter()
            .skip(1)
            .filter_map(|row| row.get(column))
            .all(starts_like_a_number)
}

/// A number with four significant digits; exponents only where they help.
pub(crate) fn number(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return format!("{value}");
    }
    let magnitude = value.abs();
    if (1e-3..1e5).contains(&magnitude) {
        let digits = (3 - magnitude.log10().floor() as i32).max(0) as usize;
        format!("{value:.digits$}")
    } else {
        format!("{value:.2e}")
    }
}

/// A number or a dash.
pub(crate) fn optional(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_four_digits() {
        assert_eq!(number(0.123_456), "0.1235");
        assert_eq!(number(12.3456), "12.35");
        assert_eq!(number(12345.6), "12346");
        assert_eq!(number(1.5e-7), "1.50e-7");
    }

    #[test]
    fn columns_line_up() {
        let rows =
            [["", "x"], ["a", "10.5"], ["long", "-"]].map(|row| row.map(str::to_owned).to_vec());
        let mut out = Vec::new();
        write(&mut out, &rows).expect("writing to memory");
        assert_eq!(
            String::from_utf8(out).expect("text"),
            "           x\n  a     10.5\n  long     -\n"
        );
    }
}
