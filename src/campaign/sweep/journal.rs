//! `cells.jsonl`: one line per finished cell, so that a sweep that was interrupted goes on where it stopped.
//!
//! A line is keyed by a hash of everything its numbers depend on. What is torn, foreign or of another
//! configuration is ignored, never trusted and never removed.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::measures::Measures;
use crate::run::output::OutputError;

/// How a cell ended: its measures, or why there are none.
pub(super) type CellOutcome = Result<Measures, String>;

/// No line that this program writes is longer.
const LONGEST_LINE: u64 = 1 << 16;

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    key: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    measures: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

impl Line {
    fn outcome(self) -> Option<(String, CellOutcome)> {
        let outcome = match (self.measures, self.error) {
            (Some(fields), None) => Ok(Measures::parse(&fields)?),
            (None, Some(error)) => Err(error),
            _ => return None,
        };
        Some((self.key, outcome))
    }
}

/// The journal of one output folder, open for appending.
#[derive(Debug)]
pub(super) struct Journal {
    path: PathBuf,
    file: File,
    finished: BTreeMap<String, CellOutcome>,
}

impl Journal {
    /// Opens or creates the journal and reads what is finished.
    pub(super) fn open(path: &Path) -> Result<Self, OutputError> {
        let failed = |source| OutputError {
            path: path.to_path_buf(),
            source,
        };
        let mut file = OpenOptions::new()
            .read(true)
            .append(true)
            .create(true)
            .open(path)
            .map_err(failed)?;
        let finished = read(&mut file).map_err(failed)?;
        end_torn_line(&mut file).map_err(failed)?;
        Ok(Self {
            path: path.to_path_buf(),
            file,
            finished,
        })
    }

    /// The finished cells of a journal that is only looked at; none if there is no such file.
    pub(super) fn read(path: &Path) -> Result<BTreeMap<String, CellOutcome>, OutputError> {
        let found = match File::open(path) {
            Ok(mut file) => read(&mut file),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(BTreeMap::new()),
            Err(error) => Err(error),
        };
        found.map_err(|source| OutputError {
            path: path.to_path_buf(),
            source,
        })
    }

    /// How the cell of this key ended, if it has.
    pub(super) fn finished(&self, key: &str) -> Option<&CellOutcome> {
        self.finished.get(key)
    }

    /// Adds a cell; the line is with the system when this returns.
    pub(super) fn append(&mut self, key: &str, outcome: &CellOutcome) -> Result<(), OutputError> {
        let line = Line {
            key: key.to_owned(),
            measures: outcome.as_ref().ok().map(Measures::fields),
            error: outcome.as_ref().err().cloned(),
        };
        let mut bytes = serde_json::to_vec(&line).expect("strings serialise");
        bytes.push(b'\n');
        // One write, so that a line of another process cannot land inside.
        self.file
            .write_all(&bytes)
            .and_then(|()| self.file.flush())
            .map_err(|source| OutputError {
                path: self.path.clone(),
                source,
            })
    }
}

/// Every whole line that this program could have written.
fn read(file: &mut File) -> std::io::Result<BTreeMap<String, CellOutcome>> {
    file.seek(SeekFrom::Start(0))?;
    let mut reader = BufReader::new(file);
    let mut finished = BTreeMap::new();
    let mut line = Vec::new();
    loop {
        line.clear();
        if (&mut reader)
            .take(LONGEST_LINE)
            .read_until(b'\n', &mut line)?
            == 0
        {
            return Ok(finished);
        }
        if line.last() != Some(&b'\n') {
            // Torn, or too long: then its rest is read as further lines, none of which parses.
            continue;
        }
        let parsed: Option<Line> = serde_json::from_slice(&line).ok();
        finished.extend(parsed.and_then(Line::outcome));
    }
}

/// Makes the next line start on a line of its own.
fn end_torn_line(file: &mut File) -> std::io::Result<()> {
    if file.seek(SeekFrom::End(0))? == 0 {
        return Ok(());
    }
    file.seek(SeekFrom::End(-1))?;
    let mut last = [0];
    file.read_exact(&mut last)?;
    if last != *b"\n" {
        file.write_all(b"\n")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::measures::tests::awkward;
    use super::*;

    #[test]
    fn torn_foreign_and_broken_lines_are_ignored_and_the_rest_is_found() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("cells.jsonl");
        let mut journal = Journal::open(&path).expect("created");
        journal.append("a", &Ok(awkward())).expect("written");
        journal
            .append("b", &Err("no unique basis".to_owned()))
            .expect("written");
        drop(journal);
        let mut text = std::fs::read_to_string(&path).expect("readable");
        let whole = text.lines().next().expect("a line").to_owned();
        text.push_str("not a line of ours\n{\"key\":\"c\"}\n");
        text.push_str(&whole.replace("\"a\"", "\"d\"").replace("\"7\"", "\"x\""));
        text.push('\n');
        text.push_str(&"z".repeat(3 * LONGEST_LINE as usize));
        text.push('\n');
        // Torn by one byte: only the newline is missing, which could as well be digits.
        text.push_str(&whole.replace("\"a\"", "\"e\""));
        std::fs::write(&path, text).expect("writable");
        let mut journal = Journal::open(&path).expect("opened");
        assert_eq!(journal.finished("a"), Some(&Ok(awkward())));
        assert_eq!(
            journal.finished("b"),
            Some(&Err("no unique basis".to_owned()))
        );
        for key in ["c", "d", "e"] {
            assert_eq!(journal.finished(key), None, "{key}");
        }
        journal.append("f", &Ok(awkward())).expect("written");
        drop(journal);
        let journal = Journal::open(&path).expect("opened");
        assert_eq!(journal.finished("f"), Some(&Ok(awkward())));
    }
}
