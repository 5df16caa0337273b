//! Writes comma-separated values.

/// Rows as CSV (RFC 4180, lines end with \n): fields are quoted where they hold a comma, a quote or a line end.
///
/// # Panics
/// If the rows have different numbers of fields.
#[must_use]
pub fn csv<R>(rows: impl IntoIterator<Item = R>) -> Vec<u8>
where
    R: IntoIterator<Item: AsRef<[u8]>>,
{
    let mut writer = ::csv::Writer::from_writer(Vec::new());
    for row in rows {
        writer
            .write_record(row)
            .expect("rows of equal length go to memory");
    }
    writer.into_inner().expect("memory takes all")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_quoted_where_they_must_be() {
        let rows = [["a", "b, c"], ["say \"hi\"", ""]];
        assert_eq!(csv(rows), b"a,\"b, c\"\n\"say \"\"hi\"\"\",\n");
    }
}
