//! Everything the peers of one session must agree on, and the hash that names it.

use std::sync::Arc;

use serde::Serialize;

use super::super::values::Values;
use super::super::wire;
use super::bounds::Bounds;
use crate::algorithm::{Form, Program, ReleaseSpec, Text};
use crate::noise::{LaplaceShares, Sigmas, WishartShares};
use crate::privacy::ring::{Grid, Modulus};
use crate::privacy::{NuclearSensitivity, Sensitivity, Sensitivity1, SensitivitySpec};
use crate::vocabulary::Distribution;

/// The public parameters of a session, before validation.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionParameters {
    /// Number of peers s.
    pub peers: u32,
    /// What is released.
    pub program: Arc<Program>,
    /// What one record is and how its effect on whatever is released is bounded.
    pub sensitivity: SensitivitySpec,
    /// Standard deviation of a peer's own noise per unit sensitivity.
    pub sigma_own: f64,
    /// Standard deviation of a pairwise term per unit sensitivity.
    pub sigma_pairwise: f64,
    /// Standard deviation per unit sensitivity of the noise that a peer adds to coordinates of its own: a curator's, as nobody
    /// else's noise covers them. 0 where the algorithm releases none.
    pub sigma_coordinate: f64,
    /// f_l: what all standard deviations are multiplied by in release l; empty stands for 1 in all. Over the releases that
    /// one record meets, Σ 1/f_l² is at most their number, so that they spend no more than as many of factor 1 (see
    /// `privacy::split_budget`).
    pub noise_factors: Vec<f64>,
    /// The integers that sums are made of; `None` for sums of real numbers.
    pub ring: Option<RingParameters>,
    /// How own noise is dealt where it adds up to Laplace noise; standard deviations are then per unit of the sensitivity in absolute values,
    /// and over the releases that one record meets Σ 1/f_l is at most their number. `None` where noise is Gaussian.
    pub laplace: Option<LaplaceShares>,
    /// How the terms of own noise are dealt where it adds up to Wishart noise; `sigma_own` is then the standard deviation of one term per unit of the
    /// sensitivity in the nuclear norm, and noise factors count as for Laplace noise. `None` where noise has another law.
    pub wishart: Option<WishartShares>,
    /// Rounds in which a value reaches everybody: at least the diameter of the communication graph. For max-consensus and
    /// for own coordinates.
    pub scale_rounds: u32,
    /// Averaging rounds K per sum.
    pub averaging_rounds: u32,
    /// What the coordinates of a sum of reals are while they are averaged: f64 or f32. f64 where sums are of integers, which travel
    /// as residues.
    pub values: Values,
    /// Hash of the averaging schedule, which compiles the communication graph: what is exchanged in every round.
    pub schedule: [u8; 32],
    /// Hash of the edges of the communication graph and of the noise graph.
    pub topology: [u8; 32],
    /// Hash of the public starting block.
    pub start: [u8; 32],
}

/// ℤ mod 2^k and the grid that contributions are counted on. Own noise is then N(0, (σ_own f_l)²) in units of sensitivity,
/// rounded to that grid, and partners share uniform masks instead of Gaussian noise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct RingParameters {
    /// Contributions are counted in steps of 2^−x of the sensitivity.
    pub grid: Grid,
    /// ℤ mod 2^k.
    pub modulus: Modulus,
    /// Q: every coordinate of a contribution is clamped to ±Q steps.
    pub clamp: i64,
}

/// What the hash of a plan covers, in this order. Reordering it moves every stream of noise.
#[derive(Serialize)]
struct Hashed<'a> {
    name: &'a str,
    settings: &'a [(Text, f64)],
    releases: Vec<DescribedRelease>,
    bounds: Vec<String>,
    peers: u32,
    dimension: usize,
    query_columns: usize,
    sigma_own: f64,
    sigma_pairwise: f64,
    sigma_coordinate: f64,
    noise_factors: &'a [f64],
    scale_rounds: u32,
    averaging_rounds: u32,
    schedule: [u8; 32],
    topology: [u8; 32],
    start: [u8; 32],
}

/// Iteration, whether it is of own coordinates, whether it is agreed on, batch, share, blocks.
type DescribedRelease = (u32, bool, bool, Option<u32>, f64, Vec<DescribedBlock>);

/// Quantity, rows, columns, columns of the query, weight.
type DescribedBlock = (String, usize, usize, usize, f64);

/// The ceilings of all releases, where one has any.
type Ceilings = Vec<Option<f64>>;

impl SessionParameters {
    /// Standard deviations of all noise per unit sensitivity; for masks, which have none, 1. Public.
    #[must_use]
    pub fn sigmas(&self) -> Sigmas {
        let masks = self.ring.is_some();
        Sigmas {
            own: self.sigma_own,
            pairwise: if masks { 1.0 } else { self.sigma_pairwise },
            coordinate: self.sigma_coordinate,
            laplace: self.laplace,
            wishart: self.wishart,
        }
    }

    /// The law of the noise that hides a sum.
    #[must_use]
    pub fn distribution(&self) -> Distribution {
        match (self.laplace, self.wishart) {
            (None, None) => Distribution::Gaussian,
            (Some(_), None) => Distribution::Laplace,
            (_, Some(_)) => Distribution::Wishart,
        }
    }

    /// Hash of all parameters, with what the algorithm declares.
    pub(super) fn digest(&self, bounds: &[Bounds]) -> [u8; 32] {
        let program = &*self.program;
        let releases = &program.releases;
        let lengths = bounds.iter().flat_map(Bounds::euclidean);
        let digest = wire::digest(&Hashed {
            name: &program.name,
            settings: &program.settings,
            releases: releases.iter().map(described).collect(),
            bounds: lengths.map(Sensitivity::fingerprint).collect(),
            peers: self.peers,
            dimension: program.items,
            query_columns: program.query_columns,
            sigma_own: self.sigma_own,
            sigma_pairwise: self.sigma_pairwise,
            sigma_coordinate: self.sigma_coordinate,
            noise_factors: &self.noise_factors,
            scale_rounds: self.scale_rounds,
            averaging_rounds: self.averaging_rounds,
            schedule: self.schedule,
            topology: self.topology,
            start: self.start,
        });
        let digest = match self.laplace {
            Some(shares) => {
                let bounds = bounds.iter().flat_map(Bounds::absolute);
                let names: Vec<String> = bounds.map(Sensitivity1::fingerprint).collect();
                wire::digest(&(digest, "laplace", shares, names))
            }
            None => digest,
        };
        let digest = match self.wishart {
            Some(shares) => {
                let triangles = bounds.iter().flat_map(Bounds::nuclear);
                let triangles = triangles.map(NuclearSensitivity::fingerprint);
                let means = bounds.iter().flat_map(Bounds::absolute);
                let names: Vec<String> = triangles
                    .chain(means.map(Sensitivity1::fingerprint))
                    .collect();
                wire::digest(&(digest, "wishart", shares, names))
            }
            None => digest,
        };
        let ceilings: Ceilings = releases.iter().map(|one| one.ceiling).collect();
        let digest = match ceilings.iter().any(Option::is_some) {
            true => wire::digest(&(digest, "ceilings", ceilings)),
            false => digest,
        };
        let digest = match self.ring {
            Some(ring) => wire::digest(&(digest, "ring", ring)),
            None => digest,
        };
        match self.values {
            Values::F64 => digest,
            other => wire::digest(&(digest, other.name())),
        }
    }
}

fn described(release: &ReleaseSpec) -> DescribedRelease {
    let blocks = release.blocks.iter().map(|block| {
        let (rows, columns) = block.shape;
        let quantity = block.quantity.to_string();
        (quantity, rows, columns, block.columns, block.weight)
    });
    (
        release.iteration.0,
        release.form == Form::OwnCoordinates,
        release.agreement.is_some(),
        release.batch,
        release.share,
        blocks.collect(),
    )
}
