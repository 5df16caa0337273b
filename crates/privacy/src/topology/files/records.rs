//! Edge lists as tables: comma-, semicolon- or tab-separated records, with headings or without.
//!
//! The first record names the columns, two of which hold the ends of edges by one of the usual names, or is an edge like all others, whose
//! first two fields are its ends. Fields may be quoted (RFC 4180). Other columns are left out, and the provenance says which.

use super::super::file_problem::FileProblem;
use super::edge_line::{Edge, Separator, visible};
use super::edge_table::Table;
use super::edges::MAX_LINE;
use super::headings::Columns;
use super::parsed::{Fault, Parsed};

/// Reads records; `.tsv` files separate fields with tabs.
pub(super) fn parse(text: &str, tabs: bool) -> Result<Parsed, Fault> {
    let first = text.lines().find(|line| !line.trim().is_empty());
    let first = first.unwrap_or_default();
    let delimiter = match tabs {
        true => b'\t',
        false if !first.contains(',') && first.contains(';') => b';',
        false => b',',
    };
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .delimiter(delimiter)
        .comment(Some(b'#'))
        .from_reader(text.as_bytes());
    let mut table = Table::default();
    let mut columns: Option<Columns> = None;
    let mut first: Option<(usize, usize)> = None;
    let mut record = csv::StringRecord::new();
    loop {
        let more = reader.read_record(&mut record);
        let line = record.position().map_or(1, |at| at.line() as usize);
        let fault = |problem| (line, problem);
        let more = more.map_err(|error| {
            let reason = error.to_string().chars().take(200).collect();
            fault(FileProblem::Records { reason })
        })?;
        if !more {
            return table.finish();
        }
        let fields: Vec<&str> = record.iter().map(str::trim).collect();
        let found = fields.len();
        if fields.iter().all(|field| field.is_empty()) {
            continue;
        }
        if found < 2 {
            return Err(fault(FileProblem::FieldCount { found }));
        }
        if first.is_none() {
            columns = Columns::of(&fields);
            first = Some((found, line));
            if let Some(columns) = &columns {
                table = Table::headed(columns.clone());
                continue;
            }
        }
        let (source, target) = columns.as_ref().map_or((0, 1), |c| (c.source, c.target));
        for id in fields.get(source).into_iter().chain(fields.get(target)) {
            check_id(id).map_err(fault)?;
        }
        match (&columns, first) {
            (Some(_), Some((expected, first))) if found != expected => {
                return Err(fault(FileProblem::FieldsDiffer {
                    found,
                    expected,
                    first,
                }));
            }
            (Some(_), _) => {
                table.add((fields[source], fields[target]), line)?;
            }
            (None, _) => {
                let edge = Edge {
                    source: fields[0],
                    target: fields[1],
                    separator: Separator::Comma,
                    more: fields[2..].to_vec(),
                    attributes: false,
                };
                table.edge(&edge, line)?;
            }
        }
    }
}

/// A name in a record may hold blanks and marks, since it may be quoted.
fn check_id(id: &str) -> Result<(), FileProblem> {
    visible(id)?;
    if id.is_empty() || id.contains(['\t', '\r', '\n']) {
        return Err(FileProblem::StraySeparator);
    }
    if id.len() > MAX_LINE {
        return Err(FileProblem::TooLong { most: MAX_LINE });
    }
    Ok(())
}
