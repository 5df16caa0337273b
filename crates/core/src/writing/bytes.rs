//! Numbers of bytes as people read them.

/// Three significant digits at most with a decimal unit: `1.23 MB`, `12 B`.
#[must_use]
pub fn bytes(count: u64) -> String {
    const UNITS: [(&str, f64); 3] = [("GB", 1e9), ("MB", 1e6), ("kB", 1e3)];
    let Some((unit, size)) = UNITS.iter().find(|(_, size)| count as f64 >= *size) else {
        return format!("{count} B");
    };
    let value = count as f64 / size;
    let places = match value {
        value if value >= 99.95 => 0,
        value if value >= 9.995 => 1,
        _ => 2,
    };
    let number = format!("{value:.places$}");
    let number = match number.contains('.') {
        true => number.trim_end_matches('0').trim_end_matches('.'),
        false => &number,
    };
    format!("{number} {unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_digits_and_a_unit() {
        let shown = [12, 1_000, 1_234_567, 12_345_678, 999_960, 2_500_000_000].map(bytes);
        assert_eq!(
            shown,
            ["12 B", "1 kB", "1.23 MB", "12.3 MB", "1000 kB", "2.5 GB"]
        );
    }
}
