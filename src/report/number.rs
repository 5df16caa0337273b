//! Formats numbers for people: digits, units, powers of ten.

/// Four significant digits at most, powers of ten where zeros would have to be counted.
pub(super) fn short(value: f64) -> String {
    significant(value, 4)
}

/// At most `digits` significant digits, trailing zeros dropped.
pub(super) fn significant(value: f64, digits: i32) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    if !value.is_finite() {
        return if value.is_nan() { "none" } else { "infinite" }.to_owned();
    }
    let scientific = format!("{value:.*e}", (digits - 1).max(0) as usize);
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    // Whole numbers are not rounded to fewer digits than they show.
    let most = if digits < 4 { 4 } else { 6 };
    if (-4..most).contains(&exponent) {
        let places = (digits - 1 - exponent).max(0) as usize;
        return trimmed(&format!("{value:.places$}")).to_owned();
    }
    let power = format!("10{}", superscript(exponent));
    match trimmed(mantissa) {
        "1" => power,
        "-1" => format!("−{power}"),
        other => format!("{other}·{power}"),
    }
}

/// Digits in groups of three.
pub(super) fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut out = String::new();
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

fn trimmed(number: &str) -> &str {
    match number.contains('.') {
        true => number.trim_end_matches('0').trim_end_matches('.'),
        false => number,
    }
}

fn superscript(exponent: i32) -> String {
    const RAISED: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    let raised = |c: char| c.to_digit(10).map_or('⁻', |digit| RAISED[digit as usize]);
    exponent.to_string().chars().map(raised).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_exact_enough() {
        let cases = [
            (0.1, "0.1"),
            (1000.0, "1000"),
            (0.123_456, "0.1235"),
            (12345.6, "12346"),
            (1e-9, "10⁻⁹"),
            (2.5e7, "2.5·10⁷"),
            (0.0, "0"),
            (f64::NAN, "none"),
            (99_999.9, "100000"),
            (-2.0, "-2"),
        ];
        for (value, shown) in cases {
            assert_eq!(short(value), shown);
        }
        assert_eq!(grouped(1_234_567), "1,234,567");
    }
}
