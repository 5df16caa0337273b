//! Reads a file line by line: gzip is recognised by its magic bytes, lines are bounded, errors are numbered.

use std::borrow::Cow;
use std::io::{self, BufRead, BufReader, Cursor, Read};

use flate2::bufread::MultiGzDecoder;

use super::error::{DataError, Problem};
use super::matrix_problem::ArrayProblem;
use crate::vocabulary::hidden;

/// How much a reader may hold before it refuses a file; memory is bounded by these and not by what the
/// file says about itself.
///
/// Peak memory is about 20 bytes per rating, 4 more per interaction, `name_bytes` at most twice per user
/// and item, and one line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of text, after decompression.
    pub bytes: u64,
    /// Bytes of one line, its newline included.
    pub line_bytes: u64,
    /// Bytes of one user's or item's name.
    pub name_bytes: usize,
    /// Distinct users.
    pub users: usize,
    /// Distinct items.
    pub items: usize,
    /// Ratings, whether above the threshold or not.
    pub ratings: usize,
}

impl Limits {
    /// Refuses arrays without a number, and larger ones than these limits allow.
    pub(super) fn check_array(&self, rows: u64, columns: u64) -> Result<(), ArrayProblem> {
        if rows == 0 || columns == 0 {
            return Err(ArrayProblem::NoNumbers { rows, columns });
        }
        for (what, found, limit) in [
            ("rows", Some(rows), self.users),
            ("columns", Some(columns), self.items),
            ("numbers", rows.checked_mul(columns), self.ratings),
        ] {
            let limit = limit as u64;
            if found.is_none_or(|found| found > limit) {
                return Err(ArrayProblem::TooLarge {
                    rows,
                    columns,
                    what,
                    limit,
                });
            }
        }
        Ok(())
    }
}

impl Default for Limits {
    /// Room for every public rating collection on one machine: 16 GiB of text, lines of 16 MiB, names of
    /// 512 bytes, 50 million users and items, 500 million ratings.
    fn default() -> Self {
        Self {
            bytes: 16 << 30,
            line_bytes: 16 << 20,
            name_bytes: 512,
            users: 50_000_000,
            items: 50_000_000,
            ratings: 500_000_000,
        }
    }
}

/// First bytes of a ZIP archive with a file in it.
const ZIP: &[u8] = b"PK\x03\x04";
/// First bytes of containers people rename to `.csv`.
const CONTAINERS: [(&[u8], &str); 4] = [
    (ZIP, "zip"),
    (b"BZh", "bzip2"),
    (b"\xfd7zXZ", "xz"),
    (b"\x28\xb5\x2f\xfd", "zstd"),
];
const GZIP: &[u8] = b"\x1f\x8b";
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Whether a ZIP archive begins with these bytes whose first file is an array of NumPy: its name stands at byte 30.
pub(super) fn is_numpy_archive(head: &[u8]) -> bool {
    let length = head.get(26).copied().map_or(0, usize::from);
    let name = head.get(30..30 + length);
    head.starts_with(ZIP) && name.is_some_and(|name| name.ends_with(b".npy"))
}

/// The content of a source, unpacked if it is gzipped, and whether it is; looks at the first bytes only.
///
/// # Errors
/// [`DataError::Container`] and [`DataError::NumpyArchive`] for packed files of another kind, [`DataError::Read`] if the first bytes cannot be read.
pub(super) fn open<'a>(
    source: impl Read + 'a,
    file: &str,
) -> Result<(Box<dyn BufRead + 'a>, bool), DataError> {
    let SourceReader { reader, head, gzip } = unpacked(source, file)?;
    let file = file.to_owned();
    if is_numpy_archive(&head) {
        return Err(DataError::NumpyArchive { file });
    }
    match CONTAINERS.iter().find(|(magic, _)| head.starts_with(magic)) {
        Some(&(_, container)) => Err(DataError::Container { file, container }),
        None => Ok((reader, gzip)),
    }
}

/// A source, unpacked if it is gzipped.
pub(super) struct SourceReader<'a> {
    /// The content.
    pub(super) reader: Box<dyn BufRead + 'a>,
    /// The first bytes of the source itself.
    pub(super) head: Vec<u8>,
    /// Whether the source is gzipped.
    pub(super) gzip: bool,
}

/// Looks at the first bytes of a source, and unpacks it if they are gzip's.
pub(super) fn unpacked<'a>(
    source: impl Read + 'a,
    file: &str,
) -> Result<SourceReader<'a>, DataError> {
    let mut reader = BufReader::with_capacity(1 << 16, source);
    let mut head = Vec::new();
    let mut outcome = reader.by_ref().take(6).read_to_end(&mut head);
    if head.starts_with(ZIP) {
        outcome = reader.by_ref().take(58).read_to_end(&mut head);
    }
    if let Err(error) = outcome {
        return Err(DataError::Read {
            file: file.to_owned(),
            line: 1,
            kind: error.kind(),
        });
    }
    let gzip = head.starts_with(GZIP);
    let whole = Cursor::new(head.clone()).chain(reader);
    let reader: Box<dyn BufRead + 'a> = if gzip {
        Box::new(BufReader::with_capacity(
            1 << 16,
            MultiGzDecoder::new(whole),
        ))
    } else {
        Box::new(whole)
    };
    Ok(SourceReader { reader, head, gzip })
}

/// The lines of a source, one at a time, without their ends (`\n` or `\r\n`).
pub(super) struct Lines<'a> {
    reader: Box<dyn BufRead + 'a>,
    file: String,
    gzip: bool,
    limits: Limits,
    consumed: u64,
    number: u64,
    line: Vec<u8>,
}

impl<'a> Lines<'a> {
    /// Starts reading; looks at the first bytes only.
    pub(super) fn open(
        source: impl Read + 'a,
        file: &str,
        limits: Limits,
    ) -> Result<Self, DataError> {
        let (reader, gzip) = open(source, file)?;
        Ok(Self {
            reader,
            file: file.to_owned(),
            gzip,
            limits,
            consumed: 0,
            number: 0,
            line: Vec::new(),
        })
    }

    /// Moves to the next line; `false` at the end.
    pub(super) fn advance(&mut self) -> Result<bool, DataError> {
        self.line.clear();
        let left = self.limits.bytes.saturating_sub(self.consumed);
        let most = self.limits.line_bytes.min(left).saturating_add(1);
        let read = self
            .reader
            .by_ref()
            .take(most)
            .read_until(b'\n', &mut self.line)
            .map_err(|error| self.broken(error.kind(), self.number + 1))? as u64;
        if read == 0 {
            return Ok(false);
        }
        self.number += 1;
        self.consumed += read;
        if self.consumed > self.limits.bytes {
            return Err(self.error(Problem::TooMany {
                what: "bytes of text",
                limit: self.limits.bytes,
            }));
        }
        if read > self.limits.line_bytes {
            return Err(self.error(Problem::TooMany {
                what: "bytes in one line",
                limit: self.limits.line_bytes,
            }));
        }
        if self.line.ends_with(b"\n") {
            self.line.pop();
            if self.line.ends_with(b"\r") {
                self.line.pop();
            }
        }
        if self.number == 1 && self.line.starts_with(BYTE_ORDER_MARK) {
            self.line.drain(..BYTE_ORDER_MARK.len());
        }
        Ok(true)
    }

    /// The current line.
    pub(super) fn text(&self) -> Result<&str, DataError> {
        let text = std::str::from_utf8(&self.line).map_err(|error| {
            self.error(Problem::NotText {
                position: error.valid_up_to() + 1,
            })
        })?;
        self.visible(text)?;
        Ok(text)
    }

    /// The current line; if it is not UTF-8, every byte as the character of that number (Latin-1).
    pub(super) fn text_or_latin1(&self) -> Result<Cow<'_, str>, DataError> {
        let text = match std::str::from_utf8(&self.line) {
            Ok(text) => Cow::Borrowed(text),
            Err(_) => Cow::Owned(self.line.iter().copied().map(char::from).collect()),
        };
        self.visible(&text)?;
        Ok(text)
    }

    /// Refuses a line with characters that its reader does not see.
    fn visible(&self, text: &str) -> Result<(), DataError> {
        match hidden(text) {
            None => Ok(()),
            Some(found) => Err(self.error(Problem::Hidden { found })),
        }
    }

    /// Number of the current line, from 1; the number of lines once the end is reached.
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// The source's name.
    pub(super) fn file(&self) -> &str {
        &self.file
    }

    /// `problem`, on the current line.
    pub(super) fn error(&self, problem: Problem) -> DataError {
        self.error_on(self.number, problem)
    }

    /// `problem`, on another line.
    pub(super) fn error_on(&self, line: u64, problem: Problem) -> DataError {
        DataError::Line {
            file: self.file.clone(),
            line,
            problem: Box::new(problem),
        }
    }

    fn broken(&self, kind: io::ErrorKind, line: u64) -> DataError {
        let file = self.file.clone();
        match kind {
            io::ErrorKind::UnexpectedEof if self.gzip => DataError::TruncatedGzip { file, line },
            io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData if self.gzip => {
                DataError::CorruptGzip { file, line }
            }
            _ => DataError::Read { file, line, kind },
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::{Compression, write::GzEncoder};

    use super::*;

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(text).expect("into memory");
        encoder.finish().expect("into memory")
    }

    fn collect(bytes: &[u8], limits: Limits) -> Result<Vec<String>, DataError> {
        let mut lines = Lines::open(bytes, "memory", limits)?;
        let mut out = Vec::new();
        while lines.advance()? {
            out.push(lines.text()?.to_owned());
        }
        Ok(out)
    }

    #[test]
    fn plain_and_gzipped_lines_are_the_same_whatever_their_ends() {
        let text = b"\xef\xbb\xbfone\r\n\ntwo\nthree";
        let expected = ["one", "", "two", "three"];
        assert_eq!(collect(text, Limits::default()).expect("text"), expected);
        let packed = gzip(text);
        assert_eq!(collect(&packed, Limits::default()).expect("gzip"), expected);
        let mut members = gzip(b"one\n\ntw");
        members.extend(gzip(b"o\nthree\n"));
        assert_eq!(
            collect(&members, Limits::default()).expect("two members"),
            expected
        );
    }

    #[test]
    fn every_cut_of_a_gzip_file_is_noticed() {
        let packed = gzip(b"1 2 3\n4 5 6\n");
        for length in 2..packed.len() {
            let error = collect(&packed[..length], Limits::default()).expect_err("cut");
            assert!(
                matches!(error, DataError::TruncatedGzip { .. }),
                "{length}: {error}"
            );
        }
    }

    #[test]
    fn a_flipped_bit_of_a_gzip_file_is_noticed() {
        let mut packed = gzip(b"1 2 3\n4 5 6\n");
        let checksum = packed.len() - 6;
        packed[checksum] ^= 1;
        assert!(matches!(
            collect(&packed, Limits::default()),
            Err(DataError::CorruptGzip { .. })
        ));
    }

    #[test]
    fn a_bomb_stops_at_the_limits() {
        let limits = Limits {
            bytes: 1000,
            line_bytes: 100,
            ..Limits::default()
        };
        for bomb in [gzip(&vec![b'1'; 1 << 22]), gzip(&vec![b'\n'; 1 << 22])] {
            let Err(DataError::Line { problem, .. }) = collect(&bomb, limits) else {
                panic!("the bomb went through");
            };
            assert!(matches!(*problem, Problem::TooMany { .. }));
        }
        assert!(collect(&gzip(&[b'1'; 100]), limits).is_ok());
        assert!(collect(&vec![b'\n'; 1000], limits).is_ok());
        assert!(collect(&vec![b'\n'; 1001], limits).is_err());
    }

    #[test]
    fn an_endless_line_is_refused_before_it_is_held() {
        let limits = Limits {
            line_bytes: 1000,
            ..Limits::default()
        };
        let mut lines = Lines::open(io::repeat(b'1'), "endless", limits).expect("head");
        assert!(lines.advance().is_err());
        assert!(lines.line.capacity() <= 4000, "{}", lines.line.capacity());
    }

    #[test]
    fn other_containers_and_other_encodings_are_named() {
        assert_eq!(
            collect(b"PK\x03\x04rest", Limits::default()),
            Err(DataError::Container {
                file: "memory".to_owned(),
                container: "zip"
            })
        );
        let error = collect(b"1,2\n1,\xe9\n", Limits::default()).expect_err("Latin-1");
        assert_eq!(
            error.to_string(),
            "memory, line 2: byte 3 of the line is not UTF-8 text; \
             save the file as UTF-8, or check that it is a text file"
        );
    }

    #[test]
    fn a_failing_source_is_an_error_with_its_line() {
        struct Failing(u8);
        impl Read for Failing {
            fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                self.0 += 1;
                if self.0 > 8 {
                    return Err(io::Error::from(io::ErrorKind::PermissionDenied));
                }
                buffer[0] = b'\n';
                Ok(1)
            }
        }
        let mut lines = Lines::open(Failing(0), "memory", Limits::default()).expect("head");
        let error = loop {
            match lines.advance() {
                Ok(more) => assert!(more),
                Err(error) => break error,
            }
        };
        assert!(matches!(error, DataError::Read { line: 9, .. }), "{error}");
    }
}
