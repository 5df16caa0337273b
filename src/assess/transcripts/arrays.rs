//! Arrays that other programs wrote: their shapes, and numbers that are none.

use super::error::TranscriptError;

/// A standard deviation.
pub(super) fn positive(
    name: &'static str,
    found: f64,
    remedy: &'static str,
) -> Result<f64, TranscriptError> {
    match found > 0.0 && found.is_finite() {
        true => Ok(found),
        false => Err(TranscriptError::Sigma {
            name,
            found,
            remedy,
        }),
    }
}

/// How many blocks of `size` numbers an array of `found` numbers has.
pub(super) fn blocks(
    what: &'static str,
    found: usize,
    size: usize,
    of: &str,
) -> Result<usize, TranscriptError> {
    if size == 0 || found == 0 || !found.is_multiple_of(size) {
        let expected = format!("a multiple of {size}, {of}");
        return Err(TranscriptError::Length {
            what,
            found,
            expected,
        });
    }
    Ok(found / size)
}

/// At least as many runs as are needed.
pub(super) fn enough(found: usize, needed: u64) -> Result<u64, TranscriptError> {
    let found = found as u64;
    match found >= needed {
        true => Ok(found),
        false => Err(TranscriptError::TooFewRuns { found, needed }),
    }
}

/// Refuses what is no number, by its place; `shape` has the axes after the first.
pub(super) fn finite(
    what: &'static str,
    numbers: &[f64],
    shape: &[usize],
) -> Result<(), TranscriptError> {
    let Some(at) = numbers.iter().position(|x| !x.is_finite()) else {
        return Ok(());
    };
    let mut place = Vec::new();
    let mut rest = at;
    for axis in shape.iter().rev() {
        place.push(rest % axis);
        rest /= axis;
    }
    place.push(rest);
    place.reverse();
    let found = numbers[at];
    Err(TranscriptError::NotFinite { what, place, found })
}
