//! How a coordinate of a sum travels: as a real number of one of two widths, or as an integer mod 2^k.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What every coordinate of a sum is while it is averaged.
///
/// Numbers that are agreed on and own coordinates are no sums: they travel as f64 whatever this says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Values {
    /// Real numbers of 8 bytes.
    #[default]
    #[serde(rename = "f64")]
    F64,
    /// Real numbers of 4 bytes: a peer rounds what it holds before it first sends it and after every combination.
    #[serde(rename = "f32")]
    F32,
    /// Integers mod 2³².
    #[serde(rename = "residues-32", skip_deserializing)]
    Residues32,
    /// Integers mod 2⁶⁴.
    #[serde(rename = "residues-64", skip_deserializing)]
    Residues64,
}

impl Values {
    /// The name, as files have it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::F64 => "f64",
            Self::F32 => "f32",
            Self::Residues32 => "residues-32",
            Self::Residues64 => "residues-64",
        }
    }

    /// Bytes of one coordinate on the wire.
    #[must_use]
    pub fn bytes(self) -> usize {
        match self {
            Self::F64 | Self::Residues64 => 8,
            Self::F32 | Self::Residues32 => 4,
        }
    }

    /// Whether coordinates are f64, as where nothing is said.
    #[must_use]
    pub fn is_f64(&self) -> bool {
        *self == Self::F64
    }

    /// Whether coordinates are integers mod 2^k.
    #[must_use]
    pub fn is_residues(self) -> bool {
        matches!(self, Self::Residues32 | Self::Residues64)
    }

    /// Rounds every value to one that travels unchanged: to the nearest f32, ties to even, where coordinates are f32.
    ///
    /// A value beyond the range of f32 becomes an infinity, which nobody sends: whoever rounds looks for it.
    pub fn round(self, values: &mut [f64]) {
        if self == Self::F32 {
            to_f32(values);
        }
    }

    /// The position of the first integer that is none mod 2^k.
    #[must_use]
    pub fn first_unreduced(self, values: &[u64]) -> Option<usize> {
        match self {
            Self::Residues32 => values.iter().position(|v| *v > u64::from(u32::MAX)),
            _ => None,
        }
    }

    /// The position of the first value that would not travel unchanged.
    #[must_use]
    pub fn first_changed(self, values: &[f64]) -> Option<usize> {
        match self {
            Self::F32 => values.iter().position(|v| f64::from(*v as f32) != *v),
            _ => None,
        }
    }
}

/// Rounds every value to the nearest f32, ties to even; beyond the range of f32 to an infinity.
// Inlined into kernels that are compiled for several instruction sets.
#[inline(always)]
pub(crate) fn to_f32(values: &mut [f64]) {
    for value in values {
        *value = f64::from(*value as f32);
    }
}

impl fmt::Display for Values {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_is_to_the_nearest_single_with_ties_to_even_and_is_done_once() {
        let ulp = f64::from(f32::EPSILON);
        let tiny = f64::from(f32::from_bits(1));
        let cases = [
            (1.0 + 0.49 * ulp, 1.0),
            (1.0 + 0.5 * ulp, 1.0),
            (1.0 + 1.5 * ulp, 1.0 + 2.0 * ulp),
            (-0.75 * tiny, -tiny),
            (0.5 * tiny, 0.0),
            (1e300, f64::INFINITY),
            (-f64::from(f32::MAX), -f64::from(f32::MAX)),
        ];
        for (value, expected) in cases {
            let mut values = [value];
            assert_eq!(
                Values::F32.first_changed(&values).is_some(),
                value != expected
            );
            Values::F32.round(&mut values);
            assert_eq!(values, [expected]);
            assert_eq!(Values::F32.first_changed(&values), None);
            Values::F64.round(&mut values);
            assert_eq!(values, [expected]);
            assert_eq!(Values::F64.first_changed(&[value]), None);
        }
        let mut zero = [-0.0];
        Values::F32.round(&mut zero);
        assert_eq!(zero[0].to_bits(), (-0.0_f64).to_bits(), "the sign stays");
    }
}
