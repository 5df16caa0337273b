//! Numbers of the errata page about noise-then-gossip.

use nalgebra::DMatrix;

use crate::privacy::network_view_loss;

/// Weights 1/3 along the edges, the rest on the peer itself.
fn weights(peers: usize, edges: &[(usize, usize)]) -> DMatrix<f64> {
    let third = 1.0 / 3.0;
    let mut w = DMatrix::identity(peers, peers);
    for &(u, v) in edges {
        w[(u, v)] += third;
        w[(v, u)] += third;
        w[(u, u)] -= third;
        w[(v, v)] -= third;
    }
    w
}

/// What the neighbours of the viewer send in each round: rows of W^t.
fn view(w: &DMatrix<f64>, neighbours: &[usize], rounds: usize) -> DMatrix<f64> {
    let mut power = DMatrix::identity(w.nrows(), w.ncols());
    let mut rows = Vec::new();
    for _ in 0..rounds {
        rows.extend(neighbours.iter().map(|&v| power.row(v).into_owned()));
        power = &power * w;
    }
    DMatrix::from_rows(&rows)
}

/// The sum of the messages' own losses.
fn summed(view: &DMatrix<f64>, subject: usize) -> f64 {
    view.row_iter()
        .map(|row| row[subject].powi(2) / row.norm_squared())
        .sum()
}

fn exact(view: &DMatrix<f64>, known: &[u32], subject: u32) -> f64 {
    let covariance = DMatrix::identity(view.ncols(), view.ncols());
    let loss = network_view_loss(view, &covariance, known, subject).expect("valid");
    assert!(loss.rounding < 1e-5, "{loss:?}");
    loss.factor
}

pub(super) fn numbers() -> Vec<(&'static str, f64)> {
    let path = view(&weights(3, &[(0, 1), (1, 2)]), &[1], 2);
    let edges: Vec<(usize, usize)> = (0..20).map(|u| (u, (u + 1) % 20)).collect();
    let ring = view(&weights(20, &edges), &[1, 19], 12);
    vec![
        ("path-sum", summed(&path, 2)),
        ("path-exact", exact(&path, &[0], 2)),
        ("path-stranger", exact(&path, &[], 2)),
        ("ring-sum", summed(&ring, 10)),
        ("ring-exact", exact(&ring, &[0], 10)),
    ]
}
