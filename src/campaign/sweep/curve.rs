//! A measure along the x axis: means over runs with their bands.

use serde::Serialize;

/// One measure of one method along the x axis.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Curve {
    /// The method; after commas the values of further swept keys, if there are any: `eps-graph, ring` or `power, rank = 4`.
    pub method: String,
    /// Ascending in x; points at which every run failed are left out.
    pub points: Vec<CurvePoint>,
}

/// The mean over runs at one x, with its 99 % percentile-bootstrap band (1000 resamples).
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CurvePoint {
    /// The swept value; its place in the list where it is no number.
    pub x: f64,
    /// Runs behind the mean.
    pub runs: usize,
    /// Their mean.
    pub mean: f64,
    /// Lower end of the band.
    pub low: f64,
    /// Upper end of the band.
    pub high: f64,
}
