//! The noise of a whole simulated network: who draws which stream, and shares it with whom.

mod assignment;
mod defect;
mod network;

pub use assignment::Assignment;
pub use defect::Defect;
#[cfg(any(test, feature = "testing"))]
pub use defect::Extent;
pub use network::NetworkNoise;
