//! Error against bytes: which methods no other method beats in both.

use serde::Serialize;

use super::measures::Measures;
use super::outcomes::Outcomes;
use crate::config::SweptBytes;

/// All methods at one grid point, by what they send and how wrong they are.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Frontier {
    /// The value on the x axis.
    pub x: f64,
    /// The methods with a finished run, in their order.
    pub points: Vec<FrontierPoint>,
}

/// One method there.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FrontierPoint {
    /// The method and the values of further swept keys, as in [`Curve`](super::Curve).
    pub method: String,
    /// What `algorithm.kind` is.
    pub algorithm: &'static str,
    /// Bytes per peer in a run, as `sweep.bytes` counts them, mean over runs.
    pub bytes: f64,
    /// Bytes that the busiest peer sends in a run, mean over runs.
    pub bytes_max_peer: f64,
    /// Bytes that a peer sends in a run on average, mean over runs.
    pub bytes_mean_peer: f64,
    /// Mean of the error that `sweep.error` names; of captured variance, Recall and NDCG 1 − the measure.
    pub error: f64,
    /// Whether every method that sends at most as much has a larger error.
    pub on_frontier: bool,
}

/// One frontier per x, ascending; none if all methods send the same.
///
/// Methods that send nothing (a trusted curator) are left out: they are no choice of a network.
pub(super) fn all(
    view: &Outcomes,
    counted: SweptBytes,
    error: impl Fn(&Measures) -> Option<f64>,
) -> Vec<Frontier> {
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let at = |&(x, place): &(f64, usize)| {
        let mut points = Vec::new();
        for (method, rest) in view.methods() {
            let errors = view.values((method, place, rest), &error);
            let largest = view.values((method, place, rest), |m| Some(m.bytes_max_peer as f64));
            let average = view.values((method, place, rest), |m| Some(m.bytes_mean_peer));
            if errors.is_empty() || largest.is_empty() || mean(&largest) <= 0.0 {
                continue;
            }
            let (largest, average) = (mean(&largest), mean(&average));
            points.push(FrontierPoint {
                method: view.name(method, rest),
                algorithm: view.algorithm(method, place, rest),
                bytes: match counted {
                    SweptBytes::Largest => largest,
                    SweptBytes::Mean => average,
                },
                bytes_max_peer: largest,
                bytes_mean_peer: average,
                error: mean(&errors),
                on_frontier: false,
            });
        }
        mark(&mut points);
        Frontier { x, points }
    };
    let mut frontiers: Vec<Frontier> = view.xs.iter().map(at).collect();
    let differ = |frontier: &Frontier| {
        let mut bytes = frontier.points.iter().map(|point| point.bytes);
        let first = bytes.next();
        bytes.any(|other| Some(other) != first)
    };
    frontiers.retain(differ);
    frontiers
}

/// Marks the points that are better than everything that sends at most as much; of equal ones the first.
fn mark(points: &mut [FrontierPoint]) {
    let mut order: Vec<usize> = (0..points.len()).collect();
    order.sort_by(|&a, &b| {
        let (a, b) = (&points[a], &points[b]);
        a.bytes
            .total_cmp(&b.bytes)
            .then(a.error.total_cmp(&b.error))
    });
    let mut least = f64::INFINITY;
    for index in order {
        points[index].on_frontier = points[index].error < least;
        least = least.min(points[index].error);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_another_method_beats_in_both_is_not_on_the_frontier() {
        let point = |bytes, error| FrontierPoint {
            method: String::new(),
            algorithm: "power",
            bytes,
            bytes_max_peer: bytes,
            bytes_mean_peer: bytes,
            error,
            on_frontier: false,
        };
        let mut points = [
            point(3.0, 0.2),
            point(1.0, 0.5),
            point(2.0, 0.5),
            point(1.0, 0.4),
            point(4.0, 0.2),
            point(4.0, 0.1),
        ];
        mark(&mut points);
        let on: Vec<bool> = points.iter().map(|point| point.on_frontier).collect();
        assert_eq!(on, [true, false, false, true, false, true]);
    }
}
