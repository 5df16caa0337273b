//! Single and double precision under one name.

use std::ops::{Add, Mul, Sub};

/// The precision a Krylov space is built in.
pub(super) trait Scalar:
    Copy + Default + Send + Sync + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self>
{
    /// Half a unit in the last place of 1.
    const UNIT: f64;
    /// The nearest number.
    fn of(value: f64) -> Self;
    /// The same number in double precision.
    fn wide(self) -> f64;
}

impl Scalar for f64 {
    const UNIT: Self = Self::EPSILON / 2.0;

    fn of(value: f64) -> Self {
        value
    }

    fn wide(self) -> f64 {
        self
    }
}

impl Scalar for f32 {
    const UNIT: f64 = Self::EPSILON as f64 / 2.0;

    fn of(value: f64) -> Self {
        value as Self
    }

    fn wide(self) -> f64 {
        f64::from(self)
    }
}
