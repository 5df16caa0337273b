//! The exact privacy loss of one peer in another's view of linear gossip, for small networks.
//!
//! In noise-then-gossip every message is a linear function of the noisy inputs. Whether that is cheaper than
//! publishing the inputs depends on all messages *together*: they share one noise vector, so their separate
//! losses do not add up to a bound (Muffliato in `errata`). This is the joint loss, exactly, for small systems.

use nalgebra::{Cholesky, DMatrix, DVector};

use super::PrivacyError;

/// The loss of one peer in one view.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NetworkViewLoss {
    /// μ²/Δ² of this view: it is exactly Gaussian with this μ.
    pub factor: f64,
    /// μ²/Δ² if every noisy input were published: [Σ⁻¹]_uu. Never below `factor`.
    pub published: f64,
    /// Number of independent functionals that the view amounts to, what it knows included.
    pub rank: usize,
    /// How far rounding may have moved `factor`, to first order; `published` − `factor` if nothing is certain.
    pub rounding: f64,
}

/// v = [Bᵀ(BΣBᵀ)⁺B]_uu: what a viewer of B(x + η) learns about x_u, η ~ N(0, Σ), if x_u moves by 1.
///
/// - `functionals`: B, one row per message the viewer sees, one column per peer.
/// - `covariance`: Σ of the noise, positive definite; σ²I for independent noise.
/// - `known`: the peers whose input and noise the viewer knows: itself and its colluders.
/// - `subject`: u.
///
/// # Statement
/// The privacy loss of the view under a change of x_u by Δ is N(±μ²/2, μ²) with μ² = Δ²·v, and v ≤ [Σ⁻¹]_uu.
///
/// # Proof
/// Knowing η_k and x_k for k ∈ `known` is seeing e_kᵀ(x + η) as well, x_k being fixed: add these rows to B. The view is
/// N(Bx, S), S = BΣBᵀ, and the change moves its mean by ΔBe_u. Σ is positive definite, so S has the range of B and the
/// shift lies in it. Two Gaussians with covariance S and means apart by m in the range of S have log-likelihood ratio
/// N(±μ²/2, μ²), μ² = mᵀS⁺m (change coordinates on the range so that S becomes I). For the bound let Σ = KKᵀ,
/// M = BK, g = K⁻¹e_u: Be_u = Mg and v = gᵀMᵀ(MMᵀ)⁺Mg = ‖Πg‖², Π the projector on the row space of M, and
/// ‖Πg‖² ≤ ‖g‖² = [Σ⁻¹]_uu. ∎
///
/// v is computed as ‖Πg‖². Π depends on the row space alone, so rows are scaled to length 1 first. The numerical rank
/// decides the value: a direction counts as seen if its singular value is above rounding, max(rows, peers)·2⁻⁵² times
/// the largest. What is seen faintly is seen.
///
/// # Errors
/// [`PrivacyError::ViewShape`] for matrices whose sizes do not fit, [`PrivacyError::Coalition`] for a peer that
/// does not exist, is named twice or is the subject itself, [`PrivacyError::Parameter`] for numbers that are not
/// finite or a covariance that is not positive definite.
///
/// # Cost
/// Dense: O((rows + peers)²·peers).
pub fn network_view_loss(
    functionals: &DMatrix<f64>,
    covariance: &DMatrix<f64>,
    known: &[u32],
    subject: u32,
) -> Result<NetworkViewLoss, PrivacyError> {
    let peers = functionals.ncols();
    check(functionals, covariance, known, subject)?;
    // In units of the largest variance, so that no square overflows. (The largest entry of a positive definite
    // matrix is on its diagonal.)
    let unit_variance = covariance.amax();
    let not_definite = |found| PrivacyError::Parameter {
        name: "the least eigenvalue of the noise covariance",
        found,
        expected: "a positive number",
    };
    if unit_variance == 0.0 {
        return Err(not_definite(0.0));
    }
    let scaled = covariance / unit_variance;
    let Some(factor) = Cholesky::new(scaled.clone()) else {
        let least = scaled.symmetric_eigenvalues().min();
        return Err(not_definite(least * unit_variance));
    };
    let root = factor.l();

    let mut rows: Vec<DVector<f64>> = functionals
        .row_iter()
        .filter_map(|row| direction(row.transpose()))
        .collect();
    rows.extend(known.iter().map(|&k| unit(peers, k)));
    // Rows of M = BK, as columns KᵀBᵀ, scaled; a zero row says nothing.
    let directions: Vec<DVector<f64>> = rows
        .iter()
        .filter_map(|row| direction(root.tr_mul(row)))
        .collect();
    let weights =
        root.solve_lower_triangular(&unit(peers, subject))
            .ok_or(PrivacyError::IllConditioned {
                residual: f64::INFINITY,
            })?;
    let published = weights.norm_squared() / unit_variance;
    if directions.is_empty() {
        return Ok(NetworkViewLoss {
            factor: 0.0,
            published,
            rank: 0,
            rounding: 0.0,
        });
    }

    let svd = DMatrix::from_columns(&directions).svd(true, false);
    let basis = svd.u.ok_or(PrivacyError::IllConditioned {
        residual: f64::INFINITY,
    })?;
    let unit_roundoff = f64::EPSILON * peers.max(directions.len()) as f64;
    let largest = svd.singular_values.max();
    let seen: Vec<(usize, f64)> = svd
        .singular_values
        .iter()
        .copied()
        .enumerate()
        .filter(|(_, value)| *value > unit_roundoff * largest)
        .collect();
    let loss: f64 = seen
        .iter()
        .map(|&(index, _)| basis.column(index).dot(&weights).powi(2))
        .sum::<f64>()
        / unit_variance;
    let loss = loss.min(published);
    let faintest = seen.iter().map(|(_, value)| *value).fold(largest, f64::min);
    Ok(NetworkViewLoss {
        factor: loss,
        published,
        rank: seen.len(),
        // The row space turns by about (rounding of M)/(least singular value).
        rounding: (published * unit_roundoff * largest / faintest).min(published - loss),
    })
}

/// This vector scaled to length 1, however long or short; `None` if it is 0.
fn direction(vector: DVector<f64>) -> Option<DVector<f64>> {
    let largest = vector.amax();
    (largest > 0.0).then(|| (vector / largest).normalize())
}

fn unit(peers: usize, peer: u32) -> DVector<f64> {
    DVector::from_fn(peers, |i, _| if i == peer as usize { 1.0 } else { 0.0 })
}

fn check(
    functionals: &DMatrix<f64>,
    covariance: &DMatrix<f64>,
    known: &[u32],
    subject: u32,
) -> Result<(), PrivacyError> {
    let peers = functionals.ncols();
    for (what, found) in [
        ("rows of the noise covariance", covariance.nrows()),
        ("columns of the noise covariance", covariance.ncols()),
    ] {
        if found != peers {
            return Err(PrivacyError::ViewShape {
                what,
                found,
                expected: peers,
            });
        }
    }
    for (position, &peer) in known.iter().chain([&subject]).enumerate() {
        let problem = if peer as usize >= peers {
            "which does not exist"
        } else if known[..position].contains(&peer) {
            if position == known.len() {
                "whose own loss is asked for"
            } else {
                "twice"
            }
        } else {
            continue;
        };
        return Err(PrivacyError::Coalition {
            peer,
            problem,
            peers,
        });
    }
    let number = |name, found, expected| PrivacyError::Parameter {
        name,
        found,
        expected,
    };
    if let Some(&found) = functionals.iter().find(|value| !value.is_finite()) {
        return Err(number(
            "a coefficient of the view",
            found,
            "a finite number",
        ));
    }
    for i in 0..peers {
        for j in 0..=i {
            let (found, mirror) = (covariance[(i, j)], covariance[(j, i)]);
            if !found.is_finite() || (found - mirror).abs() > 1e-12 * found.abs() {
                let expected = "a finite number, equal to its mirror image";
                return Err(number("an entry of the noise covariance", found, expected));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
