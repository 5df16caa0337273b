//! Diagonals of inverses of large matrices: Gauss and Gauss–Radau quadrature from a few Lanczos steps per row.
//!
//! Each row costs k sparse products and ends in an interval ([`radau`]) that needs a lower bound a on
//! A = I + 𝓛 off its null vector. a = 1 always holds; a certified λ₂ gives more where there is one.
//!
//! Without one, [`floor`] proves a bound from the Krylov spaces of clusters first, for a fraction of the cost.
//!
//! Where hubs stretch the spectrum, [`equilibrated`] divides their rows by their size first.

mod block;
mod equilibrated;
mod floor;
mod lanczos;
mod operator;
mod orthogonality;
mod precision;
mod radau;
mod scalar;
mod spaces;
mod sweep;
mod view;

#[cfg(test)]
mod tests;

pub(crate) use precision::Target;

use super::matrix::ShiftedLaplacian;
use crate::linalg::bracket::Bracket;
use operator::Operator;
use precision::{DOUBLE, SINGLE, SINGLE_FROM, with_precision};
use view::View;

/// [Σ⁻¹]_uu of every row u of a matrix of at least two rows with all of D positive, and the most steps taken. Where the
/// gap asked for is out of reach the brackets are wider, not wrong, or there are none if `target` asks for that.
pub(crate) fn inverse_diagonal(
    sigma: &ShiftedLaplacian,
    target: Target,
) -> Option<(Vec<Bracket>, usize)> {
    let Some((mut brackets, steps)) = equilibrated::inverse_diagonal(sigma, target) else {
        return plain(sigma, target);
    };
    if brackets.iter().all(|bracket| bracket.gap() <= target.gap) {
        return Some((brackets, steps));
    }
    let Some((others, more)) = plain(sigma, target) else {
        return Some((brackets, steps));
    };
    for (bracket, other) in brackets.iter_mut().zip(others) {
        // Both are proved.
        let tighter = if other.gap() < bracket.gap() {
            other
        } else {
            *bracket
        };
        *bracket = Bracket::new(
            bracket.low.max(other.low),
            tighter.estimate,
            bracket.high.min(other.high),
        );
    }
    Some((brackets, steps.max(more)))
}

/// The same with Σ as it is.
fn plain(sigma: &ShiftedLaplacian, target: Target) -> Option<(Vec<Bracket>, usize)> {
    let limit = target.steps.clamp(1, sigma.len());
    let single = Operator::<f32>::new(sigma);
    let mut view = View::new(sigma, &single, target.connectivity);
    view.floor = view
        .floor
        .max(floor::certified::<f32, SINGLE>(sigma, &single, limit));
    if target.gap >= SINGLE_FROM
        && let Some(found) = with_precision::<f32, SINGLE>(&view, &single, target, limit)
        && found.0.iter().all(|bracket| bracket.gap() <= target.gap)
    {
        return Some(found);
    }
    let double = Operator::<f64>::new(sigma);
    with_precision::<f64, DOUBLE>(&view, &double, target, limit)
}
