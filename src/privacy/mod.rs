//! Privacy.
mod bisection;
mod budget;
mod calibration;
pub mod coalition;
mod error;
pub mod gaussian;
mod mills;
mod sensitivity;
#[cfg(test)]
mod testing;
pub mod zcdp;

pub use budget::{Budget, Delta, Epsilon};
pub use calibration::{Calibrated, Calibration, CalibrationWarning, calibrate, noise_multiplier};
pub use error::PrivacyError;
pub use mills::erfcx;
pub use sensitivity::{Adjacency, Sensitivity, SensitivityRule, Statistic};
