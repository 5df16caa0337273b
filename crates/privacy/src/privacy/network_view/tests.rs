//! The exact loss of views, against the accountant of coalitions and against common sense.

use rand::RngExt;

use super::super::accountant;
use super::*;
use crate::topology::Graph;
use crate::vocabulary::{Label, Seed};

fn loss(view: &DMatrix<f64>, sigma: &DMatrix<f64>, known: &[u32], u: u32) -> NetworkViewLoss {
    network_view_loss(view, sigma, known, u).expect("valid")
}

#[test]
fn seeing_the_sum_shares_the_noise_and_seeing_all_shares_nothing() {
    let identity = DMatrix::identity(5, 5);
    let sum = DMatrix::from_element(1, 5, 0.3);
    assert!((loss(&sum, &identity, &[], 2).factor - 0.2).abs() < 1e-15);
    // Colluders subtract their own: n_H = s − t.
    assert!((loss(&sum, &identity, &[0, 4], 2).factor - 1.0 / 3.0).abs() < 1e-15);
    let all = loss(&identity, &(&identity * 4.0), &[], 2);
    assert!((all.factor - 0.25).abs() < 1e-15 && all.rank == 5);
    assert_eq!(loss(&DMatrix::zeros(2, 5), &identity, &[], 2).factor, 0.0);
    // Sizes at the ends of the range are sizes.
    for (scale, variance) in [(1e300, 1e200), (1e-300, 1e-200), (1e-310, 1e300)] {
        let found = loss(&(&sum * scale), &(&identity * variance), &[], 2);
        assert!(
            (found.factor * variance - 0.2).abs() < 1e-12,
            "{scale} {found:?}"
        );
    }
}

#[test]
fn everything_published_is_the_coalition_accountant() {
    let edges = [(0_u32, 1_u32), (1, 2), (2, 3), (3, 0), (0, 2)];
    let graph = Graph::from_edges(4, &edges).expect("valid");
    let (own, pairwise) = (0.7, 5.0);
    let mut sigma = DMatrix::identity(4, 4) * own;
    for (u, v) in edges {
        for (i, j, sign) in [(u, u, 1.0), (v, v, 1.0), (u, v, -1.0), (v, u, -1.0)] {
            sigma[(i as usize, j as usize)] += sign * pairwise;
        }
    }
    let exact = accountant::exact_variance_factors(&graph, own, pairwise, &[]).expect("valid");
    for u in 0..4_u32 {
        let found = loss(&DMatrix::identity(4, 4), &sigma, &[], u);
        let expected = exact[u as usize].expect("honest");
        assert!((found.factor / expected - 1.0).abs() < 1e-12);
        assert!((found.published / expected - 1.0).abs() < 1e-12);
    }
}

#[test]
fn more_messages_and_more_colluders_never_cost_less() {
    let mut rng = Seed::from_u64(41).generator(Label::Scenario);
    for _ in 0..50 {
        let n = 6;
        let draw = DMatrix::from_fn(n, n, |_, _| rng.random_range(-1.0..1.0));
        let sigma = &draw * draw.transpose() + DMatrix::identity(n, n);
        let sigma = (&sigma + sigma.transpose()) * 0.5;
        let view = DMatrix::from_fn(4, n, |_, _| rng.random_range(-1.0..1.0));
        let mut last = 0.0;
        for rows in 1..=4 {
            let found = loss(&view.rows(0, rows).into_owned(), &sigma, &[], 0);
            assert!(found.factor >= last - 1e-12 && found.factor <= found.published);
            last = found.factor;
        }
        let colluding = loss(&view, &sigma, &[3], 0);
        assert!(colluding.factor >= last - 1e-12);
        // Saying it again in other words changes nothing.
        let mix = DMatrix::from_fn(7, 4, |_, _| rng.random_range(-1.0..1.0));
        let again = loss(&(mix * &view), &sigma, &[], 0);
        assert!((again.factor - last).abs() < 1e-9 && again.rank == 4);
    }
}

#[test]
fn what_makes_no_sense_is_refused() {
    let view = DMatrix::from_element(1, 3, 1.0);
    let identity = DMatrix::identity(3, 3);
    let refused = |view: &DMatrix<f64>, sigma: &DMatrix<f64>, known: &[u32], u| {
        network_view_loss(view, sigma, known, u).expect_err("refused")
    };
    let wide = DMatrix::identity(4, 4);
    assert!(matches!(
        refused(&view, &wide, &[], 0),
        PrivacyError::ViewShape {
            found: 4,
            expected: 3,
            ..
        }
    ));
    for (known, u) in [(vec![3], 0), (vec![1, 1], 0), (vec![1], 1), (vec![], 3)] {
        assert!(matches!(
            refused(&view, &identity, &known, u),
            PrivacyError::Coalition { .. }
        ));
    }
    let mut skew = identity.clone();
    skew[(0, 1)] = 0.5;
    for sigma in [
        identity.clone() * f64::NAN,
        identity.clone() * -1.0,
        &identity * 0.0,
        skew,
    ] {
        assert!(matches!(
            refused(&view, &sigma, &[], 0),
            PrivacyError::Parameter { .. }
        ));
    }
    assert!(matches!(
        refused(&(&view * f64::INFINITY), &identity, &[], 0),
        PrivacyError::Parameter { .. }
    ));
}
