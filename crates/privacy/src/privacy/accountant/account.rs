//! Computes every honest peer's variance factor against one coalition, by the method that suits the size.

use serde::{Deserialize, Serialize};

use super::covariance::{NoiseCovariance, Piece};
use crate::linalg::Bracket;
use crate::linalg::laplacian::{dense, quadrature, selected_inverse};
use crate::privacy::PrivacyError;

/// Up to this many connected peers the dense inverse is used outright.
const DENSE_UP_TO: usize = 256;

/// Components of up to this many peers are inverted densely where quadrature misses the gap, or a peer adds no own noise.
pub(super) const DENSE_AT_MOST: usize = 3000;

/// The method by which variance factors are computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Engine {
    /// Dense for small components. For large ones sparse where elimination fills little, else quadrature, and dense where a sample
    /// of peers misses the gap of quadrature.
    #[default]
    Auto,
    /// A dense inverse of every component, with its own check. O(n³).
    Dense,
    /// Sparse elimination and selected inversion, all own variances above 0; quadrature for components that it would fill too much.
    Sparse,
    /// Lanczos with Gauss and Gauss–Radau quadrature, all own variances above 0. O(steps · n · edges).
    Quadrature,
}

/// Options of [`account`]: accuracy and method.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AccountOptions {
    /// The relative gap between the ends of a bracket to aim for, above 0. Where it is out of reach the brackets are
    /// wider and say so.
    pub gap: f64,
    /// How to compute.
    pub engine: Engine,
    /// A certified lower bound on λ₂ of the pairwise part Σ_j σ_Δj² L of every honest component, as a variance;
    /// 0 where none is known. For one noise graph this is σ_Δ²·λ₂(H).
    pub connectivity: f64,
    /// The most Lanczos steps per peer.
    pub steps: usize,
}

impl Default for AccountOptions {
    fn default() -> Self {
        Self {
            gap: 1e-9,
            engine: Engine::Auto,
            connectivity: 0.0,
            steps: 64,
        }
    }
}

/// The variance factors of all honest peers.
#[derive(Clone, Debug, PartialEq)]
pub struct Accounted {
    /// v_u = [Σ_H⁻¹]_uu, per unit of squared sensitivity; `None` for colluders.
    pub brackets: Vec<Option<Bracket>>,
    /// The engine of the largest component.
    pub engine: Engine,
    /// The most Lanczos steps any peer took; 0 where no component was accounted for by quadrature.
    pub steps: usize,
}

impl Accounted {
    /// The most exposed peer, by upper end; the first of equals. `None` never happens for an [`account`].
    #[must_use]
    pub fn worst(&self) -> Option<(u32, Bracket)> {
        (0_u32..)
            .zip(&self.brackets)
            .filter_map(|(peer, bracket)| bracket.map(|bracket| (peer, bracket)))
            .reduce(|best, next| {
                if next.1.high > best.1.high {
                    next
                } else {
                    best
                }
            })
    }

    /// The widest relative gap of all brackets.
    #[must_use]
    pub fn gap(&self) -> f64 {
        let gaps = self.brackets.iter().flatten().map(Bracket::gap);
        gaps.fold(0.0, f64::max)
    }
}

/// v_u = [Σ_H⁻¹]_uu of every honest peer u against `coalition`, as certified brackets, per connected component of
/// the honest graph. If only u's contribution changes, by at most Δ, one iteration costs exactly
/// μ_u² = Δ²·v_u (proof: the chapter on accounting of the guide, section 4).
///
/// # Errors
/// [`PrivacyError::Coalition`] for a peer that does not exist or is named twice, [`PrivacyError::NobodyHonest`],
/// [`PrivacyError::PeerNoise`] where missing own noise leaves Σ_H singular, or the component is too large to
/// handle without own noise at every peer; [`PrivacyError::Parameter`] for options that mean nothing,
/// [`PrivacyError::IllConditioned`] if a dense solve fails its own check.
///
/// # Cost
/// See [`Engine`]. Quadrature holds the vectors of one block per thread and 2·steps numbers per peer.
pub fn account(
    covariance: &NoiseCovariance,
    coalition: &[u32],
    options: AccountOptions,
) -> Result<Accounted, PrivacyError> {
    check_options(options)?;
    let mut accounted = Accounted {
        brackets: vec![None; covariance.peers()],
        engine: options.engine,
        steps: 0,
    };
    let mut largest = 0;
    for piece in covariance.pieces(coalition)? {
        let (brackets, engine, steps) = factors(&piece, options)?;
        for (&u, bracket) in piece.nodes.iter().zip(brackets) {
            accounted.brackets[u as usize] = Some(bracket);
        }
        accounted.steps = accounted.steps.max(steps);
        if piece.noise.len() > largest {
            largest = piece.noise.len();
            accounted.engine = engine;
        }
    }
    Ok(accounted)
}

fn check_options(options: AccountOptions) -> Result<(), PrivacyError> {
    let refuse = |name, found, expected| {
        Err(PrivacyError::Parameter {
            name,
            found,
            expected,
        })
    };
    // Written so that NaN is refused too.
    if !(options.gap > 0.0 && options.gap.is_finite()) {
        return refuse("the gap to reach", options.gap, "a finite number above 0");
    }
    if !(options.connectivity >= 0.0 && options.connectivity.is_finite()) {
        return refuse(
            "the connectivity",
            options.connectivity,
            "a finite number of at least 0 (0 where nothing is known)",
        );
    }
    if !(1..=1000).contains(&options.steps) {
        return refuse(
            "the number of Lanczos steps",
            options.steps as f64,
            "1 to 1000",
        );
    }
    Ok(())
}

fn factors(
    piece: &Piece,
    options: AccountOptions,
) -> Result<(Vec<Bracket>, Engine, usize), PrivacyError> {
    let n = piece.noise.len();
    let dense = || Ok((dense::inverse_diagonal(&piece.noise)?, Engine::Dense, 0));
    let silent = piece.noise.first_without_own();
    let choice = match options.engine {
        Engine::Auto if n <= DENSE_UP_TO || silent.is_some() && n <= DENSE_AT_MOST => Engine::Dense,
        _ if n == 1 => Engine::Dense,
        Engine::Dense => Engine::Dense,
        Engine::Auto | Engine::Sparse => Engine::Sparse,
        Engine::Quadrature => Engine::Quadrature,
    };
    if choice == Engine::Dense {
        return dense();
    }
    if let Some(position) = silent {
        return Err(PrivacyError::PeerNoise {
            peer: piece.nodes[position],
            found: 0.0,
            expected: "above 0: components of more than 3000 peers are accounted for by quadrature, which needs \
                       own noise at every peer",
        });
    }
    if choice == Engine::Sparse
        && let Some(brackets) = selected_inverse::inverse_diagonal(&piece.noise)
    {
        return Ok((brackets, Engine::Sparse, 0));
    }
    let dense_instead = options.engine == Engine::Auto && n <= DENSE_AT_MOST;
    let target = quadrature::Target {
        gap: options.gap,
        steps: options.steps,
        connectivity: options.connectivity,
        reached_only: dense_instead,
    };
    let Some((brackets, steps)) = quadrature::inverse_diagonal(&piece.noise, target) else {
        return dense();
    };
    let reached = brackets.iter().all(|bracket| bracket.gap() <= options.gap);
    if dense_instead && !reached {
        let (mut exact, engine, _) = dense()?;
        for (exact, bracket) in exact.iter_mut().zip(&brackets) {
            *exact = Bracket::new(
                exact.low.max(bracket.low),
                exact.estimate,
                exact.high.min(bracket.high),
            );
        }
        return Ok((exact, engine, steps));
    }
    Ok((brackets, Engine::Quadrature, steps))
}
