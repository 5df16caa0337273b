//! Fields of a line: numbers, and comma-separated text with quotes.

use csv::StringRecord;

use crate::data::error::{Problem, excerpt};

/// The finite number that `text` is. `what` names the field in errors.
pub(in crate::data) fn number(text: &str, what: &'static str) -> Result<f64, Problem> {
    let number: f64 = text
        .trim_matches(BLANKS)
        .parse()
        .map_err(|_| Problem::NotANumber {
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

/// What separates words on a line besides a format's own separator.
pub(super) const BLANKS: [char; 2] = [' ', '\t'];

/// Splits a line at its commas into `record`, without the blanks around fields.
pub(crate) fn split_commas(text: &str, record: &mut StringRecord) -> Result<(), Problem> {
    split_fields(text, ',', record)
}

/// Splits a line at its separators into `record`, without the blanks around fields.
///
/// ```text
/// line   = field { separator field }
/// field  = [blanks] ( plain | quoted ) [blanks]       a tab that separates is no blank
/// plain  = characters without separator and "         the first of a line starts with none of # % //
/// quoted = '"' { anything but '"' | '""' } '"'         on one line; '""' stands for '"'
/// ```
pub(in crate::data) fn split_fields(
    text: &str,
    separator: char,
    record: &mut StringRecord,
) -> Result<(), Problem> {
    let is_blank = |c: char| BLANKS.contains(&c) && c != separator;
    record.clear();
    let start = text.trim_start_matches(is_blank);
    if ["#", "%", "//"].iter().any(|sign| start.starts_with(sign)) {
        return Err(Problem::CommentSign {
            found: excerpt(start),
        });
    }
    let mut rest = text;
    loop {
        let field = rest.trim_start_matches(is_blank);
        if let Some(quoted) = field.strip_prefix('"') {
            let (value, after) = unquoted(quoted)?;
            record.push_field(&value);
            let after = after.trim_start_matches(is_blank);
            if after.is_empty() {
                return Ok(());
            }
            rest = after.strip_prefix(separator).ok_or(Problem::StrayQuote)?;
        } else {
            let (value, more) = match field.split_once(separator) {
                Some((value, more)) => (value, Some(more)),
                None => (field, None),
            };
            if value.contains('"') {
                return Err(Problem::StrayQuote);
            }
            record.push_field(value.trim_end_matches(is_blank));
            match more {
                Some(more) => rest = more,
                None => return Ok(()),
            }
        }
    }
}

/// The content of a quoted field whose opening quote was taken, and what follows its closing one.
fn unquoted(mut rest: &str) -> Result<(String, &str), Problem> {
    let mut value = String::new();
    loop {
        let (before, after) = rest.split_once('"').ok_or(Problem::OpenQuote)?;
        value.push_str(before);
        match after.strip_prefix('"') {
            Some(more) => {
                value.push('"');
                rest = more;
            }
            None => return Ok((value, after)),
        }
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
            ["a,b", "say \"hi\"", "c"]
        );
        assert_eq!(split(" a ,\t\" b \" ,").expect("blanks"), ["a", " b ", ""]);
        assert_eq!(split("\"a,b"), Err(Problem::OpenQuote));
        for stray in ["a\"b\",c", "\"a\"b,c", "a,b\""] {
            assert_eq!(split(stray), Err(Problem::StrayQuote), "{stray}");
        }
        for sign in ["# a", " %a,b", "//,"] {
            assert!(
                matches!(split(sign), Err(Problem::CommentSign { .. })),
                "{sign}"
            );
        }
        assert_eq!(split("\"# a\"").expect("quoted"), ["# a"]);
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
