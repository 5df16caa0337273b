//! Lower bounds on the variance factor v_u of one peer against one given coalition.

use crate::topology::Graph;

/// Squared length of the residual below which a coalition that is only compared with others is solved well enough.
pub(super) const COMPARED: f64 = 1e-12;

/// Squared length of the residual for the coalition that is reported.
pub(super) const REPORTED: f64 = 1e-26;

/// Evaluator of lower bounds on one graph. Its vectors have an entry per peer and are reused from coalition to coalition.
pub(super) struct Evaluator<'a> {
    graph: &'a Graph,
    ratio: f64,
    /// Honest partners of every honest peer.
    degrees: Vec<f64>,
    /// Whether a peer belongs to the victim's piece.
    inside: Vec<bool>,
    /// The victim's piece, breadth first.
    piece: Vec<u32>,
    x: Vec<f64>,
    residual: Vec<f64>,
    direction: Vec<f64>,
    image: Vec<f64>,
}

impl<'a> Evaluator<'a> {
    /// The evaluator for `ratio` = σ_Δ²/σ_η².
    pub(super) fn new(graph: &'a Graph, ratio: f64) -> Self {
        let zeros = || vec![0.0; graph.nodes()];
        Self {
            graph,
            ratio,
            degrees: (0..graph.nodes()).map(|u| graph.degree(u) as f64).collect(),
            inside: vec![false; graph.nodes()],
            piece: Vec::new(),
            x: zeros(),
            residual: zeros(),
            direction: zeros(),
            image: zeros(),
        }
    }

    /// A lower bound on v_u per unit of 1/σ_η², under `coalition` (which does not contain u).
    ///
    /// # Statement and proof
    /// v_u = max over x of 2x_u − xᵀΣx, attained at x = Σ⁻¹e_u (complete the square), so any x gives a lower bound. It
    /// is evaluated at the result of at most `steps` conjugate gradient steps from x = 1/|C| on u's piece C, whose
    /// residual is orthogonal to 1; without a step it is 1/|C|. Steps end early where the squared length of the residual
    /// is at most `tolerance`: the bound is then below v_u by rᵀΣ⁻¹r, at most `tolerance`/(1 + ratio·λ₂(C)). ∎
    ///
    /// # Cost
    /// 2|E| + 6s multiplications per step.
    pub(super) fn at_least(
        &mut self,
        coalition: &[u32],
        u: u32,
        steps: usize,
        tolerance: f64,
    ) -> f64 {
        self.close(coalition, -1.0);
        self.find_piece(coalition, u);
        let share = 1.0 / self.piece.len() as f64;
        self.x.fill(0.0);
        self.residual.fill(0.0);
        for &v in &self.piece {
            self.x[v as usize] = share;
            self.residual[v as usize] = -share;
        }
        self.residual[u as usize] += 1.0;
        self.direction.copy_from_slice(&self.residual);
        let mut square = dot(&self.residual, &self.residual);
        for _ in 0..steps {
            if square.is_nan() || square <= tolerance {
                break;
            }
            self.multiply(coalition);
            let curvature = dot(&self.direction, &self.image);
            if curvature.is_nan() || curvature <= 0.0 {
                break;
            }
            let step = square / curvature;
            let solution = self.x.iter_mut().zip(&mut self.residual);
            let along = self.direction.iter().zip(&self.image);
            for ((x, residual), (direction, image)) in solution.zip(along) {
                *x += step * direction;
                *residual -= step * image;
            }
            let before = square;
            square = dot(&self.residual, &self.residual);
            let factor = square / before;
            for (direction, residual) in self.direction.iter_mut().zip(&self.residual) {
                *direction = residual + factor * *direction;
            }
        }
        let factor = 2.0 * self.x[u as usize] - self.energy();
        self.close(coalition, 1.0);
        // `max` passes over NaN.
        factor.max(share)
    }

    /// Changes by `by` the honest partners of everybody next to the coalition.
    fn close(&mut self, coalition: &[u32], by: f64) {
        for &c in coalition {
            for &v in self.graph.neighbours(c as usize) {
                self.degrees[v as usize] += by;
            }
        }
    }

    /// Finds the piece of `u` without the coalition.
    fn find_piece(&mut self, coalition: &[u32], u: u32) {
        self.inside.fill(false);
        // Colluders are never entered.
        for &c in coalition {
            self.inside[c as usize] = true;
        }
        self.piece.clear();
        self.piece.push(u);
        self.inside[u as usize] = true;
        let honest = self.graph.nodes() - coalition.len();
        let mut next = 0;
        while let Some(&v) = self.piece.get(next) {
            if self.piece.len() == honest {
                break;
            }
            next += 1;
            for &w in self.graph.neighbours(v as usize) {
                let inside = &mut self.inside[w as usize];
                if !*inside {
                    *inside = true;
                    self.piece.push(w);
                }
            }
        }
        for &c in coalition {
            self.inside[c as usize] = false;
        }
    }

    /// The image of `direction` under Σ_H. Entries outside the victim's piece are 0 and stay 0.
    fn multiply(&mut self, coalition: &[u32]) {
        let direction = self.direction.as_slice();
        let rows = self.image.iter_mut().zip(direction).zip(&self.degrees);
        for (u, ((image, here), degree)) in rows.enumerate() {
            let (pairs, last) = self.graph.neighbours(u).as_chunks::<2>();
            let (mut even, mut odd) = (0.0, 0.0);
            for [v, w] in pairs {
                even += direction[*v as usize];
                odd += direction[*w as usize];
            }
            for v in last {
                even += direction[*v as usize];
            }
            *image = here + self.ratio * (degree * here - (even + odd));
        }
        for &c in coalition {
            self.image[c as usize] = 0.0;
        }
    }

    /// xᵀΣ_Hx as a sum of squares: x is nearly constant where σ_Δ² is large, and products would cancel.
    fn energy(&self) -> f64 {
        let (mut own, mut pairwise) = (0.0, 0.0);
        for &v in &self.piece {
            let here = self.x[v as usize];
            own += here * here;
            for &w in self.graph.neighbours(v as usize) {
                if v < w && self.inside[w as usize] {
                    pairwise += (here - self.x[w as usize]).powi(2);
                }
            }
        }
        own + self.ratio * pairwise
    }
}

/// aᵀb, in eight sums that are added in a fixed order.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<8>(), b.as_chunks::<8>());
    let mut sums = [0.0; 8];
    for (a, b) in a.iter().zip(b) {
        for ((sum, a), b) in sums.iter_mut().zip(a).zip(b) {
            *sum += a * b;
        }
    }
    let rest = a_rest.iter().zip(b_rest).map(|(a, b)| a * b);
    sums.into_iter().chain(rest).sum()
}
