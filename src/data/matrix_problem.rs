//! What can be wrong with a matrix of numbers: its file, its columns, the constants that prepare it, how it is generated.

/// What is wrong with an array file.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ArrayProblem {
    /// Not NumPy's magic bytes.
    #[error(
        "this is no NumPy array file; save the matrix with numpy.save, or set data.format to what the file is"
    )]
    Magic,
    /// A version that is not read.
    #[error(
        "found format version {major}.{minor}, expected 1.0, 2.0 or 3.0; save it again with numpy.save"
    )]
    Version {
        /// Major version.
        major: u8,
        /// Minor version.
        minor: u8,
    },
    /// A header longer than any that NumPy writes for numbers.
    #[error(
        "the header says it takes {found} bytes, at most {most} are read; save it again with numpy.save"
    )]
    HeaderLength {
        /// Bytes announced.
        found: u64,
        /// Bytes allowed.
        most: u64,
    },
    /// A header that is no dictionary of the three keys.
    #[error("the header does not say {expected}; save it again with numpy.save")]
    Header {
        /// What it should say.
        expected: &'static str,
    },
    /// Entries of another type.
    #[error(
        "entries are of type \"{found}\", expected '<f8' or '<f4'; save it with numpy.save(file, x.astype('<f8'))"
    )]
    Type {
        /// The type, as written.
        found: String,
    },
    /// Another number of dimensions than two.
    #[error("the array has {found} dimensions, expected 2, rows and columns; reshape it")]
    Dimensions {
        /// How many.
        found: usize,
    },
    /// A matrix without a number.
    #[error("a {rows} x {columns} matrix holds no number; give at least one row and one column")]
    NoNumbers {
        /// Rows.
        rows: u64,
        /// Columns.
        columns: u64,
    },
    /// More rows, columns or numbers than may be held.
    #[error(
        "{rows} x {columns} is more than {limit} {what}; give a smaller file or raise the limit"
    )]
    TooLarge {
        /// Rows.
        rows: u64,
        /// Columns.
        columns: u64,
        /// What there is too much of.
        what: &'static str,
        /// The limit.
        limit: u64,
    },
    /// A column to leave out that is not there, or none left.
    #[error(transparent)]
    Column(#[from] ColumnProblem),
    /// A file that ends early.
    #[error(
        "the file ends here, {missing} bytes before its {part} does; it is truncated, fetch or copy it again"
    )]
    Truncated {
        /// Which part.
        part: &'static str,
        /// Bytes missing.
        missing: u64,
    },
    /// Bytes behind the data.
    #[error("the data ends here and the file goes on; it is damaged, fetch or copy it again")]
    Trailing,
    /// A NaN or an infinite value.
    #[error("row {row}, column {column} is not finite; remove the row or fill it in")]
    NotFinite {
        /// The row, from 1.
        row: u64,
        /// The column, from 1.
        column: u64,
    },
}

/// Columns to leave out that cannot be left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ColumnProblem {
    /// One that is not there.
    #[error("data.drop names column {found}, there are {columns}; columns count from 1")]
    Unknown {
        /// The number asked for.
        found: usize,
        /// Columns there are.
        columns: usize,
    },
    /// All of them.
    #[error("data.drop leaves none of the {columns} columns; drop fewer")]
    NoneLeft {
        /// Columns there were.
        columns: usize,
    },
}

/// Public constants that do not prepare a matrix.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PreparationError {
    /// A range that is none.
    #[error(
        "data.ranges of column {column} is [{low}, {high}], expected two finite numbers, the lower one first, not equal"
    )]
    Range {
        /// The column, from 1; of one range for all columns 1.
        column: usize,
        /// Lower end.
        low: f64,
        /// Upper end.
        high: f64,
    },
    /// A scale that is none.
    #[error(
        "data.scale is [{low}, {high}], expected two finite numbers, the lower one first, not equal"
    )]
    Scale {
        /// Lower end.
        low: f64,
        /// Upper end.
        high: f64,
    },
    /// Not one range per column.
    #[error(
        "data.ranges lists {found} ranges for {columns} columns: give one for all, or one each"
    )]
    Ranges {
        /// Ranges given.
        found: usize,
        /// Columns that are left.
        columns: usize,
    },
    /// Not one mean per column.
    #[error("data.means lists {found} numbers for {columns} columns: give one each")]
    Means {
        /// Numbers given.
        found: usize,
        /// Columns that are left.
        columns: usize,
    },
    /// A mean that is no number.
    #[error("data.means of column {column} is {found}, expected a finite number")]
    Mean {
        /// The column, from 1.
        column: usize,
        /// The number given.
        found: f64,
    },
    /// A length that is none.
    #[error("data.{key} is {found}, expected a finite number above 0 whose reciprocal is finite")]
    Length {
        /// The key.
        key: &'static str,
        /// The number given.
        found: f64,
    },
}

/// Numbers that make no generated matrix.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum GeneratedError {
    /// A size of 0, or more numbers than are held in memory.
    #[error(
        "data.generate makes {rows} x {columns} numbers, expected at least one and at most {most}"
    )]
    Size {
        /// Rows.
        rows: usize,
        /// Columns.
        columns: usize,
        /// The most numbers.
        most: usize,
    },
    /// Spikes that are none.
    #[error(
        "data.generate.strengths lists {found} spikes for {columns} columns, and strengths and noise are finite and at least 0: \
         list at most as many as columns"
    )]
    Spikes {
        /// Spikes given.
        found: usize,
        /// Columns.
        columns: usize,
    },
    /// A coherence that does not divide the size, or an odd size.
    #[error("data.generate: coherence = {coherence} must divide size = {size}, an even number")]
    Coherence {
        /// C.
        coherence: usize,
        /// n.
        size: usize,
    },
}
