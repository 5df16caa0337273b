//! Which of these algorithms run on a graph, on the two sides of a matrix, or under weights of items.

use std::sync::Arc;

use nalgebra::DMatrix;

use super::*;
use crate::algorithm::{
    Algorithm, Form, History, NotPreconditioned, OnBipartite, OnGraph, Preconditioned, contribution,
};
use crate::linalg::{ItemWeights, SparseRows, start_block};
use crate::vocabulary::{ReleaseId, Seed};

const VERTICES: usize = 6;

/// A ring of six with a chord, as rows of its vertices and as a matrix.
fn graph() -> (SparseRows, DMatrix<f64>) {
    let mut matrix = DMatrix::zeros(VERTICES, VERTICES);
    for (s, t) in (0..VERTICES)
        .map(|s| (s, (s + 1) % VERTICES))
        .chain([(1, 4)])
    {
        (matrix[(s, t)], matrix[(t, s)]) = (1.0, 1.0);
    }
    let mut rows = SparseRows::new(VERTICES);
    for s in 0..VERTICES {
        let edges = (0..VERTICES as u32).filter(|t| matrix[(s, *t as usize)] > 0.0);
        rows.push_row(edges.map(|t| (t, 1.0))).expect("ascending");
    }
    (rows, matrix)
}

#[test]
fn a_vertex_fills_its_own_row_of_the_product_and_adds_its_part_of_the_quotient() {
    let (rows, matrix) = graph();
    let held = OnGraph::held(&rows);
    let deflation = Deflation::new(VERTICES, 2, 1, 0.1).expect("valid");
    let deflation = OnGraph::new(Arc::new(deflation)).expect("on graphs");
    let releases = deflation.program().releases;
    let forms: Vec<Form> = releases.iter().map(|one| one.form).collect();
    let (own, sum) = (Form::OwnCoordinates, Form::Sum);
    assert_eq!(forms, [own, sum, own, sum]);
    let x = start_block(&Seed::from_u64(1), VERTICES, 1).expect("full rank");
    let history = |release| History {
        release: ReleaseId(release),
        query: x.values(),
        past: &[],
        agreed: None,
    };
    let product = &matrix * x.to_matrix();
    let mut quotient = 0.0;
    for (v, held) in held.iter().enumerate() {
        let own = contribution(&deflation, held, history(1), releases[0].shape());
        assert!((own.values()[0] - product[(v, 0)]).abs() < 1e-15);
        quotient += contribution(&deflation, held, history(2), (1, 1)).values()[0];
    }
    let exact = (x.to_matrix().transpose() * &product)[(0, 0)];
    assert!((quotient - exact).abs() < 1e-14, "{quotient} {exact}");
    assert!(exact.abs() > 1e-3, "something to add up");
}

#[test]
fn deflation_is_refused_on_the_two_sides_of_a_matrix() {
    let deflation = Deflation::new(9, 2, 2, 0.1).expect("valid");
    assert!(OnBipartite::new(Arc::new(deflation), 5).is_err());
}

#[test]
fn releases_of_single_columns_are_refused_under_weights() {
    let weights = Arc::new(ItemWeights::new(vec![1.0; VERTICES]).expect("positive"));
    let deflation = Deflation::new(VERTICES, 2, 2, 0.05).expect("valid");
    let ppi = PrivatePowerIteration::new(VERTICES, 2, None).expect("valid");
    let others: [Arc<dyn Algorithm>; 2] = [Arc::new(deflation), Arc::new(ppi)];
    for inner in others {
        let name = inner.program().name;
        let refused = Preconditioned::new(inner, Arc::clone(&weights)).expect_err("not proved");
        let NotPreconditioned::Unsupported(why) = &refused else {
            panic!("{refused:?}");
        };
        assert_eq!(why.what, format!("algorithm.kind = \"{name}\""));
        assert!(refused.to_string().contains("precondition = \"none\""));
    }
}
