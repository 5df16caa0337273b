//! Stub until the privacy layer lands.
#![allow(missing_docs)]

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Statistic {
    None,
    MaxRowNorm,
    MaxEntry,
}

#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Sensitivity;

impl Sensitivity {
    pub fn statistic(&self) -> Statistic {
        Statistic::MaxRowNorm
    }
    pub fn bound(&self, value: f64) -> f64 {
        value.min(1.0)
    }
}
