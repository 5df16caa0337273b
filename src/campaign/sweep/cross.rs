//! Where a curve first falls to a target.

use serde::Serialize;

use super::curve::{Curve, CurvePoint};

/// What one method pays for the target error.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Crossing {
    /// The method.
    pub method: String,
    /// The x at which its mean error first falls to the target; `None` if it never does.
    pub x: Option<f64>,
    /// The curve is below the target already at its first x: the true one may be less.
    pub at_most: bool,
    /// ε really spent there; `None` without privacy.
    pub epsilon_spent: Option<f64>,
    /// The baseline's x over this one: how many times less the method asks for.
    pub ratio: Option<f64>,
    /// The same of the ε really spent.
    pub ratio_spent: Option<f64>,
}

/// The crossings of all curves, each compared with that of the curve that `baselines` gives it. `spent` is in the order of the curves.
pub(super) fn all(
    curves: &[Curve],
    spent: &[Curve],
    target: f64,
    baselines: &[Option<usize>],
) -> Vec<Crossing> {
    let mut crossings: Vec<Crossing> = curves
        .iter()
        .enumerate()
        .map(|(place, curve)| {
            let found = first(&curve.points, target);
            let spent = spent.get(place);
            Crossing {
                method: curve.method.clone(),
                x: found.map(|(x, _)| x),
                at_most: found.is_some_and(|(_, at_most)| at_most),
                epsilon_spent: found
                    .zip(spent)
                    .and_then(|((x, _), spent)| value_at(&spent.points, x)),
                ratio: None,
                ratio_spent: None,
            }
        })
        .collect();
    for i in 0..crossings.len() {
        let base = baselines.get(i).copied().flatten().map(|b| &crossings[b]);
        let over = |of: fn(&Crossing) -> Option<f64>| Some(of(base?)? / of(&crossings[i])?);
        let (ratio, ratio_spent) = (over(|c| c.x), over(|c| c.epsilon_spent));
        (crossings[i].ratio, crossings[i].ratio_spent) = (ratio, ratio_spent);
    }
    crossings
}

/// The first x, from the left, at which the mean is at most the target, and whether that is the first point.
/// Between points the curve is a line in log–log, or a plain line where a logarithm does not exist.
fn first(points: &[CurvePoint], target: f64) -> Option<(f64, bool)> {
    let reached = points.iter().position(|point| point.mean <= target)?;
    let here = &points[reached];
    let Some(before) = reached.checked_sub(1).map(|i| &points[i]) else {
        return Some((here.x, true));
    };
    let share = |a: f64, b: f64, c: f64| (a - b) / (a - c);
    let x = if before.x > 0.0 && here.mean > 0.0 {
        let t = share(before.mean.ln(), target.ln(), here.mean.ln());
        (before.x.ln() + t * (here.x.ln() - before.x.ln())).exp()
    } else {
        before.x + share(before.mean, target, here.mean) * (here.x - before.x)
    };
    Some((x, false))
}

/// The value of a curve at x, between its points as in [`first`].
fn value_at(points: &[CurvePoint], x: f64) -> Option<f64> {
    if let Some(point) = points.iter().find(|point| point.x == x) {
        return Some(point.mean);
    }
    let pair = points.windows(2).find(|w| w[0].x < x && x < w[1].x)?;
    let (a, b) = (&pair[0], &pair[1]);
    Some(if a.x > 0.0 && a.mean > 0.0 && b.mean > 0.0 {
        let t = (x / a.x).ln() / (b.x / a.x).ln();
        (a.mean.ln() + t * (b.mean / a.mean).ln()).exp()
    } else {
        a.mean + (x - a.x) / (b.x - a.x) * (b.mean - a.mean)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(method: &str, points: &[(f64, f64)]) -> Curve {
        let point = |&(x, mean)| CurvePoint {
            x,
            runs: 3,
            mean,
            low: mean,
            high: mean,
        };
        Curve {
            method: method.to_owned(),
            points: points.iter().map(point).collect(),
        }
    }

    /// Error = 1/x: log–log lines are exact, whatever the points.
    #[test]
    fn powers_are_crossed_exactly() {
        let xs = [0.5, 3.0, 7.0, 40.0];
        let points = xs.map(|x| (x, 1.0 / x));
        let halved = xs.map(|x| (x, 0.25 / x));
        let curves = [
            curve("a", &points),
            curve("b", &halved),
            curve("never", &[(1.0, 0.9), (2.0, 0.8)]),
            curve("always", &[(1.0, 0.05), (2.0, 0.01)]),
        ];
        let spent = [
            curve("a", &xs.map(|x| (x, x * x))),
            curve("b", &xs.map(|x| (x, x))),
        ];
        let all = all(&curves, &spent, 0.1, &[Some(0); 4]);
        let close = |found: Option<f64>, expected: f64| {
            assert!(
                (found.expect("a number") - expected).abs() < 1e-12 * expected,
                "{found:?}"
            );
        };
        close(all[0].x, 10.0);
        close(all[0].epsilon_spent, 100.0);
        close(all[0].ratio, 1.0);
        close(all[1].x, 2.5);
        close(all[1].ratio, 4.0);
        close(all[1].ratio_spent, 40.0);
        assert_eq!((all[2].x, all[2].ratio), (None, None));
        assert_eq!((all[3].x, all[3].at_most), (Some(1.0), true));
    }

    #[test]
    fn without_logarithms_lines_are_plain() {
        let found = first(
            &curve("a", &[(0.0, 0.3), (1.0, 0.1), (2.0, 0.0)]).points,
            0.2,
        );
        assert!((found.expect("crossed").0 - 0.5).abs() < 1e-12);
    }
}
