//! Fields of a line: numbers, and comma-separated text with quotes.

use csv::{ReaderBuilder, StringRecord, Terminator};

use crate::data::error::{Problem, excerpt};

/// The finite number that `text` is. `what` names the field in errors.
pub(super) fn number(text: &str, what: &'static str) -> Result<f64, Problem> {
    let number: f64 = text.trim().parse().map_err(|_| Problem::NotANumber {
        what,
        found: excerpt(text),
        expected: "a number such as 3.5",
    })?;
    if number.is_finite() {
        Ok(number)
    } else {
        Err(Problem::NotFinite {
            what,
            found: excerpt(text),
        })
    }
}

/// The integer without sign that `text` is: digits only, at most 64 bits.
pub(super) fn whole_number(text: &str, what: &'static str) -> Result<u64, Problem> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let number = if digits { text.parse().ok() } else { None };
    number.ok_or_else(|| Problem::NotANumber {
        what,
        found: excerpt(text),
        expected: "an integer of digits only, at most 64 bits",
    })
}

/// Splits a line at its commas into `record`; fields may be quoted and then contain commas and doubled
/// quotes, but no line ends.
pub(in crate::data) fn split_commas(text: &str, record: &mut StringRecord) -> Result<(), Problem> {
    record.clear();
    if !text.contains('"') {
        for field in text.split(',') {
            record.push_field(field);
        }
        return Ok(());
    }
    if text.bytes().filter(|&byte| byte == b'"').count() % 2 == 1 {
        return Err(Problem::OpenQuote);
    }
    let read = ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .terminator(Terminator::Any(b'\n'))
        .buffer_capacity(text.len().min(1 << 13))
        .from_reader(text.as_bytes())
        .read_record(record);
    // Reading from memory cannot fail and the text is UTF-8, so what is left is a broken quotation.
    match read {
        Ok(true) => Ok(()),
        Ok(false) | Err(_) => Err(Problem::OpenQuote),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(text: &str) -> Result<Vec<String>, Problem> {
        let mut record = StringRecord::new();
        split_commas(text, &mut record)?;
        Ok(record.iter().map(str::to_owned).collect())
    }

    #[test]
    fn commas_split_and_quotes_protect() {
        assert_eq!(split("a,b,").expect("plain"), ["a", "b", ""]);
        assert_eq!(
            split("\"a,b\",\"say \"\"hi\"\"\", c").expect("quoted"),
            ["a,b", "say \"hi\"", " c"]
        );
        assert_eq!(split("\"a,b"), Err(Problem::OpenQuote));
    }

    #[test]
    fn numbers_are_finite_and_integers_are_digits() {
        assert_eq!(number(" -2.5 ", "rating"), Ok(-2.5));
        for text in ["", "x", "1,5", "0x10"] {
            assert!(matches!(
                number(text, "rating"),
                Err(Problem::NotANumber { .. })
            ));
        }
        for text in ["nan", "-inf", "Infinity", "1e999"] {
            assert!(matches!(
                number(text, "rating"),
                Err(Problem::NotFinite { .. })
            ));
        }
        assert_eq!(whole_number("0012", "user"), Ok(12));
        for text in ["", "+1", "-1", "1.0", "18446744073709551616"] {
            assert!(whole_number(text, "user").is_err());
        }
    }
}
