//! Vectors of `f64` that begin at a cache line, so that rows of a block touch fewer lines.

use std::fmt;

/// Values of a cache line of 64 bytes.
pub const LINE: usize = 8;

/// How many values lie before the first at a cache line. No result may depend on it.
fn to_line(values: &[f64]) -> usize {
    values.as_ptr().align_offset(8 * LINE).min(LINE)
}

/// Values that begin at a cache line; a `Vec` begins at any multiple of 16 bytes.
#[derive(Default)]
pub struct AtLine {
    /// From `start` on, those asked for.
    room: Vec<f64>,
    start: usize,
    length: usize,
}

impl AtLine {
    /// `length` zeros.
    pub fn zeros(length: usize) -> Self {
        let room = vec![0.0; length + LINE];
        Self {
            start: to_line(&room),
            length,
            room,
        }
    }

    /// A copy.
    pub(crate) fn copy_of(values: &[f64]) -> Self {
        let mut copy = Self::zeros(values.len());
        copy.values_mut().copy_from_slice(values);
        copy
    }

    /// The values.
    pub fn values(&self) -> &[f64] {
        &self.room[self.start..][..self.length]
    }

    /// The values, to be changed.
    pub fn values_mut(&mut self) -> &mut [f64] {
        &mut self.room[self.start..][..self.length]
    }
}

impl Clone for AtLine {
    /// A copy that begins at a line of its own.
    fn clone(&self) -> Self {
        Self::copy_of(self.values())
    }
}

impl fmt::Debug for AtLine {
    /// The number of values only: they may be private.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AtLine({} values)", self.length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_begins_at_a_line_and_holds_what_was_copied() {
        for length in [0, 1, 7, 8, 1000] {
            let values: Vec<f64> = (0..length).map(f64::from).collect();
            let mut copy = AtLine::copy_of(&values);
            assert_eq!(copy.values(), values);
            assert_eq!(to_line(copy.values()), 0);
            assert_eq!(copy.values_mut().as_ptr() as usize % 64, 0);
            let again = copy.clone();
            assert_eq!(again.values(), values);
            assert_eq!(to_line(again.values()), 0);
            assert_eq!(format!("{again:?}"), format!("AtLine({length} values)"));
        }
    }
}
